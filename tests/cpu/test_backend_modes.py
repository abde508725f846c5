"""What objects built for verification can do besides: run backwards, and watch accesses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from backend_support import parse, run_c

from tmigrate.tilelang.targets.cpu.launch import DESCENDING, WATCH
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


# Each access of `y` or of an array below; the access is on line 10.
ACCESSES = {
    "pointer: inside": ("pass", "y[15] = 1", False),
    "pointer: behind": ("pass", "v: i32 = y[i]", True),
    "pointer: before": ("pass", "y[i - 17] = y[0]", True),
    "pointer: an address only": ("pass", "q: Ptr[i32] = y + 16", False),
    "pointer: address of an element": ("pass", "q: Ptr[i32] = address(y[i])", False),
    "pointer: behind a sum": ("pass", "v: i32 = (y + i)[1 - 1]", True),
    "pointer: back from outside": ("pass", "v: i32 = (y + i)[0 - 1]", False),
    "pointer: atomic": ("pass", "atomic_add(address(y[i]), 0)", True),
    "pointer: atomic through a sum": ("pass", "atomic_add(y + i, 0)", True),
    "shared: inside": ("s = shared(i32, 4, 4)", "s[3, 3] = 1", False),
    "shared: another row": ("s = shared(i32, 4, 4)", "s[2, i - 10] = 1", False),
    "shared: behind": ("s = shared(i32, 4, 4)", "v: i32 = s[i - 12, 0]", True),
    "shared: atomic": ("s = shared(i32, 4, 4)", "atomic_add(address(s[3, i - 12]), 0)", True),
    "local: behind": ("s = local(i32, 4)", "v: i32 = s[i - 12]", True),
    "dynamic: inside": ("s = dynamic_shared(i32)", "s[i] = 1", False),
    "dynamic: behind": ("s = dynamic_shared(i32)", "v: i32 = s[i * 2]", True),
}


def watched(declaration: str, access: str, modes: int, after: str = "") -> list[Any]:
    text = f"""
@tile_kernel(level="thread")
def k(i: i32, y: Ptr[i32]):
    {declaration}
    {access}{after}
"""
    y = np.zeros(48, np.int32)[16:]  # what lies around it is not the allocation's
    first = y.ctypes.data

    def extent(address: int) -> int:
        return first + 64 - address if first <= address < first + 64 else (1 << 64) - 1

    outcome = run_c(
        parse(text), (1,), (1,), [16, y], EmitOptions(watch=True), modes=modes, extent=extent, shared=128
    )
    return outcome.reports


@pytest.mark.parametrize("name", ACCESSES)
def test_accesses_outside_are_reported_where_a_launch_asks(name: str) -> None:
    declaration, access, outside = ACCESSES[name]
    reports = watched(declaration, access, WATCH)
    assert [(r.kind, r.line) for r in reports] == ([(3, 10)] if outside else []), reports
    assert watched(declaration, access, 0) == []


def test_arrays_that_live_across_a_barrier_are_watched() -> None:
    """They lie side by side, one a thread: one behind the end is another thread's."""
    after = "\n    syncthreads()\n    y[0] = s[0]"
    assert len(watched("s = local(i32, 4)", "s[i - 12] = 1", WATCH, after)) == 1
    assert watched("s = local(i32, 4)", "s[i - 13] = 1", WATCH, after) == []
