"""Kernels of the tests, in a file of their own as a user writes them."""

from __future__ import annotations

from tmigrate.tilelang import (
    Ptr,
    Tensor,
    address,
    assume,
    atomic_add,
    blockDim,
    blockIdx,
    device,
    dims,
    exp,
    f32,
    f64,
    float2,
    gridDim,
    i32,
    local,
    map_reduce,
    parallel,
    parallel_for,
    shared,
    softmax,
    sqrt,
    step,
    syncthreads,
    threadIdx,
    tile_function,
    tile_kernel,
    tile_struct,
    truncdiv,
    u8,
    u32,
)

M, N, K = dims("M N K")

SCALE: f32 = 0.5
weights = device(f32, 4)


@tile_struct
class Particle:
    position: float2
    mass: f32
    alive: u8


@tile_function
def scaled(x: f32) -> f32:
    return x * SCALE


@tile_kernel
def use_all_of_the_file(p: Tensor[Particle, N], y: Tensor[f32, N]):
    for i in parallel(range(N)):
        if p[i].alive != 0:
            y[i] = scaled(p[i].mass) + weights[i % 4] + p[i].position.x
            p[i].position.y += 1.0


@tile_kernel
def total(x: Tensor[f64, N]) -> f64:
    result: f64 = 0.0
    for i in range(N):
        result += x[i]
    return result


@tile_kernel
def histogram(x: Tensor[i32, N], h: Tensor[i32, K]):
    for i in range(N):
        atomic_add(address(h[x[i]]), 1)


@tile_kernel
def sugar(A: Tensor[f32, M, K], y: Tensor[f32, M]):
    for i in parallel_for(M):
        y[i] = map_reduce(lambda k: A[i, k] * 2.0, range(K), "max")  # noqa: B023


@tile_kernel
def control(x: Tensor[i32, N], y: Tensor[i32, N]):
    """A while with a step, continue, break, else, local arrays."""
    for i in range(N):
        a = local(i32, 4)
        a[0] = x[i]
        n: i32 = 0
        k: i32 = 0
        while k < 20:
            if k % 3 == 0:
                continue
            if k > a[0]:
                break
            else:
                n += truncdiv(x[i], k) * k
            with step:
                k += 2
        y[i] = n


@tile_kernel(level="thread")
def block_sums(x: Ptr[f32], y: Ptr[f32], n: i32):
    tile = shared(f32, 64)
    i: i32 = i32(blockIdx.x * blockDim.x + threadIdx.x)
    tile[threadIdx.x] = x[i] if i < n else 0.0
    syncthreads()
    s: i32 = 32
    while s > 0:
        if i32(threadIdx.x) < s:
            tile[threadIdx.x] = tile[threadIdx.x] + tile[i32(threadIdx.x) + s]
        syncthreads()
        with step:
            s = s >> 1
    if threadIdx.x == 0:
        y[blockIdx.x] = tile[0]


@tile_kernel(level="thread")
def saxpy_thread(n: i32, a: f32, x: Ptr[f32], y: Ptr[f32]):
    i: i32 = i32(blockIdx.x * blockDim.x + threadIdx.x)
    if i < n:
        y[i] = a * x[i] + y[i]


@tile_kernel
def saxpy(n: i32, a: f32, x: Tensor[f32, n], y: Tensor[f32, n]):  # noqa: F821
    assume(gridDim.x * blockDim.x >= u32(n))
    for i in parallel(range(n)):
        y[i] = a * x[i] + y[i]


@tile_kernel(level="tensor")
def layer(x: Tensor[f32, M, K], w: Tensor[f32, K, N], b: Tensor[f32, N]) -> Tensor[f32, M, N]:
    h = x @ w + b
    return softmax(h * 0.5, dim=-1) / (1.0 + exp(-h))


@tile_kernel(level="tensor")
def normalised(x: Tensor[f32, M, K]) -> Tensor[f32, K, M]:
    centred = x - x.mean(dim=1, keepdim=True)
    spread = (centred * centred).mean(dim=1, keepdim=True)
    return (centred / sqrt(spread + 0.00001)).T


@tile_kernel(level="tensor")
def shapes(x: Tensor[i32, 6, 4]) -> Tensor[i32, 3, 8]:
    return x.reshape(8, 3).T + x.reshape(3, 8) * 2 - max(x, dim=1).reshape(3, 2).sum(dim=1, keepdim=True)
