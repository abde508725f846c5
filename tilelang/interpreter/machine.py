"""Runs compiled functions: launches with blocks, warps and barriers, or plain calls, within limits."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tmigrate.tilelang.interpreter.functions import Program
from tmigrate.tilelang.interpreter.lanes import Lane, run_block
from tmigrate.tilelang.interpreter.memory import (
    NULL,
    Buffer,
    CellKind,
    Fault,
    FaultError,
    Pointer,
    TensorView,
)
from tmigrate.tilelang.ir.module import Level

Size = tuple[int, int, int]
_EXPECTED = (
    FaultError, ZeroDivisionError, RecursionError, AttributeError, TypeError, ValueError, KeyError,
    IndexError, OverflowError, NameError,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one run: loop iterations plus threads, seconds, and bytes that it may allocate."""

    steps: int = 5_000_000
    seconds: float = 10.0
    bytes: int = 1 << 26


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended: `fault` is None where it completed; `output` holds printf's (format, values)."""

    fault: Fault | None
    result: Any = None
    output: tuple[tuple[Any, ...], ...] = ()
    steps: int = 0
    uninitialised: tuple[tuple[str, int], ...] = ()


class Shared:
    """One block's shared memory."""

    __slots__ = ("arrays", "dynamic")

    def __init__(self, dynamic_bytes: int) -> None:
        self.arrays: dict[str, Buffer] = {}
        self.dynamic = Buffer("dynamic shared memory", dynamic_bytes)

    def array(self, name: str, make: Any) -> Buffer:
        """The array of that name, made by the first thread that comes by."""
        found = self.arrays.get(name)
        if found is None:
            found = self.arrays[name] = make()
        return found


@dataclass(slots=True)
class Thread:
    """What generated code calls T: the launch indices, the block's memory, the machine."""

    machine: Machine
    thread: Size
    block: Size
    block_size: Size
    grid_size: Size
    shared: Shared


