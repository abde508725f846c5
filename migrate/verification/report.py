"""What a replayed program wrote, as data (the format stands in ``oracle/runtime/REPLAY.md``)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tmigrate.locations import Location

# A converted version that runs longer than both of these, in seconds and in the original's time, hangs.
_LEAST_HANG = 10.0
_HANG_RATIO = 50.0

# Verdicts that say "these agree".
AGREE = frozenset({"equal", "within"})


@dataclass(frozen=True, slots=True)
class Step:
    """The result of one comparison: step (a), step (b), or the small-integer run."""

    verdict: str
    mismatch: Mapping[str, Any] = field(default_factory=dict)
    printed: str = "equal"
    order: str = ""  # "descending": only with blocks and threads in this order
    max_ulp: float = 0.0
    max_error_ratio: float = 0.0
    floats: int = 0
    reports: tuple[Mapping[str, Any], ...] = ()
    unstable: tuple[Location, ...] = ()
    reason: str = ""

    @property
    def agrees(self) -> bool:
        """Whether both sides ended in the same memory and printed the same lines."""
        return self.verdict in AGREE and self.printed != "differs"

    def describe(self) -> str:
        """The disagreement in a sentence."""
        when = f", with threads in {self.order} order" if self.order else ""
        return self._describe() + when

    def _describe(self) -> str:
        if self.verdict in AGREE:
            return "the printed lines differ"
        if self.verdict == "crashed":
            return f"it crashed with signal {self.reason}"
        if self.verdict != "differs":
            return self.reason or self.verdict
        m = self.mismatch
        expected = m.get("expected_value", m.get("expected"))
        values = f"expected {expected}, got {m.get('actual_value', m.get('actual'))}"
        where = f"{m.get('kind', 'memory')} {m.get('allocation')} at byte {m.get('offset')}"
        return f"{m.get('bytes', 'some')} bytes differ, the first in {where}: {values}"


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch that was compared (or tried to be)."""

    kernel: str
    ordinal: int
    grid: tuple[int, ...]
    block: tuple[int, ...]
    original: str
    violations: int
    schedule_bytes: int
    changed_bytes: int
    thread: Step | None
    lifted: Step | None
    integers: Step | None
    variation: str = ""

    @property
    def counts(self) -> bool:
        """Whether the launch counts as compared: the original ran through, and broke no rule.

        A variation whose result depends on the schedule is not the program's fault; it counts for nothing.
        """
        if self.variation and self.schedule_bytes:
            return False
        return self.original == "ok" and self.violations == 0 and self.thread is not None

    @property
    def threads(self) -> int:
        """How many threads were launched."""
        total = 1
        for extent in (*self.grid, *self.block):
            total *= extent
        return total


@dataclass(slots=True)
class Replay:
    """A whole report."""

    launches: list[Launch] = field(default_factory=list)
    coverage: dict[str, str] = field(default_factory=dict)
    launched: dict[str, int] = field(default_factory=dict)
    skipped: dict[str, set[str]] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    pending: tuple[str, str] | None = None  # (kernel, step) that began and never ended
    begun: list[tuple[str, float]] = field(default_factory=list)  # steps of the launch at hand, and when

    def settle(self, seconds: float) -> None:
        """Tell a step that hung from one that was merely cut off when the run was stopped after `seconds`.

        A converted version hangs if it was given much longer than the original took for the same launch.
        """
        if self.pending is None or self.pending[1] in ("original", "schedule"):
            return
        times = [at for _, at in self.begun]
        original = times[1] - times[0] if len(times) > 1 else seconds
        if seconds - times[-1] < max(_LEAST_HANG, _HANG_RATIO * original):
            self.pending = None

    def of(self, kernel: str) -> list[Launch]:
        """The launches of one kernel."""
        return [launch for launch in self.launches if launch.kernel == kernel]


def read_report(lines: Iterable[str]) -> Replay:
    """Read a report; a last line cut short by a crash is left out."""
    replay = Replay()
    for line in lines:
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict):
            _EVENTS.get(str(event.get("event")), _ignore)(replay, event)
    return replay


def _ignore(replay: Replay, event: dict[str, Any]) -> None:
    """An event that this version does not know."""


def _begin(replay: Replay, event: dict[str, Any]) -> None:
    step = str(event["step"])
    replay.pending = (str(event["kernel"]), step)
    replay.begun = [] if step == "original" else replay.begun
    replay.begun.append((step, float(event.get("at", 0.0))))


def _launch(replay: Replay, event: dict[str, Any]) -> None:
    replay.pending = None
    replay.launches.append(
        Launch(
            kernel=event["kernel"],
            ordinal=int(event["ordinal"]),
            grid=tuple(event["grid"]),
            block=tuple(event["block"]),
            original=event["original"],
            violations=int(event.get("violations", 0)),
            schedule_bytes=int(event.get("schedule_bytes", 0)),
            changed_bytes=int(event.get("changed_bytes", 0)),
            thread=_step(event.get("thread")),
            lifted=_step(event.get("lifted")),
            integers=_step(event.get("integers")),
            variation=str(event.get("variation") or ""),
        )
    )


def _step(found: dict[str, Any] | None) -> Step | None:
    if found is None:
        return None
    return Step(
        verdict=found["verdict"],
        mismatch=found.get("mismatch") or {},
        printed=found.get("printed", "equal"),
        order=str(found.get("order") or ""),
        max_ulp=float(found.get("max_ulp") or 0.0),
        max_error_ratio=float(found.get("max_error_ratio") or 0.0),
        floats=int(found.get("floats") or 0),
        reports=tuple(found.get("reports") or ()),
        unstable=tuple(Location(u["file"], int(u["line"])) for u in found.get("unstable") or ()),
        reason=str(found.get("reason") or found.get("signal") or ""),
    )


def _skip(replay: Replay, event: dict[str, Any]) -> None:
    replay.skipped.setdefault(str(event["kernel"]), set()).add(str(event["reason"]))


def _error(replay: Replay, event: dict[str, Any]) -> None:
    replay.errors.append(str(event["message"]))


def _kernel(replay: Replay, event: dict[str, Any]) -> None:
    name = str(event["kernel"])
    replay.launched[name] = max(replay.launched.get(name, 0), int(event["launches"]))
    replay.coverage[name] = _union(replay.coverage.get(name, ""), str(event.get("coverage") or ""))


def _union(a: str, b: str) -> str:
    length = max(len(a), len(b))
    pairs = zip(a.ljust(length, "0"), b.ljust(length, "0"), strict=True)
    return "".join("1" if "1" in pair else "0" for pair in pairs)


def _coverage(replay: Replay, event: dict[str, Any]) -> None:
    name = str(event["kernel"])
    replay.coverage[name] = _union(replay.coverage.get(name, ""), str(event["coverage"]))


def _varied(replay: Replay, event: dict[str, Any]) -> None:
    """The child that ran variations has ended: what it began and did not end counts nowhere."""
    replay.pending = None


_EVENTS = {
    "begin": _begin,
    "launch": _launch,
    "skip": _skip,
    "error": _error,
    "kernel": _kernel,
    "coverage": _coverage,
    "varied": _varied,
}
