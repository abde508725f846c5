"""Initial values: brace lists, constructors, default member values, zero."""

from __future__ import annotations

from typing import Any

from tmigrate.converters.cuda.bindings import Cursor, CursorKind, TypeKind, children_of
from tmigrate.converters.cuda.context import FunctionContext
from tmigrate.converters.cuda.conversions import constant, convert
from tmigrate.converters.cuda.refusals import location_of, refuse
from tmigrate.converters.cuda.registry import value, value_handler
from tmigrate.converters.cuda.types import canonical
from tmigrate.tilelang.ir.expressions import (
    Const,
    Expr,
    MakeArray,
    MakeStruct,
    Subscript,
    Var,
)  # fmt: skip
from tmigrate.tilelang.ir.statements import Assign, For, Stmt
from tmigrate.tilelang.ir.structs import definition_of
from tmigrate.tilelang.ir.types import I32, ArrayType, PointerType, ScalarType, StructType, Type


def zero_of(f: FunctionContext, t: Type, where: Cursor) -> Expr:
    """The value of a zero-initialised object."""
    here = location_of(where)
    if isinstance(t, ScalarType):
        return Const(constant(0, t).value, t, location=here)
    if isinstance(t, PointerType):
        return Const(0, t, location=here)
    if isinstance(t, ArrayType):
        return MakeArray(t, (), location=here)
    if isinstance(t, StructType):
        members = definition_of(t, f.types.structs).fields
        return MakeStruct(t, tuple(zero_of(f, m.type, where) for m in members), location=here)
    return refuse("TM1046", f"no initial value of type {t}", where)


@value_handler(CursorKind.INIT_LIST_EXPR, CursorKind.COMPOUND_LITERAL_EXPR)
def brace_list(f: FunctionContext, cursor: Cursor) -> Expr:
    """`{a, b}` where its type is known from its own cursor."""
    if cursor.kind == CursorKind.COMPOUND_LITERAL_EXPR:
        cursor = next(k for k in children_of(cursor) if k.kind == CursorKind.INIT_LIST_EXPR)
    return list_value(f, canonical(cursor.type), cursor)


def list_value(f: FunctionContext, t: Any, cursor: Cursor) -> Expr:
    """The value of a brace list for an object of clang type `t`."""
    items = children_of(cursor)
    found = f.types.of(t, cursor)
    if isinstance(found, ScalarType | PointerType):
        return convert(f, value(f, items[0]), found, cursor) if items else zero_of(f, found, cursor)
    if len(items) == 1 and isinstance(found, StructType) and _same_class(items[0], t):
        return value(f, items[0])
    source = _Items(items)
    result = _aggregate(f, canonical(t), found, source, cursor)
    if not source.empty:
        refuse(
            "TM1046", "this brace list has more values than its object", cursor, "write one value a member"
        )
    return result


def _aggregate(f: FunctionContext, t: Any, found: Type, items: _Items, where: Cursor) -> Expr:
    """Take the values of one array or struct from `items`; inner braces may be left out."""
    here = location_of(where)
    parts: list[tuple[Any, Cursor | None]]
    if isinstance(found, ArrayType):
        element = canonical(t.element_type)
        parts = [(element, None)] * int(t.element_count)
    else:
        assert isinstance(found, StructType)
        if any(k.kind == CursorKind.CXX_BASE_SPECIFIER for k in children_of(t.get_declaration())):
            refuse(
                "TM1046", "a brace list for a class with bases is not converted", where, "write a constructor"
            )
        parts = [(canonical(member.type), member) for member in t.get_fields()]
    mark, values = len(f.out), []
    for part, member in parts:
        if items.empty and isinstance(found, ArrayType):
            break  # the tail is zero
        values.append(_part(f, part, member, items, where))
    if len(f.out) > mark:
        values = [v if f.is_stable(v) else f.temporary("part", v) for v in values]
    if isinstance(found, ArrayType):
        return MakeArray(found, tuple(_flat(values, found)), location=here)
    return MakeStruct(found, tuple(values), location=here)


