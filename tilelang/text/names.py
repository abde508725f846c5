"""Names in the text form: which are taken, and how a taken one is changed, reversibly.

>>> to_python("lambda"), to_python("lambda_"), to_python("x")
('lambda_', 'lambda__', 'x')
>>> from_python("lambda_")
'lambda'
"""

from __future__ import annotations

import keyword

from tmigrate.tilelang.ir.expressions import LaunchIndexKind, ReduceOp
from tmigrate.tilelang.ir.intrinsics import INTRINSICS
from tmigrate.tilelang.ir.statements import LoopKind
from tmigrate.tilelang.ir.structs import BUILTIN_STRUCTS
from tmigrate.tilelang.ir.types import ALIASES, SCALARS, Space

# The words of the DSL that are neither types nor intrinsics.
WORDS = frozenset(
    "tile_kernel tile_function tile_struct tile_optimize dims at Ptr Tensor Array void array address bitcast "
    "allocate dynamic_shared parallel parallel_for map_reduce range step assume cover truncdiv truncrem "
    "True False None".split()
)

RESERVED: frozenset[str] = frozenset(
    {
        *keyword.kwlist,
        *keyword.softkwlist,
        *WORDS,
        *INTRINSICS,
        *SCALARS,
        *ALIASES,
        *BUILTIN_STRUCTS,
        *(s.value for s in Space),
        *(k.value for k in LoopKind),
        *(k.value for k in LaunchIndexKind),
        *(op.value for op in ReduceOp),
    }
) - {"_"}


def to_python(name: str) -> str:
    """A name that the text form can carry: a reserved word gets one more underscore."""
    return f"{name}_" if name.rstrip("_") in RESERVED and name.rstrip("_") else name


def from_python(name: str) -> str:
    """The inverse of :func:`to_python`."""
    if name.endswith("_") and name.rstrip("_") in RESERVED:
        return name[:-1]
    return name


def is_free(name: str) -> bool:
    """Whether a name is an identifier that the DSL does not use itself."""
    return name.isidentifier() and name not in RESERVED
