"""A generator of valid modules that reaches every node class, operator, type, intrinsic and literal form.

All choices go through a :class:`Chooser`, so that Hypothesis can shrink them and a fixed seed can replay
them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeVar

from generate_expressions import literal
from generate_statements import Statements
from signatures import SIGNATURES

from tmigrate.locations import Location
from tmigrate.tilelang.ir.effects import effectful_functions
from tmigrate.tilelang.ir.expressions import Call, Const, Expr, NamedConst, Var
from tmigrate.tilelang.ir.module import Function, FunctionKind, GlobalVariable, Level, Module
from tmigrate.tilelang.ir.statements import Declare, Stmt
from tmigrate.tilelang.ir.structs import alignment_of, size_of
from tmigrate.tilelang.ir.tensor_table import tensor_operations
from tmigrate.tilelang.ir.types import (
    F32,
    F64,
    I64,
    VOID,
    ArrayType,
    PointerType,
    ScalarType,
    Space,
    StructDefinition,
    StructField,
    StructType,
    TensorType,
    Type,
)
from tmigrate.tilelang.ir.verify_names import dimensions_in_order

T = TypeVar("T")


class Chooser(Protocol):
    """Where choices come from."""

    def integer(self, low: int, high: int) -> int: ...


class Seeded:
    """Choices from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def integer(self, low: int, high: int) -> int:
        return self.random.randint(low, high)


class Drawn:
    """Choices drawn by Hypothesis."""

    def __init__(self, draw: Callable[[Any], Any]) -> None:
        self.draw = draw

    def integer(self, low: int, high: int) -> int:
        from hypothesis import strategies as st

        return int(self.draw(st.integers(low, high)))


TEXTS = (
    "",
    "x",
    "two words",
    'a "quoted" word',
    "back\\slash",
    "tab\tand newline\n",
    "non-ASCII: \u00e9\u4e2d",
    '"""',
    'ends with "',
)


