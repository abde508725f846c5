"""The kernels of convolution_constant.cu, each at the highest level shown equivalent.  Written by tmigrate."""

from __future__ import annotations

from tmigrate.tilelang import (
    Ptr,
    address,
    atomic_add,
    blockDim,
    blockIdx,
    constant,
    device,
    f32,
    i32,
    threadIdx,
    tile_function,
    tile_kernel,
    u8,
    u32,
)

__source__ = "convolution_constant.cu"

RADIUS: i32 = 2
SIDE: i32 = 5

bias = constant(i32, 1, symbol="bias")  # convolution_constant.cu:23
filter = constant(f32, 25, symbol="filter")  # convolution_constant.cu:22
saturated = device(u32, 1, symbol="saturated")  # convolution_constant.cu:24


@tile_function(level="thread")
def clamp_index(i: i32, n: i32) -> i32:  # convolution_constant.cu:26
    return min(max(i, 0), n - 1)


@tile_kernel(level="thread", symbol="_Z8convolvePKhPhii")
def convolve(in_: Ptr[u8], out: Ptr[u8], width: i32, height: i32):  # convolution_constant.cu:28
    x: i32 = i32(blockIdx.x * blockDim.x + threadIdx.x)  # convolution_constant.cu:29
    y: i32 = i32(blockIdx.y * blockDim.y + threadIdx.y)  # convolution_constant.cu:30
    if x >= width or y >= height:  # convolution_constant.cu:31
        return
    sum_: f32 = f32(bias[0])  # convolution_constant.cu:33
    for dy in range(-RADIUS, RADIUS + 1):  # convolution_constant.cu:34
        for dx in range(-RADIUS, RADIUS + 1):  # convolution_constant.cu:35
            pixel: i32 = i32(in_[clamp_index(y + dy, height) * width + clamp_index(x + dx, width)])  # convolution_constant.cu:36
            sum_ += filter[(dy + RADIUS) * SIDE + dx + RADIUS] * f32(pixel)  # convolution_constant.cu:37
    if sum_ < 0.0 or sum_ > 255.0:  # convolution_constant.cu:41
        atomic_add(address(saturated[0]), 1)  # convolution_constant.cu:42
        sum_ = 0.0 if sum_ < 0.0 else 255.0  # convolution_constant.cu:43
    out[y * width + x] = u8(sum_ + 0.5)  # convolution_constant.cu:45
