"""C literals."""

from __future__ import annotations

import math
import struct

from tmigrate.tilelang.ir.types import PointerType, ScalarType, Type
from tmigrate.tilelang.targets.cpu.names import c_type


def literal(value: int | float | bool, t: Type) -> str:
    """A C expression of exactly this value and type.

    >>> from tmigrate.tilelang.ir.types import F32, I32
    >>> literal(0.5, F32), literal(-3, I32)
    ('0.5f', '(-3)')
    """
    if isinstance(t, PointerType):
        return f"(({c_type(t)})(uintptr_t){int(value)}u)"
    if not isinstance(t, ScalarType):
        raise TypeError(f"no literal of type {t}")
    if t.is_bool:
        return "true" if value else "false"
    if t.is_integer:
        return _integer(int(value), t)
    return _float(float(value), t)


def _integer(value: int, t: ScalarType) -> str:
    value &= (1 << t.bits) - 1
    if t.is_signed and value >> (t.bits - 1):
        value -= 1 << t.bits
    if t.bits < 32:
        return f"(({c_type(t)}){value})"
    suffix = ("" if t.is_signed else "u") + ("ll" if t.bits == 64 else "")
    if value == -(1 << (t.bits - 1)):
        return f"({value + 1}{suffix} - 1)"
    return f"({value}{suffix})" if value < 0 else f"{value}{suffix}"


def _float(value: float, t: ScalarType) -> str:
    if t.bits == 16:
        return f"tm_f64_to_{t.name}({_plain(value, '')})"
    if t.bits == 32:
        if math.isfinite(value):
            value = struct.unpack("f", struct.pack("f", value))[0]
        return _plain(value, "f")
    return _plain(value, "")


def _plain(value: float, suffix: str) -> str:
    if math.isnan(value):
        negative = math.copysign(1.0, value) < 0
        return f'({"-" if negative else ""}__builtin_nan{suffix}(""))'
    if math.isinf(value):
        return f"({'-' if value < 0 else ''}__builtin_inf{suffix}())"
    text = _shortest_single(value) if suffix else repr(value)
    if suffix and "e" not in text and "." not in text:
        text += ".0"
    return f"({text}{suffix})" if text.startswith("-") else f"{text}{suffix}"


def _shortest_single(value: float) -> str:
    """The shortest decimal that reads back as the same f32."""
    for digits in range(1, 10):
        text = f"{value:.{digits}g}"
        try:
            if struct.unpack("f", struct.pack("f", float(text)))[0] == value:
                return repr(float(text))
        except OverflowError:
            continue
    return value.hex()


def string(text: str) -> str:
    """A C string literal; a three-digit octal escape can swallow no following digit.

    >>> string("a\\n")
    '"a\\\\012"'
    """
    plain = frozenset(range(32, 127)) - {ord('"'), ord("\\"), ord("?")}
    return '"' + "".join(chr(b) if b in plain else f"\\{b:03o}" for b in text.encode()) + '"'
