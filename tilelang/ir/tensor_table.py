"""The table of tensor operations, as the printer, the parser and the verifier need it.

The operations themselves stand in :mod:`tmigrate.tilelang.tensors`, one declaration each; that package is
loaded when the first call on whole tensors is met.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tmigrate.tilelang.ir.expressions import Expr
from tmigrate.tilelang.ir.types import Type

if TYPE_CHECKING:
    from tmigrate.tilelang.tensors.operation import TensorOperation


def tensor_operations() -> dict[str, TensorOperation]:
    """All operations on whole tensors by name."""
    from tmigrate.tilelang.tensors import OPERATIONS

    return OPERATIONS


def tensor_result_type(name: str, arguments: Sequence[Expr]) -> Type | str:
    """The type of a call on whole tensors, or a sentence that says why it is wrong."""
    found = tensor_operations().get(name)
    if found is None:
        return "not an operation on whole tensors"
    return found.result_type(arguments)
