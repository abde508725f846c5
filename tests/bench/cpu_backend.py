"""Emitted C against C written by hand for the same kernel, on one thread: prints one table.

    python tests/bench/cpu_backend.py [--write docs/bench/cpu_backend.md] [--seconds 0.5] [--only NAME]

A ratio above 1 means that the emitted code is faster.  The two take turns in one process; each figure is the
least CPU time of all turns.  The hand-written versions of thread-level kernels are loops over blocks and
threads split at the barriers, with the guards as loop bounds.
"""

from __future__ import annotations

import argparse
import ctypes
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tmigrate.tilelang.runtime.toolchain import compile_c, find_compilers
from tmigrate.tilelang.targets.cpu.build import NATIVE_FLAGS, BuiltObject, build_module
from tmigrate.tilelang.targets.cpu.launch import OK, prepare
from tmigrate.tilelang.targets.cpu.options import EmitOptions, FloatFunctions
from tmigrate.tilelang.text.parser import parse_module

HEAD = "from __future__ import annotations\n\nfrom tmigrate.tilelang import *\n\n\n"
Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Case:
    """One kernel: DSL text, C text of `void hand(...)`, the launch, and arguments for both."""

    name: str
    dsl: str
    hand: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    arguments: Callable[[], list[Any]]
    work: float  # in units of 1e9
    unit: str


def floats(*shape: int) -> Array:
    return np.random.default_rng(1).standard_normal(shape).astype(np.float32)


