"""The packed matrix product: derived error bounds, exact integers, special values, strides and refusals."""

from __future__ import annotations

import ctypes
import mmap
import os
import platform
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tmigrate.diagnostics import UsageError
from tmigrate.tilelang.libs import matrix
from tmigrate.tilelang.libs.matrix import matmul
from tmigrate.tilelang.runtime.compilers import usable_pairs
from tmigrate.tilelang.runtime.pool import set_threads
from tmigrate.tilelang.runtime.toolchain import ARITHMETIC_FLAGS, Compiler, compile_c

Array = np.ndarray[Any, Any]

# Sizes around the widths of vectors and tiles, more than one block of depth, thin and empty ones.
SHAPES = [
    (1, 1, 1), (7, 5, 3), (8, 48, 16), (9, 49, 17), (16, 64, 64), (33, 31, 65), (64, 64, 64), (100, 100, 30),
    (1, 130, 513), (130, 1, 513), (3, 200, 1100), (257, 129, 70), (65, 97, 1025), (200, 1000, 600),
]  # fmt: skip
TYPES = [np.float32, np.float64]


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    yield
    set_threads(0)


def operand(random: np.random.Generator, rows: int, columns: int, transposed: bool, dtype: Any) -> Array:
    x = random.standard_normal((columns, rows) if transposed else (rows, columns)).astype(dtype)
    return x.T if transposed else x


def assert_within_bound(result: Array, a: Array, b: Array, alpha: float, beta: float, before: Array) -> None:
    """|error| <= (k + 4) u |alpha| |A||B| + 8 u |beta C|, where u is half an ulp of 1.

    A term passes through at most k roundings of its chain, fused or not (adding to 0 is exact): those of its
    own block of the depth, and one for each further block; alpha adds one, squares of u are below 2 u.
    beta C is rounded once, and once for each of at most 5 blocks.
    """
    wide = np.float64 if result.dtype == np.float32 else np.longdouble
    unit = np.finfo(result.dtype).eps / 2
    a, b, before = a.astype(wide), b.astype(wide), before.astype(wide)
    exact = wide(alpha) * (a @ b) + (wide(beta) * before if beta else 0)
    allowance = (a.shape[1] + 4) * unit * abs(alpha) * (np.abs(a) @ np.abs(b))
    allowance += 8 * unit * np.abs(beta * before)
    assert (np.abs(result.astype(wide) - exact) <= allowance).all()


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("transposed", ["NN", "NT", "TN", "TT"])
@pytest.mark.parametrize("shape", SHAPES)
def test_error_stays_within_the_derived_bound(
    shape: tuple[int, int, int], transposed: str, dtype: Any
) -> None:
    m, n, k = shape
    if dtype == np.float64 and m * n * k > 10_000_000:
        pytest.skip("the extended reference would take seconds")
    random = np.random.default_rng(m * n + k)
    a = operand(random, m, k, transposed[0] == "T", dtype)
    b = operand(random, k, n, transposed[1] == "T", dtype)
    before = operand(random, m, n, False, dtype)
    assert_within_bound(matmul(a, b), a, b, 1.0, 0.0, before)
    for alpha, beta, start in ((1.0, 1.0, before), (-1.5, 0.75, before.T.copy().T)):
        out = start.copy(order="K")
        assert matmul(a, b, out, alpha, beta) is out
        assert_within_bound(out, a, b, alpha, beta, before)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_small_integers_are_exact(shape: tuple[int, int, int], dtype: Any) -> None:
    m, n, k = shape
    random = np.random.default_rng(k)
    a, b = random.integers(-8, 9, (m, k)), random.integers(-8, 9, (k, n))
    c = random.integers(-8, 9, (m, n))
    out = c.astype(dtype)
    matmul(a.astype(dtype), b.astype(dtype), out, alpha=3.0, beta=-2.0)
    assert np.array_equal(out, 3 * (a @ b) - 2 * c)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(300, 400, 700), (9, 4000, 300), (4000, 9, 300), (65, 129, 2000)])
