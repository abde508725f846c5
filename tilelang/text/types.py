"""How types are written: `f32`, `Ptr[f32]`, `Array[f32, 4, 4]`, `Tensor[f32, M, K]`, `float4`."""

from __future__ import annotations

from collections.abc import Callable

from tmigrate.tilelang.ir.expressions import Expr
from tmigrate.tilelang.ir.types import I64, ArrayType, PointerType, Space, TensorType, Type


def print_type(t: Type) -> str:
    """The text of a type."""
    from tmigrate.tilelang.text.expressions import print_expr

    return "".join(type_words(t, lambda extent: print_expr(extent, I64)))


def type_words(t: Type, extent_text: Callable[[Expr], str]) -> list[str]:
    """The text of a type in pieces, so that a printer can see which DSL names occur."""
    if isinstance(t, PointerType):
        space = [] if t.space is Space.GENERIC else [", ", t.space.value]
        return ["Ptr", "[", *type_words(t.pointee, extent_text), *space, "]"]
    if isinstance(t, ArrayType):
        extents = [piece for extent in t.shape for piece in (", ", str(extent))]
        return ["Array", "[", *type_words(t.element, extent_text), *extents, "]"]
    if isinstance(t, TensorType):
        shape = [piece for extent in t.shape for piece in (", ", extent_text(extent))]
        return ["Tensor", "[", *type_words(t.element, extent_text), *shape, "]"]
    return [str(t)]
