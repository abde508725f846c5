"""The programs of the design page, and kernels that use the rest of the DSL, against NumPy."""

from __future__ import annotations

import dsl_design_programs as programs
import dsl_kernels as kernels
import numpy as np
import pytest

from tmigrate.diagnostics import UsageError
from tmigrate.tilelang.dsl.scalars import scalar_class
from tmigrate.tilelang.ir.types import BF16

RANDOM = np.random.default_rng(1)


def matrices(m: int, k: int, n: int, dtype: object = np.float32) -> tuple[np.ndarray, np.ndarray]:  # type: ignore[type-arg]
    return RANDOM.integers(-4, 5, (m, k)).astype(dtype), RANDOM.integers(-4, 5, (k, n)).astype(dtype)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    "dtype", [np.float32, np.float64, np.int32, np.uint8, np.float16, scalar_class(BF16)]
)
def test_the_first_product_takes_any_element_type(dtype: object) -> None:
    a, b = matrices(7, 5, 9, dtype)
    found = programs.matmul(a, b)
    assert found.dtype == dtype
    assert (
        np.array_equal(found, (a.astype(np.float64) @ b.astype(np.float64)).astype(dtype))
        or dtype is np.uint8
    )
    assert np.array_equal(found, programs.matmul.reference(a, b))


def test_the_second_product_writes_in_place() -> None:
    a, b = matrices(6, 11, 4)
    out = np.full((6, 4), 7, np.float32)
    assert programs.matrix_mul_tile(a, b, out) is None
    assert np.array_equal(out, a @ b)


def test_conv2d_is_the_product_in_tiles() -> None:
    x, k = matrices(130, 200, 1)[0], matrices(70, 130, 1)[0]
    assert np.array_equal(programs.conv2d(x, k), k @ x)
    text = str(programs.conv2d.lowered_text(x, k))
    assert "range(0, " in text and ", 64)" in text
    assert np.array_equal(programs.conv2d.reference(x[:, :3], k[:5]), programs.conv2d(x[:, :3], k[:5]))


def test_products_run_on_the_packed_kernel() -> None:
    a, b = matrices(3, 4, 5)
    assert programs.matmul.plan(a, b) == "matrix product"
    assert programs.matrix_mul_tile.plan(a, b, np.zeros((3, 5), np.float32)) == "matrix product"
    assert programs.matmul.plan(a.astype(np.int32), b.astype(np.int32)) == "loops"
    assert kernels.layer.plan(a, b, b[0].copy()) == "loops"


def test_a_product_whose_result_overlaps_an_operand_is_refused() -> None:
    a, b = matrices(4, 4, 4)
    assert code_and_text(lambda: programs.matrix_mul_tile(a, b, a))[0] == "TM2065"


def test_empty_and_strided_arrays() -> None:
    a, b = matrices(8, 6, 10)
    out = np.zeros((10, 4), np.float32).T[:, ::2]
    programs.matrix_mul_tile(a[::2], b[:, ::2], out)
    assert np.array_equal(out, a[::2] @ b[:, ::2])
    assert programs.matmul(np.zeros((0, 3), np.float32), np.zeros((3, 2), np.float32)).shape == (0, 2)
    assert np.array_equal(
        programs.matmul(np.zeros((2, 0), np.float32), np.zeros((0, 3), np.float32)), np.zeros((2, 3))
    )


def test_structs_constants_functions_and_variables_of_the_file() -> None:
    p = np.zeros(6, kernels.Particle.dtype)
    p["mass"], p["alive"] = np.arange(6), [1, 0, 1, 1, 0, 1]
    p["position"]["x"] = 10
    kernels.weights[:] = [1, 2, 3, 4]
    q, y, z = p.copy(), np.zeros(6, np.float32), np.zeros(6, np.float32)
    kernels.use_all_of_the_file(p, y)
    assert y.tolist() == [11.0, 0.0, 14.0, 15.5, 0.0, 14.5]
    assert p["position"]["y"].tolist() == [1, 0, 1, 1, 0, 1]
    kernels.use_all_of_the_file.reference(q, z)
    assert np.array_equal(y, z) and np.array_equal(p, q)


def test_scalar_results_atomics_and_sugar() -> None:
    x = RANDOM.random(100)
    assert kernels.total(x) == kernels.total.reference(x) == np.add.accumulate(x)[-1]
    h = np.zeros(4, np.int32)
    kernels.histogram(np.array([0, 1, 1, 3], np.int32), h)
    assert h.tolist() == [1, 2, 0, 1]
    g = np.zeros(4, np.int32)
    kernels.histogram.reference(np.array([0, 1, 1, 3], np.int32), g)
    assert g.tolist() == h.tolist()
    a, y = matrices(5, 3, 1)[0], np.zeros(5, np.float32)
    kernels.sugar(a, y)
    assert np.array_equal(y, (2 * a).max(1))
    kernels.sugar.reference(a, z := np.zeros_like(y))
    assert np.array_equal(y, z)


