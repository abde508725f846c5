"""Replay kernels on generated launches: those of a file without a program, and those that a program's own
launches left unlaunched or partly covered.

A launch in which the original breaks CUDA's rules shows nothing, whatever its values came from; neither does
one whose result depends on the order of threads where others of its kernel do not.  Such launches are left
out, and the rest is replayed once more, so that coverage counts good launches only.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from tmigrate.diagnostics import TmigrateError
from tmigrate.options import ConvertOptions
from tmigrate.oracle import Limits, Report, build, run
from tmigrate.planning import KernelPlan, Plan
from tmigrate.programs import program_has_main
from tmigrate.settings import KernelSettings, find_settings
from tmigrate.tilelang.ir.module import Module
from tmigrate.tilelang.runtime.cache import cache_folder, content_key, write_atomically
from tmigrate.verification.flags import compile_flags
from tmigrate.verification.harness import Harness, including, make_harness, write_launches
from tmigrate.verification.launch_sites import block_sizes, has_main
from tmigrate.verification.lone import Found, find_launches
from tmigrate.verification.mangling import same_kernel
from tmigrate.verification.probing import Prepared
from tmigrate.verification.replay import Outcome, replay
from tmigrate.verification.report import Launch, Replay

_SEARCH_SHARE = 0.5  # of the time, at most, for finding launches
_WORTHWHILE = 8.0  # seconds that must be left for generated launches after a program's own
_LEAST, _MOST = 2.0, 20.0  # seconds of search for one kernel

Launches = list[tuple[str, Prepared]]


@dataclass(frozen=True, slots=True)
class Generated:
    """What generated launches showed: `outcome` is None where there was nothing to run.

    `undecided` says for each kernel without a good launch what stood in the way.
    """

    outcome: Outcome | None
    undecided: Mapping[str, str]


def compare(
    plan: Plan, thread: Module, lifted: Module | None, options: ConvertOptions, kernels: Sequence[str]
) -> Generated:
    """The evidence on `kernels`: the program's own launches and, where these fall short, generated ones."""
    started = time.monotonic()
    if not program_has_main(plan.source, options.companions):
        return generated_replay(plan, thread, lifted, options, kernels, options.verify_seconds)
    sources = [plan.source, *options.companions]
    outcome = replay(
        sources,
        compile_flags(options),
        options.arguments,
        thread,
        lifted,
        options.verify_seconds,
        plan.planned,
    )
    short = [k.name for k in plan.kernels if k.name in kernels and _falls_short(k, outcome)]
    left = options.verify_seconds - (time.monotonic() - started)
    if not short or left < _WORTHWHILE:
        return Generated(outcome, {})
    try:
        found = generated_replay(plan, thread, lifted, options, short, left)
    except TmigrateError:  # some files cannot be included in another program; their own launches stand
        return Generated(outcome, {})
    return Generated(merged(outcome, found.outcome), {})


def _falls_short(kernel: KernelPlan, outcome: Outcome) -> bool:
    """Whether the program never launched the kernel, or reached only a part of it."""
    points = outcome.converted.thread.points(kernel.name)
    return "1" * len(points) != outcome.replay.coverage.get(kernel.symbol, "-") or not outcome.replay.of(
        kernel.symbol
    )


def generated_replay(
    plan: Plan,
    thread: Module,
    lifted: Module | None,
    options: ConvertOptions,
    kernels: Sequence[str],
    seconds: float,
) -> Generated:
    """Find launches for `kernels` (names of converted kernels) and replay them, within about `seconds`.

    Raises what :func:`replay` raises where the file does not build.
    """
    started = time.monotonic()
    chosen = [k for k in plan.kernels if k.name in kernels and k.function is not None]
    text = plan.source.read_text(errors="replace")
    harness = make_harness(plan.source, chosen, thread.variables, has_main=has_main(text))
    undecided = dict.fromkeys(harness.unnamed, "C++ source cannot name this instance")
    with tempfile.TemporaryDirectory(prefix="tmigrate-") as folder, ThreadPoolExecutor(1) as pool:
        runner = _Runner(plan, thread, lifted, options, harness, Path(folder), seconds)
        building = pool.submit(runner.build)
        found = _search(
            plan, thread, options, [k for k in chosen if k.name in harness.kernels], seconds, text
        )
        undecided |= {name: it.reason for name, it in found.items() if not it.launches}
        launches = _interleaved({name: it.launches for name, it in found.items()})
        building.result()
        if not launches:
            return Generated(None, undecided)
        runner.seconds = max(5.0, seconds - (time.monotonic() - started))
        outcome, dropped = runner.run(launches, {k.symbol: k.name for k in chosen})
    return Generated(outcome, undecided | dropped)


