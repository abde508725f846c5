"""The second half of index fusion: guards and grid-stride loops give the parallel ranges.

if i > 0 and i < n - 1 and flag > 0:        if flag > 0:
    ...                             ->          for i in parallel(range(1, n - 1)):

i = index                                   for i in parallel(range(0, n)):
while i < n:                        ->          ...
    ...
    with step: i = i + total
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tmigrate.converters.lifting.facts import Facts, conjuncts, consequences, scalars_only
from tmigrate.converters.lifting.polynomials import (
    Polynomial,
    always,
    converted,
    to_expression,
    to_polynomial,
)
from tmigrate.converters.lifting.rules.launch import AXES, Axis, Launch, fuse_region
from tmigrate.converters.lifting.rules.scalars import is_pure, reads_memory
from tmigrate.converters.lifting.state import BlockedError, Lift, substitute, variables_of, written_variables
from tmigrate.tilelang.ir.expressions import (
    Compare,
    CompareOp,
    Const,
    Expr,
    LaunchIndex,
    Logical,
    LogicalOp,
    Var,
    type_of,
)
from tmigrate.tilelang.ir.node import walk
from tmigrate.tilelang.ir.statements import (
    Allocate,
    Assign,
    Comment,
    Declare,
    For,
    If,
    LoopKind,
    Region,
    Stmt,
    While,
)
from tmigrate.tilelang.ir.types import U32, ScalarType, Space


@dataclass
class Bounds:
    """One axis's range as the guards give it."""

    lower: Polynomial | None = None
    stop: Expr | None = None
    value: Polynomial | None = None  # the only index that does anything

    @property
    def is_bounded(self) -> bool:
        return self.stop is not None or self.value is not None


Wrapper = Stmt | Expr  # a declaration, a guard's part, or a parallel loop whose body is still to come


@dataclass
class Nest:
    """A kernel's body taken apart: what stands around its inner statements, outermost first."""

    wrappers: list[Wrapper] = field(default_factory=list)
    inner: Region = ()
    strided: set[int] = field(default_factory=set)


def apply(lift: Lift) -> list[str]:
    """Replace the launch by parallel loops; the names of the rules that took part."""
    launch = lift.axes
    assert isinstance(launch, Launch)
    body = fuse_region(lift.body, launch)
    nest = _take_apart(body, launch)
    bounds = _bounds(lift, nest, launch)
    lift.body = _build(lift, nest, launch, bounds)
    _check_gone(lift.body, launch)
    for axis in launch.axes:
        lift.launch += axis.conditions()
    rules = ["index fusion"] if any(a.number not in nest.strided for a in launch.used) else []
    return [*rules, *(["grid-stride loop"] if nest.strided else [])]


def _take_apart(region: Region, launch: Launch) -> Nest:
    nest = Nest()
    while True:
        position = 0
        while position < len(region) and _is_private(region[position]):
            position += 1
        rest = [s for s in region[position:] if not isinstance(s, Comment)]
        if len(rest) != 1:
            break
        before, only = list(region[:position]), rest[0]
        if isinstance(only, If) and not only.otherwise:
            nest.wrappers += [*before, *conjuncts(only.condition)]
            region = only.then
            continue
        strided = _strided(only, before, launch) if isinstance(only, While) else None
        if strided is None:
            break
        axis, start, loop = strided
        nest.strided.add(axis.number)
        moved = [
            s for s in before if isinstance(s, Declare) and s.value is None and _set_first(s.var, loop.body)
        ]
        nest.wrappers += [*(s for s in before if s is not start and s not in moved), loop, *moved]
        region = loop.body
    nest.inner = region
    return nest


def _set_first(v: Var, body: Region) -> bool:
    """Whether each iteration gives a variable its value before it reads it: it can be declared inside."""
    for s in body:
        if isinstance(s, Assign) and s.target == v:
            return not any(it == v for it in walk(s.value))
        if any(it == v for it in walk(s)):
            return False
    return True


def _is_private(s: Stmt) -> bool:
    """Declarations and assignments of variables: no other thread sees them."""
    if isinstance(s, Allocate):
        return s.space is Space.LOCAL
    if isinstance(s, Declare):
        return is_pure(s.value)
    return isinstance(s, Comment) or (
        isinstance(s, Assign) and isinstance(s.target, Var) and is_pure(s.value)
    )


