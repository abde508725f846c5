"""Scalar types as Python objects: `f32(x)` converts as the IR's cast does, on NumPy's scalars."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tmigrate.tilelang.ir.rounding import round_float
from tmigrate.tilelang.ir.types import ALIASES, BF16, SCALARS, ScalarType, Type

_NUMPY = {
    "b1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
    "f16": np.float16, "f32": np.float32, "f64": np.float64,
}  # fmt: skip


def scalar_class(t: ScalarType) -> Any:
    """NumPy's scalar class of a type."""
    if t == BF16:
        import ml_dtypes

        return ml_dtypes.bfloat16
    return _NUMPY[t.name]


def dtype_of(t: ScalarType) -> np.dtype[Any]:
    """NumPy's dtype of a scalar type."""
    found: np.dtype[Any] = np.dtype(scalar_class(t))
    return found


def scalar_type_of(value: Any) -> ScalarType | None:
    """The type of a NumPy scalar or dtype; None for Python's numbers and for anything else."""
    dtype = value if isinstance(value, np.dtype) else getattr(value, "dtype", None)
    if dtype is None or not isinstance(dtype, np.dtype):
        return None
    return next((t for t in SCALARS.values() if dtype_of(t) == dtype), None)


def convert(t: ScalarType, value: Any) -> Any:
    """`value` as a NumPy scalar of type `t`.

    Integers wrap; a float becomes an integer towards zero, saturating, NaN giving 0.

    >>> from tmigrate.tilelang.ir.types import I8, U8
    >>> int(convert(U8, 300)), int(convert(I8, 1e9))
    (44, 127)
    """
    if t.is_bool:
        return np.bool_(bool(value))
    if t.is_float:
        return _to_float(t, value)
    if isinstance(value, str):
        raise TypeError(f"{t}({value!r}) is not a number")
    low, high = (-(1 << (t.bits - 1)), (1 << (t.bits - 1)) - 1) if t.is_signed else (0, (1 << t.bits) - 1)
    if _is_float(value):
        x = float(value)
        whole = 0 if math.isnan(x) else low if x <= low else high if x >= high else int(x)
    else:
        whole = (int(value) - low) % (1 << t.bits) + low
    return scalar_class(t)(whole)


def _is_float(value: Any) -> bool:
    if isinstance(value, float):
        return True
    found = scalar_type_of(value)
    return found is not None and found.is_float


def _to_float(t: ScalarType, value: Any) -> Any:
    """Rounded once: 64-bit integers go to f32 directly, everything else fits a double first."""
    make = scalar_class(t)
    if isinstance(value, int | np.integer) and t.bits == 32:
        return np.float32(np.uint64(value) if int(value) >= 1 << 63 else np.int64(int(value)))
    with np.errstate(all="ignore"):
        if isinstance(value, int | np.integer | np.bool_):
            return make(round_float(float(int(value)), t))
        return make(round_float(float(value), t))


class ScalarWord:
    """`f32`: a type in annotations, a conversion when called."""

    def __init__(self, t: ScalarType) -> None:
        self.type: Type = t
        self.scalar = t

    def __call__(self, value: Any = 0) -> Any:
        if isinstance(value, float) and math.isinf(value) and self.scalar.is_float:
            return scalar_class(self.scalar)(value)
        return convert(self.scalar, value)

    def __repr__(self) -> str:
        return str(self.type)


SCALAR_WORDS: dict[str, ScalarWord] = {name: ScalarWord(t) for name, t in {**SCALARS, **ALIASES}.items()}
