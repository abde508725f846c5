"""The signatures that the generator calls intrinsics with: found by asking each row's own type rule."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tmigrate.tilelang.ir.intrinsics import INTRINSICS, result_type
from tmigrate.tilelang.ir.types import I32, SCALARS, U32, PointerType, Space, Type


@dataclass(frozen=True)
class Signature:
    """One way to call an intrinsic."""

    name: str
    arguments: tuple[Type, ...]
    result: Type

    @property
    def is_pure(self) -> bool:
        return INTRINSICS[self.name].is_pure


def _candidates(arity: int) -> Iterator[tuple[Type, ...]]:
    if arity == 0:
        yield ()
    for t in SCALARS.values():
        pointer = PointerType(t, Space.GENERIC)
        if arity == 1:
            yield (t,)
        elif arity == 2:
            yield from ((t, t), (t, I32), (U32, t), (pointer, t))
        elif arity == 3:
            yield from ((t, t, t), (t, t, U32), (pointer, t, t))
        elif arity == 4:
            yield (U32, t, I32, I32)


def signatures() -> list[Signature]:
    """Every intrinsic that takes no text, with each candidate that its type rule accepts."""
    found: dict[Signature, None] = {}
    for name, row in INTRINSICS.items():
        if name in ("printf", "assert_"):
            continue
        for arguments in _candidates(row.arity[0]):
            result = result_type(name, arguments)
            if not isinstance(result, str):
                found[Signature(name, arguments, result)] = None
    return list(found)


SIGNATURES = signatures()