def _strided(loop: While, before: list[Stmt], launch: Launch) -> tuple[Axis, Stmt, For] | None:
    """`v = index; while v < n: ...; with step: v = v + total`."""
    step = loop.step[0] if len(loop.step) == 1 else None
    if not isinstance(step, Assign) or not isinstance(step.target, Var):
        return None
    v = step.target
    start = next((s for s in reversed(before) if isinstance(s, Declare) and s.var == v), None)
    if start is None or start.value is None or v.name in written_variables(loop.body):
        return None
    stop = _upper(loop.condition, v)
    stride = to_polynomial(step.value, always) - Polynomial.atom(v)
    for axis in launch.used:
        first = to_polynomial(start.value, always) - (Polynomial.atom(axis.var) - axis.offset)
        if (
            stride != Polynomial.atom(axis.total_var)
            or first.value is None
            or first.value < 0
            or stop is None
        ):
            continue
        one, low = Const(1, v.type), Const(first.value, v.type)
        return (
            axis,
            start,
            For(v, low, converted(stop, v.type), one, loop.body, LoopKind.PARALLEL, location=loop.location),
        )
    return None


def _upper(condition: Expr, v: Var) -> Expr | None:
    """n of `v < n`, n + 1 of `v <= n`, in the type of the comparison."""
    if not isinstance(condition, Compare):
        return None
    left, right, op = condition.left, condition.right, condition.op
    if op in (CompareOp.GT, CompareOp.GE):
        left, right = right, left
        op = CompareOp.LT if op is CompareOp.GT else CompareOp.LE
    if to_polynomial(left, always) != Polynomial.atom(v) or any(it == v for it in walk(right)):
        return None
    if op is CompareOp.LT:
        return right
    if op is CompareOp.LE:
        return to_expression(to_polynomial(right, always) + 1, type_of(right))
    return None


def _bounds(lift: Lift, nest: Nest, launch: Launch) -> dict[int, Bounds]:
    """Read the guards; those that became a bound leave the nest."""
    facts = Facts(tuple(Polynomial.atom(a.var) - a.offset for a in launch.used))
    found = {a.number: Bounds() for a in launch.used}
    left: list[Wrapper] = []
    for wrapper in nest.wrappers:
        if not isinstance(wrapper, Expr) or not _take_bound(lift, wrapper, launch, found, facts):
            left.append(wrapper)
    nest.wrappers = left
    for axis in launch.used:
        if not found[axis.number].is_bounded and axis.number not in nest.strided:
            raise BlockedError(
                "TM3005",
                f"no guard bounds the index over {AXES[axis.number]}, so the data's extent is not known",
                lift.function.location,
            )
    return found


def _take_bound(lift: Lift, guard: Expr, launch: Launch, found: dict[int, Bounds], facts: Facts) -> bool:
    """Whether a guard is a bound of one axis that has none of that side yet."""
    claims = consequences(guard, facts)
    for axis in launch.used:
        others = [a for claim in claims[:1] for a in claim.atoms if a != axis.var]
        if not claims or axis.var not in claims[0].atoms or not scalars_only(_sum_of(others), lift.scalars):
            continue
        bounds = found[axis.number]
        factor = claims[0].coefficient(axis.var).value
        rest = claims[0].rest(axis.var)
        if len(claims) == 2 and factor in (1, -1):
            if bounds.is_bounded:
                return False
            bounds.value = -rest if factor == 1 else rest
            return True
        if factor == -1 and not bounds.is_bounded:
            bounds.stop = _stop_expression(guard, axis, rest)
            return True
        if factor == 1 and bounds.lower is None:
            bounds.lower = -rest
            return True
        if factor == 1 and bounds.lower is not None:
            return facts.with_facts([Polynomial.atom(axis.var) - bounds.lower]).prove(claims[0])
    return False


def _sum_of(atoms: list[Expr]) -> Polynomial:
    total = Polynomial()
    for a in atoms:
        total = total + Polynomial.atom(a)
    return total


def _stop_expression(guard: Expr, axis: Axis, rest: Polynomial) -> Expr:
    direct = _upper(guard, axis.var)
    if direct is not None:
        return converted(direct, axis.type)
    return to_expression(rest + 1, axis.type)


