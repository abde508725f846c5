"""What holds at a place in a function, and a prover for linear consequences of it.

A fact is a polynomial that is not negative.  Each monomial counts as an unknown; a claim p >= 0 is proven by
showing, with Fourier and Motzkin's elimination, that the facts and p <= -1 have no rational solution.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import gcd

from tmigrate.converters.lifting.polynomials import Monomial, Polynomial, to_polynomial
from tmigrate.tilelang.ir.expressions import (
    Binary,
    BinaryOp,
    Call,
    Cast,
    Compare,
    CompareOp,
    Expr,
    Logical,
    LogicalOp,
    NamedConst,
    Select,
    Unary,
    UnaryOp,
    Var,
    type_of,
)
from tmigrate.tilelang.ir.types import ScalarType

_DIVISIONS = (
    BinaryOp.FLOOR_MOD,
    BinaryOp.TRUNC_REM,
    BinaryOp.FLOOR_DIV,
    BinaryOp.TRUNC_DIV,
    BinaryOp.AND,
)
_MOST_ROWS = 400
Row = dict[int, int]  # the coefficient of each monomial, by its number
_FLIPPED = {
    CompareOp.EQ: CompareOp.NE,
    CompareOp.NE: CompareOp.EQ,
    CompareOp.LT: CompareOp.GE,
    CompareOp.GE: CompareOp.LT,
    CompareOp.GT: CompareOp.LE,
    CompareOp.LE: CompareOp.GT,
}


@dataclass(frozen=True)
class Facts:
    """Polynomials that are >= 0, and a memory of what was proven."""

    known: tuple[Polynomial, ...] = ()
    proofs: dict[Polynomial, bool] = field(default_factory=dict, compare=False)

    def with_facts(self, more: Iterable[Polynomial]) -> Facts:
        """These facts and more."""
        added = tuple(p for p in more if p not in self.known)
        return Facts(self.known + added) if added else self

    def with_condition(self, condition: Expr, holds: bool = True) -> Facts:
        """These facts and what a condition says where it holds (or does not)."""
        return self.with_facts(consequences(condition, self, holds))

    def prove(self, p: Polynomial) -> bool:
        """Whether p >= 0 follows."""
        value = p.value
        if value is not None:
            return value >= 0
        found = self.proofs.get(p)
        if found is None:
            found = is_infeasible([*self._relevant(p), -p - 1])
            self.proofs[p] = found
        return found

    def proves_equal(self, p: Polynomial) -> bool:
        """Whether p == 0 follows."""
        return not p.terms or (self.prove(p) and self.prove(-p))

    def about_atom(self, e: Expr) -> list[Polynomial]:
        """What an operation says about its result: `min`, `max`, remainders, quotients, masks, choices.

        >>> # x % n with x >= 0 and n >= 1: 0 <= x % n <= n - 1
        """
        while isinstance(e, Cast):
            e = e.operand
        if isinstance(e, Call) and e.callee in ("min", "max"):
            sides = [to_polynomial(a, self.prove) for a in e.arguments]
            return self._about_extreme(Polynomial.atom(e), sides, e.callee == "max")
        if isinstance(e, Select):
            sides = [
                to_polynomial(e.then, self.with_condition(e.condition).prove),
                to_polynomial(e.otherwise, self.with_condition(e.condition, False).prove),
            ]
            return self._about_choice(e, sides)
        return self._about_division(e) if isinstance(e, Binary) else []

    def _about_extreme(self, result: Polynomial, sides: list[Polynomial], greater: bool) -> list[Polynomial]:
        known = [result - s if greater else s - result for s in sides]
        for bound in self._candidates(sides):
            if all(self.prove(bound - s - 1 if greater else s - bound) for s in sides):
                known.append(bound - result - 1 if greater else result - bound)
        return [*known, *(q for s in sides for a in s.atoms for q in self.about_atom(a))]

    def _candidates(self, sides: list[Polynomial]) -> list[Polynomial]:
        """0, and the atoms that bound something here."""
        atoms = {a for p in (*self.known, *sides) for a in p.atoms}
        return [
            Polynomial(),
            *(Polynomial.atom(a) for a in atoms if not isinstance(a, Call | Select | Binary)),
        ]

    def _about_choice(self, e: Select, sides: list[Polynomial]) -> list[Polynomial]:
        result = Polynomial.atom(e)
        then, otherwise = self.with_condition(e.condition), self.with_condition(e.condition, False)
        known: list[Polynomial] = []
        if then.prove(sides[0]) and otherwise.prove(sides[1]):
            known.append(result)
        for bound in self._candidates(sides)[1:]:
            if then.prove(bound - sides[0] - 1) and otherwise.prove(bound - sides[1] - 1):
                known.append(bound - result - 1)
        return known

    def _about_division(self, e: Binary) -> list[Polynomial]:
        if e.op not in _DIVISIONS:
            return []
        left, right = to_polynomial(e.left, self.prove), to_polynomial(e.right, self.prove)
        result = Polynomial.atom(e)
        if not self.prove(left):
            return []
        if e.op is BinaryOp.AND:
            return [result, right - result] if self.prove(right) else []
        if not self.prove(right - 1):
            return []
        if e.op in (BinaryOp.FLOOR_MOD, BinaryOp.TRUNC_REM):
            op = BinaryOp.TRUNC_DIV if e.op is BinaryOp.TRUNC_REM else BinaryOp.FLOOR_DIV
            rest = left - Polynomial.atom(Binary(op, e.left, e.right)) * right - result  # it is 0
            return [result, right - 1 - result, left - result, rest, -rest]
        rest = left - result * right
        return [result, left - result, rest, right - 1 - rest]

    def _relevant(self, p: Polynomial) -> list[Polynomial]:
        """The facts connected with p through shared monomials, and the signs of their atoms."""
        wanted = {m for m in p.terms if m}
        chosen: list[Polynomial] = []
        left = [*self.known, *map(_positive, _signed_atoms([p, *self.known]))]
        for atom in p.atoms:
            left += self.about_atom(atom)
        while True:
            more = [f for f in left if any(m in wanted for m in f.terms if m)]
            if not more:
                return chosen
            chosen += more
            left = [f for f in left if f not in more]
            wanted |= {m for f in more for m in f.terms if m}


def _signed_atoms(polynomials: Iterable[Polynomial]) -> list[Expr]:
    """Atoms whose sign their type or value gives."""
    atoms = {a for p in polynomials for a in p.atoms}
    return [a for a in atoms if _least(a) is not None]


def _least(a: Expr) -> int | None:
    """A lower bound of an atom: 0 for unsigned ones; of a constant at most 2: checks vary it."""
    if isinstance(a, NamedConst) and isinstance(a.value, int):
        return min(int(a.value), 2) if a.value >= 0 else None
    t = type_of(a)
    unsigned = isinstance(t, ScalarType) and t.is_integer and not t.is_signed
    return 0 if unsigned else None


def _positive(a: Expr) -> Polynomial:
    return Polynomial.atom(a) - (_least(a) or 0)


def consequences(condition: Expr, facts: Facts, holds: bool = True) -> list[Polynomial]:
    """The linear facts that a condition gives where it holds (or, with `holds` False, where it does not)."""
    if isinstance(condition, Unary) and condition.op is UnaryOp.NOT:
        return consequences(condition.operand, facts, not holds)
    if isinstance(condition, Logical):
        if (condition.op is LogicalOp.AND) == holds:
            return [
                *consequences(condition.left, facts, holds), *consequences(condition.right, facts, holds)
            ]  # fmt: skip
        return []
    if not isinstance(condition, Compare):
        return []
    t = type_of(condition.left)
    if not (isinstance(t, ScalarType) and t.is_integer):
        return []
    left, right = (to_polynomial(e, facts.prove) for e in (condition.left, condition.right))
    op = condition.op if holds else _FLIPPED[condition.op]
    if op is CompareOp.NE:  # i != 0 and i >= 0: i >= 1
        return [d - 1 for d in (left - right, right - left) if facts.prove(d)]
    return _comparison(left, op, right)


def _comparison(left: Polynomial, op: CompareOp, right: Polynomial) -> list[Polynomial]:
    if op is CompareOp.LT:
        return [right - left - 1]
    if op is CompareOp.LE:
        return [right - left]
    if op is CompareOp.GT:
        return [left - right - 1]
    if op is CompareOp.GE:
        return [left - right]
    if op is CompareOp.EQ:
        return [left - right, right - left]
    return []


def conjuncts(condition: Expr) -> list[Expr]:
    """The parts of a conjunction, with `not` pushed inwards over `or` and comparisons of integers."""
    if isinstance(condition, Logical) and condition.op is LogicalOp.AND:
        return [*conjuncts(condition.left), *conjuncts(condition.right)]
    if isinstance(condition, Unary) and condition.op is UnaryOp.NOT:
        inner = condition.operand
        if isinstance(inner, Unary) and inner.op is UnaryOp.NOT:
            return conjuncts(inner.operand)
        if isinstance(inner, Logical) and inner.op is LogicalOp.OR:
            return [p for side in (inner.left, inner.right) for p in conjuncts(Unary(UnaryOp.NOT, side))]
        if isinstance(inner, Compare) and _is_integer(inner.left):
            return [Compare(_FLIPPED[inner.op], inner.left, inner.right)]
    return [condition]


def _is_integer(e: Expr) -> bool:
    t = type_of(e)
    return isinstance(t, ScalarType) and t.is_integer


def is_infeasible(constraints: list[Polynomial]) -> bool:
    """Whether no rational point satisfies all of p >= 0 (False where that was not found within limits)."""
    numbers, degrees = _numbered(constraints)
    rows = [_reduced({numbers[m]: c for m, c in p.terms.items()}) for p in constraints]
    while True:
        rows = _distinct(rows)
        if any(not any(r) and r.get(0, 0) < 0 for r in rows):
            return True
        if not any(any(r) for r in rows) or len(rows) > _MOST_ROWS:
            return False
        rows = _eliminate(rows, _cheapest(rows, degrees))


def _numbered(constraints: list[Polynomial]) -> tuple[dict[Monomial, int], list[int]]:
    """A number for each monomial, 0 for (), and their degrees: a number hashes faster than expressions."""
    numbers: dict[Monomial, int] = {(): 0}
    for p in constraints:
        for m in p.terms:
            numbers.setdefault(m, len(numbers))
    return numbers, [len(m) for m in numbers]


def _cheapest(rows: list[Row], degrees: list[int]) -> int:
    """The unknown whose elimination adds the fewest rows; of several the one of least degree."""
    above: Counter[int] = Counter(m for r in rows for m, c in r.items() if c > 0)
    below: Counter[int] = Counter(m for r in rows for m, c in r.items() if c < 0)

    def cost(m: int) -> tuple[int, int, int]:
        return above[m] * below[m] - above[m] - below[m], degrees[m], m

    return min((m for m in above | below if m), key=cost)


def _eliminate(rows: list[Row], m: int) -> list[Row]:
    kept = [r for r in rows if m not in r]
    above = [r for r in rows if r.get(m, 0) > 0]
    below = [r for r in rows if r.get(m, 0) < 0]
    for a in above:
        for b in below:
            row: Row = {}
            for source, factor in ((a, -b[m]), (b, a[m])):
                for key, c in source.items():
                    row[key] = row.get(key, 0) + c * factor
            kept.append(_reduced({key: c for key, c in row.items() if c}))
    return kept


def _reduced(row: Row) -> Row:
    """Divided by the common factor of the unknowns; the constant rounds down, as unknowns are integers."""
    common = 0
    for m, c in row.items():
        if m:
            common = gcd(common, c)
    if common <= 1:
        return row
    return {m: c // common for m, c in row.items() if c // common}


def _distinct(rows: list[Row]) -> list[Row]:
    """One row, the strictest, for each combination of unknowns."""
    best: dict[frozenset[tuple[int, int]], Row] = {}
    for r in rows:
        key = frozenset((m, c) for m, c in r.items() if m)
        if key not in best or r.get(0, 0) < best[key].get(0, 0):
            best[key] = r
    return list(best.values())


def scalars_only(p: Polynomial, scalars: set[str]) -> bool:
    """Whether a polynomial has only module constants and the given parameters."""
    return all(isinstance(a, NamedConst) or (isinstance(a, Var) and a.name in scalars) for a in p.atoms)


__all__ = ["Facts", "conjuncts", "consequences", "is_infeasible", "scalars_only"]
