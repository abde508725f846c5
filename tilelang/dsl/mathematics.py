"""Floating-point functions for plain Python: the C library's own, so that results agree with compiled code.

What C has no function for is computed by the formulas of the interpreter.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import math
from collections.abc import Callable
from functools import cache
from typing import Any

from tmigrate.tilelang.interpreter.mathematics import FUNCTIONS
from tmigrate.tilelang.ir.types import F32, F64, ScalarType

# Names that C's library has, under the same name for f64 and with the suffix f for f32.
_LIBRARY = frozenset(
    "sqrt cbrt exp exp2 exp10 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh "
    "asinh acosh atanh erf erfc tgamma lgamma floor ceil trunc round rint fabs pow atan2 fmod remainder "
    "hypot fdim copysign nextafter fmin fmax fma".split()
)
# CUDA's fast forms: computed by the accurate function.
_FAST = {f"fast_{name}": name for name in ("exp", "log", "log2", "log10", "sin", "cos", "tan", "pow")}
_BESSEL = frozenset({"j0", "j1", "y0", "y1"})


@cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(ctypes.util.find_library("m"))


@cache
def library_function(name: str, t: ScalarType, arity: int) -> Callable[..., float] | None:
    """The C library's function on floats of type `t`, or None where it has none."""
    base = _FAST.get(name, name)
    single = t != F64 and base not in _BESSEL
    if base not in _LIBRARY and base not in _BESSEL:
        return None
    found: Any = getattr(_library(), f"{base}f" if single else base, None)
    if found is None:
        return None
    kind = ctypes.c_float if single else ctypes.c_double
    found.argtypes = [kind] * arity
    found.restype = kind
    return found  # type: ignore[no-any-return]


# Formulas in the type's own arithmetic, as the compiled code writes them: (operations, arguments) -> result.
_FORMULAS: dict[str, Callable[..., Any]] = {
    "rsqrt": lambda one, x: one(1) / _call("sqrt", one, x),
    "rcbrt": lambda one, x: one(1) / _call("cbrt", one, x),
    "rhypot": lambda one, x, y: one(1) / _call("hypot", one, x, y),
    "norm3d": lambda one, x, y, z: _call("sqrt", one, x * x + y * y + z * z),
    "erfcx": lambda one, x: _call("exp", one, x * x) * _call("erfc", one, x),
    "sinpi": lambda one, x: _call("sin", one, x * one(3.14159265358979323846)),
    "cospi": lambda one, x: _call("cos", one, x * one(3.14159265358979323846)),
    "normcdf": lambda one, x: one(0.5) * _call("erfc", one, one(-0.707106781186547524401) * x),
    "fast_exp10": lambda one, x: _call("pow", one, one(10), x),
    "fast_divide": lambda one, x, y: x / y,
    "add_rn": lambda one, x, y: x + y,
    "sub_rn": lambda one, x, y: x - y,
    "mul_rn": lambda one, x, y: x * y,
    "div_rn": lambda one, x, y: x / y,
    "frcp_rn": lambda one, x: one(1) / x,
}


def _call(name: str, one: Callable[[Any], Any], *values: Any) -> Any:
    """A library function on NumPy scalars of the class `one`."""
    t = F64 if values[0].dtype.itemsize == 8 else F32
    found = library_function(name, t, len(values))
    assert found is not None
    return one(found(*map(float, values)))


def compute(name: str, t: ScalarType, one: Callable[[Any], Any], values: tuple[Any, ...]) -> Any:
    """A function of floats; `values` are NumPy scalars of f32 or f64, `one` their class."""
    formula = _FORMULAS.get(name)
    if formula is not None:
        return formula(one, *values)
    found = library_function(name, t, len(values))
    if found is not None:
        return one(found(*map(float, values)))
    return one(_exact(name, *map(float, values)))


# Where the interpreter's formulas, which search an interval, give no infinity.
_LIMITS = {
    ("erfinv", 1.0): math.inf, ("erfinv", -1.0): -math.inf, ("erfcinv", 0.0): math.inf,
    ("erfcinv", 2.0): -math.inf, ("normcdfinv", 0.0): -math.inf, ("normcdfinv", 1.0): math.inf,
}  # fmt: skip


_DOMAINS = {"erfinv": (-1.0, 1.0), "erfcinv": (0.0, 2.0), "normcdfinv": (0.0, 1.0)}


def _exact(name: str, *values: float) -> float:
    limit = _LIMITS.get((name, values[0]))
    if limit is not None:
        return limit
    low, high = _DOMAINS.get(name, (-math.inf, math.inf))
    if not low <= values[0] <= high:
        return math.nan
    try:
        return float(FUNCTIONS[name](*values))
    except OverflowError:
        return float("inf")
    except ValueError:
        return float("nan")
