"""The kernels of template_transform.cu, thread by thread, as the original has them.  Written by tmigrate."""

from __future__ import annotations

from tmigrate.tilelang import (
    Ptr,
    address,
    blockDim,
    blockIdx,
    f32,
    f64,
    i32,
    threadIdx,
    tile_function,
    tile_kernel,
    tile_struct,
)

__source__ = "template_transform.cu"


@tile_struct
class Square_float:
    pass


@tile_struct
class Affine_int:
    scale: i32
    offset: i32


@tile_struct
class Clamp_double:
    low: f64
    high: f64


@tile_struct
class Clamp_float:
    low: f32
    high: f32


@tile_struct
class Affine_float:
    scale: f32
    offset: f32


@tile_struct
class Compose_Clamp_float_Affine_float:
    outer: Clamp_float
    inner: Affine_float


@tile_struct
class Blend_float:
    weight: f32


@tile_struct
class Blend_int:
    weight: i32


@tile_struct
class Blend_double:
    weight: f64


@tile_function(level="thread")
def Square_float_call(x: f32) -> f32:  # template_transform.cu:21
    return x * x


@tile_kernel(level="thread", symbol="_Z9transformIf6SquareIfEEvPKT_PS2_iT0_")
def transform_float_Square_float(in_: Ptr[f32], out: Ptr[f32], n: i32, f: Square_float):  # template_transform.cu:57
    i: i32 = i32(blockIdx.x * blockDim.x + threadIdx.x)  # template_transform.cu:58
    if i < n:  # template_transform.cu:59
        out[i] = Square_float_call(in_[i])


@tile_function(level="thread")
def Affine_int_call(self: Ptr[Affine_int], x: i32) -> i32:  # template_transform.cu:27
    return self[0].scale * x + self[0].offset


@tile_kernel(level="thread", symbol="_Z9transformIi6AffineIiEEvPKT_PS2_iT0_")
def transform_int_Affine_int(in_: Ptr[i32], out: Ptr[i32], n: i32, f: Affine_int):  # template_transform.cu:57
    i: i32 = i32(blockIdx.x * blockDim.x + threadIdx.x)  # template_transform.cu:58
    if i < n:  # template_transform.cu:59
        out[i] = Affine_int_call(address(f), in_[i])


@tile_function(level="thread")
def Clamp_double_call(self: Ptr[Clamp_double], x: f64) -> f64:  # template_transform.cu:33
    if x < self[0].low:  # template_transform.cu:34
        return self[0].low
    if x > self[0].high:  # template_transform.cu:35
        return self[0].high
    return x  # template_transform.cu:36


@tile_kernel(level="thread", symbol="_Z9transformId5ClampIdEEvPKT_PS2_iT0_")
def transform_double_Clamp_double(in_: Ptr[f64], out: Ptr[f64], n: i32, f: Clamp_double):  # template_transform.cu:57
    i: i32 = i32(blockIdx.x * blockDim.x + threadIdx.x)  # template_transform.cu:58
    if i < n:  # template_transform.cu:59
        out[i] = Clamp_double_call(address(f), in_[i])


@tile_function(level="thread")
def Clamp_float_call(self: Ptr[Clamp_float], x: f32) -> f32:  # template_transform.cu:33
    if x < self[0].low:  # template_transform.cu:34
        return self[0].low
    if x > self[0].high:  # template_transform.cu:35
        return self[0].high
    return x  # template_transform.cu:36


@tile_function(level="thread")
def Affine_float_call(self: Ptr[Affine_float], x: f32) -> f32:  # template_transform.cu:27
    return self[0].scale * x + self[0].offset


@tile_function(level="thread")
def Compose_Clamp_float_Affine_float_call(  # template_transform.cu:45
    self: Ptr[Compose_Clamp_float_Affine_float],
    x: f32,
) -> f32:
    return Clamp_float_call(address(self[0].outer), Affine_float_call(address(self[0].inner), x))  # template_transform.cu:46


@tile_kernel(level="thread", symbol="_Z9transformIf7ComposeI5ClampIfE6AffineIfEEEvPKT_PS6_iT0_")
def transform_float_Compose_Clamp_float_Affine_float(  # template_transform.cu:57
    in_: Ptr[f32],
    out: Ptr[f32],
    n: i32,
    f: Compose_Clamp_float_Affine_float,
):
    i: i32 = i32(blockIdx.x * blockDim.x + threadIdx.x)  # template_transform.cu:58
    if i < n:  # template_transform.cu:59
        out[i] = Compose_Clamp_float_Affine_float_call(address(f), in_[i])


@tile_function(level="thread")
def Blend_float_call(self: Ptr[Blend_float], x: f32, y: f32) -> f32:  # template_transform.cu:53
    return self[0].weight * x + (1.0 - self[0].weight) * y


@tile_kernel(level="thread", symbol="_Z3zipILi3Ef5BlendIfEEvPKT0_S4_PS2_iT1_")
def zip_3_float_Blend_float(a: Ptr[f32], b: Ptr[f32], out: Ptr[f32], n: i32, f: Blend_float):  # template_transform.cu:64
    first: i32 = i32((blockIdx.x * blockDim.x + threadIdx.x) * 3)  # template_transform.cu:65
    for k in range(3):  # template_transform.cu:67
        if first + k < n:  # template_transform.cu:68
            out[first + k] = Blend_float_call(address(f), a[first + k], b[first + k])


@tile_function(level="thread")
def Blend_int_call(self: Ptr[Blend_int], x: i32, y: i32) -> i32:  # template_transform.cu:53
    return self[0].weight * x + (1 - self[0].weight) * y


@tile_kernel(level="thread", symbol="_Z3zipILi3Ei5BlendIiEEvPKT0_S4_PS2_iT1_")
def zip_3_int_Blend_int(a: Ptr[i32], b: Ptr[i32], out: Ptr[i32], n: i32, f: Blend_int):  # template_transform.cu:64
    first: i32 = i32((blockIdx.x * blockDim.x + threadIdx.x) * 3)  # template_transform.cu:65
    for k in range(3):  # template_transform.cu:67
        if first + k < n:  # template_transform.cu:68
            out[first + k] = Blend_int_call(address(f), a[first + k], b[first + k])


@tile_function(level="thread")
def Blend_double_call(self: Ptr[Blend_double], x: f64, y: f64) -> f64:  # template_transform.cu:53
    return self[0].weight * x + (1.0 - self[0].weight) * y


@tile_kernel(level="thread", symbol="_Z3zipILi3Ed5BlendIdEEvPKT0_S4_PS2_iT1_")
def zip_3_double_Blend_double(a: Ptr[f64], b: Ptr[f64], out: Ptr[f64], n: i32, f: Blend_double):  # template_transform.cu:64
    first: i32 = i32((blockIdx.x * blockDim.x + threadIdx.x) * 3)  # template_transform.cu:65
    for k in range(3):  # template_transform.cu:67
        if first + k < n:  # template_transform.cu:68
            out[first + k] = Blend_double_call(address(f), a[first + k], b[first + k])
