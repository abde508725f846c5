"""Step (a) for many mutants of one program: its oracle is built once, mutants are compiled in batches.

The kernels of a batch stand in one C source under names of their own; each mutant is then replayed in its own
process, as the thread-level version, and judged by the rules that judge a conversion.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from mutants import Mutant

from tmigrate.diagnostics import TmigrateError
from tmigrate.emission import called_functions, select, through_text
from tmigrate.options import ConvertOptions
from tmigrate.oracle import Built, Limits, build, run
from tmigrate.planning import Plan, plan_file
from tmigrate.results import Status
from tmigrate.tilelang.ir.expressions import Call
from tmigrate.tilelang.ir.module import Function, Module
from tmigrate.tilelang.ir.node import Node, rewrite_region, with_fields
from tmigrate.tilelang.runtime.toolchain import ARITHMETIC_FLAGS, compile_c
from tmigrate.tilelang.targets.cpu.build import BuiltObject, write_source
from tmigrate.tilelang.targets.cpu.names import kernel_symbol
from tmigrate.tilelang.targets.cpu.options import EmitOptions
from tmigrate.verification.manifest import (
    KernelEntry,
    ObjectEntry,
    Version,
    is_watched,
    parameter_kinds,
    pointee_kinds,
    works_alone,
    write_manifest,
)
from tmigrate.verification.objects import REPLAYED_THREAD, variable_symbols
from tmigrate.verification.report import Replay, read_report
from tmigrate.verification.verdict import Evidence, Verdict, evidence_of, judge

# Optimised less than what is shipped, for speed; what decides the values is the same.
FLAGS = ("-O1", *ARITHMETIC_FLAGS, "-fno-math-errno", "-fno-trapping-math")

Part = tuple[str, Module, Sequence[Function]]
"""Kernels of a module to compile, and the suffix that their names get."""


@dataclass(frozen=True, slots=True)
class Found:
    """What verification said of a mutant: `state` is killed, survived, build or invalid; `how` says why."""

    state: str
    how: str


def compile_parts(around: Module, name: str, parts: Sequence[Part], options: EmitOptions) -> BuiltObject:
    """One object of several versions of kernels."""
    functions: list[Function] = []
    for suffix, module, kernels in parts:
        functions += _renamed(select(module, [_named(module, k.name) for k in kernels]), suffix)
    merged = replace(around, functions=tuple(functions))
    source = write_source(merged, options)
    path = compile_c(source.text, name=name, flags=FLAGS)
    symbols = {f.name: kernel_symbol(f.name) for f in merged.kernels}
    variables = tuple(v.name for v in merged.variables)
    return BuiltObject(path, merged, symbols, variables, source.coverage_points, source.text)


def replay_objects(
    oracle: Built,
    objects: Mapping[str, BuiltObject],
    entries: Sequence[KernelEntry],
    arguments: Sequence[str],
    seconds: float,
) -> tuple[Replay, float]:
    """Run a program under replay within about `seconds`; what it reported, and how long it took."""
    with tempfile.TemporaryDirectory(prefix="mutation-") as name:
        manifest, report = Path(name) / "manifest", Path(name) / "report"
        listed = [ObjectEntry(n, b.path, variable_symbols(b)) for n, b in objects.items()]
        write_manifest(manifest, listed, entries)
        environment = {
            "TMIGRATE_REPLAY": str(manifest),
            "TMIGRATE_REPLAY_REPORT": str(report),
            "TMIGRATE_REPLAY_SECONDS": f"{seconds:.1f}",
            "TMIGRATE_REPLAY_SCHEDULES": "1",
        }
        ended = run(oracle, list(arguments), Limits(seconds=seconds + 2), environment=environment)
        lines = report.read_text(errors="replace").splitlines() if report.exists() else []
    return read_report(lines), ended.seconds


@dataclass
class Program:
    """A program with its thread-level module, its oracle, and the states of its unchanged kernels."""

    source: Path
    arguments: tuple[str, ...] = ()
    plan: Plan = field(init=False)
    module: Module = field(init=False)
    oracle: Built = field(init=False)
    baseline: dict[str, Verdict] = field(init=False)
    seconds: float = field(init=False)

    def __post_init__(self) -> None:
        self.plan = plan_file(self.source, ConvertOptions(execute=False))
        self.module = through_text(self.plan.module)
        self.oracle = build(self.source)
        kernels = list(self.module.kernels)
        made = compile_parts(self.module, self.source.stem, [("", self.module, kernels)], REPLAYED_THREAD)
        self.seconds = 5.0
        replayed, self.seconds = self._replay(made, "", kernels)
        self.baseline = {f.name: judge(_evidence(replayed, f, made, f.name)) for f in kernels}

    @property
    def limit(self) -> float:
        """Seconds for one mutant's run."""
        return max(1.0, 8 * self.seconds)

    def kernels_of(self, name: str) -> list[Function]:
        """The kernels that run a function: itself, or those that call it."""
        kernels = self.module.kernels
        return [k for k in kernels if k.name == name or name in called_functions(self.module, [k])]

    def judge(self, mutants: Sequence[Mutant]) -> Iterator[tuple[Mutant, Found]]:
        """What step (a) says of each mutant; they are compiled together."""
        parts = [
            (f"__{k}", m.module(self.module), self.kernels_of(m.function.name)) for k, m in enumerate(mutants)
        ]
        try:
            built = compile_parts(self.module, f"{self.source.stem}_mutants", parts, REPLAYED_THREAD)
        except (TmigrateError, ValueError) as error:
            if len(mutants) == 1:
                yield mutants[0], Found("build", first_line(error))
                return
            yield from self.judge(mutants[: len(mutants) // 2])
            yield from self.judge(mutants[len(mutants) // 2 :])
            return
        for mutant, (suffix, _, kernels) in zip(mutants, parts, strict=True):
            yield mutant, self._judge(built, suffix, kernels)

    def _judge(self, built: BuiltObject, suffix: str, kernels: Sequence[Function]) -> Found:
        replayed, _ = self._replay(built, suffix, kernels)
        kept = []
        for kernel in kernels:
            verdict = judge(_evidence(replayed, kernel, built, kernel.name + suffix))
            before = self.baseline[kernel.name]
            if verdict.status is Status.REFUSED:
                return Found("killed", _reason(verdict, replayed, kernel))
            if verdict.status is not before.status or verdict.code != before.code:
                return Found("killed", verdict.code or "")
            kept.append(f"{kernel.name} {verdict.status.value}")
        return Found("survived", ", ".join(kept))

    def _replay(self, built: BuiltObject, suffix: str, kernels: Sequence[Function]) -> tuple[Replay, float]:
        entries = []
        for k in kernels:
            name = k.name + suffix
            version = Version("thread", built.kernels[name])
            kinds = parameter_kinds(k, self.module.struct_table), pointee_kinds(k, self.module.struct_table)
            entries.append(
                KernelEntry(
                    k.symbol,
                    thread=version,
                    coverage=len(built.points(name)),
                    parameters=kinds[0],
                    pointees=kinds[1],
                    any_block=works_alone(self.module, k),
                    watched=is_watched(self.module, k),
                )
            )
        return replay_objects(self.oracle, {"thread": built}, entries, self.arguments, self.limit)


def first_line(error: Exception) -> str:
    """What the compiler or the back end said first."""
    text = error.diagnostic.message if isinstance(error, TmigrateError) else str(error)
    return text.splitlines()[0] if text else type(error).__name__


def _evidence(replayed: Replay, kernel: Function, built: BuiltObject, name: str) -> Evidence:
    points = dict(enumerate(built.points(name)))
    return evidence_of(replayed, kernel.symbol, points, reads_clock=False, failure="")


def _reason(verdict: Verdict, replayed: Replay, kernel: Function) -> str:
    """The verdict's code, the kind of disagreement, and whether only a variation of the launch showed it."""
    bad = [k for k in replayed.of(kernel.symbol) if k.counts and k.thread and not k.thread.agrees]
    if not bad or bad[0].thread is None:
        return f"{verdict.code} the process hung or died"
    kind = "print" if bad[0].thread.printed == "differs" else bad[0].thread.verdict
    order = " backwards" if bad[0].thread.order else ""
    return f"{verdict.code} {kind}{order}{' in a variation' if all(k.variation for k in bad) else ''}"


def _named(module: Module, name: str) -> Function:
    found = module.function(name)
    assert found is not None
    return found


def _renamed(module: Module, suffix: str) -> list[Function]:
    names: Mapping[str, str] = {f.name: f.name + suffix for f in module.functions}

    def rule(it: Node) -> Node | None:
        if isinstance(it, Call) and it.callee in names:
            return with_fields(it, callee=names[it.callee])
        return None

    return [
        replace(f, name=names[f.name], body=rewrite_region(f.body, rule))  # type: ignore[arg-type]
        for f in module.functions
    ]
