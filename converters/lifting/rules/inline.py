"""Device functions that work on memory are put in place of their calls.

    wrap(address(k), n)                 if k >= n:
                                ->          k = k - n

Functions of numbers stay calls.  A call in a loop's condition, or in a part of an expression that is
evaluated only sometimes, stays too, and then blocks the lift.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tmigrate.converters.lifting.rules.exits import without_returns
from tmigrate.converters.lifting.state import (
    BlockedError,
    Lift,
    fresh_name,
    written_variables,
)
from tmigrate.tilelang.ir.expressions import (
    AddressOf,
    Call,
    Const,
    Expr,
    Member,
    Reduce,
    Subscript,
    Var,
    type_of,
)
from tmigrate.tilelang.ir.module import Function
from tmigrate.tilelang.ir.node import (
    FieldKind,
    Node,
    Trait,
    bindings_of,
    field_kinds,
    has_trait,
    regions_of,
    rewrite_region,
    walk,
    with_fields,
)
from tmigrate.tilelang.ir.statements import (
    Allocate,
    Assign,
    Declare,
    Evaluate,
    For,
    Region,
    Return,
    Stmt,
    While,
)
from tmigrate.tilelang.ir.types import VOID, PointerType, StructType

_MOST_NODES = 20_000
_ROUNDS = 24


def apply(lift: Lift) -> bool:
    """Inline round by round, as inlined bodies call further functions."""
    inliner = Inliner(lift, lift.taken_names())
    for _ in range(_ROUNDS):
        before = lift.body
        lift.body = inliner.region(lift.body)
        lift.rewrite(_place_of_address)
        if lift.body == before:
            return inliner.changed
        if sum(1 for _ in walk(lift.body)) > _MOST_NODES:
            raise BlockedError("TM3010", "the kernel grows too large with its device functions in place")
    raise BlockedError("TM3010", "device functions call each other in a circle")


def works_on_memory(f: Function) -> bool:
    """Whether a device function takes pointers, references or structs."""
    return any(isinstance(p.type, PointerType | StructType) for p in f.parameters) or isinstance(
        f.result, StructType
    )


def _place_of_address(it: Node) -> Node | None:
    """`address(x)[0]` is x."""
    if not isinstance(it, Subscript) or not isinstance(it.base, AddressOf) or len(it.indices) != 1:
        return None
    index = it.indices[0]
    if isinstance(index, Const) and index.value == 0 and type_of(it.base.place) == it.type:
        return it.base.place
    return None


@dataclass
class Inliner:
    """Rewrites regions; `names` holds every variable name in use."""

    lift: Lift
    names: set[str]
    changed: bool = False

    def region(self, region: Region) -> Region:
        done: list[Stmt] = []
        for s in region:
            done += self.statement(s)
        return tuple(done)

    def statement(self, s: Stmt) -> Region:
        before: list[Stmt] = []
        changes: dict[str, Any] = {}
        for name, inner in regions_of(s):
            changes[name] = self.region(inner)  # type: ignore[arg-type]
        root = getattr(s, "value", None)
        if isinstance(root, Call) and self._callee(root) is not None and not isinstance(s, Return):
            callee = self._callee(root)
            assert callee is not None
            return self._at_root(s, root, callee)
        if not isinstance(s, While):
            for name, kind in field_kinds(type(s)):
                value = getattr(s, name)
                if kind is FieldKind.OPERAND and value is not None:
                    changes[name] = self._expression(value, before)
        if not changes or all(getattr(s, name) is value for name, value in changes.items()):
            return (s,)
        return (*before, with_fields(s, **changes))

    def _at_root(self, s: Stmt, call: Call, callee: Function) -> Region:
        if isinstance(s, Evaluate):
            return self._body(call, callee, None)
        if isinstance(s, Declare):
            return (Declare(s.var, None, location=s.location), *self._body(call, callee, s.var))
        result = self._result(callee)
        assert isinstance(s, Assign)
        body = self._body(call, callee, result)
        return (Declare(result, None), *body, Assign(s.target, result, location=s.location))

    def _expression(self, e: Expr, before: list[Stmt]) -> Expr:
        """Calls that are always evaluated move to statements before."""
        if not any(isinstance(it, Call) and self._callee(it) is not None for it in walk(e)):
            return e
        changes: dict[str, Any] = {}
        for name, kind in field_kinds(type(e)):
            value = getattr(e, name)
            sometimes = isinstance(e, Reduce) or (
                has_trait(e, Trait.SHORT_CIRCUITS) and name not in ("condition", "left")
            )
            if sometimes:
                continue
            if kind is FieldKind.OPERAND and value is not None:
                changes[name] = self._expression(value, before)
            elif kind is FieldKind.OPERANDS:
                changes[name] = tuple(self._expression(v, before) for v in value)
        rebuilt = with_fields(e, **changes) if changes else e
        callee = self._callee(rebuilt) if isinstance(rebuilt, Call) else None
        if callee is None or not isinstance(rebuilt, Call):
            return rebuilt
        result = self._result(callee)
        before += (Declare(result, None), *self._body(rebuilt, callee, result))
        return result

    def _callee(self, call: Call) -> Function | None:
        found = self.lift.module.function(call.callee)
        return found if found is not None and works_on_memory(found) else None

    def _result(self, callee: Function) -> Var:
        return Var(fresh_name(f"{callee.name}_result", self.names), callee.result)

    def _body(self, call: Call, callee: Function, result: Var | None) -> Region:
        """The callee's body with its own variables renamed and its parameters replaced or declared."""
        self.changed = True
        for it in walk(callee.body):
            if isinstance(it, For | While) and any(isinstance(r, Return) for r in walk(it)):
                raise BlockedError("TM3010", f"{callee.name} returns from inside a loop", call.location)
        written = written_variables(callee.body) | _addressed(callee.body)
        replacements: dict[Expr, Expr] = {}
        before: list[Stmt] = []
        for p, argument in zip(callee.parameters, call.arguments, strict=True):
            if isinstance(p.type, PointerType) and p.name not in written:
                replacements[p] = argument
                continue
            local = Var(fresh_name(p.name, self.names), p.type)
            replacements[p] = local
            before.append(Declare(local, argument, location=call.location))
        for it in walk(callee.body):
            for v in bindings_of(it):
                if isinstance(v, Var) and v not in replacements:
                    replacements[v] = Var(fresh_name(v.name, self.names), v.type)
        body = rewrite_region(callee.body, lambda it: _renamed(it, replacements))
        return (*before, *without_returns(body, lambda it: _stored(it, result)))  # type: ignore[arg-type]


def _stored(it: Return, result: Var | None) -> Region:
    if result is None or it.value is None or result.type == VOID:
        return ()
    return (Assign(result, it.value, location=it.location),)


def _renamed(it: Node, replacements: dict[Expr, Expr]) -> Node | None:
    """Uses and bindings: rewriting does not offer bindings, so their nodes are rebuilt here."""
    if isinstance(it, Var):
        return replacements.get(it)
    if isinstance(it, Declare | Allocate | For | Reduce):
        made = replacements.get(it.var)
        return with_fields(it, var=made) if made is not None else None
    return None


def _addressed(body: Region) -> set[str]:
    found: set[str] = set()
    for it in walk(body):
        if isinstance(it, AddressOf):
            place: Expr = it.place
            while isinstance(place, Member | Subscript):
                place = place.base
            if isinstance(place, Var) and not isinstance(it.place, Subscript):
                found.add(place.name)
    return found
