"""Intrinsics as Python functions, for running a kernel's text under plain Python."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from tmigrate.tilelang.dsl import mathematics
from tmigrate.tilelang.dsl.scalars import convert, scalar_class, scalar_type_of
from tmigrate.tilelang.interpreter.arithmetic import Native
from tmigrate.tilelang.interpreter.integers import trunc_div, trunc_rem
from tmigrate.tilelang.interpreter.operations import OPERATIONS, Shape, atomic_rule
from tmigrate.tilelang.ir.intrinsics import INTRINSICS, result_type
from tmigrate.tilelang.ir.types import BF16, F16, F32, I32, ScalarType, Type
from tmigrate.tilelang.text.literals import argument_types

_NATIVE = Native()


class Place:
    """`address(h[i])`: one element of an array, for atomics."""

    def __init__(self, array: np.ndarray[Any, Any], index: Any) -> None:
        self.array = array
        self.index = index

    @property
    def value(self) -> Any:
        return self.array[self.index]

    @value.setter
    def value(self, new: Any) -> None:
        self.array[self.index] = new


def typed(name: str, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Bare literals among the arguments as NumPy scalars, by the rules of the text form."""
    known: list[Type | None] = [scalar_type_of(v) for v in values]
    wanted = argument_types(name, None, known)
    found = []
    for value, own, t in zip(values, known, wanted, strict=True):
        default = F32 if isinstance(value, float) else I32
        kind = own or t or default
        assert isinstance(kind, ScalarType)
        found.append(value if own is not None else convert(kind, value))
    return tuple(found)


def float_function(name: str, values: tuple[Any, ...]) -> Any:
    """A function of floats; 16-bit floats are computed in f32."""
    t = scalar_type_of(values[0])
    assert t is not None
    if name in ("isnan", "isinf", "isfinite", "signbit"):
        return np.bool_(_NATIVE.function(name, t)(float(values[0])))
    if name == "ilogb":
        return np.int32(_NATIVE.function(name, t)(float(values[0])))
    if name == "saturate":
        return np.float32(_NATIVE.function(name, t)(float(values[0])) + 0.0)  # -0.0 gives 0.0
    if name == "ldexp":
        return convert(t, _ldexp(float(values[0]), int(values[1])))
    if t in (F16, BF16):
        wide = tuple(np.float32(v) for v in values)
        if name == "nextafter":
            return np.nextafter(values[0], values[1])
        return convert(t, mathematics.compute(name, F32, np.float32, wide))
    return mathematics.compute(name, t, scalar_class(t), values)


def _ldexp(x: float, n: int) -> float:
    import math

    try:
        return math.ldexp(x, n)
    except OverflowError:
        return math.copysign(math.inf, x)


def intrinsic(name: str) -> Callable[..., Any]:
    """The function of that name on NumPy scalars."""
    operation = OPERATIONS[name]

    def call(*arguments: Any) -> Any:
        if operation.shape is Shape.ATOMIC:
            return _atomic(operation.detail, arguments[0], arguments[1:])
        if operation.shape is Shape.HOST:
            return _HOST[name](*arguments)
        if operation.shape is Shape.COLLECTIVE:
            raise TypeError(f"{name} works between threads; plain Python has none")
        values = typed(name, arguments)
        if operation.shape is Shape.FLOAT:
            return float_function(name, values)
        types = [scalar_type_of(v) for v in values]
        assert all(t is not None for t in types)
        result = result_type(name, types)  # type: ignore[arg-type]
        assert isinstance(result, ScalarType), result
        if operation.shape is Shape.ROUND:
            return convert(result, _NATIVE.to_integer(result, operation.detail)(float(values[0])))
        return convert(result, operation.detail(types)(*map(int, values)))

    call.__name__ = name
    call.__doc__ = INTRINSICS[name].doc
    return call


def _atomic(word: str, place: Place, operands: tuple[Any, ...]) -> Any:
    old = place.value
    t = scalar_type_of(old)
    assert t is not None
    values = [convert(t, v) for v in operands]
    if not t.is_float:
        old_value, plain = int(old), [int(v) for v in values]
        new = atomic_rule(word, t, lambda a, b: convert(t, a + b), lambda a, b: a < b)(old_value, *plain)
    else:
        new = atomic_rule(word, t, lambda a, b: a + b, lambda a, b: a < b)(old, *values)
    place.value = convert(t, new)
    return old


def _printf(text: str, *values: Any) -> Any:
    import re

    plain = re.sub(r"%([-+ #0-9.*]*)(?:hh|h|ll|l|j|z|t|L)?([a-zA-Z])", r"%\1\2", text).replace("%u", "%d")
    shown = (
        plain % tuple(v.item() if isinstance(v, np.generic) else v for v in values) if values else plain % ()
    )
    sys.stdout.write(shown)
    return np.int32(len(shown))


def _assert(condition: Any, text: str = "") -> None:
    if not condition:
        raise AssertionError(text)


def _trap() -> None:
    raise RuntimeError("trap()")


_HOST: dict[str, Callable[..., Any]] = {
    "printf": _printf,
    "assert_": _assert,
    "trap": _trap,
    "clock": lambda: np.int64(0),
    "threadfence": lambda: None,
    "threadfence_block": lambda: None,
    "threadfence_system": lambda: None,
}


def _pair(a: Any, b: Any) -> tuple[Any, Any, ScalarType]:
    x, y = typed("", (a, b))
    t = scalar_type_of(x)
    assert t is not None
    return x, y, t


def truncdiv(a: Any, b: Any) -> Any:
    """C's quotient of two integers of one type."""
    x, y, t = _pair(a, b)
    return convert(t, trunc_div(int(x), int(y)))


def truncrem(a: Any, b: Any) -> Any:
    """C's remainder of two integers of one type."""
    x, y, t = _pair(a, b)
    return convert(t, trunc_rem(int(x), int(y)))


def bitcast(to: Any, value: Any) -> Any:
    """The same bits as another scalar type of the same size."""
    (value,) = typed("", (value,))
    return np.array([value]).view(np.dtype(scalar_class(to.scalar)))[0]


OPERATION_WORDS: dict[str, Callable[..., Any]] = {name: intrinsic(name) for name in INTRINSICS}
OPERATION_WORDS.update(truncdiv=truncdiv, truncrem=truncrem, bitcast=bitcast)
