"""The vector functions of tm_math.h: their error in units in the last place, and special values."""

from __future__ import annotations

import numpy as np
import pytest
from backend_support import parse, run_c

from tmigrate.tilelang.targets.cpu.lowering import VECTOR_FUNCTIONS
from tmigrate.tilelang.targets.cpu.options import EmitOptions, FloatFunctions

TEXT = """
@tile_kernel
def k(n: i32, x: Tensor[{t}, n], y: Tensor[{t}, n]):
    for i in parallel(range(n)):
        y[i] = {name}(x[i])
"""
REFERENCES = {"exp10": lambda x: np.power(np.longdouble(10), x), "fast_exp": np.exp, "fast_log": np.log}
UNARY = sorted((n, t) for n, t in VECTOR_FUNCTIONS if n not in ("fmax", "fmin"))


@pytest.mark.parametrize(("name", "t"), UNARY)
def test_error_and_special_values(name: str, t: str) -> None:
    draw = np.random.default_rng(4)
    real, bits = (np.float32, np.uint32) if t == "f32" else (np.float64, np.uint64)
    random_bits = draw.integers(0, np.iinfo(bits).max, 100_000, dtype=bits).view(real)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 1e-42, 88.7, -103.9, 708.0], real)
    x = np.concatenate([random_bits, draw.uniform(-90, 90, 100_000).astype(real), special])
    y = np.zeros_like(x)
    options = EmitOptions(functions=FloatFunctions.VECTOR)
    assert run_c(parse(TEXT.format(name=name, t=t)), (1,), (1,), [len(x), x, y], options).status == 0
    with np.errstate(all="ignore"):
        exact = REFERENCES.get(name, getattr(np, name, None))(x.astype(np.longdouble))
        expected = exact.astype(real)
        near = np.isfinite(expected) & np.isfinite(y)
        error = np.abs(y.astype(np.longdouble) - exact)[near] / np.spacing(np.abs(expected[near]))
    assert error.max() <= 4
    rest, wanted = y[~near], expected[~near]
    largest = np.finfo(real).max  # right at the edge of overflow either side may round up
    same = (
        (rest == wanted) | (np.isnan(rest) & np.isnan(wanted)) | (np.abs(exact[~near]) > largest * 0.999999)
    )
    assert same.all(), x[~near][~same][:5]


def test_maximum_and_minimum_ignore_nan() -> None:
    text = """
@tile_kernel
def k(n: i32, x: Tensor[f32, n], z: Tensor[f32, n], y: Tensor[f32, 2, n]):
    for i in parallel(range(n)):
        y[0, i] = fmax(x[i], z[i])
        y[1, i] = fmin(x[i], z[i])
"""
    values = np.array([1, 2, np.nan, -np.inf, np.inf], np.float32)
    x, z = np.repeat(values, 5), np.tile(values, 5)
    y = np.zeros((2, 25), np.float32)
    run_c(parse(text), (1,), (1,), [25, x, z, y], EmitOptions(functions=FloatFunctions.VECTOR))
    np.testing.assert_array_equal(y, [np.fmax(x, z), np.fmin(x, z)])