@dataclass(slots=True)
class Machine:
    """The state of runs: counters, output, and the order of threads and of parallel iterations.

    `order` None is the natural order, a number seeds a shuffle.  `width` is the number of lanes of a warp.
    """

    limits: Limits = field(default_factory=Limits)
    order: int | None = None
    width: int = 32
    steps: int = 0
    ticks: int = 0
    allocated: int = 0
    deadline: float = 0.0
    output: list[tuple[Any, ...]] = field(default_factory=list)
    known: dict[int, Buffer] = field(default_factory=dict)
    covered: set[int] = field(default_factory=set)
    draw: random.Random = field(default_factory=random.Random)

    # ---- entry points ----------------------------------------------------------------------------

    def launch(
        self,
        program: Program,
        grid: Size,
        block: Size,
        arguments: Sequence[Any],
        *,
        shared_bytes: int = 0,
        variables: Mapping[str, Buffer] | None = None,
        dimensions: Mapping[str, int] | None = None,
    ) -> Outcome:
        """Run a kernel: a thread-level one by all its threads, a lifted one once under the same launch.

        Pointers and tensors are passed as (buffer, byte offset), numbers as the arithmetic's values.
        `dimensions` gives the symbolic extents that only shapes bind.
        """
        self._start(program, arguments, variables or {})
        result = None
        try:
            if program.function.level is Level.THREAD:
                self._run_grid(program, grid, block, arguments, shared_bytes)
            else:
                zero = (0, 0, 0)
                thread = Thread(self, zero, zero, block, grid, Shared(0))
                named = {f"v_{name}": value for name, value in (dimensions or {}).items()}
                result = program.entry(thread, *arguments, **named)
        except _EXPECTED as error:
            return self._finish(program, program.fault(error))
        return self._finish(program, None, result)

    def call(
        self, program: Program, arguments: Sequence[Any], dimensions: Mapping[str, int] | None = None
    ) -> Outcome:
        """Run a loop-level function or a device function once, outside any launch (sizes are 1)."""
        self._start(program, arguments, {})
        one, zero = (1, 1, 1), (0, 0, 0)
        thread = Thread(self, zero, zero, one, one, Shared(0))
        named = {f"v_{name}": value for name, value in (dimensions or {}).items()}
        try:
            result = program.entry(thread, *arguments, **named)
            if program.collective:
                result = run_block([Lane(0, result)], self.width)
        except _EXPECTED as error:
            return self._finish(program, program.fault(error))
        return self._finish(program, None, result)

    def _start(self, program: Program, arguments: Sequence[Any], variables: Mapping[str, Buffer]) -> None:
        self.steps = self.ticks = self.allocated = 0
        self.deadline = time.monotonic() + self.limits.seconds
        self.output = []
        self.covered = set()
        self.draw = random.Random(self.order)
        program.scope.access.uninitialised.clear()
        program.bind_variables(variables)
        buffers = [a[0] for a in arguments if isinstance(a, tuple) and a and isinstance(a[0], Buffer)]
        self.known = {b.base >> 40: b for b in [*buffers, *variables.values()]}

    def _finish(self, program: Program, fault: Fault | None, result: Any = None) -> Outcome:
        uninitialised = tuple(program.scope.access.uninitialised)
        return Outcome(fault, result, tuple(self.output), self.steps, uninitialised)

    def _run_grid(
        self, program: Program, grid: Size, block: Size, arguments: Sequence[Any], shared_bytes: int
    ) -> None:
        for index in self._ordered(_indices(grid)):
            shared = Shared(shared_bytes)
            threads = [Thread(self, t, index, block, grid, shared) for t in _indices(block)]
            self.spend(len(threads))
            if not program.collective:
                for thread in self._ordered(threads):
                    program.entry(thread, *arguments)
                continue
            bodies: list[Generator[Any, Any, Any]] = [program.entry(t, *arguments) for t in threads]
            run_block([Lane(k, body) for k, body in enumerate(bodies)], self.width, self._ordered)

    def _ordered(self, items: Iterable[Any]) -> list[Any]:
        found = list(items)
        if self.order is not None:
            self.draw.shuffle(found)
        return found

    # ---- what generated code calls ---------------------------------------------------------------

    def spend(self, steps: int) -> None:
        """Count steps; a fault where a limit is passed."""
        self.steps += steps
        self.ticks += 1
        if self.steps > self.limits.steps:
            raise FaultError("steps", f"more than {self.limits.steps} steps")
        if self.ticks % 256 == 0 and time.monotonic() > self.deadline:
            raise FaultError("time", f"more than {self.limits.seconds} s")

    def tick(self) -> None:
        """One iteration of a general loop."""
        self.spend(1)

    def counted(self, start: int, stop: int, step: int) -> range:
        """The iterations of a serial range, counted at once."""
        found = range(start, stop, step)
        self.spend(len(found) + 1)
        return found

    def parallel(self, start: int, stop: int, step: int) -> Iterable[int]:
        """The iterations of a parallel range, in the machine's order."""
        found = self.counted(start, stop, step)
        return found if self.order is None else self._ordered(found)

    def cover(self, point: int) -> None:
        """A coverage point is passed."""
        self.covered.add(point)

    def assume(self, holds: bool) -> None:
        """A lifted kernel's precondition."""
        if not holds:
            raise FaultError("assumption", "an assumption does not hold")

    def tensor(self, value: Any, shape: tuple[int, ...], width: int) -> TensorView:
        """A tensor parameter from a pointer or from another tensor."""
        if isinstance(value, TensorView):
            return TensorView(value.buffer, value.offset, shape, width)
        return TensorView(value[0], value[1], shape, width)

    def allocate(self, name: str, shape: tuple[int, ...], width: int, element: CellKind | None) -> TensorView:
        """A loop-level temporary."""
        view = TensorView(Buffer(name, 0, element), 0, shape, width)
        self.allocated += view.count * width
        if self.allocated > self.limits.bytes:
            raise FaultError("bounds", f"more than {self.limits.bytes} bytes are allocated")
        view.buffer.size = view.count * width
        return view

    def pointer(self, number: int) -> Pointer:
        """The pointer whose integer value this is."""
        if number == 0:
            return NULL
        buffer = self.known.get(number >> 40)
        if buffer is None:
            raise FaultError("unsupported", f"{number} is not the address of an argument")
        return buffer, number - buffer.base

    def printf(self, text: str, *values: Any) -> int:
        """Record one output."""
        self.output.append((text, *values))
        return len(values)

    def assert_(self, holds: bool, text: str) -> None:
        """End the launch where the condition is false."""
        if not holds:
            raise FaultError("trap", f"the assertion {text} failed")

    def trap(self) -> None:
        """End the launch."""
        raise FaultError("trap", "the kernel called trap")

    def clock(self) -> int:
        """A counter."""
        self.ticks += 1
        return self.ticks

    def threadfence(self) -> None:
        """Threads run one after another: memory is always in order."""

    threadfence_block = threadfence
    threadfence_system = threadfence


def _indices(size: Size) -> Iterable[Size]:
    """All indices of a grid or a block, x fastest."""
    return ((x, y, z) for z, y, x in itertools.product(*(range(n) for n in reversed(size))))
