"""A loop that only accumulates becomes a reduction.

    acc: f32 = 0.0
    for k in range(0, n):                   c[i, j] = sum(a[i, k] * b[k, j] for k in range(0, n))
        acc = acc + a[i, k] * b[k, j]   ->
    c[i, j] = acc

Also where the accumulator is an element that no iteration of the loop moves: `y[i] = y[i] + ...`.  Several
accumulations in one loop are separated first, where none reads what another writes.
"""

from __future__ import annotations

from tmigrate.converters.lifting.contexts import root_of
from tmigrate.converters.lifting.rules.scalars import is_pure, reads_memory
from tmigrate.converters.lifting.state import Lift, fresh_name, substitute, written_variables
from tmigrate.tilelang.ir.expressions import Binary, BinaryOp, Const, Expr, Reduce, ReduceOp, Subscript, Var
from tmigrate.tilelang.ir.node import Node, rewrite, walk, with_fields
from tmigrate.tilelang.ir.statements import Assign, Comment, Declare, For, LoopKind, Region, Stmt


def apply(lift: Lift) -> bool:
    """Rewrite innermost loops first, until none is left that only accumulates."""
    names = lift.taken_names()
    return lift.rewrite(lambda it: _rule(it, names))


def _rule(it: Node, names: set[str]) -> tuple[Node, ...] | None:
    if not isinstance(it, For) or it.kind is not LoopKind.SERIAL or it.step != Const(1, it.var.type):
        return None
    body = tuple(s for s in it.body if not isinstance(s, Comment))
    statements = _inlined(body)
    if statements is None:
        return None
    if not _are_separate(statements) or any(_accumulation(s, it) is None for s in statements):
        return None
    made: list[Node] = []
    for s in statements:  # each reduction binds a variable of its own
        var = it.var if not made else Var(fresh_name(it.var.name, names), it.var.type)
        reduced = _accumulation(substitute((s,), {it.var: var})[0], with_fields(it, var=var))
        assert reduced is not None
        made.append(reduced)
    return tuple(made)


def _inlined(body: Region) -> list[Assign] | None:
    """The assignments of a loop body with private names replaced; None where something else is there."""
    replacements: dict[Expr, Expr] = {}
    found: list[Assign] = []
    for s in body:
        s = substitute((s,), replacements)[0]
        if isinstance(s, Declare) and s.value is not None and is_pure(s.value):
            if s.var.name in written_variables(body) or (found and reads_memory(s.value)):
                return None
            replacements[s.var] = s.value
        elif isinstance(s, Assign):
            found.append(s)
        else:
            return None
    return found


def _are_separate(statements: list[Assign]) -> bool:
    """No statement reads or writes what another one writes."""
    for k, a in enumerate(statements):
        for j, b in enumerate(statements):
            if j != k and _written_name(a) in _names(b):
                return False
    return True


def _written_name(s: Assign) -> str:
    root = root_of(s.target)
    return root.name if isinstance(root, Var) else ""


def _names(s: Stmt) -> set[str]:
    return {it.name for it in walk(s) if isinstance(it, Var)}


def _accumulation(s: Stmt, loop: For) -> Assign | None:
    """`place = place + f(k)` as `place = place + sum(f(k) for k in ...)`."""
    if not isinstance(s, Assign):
        return None
    place, value = s.target, s.value
    if not isinstance(place, Var | Subscript) or not is_pure(value) or not isinstance(value, Binary):
        return None
    if any(it == loop.var for it in walk(place)) or any(reads_memory(i) for i in _indices(place)):
        return None
    term, op = _term(place, value)
    if term is None or _written_name(s) in {it.name for it in walk(term) if isinstance(it, Var)}:
        return None
    fold = ReduceOp.PRODUCT if op is BinaryOp.MUL else ReduceOp.SUM
    reduce = Reduce(fold, loop.var, loop.start, loop.stop, term, location=s.location)
    return Assign(place, Binary(op, place, reduce), location=s.location)


def _indices(place: Expr) -> tuple[Expr, ...]:
    return place.indices if isinstance(place, Subscript) else ()


def _term(place: Expr, value: Binary) -> tuple[Expr | None, BinaryOp]:
    """The accumulated expression: `p + f`, `f + p`, `p - f`, `p * f`, and chains `(p + f) + g`."""
    if value.op in (BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL) and value.left == place:
        return value.right, value.op
    if value.op in (BinaryOp.ADD, BinaryOp.MUL) and value.right == place:
        return value.left, value.op
    if value.op is BinaryOp.ADD and isinstance(value.left, Binary):
        first, op = _term(place, value.left)
        if first is not None and op is BinaryOp.ADD:
            return Binary(BinaryOp.ADD, first, value.right), op
    return None, value.op


def merge_stores(region: Region) -> Region:
    """`p = e; p = p + r` is `p = e + r`, where r does not read what p writes; `0 + r` is r.

    Also through a private accumulator that is declared right before.
    """
    done: list[Stmt] = []
    for s in region:
        last = done[-1] if done else None
        merged = _merged(last, s) if last is not None else None
        if merged is None:
            done.append(s)
        else:
            done[-1] = merged
    return tuple(done)


def _merged(first: Stmt, second: Stmt) -> Stmt | None:
    if not isinstance(second, Assign) or not is_pure(second.value):
        return None
    if isinstance(first, Declare) and first.value is not None:
        place: Expr = first.var
        value = first.value
    elif isinstance(first, Assign):
        place, value = first.target, first.value
    else:
        return None
    if second.target != place or not is_pure(value) or any(reads_memory(i) for i in _indices(place)):
        return None
    if not _reads_only_whole(second.value, place):
        return None
    combined = rewrite(second.value, lambda it: value if it == place else None)
    if isinstance(first, Declare):
        return Declare(first.var, combined, location=second.location or first.location)
    return Assign(place, combined, location=second.location or first.location)


def _reads_only_whole(value: Expr, place: Expr) -> bool:
    """Every read of the written array in `value` is the place itself, once, in no reduction."""
    root = root_of(place)
    assert isinstance(root, Var)
    count = sum(1 for it in walk(value) if it == place)
    roots = sum(1 for it in walk(value) if it == root)
    inside = any(it == place for r in walk(value) if isinstance(r, Reduce) for it in walk(r))
    return count == roots == 1 and not inside
