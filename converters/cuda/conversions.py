"""C's conversions between types, made explicit; constants convert at once."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from tmigrate.converters.cuda.bindings import Cursor
from tmigrate.converters.cuda.context import FunctionContext
from tmigrate.converters.cuda.refusals import refuse
from tmigrate.tilelang.ir.expressions import (
    AddressOf,
    Cast,
    Compare,
    CompareOp,
    Const,
    Expr,
    Member,
    PointerAdd,
    Subscript,
    Unary,
    UnaryOp,
    type_of,
)  # fmt: skip
from tmigrate.tilelang.ir.node import attribute, operand, operands
from tmigrate.tilelang.ir.types import (
    B1,
    F32,
    I32,
    U64,
    VOID,
    ArrayType,
    PointerType,
    ScalarType,
    StructType,
    Type,
)  # fmt: skip

ZERO = Const(0, I32)


@dataclass(frozen=True, slots=True)
class Row(Expr):
    """Part of an array of several dimensions, `a[i]` of `float a[2][3]`, on its way to `a[i, j]`.

    It exists only while a function is converted: a further index or its address replaces it.
    """

    base: Expr = operand()
    indices: tuple[Expr, ...] = operands()
    type: Type = attribute()


def element_place(base: Expr, index: Expr) -> Expr:
    """`base[index]` of a pointer or of an array place."""
    if isinstance(base, Row):
        root, indices = base.base, (*base.indices, index)
    else:
        root, indices = base, (index,)
    t = type_of(base)
    if isinstance(root, Cast) and _only_space_differs(type_of(root), type_of(root.operand)):
        root = root.operand
    if isinstance(t, ArrayType) and len(t.shape) > 1:
        return Row(root, indices, ArrayType(t.element, t.shape[1:]), location=base.location)
    return Subscript(root, indices, location=base.location)


def constant(value: int | float | bool, t: ScalarType) -> Const:
    """A constant of a type, with the value wrapped or rounded to it."""
    if t.is_bool:
        return Const(bool(value), t)
    if t.is_float:
        number = float(value)
        return Const(round_to_f32(number) if t == F32 else number, t)
    return Const(wrapped(int(value), t), t)


def wrapped(value: int, t: ScalarType) -> int:
    """An integer reduced to a type's width."""
    value &= (1 << t.bits) - 1
    return value - (1 << t.bits) if t.is_signed and value >> (t.bits - 1) else value


def round_to_f32(value: float) -> float:
    """The nearest f32, as a Python float."""
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def dereferenced(pointer: Expr) -> Expr:
    """`*pointer`, without a detour through an address or a sum."""
    if isinstance(pointer, AddressOf) and type_of(pointer) == PointerType(type_of(pointer.place)):
        return pointer.place
    if isinstance(pointer, PointerAdd):
        return element_place(pointer.pointer, pointer.offset)
    return element_place(pointer, ZERO)


def _only_space_differs(a: Type, b: Type) -> bool:
    return isinstance(a, PointerType) and isinstance(b, PointerType) and a.pointee == b.pointee


def convert(f: FunctionContext, e: Expr, target: Type, where: Cursor) -> Expr:
    """`e` as a value of type `target`."""
    source = type_of(e)
    if source == target or target == VOID:
        return e
    if isinstance(source, ScalarType) and isinstance(target, ScalarType):
        return _scalar(e, source, target)
    if isinstance(source, PointerType) and isinstance(target, ArrayType):
        return e  # libclang gives a parameter `float x[4]` an array's type; it is a pointer
    if isinstance(source, ArrayType) and isinstance(target, PointerType):
        return convert(f, decay(e), target, where)
    if isinstance(target, PointerType):
        return _to_pointer(f, e, source, target, where)
    if isinstance(source, PointerType) and isinstance(target, ScalarType):
        if target.is_bool:
            return Compare(CompareOp.NE, e, Const(0, source), location=e.location)
        return _scalar(Cast(U64, e, location=e.location), U64, target)
    if isinstance(source, StructType) and isinstance(target, StructType):
        member = f.types.bases.get((source.name, target.name))
        if member is not None:
            return Member(e, member, target, location=e.location)
    return refuse("TM1013", f"no conversion from {source} to {target}", where)


