"""The verifier's rules about expressions: types of operands, places, calls, literals."""

from __future__ import annotations

import math
from collections.abc import Iterator

from tmigrate.tilelang.ir.effects import is_effectful
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
    Extent,
    LaunchIndex,
    Logical,
    MakeArray,
    MakeStruct,
    Member,
    NamedConst,
    PointerAdd,
    PointerDifference,
    Reduce,
    ReduceOp,
    Select,
    Subscript,
    Unary,
    UnaryOp,
    Var,
    type_of,
)
from tmigrate.tilelang.ir.intrinsics import INTRINSICS, result_type
from tmigrate.tilelang.ir.module import FunctionKind
from tmigrate.tilelang.ir.rounding import round_float
from tmigrate.tilelang.ir.statements import Assume, Evaluate, If, While
from tmigrate.tilelang.ir.structs import BUILTIN_STRUCTS
from tmigrate.tilelang.ir.tensor_table import tensor_result_type
from tmigrate.tilelang.ir.types import (
    B1,
    I64,
    U64,
    ArrayType,
    PointerType,
    ScalarType,
    StructDefinition,
    StructType,
    TensorType,
    Type,
    is_float,
    is_integer,
)
from tmigrate.tilelang.ir.verify import Finding
from tmigrate.tilelang.ir.view import View, Visit, types_in

_ARITHMETIC = frozenset({BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL})
_BITWISE = frozenset({BinaryOp.AND, BinaryOp.OR, BinaryOp.XOR})


def _pairs(view: View) -> Iterator[tuple[Visit, Binary | Compare | PointerDifference]]:
    yield from view.of(Binary)
    yield from view.of(Compare)
    yield from view.of(PointerDifference)


def operand_types(view: View) -> Iterator[Finding]:
    """Both operands of an operator, and both values of a selection, have one type."""
    for visit, e in _pairs(view):
        left, right = type_of(e.left), type_of(e.right)
        if left != right:
            yield Finding(f"the operands have different types, {left} and {right}", visit, "cast one of them")
    for visit, s in view.of(Select):
        if type_of(s.then) != type_of(s.otherwise):
            yield Finding(
                f"a selection between {type_of(s.then)} and {type_of(s.otherwise)}", visit, "cast one of them"
            )


def is_defined(op: BinaryOp, t: Type) -> bool:
    """Whether a binary operator is defined on a type."""
    if op is BinaryOp.DIV:
        return is_float(t)
    if op in _ARITHMETIC:
        return is_float(t) or is_integer(t)
    return is_integer(t) or (op in _BITWISE and t == B1)


def operators(view: View) -> Iterator[Finding]:
    """`/` divides floats, `//` integers; `&` also takes b1; comparisons take scalars and pointers."""
    for visit, e in view.of(Binary):
        if not is_defined(e.op, type_of(e.left)):
            yield Finding(f"`{e.op.value}` is not defined on {type_of(e.left)}", visit)
    for visit, u in view.of(Unary):
        t = type_of(u.operand)
        if u.op is not UnaryOp.NOT and not (is_integer(t) or (is_float(t) and u.op is UnaryOp.NEG)):
            yield Finding(f"`{u.op.value}` is not defined on {t}", visit)
    for visit, c in view.of(Compare):
        t = type_of(c.left)
        ordered = c.op not in (CompareOp.EQ, CompareOp.NE)
        if not isinstance(t, ScalarType | PointerType) or (t == B1 and ordered):
            yield Finding(f"`{c.op.value}` is not defined on {t}", visit)


def conditions(view: View) -> Iterator[Finding]:
    """What control and connectives ask is b1."""
    for visit in view.visits:
        s = visit.node
        if isinstance(s, If | While | Select | Assume) and type_of(s.condition) != B1:
            yield Finding(f"a condition of type {type_of(s.condition)}", visit, "compare with 0")
    for visit, e in view.of(Logical):
        for operand in (e.left, e.right):
            if type_of(operand) != B1:
                yield Finding(
                    f"`{e.op.value}` joins conditions, not {type_of(operand)}", visit, "compare with 0"
                )
    for visit, u in view.of(Unary):
        if u.op is UnaryOp.NOT and type_of(u.operand) != B1:
            yield Finding(f"`not` takes a condition, not {type_of(u.operand)}", visit, "compare with 0")


