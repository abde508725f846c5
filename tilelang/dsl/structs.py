"""Structs as Python objects: NumPy records with the layout of C."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tmigrate.tilelang.dsl.scalars import dtype_of
from tmigrate.tilelang.ir.structs import BUILTIN_STRUCTS, definition_of, size_of
from tmigrate.tilelang.ir.types import (
    ArrayType,
    PointerType,
    ScalarType,
    StructDefinition,
    StructType,
    Type,
)


def numpy_dtype(t: Type, structs: Mapping[str, StructDefinition]) -> np.dtype[Any]:
    """NumPy's dtype for values of a type; a struct's is a record with its offsets and size."""
    if isinstance(t, ScalarType):
        return dtype_of(t)
    if isinstance(t, PointerType):
        return np.dtype(np.uint64)
    if isinstance(t, ArrayType):
        return np.dtype((numpy_dtype(t.element, structs), t.shape))
    if isinstance(t, StructType):
        definition = definition_of(t, structs)
        layout = {
            "names": [f.name for f in definition.fields],
            "formats": [numpy_dtype(f.type, structs) for f in definition.fields],
            "offsets": [f.offset for f in definition.fields],
            "itemsize": size_of(t, structs),
        }
        return np.dtype((np.record, np.dtype(layout)))  # type: ignore[call-overload]
    raise TypeError(f"no array holds {t}")


class StructWord:
    """`float4`: a type in annotations, a value when called."""

    def __init__(self, definition: StructDefinition, structs: Mapping[str, StructDefinition]) -> None:
        self.type: Type = definition.type
        self.definition = definition
        self.dtype = numpy_dtype(definition.type, structs)

    def __call__(self, *values: Any) -> Any:
        """A record; one record as the only argument is copied."""
        if len(values) == 1 and isinstance(values[0], np.void):
            return values[0].copy()
        made = np.zeros(1, self.dtype)
        for member, value in zip(self.definition.fields, values, strict=True):
            made[0][member.name] = value
        return made[0]

    def __repr__(self) -> str:
        return self.definition.name


STRUCT_WORDS: dict[str, StructWord] = {n: StructWord(d, BUILTIN_STRUCTS) for n, d in BUILTIN_STRUCTS.items()}
