"""One file through the whole path: plan, replay, judge, drop what failed, write.

``convert_file`` does all of it, ``assess_file`` only plans, ``verify_file`` judges what stands on the disk,
``run_files`` builds a program with its kernels regenerated and runs it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TypeVar

from tmigrate.diagnostics import SourceError
from tmigrate.emission import lifted_module, texts_of, through_text
from tmigrate.inputs import Input, check_file
from tmigrate.on_disk import check_edits, from_disk, judged_as_written, kernel_files
from tmigrate.options import ConvertOptions
from tmigrate.patching import refuse_patch
from tmigrate.planning import KernelPlan, Plan, plan_file
from tmigrate.results import InputResult, KernelResult, Level, Status, worst
from tmigrate.settings import find_settings, write_stub
from tmigrate.tilelang.text.printer import print_function
from tmigrate.verification.judging import Judged, judge_all, unverified
from tmigrate.workers import of_program

Found = TypeVar("Found")

Step = Callable[[Path, ConvertOptions], Found]


def with_settings(step: Step[Found]) -> Step[Found]:
    """A step whose options are completed by the input's `tmigrate.toml`."""

    @wraps(step)
    def completed(path: Path, options: ConvertOptions) -> Found:
        own = find_settings(path, options.output).merged(path, options)
        faults = [fault for file in own.companions if (fault := check_file(file).fault) is not None]
        if faults:
            raise SourceError(faults)
        return step(path, own)

    return completed


@with_settings
def convert_file(path: Path, options: ConvertOptions) -> InputResult:
    """Convert `path`, verify each kernel within the time limit, and write the outputs."""
    from tmigrate.writing import write_results

    if options.patch:
        refuse_patch(path)
    plan = plan_file(path, options)
    if not plan.parsed:
        return InputResult(path=str(path), diagnostics=plan.diagnostics, parsed=False)
    if not any(k.function for k in plan.kernels):
        return _result(path, plan, {})
    plan, judged = _judge(plan, options)
    result = _result(path, plan, judged)
    refused = {name for name, found in judged.items() if found.verdict.status is Status.REFUSED}
    kept = plan.without_kernels(refused)
    if not kept.module.kernels:
        return result
    result = write_results(path, kept, judged, result, texts_of(kept), options)
    return _with_stub(path, plan, judged, result, options)


def _with_stub(
    path: Path, plan: Plan, judged: Mapping[str, Judged], result: InputResult, options: ConvertOptions
) -> InputResult:
    """Ask, in a settings file, for the sizes of kernels that no launch was found for."""
    open_ = [k for k in plan.kernels if k.name in judged and judged[k.name].verdict.code == "TM4115"]
    if not open_ or find_settings(path, options.output).path is not None:
        return result
    rows = [
        (k.name, [p.name for p in k.function.parameters], judged[k.name].verdict.reason or "")
        for k in open_
        if k.function is not None
    ]
    written = write_stub(options.output_folder(path), rows)
    return result if written is None else replace(result, outputs=(*result.outputs, str(written)))


@with_settings
def assess_file(path: Path, options: ConvertOptions) -> InputResult:
    """What would convert and what would be refused."""
    plan = plan_file(path, options)
    if not plan.parsed:
        return InputResult(path=str(path), diagnostics=plan.diagnostics, parsed=False)
    return _result(path, plan, {})


@with_settings
def verify_file(path: Path, options: ConvertOptions) -> InputResult:
    """Judge again what an earlier ``convert`` wrote, as it stands on the disk now; writes nothing."""
    plan = plan_file(path, options)
    if not plan.parsed:
        return InputResult(path=str(path), diagnostics=plan.diagnostics, parsed=False)
    tile_file = kernel_files(path, options)[1]
    plan = check_edits(plan, from_disk(plan, options), tile_file)
    _, found = _judge(plan, options)
    judged = {k.name: judged_as_written(found[k.name], k, tile_file) for k in plan.kernels if k.name in found}
    return _result(path, plan, judged)


