"""What every IR node shares: declared fields, and clone, visit and equality derived from them.

A node class declares its fields once::

    @node
    class Select(Expr):
        condition: Expr = operand()
        then: Expr = operand()
        otherwise: Expr = operand()

and is from then on walked, rebuilt, compared, printed and checked by code that knows no class by name.
Nodes are immutable.  Equality ignores locations.  All visitors here iterate, so the depth of a tree is
bounded by memory and not by Python's stack.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import Field, dataclass, field, fields
from enum import Enum
from typing import Any, TypeVar, cast, dataclass_transform

from tmigrate.locations import Location

N = TypeVar("N", bound="Node")


class FieldKind(Enum):
    """What a declared field holds."""

    OPERAND = "operand"  # one expression (or None)
    OPERANDS = "operands"  # a tuple of expressions
    REGION = "region"  # a tuple of statements
    BINDING = "binding"  # the variable that this node defines
    ATTRIBUTE = "attribute"  # anything else: a type, a name, a number


def operand(**options: Any) -> Any:
    """Declare a field that holds one expression."""
    return field(metadata={"kind": FieldKind.OPERAND}, **options)


def operands(**options: Any) -> Any:
    """Declare a field that holds a tuple of expressions."""
    return field(metadata={"kind": FieldKind.OPERANDS}, **options)


def region(**options: Any) -> Any:
    """Declare a field that holds a tuple of statements."""
    return field(metadata={"kind": FieldKind.REGION}, **options)


def binding(**options: Any) -> Any:
    """Declare a field that holds the variable which the node defines."""
    return field(metadata={"kind": FieldKind.BINDING}, **options)


def attribute(**options: Any) -> Any:
    """Declare a field that holds no node: a type, a name, a number."""
    return field(metadata={"kind": FieldKind.ATTRIBUTE}, **options)


class Trait(Enum):
    """What passes ask of a node instead of its class."""

    LOOP = "loop"  # its region may run more than once; break and continue bind to it
    BRANCH = "branch"  # has a condition that chooses between regions or values
    DEFINES = "defines"  # introduces a variable into the rest of its region
    STORES = "stores"  # writes through its target
    JUMPS = "jumps"  # control does not fall through
    READS_MEMORY = "reads memory"
    SHORT_CIRCUITS = "short circuits"  # a later operand is evaluated only for some values of an earlier one
    NO_OPERATION = "no operation"  # execution ignores it


NODE_CLASSES: list[type[Node]] = []


@dataclass_transform(
    frozen_default=True, field_specifiers=(operand, operands, region, binding, attribute, field)
)
def node(cls: type[N]) -> type[N]:
    """Make a class a node: an immutable dataclass, registered for the round-trip generator."""
    made = dataclass(frozen=True, slots=True)(cls)
    NODE_CLASSES.append(made)
    return made


@dataclass(frozen=True, slots=True)
class Node:
    """Base of expressions and statements; `location` says where the node came from."""

    location: Location | None = field(default=None, compare=False, repr=False, kw_only=True)

    @classmethod
    def traits(cls) -> frozenset[Trait]:
        """The traits of this class; subclasses override."""
        return frozenset()


def field_kinds(cls: type[Node]) -> tuple[tuple[str, FieldKind], ...]:
    """The declared fields of a node class and their kinds, in order (`location` left out)."""
    found = _KINDS.get(cls)
    if found is None:
        found = tuple((f.name, _kind(f)) for f in fields(cls) if f.name != "location")
        _KINDS[cls] = found
    return found


_KINDS: dict[type[Node], tuple[tuple[str, FieldKind], ...]] = {}


def _kind(declared: Field[Any]) -> FieldKind:
    kind = declared.metadata.get("kind")
    if kind is None:
        raise TypeError(f"field {declared.name} is not declared as operand, region, binding or attribute")
    return cast(FieldKind, kind)


def has_trait(it: Node, trait: Trait) -> bool:
    """Whether the node's class carries the trait."""
    return trait in type(it).traits()


def children(it: Node) -> list[Node]:
    """The nodes directly inside, in the order of their fields: operands and regions, no bindings."""
    found: list[Node] = []
    for name, is_one in _nested_fields(type(it)):
        value = getattr(it, name)
        if not is_one:
            found.extend(value)
        elif value is not None:
            found.append(value)
    return found


