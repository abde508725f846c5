"""A general loop that counts becomes a range.

    k: i32 = 0
    while k < n:                        for k in range(0, n):
        s = s + x[k]            ->          s = s + x[k]
        with step: k = k + 1

Only where nothing else reads or writes the counter: each loop then binds a variable of its own.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import chain
from typing import cast

from tmigrate.converters.lifting.state import Lift, fresh_name, substitute, written_variables
from tmigrate.tilelang.ir.expressions import (
    Binary,
    BinaryOp,
    Call,
    Compare,
    CompareOp,
    Const,
    Expr,
    Var,
)
from tmigrate.tilelang.ir.node import Node, Trait, has_trait, regions_of, rewrite_region, walk, with_fields
from tmigrate.tilelang.ir.statements import Assign, Declare, For, Region, Stmt, While

_MIRRORED = {
    CompareOp.LT: CompareOp.GT,
    CompareOp.GT: CompareOp.LT,
    CompareOp.LE: CompareOp.GE,
    CompareOp.GE: CompareOp.LE,
}


@dataclass(frozen=True)
class Counting:
    """A loop that can be a range: where its counter starts, the statement before it, the step."""

    var: Var
    first: Stmt
    loop: While
    start: Expr
    stop: Expr
    step: int


def apply(lift: Lift) -> bool:
    """Convert the counters all of whose uses lie in loops that count."""
    changed = False
    while True:
        loops = _convertible(lift)
        if not loops:
            return changed
        lift.body = _converted(lift, loops)
        changed = True


def _convertible(lift: Lift) -> list[Counting]:
    """The innermost candidates first; one counter's loops all at once."""
    candidates: dict[Var, list[Counting]] = {}
    for found in _candidates(lift.body):
        candidates.setdefault(found.var, []).append(found)
    uses = Counter(it for it in walk(lift.body) if isinstance(it, Var))
    for var, loops in candidates.items():
        inside = sum(_uses(var, c.first) + _uses(var, c.loop) for c in loops)
        declared = (it for it in walk(lift.body) if isinstance(it, Declare) and it.var == var)
        if any(isinstance(it, Call) for d in declared for it in walk(d)):
            continue
        if inside == uses[var] and not any(_contains(a, b) for a in loops for b in loops if a is not b):
            return loops
    return []


def _contains(outer: Counting, inner: Counting) -> bool:
    return any(it is inner.loop for it in walk(outer.loop))


def _uses(var: Var, s: Stmt) -> int:
    return sum(1 for it in walk(s) if it == var)


def _regions(region: Region) -> list[Region]:
    found: list[Region] = [region]
    for it in walk(region):
        found += [r for _, r in regions_of(it)]  # type: ignore[misc]
    return found


def _candidates(body: Region) -> list[Counting]:
    found: list[Counting] = []
    for region in reversed(_regions(body)):
        for position, s in enumerate(region):
            if isinstance(s, While):
                counting = _counting(s, region[:position])
                if counting is not None:
                    found.append(counting)
    return found


def _counting(loop: While, before: Region) -> Counting | None:
    if (
        len(loop.step) != 1
        or not isinstance(loop.step[0], Assign)
        or not isinstance(loop.step[0].target, Var)
    ):
        return None
    var = loop.step[0].target
    step = _step(loop.step[0].value, var)
    bound = _bound(loop.condition, var)
    first = _start(var, before)
    if step is None or bound is None or first is None:
        return None
    op, limit = bound
    written = written_variables(loop.body)
    if var.name in written or any(it.name in written for it in walk(limit) if isinstance(it, Var)):
        return None
    if any(has_trait(it, Trait.READS_MEMORY) for it in walk(limit)):
        return None
    stop = _stop(op, limit, step)
    value = first.value if isinstance(first, Declare | Assign) else None
    if stop is None or value is None:
        return None
    return Counting(var, first, loop, value, stop, step)


def _step(value: Expr, var: Var) -> int | None:
    """c of `v + c`, `c + v`, `v - c`."""
    if not isinstance(value, Binary) or value.op not in (BinaryOp.ADD, BinaryOp.SUB):
        return None
    left, right = value.left, value.right
    if value.op is BinaryOp.ADD and isinstance(left, Const):
        left, right = right, left
    if left != var or not isinstance(right, Const) or not right.value:
        return None
    return int(right.value) if value.op is BinaryOp.ADD else -int(right.value)


