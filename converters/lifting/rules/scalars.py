"""Private scalars that only name a value are replaced by it, and what is never read goes.

    i: i32 = ...                        y[...] = a[...]
    v: f32 = a[i]               ->
    y[i] = v

A value that reads memory moves only past statements that store nothing.  A float that several places use
keeps its name.
"""

from __future__ import annotations

from collections import Counter

from tmigrate.converters.lifting.rules.counted import simplify_constants
from tmigrate.converters.lifting.state import Lift, substitute, substitute_in, written_variables
from tmigrate.tilelang.ir.expressions import (
    AddressOf,
    Call,
    Cast,
    Const,
    Expr,
    Member,
    NamedConst,
    Subscript,
    Unary,
    Var,
    type_of,
)
from tmigrate.tilelang.ir.intrinsics import INTRINSICS
from tmigrate.tilelang.ir.node import (
    Node,
    Trait,
    has_trait,
    operands_of,
    regions_of,
    rewrite_region,
    walk,
    with_fields,
)
from tmigrate.tilelang.ir.statements import Assign, Comment, Declare, Evaluate, If, Region, Stmt
from tmigrate.tilelang.ir.types import PointerType, ScalarType


def apply(lift: Lift) -> bool:
    """Run to a fixed point."""
    start = lift.body
    lift.body = simplify_constants(lift.body)
    while True:
        before = lift.body
        lift.body = _declared_at_assignment(lift.body)
        lift.body = _forwarded(lift.body)
        lift.body = _moved_loads(lift.body)
        lift.body = _without_dead(lift.body)
        if lift.body == before:
            return lift.body != start


def is_pure(e: Node | None) -> bool:
    """Whether evaluating has no effect (device functions of the module count as effects)."""
    if e is None:
        return True
    return all(
        it.callee in INTRINSICS and INTRINSICS[it.callee].is_pure for it in walk(e) if isinstance(it, Call)
    )


def reads_memory(e: Node) -> bool:
    """Whether an expression depends on memory."""
    return any(has_trait(it, Trait.READS_MEMORY) or isinstance(it, Call) for it in walk(e))


def _address_taken(body: Region) -> set[str]:
    found: set[str] = set()
    for it in walk(body):
        if isinstance(it, AddressOf):
            place: Expr = it.place
            while isinstance(place, Member | Subscript):
                place = place.base
            if isinstance(place, Var):
                found.add(place.name)
    return found


def _is_name(t: object) -> bool:
    return isinstance(t, ScalarType | PointerType)


def _declared_at_assignment(body: Region) -> Region:
    """`x: f32` ... `x = e`, assigned once and only used below that: `x: f32 = e`."""
    assigned = Counter(
        it.target for it in walk(body) if isinstance(it, Assign) and isinstance(it.target, Var)
    )
    uses = Counter(it for it in walk(body) if isinstance(it, Var))
    taken = _address_taken(body)
    open_ones = {
        it.var for it in walk(body)
        if isinstance(it, Declare) and it.value is None and assigned[it.var] == 1
        and it.var.name not in taken and _is_name(it.var.type)
    }  # fmt: skip
    if not open_ones:
        return body
    chosen: set[Var] = set()
    for region in _all_regions(body):
        for position, s in enumerate(region):
            if isinstance(s, Assign) and isinstance(s.target, Var) and s.target in open_ones:
                below = sum(1 for it in walk(region[position:]) if it == s.target)
                within = any(it == s.target for it in walk(s.value))
                if below == uses[s.target] and not within:
                    chosen.add(s.target)

    def rule(it: Node) -> Node | tuple[Node, ...] | None:
        if isinstance(it, Declare) and it.var in chosen and it.value is None:
            return ()
        if isinstance(it, Assign) and it.target in chosen:
            assert isinstance(it.target, Var)
            return Declare(it.target, it.value, location=it.location)
        return None

    return rewrite_region(body, rule) if chosen else body  # type: ignore[return-value]


def _all_regions(body: Region) -> list[Region]:
    return [body, *(r for it in walk(body) for _, r in regions_of(it))]  # type: ignore[list-item]


