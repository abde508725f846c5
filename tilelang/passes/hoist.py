"""Give names to parts of expressions that are nested too deeply for Python's parser.

Rules, on an expression higher than the limit at the root of a statement:

* VALUE: a deep part that is always evaluated moves into a declaration before the statement.
* CHOICE: a deep part of `and`, `or` or a selection is computed under its condition::

      x = a and DEEP      ->      part: b1
                                  if a: part = DEEP
                                  x = a and part

* LOOP: a deep condition of a `while` moves into its body, before a `break`.

A part inside a reduction cannot move; where that is too deep, the verifier's rule `depth` says so.
"""

from __future__ import annotations

from dataclasses import replace

from tmigrate.tilelang.ir.effects import effectful_functions, is_effectful
from tmigrate.tilelang.ir.expressions import (
    AddressOf,
    Call,
    Const,
    Expr,
    Logical,
    LogicalOp,
    Member,
    Reduce,
    Select,
    Subscript,
    Unary,
    UnaryOp,
    Var,
    type_of,
)
from tmigrate.tilelang.ir.module import Function, Module
from tmigrate.tilelang.ir.node import FieldKind, children, field_kinds, walk, with_fields
from tmigrate.tilelang.ir.statements import Assign, Break, Declare, If, Region, Stmt, While
from tmigrate.tilelang.ir.types import B1, ArrayType, PointerType, ScalarType, StructType
from tmigrate.tilelang.ir.verify_statements import MAX_EXPRESSION_DEPTH
from tmigrate.tilelang.passes.names import Names, names_of


def heights(root: Expr) -> dict[int, int]:
    """The height of every node below `root`, by identity; a leaf's is 1."""
    found: dict[int, int] = {}
    for it in reversed(list(walk(root))):
        found[id(it)] = 1 + max((found[id(c)] for c in children(it)), default=0)
    return found


class _Hoister:
    def __init__(self, module: Module, function: Function, limit: int) -> None:
        self.limit = limit
        self.names: Names = names_of(function, module)
        self.effectful = effectful_functions(module)

    def region(self, body: Region) -> Region:
        found: list[Stmt] = []
        for statement in body:
            found.extend(self.statement(statement))
        return tuple(found)

    def statement(self, s: Stmt) -> list[Stmt]:
        """The statement, after the declarations of what was moved out of it."""
        before: list[Stmt] = []
        changes: dict[str, object] = {}
        if isinstance(s, While) and heights(s.condition)[id(s.condition)] > self.limit:
            return self.statement(_condition_inside(s))
        for name, kind in field_kinds(type(s)):
            value = getattr(s, name)
            if kind is FieldKind.OPERAND and value is not None:
                changes[name] = self.root(value, before)
            elif kind is FieldKind.REGION:
                changes[name] = self.region(value)
        placed = [replace(b, location=s.location) for b in before]
        return [*placed, with_fields(s, **changes)]

    def root(self, e: Expr, before: list[Stmt]) -> Expr:
        """`e`, cut until it is low enough."""
        known = heights(e)
        while known[id(e)] > self.limit:
            path = self.path(e, known)
            if path is None:
                return e
            e = self.replaced(path, before)
            known = heights(e)
        return e

    def path(self, root: Expr, known: dict[int, int]) -> list[Expr] | None:
        """The nodes from `root` down to the part to move: half the limit below, on the deepest branch."""
        path = [root]
        while True:
            at = path[-1]
            inner = [c for c in children(at) if isinstance(c, Expr)]
            highest = max(inner, key=lambda c: known[id(c)], default=None)
            if highest is None or (isinstance(at, Reduce) and highest is at.body):
                return None
            path.append(highest)
            if len(path) > self.limit // 2 and self.may_move(highest, at):
                return path

    def may_move(self, e: Expr, parent: Expr) -> bool:
        """A value of a type that can be declared, whose place does not matter to its parent."""
        if isinstance(parent, AddressOf) or isinstance(e, Var | Const):
            return False
        if isinstance(e, Call) and is_effectful(e, self.effectful):
            return False
        if isinstance(parent, Member | Subscript) and e is parent.base and isinstance(type_of(e), ArrayType):
            return False
        return isinstance(type_of(e), ScalarType | PointerType | StructType)

    def replaced(self, path: list[Expr], before: list[Stmt]) -> Expr:
        """The root of `path` with a new variable for its last node, whose value `before` computes."""
        part = path[-1]
        var = Var(self.names.fresh("part"), type_of(part))
        reached = _reached(path)
        if reached is None:
            made: tuple[Stmt, ...] = (Declare(var, part),)
        else:
            made = (Declare(var, None), If(reached, (Assign(var, part),), ()))
        before.extend(self.region(made))
        return _put(path, var)


def _reached(path: list[Expr]) -> Expr | None:
    """The condition under which the last node of `path` is evaluated; None: always."""
    found: Expr | None = None
    for parent, child in reversed(list(zip(path, path[1:], strict=False))):
        guard: Expr | None = None
        if isinstance(parent, Logical) and child is parent.right:
            is_and = parent.op is LogicalOp.AND
            guard = parent.left if is_and else Unary(UnaryOp.NOT, parent.left)
        elif isinstance(parent, Select) and child is not parent.condition:
            then = child is parent.then
            guard = parent.condition if then else Unary(UnaryOp.NOT, parent.condition)
        if guard is not None:
            found = guard if found is None else Logical(LogicalOp.AND, guard, found)
    return found


def _put(path: list[Expr], var: Var) -> Expr:
    """The root of `path` with its last node replaced: only the nodes on the path are rebuilt."""
    new: Expr = var
    for parent, old in reversed(list(zip(path, path[1:], strict=False))):
        changes: dict[str, object] = {}
        for name, kind in field_kinds(type(parent)):
            value = getattr(parent, name)
            if kind is FieldKind.OPERAND and value is old and not changes:
                changes[name] = new
            elif kind is FieldKind.OPERANDS and any(v is old for v in value) and not changes:
                changes[name] = tuple(new if v is old else v for v in value)
        new = with_fields(parent, **changes)
    return new


def _condition_inside(s: While) -> While:
    """Rule LOOP."""
    leave = If(Unary(UnaryOp.NOT, s.condition), (Break(),), (), location=s.location)
    return replace(s, condition=Const(True, B1), body=(leave, *s.body))


def hoist(module: Module, limit: int = MAX_EXPRESSION_DEPTH) -> Module:
    """The module with no expression higher than `limit`, where the rules allow; others stay as they are."""
    changed = []
    for function in module.functions:
        deep = any(
            isinstance(n, Stmt)
            and any(isinstance(c, Expr) and heights(c)[id(c)] > limit for c in children(n))
            for n in walk(function.body)
        )
        body = _Hoister(module, function, limit).region(function.body) if deep else function.body
        changed.append(replace(function, body=body) if deep else function)
    return replace(module, functions=tuple(changed))


__all__ = ["heights", "hoist"]
