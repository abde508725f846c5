"""Integer expressions as `scale * x + rest` in one variable x, computed in 32 bits that wrap."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tmigrate.tilelang.ir.expressions import (
    Binary,
    BinaryOp,
    Cast,
    Const,
    Expr,
    LaunchIndex,
    NamedConst,
    Unary,
    UnaryOp,
    Var,
    type_of,
)
from tmigrate.tilelang.ir.node import children, walk
from tmigrate.tilelang.ir.types import I32, U32, ScalarType

_LARGEST_SCALE = 1 << 20
_PURE = (Const, NamedConst, Var, LaunchIndex, Unary, Binary, Cast)


@dataclass(frozen=True, slots=True)
class Affine:
    """`scale * x + rest`, of type i32 or u32; `rest` does not mention x."""

    scale: int
    rest: Expr

    @property
    def type(self) -> ScalarType:
        """i32 or u32."""
        t = type_of(self.rest)
        assert isinstance(t, ScalarType)
        return t


class AffineForms:
    """The affine forms of expressions in x; `known` gives the values of variables that are looked through.

    `fixed` names the variables that `rest` may mention: they keep their value while x runs.
    """

    def __init__(self, x: Var, fixed: frozenset[str], known: Mapping[str, Expr]) -> None:
        self.x = x
        self.fixed = fixed
        self.known = known

    def of(self, e: Expr) -> Affine | None:
        """The form of an i32 or u32 expression, or None."""
        t = type_of(e)
        if t not in (I32, U32):
            return None
        assert isinstance(t, ScalarType)
        if isinstance(e, Var):
            return self._variable(e, t)
        if isinstance(e, Cast):
            inner = self.of(e.operand)
            return None if inner is None else Affine(inner.scale, _cast(inner.rest, t))
        if isinstance(e, Binary):
            return self._binary(e, t)
        if isinstance(e, Unary) and e.op is UnaryOp.NEG:
            inner = self.of(e.operand)
            return None if inner is None else Affine(-inner.scale, Unary(UnaryOp.NEG, inner.rest))
        return Affine(0, e) if self.is_fixed(e) else None

    def _variable(self, e: Var, t: ScalarType) -> Affine | None:
        if e.name == self.x.name:
            return Affine(1, Const(0, t))
        if e.name in self.known:
            return self.of(self.known[e.name])
        return Affine(0, e) if e.name in self.fixed else None

    def _binary(self, e: Binary, t: ScalarType) -> Affine | None:
        if e.op not in (BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL):
            return self._opaque(e)
        left, right = self.of(e.left), self.of(e.right)
        if left is None or right is None:
            return None
        if e.op is BinaryOp.MUL:
            return self._product(left, right)
        sign = 1 if e.op is BinaryOp.ADD else -1
        return _checked(left.scale + sign * right.scale, _sum(e.op, left.rest, right.rest))

    def _product(self, left: Affine, right: Affine) -> Affine | None:
        if left.scale == 0 and right.scale == 0:
            return Affine(0, Binary(BinaryOp.MUL, left.rest, right.rest))
        if right.scale != 0:
            left, right = right, left
        if not isinstance(right.rest, Const) or right.scale != 0:
            return None
        factor = int(right.rest.value)
        return _checked(left.scale * factor, Binary(BinaryOp.MUL, left.rest, right.rest))

    def _opaque(self, e: Expr) -> Affine | None:
        """An operation that is no sum: a constant where its operands are."""
        for it in children(e):
            inner = self.of(it) if isinstance(it, Expr) else None
            if inner is None or inner.scale != 0:
                return None
        return Affine(0, e) if self.is_fixed(e) else None

    def is_fixed(self, e: Expr) -> bool:
        """Whether the expression keeps its value while x runs, and costs nothing to evaluate early."""
        for it in walk(e):
            if not isinstance(it, _PURE):
                return False
            if isinstance(it, Var) and it.name not in self.fixed:
                return False
        return True


def _checked(scale: int, rest: Expr) -> Affine | None:
    return Affine(scale, rest) if abs(scale) <= _LARGEST_SCALE else None


def _sum(op: BinaryOp, left: Expr, right: Expr) -> Expr:
    if isinstance(right, Const) and right.value == 0:
        return left
    if op is BinaryOp.ADD and isinstance(left, Const) and left.value == 0:
        return right
    if isinstance(left, Const) and isinstance(right, Const):
        sign = 1 if op is BinaryOp.ADD else -1
        return Const(_wrapped(int(left.value) + sign * int(right.value), left.type), left.type)
    return Binary(op, left, right)


def _cast(e: Expr, t: ScalarType) -> Expr:
    if type_of(e) == t:
        return e
    if isinstance(e, Const):
        return Const(_wrapped(int(e.value), t), t)
    return Cast(t, e)


def _wrapped(value: int, t: object) -> int:
    assert isinstance(t, ScalarType)
    value &= (1 << t.bits) - 1
    return value - (1 << t.bits) if t.is_signed and value >> (t.bits - 1) else value
