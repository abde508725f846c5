"""What the CPU back end may be asked for, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from tmigrate.tilelang.passes.coverage import CoveragePoint, PointKind


class Arithmetic(Enum):
    """How floats are computed."""

    NATIVE = "native"  # as the GPU code says
    SHADOW = "shadow"  # natively, and beside it in higher precision with an error bound (tm_shadow.h)


class FloatFunctions(Enum):
    """Where `exp`, `tanh` and their kin come from."""

    LIBRARY = "library"  # the C library's, the same on both sides of a bit-exact comparison
    VECTOR = "vector"  # our polynomials of tm_math.h, which compilers vectorise; for lifted kernels


@dataclass(frozen=True, slots=True)
class EmitOptions:
    """`coverage`: mark every outcome of every branch and every store.  `check_indices`: report accesses
    outside arrays, tensors and known allocations.  `fill_shared`: start each block with shared memory full
    of TM_SHARED_FILL, so that reads of uninitialised shared memory repeat.  `reversible`: a launch may ask
    for blocks and threads in descending order (TM_DESCENDING); not where threads wait for earlier ones.
    `watch`: a launch may ask for a report of every access outside of its array or allocation (TM_WATCH)."""

    arithmetic: Arithmetic = Arithmetic.NATIVE
    coverage: bool = False
    check_indices: bool = False
    fill_shared: bool = False
    reversible: bool = False
    watch: bool = False
    functions: FloatFunctions = FloatFunctions.LIBRARY

    @property
    def is_shadow(self) -> bool:
        """Whether floats carry shadows."""
        return self.arithmetic is Arithmetic.SHADOW


__all__ = ["Arithmetic", "CoveragePoint", "EmitOptions", "FloatFunctions", "PointKind"]
