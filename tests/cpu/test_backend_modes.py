"""What objects built for verification can do besides: run backwards."""

from __future__ import annotations

import numpy as np
import pytest
from backend_support import parse, run_c

from tmigrate.tilelang.targets.cpu.launch import DESCENDING
from tmigrate.tilelang.targets.cpu.options import EmitOptions

REVERSIBLE = EmitOptions(reversible=True)

LAST_WINS = """
@tile_kernel(level="thread")
def k(n: i32, y: Ptr[i32], last: Ptr[i32]):
    i: i32 = i32(blockIdx.x * blockDim.x + threadIdx.x)
    last[1] = i
    if i < n:
        y[i] = i
        last[0] = i
"""
WITH_BARRIER = """
@tile_kernel(level="thread")
def k(n: i32, y: Ptr[i32], last: Ptr[i32]):
    s = shared(i32, 64)
    t: i32 = i32(threadIdx.y * blockDim.x + threadIdx.x)
    s[t] = t
    last[0] = t
    syncthreads()
    y[i32(blockIdx.x) * 64 + t] = s[63 - t]
    last[1] = i32(blockIdx.x)
"""
WAITS = """
@tile_kernel(level="thread")
def k(n: i32, y: Ptr[i32], last: Ptr[i32]):
    b: i32 = i32(blockIdx.x)
    while last[0] != b:
        pass
    last[0] = b + 1
    last[1] = b
"""


@pytest.mark.parametrize(
    ("text", "block", "up", "down"),
    [
        (LAST_WINS, (64,), [149, 191], [0, 0]),
        (WITH_BARRIER, (8, 8), [63, 2], [0, 0]),
        (WAITS, (1,), [3, 2], [3, 2]),  # blocks wait for earlier ones: they keep their order
    ],
)
def test_a_launch_may_ask_for_descending_order(
    text: str, block: tuple[int, ...], up: list[int], down: list[int]
) -> None:
    results = []
    for modes, expected in ((0, up), (DESCENDING, down)):
        y, last = np.zeros(192, np.int32), np.zeros(2, np.int32)
        outcome = run_c(parse(text), (3,), block, [150, y, last], REVERSIBLE, modes=modes)
        assert outcome.status == 0 and list(last) == expected
        results.append(y)
    np.testing.assert_array_equal(*results)


def test_other_objects_know_one_order() -> None:
    last = np.zeros(2, np.int32)
    run_c(parse(LAST_WINS), (3,), (64,), [150, np.zeros(192, np.int32), last], modes=DESCENDING)
    assert list(last) == [149, 191]
