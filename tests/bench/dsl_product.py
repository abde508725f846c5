"""The products of the design page against NumPy's, on one thread, in one run: prints one table.

    python tests/bench/dsl_product.py [SIZE...] [--write docs/bench/dsl_product.md]

A ratio above 1 means that the program is faster than NumPy's product.  The two take turns; each figure is a
median of CPU time, the ratio the median of the turns' ratios.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

for variable in ("OPENBLAS_NUM_THREADS", "TMIGRATE_THREADS"):
    os.environ[variable] = "1"
for variable in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
    os.environ.pop(variable, None)

import numpy as np  # noqa: E402
from setting import blas, setting  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cpu"))
import dsl_design_programs as programs  # noqa: E402

TURNS = 15


def medians(ours: Callable[[], object], theirs: Callable[[], object]) -> tuple[float, float, float]:
    """Median CPU seconds of each, taken in turns, and the median of theirs by ours."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(TURNS):
        for call, found in zip((ours, theirs), times, strict=True):
            start = time.process_time()
            call()
            found.append(time.process_time() - start)
    ratio = statistics.median(b / a for a, b in zip(*times, strict=True))
    return statistics.median(times[0]), statistics.median(times[1]), ratio


def rows(n: int) -> list[str]:
    random = np.random.default_rng(0)
    a, b = random.random((n, n), np.float32), random.random((n, n), np.float32)
    out = np.zeros((n, n), np.float32)
    calls: dict[str, Callable[[], object]] = {
        "matmul": lambda: programs.matmul(a, b),
        "matrix_mul_tile": lambda: programs.matrix_mul_tile(a, b, out),
        "conv2d": lambda: programs.conv2d(b, a),
    }
    found = []
    for name, call in calls.items():
        result = call()
        np.testing.assert_allclose(out if result is None else result, a @ b, rtol=1e-3, err_msg=name)
        ours, theirs, ratio = medians(call, lambda: a @ b)
        found.append(f"| {name} | {n} | {ours * 1e3:.2f} | {theirs * 1e3:.2f} | {ratio:.2f} |")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("sizes", type=int, nargs="*", default=[256, 512, 1024], help="rows of the matrices")
    parser.add_argument("--write", type=Path, help="also write the table, with a heading, to this file")
    options = parser.parse_args()
    lines = ["| program | size | ms | NumPy ms | ratio |", "|---|---|---|---|---|"]
    for n in options.sizes:
        lines += rows(n)
        print("\n".join(lines[-3:]), flush=True)
    if options.write:
        title = "# The products of the design page against NumPy"
        what = "`python tests/bench/dsl_product.py`, float32, one thread, medians of CPU time."
        options.write.write_text(f"{title}\n\n{what}\n\n{setting(blas())}\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
