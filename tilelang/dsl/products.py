"""Kernels that are matrix products, on the bundled library's packed micro-kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tmigrate.tilelang.dsl.binding import evaluate
from tmigrate.tilelang.passes.match_product import Operand, Product


def run_product(product: Product, arrays: Mapping[str, Any], values: Mapping[str, int]) -> bool:
    """Compute it; False where the library may not stand for the loops (the caller then runs these).

    It may not where the result overlaps an operand, or where a loop runs past a matrix.
    """
    from tmigrate.tilelang.libs.matrix import matmul

    extents = [evaluate(e, values) for e in (product.m, product.n, product.k)]
    m, n, k = (max(0, e) if e is not None else -1 for e in extents)
    out = arrays[product.c]
    if min(m, n, k) < 0 or m > out.shape[0] or n > out.shape[1]:
        return False
    a, b = _part(product.a, arrays, m, k), _part(product.b, arrays, k, n)
    if a is None or b is None or np.may_share_memory(out, a) or np.may_share_memory(out, b):
        return False
    matmul(a, b, out[:m, :n], 1.0, 1.0 if product.adds else 0.0)
    return True


def _part(operand: Operand, arrays: Mapping[str, Any], rows: int, columns: int) -> Any:
    """The operand's leading `rows` by `columns` part, the right way round; None where it is smaller."""
    whole = arrays[operand.name]
    whole = whole.T if operand.transposed else whole
    return whole[:rows, :columns] if rows <= whole.shape[0] and columns <= whole.shape[1] else None
