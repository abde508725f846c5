"""The order of a loop-level kernel's parallel loops: innermost accesses run along memory.

* ORDER.  Of a perfect nest of parallel loops, the one becomes innermost in which the fewest accesses stride:

      for x: for y: b[y, x] = a[y, x]      ->      for y: for x: b[y, x] = a[y, x]

* TILES.  Where each of two loops strides through some tensor (a transpose), both are cut into tiles of 32.

* COLUMNS.  A fold that strides, inside a parallel loop that does not, changes places with it, over a strip of
  partial results; each element is still folded in the order of k:

      for j: c[j] = sum(b[k, j] for k)     ->      for strip: for k: for j in strip: part[j] += b[k, j]
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tmigrate.tilelang.ir.expressions import (
    Binary,
    BinaryOp,
    Call,
    Cast,
    Const,
    Expr,
    Reduce,
    ReduceOp,
    Subscript,
    Var,
    type_of,
)
from tmigrate.tilelang.ir.module import Function, Level, Module
from tmigrate.tilelang.ir.node import Node, Trait, has_trait, rewrite, walk, with_fields
from tmigrate.tilelang.ir.statements import Allocate, Assign, Comment, For, LoopKind, Region, Stmt
from tmigrate.tilelang.ir.types import ArrayType, ScalarType, Space, TensorType, is_integer
from tmigrate.tilelang.passes.names import Names, names_of, substitute

TILE = 32
STRIP = 1024


def order_loops(function: Function, module: Module) -> Function:
    """The function with its nests in the order described above; thread-level functions stay."""
    if function.level is Level.THREAD:
        return function
    return replace(function, body=_Orderer(names_of(function, module)).region(function.body))


@dataclass(frozen=True)
class _Nest:
    """Parallel loops, one right inside the other, with bounds that do not depend on each other."""

    loops: tuple[For, ...]
    body: Region

    def rebuilt(self, loops: tuple[For, ...], body: Region) -> For:
        """The loops around a body."""
        made = body
        for loop in reversed(loops):
            made = (with_fields(loop, body=made),)
        result = made[0]
        assert isinstance(result, For)
        return result


class _Orderer:
    def __init__(self, names: Names) -> None:
        self.names = names

    def region(self, region: Region) -> Region:
        """Every outermost nest of a region."""

        def rule(s: Stmt) -> Stmt:
            if isinstance(s, For) and s.kind is LoopKind.PARALLEL:
                return self.nest(s)
            return s

        return tuple(rule(s) for s in region)

    def nest(self, s: For) -> For:
        """One nest."""
        nest = _perfect_nest(s)
        columns = self.columns(nest)
        if columns is not None:
            return columns
        if len(nest.loops) < 2:
            return s
        costs = [_strides(nest.body, loop.var) for loop in nest.loops]
        best = min(range(len(costs)), key=lambda i: (costs[i], -i))
        if costs[best] == 0 or len(nest.loops) > 2:
            loops = (*nest.loops[:best], *nest.loops[best + 1 :], nest.loops[best])
            return nest.rebuilt(loops, nest.body)
        return self.tiled(nest)

    # ---- TILES -----------------------------------------------------------------------------------------

    def tiled(self, nest: _Nest) -> For:
        """Two loops in tiles; the one along which the stores run is innermost."""
        stores = [s for s in walk(nest.body) if isinstance(s, Assign)]
        inner = min(nest.loops, key=lambda loop: _strides_of([s.target for s in stores], loop.var))
        outer = next(loop for loop in nest.loops if loop is not inner)
        cut = [self.cut(loop, TILE) for loop in (outer, inner)]
        loops = (cut[1][0], cut[0][0], cut[0][1], cut[1][1])
        return nest.rebuilt(loops, nest.body)

    def cut(self, loop: For, size: int) -> tuple[For, For]:
        """`for i in range(n)` as `for t in range(tiles): for i in range(t * 32, min(n, t * 32 + 32))`."""
        t = loop.var.type
        tile = Var(self.names.fresh(f"{loop.var.name}_tile"), t)
        count, zero, one = Const(size, t), Const(0, t), Const(1, t)
        # n // 32 and one more: the last may be empty, and n + 31 might not fit.
        tiles = Binary(BinaryOp.ADD, Binary(BinaryOp.TRUNC_DIV, loop.stop, count), one)
        first = Binary(BinaryOp.MUL, tile, count)
        # Counted from the end, since first + 32 might not fit either.
        rest = Call("min", (Binary(BinaryOp.SUB, loop.stop, first), count), t)
        outer = For(tile, zero, tiles, one, (), LoopKind.PARALLEL, location=loop.location)
        return outer, with_fields(loop, start=first, stop=Binary(BinaryOp.ADD, first, rest))

    # ---- COLUMNS ---------------------------------------------------------------------------------------

    def columns(self, nest: _Nest) -> For | None:
        """The nest with its fold outside of a strip of its innermost loop, where that helps."""
        found = _single_fold(nest.body)
        if found is None:
            return None
        store, fold = found
        columns = [loop for loop in nest.loops if _gains(fold, loop.var)]
        if not columns:
            return None
        column = columns[-1]
        if any(
            isinstance(it, Var) and it.name == column.var.name
            for b in (fold.start, fold.stop)
            for it in walk(b)
        ):
            return None
        others = tuple(loop for loop in nest.loops if loop is not column)
        strip, inner = self.cut(column, STRIP)
        return nest.rebuilt((*others, strip), self.strip_body(store, fold, inner))

    def strip_body(self, store: Assign, fold: Reduce, inner: For) -> Region:
        """Clear a strip of partial results, fold into it row by row, store."""
        t = fold.type
        assert isinstance(t, ScalarType)
        part = Var(self.names.fresh("part"), ArrayType(t, (STRIP,)))
        place = Subscript(part, (Binary(BinaryOp.SUB, inner.var, inner.start),))

        def over_strip(s: Stmt) -> For:
            copy = Var(self.names.fresh(inner.var.name), inner.var.type)
            (changed,) = substitute((s,), {inner.var.name: copy})
            return with_fields(inner, var=copy, body=(changed,), location=s.location)

        clear = over_strip(Assign(place, _neutral(fold.op, t)))
        step = over_strip(Assign(place, _combined(fold.op, place, fold.body)))
        rows = For(fold.var, fold.start, fold.stop, Const(1, fold.var.type), (step,), location=store.location)

        def use(it: Node) -> Node | None:
            return place if it == fold else None

        last = over_strip(with_fields(store, value=rewrite(store.value, use)))
        return (Allocate(part, Space.LOCAL), clear, rows, last)


def _perfect_nest(s: For) -> _Nest:
    loops: list[For] = []
    body: Region = (s,)
    bound: set[str] = set()
    while True:
        plain = tuple(b for b in body if not isinstance(b, Comment))
        loop = plain[0] if len(plain) == 1 else None
        if not isinstance(loop, For) or loop.kind is not LoopKind.PARALLEL or not _is_plain(loop, bound):
            return _Nest(tuple(loops), body)
        loops.append(loop)
        bound.add(loop.var.name)
        body = loop.body


def _is_plain(loop: For, bound: set[str]) -> bool:
    """From 0 in steps of 1 to something that no loop around changes."""
    t = loop.var.type
    if loop.start != Const(0, t) or loop.step != Const(1, t):
        return False
    return not any(isinstance(it, Var) and it.name in bound for it in walk(loop.stop))


def _strides(body: Region, var: Var) -> int:
    """How many accesses of tensors jump from one value of the variable to the next."""
    return _strides_of(list(body), var)


def _strides_of(roots: list[Stmt] | list[Expr], var: Var) -> int:
    count = 0
    for root in roots:
        for it in walk(root):
            if isinstance(it, Subscript) and isinstance(type_of(it.base), TensorType):
                count += _is_strided(it, var)
    return count


def _is_strided(access: Subscript, var: Var) -> bool:
    *outer, last = access.indices
    if any(_mentions(index, var) for index in outer):
        return True
    return _mentions(last, var) and not _has_unit_step(last, var)


def _has_unit_step(e: Expr, var: Var) -> bool:
    if isinstance(e, Var):
        return True
    if isinstance(e, Cast):
        return _has_unit_step(e.operand, var)
    if isinstance(e, Binary) and e.op in (BinaryOp.ADD, BinaryOp.SUB):
        if _mentions(e.left, var) and not _mentions(e.right, var):
            return _has_unit_step(e.left, var)
        return e.op is BinaryOp.ADD and not _mentions(e.left, var) and _has_unit_step(e.right, var)
    return False


def _mentions(e: Expr, var: Var) -> bool:
    return any(isinstance(it, Var) and it.name == var.name for it in walk(e))


def _single_fold(body: Region) -> tuple[Assign, Reduce] | None:
    """`target = ... sum(...) ...`, the nest's only statement, with one fold that is not inside another."""
    plain = [s for s in body if not isinstance(s, Comment)]
    if len(plain) != 1 or not isinstance(plain[0], Assign):
        return None
    store = plain[0]
    folds = [it for it in walk(store.value) if isinstance(it, Reduce)]
    conditional = any(_holds_conditional(it) for it in walk(store.value))
    if len(folds) != 1 or conditional or folds[0].op in (ReduceOp.ANY, ReduceOp.ALL):
        return None
    return store, folds[0]


