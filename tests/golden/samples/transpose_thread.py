"""The kernels of transpose.cu, thread by thread, as the original has them.  Written by tmigrate."""

from __future__ import annotations

from tmigrate.tilelang import (
    Ptr,
    blockDim,
    blockIdx,
    i32,
    shared,
    syncthreads,
    threadIdx,
    tile_kernel,
    u32,
)

__source__ = "transpose.cu"

TILE: i32 = 32


@tile_kernel(level="thread", symbol="_Z15transpose_plainPKiPiii")
def transpose_plain(in_: Ptr[i32], out: Ptr[i32], width: i32, height: i32):  # transpose.cu:21
    x: i32 = i32(blockIdx.x * blockDim.x + threadIdx.x)  # transpose.cu:22
    y: i32 = i32(blockIdx.y * blockDim.y + threadIdx.y)  # transpose.cu:23
    if x < width and y < height:  # transpose.cu:24
        out[x * height + y] = in_[y * width + x]  # transpose.cu:25


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
