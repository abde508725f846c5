"""How the interpreter computes each intrinsic: one entry per row of `INTRINSICS`.

An entry says which of six shapes the operation has; the compiler of functions handles the shapes, so that a
new integer or math intrinsic needs one line here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from tmigrate.tilelang.interpreter import integers
from tmigrate.tilelang.ir.intrinsics import INTRINSICS, Effect
from tmigrate.tilelang.ir.types import ScalarType, Type


class Shape(Enum):
    """Who computes an operation."""

    FLOAT = "float"  # the arithmetic, by name
    ROUND = "round"  # the arithmetic's conversion to an integer; `detail` is the rounding
    INTEGER = "integer"  # `detail`: argument types -> a function of integers
    ATOMIC = "atomic"  # `detail`: how the new value follows from the old one
    COLLECTIVE = "collective"  # the scheduler: barriers and lanes
    HOST = "host"  # the machine: printing, trapping, the clock; fences do nothing


@dataclass(frozen=True, slots=True)
class Operation:
    """One entry."""

    shape: Shape
    detail: Any = None


IntegerMaker = Callable[[Sequence[Type]], Callable[..., int]]


def _by_type(function: Callable[..., int]) -> IntegerMaker:
    """An operation that needs its first argument's type."""

    def make(types: Sequence[Type]) -> Callable[..., int]:
        t = types[0]
        return lambda *values: function(*values, t)

    return make


def _wrapped(function: Callable[..., int], position: int = 0) -> IntegerMaker:
    """A function on exact integers whose result wraps at an argument's type."""

    def make(types: Sequence[Type]) -> Callable[..., int]:
        t = types[position]
        assert isinstance(t, ScalarType)
        return lambda *values: integers.wrap(function(*values), t)

    return make


def _mulhi(types: Sequence[Type]) -> Callable[..., int]:
    t = types[0]
    assert isinstance(t, ScalarType)
    return lambda a, b: integers.wrap(a * b >> t.bits, t)


def _dp4a(types: Sequence[Type]) -> Callable[..., int]:
    return lambda x, y, z: integers.dp4a(x, y, z, types[2], types[0])  # type: ignore[arg-type]


def _plain(function: Callable[..., int]) -> IntegerMaker:
    return lambda types: function


OPERATIONS: dict[str, Operation] = {
    "min": Operation(Shape.INTEGER, _plain(min)),
    "max": Operation(Shape.INTEGER, _plain(max)),
    "abs": Operation(Shape.INTEGER, _wrapped(abs)),
    "popc": Operation(Shape.INTEGER, _by_type(integers.popc)),
    "clz": Operation(Shape.INTEGER, _by_type(integers.clz)),
    "ffs": Operation(Shape.INTEGER, _by_type(integers.ffs)),
    "brev": Operation(Shape.INTEGER, _by_type(integers.brev)),
    "mulhi": Operation(Shape.INTEGER, _mulhi),
    "mul24": Operation(Shape.INTEGER, _by_type(integers.mul24)),
    "hadd": Operation(Shape.INTEGER, _plain(lambda a, b: (a + b) >> 1)),
    "rhadd": Operation(Shape.INTEGER, _plain(lambda a, b: (a + b + 1) >> 1)),
    "sad": Operation(Shape.INTEGER, _wrapped(lambda a, b, c: abs(a - b) + c, 2)),
    "byte_perm": Operation(Shape.INTEGER, _plain(integers.byte_perm)),
    "funnelshift_l": Operation(Shape.INTEGER, _plain(integers.funnel(left=True, clamp=False))),
    "funnelshift_r": Operation(Shape.INTEGER, _plain(integers.funnel(left=False, clamp=False))),
    "funnelshift_lc": Operation(Shape.INTEGER, _plain(integers.funnel(left=True, clamp=True))),
    "funnelshift_rc": Operation(Shape.INTEGER, _plain(integers.funnel(left=False, clamp=True))),
    "dp4a": Operation(Shape.INTEGER, _dp4a),
    # Atomics: the word names the rule of `atomic_rule`.
    **{
        f"atomic_{word}": Operation(Shape.ATOMIC, word)
        for word in ("add", "sub", "min", "max", "exch", "inc", "dec", "and", "or", "xor", "cas")
    },
    **{
        name: Operation(Shape.COLLECTIVE)
        for name in (
            "syncthreads", "syncthreads_count", "syncthreads_and", "syncthreads_or", "syncwarp",
            "shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync",
            "ballot_sync", "any_sync", "all_sync", "activemask",
        )
    },
    **{
        name: Operation(Shape.HOST)
        for name in (
            "printf", "assert_", "trap", "clock", "threadfence", "threadfence_block", "threadfence_system",
        )
    },
    **{
        f"float_to_{integer}_{rounding}": Operation(Shape.ROUND, rounding)
        for integer in ("int", "uint", "ll", "ull")
        for rounding in ("rn", "rd", "ru", "rz")
    },
    **{
        name: Operation(Shape.FLOAT)
        for name in """
            sqrt rsqrt cbrt rcbrt exp exp2 exp10 expm1 log log2 log10 log1p
            sin cos tan sinpi cospi asin acos atan sinh cosh tanh asinh acosh atanh
            erf erfc erfinv erfcinv erfcx normcdf normcdfinv tgamma lgamma j0 j1 y0 y1
            floor ceil trunc round rint fabs
            pow atan2 fmod remainder hypot rhypot fdim copysign nextafter
            fmin fmax fma norm3d isnan isinf isfinite signbit ldexp ilogb
            fast_exp fast_exp10 fast_log fast_log2 fast_log10 fast_sin fast_cos fast_tan
            fast_pow fast_divide saturate add_rn mul_rn sub_rn div_rn frcp_rn
        """.split()
    },
}  # fmt: skip


def atomic_rule(
    word: str, t: ScalarType, add: Callable[[Any, Any], Any], less: Callable[[Any, Any], bool]
) -> Any:
    """(old, operands...) -> new value, or None where memory keeps its value."""
    rules: dict[str, Callable[..., Any]] = {
        "add": add,
        "sub": lambda old, v: integers.wrap(old - v, t),
        "min": lambda old, v: v if less(v, old) else old,
        "max": lambda old, v: v if less(old, v) else old,
        "exch": lambda old, v: v,
        "inc": lambda old, v: 0 if old >= v else old + 1,
        "dec": lambda old, v: v if old == 0 or old > v else old - 1,
        "and": lambda old, v: old & v,
        "or": lambda old, v: old | v,
        "xor": lambda old, v: old ^ v,
        "cas": lambda old, compare, v: v if old == compare else old,
    }
    return rules[word]


def is_collective(name: str) -> bool:
    """Whether a call makes its function a generator."""
    entry = INTRINSICS.get(name)
    return entry is not None and entry.effect in (Effect.BARRIER, Effect.LANES)
