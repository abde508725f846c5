"""The kernels of histogram.cu, each at the highest level shown equivalent.  Written by tmigrate."""

from __future__ import annotations

from tmigrate.tilelang import (
    Ptr,
    address,
    atomic_add,
    blockDim,
    blockIdx,
    gridDim,
    i32,
    shared,
    step,
    syncthreads,
    threadIdx,
    tile_kernel,
    u8,
    u32,
)

__source__ = "histogram.cu"

BINS: i32 = 256


@tile_kernel(level="thread", symbol="_Z16histogram_globalPKhPji")
def histogram_global(data: Ptr[u8], bins: Ptr[u32], n: i32):  # histogram.cu:21
    i: i32 = i32(blockIdx.x * blockDim.x + threadIdx.x)  # histogram.cu:22
    if i < n:  # histogram.cu:23
        atomic_add(bins + i32(data[i]), 1)  # histogram.cu:24


@tile_kernel(level="thread", symbol="_Z16histogram_sharedPKhPji")
def histogram_shared(data: Ptr[u8], bins: Ptr[u32], n: i32):  # histogram.cu:29
    local_ = shared(u32, 256)  # histogram.cu:30
    b: i32 = i32(threadIdx.x)  # histogram.cu:31
    while b < BINS:
        local_[b] = 0  # histogram.cu:32
        with step:
            b = i32(u32(b) + blockDim.x)  # histogram.cu:31
    syncthreads()  # histogram.cu:34
    i: i32 = i32(blockIdx.x * blockDim.x + threadIdx.x)  # histogram.cu:36
    while i < n:
        atomic_add(address(local_[i32(data[i])]), 1)  # histogram.cu:37
        with step:
            i = i32(u32(i) + gridDim.x * blockDim.x)  # histogram.cu:36
    syncthreads()  # histogram.cu:39
    b_1: i32 = i32(threadIdx.x)  # histogram.cu:41
    while b_1 < BINS:
        if local_[b_1] != 0:  # histogram.cu:42
            atomic_add(bins + b_1, local_[b_1])  # histogram.cu:43
        with step:
            b_1 = i32(u32(b_1) + blockDim.x)  # histogram.cu:41
