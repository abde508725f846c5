"""The kernels of black_scholes.cu, each at the highest level shown equivalent.  Written by tmigrate."""

from __future__ import annotations

from tmigrate.tilelang import (
    Tensor,
    assume,
    blockDim,
    exp,
    f32,
    fabs,
    gridDim,
    i32,
    log,
    parallel,
    sqrt,
    tile_function,
    tile_kernel,
    tile_struct,
)

__source__ = "black_scholes.cu"


@tile_struct
class Market:
    rate: f32
    volatility: f32


@tile_function(level="thread")
def cumulative_normal(d: f32) -> f32:  # black_scholes.cu:24
    a1: f32 = 0.31938154  # black_scholes.cu:25
    a2: f32 = -0.35656378
    a3: f32 = 1.7814779
    a4: f32 = -1.8212559  # black_scholes.cu:26
    a5: f32 = 1.3302745
    k: f32 = 1.0 / (1.0 + 0.2316419 * fabs(d))  # black_scholes.cu:27
    tail: f32 = 0.3989423 * exp(-0.5 * d * d) * (k * (a1 + k * (a2 + k * (a3 + k * (a4 + k * a5)))))  # black_scholes.cu:28
    return 1.0 - tail if d > 0.0 else tail  # black_scholes.cu:30


@tile_kernel(symbol="_Z13black_scholesPKfS0_S0_PfS1_6Marketi")
def black_scholes(  # black_scholes.cu:47
    spot: Tensor[f32, n],
    strike: Tensor[f32, n],
    years: Tensor[f32, n],
    call: Tensor[f32, n],
    put: Tensor[f32, n],
    market: Market,
    n: i32,
):
    assume(i32(gridDim.x * blockDim.x) >= n)
    assume(gridDim.y * blockDim.y == 1)
    assume(gridDim.z * blockDim.z == 1)
    for i in parallel(range(n)):  # black_scholes.cu:52
        spot2: f32 = spot[i]
        strike2: f32 = strike[i]
        years2: f32 = years[i]
        market2: Market = market
        spread: f32 = market2.volatility * sqrt(years2)  # black_scholes.cu:36
        d1: f32 = (log(spot2 / strike2) + (market2.rate + 0.5 * market2.volatility * market2.volatility) * years2) / spread  # black_scholes.cu:37
        n1: f32 = cumulative_normal(d1)  # black_scholes.cu:40
        n2: f32 = cumulative_normal(d1 - spread)  # black_scholes.cu:41
        discounted: f32 = strike2 * exp(-market2.rate * years2)  # black_scholes.cu:42
        call[i] = spot2 * n1 - discounted * n2  # black_scholes.cu:53
        put[i] = discounted * (1.0 - n2) - spot2 * (1.0 - n1)  # black_scholes.cu:54
