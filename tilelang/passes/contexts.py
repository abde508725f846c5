"""Arrays with one element per thread of a block, which hold what a thread keeps across a barrier."""

from __future__ import annotations

from collections.abc import Sequence

from tmigrate.tilelang.ir.expressions import (
    Binary,
    BinaryOp,
    Cast,
    Expr,
    LaunchIndex,
    LaunchIndexKind,
    Var,
)
from tmigrate.tilelang.ir.types import I64, ArrayType, TensorType, Type

_SUFFIX = ".threads"
_MEMORY_SUFFIX = ".memory"


def block_threads() -> Expr:
    """`blockDim.x * blockDim.y * blockDim.z`, as i64."""
    x, y, z = (Cast(I64, LaunchIndex(LaunchIndexKind.BLOCK_SIZE, axis)) for axis in range(3))
    return Binary(BinaryOp.MUL, Binary(BinaryOp.MUL, z, y), x)


def context_name(name: str, in_memory: bool) -> str:
    """The name of the array for a variable; one whose address is taken lives in plain memory."""
    return name + (_MEMORY_SUFFIX if in_memory else _SUFFIX)


def context_type(t: Type) -> TensorType:
    """One element per thread; a local array adds its own dimensions."""
    extents: Sequence[int] = t.shape if isinstance(t, ArrayType) else ()
    element = t.element if isinstance(t, ArrayType) else t
    from tmigrate.tilelang.ir.expressions import Const

    shape = (block_threads(), *(Const(extent, I64) for extent in extents))
    return TensorType(element, shape)  # type: ignore[arg-type]  # pointers too, in lowered code only


def is_context(var: Var) -> bool:
    """Whether the variable is such an array, and not in plain memory."""
    return var.name.endswith(_SUFFIX)
