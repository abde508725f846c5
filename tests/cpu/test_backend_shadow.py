"""Shadow execution: native results bit for bit, bounds that bound, and planted errors outside of them."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from backend_support import parse, run_c
from shadow_support import run_shadow

FUNCTIONS = {
    "exp": math.exp, "log": math.log, "tanh": math.tanh, "sin": math.sin, "rsqrt": lambda v: v**-0.5,
    "erf": math.erf, "cosh": math.cosh, "cbrt": math.cbrt, "tan": math.tan,
    "sinpi": lambda v: math.sin(math.pi * v), "floor": math.floor,
}  # fmt: skip
SUM = """
@tile_kernel(level="thread")
def k(n: i32, x: Ptr[f32], y: Ptr[f32]):
    total: f32 = 0.0
    for i in range(0, n):
        total = total + x[i]
    y[0] = total
"""

MIXED = """
@tile_struct
class Pair:
    a: f32
    b: f32


@tile_function(level="thread")
def combine(p: Pair, scale: f32) -> Pair:
    q: Pair = p
    q.a = p.a * scale + p.b
    q.b = sqrt(p.b)
    return q


@tile_function(level="thread")
def add_to(place: Ptr[f32], v: f32):
    place[0] = place[0] + v


@tile_kernel(level="thread")
def k(n: i32, x: Ptr[f32], y: Ptr[f32]):
    s = shared(f32, 8)
    t: i32 = i32(threadIdx.x)
    p: Pair = Pair(x[t], exp(x[t]))
    q: Pair = combine(p, 1.5)
    s[t] = q.a / (1.0 + q.b)
    syncthreads()
    r: f32 = s[(t + 1) % 8] - f32(f64(s[t]) * 0.1)
    v: f32 = shfl_xor_sync(u32(255), r, 1, 8)
    add_to(address(r), v)
    y[t] = r if r > 0.25 else sin(r) * v
"""


def test_native_values_are_those_of_native_execution() -> None:
    x = np.linspace(0.1, 3, 8, dtype=np.float32)
    native, followed = np.zeros(8, np.float32), np.zeros(8, np.float32)
    run_c(parse(MIXED), (1,), (8,), [8, x, native])
    run = run_shadow(parse(MIXED), (1,), (8,), [8, x, followed])
    np.testing.assert_array_equal(native.view(np.uint32), followed.view(np.uint32))
    for i in range(8):
        shadow = run.of(followed, i)
        assert shadow.native == float(native[i])
        # The path goes through structs, a call, shared memory, a shuffle and a local's address: an error
        # bound of zero would mean that the shadow was lost on the way.
        assert 1e-8 < shadow.error < 1e-5
        assert abs(shadow.native - (shadow.value + shadow.low)) <= shadow.error


def exact_sum(values: np.ndarray) -> Fraction:
    return sum((Fraction(float(v)) for v in values), Fraction(0))


@pytest.mark.parametrize("scale", [1.0, 1e30, 1e-42])
def test_any_order_of_a_sum_lies_within_the_bound(scale: float) -> None:
    draw = np.random.default_rng(7)
    x = (draw.standard_normal(300) * scale).astype(np.float32)
    y = np.zeros(1, np.float32)
    shadow = run_shadow(parse(SUM), (1,), (1,), [300, x, y]).of(y, 0)
    value = Fraction(shadow.value) + Fraction(shadow.low)
    assert value == pytest.approx(exact_sum(x), rel=1e-25)
    order = list(range(300))
    worst = Fraction(0)
    for seed in range(40):
        random.Random(seed).shuffle(order)
        total = np.float32(0)
        for i in order:
            total += x[i]
        worst = max(worst, abs(Fraction(float(total)) - value))
    assert worst <= Fraction(shadow.error)


def test_planted_errors_lie_outside_the_bound() -> None:
    x = np.random.default_rng(3).uniform(0.5, 1.5, 64).astype(np.float32)
    y = np.zeros(1, np.float32)
    shadow = run_shadow(parse(SUM), (1,), (1,), [64, x, y]).of(y, 0)
    bound = Fraction(shadow.error) + Fraction(2) ** -18
    for wrong in (x[1:], x[:-1], np.append(x, np.float32(0.01)), x * np.float32(1.001)):
        assert abs(exact_sum(wrong) - Fraction(shadow.value)) > bound


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [("exp", -10, 10), ("log", 0.01, 50), ("tanh", -3, 3), ("sin", -20, 20), ("rsqrt", 0.01, 9),
     ("erf", -2, 2), ("cosh", -4, 4), ("cbrt", -9, 9), ("tan", -1.2, 1.2), ("sinpi", -3, 3),
     ("floor", -5, 5)],
)  # fmt: skip
def test_an_argument_error_comes_through_a_function(name: str, low: float, high: float) -> None:
    text = SUM.replace("y[0] = total", f"y[0] = {name}(total)")
    draw = np.random.default_rng(11)
    for _ in range(6):
        target = draw.uniform(low, high)
        x = draw.uniform(-1, 1, 40).astype(np.float32) * np.float32(0.3)
        x[0] += np.float32(target - float(x.sum(dtype=np.float64)))
        y = np.zeros(1, np.float32)
        shadow = run_shadow(parse(text), (1,), (1,), [40, x, y]).of(y, 0)
        for seed in range(12):
            order = list(range(40))
            random.Random(seed).shuffle(order)
            total = np.float32(0)
            for i in order:
                total += x[i]
            shuffled = np.float32(FUNCTIONS[name](float(total)))
            assert abs(float(shuffled) - shadow.value - shadow.low) <= shadow.error


def test_a_branch_that_rounding_decides_is_unstable() -> None:
    text = """
@tile_kernel(level="thread")
def k(n: i32, x: Ptr[f32], y: Ptr[f32]):
    total: f32 = 0.0
    for i in range(0, n):
        total = total + x[i]
    if total > 1.0:
        y[0] = 1.0
    else:
        y[0] = f32(i32(total * 10.0))
"""
    y = np.zeros(1, np.float32)
    tiny = np.full(20, 2.0**-26, np.float32)
    x = np.concatenate([[np.float32(1)], tiny])
    assert run_shadow(parse(text), (1,), (1,), [21, x, y]).unstable == [12]
    assert y[0] == 10
    x[0] = 0.5
    assert run_shadow(parse(text), (1,), (1,), [21, x, y]).unstable == []


def test_integers_over_a_float_make_its_shadow_stale() -> None:
    text = """
@tile_kernel(level="thread")
def k(n: i32, x: Ptr[f32], y: Ptr[f32]):
    y[0] = x[0] / 3.0
    p: Ptr[u32] = Ptr[u32](y)
    p[0] = p[0] + u32(1)
    y[1] = y[0] * 1.0
"""
    y = np.zeros(2, np.float32)
    run = run_shadow(parse(text), (1,), (1,), [1, np.ones(1, np.float32), y])
    assert run.of(y, 1).value == float(y[0]) != run.of(y, 0).native


def test_float_atomics_bound_every_order() -> None:
    text = """
@tile_kernel(level="thread")
def k(n: i32, x: Ptr[f32], y: Ptr[f32]):
    i: i32 = i32(blockIdx.x * blockDim.x + threadIdx.x)
    if i < n:
        atomic_add(y, x[i])
"""
    x = np.random.default_rng(5).standard_normal(96).astype(np.float32)
    y = np.zeros(1, np.float32)
    shadow = run_shadow(parse(text), (3,), (32,), [96, x, y]).of(y, 0)
    assert shadow.terms == 97
    assert abs(float(np.sort(x).sum()) - shadow.value) <= shadow.error
