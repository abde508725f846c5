"""Matrix product on one thread against NumPy's OpenBLAS, in the same run: prints one table.

    python tests/bench/matrix.py [--write docs/bench/matrix.md] [--double] [--seconds 0.5]

A ratio above 1 means that this library is faster.  The two take turns; each figure is a median of CPU time.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"
for variable in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
    os.environ.pop(variable, None)

import numpy as np  # noqa: E402
from setting import blas, setting  # noqa: E402

from tmigrate.tilelang.libs import matrix  # noqa: E402

SHAPES = [
    (1024, 1024, 1024),
    (1000, 1000, 1000),
    (197, 768, 768),
    (32, 4096, 1024),
    (4096, 64, 64),
    (100, 100, 3000),
    (257, 129, 511),
    (128, 128, 128),
    (100, 100, 100),
    (65, 65, 65),
    (64, 64, 64),
    (33, 33, 33),
    (16, 16, 16),
    (1000, 4, 1000),
    (4, 1000, 1000),
]  # fmt: skip
TRANSPOSED = ("NN", "NT", "TN", "TT")
Array = np.ndarray[Any, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--write", type=Path, help="also write the table, with a heading, to this file")
    parser.add_argument("--double", action="store_true", help="float64 instead of float32")
    parser.add_argument("--seconds", type=float, default=0.5, help="CPU time for a case, about")
    options = parser.parse_args()
    dtype = np.float64 if options.double else np.float32
    columns = " | ".join(f"{t} matmul | C entry | NumPy GFLOP/s" for t in TRANSPOSED)
    lines = [f"| m x n x k | {columns} |", "|---|" + "---|---|---|" * len(TRANSPOSED)]
    ratios: list[float] = []
    for shape in SHAPES:
        cells = []
        for transposed in TRANSPOSED:
            ours, entry, speed = measure(shape, transposed, dtype, options.seconds)
            ratios.append(entry)
            cells.append(f"{ours:.2f} | {entry:.2f} | {speed:.1f}")
        lines.append(f"| {' x '.join(map(str, shape))} | " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    table = "\n".join(lines)
    summary = f"Ratios of the C entry: median {statistics.median(ratios):.2f}, least {min(ratios):.2f}."
    print(f"\n{table}\n\n{summary}")
    if options.write:
        options.write.parent.mkdir(parents=True, exist_ok=True)
        options.write.write_text(f"{heading(np.dtype(dtype).name)}\n{table}\n\n{summary}\n")


def measure(
    shape: tuple[int, int, int], transposed: str, dtype: Any, seconds: float
) -> tuple[float, float, float]:
    """Ratio of ``matmul``, ratio of the C entry called without checks, and NumPy's GFLOP/s."""
    m, n, k = shape
    random = np.random.default_rng(0)
    a, b = (
        random.standard_normal((y, x) if t == "T" else (x, y)).astype(dtype)
        for t, (x, y) in zip(transposed, ((m, k), (k, n)), strict=True)
    )
    a, b = (a.T if transposed[0] == "T" else a), (b.T if transposed[1] == "T" else b)
    out = np.empty((m, n), dtype)
    calls: list[Callable[[], object]] = [
        lambda: np.matmul(a, b, out=out),
        lambda: matrix.matmul(a, b, out, threads=1),
        bound_entry(a, b, out),
    ]
    expected = a @ b
    for call in calls:
        out[:] = np.nan
        call()
        assert np.allclose(out, expected, rtol=1e-3, atol=1e-3 * k**0.5), "wrong product"
    numpy, ours, entry = medians(calls, seconds)
    return numpy / ours, numpy / entry, 2 * m * n * k / numpy / 1e9


def bound_entry(a: Array, b: Array, out: Array) -> Callable[[], object]:
    """A call of the C entry whose arguments are already C values, near to how generated C calls it."""
    library = matrix.load_library()
    entry, real = (
        (library.tm_matmul_f32, ctypes.c_float)
        if out.dtype == np.float32
        else (library.tm_matmul_f64, ctypes.c_double)
    )
    words: list[Any] = [ctypes.c_int64(size) for size in (*out.shape, a.shape[1])]
    for x in (a, b, out):
        words += [ctypes.c_void_p(x.ctypes.data), *(ctypes.c_int64(s // x.itemsize) for s in x.strides)]
    words += [real(1.0), real(0.0), None]
    return lambda: entry(*words)


def medians(calls: list[Callable[[], object]], seconds: float) -> list[float]:
    """Median CPU seconds of each call; they take turns, so that what else the machine does hits all alike."""
    begin = time.process_time()
    calls[0]()
    repeats = max(1, int(0.002 / max(time.process_time() - begin, 1e-6)))
    samples: list[list[float]] = [[] for _ in calls]
    end = time.process_time() + seconds
    while time.process_time() < end or len(samples[0]) < 5:
        for call, taken in zip(calls, samples, strict=True):
            begin = time.process_time()
            for _ in range(repeats):
                call()
            taken.append((time.process_time() - begin) / repeats)
    return [statistics.median(taken) for taken in samples]


def heading(dtype: str) -> str:
    """What was measured, where, and with which versions."""
    return f"""# Matrix product, {dtype}, one thread

`python tests/bench/matrix.py`: ratios against `numpy.matmul(a, b, out=out)` in the same run, medians of CPU
time, taking turns; above 1 this library is faster. N and T: operand as it lies, or transposed. *matmul* is
the Python function with its checks; *C entry* is `tm_matmul` with bound arguments, as generated C calls it
but for the cost of a ctypes call (about a microsecond, which decides the smallest shapes).

{setting(blas())}"""


if __name__ == "__main__":
    main()
