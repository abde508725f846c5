"""The verifier's rules about names: declared once and before use, of one type, free of the DSL's words."""

from __future__ import annotations

import keyword
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tmigrate.tilelang.ir.expressions import Expr, Reduce, Var
from tmigrate.tilelang.ir.module import Function, Module
from tmigrate.tilelang.ir.node import FieldKind, Node, field_kinds, walk
from tmigrate.tilelang.ir.statements import Allocate, Declare, For
from tmigrate.tilelang.ir.structs import BUILTIN_STRUCTS, size_of
from tmigrate.tilelang.ir.types import (
    I64,
    ArrayType,
    PointerType,
    ScalarType,
    Space,
    StructType,
    TensorType,
    Type,
)
from tmigrate.tilelang.ir.verify import Finding
from tmigrate.tilelang.ir.verify_expressions import literal_fault
from tmigrate.tilelang.ir.view import View, Visit, parts_of


def module_names(module: Module) -> list[str]:
    """The names that a module's head and functions take."""
    return [
        *(c.name for c in module.constants),
        *(s.name for s in module.structs),
        *(v.name for v in module.variables),
        *(f.name for f in module.functions),
    ]


def known_variables(view: View) -> dict[str, Var]:
    """What a function may use without declaring it: parameters, dimensions, module variables."""
    assert view.function is not None
    found = {v.name: v.var for v in view.module.variables}
    found.update((v.name, v) for v in (*view.function.dimensions, *view.function.parameters))
    return found


@dataclass(frozen=True, slots=True)
class _Step:
    """One thing to do while names are followed: look at a node, or make names visible or invisible."""

    node: Node | None = None
    bind: tuple[str, ...] = ()
    leave: tuple[str, ...] = ()


def declared(view: View) -> Iterator[Finding]:
    """A variable is used only after its declaration and inside the declaration's region."""
    assert view.function is not None
    visible = Counter(known_variables(view).keys())
    by_node = {id(v.node): v for v in view.visits}
    todo = list(reversed(_region_steps(view.function.body)))
    while todo:
        step = todo.pop()
        visible.update(step.bind)
        visible.subtract(step.leave)
        it = step.node
        if it is None:
            continue
        if isinstance(it, Var) and visible[it.name] <= 0:
            yield Finding(f"`{it.name}` is not declared here", by_node.get(id(it)),
                          "declare it before the region that uses it")  # fmt: skip
        todo.extend(reversed(_steps(it)))


def _defined(s: Node) -> tuple[str, ...]:
    """The variables that a statement adds to the rest of its region."""
    return (s.var.name,) if isinstance(s, Declare | Allocate) else ()


def _region_steps(region: tuple[Node, ...]) -> list[_Step]:
    names = tuple(name for s in region for name in _defined(s))
    return [*(_Step(node=s) for s in region), _Step(leave=names)]


def _steps(it: Node) -> list[_Step]:
    """What to do inside a node, in order: a loop's variable is visible in its body only."""
    steps: list[_Step] = []
    inner: list[_Step] = []
    own = (it.var.name,) if isinstance(it, For | Reduce) else ()
    for name, kind in field_kinds(type(it)):
        value = getattr(it, name)
        if kind is FieldKind.OPERAND and value is not None:
            (inner if own and name == "body" else steps).append(_Step(node=value))
        elif kind is FieldKind.OPERANDS:
            steps.extend(_Step(node=v) for v in value)
        elif kind is FieldKind.REGION:
            inner.extend(_region_steps(value))
    return [*steps, _Step(bind=own), *inner, _Step(leave=own), _Step(bind=_defined(it))]


def declared_once(view: View) -> Iterator[Finding]:
    """Every variable has a name of its own in its function, different from the module's names."""
    assert view.function is not None
    function = view.function
    seen = Counter([*module_names(view.module), *(d.name for d in function.dimensions)])
    for p in function.parameters:
        seen[p.name] += 1
        if seen[p.name] == 2:
            yield Finding(f"the name `{p.name}` is taken", function.location, "use another name")
    reductions: dict[str, Node] = {}
    for visit, var in view.bindings():
        # `A[sum(...)] += 1` holds the same reduction twice.
        if reductions.get(var.name) == visit.node:
            continue
        if isinstance(visit.node, Reduce):
            reductions.setdefault(var.name, visit.node)
        seen[var.name] += 1
        if seen[var.name] == 2:
            yield Finding(f"the name `{var.name}` is taken", visit, "use another name")


def one_type(view: View) -> Iterator[Finding]:
    """A variable is used with the type it was declared with."""
    known = known_variables(view)
    known.update((v.name, v) for _, v in view.bindings())
    for visit, e in view.of(Var):
        if e.name in known and known[e.name].type != e.type:
            yield Finding(f"`{e.name}` is {known[e.name].type}, and used as {e.type}", visit)


def free_names(view: View) -> Iterator[Finding]:
    """Names are Python identifiers that the DSL does not use itself."""
    from tmigrate.tilelang.text.names import is_free

    function = view.function
    assert function is not None
    for name in (function.name, *(v.name for v in (*function.dimensions, *function.parameters))):
        if not is_free(name):
            yield Finding(f"`{name}` is not a free name", function.location, "use names.to_python")
    for visit, var in view.bindings():
        if not is_free(var.name):
            yield Finding(f"`{var.name}` is not a free name", visit, "use names.to_python")


def shape_variables(extent: Expr) -> Iterator[Var]:
    """The variables in an extent."""
    return (n for n in walk(extent) if isinstance(n, Var))


