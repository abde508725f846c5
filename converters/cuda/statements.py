"""Statements: declarations, branches, jumps, blocks."""

from __future__ import annotations

from tmigrate.converters.cuda.bindings import (
    Cursor,
    CursorKind,
    TypeKind,
    children_of,
    evaluate,
    is_null,
    key_of,
)
from tmigrate.converters.cuda.calls import bind_reference, construct, user_provided
from tmigrate.converters.cuda.context import FunctionContext
from tmigrate.converters.cuda.conversions import address_of, convert
from tmigrate.converters.cuda.globals import declare_shared, is_dynamic, space_of
from tmigrate.converters.cuda.initialisers import fill_array, list_value
from tmigrate.converters.cuda.places import is_lvalue, lvalue_place
from tmigrate.converters.cuda.refusals import location_of, refuse
from tmigrate.converters.cuda.registry import statement, statement_handler, value
from tmigrate.converters.cuda.slots import has_init
from tmigrate.converters.cuda.types import canonical, is_reference
from tmigrate.diagnostics import RefusedError
from tmigrate.tilelang.ir.expressions import Const, Expr, MakeArray, Subscript, Var, type_of
from tmigrate.tilelang.ir.statements import (
    Allocate,
    Assign,
    Break,
    Continue,
    Declare,
    If,
    Region,
    Return,
)  # fmt: skip
from tmigrate.tilelang.ir.types import B1, I32, VOID, ArrayType, PointerType, Space, StructType


def block(f: FunctionContext, cursor: Cursor) -> Region:
    """A statement as a region of its own."""
    with f.region() as inner:
        statement(f, cursor)
    return tuple(inner)


@statement_handler(CursorKind.COMPOUND_STMT)
def compound(f: FunctionContext, cursor: Cursor) -> None:
    for child in children_of(cursor):
        statement(f, child)


@statement_handler(CursorKind.NULL_STMT)
def nothing(f: FunctionContext, cursor: Cursor) -> None:
    """`;`"""


@statement_handler(CursorKind.UNEXPOSED_STMT)
def attributed(f: FunctionContext, cursor: Cursor) -> None:
    """A statement with an attribute, such as `#pragma unroll`: the attribute does not change its meaning."""
    kids = children_of(cursor)
    if not kids:
        refuse("TM1013", "this statement is not converted", cursor)
    statement(f, kids[-1])


# ---- declarations ------------------------------------------------------------------------------------

# Declarations inside a function that do nothing when it runs.
_SILENT = (
    CursorKind.STRUCT_DECL, CursorKind.CLASS_DECL, CursorKind.UNION_DECL, CursorKind.ENUM_DECL,
    CursorKind.TYPEDEF_DECL, CursorKind.TYPE_ALIAS_DECL, CursorKind.STATIC_ASSERT,
    CursorKind.USING_DECLARATION, CursorKind.USING_DIRECTIVE, CursorKind.NAMESPACE_ALIAS,
    CursorKind.FUNCTION_DECL,
)  # fmt: skip


@statement_handler(CursorKind.DECL_STMT)
def declarations(f: FunctionContext, cursor: Cursor) -> None:
    for child in children_of(cursor):
        if child.kind == CursorKind.VAR_DECL:
            with f.collecting():
                declare(f, child)
        elif child.kind not in _SILENT:
            refuse("TM1013", f"this declaration ({child.kind.name}) is not converted", child)


def declare(f: FunctionContext, cursor: Cursor) -> None:
    """One variable; where it is refused, later uses of it report nothing new."""
    f.bind(cursor, None)
    try:
        _declare(f, cursor)
    except RefusedError:
        f.bind(cursor, None)
        raise