def _flat(values: list[Expr], t: ArrayType) -> list[Expr]:
    """Rows joined to the flat elements of an array of several dimensions."""
    if len(t.shape) == 1:
        return values
    row = ArrayType(t.element, t.shape[1:])
    flat: list[Expr] = []
    for v in values:
        assert isinstance(v, MakeArray)
        zero = [_element_zero(t.element)] * (row.count - len(v.values))
        flat += [*v.values, *zero]
    return flat


def _element_zero(t: Type) -> Expr:
    if isinstance(t, ScalarType):
        return Const(constant(0, t).value, t)
    return Const(0, t) if isinstance(t, PointerType) else MakeStruct(t, ())


class _Items:
    """The values of a brace list, with a look at the next one; inner objects without braces share it."""

    def __init__(self, items: list[Cursor]) -> None:
        self._left = list(reversed(items))

    @property
    def empty(self) -> bool:
        return not self._left

    @property
    def next(self) -> Cursor:
        return self._left[-1]

    def take(self) -> Cursor:
        return self._left.pop()


def _part(f: FunctionContext, t: Any, member: Cursor | None, items: _Items, where: Cursor) -> Expr:
    """The value of one element or member."""
    found = f.types.of(t, where)
    if items.empty:
        default = _default_of(member)
        return (
            convert(f, value(f, default), found, where) if default is not None else zero_of(f, found, where)
        )
    item = items.next
    if (
        any(k.kind == CursorKind.MEMBER_REF for k in children_of(item))
        and item.kind == CursorKind.UNEXPOSED_EXPR
    ):
        refuse("TM1046", "designated initialisers are not converted", item, "list the values in order")
    if item.kind == CursorKind.INIT_LIST_EXPR:
        return list_value(f, t, items.take())
    if isinstance(found, StructType) and not _same_class(item, t):
        return _aggregate(f, t, found, items, where)
    if isinstance(found, ArrayType):
        return _aggregate(f, t, found, items, where)
    return convert(f, value(f, items.take()), found, where)


def _default_of(member: Cursor | None) -> Cursor | None:
    """A member's default value, `int n = 3;` in a class."""
    if member is None:
        return None
    kids = [k for k in children_of(member) if k.kind.is_expression()]
    is_array = canonical(member.type).kind == TypeKind.CONSTANTARRAY
    return kids[-1] if kids and not (is_array and kids[-1].kind != CursorKind.INIT_LIST_EXPR) else None


def _same_class(item: Cursor, t: Any) -> bool:
    a, b = canonical(item.type), canonical(t)
    return bool(a.kind == TypeKind.RECORD and a.get_declaration() == b.get_declaration())


# ---- arrays ------------------------------------------------------------------------------------------


def fill_array(f: FunctionContext, var: Var, initial: Expr, where: Cursor) -> None:
    """Give an array its initial values: zeros by a loop, the rest one by one."""
    assert isinstance(initial, MakeArray) and isinstance(var.type, ArrayType)
    t = var.type
    here = f.location or location_of(where)
    zero = zero_of(f, t.element, where)
    values = [zero if isinstance(v, MakeStruct) and not v.values else v for v in initial.values]
    given = {n: v for n, v in enumerate(values) if v != zero}
    if len(given) < t.count:
        f.emit(_fill_loop(f, var, t, zero))
    for n, v in given.items():
        f.emit(Assign(Subscript(var, _position(n, t.shape), location=here), v, location=here))


def _fill_loop(f: FunctionContext, var: Var, t: ArrayType, zero: Expr) -> Stmt:
    counters = [f.variable("ijkl"[min(axis, 3)], I32) for axis in range(len(t.shape))]
    inner: Stmt = Assign(Subscript(var, tuple(counters), location=f.location), zero, location=f.location)
    for counter, extent in reversed(list(zip(counters, t.shape, strict=True))):
        inner = For(counter, Const(0, I32), Const(extent, I32), Const(1, I32), (inner,), location=f.location)
    return inner


def _position(flat: int, shape: tuple[int, ...]) -> tuple[Expr, ...]:
    found: list[Expr] = []
    for extent in reversed(shape):
        found.append(Const(flat % extent, I32))
        flat //= extent
    return tuple(reversed(found))


__all__ = ["fill_array", "list_value", "zero_of"]
