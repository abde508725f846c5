"""Mutation operators over the tile IR, as data: each gives the variants of one node at one place.

Where the declaration of a node says enough, the operator follows from it: an attribute that is a member of
an `Enum` is replaced by the other members, operands are exchanged, statements are dropped.  A variant
that the IR's verifier refuses is no mutant.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum

from places import InPlaceOfTwo, Place, Replacement

from tmigrate.tilelang.ir.expressions import (
    AddressOf,
    Binary,
    BinaryOp,
    Call,
    Cast,
    Compare,
    Const,
    Expr,
    Extent,
    LaunchIndex,
    LaunchIndexKind,
    Logical,
    Member,
    NamedConst,
    PointerAdd,
    Reduce,
    Select,
    StringConst,
    Subscript,
    Unary,
    UnaryOp,
    Var,
    type_of,
)
from tmigrate.tilelang.ir.intrinsics import INTRINSICS, Effect
from tmigrate.tilelang.ir.node import (
    FieldKind,
    Node,
    Trait,
    bindings_of,
    field_kinds,
    has_trait,
    walk,
    with_fields,
)
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
    Stmt,
    While,
)
from tmigrate.tilelang.ir.structs import definition_of
from tmigrate.tilelang.ir.types import (
    B1,
    F32,
    F64,
    SCALARS,
    ArrayType,
    PointerType,
    ScalarType,
    Space,
    StructType,
    TensorType,
    Type,
    is_float,
)

Variant = tuple[str, Replacement | InPlaceOfTwo]


@dataclass(frozen=True, slots=True)
class Operator:
    """One way to break a program: its name, what it does in a sentence, and its variants at a place."""

    name: str
    doc: str
    variants: Callable[[Place], Iterator[Variant]]


OPERATORS: list[Operator] = []


def operator(
    name: str,
) -> Callable[[Callable[[Place], Iterator[Variant]]], Callable[[Place], Iterator[Variant]]]:
    """Enter a function into the table; its docstring says what the operator does."""

    def enter(variants: Callable[[Place], Iterator[Variant]]) -> Callable[[Place], Iterator[Variant]]:
        OPERATORS.append(Operator(name, (variants.__doc__ or "").strip(), variants))
        return variants

    return enter


def variants_at(place: Place) -> Iterator[tuple[str, str, Replacement | InPlaceOfTwo]]:
    """(operator, what became of the node, replacement) for every operator."""
    for entry in OPERATORS:
        for label, replacement in entry.variants(place):
            yield entry.name, label, replacement


def _one(t: Type) -> Const:
    return Const(1.0, t) if is_float(t) else Const(1, t)


def _plus(e: Expr) -> Expr:
    return Binary(BinaryOp.ADD, e, _one(type_of(e)))


def _minus(e: Expr) -> Expr:
    return Binary(BinaryOp.SUB, e, _one(type_of(e)))


# ---- operators of expressions ------------------------------------------------------------------------

# An operator is replaced by each other one of its groups: what a rule could mistake it for.
_FLOAT_GROUPS = ({BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL, BinaryOp.DIV},)
_INTEGER_GROUPS = (
    {BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL},
    {BinaryOp.FLOOR_DIV, BinaryOp.FLOOR_MOD, BinaryOp.TRUNC_DIV, BinaryOp.TRUNC_REM},
    {BinaryOp.AND, BinaryOp.OR, BinaryOp.XOR},
    {BinaryOp.SHL, BinaryOp.SHR},
)
_SAME_ON_UNSIGNED = ({BinaryOp.FLOOR_DIV, BinaryOp.TRUNC_DIV}, {BinaryOp.FLOOR_MOD, BinaryOp.TRUNC_REM})


@operator("enumeration")
def _enumerations(place: Place) -> Iterator[Variant]:
    """A member of an enumeration becomes each other member (in arithmetic: of its group)."""
    it = place.node
    for name, kind in field_kinds(type(it)):
        value = getattr(it, name)
        if kind is not FieldKind.ATTRIBUTE or not isinstance(value, Enum):
            continue
        for other in _other_members(it, value):
            yield f"{value.name} -> {other.name}", with_fields(it, **{name: other})


def _other_members(it: Node, value: Enum) -> list[Enum]:
    others: list[Enum] = [m for m in type(value) if m is not value]
    if isinstance(it, Binary):
        groups = _FLOAT_GROUPS if is_float(it.type) else _INTEGER_GROUPS
        others = [m for m in others if any({value, m} <= group for group in groups)]
        if isinstance(it.type, ScalarType) and not it.type.is_signed and not it.type.is_float:
            others = [m for m in others if {value, m} not in _SAME_ON_UNSIGNED]
    if isinstance(value, LoopKind):
        others = [LoopKind.PARALLEL] if value is LoopKind.SERIAL else []  # in order is never wrong
    if isinstance(value, Space):
        others = [m for m in others if m in (Space.SHARED, Space.LOCAL)]
    return others


_COMMUTATIVE = frozenset({BinaryOp.ADD, BinaryOp.MUL, BinaryOp.AND, BinaryOp.OR, BinaryOp.XOR})
_SYMMETRIC = {"==", "!="}
_SYMMETRIC_CALLS = frozenset(
    "min max fmin fmax add_rn mul_rn hypot rhypot mulhi mul24 hadd rhadd norm3d".split()
)


@operator("exchanged operands")
def _exchange(place: Place) -> Iterator[Variant]:
    """Two neighbouring operands of one type change places, where their order matters."""
    it = place.node
    names = [n for n, kind in field_kinds(type(it)) if kind is FieldKind.OPERAND]
    if names == ["left", "right"] and not _is_symmetric(it):
        yield "left <-> right", with_fields(it, left=getattr(it, "right"), right=getattr(it, "left"))  # noqa: B009
    if isinstance(it, Select):
        yield "then <-> otherwise", with_fields(it, then=it.otherwise, otherwise=it.then)
    if isinstance(it, Call) and it.callee in _SYMMETRIC_CALLS:
        return
    for name, kind in field_kinds(type(it)):
        if kind is FieldKind.OPERANDS:
            values = getattr(it, name)
            for k in range(len(values) - 1):
                a, b = values[k], values[k + 1]
                if (
                    type_of(a) == type_of(b)
                    and a != b
                    and not (isinstance(it, Call) and it.callee == "fma" and k == 0)
                ):
                    made = (*values[:k], b, a, *values[k + 2 :])
                    yield f"{name} {k} <-> {k + 1}", with_fields(it, **{name: made})


def _is_symmetric(it: Node) -> bool:
    if isinstance(it, Binary):
        return it.op in _COMMUTATIVE or it.left == it.right
    if isinstance(it, Compare):
        return it.op.value in _SYMMETRIC or it.left == it.right
    return isinstance(it, Logical)


@operator("dropped operand")
def _dropped_operand(place: Place) -> Iterator[Variant]:
    """`a op b` becomes `a`, or `b`; `op a` becomes `a`; a function of one argument becomes the argument."""
    it = place.node
    if isinstance(it, Binary | Logical):
        yield "left only", it.left
        yield "right only", it.right
    if isinstance(it, Unary):
        yield f"{it.op.value}x -> x", it.operand
    if isinstance(it, Call) and len(it.arguments) in (1, 2) and _is_pure(it):
        for k, argument in enumerate(it.arguments):
            if type_of(argument) == it.type:
                yield f"{it.callee}(...) -> argument {k}", argument


@operator("negated")
def _negated(place: Place) -> Iterator[Variant]:
    """A condition is negated; a float gets the other sign; conditions become constant."""
    it = place.node
    if not isinstance(it, Expr) or not isinstance(place.parent, Node):
        return
    t = getattr(it, "type", None)
    if t == B1 and _is_condition(place):
        yield "not", Unary(UnaryOp.NOT, it)
        yield "true", Const(True, B1)
        yield "false", Const(False, B1)
    if (
        isinstance(t, ScalarType)
        and t.is_float
        and isinstance(it, Var | Subscript | Call)
        and not _is_target(place)
    ):
        if isinstance(it, Call) and not _is_pure(it):
            return
        yield "-x", Unary(UnaryOp.NEG, it)


def _is_condition(place: Place) -> bool:
    return place.field == "condition" or isinstance(place.parent, Logical)


def _is_target(place: Place) -> bool:
    return place.field in ("target", "place", "base", "tensor")


def _is_pure(it: Call) -> bool:
    return it.callee in INTRINSICS and INTRINSICS[it.callee].effect is Effect.PURE


@operator("constant")
def _constants(place: Place) -> Iterator[Variant]:
    """A literal or a named constant becomes its neighbours, and 0; a float also the next float."""
    it = place.node
    if not isinstance(it, Const | NamedConst) or not isinstance(it.type, ScalarType):
        return
    if place.field == "step" and isinstance(place.parent, For):
        yield "2 * step", Const(2 * int(it.value), it.type)
        return
    value = it.value
    if isinstance(value, bool):
        yield f"{value} -> {not value}", Const(not value, it.type)
        return
    for label, made in _near(value, it.type):
        if made != value:
            yield f"{value} -> {label}", Const(made, it.type)


def _near(value: int | float, t: ScalarType) -> Iterator[tuple[str, int | float]]:
    if t.is_float:
        yield "0", 0.0
        if math.isfinite(value):
            yield "+1", float(value) + 1.0
            if t in (F32, F64):
                yield "next", _next_float(float(value), t)
        return
    low, high = (-(1 << (t.bits - 1)), (1 << (t.bits - 1)) - 1) if t.is_signed else (0, (1 << t.bits) - 1)
    for label, made in (("+1", int(value) + 1), ("-1", int(value) - 1), ("0", 0)):
        if low <= made <= high and not (label == "0" and abs(int(value)) == 1):
            yield label, made


def _next_float(value: float, t: ScalarType) -> float:
    if t == F64:
        return math.nextafter(value, math.inf)
    (bits,) = struct.unpack("<i", struct.pack("<f", value))
    return float(struct.unpack("<f", struct.pack("<i", bits + 1))[0]) if value else 1e-45


@operator("conversion")
def _conversions(place: Place) -> Iterator[Variant]:
    """A value passes through a narrower type or one of the other signedness; floats round, not truncate."""
    it = place.node
    if not isinstance(it, Cast) or not isinstance(it.type, ScalarType):
        return
    source = type_of(it.operand)
    if not isinstance(source, ScalarType) or source.is_bool or it.type.is_bool:
        return
    if source.is_float and it.type.is_integer:
        yield "rounded", Cast(it.type, Call("rint", (it.operand,), source))
    for middle in _neighbours(source):
        if (
            middle != it.type
            and not _same_value(source, middle, it.type)
            and not _is_small(it.operand, middle)
        ):
            yield f"through {middle}", Cast(it.type, Cast(middle, it.operand))
    if not source.is_float:
        for middle in _neighbours(it.type):
            same = _same_value(source, middle, it.type) or _is_small(it.operand, middle)
            if middle.bits <= it.type.bits and middle != source and not same:
                yield f"to {middle} first", Cast(it.type, Cast(middle, it.operand))


def _neighbours(t: ScalarType) -> list[ScalarType]:
    """Half the width, and the other signedness."""
    names = {"f64": ["f32"], "f32": ["f16"]}.get(t.name)
    if names is None:
        sign, bits = t.name[0], t.bits
        names = [f"{'u' if sign == 'i' else 'i'}{bits}", f"{sign}{bits // 2}"] if t.is_integer else []
    return [SCALARS[n] for n in names if n in SCALARS]


def _is_small(e: Expr, t: ScalarType) -> bool:
    """A thread's index and a block's size are at most 1024: 16 bits always hold them."""
    kinds = (LaunchIndexKind.THREAD, LaunchIndexKind.BLOCK_SIZE)
    return isinstance(e, LaunchIndex) and e.kind in kinds and t.is_integer and t.bits >= 16


def _same_value(source: ScalarType, middle: ScalarType, target: ScalarType) -> bool:
    """Whether the detour cannot change an integer: no bits that the target keeps are lost or invented."""
    if source.is_float or target.is_float:
        return False
    return middle.bits >= target.bits or (middle.bits > source.bits and not source.is_signed)


@operator("reassociated")
def _reassociated(place: Place) -> Iterator[Variant]:
    """(a + b) + c becomes a + (b + c), a * b + c becomes fma(a, b, c): other roundings."""
    it = place.node
    if not isinstance(it, Binary) or not is_float(it.type):
        return
    left = it.left
    if it.op in (BinaryOp.ADD, BinaryOp.MUL) and isinstance(left, Binary) and left.op is it.op:
        yield "to the right", Binary(it.op, left.left, Binary(it.op, left.right, it.right))
    for product, rest in ((it.left, it.right), (it.right, it.left)):
        if it.op is BinaryOp.ADD and isinstance(product, Binary) and product.op is BinaryOp.MUL:
            yield "contracted", Call("fma", (product.left, product.right, rest), it.type)


# ---- names, members, places --------------------------------------------------------------------------


@operator("other variable")
def _other_variable(place: Place) -> Iterator[Variant]:
    """A variable becomes each other visible one of its type."""
    it = place.node
    if isinstance(it, Var):
        for other in place.visible:
            if other.type == it.type and other.name != it.name:
                yield f"{it.name} -> {other.name}", other


@operator("other member")
def _other_member(place: Place) -> Iterator[Variant]:
    """A member of a struct becomes each other one of its type."""
    it = place.node
    if not isinstance(it, Member):
        return
    t = type_of(it.base)
    if isinstance(t, StructType):
        for field in definition_of(t, place.module.struct_table).fields:
            if field.type == it.type and field.name != it.name:
                yield f".{it.name} -> .{field.name}", with_fields(it, name=field.name)


@operator("other axis")
def _other_axis(place: Place) -> Iterator[Variant]:
    """An axis of a launch index or an extent becomes another."""
    it = place.node
    if isinstance(it, LaunchIndex):
        for axis in {0, 1} - {it.axis}:
            yield f"axis {it.axis} -> {axis}", with_fields(it, axis=axis)
    if isinstance(it, Extent):
        t = type_of(it.tensor)
        for axis in range(t.rank if isinstance(t, TensorType) else 0):
            if axis != it.axis:
                yield f"axis {it.axis} -> {axis}", with_fields(it, axis=axis)


@operator("index")
def _indices(place: Place) -> Iterator[Variant]:
    """One index of a subscript, or a pointer's offset, is one too large or too small."""
    it = place.node
    if isinstance(it, Subscript):
        for k, index in enumerate(it.indices):
            for label, made in (("+ 1", _plus(index)), ("- 1", _minus(index))):
                indices = (*it.indices[:k], made, *it.indices[k + 1 :])
                yield f"index {k} {label}", with_fields(it, indices=indices)
    if isinstance(it, PointerAdd):
        yield "offset + 1", with_fields(it, offset=_plus(it.offset))
        yield "no offset", it.pointer


