"""Which functions stand in which output, and the texts around them.

``NAME_thread.py`` holds every converted kernel at thread level, ``NAME_tile.py`` each at the highest level
that was shown equivalent.  What is written is exactly what was compiled: both are printed, read back and
only then built.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from tmigrate.faults import with_planted_faults
from tmigrate.planning import Plan
from tmigrate.tilelang.ir.expressions import Call, Expr, NamedConst, Var, type_of
from tmigrate.tilelang.ir.module import Function, FunctionKind, Module
from tmigrate.tilelang.ir.node import Node, bindings_of, walk
from tmigrate.tilelang.ir.types import ArrayType, PointerType, StructType, TensorType, Type
from tmigrate.tilelang.text.parser import parse_module
from tmigrate.tilelang.text.printer import print_module


@dataclass(frozen=True, slots=True)
class Texts:
    """The two kernel files of a plan, as they are written."""

    thread: str
    tile: str


def texts_of(plan: Plan) -> Texts:
    """The texts of a plan's two files."""
    thread = print_module(replace(plan.module, doc=_doc(plan, "thread")))
    tile = print_module(replace(tile_module(plan.module, plan.lifts), doc=_doc(plan, "tile")))
    return Texts(thread, tile)


def _doc(plan: Plan, level: str) -> str:
    name = plan.source.name
    if level == "thread":
        return f"The kernels of {name}, thread by thread, as the original has them.  Written by tmigrate."
    return f"The kernels of {name}, each at the highest level shown equivalent.  Written by tmigrate."


def through_text(module: Module) -> Module:
    """The module as its text says it: what is written is what gets compiled."""
    return with_planted_faults(parse_module(print_module(module), module.name))


def tile_module(thread: Module, lifts: Mapping[str, Function]) -> Module:
    """The thread-level module with lifted kernels in place of their originals, and no unused helpers."""
    kernels = [lifts.get(f.name, f) for f in thread.functions if f.kind is FunctionKind.KERNEL]
    return select(thread, kernels)


def lifted_module(plan: Plan) -> Module | None:
    """The plan's lifted kernels with all that they use, as they get compiled; None where there are none."""
    if not plan.lifts:
        return None
    return through_text(select(plan.tile or plan.module, plan.lifts.values()))


def select(module: Module, kernels: Iterable[Function]) -> Module:
    """A module of these kernels with the functions, constants, structs and variables that they use."""
    roots = list(kernels)
    wanted = {f.name for f in roots} | called_functions(module, roots)
    by_name = {f.name: f for f in roots}
    functions = tuple(by_name.get(f.name, f) for f in module.functions if f.name in wanted)
    names = _names_used(functions)
    structs = _structs_used(module, functions)
    return replace(
        module,
        functions=functions,
        constants=tuple(c for c in module.constants if c.name in names),
        structs=tuple(s for s in module.structs if s.name in structs),
        variables=tuple(v for v in module.variables if v.name in names),
    )


def called_functions(module: Module, roots: Iterable[Function]) -> set[str]:
    """The names of the module's functions that `roots` call, directly or not."""
    found: set[str] = set()
    stack = list(roots)
    while stack:
        for it in walk(stack.pop().body):
            if isinstance(it, Call) and it.callee not in found:
                function = module.function(it.callee)
                if function is not None:
                    found.add(it.callee)
                    stack.append(function)
    return found


def _nodes(function: Function) -> Iterable[Node]:
    """Every node of a function: body, bindings, and the extents in its types."""
    for root in (*function.parameters, *function.body):
        for it in walk(root):
            yield it
            yield from bindings_of(it)
            for t in _types_of(it):
                yield from _extents(t)


def _types_of(it: Node) -> list[Type]:
    variables = [it, *bindings_of(it)]
    return [type_of(v) for v in variables if isinstance(v, Expr)]


def _extents(t: Type) -> Iterable[Node]:
    if isinstance(t, TensorType):
        for extent in t.shape:
            yield from walk(extent)


def _names_used(functions: Iterable[Function]) -> set[str]:
    return {it.name for f in functions for it in _nodes(f) if isinstance(it, NamedConst | Var)}


def _structs_used(module: Module, functions: Iterable[Function]) -> set[str]:
    """Struct names in any type, and those that these hold in turn."""
    table = module.struct_table
    stack = [t for f in functions for it in _nodes(f) for t in _types_of(it)]
    stack += [f.result for f in functions]
    stack += [v.type for v in module.variables]
    found: set[str] = set()
    while stack:
        t = stack.pop()
        if isinstance(t, PointerType):
            stack.append(t.pointee)
        elif isinstance(t, ArrayType | TensorType):
            stack.append(t.element)
        elif isinstance(t, StructType) and t.name not in found:
            found.add(t.name)
            definition = table.get(t.name)
            stack += [m.type for m in definition.fields] if definition else []
    return found
