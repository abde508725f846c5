"""Loop-level kernels as C, against NumPy."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from backend_support import parse, run_c

from tmigrate.tilelang.runtime.pool import load_pool
from tmigrate.tilelang.targets.cpu.build import write_source
from tmigrate.tilelang.targets.cpu.launch import ASSUMPTION_FAILED
from tmigrate.tilelang.targets.cpu.options import EmitOptions, FloatFunctions

DRAW = np.random.default_rng(2)
POOL = ctypes.cast(load_pool().tm_pool_parallel, ctypes.c_void_p).value


def floats(*shape: int) -> np.ndarray:
    return DRAW.standard_normal(shape).astype(np.float32)


SAXPY = """
@tile_kernel
def k(n: i32, a: f32, x: Tensor[f32, n], y: Tensor[f32, n]):
    assume(i32(gridDim.x * blockDim.x) >= n)
    for i in parallel(range(n)):
        y[i] = a * x[i] + y[i]
"""


def test_saxpy_on_threads_and_alone() -> None:
    x, y = floats(50_001), floats(50_001)
    expected = np.float32(1.5) * x + y
    for pool in (0, POOL):
        result = y.copy()
        assert run_c(parse(SAXPY), (50,), (1024,), [50_001, 1.5, x, result], parallel=pool).status == 0
        np.testing.assert_array_equal(result, expected)


def test_failed_preconditions_leave_memory_alone() -> None:
    both = floats(64)
    before = both.copy()
    assert run_c(parse(SAXPY), (1,), (16,), [32, 2.0, both[32:], both]).status == ASSUMPTION_FAILED  # too few
    assert run_c(parse(SAXPY), (2,), (16,), [32, 2.0, both[31:], both]).status == ASSUMPTION_FAILED  # overlap
    short = run_c(parse(SAXPY), (2,), (16,), [32, 2.0, both[32:], both], extent=lambda address: 127)
    assert short.status == ASSUMPTION_FAILED
    np.testing.assert_array_equal(both, before)
    exact = run_c(parse(SAXPY), (2,), (16,), [32, 2.0, both[32:], both], extent=lambda address: 128)
    assert exact.status == 0


def test_two_read_tensors_may_overlap() -> None:
    text = """
@tile_kernel
def k(n: i32, a: Tensor[f32, n], b: Tensor[f32, n], c: Tensor[f32, n]):
    for i in parallel(range(n)):
        c[i] = a[i] * b[i]
"""
    a, c = floats(9), floats(9)
    assert run_c(parse(text), (1,), (1,), [9, a, a, c]).status == 0
    np.testing.assert_array_equal(c, a * a)


def test_stencil_with_borders() -> None:
    text = """
@tile_kernel
def k(h: i32, w: i32, a: Tensor[f32, h, w], b: Tensor[f32, h, w]):
    for y in parallel(range(h)):
        for x in parallel(range(w)):
            if x == 0 or x == w - 1 or y == 0 or y == h - 1:
                b[y, x] = a[y, x]
            else:
                b[y, x] = a[y, x] + 0.25 * (a[y, x - 1] + a[y, x + 1] + a[y - 1, x] + a[y + 1, x])
"""
    a, b = floats(33, 47), floats(33, 47)
    run_c(parse(text), (1,), (1,), [33, 47, a, b], parallel=POOL)
    expected = a.copy()
    inner = a[1:-1, :-2] + a[1:-1, 2:] + a[:-2, 1:-1] + a[2:, 1:-1]
    expected[1:-1, 1:-1] += np.float32(0.25) * inner
    np.testing.assert_array_equal(b, expected)


@pytest.mark.parametrize("shape", [(1, 1), (31, 65), (64, 32), (100, 7), (0, 5)])
def test_transpose(shape: tuple[int, int]) -> None:
    text = """
@tile_kernel
def k(h: i32, w: i32, a: Tensor[f32, h, w], b: Tensor[f32, w, h]):
    for y in parallel(range(h)):
        for x in parallel(range(w)):
            b[x, y] = a[y, x]
"""
    a, b = floats(*shape), floats(shape[1], shape[0])
    run_c(parse(text), (1,), (1,), [*shape, a, b], parallel=POOL)
    np.testing.assert_array_equal(b, a.T)


REDUCTIONS = """
@tile_kernel
def k(m: i32, n: i32, a: Tensor[f32, m, n], y: Tensor[f32, m], z: Tensor[f32, m], w: Tensor[i32, m]):
    for i in parallel(range(m)):
        top: f32 = max(a[i, j] for j in range(n))
        y[i] = sum(exp(a[i, j] - top) for j in range(n))
        z[i] = sum(a[i, j] * sum(a[i, l] for l in range(j)) for j in range(n)) if i > 1 else -1.0
        w[i] = 7 if any(a[i, j] > 2.0 for j in range(n)) else 9
