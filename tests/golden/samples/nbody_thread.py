"""The kernels of nbody.cu, thread by thread, as the original has them.  Written by tmigrate."""

from __future__ import annotations

from tmigrate.tilelang import (
    Ptr,
    blockDim,
    blockIdx,
    f32,
    float3,
    float4,
    i32,
    rsqrt,
    shared,
    syncthreads,
    threadIdx,
    tile_function,
    tile_kernel,
    u32,
)

__source__ = "nbody.cu"

BLOCK: i32 = 64
SOFTENING: f32 = 0.01


@tile_function(level="thread")
def add_pull(acceleration: float3, position: float4, other: float4) -> float3:  # nbody.cu:22
    dx: f32 = other.x - position.x  # nbody.cu:23
    dy: f32 = other.y - position.y  # nbody.cu:24
    dz: f32 = other.z - position.z  # nbody.cu:25
    distance2: f32 = dx * dx + dy * dy + dz * dz + SOFTENING  # nbody.cu:26
    inverse: f32 = rsqrt(distance2)  # nbody.cu:27
    strength: f32 = other.w * inverse * inverse * inverse  # nbody.cu:28
    acceleration.x += dx * strength  # nbody.cu:29
    acceleration.y += dy * strength  # nbody.cu:30
    acceleration.z += dz * strength  # nbody.cu:31
    return acceleration  # nbody.cu:32


@tile_kernel(level="thread", symbol="_Z10acceleratePK6float4PS_if")
def accelerate(positions: Ptr[float4], velocities: Ptr[float4], n: i32, dt: f32):  # nbody.cu:36
    tile = shared(float4, 64)  # nbody.cu:37
    i: i32 = i32(blockIdx.x * blockDim.x + threadIdx.x)  # nbody.cu:38
    mine: float4 = positions[i] if i < n else float4(0.0, 0.0, 0.0, 0.0)  # nbody.cu:39
    acceleration: float3 = float3(0.0, 0.0, 0.0)  # nbody.cu:40
    for start in range(0, n, 64):  # nbody.cu:42
        j: i32 = i32(u32(start) + threadIdx.x)  # nbody.cu:43
        tile[threadIdx.x] = positions[j] if j < n else float4(0.0, 0.0, 0.0, 0.0)  # nbody.cu:44
        syncthreads()  # nbody.cu:45
        for k in range(BLOCK):  # nbody.cu:46
            acceleration = add_pull(acceleration, mine, tile[k])  # nbody.cu:47
        syncthreads()  # nbody.cu:49
    if i < n:  # nbody.cu:52
        velocities[i].x += acceleration.x * dt  # nbody.cu:53
        velocities[i].y += acceleration.y * dt  # nbody.cu:54
        velocities[i].z += acceleration.z * dt  # nbody.cu:55


@tile_kernel(level="thread", symbol="_Z4moveP6float4PKS_if")
def move(positions: Ptr[float4], velocities: Ptr[float4], n: i32, dt: f32):  # nbody.cu:59
    i: i32 = i32(blockIdx.x * blockDim.x + threadIdx.x)  # nbody.cu:60
    if i < n:  # nbody.cu:61
        position: float4 = positions[i]  # nbody.cu:62
        velocity: float4 = velocities[i]  # nbody.cu:63
        position.x += velocity.x * dt  # nbody.cu:64
        position.y += velocity.y * dt  # nbody.cu:65
        position.z += velocity.z * dt  # nbody.cu:66
        positions[i] = position  # nbody.cu:67