def test_bits_depend_neither_on_threads_nor_on_tiles(shape: tuple[int, int, int], dtype: Any) -> None:
    m, n, k = shape
    random = np.random.default_rng(7)
    a, b = operand(random, m, k, False, dtype), operand(random, k, n, True, dtype)
    before = operand(random, m, n, False, dtype)
    set_threads(4)
    one = matmul(a, b, before.copy(), 1.25, 0.5, threads=1)
    for threads in (2, 3, 4, None):
        assert np.array_equal(matmul(a, b, before.copy(), 1.25, 0.5, threads=threads), one)
    part = matmul(a[3:8], b[:, 2:9], before[3:8, 2:9].copy(), 1.25, 0.5)
    assert np.array_equal(part, one[3:8, 2:9])
    by_columns = matmul(a, b, before.copy(order="F"), 1.25, 0.5)
    assert np.array_equal(by_columns, one)


@pytest.mark.parametrize("m,n,k", [(0, 3, 4), (3, 0, 4), (0, 0, 0), (3, 5, 0)])
def test_empty_sizes(m: int, n: int, k: int) -> None:
    a, b = np.ones((m, k), np.float32), np.ones((k, n), np.float32)
    assert np.array_equal(matmul(a, b), np.zeros((m, n), np.float32))
    out = np.full((m, n), 3, np.float32)
    assert np.array_equal(matmul(a, b, out, beta=2.0), np.full((m, n), 6, np.float32))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(5, 7, 3), (70, 130, 600)])
def test_beta_zero_does_not_read_out_and_alpha_zero_not_the_operands(
    shape: tuple[int, int, int], order: Any
) -> None:
    m, n, k = shape
    a, b = np.ones((m, k), np.float32), np.ones((k, n), np.float32)
    out = np.full((m, n), np.nan, np.float32, order=order)
    assert (matmul(a, b, out) == k).all()
    assert (matmul(a * np.float32(np.nan), b, out, alpha=0.0, beta=2.0) == 2 * k).all()
    out[:] = np.nan
    assert (matmul(a, b, out, alpha=0.0) == 0).all()


@pytest.mark.parametrize("shape", [(5, 7, 3), (41, 101, 64), (70, 130, 600)])
@pytest.mark.parametrize("transposed", [False, True])
def test_special_values_go_where_they_belong(shape: tuple[int, int, int], transposed: bool) -> None:
    m, n, k = shape
    random = np.random.default_rng(1)
    a, b = operand(random, m, k, transposed, np.float32), operand(random, k, n, transposed, np.float32)
    a[m - 1, 1], a[2, k - 1], b[0, n - 1], b[k - 1, 3] = np.nan, np.inf, -np.inf, 0
    with np.errstate(invalid="ignore"):
        expected = np.einsum("ik,kj->ij", a.astype(np.float64), b.astype(np.float64))
    result = matmul(a, b)
    assert np.array_equal(np.isnan(result), np.isnan(expected))
    infinite = np.isinf(expected)
    assert infinite.any() and np.array_equal(np.isinf(result), infinite)
    assert np.array_equal(result[infinite], expected[infinite])


def test_any_strides_of_the_operands() -> None:
    random = np.random.default_rng(2)
    record = np.zeros((30, 40), [("pad", "u1"), ("x", "f4")])
    record["x"] = random.integers(-5, 6, (30, 40))
    wide = random.integers(-5, 6, (80, 90)).astype(np.float32)
    lefts = [
        wide[::-2, ::-3],
        wide[:40:2, 20:50],
        np.broadcast_to(wide[:1, :30], (20, 30)),
        record["x"].T[:, :30],
    ]
    rights = [wide[::-1, 7::9][:30], record["x"], np.broadcast_to(wide[:30, :1], (30, 11)), wide.T[5:35, ::7]]
    for a in lefts:
        for b in rights:
            assert np.array_equal(matmul(a, b), a.astype(np.int64) @ b.astype(np.int64))