@operator("other function")
def _other_function(place: Place) -> Iterator[Variant]:
    """A call goes to the next functions of the same signature; atomics and shuffles to all of them."""
    it = place.node
    if isinstance(it, StringConst):
        yield "other text", with_fields(it, value=it.value + "!")
    if not isinstance(it, Call) or it.callee not in INTRINSICS:
        return
    row = INTRINSICS[it.callee]
    alike = [
        n for n, r in INTRINSICS.items() if (r.rule, r.arity, r.effect) == (row.rule, row.arity, row.effect)
    ]
    position = alike.index(it.callee)
    most = 2 if row.effect is Effect.PURE else len(alike) - 1
    for k in range(1, min(most, len(alike) - 1) + 1):
        name = alike[(position + k) % len(alike)]
        yield f"{it.callee} -> {name}", with_fields(it, callee=name)


# ---- statements --------------------------------------------------------------------------------------


@operator("dropped statement")
def _dropped(place: Place) -> Iterator[Variant]:
    """A statement is left out: a store, a barrier, an atomic, a jump, a loop, an assumption."""
    if isinstance(place.node, Stmt) and not isinstance(place.node, Comment | Allocate | Declare):
        yield type(place.node).__name__.lower(), ()
    if isinstance(place.node, If | While | For):
        yield "its body only", place.node.then if isinstance(place.node, If) else place.node.body


