"""Arithmetics for checking equivalence: a random prime field, and small exact numbers.

In the field, any two expressions that are equal as rational functions are equal (and different ones differ,
but for a chance of about 2^-55 a value).  Functions that it cannot compute are keyed hashes, the same for
the same arguments.  Comparisons use a total order drawn from the seed, so that max, min and branches on data
agree with each other within a seed, and take both outcomes over seeds.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from tmigrate.tilelang.interpreter.arithmetic import Arithmetic, Function
from tmigrate.tilelang.interpreter.integers import wrap
from tmigrate.tilelang.ir.expressions import BinaryOp, CompareOp, ReduceOp
from tmigrate.tilelang.ir.types import ScalarType

PRIMES = (
    2305843009213693951, 2305843009213693921, 2305843009213693907, 2305843009213693723,
    2305843009213693693, 2305843009213693669, 2305843009213693613, 2305843009213693561,
)  # fmt: skip
_INTEGER_VALUES = 5  # float -> integer conversions give 0..4
_OPERATORS = {BinaryOp.ADD: "+", BinaryOp.SUB: "-", BinaryOp.MUL: "*"}
_EXACT_BINARY = {
    "add_rn": BinaryOp.ADD, "sub_rn": BinaryOp.SUB, "mul_rn": BinaryOp.MUL, "div_rn": BinaryOp.DIV,
    "fast_divide": BinaryOp.DIV,
}  # fmt: skip
_NEVER = frozenset({"isnan", "isinf"})


def single(value: float) -> float:
    """A literal as f32: `f32(0.2)` and `f32(f64(0.2))` are one number, whichever of them a version writes."""
    narrow = float(np.float32(value)) if abs(value) < 3e38 else value
    return narrow or value


class Hashing(Arithmetic):
    """What the two arithmetics share: functions as keyed hashes, tests by order, remembered bits."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._bits: dict[tuple[int, int], Any] = {}

    def key(self, *parts: Any) -> int:
        """A hash of field elements or numbers that depends on the seed."""
        parts = tuple("nan" if p != p else p for p in parts)  # hash(nan) differs from object to object
        return hash(
            (self.seed, *(sum(map(ord, p)) * 8191 + len(p) if isinstance(p, str) else p for p in parts))
        )

    def hashed(self, *parts: Any) -> Any:
        """A value from a key."""
        raise NotImplementedError

    def less(self, a: Any, b: Any) -> bool:
        """The order of values."""
        raise NotImplementedError

    def is_nan(self, a: Any) -> bool:
        """Whether a value stands for NaN."""
        raise NotImplementedError

    def is_infinite(self, a: Any) -> bool:
        """Whether a value stands for an infinity."""
        raise NotImplementedError

    def compare(self, op: CompareOp) -> Function:
        less = self.less
        return {
            CompareOp.EQ: lambda a, b: a == b,
            CompareOp.NE: lambda a, b: a != b,
            CompareOp.LT: less,
            CompareOp.LE: lambda a, b: a == b or less(a, b),
            CompareOp.GT: lambda a, b: less(b, a),
            CompareOp.GE: lambda a, b: a == b or less(b, a),
        }[op]

    def convert(self, source: ScalarType, to: ScalarType) -> Function:
        return lambda a: a

    def to_integer(self, to: ScalarType, rounding: str) -> Function:
        mode = {"rn": 1, "rd": 2, "ru": 3, "rz": 4}[rounding]
        return lambda a: self.key(17, mode, a) % _INTEGER_VALUES

    def reinterpret(self, value: Any, source: ScalarType, to: ScalarType) -> Any:
        if source.is_float and to.is_float:
            return self.hashed("bits", value, source.bits)
        if source.is_float:
            bits = self.key("bits", value) & ((1 << to.bits) - 1)
            self._bits[bits, to.bits] = value
            return wrap(bits, to)
        if not to.is_float:
            return wrap(value, to)
        bits = value & ((1 << source.bits) - 1)
        if bits == 0:
            return self.constant(0.0, to)
        return self._bits.get((bits, source.bits), self.hashed("value", bits))

    def function(self, name: str, t: ScalarType) -> Function:
        if name in _EXACT_BINARY:
            return self.binary(_EXACT_BINARY[name], t)
        special = self._special(t).get(name)
        if special is not None:
            return special
        if name.startswith("fast_"):
            name = name.removeprefix("fast_")
        return lambda *values: self.hashed(name, *values)

    def _special(self, t: ScalarType) -> dict[str, Callable[..., Any]]:
        add, multiply, divide = (self.binary(o, t) for o in (BinaryOp.ADD, BinaryOp.MUL, BinaryOp.DIV))
        one, zero, less = self.constant(1.0, t), self.constant(0.0, t), self.less
        negate = self.negate(t)
        return {
            "fma": lambda a, b, c: add(multiply(a, b), c),
            "frcp_rn": lambda a: divide(one, a),
            "rsqrt": lambda a: divide(one, self.hashed("sqrt", a)),
            "fmin": lambda a, b: b if less(b, a) else a,
            "fmax": lambda a, b: b if less(a, b) else a,
            "fabs": lambda a: negate(a) if less(a, zero) else a,
            "fdim": lambda a, b: add(a, negate(b)) if less(b, a) else zero,
            "isnan": self.is_nan,
            "isinf": self.is_infinite,
            "isfinite": lambda a: not (self.is_nan(a) or self.is_infinite(a)),
            "signbit": lambda a: less(a, zero),
            "ilogb": lambda a: self.key("ilogb", a) % _INTEGER_VALUES,
            "saturate": lambda a: zero if less(a, zero) else (one if less(one, a) else a),
        }

    def unknown(self, key: tuple[Any, ...], t: ScalarType) -> Any:
        return self.hashed("unknown", *key)


