"""Run the original with the converted kernels beside it, and read what came of it.

Two child processes, one per core: the replay (steps (a) and (b) at each launch), and the original alone
under full checking (races, bounds, initialisation), whose findings say which launches count.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from tmigrate.diagnostics import TmigrateError
from tmigrate.oracle import Built, Limits, Report, build, run
from tmigrate.tilelang.ir.module import Module
from tmigrate.verification.endings import describe_failure
from tmigrate.verification.objects import Converted, build_for_replay, write_objects
from tmigrate.verification.report import Replay, read_report


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the two child processes left: `failure` says why the program did not end well, if so."""

    replay: Replay
    converted: Converted
    violations: tuple[Report, ...]
    failure: str
    seconds: float


def replay(
    sources: Sequence[Path],
    flags: Sequence[str],
    arguments: Sequence[str],
    thread: Module,
    lifted: Module | None,
    seconds: float,
    planned: Module | None = None,
) -> Outcome:
    """Build everything and run the program of `sources` under replay for at most about `seconds`.

    `planned` is what the source gives where `thread` was read from the disk: an edit may have dropped a
    branch, so all that the source compares with is tried.

    Compiling does not count: it takes longest when a machine meets tmigrate for the first time.

    Raises ToolchainError where the original does not build.
    """
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="tmigrate-") as name, ThreadPoolExecutor(2) as pool:
        folder = Path(name)
        original = pool.submit(build, sources, list(flags), mode="oracle")
        checked = pool.submit(build, sources, list(flags), mode="check")
        converted = replace(build_for_replay(thread, lifted), planned=planned)
        manifest = folder / "manifest"
        write_objects(manifest, converted)
        built = original.result()
        limits = Limits(seconds=seconds, memory_bytes=memory_bound())
        checking = pool.submit(_check, checked, arguments, limits)
        report = folder / "report"
        environment = {
            "TMIGRATE_REPLAY": str(manifest),
            "TMIGRATE_REPLAY_REPORT": str(report),
            "TMIGRATE_REPLAY_SECONDS": f"{0.6 * seconds:.1f}",
        }
        ended = run(built, list(arguments), limits, environment=environment)
        lines = report.read_text(errors="replace").splitlines() if report.exists() else []
        found = checking.result()
    seen = read_report(lines)
    seen.settle(ended.seconds)
    return Outcome(seen, converted, found, describe_failure(ended, limits), time.monotonic() - started)


def memory_bound() -> int:
    """The address space of each of the two processes, in bytes: half of the machine's memory, 4 to 16 GiB."""
    installed = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(4 << 30, min(16 << 30, installed // 2))


def _check(checked: Future[Built], arguments: Sequence[str], limits: Limits) -> tuple[Report, ...]:
    """The violations that the original commits under full checking; none where that build fails."""
    try:
        built = checked.result()
    except TmigrateError:
        return ()
    return tuple(run(built, list(arguments), limits).reports)
