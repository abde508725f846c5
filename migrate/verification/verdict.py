"""From evidence to a state: the rules by which a kernel is verified, converted or refused.

The rules stand in :data:`RULES`, in order of weight; the first that applies decides the kernel's state.
What happens to its lift is decided apart (:func:`judge_lift`), since a failed lift only loses a level.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tmigrate.locations import Location
from tmigrate.results import Status
from tmigrate.tilelang.passes.coverage import CoveragePoint
from tmigrate.verification.report import Launch, Replay


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that is known of one instance of a kernel after replay."""

    symbol: str
    launches: tuple[Launch, ...]
    points: Mapping[int, CoveragePoint]  # by coverage byte
    covered: str
    launched: int
    skipped: frozenset[str]
    reads_clock: bool = False
    program_failure: str = ""
    pending: str = ""  # a step that began and never ended
    violations: tuple[str, ...] = ()  # what full checking of the original found in this kernel

    @property
    def counted(self) -> tuple[Launch, ...]:
        """The launches that count as compared."""
        return tuple(launch for launch in self.launches if launch.counts)

    @property
    def uncovered(self) -> tuple[CoveragePoint, ...]:
        """The points that no compared run reached."""
        passed = {i for i, byte in enumerate(self.covered) if byte == "1"}
        return tuple(p for i, p in self.points.items() if i not in passed)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A state with its reason; `code` is None where the kernel is verified."""

    status: Status
    code: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class LiftVerdict:
    """What became of a lift: kept where `code` is None."""

    shown: bool
    code: str | None = None
    reason: str | None = None
    max_ulp: float | None = None
    bit_exact: bool | None = None


Rule = Callable[[Evidence], Verdict | None]

# Kinds of `tm_services.report` (tm_abi.h) that break CUDA's rules: barriers, indices, lanes.
_RULES = frozenset({2, 3, 4})


def _disagrees(e: Evidence) -> Verdict | None:
    for launch in e.counted:
        assert launch.thread is not None
        if launch.thread.verdict == "missing":
            return Verdict(Status.CONVERTED, "TM4112", launch.thread.reason)
        if not launch.thread.agrees:
            where = f"launch {launch.ordinal}, grid {list(launch.grid)}, block {list(launch.block)}"
            if launch.variation:
                where += f", varied: {launch.variation}"
            return Verdict(Status.REFUSED, "TM4101", f"{launch.thread.describe()} ({where})")
    return None


def _checked(e: Evidence) -> Verdict | None:
    """A kernel that races or reads what was never written has no result to agree with."""
    return Verdict(Status.CONVERTED, "TM4109", e.violations[0]) if e.violations else None


def _converted_hangs(e: Evidence) -> Verdict | None:
    if e.pending == "thread":
        return Verdict(Status.REFUSED, "TM4101", "the converted kernel did not end where the original did")
    return None


def _violates(e: Evidence) -> Verdict | None:
    bad = [k for k in e.launches if not k.variation and (k.violations or k.original != "ok")]
    if not bad:
        return None
    return Verdict(
        Status.CONVERTED, "TM4109", f"the original breaks CUDA's rules in {len(bad)} compared launches"
    )


def _breaks_rules(e: Evidence) -> Verdict | None:
    """The results agree, but the converted kernel leaves an array, or a mask names lanes that are away."""
    for launch in e.counted:
        for report in launch.thread.reports if launch.thread else ():
            if int(report["kind"]) in _RULES:
                where = Location(str(report["file"]), int(report["line"])).mark
                place = f" at {where}, which the original was not seen to do" if report["file"] else ""
                text = f"{report['message']}{place}"
                return Verdict(Status.CONVERTED, "TM4117", text)
    return None


def _not_launched(e: Evidence) -> Verdict | None:
    if e.launches:
        return None
    if e.program_failure:
        return Verdict(Status.CONVERTED, "TM4106", e.program_failure)
    if e.launched or "budget" in e.skipped:
        return Verdict(Status.CONVERTED, "TM4105", "time: no launch was compared within --verify-time")
    return Verdict(Status.CONVERTED, "TM4104", "the program never launched it with these arguments")


def _schedule(e: Evidence) -> Verdict | None:
    dependent = sum(launch.schedule_bytes for launch in e.counted)
    if not dependent:
        return None
    return Verdict(Status.CONVERTED, "TM4107", f"{dependent} bytes depend on the order in which threads run")


def _clock(e: Evidence) -> Verdict | None:
    return Verdict(Status.CONVERTED, "TM4108", "it reads the clock") if e.reads_clock else None


def _uncovered(e: Evidence) -> Verdict | None:
    missing = [p for p in e.uncovered if not p.is_operand]
    if not missing:
        return None
    lines = sorted({(p.location.line if p.location else 0, p.kind.value) for p in missing})
    text = ", ".join(f"line {line} ({what})" for line, what in lines[:8])
    more = f" and {len(lines) - 8} more" if len(lines) > 8 else ""
    return Verdict(Status.CONVERTED, "TM4103", f"no compared run reached {text}{more}")


# Heaviest first: what breaks CUDA's rules has nothing to agree with; a disagreement outweighs the rest; what
# was never compared outweighs what was partly.
RULES: tuple[Rule, ...] = (
    _checked,
    _disagrees,
    _converted_hangs,
    _violates,
    _breaks_rules,
    _not_launched,
    _clock,
    _schedule,
    _uncovered,
)


def judge(evidence: Evidence) -> Verdict:
    """The state of one kernel instance."""
    for rule in RULES:
        found = rule(evidence)
        if found is not None:
            return found
    return Verdict(Status.VERIFIED)


def judge_lift(evidence: Evidence) -> LiftVerdict:
    """Whether step (b) and the small-integer run bear the lift out."""
    results = [launch.lifted for launch in evidence.counted if launch.lifted is not None]
    if evidence.pending in ("lifted", "integers"):
        return LiftVerdict(False, "TM4102", "the lifted version did not end")
    for result in results:
        if result.verdict not in ("assumption", "slow") and not result.agrees:
            return LiftVerdict(False, "TM4102", result.describe())
    for launch in evidence.counted:
        integers = launch.integers
        if integers is not None and integers.verdict not in ("equal", "assumption", "inexact"):
            return LiftVerdict(False, "TM4102", f"on small integers {integers.describe()}")
    compared = [result for result in results if result.agrees]
    if not _tells(evidence):
        slow = [result for result in results if result.verdict == "slow"]
        if slow:
            return LiftVerdict(False, "TM4105", slow[0].describe())
        if compared:
            return LiftVerdict(False, "TM4113", "no compared launch that changes memory met its assumptions")
        if results:
            return LiftVerdict(False, "TM4113", "no compared launch met its assumptions")
        return LiftVerdict(False, "TM4105", "the lifted version was not compared")
    return LiftVerdict(
        True,
        max_ulp=max(result.max_ulp for result in compared),
        bit_exact=all(result.verdict == "equal" for result in compared),
    )


def _tells(evidence: Evidence) -> bool:
    """Whether a lift agrees in a launch that says something of it.

    Where the original changes memory at all, that is a launch in which it does: with n = 0 every lift agrees.
    """
    changes = any(launch.changed_bytes for launch in evidence.counted)
    return any(
        launch.lifted is not None and launch.lifted.agrees and (launch.changed_bytes or not changes)
        for launch in evidence.counted
    )


def evidence_of(
    replay: Replay,
    symbol: str,
    points: Mapping[int, CoveragePoint],
    *,
    reads_clock: bool,
    failure: str,
    violations: Sequence[str] = (),
) -> Evidence:
    """Pick one kernel's evidence out of a report."""
    pending = replay.pending[1] if replay.pending and replay.pending[0] == symbol else ""
    return Evidence(
        symbol,
        tuple(replay.of(symbol)),
        points,
        replay.coverage.get(symbol, ""),
        replay.launched.get(symbol, 0),
        frozenset(replay.skipped.get(symbol, ())),
        reads_clock,
        failure,
        pending,
        tuple(violations),
    )
