"""Random structured kernels with barriers, lane operations and all jumps, in C and in the interpreter.

A lane operation under the mask of the lane itself is legal under any control, so it may stand anywhere; it
forces the constructs around it to run block-wide.  Barriers stand only where all threads that live meet.
"""

from __future__ import annotations

import random

import numpy as np
import pytest
from backend_support import parse, run_interpreter

from tmigrate.tilelang.targets.cpu.build import build_module
from tmigrate.tilelang.targets.cpu.launch import launch
from tmigrate.tilelang.targets.cpu.options import EmitOptions

THREADS = 40  # one whole warp and a ragged one
KERNELS = 10
INDENT = "    "


class Writer:
    """Writes one kernel; `a`, `b`, `c` belong to a thread, `u` is common to all."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.lines: list[str] = []
        self.names = 0

    def fresh(self, stem: str) -> str:
        self.names += 1
        return f"{stem}{self.names}"

    def value(self) -> str:
        leaves = ["a", "b", "c", "u", "t", "x[t]", str(self.draw.randint(-9, 9))]
        one, other = self.draw.choice(leaves[:-1]), self.draw.choice(leaves)
        return f"{one} {self.draw.choice(['+', '-', '*', '^', '&'])} {other}"

    def condition(self) -> str:
        return f"({self.value()}) & {self.draw.choice([1, 2, 3, 4])} {self.draw.choice(['==', '!='])} 0"

    def block(self, depth: int, indent: str, in_loop: bool, meets: bool) -> None:
        for _ in range(self.draw.randint(1, 4)):
            self.statement(depth, indent, in_loop, meets)

    def statement(self, depth: int, indent: str, in_loop: bool, meets: bool) -> None:
        kinds = ["set"] * 4 + ["lane"] * 2 + (["barrier"] * 2 if meets else [])
        kinds += ["if", "loop", "while", "uniform"] if depth else []
        kinds += ["jump"] if in_loop else []
        kinds += ["return"] if self.draw.random() < 0.3 else []
        getattr(self, self.draw.choice(kinds) + "_")(depth, indent, in_loop, meets)

    def add(self, indent: str, text: str) -> None:
        self.lines.append(indent + text)

    def set_(self, depth: int, indent: str, in_loop: bool, meets: bool) -> None:
        self.add(indent, f"{self.draw.choice('abc')} = {self.value()}")

    def lane_(self, depth: int, indent: str, in_loop: bool, meets: bool) -> None:
        name = self.fresh("o")
        if self.draw.random() < 0.5:
            self.add(indent, f"{name}: i32 = shfl_sync(own, {self.draw.choice('abc')}, t, 32)")
            self.add(indent, f"{self.draw.choice('abc')} = {name} + 1")
        else:
            self.add(indent, f"{name}: u32 = ballot_sync(own, {self.condition()})")
            self.add(indent, f"{self.draw.choice('abc')} = i32(popc({name})) + a")

    def barrier_(self, depth: int, indent: str, in_loop: bool, meets: bool) -> None:
        # Read what the neighbour wrote before the first barrier; the second keeps the next write away.
        name = self.fresh("n")
        self.add(indent, f"s[t] = {self.draw.choice('abc')}")
        self.add(indent, "syncthreads()")
        self.add(indent, f"{name}: i32 = s[(t + {self.draw.randint(1, 9)}) % {THREADS}]")
        self.add(indent, f"{self.draw.choice('abc')} = {name} * 3 + t")
        self.add(indent, "syncthreads()")

    def if_(self, depth: int, indent: str, in_loop: bool, meets: bool) -> None:
        self.add(indent, f"if {self.condition()}:")
        self.block(depth - 1, indent + INDENT, in_loop, False)
        if self.draw.random() < 0.5:
            self.add(indent, "else:")
            self.block(depth - 1, indent + INDENT, in_loop, False)

    def loop_(self, depth: int, indent: str, in_loop: bool, meets: bool) -> None:
        stop = self.draw.choice(["3", "a & 3", "t & 1", "u & 3"])
        self.add(indent, f"for {self.fresh('i')} in range(0, {stop}):")
        self.loop_body(depth - 1, indent + INDENT)

    def loop_body(self, depth: int, indent: str) -> None:
        """Jumps with a lane operation before or behind them, so that the loop runs block-wide."""
        parts = [self.jump_, self.lane_, self.set_, self.set_, self.block_]
        self.draw.shuffle(parts)
        for part in parts:
            part(depth, indent, True, False)

    def block_(self, depth: int, indent: str, in_loop: bool, meets: bool) -> None:
        self.block(depth, indent, in_loop, meets)

    def while_(self, depth: int, indent: str, in_loop: bool, meets: bool) -> None:
        name = self.fresh("w")
        self.add(indent, f"{name}: i32 = 0")
        self.add(indent, f"while {name} < {self.draw.choice(['2', '(b & 3)', '(u & 3)'])}:")
        self.loop_body(depth - 1, indent + INDENT)
        self.add(indent + INDENT, "with step:")
        self.add(indent + 2 * INDENT, f"{name} = {name} + 1")

    def uniform_(self, depth: int, indent: str, in_loop: bool, meets: bool) -> None:
        """A loop that all threads take together: barriers may stand inside."""
        if not meets:
            self.set_(depth, indent, in_loop, meets)
            return
        self.add(indent, f"for {self.fresh('q')} in range(0, {self.draw.choice(['2', 'u & 3'])}):")
        self.block(depth - 1, indent + INDENT, False, True)

    def jump_(self, depth: int, indent: str, in_loop: bool, meets: bool) -> None:
        self.add(indent, f"if {self.condition()}:")
        self.add(indent + INDENT, self.draw.choice(["break", "continue"]))

    def return_(self, depth: int, indent: str, in_loop: bool, meets: bool) -> None:
        self.add(indent, f"if {self.condition()} and t % 5 == {self.draw.randint(0, 4)}:")
        self.add(indent + INDENT, "y[t] = a + 1000")
        self.add(indent + INDENT, "return")

    def kernel(self, name: str) -> str:
        self.block(3, INDENT, False, True)
        self.block(3, INDENT, False, True)
        head = f"""
@tile_kernel(level="thread")
def {name}(u: i32, x: Ptr[i32], y: Ptr[i32]):
    s = shared(i32, {THREADS})
    t: i32 = i32(threadIdx.x)
    own: u32 = u32(1) << (u32(t) & u32(31))
    a: i32 = x[t]
    b: i32 = t * 2
    c: i32 = u
    s[t] = 0
    syncthreads()
"""
        return head + "\n".join(self.lines) + "\n    y[t] = a * 7 + b * 3 + c\n"


@pytest.mark.parametrize("coverage", [False, True])
def test_random_kernels(coverage: bool) -> None:
    text = "".join(Writer(seed).kernel(f"k{seed}") for seed in range(KERNELS))
    module = parse(text)
    built = build_module(module, EmitOptions(coverage=coverage))
    x = (np.arange(THREADS, dtype=np.int32) * 37) % 19 - 4
    for seed in range(KERNELS):
        for u in (2, 7):
            here, there = np.zeros(THREADS, np.int32), np.zeros(THREADS, np.int32)
            outcome = launch(built, f"k{seed}", (1,), (THREADS,), [u, x, here])
            assert outcome.status == 0 and outcome.reports == [], (seed, outcome.reports)
            run_interpreter(module, (1,), (THREADS,), [u, x, there], kernel=f"k{seed}")
            np.testing.assert_array_equal(here, there, err_msg=f"kernel {seed}, u = {u}")
