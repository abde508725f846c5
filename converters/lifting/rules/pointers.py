"""Subscripts through pointer arithmetic become subscripts of the parameter.

(a + i * n)[j]      ->      a[i * n + j]
address(a[i])[j]    ->      a[i + j]

A parameter that points to rows becomes one that points to their elements:

a: Ptr[Array[f32, 16]]      a: Ptr[f32]
a[i][j]             ->      a[i * 16 + j]
"""

from __future__ import annotations

from tmigrate.converters.lifting.polynomials import converted
from tmigrate.converters.lifting.state import BlockedError, Lift
from tmigrate.tilelang.ir.expressions import (
    AddressOf,
    Binary,
    BinaryOp,
    Cast,
    Const,
    Expr,
    PointerAdd,
    Subscript,
    Var,
    type_of,
)
from tmigrate.tilelang.ir.node import Node, walk
from tmigrate.tilelang.ir.types import I32, I64, ArrayType, PointerType


def apply(lift: Lift) -> bool:
    """Rewrite every subscript whose base is a parameter with an offset."""
    changed = lift.rewrite(_rule)
    changed = _flatten_rows(lift) or changed
    parameters = {p.name for p in lift.parameters}
    for it in walk(lift.body):
        if isinstance(it, Subscript) and isinstance(type_of(it.base), PointerType):
            if not (isinstance(it.base, Var) and it.base.name in parameters):
                raise BlockedError("TM3004", "memory is reached through a computed pointer", it.location)
        elif isinstance(it, PointerAdd | AddressOf):
            raise BlockedError("TM3004", "the address of an element is used as a value", it.location)
    return changed


def _flatten_rows(lift: Lift) -> bool:
    """Pointers to arrays become pointers to elements."""
    rows = {p.name: made for p in lift.parameters if (made := _to_elements(p)) != p}
    if not rows:
        return False

    def rule(it: Node) -> Node | None:
        row = it.base if isinstance(it, Subscript) else None
        if not isinstance(it, Subscript) or not isinstance(row, Subscript) or not isinstance(row.base, Var):
            return None
        made = rows.get(row.base.name)
        return None if made is None else Subscript(made, (_flat(row, it),), location=it.location)

    lift.rewrite(rule)
    for it in walk(lift.body):
        if isinstance(it, Var) and it.name in rows and it.type != rows[it.name].type:
            raise BlockedError("TM3004", f"a row of {it.name} is used as a whole", it.location)
    lift.parameters = tuple(rows.get(p.name, p) for p in lift.parameters)
    return True


def _to_elements(p: Var) -> Var:
    if isinstance(p.type, PointerType) and isinstance(p.type.pointee, ArrayType):
        return Var(p.name, PointerType(p.type.pointee.element, p.type.space))
    return p


def _flat(row: Subscript, it: Subscript) -> Expr:
    """`i * 16 + j` of `a[i][j]`, in 64 bits as addresses are computed."""
    array = type_of(row)
    assert isinstance(array, ArrayType)
    flat = converted(row.indices[0], I64)
    for index, extent in zip(it.indices, array.shape, strict=True):
        flat = Binary(BinaryOp.MUL, flat, Const(extent, I64))
        flat = Binary(BinaryOp.ADD, flat, converted(index, I64))
    return flat


def _rule(it: Node) -> Node | None:
    if isinstance(it, Cast) and isinstance(it.type, PointerType) and type_of(it.operand) == it.type:
        return it.operand
    if not isinstance(it, Subscript) or not isinstance(type_of(it.base), PointerType):
        return None
    base, index = it.base, it.indices[0]
    if isinstance(base, PointerAdd):
        return Subscript(base.pointer, (_sum(base.offset, index),), location=it.location)
    if isinstance(base, AddressOf):
        return _through_address(it, base.place, index)
    return None


def _through_address(it: Subscript, place: Expr, index: Expr) -> Expr | None:
    """An element counted from another element, or from the start of an array of the same elements."""
    t = type_of(place)
    if isinstance(t, ArrayType):
        plain = len(t.shape) == 1 and t.element == it.type
        return Subscript(place, (index,), location=it.location) if plain else None
    if not isinstance(place, Subscript) or len(place.indices) != 1 or t != it.type:
        return place if t == it.type and isinstance(index, Const) and index.value == 0 else None
    return Subscript(place.base, (_sum(place.indices[0], index),), location=it.location)


def _sum(a: Expr, b: Expr) -> Expr:
    if isinstance(b, Const) and b.value == 0:
        return a
    if isinstance(a, Const) and a.value == 0:
        return b
    t = I32 if type_of(a) == type_of(b) == I32 else I64
    return Binary(BinaryOp.ADD, converted(a, t), converted(b, t))
