"""The kernels of transpose.cu, each at the highest level shown equivalent.  Written by tmigrate."""

from __future__ import annotations

from tmigrate.tilelang import (
    Ptr,
    Tensor,
    assume,
    blockDim,
    blockIdx,
    gridDim,
    i32,
    parallel,
    shared,
    syncthreads,
    threadIdx,
    tile_kernel,
    u32,
)

__source__ = "transpose.cu"

TILE: i32 = 32


@tile_kernel(symbol="_Z15transpose_plainPKiPiii")
def transpose_plain(  # transpose.cu:21
    in_: Tensor[i32, height, width],
    out: Tensor[i32, width, height],
    width: i32,
    height: i32,
):
    assume(i32(gridDim.x * blockDim.x) >= width)
    assume(i32(gridDim.y * blockDim.y) >= height)
    assume(gridDim.z * blockDim.z == 1)
    for y in parallel(range(height)):  # transpose.cu:25
        for x in parallel(range(width)):
            out[x, y] = in_[y, x]


@tile_kernel(level="thread", symbol="_Z15transpose_tiledPKiPiii")
def transpose_tiled(in_: Ptr[i32], out: Ptr[i32], width: i32, height: i32):  # transpose.cu:31
    tile = shared(i32, 32, 33)  # transpose.cu:33
    x: i32 = i32(blockIdx.x * u32(TILE) + threadIdx.x)  # transpose.cu:35
    y: i32 = i32(blockIdx.y * u32(TILE) + threadIdx.y)  # transpose.cu:36
    for row in range(0, TILE, 8):  # transpose.cu:37
        if x < width and y + row < height:  # transpose.cu:38
            tile[threadIdx.y + u32(row), threadIdx.x] = in_[(y + row) * width + x]  # transpose.cu:39
    syncthreads()  # transpose.cu:42
    x = i32(blockIdx.y * u32(TILE) + threadIdx.x)  # transpose.cu:44
    y = i32(blockIdx.x * u32(TILE) + threadIdx.y)  # transpose.cu:45
    for row_1 in range(0, TILE, 8):  # transpose.cu:46
        if x < height and y + row_1 < width:  # transpose.cu:47
            out[(y + row_1) * height + x] = tile[threadIdx.x, threadIdx.y + u32(row_1)]  # transpose.cu:48
