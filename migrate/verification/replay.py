"""Run the original with the converted kernels beside it, and read what came of it.

Two child processes, one per core: the replay (steps (a) and (b) at each launch), and the original alone
under full checking (races, bounds, initialisation), whose findings say which launches count.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tmigrate.diagnostics import TmigrateError
from tmigrate.oracle import Built, Limits, Report, RunResult, build, run
from tmigrate.tilelang.ir.module import Function, Module
from tmigrate.tilelang.passes.coverage import CoveragePoint
from tmigrate.tilelang.targets.cpu.build import BuiltObject, build_module
from tmigrate.tilelang.targets.cpu.options import Arithmetic, EmitOptions, FloatFunctions
from tmigrate.verification.manifest import (
    KernelEntry,
    ObjectEntry,
    Version,
    exact_on_integers,
    parameter_kinds,
    write_manifest,
)
from tmigrate.verification.report import Replay, read_report

THREAD = EmitOptions(coverage=True, fill_shared=True)
SHADOW = EmitOptions(arithmetic=Arithmetic.SHADOW, fill_shared=True)
LIFTED = EmitOptions(functions=FloatFunctions.VECTOR)


@dataclass(frozen=True, slots=True)
class Converted:
    """The converted versions as built: `lifted` and `shadow` are None where nothing was lifted."""

    thread: BuiltObject
    shadow: BuiltObject | None
    lifted: BuiltObject | None
    points: Mapping[str, Mapping[int, CoveragePoint]]  # by kernel name: its points by coverage byte


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the two child processes left: `failure` says why the program did not end well, if so."""

    replay: Replay
    converted: Converted
    violations: tuple[Report, ...]
    failure: str
    seconds: float


def build_converted(thread: Module, lifted: Module | None) -> Converted:
    """Compile the thread-level module, its shadow, and the lifted kernels."""
    with ThreadPoolExecutor(max_workers=2) as pool:
        first = pool.submit(build_module, thread, THREAD)
        shadow = pool.submit(build_module, thread, SHADOW) if lifted is not None else None
        other = pool.submit(build_module, lifted, LIFTED) if lifted is not None else None
        built = first.result()
        return Converted(
            built,
            shadow.result() if shadow else None,
            other.result() if other else None,
            {f.name: dict(enumerate(built.points(f.name))) for f in thread.kernels},
        )


def replay(
    source: Path,
    flags: Sequence[str],
    arguments: Sequence[str],
    thread: Module,
    lifted: Module | None,
    seconds: float,
) -> Outcome:
    """Build everything and run the program `source` under replay, within about `seconds`.

    Raises ToolchainError where the original does not build.
    """
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="tmigrate-") as name, ThreadPoolExecutor(2) as pool:
        folder = Path(name)
        original = pool.submit(build, source, list(flags), mode="oracle")
        checked = pool.submit(build, source, list(flags), mode="check")
        converted = build_converted(thread, lifted)
        manifest = folder / "manifest"
        _write(manifest, thread, lifted, converted)
        built = original.result()
        left = max(5.0, seconds - (time.monotonic() - started))
        checking = pool.submit(_check, checked, arguments, left)
        report = folder / "report"
        environment = {
            "TMIGRATE_REPLAY": str(manifest),
            "TMIGRATE_REPLAY_REPORT": str(report),
            "TMIGRATE_REPLAY_SECONDS": f"{0.6 * left:.1f}",
        }
        ended = run(built, list(arguments), Limits(seconds=left), environment=environment)
        lines = report.read_text(errors="replace").splitlines() if report.exists() else []
        found = checking.result()
    return Outcome(read_report(lines), converted, found, _failure(ended), time.monotonic() - started)


def _check(checked: Future[Built], arguments: Sequence[str], seconds: float) -> tuple[Report, ...]:
    """The violations that the original commits under full checking; none where that build fails."""
    try:
        built = checked.result()
    except TmigrateError:
        return ()
    return tuple(run(built, list(arguments), Limits(seconds=seconds)).reports)


def variable_symbols(built: BuiltObject) -> tuple[str, ...]:
    """The mangled names of an object's module variables, in the order in which it takes their addresses."""
    symbols = {v.name: v.symbol for v in built.module.variables}
    return tuple(symbols[name] for name in built.variables)


def _failure(ended: RunResult) -> str:
    if ended.reason != "exit":
        return f"the program was stopped: {ended.reason}"
    return f"the program exited with status {ended.status}" if ended.status else ""


def _write(path: Path, thread: Module, lifted: Module | None, converted: Converted) -> None:
    """The manifest of one replay."""
    built = {"thread": converted.thread, "shadow": converted.shadow, "lifted": converted.lifted}
    objects = [ObjectEntry(n, b.path, variable_symbols(b)) for n, b in built.items() if b is not None]
    kernels = [_entry(f, lifted.function(f.name) if lifted else None, converted) for f in thread.kernels]
    write_manifest(path, objects, kernels)


def _entry(thread: Function, lifted: Function | None, converted: Converted) -> KernelEntry:
    shadow, other = converted.shadow, converted.lifted
    return KernelEntry(
        thread.symbol,
        thread=Version("thread", converted.thread.kernels[thread.name]),
        shadow=Version("shadow", shadow.kernels[thread.name]) if shadow and lifted else None,
        lifted=Version("lifted", other.kernels[thread.name]) if other and lifted else None,
        coverage=len(converted.points[thread.name]),
        parameters=parameter_kinds(thread),
        integers=lifted is not None and exact_on_integers(thread) and exact_on_integers(lifted),
    )
