"""The kernels of reduction_tree.cu, thread by thread, as the original has them.  Written by tmigrate."""

from __future__ import annotations

from tmigrate.tilelang import (
    Ptr,
    blockDim,
    blockIdx,
    dynamic_shared,
    f32,
    fmax,
    i32,
    shared,
    step,
    syncthreads,
    threadIdx,
    tile_kernel,
    truncdiv,
    u32,
)

__source__ = "reduction_tree.cu"


@tile_kernel(level="thread", symbol="_Z10reduce_sumPKfPfi")
def reduce_sum(in_: Ptr[f32], out: Ptr[f32], n: i32):  # reduction_tree.cu:18
    partial: Ptr[f32, shared] = dynamic_shared(f32)  # reduction_tree.cu:19
    t: u32 = threadIdx.x  # reduction_tree.cu:20
    i: i32 = i32(blockIdx.x * (blockDim.x * 2) + threadIdx.x)  # reduction_tree.cu:21
    sum_: f32 = 0.0  # reduction_tree.cu:23
    if i < n:  # reduction_tree.cu:24
        sum_ = in_[i]
    if i + i32(blockDim.x) < n:  # reduction_tree.cu:25
        sum_ += in_[u32(i) + blockDim.x]
    partial[t] = sum_  # reduction_tree.cu:26
    syncthreads()  # reduction_tree.cu:27
    half: u32 = truncdiv(blockDim.x, 2)  # reduction_tree.cu:29
    while half > 0:
        if t < half:  # reduction_tree.cu:30
            partial[t] += partial[t + half]  # reduction_tree.cu:31
        syncthreads()  # reduction_tree.cu:33
        with step:
            half >>= 1  # reduction_tree.cu:29
    if t == 0:  # reduction_tree.cu:35
        out[blockIdx.x] = partial[0]


@tile_kernel(level="thread", symbol="_Z10reduce_maxPKfPfi")
def reduce_max(in_: Ptr[f32], out: Ptr[f32], n: i32):  # reduction_tree.cu:39
    partial: Ptr[f32, shared] = dynamic_shared(f32)  # reduction_tree.cu:40
    t: i32 = i32(threadIdx.x)  # reduction_tree.cu:41
    i: i32 = i32(blockIdx.x * (blockDim.x * 2) + u32(t))  # reduction_tree.cu:42
    best: f32 = in_[i] if i < n else in_[0]  # reduction_tree.cu:44
    if i + i32(blockDim.x) < n:  # reduction_tree.cu:45
        other: f32 = in_[u32(i) + blockDim.x]  # reduction_tree.cu:46
        best = other if other > best else best  # reduction_tree.cu:47
    partial[t] = best  # reduction_tree.cu:49
    syncthreads()  # reduction_tree.cu:50
    half: i32 = i32(truncdiv(blockDim.x, 2))  # reduction_tree.cu:52
    while half > 0:
        if t < half:  # reduction_tree.cu:53
            partial[t] = fmax(partial[t], partial[t + half])  # reduction_tree.cu:54
        syncthreads()  # reduction_tree.cu:56
        with step:
            half = truncdiv(half, 2)  # reduction_tree.cu:52
    if t == 0:  # reduction_tree.cu:58
        out[blockIdx.x] = partial[0]
