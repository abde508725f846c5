"""Loops over threads that compilers may turn into vectors: which are told so, and that results stay."""

from __future__ import annotations

import numpy as np
import pytest
from backend_support import both, parse

from tmigrate.tilelang.targets.cpu.build import write_source

PRODUCT = """
@tile_kernel(level="thread")
def k(n: i32, a: Ptr[f32], b: Ptr[f32], c: Ptr[f32]):
    s = shared(f32, 16, 16)
    x: i32 = i32(threadIdx.x)
    y: i32 = i32(threadIdx.y)
    s[y, x] = a[y * 16 + x]
    syncthreads()
    total: f32 = 0.0
    for p in range(0, n):
        total = total + s[y, p] * b[p * 16 + x]
    c[y * 16 + x] = total
"""

# All threads store the same; in a vector of threads, a store to one place must not become one to many.
SAME_PLACE = """
@tile_kernel(level="thread")
def k(n: i32, a: Ptr[f32], b: Ptr[f32], c: Ptr[f32]):
    s = shared(f32, 16, 16)
    x: i32 = i32(threadIdx.x)
    y: i32 = i32(threadIdx.y)
    for p in range(0, n):
        s[p, p] = a[p]
    syncthreads()
    c[y * 16 + x] = s[x, x] + b[x]
"""

OWN_ARRAY = """
@tile_kernel(level="thread")
def k(n: i32, a: Ptr[f32], b: Ptr[f32], c: Ptr[f32]):
    x: i32 = i32(threadIdx.x)
    y: i32 = i32(threadIdx.y)
    own = local(f32, 16)
    for p in range(0, n):
        own[p] = a[p * 16 + x]
    total: f32 = 0.0
    for p in range(0, n):
        total = total + own[n - 1 - p] * b[p]
    c[y * 16 + x] = total
"""


def inner_loops(text: str) -> list[str]:
    """The lines before loops over threads along x that hold a counted loop of `p`."""
    lines = [line.strip() for line in write_source(parse(text)).text.splitlines()]
    starts = [i for i, line in enumerate(lines) if line.startswith("for (") and "_x" in line.split(";")[0]]
    ends = [*starts[1:], len(lines)]
    return [
        lines[i - 1] for i, end in zip(starts, ends, strict=True) if any("v_p++" in x for x in lines[i:end])
    ]


@pytest.mark.parametrize("text", [PRODUCT, SAME_PLACE, OWN_ARRAY])
def test_vectors_of_threads_change_no_result(text: str) -> None:
    a, b = np.arange(256, dtype=np.float32) % 11, np.arange(256, dtype=np.float32) % 7
    both(text, (1,), (16, 16), [16, a, b, np.zeros(256, np.float32)])


def test_rows_of_few_threads_are_told_apart() -> None:
    """A 16 x 16 block gets a version of its own, whose rows gcc would unroll before it makes vectors."""
    assert set(inner_loops(PRODUCT)) == {"TM_INDEPENDENT_FEW"}
    assert set(inner_loops(PRODUCT.replace("16, 16)", "16, 32)"))) == {"TM_INDEPENDENT"}


@pytest.mark.parametrize("text", [SAME_PLACE, OWN_ARRAY])
def test_loops_that_write_memory_are_not_overlapped(text: str) -> None:
    found = inner_loops(text)
    assert found and not any("INDEPENDENT" in line for line in found)
