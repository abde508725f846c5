"""The kernels of black_scholes.cu, thread by thread, as the original has them.  Written by tmigrate."""

from __future__ import annotations

from tmigrate.tilelang import (
    Ptr,
    address,
    blockDim,
    blockIdx,
    exp,
    f32,
    fabs,
    i32,
    log,
    sqrt,
    threadIdx,
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


@tile_function(level="thread")
def price_option(spot: f32, strike: f32, years: f32, market: Market, call: Ptr[f32], put: Ptr[f32]):  # black_scholes.cu:33
    root: f32 = sqrt(years)  # black_scholes.cu:35
    spread: f32 = market.volatility * root  # black_scholes.cu:36
    d1: f32 = (log(spot / strike) + (market.rate + 0.5 * market.volatility * market.volatility) * years) / spread  # black_scholes.cu:37
    d2: f32 = d1 - spread  # black_scholes.cu:39
    n1: f32 = cumulative_normal(d1)  # black_scholes.cu:40
    n2: f32 = cumulative_normal(d2)  # black_scholes.cu:41
    discounted: f32 = strike * exp(-market.rate * years)  # black_scholes.cu:42
    call[0] = spot * n1 - discounted * n2  # black_scholes.cu:43
    put[0] = discounted * (1.0 - n2) - spot * (1.0 - n1)  # black_scholes.cu:44


@tile_kernel(level="thread", symbol="_Z13black_scholesPKfS0_S0_PfS1_6Marketi")
def black_scholes(  # black_scholes.cu:47
    spot: Ptr[f32],
    strike: Ptr[f32],
    years: Ptr[f32],
    call: Ptr[f32],
    put: Ptr[f32],
    market: Market,
    n: i32,
):
    i: i32 = i32(blockIdx.x * blockDim.x + threadIdx.x)  # black_scholes.cu:49
    if i >= n:  # black_scholes.cu:50
        return
    c: f32  # black_scholes.cu:51
    p: f32
    price_option(spot[i], strike[i], years[i], market, address(c), address(p))  # black_scholes.cu:52
    call[i] = c  # black_scholes.cu:53
    put[i] = p  # black_scholes.cu:54
