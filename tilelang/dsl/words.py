"""Every name that a kernel file may import from `tmigrate.tilelang`, and what it is in plain Python."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tmigrate.tilelang.dsl.operations import OPERATION_WORDS, Place
from tmigrate.tilelang.dsl.scalars import SCALAR_WORDS, ScalarWord, convert, scalar_type_of
from tmigrate.tilelang.dsl.structs import STRUCT_WORDS, StructWord
from tmigrate.tilelang.ir.expressions import LaunchIndexKind
from tmigrate.tilelang.ir.tensor_table import tensor_operations
from tmigrate.tilelang.ir.types import I32, I64, ScalarType, Space


class Dimension:
    """A symbolic extent, as `M` of `M, K = dims("M K")`; a kernel's arguments bind it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


def dims(names: str) -> Any:
    """Declare dimension names: `M, N = dims("M N")`."""
    made = tuple(Dimension(name) for name in names.replace(",", " ").split())
    return made[0] if len(made) == 1 else made


class Annotation:
    """`Tensor[f32, M, K]`, `Ptr[f32]`, `Array[f32, 4]`: kept as written; kernels read the text."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getitem__(self, arguments: Any) -> Annotation:
        return self

    def __call__(self, value: Any = 0) -> Any:
        raise TypeError(f"{self.name}(...) works inside kernels only")

    def __repr__(self) -> str:
        return self.name


class Address:
    """An address space: a word in types, and (for some) a function that declares storage."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, element: Any, *shape: int, symbol: str = "") -> np.ndarray[Any, Any]:
        """Storage of that type and shape, all zero."""
        return storage(element, shape)

    def __repr__(self) -> str:
        return self.name


def storage(element: Any, shape: tuple[Any, ...]) -> np.ndarray[Any, Any]:
    """An array of zeros."""
    extents = tuple(int(n) for n in shape)
    if isinstance(element, StructWord):
        return np.zeros(extents, element.dtype)
    assert isinstance(element, ScalarWord)
    return np.zeros(extents, np.dtype(type(element(0))))


def allocate(element: Any, *shape: Any) -> np.ndarray[Any, Any]:
    """A tensor of zeros: `allocate(f32, M, N)`."""
    return storage(element, shape)


def array(element: Any, shape: list[int], *values: Any) -> np.ndarray[Any, Any]:
    """An initial value for an array; missing tail elements are zero."""
    made = storage(element, tuple(shape))
    made.reshape(-1)[: len(values)] = values
    return made


class LaunchWord:
    """`threadIdx` and its kin: they have values only inside a launch."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, axis: str) -> Any:
        raise AttributeError(f"{self.__dict__.get('name')}.{axis} has a value only inside a launch")


class Step:
    """`with step:`, the step region of a `while`."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, *details: object) -> None:
        return None


def typed_range(*bounds: Any) -> Iterator[Any]:
    """`range`, giving NumPy scalars of the bounds' type (i32 for bare numbers)."""
    t = next((found for found in map(scalar_type_of, bounds) if found is not None), I32)
    return range_of(t, *bounds)


def range_of(t: ScalarType, *bounds: Any) -> Iterator[Any]:
    """`range` of a given type."""
    for i in range(*(int(b) for b in bounds)):
        yield convert(t, i)


def parallel(iterations: Any) -> Any:
    """Iterations that are independent; plain Python runs them in order."""
    return iterations


def parallel_for(*bounds: Any) -> Any:
    """`parallel(range(...))`."""
    return typed_range(*(convert(I64, b) if isinstance(b, int) else b for b in bounds))


def address(place: Any, space: Any = None) -> Any:
    """The address of a place; inside kernels only (plain Python sees a :class:`Place`)."""
    if isinstance(place, Place):
        return place
    raise TypeError("address(...) works inside kernels only")


def assume(condition: Any) -> None:
    """A precondition of a lifted kernel, checked at each launch."""


def cover(point: int) -> None:
    """A coverage mark."""


def at(offset: int) -> int:
    """The byte offset of a struct's member."""
    return offset


def prod(values: Any) -> Any:
    """The product of the values."""
    found = None
    for value in values:
        found = value if found is None else found * value
    return 1 if found is None else found


FOLDS: dict[str, Any] = {"sum": sum, "prod": prod, "max": max, "min": min, "any": any, "all": all}


def map_reduce(function: Any, values: Any, op: str = "sum") -> Any:
    """The reduction `op` of `function` over the values of a range."""
    return FOLDS[op](function(value) for value in values)


def _tensor_word(name: str) -> Any:
    def call(*arguments: Any, **options: Any) -> Any:
        raise TypeError(f"{name}(...) on whole tensors works inside kernels only")

    call.__name__ = name
    return call


def all_words() -> dict[str, Any]:
    """Every name of the DSL; decorators come from `kernel`, which builds on this module."""
    from tmigrate.tilelang.dsl import decorators

    launch = {kind.value: LaunchWord(kind.value) for kind in LaunchIndexKind}
    tensors = {
        name: _tensor_word(name)
        for name in (*tensor_operations(), "matmul")
        if name.isidentifier() and name not in OPERATION_WORDS
    }
    builtins = {"range": range, "sum": sum, "max": max, "min": min, "any": any, "all": all, "abs": abs}
    return {
        **tensors,
        **OPERATION_WORDS,
        **SCALAR_WORDS,
        **STRUCT_WORDS,
        **{s.value: Address(s.value) for s in Space},
        **launch,
        **builtins,
        **{name: Annotation(name) for name in ("Tensor", "Ptr", "Array", "void")},
        "dims": dims, "allocate": allocate, "array": array, "step": Step(), "parallel": parallel,
        "parallel_for": parallel_for, "threads": parallel, "blocks": parallel, "address": address,
        "assume": assume, "cover": cover, "at": at, "prod": prod, "map_reduce": map_reduce,
        "dynamic_shared": _tensor_word("dynamic_shared"),
        "tile_kernel": decorators.tile_kernel,
        "tile_function": decorators.tile_function,
        "tile_struct": decorators.tile_struct,
        "tile_optimize": decorators.tile_optimize,
    }  # fmt: skip
