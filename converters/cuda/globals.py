"""Variables of the module: `__device__`, `__constant__`, `__managed__`, constants, and shared memory."""

from __future__ import annotations

from tmigrate.converters.cuda.bindings import Cursor, CursorKind, canonical_key, children_of, evaluate
from tmigrate.converters.cuda.context import FunctionContext
from tmigrate.converters.cuda.conversions import ZERO, constant
from tmigrate.converters.cuda.refusals import location_of, name_location, refuse
from tmigrate.converters.cuda.types import ARRAYS, canonical, is_reference
from tmigrate.tilelang.ir.expressions import DynamicShared, Expr, Subscript, Var
from tmigrate.tilelang.ir.module import GlobalVariable
from tmigrate.tilelang.ir.statements import Allocate, Declare
from tmigrate.tilelang.ir.types import ArrayType, PointerType, ScalarType, Space

_ATTRIBUTES = {
    CursorKind.CUDADEVICE_ATTR: Space.GLOBAL,
    CursorKind.CUDACONSTANT_ATTR: Space.CONSTANT,
    CursorKind.CUDASHARED_ATTR: Space.SHARED,
}


def space_of(declaration: Cursor) -> Space | None:
    """The memory that a variable's attributes name; our headers write `__managed__` as an annotation."""
    found: Space | None = None
    for child in children_of(declaration):
        if child.kind == CursorKind.ANNOTATE_ATTR and child.spelling == "managed":
            return Space.MANAGED
        space = _ATTRIBUTES.get(child.kind)
        if space is not None and (found is None or found is Space.GLOBAL):
            found = space
    return found


def module_variable(f: FunctionContext, cursor: Cursor, target: Cursor) -> Expr:
    """The place of a variable declared outside of the function."""
    space = space_of(target)
    if space is Space.SHARED:
        return _module_shared(f, cursor, target)
    if space is None:
        return _host_constant(f, cursor, target)
    variable = global_variable(f, cursor, target, space)
    var = Var(variable.name, variable.type, location=location_of(cursor))
    is_array = canonical(target.type).kind in ARRAYS
    return var if is_array else Subscript(var, (ZERO,), location=var.location)


def global_variable(f: FunctionContext, cursor: Cursor, target: Cursor, space: Space) -> GlobalVariable:
    """The module's variable for a declaration, made at its first use."""
    module, key = f.module, canonical_key(target)
    found = module.variables.get(key)
    if found is None:
        definition = target.get_definition() or target
        t = f.types.of(definition.type, cursor)
        if is_reference(definition.type) or (
            isinstance(t, PointerType) and canonical(definition.type).kind in ARRAYS
        ):
            refuse(
                "TM1014", f"'{target.spelling}' has no size here", cursor, "give the array a constant size"
            )
        shaped = t if isinstance(t, ArrayType) else ArrayType(t, (1,))
        name, symbol = module.free_name(target.spelling, f.names), str(definition.mangled_name)
        found = GlobalVariable(name, shaped, space, symbol, location=name_location(definition))
        module.variables[key] = found
    return found


def _host_constant(f: FunctionContext, cursor: Cursor, target: Cursor) -> Expr:
    """A `const` or `constexpr` variable without attributes: device code may use its value."""
    number, t = evaluate(cursor), f.types.of(target.type, cursor)
    if number is None:
        number = evaluate(target)
    if not isinstance(number, int | float) or not isinstance(t, ScalarType):
        return refuse(
            "TM1049", f"'{target.spelling}' is a host variable: device code cannot read it", cursor,
            "make it __constant__ or constexpr, or pass it as a parameter",
        )  # fmt: skip
    parent = target.semantic_parent
    member = parent is not None and parent.kind in (CursorKind.STRUCT_DECL, CursorKind.CLASS_DECL)
    wanted = f"{parent.displayname}_{target.spelling}" if member else target.spelling
    return f.module.constant(wanted, constant(number, t).value, t)


def _module_shared(f: FunctionContext, cursor: Cursor, target: Cursor) -> Expr:
    """`__shared__` memory declared outside of functions: declared at the start of each user."""
    if not is_dynamic(target):
        users = f.module.shared_users.setdefault(canonical_key(target), set())
        users.add(f.record.name)
        if len(users) > 1 or f.module.active[:-1]:
            refuse("TM1044", f"shared variable '{target.spelling}' is used by several functions", cursor,
                   "declare it in the kernel and pass its address")  # fmt: skip
    mark = f.out
    f.out = f.prologue
    try:
        return declare_shared(f, target, cursor)
    finally:
        f.out = mark


def is_dynamic(declaration: Cursor) -> bool:
    """Whether a declaration is `extern __shared__ T name[]`."""
    return bool(canonical(declaration.type).kind == _INCOMPLETE)


_INCOMPLETE = ARRAYS[1]


def declare_shared(f: FunctionContext, declaration: Cursor, where: Cursor) -> Expr:
    """Emit the declaration of shared memory and bind its name."""
    here = location_of(declaration)
    if is_dynamic(declaration):
        element = f.types.of(canonical(declaration.type).element_type, where)
        var = f.variable(declaration.spelling, PointerType(element, Space.SHARED))
        f.emit(Declare(var, DynamicShared(element, location=here), location=here))
        f.bind(declaration, var)
        return var
    t = f.types.of(declaration.type, where)
    shaped = t if isinstance(t, ArrayType) else ArrayType(t, (1,))
    var = f.variable(declaration.spelling, shaped)
    f.emit(Allocate(var, Space.SHARED, location=here))
    place: Expr = var if isinstance(t, ArrayType) else Subscript(var, (ZERO,), location=here)
    f.bind(declaration, place)
    return place
