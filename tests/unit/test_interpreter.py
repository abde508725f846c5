"""The interpreter against hand-computed results."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tmigrate.tilelang.interpreter.arithmetic import Arithmetic, Native
from tmigrate.tilelang.interpreter.fields import PrimeField, SmallNumbers
from tmigrate.tilelang.interpreter.functions import Program
from tmigrate.tilelang.interpreter.machine import Limits, Machine, Outcome
from tmigrate.tilelang.interpreter.memory import Buffer
from tmigrate.tilelang.interpreter.operations import OPERATIONS, Shape
from tmigrate.tilelang.ir.expressions import (
    Binary,
    BinaryOp,
    Call,
    Cast,
    Compare,
    CompareOp,
    Const,
    Expr,
    LaunchIndex,
    LaunchIndexKind,
    Subscript,
    Var,
)
from tmigrate.tilelang.ir.intrinsics import INTRINSICS
from tmigrate.tilelang.ir.module import Function, Module
from tmigrate.tilelang.ir.statements import (
    Allocate,
    Assign,
    Break,
    Continue,
    Declare,
    Evaluate,
    For,
    If,
    Region,
    While,
)
from tmigrate.tilelang.ir.types import (
    B1,
    F32,
    F64,
    I32,
    U32,
    VOID,
    ArrayType,
    PointerType,
    ScalarType,
    Space,
)

X = LaunchIndex(LaunchIndexKind.THREAD, 0)
TID = Cast(I32, X)
OUT = Var("out", PointerType(I32))


def add(a: Expr, b: Expr) -> Binary:
    return Binary(BinaryOp.ADD, a, b)


def i32(value: int) -> Const:
    return Const(value, I32)


def run(
    body: Region,
    buffers: dict[str, tuple[ScalarType, list[Any]]],
    block: int = 4,
    arithmetic: Arithmetic | None = None,
) -> tuple[Outcome, dict[str, list[Any]]]:
    parameters = tuple(Var(name, PointerType(t)) for name, (t, _) in buffers.items())
    function = Function("k", parameters, body)
    program = Program(Module("m", (function,)), function, arithmetic or Native())
    storage = {}
    for name, (t, values) in buffers.items():
        storage[name] = Buffer(name, len(values) * t.bytes, t)
        storage[name].fill(t, values)
    outcome = Machine(Limits(steps=10_000)).launch(
        program, (1, 1, 1), (block, 1, 1), [(b, 0) for b in storage.values()]
    )
    return outcome, {name: b.values() for name, b in storage.items()}


def test_no_intrinsic_is_missing() -> None:
    assert set(OPERATIONS) == set(INTRINSICS)


@pytest.mark.parametrize("arithmetic", [Native(), PrimeField(1), SmallNumbers(1)], ids=lambda a: a.name)
def test_every_float_intrinsic_computes(arithmetic: Arithmetic) -> None:
    for name, entry in OPERATIONS.items():
        if entry.shape is not Shape.FLOAT:
            continue
        values: list[Any] = [arithmetic.constant(0.5, F64)] * INTRINSICS[name].arity[0]
        if name == "ldexp":
            values[1] = 2
        result = arithmetic.function(name, F64)(*values)
        assert isinstance(result, int | float) or hasattr(result, "numerator"), name


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("erfinv", (0.5,), 0.4769362762044699), ("erfcinv", (0.5,), 0.4769362762044699),
        ("normcdfinv", (0.975,), 1.959963984540054), ("j0", (2.5,), -0.0483837764681979),
        ("j1", (2.5,), 0.4970941024642741), ("y0", (2.5,), 0.4980703596152316),
        ("y1", (2.5,), 0.1459181379667858), ("round", (2.5,), 3.0), ("rint", (2.5,), 2.0),
        ("fmin", (math.nan, 1.0), 1.0), ("rsqrt", (4.0,), 0.5), ("fma", (3.0, 4.0, 5.0), 17.0),
        ("rhypot", (3.0, 4.0), 0.2), ("ilogb", (8.0,), 3), ("saturate", (1.5,), 1.0), ("sinpi", (0.5,), 1.0),
    ],
)  # fmt: skip
def test_native_functions(name: str, arguments: tuple[float, ...], expected: float) -> None:
    assert Native().function(name, F64)(*arguments) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("name", "types", "arguments", "expected"),
    [
        ("popc", (I32,), (-1,), 32), ("clz", (I32,), (1,), 31), ("ffs", (I32,), (8,), 4),
        ("brev", (U32,), (1,), 0x80000000), ("mulhi", (I32, I32), (-1, 1), -1),
        ("mul24", (I32, I32), (0xFFFFFF, 3), -3), ("hadd", (I32, I32), (-3, 0), -2),
        ("sad", (I32, I32, U32), (-5, 5, 1), 11),
        ("byte_perm", (U32, U32, U32), (0x03020100, 0x07060504, 0x7610), 0x07060100),
        ("funnelshift_l", (U32, U32, U32), (0x80000000, 1, 1), 3),
        ("funnelshift_rc", (U32, U32, U32), (7, 9, 40), 9),
        ("dp4a", (I32, I32, I32), (-1, 0x01010101, 10), 6), ("abs", (I32,), (-(2**31),), -(2**31)),
    ],
)  # fmt: skip
def test_integer_functions(name: str, types: Any, arguments: tuple[int, ...], expected: int) -> None:
    assert OPERATIONS[name].detail(types)(*arguments) == expected


def test_integers_wrap_and_c_division_truncates() -> None:
    big = Const(2**31 - 1, I32)
    quotient = Binary(BinaryOp.TRUNC_DIV, i32(-7), i32(2))
    body = (
        Assign(Subscript(OUT, (i32(0),)), add(big, i32(1))),
        Assign(Subscript(OUT, (i32(1),)), quotient),
        Assign(Subscript(OUT, (i32(2),)), Binary(BinaryOp.SHR, i32(-8), i32(40))),
        Assign(Subscript(OUT, (i32(3),)), Cast(I32, Const(1e30, F32))),
    )
    outcome, memory = run(body, {"out": (I32, [0] * 4)}, block=1)
    assert outcome.fault is None
    assert memory["out"] == [-(2**31), -3, -1, 2**31 - 1]


def test_out_of_bounds_is_a_fault_with_a_kind() -> None:
    outcome, _ = run((Assign(Subscript(OUT, (TID,)), TID),), {"out": (I32, [0] * 3)})
    assert outcome.fault is not None and outcome.fault.kind == "bounds"


def test_endless_loop_ends_at_the_step_limit() -> None:
    outcome, _ = run((While(Const(True, B1), (), ()),), {"out": (I32, [0])})
    assert outcome.fault is not None and outcome.fault.kind == "steps"


def test_barrier_orders_shared_memory() -> None:
    """out[t] = (t + 1) % 4 through a shared array."""
    tile = Var("tile", ArrayType(I32, (4,)))
    following = Binary(BinaryOp.FLOOR_MOD, add(TID, i32(1)), i32(4))
    body = (
        Allocate(tile, Space.SHARED),
        Assign(Subscript(tile, (TID,)), TID),
        Evaluate(Call("syncthreads", (), VOID)),
        Assign(Subscript(OUT, (TID,)), Subscript(tile, (following,))),
    )
    outcome, memory = run(body, {"out": (I32, [9] * 4)})
    assert outcome.fault is None
    assert memory["out"] == [1, 2, 3, 0]


def test_divergent_barrier_after_exit_is_fine_and_a_missing_lane_deadlocks() -> None:
    early = If(Compare(CompareOp.EQ, TID, i32(0)), (Evaluate(Call("syncthreads", (), VOID)),), ())
    full = Const(0xF, U32)
    warp = If(Compare(CompareOp.NE, TID, i32(0)), (Evaluate(Call("syncwarp", (full,), VOID)),), (early,))
    outcome, _ = run((warp, Evaluate(Call("syncthreads", (), VOID))), {"out": (I32, [0])})
    assert outcome.fault is not None and outcome.fault.kind == "deadlock"


def test_shuffle_down_reads_the_next_lane() -> None:
    moved = Var("moved", I32)
    call = Call("shfl_down_sync", (Const(0xFFFFFFFF, U32), TID, i32(1), i32(32)), I32)
    body = (Declare(moved, call), Assign(Subscript(OUT, (TID,)), moved))
    _, memory = run(body, {"out": (I32, [0] * 32)}, block=32)
    assert memory["out"] == [*range(1, 32), 31]


def test_continue_runs_the_step_of_its_loop() -> None:
    """for (i = 0; i < 6; i++) { if (i == 2) continue; if (i == 5) break; total += i; }"""
    i, total = Var("i", I32), Var("total", I32)
    body = (
        If(Compare(CompareOp.EQ, i, i32(2)), (Continue(),), ()),
        If(Compare(CompareOp.EQ, i, i32(5)), (Break(),), ()),
        Assign(total, add(total, i)),
    )
    loop = While(Compare(CompareOp.LT, i, i32(6)), body, (Assign(i, add(i, i32(1))),))
    region = (Declare(i, i32(0)), Declare(total, i32(0)), loop, Assign(Subscript(OUT, (i32(0),)), total))
    _, memory = run(region, {"out": (I32, [0])}, block=1)
    assert memory["out"] == [0 + 1 + 3 + 4]


def test_field_sums_agree_in_any_order_and_products_distribute() -> None:
    a, b, c = (Subscript(Var("x", PointerType(F32)), (i32(k),)) for k in range(3))
    y = Var("y", PointerType(F32))
    left = Binary(BinaryOp.MUL, a, add(b, c))
    right = add(Binary(BinaryOp.MUL, c, a), Binary(BinaryOp.MUL, b, a))
    body = (Assign(Subscript(y, (i32(0),)), left), Assign(Subscript(y, (i32(1),)), right))
    field = PrimeField(7)
    _, memory = run(body, {"x": (F32, [3, 10**17, 5]), "y": (F32, [0, 0])}, 1, field)
    assert memory["y"][0] == memory["y"][1] != 0


def test_field_comparisons_take_both_outcomes_over_seeds() -> None:
    outcomes = {PrimeField(seed).compare(CompareOp.LT)(123, 456) for seed in range(20)}
    assert outcomes == {True, False}
    field = PrimeField(3)
    assert field.function("fmax", F32)(5, 9) == field.function("fmax", F32)(9, 5)


def test_native_f32_rounds_each_operation() -> None:
    plus = Native().binary(BinaryOp.ADD, F32)
    assert plus(16777216.0, 1.0) == 16777216.0
    assert math.isinf(Native().binary(BinaryOp.MUL, F32)(1e30, 1e30))


def test_for_loop_counts_down() -> None:
    i = Var("i", I32)
    body = (For(i, i32(3), i32(-1), i32(-1), (Assign(Subscript(OUT, (i,)), add(i, i)),)),)
    _, memory = run(body, {"out": (I32, [0] * 4)}, block=1)
    assert memory["out"] == [0, 2, 4, 6]
