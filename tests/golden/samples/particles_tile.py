"""The kernels of particles.cu, each at the highest level shown equivalent.  Written by tmigrate."""

from __future__ import annotations

from tmigrate.tilelang import (
    Array,
    Ptr,
    Tensor,
    address,
    assume,
    atomic_add,
    b1,
    blockDim,
    blockIdx,
    f32,
    gridDim,
    i16,
    i32,
    parallel,
    threadIdx,
    tile_function,
    tile_kernel,
    tile_struct,
    u8,
    u32,
)

__source__ = "particles.cu"


@tile_struct
class Vec3:
    x: f32
    y: f32
    z: f32


@tile_struct
class Particle:
    position: Vec3
    velocity: Vec3
    mass: f32
    kind: i16
    hits: u8


@tile_struct
class Box:
    low: Vec3
    high: Vec3
    bounce: f32


@tile_struct
class Wind:
    direction: Vec3
    gusts: Array[f32, 4]


@tile_kernel(symbol="_Z7advanceP8Particlei3BoxPK4Windf")
def advance(particles: Tensor[Particle, n], n: i32, box: Box, wind: Tensor[Wind, i32(1)], dt: f32):  # particles.cu:77
    assume(i32(gridDim.x * blockDim.x) >= n)
    assume(gridDim.y * blockDim.y == 1)
    assume(gridDim.z * blockDim.z == 1)
    for i in parallel(range(n)):  # particles.cu:81
        object: Vec3
        force: Vec3  # particles.cu:72
        s: f32 = wind[0].gusts[i32(particles[i].kind)]
        force = Vec3(wind[0].direction.x * s, wind[0].direction.y * s, wind[0].direction.z * s)  # particles.cu:22
        force.y -= 9.81 * particles[i].mass  # particles.cu:73
        object = force  # particles.cu:74
        object2: Vec3  # particles.cu:57
        s2: f32 = dt / particles[i].mass
        object2 = Vec3(object.x * s2, object.y * s2, object.z * s2)  # particles.cu:22
        Vec3_add_result: Vec3
        Vec3_add_result = Vec3(particles[i].velocity.x + object2.x, particles[i].velocity.y + object2.y, particles[i].velocity.z + object2.z)  # particles.cu:21
        particles[i].velocity = Vec3_add_result  # particles.cu:57
        object_1: Vec3  # particles.cu:58
        object_1 = Vec3(particles[i].velocity.x * dt, particles[i].velocity.y * dt, particles[i].velocity.z * dt)  # particles.cu:22
        Vec3_add_result2: Vec3
        Vec3_add_result2 = Vec3(particles[i].position.x + object_1.x, particles[i].position.y + object_1.y, particles[i].position.z + object_1.z)  # particles.cu:21
        particles[i].position = Vec3_add_result2  # particles.cu:58
        result: b1  # particles.cu:62
        low: f32 = box.low.x
        high: f32 = box.high.x
        bounce: f32 = box.bounce
        if particles[i].position.x < low:  # particles.cu:39
            particles[i].position.x = low  # particles.cu:40
            particles[i].velocity.x = -particles[i].velocity.x * bounce  # particles.cu:46
            result = True  # particles.cu:47
        elif particles[i].position.x > high:  # particles.cu:41
            particles[i].position.x = high  # particles.cu:42
            particles[i].velocity.x = -particles[i].velocity.x * bounce  # particles.cu:46
            result = True  # particles.cu:47
        else:
            result = False  # particles.cu:44
        touched: i32 = i32(result)  # particles.cu:62
        result_1: b1  # particles.cu:63
        low2: f32 = box.low.y
        high2: f32 = box.high.y
        bounce2: f32 = box.bounce
        if particles[i].position.y < low2:  # particles.cu:39
            particles[i].position.y = low2  # particles.cu:40
            particles[i].velocity.y = -particles[i].velocity.y * bounce2  # particles.cu:46
            result_1 = True  # particles.cu:47
        elif particles[i].position.y > high2:  # particles.cu:41
            particles[i].position.y = high2  # particles.cu:42
            particles[i].velocity.y = -particles[i].velocity.y * bounce2  # particles.cu:46
            result_1 = True  # particles.cu:47
        else:
            result_1 = False  # particles.cu:44
        touched += i32(result_1)  # particles.cu:63
        result_2: b1  # particles.cu:64
        low3: f32 = box.low.z
        high3: f32 = box.high.z
        bounce3: f32 = box.bounce
        if particles[i].position.z < low3:  # particles.cu:39
            particles[i].position.z = low3  # particles.cu:40
            particles[i].velocity.z = -particles[i].velocity.z * bounce3  # particles.cu:46
            result_2 = True  # particles.cu:47
        elif particles[i].position.z > high3:  # particles.cu:41
            particles[i].position.z = high3  # particles.cu:42
            particles[i].velocity.z = -particles[i].velocity.z * bounce3  # particles.cu:46
            result_2 = True  # particles.cu:47
        else:
            result_2 = False  # particles.cu:44
        touched += i32(result_2)  # particles.cu:64
        particles[i].hits = u8(i32(particles[i].hits) + touched)  # particles.cu:65


@tile_function(level="thread")
def Vec3_dot(self: Ptr[Vec3], o: Ptr[Vec3]) -> f32:  # particles.cu:23
    return self[0].x * o[0].x + self[0].y * o[0].y + self[0].z * o[0].z


@tile_function(level="thread")
def Particle_energy(self: Ptr[Particle]) -> f32:  # particles.cu:68
    return 0.5 * self[0].mass * Vec3_dot(address(self[0].velocity), address(self[0].velocity))


@tile_kernel(level="thread", symbol="_Z7measurePK8ParticleiPfPj")
def measure(particles: Ptr[Particle], n: i32, energies: Ptr[f32], hits: Ptr[u32]):  # particles.cu:85
    i: i32 = i32(blockIdx.x * blockDim.x + threadIdx.x)  # particles.cu:86
    if i >= n:  # particles.cu:87
        return
    copy: Particle = particles[i]  # particles.cu:88
    energies[i] = Particle_energy(address(copy))  # particles.cu:89
    atomic_add(hits, u32(copy.hits))  # particles.cu:90
