"""The kernels of csr_spmv.cu, each at the highest level shown equivalent.  Written by tmigrate."""

from __future__ import annotations

from tmigrate.tilelang import (
    Ptr,
    blockDim,
    blockIdx,
    dynamic_shared,
    f64,
    gridDim,
    i32,
    shared,
    step,
    syncthreads,
    threadIdx,
    tile_kernel,
    tile_struct,
    u32,
)

__source__ = "csr_spmv.cu"


@tile_struct
class CsrMatrix:
    rows: i32
    row_start: Ptr[i32]
    columns: Ptr[i32]
    values: Ptr[f64]


@tile_kernel(level="thread", symbol="_Z19spmv_thread_per_row9CsrMatrixPKdPd")
def spmv_thread_per_row(A: CsrMatrix, x: Ptr[f64], y: Ptr[f64]):  # csr_spmv.cu:26
    row: i32 = i32(blockIdx.x * blockDim.x + threadIdx.x)  # csr_spmv.cu:27
    if row >= A.rows:  # csr_spmv.cu:28
        return
    sum_: f64 = 0.0  # csr_spmv.cu:29
    for k in range(A.row_start[row], A.row_start[row + 1]):  # csr_spmv.cu:30
        sum_ += A.values[k] * x[A.columns[k]]  # csr_spmv.cu:31
    y[row] = sum_  # csr_spmv.cu:33


@tile_kernel(level="thread", symbol="_Z18spmv_block_per_row9CsrMatrixPKdPd")
def spmv_block_per_row(A: CsrMatrix, x: Ptr[f64], y: Ptr[f64]):  # csr_spmv.cu:37
    partial: Ptr[f64, shared] = dynamic_shared(f64)  # csr_spmv.cu:38
    row: i32 = i32(blockIdx.x)  # csr_spmv.cu:39
    while row < A.rows:
        end: i32 = A.row_start[row + 1]  # csr_spmv.cu:40
        sum_: f64 = 0.0  # csr_spmv.cu:41
        k: i32 = i32(u32(A.row_start[row]) + threadIdx.x)  # csr_spmv.cu:42
        while k < end:
            sum_ += A.values[k] * x[A.columns[k]]  # csr_spmv.cu:43
            with step:
                k = i32(u32(k) + blockDim.x)  # csr_spmv.cu:42
        partial[threadIdx.x] = sum_  # csr_spmv.cu:45
        syncthreads()  # csr_spmv.cu:46
        half: u32 = blockDim.x >> 1  # csr_spmv.cu:47
        while half > 0:
            if threadIdx.x < half:  # csr_spmv.cu:48
                partial[threadIdx.x] += partial[threadIdx.x + half]
            syncthreads()  # csr_spmv.cu:49
            with step:
                half >>= 1  # csr_spmv.cu:47
        if threadIdx.x == 0:  # csr_spmv.cu:51
            y[row] = partial[0]
        syncthreads()  # csr_spmv.cu:52
        with step:
            row = i32(u32(row) + gridDim.x)  # csr_spmv.cu:39