def _interleaved(found: Mapping[str, Sequence[Prepared]]) -> Launches:
    """The kernels take turns, so that each is compared before time is out."""
    rows = [(k, name, launch) for name, launches in found.items() for k, launch in enumerate(launches)]
    return [(name, launch) for _, name, launch in sorted(rows, key=lambda row: row[0])]


def _search(
    plan: Plan,
    thread: Module,
    options: ConvertOptions,
    kernels: Sequence[KernelPlan],
    seconds: float,
    text: str,
) -> dict[str, Found]:
    """Launches for each kernel, by name."""
    settings = find_settings(plan.source, options.output).kernels
    each = min(_MOST, max(_LEAST, _SEARCH_SHARE * seconds / max(1, len(kernels))))
    found = {}
    for kernel in kernels:
        function = thread.function(kernel.name)
        if function is None:
            continue
        given = settings.get(kernel.name) or settings.get(kernel.definition) or KernelSettings()
        blocks = block_sizes(text, kernel.definition or kernel.name, thread.constants)
        try:
            found[kernel.name] = find_launches(thread, function, seconds=each, blocks=blocks, settings=given)
        except (AssertionError, KeyError, TypeError, ValueError) as error:
            found[kernel.name] = Found((), f"the kernel cannot be interpreted: {error}")
    return found


@dataclass(slots=True)
class _Runner:
    """Runs launch files through one harness program."""

    plan: Plan
    thread: Module
    lifted: Module | None
    options: ConvertOptions
    harness: Harness
    folder: Path
    seconds: float

    def run(self, launches: Launches, symbols: Mapping[str, str]) -> tuple[Outcome, dict[str, str]]:
        """Replay all launches; again without the bad ones; and why kernels lost all of theirs."""
        started = time.monotonic()
        outcome = self._replay(launches, self.seconds)
        good = self._good(launches, outcome, symbols)
        dropped: dict[str, str] = {}
        if len(good) < len(launches):
            lost = {name for name, _ in launches} - {name for name, _ in good}
            dropped = {name: _why(outcome, symbols, name) for name in lost}
            left = max(5.0, self.seconds - (time.monotonic() - started))
            outcome = self._replay(good, left) if good else replace(outcome, replay=Replay(), violations=())
        return _labelled(outcome, good, symbols), dropped

    def _replay(self, launches: Launches, seconds: float) -> Outcome:
        arguments = [str(self._file(launches))]
        flags = compile_flags(self.options)
        planned = self.plan.planned
        return replay(self._sources(), flags, arguments, self.thread, self.lifted, seconds, planned)

    def build(self) -> None:
        """Compile the program before it is needed; what fails here fails again, and is told, in replay."""
        for mode in ("oracle", "check"):
            with suppress(TmigrateError):
                build(self._sources(), compile_flags(self.options), mode=mode)

    def _sources(self) -> list[Path]:
        """The harness program and its program's other files, in which `main` has another name."""
        others = self.options.companions
        parts = [_stored(f"{file.stem}_part{file.suffix}", including(file)) for file in others]
        return [_stored(f"{self.plan.source.stem}_harness.cu", self.harness.text), *parts]

    def _file(self, launches: Launches) -> Path:
        path = self.folder / "launches"
        write_launches(path, launches, self.harness.kernels, self.harness.variables)
        return path

    def _good(self, launches: Launches, outcome: Outcome, symbols: Mapping[str, str]) -> Launches:
        """The launches that keep CUDA's rules; schedule-dependent ones only where the first is one.

        A kernel whose first launch, the most ordinary one, breaks a rule loses all of them: what is left
        (nothing to do, a single thread) would show little.
        """
        bad: set[int] = set()
        for symbol, name in symbols.items():
            places = [i for i, (kernel, _) in enumerate(launches) if kernel == name]
            own = [launch for launch in outcome.replay.of(symbol) if not launch.variation]
            seen = {launch.ordinal: launch for launch in own}
            lasting = 0 in seen and seen[0].schedule_bytes > 0
            for ordinal, launch in seen.items():
                broken = launch.original != "ok" or launch.violations > 0
                if ordinal < len(places) and (broken or (launch.schedule_bytes > 0 and not lasting)):
                    bad.add(places[ordinal])
            if any(same_kernel(v.kernel, symbol) for v in outcome.violations):
                bad |= self._violating(launches, places, symbol)
            if places and places[0] in bad:
                bad |= set(places)
        return [it for i, it in enumerate(launches) if i not in bad]

    def _violating(self, launches: Launches, places: Sequence[int], symbol: str) -> set[int]:
        """Those of a kernel's launches that break a rule; only the first is looked at where it does."""
        if places and self._violates(launches[places[0]], symbol):
            return {places[0]}
        return {i for i in places[1:] if self._violates(launches[i], symbol)}

    def _violates(self, launch: tuple[str, Prepared], symbol: str) -> bool:
        """Whether the original, alone and fully checked, breaks a rule in this launch."""
        try:
            built = build(self._sources(), compile_flags(self.options), mode="check")
        except TmigrateError:
            return False
        ended = run(built, [str(self._file([launch]))], Limits(seconds=min(10.0, self.seconds)))
        return any(same_kernel(report.kernel, symbol) for report in ended.reports)


