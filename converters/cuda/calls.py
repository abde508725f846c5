"""Calls: intrinsics, functions of the module, methods, operators, constructors, printf and assert."""

from __future__ import annotations

from functools import partial

from tmigrate.converters.cuda.bindings import (
    Cursor,
    CursorKind,
    children_of,
    evaluate,
    in_system_header,
    is_copy_or_move,
    is_defaulted,
    is_null,
)
from tmigrate.converters.cuda.context import Converted, FunctionContext, has_body
from tmigrate.converters.cuda.conversions import ZERO, address_of, convert, decay
from tmigrate.converters.cuda.halves import half_call, half_constructed, is_half, takes_halves
from tmigrate.converters.cuda.initialisers import zero_of
from tmigrate.converters.cuda.intrinsics import REFUSED, TABLE
from tmigrate.converters.cuda.operators import evaluated, type_at
from tmigrate.converters.cuda.places import is_lvalue, lvalue_place, object_place, this_place
from tmigrate.converters.cuda.refusals import location_of, refuse
from tmigrate.converters.cuda.registry import effect_handler, place_handler, value, value_handler
from tmigrate.converters.cuda.types import canonical, is_reference, parameter_type
from tmigrate.tilelang.ir.expressions import (
    Call,
    Const,
    Expr,
    LaunchIndex,
    MakeStruct,
    StringConst,
    Subscript,
    Var,
    type_of,
)  # fmt: skip
from tmigrate.tilelang.ir.statements import Assign, Declare, Evaluate
from tmigrate.tilelang.ir.structs import BUILTIN_STRUCTS, definition_of
from tmigrate.tilelang.ir.types import (
    B1,
    F32,
    F64,
    I32,
    VOID,
    ArrayType,
    PointerType,
    ScalarType,
    StructType,
)  # fmt: skip


@value_handler(CursorKind.CALL_EXPR)
def call(f: FunctionContext, cursor: Cursor) -> Expr:
    """The value of a call; one that returns a reference is read."""
    callee = cursor.referenced
    if is_null(callee):
        return _callee_unknown(f, cursor)
    if callee.kind == CursorKind.CONSTRUCTOR:
        return _constructed(f, cursor, callee)
    if callee.kind not in (CursorKind.FUNCTION_DECL, CursorKind.CXX_METHOD, CursorKind.CONVERSION_FUNCTION):
        return _callee_unknown(f, cursor)
    if any(k.kind == CursorKind.CUDAGLOBAL_ATTR for k in children_of(callee)):
        refuse("TM1023", f"kernel '{callee.spelling}' is launched from device code", cursor,
               "launch it from the host")  # fmt: skip
    if callee.spelling == "operator=" and not user_provided(callee.get_definition() or callee):
        return _copied(f, cursor)
    if in_system_header(callee):
        return _library_call(f, cursor, callee)
    return _module_call(f, cursor, callee)


@place_handler(CursorKind.CALL_EXPR)
def call_place(f: FunctionContext, cursor: Cursor) -> Expr:
    """A call that returns a reference denotes a place; any other gives a temporary."""
    found = call(f, cursor)
    if isinstance(found, Var | Subscript):
        return found
    return found if is_lvalue(cursor) else f.temporary("object", found)


@effect_handler(CursorKind.CALL_EXPR)
def call_effect(f: FunctionContext, cursor: Cursor) -> None:
    """A call as a statement: its value is not kept."""
    mark = len(f.out)
    call(f, cursor)
    last = f.out[-1] if len(f.out) > mark else None
    if isinstance(last, Declare) and isinstance(last.value, Call) and last.value.callee == f.last_call:
        f.out[-1] = Evaluate(last.value, location=last.location)
        f.names.discard(last.var.name)


def _copied(f: FunctionContext, cursor: Cursor) -> Expr:
    """`a = b` of structs without an operator of their own: gives the place `a`."""
    left, right = list(cursor.get_arguments())
    source, target = f.ordered([partial(value, f, right), partial(object_place, f, left)])
    f.emit(Assign(target, convert(f, source, type_of(target), cursor), location=f.location))
    return target