def effects(view: View) -> Iterator[Finding]:
    """A call with effects is the whole value of a statement, so that its place in time is plain."""
    for visit, e in view.of(Call):
        parent = visit.parent.node if visit.parent else None
        allowed = visit.slot == "value" and not isinstance(parent, Expr)
        if is_effectful(e, view.effectful) and not allowed:
            yield Finding(f"`{e.callee}` has effects and stands inside an expression", visit,
                          "give its result a name in a statement before")  # fmt: skip
    for visit, s in view.of(Evaluate):
        if not isinstance(s.value, Call):
            yield Finding("a statement that evaluates something other than a call", visit)


def subscripts(view: View) -> Iterator[Finding]:
    """A pointer takes one index, an array or tensor one per dimension; indices are integers."""
    for visit, e in view.of(Subscript):
        t = type_of(e.base)
        if not isinstance(t, PointerType | ArrayType | TensorType):
            yield Finding(f"a {t} cannot be subscripted", visit)
            continue
        wanted = 1 if isinstance(t, PointerType) else len(t.shape)
        if len(e.indices) != wanted:
            yield Finding(f"{t} takes {wanted} indices, got {len(e.indices)}", visit)
        for index in e.indices:
            if not is_integer(type_of(index)):
                yield Finding(f"an index of type {type_of(index)}", visit, "cast it to i32 or i64")
    for visit, x in view.of(Extent):
        t = type_of(x.tensor)
        if not isinstance(t, TensorType) or not 0 <= x.axis < t.rank:
            yield Finding(f"a {t} has no extent {x.axis}", visit)


def _struct(view: View, t: Type) -> StructDefinition | None:
    if not isinstance(t, StructType):
        return None
    return view.module.struct_table.get(t.name) or BUILTIN_STRUCTS.get(t.name)


def members(view: View) -> Iterator[Finding]:
    """Struct types are declared, their members exist and have the declared types."""
    for visit, t in types_in(view):
        for part in _named(t):
            if _struct(view, part) is None:
                yield Finding(f"struct {part} is not declared in the module", visit)
    for visit, e in view.of(Member):
        definition = _struct(view, type_of(e.base))
        member = None if definition is None else definition.field(e.name)
        if member is None:
            yield Finding(f"{type_of(e.base)} has no member `{e.name}`", visit)
        elif member.type != e.type:
            yield Finding(f"member `{e.name}` is {member.type}, not {e.type}", visit)


def _named(t: Type) -> Iterator[Type]:
    from tmigrate.tilelang.ir.view import parts_of

    return (part for part in parts_of(t) if isinstance(part, StructType))


def literal_fault(value: object, t: Type) -> str:
    """Why `value` is no literal of type `t`; empty where it is one."""
    if isinstance(t, PointerType):
        fits = type(value) is int and 0 <= value < 1 << 64
        return "" if fits else f"{value!r} is not an address"
    if not isinstance(t, ScalarType):
        return f"a literal of type {t}"
    if t.is_bool:
        return "" if type(value) is bool else f"{value!r} is not True or False"
    if t.is_float:
        if type(value) is not float:
            return f"{value!r} is not a float"
        return (
            "" if math.isnan(value) or round_float(value, t) == value else f"{value!r} is not a number of {t}"
        )
    if type(value) is not int:
        return f"{value!r} is not an integer"
    low, high = (-(1 << (t.bits - 1)), 1 << (t.bits - 1)) if t.is_signed else (0, 1 << t.bits)
    return "" if low <= value < high else f"{value} does not fit {t}"


def literals(view: View) -> Iterator[Finding]:
    """Literals fit their types: integers in range, floats representable."""
    for visit, e in view.of(Const):
        fault = literal_fault(e.value, e.type)
        if fault:
            yield Finding(fault, visit)


def named_constants(view: View) -> Iterator[Finding]:
    """A named constant is the module's constant of that name."""
    known = {c.name: c for c in view.module.constants}
    for visit, e in view.of(NamedConst):
        if known.get(e.name) != e:
            yield Finding(f"`{e.name}` is not this constant of the module", visit)


def reductions(view: View) -> Iterator[Finding]:
    """`sum`, `prod`, `max`, `min` fold numbers, `any` and `all` conditions; the range counts in integers."""
    for visit, e in view.of(Reduce):
        t = type_of(e.body)
        wants_condition = e.op in (ReduceOp.ANY, ReduceOp.ALL)
        if wants_condition != (t == B1) or not isinstance(t, ScalarType):
            yield Finding(f"`{e.op.value}` does not fold {t}", visit)
        kinds = {e.var.type, type_of(e.start), type_of(e.stop)}
        if len(kinds) > 1 or not is_integer(e.var.type):
            yield Finding("the variable and the bounds of a reduction have one integer type", visit)


