"""Judge all kernels of a plan: replay the program, and apply the rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tmigrate.diagnostics import Diagnostic, Note, Severity, TmigrateError
from tmigrate.locations import Location
from tmigrate.options import ConvertOptions
from tmigrate.planning import KernelPlan, Plan
from tmigrate.results import KernelResult, Level, Status
from tmigrate.tilelang.ir.expressions import Call
from tmigrate.tilelang.ir.intrinsics import INTRINSICS, Effect
from tmigrate.tilelang.ir.module import Function, Module
from tmigrate.tilelang.ir.node import walk
from tmigrate.verification.mangling import same_kernel
from tmigrate.verification.report import Launch
from tmigrate.verification.verdict import Verdict, evidence_of, judge, judge_lift

if TYPE_CHECKING:  # under --no-run nothing of the oracle is needed
    from tmigrate.oracle import Report
    from tmigrate.verification.generated import Generated
    from tmigrate.verification.replay import Outcome


@dataclass(frozen=True, slots=True)
class Judged:
    """What verification found about one kernel instance."""

    verdict: Verdict
    lift_shown: bool = False
    lift_code: str | None = None
    lift_reason: str | None = None
    max_ulp: float | None = None
    bit_exact: bool | None = None
    launches: tuple[Launch, ...] = ()
    launched: int = 0
    points: int = 0
    covered: int = 0
    uncovered: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    oracle: str | None = None

    def apply(self, result: KernelResult) -> KernelResult:
        """The kernel's result with these findings in it."""
        if self.verdict.status is Status.REFUSED:
            result = replace(result, level=None, rules=(), assumptions=())
        lifted = result.level is not None and result.level is not Level.THREAD
        compared = any(launch.counts for launch in self.launches)
        return replace(
            result,
            status=self.verdict.status,
            code=self.verdict.code,
            reason=self.verdict.reason,
            oracle=self.oracle,
            cases=sum(launch.counts for launch in self.launches) if self.oracle else None,
            launches=self.launched if self.oracle else None,
            max_ulp=(self.max_ulp if lifted else 0.0) if compared else None,
            bit_exact=(self.bit_exact if lifted else True) if compared else None,
        )


def unverified(kernel: KernelPlan) -> Judged:
    """A kernel of which nothing was executed."""
    return Judged(
        Verdict(Status.CONVERTED, "TM4110", "nothing was executed (--no-run)"),
        lift_shown=kernel.lift is not None and kernel.lift.checked,
    )


def judge_all(
    plan: Plan, thread: Module, lifted: Module | None, options: ConvertOptions
) -> Mapping[str, Judged]:
    """The findings on every converted kernel, by name."""
    from tmigrate.verification.generated import compare

    converted = [k for k in plan.kernels if k.function is not None]
    try:
        compared = compare(plan, thread, lifted, options, [k.name for k in converted])
    except TmigrateError as error:
        text = error.diagnostic.message
        verdict = Verdict(Status.CONVERTED, "TM4111", text.splitlines()[0])
        warning = replace(error.diagnostic, severity=Severity.WARNING)
        return {k.name: Judged(verdict, diagnostics=(warning,)) for k in converted}
    failed = _failed_program(plan.source, options, compared)
    found = {k.name: _found(k, thread, compared) for k in converted}
    return {name: replace(it, diagnostics=(*failed, *it.diagnostics)) for name, it in found.items()}


def _failed_program(source: Path, options: ConvertOptions, compared: Generated) -> tuple[Diagnostic, ...]:
    """That the program did not end well, which counts against no launch that was compared before."""
    from tmigrate.programs import program_has_main

    failure = compared.outcome.failure if compared.outcome is not None else ""
    if not failure or not program_has_main(source, options.companions):
        return ()
    remedy = "give the program the arguments that it needs after --; its standard input is empty"
    return (Diagnostic("TM4106", failure, Location(str(source)), Severity.WARNING, remedy),)


def _found(kernel: KernelPlan, thread: Module, compared: Generated) -> Judged:
    reason = compared.undecided.get(kernel.name)
    if compared.outcome is None or (reason and not compared.outcome.replay.launched.get(kernel.symbol)):
        return Judged(Verdict(Status.CONVERTED, "TM4115", reason or "no launch was generated"))
    return _judged(kernel, thread, compared.outcome)


def _judged(kernel: KernelPlan, thread: Module, outcome: Outcome) -> Judged:
    function = thread.function(kernel.name)
    assert function is not None
    fault = outcome.converted.thread.faults.get(kernel.name)
    if fault is not None:
        return Judged(
            Verdict(Status.CONVERTED, fault.code, fault.message.splitlines()[0]), diagnostics=(fault,)
        )
    points = dict(enumerate(outcome.converted.thread.points(kernel.name)))
    violations = [v for v in outcome.violations if same_kernel(v.kernel, kernel.symbol)]
    evidence = evidence_of(
        outcome.replay,
        kernel.symbol,
        points,
        reads_clock=_reads_clock(function),
        failure=outcome.failure,
        violations=[f"{v.kind} in the original at {v.place.location.mark}: {v.message}" for v in violations],
    )
    verdict = judge(evidence)
    lift = judge_lift(evidence) if kernel.lift is not None else None
    return Judged(
        verdict,
        lift_shown=lift is not None and lift.shown and verdict.status is not Status.REFUSED,
        lift_code=lift.code if lift else None,
        lift_reason=lift.reason if lift else None,
        max_ulp=lift.max_ulp if lift else None,
        bit_exact=lift.bit_exact if lift else None,
        launches=evidence.launches,
        launched=max(evidence.launched, sum(not launch.variation for launch in evidence.launches)),
        points=len(points),
        covered=len(points) - len(evidence.uncovered),
        uncovered=tuple(
            f"{p.location.mark if p.location else p.function} ({p.kind.value})" for p in evidence.uncovered
        ),
        diagnostics=tuple(_as_diagnostic(v) for v in violations),
        oracle="cpu",
    )


def _as_diagnostic(found: Report) -> Diagnostic:
    """A finding about the original, which stays a warning: the conversion is not at fault."""
    notes = () if found.other is None else (Note("the other access is here", found.other.location),)
    where = f"block {list(found.place.block)}, thread {list(found.place.thread)}"
    times = f", {found.count} times" if found.count > 1 else ""
    message = f"{found.kind} in the original: {found.message} ({where}{times})"
    return Diagnostic("TM4109", message, found.place.location, Severity.WARNING, notes=notes)


def _reads_clock(function: Function) -> bool:
    calls = (it for it in walk(function.body) if isinstance(it, Call))
    return any(c.callee in INTRINSICS and INTRINSICS[c.callee].effect is Effect.CLOCK for c in calls)