@operator("repeated statement")
def _repeated(place: Place) -> Iterator[Variant]:
    """A store or an effect happens twice, where twice is not the same as once."""
    if (isinstance(place.node, Evaluate) and not _is_idempotent(place.node.value)) or (
        isinstance(place.node, Assign) and _reads_itself(place.node)
    ):
        yield type(place.node).__name__.lower(), (place.node, place.node)


_IDEMPOTENT = frozenset("syncthreads syncwarp atomic_min atomic_max atomic_and atomic_or assert_".split())


def _is_idempotent(e: Expr) -> bool:
    return isinstance(e, Call) and (e.callee in _IDEMPOTENT or e.callee.startswith("threadfence"))


def _reads_itself(it: Assign) -> bool:
    return any(e == it.target for e in walk(it.value))


@operator("exchanged statements")
def _exchanged(place: Place) -> Iterator[Variant]:
    """A statement moves behind the next one, where one writes what the other uses."""
    it, position = place.node, place.position
    if not isinstance(it, Stmt) or isinstance(it, Comment) or position is None:
        return
    after = place.siblings[position + 1 : position + 2]
    if after and not isinstance(after[0], Comment | Allocate) and not commute(it, after[0]):
        yield "with the next", InPlaceOfTwo((after[0], it))


def commute(a: Node, b: Node) -> bool:
    """Whether the order of two statements cannot matter: equal, or neither writes what the other uses.

    Memory behind pointers counts as one thing, an array of the block or the thread as one each.
    """
    if a == b or (isinstance(a, Assume) and isinstance(b, Assume)):
        return True
    first, second = _uses(a), _uses(b)
    if first is None or second is None:
        return False
    if _EVERY_ARRAY in first[1] | second[1]:
        return not (_arrays(a) or _arrays(b))
    return not (first[1] & (second[0] | second[1]) or second[1] & first[0])


