"""Whether a loop-level kernel is a matrix product, in any of its six loop orders, with transposed operands.

Rules; `i`, `j` and `k` are any loops, serial or parallel, from 0 in steps of 1, in any order where one order
is not shown to matter:

* SCALAR:   for i: for j: acc = 0; for k: acc += A[i, k] * B[k, j]; C[i, j] = acc      (i, j in either order)
* FOLD:     for i: for j: C[i, j] = sum(A[i, k] * B[k, j] for k in range(K))           (likewise)
* IN PLACE: for i: for j: for k: C[i, j] += A[i, k] * B[k, j]                            (all six orders)
* CLEARED:  for i: for j: C[i, j] = 0, before IN PLACE, or inside it right before `for k`

Anything more in the kernel (a condition, an epilogue, a cast, an index other than a loop's variable) and
it is no product.  Only f32 and f64 qualify: the library has these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tmigrate.tilelang.ir.expressions import (
    Binary,
    BinaryOp,
    Const,
    Expr,
    Reduce,
    ReduceOp,
    Subscript,
    Var,
    type_of,
)
from tmigrate.tilelang.ir.module import Function
from tmigrate.tilelang.ir.node import walk
from tmigrate.tilelang.ir.statements import Allocate, Assign, Comment, Declare, For, LoopKind, Return, Stmt
from tmigrate.tilelang.ir.types import F32, F64, Space, TensorType


@dataclass(frozen=True, slots=True)
class Operand:
    """A matrix by its variable, and whether its indices stand the other way round."""

    name: str
    transposed: bool


@dataclass(frozen=True, slots=True)
class Product:
    """`c[:m, :n] = a[:m, :k] @ b[:k, :n]`, or `+=` where `adds`; extents as the loops say them."""

    a: Operand
    b: Operand
    c: str
    m: Expr
    n: Expr
    k: Expr
    adds: bool


@dataclass(frozen=True, slots=True)
class _Nest:
    """Perfectly nested loops and the statements inside the innermost."""

    loops: tuple[For, ...]
    body: tuple[Stmt, ...]


def _plain(body: Sequence[Stmt]) -> tuple[Stmt, ...]:
    return tuple(s for s in body if not isinstance(s, Comment))


def _nest(s: Stmt) -> _Nest | None:
    loops: list[For] = []
    body: tuple[Stmt, ...] = (s,)
    while len(body) == 1 and isinstance(body[0], For):
        loop = body[0]
        zero, one = Const(0, loop.var.type), Const(1, loop.var.type)
        if loop.start != zero or loop.step != one or loop.kind not in (LoopKind.SERIAL, LoopKind.PARALLEL):
            return None
        loops.append(loop)
        body = _plain(loop.body)
    return _Nest(tuple(loops), body) if loops else None


def match_product(function: Function) -> Product | None:
    """The product that is the whole kernel, or None."""
    body = [s for s in _plain(function.body) if not isinstance(s, Return)]
    zeroed = {s.var.name for s in body if isinstance(s, Allocate) and s.space is Space.GLOBAL}
    nests = [s for s in body if not isinstance(s, Allocate)]
    if len(nests) == 2:
        cleared = _cleared(nests[0])
        if cleared is None:
            return None
        found = _product(nests[1], cleared)
        return found if found is not None and _clears(nests[0], found) else None
    return _product(nests[0], None, zeroed) if len(nests) == 1 else None


def _cleared(s: Stmt) -> str | None:
    """The matrix that a nest of two loops sets to zero."""
    nest = _nest(s)
    if nest is None or len(nest.loops) != 2 or len(nest.body) != 1:
        return None
    store = nest.body[0]
    if not isinstance(store, Assign) or not _is_zero(store.value):
        return None
    place = _element(store.target)
    if place is None or {i.name for i in place[1]} != {loop.var.name for loop in nest.loops}:
        return None
    return place[0].name


def _clears(s: Stmt, product: Product) -> bool:
    """Whether the clearing nest covers exactly the product's extents."""
    nest = _nest(s)
    assert nest is not None and isinstance(nest.body[0], Assign)
    place = _element(nest.body[0].target)
    assert place is not None
    stops = {loop.var.name: loop.stop for loop in nest.loops}
    rows, columns = (stops[i.name] for i in place[1])
    return (rows, columns) == (product.m, product.n)


def _product(s: Stmt, cleared: str | None, zeroed: set[str] | None = None) -> Product | None:
    nest = _nest(s)
    if nest is None:
        return None
    if len(nest.loops) == 3 and len(nest.body) == 1:
        return _in_place(nest, cleared, zeroed or set())
    if len(nest.loops) == 2 and cleared is None:
        return _scalar(nest)
    return None


