"""The kernels of particles.cu, thread by thread, as the original has them.  Written by tmigrate."""

from __future__ import annotations

from tmigrate.tilelang import (
    Array,
    Ptr,
    address,
    atomic_add,
    b1,
    blockDim,
    blockIdx,
    f32,
    i16,
    i32,
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


@tile_function(level="thread")
def Vec3_add(self: Ptr[Vec3], o: Ptr[Vec3]) -> Vec3:  # particles.cu:21
    return Vec3(self[0].x + o[0].x, self[0].y + o[0].y, self[0].z + o[0].z)


@tile_function(level="thread")
def Vec3_multiply(self: Ptr[Vec3], s: f32) -> Vec3:  # particles.cu:22
    return Vec3(self[0].x * s, self[0].y * s, self[0].z * s)


@tile_function(level="thread")
def Particle_push(self: Ptr[Particle], force: Ptr[Vec3], dt: f32):  # particles.cu:56
    object: Vec3 = Vec3_multiply(force, dt / self[0].mass)  # particles.cu:57
    self[0].velocity = Vec3_add(address(self[0].velocity), address(object))
    object_1: Vec3 = Vec3_multiply(address(self[0].velocity), dt)  # particles.cu:58
    self[0].position = Vec3_add(address(self[0].position), address(object_1))


@tile_function(level="thread")
def force_on(p: Ptr[Particle], wind: Ptr[Wind]) -> Vec3:  # particles.cu:71
    force: Vec3 = Vec3_multiply(address(wind[0].direction), wind[0].gusts[i32(p[0].kind)])  # particles.cu:72
    force.y -= 9.81 * p[0].mass  # particles.cu:73
    return force  # particles.cu:74


@tile_function(level="thread")
def reflect(position: Ptr[f32], velocity: Ptr[f32], low: f32, high: f32, bounce: f32) -> b1:  # particles.cu:37
    if position[0] < low:  # particles.cu:39
        position[0] = low  # particles.cu:40
    elif position[0] > high:  # particles.cu:41
        position[0] = high  # particles.cu:42
    else:
        return False  # particles.cu:44
    velocity[0] = -velocity[0] * bounce  # particles.cu:46
    return True  # particles.cu:47


@tile_function(level="thread")
def Particle_keep_inside(self: Ptr[Particle], box: Ptr[Box]):  # particles.cu:61
    result: b1 = reflect(address(self[0].position.x), address(self[0].velocity.x), box[0].low.x, box[0].high.x, box[0].bounce)  # particles.cu:62
    touched: i32 = i32(result)
    result_1: b1 = reflect(address(self[0].position.y), address(self[0].velocity.y), box[0].low.y, box[0].high.y, box[0].bounce)  # particles.cu:63
    touched += i32(result_1)
    result_2: b1 = reflect(address(self[0].position.z), address(self[0].velocity.z), box[0].low.z, box[0].high.z, box[0].bounce)  # particles.cu:64
    touched += i32(result_2)
    self[0].hits = u8(i32(self[0].hits) + touched)  # particles.cu:65


@tile_kernel(level="thread", symbol="_Z7advanceP8Particlei3BoxPK4Windf")
def advance(particles: Ptr[Particle], n: i32, box: Box, wind: Ptr[Wind], dt: f32):  # particles.cu:77
    i: i32 = i32(blockIdx.x * blockDim.x + threadIdx.x)  # particles.cu:78
    if i >= n:  # particles.cu:79
        return
    p: Ptr[Particle] = particles + i  # particles.cu:80
    object: Vec3 = force_on(p, wind)  # particles.cu:81
    Particle_push(p, address(object), dt)
    Particle_keep_inside(p, address(box))  # particles.cu:82


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
