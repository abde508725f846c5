"""`transpose` (`x.T`), `reshape` and `tile`."""

from __future__ import annotations

from tmigrate.tilelang.ir.expressions import Const
from tmigrate.tilelang.ir.types import TensorType
from tmigrate.tilelang.tensors.operation import Arguments, Definition, TensorOperation, declare


def transposed(arguments: Arguments) -> TensorType | str:
    """All dimensions in reverse order."""
    x = arguments.tensor()
    return TensorType(x.element, tuple(reversed(x.shape)))


def _transpose(d: Definition) -> str:
    i = d.indices()
    return d.over_result(d.store(i, f"{d.names[0]}[{', '.join(reversed(i))}]"))


def reshaped(arguments: Arguments) -> TensorType | str:
    """The given shape; where both counts are known they must agree, else the loop's text checks nothing."""
    x = arguments.tensor()
    if not arguments.extents:
        return "takes the new extents"
    known = [
        [e.value for e in shape if isinstance(e, Const)] if all(isinstance(e, Const) for e in shape) else None
        for shape in (x.shape, arguments.extents)
    ]
    if known[0] is not None and known[1] is not None and _product(known[0]) != _product(known[1]):
        return f"{_product(known[0])} elements do not fill {_product(known[1])}"
    return TensorType(x.element, arguments.extents)


def _product(extents: list[int | float | bool]) -> int:
    total = 1
    for extent in extents:
        total *= int(extent)
    return total


def _reshape(d: Definition) -> str:
    """Element `flat` of the result is element `flat` of the operand, both in row-major order."""
    i, x = d.indices(), d.names[0]
    flat = i[0]
    for axis, index in enumerate(i[1:], 1):
        flat = f"({flat}) * {d.out}.shape[{axis}] + {index}"
    rank = d.arguments.tensor().rank
    steps, indices = [f"flat: i64 = {flat}"], []
    counts = [" * ".join(f"{name}.shape[{a}]" for a in range(n)) for name, n in ((d.out, len(i)), (x, rank))]
    check = f'assert_({counts[0]} == {counts[1]}, "reshape: the counts of elements differ")'
    for axis in range(rank):
        stride = " * ".join(f"{x}.shape[{later}]" for later in range(axis + 1, rank)) or "1"
        indices.append(f"flat // ({stride}) % {x}.shape[{axis}]")
    return f"{check}\n{d.over_result(*steps, d.store(i, f'{x}[{chr(44).join(indices)}]'))}"


def tiled(arguments: Arguments) -> TensorType | str:
    """The tensor itself; the extents say in which tiles it is worked on."""
    x = arguments.tensor()
    if len(arguments.extents) != x.rank:
        return f"a tile of a tensor of rank {x.rank} has {x.rank} extents"
    if not all(isinstance(e, Const) and e.value > 0 for e in arguments.extents):
        return "the extents of a tile are positive constants"
    return x


def _nothing(d: Definition) -> str:
    return ""


declare(TensorOperation("transpose", 1, transposed, _transpose))
declare(TensorOperation("reshape", 1, reshaped, _reshape, shape="shape"))
declare(TensorOperation("tile", 1, tiled, _nothing, shape="shape", alias=True))
