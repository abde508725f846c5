"""From a module to a loaded shared object: passes, C, compiler."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from tmigrate.tilelang.ir.expressions import Call
from tmigrate.tilelang.ir.module import Function, FunctionKind, Level, Module
from tmigrate.tilelang.ir.node import walk
from tmigrate.tilelang.passes.coverage import CoveragePoint, Points, insert_coverage
from tmigrate.tilelang.passes.effects import is_order_sensitive, summarize
from tmigrate.tilelang.passes.indices import explicit_indices
from tmigrate.tilelang.passes.inline import inline_block_functions
from tmigrate.tilelang.passes.loop_order import order_loops
from tmigrate.tilelang.passes.spin_waits import has_spin_wait, limit_spin_waits
from tmigrate.tilelang.passes.threads_to_loops import threads_to_loops
from tmigrate.tilelang.runtime.toolchain import ARITHMETIC_FLAGS, compile_c
from tmigrate.tilelang.targets.cpu.emit import render
from tmigrate.tilelang.targets.cpu.names import kernel_symbol
from tmigrate.tilelang.targets.cpu.options import EmitOptions
from tmigrate.tilelang.targets.cpu.products import product_of

_COMMON_FLAGS = (*ARITHMETIC_FLAGS, "-fno-math-errno", "-fno-trapping-math", "-fopenmp-simd")
NATIVE_FLAGS = ("-O3", "-march=native", *_COMMON_FLAGS)
"""Contraction stays off, so that neither the instruction set nor the level changes a result."""
NATIVE = EmitOptions()
SHADOW_FLAGS = ("-O1", *_COMMON_FLAGS)


@dataclass(frozen=True, slots=True)
class Source:
    """The C of a module, before it is compiled."""

    text: str
    module: Module
    coverage_points: Points = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BuiltObject:
    """A shared object.  `kernels` maps a kernel's name to its symbol; `variables` names the module
    variables whose addresses `tm_launch.globals` holds, in order."""

    path: Path
    module: Module
    kernels: dict[str, str]
    variables: tuple[str, ...]
    coverage_points: Points = field(default_factory=dict)
    source_text: str = field(default="", repr=False)

    def points(self, kernel: str) -> tuple[CoveragePoint, ...]:
        """The coverage points of a kernel, in the order of the bytes of `tm_launch.coverage`."""
        return self.coverage_points.get(kernel, ())


def lower(module: Module) -> Module:
    """Thread-level kernels as loops; what the renderer takes."""
    module = replace(module, functions=tuple(limit_spin_waits(f, module) for f in module.functions))
    summaries = summarize(module)
    module = inline_block_functions(module, summaries)
    summaries = summarize(module)
    module = explicit_indices(module, summaries)

    def lowered(function: Function) -> Function:
        if function.kind is not FunctionKind.KERNEL:
            return function
        if function.level is not Level.THREAD:
            return function if product_of(function) else order_loops(function, module)
        return threads_to_loops(function, module, summaries)

    return replace(module, functions=tuple(lowered(f) for f in module.functions))


def write_source(module: Module, options: EmitOptions = NATIVE) -> Source:
    """The C source of a module."""
    points: Points = {}
    instrumented = module
    if options.coverage:
        instrumented, points = insert_coverage(module)
    in_order = _in_order(instrumented)
    most = max((len(p) for p in points.values()), default=0)
    if any(has_spin_wait(f) for f in module.functions):
        options = replace(options, reversible=False)
    return Source(render(lower(instrumented), options, in_order, most), module, points)


def _in_order(module: Module) -> frozenset[str]:
    """The kernels whose blocks run one after the other, and the device functions that only they call."""
    waits = any(has_spin_wait(f) for f in module.functions)
    ordered = {f.name for f in module.functions if waits or is_order_sensitive(module, f)}
    free = [f for f in module.kernels if f.name not in ordered]
    shared = {it.callee for f in free for it in _calls(module, f)}
    return frozenset(ordered - shared)


def _calls(module: Module, function: Function) -> list[Call]:
    """Every call that the function reaches."""
    found: list[Call] = []
    pending, seen = [function], {function.name}
    while pending:
        for it in walk(pending.pop().body):
            if isinstance(it, Call):
                found.append(it)
                target = module.function(it.callee)
                if target is not None and target.name not in seen:
                    seen.add(target.name)
                    pending.append(target)
    return found


def build_module(module: Module, options: EmitOptions = NATIVE) -> BuiltObject:
    """The module compiled to a shared object; raises RefusedError for what a CPU cannot run."""
    source = write_source(module, options)
    flags = SHADOW_FLAGS if options.is_shadow else NATIVE_FLAGS
    path = compile_c(source.text, name=module.name or "module", flags=flags)
    kernels = {f.name: kernel_symbol(f.name) for f in module.kernels}
    variables = tuple(v.name for v in module.variables)
    return BuiltObject(path, module, kernels, variables, source.coverage_points, source.text)