_EVERY_ARRAY = "every array"  # what a barrier orders


def _arrays(root: Node) -> bool:
    """Whether a statement touches memory."""
    return any(isinstance(it, Subscript | Member | AddressOf) for it in walk(root))


def _uses(root: Node) -> tuple[set[str], set[str]] | None:
    """What a statement reads and writes, by name; None where it jumps, or calls what has effects."""
    reads: set[str] = set()
    writes: set[str] = set()
    for it in walk(root):
        if has_trait(it, Trait.JUMPS):
            return None
        if isinstance(it, Call) and not _is_pure(it):
            if it.callee != "syncthreads":
                return None
            writes.add(_EVERY_ARRAY)
        if isinstance(it, Assign):
            writes.add(_storage(it.target))
        writes.update(v.name for v in bindings_of(it) if isinstance(v, Var))
        if isinstance(it, Var):
            reads.add(it.name)
        elif isinstance(it, Subscript | Member | AddressOf):
            reads.add(_storage(it))
    return reads, writes


def _storage(e: Node) -> str:
    """The variable or array that a place is part of; "memory" where a pointer leads there."""
    while isinstance(e, Subscript | Member | AddressOf):
        inner = e.place if isinstance(e, AddressOf) else e.base
        if isinstance(type_of(inner), PointerType):
            return "memory"
        e = inner
    return e.name if isinstance(e, Var) else "memory"


