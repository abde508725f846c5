"""How types are written: `f32`, `Ptr[f32]`, `Array[f32, 4, 4]`, `Tensor[f32, M, K]`, `float4`."""

from __future__ import annotations

from tmigrate.tilelang.ir.types import ArrayType, PointerType, Space, TensorType, Type


def print_type(t: Type) -> str:
    """The text of a type."""
    return "".join(type_words(t))


def type_words(t: Type) -> list[str]:
    """The text of a type in pieces, so that a printer can see which DSL names occur."""
    if isinstance(t, PointerType):
        space = [] if t.space is Space.GENERIC else [", ", t.space.value]
        return ["Ptr", "[", *type_words(t.pointee), *space, "]"]
    if isinstance(t, ArrayType):
        extents = [piece for extent in t.shape for piece in (", ", str(extent))]
        return ["Array", "[", *type_words(t.element), *extents, "]"]
    if isinstance(t, TensorType):
        from tmigrate.tilelang.text.expressions import print_expr

        shape = [piece for extent in t.shape for piece in (", ", print_expr(extent))]
        return ["Tensor", "[", *type_words(t.element), *shape, "]"]
    return [str(t)]