def _callee_unknown(f: FunctionContext, cursor: Cursor) -> Expr:
    kids = [k for k in children_of(cursor) if k.kind.is_expression()]
    t = type_at(f, cursor)
    if not kids and isinstance(t, ScalarType | PointerType):  # `T()` of a template's T
        return zero_of(f, t, cursor)
    return refuse("TM1021", "a call through a pointer is not converted", cursor,
                  "choose with if or switch, or make the function a template argument")  # fmt: skip


# ---- functions of system headers ---------------------------------------------------------------------


def _library_call(f: FunctionContext, cursor: Cursor, callee: Cursor) -> Expr:
    name = callee.spelling
    arguments = list(cursor.get_arguments())
    if name == "printf":
        return _printf(f, cursor, arguments)
    if name.startswith("__assert"):
        return _assert_failed(f, cursor, arguments)
    if name.startswith("make_") and name[5:] in BUILTIN_STRUCTS:
        return _make_vector(f, cursor, StructType(name[5:]), arguments)
    if name in ("move", "forward", "addressof", "as_const") and len(arguments) == 1:
        return _pass_through(f, cursor, name, arguments[0])
    if takes_halves(f, cursor, callee):
        return _half_call(f, cursor, callee, arguments)
    if name.startswith("operator") and has_body(callee.get_definition() or callee):
        return _module_call(f, cursor, callee)
    if not arguments and evaluate(cursor) is not None:  # std::numeric_limits<float>::max()
        return evaluated(f, cursor)
    handler = TABLE.get(name)
    if handler is not None:
        given = [k for k in arguments if k.extent.start.file is not None or children_of(k)]
        values = f.ordered([partial(_argument, f, callee, n, k) for n, k in enumerate(given)])
        values += [_default_argument(f, callee, n, cursor) for n in range(len(given), len(arguments))]
        return handler(f, cursor, values)
    if name in REFUSED:
        code, message, remedy = REFUSED[name]
        return refuse(code, f"'{name}': {message}", cursor, remedy)
    definition = callee.get_definition()
    if definition is not None and has_body(definition):
        return _module_call(f, cursor, callee)
    return refuse("TM1014", f"device function '{name}' is not known to tmigrate", cursor,
                  "write it out in the file")  # fmt: skip


def _half_call(f: FunctionContext, cursor: Cursor, callee: Cursor, arguments: list[Cursor]) -> Expr:
    def owner() -> Expr:
        receiver, _ = _receiver(cursor, callee, arguments)
        return this_place(f, cursor) if receiver is None else value(f, receiver)

    return half_call(f, cursor, callee, arguments, owner)


def _default_argument(f: FunctionContext, callee: Cursor, position: int, where: Cursor) -> Expr:
    """The value that a declaration gives a missing argument."""
    parameters = [k for k in children_of(callee) if k.kind == CursorKind.PARM_DECL]
    kids = [k for k in children_of(parameters[position]) if k.kind.is_expression()]
    if not kids:
        return refuse("TM1013", f"the default argument of '{callee.spelling}' is not visible", where,
                      "write the argument")  # fmt: skip
    return convert(f, value(f, kids[-1]), parameter_type(f.types, parameters[position]), where)


def _make_vector(f: FunctionContext, cursor: Cursor, t: StructType, arguments: list[Cursor]) -> Expr:
    members = definition_of(t, {}).fields
    values = f.ordered([partial(value, f, k) for k in arguments])
    given = tuple(convert(f, v, m.type, cursor) for v, m in zip(values, members, strict=True))
    return MakeStruct(t, given, location=location_of(cursor))


def _pass_through(f: FunctionContext, cursor: Cursor, name: str, argument: Cursor) -> Expr:
    """std::move and std::forward change no value."""
    found = lvalue_place(f, argument) if is_lvalue(argument) else value(f, argument)
    return address_of(found, PointerType(type_of(found))) if name == "addressof" else found


def _printf(f: FunctionContext, cursor: Cursor, arguments: list[Cursor]) -> Expr:
    text = evaluate(arguments[0])
    if not isinstance(text, str):
        return refuse(
            "TM1047", "printf's format must be a string literal", cursor, "write the format in place"
        )
    values = f.ordered([partial(_printed, f, k) for k in arguments[1:]])
    here = location_of(cursor)
    return f.call("printf", (StringConst(text, location=here), *values), I32, effectful=True)


