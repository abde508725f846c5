"""What the interpreter asks of an arithmetic for floating-point values, and the native one.

Integers are exact and wrap in every arithmetic; only values of float type differ.  Generated code applies
`+ - * /` and comparisons through templates (Python source with {a} and {b}), so that a field's sum costs one
line of Python; everything else is a function.
"""

from __future__ import annotations

import ctypes
import math
import struct
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from tmigrate.tilelang.interpreter import mathematics
from tmigrate.tilelang.interpreter.integers import limits, wrap
from tmigrate.tilelang.ir.expressions import BinaryOp, CompareOp, ReduceOp
from tmigrate.tilelang.ir.types import BF16, F16, F32, F64, ScalarType

Function = Callable[..., Any]


class Arithmetic(ABC):
    """Values of float types: how they are made, combined, compared and converted."""

    name: str

    @abstractmethod
    def constant(self, value: float, t: ScalarType) -> Any:
        """The value of a literal."""

    @abstractmethod
    def binary(self, op: BinaryOp, t: ScalarType) -> Function:
        """`+ - * /` as a function of two values."""

    def template(self, op: BinaryOp, t: ScalarType) -> str | None:
        """`+ - * /` as Python source with {a} and {b}, where that is shorter than a call."""
        return None

    @abstractmethod
    def compare(self, op: CompareOp) -> Function:
        """A comparison of two values."""

    @abstractmethod
    def negate(self, t: ScalarType) -> Function:
        """`-x`."""

    @abstractmethod
    def from_integer(self, t: ScalarType) -> Function:
        """Integer -> value."""

    @abstractmethod
    def to_integer(self, to: ScalarType, rounding: str) -> Function:
        """Value -> integer; rounding is rn, rd, ru or rz."""

    @abstractmethod
    def convert(self, source: ScalarType, to: ScalarType) -> Function:
        """Value of one float type -> another."""

    @abstractmethod
    def reinterpret(self, value: Any, source: ScalarType, to: ScalarType) -> Any:
        """The same bits as another scalar type of the same size."""

    @abstractmethod
    def function(self, name: str, t: ScalarType) -> Function:
        """A floating-point intrinsic by name."""

    @abstractmethod
    def neutral(self, op: ReduceOp, t: ScalarType) -> Any:
        """The value of an empty reduction."""

    @abstractmethod
    def unknown(self, key: tuple[Any, ...], t: ScalarType) -> Any:
        """What uninitialised memory holds."""

    def namespace(self) -> dict[str, Any]:
        """Names that templates use."""
        return {}


def round_to(t: ScalarType) -> Callable[[float], float]:
    """Round a double to a narrower float type, kept as a Python float."""
    if t == F64:
        return float
    if t == F32:
        return lambda x: ctypes.c_float(x).value
    if t == F16:
        with np.errstate(over="ignore"):
            return lambda x: float(np.float64(x).astype(np.float16))
    if t == BF16:
        return _round_bf16
    raise ValueError(f"{t} is not a float type")


def _round_bf16(x: float) -> float:
    single = ctypes.c_float(x).value
    if not math.isfinite(single):
        return single
    bits = struct.unpack("<I", struct.pack("<f", single))[0]
    bits = bits + 0x7FFF + (bits >> 16 & 1) & 0xFFFF0000
    return float(struct.unpack("<f", struct.pack("<I", bits))[0])


def divide(a: float, b: float) -> float:
    """IEEE division."""
    if b:
        return a / b
    if a == 0 or math.isnan(a) or math.isnan(b):
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


_FORMATS = {8: "b", 16: "h", 32: "i", 64: "q"}
_COMPARE: dict[CompareOp, Function] = {
    CompareOp.EQ: lambda a, b: a == b,
    CompareOp.NE: lambda a, b: a != b,
    CompareOp.LT: lambda a, b: a < b,
    CompareOp.LE: lambda a, b: a <= b,
    CompareOp.GT: lambda a, b: a > b,
    CompareOp.GE: lambda a, b: a >= b,
}


class Native(Arithmetic):
    """IEEE arithmetic; each result is rounded to its type (values are Python floats)."""

    name = "native"

    def constant(self, value: float, t: ScalarType) -> float:
        return round_to(t)(float(value))

    def binary(self, op: BinaryOp, t: ScalarType) -> Function:
        rounded = round_to(t)
        if op is BinaryOp.ADD:
            return lambda a, b: rounded(a + b)
        if op is BinaryOp.SUB:
            return lambda a, b: rounded(a - b)
        if op is BinaryOp.MUL:
            return lambda a, b: rounded(a * b)
        if op is BinaryOp.DIV:
            return lambda a, b: rounded(divide(a, b))
        raise ValueError(f"{op.value} is not defined on floats")

    def compare(self, op: CompareOp) -> Function:
        return _COMPARE[op]

    def negate(self, t: ScalarType) -> Function:
        return lambda a: -a

    def from_integer(self, t: ScalarType) -> Function:
        return (lambda a: float(int(a))) if t == F64 else _integer_to(t)

    def to_integer(self, to: ScalarType, rounding: str) -> Function:
        low, high = limits(to)
        rounded = mathematics.ROUNDINGS[rounding]

        def convert(x: float) -> int:
            if math.isnan(x):
                return 0
            if math.isinf(x):
                return high if x > 0 else low
            return min(max(int(rounded(x)), low), high)

        return convert

    def convert(self, source: ScalarType, to: ScalarType) -> Function:
        return round_to(to)

    def reinterpret(self, value: Any, source: ScalarType, to: ScalarType) -> Any:
        bits = float_bits(value, source) if source.is_float else int(value) & ((1 << source.bits) - 1)
        return float_from_bits(bits, to) if to.is_float else wrap(bits, to)

    def function(self, name: str, t: ScalarType) -> Function:
        exact, rounded = mathematics.FUNCTIONS[name], round_to(t)
        if name in mathematics.TESTS:
            return exact

        def call(*values: float) -> float:
            try:
                return rounded(exact(*values))
            except OverflowError:
                return math.inf
            except ValueError:
                return math.nan

        return call

    def neutral(self, op: ReduceOp, t: ScalarType) -> float:
        return {ReduceOp.SUM: 0.0, ReduceOp.PRODUCT: 1.0, ReduceOp.MAX: -math.inf, ReduceOp.MIN: math.inf}[op]

    def unknown(self, key: tuple[Any, ...], t: ScalarType) -> float:
        return math.nan


def _integer_to(t: ScalarType) -> Function:
    if t == F32:
        return lambda a: float(np.float32(int(a)))  # one rounding, not two
    rounded = round_to(t)
    return lambda a: rounded(float(int(a)))


def float_bits(value: float, t: ScalarType) -> int:
    """The bits of a float that is exact in its type."""
    if t == F16:
        return int(np.float16(value).view(np.uint16))
    if t == BF16:
        return int(struct.unpack("<I", struct.pack("<f", value))[0]) >> 16
    return int.from_bytes(struct.pack("<f" if t == F32 else "<d", value), "little")


def float_from_bits(bits: int, t: ScalarType) -> float:
    """The float of these bits."""
    if t == F16:
        return float(np.uint16(bits).view(np.float16))
    if t == BF16:
        return float(struct.unpack("<f", struct.pack("<I", bits << 16))[0])
    return float(struct.unpack("<f" if t == F32 else "<d", bits.to_bytes(t.bytes, "little"))[0])
