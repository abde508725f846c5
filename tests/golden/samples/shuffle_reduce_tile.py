"""The kernels of shuffle_reduce.cu, each at the highest level shown equivalent.  Written by tmigrate."""

from __future__ import annotations

from tmigrate.tilelang import (
    Ptr,
    atomic_add,
    blockDim,
    blockIdx,
    gridDim,
    i32,
    shared,
    shfl_down_sync,
    shfl_sync,
    shfl_xor_sync,
    step,
    syncthreads,
    threadIdx,
    tile_function,
    tile_kernel,
    truncdiv,
    truncrem,
    u32,
)

__source__ = "shuffle_reduce.cu"

INT_MIN: i32 = -2147483648


@tile_function(level="thread")
def warp_sum(value: i32) -> i32:  # shuffle_reduce.cu:21
    offset: i32 = truncdiv(i32(32), 2)  # shuffle_reduce.cu:22
    while offset > 0:
        lane_value: i32 = shfl_down_sync(4294967295, value, i32(u32(offset)), 32)  # shuffle_reduce.cu:23
        value += lane_value
        with step:
            offset = truncdiv(offset, 2)  # shuffle_reduce.cu:22
    return value  # shuffle_reduce.cu:25


@tile_function(level="thread")
def block_sum(value: i32) -> i32:  # shuffle_reduce.cu:38
    sums = shared(i32, 32)  # shuffle_reduce.cu:39
    lane: i32 = i32(truncrem(threadIdx.x, 32))  # shuffle_reduce.cu:40
    warp: i32 = i32(truncdiv(threadIdx.x, 32))  # shuffle_reduce.cu:41
    result: i32 = warp_sum(value)  # shuffle_reduce.cu:43
    value = result
    if lane == 0:  # shuffle_reduce.cu:44
        sums[warp] = value
    syncthreads()  # shuffle_reduce.cu:45
    value = sums[lane] if threadIdx.x < truncdiv(blockDim.x, 32) else 0  # shuffle_reduce.cu:47
    if warp == 0:  # shuffle_reduce.cu:48
        result_1: i32 = warp_sum(value)
        value = result_1
    return value  # shuffle_reduce.cu:49


@tile_kernel(level="thread", symbol="_Z7sum_allPKiPii")
def sum_all(in_: Ptr[i32], total: Ptr[i32], n: i32):  # shuffle_reduce.cu:52
    sum_: i32 = 0  # shuffle_reduce.cu:53
    i: i32 = i32(blockIdx.x * blockDim.x + threadIdx.x)  # shuffle_reduce.cu:54
    while i < n:
        sum_ += in_[i]  # shuffle_reduce.cu:55
        with step:
            i = i32(u32(i) + blockDim.x * gridDim.x)  # shuffle_reduce.cu:54
    result: i32 = block_sum(sum_)  # shuffle_reduce.cu:57
    sum_ = result
    if threadIdx.x == 0:  # shuffle_reduce.cu:58
        atomic_add(total, sum_)


@tile_function(level="thread")
def warp_max(value: i32) -> i32:  # shuffle_reduce.cu:29
    offset: i32 = 16  # shuffle_reduce.cu:30
    while offset > 0:
        kept: i32 = value  # shuffle_reduce.cu:31
        lane_value: i32 = shfl_xor_sync(4294967295, value, offset, 32)
        value = max(kept, lane_value)
        with step:
            offset >>= 1  # shuffle_reduce.cu:30
    return value  # shuffle_reduce.cu:33


@tile_kernel(level="thread", symbol="_Z15below_group_maxPKiPiS1_i")
def below_group_max(in_: Ptr[i32], out: Ptr[i32], first_of_group: Ptr[i32], n: i32):  # shuffle_reduce.cu:64
    i: i32 = i32(blockIdx.x * blockDim.x + threadIdx.x)  # shuffle_reduce.cu:65
    value: i32 = in_[i] if i < n else INT_MIN  # shuffle_reduce.cu:66
    result: i32 = warp_max(value)  # shuffle_reduce.cu:67
    largest: i32 = result
    lane_value: i32 = shfl_sync(4294967295, value, 0, 32)  # shuffle_reduce.cu:68
    first: i32 = lane_value
    if i < n:  # shuffle_reduce.cu:69
        out[i] = largest - value  # shuffle_reduce.cu:70
        if truncrem(i, 32) == 31 or i == n - 1:  # shuffle_reduce.cu:71
            first_of_group[truncdiv(i, 32)] = first