def dimensions_in_order(function: Function) -> list[str]:
    """The variables of shapes and bodies that no statement and no parameter declares, by first use."""
    own = {p.name for p in function.parameters}
    found: dict[str, None] = {}

    def note(t: Type) -> None:
        for part in parts_of(t):
            if isinstance(part, TensorType):
                for extent in part.shape:
                    found.update((v.name, None) for v in shape_variables(extent))

    for t in (*(p.type for p in function.parameters), function.result):
        note(t)
    for n in walk(function.body):
        if isinstance(n, Var):
            found.setdefault(n.name, None)
        elif isinstance(getattr(n, "var", None), Var):
            note(n.var.type)  # type: ignore[attr-defined]
    declared_names = {d.name for d in function.dimensions}
    return [name for name in found if name in declared_names and name not in own]


def dimensions(view: View) -> Iterator[Finding]:
    """Dimensions are i64 and stand in the order of their first use; shapes use nothing that is not fixed."""
    function = view.function
    assert function is not None
    if any(d.type != I64 for d in function.dimensions):
        yield Finding("a dimension is i64", function.location)
    if dimensions_in_order(function) != [d.name for d in function.dimensions]:
        yield Finding("the dimensions are not listed in the order of their first use", function.location)
    for place, t in _tensor_types(view):
        fixed = {v.name: v for v in (*function.dimensions, *function.parameters)}
        for extent in t.shape:
            for n in walk(extent):
                if isinstance(n, Var) and fixed.get(n.name) != n:
                    yield Finding(
                        f"a shape uses `{n.name}`, which is neither a parameter nor a dimension", place
                    )


def _tensor_types(view: View) -> Iterator[tuple[Visit | None, TensorType]]:
    assert view.function is not None
    for t in (*(p.type for p in view.function.parameters), view.function.result):
        if isinstance(t, TensorType):
            yield None, t
    for visit, var in view.bindings():
        if isinstance(var.type, TensorType):
            yield visit, var.type


# ---- the module's head -------------------------------------------------------------------------------


def unique_names(view: View) -> Iterator[Finding]:
    """Constants, structs, variables and functions have names of their own."""
    for name, count in Counter(module_names(view.module)).items():
        if count > 1:
            yield Finding(f"`{name}` is declared {count} times", None)


def free_module_names(view: View) -> Iterator[Finding]:
    """The names in a module's head are free; members of structs are identifiers."""
    from tmigrate.tilelang.text.names import is_free

    module = view.module
    heads = [*(c.name for c in module.constants), *(v.name for v in module.variables)]
    for name in (*heads, *(s.name for s in module.structs)):
        if not is_free(name):
            yield Finding(f"`{name}` is not a free name", None, "use names.to_python")
    for s in module.structs:
        for member in s.fields:
            if not member.name.isidentifier() or keyword.iskeyword(member.name):
                yield Finding(f"`{s.name}.{member.name}` is not an identifier", None)


def constant_values(view: View) -> Iterator[Finding]:
    """The value of a module constant fits its type."""
    for c in view.module.constants:
        fault = literal_fault(c.value, c.type) or ("" if isinstance(c.type, ScalarType) else "not a number")
        if fault:
            yield Finding(f"{c.name}: {fault}", c.location)


def struct_layouts(view: View) -> Iterator[Finding]:
    """Members do not overlap and fit the struct; members' structs are declared before."""
    known = dict(BUILTIN_STRUCTS)
    names = {s.name for s in view.module.structs}
    for s in view.module.structs:
        end = 0
        for member in s.fields:
            fault = _member_fault(member.type, known, names)
            if fault:
                yield Finding(f"{s.name}.{member.name}: {fault}", None)
                continue
            if member.offset < end:
                yield Finding(f"{s.name}.{member.name} overlaps the member before it", None)
            end = member.offset + size_of(member.type, known)
        if s.alignment < 1 or s.size % s.alignment or end > s.size:
            yield Finding(f"the size {s.size} of {s.name} does not hold its members", None)
        known[s.name] = s


def _member_fault(t: Type, known: Mapping[str, object], names: set[str]) -> str:
    """Why no member has type `t`; through a pointer a struct may be declared later."""
    behind_pointer = False
    for part in parts_of(t):
        if isinstance(part, TensorType):
            return "a tensor is no member"
        behind_pointer = behind_pointer or isinstance(part, PointerType)
        if (
            isinstance(part, StructType)
            and part.name not in known
            and not (behind_pointer and part.name in names)
        ):
            return f"struct {part} is not declared before"
    return ""


def variables(view: View) -> Iterator[Finding]:
    """Module variables are arrays of at least one element in device, constant, managed or shared memory."""
    spaces = (Space.GLOBAL, Space.CONSTANT, Space.MANAGED, Space.SHARED)
    for v in view.module.variables:
        if not isinstance(v.type, ArrayType) or v.type.count < 1 or not v.type.shape or v.space not in spaces:
            yield Finding(f"`{v.name}: {v.type}` is no variable in {v.space.value} memory", v.location)


def signatures(view: View) -> Iterator[Finding]:
    """Parameters are scalars, pointers, structs or tensors; so is a result, or it is nothing."""
    function = view.function
    assert function is not None
    for p in function.parameters:
        if not isinstance(p.type, ScalarType | PointerType | StructType | TensorType):
            yield Finding(f"parameter `{p.name}` is {p.type}", function.location)
    if isinstance(function.result, ArrayType):
        yield Finding(f"a function gives {function.result}", function.location)


__all__ = ["dimensions_in_order"]
