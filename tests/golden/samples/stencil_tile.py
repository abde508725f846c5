"""The kernels of stencil.cu, each at the highest level shown equivalent.  Written by tmigrate."""

from __future__ import annotations

from tmigrate.tilelang import (
    Ptr,
    Tensor,
    assume,
    b1,
    blockDim,
    blockIdx,
    f32,
    gridDim,
    i32,
    parallel,
    shared,
    syncthreads,
    threadIdx,
    tile_kernel,
    u32,
)

__source__ = "stencil.cu"

BX: i32 = 16
BY: i32 = 8


@tile_kernel(symbol="_Z13stencil_plainPKfPfiif")
def stencil_plain(  # stencil.cu:23
    in_: Tensor[f32, height, width],
    out: Tensor[f32, height, width],
    width: i32,
    height: i32,
    rate: f32,
):
    assume(i32(gridDim.x * blockDim.x) >= width)
    assume(i32(gridDim.y * blockDim.y) >= height)
    assume(gridDim.z * blockDim.z == 1)
    for y in parallel(range(height)):  # stencil.cu:29
        for x in parallel(range(width)):
            if x == 0 or x == width - 1 or y == 0 or y == height - 1:
                out[y, x] = in_[y, x]  # stencil.cu:30
            else:
                out[y, x] = in_[y, x] + rate * (in_[y, x - 1] + in_[y, x + 1] + in_[y - 1, x] + in_[y + 1, x] - 4.0 * in_[y, x])  # stencil.cu:33


@tile_kernel(level="thread", symbol="_Z13stencil_tiledPKfPfiif")
def stencil_tiled(in_: Ptr[f32], out: Ptr[f32], width: i32, height: i32, rate: f32):  # stencil.cu:39
    tile = shared(f32, 10, 18)  # stencil.cu:41
    x: i32 = i32(blockIdx.x * u32(BX) + threadIdx.x)  # stencil.cu:42
    y: i32 = i32(blockIdx.y * u32(BY) + threadIdx.y)  # stencil.cu:43
    tx: i32 = i32(threadIdx.x + 1)  # stencil.cu:44
    ty: i32 = i32(threadIdx.y + 1)  # stencil.cu:45
    inside: b1 = x < width and y < height  # stencil.cu:46
    if inside:  # stencil.cu:48
        tile[ty, tx] = in_[y * width + x]  # stencil.cu:49
        if threadIdx.x == 0:  # stencil.cu:50
            tile[ty, 0] = in_[y * width + max(x - 1, 0)]
        if threadIdx.x == u32(BX - 1):  # stencil.cu:51
            tile[ty, BX + 1] = in_[y * width + min(x + 1, width - 1)]
        if threadIdx.y == 0:  # stencil.cu:52
            tile[0, tx] = in_[max(y - 1, 0) * width + x]
        if threadIdx.y == u32(BY - 1):  # stencil.cu:53
            tile[BY + 1, tx] = in_[min(y + 1, height - 1) * width + x]
    syncthreads()  # stencil.cu:55
    if not inside:  # stencil.cu:57
        return
    centre: f32 = tile[ty, tx]  # stencil.cu:58
    border: b1 = x == 0 or x == width - 1 or y == 0 or y == height - 1  # stencil.cu:59
    if not border:  # stencil.cu:60
        centre += rate * (tile[ty, tx - 1] + tile[ty, tx + 1] + tile[ty - 1, tx] + tile[ty + 1, tx] - 4.0 * centre)  # stencil.cu:61
    out[y * width + x] = centre  # stencil.cu:64