def _printed(f: FunctionContext, cursor: Cursor) -> Expr:
    """An argument of printf with C's default promotions; a string literal stays one."""
    text = evaluate(cursor) if "char" in cursor.type.spelling else None
    if isinstance(text, str):
        return StringConst(text, location=location_of(cursor))
    found = value(f, cursor)
    t = type_of(found)
    if t == F32:
        return convert(f, found, F64, cursor)
    if isinstance(t, ScalarType) and (t.is_bool or (t.is_integer and t.bits < 32)):
        return convert(f, found, I32, cursor)
    if isinstance(t, StructType | ArrayType):
        return refuse("TM1047", f"printf cannot print a value of type {t}", cursor, "print its members")
    return found


def _assert_failed(f: FunctionContext, cursor: Cursor, arguments: list[Cursor]) -> Expr:
    """`assert(c)` is `c ? (void)0 : __assert_fail(text, ...)`; the `?:` makes it `assert_(c, text)`."""
    text = evaluate(arguments[0]) if arguments else None
    message = StringConst(text if isinstance(text, str) else "assertion failed", location=location_of(cursor))
    return f.call("assert_", (Const(False, B1), message), VOID, effectful=True)


# ---- functions of the module -------------------------------------------------------------------------


def _module_call(f: FunctionContext, cursor: Cursor, callee: Cursor) -> Expr:
    """A call of a function that is converted too, if it has not been already."""
    from tmigrate.converters.cuda.functions import device_function

    _check_static_dispatch(callee, cursor)
    made = device_function(f, callee, cursor)
    arguments = list(cursor.get_arguments())
    receiver = None
    if (
        callee.kind in (CursorKind.CXX_METHOD, CursorKind.CONVERSION_FUNCTION)
        and not callee.is_static_method()
    ):
        receiver, arguments = _receiver(cursor, callee, arguments)
    makers = [partial(_argument, f, made.cursor, n, k) for n, k in enumerate(arguments)]
    if made.takes_self:
        makers.insert(0, partial(_self_argument, f, receiver, made, cursor))
    values = f.ordered(makers)  # type: ignore[arg-type]
    assert made.function is not None
    result = f.call(made.name, tuple(values), made.function.result, made.effectful)
    f.record.callees.add(made.name)
    if made.reference_result:
        return Subscript(result, (ZERO,), location=location_of(cursor))
    return result


def _check_static_dispatch(callee: Cursor, where: Cursor) -> None:
    if callee.kind == CursorKind.CXX_METHOD and callee.is_virtual_method():
        refuse("TM1020", f"'{callee.spelling}' is a virtual function", where,
               "use templates or a switch over a type tag")  # fmt: skip


def _receiver(cursor: Cursor, callee: Cursor, arguments: list[Cursor]) -> tuple[Cursor | None, list[Cursor]]:
    """The object that a method is called on (None: `this`), and the other arguments.

    `a + b` and `f(x)` on an object list it as the first argument; `a.get()` has it under the first child.
    """
    parameters = [k for k in children_of(callee) if k.kind == CursorKind.PARM_DECL]
    kids = children_of(cursor)
    first = kids[0] if kids else None
    if first is not None and first.kind == CursorKind.MEMBER_REF_EXPR and len(arguments) <= len(parameters):
        inner = [k for k in children_of(first) if k.kind.is_expression()]
        return (inner[0] if inner else None), arguments
    if len(arguments) == len(parameters) + 1:
        return arguments[0], arguments[1:]
    return refuse("TM1013", f"the object of '{callee.spelling}' is not clear here", cursor)


def _self_argument(f: FunctionContext, receiver: Cursor | None, made: Converted, where: Cursor) -> Expr:
    assert made.function is not None
    wanted = made.function.parameters[0].type
    assert isinstance(wanted, PointerType)
    owner = object_place(f, receiver) if receiver is not None else this_place(f, where)
    if isinstance(owner, MakeStruct | LaunchIndex):
        owner = f.temporary("object", owner)
    pointer = address_of(owner, PointerType(type_of(owner)))
    return convert(f, pointer, wanted, where)


