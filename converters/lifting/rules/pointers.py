"""Subscripts through pointer arithmetic become subscripts of the parameter.

(a + i * n)[j]      ->      a[i * n + j]
address(a[i])[j]    ->      a[i + j]
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
from tmigrate.tilelang.ir.types import I32, I64, PointerType


def apply(lift: Lift) -> bool:
    """Rewrite every subscript whose base is a parameter with an offset."""
    changed = lift.rewrite(_rule)
    parameters = {p.name for p in lift.parameters}
    for it in walk(lift.body):
        if isinstance(it, Subscript) and isinstance(type_of(it.base), PointerType):
            if not (isinstance(it.base, Var) and it.base.name in parameters):
                raise BlockedError("TM3004", "memory is reached through a computed pointer", it.location)
        elif isinstance(it, PointerAdd | AddressOf):
            raise BlockedError("TM3004", "the address of an element is used as a value", it.location)
    return changed


def _rule(it: Node) -> Node | None:
    if isinstance(it, Cast) and isinstance(it.type, PointerType) and type_of(it.operand) == it.type:
        return it.operand
    if not isinstance(it, Subscript) or not isinstance(type_of(it.base), PointerType):
        return None
    base, index = it.base, it.indices[0]
    if isinstance(base, PointerAdd):
        return Subscript(base.pointer, (_sum(base.offset, index),), location=it.location)
    if isinstance(base, AddressOf) and isinstance(base.place, Subscript) and len(base.place.indices) == 1:
        inner = base.place
        if isinstance(type_of(inner.base), PointerType):
            return Subscript(inner.base, (_sum(inner.indices[0], index),), location=it.location)
    return None


def _sum(a: Expr, b: Expr) -> Expr:
    if isinstance(b, Const) and b.value == 0:
        return a
    if isinstance(a, Const) and a.value == 0:
        return b
    t = I32 if type_of(a) == type_of(b) == I32 else I64
    return Binary(BinaryOp.ADD, converted(a, t), converted(b, t))