class PrimeField(Hashing):
    """Integers modulo a random 61-bit prime."""

    name = "prime field"

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        draw = random.Random(seed)
        self.prime = draw.choice(PRIMES)
        self.order = draw.randrange(1 << 40, self.prime)  # a < b where order * a < order * b (mod prime)
        self.salt = draw.randrange(1 << 60)

    def namespace(self) -> dict[str, Any]:
        return {"P_": self.prime}

    def constant(self, value: float, t: ScalarType) -> int:
        if value != value or value in (float("inf"), float("-inf")):
            return int(self.hashed("special", repr(value)))
        exact = Fraction(single(value))
        return exact.numerator * pow(exact.denominator, -1, self.prime) % self.prime

    def binary(self, op: BinaryOp, t: ScalarType) -> Function:
        prime = self.prime
        if op is BinaryOp.ADD:
            return lambda a, b: (a + b) % prime
        if op is BinaryOp.SUB:
            return lambda a, b: (a - b) % prime
        if op is BinaryOp.MUL:
            return lambda a, b: a * b % prime
        if op is BinaryOp.DIV:
            return lambda a, b: a * pow(b, -1, prime) % prime if b else self.hashed("x/0", a)
        raise ValueError(f"{op.value} is not defined on floats")

    def template(self, op: BinaryOp, t: ScalarType) -> str | None:
        sign = _OPERATORS.get(op)
        return None if sign is None else "(({a} " + sign + " {b}) % P_)"

    def negate(self, t: ScalarType) -> Function:
        return lambda a: -a % self.prime

    def from_integer(self, t: ScalarType) -> Function:
        return lambda a: int(a) % self.prime

    def hashed(self, *parts: Any) -> int:
        return (self.key(*parts) * 0x9E3779B97F4A7C15 + self.salt) % self.prime

    def less(self, a: int, b: int) -> bool:
        return a * self.order % self.prime < b * self.order % self.prime

    def is_nan(self, a: int) -> bool:
        return a == self.hashed("special", "nan")

    def is_infinite(self, a: int) -> bool:
        return a in (self.hashed("special", "inf"), self.hashed("special", "-inf"))

    def neutral(self, op: ReduceOp, t: ScalarType) -> int:
        if op in (ReduceOp.SUM, ReduceOp.PRODUCT):
            return int(op is ReduceOp.PRODUCT)
        extreme = 0 if op is ReduceOp.MAX else self.prime - 1
        return extreme * pow(self.order, -1, self.prime) % self.prime


class SmallNumbers(Hashing):
    """Exact rational numbers with their real order; data are small integers."""

    name = "small numbers"

    def constant(self, value: float, t: ScalarType) -> Fraction | int | float:
        if value != value or value in (float("inf"), float("-inf")):
            return value
        return _simple(Fraction(single(value)))

    def binary(self, op: BinaryOp, t: ScalarType) -> Function:
        if op is BinaryOp.ADD:
            return lambda a, b: a + b
        if op is BinaryOp.SUB:
            return lambda a, b: a - b
        if op is BinaryOp.MUL:
            return lambda a, b: a * b
        if op is BinaryOp.DIV:
            return lambda a, b: self._divide(a, b)
        raise ValueError(f"{op.value} is not defined on floats")

    def _divide(self, a: Any, b: Any) -> Any:
        if b == 0:
            return self.hashed("x/0", a)
        return a / b if isinstance(a, float) or isinstance(b, float) else _simple(Fraction(a) / b)

    def template(self, op: BinaryOp, t: ScalarType) -> str | None:
        sign = _OPERATORS.get(op)
        return None if sign is None else "({a} " + sign + " {b})"

    def negate(self, t: ScalarType) -> Function:
        return lambda a: -a

    def from_integer(self, t: ScalarType) -> Function:
        return int

    def hashed(self, *parts: Any) -> int:
        return self.key(*parts) % 17 - 8

    def less(self, a: Any, b: Any) -> bool:
        return bool(a < b)

    def is_nan(self, a: Any) -> bool:
        return bool(a != a)

    def is_infinite(self, a: Any) -> bool:
        return a in (float("inf"), float("-inf"))

    def neutral(self, op: ReduceOp, t: ScalarType) -> float | int:
        if op in (ReduceOp.SUM, ReduceOp.PRODUCT):
            return int(op is ReduceOp.PRODUCT)
        return float("-inf") if op is ReduceOp.MAX else float("inf")


def _simple(value: Fraction) -> Fraction | int:
    return value.numerator if value.denominator == 1 else value
