"""Make the thread and block indices that device functions read explicit parameters.

    def f() -> i32: return i32(threadIdx.x)        def f(thread_x: u32, ...): return i32(thread_x)
    y[0] = f()                               ->    y[0] = f(threadIdx.x, ...)

After this pass only kernels read `threadIdx` and `blockIdx`.  Failed assertions report the same six numbers.
"""

from __future__ import annotations

from dataclasses import replace

from tmigrate.tilelang.ir.expressions import Call, Expr, LaunchIndex, LaunchIndexKind, Var
from tmigrate.tilelang.ir.module import Function, FunctionKind, Module
from tmigrate.tilelang.ir.node import Node, rewrite_region, with_fields
from tmigrate.tilelang.ir.statements import Region
from tmigrate.tilelang.ir.types import U32
from tmigrate.tilelang.passes.effects import Summaries
from tmigrate.tilelang.passes.names import names_of

INDICES = tuple(
    LaunchIndex(kind, axis) for kind in (LaunchIndexKind.BLOCK, LaunchIndexKind.THREAD) for axis in range(3)
)


def explicit_indices(module: Module, summaries: Summaries) -> Module:
    """The module with index parameters added to device functions that need them, and to their calls."""
    return replace(module, functions=tuple(_explicit(f, module, summaries) for f in module.functions))


def _explicit(function: Function, module: Module, summaries: Summaries) -> Function:
    needs = function.kind is FunctionKind.DEVICE and summaries[function.name].uses_indices
    if not needs:
        return replace(function, body=_with_arguments(function.body, INDICES, summaries))
    names = names_of(function, module)
    parameters = tuple(
        Var(names.fresh(f"{'thread' if i.kind is LaunchIndexKind.THREAD else 'block'}_{'xyz'[i.axis]}"), U32)
        for i in INDICES
    )
    found = dict(zip(INDICES, parameters, strict=True))
    body = _with_arguments(function.body, parameters, summaries)

    def rule(it: Node) -> Node | None:
        return found.get(it) if isinstance(it, LaunchIndex) else None

    body = rewrite_region(body, rule)  # type: ignore[assignment]
    return replace(function, parameters=(*function.parameters, *parameters), body=body)


def _with_arguments(body: Region, indices: tuple[Expr, ...], summaries: Summaries) -> Region:
    def rule(it: Node) -> Node | None:
        if not isinstance(it, Call):
            return None
        if it.callee == "assert_":
            return with_fields(it, callee="tm_assert", arguments=(*it.arguments, *indices))
        if it.callee in summaries and summaries[it.callee].uses_indices:
            return with_fields(it, arguments=(*it.arguments, *indices))
        return None

    return rewrite_region(body, rule)  # type: ignore[return-value]
