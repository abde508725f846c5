"""Which type a bare literal takes from its surroundings: one set of rules for printer and parser.

A literal takes the other operand's type; of two literals the left one is written with its type, unless
the surroundings (a declaration, a return type) expect that very type.  An argument that is a literal takes
the parameter's type, else the type of the first argument that is no literal (of its pointee, for pointers).
"""

from __future__ import annotations

from collections.abc import Sequence

from tmigrate.tilelang.ir.module import Function
from tmigrate.tilelang.ir.types import B1, I32, U32, ArrayType, PointerType, Type

# Parameters of intrinsics whose literals have a type of their own: the mask, lane and width of a shuffle.
_SHUFFLE: tuple[Type | None, ...] = (U32, None, I32, I32)
_INTRINSIC_LITERALS: dict[str, tuple[Type | None, ...]] = {
    "shfl_sync": _SHUFFLE,
    "shfl_up_sync": _SHUFFLE,
    "shfl_down_sync": _SHUFFLE,
    "shfl_xor_sync": _SHUFFLE,
    "ballot_sync": (U32, B1),
    "any_sync": (U32, B1),
    "all_sync": (U32, B1),
    "syncwarp": (U32,),
    "ldexp": (None, I32),
    "byte_perm": (U32, U32, U32),
    "syncthreads_count": (I32,),
    "syncthreads_and": (I32,),
    "syncthreads_or": (I32,),
}

# Operations with a string among their arguments: a literal beside it is written with its type.
_TEXTS = frozenset({"printf", "assert_"})


def operand_types(
    left: Type | None, right: Type | None, expected: Type | None, own: Type | None
) -> tuple[Type | None, Type | None]:
    """The types that bare literals take as the two operands of an operator.

    `left`, `right`: the operands' types, None for a literal.  `expected`: what the surroundings want.
    `own`: the left literal's type where two literals meet and the left one is written with its type.
    """
    if left is None and right is None:
        return (expected, expected) if expected is not None else (None, own)
    return right, left


def argument_types(
    callee: str, function: Function | None, arguments: Sequence[Type | None]
) -> list[Type | None]:
    """The types that bare literals take as arguments of a call; None in `arguments` marks a literal."""
    if function is not None:
        declared: list[Type | None] = [p.type for p in function.parameters]
        return declared[: len(arguments)] + [None] * (len(arguments) - len(declared))
    known = next((t for t in arguments if t is not None), None) if callee not in _TEXTS else None
    if isinstance(known, PointerType):
        known = known.pointee
    own = _INTRINSIC_LITERALS.get(callee, ())
    return [(own[i] if i < len(own) else None) or known for i in range(len(arguments))]


def default_address_type(place: Type) -> PointerType:
    """The type of `address(place)`: an array's address is that of its first element."""
    return PointerType(place.element if isinstance(place, ArrayType) else place)
