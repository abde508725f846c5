"""The kernels of jacobi.cu, each at the highest level shown equivalent.  Written by tmigrate."""

from __future__ import annotations

from tmigrate.tilelang import (
    Ptr,
    atomic_max,
    bitcast,
    blockDim,
    blockIdx,
    f32,
    fabs,
    i32,
    threadIdx,
    tile_kernel,
)

__source__ = "jacobi.cu"


@tile_kernel(level="thread", symbol="_Z12jacobi_sweepPKfPfiiPi")
def jacobi_sweep(  # jacobi.cu:20
    old_grid: Ptr[f32],
    new_grid: Ptr[f32],
    rows: i32,
    cols: i32,
    largest_change: Ptr[i32],
):
    col: i32 = i32(blockIdx.x * blockDim.x + threadIdx.x + 1)  # jacobi.cu:22
    row: i32 = i32(blockIdx.y * blockDim.y + threadIdx.y + 1)  # jacobi.cu:23
    if row >= rows - 1 or col >= cols - 1:  # jacobi.cu:24
        return
    at_: i32 = row * cols + col  # jacobi.cu:26
    mean: f32 = 0.25 * (old_grid[at_ - cols] + old_grid[at_ + cols] + old_grid[at_ - 1] + old_grid[at_ + 1])  # jacobi.cu:27
    change: f32 = fabs(mean - old_grid[at_])  # jacobi.cu:29
    new_grid[at_] = mean  # jacobi.cu:30
    atomic_max(largest_change, bitcast(i32, change))  # jacobi.cu:31
