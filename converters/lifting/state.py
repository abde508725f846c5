"""What a lift works on: the function as it stands, the assumptions gathered, and how to give up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tmigrate.converters.lifting.facts import Facts
from tmigrate.converters.lifting.polynomials import Polynomial, to_expression
from tmigrate.locations import Location
from tmigrate.tilelang.ir.expressions import Compare, CompareOp, Const, Expr, NamedConst, Var
from tmigrate.tilelang.ir.module import Function, Module
from tmigrate.tilelang.ir.node import Node, bindings_of, rewrite, rewrite_region, walk
from tmigrate.tilelang.ir.statements import Assign, Region
from tmigrate.tilelang.ir.types import I32, I64, ScalarType


@dataclass(frozen=True, slots=True)
class Blocked:
    """Why a kernel stays at thread level: a code of `tmigrate explain`, a place and a sentence."""

    code: str
    location: Location | None
    reason: str


class BlockedError(Exception):
    """Leaves the rules where one of them cannot go on; `lift` turns it into a result."""

    def __init__(self, code: str, reason: str, location: Location | None = None) -> None:
        super().__init__(reason)
        self.blocked = Blocked(code, location, reason)


@dataclass
class Lift:
    """A function on its way up; rules replace `body` and append to the rest."""

    module: Module
    function: Function
    body: Region
    parameters: tuple[Var, ...]
    dimensions: tuple[Var, ...] = ()
    launch: list[Expr] = field(default_factory=list)  # assumptions about the launch's sizes
    scalar: list[Polynomial] = field(default_factory=list)  # assumptions on parameters: these are >= 0
    disjoint: list[tuple[str, str]] = field(default_factory=list)
    axes: Any = None  # rules.launch.Launch, once the index names are found
    _scalars: tuple[Region, set[str]] | None = None

    @property
    def scalars(self) -> set[str]:
        """The integer parameters that the body never writes."""
        if self._scalars is None or self._scalars[0] is not self.body:
            written = written_variables(self.body)
            integers = (p for p in self.parameters if isinstance(p.type, ScalarType) and p.type.is_integer)
            self._scalars = (self.body, {p.name for p in integers if p.name not in written})
        return self._scalars[1]

    @property
    def facts(self) -> Facts:
        """What the assumptions say."""
        return Facts(tuple(self.scalar))

    def taken_names(self) -> set[str]:
        """Names that a new variable must not have."""
        module = self.module
        own = names_in(self.body) | {p.name for p in (*self.parameters, *self.dimensions)}
        own |= {f.name for f in module.functions} | {c.name for c in module.constants}
        return own | {v.name for v in module.variables}

    def assume_nonnegative(self, p: Polynomial) -> None:
        """Add an assumption on parameters unless it follows from those made before."""
        if not self.facts.prove(p):
            self.scalar.append(p)

    def rewrite(self, rule: Callable[[Node], Node | tuple[Node, ...] | None]) -> bool:
        """Apply a rule to the whole body."""
        before = self.body
        self.body = rewrite_region(before, rule)  # type: ignore[assignment]
        return self.body is not before and self.body != before

    def assumptions(self) -> list[Expr]:
        """All assumptions as conditions: those on the launch first, those on parameters then."""
        facts, conditions = Facts(), list(self.launch)
        needed = list(self.scalar)
        for p in self.scalar:  # leave out what follows from the others
            others = [q for q in needed if q != p]
            if facts.with_facts(others).prove(p):
                needed = others
        return conditions + [condition_of(p) for p in needed]


def condition_of(p: Polynomial) -> Expr:
    """`p >= 0` as a comparison that a person would write: `k < N`, `i >= 1`."""
    kind = next((a.type for a in p.atoms if isinstance(a, Var | NamedConst)), I32)
    kind = I64 if any(getattr(a, "type", I32) != kind for a in p.atoms) else kind
    number = p.terms.get((), 0)
    positive = Polynomial({m: c for m, c in p.terms.items() if m and c > 0})
    negative = Polynomial({m: -c for m, c in p.terms.items() if m and c < 0})
    if not negative.terms:
        return Compare(CompareOp.GE, to_expression(positive, kind), Const(-number, kind))
    if not positive.terms:
        return Compare(CompareOp.LE, to_expression(negative, kind), Const(number, kind))
    if number == -1:
        return Compare(CompareOp.LT, to_expression(negative, kind), to_expression(positive, kind))
    return Compare(CompareOp.LE, to_expression(negative, kind), to_expression(positive + number, kind))


def fresh_name(wanted: str, taken: set[str]) -> str:
    """`wanted`, or with the first free number behind it; the name is then taken."""
    name, number = wanted, 2
    while name in taken:
        name, number = f"{wanted}{number}", number + 1
    taken.add(name)
    return name


def names_in(region: Region) -> set[str]:
    """Every variable name that a region uses or defines."""
    found = {it.name for it in walk(region) if isinstance(it, Var | NamedConst)}
    for it in walk(region):
        found |= {v.name for v in bindings_of(it) if isinstance(v, Var)}
    return found


def written_variables(region: Region | Node) -> set[str]:
    """Variables (not memory) that a region assigns."""
    return {it.target.name for it in walk(region) if isinstance(it, Assign) and isinstance(it.target, Var)}


def variables_of(e: Node) -> Iterator[Var]:
    """The variables that an expression or region reads or writes."""
    return (it for it in walk(e) if isinstance(it, Var))


def substitute(region: Region, replacements: dict[Expr, Expr]) -> Region:
    """A region with expressions replaced (bindings stay)."""

    def rule(it: Node) -> Node | None:
        return replacements.get(it) if isinstance(it, Expr) else None

    return rewrite_region(region, rule)  # type: ignore[return-value]


def substitute_in(e: Expr, replacements: dict[Expr, Expr]) -> Expr:
    """An expression with expressions replaced."""
    return rewrite(e, lambda it: replacements.get(it) if isinstance(it, Expr) else None)