"""


@pytest.mark.parametrize("n", [0, 1, 5, 64, 100])
def test_reductions(n: int) -> None:
    a = floats(6, n)
    y, z, w = floats(6), floats(6), np.zeros(6, np.int32)
    options = EmitOptions(functions=FloatFunctions.VECTOR)
    assert run_c(parse(REDUCTIONS), (1,), (1,), [6, n, a, y, z, w], options).status == 0
    wide = a.astype(np.float64)
    top = wide.max(axis=1, initial=-np.inf) if n else np.full(6, -np.inf)
    np.testing.assert_allclose(y, np.exp(wide - top[:, None]).sum(axis=1), rtol=1e-5)
    before = np.cumsum(wide, axis=1) - wide
    expected = np.where(np.arange(6) > 1, (wide * before).sum(axis=1), -1.0)
    np.testing.assert_allclose(z, expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(w, np.where((a > 2).any(axis=1), 7, 9))


def test_reduction_is_the_same_for_any_number_of_threads() -> None:
    text = """
@tile_kernel
def k(m: i32, n: i32, a: Tensor[f32, m, n], y: Tensor[f32, m]):
    for i in parallel(range(m)):
        y[i] = sum(a[i, j] for j in range(n))
"""
    a, alone, spread = floats(40, 1003), floats(40), floats(40)
    run_c(parse(text), (1,), (1,), [40, 1003, a, alone])
    run_c(parse(text), (1,), (1,), [40, 1003, a, spread], parallel=POOL)
    np.testing.assert_array_equal(alone.view(np.uint32), spread.view(np.uint32))


def test_integer_reductions_wrap_and_have_neutral_values() -> None:
    text = """
@tile_kernel
def k(n: i32, a: Tensor[i32, n], y: Tensor[i32, 4]):
    y[0] = sum(a[j] for j in range(n))
    y[1] = prod(a[j] for j in range(n))
    y[2] = max(a[j] for j in range(n))
    y[3] = min(a[j] for j in range(n))
"""
    y = np.zeros(4, np.int32)
    a = np.array([2_000_000_000, 2_000_000_000, 3], np.int32)
    run_c(parse(text), (1,), (1,), [3, a, y])
    with np.errstate(over="ignore"):
        assert list(y) == [a.sum(dtype=np.int32), a.prod(dtype=np.int32), 2_000_000_000, 3]
    run_c(parse(text), (1,), (1,), [0, a, y])
    assert list(y) == [0, 1, -(2**31), 2**31 - 1]


PRODUCT = """
@tile_kernel
def k(m: i32, n: i32, d: i32, a: Tensor[f32, m, d], b: Tensor[f32, {b}], c: Tensor[f32, m, n]):
    for i in parallel(range(m)):
        for j in parallel(range(n)):
            c[i, j] = sum(a[i, l] * b[{index}] for l in range(d)){tail}
"""


@pytest.mark.parametrize("transposed", [False, True])
def test_matrix_product_calls_the_library(transposed: bool) -> None:
    index = "j, l" if transposed else "l, j"
    text = PRODUCT.format(b="n, d" if transposed else "d, n", index=index, tail="")
    assert "tm_matmul_f32((int64_t)v_m" in write_source(parse(text)).text
    a, b, c = floats(37, 19), floats(19, 53), floats(37, 53)
    given = np.ascontiguousarray(b.T) if transposed else b
    run_c(parse(text), (1,), (1,), [37, 53, 19, a, given, c], parallel=POOL)
    np.testing.assert_allclose(c, a.astype(np.float64) @ b, rtol=1e-4, atol=1e-5)


def test_near_product_stays_a_loop() -> None:
    text = PRODUCT.format(b="d, n", index="l, j", tail=" + 1.0")
    assert "tm_matmul" not in write_source(parse(text)).text
    a, b, c = floats(7, 19), floats(19, 5), floats(7, 5)
    run_c(parse(text), (1,), (1,), [7, 5, 19, a, b, c])
    np.testing.assert_allclose(c, a.astype(np.float64) @ b + 1, rtol=1e-4, atol=1e-5)


def test_temporaries_begin_with_zeros_and_a_tensor_is_returned() -> None:
    text = """
@tile_kernel
def k(n: i32, a: Tensor[f32, n]) -> Tensor[f32, n]:
    t = allocate(f32, n)
    c = allocate(f32, n)
    for i in parallel(range(n)):
        if a[i] > 0.0:
            t[i] = a[i]
    for i in parallel(range(n)):
        c[i] = t[n - 1 - i]
    return c
"""
    a, c = floats(20), floats(20)
    run_c(parse(text), (1,), (1,), [20, a], result=c)
    np.testing.assert_array_equal(c, np.maximum(a, 0)[::-1])
