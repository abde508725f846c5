"""What declares an operation on whole tensors: its type rule and its definition at the loop level.

The definition is DSL text.  It is the operation's meaning: the interpreter runs it, the generic lowering
compiles it, and a lowering that knows better is tested against it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tmigrate.tilelang.ir.expressions import Const, Expr, Var, type_of
from tmigrate.tilelang.ir.types import I32, I64, ScalarType, TensorType, Type, is_integer

Shape = tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of a call, sorted: tensors (or scalars in their place), then numbers, then extents."""

    operands: tuple[Type, ...]
    numbers: dict[str, int]
    extents: Shape = ()

    def tensor(self, position: int = 0) -> TensorType:
        """The operand at a position, which the operation's rule has shown to be a tensor."""
        t = self.operands[position]
        assert isinstance(t, TensorType)
        return t


@dataclass(frozen=True, slots=True)
class Definition:
    """What a definition's text is made from: `out`, names of the operands, and the arguments.

    `tiles` holds, per operand, the tile shape that `tile` gave it.
    """

    out: str
    result: TensorType
    names: tuple[str, ...]
    arguments: Arguments
    extents: tuple[str, ...] = ()
    tiles: dict[int, tuple[int, ...]] = field(default_factory=dict)

    @property
    def element(self) -> str:
        """The name of the result's element type."""
        return str(self.result.element)

    def indices(self, rank: int | None = None) -> list[str]:
        """Fresh index names, one per dimension of the result."""
        return [f"i{axis}" for axis in range(self.result.rank if rank is None else rank)]

    def read(self, position: int, indices: Sequence[str]) -> str:
        """Operand `position` at the result's indices, broadcast as NumPy does; a scalar is itself."""
        t = self.arguments.operands[position]
        if not isinstance(t, TensorType):
            return self.names[position]
        own = indices[len(indices) - t.rank :]
        one = [isinstance(e, Const) and e.value == 1 for e in t.shape]
        return f"{self.names[position]}[{', '.join('0' if o else i for o, i in zip(one, own, strict=True))}]"

    def store(self, indices: Sequence[str], value: str) -> str:
        """The statement that stores one element of the result."""
        return f"{self.out}[{', '.join(indices)}] = {value}"

    def nest(self, axes: Sequence[tuple[str, str]], *body: str) -> str:
        """Parallel loops, `(index, extent)` from the outside inwards, around the lines of `body`."""
        lines = [f"{'    ' * d}for {i} in parallel(range({n})):" for d, (i, n) in enumerate(axes)]
        return "\n".join(
            [*lines, *(f"{'    ' * len(axes)}{line}" for text in body for line in text.split("\n"))]
        )

    def over_result(self, *body: str) -> str:
        """Parallel loops over the result's elements, with :meth:`indices` as their indices."""
        return self.nest([(i, f"{self.out}.shape[{d}]") for d, i in enumerate(self.indices())], *body)


Rule = Callable[[Arguments], "TensorType | str"]


@dataclass(frozen=True, slots=True)
class TensorOperation:
    """One operation.  `name` is what calls write, or an operator (`+`, `@`).

    `operands`: how many tensors it takes; `scalars`: whether a scalar of the element type may stand for one
    (not for all).  `numbers`: integers known when the text is read, written `name=value`, with their
    defaults (None: must be given); `dim` counts from the end where negative.  `shape`: the name of a trailing
    list of extents, or "".
    """

    name: str
    operands: int
    rule: Rule
    definition: Callable[[Definition], str]
    numbers: dict[str, int | None] = field(default_factory=dict)
    shape: str = ""
    scalars: bool = False
    alias: bool = False

    def sort(self, arguments: Sequence[Expr]) -> Arguments | str:
        """The arguments of a call by their parts, or a sentence that says what is wrong."""
        fixed = self.operands + len(self.numbers)
        if len(arguments) < fixed or (len(arguments) > fixed and not self.shape):
            return f"takes {fixed} arguments, got {len(arguments)}"
        types = tuple(type_of(a) for a in arguments[: self.operands])
        tensors = [t for t in types if isinstance(t, TensorType)]
        if len(tensors) < (1 if self.scalars else self.operands):
            return "expected tensors"
        if any(not isinstance(t.element, ScalarType) for t in tensors):
            return "expected tensors of numbers"
        if any(t != tensors[0].element for t in types if not isinstance(t, TensorType)):
            return f"a scalar beside a tensor has the type of its elements, {tensors[0].element}"
        numbers: dict[str, int] = {}
        for name, value in zip(self.numbers, arguments[self.operands : fixed], strict=True):
            if not isinstance(value, Const) or value.type != I32:
                return f"{name} is a constant"
            numbers[name] = int(value.value)
        extents = tuple(arguments[fixed:])
        if any(not is_integer(type_of(e)) for e in extents):
            return "extents are integers"
        if "dim" in numbers and not 0 <= numbers["dim"] < tensors[0].rank:
            return f"dim={numbers['dim']} of a tensor of rank {tensors[0].rank}"
        return Arguments(types, numbers, extents)

    def result_type(self, arguments: Sequence[Expr]) -> Type | str:
        """The type of a call, or a sentence that says why it is wrong."""
        found = self.sort(arguments)
        return found if isinstance(found, str) else self.rule(found)


OPERATIONS: dict[str, TensorOperation] = {}


def declare(operation: TensorOperation) -> TensorOperation:
    """Add an operation to the table."""
    if operation.name in OPERATIONS:
        raise ValueError(f"tensor operation {operation.name} is declared twice")
    OPERATIONS[operation.name] = operation
    return operation


# ---- rules that several operations share -------------------------------------------------------------


def one_element_type(arguments: Arguments) -> ScalarType | str:
    """The element type that all tensors share."""
    elements = {t.element for t in arguments.operands if isinstance(t, TensorType)}
    if len(elements) > 1:
        return f"the tensors hold different types: {', '.join(sorted(map(str, elements)))}"
    found = elements.pop()
    assert isinstance(found, ScalarType)
    return found


def broadcast(shapes: Sequence[Shape]) -> Shape | str:
    """The common shape by NumPy's rule: from the right, equal extents or 1."""
    result: list[Expr] = []
    for axis in range(1, max(map(len, shapes)) + 1):
        extents = [s[-axis] for s in shapes if len(s) >= axis]
        wide = [e for e in extents if not (isinstance(e, Const) and e.value == 1)]
        if any(e != wide[0] for e in wide):
            return f"the extents of axis -{axis} differ: {' and '.join(extent_text(e) for e in wide)}"
        result.append(wide[0] if wide else extents[0])
    return tuple(reversed(result))


def extent_text(e: Expr) -> str:
    """An extent as messages show it."""
    if isinstance(e, Var):
        return e.name
    return str(e.value) if isinstance(e, Const) else "an expression"


def elementwise(arguments: Arguments) -> TensorType | str:
    """One element type; the shapes broadcast."""
    element = one_element_type(arguments)
    shape = broadcast([t.shape for t in arguments.operands if isinstance(t, TensorType)])
    if isinstance(element, str) or isinstance(shape, str):
        return element if isinstance(element, str) else str(shape)
    return TensorType(element, shape)


ONE = Const(1, I64)
__all__ = [
    "ONE", "OPERATIONS", "Arguments", "Definition", "TensorOperation", "broadcast", "declare",
    "elementwise", "extent_text", "one_element_type",
]  # fmt: skip
