"""The last touches, so that the result reads as a person would write it.

    tmp[i, j] = 0.0                                         tmp[i, j] = sum(...)
    tmp[i, j] = tmp[i, j] + sum(...)                ->
"""

from __future__ import annotations

from tmigrate.converters.lifting.rules.reductions import merge_stores
from tmigrate.converters.lifting.state import Lift
from tmigrate.tilelang.ir.expressions import Binary, BinaryOp, Const, Expr, Reduce, ReduceOp
from tmigrate.tilelang.ir.node import Node, regions_of, rewrite_region, with_fields
from tmigrate.tilelang.ir.statements import Region


def apply(lift: Lift) -> bool:
    """Merge consecutive stores to one place and drop neutral terms before reductions."""
    before = lift.body
    lift.body = rewrite_region(_merged(lift.body), _rule)  # type: ignore[assignment]
    return lift.body != before


def _merged(region: Region) -> Region:
    def rule(it: Node) -> Node | None:
        regions = regions_of(it)
        if not regions:
            return None
        return with_fields(it, **{name: merge_stores(r) for name, r in regions})  # type: ignore[arg-type]

    return merge_stores(rewrite_region(region, rule))  # type: ignore[arg-type]


def _rule(it: Node) -> Expr | None:
    """`0 + sum(...)` and `1 * prod(...)`: the reduction starts from these anyway."""
    if not isinstance(it, Binary) or not isinstance(it.left, Const) or not isinstance(it.right, Reduce):
        return None
    if it.op is BinaryOp.ADD and it.right.op is ReduceOp.SUM and it.left.value == 0:
        return it.right
    if it.op is BinaryOp.MUL and it.right.op is ReduceOp.PRODUCT and it.left.value == 1:
        return it.right
    return None
