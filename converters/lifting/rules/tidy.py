"""The last touches, so that the result reads as a person would write it.

tmp[i, j] = 0.0                                         tmp[i, j] = sum(...)
tmp[i, j] = tmp[i, j] + sum(...)                ->
"""

from __future__ import annotations

from tmigrate.converters.lifting.rules.reductions import merge_stores
from tmigrate.converters.lifting.state import Lift
from tmigrate.tilelang.interpreter.arithmetic import round_to
from tmigrate.tilelang.ir.expressions import (
    Binary,
    BinaryOp,
    Cast,
    Const,
    Expr,
    Reduce,
    ReduceOp,
    Unary,
    UnaryOp,
)
from tmigrate.tilelang.ir.node import Node, regions_of, rewrite_region, with_fields
from tmigrate.tilelang.ir.statements import Region
from tmigrate.tilelang.ir.types import F32, F64, ScalarType


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
    if isinstance(it, Cast):
        return _folded_cast(it)
    if isinstance(it, Unary) and it.op is UnaryOp.NEG and isinstance(it.operand, Const):
        return _negated(it.operand)
    if isinstance(it, Binary):
        return _neutral(it) or _subtracted(it)
    return None


def _subtracted(e: Binary) -> Expr | None:
    """`x + -0.8 * y` is `x - 0.8 * y`: negation is exact."""
    right = e.right
    if e.op is not BinaryOp.ADD or not isinstance(right, Binary) or right.op is not BinaryOp.MUL:
        return None
    factor = right.left
    if not isinstance(factor, Const) or not isinstance(factor.value, float) or not factor.value < 0:
        return None
    return Binary(BinaryOp.SUB, e.left, Binary(BinaryOp.MUL, Const(-factor.value, factor.type), right.right))


def _folded_cast(e: Cast) -> Expr | None:
    """`f32(f64(0.2))` is the literal 0.2, rounded to its type."""
    if not isinstance(e.operand, Const) or e.type not in (F32, F64) or isinstance(e.operand.value, bool):
        return None
    value = e.operand.value
    if isinstance(value, int) and abs(value) > 1 << 24:
        return None
    assert isinstance(e.type, ScalarType)
    return Const(round_to(e.type)(float(value)), e.type, location=e.location)


def _negated(c: Const) -> Expr | None:
    """`-0.8`, `-3`: a negative literal."""
    if (
        isinstance(c.value, bool)
        or not isinstance(c.type, ScalarType)
        or not (c.type.is_float or c.type.is_signed)
    ):
        return None
    if isinstance(c.value, int) and c.value == 0:
        return c
    return Const(-c.value, c.type, location=c.location)


def _neutral(e: Binary) -> Expr | None:
    """`0 + sum(...)` and `1 * prod(...)`: the reduction starts from these anyway."""
    if not isinstance(e.left, Const) or not isinstance(e.right, Reduce):
        return None
    if e.op is BinaryOp.ADD and e.right.op is ReduceOp.SUM and e.left.value == 0:
        return e.right
    if e.op is BinaryOp.MUL and e.right.op is ReduceOp.PRODUCT and e.left.value == 1:
        return e.right
    return None
