"""The kernels of mandelbrot.cu, thread by thread, as the original has them.  Written by tmigrate."""

from __future__ import annotations

from tmigrate.tilelang import (
    Ptr,
    blockDim,
    blockIdx,
    f32,
    fma,
    i32,
    threadIdx,
    tile_kernel,
    tile_struct,
    u16,
)

__source__ = "mandelbrot.cu"


@tile_struct
class View:
    left: f32
    top: f32
    step_: f32
    width: i32
    height: i32
    limit: i32


@tile_kernel(level="thread", symbol="_Z10mandelbrot4ViewPt")
def mandelbrot(view: View, steps: Ptr[u16]):  # mandelbrot.cu:25
    px: i32 = i32(blockIdx.x * blockDim.x + threadIdx.x)  # mandelbrot.cu:26
    py: i32 = i32(blockIdx.y * blockDim.y + threadIdx.y)  # mandelbrot.cu:27
    if px >= view.width or py >= view.height:  # mandelbrot.cu:28
        return
    cx: f32 = fma(f32(px), view.step_, view.left)  # mandelbrot.cu:30
    cy: f32 = fma(f32(py), -view.step_, view.top)  # mandelbrot.cu:31
    x: f32 = 0.0  # mandelbrot.cu:32
    y: f32 = 0.0
    count: i32 = 0  # mandelbrot.cu:33
    while True:  # mandelbrot.cu:34
        if fma(x, x, y * y) > 4.0:  # mandelbrot.cu:35
            break
        count += 1  # mandelbrot.cu:36
        if count >= view.limit:
            break
        next: f32 = fma(x, x, fma(-y, y, cx))  # mandelbrot.cu:37
        y = fma(2.0 * x, y, cy)  # mandelbrot.cu:38
        x = next  # mandelbrot.cu:39
    steps[py * view.width + px] = u16(count)  # mandelbrot.cu:41