def _holds_conditional(it: Node) -> bool:
    return has_trait(it, Trait.SHORT_CIRCUITS)


def _gains(fold: Reduce, var: Var) -> bool:
    """Whether the fold's accesses stride less along a loop's variable than along its own."""
    return _strides_of([fold.body], var) == 0 and _strides_of([fold.body], fold.var) > 0


def _combined(op: ReduceOp, partial: Expr, value: Expr) -> Expr:
    t = type_of(partial)
    if op in (ReduceOp.SUM, ReduceOp.PRODUCT):
        return Binary(BinaryOp.ADD if op is ReduceOp.SUM else BinaryOp.MUL, partial, value)
    name = "max" if op is ReduceOp.MAX else "min"
    return Call(name if is_integer(t) else f"f{name}", (partial, value), t)


def _neutral(op: ReduceOp, t: ScalarType) -> Const:
    if op in (ReduceOp.SUM, ReduceOp.PRODUCT):
        value = 0 if op is ReduceOp.SUM else 1
        return Const(float(value) if t.is_float else value, t)
    sign = -1 if op is ReduceOp.MAX else 1
    if t.is_float:
        return Const(sign * float("inf"), t)
    low, high = (-(1 << (t.bits - 1)), (1 << (t.bits - 1)) - 1) if t.is_signed else (0, (1 << t.bits) - 1)
    return Const(low if sign < 0 else high, t)
