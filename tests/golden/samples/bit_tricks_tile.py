"""The kernels of bit_tricks.cu, each at the highest level shown equivalent.  Written by tmigrate."""

from __future__ import annotations

from tmigrate.tilelang import (
    Tensor,
    assume,
    b1,
    blockDim,
    brev,
    byte_perm,
    clz,
    ffs,
    funnelshift_l,
    gridDim,
    i32,
    i64,
    mulhi,
    parallel,
    popc,
    tile_function,
    tile_kernel,
    truncrem,
    u32,
    u64,
)

__source__ = "bit_tricks.cu"

TRICKS: u32 = 9


@tile_function(level="thread")
def rotate_left(x: u32, by: u32) -> u32:  # bit_tricks.cu:21
    by &= 31  # bit_tricks.cu:22
    return x if by == 0 else x << by | x >> 32 - by  # bit_tricks.cu:23


@tile_function(level="thread")
def apply(trick: i32, x: u32, y: u32) -> u32:  # bit_tricks.cu:26
    result: u32  # bit_tricks.cu:27
    entered: b1 = False  # bit_tricks.cu:28
    if trick == 0:  # bit_tricks.cu:29
        entered = False  # bit_tricks.cu:28
        result = u32(popc(x) + popc(u64(x) << 32 | u64(y)))  # bit_tricks.cu:30
    if trick == 1:  # bit_tricks.cu:32
        entered = False  # bit_tricks.cu:28
        result = u32(clz(i32(x)) * 100 + clz(i64(x)))  # bit_tricks.cu:33
    if trick == 2:  # bit_tricks.cu:35
        entered = False  # bit_tricks.cu:28
        result = u32(ffs(i32(x)))  # bit_tricks.cu:36
    if trick == 3:  # bit_tricks.cu:38
        entered = False  # bit_tricks.cu:28
        result = brev(x)  # bit_tricks.cu:39
    if trick == 4:  # bit_tricks.cu:41
        entered = False  # bit_tricks.cu:28
        result = mulhi(x, y) ^ u32(mulhi(i32(x), i32(y)))  # bit_tricks.cu:42
    if trick == 5:  # bit_tricks.cu:44
        entered = False  # bit_tricks.cu:28
        result = byte_perm(x, y, 20545)  # bit_tricks.cu:45
    if trick == 6:  # bit_tricks.cu:47
        entered = False  # bit_tricks.cu:28
        result = rotate_left(x, y) ^ funnelshift_l(x, y, 7)  # bit_tricks.cu:48
    if trick == 7:  # bit_tricks.cu:50
        entered = True  # bit_tricks.cu:28
        x ^= x >> 1  # bit_tricks.cu:51
    if entered or trick != 0 and trick != 1 and trick != 2 and trick != 3 and trick != 4 and trick != 5 and trick != 6 and trick != 7:  # bit_tricks.cu:53
        result = u32(i32(x) >> i32(truncrem(y, 31)))  # bit_tricks.cu:54
    return result  # bit_tricks.cu:56


@tile_kernel(symbol="_Z6tricksPKjS0_Pji")
def tricks(a: Tensor[u32, n], b: Tensor[u32, n], out: Tensor[u32, TRICKS, n], n: i32):  # bit_tricks.cu:60
    assume(i32(gridDim.x * blockDim.x) >= n)
    assume(i32(gridDim.y * blockDim.y) >= i32(TRICKS))
    assume(gridDim.z * blockDim.z == 1)
    for trick in parallel(range(i32(TRICKS))):  # bit_tricks.cu:64
        for i in parallel(range(n)):
            out[trick, i] = apply(trick, a[i], b[i])