def _argument(f: FunctionContext, callee: Cursor, position: int, cursor: Cursor) -> Expr:
    """One argument in the type of its parameter; a reference parameter gets an address."""
    parameters = [k for k in children_of(callee) if k.kind == CursorKind.PARM_DECL]
    if position >= len(parameters):
        return value(f, cursor)
    declared = parameters[position].type
    is_default = cursor.extent.start.file is None and not children_of(cursor)
    if is_reference(declared) and not in_system_header(callee):
        return bind_reference(
            f, declared, _default_of(parameters[position], cursor) if is_default else cursor
        )
    if is_default:
        return _default_argument(f, callee, position, cursor)
    found = value(f, cursor)
    if isinstance(type_of(found), ArrayType):
        found = decay(found)
    if is_reference(declared):  # std::max(const T &, const T &): the value serves
        return found
    return convert(f, found, parameter_type(f.types, parameters[position]), cursor)


def _default_of(parameter: Cursor, where: Cursor) -> Cursor:
    kids = [k for k in children_of(parameter) if k.kind.is_expression()]
    return kids[-1] if kids else where


def bind_reference(f: FunctionContext, declared: object, cursor: Cursor) -> Expr:
    """The address that a reference of type `declared` holds when bound to an expression."""
    target = f.types.of(declared, cursor)
    assert isinstance(target, PointerType)
    if is_lvalue(cursor):
        found = lvalue_place(f, cursor)
        if isinstance(found, MakeStruct | LaunchIndex | Const):
            found = f.temporary("object", found)
    else:
        before = set(f.names)
        found = convert(f, value(f, cursor), target.pointee, cursor)
        if not isinstance(found, Var) or found.name in before:
            found = f.temporary("object", found)
    natural = PointerType(type_of(found))
    if isinstance(type_of(found), ArrayType):
        return convert(f, decay(found), target, cursor)
    return convert(f, address_of(found, natural), target, cursor)


# ---- constructors ------------------------------------------------------------------------------------


def _constructed(f: FunctionContext, cursor: Cursor, constructor: Cursor) -> Expr:
    """The value of `T(a, b)`."""
    arguments = list(cursor.get_arguments())
    t = type_at(f, cursor)
    if is_half(t) and in_system_header(constructor) and not is_copy_or_move(constructor):
        return half_constructed(f, cursor, t, arguments)
    definition = constructor.get_definition() or constructor
    if is_copy_or_move(constructor) and not user_provided(definition) and len(arguments) == 1:
        return convert(f, value(f, arguments[0]), t, cursor)
    if isinstance(t, StructType) and t.name == "dim3" and in_system_header(constructor):
        return _dim3(f, cursor, arguments)
    if isinstance(t, StructType) and not arguments and not user_provided(definition):
        from tmigrate.converters.cuda.functions import default_value

        return default_value(f, canonical(cursor.type), cursor) or zero_of(f, t, cursor)
    made = f.variable("object", t, unstable=True)
    f.emit(Declare(made, None, location=f.location))
    construct(f, made, cursor)
    return made


def _dim3(f: FunctionContext, cursor: Cursor, arguments: list[Cursor]) -> Expr:
    members = BUILTIN_STRUCTS["dim3"].fields
    values = [value(f, k) for k in arguments if k.extent.start.file is not None]
    if len(values) == 1 and isinstance(type_of(values[0]), StructType):
        return values[0]
    given = [convert(f, v, m.type, cursor) for v, m in zip(values, members, strict=False)]
    given += [Const(1, m.type) for m in members[len(given) :]]
    return MakeStruct(StructType("dim3"), tuple(given), location=location_of(cursor))


def construct(f: FunctionContext, target: Expr, cursor: Cursor) -> None:
    """Run the constructor that a CALL_EXPR names on a place."""
    from tmigrate.converters.cuda.functions import device_function

    constructor = cursor.referenced
    made = device_function(f, constructor, cursor)
    own = address_of(target, PointerType(type_of(target)))
    arguments = list(cursor.get_arguments())
    values = f.ordered([partial(_argument, f, made.cursor, n, k) for n, k in enumerate(arguments)])
    f.call(made.name, (own, *values) if made.takes_self else tuple(values), VOID, effectful=True)
    f.record.callees.add(made.name)


def user_provided(constructor: Cursor) -> bool:
    """Whether a special member function has code of its own."""
    return has_body(constructor) and not is_defaulted(constructor) and not _is_implicit(constructor)


def _is_implicit(method: Cursor) -> bool:
    """Whether clang made the method: it then stands where its class does."""
    owner = method.semantic_parent
    return owner is not None and bool(owner.location == method.location)


__all__ = ["bind_reference", "construct", "user_provided"]
