"""Functions: kernels and what they call, each converted once."""

from __future__ import annotations

from typing import Any

from tmigrate.converters.cuda.bindings import (
    Cursor,
    CursorKind,
    TypeKind,
    canonical_key,
    children_of,
    is_null,
    key_of,
)
from tmigrate.converters.cuda.context import Converted, FunctionContext, ModuleContext, check_defined
from tmigrate.converters.cuda.conversions import ZERO, convert
from tmigrate.converters.cuda.initialisers import list_value, zero_of
from tmigrate.converters.cuda.prescan import Prescan, prescan
from tmigrate.converters.cuda.refusals import location_of, name_location, refuse
from tmigrate.converters.cuda.registry import statement, value
from tmigrate.converters.cuda.types import canonical, identifier, is_reference, parameter_type
from tmigrate.diagnostics import Diagnostic, Note, RefusedError
from tmigrate.tilelang.ir.effects import effectful_functions
from tmigrate.tilelang.ir.expressions import Expr, MakeArray, MakeStruct, Member, Subscript, Var
from tmigrate.tilelang.ir.module import Function, FunctionKind, Module
from tmigrate.tilelang.ir.statements import Assign
from tmigrate.tilelang.ir.structs import definition_of
from tmigrate.tilelang.ir.types import VOID, PointerType, StructType


def kernel_function(module: ModuleContext, cursor: Cursor) -> Converted:
    """Convert one kernel; its problems stand in the result's diagnostics."""
    made = Converted(module.free_name(instance_name(cursor)), cursor)
    module.functions[canonical_key(cursor)] = made
    _convert(module, made, FunctionKind.KERNEL)
    return made


def device_function(f: FunctionContext, callee: Cursor, where: Cursor) -> Converted:
    """The function that a call means, converted at its first use."""
    module, key = f.module, canonical_key(callee)
    if key in module.active:
        refuse("TM1011", f"'{callee.spelling}' calls itself", where, "use a loop with a stack of its own")
    made = module.functions.get(key)
    if made is None:
        definition = check_defined(callee, where)
        made = Converted(module.free_name(instance_name(definition)), definition)
        module.functions[key] = made
        _convert(module, made, FunctionKind.DEVICE)
    if made.function is None:
        note = (Note(f"called from here in '{f.record.cursor.spelling}'", location_of(where)),)
        raise RefusedError([_with_note(d, note) for d in made.diagnostics])
    return made


def _with_note(d: Diagnostic, note: tuple[Note, ...]) -> Diagnostic:
    return Diagnostic(d.code, d.message, d.location, d.severity, d.remedy, d.notes or note)


def instance_name(cursor: Cursor) -> str:
    """A name for a function: of its class, itself and its template arguments: `scale_float_4`."""
    parts = [_plain_name(cursor)]
    parent = cursor.semantic_parent
    if parent is not None and parent.kind in (CursorKind.STRUCT_DECL, CursorKind.CLASS_DECL):
        owner = identifier(parent.type.spelling.rpartition("::")[2] or parent.spelling)
        if "lambda" in parent.type.spelling:
            owner = f"lambda_{parent.location.line}"
        parts = [owner] if parts[0] == "call" and "lambda" in owner else [owner, *parts]
    parts += [_argument_name(cursor, n) for n in range(max(0, cursor.get_num_template_arguments()))]
    return "_".join(p for p in parts if p)


def _argument_name(cursor: Cursor, position: int) -> str:
    try:
        kind = cursor.get_template_argument_kind(position).name
    except ValueError:  # a template or a pack, which the bindings do not know
        return ""
    if kind == "TYPE":
        t = cursor.get_template_argument_type(position)
        if "lambda at" in t.spelling:
            return f"lambda_{canonical(t).get_declaration().location.line}"
        return identifier(t.spelling.rpartition("::")[2] if "<" not in t.spelling else t.spelling)
    if kind == "INTEGRAL":
        number = int(cursor.get_template_argument_value(position))
        return str(number) if number >= 0 else f"minus{-number}"
    return ""


_OPERATORS = {
    "+": "add", "-": "subtract", "*": "multiply", "/": "divide", "%": "remainder", "()": "call", "[]": "at",
    "==": "equal", "!=": "not_equal", "<": "less", ">": "greater", "<=": "less_equal", ">=": "greater_equal",
    "+=": "add_to", "-=": "subtract_from", "*=": "multiply_by", "/=": "divide_by", "=": "assign", "!": "not",
    "&&": "both", "||": "either", "++": "increment", "--": "decrement", "->": "arrow", "<<": "shift_left",
    ">>": "shift_right", "&": "bit_and", "|": "bit_or", "^": "bit_xor", "~": "invert",
}  # fmt: skip


