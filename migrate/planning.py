"""From a source file to what verification takes: the thread-level module, the lifts that passed the bounded
check, and what became of each kernel so far.  Executes nothing of the input."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tmigrate.diagnostics import Diagnostic, Severity
from tmigrate.locations import Location
from tmigrate.options import ConvertOptions
from tmigrate.tilelang.ir.module import Function, Module
from tmigrate.tilelang.text.expressions import print_expr

if TYPE_CHECKING:
    from tmigrate.converters.cuda import FrontEndOptions

BOUNDED_SECONDS = 5.0  # per kernel; past it a lift is `unchecked`


@dataclass(frozen=True, slots=True)
class LiftPlan:
    """A lift that the bounded check let through: `bounded` says how far it was checked."""

    function: Function
    rules: tuple[str, ...]
    assumptions: tuple[str, ...]
    bounded: str
    checked: bool


@dataclass(frozen=True, slots=True)
class KernelPlan:
    """One instance of a kernel: refused (`function` is None), or converted, perhaps with a lift.

    `blocked` says what kept it from the next level.
    """

    name: str
    symbol: str
    location: Location | None
    function: Function | None
    lift: LiftPlan | None = None
    blocked_code: str | None = None
    blocked: str | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    lines_before: int | None = None
    definition: str = ""

    @property
    def refusal(self) -> Diagnostic | None:
        """The first error of the front end, for a refused kernel."""
        return next((d for d in self.diagnostics if d.severity is Severity.ERROR), None)


@dataclass(frozen=True, slots=True)
class Plan:
    """All kernels of a file; `parsed` is false where the source could not be understood at all.

    `tile` is NAME_tile.py as it was read from the disk: the lifts and the helpers that they call stand in it.
    `planned` is then the module that the source gives, which the files on the disk may no longer be.
    """

    source: Path
    module: Module
    kernels: tuple[KernelPlan, ...]
    diagnostics: tuple[Diagnostic, ...]
    parsed: bool = True
    tile: Module | None = None
    planned: Module | None = None

    @property
    def lifts(self) -> Mapping[str, Function]:
        """The lifted functions by name."""
        return {k.name: k.lift.function for k in self.kernels if k.lift is not None}

    def without_lifts(self, dropped: Mapping[str, tuple[str, str]]) -> Plan:
        """The plan after some lifts failed: name -> (code, reason)."""
        kernels = tuple(
            replace(k, lift=None, blocked_code=dropped[k.name][0], blocked=dropped[k.name][1])
            if k.name in dropped
            else k
            for k in self.kernels
        )
        return replace(self, kernels=kernels)


    def without_kernels(self, names: Collection[str]) -> Plan:
        """The plan without some kernels' code: what was refused is not handed out."""
        functions = tuple(f for f in self.module.functions if f.name not in names)
        kernels = tuple(replace(k, lift=None) if k.name in names else k for k in self.kernels)
        return replace(self, module=replace(self.module, functions=functions), kernels=kernels)


def plan_file(path: Path, options: ConvertOptions, *, lift: bool = True) -> Plan:
    """Parse, convert to thread level, lift, and check each lift on small sizes.

    Without `lift` kernels stay at thread level: where NAME_tile.py on the disk has the lifted ones.
    """
    from tmigrate.converters.cuda import convert_source

    result = convert_source(path, front_end_options(path, options))
    kernels = []
    for record in result.kernels:
        function = result.module.function(record.name) if record.status == "converted" else None
        planned = KernelPlan(
            record.name,
            record.symbol,
            record.location,
            function,
            diagnostics=tuple(record.diagnostics),
            lines_before=record.source_lines,
            definition=record.definition,
        )
        if function is not None and lift:
            planned = _with_lift(planned, result.module, function)
        kernels.append(planned)
    parsed = not any(d.severity is Severity.ERROR for d in result.diagnostics)
    return Plan(path, result.module, tuple(kernels), tuple(result.diagnostics), parsed)


def front_end_options(path: Path, options: ConvertOptions) -> FrontEndOptions:
    """What the command line says, as the CUDA front end takes it."""
    from tmigrate.converters.cuda import FrontEndOptions

    return FrontEndOptions(
        include_folders=tuple(map(str, options.include_folders)),
        defines=options.defines,
        standard=options.standard or "c++17",
        instantiate=options.instantiate,
    )


def _with_lift(planned: KernelPlan, module: Module, function: Function) -> KernelPlan:
    from tmigrate.converters.lifting.bounded import check
    from tmigrate.converters.lifting.lift import lift

    lifted = lift(module, function)
    if lifted.function is None:
        assert lifted.blocked is not None
        return replace(planned, blocked_code=lifted.blocked.code, blocked=lifted.blocked.reason)
    found = check(module, function, lifted.function, seconds=BOUNDED_SECONDS)
    if found.status == "failed":
        return replace(planned, blocked_code="TM4114", blocked=found.difference)
    made = LiftPlan(
        lifted.function,
        lifted.rules,
        tuple(print_expr(a) for a in lifted.assumptions),
        found.summary,
        found.status == "checked",
    )
    return replace(planned, lift=made)
