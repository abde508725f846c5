"""Emitted C against C written by hand for the same kernel, and against PoCL, on one thread: prints one table.

    python tests/bench/cpu_backend.py [--write docs/bench/cpu_backend.md] [--seconds 1] [--only NAME]

A ratio above 1 means that the emitted code is faster.  All take turns on the same arrays in one process.
Times are CPU times, the least of each turn, medians over the turns; a ratio is the median of turns' ratios.
The last rows are kernels on two threads of the pool, in wall time: a figure, no ratio to reach.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402
from cpu_cases import CASES, SCALED, Case  # noqa: E402
from pocl import BATCH, OPTIONS, Pocl  # noqa: E402
from setting import setting  # noqa: E402

from tmigrate.tilelang.runtime import pool  # noqa: E402
from tmigrate.tilelang.runtime.toolchain import compile_c  # noqa: E402
from tmigrate.tilelang.targets.cpu.build import NATIVE_FLAGS, build_module  # noqa: E402
from tmigrate.tilelang.targets.cpu.launch import OK, PreparedLaunch, prepare  # noqa: E402
from tmigrate.tilelang.targets.cpu.options import EmitOptions, FloatFunctions  # noqa: E402
from tmigrate.tilelang.text.parser import parse_module  # noqa: E402

HEAD = "from __future__ import annotations\n\nfrom tmigrate.tilelang import *\n\n\n"
TURNS = 15
Run = Callable[[], object]


def emitted(case: Case, arguments: list[Any], parallel: int = 0) -> PreparedLaunch:
    """The case's kernel, built and laid out; its results in `arguments` are not to be used after an error."""
    module = parse_module(HEAD + case.dsl, name="bench")
    built = build_module(module, EmitOptions(functions=FloatFunctions.VECTOR))
    prepared = prepare(built, "k", case.grid, case.block, arguments, parallel=parallel)
    assert prepared.run().status == OK
    return prepared


def call_of(prepared: PreparedLaunch) -> Run:
    """The bare call, as cheap as that of the code by hand."""
    return lambda: prepared.entry(ctypes.byref(prepared.record), prepared.packed)


def by_hand(text: str, arguments: list[Any]) -> Run:
    text = text.replace("void hand", '__attribute__((visibility("default"))) void hand')
    function = ctypes.CDLL(str(compile_c(text, name="hand", flags=NATIVE_FLAGS))).hand
    kinds = {int: ctypes.c_int, float: ctypes.c_float}
    passed = [
        ctypes.c_void_p(a.ctypes.data) if isinstance(a, np.ndarray) else kinds[type(a)](a) for a in arguments
    ]
    return lambda: function(*passed)


def check(case: Case, found: Sequence[Any], expected: Sequence[Any], what: str) -> None:
    for one, other in zip(found, expected, strict=True):
        if isinstance(one, np.ndarray):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-3, err_msg=f"{case.name}: {what}")


def least(run: Run, seconds: float, clock: Callable[[], float] = time.process_time) -> float:
    """The least time of `run` in about `seconds` of it."""
    spent, best = 0.0, float("inf")
    while spent < seconds:
        begin = clock()
        run()
        taken = clock() - begin
        spent += taken
        best = min(best, taken)
    return best


def measure(case: Case, seconds: float, pocl: Pocl | None) -> list[list[float]]:
    """Seconds by turn of the emitted code, of the fastest by hand, of PoCL's fastest (empty without PoCL).

    First their results are compared.
    """
    ours = case.arguments()
    emitted(case, ours)
    for text in case.hands:
        theirs = case.arguments()
        by_hand(text, theirs)()
        check(case, ours, theirs, "by hand")
    shared = case.arguments()
    hands = [by_hand(text, shared) for text in case.hands]
    runs = [call_of(emitted(case, shared)), *hands]
    if pocl is not None and case.opencl:
        for options in OPTIONS:
            run, read = pocl.prepare(case.opencl, options, case.grid, case.block, case.arguments())
            run()
            check(case, read(), ours, "PoCL")
            runs.append(run)
    times: list[list[float]] = [[] for _ in runs]
    for _ in range(TURNS):
        for run, taken in zip(runs, times, strict=True):
            taken.append(least(run, seconds / TURNS))
    ends = 1 + len(hands)
    opencl = [[taken / BATCH for taken in turns] for turns in times[ends:]]
    return [times[0], fastest(times[1:ends]), fastest(opencl) if opencl else []]


def fastest(times: list[list[float]]) -> list[float]:
    return min(times, key=statistics.median)


def row_of(case: Case, seconds: float, pocl: Pocl | None) -> str:
    ours, hand, opencl = measure(case, seconds, pocl)
    cells = [f"{case.work / statistics.median(ours):.2f}"]
    for theirs in (hand, opencl):
        if theirs:
            ratio = statistics.median(t / o for t, o in zip(theirs, ours, strict=True))
            cells += [f"{case.work / statistics.median(theirs):.2f}", f"{ratio:.2f}"]
        else:
            cells += ["", ""]
    return f"| {case.name} | {' | '.join([*cells, case.unit])} |"


def scaling(case: Case, seconds: float) -> str:
    """Wall time of the pool with one and with two threads, taking turns."""
    parallel = ctypes.cast(pool.load_pool().tm_pool_parallel, ctypes.c_void_p).value or 0
    arguments = case.arguments()
    run = call_of(emitted(case, arguments, parallel))
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(TURNS):
        for threads, taken in zip((1, 2), times, strict=True):
            pool.set_threads(threads)
            taken.append(least(run, seconds / TURNS, time.perf_counter))
    one, two = (case.work / statistics.median(taken) for taken in times)
    ratio = statistics.median(a / b for a, b in zip(*times, strict=True))
    return f"| {case.name} | {one:.2f} | {two:.2f} | {ratio:.2f} | {case.unit} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", type=Path, help="also write the table, with a heading, to this file")
    parser.add_argument("--seconds", type=float, default=1.0, help="CPU time for each version, about")
    parser.add_argument("--only", default="", help="cases whose name holds this")
    options = parser.parse_args()
    try:
        pocl, version = (device := Pocl()), device.version
    except LookupError as error:
        pocl, version = None, str(error)
    lines = ["| kernel | emitted | by hand | ratio | PoCL | ratio | unit |", "|---|---|---|---|---|---|---|"]
    print(f"PoCL: {version}\n" + "\n".join(lines))
    for case in (c for c in CASES if options.only in c.name):
        lines.append(row_of(case, options.seconds, pocl))
        print(lines[-1], flush=True)
    more = ["", "| kernel | one thread | two threads | ratio | unit |", "|---|---|---|---|---|"]
    more += [scaling(case, options.seconds) for case in SCALED if options.only in case.name]
    print("\n".join(more))
    if options.write:
        options.write.write_text(heading(version) + "\n".join([*lines, *more]) + "\n")


def heading(pocl: str) -> str:
    return f"""# Emitted C against C by hand and against PoCL

`python tests/bench/cpu_backend.py`, one thread, medians of CPU time; above 1 the emitted code is faster. By
hand: the fastest of plain and blocked loops, or fission at the barriers, the guards as loop bounds. PoCL: the
fastest of its ways to compile, with the size of work groups given. The second table is wall time of the pool.

{setting(f"PoCL: {pocl}")}
"""


if __name__ == "__main__":
    main()