N = 1 << 20
SIDE = 1024
CASES = [
    Case(
        "saxpy, lifted",
        """
@tile_kernel
def k(n: i32, a: f32, x: Tensor[f32, n], y: Tensor[f32, n]):
    for i in parallel(range(n)):
        y[i] = a * x[i] + y[i]
""",
        """
void hand(int n, float a, const float *restrict x, float *restrict y) {
  for (long i = 0; i < n; i++) y[i] = a * x[i] + y[i];
}
""",
        (1,),
        (1,),
        lambda: [N, 0.5, floats(N), floats(N)],
        12e-9 * N,
        "GB/s",
    ),
    Case(
        "5-point stencil, lifted",
        """
@tile_kernel
def k(h: i32, w: i32, r: f32, a: Tensor[f32, h, w], b: Tensor[f32, h, w]):
    for y in parallel(range(h)):
        for x in parallel(range(w)):
            if x == 0 or x == w - 1 or y == 0 or y == h - 1:
                b[y, x] = a[y, x]
            else:
                row: f32 = a[y, x - 1] + a[y, x + 1]
                b[y, x] = a[y, x] + r * (row + a[y - 1, x] + a[y + 1, x] - 4.0 * a[y, x])
""",
        """
void hand(int h, int w, float r, const float *restrict a, float *restrict b) {
  for (long x = 0; x < w; x++) b[x] = a[x], b[(h - 1L) * w + x] = a[(h - 1L) * w + x];
  for (long y = 1; y < h - 1; y++) {
    const float *p = a + y * w;
    float *q = b + y * w;
    q[0] = p[0], q[w - 1] = p[w - 1];
    for (long x = 1; x < w - 1; x++)
      q[x] = p[x] + r * (p[x - 1] + p[x + 1] + p[x - w] + p[x + w] - 4.0f * p[x]);
  }
}
""",
        (1,),
        (1,),
        lambda: [SIDE, SIDE, 0.1, floats(SIDE, SIDE), floats(SIDE, SIDE)],
        8e-9 * SIDE * SIDE,
        "GB/s",
    ),
    Case(
        "transpose, lifted",
        """
@tile_kernel
def k(h: i32, w: i32, a: Tensor[f32, h, w], b: Tensor[f32, w, h]):
    for y in parallel(range(h)):
        for x in parallel(range(w)):
            b[x, y] = a[y, x]
""",
        """
void hand(int h, int w, const float *restrict a, float *restrict b) {
  for (long y0 = 0; y0 < h; y0 += 32)
    for (long x0 = 0; x0 < w; x0 += 32)
      for (long x = x0; x < (x0 + 32 < w ? x0 + 32 : w); x++)
        for (long y = y0; y < (y0 + 32 < h ? y0 + 32 : h); y++) b[x * h + y] = a[y * w + x];
}
""",
        (1,),
        (1,),
        lambda: [SIDE, SIDE, floats(SIDE, SIDE), floats(SIDE, SIDE)],
        8e-9 * SIDE * SIDE,
        "GB/s",
    ),
    Case(
        "row sums, lifted",
        """
@tile_kernel
def k(h: i32, w: i32, a: Tensor[f32, h, w], b: Tensor[f32, h]):
    for y in parallel(range(h)):
        b[y] = sum(a[y, x] for x in range(w))
""",
        """
void hand(int h, int w, const float *restrict a, float *restrict b) {
  for (long y = 0; y < h; y++) {
    float lanes[16] = {0}, sum = 0;
    long x = 0;
    for (; x + 16 <= w; x += 16)
      for (int l = 0; l < 16; l++) lanes[l] += a[y * w + x + l];
    for (int l = 0; l < 16; l++) sum += lanes[l];
    for (; x < w; x++) sum += a[y * w + x];
    b[y] = sum;
  }
}
""",
        (1,),
        (1,),
        lambda: [SIDE, SIDE, floats(SIDE, SIDE), floats(SIDE)],
        4e-9 * SIDE * SIDE,
        "GB/s",
    ),
    Case(
        "column sums, lifted",
        """
@tile_kernel
def k(h: i32, w: i32, a: Tensor[f32, h, w], b: Tensor[f32, w]):
    for x in parallel(range(w)):
        b[x] = sum(a[y, x] for y in range(h))
""",
        """
void hand(int h, int w, const float *restrict a, float *restrict b) {
  for (long x = 0; x < w; x++) b[x] = 0;
  for (long y = 0; y < h; y++)
    for (long x = 0; x < w; x++) b[x] += a[y * w + x];
}
""",
        (1,),
        (1,),
        lambda: [SIDE, SIDE, floats(SIDE, SIDE), floats(SIDE)],
        4e-9 * SIDE * SIDE,
        "GB/s",
    ),
    Case(
        "saxpy, threads",
        """
@tile_kernel(level="thread")
def k(n: i32, a: f32, x: Ptr[f32], y: Ptr[f32]):
    i: i32 = i32(blockIdx.x * blockDim.x + threadIdx.x)
    if i < n:
        y[i] = a * x[i] + y[i]
""",
        """
void hand(int n, float a, const float *restrict x, float *restrict y) {
  for (long i = 0; i < n; i++) y[i] = a * x[i] + y[i];
}
""",
        (N // 256,),
        (256,),
        lambda: [N - 5, 0.5, floats(N), floats(N)],
        12e-9 * N,
        "GB/s",
    ),
    Case(
        "tiled product, threads",
        """
@tile_kernel(level="thread")
def k(n: i32, a: Ptr[f32], b: Ptr[f32], c: Ptr[f32]):
    s = shared(f32, 16, 16)
    t = shared(f32, 16, 16)
    tx: i32 = i32(threadIdx.x)
    ty: i32 = i32(threadIdx.y)
    row: i32 = i32(blockIdx.y) * 16 + ty
    col: i32 = i32(blockIdx.x) * 16 + tx
    total: f32 = 0.0
    for q in range(0, n // 16):
        s[ty, tx] = a[row * n + q * 16 + tx]
        t[ty, tx] = b[(q * 16 + ty) * n + col]
        syncthreads()
        for p in range(0, 16):
            total = total + s[ty, p] * t[p, tx]
        syncthreads()
    c[row * n + col] = total
""",
        """
void hand(int n, const float *restrict a, const float *restrict b, float *restrict c) {
  for (long by = 0; by < n / 16; by++)
    for (long bx = 0; bx < n / 16; bx++) {
      _Alignas(64) float s[16][16], t[16][16], total[16][16];
      for (int y = 0; y < 16; y++)
        for (int x = 0; x < 16; x++) total[y][x] = 0;
      for (long q = 0; q < n / 16; q++) {
        for (int y = 0; y < 16; y++)
          for (int x = 0; x < 16; x++) {
            s[y][x] = a[(by * 16 + y) * n + q * 16 + x];
            t[y][x] = b[(q * 16 + y) * n + bx * 16 + x];
          }
        for (int y = 0; y < 16; y++) {
          typedef float row __attribute__((vector_size(64)));
          row sum = *(row *)total[y];
          for (int p = 0; p < 16; p++) sum += s[y][p] * *(row *)t[p];
          *(row *)total[y] = sum;
        }
      }
      for (int y = 0; y < 16; y++)
        for (int x = 0; x < 16; x++) c[(by * 16 + y) * n + bx * 16 + x] = total[y][x];
    }
}
""",
        (24, 24),
        (16, 16),
        lambda: [384, floats(384, 384), floats(384, 384), floats(384, 384)],
        2e-9 * 384**3,
        "GFLOP/s",
    ),
    Case(
        "tree reduction, threads",
        """
@tile_kernel(level="thread")
def k(n: i32, x: Ptr[f32], y: Ptr[f32]):
    s = shared(f32, 256)
    t: i32 = i32(threadIdx.x)
    i: i32 = i32(blockIdx.x * blockDim.x + threadIdx.x)
    s[t] = x[i] if i < n else 0.0
    syncthreads()
    h: i32 = i32(blockDim.x) >> 1
    while h > 0:
        if t < h:
            s[t] = s[t] + s[t + h]
        syncthreads()
        with step:
            h = h >> 1
    if t == 0:
        y[i32(blockIdx.x)] = s[0]
""",
        """
void hand(int n, const float *restrict x, float *restrict y) {
  for (long block = 0; block < (n + 255) / 256; block++) {
    float s[256];
    long rest = n - block * 256 < 256 ? n - block * 256 : 256;
    for (long t = 0; t < rest; t++) s[t] = x[block * 256 + t];
    for (long t = rest; t < 256; t++) s[t] = 0;
    for (int h = 128; h > 0; h >>= 1)
      for (int t = 0; t < h; t++) s[t] += s[t + h];
    y[block] = s[0];
  }
}
""",
        (N // 256,),
        (256,),
        lambda: [N - 5, floats(N), floats(N // 256)],
        1e-9 * N,
        "G threads/s",
    ),
    Case(
        "shuffle reduction, threads",
        """
@tile_kernel(level="thread")
def k(n: i32, x: Ptr[f32], y: Ptr[f32]):
    t: i32 = i32(threadIdx.x)
    v: f32 = x[i32(blockIdx.x * blockDim.x) + t]
    h: i32 = 16
    while h > 0:
        o: f32 = shfl_down_sync(u32(4294967295), v, h, 32)
        v = v + o
        with step:
            h = h >> 1
    if t % 32 == 0:
        y[i32(blockIdx.x) * 8 + t // 32] = v
""",
        """
void hand(int n, const float *restrict x, float *restrict y) {
  for (long warp = 0; warp < n / 32; warp++) {
    float v[32], o[32];
    for (int l = 0; l < 32; l++) v[l] = x[warp * 32 + l];
    for (int h = 16; h > 0; h >>= 1) {
      for (int l = 0; l < 32; l++) o[l] = v[l + h < 32 ? l + h : l];
      for (int l = 0; l < 32; l++) v[l] += o[l];
    }
    y[warp] = v[0];
  }
}
""",
        (N // 256,),
        (256,),
        lambda: [N, floats(N), floats(N // 32)],
        1e-9 * N,
        "G threads/s",
    ),
]


def emitted(case: Case) -> BuiltObject:
    return build_module(
        parse_module(HEAD + case.dsl, name="bench"), EmitOptions(functions=FloatFunctions.VECTOR)
    )


def by_hand(case: Case) -> Any:
    text = case.hand.replace("void hand", '__attribute__((visibility("default"))) void hand')
    return ctypes.CDLL(str(compile_c(text, name="hand", flags=NATIVE_FLAGS))).hand


def as_c(arguments: list[Any]) -> list[Any]:
    kinds = {int: ctypes.c_int, float: ctypes.c_float}
    return [
        ctypes.c_void_p(a.ctypes.data) if isinstance(a, np.ndarray) else kinds[type(a)](a) for a in arguments
    ]


def least(run: Callable[[], Any], seconds: float, best: float) -> float:
    """The least CPU time of `run` in about `seconds` of it."""
    spent = 0.0
    while spent < seconds:
        begin = time.process_time()
        run()
        taken = time.process_time() - begin
        spent += taken
        best = min(best, taken)
    return best


def measure(case: Case, seconds: float) -> tuple[float, float]:
    """Least seconds of the emitted and of the hand-written code, after comparing their results."""
    built, hand = emitted(case), by_hand(case)
    ours, theirs = case.arguments(), case.arguments()
    prepared = prepare(built, "k", case.grid, case.block, ours)
    assert prepared.run().status == OK
    hand(*as_c(theirs))
    for one, other in zip(ours, theirs, strict=True):
        if isinstance(one, np.ndarray):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-3, err_msg=case.name)
    times = [1e9, 1e9]
    packed = as_c(theirs)
    for _ in range(5):
        times[0] = least(prepared.run, seconds / 5, times[0])
        times[1] = least(lambda: hand(*packed), seconds / 5, times[1])
    return times[0], times[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", type=Path, help="also write the table, with a heading, to this file")
    parser.add_argument("--seconds", type=float, default=0.5, help="CPU time for a case, about")
    parser.add_argument("--only", default="", help="cases whose name holds this")
    options = parser.parse_args()
    lines = ["| kernel | emitted | by hand | unit | ratio |", "|---|---|---|---|---|"]
    for case in CASES:
        if options.only in case.name:
            ours, theirs = measure(case, options.seconds)
            row = f"{case.work / ours:.2f} | {case.work / theirs:.2f} | {case.unit} | {theirs / ours:.2f}"
            lines.append(f"| {case.name} | {row} |")
            print(lines[-1], flush=True)
    if options.write:
        heading = f"# Emitted C against C by hand\n\n{find_compilers().c.version}, one thread, CPU time.\n\n"
        options.write.write_text(heading + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