def test_any_strides_of_out() -> None:
    a = np.arange(35, dtype=np.float32).reshape(5, 7)
    b = np.arange(63, dtype=np.float32).reshape(7, 9)
    places = [
        np.zeros((9, 5), np.float32).T,
        np.zeros((10, 27), np.float32)[::-2, 1::3],
        np.zeros((5, 90), np.float32)[:, ::10],
    ]
    record = np.zeros((5, 9), [("pad", "u1"), ("x", "f4")])
    for out in [*places, record["x"]]:
        matmul(a, b, out)
        assert np.array_equal(out, a @ b)
    assert places[1].base is not None and np.count_nonzero(places[1].base) == np.count_nonzero(a @ b)
    left = np.ones((20, 3), np.float32)
    right = np.tile(np.arange(200, dtype=np.float32), (3, 1))
    grid = np.zeros((40, 600), np.float32)
    matmul(left, right, grid[::2, ::3], beta=2.0)
    assert np.array_equal(grid[::2, ::3], left @ right) and np.count_nonzero(grid) == 20 * 199
    square = np.arange(36, dtype=np.float32).reshape(6, 6)
    expected = square @ square.T
    assert np.array_equal(matmul(square, square.T, square), expected)


def before_a_guard_page(x: Array) -> Array:
    """A copy of ``x`` whose last byte is the last that may be read."""
    size = -(-x.nbytes // mmap.PAGESIZE) * mmap.PAGESIZE
    room = mmap.mmap(-1, size + mmap.PAGESIZE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(room))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.mprotect(ctypes.c_void_p(address + size), ctypes.c_size_t(mmap.PAGESIZE), 0) == 0
    place = np.frombuffer(room, x.dtype, x.size, size - x.nbytes).reshape(x.shape)
    place[:] = x
    return place


@pytest.mark.parametrize("dtype", TYPES)
def test_nothing_is_read_beyond_the_operands(dtype: Any) -> None:
    matmul(np.ones((1, 1), dtype), np.ones((1, 1), dtype))  # compiled before the fork
    child = os.fork()
    if child == 0:
        for m, n, k in [(7, 5, 3), (33, 49, 65), (70, 131, 600), (300, 3, 40)]:
            a, b = (before_a_guard_page(np.ones(shape, dtype)) for shape in ((m, k), (k, n)))
            at, bt = (before_a_guard_page(np.ones(shape, dtype)) for shape in ((k, m), (n, k)))
            out = before_a_guard_page(np.zeros((m, n), dtype))
            for x in (a, at.T):
                for y in (b, bt.T):
                    if not (matmul(x, y, out, threads=1) == k).all():
                        os._exit(1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0  # a read beyond would be signal 11


F32 = np.ones((2, 3), np.float32)
CELL = np.zeros(8, np.float32)


@pytest.mark.parametrize(
    "code,arguments,settings",
    [
        ("TM2901", (F32, F32), {}),
        ("TM2901", (F32, F32.T, np.zeros((3, 2), np.float32)), {}),
        ("TM2901", (F32[0], F32.T), {}),
        ("TM2901", (F32, F32.T), {"beta": 1.0}),
        ("TM2901", (F32, F32.T), {"threads": 0}),
        ("TM2902", (F32, F32.T.astype(np.float64)), {}),
        ("TM2902", (F32.astype(np.int32), F32.T.astype(np.int32)), {}),
        ("TM2902", (F32.astype(">f4"), F32.T), {}),
        ("TM2902", ([[1.0]], F32.T), {}),
        ("TM2902", (F32, F32.T, np.zeros((2, 2))), {}),
        ("TM2902", (F32, F32.T, np.broadcast_to(CELL[:2], (2, 2))), {}),
        ("TM2902", (F32, F32.T, np.lib.stride_tricks.as_strided(CELL, (2, 2), (0, 4))), {}),
        ("TM2902", (F32, F32.T, np.lib.stride_tricks.as_strided(CELL, (2, 2), (4, 4))), {}),
    ],
)
def test_wrong_arguments_are_refused(code: str, arguments: Any, settings: Any) -> None:
    with pytest.raises(UsageError) as error:
        matmul(*arguments, **settings)
    assert error.value.diagnostic.code == code


def call(library: ctypes.CDLL, a: Array, b: Array) -> Array:
    """The product by an object compiled in another way."""
    real = ctypes.c_float if a.dtype == np.float32 else ctypes.c_double
    entry = library.tm_matmul_f32 if a.dtype == np.float32 else library.tm_matmul_f64
    word = ctypes.c_int64
    types: list[Any] = [*[word] * 3, *[ctypes.c_void_p, word, word] * 3, real, real, ctypes.c_void_p]
    entry.argtypes = types
    out = np.full((a.shape[0], b.shape[1]), np.nan, a.dtype)
    places = [p for x in (a, b, out) for p in (x.ctypes.data, *(s // x.itemsize for s in x.strides))]
    entry(*out.shape, a.shape[1], *places, 1.0, 0.0, None)
    return out


def compilers() -> list[Compiler]:
    return [pair.c for pair in usable_pairs()]


@pytest.mark.parametrize("compiler", compilers(), ids=lambda compiler: compiler.kind)
@pytest.mark.parametrize("width", ["native", "x86-64", "x86-64-v3"])
def test_every_compiler_and_vector_width(compiler: Compiler, width: str) -> None:
    if width != "native" and platform.machine() not in ("x86_64", "AMD64"):
        pytest.skip("an x86-64 level")
    if width == "x86-64-v3" and not has_fma():
        pytest.skip("this CPU has no AVX2")
    named = width.replace("-", "_") if compiler.kind == "zig" else width
    flags = ["-O2", "-march=native" if width == "native" else f"-march={named}", *ARITHMETIC_FLAGS, "-Werror"]
    library = ctypes.CDLL(str(compile_c(matrix.source(), name="tm_matrix", flags=flags, compiler=compiler)))
    random = np.random.default_rng(3)
    for dtype in TYPES:
        for m, n, k in [(7, 5, 3), (33, 97, 65), (70, 131, 600)]:
            a, b = operand(random, m, k, False, dtype), operand(random, k, n, True, dtype)
            assert_within_bound(call(library, a, b), a, b, 1.0, 0.0, np.zeros((m, n), dtype))
            assert_within_bound(call(library, b.T, a.T), b.T, a.T, 1.0, 0.0, np.zeros((n, m), dtype))


def has_fma() -> bool:
    if platform.machine() in ("arm64", "aarch64"):
        return True
    info = Path("/proc/cpuinfo")
    return info.exists() and " fma " in info.read_text()


@pytest.mark.skipif(not has_fma(), reason="this CPU has no fused multiply-add")
def test_multiply_adds_are_fused_whatever_the_flags_say() -> None:
    a = np.array([[-1, 1 + 2**-12]], np.float32)
    b = np.array([[1 + 2**-11], [1 + 2**-12]], np.float32)
    assert "-ffp-contract=off" in ARITHMETIC_FLAGS
    assert matmul(a, b)[0, 0] == 2.0**-24  # rounding the product first would leave 0


def test_without_memory_the_bits_are_the_same() -> None:
    starved = "#include <stdlib.h>\n#define malloc(size) ((void)(size), (void *)0)\n" + matrix.source()
    library = ctypes.CDLL(str(compile_c(starved, name="tm_matrix_starved")))
    random = np.random.default_rng(4)
    for m, n, k in [(7, 5, 3), (70, 131, 600)]:
        a, b = operand(random, m, k, True, np.float32), operand(random, k, n, False, np.float32)
        assert np.array_equal(call(library, a, b), matmul(a, b))


def test_included_in_another_source_it_exports_nothing() -> None:
    text = "#define TM_MATRIX_ENTRY static\n#define TM_MATRIX_NO_F64\n" + matrix.source()
    text += """
    __attribute__((visibility("default"))) void kernel(float *c, const float *a, const float *b) {
      tm_matmul_f32(2, 2, 2, a, 2, 1, b, 2, 1, c, 2, 1, 1, 0, 0);
    }"""
    library = ctypes.CDLL(str(compile_c(text, name="including")))
    a, b = np.array([[1, 2], [3, 4]], np.float32), np.array([[5, 6], [7, 8]], np.float32)
    c = np.empty((2, 2), np.float32)
    library.kernel(*(ctypes.c_void_p(x.ctypes.data) for x in (c, a, b)))
    assert c.tolist() == [[19, 22], [43, 50]]
    assert not hasattr(library, "tm_matmul_f32") and not hasattr(library, "tm_matmul_f64")