def test_control_flow_agrees_with_plain_python() -> None:
    x = np.arange(-10, 30, dtype=np.int32)
    y, z = np.zeros_like(x), np.zeros_like(x)
    kernels.control(x, y)
    kernels.control.reference(x, z)
    assert np.array_equal(y, z) and y.any()


def test_thread_kernels_are_launched() -> None:
    x, y = RANDOM.integers(0, 9, 150).astype(np.float32), np.zeros(3, np.float32)
    kernels.block_sums[3, 64](x, y, 150)
    assert y.tolist() == [x[:64].sum(), x[64:128].sum(), x[128:].sum()]


def test_a_failed_assumption_runs_the_thread_version() -> None:
    x, y = np.ones(100, np.float32), np.zeros(100, np.float32)
    kernels.saxpy(100, 2.0, x, y)
    kernels.saxpy.cuda(4, 32, 100, 2.0, x, y)
    assert y.tolist() == [4.0] * 100
    with pytest.raises(UsageError) as caught:
        kernels.saxpy.cuda(1, 32, 100, 2.0, x, y)
    assert caught.value.diagnostic.code == "TM2065"
    kernels.saxpy.thread = kernels.saxpy_thread
    kernels.saxpy.cuda(1, 32, 100, 2.0, x, y)
    assert y.tolist() == [6.0] * 32 + [4.0] * 68
    kernels.saxpy.thread = None


class Exported:
    """An array of another library, by DLPack."""

    def __init__(self, array: np.ndarray) -> None:  # type: ignore[type-arg]
        self.array = array

    def __dlpack__(self, **options: object) -> object:
        return self.array.__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()

    def numpy(self) -> np.ndarray:  # type: ignore[type-arg]
        return self.array


def test_arrays_of_other_libraries_are_written_in_place() -> None:
    a, b = matrices(3, 4, 5)
    out = np.zeros((3, 5), np.float32)
    programs.matrix_mul_tile(Exported(a), Exported(b), Exported(out))
    assert np.array_equal(out, a @ b)


# ---- tensors -----------------------------------------------------------------------------------------


def test_tensor_kernels_against_numpy_and_plain_python() -> None:
    x, w, b = RANDOM.random((5, 7)), RANDOM.random((7, 3)), RANDOM.random(3)
    x, w, b = (v.astype(np.float32) for v in (x, w, b))
    h = x @ w + b
    e = np.exp(h * 0.5 - (h * 0.5).max(1, keepdims=True))
    found = kernels.layer(x, w, b)
    assert np.allclose(found, e / e.sum(1, keepdims=True) / (1 + np.exp(-h)), rtol=1e-5)
    assert np.allclose(found, kernels.layer.reference(x, w, b), rtol=1e-6)
    centred = x - x.mean(1, keepdims=True)
    expected = (centred / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-5)).T
    assert np.allclose(kernels.normalised(x), expected, rtol=1e-4, atol=1e-5)


def test_shapes_of_tensors() -> None:
    x = np.arange(24, dtype=np.int32).reshape(6, 4)
    expected = x.reshape(8, 3).T + x.reshape(3, 8) * 2 - x.max(1).reshape(3, 2).sum(1, keepdims=True)
    assert np.array_equal(kernels.shapes(x), expected)
    assert np.array_equal(kernels.shapes.reference(x), expected)


# ---- wrong calls -------------------------------------------------------------------------------------


def code_and_text(call: object) -> tuple[str, str]:
    with pytest.raises(UsageError) as caught:
        call()  # type: ignore[operator]
    return caught.value.diagnostic.code, caught.value.diagnostic.message


def test_wrong_arguments_are_named() -> None:
    a, b = matrices(3, 4, 5)
    code, text = code_and_text(lambda: programs.matmul(a, b[:2]))
    assert code == "TM2061" and "`B`, axis 0: K is 4 from axis 1 of `A`, the array has 2" in text
    assert code_and_text(lambda: programs.matmul(a))[0] == "TM2060"
    code, text = code_and_text(lambda: programs.matmul(a, 3))
    assert code == "TM2060" and "`B`" in text
    assert "`A` has 1 dimensions" in code_and_text(lambda: programs.matmul(a[0], b))[1]
    assert "`x` holds int32" in code_and_text(lambda: kernels.total(np.arange(3, dtype=np.int32)))[1]
    assert code_and_text(lambda: programs.matmul(a.astype(complex), b))[0] == "TM2060"
    assert code_and_text(lambda: kernels.saxpy_thread(1, 2.0, a, b))[0] == "TM2064"
    assert code_and_text(lambda: programs.matmul[1, 2])[0] == "TM2064"
    code, text = code_and_text(
        lambda: kernels.saxpy(99, 2.0, np.ones(100, np.float32), np.ones(99, np.float32))
    )
    assert code == "TM2061" and "`x`, axis 0: n is 99 from argument `n`, the array has 100" in text
    assert code_and_text(lambda: kernels.shapes(np.zeros((6, 5), np.int32)))[0] == "TM2061"