def _stored(name: str, text: str) -> Path:
    """A file with this text, at a path that depends on it only: the program built of it is found again."""
    path = cache_folder("harnesses") / content_key([text]) / name
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, text.encode())
    return path


def _why(outcome: Outcome, symbols: Mapping[str, str], name: str) -> str:
    symbol = next(s for s, n in symbols.items() if n == name)
    found: Sequence[Report] = [v for v in outcome.violations if same_kernel(v.kernel, symbol)]
    if not found:
        return "the original fails in the launches that were generated"
    first = found[0]
    where = f"line {first.place.location.line}"
    return f"the generated launches break CUDA's rules: {first.kind}: {first.message} ({where})"


def _labelled(outcome: Outcome, launches: Launches, symbols: Mapping[str, str]) -> Outcome:
    """The outcome with each launch marked as generated, and with what.

    Variations whose result depends on the order of threads are left out where the launches themselves do not.
    """
    by_kernel: dict[str, list[Prepared]] = {}
    for name, launch in launches:
        by_kernel.setdefault(name, []).append(launch)

    def label(launch: Launch) -> Launch:
        made = by_kernel.get(symbols.get(launch.kernel, ""), [])
        text = made[launch.ordinal].case.describe() if launch.ordinal < len(made) else "values"
        varied = f"; {launch.variation}" if launch.variation else ""
        return replace(launch, variation=f"generated: {text}{varied}")

    lasting = {k.kernel for k in outcome.replay.launches if k.schedule_bytes and not k.variation}
    kept = [
        k for k in outcome.replay.launches if not (k.variation and k.schedule_bytes) or k.kernel in lasting
    ]
    marked = replace(outcome.replay, launches=[label(launch) for launch in kept])
    return replace(outcome, replay=marked)


def merged(program: Outcome, generated: Outcome | None) -> Outcome:
    """The evidence of both: all launches, and the union of their coverage."""
    if generated is None:
        return program
    first, second = program.replay, generated.replay
    names = first.launched.keys() | second.launched.keys()
    skipped = first.skipped.keys() | second.skipped.keys()
    both = Replay(
        launches=[*first.launches, *second.launches],
        coverage={n: _union(first.coverage.get(n, ""), second.coverage.get(n, "")) for n in names},
        launched={n: first.launched.get(n, 0) + second.launched.get(n, 0) for n in names},
        skipped={n: first.skipped.get(n, set()) | second.skipped.get(n, set()) for n in skipped},
        errors=[*first.errors, *second.errors],
        pending=first.pending or second.pending,
    )
    violations = (*program.violations, *generated.violations)
    seconds = program.seconds + generated.seconds
    return replace(program, replay=both, violations=violations, seconds=seconds)


def _union(a: str, b: str) -> str:
    """`0110` and `1` give `1110`."""
    width = max(len(a), len(b))
    pairs = zip(a.ljust(width, "0"), b.ljust(width, "0"), strict=True)
    return "".join("1" if "1" in pair else "0" for pair in pairs)