def _bound(condition: Expr, var: Var) -> tuple[CompareOp, Expr] | None:
    if not isinstance(condition, Compare):
        return None
    if condition.left == var and not _uses_expr(var, condition.right):
        return condition.op, condition.right
    if condition.right == var and not _uses_expr(var, condition.left) and condition.op in _MIRRORED:
        return _MIRRORED[condition.op], condition.left
    return None


def _uses_expr(var: Var, e: Expr) -> bool:
    return any(it == var for it in walk(e))


def _stop(op: CompareOp, limit: Expr, step: int) -> Expr | None:
    t = limit.type  # type: ignore[attr-defined]
    one = Const(1, t)
    if step > 0 and op in (CompareOp.LT, CompareOp.LE):
        return limit if op is CompareOp.LT else _plus(limit, BinaryOp.ADD, one)
    if step < 0 and op in (CompareOp.GT, CompareOp.GE):
        return limit if op is CompareOp.GT else _plus(limit, BinaryOp.SUB, one)
    return None


def _plus(limit: Expr, op: BinaryOp, one: Const) -> Expr:
    if isinstance(limit, Const):
        return Const(int(limit.value) + (1 if op is BinaryOp.ADD else -1), limit.type)
    return Binary(op, limit, one)


def _start(var: Var, before: Region) -> Stmt | None:
    """The statement that sets the counter, with only scalars set in between."""
    for s in reversed(before):
        target = s.var if isinstance(s, Declare) else s.target if isinstance(s, Assign) else None
        if not isinstance(target, Var):
            return None
        if target == var:
            return s
        if any(it == var for it in walk(s)):
            return None
    return None


def _converted(lift: Lift, loops: list[Counting]) -> Region:
    parameters = {p.name for p in lift.parameters}
    names = lift.taken_names()
    var = loops[0].var
    if var.name not in parameters:  # the first loop keeps the name: nothing else uses it
        names.discard(var.name)
    fresh = [Var(fresh_name(var.name, names), var.type) for _ in loops]
    made = {id(c.loop): (c, v) for c, v in zip(loops, fresh, strict=True)}
    firsts = {id(c.first) for c in loops}
    return tuple(chain.from_iterable(_rebuild(s, made, firsts, var) for s in lift.body))


def _rebuild(s: Stmt, made: dict[int, tuple[Counting, Var]], firsts: set[int], var: Var) -> Region:
    """Replace by identity: equal loops elsewhere may have other starts."""
    if id(s) in firsts or (isinstance(s, Declare) and s.var == var):
        return ()
    changes: dict[str, Region] = {}
    for name, region in regions_of(s):
        parts = (_rebuild(cast(Stmt, x), made, firsts, var) for x in region)
        changes[name] = tuple(chain.from_iterable(parts))
    rebuilt = with_fields(s, **changes) if changes else s
    if id(s) not in made:
        return (rebuilt,)
    counting, fresh = made[id(s)]
    assert isinstance(rebuilt, While)
    body = substitute(rebuilt.body, {var: fresh})
    step = Const(counting.step, var.type)
    return (For(fresh, counting.start, counting.stop, step, body, location=s.location),)


def simplify_constants(region: Region) -> Region:
    """Fold sums and differences of integer literals."""

    def rule(it: Node) -> Node | None:
        if isinstance(it, Binary) and isinstance(it.left, Const) and isinstance(it.right, Const):
            return _folded(it)
        return None

    return rewrite_region(region, rule)  # type: ignore[return-value]


def _folded(e: Binary) -> Expr | None:
    assert isinstance(e.left, Const) and isinstance(e.right, Const)
    a, b = e.left.value, e.right.value
    if isinstance(a, float) or isinstance(b, float) or isinstance(a, bool):
        return None
    value = {BinaryOp.ADD: a + b, BinaryOp.SUB: a - b, BinaryOp.MUL: a * b}.get(e.op)
    return None if value is None or abs(value) >= 2**31 else Const(value, e.left.type)
