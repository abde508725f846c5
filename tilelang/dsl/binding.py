"""What a call's arguments say about a kernel's open types, and the values of its dimensions."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from tmigrate.diagnostics import Diagnostic, UsageError
from tmigrate.locations import Location
from tmigrate.tilelang.dsl.arrays import HostArray
from tmigrate.tilelang.dsl.scalars import scalar_type_of
from tmigrate.tilelang.dsl.source import KernelSource
from tmigrate.tilelang.dsl.structs import numpy_dtype
from tmigrate.tilelang.ir.expressions import (
    Binary,
    BinaryOp,
    Cast,
    Const,
    Expr,
    Extent,
    NamedConst,
    Var,
)
from tmigrate.tilelang.ir.module import Function
from tmigrate.tilelang.ir.types import F32, I64, ScalarType, StructDefinition, StructType, TensorType, Type
from tmigrate.tilelang.text.names import to_python
from tmigrate.tilelang.text.parse_expressions import parse_shape
from tmigrate.tilelang.text.parse_types import is_type_text, parse_type
from tmigrate.tilelang.text.scope import Scope

Argument = HostArray | Any


def fail(code: str, message: str, place: Location | None, remedy: str = "") -> NoReturn:
    """Raise a :class:`UsageError`."""
    raise UsageError(Diagnostic(code, message, place, remedy=remedy))


@dataclass(frozen=True, slots=True)
class Bound:
    """Types for the parameters that the text leaves open, and the dimensions that name their extents."""

    types: tuple[tuple[str, Type], ...]
    dimensions: tuple[str, ...]


class Binder:
    """Binds the open parameters of one call; equal extents get one name, an extent of 1 is the literal."""

    def __init__(self, source: KernelSource) -> None:
        self.definition, dimensions = source.definition, source.dimensions
        self.scope = Scope(source.file, struct_names=set(source.structs))
        self.scope.declare_dimensions(list(dimensions))
        self.known = tuple(dimensions)
        self.names: dict[int, Var] = {}

    def bind(self, arguments: Sequence[Argument]) -> Bound:
        """The types of open parameters; raises :class:`UsageError` where an argument cannot have one."""
        types: list[tuple[str, Type]] = []
        for a, argument in zip(self.definition.args.args, arguments, strict=True):
            t = self._type(a, argument)
            if t is not None:
                types.append((a.arg, t))
        return Bound(tuple(types), tuple(v.name for v in self.names.values()))

    def _type(self, a: ast.arg, argument: Argument) -> Type | None:
        annotation = a.annotation
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            annotation = ast.parse(annotation.value, mode="eval").body
        if annotation is None:
            return self._free(a, argument)
        is_tensor = isinstance(annotation, ast.Subscript) and isinstance(annotation.value, ast.Name)
        if not is_tensor or annotation.value.id != "Tensor":  # type: ignore[attr-defined]
            return None
        assert isinstance(annotation, ast.Subscript)
        parts = list(annotation.slice.elts) if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
        typed = is_type_text(parts[0], self.scope)
        if typed and len(parts) > 1:
            return None
        array = self._array(a, argument)
        element = parse_type(parts[0], self.scope) if typed else self._element(a, array)
        assert isinstance(element, ScalarType | StructType)
        if typed:
            return TensorType(element, tuple(self._extent(a, n) for n in array.shape))
        if len(parts) != array.ndim:
            fail("TM2060", f"argument `{a.arg}` has {array.ndim} dimensions, the kernel wants {len(parts)}",
                 self.scope.place(a))  # fmt: skip
        return TensorType(element, tuple(parse_shape(p, self.scope) for p in parts))

    def _free(self, a: ast.arg, argument: Argument) -> Type:
        """A parameter without annotation: a tensor or a number, as the argument is."""
        if isinstance(argument, HostArray):
            array = argument.array
            return TensorType(self._element(a, array), tuple(self._extent(a, n) for n in array.shape))
        found = scalar_type_of(argument)
        if found is None:
            found = F32 if isinstance(argument, float) else I64
        return found

    def _array(self, a: ast.arg, argument: Argument) -> np.ndarray[Any, Any]:
        if not isinstance(argument, HostArray):
            fail("TM2060", f"argument `{a.arg}` is {type(argument).__name__}, the kernel wants an array",
                 self.scope.place(a))  # fmt: skip
        return argument.array

    def _element(self, a: ast.arg, array: np.ndarray[Any, Any]) -> ScalarType:
        found = scalar_type_of(array.dtype)
        if found is None:
            fail(
                "TM2060", f"argument `{a.arg}` holds {array.dtype}, which no DSL type is", self.scope.place(a)
            )
        return found

    def _extent(self, a: ast.arg, size: int) -> Expr:
        if size == 1:
            return Const(1, I64)
        if size not in self.names:
            taken = {*self.known, *(v.name for v in self.names.values())}
            name = to_python(f"{a.arg}_{len(self.names)}")
            while name in taken:
                name += "_"
            self.names[size] = Var(name, I64)
        return self.names[size]


def evaluate(e: Expr, values: Mapping[str, int]) -> int | None:
    """The value of an extent, or None while something in it is unknown."""
    if isinstance(e, Const | NamedConst):
        return int(e.value)
    if isinstance(e, Var):
        return values.get(e.name)
    if isinstance(e, Cast):
        return evaluate(e.operand, values)
    if isinstance(e, Extent) and isinstance(e.tensor, Var) and isinstance(e.tensor.type, TensorType):
        return evaluate(e.tensor.type.shape[e.axis], values)
    if isinstance(e, Binary):
        left, right = evaluate(e.left, values), evaluate(e.right, values)
        if left is None or right is None or (right == 0 and e.op in (BinaryOp.FLOOR_DIV, BinaryOp.FLOOR_MOD)):
            return None
        rules = {
            BinaryOp.ADD: lambda: left + right, BinaryOp.SUB: lambda: left - right,
            BinaryOp.MUL: lambda: left * right, BinaryOp.FLOOR_DIV: lambda: left // right,
            BinaryOp.FLOOR_MOD: lambda: left % right,
        }  # fmt: skip
        rule = rules.get(e.op)
        return None if rule is None else rule()
    return None


def dimension_values(function: Function, arguments: Sequence[Argument]) -> dict[str, int]:
    """The dimensions' values from the tensors' shapes, every axis checked.

    Raises :class:`UsageError`: TM2060 for a wrong rank or type, TM2061 for extents that contradict.
    """
    values: dict[str, int] = {}
    origin: dict[str, str] = {}
    for p, argument in zip(function.parameters, arguments, strict=True):
        if not isinstance(argument, HostArray) and isinstance(p.type, ScalarType) and p.type.is_integer:
            values[p.name] = int(argument)
            origin[p.name] = f"argument `{p.name}`"
    tensors = [
        (p, p.type, a.array)
        for p, a in zip(function.parameters, arguments, strict=True)
        if isinstance(p.type, TensorType) and isinstance(a, HostArray)
    ]
    for p, t, array in tensors:
        for axis, (extent, size) in enumerate(zip(t.shape, array.shape, strict=True)):
            if isinstance(extent, Var) and extent.name not in values:
                values[extent.name] = size
                origin[extent.name] = f"axis {axis} of `{p.name}`"
    for p, t, array in tensors:
        for axis, (extent, size) in enumerate(zip(t.shape, array.shape, strict=True)):
            wanted = evaluate(extent, values)
            if wanted != size:
                _contradiction(function, p.name, axis, extent, size, wanted, origin)
    return values


def _contradiction(
    function: Function,
    name: str,
    axis: int,
    extent: Expr,
    size: int,
    wanted: int | None,
    origin: Mapping[str, str],
) -> NoReturn:
    from tmigrate.tilelang.text.expressions import print_expr

    text = print_expr(extent, I64)
    because = f" from {origin[extent.name]}" if isinstance(extent, Var) and extent.name in origin else ""
    message = f"argument `{name}`, axis {axis}: {text} is {wanted}{because}, the array has {size}"
    if text == str(wanted):
        message = f"argument `{name}`, axis {axis}: the kernel wants {wanted}, the array has {size}"
    fail("TM2061", message, function.location)


def check_array(
    function: Function, name: str, t: TensorType, array: np.ndarray[Any, Any],
    structs: Mapping[str, StructDefinition],
) -> None:  # fmt: skip
    """The array's rank and element type are the parameter's."""
    if array.ndim != t.rank:
        fail("TM2060", f"argument `{name}` has {array.ndim} dimensions, the kernel wants {t.rank}",
             function.location)  # fmt: skip
    wanted = numpy_dtype(t.element, structs)
    if array.dtype != wanted and np.dtype(array.dtype.descr if array.dtype.names else array.dtype) != wanted:
        fail("TM2060", f"argument `{name}` holds {array.dtype}, the kernel wants {t.element}",
             function.location, f"pass {name}.astype(...)")  # fmt: skip
