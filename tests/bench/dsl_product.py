"""The products of the design page against NumPy's, in one run: `python tests/bench/dsl_product.py`.

Prints one row per program and size: seconds of both (the best of nine) and their ratio; above 1 is faster
than NumPy.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cpu"))
import dsl_design_programs as programs


def best_of(ours: Callable[[], object], theirs: Callable[[], object]) -> tuple[float, float]:
    """The shortest of some runs of each, taken in turns, in seconds."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(9):
        for call, found in zip((ours, theirs), times, strict=True):
            start = time.perf_counter()
            call()
            found.append(time.perf_counter() - start)
    return min(times[0]), min(times[1])


def main(sizes: list[int]) -> None:
    """Print the table."""
    random = np.random.default_rng(0)
    print(f"{'program':<16} {'size':>5} {'ours [s]':>10} {'NumPy [s]':>10} {'ratio':>6}")
    for n in sizes:
        a, b = random.random((n, n), np.float32), random.random((n, n), np.float32)
        out = np.zeros((n, n), np.float32)
        rows: dict[str, Callable[[], object]] = {
            "matmul": lambda a=a, b=b: programs.matmul(a, b),  # type: ignore[misc]
            "matrix_mul_tile": lambda a=a, b=b, out=out: programs.matrix_mul_tile(a, b, out),  # type: ignore[misc]
            "conv2d": lambda a=a, b=b: programs.conv2d(b, a),  # type: ignore[misc]
        }
        for name, call in rows.items():
            call()
            ours, theirs = best_of(call, lambda a=a, b=b: a @ b)  # type: ignore[misc]
            print(f"{name:<16} {n:>5} {ours:>10.4f} {theirs:>10.4f} {theirs / ours:>6.2f}")


if __name__ == "__main__":
    main([int(s) for s in sys.argv[1:]] or [256, 512, 1024])
