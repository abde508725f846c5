"""The kernels of hello.cu, each at the highest level shown equivalent.  Written by tmigrate."""

from __future__ import annotations

from tmigrate.tilelang import (
    Ptr,
    blockDim,
    blockIdx,
    f64,
    gridDim,
    i32,
    printf,
    threadIdx,
    tile_kernel,
)

__source__ = "hello.cu"


@tile_kernel(level="thread", symbol="_Z5hellov")
def hello():  # hello.cu:18
    printf("Hello, world! This is block %d of %d, thread %d of %d.\n", i32(blockIdx.x), i32(gridDim.x), i32(threadIdx.x), i32(blockDim.x))  # hello.cu:19


@tile_kernel(level="thread", symbol="_Z9roll_callPii")
def roll_call(squares: Ptr[i32], n: i32):  # hello.cu:25
    i: i32 = i32(blockIdx.x * blockDim.x + threadIdx.x)  # hello.cu:26
    if i >= n:  # hello.cu:27
        return
    squares[i] = i * i  # hello.cu:28
    if i == n - 1:  # hello.cu:29
        printf("The last of %d is thread %u of block %u; %.1f %% of the grid had work.\n", n, threadIdx.x, blockIdx.x, 100.0 * f64(n) / f64(gridDim.x * blockDim.x))  # hello.cu:30
