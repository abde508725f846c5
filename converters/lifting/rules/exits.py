"""Early returns become conditions around the rest.

if i >= n:                  if not (i >= n):
    return          ->          y[i] = x[i]
y[i] = x[i]
"""

from __future__ import annotations

from collections.abc import Callable

from tmigrate.converters.lifting.state import BlockedError, Lift
from tmigrate.tilelang.ir.expressions import Unary, UnaryOp
from tmigrate.tilelang.ir.node import Trait, has_trait, walk
from tmigrate.tilelang.ir.statements import Comment, If, Region, Return, Stmt


def apply(lift: Lift) -> bool:
    """Remove every `return`; blocked where one stands in a loop."""
    if not any(isinstance(it, Return) for it in walk(lift.body)):
        return False
    for it in walk(lift.body):
        if has_trait(it, Trait.LOOP):
            inside = next((r for r in walk(it) if isinstance(r, Return)), None)
            if inside is not None:
                raise BlockedError("TM3003", "a thread returns from inside a loop", inside.location)
    lift.body = without_returns(lift.body, lambda it: ())
    return True


Replacement = Callable[[Return], Region]


def without_returns(region: Region, replacement: Replacement) -> Region:
    """A region in which control always reaches the end: each `return` outside loops is replaced."""
    done: list[Stmt] = []
    for position, s in enumerate(region):
        rest = region[position + 1 :]
        if isinstance(s, Return):
            return (*done, *replacement(s))
        if isinstance(s, If) and any(isinstance(it, Return) for it in walk(s)):
            return (*done, *_split(s, rest, replacement))
        done.append(s)
    return tuple(done)


def _split(s: If, rest: Region, replacement: Replacement) -> Region:
    """The rest of the region goes to the ends of the branches that do not return."""
    then, otherwise = (
        without_returns(r if _always_returns(r) else (*r, *rest), replacement) for r in (s.then, s.otherwise)
    )
    if not [x for x in then if not isinstance(x, Comment)]:
        negated = Unary(UnaryOp.NOT, s.condition)
        return (If(negated, otherwise, (), location=s.location),) if otherwise else ()
    return (If(s.condition, then, otherwise, location=s.location),)


def _always_returns(region: Region) -> bool:
    if not region:
        return False
    last = region[-1]
    if isinstance(last, If):
        return _always_returns(last.then) and _always_returns(last.otherwise)
    return isinstance(last, Return)
