"""The converted kernels as shared objects, and the manifest that names them.

A module is compiled whole; where that fails, kernel by kernel, so that one kernel that a CPU cannot run
does not take the others along.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from tmigrate.diagnostics import Diagnostic, TmigrateError
from tmigrate.emission import select
from tmigrate.tilelang.ir.module import Function, Module
from tmigrate.tilelang.passes.coverage import CoveragePoint
from tmigrate.tilelang.targets.cpu.build import BuiltObject, build_module
from tmigrate.tilelang.targets.cpu.options import Arithmetic, EmitOptions, FloatFunctions
from tmigrate.verification.manifest import (
    KernelEntry,
    ObjectEntry,
    Version,
    compared_constants,
    exact_on_integers,
    is_watched,
    name_in_unit,
    parameter_kinds,
    pointee_kinds,
    works_alone,
    write_manifest,
)

# What replay compares: thread level with coverage, its shadow, and the lifted version as it will run.
REPLAYED_THREAD = EmitOptions(coverage=True, fill_shared=True, reversible=True, watch=True)
SHADOW = EmitOptions(arithmetic=Arithmetic.SHADOW, fill_shared=True)
LIFTED = EmitOptions(functions=FloatFunctions.VECTOR)
# What `tmigrate run` runs where there is no lifted version, or its assumptions fail.
THREAD = EmitOptions()


@dataclass(frozen=True, slots=True)
class BuiltKernels:
    """One version of a module's kernels: the object of each, or why it could not be built."""

    role: str
    objects: tuple[BuiltObject, ...] = ()
    places: Mapping[str, int] = field(default_factory=dict)  # kernel name -> index in `objects`
    faults: Mapping[str, Diagnostic] = field(default_factory=dict)
    unit: int = 0  # which of the program's source files the module stands for

    def version(self, kernel: str) -> Version | None:
        """How the manifest names a kernel's version."""
        place = self.places.get(kernel)
        return None if place is None else Version(self._name(place), self.objects[place].kernels[kernel])

    def _name(self, place: int) -> str:
        return f"unit{self.unit}.{self.role}{place}"

    def points(self, kernel: str) -> tuple[CoveragePoint, ...]:
        """The kernel's coverage points, in the order of its coverage bytes."""
        place = self.places.get(kernel)
        return () if place is None else tuple(self.objects[place].points(kernel))

    def entries(self) -> list[ObjectEntry]:
        """The objects as the manifest lists them."""
        return [
            ObjectEntry(self._name(i), built.path, variable_symbols(built, self.unit))
            for i, built in enumerate(self.objects)
        ]


def variable_symbols(built: BuiltObject, unit: int = 0) -> tuple[str, ...]:
    """The mangled names of an object's module variables, in the order in which it takes their addresses."""
    symbols = {v.name: name_in_unit(v.symbol, unit) for v in built.module.variables}
    return tuple(symbols[name] for name in built.variables)


def build_kernels(role: str, module: Module | None, options: EmitOptions) -> BuiltKernels:
    """Compile a module's kernels; `role` is the first part of the objects' names."""
    if module is None or not module.kernels:
        return BuiltKernels(role)
    try:
        whole = build_module(module, options)
        return BuiltKernels(role, (whole,), {f.name: 0 for f in module.kernels})
    except TmigrateError as error:
        if len(module.kernels) == 1:
            return BuiltKernels(role, faults={module.kernels[0].name: error.diagnostic})
    objects: list[BuiltObject] = []
    places: dict[str, int] = {}
    faults: dict[str, Diagnostic] = {}
    for kernel in module.kernels:
        single = build_kernels(role, select(module, [kernel]), options)
        faults.update(single.faults)
        if single.objects:
            places[kernel.name] = len(objects)
            objects.extend(single.objects)
    return BuiltKernels(role, tuple(objects), places, faults)


@dataclass(frozen=True, slots=True)
class Converted:
    """All versions of a module's kernels."""

    module: Module
    thread: BuiltKernels
    shadow: BuiltKernels
    lifted: BuiltKernels
    lifts: Mapping[str, Function]
    planned: Module | None = None  # what the source gives, where `module` was read from the disk


def build_for_replay(thread: Module, lifted: Module | None) -> Converted:
    """The versions that replay compares; shadows only of kernels that have a lift."""
    lifts = {f.name: f for f in lifted.kernels} if lifted is not None else {}
    shadowed = select(thread, [f for f in thread.kernels if f.name in lifts]) if lifts else None
    with ThreadPoolExecutor(max_workers=2) as pool:
        first = pool.submit(build_kernels, "thread", thread, REPLAYED_THREAD)
        shadow = pool.submit(build_kernels, "shadow", shadowed, SHADOW)
        other = pool.submit(build_kernels, "lifted", lifted, LIFTED)
        return Converted(thread, first.result(), shadow.result(), other.result(), lifts)


def build_for_run(thread: Module, lifted: Module | None, unit: int = 0) -> Converted:
    """The versions that a regenerated program runs; `unit` tells its source files' objects apart."""
    lifts = {f.name: f for f in lifted.kernels} if lifted is not None else {}
    with ThreadPoolExecutor(max_workers=2) as pool:
        first = pool.submit(build_kernels, "thread", thread, THREAD)
        other = pool.submit(build_kernels, "lifted", lifted, LIFTED)
        built = [replace(part.result(), unit=unit) for part in (first, other)]
        return Converted(thread, built[0], BuiltKernels("shadow"), built[1], lifts)


def write_objects(path: Path, *units: Converted) -> None:
    """The manifest of all these versions, of one or several source files; of equal kernels one is enough."""
    parts = [part for unit in units for part in (unit.thread, unit.shadow, unit.lifted)]
    objects = [entry for part in parts for entry in part.entries()]
    entries = [_entry(f, unit) for unit in reversed(units) for f in unit.module.kernels]
    write_manifest(path, objects, list({entry.mangled: entry for entry in entries}.values()))


def _entry(thread: Function, converted: Converted) -> KernelEntry:
    lift = converted.lifts.get(thread.name)
    points = converted.thread.points(thread.name)
    planned = converted.planned.function(thread.name) if converted.planned is not None else None
    constants, thresholds = compared_constants(converted.module, thread)
    if converted.planned is not None and planned is not None:
        more, limits = compared_constants(converted.planned, planned)
        constants = tuple(dict.fromkeys((*more, *constants)))
        thresholds = tuple(dict.fromkeys((*limits, *thresholds)))
    return KernelEntry(
        name_in_unit(thread.symbol, converted.thread.unit),
        thread=converted.thread.version(thread.name),
        shadow=converted.shadow.version(thread.name),
        lifted=converted.lifted.version(thread.name),
        coverage=len(points),
        noted="".join("1" if p.is_operand else "0" for p in points),
        parameters=parameter_kinds(thread, converted.module.struct_table),
        pointees=pointee_kinds(thread, converted.module.struct_table),
        integers=lift is not None and exact_on_integers(thread) and exact_on_integers(lift),
        any_block=works_alone(converted.module, thread),
        watched=is_watched(converted.module, thread),
        constants=constants,
        exhaustive=planned is not None,
        thresholds=thresholds,
    )
