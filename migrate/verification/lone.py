"""Launches for a kernel that no program launches: sizes, values and memory that keep inside CUDA's rules.

The search runs the thread-level kernel in the interpreter (:mod:`probing`).  It first looks for one *base*
launch of several blocks with ragged edges, then varies it (other data, special floats, less than a block,
nothing at all, other blocks), and then, while coverage points are left, tries values near the constants that
the kernel compares with.  A launch counts where no access is negative or unbounded, nothing uninitialised is
read, and two orders of threads leave the same memory.  Everything follows from fixed seeds.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from tmigrate.settings import KernelSettings
from tmigrate.tilelang.interpreter.memory import POINTER, Fault
from tmigrate.tilelang.ir.expressions import Const, DynamicShared, NamedConst
from tmigrate.tilelang.ir.module import Function, Module
from tmigrate.tilelang.ir.node import walk
from tmigrate.tilelang.ir.types import ScalarType
from tmigrate.verification.explicit import explicit_launches
from tmigrate.verification.probing import DYNAMIC_SHARED, Case, Prepared, Probe, Probed, Size, Slot
from tmigrate.verification.shapes import Shapes
from tmigrate.verification.values import INTEGER_PROFILES

_ORDER = 7  # the second order of threads
_SECONDS = 20.0
_STEPS = 2_000_000  # of the interpreter, for one kernel: what ends a search is the same on every machine
_STEPS_PER_RUN = 1_000  # what a run costs beside its steps
_MOST = 24  # launches of one kernel
_TAIL = (19, 23, 29, 13, 11, 7, 5, 3)

Scalars = dict[str, int | float | bool]


@dataclass(frozen=True, slots=True)
class Found:
    """The launches of one kernel; where there is none, `reason` says what stood in the way."""

    launches: tuple[Prepared, ...]
    reason: str = ""


def find_launches(
    module: Module,
    function: Function,
    *,
    seconds: float = _SECONDS,
    blocks: Sequence[Size] = (),
    settings: KernelSettings | None = None,
) -> Found:
    """Launches of a kernel; `blocks` are block sizes known from its launch sites, tried first.

    Sizes in `settings` replace the search where they are complete, and bound it where they are not.
    """
    probe = Probe(module, function)
    chosen, unknown = _for_slots(settings or KernelSettings(), probe)
    if unknown:
        return Found((), f"tmigrate.toml names {', '.join(unknown)}, which the kernel does not have")
    if any(POINTER in probe.kinds(slot) for slot in probe.slots):
        return Found((), "a parameter points to memory that holds pointers")
    given = explicit_launches(probe, chosen)
    if given is not None:
        return Found(given)
    return _Search(probe, Shapes(module, function, blocks, chosen), chosen, seconds).result()


def _for_slots(settings: KernelSettings, probe: Probe) -> tuple[KernelSettings, list[str]]:
    """The settings by the names of slots, and the names in them that no slot has.

    A person may write the C++ name where the IR had to change it: `sum` for `sum_`.
    """
    names = {_plain(slot.name): slot.name for slot in probe.slots}
    names |= {slot.name: slot.name for slot in probe.slots} | {v.name: v.name for v in probe.variables}
    unknown = sorted((settings.sizes.keys() | settings.ranges.keys()) - names.keys())
    sizes = {names[n]: v for n, v in settings.sizes.items() if n in names}
    ranges = {names[n]: v for n, v in settings.ranges.items() if n in names}
    return replace(settings, sizes=sizes, ranges=ranges), unknown


def _plain(name: str) -> str:
    return ".".join(part.removesuffix("_") for part in name.split("."))


@dataclass(frozen=True, slots=True)
class _Kept:
    case: Case
    probed: Probed


@dataclass(slots=True)
class _Search:
    """The search for one kernel's launches."""

    probe: Probe
    shapes: Shapes
    settings: KernelSettings
    seconds: float
    kept: list[_Kept] = field(default_factory=list)
    covered: set[int] = field(default_factory=set)
    reasons: list[str] = field(default_factory=list)
    tried: set[str] = field(default_factory=set)
    must_be_stable: bool = True
    deadline: float = 0.0
    steps: int = 0

    def result(self) -> Found:
        """All launches that were found, in the order in which they were."""
        self.deadline = time.monotonic() + self.seconds
        if not self._find_base():
            return Found((), self._reason())
        for case in self._variants(self.kept[0].case):
            self._consider(case)
        self._reach()
        return Found(tuple(_distinct_configurations([k.probed.launch for k in self.kept if k.probed.launch])))

    def _reason(self) -> str:
        if not self.reasons:
            return "no launch was tried within the time"
        return max(self.reasons, key=self.reasons.count)

    @property
    def late(self) -> bool:
        """Whether the search must end: by steps, and by the clock on a machine that is far too slow."""
        return self.steps > _STEPS or time.monotonic() > self.deadline

    # ---- slots ---------------------------------------------------------------------------------------

    @property
    def integers(self) -> list[str]:
        """The integer scalars whose value is free."""
        return [
            s.name
            for s in self.probe.slots
            if isinstance(s.kind, ScalarType) and s.kind.is_integer and self._is_free(s)
        ]

    @property
    def booleans(self) -> list[str]:
        return [
            s.name
            for s in self.probe.slots
            if isinstance(s.kind, ScalarType) and s.kind.is_bool and self._is_free(s)
        ]

    @property
    def floats(self) -> list[str]:
        return [
            s.name
            for s in self.probe.slots
            if isinstance(s.kind, ScalarType) and s.kind.is_float and self._is_free(s)
        ]

    def _is_free(self, slot: Slot) -> bool:
        return slot.name not in self.settings.sizes and slot.name not in self.settings.ranges

    # ---- the base ------------------------------------------------------------------------------------

    def _find_base(self) -> bool:
        """Keep the first launch that is good; one that depends on the order of threads only where all do."""
        second: _Kept | None = None
        for case in self._bases():
            if self.late:
                break
            found = self._try(case)
            if found is None or not found.probed.covered:
                continue
            if self._is_stable(found):
                self._keep(found)
                return True
            second = second or found
        if second is None:
            return False
        self.must_be_stable = False
        self._keep(second)
        return True

    def _bases(self) -> Iterator[Case]:
        """Blocks, assignments of sizes and integer profiles, the likely ones of each first."""
        profiles = INTEGER_PROFILES[:3] if self.probe.has_integer_memory else INTEGER_PROFILES[:1]
        blocks = self.shapes.blocks
        rows = []
        for b, block in enumerate(blocks):
            grid = self.shapes.grid(block)
            for a, scalars in enumerate(self._assignments(block)):
                for p, profile in enumerate(profiles):
                    rows.append((b + a + p, b, Case(grid, block, scalars, self._shared(), profile)))
        rows.sort(key=lambda row: row[:2])
        for _, _, case in rows:
            yield self._fixed(case)

    def _shared(self) -> int:
        if self.settings.shared is not None:
            return self.settings.shared
        uses = any(isinstance(it, DynamicShared) for f in self.shapes.functions for it in walk(f.body))
        return DYNAMIC_SHARED if uses else 0

    def _fixed(self, case: Case) -> Case:
        """The case with what the settings say of it."""
        scalars = {
            name: values[0] for name, values in self.settings.sizes.items() if name in self.probe.scalar_names
        }
        return replace(case, scalars={**case.scalars, **scalars}, ranges=self.settings.ranges)

    def _assignments(self, block: Size) -> list[Scalars]:
        """Sizes for the integer parameters: one an axis and smaller ones, all equal, one large and the rest
        small, whole multiples of the block."""
        names = self.integers
        if not names:
            return [{}]
        extents = self.shapes.extents(block)
        whole = [3 * n for n in self.shapes.widths(block)]
        rows: list[Sequence[int]] = [
            (*extents, *_TAIL),
            (*reversed(extents), *_TAIL),
            (extents[0],) * len(names),
            (*whole, *(2 * n for n in whole), *_TAIL),
            (whole[0],) * len(names),
        ]
        for k in range(len(names) if len(names) > 1 else 0):
            rows.append([extents[0] if j == k else 2 + j % 2 for j in range(len(names))])
        padded = [[*row, *_TAIL * len(names)] for row in rows]
        unique = dict.fromkeys(tuple(row[: len(names)]) for row in padded)
        return [dict(zip(names, row, strict=True)) for row in unique]

    # ---- variants ------------------------------------------------------------------------------------

    def _variants(self, base: Case) -> Iterator[Case]:
        one = (1, 1, 1)
        yield replace(base, seed=2)
        if self.probe.has_float_memory:
            yield replace(base, seed=3, floats="special")
            yield replace(base, seed=4, floats="positive")
        few = {name: (7, 5, 3)[k % 3] for k, name in enumerate(self.integers)}
        yield self._fixed(replace(base, grid=one, scalars={**base.scalars, **few}, seed=5))
        none = dict.fromkeys(self.integers, 0)
        yield self._fixed(replace(base, grid=one, scalars={**base.scalars, **none}))
        for name in self.integers:
            yield replace(base, scalars={**base.scalars, name: 0})
        for name in self.booleans:
            yield replace(base, scalars={**base.scalars, name: True})
            yield replace(base, scalars={**base.scalars, name: False})
        if self.probe.has_integer_memory:
            yield from (replace(base, integers=p) for p in INTEGER_PROFILES if p != base.integers)
        for block in [b for b in self.shapes.blocks if b != base.block][:2]:
            for scalars in self._assignments(block)[:2]:
                yield self._fixed(
                    replace(base, grid=self.shapes.grid(block), block=block, scalars=scalars, seed=6)
                )
        for scalars in self._assignments(base.block)[1:5]:
            yield self._fixed(replace(base, scalars={**base.scalars, **scalars}, seed=7))

    # ---- coverage ------------------------------------------------------------------------------------

    def _reach(self) -> None:
        """Change one thing at a time in what was kept, until all points are covered or time is out."""
        draw = random.Random(1)
        pool = sorted(self._pool())
        for _ in range(400):
            if self.late or len(self.covered) == self.probe.points or len(self.kept) >= _MOST:
                return
            case = draw.choice(self.kept).case
            for _ in range(draw.choice((1, 1, 2, 3))):
                case = self._mutated(case, draw, pool)
            self._consider(self._fixed(case), only_new=True)

    def _pool(self) -> set[int]:
        """Small numbers, sizes, and the integers of the kernel's text with their neighbours."""
        found = {0, 1, 2, 3, 4, 8, 16, 31, 32, 33, 100}
        for f in self.shapes.functions:
            for it in walk(f.body):
                if isinstance(it, Const | NamedConst) and isinstance(it.value, int):
                    found |= {int(it.value) + d for d in (-1, 0, 1)}
        return {n for n in found if -16 <= n <= 4096}

    def _mutated(self, case: Case, draw: random.Random, pool: Sequence[int]) -> Case:
        moves = ["integers", "floats", "seed", "block"]
        moves += ["integer"] * 4 if self.integers else []
        moves += ["boolean"] * 2 if self.booleans else []
        moves += ["float"] * 2 if self.floats else []
        move = draw.choice(moves)
        if move == "integer":
            return replace(case, scalars={**case.scalars, draw.choice(self.integers): draw.choice(pool)})
        if move == "boolean":
            return replace(case, scalars={**case.scalars, draw.choice(self.booleans): draw.random() < 0.5})
        if move == "float":
            value = draw.choice((0.0, 1.0, -1.0, 0.5, 2.0, -100.0, 100.0))
            return replace(case, scalars={**case.scalars, draw.choice(self.floats): value})
        if move == "integers":
            return replace(case, integers=draw.choice(INTEGER_PROFILES))
        if move == "floats":
            return replace(case, floats=draw.choice(("ordinary", "positive", "special")))
        if move == "seed":
            return replace(case, seed=draw.randrange(1 << 20))
        block = draw.choice(self.shapes.blocks)
        return replace(case, block=block, grid=self.shapes.grid(block))

    # ---- one case ------------------------------------------------------------------------------------

    def _consider(self, case: Case, only_new: bool = False) -> None:
        """Keep the case where it is good (and, if asked, covers something new)."""
        if self.late or len(self.kept) >= _MOST:
            return
        found = self._try(case)
        if found is None or (only_new and not found.probed.covered - self.covered):
            return
        if not self.must_be_stable or self._is_stable(found):
            self._keep(found)

    def _try(self, case: Case) -> _Kept | None:
        key = f"{case}"
        if key in self.tried:
            return None
        self.tried.add(key)
        probed = self._run(case)
        if probed.fault is not None:
            self.reasons.append(_described(probed.fault))
            return None
        if probed.uninitialised:
            self.reasons.append("memory is read before anything is written to it")
            return None
        return _Kept(case, probed)

    def _run(self, case: Case, order: int | None = None) -> Probed:
        probed = self.probe.run(case, order)
        self.steps += probed.steps + _STEPS_PER_RUN
        return probed

    def _is_stable(self, found: _Kept) -> bool:
        """Whether another order of threads leaves the same memory."""
        other = self._run(found.case, _ORDER)
        return other.fault is None and other.final == found.probed.final

    def _keep(self, found: _Kept) -> None:
        self.kept.append(found)
        self.covered |= found.probed.covered


def _described(fault: Fault) -> str:
    """The fault without what only probing knows (buffers are as large as can be while it runs)."""
    message = fault.message.split(", which has")[0]
    place = f" (line {fault.location.line})" if fault.location else ""
    return f"{fault.kind}: {message}{place}"


def _distinct_configurations(launches: Iterable[Prepared]) -> Iterator[Prepared]:
    """Replay compares a configuration's first three launches: give the fourth more dynamic shared memory."""
    counts: dict[tuple[Size, Size, int], int] = {}
    for launch in launches:
        case = launch.case
        key = (case.grid, case.block, case.shared)
        number = counts.get(key, 0)
        counts[key] = number + 1
        yield replace(launch, case=replace(case, shared=case.shared + 16 * (number // 3)))


__all__ = ["Found", "find_launches"]
