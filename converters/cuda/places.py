"""Names, members, subscripts, `this`, and the implicit conversions that clang shows around them."""

from __future__ import annotations

from functools import partial

from tmigrate.converters.cuda.bindings import (
    Cursor,
    CursorKind,
    TypeKind,
    canonical_key,
    children_of,
    evaluate,
    in_system_header,
    is_null,
)
from tmigrate.converters.cuda.context import FunctionContext
from tmigrate.converters.cuda.conversions import ZERO, address_of, constant, convert, decay, element_place
from tmigrate.converters.cuda.globals import module_variable
from tmigrate.converters.cuda.operators import evaluated, type_at
from tmigrate.converters.cuda.refusals import location_of, refuse
from tmigrate.converters.cuda.registry import (
    effect,
    effect_handler,
    place,
    place_handler,
    value,
    value_handler,
)
from tmigrate.converters.cuda.types import ARRAYS, canonical, is_reference
from tmigrate.tilelang.ir.expressions import (
    AddressOf,
    Const,
    Expr,
    LaunchIndex,
    LaunchIndexKind,
    MakeStruct,
    Member,
    Subscript,
    Var,
    type_of,
)  # fmt: skip
from tmigrate.tilelang.ir.types import I32, VOID, ArrayType, PointerType, ScalarType, StructType

_LAUNCH = {kind.value: kind for kind in LaunchIndexKind}


# ---- names -------------------------------------------------------------------------------------------


@place_handler(CursorKind.DECL_REF_EXPR)
def name(f: FunctionContext, cursor: Cursor) -> Expr:
    """A use of a variable, an enumerator, or a template's constant."""
    target = cursor.referenced
    if is_null(target):  # a template parameter, replaced by its value
        kids = children_of(cursor)
        return value(f, kids[-1]) if kids else evaluated(f, cursor)
    if target.kind == CursorKind.ENUM_CONSTANT_DECL:
        t = type_at(f, cursor)
        assert isinstance(t, ScalarType)
        return f.module.constant(target.spelling, constant(target.enum_value, t).value, t)
    if target.kind in (CursorKind.VAR_DECL, CursorKind.PARM_DECL):
        return _variable(f, cursor, target)
    if target.kind == CursorKind.TEMPLATE_NON_TYPE_PARAMETER:
        return evaluated(f, cursor)
    if target.kind in (CursorKind.FUNCTION_DECL, CursorKind.CXX_METHOD):
        refuse("TM1021", f"'{target.spelling}' is used as a value: function pointers stay out", cursor,
               "choose with if or switch, or make the function a template argument")  # fmt: skip
    return refuse("TM1013", f"'{cursor.spelling}' ({target.kind.name}) is not converted", cursor)


def _variable(f: FunctionContext, cursor: Cursor, target: Cursor) -> Expr:
    local = f.bound(target, cursor)
    if local is not None:
        return local
    if target.spelling in _LAUNCH and in_system_header(target):
        return _whole_launch_index(_LAUNCH[target.spelling], cursor)
    if target.spelling == "warpSize" and in_system_header(target):
        return Const(32, I32, location=location_of(cursor))
    return module_variable(f, cursor, target)


def _whole_launch_index(kind: LaunchIndexKind, cursor: Cursor) -> Expr:
    """`threadIdx` as a struct."""
    name = "uint3" if kind in (LaunchIndexKind.THREAD, LaunchIndexKind.BLOCK) else "dim3"
    here = location_of(cursor)
    return MakeStruct(
        StructType(name), tuple(LaunchIndex(kind, axis, location=here) for axis in range(3)), location=here
    )


# ---- members, subscripts, this -----------------------------------------------------------------------


@place_handler(CursorKind.MEMBER_REF_EXPR)
def member(f: FunctionContext, cursor: Cursor) -> Expr:
    """`s.m`, `p->m`, and `m` inside a method."""
    field = cursor.referenced
    if field.kind == CursorKind.VAR_DECL:  # a static member
        return module_variable(f, cursor, field)
    if field.kind == CursorKind.ENUM_CONSTANT_DECL:
        return evaluated(f, cursor)
    if field.kind != CursorKind.FIELD_DECL:
        return refuse("TM1013", f"'{cursor.spelling}' is used as a value", cursor)
    kids = [k for k in children_of(cursor) if k.kind.is_expression()]
    if kids and kids[0].kind == CursorKind.DECL_REF_EXPR:
        launch = kids[0].referenced
        if not is_null(launch) and launch.spelling in _LAUNCH and in_system_header(launch):
            axis = "xyz".index(field.spelling)
            return LaunchIndex(_LAUNCH[launch.spelling], axis, location=location_of(cursor))
    base = object_place(f, kids[0]) if kids else this_place(f, cursor)
    return _member_of(f, base, field, cursor)


