"""`sum`, `prod`, `max`, `min` and `mean` over one dimension, and `softmax`."""

from __future__ import annotations

from tmigrate.tilelang.ir.types import B1, TensorType, is_float
from tmigrate.tilelang.tensors.operation import ONE, Arguments, Definition, TensorOperation, declare


def reduced(arguments: Arguments) -> TensorType | str:
    """The shape without `dim`, or with 1 there if `keepdim`."""
    x, dim = arguments.tensor(), arguments.numbers["dim"]
    if x.element == B1:
        return f"not defined on {x.element}"
    kept = (ONE,) if arguments.numbers["keepdim"] else ()
    shape = (*x.shape[:dim], *kept, *x.shape[dim + 1 :])
    return TensorType(x.element, shape) if shape else "a tensor of rank 1 needs keepdim=True"


def averaged(arguments: Arguments) -> TensorType | str:
    """As :func:`reduced`, for floats."""
    found = reduced(arguments)
    return found if is_float(arguments.tensor().element) else f"not defined on {arguments.tensor().element}"


def _source(d: Definition) -> tuple[list[str], str, str]:
    """The result's indices, the operand's element and the extent reduced over."""
    i, dim = d.indices(), d.arguments.numbers["dim"]
    inner = [*i[:dim], "k", *i[dim + (1 if d.arguments.numbers.get("keepdim") else 0) :]]
    return i, f"{d.names[0]}[{', '.join(inner)}]", f"{d.names[0]}.shape[{dim}]"


def _fold(word: str) -> None:
    def define(d: Definition) -> str:
        i, x, n = _source(d)
        return d.over_result(d.store(i, f"{word}({x} for k in range({n}))"))

    declare(TensorOperation(word, 1, reduced, define, {"dim": None, "keepdim": 0}))


def _mean(d: Definition) -> str:
    i, x, n = _source(d)
    return d.over_result(
        f"total: {d.element} = sum({x} for k in range({n}))", d.store(i, f"total / {d.element}({n})")
    )


def same_shape(arguments: Arguments) -> TensorType | str:
    """Floats, of the operand's shape."""
    x = arguments.tensor()
    return x if is_float(x.element) else f"not defined on {x.element}"


def _softmax(d: Definition) -> str:
    """exp(x - max) / sum(exp(x - max)) along `dim`."""
    i, dim = d.indices(), d.arguments.numbers["dim"]
    outer = [(index, f"{d.out}.shape[{axis}]") for axis, index in enumerate(i) if axis != dim]
    inner = [*i[:dim], "k", *i[dim + 1 :]]
    x, n = f"{d.names[0]}[{', '.join(inner)}]", f"{d.out}.shape[{dim}]"
    return d.nest(
        outer,
        f"peak: {d.element} = max({x} for k in range({n}))",
        f"total: {d.element} = sum(exp({x} - peak) for k in range({n}))",
        f"for k in range({n}):",
        f"    {d.store(inner, f'exp({x} - peak) / total')}",
    )


for _word in ("sum", "prod", "max", "min"):
    _fold(_word)
declare(TensorOperation("mean", 1, averaged, _mean, {"dim": None, "keepdim": 0}))
declare(TensorOperation("softmax", 1, same_shape, _softmax, {"dim": None}))
