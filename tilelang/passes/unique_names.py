"""Names as Python scopes them to names as the IR wants them: one declaration, one name.

In Python text two loops may both run `i`, and two loop bodies may both begin with `acc = 0`::

    for i in range(n):            for i in range(n):
        acc = 0                       acc: f32 = 0.0
    for i in range(n):      ->    for i_2 in range(n):
        acc = 0                       acc_2: f32 = 0.0

A declaration of a name that is visible already is a store, as in Python.  A module that obeys the rules of
names comes back unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from tmigrate.tilelang.ir.expressions import Expr, Reduce, Var
from tmigrate.tilelang.ir.module import Function
from tmigrate.tilelang.ir.node import FieldKind, Node, field_kinds, walk, with_fields
from tmigrate.tilelang.ir.statements import Allocate, Assign, Declare, For, Region, Stmt

Names = dict[str, Var]
N = TypeVar("N", bound=Node)


class _Renamer:
    """`taken`: every name declared so far; `visible` maps a name in the text to its variable."""

    def __init__(self, taken: Iterable[str]) -> None:
        self.taken = set(taken)
        self.reductions: dict[Reduce, Var] = {}

    def fresh(self, var: Var) -> Var:
        """The variable under a name of its own."""
        name, count = var.name, 1
        while name in self.taken:
            count += 1
            name = f"{var.name}_{count}"
        self.taken.add(name)
        return var if name == var.name else with_fields(var, name=name)

    def region(self, body: Region, outer: Names) -> Region:
        visible = dict(outer)
        found: list[Stmt] = []
        for statement in body:
            made = self.statement(statement, visible)
            if made is not None:
                found.append(made)
        return tuple(found)

    def statement(self, s: Stmt, visible: Names) -> Stmt | None:
        """The statement renamed; `visible` gains what it declares."""
        if isinstance(s, Declare | Allocate):
            return self.declaration(s, visible)
        if isinstance(s, Assign) and isinstance(s.target, Var) and s.target.name not in visible:
            return self.declaration(Declare(s.target, s.value, location=s.location), visible)
        if isinstance(s, For) and s.var.name not in visible:
            return self.loop(s, visible)
        changes: dict[str, object] = {}
        for name, kind in field_kinds(type(s)):
            value = getattr(s, name)
            if kind is FieldKind.OPERAND and value is not None:
                changes[name] = self.expr(value, visible)
            elif kind is FieldKind.REGION:
                changes[name] = self.region(value, visible)
        return _changed(s, changes)

    def declaration(self, s: Declare | Allocate, visible: Names) -> Stmt | None:
        value = self.expr(s.value, visible) if isinstance(s, Declare) and s.value is not None else None
        known = visible.get(s.var.name)
        if known is not None and isinstance(s, Declare) and known.type == s.var.type:
            return None if value is None else Assign(known, value, location=s.location)
        var = self.fresh(s.var)
        visible[s.var.name] = var
        if isinstance(s, Allocate):
            return _changed(s, {"var": var})
        return _changed(s, {"var": var, "value": value})

    def loop(self, s: For, visible: Names) -> Stmt:
        bounds = {name: self.expr(getattr(s, name), visible) for name in ("start", "stop", "step")}
        var = self.fresh(s.var)
        body = self.region(s.body, {**visible, s.var.name: var})
        return _changed(s, {**bounds, "var": var, "body": body})

    def expr(self, e: Expr, visible: Names) -> Expr:
        """Uses replaced; recursion is bounded by the depth that Python's parser accepts."""
        if isinstance(e, Var):
            found = visible.get(e.name)
            return e if found is None or found.name == e.name else with_fields(e, name=found.name)
        changes: dict[str, object] = {}
        if isinstance(e, Reduce):
            # `A[sum(...)] += 1` holds one reduction twice.
            var = self.reductions.get(e) or self.fresh(e.var)
            self.reductions[e] = var
            bounds = {"start": self.expr(e.start, visible), "stop": self.expr(e.stop, visible)}
            return _changed(
                e, {**bounds, "var": var, "body": self.expr(e.body, {**visible, e.var.name: var})}
            )
        for name, kind in field_kinds(type(e)):
            value = getattr(e, name)
            if kind is FieldKind.OPERAND and value is not None:
                changes[name] = self.expr(value, visible)
            elif kind is FieldKind.OPERANDS:
                changes[name] = tuple(self.expr(v, visible) for v in value)
        return _changed(e, changes)


def _changed(it: N, changes: dict[str, object]) -> N:
    """`it` with the changed fields; itself where nothing changed."""
    if all(_same(getattr(it, name), value) for name, value in changes.items()):
        return it
    return with_fields(it, **changes)


def _same(old: object, new: object) -> bool:
    if isinstance(old, tuple) and isinstance(new, tuple):
        return len(old) == len(new) and all(a is b for a, b in zip(old, new, strict=True))
    return old is new


def unique_names(function: Function, others: Iterable[str] = ()) -> Function:
    """The function with one name per declaration; `others` are names of the module that are taken."""
    own = [*function.parameters, *function.dimensions]
    renamer = _Renamer([*others, *(v.name for v in own)])
    outside = {n.name: n for n in walk(function.body) if isinstance(n, Var) and n.name in set(others)}
    body = renamer.region(function.body, {**outside, **{v.name: v for v in own}})
    return function if body is function.body else replace(function, body=body)


__all__ = ["unique_names"]
