"""Walks a function with what is known at each expression: loop ranges and conditions around it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tmigrate.converters.lifting.facts import Facts
from tmigrate.converters.lifting.polynomials import Polynomial, to_polynomial
from tmigrate.converters.lifting.state import written_variables
from tmigrate.tilelang.ir.expressions import (
    Call,
    Const,
    Expr,
    Logical,
    LogicalOp,
    Member,
    Reduce,
    Select,
    Subscript,
    Var,
)
from tmigrate.tilelang.ir.node import FieldKind, Node, field_kinds, regions_of, walk, with_fields
from tmigrate.tilelang.ir.statements import Allocate, Assign, For, If, Region, Stmt

Visitor = Callable[[Expr, Facts, bool], Expr | None]  # expression, facts, whether it is stored to


def root_of(place: Expr) -> Expr:
    """The variable or expression under a chain of subscripts and members."""
    while isinstance(place, Subscript | Member):
        place = place.base
    return place


def written_memory(body: Region) -> set[str]:
    """Names of the arrays and parameters that a region stores to (all, where a call may store)."""
    found: set[str] = set()
    for it in walk(body):
        if isinstance(it, Assign) and not isinstance(it.target, Var):
            root = root_of(it.target)
            if isinstance(root, Var):
                found.add(root.name)
    return found


@dataclass
class ContextWalker:
    """Rebuilds a region; `visit` sees each expression after its children, with the facts at its place."""

    body: Region
    visit: Visitor

    def __post_init__(self) -> None:
        self.mutable = written_variables(self.body)
        self.stored = written_memory(self.body)

    def run(self, facts: Facts) -> Region:
        """The rebuilt body."""
        return self.region(self.body, facts)

    def region(self, region: Region, facts: Facts) -> Region:
        return tuple(self.statement(s, facts) for s in region)

    def statement(self, s: Stmt, facts: Facts) -> Stmt:
        if isinstance(s, For):
            inner = self.stable(facts, range_facts(s, facts))
            return with_fields(
                s,
                start=self.expression(s.start, facts),
                stop=self.expression(s.stop, facts),
                body=self.region(s.body, inner),
            )
        if isinstance(s, If):
            then = self.stable(facts, facts.with_condition(s.condition).known)
            otherwise = self.stable(facts, facts.with_condition(s.condition, False).known)
            return with_fields(
                s,
                condition=self.expression(s.condition, facts),
                then=self.region(s.then, then),
                otherwise=self.region(s.otherwise, otherwise),
            )
        changes: dict[str, Any] = {}
        for name, kind in field_kinds(type(s)):
            value = getattr(s, name)
            if kind is FieldKind.OPERAND and value is not None:
                changes[name] = self.expression(value, facts, isinstance(s, Assign) and name == "target")
        for name, region in regions_of(s):
            changes[name] = self.region(region, facts)  # type: ignore[arg-type]
        return with_fields(s, **changes) if changes else s

    def stable(self, base: Facts, more: tuple[Polynomial, ...] | list[Polynomial]) -> Facts:
        """The facts that stay true while the region runs: none on variables or memory that it writes."""
        return base.with_facts(p for p in more if all(self._is_stable(a) for a in p.atoms))

    def _is_stable(self, atom: Expr) -> bool:
        for it in walk(atom):
            if isinstance(it, Var) and (it.name in self.mutable or it.name in self.stored):
                return False
            if isinstance(it, Call):
                return False
        return True

    def expression(self, e: Expr, facts: Facts, target: bool = False) -> Expr:
        if isinstance(e, Select):
            inside = {
                "then": self.stable(facts, facts.with_condition(e.condition).known),
                "otherwise": self.stable(facts, facts.with_condition(e.condition, False).known),
            }
        elif isinstance(e, Logical):
            right = facts.with_condition(e.left, e.op is LogicalOp.AND).known
            inside = {"right": self.stable(facts, right)}
        elif isinstance(e, Reduce):
            inside = {"body": self.stable(facts, reduce_facts(e, facts))}
        else:
            inside = {}
        rebuilt = self._rebuilt(e, facts, inside, target)
        made = self.visit(rebuilt, facts, target)
        return rebuilt if made is None else made

    def _rebuilt(self, e: Expr, facts: Facts, inside: dict[str, Facts], target: bool) -> Expr:
        changes: dict[str, Any] = {}
        for name, kind in field_kinds(type(e)):
            value = getattr(e, name)
            known = inside.get(name, facts)
            if kind is FieldKind.OPERAND and value is not None:
                below = target and isinstance(e, Member) and name == "base"
                changes[name] = self.expression(value, known, below)
            elif kind is FieldKind.OPERANDS:
                changes[name] = tuple(self.expression(v, known) for v in value)
        if all(_same(getattr(e, name), value) for name, value in changes.items()):
            return e
        return with_fields(e, **changes)


def _same(old: Any, new: Any) -> bool:
    if isinstance(old, tuple):
        return all(a is b for a, b in zip(old, new, strict=True))
    return old is new


def range_facts(s: For, facts: Facts) -> list[Polynomial]:
    """What the range of a loop says about its variable."""
    start, stop = to_polynomial(s.start, facts.prove), to_polynomial(s.stop, facts.prove)
    v = Polynomial.atom(s.var)
    step = s.step.value if isinstance(s.step, Const) else 0
    if step > 0:
        return [v - start, stop - v - 1]
    return [start - v, v - stop - 1] if step < 0 else []


def reduce_facts(e: Reduce, facts: Facts) -> list[Polynomial]:
    """The same for a reduction."""
    start, stop = to_polynomial(e.start, facts.prove), to_polynomial(e.stop, facts.prove)
    v = Polynomial.atom(e.var)
    return [v - start, stop - v - 1]


def loop_variables(body: Region) -> list[Var]:
    """The variables that loops and reductions bind, outermost first."""
    return [it.var for it in walk(body) if isinstance(it, For | Reduce)]


def has_local_storage(body: Region) -> set[str]:
    """Names of arrays that the body allocates."""
    return {it.var.name for it in walk(body) if isinstance(it, Allocate)}


__all__ = [
    "ContextWalker",
    "Node",
    "has_local_storage",
    "loop_variables",
    "range_facts",
    "root_of",
    "written_memory",
]
