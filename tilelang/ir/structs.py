"""CUDA's built-in vector types, and sizes of types."""

from __future__ import annotations

from collections.abc import Mapping

from tmigrate.tilelang.ir.types import (
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    ArrayType,
    PointerType,
    ScalarType,
    StructDefinition,
    StructField,
    StructType,
    Type,
)

# Element type, and the alignments of the 1- to 4-lane forms (CUDA C++ Programming Guide).
_VECTORS: dict[str, tuple[ScalarType, tuple[int, int, int, int]]] = {
    "char": (I8, (1, 2, 1, 4)),
    "uchar": (U8, (1, 2, 1, 4)),
    "short": (I16, (2, 4, 2, 8)),
    "ushort": (U16, (2, 4, 2, 8)),
    "int": (I32, (4, 8, 4, 16)),
    "uint": (U32, (4, 8, 4, 16)),
    "long": (I64, (8, 16, 8, 16)),
    "ulong": (U64, (8, 16, 8, 16)),
    "longlong": (I64, (8, 16, 8, 16)),
    "ulonglong": (U64, (8, 16, 8, 16)),
    "float": (F32, (4, 8, 4, 16)),
    "double": (F64, (8, 16, 8, 16)),
}


def _vector(name: str, element: ScalarType, lanes: int, alignment: int) -> StructDefinition:
    width = element.bytes
    members = tuple(StructField("xyzw"[lane], element, lane * width) for lane in range(lanes))
    return StructDefinition(f"{name}{lanes}", members, width * lanes, alignment)


BUILTIN_STRUCTS: dict[str, StructDefinition] = {
    f"{name}{lanes}": _vector(name, element, lanes, alignments[lanes - 1])
    for name, (element, alignments) in _VECTORS.items()
    for lanes in (1, 2, 3, 4)
}
BUILTIN_STRUCTS["dim3"] = StructDefinition(
    "dim3", tuple(StructField("xyz"[i], U32, 4 * i) for i in range(3)), 12, 4
)

Structs = Mapping[str, StructDefinition]


def definition_of(t: StructType, structs: Structs) -> StructDefinition:
    """The definition of a struct type: the module's, else CUDA's own."""
    found = structs.get(t.name) or BUILTIN_STRUCTS.get(t.name)
    if found is None:
        raise KeyError(f"struct {t.name} is not declared in the module")
    return found


def size_of(t: Type, structs: Structs) -> int:
    """The size of a type in bytes, as in C."""
    if isinstance(t, ScalarType):
        return t.bytes
    if isinstance(t, PointerType):
        return 8
    if isinstance(t, ArrayType):
        return t.count * size_of(t.element, structs)
    if isinstance(t, StructType):
        return definition_of(t, structs).size
    raise TypeError(f"{t} has no size")


def alignment_of(t: Type, structs: Structs) -> int:
    """The alignment of a type in bytes, as in C."""
    if isinstance(t, ArrayType):
        return alignment_of(t.element, structs)
    if isinstance(t, StructType):
        return definition_of(t, structs).alignment
    return size_of(t, structs)
