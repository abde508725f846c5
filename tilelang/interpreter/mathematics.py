"""The floating-point intrinsics on Python floats; results are rounded by the caller."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

Function = Callable[..., Any]


def half_away(x: float) -> float:
    """`round`: half away from zero."""
    return math.copysign(math.floor(abs(x) + 0.5), x) if abs(x) < 2**52 else x


def _whole(function: Function) -> Function:
    def rounding(x: float) -> float:
        return math.copysign(float(function(x)), x) if math.isfinite(x) else x

    return rounding


def _logarithm(function: Function) -> Function:
    return lambda x: function(x) if x > 0 else (-math.inf if x == 0 else math.nan)


def _inverse(function: Function) -> Function:
    def inverse(x: float) -> float:
        y = function(x)
        return 1.0 / y if y else math.copysign(math.inf, y)

    return inverse


def _minimum(a: float, b: float) -> float:
    return b if math.isnan(a) or b < a else a


def _maximum(a: float, b: float) -> float:
    return b if math.isnan(a) or b > a else a


def _power(a: float, b: float) -> float:
    try:
        return math.pow(a, b)
    except ZeroDivisionError:
        return math.inf
    except ValueError:
        return math.inf if a == 0 else math.nan


def _fma(a: float, b: float, c: float) -> float:
    from fractions import Fraction

    if not all(map(math.isfinite, (a, b, c))):
        return a * b + c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    return float(exact) if exact else a * b + c


def normcdf(x: float) -> float:
    """The standard normal distribution."""
    return 0.5 * math.erfc(-x / math.sqrt(2.0))


def _solve(function: Function, y: float) -> float:
    """The argument at which an increasing function takes the value y, by bisection."""
    low, high = -40.0, 40.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) < y else (low, middle)
    return (low + high) / 2


def _bessel(order: int, x: float) -> float:
    """J_n by its integral, with the trapezoidal rule (exact to rounding for periodic integrands)."""
    steps = max(64, 4 * int(abs(x)) + 64)
    total = sum(math.cos(order * t - x * math.sin(t)) for t in _angles(steps))
    return total / steps


def _angles(steps: int) -> list[float]:
    return [2 * math.pi * (k + 0.5) / steps for k in range(steps)]


def _neumann(order: int, x: float) -> float:
    """Y_n by Schlaefli's integrals with Simpson's rule."""
    if x <= 0:
        return -math.inf if x == 0 else math.nan

    def first(t: float) -> float:
        return math.sin(x * math.sin(t) - order * t) / math.pi

    def second(t: float) -> float:
        sign = -1 if order % 2 else 1
        return (math.exp(order * t) + sign * math.exp(-order * t)) * math.exp(-x * math.sinh(t)) / math.pi

    return _simpson(first, 0.0, math.pi) - _simpson(second, 0.0, math.asinh(750.0 / x))


def _simpson(function: Callable[[float], float], a: float, b: float, steps: int = 4000) -> float:
    h = (b - a) / steps
    inner = sum((4 if k % 2 else 2) * function(a + k * h) for k in range(1, steps))
    return float(h / 3 * (function(a) + inner + function(b)))


def _ilogb(x: float) -> int:
    if x == 0 or math.isnan(x):
        return -(2**31)
    return 2**31 - 1 if math.isinf(x) else math.frexp(x)[1] - 1


def _saturate(x: float) -> float:
    return 0.0 if math.isnan(x) else min(max(x, 0.0), 1.0)


ROUNDINGS: dict[str, Function] = {"rn": round, "rd": math.floor, "ru": math.ceil, "rz": math.trunc}
TESTS = frozenset({"isnan", "isinf", "isfinite", "signbit", "ilogb"})

FUNCTIONS: dict[str, Function] = {
    "sqrt": math.sqrt,
    "rsqrt": _inverse(math.sqrt),
    "cbrt": math.cbrt,
    "rcbrt": _inverse(math.cbrt),
    "exp": math.exp,
    "exp2": math.exp2,
    "exp10": lambda x: _power(10.0, x),
    "expm1": math.expm1,
    "log": _logarithm(math.log),
    "log2": _logarithm(math.log2),
    "log10": _logarithm(math.log10),
    "log1p": lambda x: -math.inf if x == -1 else math.log1p(x),
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "sinpi": lambda x: math.sin(math.pi * math.fmod(x, 2.0)),
    "cospi": lambda x: math.cos(math.pi * math.fmod(x, 2.0)),
    "asin": math.asin,
    "acos": math.acos,
    "atan": math.atan,
    "sinh": math.sinh,
    "cosh": math.cosh,
    "tanh": math.tanh,
    "asinh": math.asinh,
    "acosh": math.acosh,
    "atanh": math.atanh,
    "erf": math.erf,
    "erfc": math.erfc,
    "erfinv": lambda x: _solve(math.erf, x),
    "erfcinv": lambda x: _solve(lambda v: -math.erfc(v), -x),
    "erfcx": lambda x: math.exp(x * x) * math.erfc(x),
    "normcdf": normcdf,
    "normcdfinv": lambda x: _solve(normcdf, x),
    "tgamma": math.gamma,
    "lgamma": math.lgamma,
    "j0": lambda x: _bessel(0, x),
    "j1": lambda x: _bessel(1, x),
    "y0": lambda x: _neumann(0, x),
    "y1": lambda x: _neumann(1, x),
    "floor": _whole(math.floor),
    "ceil": _whole(math.ceil),
    "trunc": _whole(math.trunc),
    "round": _whole(half_away),
    "rint": _whole(round),
    "fabs": abs,
    "pow": _power,
    "atan2": math.atan2,
    "fmod": math.fmod,
    "remainder": math.remainder,
    "hypot": math.hypot,
    "rhypot": lambda x, y: _inverse(lambda v: math.hypot(x, v))(y),
    "fdim": lambda x, y: x - y if x > y else 0.0,
    "copysign": math.copysign,
    "nextafter": math.nextafter,
    "fmin": _minimum,
    "fmax": _maximum,
    "fma": _fma,
    "norm3d": lambda x, y, z: math.hypot(x, y, z),
    "isnan": math.isnan,
    "isinf": math.isinf,
    "isfinite": math.isfinite,
    "signbit": lambda x: math.copysign(1.0, x) < 0,
    "ldexp": math.ldexp,
    "ilogb": _ilogb,
    "saturate": _saturate,
    "add_rn": lambda x, y: x + y,
    "sub_rn": lambda x, y: x - y,
    "mul_rn": lambda x, y: x * y,
    "div_rn": lambda x, y: x / y if y else math.copysign(math.inf, x) * math.copysign(1.0, y),
    "frcp_rn": lambda x: 1.0 / x if x else math.copysign(math.inf, x),
    "fast_divide": lambda x, y: x / y if y else math.copysign(math.inf, x) * math.copysign(1.0, y),
    "fast_pow": _power,
}
FUNCTIONS.update(
    {
        f"fast_{name}": FUNCTIONS[name]
        for name in ("exp", "exp10", "log", "log2", "log10", "sin", "cos", "tan")
    }
)