def _in_place(nest: _Nest, cleared: str | None, zeroed: set[str]) -> Product | None:
    """Rule IN PLACE."""
    store = nest.body[0]
    if not isinstance(store, Assign):
        return None
    terms = _added(store.value, store.target)
    place = _element(store.target)
    if terms is None or place is None:
        return None
    outer = {i.name for i in place[1]}
    inner = [loop for loop in nest.loops if loop.var.name not in outer]
    if len(inner) != 1 or (inner[0].kind is not LoopKind.SERIAL) or (cleared not in (None, place[0].name)):
        return None
    adds = cleared is None and place[0].name not in zeroed
    return _assemble(nest.loops, inner[0], store.target, terms, adds)


def _scalar(nest: _Nest) -> Product | None:
    """Rules SCALAR and FOLD, and CLEARED inside."""
    body = nest.body
    if len(body) == 1 and isinstance(body[0], Assign) and isinstance(body[0].value, Reduce):
        fold = body[0].value
        zero = Const(0, fold.var.type)
        if fold.op is not ReduceOp.SUM or fold.start != zero:
            return None
        loop = For(fold.var, fold.start, fold.stop, Const(1, fold.var.type), ())
        return _assemble((*nest.loops, loop), loop, body[0].target, _factors(fold.body), False)
    if len(body) not in (2, 3) or not isinstance(body[1], For):
        return None
    inner = _nest(body[1])
    if inner is None or len(inner.loops) != 1 or len(inner.body) != 1:
        return None
    if inner.loops[0].kind is not LoopKind.SERIAL:
        return None
    step = inner.body[0]
    first, last = body[0], body[-1]
    if not isinstance(step, Assign):
        return None
    terms = _added(step.value, step.target)
    loops = (*nest.loops, inner.loops[0])
    if len(body) == 2 and isinstance(first, Assign) and first.target == step.target and _is_zero(first.value):
        return _assemble(loops, inner.loops[0], step.target, terms, False)
    is_scalar = isinstance(first, Declare) and first.value is not None and _is_zero(first.value)
    if len(body) != 3 or not is_scalar or not isinstance(first, Declare) or not isinstance(last, Assign):
        return None
    if step.target != first.var or last.value != first.var:
        return None
    return _assemble(loops, inner.loops[0], last.target, terms, False)


def _assemble(
    loops: Sequence[For], inner: For, target: Expr, terms: tuple[Expr, Expr] | None, adds: bool
) -> Product | None:
    """The product of two factors, if their indices are those of one."""
    place = _element(target)
    if place is None or terms is None or type_of(target) not in (F32, F64):
        return None
    stops = {loop.var.name: loop.stop for loop in loops}
    k = inner.var.name
    if len(stops) != 3 or any(_names(stop) & set(stops) for stop in stops.values()):
        return None
    if {i.name for i in place[1]} != set(stops) - {k}:
        return None
    rows, columns = (i.name for i in place[1])
    for first, second in (terms, terms[::-1]):
        left, right = _element(first), _element(second)
        if left is None or right is None or place[0].name in (left[0].name, right[0].name):
            return None
        a, b = _oriented(left, rows, k), _oriented(right, k, columns)
        if a is not None and b is not None:
            return Product(a, b, place[0].name, stops[rows], stops[columns], stops[k], adds)
    return None


def _oriented(element: tuple[Var, tuple[Var, ...]], first: str, second: str) -> Operand | None:
    names = tuple(i.name for i in element[1])
    if names == (first, second):
        return Operand(element[0].name, False)
    return Operand(element[0].name, True) if names == (second, first) else None


def _element(e: Expr) -> tuple[Var, tuple[Var, ...]] | None:
    """A matrix variable and the two variables that index it."""
    if not isinstance(e, Subscript) or not isinstance(e.base, Var) or not isinstance(e.base.type, TensorType):
        return None
    indices = tuple(i for i in e.indices if isinstance(i, Var))
    return (e.base, indices) if len(indices) == len(e.indices) == 2 else None


def _added(value: Expr, target: Expr) -> tuple[Expr, Expr] | None:
    """The factors of `target + x * y` or `x * y + target`."""
    if not isinstance(value, Binary) or value.op is not BinaryOp.ADD:
        return None
    if value.left == target:
        return _factors(value.right)
    return _factors(value.left) if value.right == target else None


def _factors(e: Expr) -> tuple[Expr, Expr] | None:
    return (e.left, e.right) if isinstance(e, Binary) and e.op is BinaryOp.MUL else None


def _is_zero(e: Expr) -> bool:
    return isinstance(e, Const) and e.value == 0


def _names(e: Expr) -> set[str]:
    return {n.name for n in walk(e) if isinstance(n, Var)}


__all__ = ["Operand", "Product", "match_product"]
