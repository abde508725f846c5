"""What must be known of a function's body before its first statement is converted.

One walk over clang's tree finds the variables that are written after their declaration, and those that
C code declares ahead of a loop though each loop sets them anew::

    int j;
    for (j = 0; j < NJ; j++) ...        `j` belongs to the loops: no loop needs the other's value
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tmigrate.converters.cuda.bindings import (
    BinaryKind,
    Cursor,
    CursorKind,
    binary_kind,
    children_of,
    key_of,
)
from tmigrate.converters.cuda.parsing import ParsedFile
from tmigrate.converters.cuda.slots import for_slots
from tmigrate.diagnostics import RefusedError

_VARIABLES = (CursorKind.VAR_DECL, CursorKind.PARM_DECL)


@dataclass(slots=True)
class Prescan:
    """Facts about the variables of one function, by the identity of their declarations."""

    written: set[int] = field(default_factory=set)  # may change after the declaration
    loop_private: set[int] = field(default_factory=set)  # set by each loop that uses them
    referenced: dict[int, Cursor] = field(default_factory=dict)  # every variable or function named


@dataclass(slots=True)
class _Item:
    cursor: Cursor
    parent: CursorKind
    owners: tuple[int, ...]  # variables that an enclosing `for` sets


def prescan(parsed: ParsedFile, body: Cursor) -> Prescan:
    """Walk a function's body."""
    result = Prescan()
    used_outside: set[int] = set()
    owned: set[int] = set()
    stack = [_Item(body, CursorKind.COMPOUND_STMT, ())]
    while stack:
        item = stack.pop()
        kind = item.cursor.kind
        kids = children_of(item.cursor)
        if kind == CursorKind.DECL_REF_EXPR:
            _reference(item, result, used_outside)
        owner = _loop_variable(parsed, item.cursor) if kind == CursorKind.FOR_STMT and kids else None
        if owner is None:
            stack += [_Item(k, kind, item.owners) for k in reversed(kids)]
            continue
        if owner in item.owners:  # a loop inside sets the same variable: they share it
            used_outside.add(owner)
        owned.add(owner)
        inner = (*item.owners, owner)
        stack += [_Item(k, kind, inner) for k in reversed(kids[1:])]
        stack += [_Item(k, kind, item.owners) for k in children_of(kids[0])[1:]]
        result.written.add(owner)
    result.loop_private = owned - used_outside
    return result


def _reference(item: _Item, result: Prescan, used_outside: set[int]) -> None:
    target = item.cursor.referenced
    if target is None:
        return
    key = key_of(target)
    result.referenced[key] = target
    if target.kind not in _VARIABLES:
        return
    if key not in item.owners:
        used_outside.add(key)
    if item.parent not in (CursorKind.UNEXPOSED_EXPR, CursorKind.MEMBER_REF_EXPR):
        result.written.add(key)  # used as an lvalue: assigned, incremented, its address taken, bound
    elif item.parent == CursorKind.MEMBER_REF_EXPR:
        result.written.add(key)


def _loop_variable(parsed: ParsedFile, loop: Cursor) -> int | None:
    """The variable that `for (v = ...;` sets, where it is declared ahead of the loop."""
    try:
        init = for_slots(parsed, loop).init
    except RefusedError:  # reported when the loop is converted
        return None
    if init is None or init.kind != CursorKind.BINARY_OPERATOR or binary_kind(init) != BinaryKind.ASSIGN:
        return None
    target = children_of(init)[0]
    if target.kind != CursorKind.DECL_REF_EXPR or target.referenced is None:
        return None
    return key_of(target.referenced) if target.referenced.kind in _VARIABLES else None