def _declare(f: FunctionContext, cursor: Cursor) -> None:
    space = space_of(cursor)
    if space is Space.SHARED or (is_dynamic(cursor) and space is not None):
        declare_shared(f, cursor, cursor)
        return
    if space is not None:
        refuse("TM1029", "this memory cannot be declared in a function", cursor, "declare it outside")
    if cursor.storage_class.name in ("STATIC", "EXTERN") and not canonical(cursor.type).is_const_qualified():
        refuse("TM1029", f"static variable '{cursor.spelling}' in device code is not converted", cursor,
               "make it a __device__ variable of the file")  # fmt: skip
    initial = _initial(cursor)
    if is_reference(cursor.type):
        _declare_reference(f, cursor, initial)
        return
    t = f.types.of(cursor.type, cursor)
    _check_destructor(cursor)
    if isinstance(t, ArrayType):
        _declare_array(f, cursor, t, initial)
        return
    if key_of(cursor) in f.prescan.loop_private and not isinstance(t, StructType):
        f.pending[key_of(cursor)] = (cursor.spelling, t)
        return
    unstable = key_of(cursor) in f.prescan.written or isinstance(t, StructType)
    if initial is not None and initial.kind == CursorKind.CALL_EXPR and _runs_constructor(initial):
        var = f.variable(cursor.spelling, t, unstable)
        f.emit(Declare(var, None, location=location_of(cursor)))
        construct(f, var, initial)
        f.bind(cursor, var)
        return
    start = None if initial is None else _initial_value(f, cursor, initial)
    if start is not None:
        start = convert(f, start, t, cursor)
    var = f.variable(cursor.spelling, t, unstable)
    f.emit(Declare(var, start, location=location_of(cursor)))
    f.bind(cursor, var)


def _initial(cursor: Cursor) -> Cursor | None:
    """The initialiser of a VAR_DECL: libclang lists an array's sizes before it."""
    kids = [k for k in children_of(cursor) if k.kind.is_expression()]
    t, sizes = canonical(cursor.type), 0
    while t.kind == TypeKind.CONSTANTARRAY:
        sizes, t = sizes + 1, canonical(t.element_type)
    if not sizes:
        return kids[-1] if kids else None
    lists = [k for k in kids if k.kind in (CursorKind.INIT_LIST_EXPR, CursorKind.STRING_LITERAL)]
    if lists:
        return lists[-1]
    calls = [k for k in kids if canonical(k.type).kind == TypeKind.CONSTANTARRAY]
    return calls[-1] if calls else None


def _initial_value(f: FunctionContext, cursor: Cursor, initial: Cursor) -> Expr | None:
    if initial.kind == CursorKind.INIT_LIST_EXPR:
        return list_value(f, canonical(cursor.type), initial)
    if initial.kind == CursorKind.CALL_EXPR and _constructs_nothing(initial):
        from tmigrate.converters.cuda.functions import default_value

        return default_value(f, canonical(cursor.type), cursor)
    return value(f, initial)


def _constructor(initial: Cursor) -> Cursor | None:
    callee = initial.referenced
    if is_null(callee) or callee.kind != CursorKind.CONSTRUCTOR:
        return None
    definition: Cursor | None = callee.get_definition()
    return definition or callee


def _runs_constructor(initial: Cursor) -> bool:
    found = _constructor(initial)
    own = found is not None and user_provided(found)
    return own and not _is_library(found)


def _is_library(constructor: Cursor | None) -> bool:
    from tmigrate.converters.cuda.bindings import in_system_header

    return constructor is not None and in_system_header(constructor)


def _constructs_nothing(initial: Cursor) -> bool:
    """`P p;` of a class without a constructor of its own."""
    found = _constructor(initial)
    return found is not None and not user_provided(found) and not list(initial.get_arguments())


def _check_destructor(cursor: Cursor) -> None:
    t = canonical(cursor.type)
    while t.kind == TypeKind.CONSTANTARRAY:
        t = canonical(t.element_type)
    if t.kind != TypeKind.RECORD:
        return
    for child in children_of(t.get_declaration()):
        if child.kind == CursorKind.DESTRUCTOR and any(
            k.kind == CursorKind.COMPOUND_STMT and children_of(k) for k in children_of(child)
        ):
            refuse("TM1033", f"'{t.spelling}' has a destructor that does something", cursor,
                   "call a function where the object ends")  # fmt: skip


def _declare_reference(f: FunctionContext, cursor: Cursor, initial: Cursor | None) -> None:
    if initial is None:
        refuse("TM1013", "a reference without an initialiser is not converted", cursor)
    if is_lvalue(initial):
        found = lvalue_place(f, initial)
        if isinstance(found, Var) or (isinstance(found, Subscript) and _is_fixed(found)):
            f.bind(cursor, found)  # another name for the same place
            return
        found = address_of(found, PointerType(type_of(found)))
    else:
        found = bind_reference(f, cursor.type, initial)
    var = f.variable(cursor.spelling, type_of(found))
    f.emit(Declare(var, found, location=location_of(cursor)))
    f.bind(cursor, Subscript(var, (Const(0, I32),), location=location_of(cursor)))


def _is_fixed(place: Subscript) -> bool:
    """Whether a place is always the same: an array variable at constant indices."""
    return (
        isinstance(place.base, Var)
        and isinstance(place.base.type, ArrayType)
        and all(isinstance(i, Const) for i in place.indices)
    )


