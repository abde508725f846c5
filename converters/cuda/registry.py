"""Handlers by the kind of cursor.  A kind without a handler is refused, never skipped."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn, TypeVar

from tmigrate.converters.cuda.bindings import Cursor, CursorKind
from tmigrate.converters.cuda.context import FunctionContext
from tmigrate.converters.cuda.refusals import refuse
from tmigrate.tilelang.ir.expressions import Expr

ValueHandler = Callable[[FunctionContext, Cursor], Expr]
StatementHandler = Callable[[FunctionContext, Cursor], None]
H = TypeVar("H", ValueHandler, StatementHandler)

VALUES: dict[CursorKind, ValueHandler] = {}
PLACES: dict[CursorKind, ValueHandler] = {}
EFFECTS: dict[CursorKind, StatementHandler] = {}
STATEMENTS: dict[CursorKind, StatementHandler] = {}

# Kinds that have a refusal of their own; the rest is named by clang's word for it.
_REFUSED: dict[CursorKind, tuple[str, str, str]] = {
    CursorKind.ASM_STMT: ("TM1016", "inline assembly is not converted", "use the intrinsic or plain C++"),
    CursorKind.MS_ASM_STMT: ("TM1016", "inline assembly is not converted", "use the intrinsic or plain C++"),
    CursorKind.GOTO_STMT: ("TM1012", "goto is not converted", "use a loop with break, or a flag"),
    CursorKind.INDIRECT_GOTO_STMT: ("TM1012", "goto is not converted", "use a loop with break, or a flag"),
    CursorKind.LABEL_STMT: ("TM1012", "labels are not converted", "use a loop with break, or a flag"),
    CursorKind.CXX_NEW_EXPR: (
        "TM1019", "device-side new is not converted", "allocate on the host and pass the pointer"),
    CursorKind.CXX_DELETE_EXPR: (
        "TM1019", "device-side delete is not converted", "allocate and free on the host"),
    CursorKind.CXX_TRY_STMT: ("TM1022", "exceptions do not exist on a GPU", "return an error code"),
    CursorKind.CXX_THROW_EXPR: ("TM1022", "exceptions do not exist on a GPU", "return an error code"),
    CursorKind.CXX_TYPEID_EXPR: ("TM1038", "typeid does not exist on a GPU", "use templates"),
    CursorKind.CXX_DYNAMIC_CAST_EXPR: ("TM1038", "dynamic_cast does not exist on a GPU", "use templates"),
    CursorKind.CXX_FOR_RANGE_STMT: (
        "TM1035", "range-based for is not converted", "count through the elements with an index"),
    CursorKind.StmtExpr: ("TM1013", "statement expressions are not converted", "use a function"),
    CursorKind.STRING_LITERAL: (
        "TM1036", "strings stand only in printf and assert", "use a __constant__ array of char"),
}  # fmt: skip


def value_handler(*kinds: CursorKind) -> Callable[[ValueHandler], ValueHandler]:
    """Register a function that gives the value of expressions of these kinds."""
    return _registering(VALUES, kinds)


def place_handler(*kinds: CursorKind) -> Callable[[ValueHandler], ValueHandler]:
    """Register a function that gives the place which expressions of these kinds denote."""
    return _registering(PLACES, kinds)


def effect_handler(*kinds: CursorKind) -> Callable[[StatementHandler], StatementHandler]:
    """Register a function that executes expressions of these kinds for their effect alone."""
    return _registering(EFFECTS, kinds)


def statement_handler(*kinds: CursorKind) -> Callable[[StatementHandler], StatementHandler]:
    """Register a function that converts statements of these kinds."""
    return _registering(STATEMENTS, kinds)


def _registering(table: dict[CursorKind, H], kinds: tuple[CursorKind, ...]) -> Callable[[H], H]:
    def register(handler: H) -> H:
        for kind in kinds:
            assert kind not in table, kind
            table[kind] = handler
        return handler

    return register


def value(f: FunctionContext, cursor: Cursor) -> Expr:
    """The value of an expression; effects become statements of `f.out`."""
    handler = VALUES.get(cursor.kind) or PLACES.get(cursor.kind)
    if handler is None:
        refuse_kind(cursor)
    return handler(f, cursor)


def place(f: FunctionContext, cursor: Cursor) -> Expr:
    """The place that an lvalue denotes: a variable, a subscript, or a member of one."""
    handler = PLACES.get(cursor.kind)
    if handler is None:
        refuse("TM1013", f"this form of lvalue ({cursor.kind.name}) is not converted", cursor)
    return handler(f, cursor)


def effect(f: FunctionContext, cursor: Cursor) -> None:
    """Execute an expression whose value is not used."""
    handler = EFFECTS.get(cursor.kind)
    if handler is not None:
        handler(f, cursor)
    else:
        value(f, cursor)  # a pure value without a use: only its effects matter


def statement(f: FunctionContext, cursor: Cursor) -> None:
    """Convert one statement; what is wrong inside is recorded, and the rest goes on."""
    handler = STATEMENTS.get(cursor.kind)
    with f.collecting(), f.at(cursor):
        if handler is not None:
            handler(f, cursor)
        elif cursor.kind.is_expression():
            effect(f, cursor)
        else:
            refuse_kind(cursor)


def refuse_kind(cursor: Cursor) -> NoReturn:
    """Refuse a construct that no handler knows."""
    code, message, remedy = _REFUSED.get(
        cursor.kind,
        ("TM1013", f"this construct ({cursor.kind.name}) is not converted", "write it another way"),
    )
    refuse(code, message, cursor, remedy)
