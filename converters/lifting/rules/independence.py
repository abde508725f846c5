"""Iterations of parallel loops must be independent: what one writes, no other reads or writes.

For each pair of accesses to one tensor, at least one of them a store, the prover shows that no two different
iterations reach the same element: it assumes i < i' (then i > i') for each parallel variable in turn, equal
indices, and the ranges of both sides, and looks for a contradiction.
"""

from __future__ import annotations

from dataclasses import dataclass

from tmigrate.converters.lifting.contexts import ContextWalker, root_of
from tmigrate.converters.lifting.facts import Facts, is_infeasible
from tmigrate.converters.lifting.polynomials import Polynomial, to_polynomial
from tmigrate.converters.lifting.state import BlockedError, Lift, written_variables
from tmigrate.tilelang.ir.expressions import Expr, Reduce, Subscript, Var, type_of
from tmigrate.tilelang.ir.node import Node, bindings_of, rewrite, walk
from tmigrate.tilelang.ir.statements import Allocate, For, LoopKind, Region
from tmigrate.tilelang.ir.types import PointerType, TensorType


@dataclass(frozen=True)
class Touch:
    """One access of memory that iterations share."""

    base: str
    indices: tuple[Polynomial, ...]
    facts: Facts
    stores: bool
    node: Subscript


def apply(lift: Lift) -> bool:
    """Check; blocked with the place of the first access that may meet another iteration's."""
    loops = [it for it in walk(lift.body) if isinstance(it, For) and it.kind is LoopKind.PARALLEL]
    for loop in loops:
        _check_private(loop)
    parallel = [loop.var for loop in loops]
    touches = _touches(lift)
    stored = {t.base for t in touches if t.stores}
    private = _private_variables(lift.body)
    for base in sorted(stored):
        mine = [t for t in touches if t.base == base]
        for a in (t for t in mine if t.stores):
            for b in mine:
                if not _apart(a, b, parallel, private):
                    raise BlockedError(
                        "TM3007",
                        f"two iterations may meet in {base}: {_text(a)} is written and {_text(b)} is "
                        f"{'written' if b.stores else 'read'}",
                        b.node.location or a.node.location,
                    )
    _note_disjoint(lift, touches, stored)
    return False


def _check_private(loop: For) -> None:
    """No iteration hands a variable on to the next one."""
    inside = {v.name for it in walk(loop.body) for v in bindings_of(it) if isinstance(v, Var)}
    carried = sorted(written_variables(loop.body) - inside)
    if carried:
        raise BlockedError("TM3007", f"iterations share the variable {carried[0]}", loop.location)


def _text(t: Touch) -> str:
    return f"[{', '.join(map(repr, t.indices))}]"


def _touches(lift: Lift) -> list[Touch]:
    local = {it.var.name for it in walk(lift.body) if isinstance(it, Allocate)}
    found: list[Touch] = []

    def visit(e: Expr, facts: Facts, target: bool) -> None:
        if not isinstance(e, Subscript) or isinstance(type_of(e.base), PointerType):
            return
        root = root_of(e)
        if not isinstance(root, Var) or root.name in local or root is not e.base:
            return
        indices = tuple(to_polynomial(i, facts.prove) for i in e.indices)
        found.append(Touch(root.name, indices, facts, target, e))

    ContextWalker(lift.body, visit).run(lift.facts)
    return found


def _private_variables(body: Region) -> set[Expr]:
    """Variables that each iteration has for itself: all that the body binds."""
    found: set[Expr] = set()
    for it in walk(body):
        found |= {v for v in bindings_of(it) if isinstance(v, Var)}
        if isinstance(it, Reduce):
            found.add(it.var)
    return found


def _other_iteration(p: Polynomial, private: set[Expr]) -> Polynomial:
    """The same polynomial in another iteration: its private variables renamed, inside loads too."""

    def rename(it: Node) -> Node | None:
        return Var(f"{it.name}'", it.type) if isinstance(it, Var) and it in private else None

    result = Polynomial()
    for m, c in p.terms.items():
        term = Polynomial.constant(c)
        for atom in m:
            term = term * Polynomial.atom(rewrite(atom, rename))
        result = result + term
    return result


def _apart(a: Touch, b: Touch, parallel: list[Var], private: set[Expr]) -> bool:
    """Whether no two different iterations touch one element through a and b."""
    if not parallel:
        return True
    if len(a.indices) != len(b.indices):
        return False
    others = [_other_iteration(p, private) for p in b.indices]
    known = [*_known_at(a), *(_other_iteration(p, private) for p in _known_at(b))]
    differences = [p - q for p, q in zip(a.indices, others, strict=True)]
    known, differences = _unified(known, differences)
    known += [s for d in differences for s in (d, -d)]
    for v in parallel:
        here, there = Polynomial.atom(v), _other_iteration(Polynomial.atom(v), private)
        for order in (there - here - 1, here - there - 1):
            if not is_infeasible([*known, order]):
                return False
    return True


def _known_at(t: Touch) -> list[Polynomial]:
    """The facts at an access, and what the operations in its indices say."""
    return [*t.facts.known, *(q for p in t.indices for atom in p.atoms for q in t.facts.about_atom(atom))]


def _unified(
    known: list[Polynomial], differences: list[Polynomial]
) -> tuple[list[Polynomial], list[Polynomial]]:
    """Where two indices are single atoms, equality makes them one atom, in products too."""
    for d in list(differences):
        terms = sorted(d.terms.items(), key=lambda term: term[1])
        if len(terms) == 2 and [c for _, c in terms] == [-1, 1] and all(len(m) == 1 for m, _ in terms):
            (replaced,), (kept,) = terms[0][0], terms[1][0]
            if isinstance(replaced, Var) and isinstance(kept, Var):
                continue
            by = Polynomial.atom(kept)
            known = [p.substitute(replaced, by) for p in known]
            differences = [p.substitute(replaced, by) for p in differences]
    return known, differences


def _note_disjoint(lift: Lift, touches: list[Touch], stored: set[str]) -> None:
    """Pairs of parameters and module variables that must not overlap: one is stored to, the other touched."""
    touched = {t.base for t in touches}
    order = [p.name for p in lift.parameters if isinstance(p.type, TensorType)]
    order += [v.name for v in lift.module.variables]
    for k, first in enumerate(order):
        for second in order[k + 1 :]:
            if {first, second} <= touched and {first, second} & stored:
                lift.disjoint.append((first, second))
