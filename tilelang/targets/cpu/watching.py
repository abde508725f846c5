"""Thread-level expressions whose accesses are watched: what lies outside of its array or allocation is
reported where the launch asks for it (TM_WATCH in tm_kernel.h), and done all the same.

    tile[y][x] = a[i]     ->     (&tile[0][0])[tm_watch_index(tm_f, y * 17 + x, 272, "k.cu", 12)] =
                                     *(float *)tm_watch_place(tm_f, a, i, 4, "k.cu", 12)

An array is watched as a whole, since programs leave a row and stay in the array on purpose.  A pointer into
an allocation or into dynamic shared memory must stay there.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from tmigrate.tilelang.ir.expressions import (
    AddressOf,
    Call,
    Const,
    Expr,
    NamedConst,
    PointerAdd,
    Subscript,
    type_of,
)
from tmigrate.tilelang.ir.intrinsics import INTRINSICS, Effect
from tmigrate.tilelang.ir.structs import size_of
from tmigrate.tilelang.ir.types import ArrayType, PointerType, TensorType
from tmigrate.tilelang.targets.cpu.expressions import Expressions, place_in_source
from tmigrate.tilelang.targets.cpu.names import c_type, row_pointer


class WatchedExpressions(Expressions):
    """Expressions with a watch around each access."""

    def subscript(self, e: Subscript) -> str:
        """`base[i][j]`, watched where anything can be known of it."""
        t = type_of(e.base)
        if isinstance(t, PointerType):
            return f"(*{self._watched_pointer(e.base, self.value(e.indices[0]), e)})"
        if isinstance(t, ArrayType):
            place = self._watched_index(e.indices, t.shape, e)
            return super().subscript(e) if place is None else f"(&{self._first(e, t)})[{place}]"
        if isinstance(t, TensorType):  # one array a thread
            inner = [int(n.value) for n in t.shape[1:] if isinstance(n, Const)]
            place = self._watched_index(e.indices[1:], inner, e)
            if place is not None:
                thread = self.value(e.indices[0])
                return f"{self.place(e.base)}[(int64_t)({thread}) * {prod(inner)} + {place}]"
        return super().subscript(e)

    def _first(self, e: Subscript, t: ArrayType) -> str:
        return self.place(e.base) + "[0]" * len(t.shape)

    def _watched_index(self, indices: Sequence[Expr], shape: Sequence[int], e: Subscript) -> str | None:
        """The place in an array as one index; None where there is nothing to watch."""
        if not shape or len(indices) != len(shape) or _is_inside(indices, shape):
            return None
        flat = f"(int64_t)({self.value(indices[0])})"
        for index, extent in zip(indices[1:], shape[1:], strict=True):
            flat = f"({flat}) * {extent} + (int64_t)({self.value(index)})"
        return f"tm_watch_index(tm_f, {flat}, {prod(shape)}, {self._whereabouts(e)})"

    def _watched_pointer(self, pointer: Expr, index: str, e: Expr) -> str:
        t = type_of(pointer)
        assert isinstance(t, PointerType)
        size = size_of(t.pointee, self.around.structs)
        while isinstance(pointer, PointerAdd):  # (p + i)[j]: p tells the allocation
            index = f"(int64_t)({self.value(pointer.offset)}) + (int64_t)({index})"
            pointer = pointer.pointer
        where = f"{self.value(pointer)}, {index}, {size}, {self._whereabouts(e)}"
        return row_pointer(t, f"(({c_type(t)})tm_watch_place(tm_f, {where}))")

    def _whereabouts(self, e: Expr) -> str:
        """File and line, as C arguments."""
        return place_in_source(e.location or self.here)

    def address_of(self, e: AddressOf) -> str:
        """The address of a place; one behind the end of an array has one, too."""
        if isinstance(e.place, Subscript) and not isinstance(type_of(e.place), ArrayType | TensorType):
            return f"(&{super().subscript(e.place)})"
        return super().address_of(e)

    def arguments(self, e: Call) -> list[str]:
        """The arguments of a call; an atomic operation accesses what its pointer points to."""
        found = super().arguments(e)
        if e.callee not in INTRINSICS or INTRINSICS[e.callee].effect is not Effect.ATOMIC:
            return found
        pointer, *_ = e.arguments
        if isinstance(pointer, AddressOf) and isinstance(pointer.place, Subscript):
            return [f"(&{self.subscript(pointer.place)})", *found[1:]]
        return [self._watched_pointer(pointer, "0", e), *found[1:]]


def _is_inside(indices: Sequence[Expr], shape: Sequence[int]) -> bool:
    """Whether literal indices are inside an array."""
    return all(
        isinstance(i, Const | NamedConst) and 0 <= i.value < n for i, n in zip(indices, shape, strict=True)
    )
