"""Text to types; the inverse of :mod:`tmigrate.tilelang.text.types`."""

from __future__ import annotations

import ast

from tmigrate.tilelang.ir.expressions import Expr
from tmigrate.tilelang.ir.structs import BUILTIN_STRUCTS
from tmigrate.tilelang.ir.types import (
    ALIASES,
    SCALARS,
    VOID,
    ArrayType,
    PointerType,
    ScalarType,
    Space,
    StructType,
    TensorType,
    Type,
)
from tmigrate.tilelang.text.scope import Scope


def named_type(name: str, scope: Scope) -> Type | None:
    """The scalar or struct type of that name, or None."""
    scalar = SCALARS.get(name) or ALIASES.get(name)
    if scalar is not None:
        return scalar
    if name in scope.struct_names or name in BUILTIN_STRUCTS:
        return StructType(name)
    return VOID if name == "void" else None


def is_type_text(it: ast.expr, scope: Scope) -> bool:
    """Whether an expression names a type: `f32`, `Ptr[f32]`, `float4`."""
    if isinstance(it, ast.Name):
        return named_type(it.id, scope) is not None
    return (
        isinstance(it, ast.Subscript)
        and isinstance(it.value, ast.Name)
        and it.value.id in ("Ptr", "Array", "Tensor")
    )


def is_open(it: ast.expr, scope: Scope) -> bool:
    """Whether a tensor type leaves something to be bound: `Tensor[M, K]`, `Tensor[f32]`."""
    if not (isinstance(it, ast.Subscript) and isinstance(it.value, ast.Name) and it.value.id == "Tensor"):
        return False
    arguments = it.slice.elts if isinstance(it.slice, ast.Tuple) else [it.slice]
    return len(arguments) == 1 or not is_type_text(arguments[0], scope)


def parse_type(it: ast.expr, scope: Scope) -> Type:
    """The type that `it` writes."""
    if isinstance(it, ast.Constant) and isinstance(it.value, str):
        return parse_type(ast.parse(it.value, mode="eval").body, scope)
    if isinstance(it, ast.Name):
        found = named_type(it.id, scope)
        if found is None:
            scope.fail(
                "TM2006", f"`{it.id}` is not a type", it, "use f32, i32, Ptr[f32], Tensor[f32, M, K] ..."
            )
        return found
    if not (isinstance(it, ast.Subscript) and isinstance(it.value, ast.Name)):
        scope.fail("TM2006", f"`{ast.unparse(it)}` is not a type", it)
    arguments = list(it.slice.elts) if isinstance(it.slice, ast.Tuple) else [it.slice]
    kind = it.value.id
    if kind == "Ptr":
        return _pointer(arguments, it, scope)
    if kind == "Array":
        return _array(arguments, it, scope)
    if kind == "Tensor":
        return tensor_type(arguments, it, scope)
    scope.fail("TM2006", f"`{kind}[...]` is not a type", it, "use Ptr, Array or Tensor")


def _pointer(arguments: list[ast.expr], it: ast.expr, scope: Scope) -> Type:
    if len(arguments) > 2:
        scope.fail("TM2006", "a pointer type is Ptr[type] or Ptr[type, space]", it)
    space = parse_space(arguments[1], scope) if len(arguments) == 2 else Space.GENERIC
    return PointerType(parse_type(arguments[0], scope), space)


def parse_space(it: ast.expr, scope: Scope) -> Space:
    """An address space by its word."""
    words = {s.value: s for s in Space}
    if not isinstance(it, ast.Name) or it.id not in words:
        scope.fail(
            "TM2006", f"`{ast.unparse(it)}` is not an address space", it, f"use one of {', '.join(words)}"
        )
    return words[it.id]


def _array(arguments: list[ast.expr], it: ast.expr, scope: Scope) -> Type:
    extents = [static_int(a, scope) for a in arguments[1:]]
    return ArrayType(parse_type(arguments[0], scope), tuple(extents))


def static_int(it: ast.expr, scope: Scope) -> int:
    """An integer known when the text is read: a literal or a module constant."""
    if isinstance(it, ast.Constant) and isinstance(it.value, int) and not isinstance(it.value, bool):
        return it.value
    if isinstance(it, ast.Name) and it.id in scope.constants:
        return int(scope.constants[it.id].value)
    scope.fail("TM2006", f"`{ast.unparse(it)}` is not a constant extent", it, "write a literal")


def tensor_type(arguments: list[ast.expr], it: ast.expr, scope: Scope) -> Type:
    """`Tensor[f32, M, K]`; without an element type it must be bound by the arguments of a call."""
    from tmigrate.tilelang.text.parse_expressions import parse_shape

    if not is_type_text(arguments[0], scope):
        scope.fail(
            "TM2007", "this tensor's element type is not known here", it,
            "write Tensor[FP32, M, K], or let the arguments of a call bind it",
        )  # fmt: skip
    element = parse_type(arguments[0], scope)
    if not isinstance(element, ScalarType | StructType):
        scope.fail("TM2006", f"a tensor cannot hold {element}", arguments[0])
    if len(arguments) == 1:
        scope.fail(
            "TM2007", "this tensor's shape is not known here", it,
            "write its extents, or let the arguments of a call bind them",
        )  # fmt: skip
    shape: list[Expr] = [parse_shape(a, scope) for a in arguments[1:]]
    return TensorType(element, tuple(shape))
