"""Each rule of the verifier has a smallest wrong function that it, and no other rule, catches."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tmigrate.codes import all_codes
from tmigrate.diagnostics import VerifyError
from tmigrate.locations import Location
from tmigrate.tilelang.ir.expressions import (
    AddressOf,
    Binary,
    BinaryOp,
    Bitcast,
    Call,
    Cast,
    Compare,
    CompareOp,
    Const,
    Expr,
    LaunchIndex,
    LaunchIndexKind,
    MakeArray,
    Member,
    NamedConst,
    Reduce,
    ReduceOp,
    Subscript,
    Unary,
    UnaryOp,
    Var,
)
from tmigrate.tilelang.ir.module import Function, FunctionKind, GlobalVariable, Level, Module
from tmigrate.tilelang.ir.statements import (
    Allocate,
    Assign,
    Assume,
    Break,
    Comment,
    Continue,
    Declare,
    Evaluate,
    For,
    If,
    LoopKind,
    Return,
    Stmt,
    While,
)
from tmigrate.tilelang.ir.types import (
    B1,
    F32,
    F64,
    I8,
    I32,
    I64,
    U8,
    U32,
    VOID,
    ArrayType,
    PointerType,
    Space,
    StructDefinition,
    StructField,
    StructType,
    TensorType,
    Type,
)
from tmigrate.tilelang.ir.verify import findings, verify, verify_function
from tmigrate.tilelang.ir.verify_rules import RULES

P = PointerType(F32)
x, n, c, p = Var("x", F32), Var("n", I32), Var("c", B1), Var("p", P)
d, e = Var("d", F64), Var("e", I64)
A = Var("A", TensorType(F32, (Const(4, I64),)))
V4 = Var("v4", StructType("float4"))
ONE, ZERO = Const(1, I32), Const(0, I32)
STORE = Assign(Subscript(p, (ZERO,)), x)


def thread(*body: Stmt, result: Type = VOID, extra: tuple[Var, ...] = ()) -> Function:
    """A thread-level device function with the parameters x, n, c, p, d, e."""
    return Function("f", (x, n, c, p, d, e, *extra), body, FunctionKind.DEVICE, Level.THREAD, result)


def loop(*body: Stmt, level: Level = Level.LOOP) -> Function:
    """A loop-level kernel with the parameters x, n, c, A."""
    return Function("f", (x, n, c, A), body, FunctionKind.KERNEL, level)


def module(function: Function) -> Module:
    return Module("m", (function,))


def value(expression: Expr, t: Type | None = None) -> Module:
    """A thread-level function that declares a variable with this value."""
    kind = t or getattr(expression, "type")  # noqa: B009
    return module(thread(Declare(Var("v", kind), expression)))


def nested(depth: int) -> Expr:
    found: Expr = x
    for _ in range(depth):
        found = Unary(UnaryOp.NEG, found)
    return found


F = module(thread(STORE))
THREAD_X = LaunchIndex(LaunchIndexKind.THREAD, 0)
KERNEL = Function("k", (), (), FunctionKind.KERNEL, Level.THREAD)
counting = For(Var("i", I32), ZERO, n, ONE, ())
WRONG: list[tuple[str, Module]] = [
    ("unique names", replace(F, constants=(NamedConst("f", 1, I32),))),
    ("free module names", replace(F, constants=(NamedConst("max", 1, I32),))),
    ("constant values", replace(F, constants=(NamedConst("N", 300, U8),))),
    ("struct layouts", replace(F, structs=(StructDefinition("S", (StructField("a", F32, 0),), 2, 1),))),
    (
        "struct layouts",
        replace(F, structs=(StructDefinition("S", (StructField("a", StructType("Q"), 0),), 4, 4),)),
    ),
    ("module variables", replace(F, variables=(GlobalVariable("g", ArrayType(F32, ()), Space.GLOBAL),))),
    ("module variables", replace(F, variables=(GlobalVariable("g", ArrayType(F32, (1,)), Space.LOCAL),))),
    ("free names", module(thread(Declare(Var("lambda", F32), x)))),
    ("free names", module(replace(thread(), name="range"))),
    ("declared", module(thread(Assign(x, Var("y", F32))))),
    ("declared", module(thread(If(c, (Declare(Var("y", F32), x),), ()), Assign(x, Var("y", F32))))),
    ("declared once", module(thread(Declare(Var("y", F32), x), Declare(Var("y", F32), x)))),
    ("declared once", module(thread(replace(counting, var=Var("n", I32), stop=ONE)))),
    ("one type", module(thread(Declare(Var("y", F32), x), Declare(Var("z", I32), Var("y", I32))))),
    ("dimensions", module(replace(loop(), dimensions=(Var("M", I64),)))),
    (
        "dimensions",
        module(
            loop(
                Declare(Var("s", I64), None),
                Allocate(Var("T", TensorType(F32, (Var("s", I64),))), Space.GLOBAL),
            )
        ),
    ),
    ("signatures", module(thread(extra=(Var("a", ArrayType(F32, (4,))),)))),
    ("operand types", value(Binary(BinaryOp.ADD, x, d))),
    ("operators", value(Binary(BinaryOp.FLOOR_DIV, x, x))),
    ("operators", value(Unary(UnaryOp.INVERT, x))),
    ("conditions", module(thread(If(n, (), ())))),
    ("conditions", value(Unary(UnaryOp.NOT, n))),
    ("effects", value(Binary(BinaryOp.ADD, x, Call("atomic_add", (p, x), F32)))),
    ("effects", module(thread(If(Call("all_sync", (Const(1, U32), c), B1), (), ())))),
    ("subscripts", value(Subscript(p, (ZERO, ZERO)), F32)),
    ("subscripts", value(Subscript(p, (x,)), F32)),
    ("members", module(thread(extra=(Var("s", StructType("Missing")),)))),
    ("members", module(thread(Declare(Var("y", F32), Member(V4, "q", F32)), extra=(V4,)))),
    ("literals", value(Const(128, I8))),
    ("literals", value(Const(0.1, F32))),
    ("literals", value(Const(1, F32))),
    ("named constants", value(NamedConst("K", 1, I32))),
    ("reductions", value(Reduce(ReduceOp.ANY, Var("k", I32), ZERO, n, x), F32)),
    ("reductions", value(Reduce(ReduceOp.SUM, Var("k", I32), ZERO, e, x), F32)),
    ("calls", value(Call("sqrt", (n,), I32))),
    ("calls", value(Call("missing", (), F32))),
    ("calls", Module("m", (thread(Evaluate(Call("k", (), VOID))), KERNEL))),
    ("addresses", value(AddressOf(nested(1), P))),
    ("addresses", value(AddressOf(n, P))),
    ("conversions", value(Cast(P, n))),
    ("conversions", value(Bitcast(I64, x))),
    (
        "initial values",
        module(
            thread(
                Allocate(Var("a", ArrayType(F32, (1,))), Space.LOCAL),
                Assign(Var("a", ArrayType(F32, (1,))), MakeArray(ArrayType(F32, (1,)), (x, x))),
            )
        ),
    ),
    ("launch indices", value(LaunchIndex(LaunchIndexKind.THREAD, 3))),
    ("declared values", module(thread(Declare(Var("y", F32), n)))),
    ("declared values", module(thread(Allocate(Var("a", ArrayType(F32, (4,))), Space.GLOBAL)))),
    ("stores", module(thread(Assign(x, n)))),
    ("stores", module(thread(Assign(nested(1), x)))),
    ("loop variables", module(thread(replace(counting, body=(Assign(Var("i", I32), ONE),))))),
    ("loop ranges", module(thread(replace(counting, step=ZERO)))),
    ("loop ranges", module(thread(replace(counting, stop=e)))),
    ("loop bounds", module(thread(replace(counting, body=(Assign(n, ONE),))))),
    ("jumps", module(thread(Break()))),
    ("jumps", module(thread(replace(counting, kind=LoopKind.PARALLEL, body=(Break(),))))),
    ("jumps", module(thread(replace(counting, kind=LoopKind.PARALLEL, body=(Return(None),))))),
    ("jumps", module(thread(While(c, (), (Continue(),))))),
    ("results", module(thread(Return(x)))),
    ("results", module(thread(result=F32))),
    ("comments", module(thread(Comment("two\nlines")))),
    ("depth", value(nested(80), F32)),
    ("no launch indices", module(loop(Declare(Var("t", U32), THREAD_X)))),
    ("no launch indices", module(loop(Assume(Compare(CompareOp.EQ, THREAD_X, THREAD_X))))),
    ("no barriers", module(loop(Evaluate(Call("syncthreads", (), VOID))))),
    ("no barriers", module(loop(Allocate(Var("s", ArrayType(F32, (4,))), Space.SHARED)))),
    ("no pointers", module(replace(loop(), parameters=(p,)))),
    ("no tensors", module(thread(extra=(A,)))),
    ("no whole tensors", module(loop(Declare(Var("B", A.type), Call("exp", (A,), A.type))))),
]


@pytest.mark.parametrize("name,wrong", WRONG, ids=[f"{i}-{name}" for i, (name, _) in enumerate(WRONG)])
def test_a_rule_catches_what_only_it_forbids(name: str, wrong: Module) -> None:
    found = {rule.name for rule, _ in findings(wrong)}
    assert found == {name}


def test_every_rule_has_a_wrong_function_and_a_code() -> None:
    assert {name for name, _ in WRONG} == set(RULES)
    assert {rule.code for rule in RULES.values()} <= set(all_codes())


def test_what_the_rules_are_about_passes_where_it_is_right() -> None:
    """The right neighbours of the wrong functions above."""
    assume = Assume(Const(True, B1))
    body = (Declare(Var("y", F32), nested(20)), replace(counting, body=(STORE, Continue())), STORE, assume)
    verify(module(thread(*body)))
    verify_function(loop(replace(counting, kind=LoopKind.PARALLEL, body=(Continue(),))))
    verify(module(loop(Declare(Var("B", A.type), Call("exp", (A,), A.type)), level=Level.TENSOR)))


def test_all_findings_come_at_once_with_their_places() -> None:
    first = Assign(x, n, location=Location("k.cu", 3, 1))
    second = Assign(d, n, location=Location("k.cu", 5, 1))
    with pytest.raises(VerifyError) as caught:
        verify(module(thread(first, second)))
    places = [(d.code, d.location.line) for d in caught.value.diagnostics if d.location]
    assert places == [("TM2045", 3), ("TM2045", 5)]


def test_loops_nested_beyond_pythons_limit_are_found() -> None:
    def tower(count: int) -> Stmt:
        inner: Stmt = STORE
        for i in range(count):
            inner = replace(counting, var=Var(f"loop{i}", I32), body=(inner,))
        return inner

    assert {rule.name for rule, _ in findings(module(thread(tower(20))))} == {"depth"}
    verify(module(thread(tower(19))))
