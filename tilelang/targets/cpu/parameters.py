"""A kernel's parameters: from the launcher's `arguments` to C variables, and a lifted kernel's preconditions.

Before a loop-level kernel writes anything it checks its assumptions, that no tensor which it writes overlaps
another one, and, where the launcher knows allocations, that the tensors lie inside them.  Where a check fails
it returns TM_ASSUMPTION_FAILED.
"""

from __future__ import annotations

from tmigrate.tilelang.ir.expressions import AddressOf, Call, Expr, Var
from tmigrate.tilelang.ir.intrinsics import INTRINSICS, Effect
from tmigrate.tilelang.ir.module import Function
from tmigrate.tilelang.ir.node import Node, walk
from tmigrate.tilelang.ir.statements import Assign, Assume
from tmigrate.tilelang.ir.structs import size_of
from tmigrate.tilelang.ir.types import Space, TensorType, is_float
from tmigrate.tilelang.passes.effects import root_variable
from tmigrate.tilelang.targets.cpu.expressions import Expressions, extent_name
from tmigrate.tilelang.targets.cpu.functions import CContext
from tmigrate.tilelang.targets.cpu.names import c_type, spaced, variable_name


def kernel_prologue(context: CContext, function: Function) -> list[str]:
    """C lines that read the parameters; a tensor result is one more argument, after the dimensions."""
    lines = [_read(context, p, place) for place, p in enumerate(function.parameters)]
    if context.result is not None:
        lines.append(_read(context, context.result, len(function.parameters) + len(function.dimensions)))
    return ["  " + line for line in lines]


def _read_dimension(
    context: CContext, function: Function, expressions: Expressions, dimension: Var, place: int
) -> str:
    """A dimension: passed by callers that know shapes; a CUDA launch leaves it to the allocation's size.

    Only the outermost extent of a tensor can follow from an allocation: its rows up to the end.
    """
    name = variable_name(dimension)
    unread = {d.name for d in function.dimensions[place - len(function.parameters) :]}
    passed = f"*(int64_t const *)arguments[{place}]"
    for p in function.parameters:
        known = isinstance(p.type, TensorType) and not _mentions(p.type.shape[1:], unread)
        if known and isinstance(p.type, TensorType) and p.type.shape and p.type.shape[0] == dimension:
            inner = [expressions.wide(extent) for extent in p.type.shape[1:]]
            row = " * ".join(
                [str(size_of(p.type.element, context.structs)), *(f"(size_t)({e})" for e in inner)]
            )
            rows = f"tm_rows(tm_f, {variable_name(p)}, {row})"
            return f"int64_t {name} = launch->argument_count > {place} ? {passed} : {rows};"
    return (
        f"if (launch->argument_count <= {place}) return TM_ASSUMPTION_FAILED;\n  int64_t {name} = {passed};"
    )


def _mentions(extents: tuple[Expr, ...], names: set[str]) -> bool:
    """Whether extents use one of these variables."""
    return any(isinstance(it, Var) and it.name in names for extent in extents for it in walk(extent))


def _read(context: CContext, parameter: Var, place: int) -> str:
    t, name = c_type(parameter.type), variable_name(parameter)
    value = f"*({spaced(t)}const *)arguments[{place}]"
    if context.options.is_shadow and is_float(parameter.type):
        return f"tm_shadow {name} = tm_exact(TM_WIDEN_{parameter.type}({value}));"
    return f"{spaced(t)}{name} = {value};"


def preconditions(context: CContext, function: Function, expressions: Expressions) -> list[str]:
    """C lines that define dimensions and extents, and leave where a precondition fails."""
    tensors = [p for p in _tensors(context, function)]
    lines = [
        _read_dimension(context, function, expressions, dimension, place)
        for place, dimension in enumerate(function.dimensions, len(function.parameters))
    ]
    for tensor in tensors:
        assert isinstance(tensor.type, TensorType)
        for axis, extent in enumerate(tensor.type.shape):
            lines.append(f"const int64_t {extent_name(tensor, axis)} = {expressions.wide(extent)};")
    for s in function.body:
        if isinstance(s, Assume):
            lines.append(f"if (!({expressions.value(s.condition)})) return TM_ASSUMPTION_FAILED;")
    for tensor in tensors:
        lines.append(f"const size_t {_bytes_name(tensor)} = {_bytes(tensor, context)};")
        place = f"{variable_name(tensor)}, {_bytes_name(tensor)}"
        lines.append(f"if (!tm_fits(tm_f, {place})) return TM_ASSUMPTION_FAILED;")
    return ["  " + line for line in [*lines, *_overlaps(context, function, tensors)]]


def _tensors(context: CContext, function: Function) -> list[Var]:
    found = [p for p in function.parameters if isinstance(p.type, TensorType)]
    return found if context.result is None else [*found, context.result]


def _bytes_name(tensor: Var) -> str:
    return f"{variable_name(tensor)}_bytes"


def _bytes(tensor: Var, context: CContext) -> str:
    assert isinstance(tensor.type, TensorType)
    extents = ", ".join(extent_name(tensor, axis) for axis in range(tensor.type.rank))
    size = size_of(tensor.type.element, context.structs)
    return f"tm_tensor_bytes({size}, {tensor.type.rank}, (const int64_t[]){{{extents or '1'}}})"


def _overlaps(context: CContext, function: Function, tensors: list[Var]) -> list[str]:
    """A pair of which one is written must be disjoint; module variables count as tensors here."""
    written = written_variables(function)
    ranges = [(t.name, f"{variable_name(t)}, {_bytes_name(t)}") for t in tensors]
    used = {it.name for it in walk(function.body) if isinstance(it, Var)}
    for place, variable in enumerate(context.module.variables):
        if variable.name in used:
            size = size_of(variable.type, context.structs)
            read_only = variable.space is Space.CONSTANT
            if not read_only or written & {t.name for t in tensors}:
                ranges.append((variable.name, f"tm_f->launch->globals[{place}], {size}"))
    lines = []
    for i, (first, one) in enumerate(ranges):
        for second, other in ranges[i + 1 :]:
            if first in written or second in written:
                lines.append(f"if (tm_overlap({one}, {other})) return TM_ASSUMPTION_FAILED;")
    return lines


def written_variables(function: Function) -> set[str]:
    """The tensors and module variables that the function writes."""
    found: set[str] = set()

    def add(place: Expr) -> None:
        root = root_variable(place)
        if root is not None:
            found.add(root.name)

    for it in walk(function.body):
        if isinstance(it, Assign):
            add(it.target)
        elif isinstance(it, Call):
            _add_written_by_call(it, found)
    return found


def _add_written_by_call(call: Call, found: set[str]) -> None:
    is_atomic = call.callee in INTRINSICS and INTRINSICS[call.callee].effect is Effect.ATOMIC
    is_pure = call.callee in INTRINSICS and not is_atomic
    if is_pure:
        return
    for argument in call.arguments:
        inner: Node = argument.place if isinstance(argument, AddressOf) else argument
        if isinstance(inner, Expr):
            root = root_variable(inner)
            if root is not None and (isinstance(argument, AddressOf) or isinstance(root.type, TensorType)):
                found.add(root.name)