def _plain_name(cursor: Cursor) -> str:
    name = (
        str(cursor.spelling).partition("<")[0]
        if not cursor.spelling.startswith("operator")
        else cursor.spelling
    )
    if cursor.kind == CursorKind.CONSTRUCTOR:
        return "construct"
    if cursor.kind == CursorKind.CONVERSION_FUNCTION:
        return "to_" + identifier(cursor.result_type.spelling)
    if name.startswith("operator"):
        return _OPERATORS.get(name.removeprefix("operator").strip(), "operator")
    return name


# ---- one function ------------------------------------------------------------------------------------


def _convert(module: ModuleContext, made: Converted, kind: FunctionKind) -> None:
    """Fill in `made.function`, or `made.diagnostics`."""
    cursor = made.cursor
    module.active.append(canonical_key(cursor))
    try:
        f = FunctionContext(module, made, _scan(module, cursor))
        with f.collecting(), f.at(cursor):
            function = _function(f, kind)
            if not made.diagnostics:
                made.function = function
    except RecursionError:
        made.diagnostics.append(
            Diagnostic(
                "TM1037",
                "this function's expressions nest too deeply",
                name_location(cursor),
                remedy="split the longest expression",
            )  # fmt: skip
        )
    finally:
        module.active.pop()
    if made.function is not None:
        module.order.append(made)
        own = made.name in effectful_functions(Module("module", (made.function,)))
        made.effectful = own or any(m.effectful for m in module.order if m.name in made.callees)


def _scan(module: ModuleContext, cursor: Cursor) -> Prescan:
    body = next(k for k in children_of(cursor) if k.kind == CursorKind.COMPOUND_STMT)
    return prescan(module.parsed, body)


def _function(f: FunctionContext, kind: FunctionKind) -> Function:
    cursor, made = f.record.cursor, f.record
    parameters: list[Var] = []
    if cursor.kind in (CursorKind.CXX_METHOD, CursorKind.CONSTRUCTOR, CursorKind.CONVERSION_FUNCTION):
        _add_self(f, parameters)
    for parameter in children_of(cursor):
        if parameter.kind == CursorKind.PARM_DECL:
            with f.collecting():
                _add_parameter(f, parameter, parameters)
    result_type = VOID if cursor.kind == CursorKind.CONSTRUCTOR else f.types.of(cursor.result_type, cursor)
    f.result = result_type
    made.reference_result = is_reference(cursor.result_type)
    if cursor.kind == CursorKind.CONSTRUCTOR:
        _member_initialisers(f)
    body = next(k for k in children_of(cursor) if k.kind == CursorKind.COMPOUND_STMT)
    statement(f, body)
    return Function(
        made.name, tuple(parameters), (*f.prologue, *f.out), kind, result=result_type,
        symbol=cursor.mangled_name if kind is FunctionKind.KERNEL else "",
        location=name_location(cursor),
    )  # fmt: skip


def _add_self(f: FunctionContext, parameters: list[Var]) -> None:
    """`this` as a pointer parameter; a class without members needs none."""
    cursor = f.record.cursor
    if cursor.kind != CursorKind.CONSTRUCTOR and cursor.is_static_method():
        return
    owner = f.types.struct(canonical(cursor.semantic_parent.type), cursor)
    if not definition_of(owner, f.types.structs).fields:
        f.self_place = MakeStruct(owner, ())
        return
    f.record.takes_self = True
    var = f.variable("self", PointerType(owner))
    parameters.append(var)
    f.self_place = Subscript(var, (ZERO,))
    _bind_captures(f, cursor.semantic_parent, f.self_place)


def _bind_captures(f: FunctionContext, record: Cursor, own: Expr) -> None:
    """In a lambda's body a captured variable means a member of the closure."""
    declared = f.module.captured.get(canonical_key(record))
    if declared is None:
        return
    fields = list(canonical(record.type).get_fields())
    if len(fields) != len(declared):
        refuse("TM1048", "this lambda's captures are not clear", record, "list the captures by name")
    owner = f.types.struct(canonical(record.type), record)
    members = definition_of(owner, f.types.structs).fields
    for variable, field, member in zip(declared, fields, members, strict=True):
        held: Expr = Member(own, member.name, member.type)
        if is_reference(field.type) and canonical_key(record) in f.module.device_lambdas:
            held = Subscript(held, (ZERO,))
        elif is_reference(field.type):
            refuse("TM1048", f"'{variable.spelling}' is captured by reference from the host", variable,
                   "capture it by value")  # fmt: skip
        f.bind(variable, held)


