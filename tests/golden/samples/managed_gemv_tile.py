"""The kernels of managed_gemv.cu, each at the highest level shown equivalent.  Written by tmigrate."""

from __future__ import annotations

from tmigrate.tilelang import (
    Ptr,
    Tensor,
    assume,
    blockDim,
    blockIdx,
    f64,
    gridDim,
    i32,
    parallel,
    threadIdx,
    tile_kernel,
    u64,
)

__source__ = "managed_gemv.cu"


@tile_kernel(level="thread", symbol="_Z4gemvPKdS0_Pdiidd")
def gemv(A: Ptr[f64], x: Ptr[f64], y: Ptr[f64], rows: i32, cols: i32, alpha: f64, beta: f64):  # managed_gemv.cu:19
    row: i32 = i32(blockIdx.x * blockDim.x + threadIdx.x)  # managed_gemv.cu:21
    if row >= rows:  # managed_gemv.cu:22
        return
    element: Ptr[f64] = A + u64(row) * u64(cols)  # managed_gemv.cu:23
    end: Ptr[f64] = element + cols  # managed_gemv.cu:24
    sum_: f64 = 0.0  # managed_gemv.cu:25
    while element != end:  # managed_gemv.cu:26
        old: Ptr[f64] = element  # managed_gemv.cu:27
        element = old + 1
        kept: f64 = old[0]
        old_1: Ptr[f64] = x
        x = old_1 + 1
        sum_ += kept * old_1[0]
    y[row] = alpha * sum_ + beta * y[row]  # managed_gemv.cu:29


@tile_kernel(symbol="_Z15gemv_transposedPKdS0_Pdiidd")
def gemv_transposed(  # managed_gemv.cu:33
    A: Tensor[f64, rows, cols],
    x: Tensor[f64, rows],
    y: Tensor[f64, cols],
    rows: i32,
    cols: i32,
    alpha: f64,
    beta: f64,
):
    assume(i32(gridDim.x * blockDim.x) >= cols)
    assume(gridDim.y * blockDim.y == 1)
    assume(gridDim.z * blockDim.z == 1)
    for col in parallel(range(cols)):  # managed_gemv.cu:37
        y[col] = alpha * sum(A[row, col] * x[row] for row in range(rows)) + beta * y[col]  # managed_gemv.cu:39