@operator("branch")
def _branches(place: Place) -> Iterator[Variant]:
    """The arms of an `if` change places; a jump becomes the other jump."""
    it = place.node
    if isinstance(it, If) and it.otherwise:
        yield "no else", with_fields(it, otherwise=())
    if isinstance(it, Break):
        yield "break -> continue", Continue(location=it.location)
    if isinstance(it, Continue):
        yield "continue -> break", Break(location=it.location)


@operator("range")
def _ranges(place: Place) -> Iterator[Variant]:
    """A loop or a reduction starts or stops one off."""
    it = place.node
    if isinstance(it, For | Reduce):
        yield "start + 1", with_fields(it, start=_plus(it.start))
        yield "start - 1", with_fields(it, start=_minus(it.start))
        yield "stop + 1", with_fields(it, stop=_plus(it.stop))
        yield "stop - 1", with_fields(it, stop=_minus(it.stop))
    if isinstance(it, While) and it.step:
        yield "no step", with_fields(it, step=())


@operator("initial value")
def _initial(place: Place) -> Iterator[Variant]:
    """A declared variable starts at 0."""
    it = place.node
    if isinstance(it, Declare) and it.value is not None and isinstance(it.var.type, ScalarType):
        t = it.var.type
        zero: int | float | bool = False if t.is_bool else 0.0 if t.is_float else 0
        if it.value != Const(zero, t) and not (isinstance(it.value, Call) and not _is_pure(it.value)):
            yield "0", with_fields(it, value=Const(zero, t))


@operator("element type")
def _elements(place: Place) -> Iterator[Variant]:
    """An array is one element longer or shorter, or its rows are."""
    it = place.node
    if isinstance(it, Allocate) and isinstance(it.var.type, ArrayType) and len(it.var.type.shape) > 1:
        shape = it.var.type.shape
        made = ArrayType(it.var.type.element, (*shape[:-1], shape[-1] + 1))
        yield "wider rows", with_fields(it, var=Var(it.var.name, made))


__all__ = ["OPERATORS", "Operator", "Variant", "variants_at"]
