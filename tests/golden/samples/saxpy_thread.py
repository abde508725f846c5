"""The kernels of saxpy.cu, thread by thread, as the original has them.  Written by tmigrate."""

from __future__ import annotations

from tmigrate.tilelang import (
    Ptr,
    blockDim,
    blockIdx,
    f32,
    gridDim,
    i32,
    step,
    threadIdx,
    tile_kernel,
)

__source__ = "saxpy.cu"


@tile_kernel(level="thread", symbol="_Z5saxpyifPKfPf")
def saxpy(n: i32, a: f32, x: Ptr[f32], y: Ptr[f32]):  # saxpy.cu:19
    i: i32 = i32(blockIdx.x * blockDim.x + threadIdx.x)  # saxpy.cu:20
    if i < n:  # saxpy.cu:21
        y[i] = a * x[i] + y[i]  # saxpy.cu:22


@tile_kernel(level="thread", symbol="_Z17saxpy_grid_strideifPKfPf")
def saxpy_grid_stride(n: i32, a: f32, x: Ptr[f32], y: Ptr[f32]):  # saxpy.cu:27
    stride: i32 = i32(gridDim.x * blockDim.x)  # saxpy.cu:29
    i: i32 = i32(blockIdx.x * blockDim.x + threadIdx.x)  # saxpy.cu:30
    while i < n:
        y[i] = a * x[i] + y[i]  # saxpy.cu:31
        with step:
            i += stride  # saxpy.cu:30
