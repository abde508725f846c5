"""Modules and functions: what stands around the regions."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from tmigrate.locations import Location
from tmigrate.tilelang.ir.expressions import NamedConst, Var
from tmigrate.tilelang.ir.statements import Region
from tmigrate.tilelang.ir.types import VOID, ArrayType, Space, StructDefinition, Type


class FunctionKind(Enum):
    """What a function is; the value is its decorator in the text form."""

    KERNEL = "tile_kernel"
    DEVICE = "tile_function"


class Level(Enum):
    """The level of abstraction that a function is written at; the decorator's `level=` argument."""

    THREAD = "thread"
    LOOP = "loop"
    TENSOR = "tensor"


@dataclass(frozen=True, slots=True)
class Function:
    """A kernel or a device function.

    `dimensions` are the symbolic extents (i64) that only shapes bind, in order of first use.
    `symbol` is the mangled name of the CUDA original ("" where there is none): the key under which
    launches and certificates know the kernel.  `doc` is printed as the docstring.
    """

    name: str
    parameters: tuple[Var, ...]
    body: Region
    kind: FunctionKind = FunctionKind.KERNEL
    level: Level = Level.THREAD
    result: Type = VOID
    dimensions: tuple[Var, ...] = ()
    symbol: str = ""
    doc: str = ""
    location: Location | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class GlobalVariable:
    """A `__device__`, `__constant__` or `__managed__` variable, always of array type (a scalar: 1 element).

    `symbol` is its mangled name; the launcher supplies its address.  `initial` holds the flat initial
    values of its scalars in memory order where the source gives them (informative: the original's
    storage is used), else it is empty.
    """

    name: str
    type: ArrayType
    space: Space
    symbol: str = ""
    location: Location | None = field(default=None, compare=False, repr=False)

    @property
    def var(self) -> Var:
        """The variable as functions refer to it."""
        return Var(self.name, self.type)


@dataclass(frozen=True, slots=True)
class Module:
    """One source file's worth of tile IR.  `doc` is its docstring; `source` the original's file name."""

    name: str
    functions: tuple[Function, ...] = ()
    constants: tuple[NamedConst, ...] = ()
    structs: tuple[StructDefinition, ...] = ()
    variables: tuple[GlobalVariable, ...] = ()
    source: str = ""
    doc: str = ""

    def function(self, name: str) -> Function | None:
        """The function of that name, or None."""
        return next((f for f in self.functions if f.name == name), None)

    @property
    def kernels(self) -> tuple[Function, ...]:
        """The kernels, in order."""
        return tuple(f for f in self.functions if f.kind is FunctionKind.KERNEL)

    @property
    def struct_table(self) -> dict[str, StructDefinition]:
        """The module's own structs by name."""
        return {s.name: s for s in self.structs}