def run_files(inputs: Sequence[Input], options: ConvertOptions) -> int:
    """Build the program of `inputs` with its kernels, as the outputs have them if there are any; run it."""
    from tmigrate.regenerated import run_program

    paths = [Path(entry.path) for entry in inputs]
    plans = [_plan_to_run(path, options) for path in paths]
    faults = [d for plan in plans if not plan.parsed for d in plan.diagnostics]
    if faults:
        raise SourceError(faults)
    own = find_settings(paths[0], options.output).merged(paths[0], of_program(inputs[0], options))
    others = [file for file in own.companions if file not in paths]
    return run_program(plans, [*paths, *others], own)


@with_settings
def _plan_to_run(path: Path, options: ConvertOptions) -> Plan:
    written = any(file.exists() for file in kernel_files(path, options))
    plan = plan_file(path, options, lift=not written)
    return from_disk(plan, options) if plan.parsed and written else plan


def _judge(plan: Plan, options: ConvertOptions) -> tuple[Plan, Mapping[str, Judged]]:
    """Judge every converted kernel; lifts that failed are dropped from the plan."""
    if not options.execute:
        return _drop_unchecked(plan), {k.name: unverified(k) for k in plan.kernels if k.function}
    thread = through_text(plan.module)
    lifted = lifted_module(plan)
    judged = judge_all(plan, thread, lifted, options)
    dropped = {
        name: (found.lift_code or "TM4102", found.lift_reason or "")
        for name, found in judged.items()
        if not found.lift_shown and name in plan.lifts
    }
    return plan.without_lifts(dropped), judged


def _drop_unchecked(plan: Plan) -> Plan:
    """Without running anything, only the bounded check bears a lift out."""
    dropped = {
        k.name: ("TM4110", f"the bounded check was not completed: {k.lift.bounded}")
        for k in plan.kernels
        if k.lift is not None and not k.lift.checked
    }
    return plan.without_lifts(dropped)


# ---- results -----------------------------------------------------------------------------------------


def _result(path: Path, plan: Plan, judged: Mapping[str, Judged]) -> InputResult:
    """One result per kernel definition: the worst of its instances'."""
    groups: dict[str, list[KernelPlan]] = defaultdict(list)
    for kernel in plan.kernels:
        groups[kernel.definition or kernel.name].append(kernel)
    kernels = [_merged([kernel_result(k, plan, judged.get(k.name)) for k in g]) for g in groups.values()]
    diagnostics = [*plan.diagnostics, *(d for k in plan.kernels for d in k.diagnostics)]
    diagnostics += [d for found in judged.values() for d in found.diagnostics]
    return InputResult(path=str(path), kernels=tuple(kernels), diagnostics=tuple(dict.fromkeys(diagnostics)))


def kernel_result(kernel: KernelPlan, plan: Plan, judged: Judged | None) -> KernelResult:
    """The result of one instance."""
    base = KernelResult(
        name=kernel.name, status=Status.REFUSED, location=kernel.location, lines_before=kernel.lines_before
    )
    if kernel.function is None:
        refusal = kernel.refusal
        return replace(
            base, code=refusal.code if refusal else None, reason=refusal.message if refusal else None
        )
    shown = kernel.lift
    level = Level(shown.function.level.value) if shown else Level.THREAD
    written = shown.function if shown else kernel.function
    found = replace(
        base,
        status=Status.CONVERTED,
        level=level,
        blocked=None if shown else kernel.blocked,
        rules=shown.rules if shown else (),
        assumptions=shown.assumptions if shown else (),
        lines_after=len(print_function(written, plan.module).splitlines()),
    )
    found = found if judged is None else judged.apply(found)
    # What disagreed is not bit-exact, whatever its other launches gave.
    return replace(found, max_ulp=None, bit_exact=None) if found.status is Status.REFUSED else found


def _merged(instances: list[KernelResult]) -> KernelResult:
    """A definition's result: its worst instance stands for it."""
    state = worst(k.status for k in instances)
    return next(k for k in instances if k.status is state)
