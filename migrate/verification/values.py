"""Generated values: every byte follows from a seed and its place, so that a run can be repeated exactly.

Profiles of integers in memory (kernels use them as counts, as indices, or as plain data):

========== ==================================================================
small      0 to 15
distinct   element k holds k with its last bit turned: a permutation
rising     never less than the element before: row starts of a sparse matrix
bits       0 or 1
wide       the type's whole range, its limits among them
========== ==================================================================

Profiles of floats: `ordinary` (-2 to 2, a quarter of them small whole numbers), `positive` (0 to 4), and
`special` (half of them zeros of both signs, denormals, huge numbers, infinities and NaN).
"""

from __future__ import annotations

import math
import platform
from collections.abc import Iterable, Mapping
from typing import Any

from tmigrate.tilelang.interpreter.arithmetic import float_bits, round_to
from tmigrate.tilelang.interpreter.integers import limits
from tmigrate.tilelang.interpreter.memory import Buffer, CellKind, FaultError
from tmigrate.tilelang.ir.types import F16, ScalarType

INTEGER_PROFILES = ("small", "distinct", "rising", "bits", "wide")
FLOAT_PROFILES = ("ordinary", "positive", "special")

_MASK = (1 << 64) - 1
_HUGE = {16: 1e3, 32: 1e30, 64: 1e300}  # sums of a thousand do not overflow in any order
_DENORMAL = {16: 1e-7, 32: 1e-42, 64: 5e-320}

# The NaN that this machine makes itself (inf - inf): which of two NaNs a sum keeps depends on the order
# in which a compiler takes its operands, and a GPU keeps neither.
_NAN = math.copysign(math.nan, -1.0 if platform.machine() in ("x86_64", "AMD64") else 1.0)


def mix(*parts: int) -> int:
    """64 well-mixed bits from integers (the finaliser of SplitMix64, applied once a part).

    >>> mix(1, 2) == mix(1, 2) != mix(2, 1)
    True
    """
    state = 0x9E3779B97F4A7C15
    for part in parts:
        state = (state ^ part) * 0xBF58476D1CE4E5B9 & _MASK
        state = (state ^ state >> 27) * 0x94D049BB133111EB & _MASK
        state ^= state >> 31
    return state


class Values:
    """The generated values of one run; `unknown` is what the interpreter asks for untouched memory."""

    def __init__(
        self,
        seed: int,
        integers: str,
        floats: str,
        ranges: Mapping[str, tuple[float, float]],
        buffers: Iterable[Buffer] = (),
    ) -> None:
        self.seed = seed
        self.integers = integers
        self.floats = floats
        self.ranges = ranges
        self.stray = False  # whether memory outside the given buffers was read before it was written
        self.numbers = {id(b): k for k, b in enumerate(buffers)}
        self.initial: dict[int, dict[int, tuple[ScalarType, Any]]] = {key: {} for key in self.numbers}

    def unknown(self, buffer: Buffer, offset: int, kind: CellKind) -> Any:
        """The value of memory that nothing has written yet."""
        if id(buffer) not in self.numbers:
            self.stray = True
            return float("nan") if isinstance(kind, ScalarType) and kind.is_float else 0
        if not isinstance(kind, ScalarType):
            raise FaultError("unsupported", f"{buffer.name} points to memory that holds pointers")
        value = self.element(buffer, offset, kind)
        self.initial[id(buffer)][offset] = (kind, value)
        return value

    def initial_bytes(self, buffer: Buffer, size: int) -> bytes:
        """The buffer's bytes before the run; what was never read holds a pattern."""
        made = bytearray(b"\x5b" * size)
        for offset, (kind, value) in self.initial[id(buffer)].items():
            made[offset : offset + kind.bytes] = scalar_bytes(value, kind)
        return bytes(made)

    def element(self, buffer: Buffer, offset: int, kind: ScalarType) -> int | float | bool:
        """The value at a byte offset of a buffer."""
        bits = mix(self.seed, self.numbers[id(buffer)], offset)
        if buffer.name in self.ranges:
            return _within(bits, kind, self.ranges[buffer.name])
        if kind.is_float:
            return self._float(bits, kind)
        return self._integer(bits, offset // kind.bytes, kind)

    def scalar(self, name: str, kind: ScalarType) -> int | float | bool:
        """A scalar argument that the case leaves open."""
        bits = mix(self.seed, *name.encode())
        if name in self.ranges:
            return _within(bits, kind, self.ranges[name])
        if kind.is_float:
            return _ordinary(bits, kind)
        return bool(bits & 1) if kind.is_bool else 1 + bits % 3

    def _float(self, bits: int, kind: ScalarType) -> float:
        if self.floats == "special" and bits & 1:
            huge, tiny = _HUGE[kind.bits], _DENORMAL[kind.bits]
            if kind.bits == 16 and kind != F16:  # bf16 has f32's exponents
                huge, tiny = _HUGE[32], _DENORMAL[32]
            infinity = float("inf")
            chosen = (0.0, -0.0, tiny, -tiny, huge, -huge, infinity, -infinity, _NAN, 1.0)[(bits >> 8) % 10]
            return round_to(kind)(chosen)
        if self.floats == "positive":
            return round_to(kind)(((bits >> 20) % (1 << 20) + 1) * 2.0**-18)
        return _ordinary(bits, kind)

    def _integer(self, bits: int, index: int, kind: ScalarType) -> int | bool:
        low, high = limits(kind) if not kind.is_bool else (0, 1)
        if kind.is_bool or self.integers == "bits":
            return bool(bits & 1) if kind.is_bool else bits & 1
        if self.integers == "wide":
            return (low, high, 0, 1)[bits % 4] if bits >> 60 == 0 else low + bits % (high - low + 1)
        if self.integers == "distinct":
            return (index ^ 1) % (high + 1)
        if self.integers == "rising":
            return min(2 * index + (bits & 1), high)
        return bits % 16


def _ordinary(bits: int, kind: ScalarType) -> float:
    if bits & 3 == 0:
        return float((bits >> 8) % 7) - 3.0
    return round_to(kind)(((bits >> 20) % (1 << 20)) * 2.0**-18 - 2.0)


def _within(bits: int, kind: ScalarType, bounds: tuple[float, float]) -> int | float | bool:
    """A value from a closed interval."""
    low, high = bounds
    if kind.is_float:
        return round_to(kind)(low + (high - low) * (bits % (1 << 20)) / ((1 << 20) - 1))
    drawn = int(low) + bits % (int(high) - int(low) + 1)
    return bool(drawn) if kind.is_bool else drawn


def scalar_bytes(value: int | float | bool, t: ScalarType) -> bytes:
    """A scalar as it lies in memory."""
    if t.is_float:
        return float_bits(float(value), t).to_bytes(t.bytes, "little")
    return (int(value) & ((1 << 8 * t.bytes) - 1)).to_bytes(t.bytes, "little")


__all__ = ["FLOAT_PROFILES", "INTEGER_PROFILES", "Values", "mix", "scalar_bytes"]
