"""A function as the verifier's rules see it: every node with its parent, gathered in one iterative walk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from tmigrate.locations import Location
from tmigrate.tilelang.ir.expressions import Expr, Var, type_of
from tmigrate.tilelang.ir.intrinsics import INTRINSICS
from tmigrate.tilelang.ir.module import Function, Module
from tmigrate.tilelang.ir.node import FieldKind, Node, bindings_of, field_kinds
from tmigrate.tilelang.ir.statements import Stmt
from tmigrate.tilelang.ir.types import ArrayType, PointerType, TensorType, Type

N = TypeVar("N", bound=Node)


@dataclass(frozen=True, slots=True)
class Visit:
    """A node, the visit of its parent (None at the function's root) and the field that holds it."""

    node: Node
    parent: Visit | None
    slot: str

    def ancestors(self) -> Iterator[Visit]:
        """The visits around this one, from the inside outwards."""
        it = self.parent
        while it is not None:
            yield it
            it = it.parent

    @property
    def location(self) -> Location | None:
        """The place of the node, else of the nearest node around it that has one."""
        for it in (self, *self.ancestors()):
            if it.node.location is not None:
                return it.node.location
        return None

    @property
    def is_root_value(self) -> bool:
        """Whether the node is an expression held by a statement itself."""
        return self.parent is not None and isinstance(self.parent.node, Stmt)


@dataclass(slots=True)
class View:
    """One function with its visits in preorder; `function` is None for the rules about the module's head.

    `effectful` names the module's functions whose calls have effects.
    """

    module: Module
    function: Function | None
    visits: list[Visit] = field(default_factory=list)
    by_class: dict[type[Node], list[Visit]] = field(default_factory=dict)
    effectful: frozenset[str] = frozenset()

    def of(self, *classes: type[N]) -> Iterator[tuple[Visit, N]]:
        """The visits of nodes of exactly these classes, with the nodes."""
        for cls in classes:
            for visit in self.by_class.get(cls, ()):
                yield visit, visit.node  # type: ignore[misc]

    def expressions(self) -> Iterator[tuple[Visit, Expr]]:
        """All expressions."""
        for visit in self.visits:
            if isinstance(visit.node, Expr):
                yield visit, visit.node

    def bindings(self) -> Iterator[tuple[Visit, Var]]:
        """All variables that statements and reductions define, in order."""
        for visit in self.visits:
            for var in bindings_of(visit.node):
                assert isinstance(var, Var)
                yield visit, var


def view_function(module: Module, function: Function, effectful: frozenset[str] = frozenset()) -> View:
    """Walk `function` once."""
    view = View(module, function, effectful=effectful)
    stack = [Visit(s, None, "body") for s in reversed(function.body)]
    while stack:
        visit = stack.pop()
        view.visits.append(visit)
        view.by_class.setdefault(type(visit.node), []).append(visit)
        stack.extend(reversed(_inside(visit)))
    return view


def _inside(visit: Visit) -> list[Visit]:
    found: list[Visit] = []
    for name, kind in field_kinds(type(visit.node)):
        value = getattr(visit.node, name)
        if kind is FieldKind.OPERAND and value is not None:
            found.append(Visit(value, visit, name))
        elif kind in (FieldKind.OPERANDS, FieldKind.REGION):
            found.extend(Visit(child, visit, name) for child in value)
    return found


def parts_of(t: Type) -> Iterator[Type]:
    """A type and the types inside it."""
    while True:
        yield t
        if isinstance(t, PointerType):
            t = t.pointee
        elif isinstance(t, ArrayType | TensorType):
            t = t.element
        else:
            return


def types_in(view: View) -> Iterator[tuple[Visit | None, Type]]:
    """Every type that a function mentions, with the visit that mentions it (None: the signature)."""
    function = view.function
    assert function is not None
    for t in (*(p.type for p in function.parameters), function.result):
        yield None, t
    for visit in view.visits:
        for var in bindings_of(visit.node):
            assert isinstance(var, Var)
            yield visit, var.type
        if isinstance(visit.node, Expr):
            yield visit, type_of(visit.node)


def root_of(place: Expr) -> Expr:
    """The variable or pointer expression at the root of a place: `x` of `x[i].y`."""
    it: Expr = place
    while True:
        inner = getattr(it, "base", None)
        if not isinstance(inner, Expr):
            return it
        it = inner


def is_intrinsic(name: str) -> bool:
    """Whether a callee is a row of the intrinsics' table."""
    return name in INTRINSICS