def _member_of(f: FunctionContext, base: Expr, field: Cursor, cursor: Cursor) -> Expr:
    t = f.types.of(field.type, cursor)
    wanted = f.types.struct(canonical(field.semantic_parent.type), cursor)
    if type_of(base) != wanted:  # a member of a base class
        base = convert(f, base, wanted, cursor)
    found: Expr = Member(base, f.types.field_name(field), t, location=location_of(cursor))
    return Subscript(found, (ZERO,), location=found.location) if is_reference(field.type) else found


def object_place(f: FunctionContext, cursor: Cursor) -> Expr:
    """The struct left of `.` or `->`: a place, or a temporary for a value."""
    t = canonical(cursor.type)
    if t.kind == TypeKind.POINTER:
        pointer = value(f, cursor)
        if isinstance(pointer, AddressOf) and type_of(pointer.place) == pointer.type.pointee:  # type: ignore[attr-defined]
            return pointer.place
        return Subscript(pointer, (ZERO,), location=location_of(cursor))
    if is_lvalue(cursor):
        return lvalue_place(f, cursor)
    found = value(f, cursor)
    return found if isinstance(found, Var) else f.temporary("object", found)


def this_place(f: FunctionContext, cursor: Cursor) -> Expr:
    """`*this`."""
    if f.self_place is None:
        return refuse("TM1013", "'this' is not converted here", cursor)
    return f.self_place


@value_handler(CursorKind.CXX_THIS_EXPR)
def this_pointer(f: FunctionContext, cursor: Cursor) -> Expr:
    """`this`."""
    own = this_place(f, cursor)
    if isinstance(own, Subscript):
        return own.base
    return AddressOf(own, PointerType(type_of(own)), location=location_of(cursor))


@place_handler(CursorKind.ARRAY_SUBSCRIPT_EXPR)
def subscript(f: FunctionContext, cursor: Cursor) -> Expr:
    """`a[i]`: of an array place the place itself is indexed, not its decayed address."""
    base, index = children_of(cursor)
    if canonical(base.type).kind not in (TypeKind.POINTER, *ARRAYS):
        base, index = index, base  # i[a]
    array = _array_under(base)
    if array is None:
        root, position = f.ordered([partial(value, f, base), partial(value, f, index)])
    else:
        root = lvalue_place(f, array)
        mark = len(f.out)
        position = value(f, index)
        root = f.keep_place(root, mark)
    t = type_of(position)
    if isinstance(t, ScalarType) and (t.is_bool or t.bits < 32):
        position = convert(f, position, I32, index)
    return element_place(root, position)


def _array_under(cursor: Cursor) -> Cursor | None:
    """The array place below the implicit decay to a pointer, or None for a pointer value."""
    while cursor.kind in (CursorKind.UNEXPOSED_EXPR, CursorKind.PAREN_EXPR):
        kids = children_of(cursor)
        if len(kids) != 1:
            return None
        cursor = kids[0]
        if _is_array_place(cursor):
            return cursor
    return cursor if _is_array_place(cursor) else None


def _is_array_place(cursor: Cursor) -> bool:
    """Whether an expression denotes an array; a parameter `float x[4]` is a pointer."""
    if canonical(cursor.type).kind != TypeKind.CONSTANTARRAY or not is_lvalue(cursor):
        return False
    inner = cursor
    while inner.kind in (CursorKind.UNEXPOSED_EXPR, CursorKind.PAREN_EXPR):
        inner = children_of(inner)[0]
    if inner.kind != CursorKind.DECL_REF_EXPR:
        return True
    return inner.referenced.kind != CursorKind.PARM_DECL or is_reference(inner.referenced.type)


# ---- lvalues and implicit conversions ----------------------------------------------------------------

_LVALUE_KINDS = (
    CursorKind.DECL_REF_EXPR, CursorKind.ARRAY_SUBSCRIPT_EXPR, CursorKind.MEMBER_REF_EXPR,
    CursorKind.COMPOUND_ASSIGNMENT_OPERATOR,
)  # fmt: skip
_CASTS = (
    CursorKind.CSTYLE_CAST_EXPR, CursorKind.CXX_STATIC_CAST_EXPR, CursorKind.CXX_REINTERPRET_CAST_EXPR,
    CursorKind.CXX_CONST_CAST_EXPR,
)  # fmt: skip


