"""The kernels of matmul_shared.cu, each at the highest level shown equivalent.  Written by tmigrate."""

from __future__ import annotations

from tmigrate.tilelang import (
    Ptr,
    Tensor,
    assume,
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

__source__ = "matmul_shared.cu"

TILE: i32 = 16


@tile_kernel(symbol="_Z12matmul_plainPKfS0_Pfiii")
def matmul_plain(  # matmul_shared.cu:21
    A: Tensor[f32, M, K],
    B: Tensor[f32, K, N],
    C: Tensor[f32, M, N],
    M: i32,
    N: i32,
    K: i32,
):
    assume(i32(gridDim.x * blockDim.x) >= N)
    assume(i32(gridDim.y * blockDim.y) >= M)
    assume(gridDim.z * blockDim.z == 1)
    for row in parallel(range(M)):  # matmul_shared.cu:25
        for col in parallel(range(N)):
            C[row, col] = sum(A[row, k] * B[k, col] for k in range(K))  # matmul_shared.cu:29


@tile_kernel(level="thread", symbol="_Z13matmul_sharedPKfS0_Pfiii")
def matmul_shared(A: Ptr[f32], B: Ptr[f32], C: Ptr[f32], M: i32, N: i32, K: i32):  # matmul_shared.cu:34
    tile_a = shared(f32, 16, 16)  # matmul_shared.cu:36
    tile_b = shared(f32, 16, 16)  # matmul_shared.cu:37
    tx: i32 = i32(threadIdx.x)  # matmul_shared.cu:39
    ty: i32 = i32(threadIdx.y)  # matmul_shared.cu:40
    row: i32 = i32(blockIdx.y * u32(TILE) + u32(ty))  # matmul_shared.cu:41
    col: i32 = i32(blockIdx.x * u32(TILE) + u32(tx))  # matmul_shared.cu:42
    sum_: f32 = 0.0  # matmul_shared.cu:44
    for start in range(0, K, 16):  # matmul_shared.cu:45
        tile_a[ty, tx] = A[row * K + start + tx] if row < M and start + tx < K else 0.0  # matmul_shared.cu:46
        tile_b[ty, tx] = B[(start + ty) * N + col] if start + ty < K and col < N else 0.0  # matmul_shared.cu:47
        syncthreads()  # matmul_shared.cu:48
        for k in range(TILE):  # matmul_shared.cu:50
            sum_ += tile_a[ty, k] * tile_b[k, tx]  # matmul_shared.cu:51
        syncthreads()  # matmul_shared.cu:53
    if row < M and col < N:  # matmul_shared.cu:56
        C[row * N + col] = sum_  # matmul_shared.cu:57
