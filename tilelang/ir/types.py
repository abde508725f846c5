"""The types of the tile IR: scalars, pointers, arrays, tensors and named structs.

Struct types are nominal (`StructType("float4")`); their fields stand once, in the module's struct table
(or in :data:`tmigrate.tilelang.ir.structs.BUILTIN_STRUCTS`), so that types stay small and may be recursive.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tmigrate.tilelang.ir.expressions import Expr


class ScalarKind(Enum):
    """The arithmetic of a scalar type."""

    BOOL = "bool"
    SIGNED = "signed"
    UNSIGNED = "unsigned"
    FLOAT = "float"


class Space(Enum):
    """Where memory lives; the value is the word in the text form."""

    GENERIC = "generic"
    GLOBAL = "device"
    CONSTANT = "constant"
    MANAGED = "managed"
    SHARED = "shared"
    LOCAL = "local"


@dataclass(frozen=True, slots=True)
class Type:
    """Base of all types."""


@dataclass(frozen=True, slots=True)
class VoidType(Type):
    """No value."""

    def __str__(self) -> str:
        return "void"


@dataclass(frozen=True, slots=True)
class ScalarType(Type):
    """A number of `bits` bits."""

    name: str
    kind: ScalarKind
    bits: int

    def __str__(self) -> str:
        return self.name

    @property
    def is_float(self) -> bool:
        return self.kind is ScalarKind.FLOAT

    @property
    def is_integer(self) -> bool:
        return self.kind in (ScalarKind.SIGNED, ScalarKind.UNSIGNED)

    @property
    def is_signed(self) -> bool:
        return self.kind is ScalarKind.SIGNED

    @property
    def is_bool(self) -> bool:
        return self.kind is ScalarKind.BOOL

    @property
    def bytes(self) -> int:
        return max(1, self.bits // 8)


VOID = VoidType()
B1 = ScalarType("b1", ScalarKind.BOOL, 1)
I8 = ScalarType("i8", ScalarKind.SIGNED, 8)
I16 = ScalarType("i16", ScalarKind.SIGNED, 16)
I32 = ScalarType("i32", ScalarKind.SIGNED, 32)
I64 = ScalarType("i64", ScalarKind.SIGNED, 64)
U8 = ScalarType("u8", ScalarKind.UNSIGNED, 8)
U16 = ScalarType("u16", ScalarKind.UNSIGNED, 16)
U32 = ScalarType("u32", ScalarKind.UNSIGNED, 32)
U64 = ScalarType("u64", ScalarKind.UNSIGNED, 64)
F16 = ScalarType("f16", ScalarKind.FLOAT, 16)
BF16 = ScalarType("bf16", ScalarKind.FLOAT, 16)
F32 = ScalarType("f32", ScalarKind.FLOAT, 32)
F64 = ScalarType("f64", ScalarKind.FLOAT, 64)

SCALARS: dict[str, ScalarType] = {
    t.name: t for t in (B1, I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64)
}

# How a person may write a type; the printer writes the names of SCALARS.
ALIASES: dict[str, ScalarType] = {
    "BOOL": B1, "INT8": I8, "INT16": I16, "INT32": I32, "INT64": I64,
    "UINT8": U8, "UINT16": U16, "UINT32": U32, "UINT64": U64,
    "FP16": F16, "BF16": BF16, "FP32": F32, "FP64": F64,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class PointerType(Type):
    """A pointer to `pointee`; a value is (buffer, byte offset).  `Ptr[f32]`, `Ptr[f32, shared]`."""

    pointee: Type
    space: Space = Space.GENERIC

    def __str__(self) -> str:
        if self.space is Space.GENERIC:
            return f"Ptr[{self.pointee}]"
        return f"Ptr[{self.pointee}, {self.space.value}]"


@dataclass(frozen=True, slots=True)
class ArrayType(Type):
    """A fixed-size array: a local or shared array, a member, a module variable.  `Array[f32, 4, 4]`."""

    element: Type
    shape: tuple[int, ...]

    def __str__(self) -> str:
        return f"Array[{', '.join([str(self.element), *map(str, self.shape)])}]"

    @property
    def count(self) -> int:
        """The number of elements."""
        total = 1
        for extent in self.shape:
            total *= extent
        return total


@dataclass(frozen=True, slots=True)
class TensorType(Type):
    """A dense row-major tensor with symbolic extents.  `Tensor[f32, M, K]`.

    `shape` holds integer expressions over the kernel's scalar parameters, its dimension names and the
    module's constants.  Loop- and tensor-level only.
    """

    element: ScalarType | StructType
    shape: tuple[Expr, ...]

    @property
    def rank(self) -> int:
        return len(self.shape)

    def __str__(self) -> str:
        from tmigrate.tilelang.text.types import print_type

        return print_type(self)


@dataclass(frozen=True, slots=True)
class StructType(Type):
    """A struct, by name."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class StructField:
    """One member: its name, type and byte offset."""

    name: str
    type: Type
    offset: int


@dataclass(frozen=True, slots=True)
class StructDefinition:
    """The layout of a struct: members in order, `size` and `alignment` in bytes."""

    name: str
    fields: tuple[StructField, ...]
    size: int
    alignment: int

    @property
    def type(self) -> StructType:
        return StructType(self.name)

    def field(self, name: str) -> StructField | None:
        """The member of that name, or None."""
        return next((f for f in self.fields if f.name == name), None)


def element_of(t: Type) -> Type:
    """What one full subscript of a pointer, an array or a tensor gives."""
    if isinstance(t, PointerType):
        return t.pointee
    if isinstance(t, ArrayType | TensorType):
        return t.element
    raise TypeError(f"{t} cannot be subscripted")


def is_float(t: Type) -> bool:
    """Whether `t` is a floating-point scalar."""
    return isinstance(t, ScalarType) and t.is_float


def is_integer(t: Type) -> bool:
    """Whether `t` is an integer scalar (b1 is not)."""
    return isinstance(t, ScalarType) and t.is_integer
