"""`transpose` (`x.T`), `reshape` and `tile`."""

from __future__ import annotations

from collections.abc import Sequence

from tmigrate.tilelang.ir.expressions import Binary, BinaryOp, Const, Expr, NamedConst, Var
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
    """The given shape, which must be shown to have as many elements: the same factors."""
    x = arguments.tensor()
    if not arguments.extents:
        return "takes the new extents"
    old, new = _count(x.shape), _count(arguments.extents)
    if old != new:
        return f"{_count_text(old)} elements do not fill {_count_text(new)}"
    return TensorType(x.element, arguments.extents)


def _count(shape: Sequence[Expr]) -> tuple[int, tuple[str, ...]]:
    """The number of elements as a constant and the other factors, sorted."""
    constant, factors = 1, []
    todo = list(shape)
    while todo:
        e = todo.pop()
        if isinstance(e, Const | NamedConst):
            constant *= int(e.value)
        elif isinstance(e, Binary) and e.op is BinaryOp.MUL:
            todo += [e.left, e.right]
        else:
            factors.append(e.name if isinstance(e, Var) else repr(e))
    return constant, tuple(sorted(factors))


def _count_text(count: tuple[int, tuple[str, ...]]) -> str:
    constant, factors = count
    return " * ".join([*([str(constant)] if constant != 1 or not factors else []), *factors])


def _reshape(d: Definition) -> str:
    """Element `flat` of the result is element `flat` of the operand, both in row-major order."""
    i, x = d.indices(), d.names[0]
    flat = i[0]
    for axis, index in enumerate(i[1:], 1):
        flat = f"({flat}) * {d.out}.shape[{axis}] + {index}"
    rank = d.arguments.tensor().rank
    steps, indices = [f"flat: i64 = {flat}"], []
    for axis in range(rank):
        stride = " * ".join(f"{x}.shape[{later}]" for later in range(axis + 1, rank)) or "1"
        indices.append(f"flat // ({stride}) % {x}.shape[{axis}]")
    return d.over_result(*steps, d.store(i, f"{x}[{', '.join(indices)}]"))


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
