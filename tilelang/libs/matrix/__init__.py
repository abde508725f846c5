"""Matrix product for f32 and f64 on the CPU: one packed micro-kernel in portable C.

:func:`matmul` serves NumPy arrays; generated C calls ``tm_matmul_f32`` and ``tm_matmul_f64`` of
:func:`source` directly.  The result is the same for any number of threads.
"""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char, c_double, c_float, c_int64, c_void_p
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from tmigrate.diagnostics import Diagnostic, UsageError
from tmigrate.tilelang.runtime.pool import Services, default_services
from tmigrate.tilelang.runtime.toolchain import LIFTED_FLAGS, compile_c

__all__ = ["load_library", "matmul", "source"]

Matrix: TypeAlias = npt.NDArray[np.floating[Any]]

_FOLDER = Path(__file__).resolve().parent
_FLOAT32, _FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)


@lru_cache(maxsize=1)
def source() -> str:
    """The library as one C text that includes only ``tm_abi.h`` and libc.

    Before it, ``#define TM_MATRIX_ENTRY static`` hides the entries in the text around it, and
    ``#define TM_MATRIX_NO_F64`` (or ``_NO_F32``) leaves a type out, which halves the compile time.
    """
    text = (_FOLDER / "tm_matrix.h").read_text()
    return text.replace('#include "tm_matrix_type.h"\n', (_FOLDER / "tm_matrix_type.h").read_text())


@lru_cache(maxsize=1)
def load_library() -> ctypes.CDLL:
    """The compiled library, its two entries typed; their last argument is a tm_services, or None."""
    library = ctypes.CDLL(str(compile_c(source(), name="tm_matrix", flags=LIFTED_FLAGS)))
    operand: list[Any] = [c_void_p, c_int64, c_int64]
    for entry, real in ((library.tm_matmul_f32, c_float), (library.tm_matmul_f64, c_double)):
        entry.argtypes = [c_int64] * 3 + operand * 3 + [real, real, POINTER(Services)]
        entry.restype = None
    return library


def matmul(
    a: Matrix,
    b: Matrix,
    out: Matrix | None = None,
    alpha: float = 1.0,
    beta: float = 0.0,
    threads: int | None = None,
) -> Matrix:
    """``out = alpha * (a @ b) + beta * out`` for ``a`` of shape (m, k) and ``b`` of shape (k, n).

    All arrays are two-dimensional, of one type, float32 or float64, with any strides (transposed,
    reversed and broadcast operands included); ``out`` may overlap ``a`` or ``b``, not itself.  As in
    BLAS, ``out`` is not read where ``beta`` is 0, nor ``a`` and ``b`` where ``alpha`` is 0.
    ``threads``: at most so many; None means the pool's setting.

    Raises UsageError: TM2901 for shapes and settings, TM2902 for types and layouts.

    >>> matmul(np.ones((2, 3), np.float32), np.ones((3, 1), np.float32)).tolist()
    [[3.0], [3.0]]
    """
    _check_operands(a, b)
    shape = (a.shape[0], b.shape[1])
    if threads is not None and threads < 1:
        raise UsageError(Diagnostic("TM2901", f"threads={threads}: at least one thread is needed"))
    if out is None:
        if beta != 0:
            raise UsageError(Diagnostic("TM2901", f"beta={beta} scales 'out', which was not given"))
        out = np.empty(shape, a.dtype)
    else:
        _check_out(out, shape, a.dtype)
        if not _is_plain(out) or np.may_share_memory(out, a) or np.may_share_memory(out, b):
            out[...] = matmul(a, b, out.copy(), alpha, beta, threads)
            return out
    _call(a if _is_plain(a) else a.copy(), b if _is_plain(b) else b.copy(), out, alpha, beta, threads)
    return out


def _call(a: Matrix, b: Matrix, out: Matrix, alpha: float, beta: float, threads: int | None) -> None:
    library = load_library()
    entry = library.tm_matmul_f32 if out.dtype == _FLOAT32 else library.tm_matmul_f64
    services = None if threads == 1 else default_services(threads)
    m, n = out.shape
    entry(m, n, a.shape[1], *_operand(a), *_operand(b), *_operand(out), alpha, beta, services)


def _operand(x: Matrix) -> tuple[int, int, int]:
    """Address, row stride and column stride, in elements."""
    rows, columns = x.strides
    size = x.itemsize
    return _address(x), rows // size, columns // size


def _address(x: Matrix) -> int:
    """``x.ctypes.data``, which takes a microsecond; a small product takes as long."""
    flags = x.flags
    if x.size and flags.c_contiguous and flags.writeable:
        return ctypes.addressof(c_char.from_buffer(cast(Any, x)))
    return int(x.ctypes.data)


def _is_plain(x: Matrix) -> bool:
    """Whether C may address the elements: aligned, at whole-element strides (a field of a record is not)."""
    rows, columns = x.strides
    size = x.itemsize
    return bool(x.flags.aligned) and rows % size == 0 and columns % size == 0


def _check_operands(a: object, b: object) -> None:
    for name, x in (("a", a), ("b", b)):
        if not isinstance(x, np.ndarray):
            message = f"'{name}' is of type {type(x).__name__}, not a NumPy array"
            raise UsageError(Diagnostic("TM2902", message, remedy="convert it with numpy.asarray"))
        if x.ndim != 2:
            message = f"'{name}' has shape {x.shape}: a matrix has two dimensions"
            raise UsageError(Diagnostic("TM2901", message, remedy="reshape it"))
        if x.dtype != _FLOAT32 and x.dtype != _FLOAT64:
            message = f"'{name}' has elements of type {x.dtype}, not float32 or float64"
            raise UsageError(Diagnostic("TM2902", message, remedy="convert it with .astype"))
    assert isinstance(a, np.ndarray) and isinstance(b, np.ndarray)
    if a.dtype != b.dtype:
        message = f"'a' holds {a.dtype} and 'b' {b.dtype}: both must be of one type"
        raise UsageError(Diagnostic("TM2902", message, remedy="convert one of them with .astype"))
    if a.shape[1] != b.shape[0]:
        message = f"'a' of shape {a.shape} and 'b' of shape {b.shape}: columns of 'a' are not rows of 'b'"
        raise UsageError(Diagnostic("TM2901", message, remedy="transpose an operand with .T"))


def _check_out(out: object, shape: tuple[int, int], dtype: np.dtype[Any]) -> None:
    if not isinstance(out, np.ndarray) or out.dtype != dtype:
        held = out.dtype if isinstance(out, np.ndarray) else type(out).__name__
        raise UsageError(Diagnostic("TM2902", f"'out' must be an array of {dtype}, not {held}"))
    if out.shape != shape:
        raise UsageError(Diagnostic("TM2901", f"'out' has shape {out.shape}, the product {shape}"))
    if not out.flags.writeable:
        raise UsageError(Diagnostic("TM2902", "'out' is read-only"))
    rows, columns = (abs(stride) for stride in out.strides)
    apart = rows >= columns * shape[1] and columns > 0 or columns >= rows * shape[0] and rows > 0
    if min(shape) > 0 and max(shape) > 1 and not apart and not _is_line(out):
        message = f"elements of 'out' may overlap: its strides are {out.strides} bytes for shape {shape}"
        raise UsageError(Diagnostic("TM2902", message, remedy="pass an array of its own, such as out.copy()"))


def _is_line(x: Matrix) -> bool:
    """Whether ``x`` is a single row or column whose elements lie apart."""
    return (x.shape[0] == 1 and x.strides[1] != 0) or (x.shape[1] == 1 and x.strides[0] != 0)