def _build(lift: Lift, nest: Nest, launch: Launch, bounds: dict[int, Bounds]) -> Region:
    body = nest.inner
    outer_guards: list[Expr] = []
    variables = {a.var for a in launch.used}
    for position in range(len(nest.wrappers) - 1, -1, -1):
        wrapper = nest.wrappers[position]
        if isinstance(wrapper, Expr):
            if _is_launch_free(wrapper, variables, nest.wrappers[:position]):
                outer_guards.insert(0, wrapper)
            else:
                body = _guarded(wrapper, body)
        elif isinstance(wrapper, For):
            body = (_with_body(wrapper, body),)
        else:
            body = (wrapper, *body)
    for axis in launch.used:
        if axis.number not in nest.strided:
            body = _axis_loop(lift, axis, bounds[axis.number], body)
    for guard in reversed(outer_guards):
        body = _guarded(guard, body)
    return body


def _is_launch_free(guard: Expr, variables: set[Var], before: list[Wrapper]) -> bool:
    """Whether a guard depends on parameters and constants only."""
    inner = variables | {s.var for s in before if isinstance(s, Declare | For)}
    return is_pure(guard) and not reads_memory(guard) and not any(v in inner for v in variables_of(guard))


def _guarded(guard: Expr, body: Region) -> Region:
    """`if a: if b: ...` is `if a and b: ...`."""
    if len(body) == 1 and isinstance(body[0], If) and not body[0].otherwise:
        inner = body[0]
        return (If(Logical(LogicalOp.AND, guard, inner.condition), inner.then, (), location=inner.location),)
    return (If(guard, body, (), location=guard.location),)


def _with_body(loop: For, body: Region) -> For:
    return For(loop.var, loop.start, loop.stop, loop.step, body, loop.kind, location=loop.location)


def _axis_loop(lift: Lift, axis: Axis, bounds: Bounds, body: Region) -> Region:
    t = axis.type
    if bounds.value is not None:
        value = to_expression(bounds.value, t)
        lift.assume_nonnegative(bounds.value - axis.offset)
        if bounds.value.value != axis.offset:
            lift.launch.append(_at_least(axis, to_expression(bounds.value - axis.offset + 1, t)))
        return substitute(body, {axis.var: value})
    assert bounds.stop is not None
    start = _start_of(lift, axis, bounds)
    extent = to_polynomial(bounds.stop, always) - axis.offset
    needed = bounds.stop if axis.offset == 0 else to_expression(extent, t)
    lift.launch.append(_at_least(axis, needed))
    return (
        For(
            axis.var,
            start,
            bounds.stop,
            Const(1, t),
            body,
            LoopKind.PARALLEL,
            location=body[0].location if body else None,
        ),
    )


def _start_of(lift: Lift, axis: Axis, bounds: Bounds) -> Expr:
    lower = bounds.lower
    if lower is None or (lower.value is not None and lower.value <= axis.offset):
        return Const(axis.offset, axis.type)
    if lower.value is None:
        lift.assume_nonnegative(lower - axis.offset)
    return to_expression(lower, axis.type)


def _at_least(axis: Axis, needed: Expr) -> Expr:
    """`gridDim.x * blockDim.x >= needed` in the type of `needed`; the launcher keeps totals below 2^31."""
    if isinstance(needed, Const):
        return Compare(CompareOp.GE, axis.total, Const(max(int(needed.value), 0), U32))
    t = type_of(needed)
    assert isinstance(t, ScalarType)
    return Compare(CompareOp.GE, converted(axis.total, t), needed)


def _check_gone(body: Region, launch: Launch) -> None:
    totals = {a.total_var for a in launch.axes}
    for it in walk(body):
        if isinstance(it, LaunchIndex):
            raise BlockedError("TM3002", "a launch index is left in the lifted code", it.location)
        if isinstance(it, Var) and it in totals:
            raise BlockedError("TM3002", "the number of threads is left in the lifted code", it.location)
    bound = {it.var for it in walk(body) if isinstance(it, For)}
    for axis in launch.used:
        if axis.var not in bound and any(it == axis.var for it in walk(body)):
            raise BlockedError("TM3002", "the launch's index is used outside its loop")
