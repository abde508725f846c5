"""The kernels of saxpy.cu, each at the highest level shown equivalent.  Written by tmigrate."""

from __future__ import annotations

from tmigrate.tilelang import (
    Tensor,
    assume,
    blockDim,
    f32,
    gridDim,
    i32,
    parallel,
    tile_kernel,
)

__source__ = "saxpy.cu"


@tile_kernel(symbol="_Z5saxpyifPKfPf")
def saxpy(n: i32, a: f32, x: Tensor[f32, n], y: Tensor[f32, n]):  # saxpy.cu:19
    assume(i32(gridDim.x * blockDim.x) >= n)
    assume(gridDim.y * blockDim.y == 1)
    assume(gridDim.z * blockDim.z == 1)
    for i in parallel(range(n)):  # saxpy.cu:22
        y[i] = a * x[i] + y[i]


@tile_kernel(symbol="_Z17saxpy_grid_strideifPKfPf")
def saxpy_grid_stride(n: i32, a: f32, x: Tensor[f32, n], y: Tensor[f32, n]):  # saxpy.cu:27
    assume(gridDim.y * blockDim.y == 1)
    assume(gridDim.z * blockDim.z == 1)
    for i in parallel(range(n)):  # saxpy.cu:30
        y[i] = a * x[i] + y[i]  # saxpy.cu:31