def is_lvalue(cursor: Cursor) -> bool:
    """Whether an expression denotes a place; implicit casts that only add const are looked through."""
    from tmigrate.converters.cuda.bindings import BinaryKind, UnaryKind, binary_kind, unary_kind
    from tmigrate.converters.cuda.operators import _is_bare_lvalue, operand_of_cast

    kind = cursor.kind
    if kind in (CursorKind.UNEXPOSED_EXPR, CursorKind.PAREN_EXPR):
        kids = children_of(cursor)
        if len(kids) != 1 or not is_lvalue(kids[0]):
            return False
        return _same_unqualified(cursor, kids[0]) or _is_to_base(cursor, kids[0])
    if kind == CursorKind.DECL_REF_EXPR:
        target = cursor.referenced
        return not is_null(target) and target.kind in (CursorKind.VAR_DECL, CursorKind.PARM_DECL)
    if kind == CursorKind.UNARY_OPERATOR:
        return unary_kind(cursor) in (UnaryKind.DEREF, UnaryKind.PRE_INC, UnaryKind.PRE_DEC)
    if kind == CursorKind.BINARY_OPERATOR:
        return binary_kind(cursor) == BinaryKind.ASSIGN
    if kind == CursorKind.CALL_EXPR:
        callee = cursor.referenced
        return not is_null(callee) and is_reference(callee.result_type)
    if kind in _CASTS:
        return _is_bare_lvalue(operand_of_cast(cursor))
    return kind in _LVALUE_KINDS


def _same_unqualified(a: Cursor, b: Cursor) -> bool:
    left, right = canonical(a.type), canonical(b.type)
    return bool(left.kind == right.kind and _bare(left.spelling) == _bare(right.spelling))


def _is_to_base(cursor: Cursor, child: Cursor) -> bool:
    """Whether an implicit conversion takes an object for its base class."""
    return bool(canonical(cursor.type).kind == canonical(child.type).kind == TypeKind.RECORD)


def _bare(spelling: str) -> str:
    return " ".join(word for word in spelling.split() if word not in ("const", "struct", "class"))


def lvalue_place(f: FunctionContext, cursor: Cursor) -> Expr:
    """The place of an expression for which `is_lvalue` holds."""
    while cursor.kind in (CursorKind.UNEXPOSED_EXPR, CursorKind.PAREN_EXPR):
        child = children_of(cursor)[0]
        if not _same_unqualified(cursor, child):
            return convert(f, lvalue_place(f, child), type_at(f, cursor), cursor)
        cursor = child
    return place(f, cursor)


@place_handler(CursorKind.UNEXPOSED_EXPR)
def implicit_place(f: FunctionContext, cursor: Cursor) -> Expr:
    """An lvalue under a conversion that only changes qualifiers, or to a base class."""
    kids = [k for k in children_of(cursor) if k.kind.is_expression()]
    if len(kids) != 1:
        return refuse("TM1013", "this form of lvalue is not converted", cursor)
    found = place(f, kids[0])
    target = type_at(f, cursor)
    return found if type_of(found) == target else convert(f, found, target, cursor)


@value_handler(CursorKind.LAMBDA_EXPR)
def lambda_value(f: FunctionContext, cursor: Cursor) -> Expr:
    """A closure: the values, or the addresses, of what it captures."""
    t = canonical(cursor.type)
    found = f.types.struct(t, cursor)
    key = canonical_key(t.get_declaration())
    captured, fields = f.module.captured.get(key, []), list(t.get_fields())
    if len(captured) != len(fields):
        refuse("TM1048", "this lambda's captures are not clear", cursor, "list the captures by name")
    f.module.device_lambdas.add(key)
    values: list[Expr] = []
    for variable, field in zip(captured, fields, strict=True):
        held = _variable(f, cursor, variable)
        if is_reference(field.type):
            held = convert(
                f, address_of(held, PointerType(type_of(held))), f.types.of(field.type, cursor), cursor
            )
        elif isinstance(type_of(held), ArrayType):
            refuse("TM1048", "an array captured by value is not converted", cursor, "capture a pointer to it")
        values.append(held)
    return MakeStruct(found, tuple(values), location=location_of(cursor))


@value_handler(CursorKind.UNEXPOSED_EXPR)
def implicit(f: FunctionContext, cursor: Cursor) -> Expr:
    """An implicit conversion, or a node that libclang does not name around one expression."""
    kids = [k for k in children_of(cursor) if k.kind.is_expression()]
    if not kids:
        return _without_children(f, cursor)
    if len(kids) > 1:
        return refuse("TM1013", "this construct is not converted", cursor)
    target = type_at(f, cursor)
    found = value(f, kids[0])
    if isinstance(type_of(found), ArrayType):
        found = decay(found)
    return convert(f, found, target, cursor)


def _without_children(f: FunctionContext, cursor: Cursor) -> Expr:
    """`T()` gives zero; other nodes without children must be constants."""
    t = type_at(f, cursor)
    if t == VOID:
        return Const(0, I32)
    if isinstance(t, PointerType):
        return Const(0, t, location=location_of(cursor))
    if isinstance(t, StructType):
        from tmigrate.converters.cuda.initialisers import zero_of

        return zero_of(f, t, cursor)
    number = evaluate(cursor)
    if isinstance(number, int | float):
        return evaluated(f, cursor)
    return refuse("TM1013", "this construct is not converted", cursor)


@effect_handler(CursorKind.UNEXPOSED_EXPR)
def implicit_effect(f: FunctionContext, cursor: Cursor) -> None:
    for kid in children_of(cursor):
        if kid.kind.is_expression():
            effect(f, kid)