def _nested_fields(cls: type[Node]) -> tuple[tuple[str, bool], ...]:
    """The fields that hold nodes directly inside, and whether each holds one node; every walk asks it."""
    found = _NESTED.get(cls)
    if found is None:
        nested = (FieldKind.OPERAND, FieldKind.OPERANDS, FieldKind.REGION)
        found = tuple((n, kind is FieldKind.OPERAND) for n, kind in field_kinds(cls) if kind in nested)
        _NESTED[cls] = found
    return found


_NESTED: dict[type[Node], tuple[tuple[str, bool], ...]] = {}


def operands_of(it: Node) -> list[Node]:
    """The expressions directly inside (no binding, no regions)."""
    found: list[Node] = []
    for name, kind in field_kinds(type(it)):
        value = getattr(it, name)
        if kind is FieldKind.OPERAND and value is not None:
            found.append(value)
        elif kind is FieldKind.OPERANDS:
            found.extend(value)
    return found


def bindings_of(it: Node) -> list[Node]:
    """The variables that this node defines."""
    found = [getattr(it, n) for n, kind in field_kinds(type(it)) if kind is FieldKind.BINDING]
    return [v for v in found if v is not None]


def regions_of(it: Node) -> list[tuple[str, tuple[Node, ...]]]:
    """The regions of a node as (field name, statements)."""
    return [(n, getattr(it, n)) for n, kind in field_kinds(type(it)) if kind is FieldKind.REGION]


def walk(roots: Node | tuple[Node, ...]) -> Iterator[Node]:
    """Every node below and including `roots`, in preorder."""
    stack: list[Node] = list(reversed(roots)) if isinstance(roots, tuple) else [roots]
    while stack:
        it = stack.pop()
        yield it
        inside = children(it)
        if inside:
            inside.reverse()
            stack += inside


def with_fields(it: N, **changes: Any) -> N:
    """A copy with some fields changed; the location stays unless given."""
    values = {name: getattr(it, name) for name, _ in field_kinds(type(it))}
    values["location"] = it.location
    values.update(changes)
    return type(it)(**values)


Rewriter = Callable[[Node], "Node | tuple[Node, ...] | None"]


def rewrite(root: N, rule: Rewriter) -> N:
    """Rebuild a tree bottom-up: `rule` sees each node after its children were rebuilt.

    Bindings (the variable of a loop or a declaration) are not offered to the rule: `substitute` may
    replace uses of a variable without touching its definition.

    The rule returns a node to put in its place, a tuple of statements to splice into the region
    (empty: remove), or None to keep the node.
    """
    result = rewrite_region((root,), rule)
    if len(result) != 1:
        raise ValueError("the root of a rewrite must stay one node")
    return cast(N, result[0])


def rewrite_region(roots: tuple[Node, ...], rule: Rewriter) -> tuple[Node, ...]:
    """:func:`rewrite` for a region; iterative, so that deep trees are fine."""
    output: list[Node] = []
    # A frame: (node, its children's rebuilt forms per child, iterator over children, where to append).
    stack: list[tuple[Node, list[list[Node]], list[Node], list[Node]]] = []

    def enter(it: Node, sink: list[Node]) -> None:
        stack.append((it, [], children(it), sink))

    for root in roots:
        enter(root, output)
        while stack:
            it, rebuilt, kids, sink = stack[-1]
            if len(rebuilt) < len(kids):
                slot: list[Node] = []
                rebuilt.append(slot)
                enter(kids[len(rebuilt) - 1], slot)
                continue
            stack.pop()
            sink.extend(_apply(_rebuild(it, kids, rebuilt), rule))
    return tuple(output)


def _apply(it: Node, rule: Rewriter) -> tuple[Node, ...]:
    result = rule(it)
    if result is None:
        return (it,)
    return result if isinstance(result, tuple) else (result,)


def _rebuild(it: Node, kids: list[Node], rebuilt: list[list[Node]]) -> Node:
    """`it` with its children replaced; the same object where none changed."""
    if all(len(new) == 1 and new[0] is old for old, new in zip(kids, rebuilt, strict=True)):
        return it
    changes: dict[str, Any] = {}
    position = 0
    for name, kind in field_kinds(type(it)):
        value = getattr(it, name)
        if kind is FieldKind.OPERAND and value is not None:
            if len(rebuilt[position]) != 1:
                raise ValueError(f"field {name} of {type(it).__name__} must stay one node")
            changes[name] = rebuilt[position][0]
            position += 1
        elif kind in (FieldKind.OPERANDS, FieldKind.REGION):
            group = rebuilt[position : position + len(value)]
            changes[name] = tuple(n for slot in group for n in slot)
            position += len(value)
    return with_fields(it, **changes)
