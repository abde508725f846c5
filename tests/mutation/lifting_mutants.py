"""The bounded check and step (b) for mutants of a program's lifted kernels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from mutants import Mutant
from replaying import Found, Program, compile_parts, first_line, replay_objects

from tmigrate.converters.lifting.bounded import check
from tmigrate.diagnostics import TmigrateError
from tmigrate.emission import select, through_text
from tmigrate.tilelang.ir.module import Function
from tmigrate.tilelang.targets.cpu.build import BuiltObject
from tmigrate.verification.manifest import (
    KernelEntry,
    Version,
    exact_on_integers,
    is_watched,
    parameter_kinds,
    pointee_kinds,
    works_alone,
)
from tmigrate.verification.objects import LIFTED, REPLAYED_THREAD, SHADOW
from tmigrate.verification.verdict import evidence_of, judge_lift


class LiftJudge:
    """A program's lifted kernels, and what the two checks of a lift say of their mutants.

    Kernels whose unchanged lift step (b) does not bear out are left to the bounded check alone.
    """

    def __init__(self, source: Path) -> None:
        self.program = Program(source)
        self.module = self.program.module
        plan = self.program.plan
        lifted = through_text(select(plan.module, plan.lifts.values())) if plan.lifts else None
        self.lifts = {f.name: f for f in lifted.kernels} if lifted else {}
        kernels = [k for k in self.module.kernels if k.name in self.lifts]
        self.shown: dict[str, bool] = {}
        if kernels:
            self.thread = compile_parts(self.module, "thread", [("", self.module, kernels)], REPLAYED_THREAD)
            self.shadow = compile_parts(self.module, "shadow", [("", self.module, kernels)], SHADOW)
            unchanged = [Mutant("", "", "", 0, f) for f in self.lifts.values()]
            for mutant, reason in self._step_b(unchanged):
                self.shown[mutant.function.name] = not reason

    def judge(self, mutants: Sequence[Mutant]) -> Iterator[tuple[Mutant, Found]]:
        """What the checks of a lift say of each mutant; both are asked."""
        bounded = [self._bounded(m) for m in mutants]
        replayed = {m.name: reason for m, reason in self._step_b(mutants)}
        for mutant, first in zip(mutants, bounded, strict=True):
            second = replayed.get(mutant.name, "") if self.shown[mutant.function.name] else ""
            if first == "failed" or second:
                yield mutant, Found("killed", _how(first, second, self.shown[mutant.function.name]))
            else:
                yield mutant, Found("survived", f"bounded check: {first}")

    def _bounded(self, mutant: Mutant) -> str:
        original = self.module.function(mutant.function.name)
        assert original is not None
        return check(self.module, original, mutant.function, seconds=5.0).status

    def _step_b(self, mutants: Sequence[Mutant]) -> Iterator[tuple[Mutant, str]]:
        """(mutant, why step (b) drops it, or nothing)."""
        parts = [(f"__{k}", m.module(self.module), [m.function]) for k, m in enumerate(mutants)]
        try:
            built = compile_parts(self.module, "lifted_mutants", parts, LIFTED)
        except (TmigrateError, ValueError) as error:
            if len(mutants) == 1:
                yield mutants[0], f"build: {first_line(error)}"
                return
            yield from self._step_b(mutants[: len(mutants) // 2])
            yield from self._step_b(mutants[len(mutants) // 2 :])
            return
        for mutant, (suffix, _, _) in zip(mutants, parts, strict=True):
            yield mutant, self._replay(mutant.function, suffix, built)

    def _replay(self, lifted: Function, suffix: str, built: BuiltObject) -> str:
        thread = self.module.function(lifted.name)
        assert thread is not None
        entry = KernelEntry(
            thread.symbol,
            thread=Version("thread", self.thread.kernels[lifted.name]),
            shadow=Version("shadow", self.shadow.kernels[lifted.name]),
            lifted=Version("lifted", built.kernels[lifted.name + suffix]),
            coverage=len(self.thread.points(lifted.name)),
            parameters=parameter_kinds(thread, self.module.struct_table),
            pointees=pointee_kinds(thread, self.module.struct_table),
            integers=exact_on_integers(thread) and exact_on_integers(lifted),
            any_block=works_alone(self.module, thread),
            watched=is_watched(self.module, thread),
        )
        objects = {"thread": self.thread, "shadow": self.shadow, "lifted": built}
        program = self.program
        replayed, _ = replay_objects(program.oracle, objects, [entry], program.arguments, program.limit)
        points = dict(enumerate(self.thread.points(lifted.name)))
        found = judge_lift(evidence_of(replayed, thread.symbol, points, reads_clock=False, failure=""))
        return "" if found.shown else found.code or "dropped"


def _how(first: str, second: str, asked: bool) -> str:
    """Which of the two checks noticed."""
    if not asked:
        return "bounded check (step (b) not asked)"
    names = [
        n for n, noticed in (("bounded check", first == "failed"), ("step (b)", bool(second))) if noticed
    ]
    return " and ".join(names) if len(names) == 2 else f"{names[0]} only"


__all__ = ["LiftJudge"]
