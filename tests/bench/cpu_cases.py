"""The kernels of cpu_backend.py: in the DSL, in C by hand, some in OpenCL C.

The hand-written versions of thread-level kernels are loops over blocks and threads split at the barriers; the
guards are loop bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Case:
    """One kernel: DSL text, C texts of `void hand(...)`, the launch, and arguments for all.

    Of several texts by hand the fastest counts.  `opencl` has `kernel void k(...)` where PoCL is an anchor.
    """

    name: str
    dsl: str
    hands: tuple[str, ...]
    grid: tuple[int, ...]
    block: tuple[int, ...]
    arguments: Callable[[], list[Any]]
    work: float  # in units of 1e9
    unit: str
    opencl: str = ""


def floats(*shape: int) -> Array:
    """Random numbers that begin at a multiple of 64 bytes: else where they lie would decide some ratios."""
    values = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    space = np.empty(values.nbytes + 64, np.uint8)
    begin = -space.ctypes.data % 64
    aligned = space[begin : begin + values.nbytes].view(np.float32).reshape(shape)
    aligned[...] = values
    return aligned


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
        (
            """
void hand(int n, float a, const float *restrict x, float *restrict y) {
  for (long i = 0; i < n; i++) y[i] = a * x[i] + y[i];
}
""",
            """
void hand(int n, float a, const float *restrict x, float *restrict y) {
  for (long first = 0; first < n; first += 1024)
    for (long i = first; i < (first + 1024 < n ? first + 1024 : n); i++) y[i] = a * x[i] + y[i];
}
""",
        ),
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
        (
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
            """
void hand(int h, int w, float r, const float *restrict a, float *restrict b) {
  for (long x = 0; x < w; x++) b[x] = a[x], b[(h - 1L) * w + x] = a[(h - 1L) * w + x];
  for (long y = 1; y < h - 1; y++) b[y * w] = a[y * w], b[y * w + w - 1] = a[y * w + w - 1];
  for (long first = 1; first < w - 1; first += 256)
    for (long y = 1; y < h - 1; y++) {
      const float *p = a + y * w;
      float *q = b + y * w;
      for (long x = first; x < (first + 256 < w - 1 ? first + 256 : w - 1); x++)
        q[x] = p[x] + r * (p[x - 1] + p[x + 1] + p[x - w] + p[x + w] - 4.0f * p[x]);
    }
}
""",
        ),
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
        (
            """
void hand(int h, int w, const float *restrict a, float *restrict b) {
  for (long x = 0; x < w; x++)
    for (long y = 0; y < h; y++) b[x * h + y] = a[y * w + x];
}
""",
            """
void hand(int h, int w, const float *restrict a, float *restrict b) {
  for (long y0 = 0; y0 < h; y0 += 32)
    for (long x0 = 0; x0 < w; x0 += 32)
      for (long x = x0; x < (x0 + 32 < w ? x0 + 32 : w); x++)
        for (long y = y0; y < (y0 + 32 < h ? y0 + 32 : h); y++) b[x * h + y] = a[y * w + x];
}
""",
        ),
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
        (
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
        ),
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
        (
            """
void hand(int h, int w, const float *restrict a, float *restrict b) {
  for (long x = 0; x < w; x++) b[x] = 0;
  for (long y = 0; y < h; y++)
    for (long x = 0; x < w; x++) b[x] += a[y * w + x];
}
""",
        ),
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
        (
            """
void hand(int n, float a, const float *restrict x, float *restrict y) {
  for (long i = 0; i < n; i++) y[i] = a * x[i] + y[i];
}
""",
        ),
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
        (
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
        ),
        (24, 24),
        (16, 16),
        lambda: [384, floats(384, 384), floats(384, 384), floats(384, 384)],
        2e-9 * 384**3,
        "GFLOP/s",
        """
kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void k(int n, global const float *restrict a, global const float *restrict b, global float *restrict c) {
  local float s[16][16], t[16][16];
  const int tx = get_local_id(0), ty = get_local_id(1);
  const int row = get_group_id(1) * 16 + ty, col = get_group_id(0) * 16 + tx;
  float total = 0;
  for (int q = 0; q < n / 16; q++) {
    s[ty][tx] = a[row * n + q * 16 + tx];
    t[ty][tx] = b[(q * 16 + ty) * n + col];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int p = 0; p < 16; p++) total += s[ty][p] * t[p][tx];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + col] = total;
}
""",
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
        (
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
        ),
        (N // 256,),
        (256,),
        lambda: [N - 5, floats(N), floats(N // 256)],
        1e-9 * N,
        "G threads/s",
        """
kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void k(int n, global const float *restrict x, global float *restrict y) {
  local float s[256];
  const int t = get_local_id(0), i = get_global_id(0);
  s[t] = i < n ? x[i] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int h = get_local_size(0) >> 1; h > 0; h >>= 1) {
    if (t < h) s[t] += s[t + h];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) y[get_group_id(0)] = s[0];
}
""",
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
        (
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
        ),
        (N // 256,),
        (256,),
        lambda: [N, floats(N), floats(N // 32)],
        1e-9 * N,
        "G threads/s",
    ),
]

LARGE = 1 << 24
_NAMED = {case.name: case for case in CASES}
SCALED = [
    replace(
        _NAMED["saxpy, lifted"],
        name="saxpy of 16M, lifted",
        arguments=lambda: [LARGE, 0.5, floats(LARGE), floats(LARGE)],
        work=12e-9 * LARGE,
    ),
    _NAMED["tiled product, threads"],
]
"""What runs on two threads of the pool as well: bound by memory, and bound by arithmetic."""