def _add_parameter(f: FunctionContext, parameter: Cursor, parameters: list[Var]) -> None:
    f.bind(parameter, None)
    t = parameter_type(f.types, parameter)
    name = parameter.spelling or "unused"
    unstable = key_of(parameter) in f.prescan.written or isinstance(t, StructType)
    var = f.variable(name, t, unstable)
    parameters.append(var)
    if is_reference(parameter.type):
        f.bind(parameter, Subscript(var, (ZERO,), location=location_of(parameter)))
    else:
        f.bind(parameter, var)


# ---- constructors ------------------------------------------------------------------------------------


def _member_initialisers(f: FunctionContext) -> None:
    """`: a(x), b(y)` in the order of the members, then the default values of the others."""
    cursor = f.record.cursor
    given = _given(cursor)
    record = canonical(cursor.semantic_parent.type)
    if any(k.kind == CursorKind.CXX_BASE_SPECIFIER for k in children_of(record.get_declaration())):
        owner = f.types.struct(record, cursor)
        if any(m.name.startswith("base_") for m in definition_of(owner, f.types.structs).fields):
            refuse(
                "TM1032",
                "a constructor of a class with bases is not converted",
                cursor,
                "make the base a member",
            )
    for member in record.get_fields():
        if f.self_place is None or isinstance(f.self_place, MakeStruct):
            return
        t = f.types.of(member.type, cursor)
        place = Member(f.self_place, f.types.field_name(member), t, location=location_of(cursor))
        initial = given.get(member.spelling)
        if initial is None:
            default = default_of_member(f, member, cursor)
            if default is not None:
                _store(f, place, default, cursor)
        else:
            _store(f, place, _initial(f, member, initial, cursor), cursor)


def _initial(f: FunctionContext, member: Cursor, initial: Cursor, where: Cursor) -> Expr:
    if initial.kind == CursorKind.INIT_LIST_EXPR:
        return list_value(f, canonical(member.type), initial)
    return convert(f, value(f, initial), f.types.of(member.type, where), where)


def _given(cursor: Cursor) -> dict[str, Cursor]:
    """The initialisers that a constructor writes: libclang lists a member and then its value."""
    found: dict[str, Cursor] = {}
    name: str | None = None
    for child in children_of(cursor):
        if child.kind == CursorKind.MEMBER_REF:
            name = child.spelling
        elif child.kind.is_expression() and name is not None:
            found[name] = child
            name = None
        elif child.kind == CursorKind.TYPE_REF and name is None:
            continue
    return found


def _store(f: FunctionContext, place: Expr, initial: Expr, where: Cursor) -> None:
    if isinstance(initial, MakeArray):
        refuse(
            "TM1046", "an array member with initial values is not converted here", where, "fill it in a loop"
        )
    f.emit(Assign(place, initial, location=f.location))


def default_of_member(f: FunctionContext, member: Cursor, where: Cursor) -> Expr | None:
    """The value that a member has without an initialiser; None where it stays uninitialised."""
    kids = [k for k in children_of(member) if k.kind.is_expression()]
    t = canonical(member.type)
    if kids and t.kind != TypeKind.CONSTANTARRAY:
        return convert(f, value(f, kids[-1]), f.types.of(t, where), where)
    if t.kind == TypeKind.RECORD:
        return default_value(f, t, where)
    return None


def default_value(f: FunctionContext, t: Any, where: Cursor) -> Expr | None:
    """The value of `P p;` for a class without a constructor of its own; None: uninitialised."""
    found = f.types.of(t, where)
    if not isinstance(found, StructType) or t.kind != TypeKind.RECORD:
        return None
    members = list(canonical(t).get_fields())
    if any(not is_null(c) and c.kind == CursorKind.CONSTRUCTOR for c in _own_constructors(t)):
        refuse("TM1046", f"'{t.spelling}' is built by a constructor here", where, "initialise it in place")
    values = [default_of_member(f, m, where) for m in members]
    if all(v is None for v in values):
        return None
    filled = [
        zero_of(f, f.types.of(m.type, where), where) if v is None else v
        for m, v in zip(members, values, strict=True)
    ]
    return MakeStruct(found, tuple(filled), location=location_of(where))


def _own_constructors(t: Any) -> list[Cursor]:
    from tmigrate.converters.cuda.calls import user_provided

    return [
        c
        for c in children_of(t.get_declaration())
        if c.kind == CursorKind.CONSTRUCTOR and user_provided(c) and not list(c.get_arguments())
    ]
