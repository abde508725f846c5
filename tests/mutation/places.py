"""Places in a function: every node with its path, what is visible there, and how to replace it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from tmigrate.tilelang.ir.expressions import Var
from tmigrate.tilelang.ir.module import Function, Module
from tmigrate.tilelang.ir.node import FieldKind, Node, bindings_of, field_kinds, with_fields

Step = tuple[str, int | None]  # a field, and the position in it where the field holds a tuple
Replacement = Node | tuple[Node, ...]  # a tuple only in a region: the statements in the place of one


@dataclass(frozen=True, slots=True)
class InPlaceOfTwo:
    """Statements in the place of one and the next."""

    statements: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """One node where it stands: `visible` are the variables that an expression here may use."""

    node: Node
    path: tuple[Step, ...]
    parent: Node | None
    siblings: tuple[Node, ...]  # the region that holds the node, for statements
    visible: tuple[Var, ...]
    module: Module
    function: Function

    @property
    def field(self) -> str:
        """The parent's field that holds the node."""
        return self.path[-1][0]

    @property
    def position(self) -> int | None:
        """Where in that field."""
        return self.path[-1][1]

    @property
    def line(self) -> int:
        """The source line, 0 where the node has none."""
        return self.node.location.line if self.node.location else 0


def places(module: Module, function: Function) -> Iterator[Place]:
    """Every node of a function's body in preorder."""
    visible = (*function.parameters, *function.dimensions)
    yield from _region(function.body, "body", (), None, visible, module, function)


def _region(
    region: tuple[Node, ...],
    field: str,
    path: tuple[Step, ...],
    parent: Node | None,
    visible: tuple[Var, ...],
    module: Module,
    function: Function,
) -> Iterator[Place]:
    for position, it in enumerate(region):
        here = (*path, (field, position))
        yield from _node(it, here, parent, region, visible, module, function)
        if not _has_region(it):
            visible = (*visible, *(v for v in bindings_of(it) if isinstance(v, Var)))


def _has_region(it: Node) -> bool:
    return any(kind is FieldKind.REGION for _, kind in field_kinds(type(it)))


def _node(
    it: Node,
    path: tuple[Step, ...],
    parent: Node | None,
    siblings: tuple[Node, ...],
    visible: tuple[Var, ...],
    module: Module,
    function: Function,
) -> Iterator[Place]:
    yield Place(it, path, parent, siblings, visible, module, function)
    bound = (*visible, *(v for v in bindings_of(it) if isinstance(v, Var)))
    inner = bound if _has_region(it) or any(n == "body" for n, _ in field_kinds(type(it))) else visible
    for name, kind in field_kinds(type(it)):
        value = getattr(it, name)
        scope = inner if name in ("body", "step") else visible
        if kind is FieldKind.OPERAND and value is not None:
            yield from _node(value, (*path, (name, None)), it, (), scope, module, function)
        elif kind is FieldKind.OPERANDS:
            for position, child in enumerate(value):
                yield from _node(child, (*path, (name, position)), it, (), scope, module, function)
        elif kind is FieldKind.REGION:
            yield from _region(value, name, path, it, inner, module, function)


def put(function: Function, path: tuple[Step, ...], replacement: Replacement | InPlaceOfTwo) -> Function:
    """The function with another node (or statements) at a path."""
    (_, position), *rest = path
    assert position is not None
    return replace(function, body=_in_tuple(function.body, position, tuple(rest), replacement))


def _in_tuple(
    values: tuple[Any, ...], position: int, rest: tuple[Step, ...], new: Replacement | InPlaceOfTwo
) -> tuple[Any, ...]:
    if isinstance(new, InPlaceOfTwo) and not rest:
        return (*values[:position], *new.statements, *values[position + 2 :])
    made = _in_node(values[position], rest, new)
    inserted = made if isinstance(made, tuple) else (made,)
    return (*values[:position], *inserted, *values[position + 1 :])


def _in_node(it: Node, path: tuple[Step, ...], new: Replacement | InPlaceOfTwo) -> Replacement:
    if not path:
        assert not isinstance(new, InPlaceOfTwo)
        return new
    (name, position), *rest = path
    value = getattr(it, name)
    if position is None:
        made = _in_node(value, tuple(rest), new)
        assert isinstance(made, Node)
        return with_fields(it, **{name: made})
    return with_fields(it, **{name: _in_tuple(value, position, tuple(rest), new)})