def _scalar(e: Expr, source: ScalarType, target: ScalarType) -> Expr:
    if source == target:
        return e
    if target.is_bool:
        if isinstance(e, Const):
            return Const(bool(e.value), B1, location=e.location)
        if isinstance(e, Cast) and type_of(e.operand) == B1:
            return e.operand
        return Compare(CompareOp.NE, e, constant(0, source), location=e.location)
    if isinstance(e, Const) and not (source.is_float and not target.is_float):
        folded = constant(e.value, target)
        return Const(folded.value, target, location=e.location)
    return Cast(target, e, location=e.location)


def _to_pointer(f: FunctionContext, e: Expr, source: Type, target: PointerType, where: Cursor) -> Expr:
    if isinstance(e, Const) and not e.value:
        return Const(0, target, location=e.location)
    if isinstance(source, PointerType):
        if isinstance(source.pointee, StructType) and isinstance(target.pointee, StructType):
            member = f.types.bases.get((source.pointee.name, target.pointee.name))
            if member is not None:
                return AddressOf(Member(Subscript(e, (ZERO,)), member, target.pointee), target)
        return Cast(target, e, location=e.location)
    if isinstance(source, ScalarType):
        return Cast(target, _scalar(e, source, U64), location=e.location)
    return refuse("TM1013", f"no conversion from {source} to {target}", where)


def to_bool(f: FunctionContext, e: Expr, where: Cursor) -> Expr:
    """A condition of C as b1; `!` of a comparison of integers is folded by the caller where wanted."""
    return convert(f, e, B1, where)


def negated(e: Expr) -> Expr:
    """`not e` on b1, with the complement of an integer or equality comparison."""
    if isinstance(e, Const):
        return Const(not e.value, B1, location=e.location)
    if isinstance(e, Unary) and e.op is UnaryOp.NOT:
        return e.operand
    if isinstance(e, Compare):
        floating = isinstance(type_of(e.left), ScalarType) and type_of(e.left).is_float  # type: ignore[attr-defined]
        if not floating or e.op in (CompareOp.EQ, CompareOp.NE):
            return Compare(_COMPLEMENT[e.op], e.left, e.right, location=e.location)
    return Unary(UnaryOp.NOT, e, location=e.location)


_COMPLEMENT = {
    CompareOp.EQ: CompareOp.NE, CompareOp.NE: CompareOp.EQ, CompareOp.LT: CompareOp.GE,
    CompareOp.GE: CompareOp.LT, CompareOp.GT: CompareOp.LE, CompareOp.LE: CompareOp.GT,
}  # fmt: skip


def decay(e: Expr) -> Expr:
    """The address of an array place's first element; of a row of a larger array, the row's."""
    t = type_of(e)
    assert isinstance(t, ArrayType)
    if isinstance(e, Row):
        zeros = (ZERO,) * len(t.shape)
        first = Subscript(e.base, (*e.indices, *zeros), location=e.location)
        return _as_row_pointer(AddressOf(first, PointerType(t.element), location=e.location), t)
    return _as_row_pointer(AddressOf(e, PointerType(t.element), location=e.location), t)


def _as_row_pointer(first: Expr, t: ArrayType) -> Expr:
    """`float a[2][3]` decays to a pointer to its rows, `Ptr[Array[f32, 3]]`."""
    if len(t.shape) == 1:
        return first
    return Cast(PointerType(ArrayType(t.element, t.shape[1:])), first, location=first.location)


def address_of(e: Expr, t: PointerType) -> Expr:
    """`&place`; `&*p` is p and `&p[i]` is p + i."""
    if isinstance(e, Subscript):
        base = type_of(e.base)
        if isinstance(base, PointerType):
            pointer = e.base
            if not (isinstance(e.indices[0], Const) and e.indices[0].value == 0):
                pointer = PointerAdd(e.base, e.indices[0], location=e.location)
            return pointer if type_of(pointer) == t else Cast(t, pointer, location=e.location)
    if isinstance(type_of(e), ArrayType):
        first = decay(e)
        return first if t == type_of(first) else Cast(t, first, location=e.location)
    natural = PointerType(type_of(e))
    found = AddressOf(e, natural, location=e.location)
    return found if t == natural else Cast(t, found, location=e.location)