def _declare_array(f: FunctionContext, cursor: Cursor, t: ArrayType, initial: Cursor | None) -> None:
    var = f.variable(cursor.spelling, t, unstable=True)
    if initial is not None and initial.kind == CursorKind.CALL_EXPR and not _constructs_nothing(initial):
        refuse(
            "TM1046", "an array of objects with constructors is not converted", cursor, "fill it in a loop"
        )
    f.emit(Allocate(var, Space.LOCAL, location=location_of(cursor)))
    f.bind(cursor, var)
    if initial is None or initial.kind == CursorKind.CALL_EXPR:
        return
    found = _string_value(f, t, initial) or list_value(f, canonical(cursor.type), initial)
    assert isinstance(found, MakeArray)
    fill_array(f, var, found, cursor)


def _string_value(f: FunctionContext, t: ArrayType, initial: Cursor) -> Expr | None:
    """`char s[] = "abc"`."""
    text = evaluate(initial) if initial.kind == CursorKind.STRING_LITERAL else None
    if not isinstance(text, str):
        return None
    raw = text.encode("utf-8", "surrogateescape")
    signed = [b - 256 if b > 127 else b for b in raw[: t.count]]
    return MakeArray(t, tuple(Const(b, t.element) for b in signed), location=location_of(initial))


# ---- branches and jumps ------------------------------------------------------------------------------


@statement_handler(CursorKind.IF_STMT)
def if_statement(f: FunctionContext, cursor: Cursor) -> None:
    kids = children_of(cursor)
    if has_init(f.module.parsed, cursor):
        statement(f, kids.pop(0))
    if kids and kids[0].kind == CursorKind.VAR_DECL:
        refuse("TM1013", "a variable declared in a condition is not converted", kids[0],
               "declare it ahead of the if")  # fmt: skip
    if len(kids) not in (2, 3):
        refuse("TM1013", "this form of 'if' is not converted", cursor)
    fixed = evaluate(kids[0]) if _is_constexpr(f, cursor) else None
    if fixed is not None:
        for branch in kids[1:2] if fixed else kids[2:]:
            statement(f, branch)
        return
    condition = condition_value(f, kids[0])
    then = block(f, kids[1])
    otherwise = block(f, kids[2]) if len(kids) == 3 else ()
    f.emit(If(condition, then, otherwise, location=location_of(cursor)))


def _is_constexpr(f: FunctionContext, cursor: Cursor) -> bool:
    text = f.module.parsed.slice(cursor.extent)[:24]
    return text.startswith("if constexpr") or text.startswith("if  constexpr")


def condition_value(f: FunctionContext, cursor: Cursor) -> Expr:
    """A condition as b1."""
    return convert(f, value(f, cursor), B1, cursor)


@statement_handler(CursorKind.RETURN_STMT)
def return_statement(f: FunctionContext, cursor: Cursor) -> None:
    kids = children_of(cursor)
    here = location_of(cursor)
    if not kids:
        f.emit(Return(None, location=here))
        return
    if f.result == VOID:
        statement(f, kids[0])
        f.emit(Return(None, location=here))
        return
    if f.record.reference_result:
        target = lvalue_place(f, kids[0])
        found = address_of(target, PointerType(type_of(target)))
        f.emit(Return(convert(f, found, f.result, cursor), location=here))
        return
    if kids[0].kind == CursorKind.INIT_LIST_EXPR:
        found = list_value(f, canonical(f.record.cursor.result_type), kids[0])
    else:
        found = value(f, kids[0])
    f.emit(Return(convert(f, found, f.result, cursor), location=here))


@statement_handler(CursorKind.BREAK_STMT)
def break_statement(f: FunctionContext, cursor: Cursor) -> None:
    if not f.targets:
        refuse("TM1013", "this 'break' is not converted", cursor)
    f.emit(Break(location=location_of(cursor)))


@statement_handler(CursorKind.CONTINUE_STMT)
def continue_statement(f: FunctionContext, cursor: Cursor) -> None:
    here = location_of(cursor)
    if not f.targets:
        refuse("TM1013", "this 'continue' is not converted", cursor)
    if not f.targets[-1].is_switch:
        f.emit(Continue(location=here))
        return
    for target in reversed(f.targets):
        if not target.is_switch:
            break
        target.continues = True
        assert target.flag is not None
        f.emit(Assign(target.flag, Const(True, B1), location=here))
    f.emit(Break(location=here))
