"""Rounding of Python floats to the IR's float types."""

from __future__ import annotations

import numpy as np

from tmigrate.tilelang.ir.types import BF16, F16, F32, ScalarType


def round_float(value: float, t: ScalarType) -> float:
    """The number of type `t` nearest to `value`; overflow gives an infinity.

    >>> from tmigrate.tilelang.ir.types import F32
    >>> round_float(0.1, F32)
    0.10000000149011612
    """
    with np.errstate(over="ignore", invalid="ignore"):
        if t == F32:
            return float(np.float32(value))
        if t == F16:
            return float(np.float16(value))
        if t == BF16:
            import ml_dtypes

            return float(np.float64(value).astype(ml_dtypes.bfloat16))
    return float(value)