def _forwarded(body: Region) -> Region:
    """Replace names of cheap values, and of values used once, that read no memory: all at once.

    Declarations come in order, so that a value is itself replaced before it is put anywhere.
    """
    assigned = written_variables(body) | _address_taken(body)
    replacements: dict[Expr, Expr] = {}
    uses = Counter(it.name for it in walk(body) if isinstance(it, Var))
    for it in walk(body):
        if not isinstance(it, Declare) or it.value is None or it.var.name in assigned:
            continue
        value = it.value
        if not is_pure(value) or reads_memory(value) or not _is_name(it.var.type):
            continue
        if any(v.name in assigned for v in walk(value) if isinstance(v, Var)):
            continue
        if uses[it.var.name] and (_is_cheap(value) or uses[it.var.name] == 1):
            replacements[it.var] = substitute_in(value, replacements)
    return substitute(body, replacements) if replacements else body


def _is_cheap(e: Expr) -> bool:
    """Integers and pointers, literals, and names."""
    t = type_of(e)
    if isinstance(t, PointerType) or (isinstance(t, ScalarType) and (t.is_integer or t.is_bool)):
        return True
    while isinstance(e, Unary | Cast):
        e = e.operand
    return isinstance(e, Const | NamedConst | Var)


def stores(s: Node) -> bool:
    """Whether a statement writes memory or has effects."""
    for it in walk(s):
        if isinstance(it, Assign) and not isinstance(it.target, Var):
            return True
        if isinstance(it, Evaluate) or (isinstance(it, Call) and not is_pure(it)):
            return True
    return False


def _moved_loads(body: Region) -> Region:
    """Put the value of a name used once, which reads memory, where it is used."""
    assigned = written_variables(body) | _address_taken(body)
    uses = Counter(it.name for it in walk(body) if isinstance(it, Var))

    def visit(region: Region) -> Region:
        done = [_with_regions(s, visit) for s in region]
        for position, s in enumerate(done):
            if (
                not isinstance(s, Declare)
                or s.value is None
                or s.var.name in assigned
                or uses[s.var.name] != 1
            ):
                continue
            if not is_pure(s.value) or not _is_name(s.var.type):
                continue
            target = _place_of_use(done, position, assigned)
            if target is not None:
                done[target] = substitute((done[target],), {s.var: s.value})[0]
                return visit(tuple(done[:position] + done[position + 1 :]))
        return tuple(done)

    return visit(body)


def _with_regions(s: Stmt, visit: object) -> Stmt:
    regions = regions_of(s)
    if not regions:
        return s
    return with_fields(s, **{name: visit(region) for name, region in regions})  # type: ignore[operator]


def _place_of_use(region: list[Stmt], position: int, assigned: set[str]) -> int | None:
    declared = region[position]
    assert isinstance(declared, Declare) and declared.value is not None
    inputs = {v.name for v in walk(declared.value) if isinstance(v, Var)}
    for k in range(position + 1, len(region)):
        s = region[k]
        if any(it == declared.var for it in walk(s)):
            direct = isinstance(s, Declare | Assign) or (
                isinstance(s, If) and any(it == declared.var for it in walk(s.condition))
            )
            return k if direct else None
        if (
            stores(s)
            or written_variables((s,)) & inputs
            or (regions_of(s) and written_variables((s,)) & inputs)
        ):
            return None
    return None


def _without_dead(body: Region) -> Region:
    """Drop declarations whose variable is never used, and names that are only written."""
    read: set[str] = set()
    for it in walk(body):
        if isinstance(it, Assign) and isinstance(it.target, Var):
            read |= {v.name for v in walk(it.value) if isinstance(v, Var) and v != it.target}
            continue
        for child in _direct_operands(it):
            if isinstance(child, Var):
                read.add(child.name)

    def rule(it: Node) -> Node | tuple[Node, ...] | None:
        if isinstance(it, Declare) and it.var.name not in read and is_pure(it.value):
            return ()
        if isinstance(it, Assign) and isinstance(it.target, Var) and it.target.name not in read:
            return () if is_pure(it.value) else None
        if isinstance(it, If) and not _real(it.then) and not _real(it.otherwise) and is_pure(it.condition):
            return ()
        return None

    return rewrite_region(body, rule)  # type: ignore[return-value]


def _direct_operands(it: Node) -> list[Node]:
    return operands_of(it)


def _real(region: Region) -> list[Stmt]:
    return [s for s in region if not isinstance(s, Comment)]
