"""`x @ y`: matrix products, with leading batch dimensions; in tiles where an operand has them."""

from __future__ import annotations

from tmigrate.tilelang.ir.types import TensorType
from tmigrate.tilelang.tensors.operation import (
    Arguments,
    Definition,
    TensorOperation,
    broadcast,
    declare,
    extent_text,
    one_element_type,
)


def product(arguments: Arguments) -> TensorType | str:
    """[..., M, K] @ [..., K, N] -> [..., M, N]."""
    x, y = arguments.tensor(0), arguments.tensor(1)
    element = one_element_type(arguments)
    if isinstance(element, str):
        return element
    if x.rank < 2 or y.rank < 2:
        return "a matrix product takes tensors of rank 2 or more"
    if x.shape[-1] != y.shape[-2]:
        return f"the inner extents differ: {extent_text(x.shape[-1])} and {extent_text(y.shape[-2])}"
    batch = broadcast([x.shape[:-2], y.shape[:-2]]) if x.rank + y.rank > 4 else ()
    if isinstance(batch, str):
        return batch
    return TensorType(element, (*batch, x.shape[-2], y.shape[-1]))


def define(d: Definition) -> str:
    """Rows and columns in parallel, one sum per element; or tiles of all three dimensions."""
    *batch, i, j = d.indices()
    x, y = d.read(0, [*batch, i, "k"]), d.read(1, [*batch, "k", j])
    last = d.arguments.tensor(0).rank - 1
    inner = f"{d.names[0]}.shape[{last}]"
    tile = d.tiles.get(1) or d.tiles.get(0)
    if tile is None or len(tile) != 2 or batch:
        sums = [f"acc: {d.element} = 0", f"for k in range({inner}):", f"    acc += {x} * {y}"]
        return d.over_result(*sums, d.store([*batch, i, j], "acc"))
    rows, columns = f"{d.out}.shape[0]", f"{d.out}.shape[1]"
    depth, width = tile
    return "\n".join(
        [
            f"for bi in parallel(range(0, {rows}, {width})):",
            f"    for bj in parallel(range(0, {columns}, {width})):",
            f"        for {i} in range(bi, min(bi + {width}, {rows})):",
            f"            for {j} in range(bj, min(bj + {width}, {columns})):",
            f"                {d.store([i, j], '0')}",
            f"        for bk in range(0, {inner}, {depth}):",
            f"            for {i} in range(bi, min(bi + {width}, {rows})):",
            f"                for k in range(bk, min(bk + {depth}, {inner})):",
            f"                    for {j} in range(bj, min(bj + {width}, {columns})):",
            f"                        {d.out}[{i}, {j}] += {x} * {y}",
        ]
    )


declare(TensorOperation("@", 2, product, define))
