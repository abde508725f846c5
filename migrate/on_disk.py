"""What an earlier ``convert`` wrote, as it stands on the disk now: a person may have edited it.

Both files count.  A kernel of ``NAME_thread.py`` is judged by step (a); what ``NAME_tile.py`` holds of it,
unless it is the same, by step (b), and by the bounded check where it was edited.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tmigrate.diagnostics import Diagnostic
from tmigrate.emission import called_functions, select
from tmigrate.locations import Location
from tmigrate.options import ConvertOptions
from tmigrate.planning import BOUNDED_SECONDS, KernelPlan, LiftPlan, Plan
from tmigrate.results import Status, worst
from tmigrate.tilelang.ir.module import Function, Module
from tmigrate.tilelang.text.parser import parse_module
from tmigrate.verification.judging import Judged
from tmigrate.verification.verdict import Verdict


def kernel_files(source: Path, options: ConvertOptions) -> tuple[Path, Path]:
    """``NAME_thread.py`` and ``NAME_tile.py`` of a source."""
    folder = options.output_folder(source)
    return folder / f"{source.stem}_thread.py", folder / f"{source.stem}_tile.py"


def from_disk(plan: Plan, options: ConvertOptions) -> Plan:
    """The plan with the kernels of these files; one that a file does not have is refused (TM4116).

    Raises SourceError where a file is not the language.
    """
    thread_file, tile_file = kernel_files(plan.source, options)
    thread, tile = _read(thread_file, plan.module.name), _read(tile_file, plan.module.name)
    kernels = []
    for kernel in plan.kernels:
        if kernel.function is None:
            kernels.append(kernel)
        elif thread is None or (function := thread.function(kernel.name)) is None:
            kernels.append(_missing(kernel, thread_file))
        elif tile is None or (written := tile.function(kernel.name)) is None:
            kernels.append(_missing(kernel, tile_file))
        else:
            lift = None if same_code(thread, function, tile, written) else _lift(kernel, written)
            kernels.append(replace(kernel, function=function, lift=lift))
    module = thread or plan.module
    return replace(plan, module=module, kernels=tuple(kernels), tile=tile, planned=plan.module)


def _read(file: Path, name: str) -> Module | None:
    return parse_module(file.read_text(), name, file=str(file)) if file.exists() else None


def same_code(thread: Module, function: Function, tile: Module, written: Function) -> bool:
    """Whether the kernel, and all that it uses, is the same in both files."""
    one, other = select(thread, [function]), select(tile, [written])
    return all(
        getattr(one, part) == getattr(other, part)
        for part in ("functions", "constants", "structs", "variables")
    )


def _lift(kernel: KernelPlan, written: Function) -> LiftPlan:
    planned = kernel.lift or LiftPlan(written, (), (), "unchecked", False)
    return replace(planned, function=written)


def _missing(kernel: KernelPlan, file: Path) -> KernelPlan:
    there = f"'{file.name}' has no kernel '{kernel.name}'"
    message = there if file.exists() else f"there is no '{file.name}'"
    remedy = "run `tmigrate convert`, or name the folder of the outputs with -o"
    return _refused(kernel, Diagnostic("TM4116", message, Location(str(file)), remedy=remedy))


def _refused(kernel: KernelPlan, why: Diagnostic) -> KernelPlan:
    return replace(kernel, function=None, lift=None, diagnostics=(*kernel.diagnostics, why))


def check_edits(planned: Plan, written: Plan, tile_file: Path) -> Plan:
    """The plan from the disk; an edited lift that fails the bounded check is refused (TM4114)."""
    lifts = planned.lifts
    edited = [k for k in written.kernels if k.lift is not None and k.lift.function != lifts.get(k.name)]
    checked = {k.name: _checked(k, written, tile_file) for k in edited}
    return replace(written, kernels=tuple(checked.get(k.name, k) for k in written.kernels))


def _checked(kernel: KernelPlan, written: Plan, tile_file: Path) -> KernelPlan:
    """The kernel after the bounded check, which needs both versions to call the same helpers."""
    from tmigrate.converters.lifting.bounded import check

    assert kernel.function is not None and kernel.lift is not None and written.tile is not None
    lifted = kernel.lift.function
    helpers = called_functions(written.tile, [lifted])
    if any(written.module.function(name) != written.tile.function(name) for name in helpers):
        return kernel
    found = check(written.module, kernel.function, lifted, seconds=BOUNDED_SECONDS)
    if found.status != "failed":
        return kernel
    message = f"'{kernel.name}' of '{tile_file.name}' differs: {found.difference}"
    return _refused(kernel, Diagnostic("TM4114", message, Location(str(tile_file))))


def judged_as_written(judged: Judged, kernel: KernelPlan, tile_file: Path) -> Judged:
    """The findings where a version of NAME_tile.py that was not borne out stays in the file.

    A disagreement refuses the kernel; without enough evidence it is `converted`.
    """
    if kernel.lift is None or judged.lift_shown:
        return judged
    status = Status.REFUSED if judged.lift_code == "TM4102" else Status.CONVERTED
    if worst((judged.verdict.status, status)) is judged.verdict.status:
        return judged
    reason = f"{tile_file.name}: {judged.lift_reason}"
    return replace(judged, verdict=Verdict(status, judged.lift_code, reason))