class Modules(Statements):
    """Makes modules."""

    focus = 0

    def module(self) -> Module:
        """One module with functions of every level."""
        self.structs = {}
        self.level = Level.THREAD
        made = Module("module")
        structs = tuple(self.struct(i) for i in range(self.integer(0, 2)))
        self.constants = tuple(self.constant(i) for i in range(self.integer(0, 3)))
        self.variables = tuple(self.variable(i) for i in range(self.integer(0, 3)))
        made = replace(
            made,
            constants=self.constants,
            structs=structs,
            variables=self.variables,
            source=self.choice(("", "k.cu", "a b.cu")),
            doc=self.choice(TEXTS),
        )
        self.callees: list[tuple[Function, bool]] = []
        for i in range(self.integer(1, 3)):
            function = self.function(i)
            made = replace(made, functions=(*made.functions, function))
            if function.kind is FunctionKind.DEVICE:
                self.callees.append((function, function.name in effectful_functions(made)))
        return made

    def struct(self, index: int) -> StructDefinition:
        """A struct with natural or shifted members."""
        fields: list[StructField] = []
        offset, alignment = 0, 1
        for i in range(self.integer(0, 3)):
            t = self.member_type()
            wanted = alignment_of(t, self.structs)
            offset = -(-offset // wanted) * wanted + (wanted if self.rarely() else 0)
            fields.append(StructField(self.choice((f"m{i}", f"shape{i}")) if i else "shape", t, offset))
            offset += size_of(t, self.structs)
            alignment = max(alignment, wanted)
        alignment *= 2 if self.rarely() else 1
        size = max(1, -(-offset // alignment)) * alignment
        made = StructDefinition(f"S{index}", tuple(fields), size if fields else max(1, size), alignment)
        self.structs[made.name] = made
        return made

    def member_type(self) -> Type:
        kind = self.integer(0, 4)
        scalar = self.scalar()
        if kind == 0:
            return ArrayType(scalar, (2, 3))
        if kind == 1:
            return PointerType(scalar)
        if kind == 2 and self.structs:
            return StructType(self.choice(list(self.structs)))
        return scalar

    def constant(self, index: int) -> NamedConst:
        t = self.scalar()
        value = literal(self, t).value
        return NamedConst(f"K{index}", value, t)

    def variable(self, index: int) -> GlobalVariable:
        space = self.choice((Space.GLOBAL, Space.CONSTANT, Space.MANAGED, Space.SHARED))
        element: Type = self.scalar()
        if self.structs and self.rarely():
            element = StructType(self.choice(list(self.structs)))
        shape = self.choice(((1,), (4,), (2, 3)))
        return GlobalVariable(
            f"g{index}", ArrayType(element, shape), space, self.choice(("", "_Z1g")), self.origin()
        )

    def origin(self) -> Location | None:
        line = self.integer(0, 3)
        return Location("k.cu", line) if line else None

    # ---- functions -----------------------------------------------------------------------------------

    def function(self, index: int) -> Function:
        level = self.choice(tuple(Level)[:2] if self.levels is None else self.levels)
        kind = self.choice(tuple(FunctionKind))
        self.start(level)
        dimensions = [Var(f"D{index}{i}", I64) for i in range(2)] if level is not Level.THREAD else []
        self.dimensions = dimensions
        parameters = tuple(self.parameter(i) for i in range(self.integer(1, 4)))
        self.result = self.result_type(kind)
        self.scope = [*dimensions, *parameters, *(v.var for v in self.variables)]
        self.frozen = {d.name for d in dimensions}
        body = (*self.focused(), *self.region(self.depth, top=True))
        if self.result != VOID:
            body = (*body, self.returns())
        made = Function(
            f"f{index}", parameters, body, kind, level, self.result, tuple(dimensions),
            self.choice(("", "_Z1fv", 'odd "symbol"')), self.choice(TEXTS), self.origin(),
        )  # fmt: skip
        order = dimensions_in_order(made)
        return replace(made, dimensions=tuple(next(d for d in dimensions if d.name == n) for n in order))

    def focused(self) -> tuple[Stmt, ...]:
        """A statement with the operation that this module is to reach, so that rare ones are reached too."""
        if self.level is Level.TENSOR:
            names = list(tensor_operations())
            made = [self.tensor_call(names[self.focus % len(names)], v) for v in self.whole_tensors()]
            return tuple(Declare(Var(self.fresh("whole"), m.type), m) for m in made if m is not None)
        rows = [s for s in SIGNATURES if s.is_pure and isinstance(s.result, ScalarType)]
        names = list(dict.fromkeys(s.name for s in rows))
        row = self.choice([s for s in rows if s.name == names[self.focus % len(names)]])
        call = Call(row.name, tuple(self.expr(t, 1) for t in row.arguments), row.result)
        return (Declare(Var(self.fresh("focus"), row.result), call),)

    def result_type(self, kind: FunctionKind) -> Type:
        if kind is FunctionKind.KERNEL and self.level is Level.THREAD:
            return VOID
        if self.level is Level.TENSOR:
            return VOID
        return self.choice((VOID, self.scalar()))

    def parameter(self, index: int) -> Var:
        name = f"p{index}" if self.integer(0, 5) else f"lambda{'_' * (index + 1)}"
        kind = self.integer(0, 4)
        if kind == 0:
            return Var(name, self.scalar())
        if kind == 1:
            return Var(name, self.struct_type())
        if self.level is Level.THREAD:
            return Var(name, self.pointer_type())
        return Var(name, self.tensor_type())

    def tensor_type(self) -> TensorType:
        element = self.scalar() if self.integer(0, 5) else self.struct_type()
        if self.level is Level.TENSOR and self.integer(0, 2):
            element = self.choice((F32, F64))
        shape = tuple(self.extent() for _ in range(self.integer(1, 3)))
        return TensorType(element, shape)  # type: ignore[arg-type]

    def extent(self) -> Expr:
        sizes = [*self.dimensions, *(c for c in self.constants if c.type == I64)]
        kind = self.integer(0, 2)
        if kind == 0 or not sizes:
            return Const(self.integer(1, 8), I64)
        base: Expr = self.choice(sizes)
        if kind == 1:
            return base
        from tmigrate.tilelang.ir.expressions import Binary, BinaryOp

        return Binary(self.choice((BinaryOp.ADD, BinaryOp.MUL)), base, Const(self.integer(1, 8), I64))


def make_module(
    chooser: Chooser, depth: int = 3, levels: Sequence[Level] | None = None, focus: int = 0
) -> Module:
    """A valid module from the choices of `chooser`; `focus` picks an operation that it surely holds."""
    made = Modules(chooser, depth, levels)
    made.focus = focus
    return made.module()


__all__ = ["Chooser", "Drawn", "Seeded", "make_module"]
