"""The loop over threadIdx.x: guards as its bounds, and indices that compilers see as affine.

    for x in range(B):                            first = f(0)            # in 64 bits
        i = i32(block * B + x)                    for x in range(0, min(B, n - first)):
        if i < n: y[i] = ...              ->          y[first + x] = ...

The index wraps at 32 bits, which hides from a compiler that it runs through memory in steps.  So the loop is
cut where some index wraps (almost always into one piece), and inside a piece the index is a 64-bit sum:

    begin = 0
    while begin < B:
        first = i64(i32(block * B + begin)) - begin         # the index is first + x up to `end`
        end = min(B, begin + steps until an index wraps)
        for x in range(begin, min(end, n - first)): y[first + x] = ...
        with step: begin = end

A small body stands twice instead: with 64-bit indices where no index wraps in the whole row, else as it was.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tmigrate.tilelang.ir.expressions import (
    Binary,
    BinaryOp,
    Call,
    Cast,
    Compare,
    CompareOp,
    Const,
    Expr,
    Logical,
    LogicalOp,
    PointerAdd,
    Subscript,
    Unary,
    UnaryOp,
    Var,
    type_of,
)
from tmigrate.tilelang.ir.intrinsics import INTRINSICS
from tmigrate.tilelang.ir.node import Node, bindings_of, rewrite_region, walk, with_fields
from tmigrate.tilelang.ir.statements import (
    Assign,
    Declare,
    For,
    If,
    LoopKind,
    Region,
    Return,
    Stmt,
    While,
)
from tmigrate.tilelang.ir.types import B1, I32, I64, U32
from tmigrate.tilelang.passes.affine import Affine, AffineForms
from tmigrate.tilelang.passes.effects import address_taken, assigned_variables
from tmigrate.tilelang.passes.names import Names

_ONE, _ZERO = Const(1, I64), Const(0, I64)
_SMALL = 120  # nodes
_LARGEST_BLOCK = 1 << 16  # the launcher's check: an axis of a block is not longer
_FLIPPED = {CompareOp.LT: CompareOp.GT, CompareOp.LE: CompareOp.GE, CompareOp.GT: CompareOp.LT,
            CompareOp.GE: CompareOp.LE, CompareOp.EQ: CompareOp.EQ}  # fmt: skip
_NEGATED = {CompareOp.LT: CompareOp.GE, CompareOp.LE: CompareOp.GT, CompareOp.GT: CompareOp.LE,
            CompareOp.GE: CompareOp.LT, CompareOp.NE: CompareOp.EQ}  # fmt: skip


@dataclass
class _Plan:
    """What the new loop computes before it starts: a 64-bit first value for each affine index."""

    firsts: dict[Affine, Var] = field(default_factory=dict)
    lows: list[Expr] = field(default_factory=list)
    highs: list[Expr] = field(default_factory=list)


def narrow(loop: For, thread: Var, names: Names) -> Region:
    """The loop over threadIdx.x as described above, or unchanged where nothing is gained."""
    return _Narrowing(loop, thread, names).run()


class _Narrowing:
    def __init__(self, loop: For, thread: Var, names: Names) -> None:
        self.loop = loop
        self.names = names
        self.wide = Var(names.fresh("lane_x"), I64)
        bound = {v.name for it in walk(loop) for v in bindings_of(it) if isinstance(v, Var)}
        used = {it.name for it in walk(loop) if isinstance(it, Var)}
        fixed = frozenset(used - bound) - assigned_variables(loop.body) - address_taken(loop.body)
        self.forms = AffineForms(thread, fixed, self._known(loop.body))
        self.plan = _Plan()
        self.begin = Var(names.fresh("begin_x"), I64)

    @staticmethod
    def _known(body: Region) -> dict[str, Expr]:
        changing = assigned_variables(body) | address_taken(body)
        return {
            s.var.name: s.value
            for s in body
            if isinstance(s, Declare) and s.value is not None and s.var.name not in changing
        }

    def run(self) -> Region:
        """The replacement of the loop."""
        original = self.loop
        body = self._guarded(self.loop.body)
        body = self._wide_indices(body)
        if not self.plan.firsts and not self.plan.lows and not self.plan.highs:
            return (self.loop,)
        size = Cast(I64, self.loop.stop)
        wrapping = {form: var for form, var in self.plan.firsts.items() if _may_wrap(form)}
        turn: list[Stmt] = [self._first(form, var) for form, var in self.plan.firsts.items()]
        end: Expr = size
        for form in wrapping:
            end = _least(end, self._before_wrap(form))
        end_x = Var(self.names.fresh("end_x"), I64)
        turn.append(Declare(end_x, end))
        start, stop = self._bounds(self.begin, end_x)
        inner = (Declare(self.forms.x, Cast(U32, self.wide)), *body)
        turn.append(For(self.wide, start, stop, _ONE, inner, LoopKind.THREADS))
        begin = Declare(self.begin, _ZERO)
        if not wrapping:
            return (begin, *turn)
        if _is_small(original):
            return self._two_loops(original, wrapping, body)
        again = Assign(self.begin, end_x)
        return (begin, While(Compare(CompareOp.LT, self.begin, size), tuple(turn), (again,)))

    def _two_loops(self, original: For, wrapping: dict[Affine, Var], body: Region) -> Region:
        """Small bodies: one loop with plain bounds where no index wraps in the row, else the original."""
        size = Cast(I64, original.stop)
        stays: Expr = Const(True, B1)
        for form in wrapping:
            fits = Compare(CompareOp.LE, size, self._before_wrap(form))
            stays = fits if isinstance(stays, Const) else Logical(LogicalOp.AND, stays, fits)
        start, stop = self._bounds(_ZERO, size)
        inner = (Declare(self.forms.x, Cast(U32, self.wide)), *body)
        fast = For(self.wide, start, stop, _ONE, inner, LoopKind.THREADS)
        firsts = [Declare(var, Cast(I64, form.rest)) for form, var in self.plan.firsts.items()]
        likely = Call("tm_likely", (stays,), B1)
        return (*firsts, If(likely, (fast,), (original,)))

    # ---- guards ----------------------------------------------------------------------------------------

    def _guarded(self, body: Region) -> Region:
        """The body without what became bounds: a last `if`, or an early return of the rest."""
        for place, s in enumerate(body):
            if isinstance(s, Declare) and s.value is not None and _is_free_of_effects(s.value):
                continue
            if not isinstance(s, If) or s.otherwise:
                return body
            rest = body[place + 1 :]
            if not rest:
                kept = self._take(s.condition, True)
                inner = s.then
            elif len(s.then) == 1 and isinstance(s.then[0], Return):
                kept = self._take(s.condition, False)
                inner = rest
            else:
                return body
            if kept is None:
                inner = self._guarded_further(body[:place], inner)
                return (*body[:place], *inner)
            if kept is s.condition:
                return body
            return (*body[:place], with_fields(s, condition=kept, then=inner, otherwise=()))
        return body

    def _guarded_further(self, before: Region, inner: Region) -> Region:
        """A guard right inside another one."""
        self.forms.known = {**self._known(before), **self._known(inner)}
        return self._guarded(inner)

    def _take(self, condition: Expr, holds: bool) -> Expr | None:
        """Turn conjuncts of `condition` (of its negation) into bounds; what is left must still be tested."""
        if isinstance(condition, Unary) and condition.op is UnaryOp.NOT:
            return self._take(condition.operand, not holds)
        if isinstance(condition, Logical):
            joined = LogicalOp.AND if holds else LogicalOp.OR
            if condition.op is not joined:
                return condition if holds else _negated(condition)
            left, right = self._take(condition.left, holds), self._take(condition.right, holds)
            if left is None or right is None:
                return left if right is None else right
            return Logical(LogicalOp.AND, left, right)
        if isinstance(condition, Compare) and self._bound(condition, holds):
            return None
        return condition if holds else _negated(condition)

    def _bound(self, condition: Compare, holds: bool) -> bool:
        """Whether `x + rest < limit` (or another comparison) became a bound."""
        op = condition.op if holds else _NEGATED.get(condition.op)
        left, right = self.forms.of(condition.left), self.forms.of(condition.right)
        if op is None or left is None or right is None:
            return False
        if left.scale == 0 and right.scale == 1 and op in _FLIPPED:
            left, right, op = right, left, _FLIPPED[op]
        if left.scale != 1 or right.scale != 0 or op not in _FLIPPED:
            return False
        # Inside a turn the left side is first + x without wrapping.
        limit: Expr = Cast(I64, right.rest)
        first = self._wide_first(left)
        if not (isinstance(first, Const) and first.value == 0):
            limit = Binary(BinaryOp.SUB, limit, first)
        if op in (CompareOp.LT, CompareOp.LE, CompareOp.EQ):
            self.plan.highs.append(limit if op is CompareOp.LT else Binary(BinaryOp.ADD, limit, _ONE))
        if op in (CompareOp.GT, CompareOp.GE, CompareOp.EQ):
            self.plan.lows.append(Binary(BinaryOp.ADD, limit, _ONE) if op is CompareOp.GT else limit)
        return True

    # ---- indices ---------------------------------------------------------------------------------------

    def _wide_indices(self, body: Region) -> Region:
        """Affine indices as 64-bit sums."""

        def rule(it: Node) -> Node | None:
            if isinstance(it, Subscript):
                indices = tuple(self._index(i) for i in it.indices)
                return with_fields(it, indices=indices) if indices != it.indices else None
            if isinstance(it, PointerAdd):
                offset = self._index(it.offset)
                return with_fields(it, offset=offset) if offset != it.offset else None
            return None

        self.forms.known = self._known(body)
        return rewrite_region(body, rule)  # type: ignore[return-value]

    def _index(self, e: Expr) -> Expr:
        form = self.forms.of(e) if type_of(e) in (I32, U32) else None
        if form is None or form.scale == 0:
            return e
        step = self.wide if form.scale == 1 else Binary(BinaryOp.MUL, self.wide, Const(form.scale, I64))
        first = self._wide_first(form)
        return step if isinstance(first, Const) and first.value == 0 else Binary(BinaryOp.ADD, first, step)

    def _wide_first(self, form: Affine) -> Expr:
        """What to add to scale * x for the index in 64 bits."""
        if isinstance(form.rest, Const) and not _may_wrap(form):
            return Const(int(form.rest.value), I64)
        if form not in self.plan.firsts:
            self.plan.firsts[form] = Var(self.names.fresh("first_x"), I64)
        return self.plan.firsts[form]

    def _first(self, form: Affine, var: Var) -> Declare:
        """`first = i64(i32(rest + scale * begin)) - scale * begin`."""
        t, scale = form.type, Const(form.scale, I64)
        moved = Binary(BinaryOp.MUL, self.begin, scale)
        now = Cast(I64, Binary(BinaryOp.ADD, form.rest, Cast(t, moved)))
        return Declare(var, Binary(BinaryOp.SUB, now, moved))

    def _before_wrap(self, form: Affine) -> Expr:
        """The first x at which the index leaves its type's range."""
        t = form.type
        low, high = (-(1 << 31), 1 << 31) if t.is_signed else (0, 1 << 32)
        first = self.plan.firsts[form]
        if form.scale > 0:
            room = Binary(BinaryOp.SUB, Const(high - 1, I64), first)
        else:
            room = Binary(BinaryOp.SUB, first, Const(low, I64))
        steps = (
            room if abs(form.scale) == 1 else Binary(BinaryOp.TRUNC_DIV, room, Const(abs(form.scale), I64))
        )
        return Binary(BinaryOp.ADD, steps, _ONE)

    def _bounds(self, start: Expr, stop: Expr) -> tuple[Expr, Expr]:
        for low in self.plan.lows:
            start = Call("max", (start, low), I64)
        for high in self.plan.highs:
            stop = _least(stop, high)
        return start, stop


def _is_small(loop: For) -> bool:
    """Whether the loop may stand twice."""
    return sum(1 for _ in walk(loop)) <= _SMALL


def _least(a: Expr, b: Expr) -> Expr:
    return Call("min", (a, b), I64)


def _may_wrap(form: Affine) -> bool:
    """Whether an index may leave its type's range in a block of legal size."""
    if not isinstance(form.rest, Const):
        return True
    rest, reach = int(form.rest.value), form.scale * (_LARGEST_BLOCK - 1)
    low, high = (-(1 << 31), 1 << 31) if form.type.is_signed else (0, 1 << 32)
    return not all(low <= value < high for value in (rest, rest + reach))


def _negated(e: Expr) -> Expr:
    return Unary(UnaryOp.NOT, e)


def _is_free_of_effects(e: Expr) -> bool:
    """Whether skipping the evaluation changes nothing."""
    for it in walk(e):
        if isinstance(it, Call) and not (it.callee in INTRINSICS and INTRINSICS[it.callee].is_pure):
            return False
    return True
