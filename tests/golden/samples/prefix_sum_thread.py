"""The kernels of prefix_sum.cu, thread by thread, as the original has them.  Written by tmigrate."""

from __future__ import annotations

from tmigrate.tilelang import (
    Ptr,
    blockDim,
    blockIdx,
    i32,
    shared,
    step,
    syncthreads,
    threadIdx,
    tile_kernel,
    u32,
)

__source__ = "prefix_sum.cu"

BLOCK: i32 = 128


@tile_kernel(level="thread", symbol="_Z11scan_blocksPKiPiS1_i")
def scan_blocks(in_: Ptr[i32], out: Ptr[i32], totals: Ptr[i32], n: i32):  # prefix_sum.cu:22
    buffer = shared(i32, 2, 128)  # prefix_sum.cu:23
    t: i32 = i32(threadIdx.x)  # prefix_sum.cu:24
    i: i32 = i32(blockIdx.x * u32(BLOCK) + u32(t))  # prefix_sum.cu:25
    own: i32 = in_[i] if i < n else 0  # prefix_sum.cu:26
    current: i32 = 0  # prefix_sum.cu:28
    buffer[current, t] = own  # prefix_sum.cu:29
    syncthreads()  # prefix_sum.cu:30
    offset: i32 = 1  # prefix_sum.cu:31
    while offset < BLOCK:
        next: i32 = 1 - current  # prefix_sum.cu:32
        value: i32 = buffer[current, t]  # prefix_sum.cu:33
        if t >= offset:  # prefix_sum.cu:34
            value += buffer[current, t - offset]
        buffer[next, t] = value  # prefix_sum.cu:35
        current = next  # prefix_sum.cu:36
        syncthreads()  # prefix_sum.cu:37
        with step:
            offset *= 2  # prefix_sum.cu:31
    if i < n:  # prefix_sum.cu:40
        out[i] = buffer[current, t] - own
    if t == BLOCK - 1 and totals != 0:  # prefix_sum.cu:41
        totals[blockIdx.x] = buffer[current, t]


@tile_kernel(level="thread", symbol="_Z11add_offsetsPiPKii")
def add_offsets(out: Ptr[i32], offsets: Ptr[i32], n: i32):  # prefix_sum.cu:44
    i: i32 = i32(blockIdx.x * blockDim.x + threadIdx.x)  # prefix_sum.cu:45
    if i < n:  # prefix_sum.cu:46
        out[i] += offsets[blockIdx.x]
