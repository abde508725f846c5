"""Mutation operators over Python source, as data: what they do to one node of a module's tree."""

from __future__ import annotations

import ast
import copy
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SourceMutant:
    """One change of one module: `site` is the number of the node in :func:`ast.walk` order."""

    module: str
    line: int
    operator: str
    label: str
    site: int
    variant: int

    @property
    def name(self) -> str:
        """Unique among the mutants of all modules."""
        return f"{self.module}:{self.line}:{self.site}.{self.variant} {self.operator}: {self.label}"


Change = tuple[str, str, Callable[[ast.AST], ast.AST]]
"""(operator, what becomes of the node, how)."""

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mod, ast.Mod: ast.FloorDiv,
    ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
}  # fmt: skip


def mutants_of_source(module: str, text: str) -> Iterator[SourceMutant]:
    """Every operator at every place of a module."""
    tree = ast.parse(text)
    left_out = _left_out(tree)
    enums = _enum_members(tree)
    for site, node in enumerate(ast.walk(tree)):
        if id(node) in left_out:
            continue
        for variant, (operator, label, _) in enumerate(_changes(node, enums)):
            yield SourceMutant(module, getattr(node, "lineno", 0), operator, label, site, variant)


def apply(mutant: SourceMutant, text: str) -> ast.Module:
    """The module's tree with the change in it."""
    tree = ast.parse(text)
    enums = _enum_members(tree)
    target = list(ast.walk(tree))[mutant.site]
    operator, _, change = list(_changes(target, enums))[mutant.variant]
    assert operator == mutant.operator
    made = _Replacer(target, change(copy.deepcopy(target))).visit(tree)
    assert isinstance(made, ast.Module)
    return ast.fix_missing_locations(made)


class _Replacer(ast.NodeTransformer):
    def __init__(self, target: ast.AST, made: ast.AST) -> None:
        self.target, self.made = target, made

    def visit(self, node: ast.AST) -> ast.AST:
        if node is self.target:
            return ast.copy_location(self.made, node)
        return self.generic_visit(node)


def _left_out(tree: ast.Module) -> set[int]:
    """Nodes whose change says nothing: imports, annotations, texts, the bodies of `if TYPE_CHECKING`."""
    found: set[int] = set()

    def leave(node: ast.AST | None) -> None:
        found.update(id(it) for it in ast.walk(node)) if node is not None else None

    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom | ast.JoinedStr | ast.Assert):
            leave(node)
        if isinstance(node, ast.arg | ast.AnnAssign):
            leave(node.annotation)
        if isinstance(node, ast.FunctionDef):
            leave(node.returns)
            for decorator in node.decorator_list:
                leave(decorator)
        if isinstance(node, ast.ClassDef):
            for decorator in node.decorator_list:
                leave(decorator)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            leave(node)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            leave(node)
        if isinstance(node, ast.Assign) and any(
            isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets
        ):
            leave(node)
    return found


def _enum_members(tree: ast.Module) -> dict[str, list[str]]:
    """The members of enumerations that the module names: `BinaryOp.ADD` and its like."""
    found: dict[str, set[str]] = defaultdict(set)
    for node in ast.walk(tree):
        if _is_member(node):
            assert isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
            found[node.value.id].add(node.attr)
    return {name: sorted(members) for name, members in found.items()}


def _is_member(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id[:1].isupper()
        and node.attr.isupper()
    )


def _changes(node: ast.AST, enums: dict[str, list[str]]) -> Iterator[Change]:
    yield from _of_operators(node)
    yield from _of_conditions(node)
    yield from _of_values(node, enums)
    yield from _of_statements(node)


def _of_operators(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARISONS:
        other = _COMPARISONS[type(node.ops[0])]
        yield "comparison", f"{type(node.ops[0]).__name__} -> {other.__name__}", _set(ops=[other()])
    if isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
        made = _ARITHMETIC[type(node.op)]
        yield "arithmetic", f"{type(node.op).__name__} -> {made.__name__}", _set(op=made())
    if isinstance(node, ast.BoolOp):
        swapped = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield "connective", f"{type(node.op).__name__} -> {type(swapped).__name__}", _set(op=swapped)
        for k in range(len(node.values)):
            rest = [v for j, v in enumerate(node.values) if j != k]
            yield "dropped condition", f"operand {k}", _as(rest[0]) if len(rest) == 1 else _set(values=rest)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "dropped not", "not x -> x", lambda it: it.operand  # type: ignore[attr-defined]


def _of_conditions(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.If | ast.IfExp | ast.While) and not isinstance(node.test, ast.Constant):
        yield "negated condition", "not", lambda it: _with(it, test=ast.UnaryOp(ast.Not(), it.test))  # type: ignore[attr-defined]
    if isinstance(node, ast.comprehension) and node.ifs:
        yield "dropped filter", "all", _set(ifs=[])


def _of_values(node: ast.AST, enums: dict[str, list[str]]) -> Iterator[Change]:
    if isinstance(node, ast.Constant):
        if isinstance(node.value, bool):
            yield "constant", f"{node.value} -> {not node.value}", _set(value=not node.value)
        elif isinstance(node.value, int):
            yield "constant", f"{node.value} + 1", _set(value=node.value + 1)
            yield "constant", f"{node.value} - 1", _set(value=node.value - 1)
    if _is_member(node):
        assert isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        others = [m for m in enums[node.value.id] if m != node.attr]
        if others:
            position = sum(m < node.attr for m in others) % len(others)
            yield "other member", f"{node.attr} -> {others[position]}", _set(attr=others[position])
    if isinstance(node, ast.Call):
        plain = [not isinstance(a, ast.Starred) for a in node.args]
        for k in range(len(node.args) - 1):
            if plain[k] and plain[k + 1] and ast.dump(node.args[k]) != ast.dump(node.args[k + 1]):
                made = [*node.args[:k], node.args[k + 1], node.args[k], *node.args[k + 2 :]]
                yield "exchanged arguments", f"{k} <-> {k + 1}", _set(args=made)
    if isinstance(node, ast.Dict):
        for k in range(len(node.values) - 1):
            if ast.dump(node.values[k]) != ast.dump(node.values[k + 1]) and node.keys[k] and node.keys[k + 1]:
                entries = [*node.values[:k], node.values[k + 1], node.values[k], *node.values[k + 2 :]]
                yield "exchanged entries", f"{k} <-> {k + 1}", _set(values=entries)


def _of_statements(node: ast.AST) -> Iterator[Change]:
    kept = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call | ast.YieldFrom | ast.Yield)
    if kept or isinstance(node, ast.Assign | ast.AugAssign | ast.Raise | ast.Continue | ast.Break):
        yield "dropped statement", type(node).__name__.lower(), lambda it: ast.Pass()
    if isinstance(node, ast.If):
        yield "dropped statement", "if", lambda it: ast.Pass()
    if isinstance(node, ast.Return) and node.value is not None and not isinstance(node.value, ast.Constant):
        yield "dropped statement", "return", lambda it: ast.Expr(it.value)  # type: ignore[attr-defined]


def _as(made: ast.AST) -> Callable[[ast.AST], ast.AST]:
    return lambda it: made


def _set(**fields: object) -> Callable[[ast.AST], ast.AST]:
    return lambda it: _with(it, **fields)


def _with(it: ast.AST, **fields: object) -> ast.AST:
    for name, value in fields.items():
        setattr(it, name, value)
    return it
