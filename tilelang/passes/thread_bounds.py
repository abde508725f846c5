"""Guards as loop bounds."""

from __future__ import annotations

from tmigrate.tilelang.ir.expressions import Var
from tmigrate.tilelang.ir.statements import For, Region
from tmigrate.tilelang.passes.names import Names


def narrow(loop: For, thread: Var, names: Names) -> Region:
    """The loop over threadIdx.x with its guard as its bound."""
    return (loop,)
