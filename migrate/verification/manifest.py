"""The manifest that a replayed or regenerated program reads (format: ``oracle/runtime/REPLAY.md``)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

from tmigrate.emission import called_functions
from tmigrate.tilelang.ir.expressions import (
    AddressOf,
    Binary,
    BinaryOp,
    Call,
    Compare,
    Const,
    DynamicShared,
    NamedConst,
    Reduce,
    ReduceOp,
    Subscript,
    type_of,
)
from tmigrate.tilelang.ir.intrinsics import INTRINSICS, Effect
from tmigrate.tilelang.ir.module import Function, Module
from tmigrate.tilelang.ir.node import walk
from tmigrate.tilelang.ir.statements import Allocate
from tmigrate.tilelang.ir.structs import Structs, definition_of, size_of
from tmigrate.tilelang.ir.types import (
    VOID,
    ArrayType,
    PointerType,
    ScalarType,
    Space,
    StructType,
    TensorType,
    Type,
    is_float,
)
from tmigrate.tilelang.passes.effects import root_variable

_MOST_ELEMENTS = 16  # of an array in a struct
_MOST_CONSTANTS = 12


@dataclass(frozen=True, slots=True)
class ObjectEntry:
    """A shared object: its path, and the mangled names of its module's variables in their order."""

    name: str
    path: Path
    variables: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a kernel: the object that holds it and its symbol there."""

    object: str
    symbol: str


@dataclass(frozen=True, slots=True)
class KernelEntry:
    """A kernel of the original by its mangled name, and its converted versions."""

    mangled: str
    thread: Version | None = None
    shadow: Version | None = None
    lifted: Version | None = None
    coverage: int = 0
    parameters: tuple[str, ...] = ()
    pointees: tuple[str, ...] = ()
    integers: bool = False
    any_block: bool = False
    watched: bool = False
    constants: tuple[int, ...] = ()
    thresholds: tuple[float, ...] = ()
    exhaustive: bool = False
    noted: str = ""  # for each coverage byte 1 where it is not required


def name_in_unit(symbol: str, unit: int) -> str:
    """Each source file has its own static kernels and variables: `_ZL1kv` of the third is `_ZL1kv@2`."""
    internal = symbol.startswith("_ZL") or "_GLOBAL__N_" in symbol
    return f"{symbol}@{unit}" if unit and internal else symbol


def write_manifest(path: Path, objects: Sequence[ObjectEntry], kernels: Sequence[KernelEntry]) -> None:
    """Write the manifest to `path`."""
    rows: list[tuple[str, ...]] = [("tmigrate-manifest", "1")]
    for entry in objects:
        rows.append(("object", entry.name, str(entry.path)))
        rows.append(("globals", entry.name, *entry.variables))
    for kernel in kernels:
        rows.extend(_kernel_rows(kernel))
    path.write_text("".join("\t".join(row) + "\n" for row in rows))


def _kernel_rows(kernel: KernelEntry) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [("kernel", kernel.mangled)]
    versions = (("thread", kernel.thread), ("shadow", kernel.shadow), ("lifted", kernel.lifted))
    rows += [(word, v.object, v.symbol) for word, v in versions if v is not None]
    rows.append(("coverage", str(kernel.coverage)))
    if "1" in kernel.noted:
        rows.append(("noted", kernel.noted))
    if kernel.parameters:
        rows.append(("parameters", *kernel.parameters))
        rows.append(("pointees", *kernel.pointees))
    rows.append(("integers", "yes" if kernel.integers else "no"))
    rows.append(("blocks", "any" if kernel.any_block else "same"))
    rows.append(("watched", "yes" if kernel.watched else "no"))
    if kernel.constants:
        rows.append(("constants", *map(str, kernel.constants)))
    if kernel.exhaustive:
        rows.append(("exhaustive", "yes"))
    if kernel.thresholds:
        rows.append(("thresholds", *map(repr, kernel.thresholds)))
    return rows


def parameter_kinds(function: Function, structs: Structs) -> tuple[str, ...]:
    """`f32`, `i32` ... for scalars, `0:i32 4:f32` for a struct of these, `-` for the rest."""
    return tuple(_parameter_kind(p.type, structs) for p in function.parameters)


def _parameter_kind(t: Type, structs: Structs) -> str:
    if isinstance(t, StructType):
        return " ".join(f"{offset}:{kind}" for offset, kind in _leaves(t, 0, structs)) or "-"
    return str(t) if isinstance(t, ScalarType) else "-"


def _leaves(t: Type, offset: int, structs: Structs) -> Iterator[tuple[int, ScalarType]]:
    """The numbers in a value of this type, with their byte offsets."""
    if isinstance(t, StructType):
        for member in definition_of(t, structs).fields:
            yield from _leaves(member.type, offset + member.offset, structs)
    elif isinstance(t, ArrayType):
        for k in range(min(t.count, _MOST_ELEMENTS)):
            yield from _leaves(t.element, offset + k * size_of(t.element, structs), structs)
    elif isinstance(t, ScalarType):
        yield offset, t


def compared_constants(module: Module, kernel: Function) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """What a kernel compares integers and floats with: values that reach both sides of its branches."""
    integers: dict[int, None] = {}
    floats: dict[float, None] = {}
    for function in _reached(module, kernel):
        for it in walk(function.body):
            for side in (it.left, it.right) if isinstance(it, Compare) else ():
                value = side.value if isinstance(side, Const | NamedConst) else None
                if isinstance(value, float) and isfinite(value):
                    floats[value] = None
                elif type(value) is int and 3 < value < 2**31:
                    integers[value] = None
    return tuple(integers)[:_MOST_CONSTANTS], tuple(floats)[:_MOST_CONSTANTS]


def pointee_kinds(function: Function, structs: Structs) -> tuple[str, ...]:
    """The scalar type that each pointer's memory consists of (a float4's is f32), `-` for others."""
    return tuple(_pointee_kind(p.type, structs) for p in function.parameters)


def _pointee_kind(t: Type, structs: Structs) -> str:
    if not isinstance(t, PointerType):
        return "-"
    kinds = set(_scalars(t.pointee, structs))
    return str(kinds.pop()) if len(kinds) == 1 and VOID not in kinds else "-"


def _scalars(t: Type, structs: Structs) -> Iterator[Type]:
    """The types of the scalars that a value of this type consists of."""
    if isinstance(t, StructType):
        for member in definition_of(t, structs).fields:
            yield from _scalars(member.type, structs)
    elif isinstance(t, ArrayType):
        yield from _scalars(t.element, structs)
    elif isinstance(t, ScalarType):
        yield t
    else:
        yield VOID


def works_alone(module: Module, kernel: Function) -> bool:
    """Whether each thread works for itself: no shared memory, no barriers, no lanes.

    Such a kernel may run in blocks of any shape; what it then does wrong, the original does too.
    """
    return not any(_is_joint(it) for function in _reached(module, kernel) for it in walk(function.body))


def is_watched(module: Module, kernel: Function) -> bool:
    """Whether a watched launch shows every access outside of an array: none goes through a pointer into one.

    Only then may scalars be negative that the program keeps at 0 or above: `row = tile[y]; row[x + offset]`
    reads another variable where `offset` is -99, on each side what lies there.
    """
    return not any(_is_array_address(it) for f in _reached(module, kernel) for it in walk(f.body))


def _reached(module: Module, kernel: Function) -> tuple[Function, ...]:
    called = called_functions(module, [kernel])
    return (kernel, *(f for f in module.functions if f.name in called))


def _is_array_address(it: object) -> bool:
    if not isinstance(it, AddressOf) or root_variable(it.place) is None:
        return False
    return isinstance(it.place, Subscript) or isinstance(type_of(it.place), ArrayType | TensorType)


def _is_joint(it: object) -> bool:
    if isinstance(it, Call):
        joint = (Effect.BARRIER, Effect.LANES)
        return it.callee in INTRINSICS and INTRINSICS[it.callee].effect in joint
    return isinstance(it, DynamicShared) or (isinstance(it, Allocate) and it.space is Space.SHARED)


_EXACT = frozenset({BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL})


def exact_on_integers(function: Function) -> bool:
    """Whether floats meet only `+ - *` and comparisons, so that small integers stay exact in any order."""
    return all(_is_exact(it) for it in walk(function.body))


def _is_exact(it: object) -> bool:
    if isinstance(it, Binary) and is_float(it.type):
        return it.op in _EXACT
    if isinstance(it, Call):
        return not any(is_float(t) for t in (it.type, *(type_of(a) for a in it.arguments))) or it.callee in (
            "fabs", "fmin", "fmax", "atomic_add", "atomic_min", "atomic_max", "add_rn", "sub_rn", "mul_rn",
        )  # fmt: skip
    return not (isinstance(it, Reduce) and is_float(it.type) and it.op is ReduceOp.PRODUCT)
