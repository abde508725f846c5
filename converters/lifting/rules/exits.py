"""Early returns become conditions around the rest.

if i >= n:                  if not (i >= n):
    return          ->          y[i] = x[i]
y[i] = x[i]
"""

from __future__ import annotations

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
    lift.body = _without_returns(lift.body)
    return True


def _without_returns(region: Region) -> Region:
    done: list[Stmt] = []
    for position, s in enumerate(region):
        rest = region[position + 1 :]
        if isinstance(s, Return):
            return tuple(done)
        if isinstance(s, If) and any(isinstance(it, Return) for it in walk(s)):
            return (*done, *_split(s, rest))
        done.append(s)
    return tuple(done)


def _split(s: If, rest: Region) -> Region:
    """The rest of the region goes to the ends of the branches that do not return."""
    then = _without_returns(s.then if _always_returns(s.then) else (*s.then, *rest))
    otherwise = _without_returns(s.otherwise if _always_returns(s.otherwise) else (*s.otherwise, *rest))
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
