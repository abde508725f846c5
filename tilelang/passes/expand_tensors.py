"""Tensor level to loop level: each operation on whole tensors becomes its own definition.

y: Tensor[f32, M, N] = x @ w + b     ->     product = allocate(f32, M, N)
                                            for i in parallel(...): ...    # the definition of `@`
                                            y = allocate(f32, M, N)
                                            for i in parallel(...): ...    # the definition of `+`
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from tmigrate.tilelang.ir.expressions import Call, Const, Expr, Var, type_of
from tmigrate.tilelang.ir.module import Function, Level, Module
from tmigrate.tilelang.ir.node import Node, bindings_of, rewrite_region, with_fields
from tmigrate.tilelang.ir.statements import Allocate, Declare, Region, Return, Stmt
from tmigrate.tilelang.ir.tensor_table import tensor_operations
from tmigrate.tilelang.ir.types import Space, TensorType, Type
from tmigrate.tilelang.passes.names import Names, names_of
from tmigrate.tilelang.passes.unique_names import unique_names
from tmigrate.tilelang.tensors.operation import Definition, TensorOperation
from tmigrate.tilelang.text.expressions import print_expr
from tmigrate.tilelang.text.parser import parse_statements


def expand_tensors(module: Module) -> Module:
    """The module with every tensor-level function at the loop level."""
    return replace(
        module,
        functions=tuple(_expand(f, module) if f.level is Level.TENSOR else f for f in module.functions),
    )


def _expand(function: Function, module: Module) -> Function:
    expander = _Expander(names_of(function, module))
    return replace(function, body=expander.region(function.body), level=Level.LOOP)


class _Expander:
    """`tiles`: the tile shape of each tensor that `tile` was applied to, by the variable's name."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.tiles: dict[str, tuple[int, ...]] = {}
        self.aliases: dict[str, Var] = {}

    def region(self, body: Region) -> Region:
        found: list[Stmt] = []
        for statement in body:
            made = self.statement(cast(Stmt, _replace_aliases(statement, self.aliases)))
            found += [replace(s, location=s.location or statement.location) for s in made]
        return tuple(found)

    def statement(self, s: Stmt) -> list[Stmt]:
        """A statement with the definitions that it needs before it."""
        before: list[Stmt] = []
        if isinstance(s, Declare) and isinstance(s.var.type, TensorType):
            assert s.value is not None
            source = self.operand(s.value, before, s.var)
            if isinstance(source, Var) and source.name != s.var.name:
                self.aliases[s.var.name] = source
            return before
        if isinstance(s, Return) and s.value is not None and isinstance(type_of(s.value), TensorType):
            return [*before, *self.returned(s, s.value)]
        changes = {}
        for name in ("then", "otherwise", "body", "step"):
            region = getattr(s, name, None)
            if isinstance(region, tuple):
                changes[name] = self.region(region)
        return [with_fields(s, **changes) if changes else s]

    def returned(self, s: Return, value: Expr) -> list[Stmt]:
        before: list[Stmt] = []
        source = self.operand(value, before, None)
        return [*before, replace(s, value=source)]

    def operand(self, e: Expr, before: list[Stmt], into: Var | None) -> Expr:
        """A variable (or scalar) that holds `e`; `before` gets definitions, `into` (if given) the result."""
        if not isinstance(e, Call) or not isinstance(e.type, TensorType):
            return self.aliases.get(e.name, e) if isinstance(e, Var) else e
        operation = tensor_operations()[e.callee]
        count = operation.operands
        operands = [self.named(self.operand(a, before, None), before) for a in e.arguments[:count]]
        if operation.alias:
            return self.alias(operands[0], e)
        out = into or Var(self.names.fresh(_word(operation)), e.type)
        before.append(Allocate(out, Space.GLOBAL))
        before.extend(self.define(operation, out, operands, e))
        return out

    def named(self, e: Expr, before: list[Stmt]) -> Expr:
        """A scalar operand under a name, so that it is computed once."""
        if isinstance(type_of(e), TensorType) or isinstance(e, Var):
            return e
        var = Var(self.names.fresh("value"), type_of(e))
        before.append(Declare(var, e))
        return var

    def alias(self, source: Expr, e: Call) -> Expr:
        """`tile`: the same tensor, from here on worked on in these tiles."""
        assert isinstance(source, Var)
        self.tiles[source.name] = tuple(int(a.value) for a in e.arguments[1:] if isinstance(a, Const))
        return source

    def define(self, operation: TensorOperation, out: Var, operands: list[Expr], e: Call) -> Region:
        """The definition's statements, their variables renamed apart from the function's."""
        arguments = operation.sort((*operands, *e.arguments[operation.operands :]))
        assert not isinstance(arguments, str) and isinstance(out.type, TensorType)
        variables = [v for v in operands if isinstance(v, Var)]
        tiles = {i: self.tiles[v.name] for i, v in enumerate(variables) if v.name in self.tiles}
        names = tuple(v.name for v in variables)
        extents = tuple(print_expr(x) for x in arguments.extents)
        definition = Definition(out.name, out.type, names, arguments, extents, tiles)
        known: dict[str, Type] = {v.name: v.type for v in (*variables, out)}
        body = cast(Region, parse_statements(operation.definition(definition), known))
        whole = Function("definition", tuple(Var(n, t) for n, t in known.items()), body)
        return self.apart(unique_names(whole).body, set(known))

    def apart(self, body: Region, known: set[str]) -> Region:
        """`body` with every variable that it declares under a fresh name."""
        renamed: dict[str, Var] = {}

        def rule(it: Node) -> Node | None:
            if isinstance(it, Var) and it.name not in known:
                if it.name not in renamed:
                    renamed[it.name] = with_fields(it, name=self.names.fresh(it.name))
                return with_fields(it, name=renamed[it.name].name)
            changed = {}
            for var in bindings_of(it):
                assert isinstance(var, Var)
                changed["var"] = rule(var) or var
            return with_fields(it, location=None, **changed)

        return cast(Region, rewrite_region(body, rule))


def _replace_aliases(s: Stmt, aliases: dict[str, Var]) -> Node:
    def rule(it: Node) -> Node | None:
        return aliases.get(it.name) if isinstance(it, Var) else None

    return rewrite_region((s,), rule)[0] if aliases else s


def _word(operation: TensorOperation) -> str:
    """What an intermediate result is called."""
    words = {"@": "product", "+": "sum_of", "-": "difference", "*": "scaled", "/": "quotient"}
    return words.get(operation.name, f"{operation.name}_of")


__all__ = ["expand_tensors"]
