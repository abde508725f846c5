"""`+ - * /` on tensors and scalars, `-x`, and every function of floats, element by element."""

from __future__ import annotations

from tmigrate.tilelang.ir.intrinsics import INTRINSICS, floats
from tmigrate.tilelang.ir.types import TensorType, is_float, is_integer
from tmigrate.tilelang.tensors.operation import Arguments, Definition, TensorOperation, declare, elementwise


def numbers(arguments: Arguments) -> TensorType | str:
    """`+ - *`: numbers of one type."""
    found = elementwise(arguments)
    if isinstance(found, TensorType) and not (is_float(found.element) or is_integer(found.element)):
        return f"not defined on {found.element}"
    return found


def floating(arguments: Arguments) -> TensorType | str:
    """`/` and functions: floats of one type."""
    found = elementwise(arguments)
    if isinstance(found, TensorType) and not is_float(found.element):
        return f"not defined on {found.element}"
    return found


def _operator(symbol: str, rule: object) -> None:
    def define(d: Definition) -> str:
        i = d.indices()
        return d.over_result(d.store(i, f"{d.read(0, i)} {symbol} {d.read(1, i)}"))

    declare(TensorOperation(symbol, 2, rule, define, scalars=True))  # type: ignore[arg-type]


def _function(name: str, arity: int) -> None:
    def define(d: Definition) -> str:
        i = d.indices()
        values = ", ".join(d.read(k, i) for k in range(arity))
        return d.over_result(d.store(i, f"{name}({values})"))

    declare(TensorOperation(name, arity, floating, define, scalars=arity > 1))


def _negation(d: Definition) -> str:
    i = d.indices()
    return d.over_result(d.store(i, f"-{d.read(0, i)}"))


for _symbol in ("+", "-", "*"):
    _operator(_symbol, numbers)
_operator("/", floating)
# `negative` is written `-x`.
declare(TensorOperation("negative", 1, numbers, _negation))
for _name, _row in INTRINSICS.items():
    if _row.rule is floats:
        _function(_name, _row.arity[0])