def calls(view: View) -> Iterator[Finding]:
    """Callees exist; arguments and results have the declared types; kernels are launched, not called."""
    for visit, e in view.of(Call):
        fault = _call_fault(view, e)
        if fault:
            yield Finding(f"{e.callee}: {fault}", visit)


def _call_fault(view: View, e: Call) -> str:
    types = [type_of(a) for a in e.arguments]
    function = view.module.function(e.callee)
    if any(isinstance(t, TensorType) for t in types) and function is None:
        found: Type | str = tensor_result_type(e.callee, e.arguments)
    elif e.callee in INTRINSICS:
        found = result_type(e.callee, types)
    elif function is None:
        return "neither an operation nor a function of this module"
    elif function.kind is FunctionKind.KERNEL:
        return "a kernel is launched, not called"
    else:
        declared = [p.type for p in function.parameters]
        if types != declared:
            return f"takes ({', '.join(map(str, declared))}), got ({', '.join(map(str, types))})"
        found = function.result
    if isinstance(found, str):
        return found
    return "" if found == e.type else f"gives {found}, not {e.type}"


def is_place(e: Expr) -> bool:
    """Whether an expression denotes storage: a variable, an element, a member of a place."""
    while isinstance(e, Member):
        e = e.base
    return isinstance(e, Var | Subscript)


def addresses(view: View) -> Iterator[Finding]:
    """Only places have addresses; pointers move by integers."""
    for visit, e in view.of(AddressOf):
        t = type_of(e.place)
        pointee = t.element if isinstance(t, ArrayType) else t
        if not is_place(e.place):
            yield Finding("the address of something that is not stored", visit)
        elif not isinstance(e.type, PointerType) or e.type.pointee != pointee:
            yield Finding(f"the address of a {t} is not a {e.type}", visit)
    for visit, p in view.of(PointerAdd):
        if not isinstance(type_of(p.pointer), PointerType) or not is_integer(type_of(p.offset)):
            yield Finding(f"{type_of(p.pointer)} + {type_of(p.offset)} is no pointer arithmetic", visit)
    for visit, d in view.of(PointerDifference):
        if not isinstance(type_of(d.left), PointerType):
            yield Finding(f"the distance between values of type {type_of(d.left)}", visit)


def conversions(view: View) -> Iterator[Finding]:
    """Casts go between scalars, between pointers, and between pointers and 64-bit integers."""
    for visit, e in view.of(Cast):
        source, target = type_of(e.operand), e.type
        scalars = isinstance(source, ScalarType) and isinstance(target, ScalarType)
        pointers = sum(isinstance(t, PointerType) for t in (source, target))
        integral = source in (I64, U64) or target in (I64, U64)
        if not (scalars or pointers == 2 or (pointers == 1 and integral)):
            yield Finding(f"no conversion from {source} to {target}", visit)
    for visit, b in view.of(Bitcast):
        source, target = type_of(b.operand), b.type
        if not (
            isinstance(source, ScalarType) and isinstance(target, ScalarType) and source.bits == target.bits
        ):
            yield Finding(f"no bits of {source} are a {target}", visit, "the sizes must agree")


def initial_values(view: View) -> Iterator[Finding]:
    """A struct value has one value per member, an array value at most one per element."""
    for visit, e in view.of(MakeStruct):
        definition = _struct(view, e.type)
        wanted = None if definition is None else [f.type for f in definition.fields]
        if wanted != [type_of(v) for v in e.values]:
            yield Finding(f"the values do not match the members of {e.type}", visit)
    for visit, a in view.of(MakeArray):
        if not isinstance(a.type, ArrayType) or len(a.values) > a.type.count:
            yield Finding(f"{len(a.values)} values for {a.type}", visit)
        elif any(type_of(v) != a.type.element for v in a.values):
            yield Finding(f"the values do not match the elements of {a.type}", visit)


def launch_indices(view: View) -> Iterator[Finding]:
    """The axis of a launch index is x, y or z."""
    for visit, e in view.of(LaunchIndex):
        if e.axis not in (0, 1, 2):
            yield Finding(f"axis {e.axis} of {e.kind.value}", visit)
