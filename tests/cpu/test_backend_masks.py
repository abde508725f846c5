"""Thread-level kernels under barriers: fission, masks, contexts, against the interpreter."""

from __future__ import annotations

import numpy as np
import pytest
from backend_support import both, parse, run_c

INTS = np.arange(64, dtype=np.int32) * 7 % 23

KERNELS = {
    "tree": """
@tile_kernel(level="thread")
def k(x: Ptr[i32], y: Ptr[i32]):
    s = shared(i32, 16)
    t: i32 = i32(threadIdx.x)
    s[t] = x[i32(blockIdx.x) * 16 + t]
    syncthreads()
    h: i32 = i32(blockDim.x) >> 1
    while h > 0:
        if t < h:
            s[t] = s[t] + s[t + h]
        syncthreads()
        with step:
            h = h >> 1
    if t == 0:
        y[i32(blockIdx.x)] = s[0]
""",
    "early return": """
@tile_kernel(level="thread")
def k(x: Ptr[i32], y: Ptr[i32]):
    s = shared(i32, 16)
    t: i32 = i32(threadIdx.x)
    s[t] = 1
    if x[t] > 11:
        return
    syncthreads()
    s[t] = s[t] + x[t]
    syncthreads()
    y[i32(blockIdx.x) * 16 + t] = s[t] + s[(t + 5) % 16]
""",
    "divergent break": """
@tile_kernel(level="thread")
def k(x: Ptr[i32], y: Ptr[i32]):
    t: i32 = i32(threadIdx.x)
    total: i32 = 0
    for j in range(0, 8):
        v: i32 = shfl_xor_sync(u32(4294967295), x[t] + j, 1, 32)
        if j > 5:
            continue
        total = total + v
        w: i32 = shfl_sync(u32(4294967295), total, j, 16)
        if w > 100000:
            break
        total = total + (w & 3)
    y[i32(blockIdx.x) * 16 + t] = total
""",
    "masked loop": """
@tile_kernel(level="thread")
def k(x: Ptr[i32], y: Ptr[i32]):
    s = shared(i32, 16)
    t: i32 = i32(threadIdx.x)
    n: i32 = x[t]
    if n > 12:
        return
    count: i32 = 0
    for j in range(0, 3):
        s[t] = n + j
        syncthreads()
        if s[t] & 1 == 1:
            continue
        count = count + s[t] * 100
    local_sum: i32 = 0
    for i in range(0, n):
        if i == 7:
            break
        local_sum = local_sum + i
    syncthreads()
    y[i32(blockIdx.x) * 16 + t] = count + local_sum
""",
    "per-thread trip count": """
@tile_kernel(level="thread")
def k(x: Ptr[i32], y: Ptr[i32]):
    t: i32 = i32(threadIdx.x)
    lane: u32 = u32(t)
    count: i32 = x[t] & 3
    total: i32 = 0
    for j in range(0, count):
        own: u32 = u32(1) << lane
        bits: u32 = ballot_sync(own, j < 2)
        total = total + i32(popc(bits)) + j
    y[i32(blockIdx.x) * 16 + t] = total
""",
    "do while": """
@tile_kernel(level="thread")
def k(x: Ptr[i32], y: Ptr[i32]):
    t: i32 = i32(threadIdx.x)
    v: i32 = x[t]
    while True:
        own: u32 = u32(1) << u32(t)
        syncwarp(own)
        v = v // 2
        with step:
            if not v > 0:
                break
    y[i32(blockIdx.x) * 16 + t] = v + 1
""",
    "branch masks": """
@tile_kernel(level="thread")
def k(x: Ptr[i32], y: Ptr[i32]):
    t: i32 = i32(threadIdx.x)
    r: i32 = 0
    a = local(i32, 4)
    a[t & 3] = t
    if t < 8:
        q: i32 = x[t] * 2
        r = shfl_down_sync(u32(255), q, 1, 8)
        a[t & 3] = r
    else:
        r = shfl_up_sync(u32(65280), x[t], 2, 8)
    b: b1 = any_sync(u32(65535), r > 20)
    c: b1 = all_sync(u32(65535), r > -1)
    y[i32(blockIdx.x) * 16 + t] = r + a[t & 3] + (1000 if b else 0) + (5000 if c else 0)
""",
    "joins": """
@tile_kernel(level="thread")
def k(x: Ptr[i32], y: Ptr[i32]):
    t: i32 = i32(threadIdx.x)
    v: i32 = x[t]
    more: i32 = 1
    rounds: i32 = 0
    while more != 0:
        v = v - 3
        rounds = rounds + 1
        more = syncthreads_or(i32(v > 0))
    c: i32 = syncthreads_count(i32(v < -10))
    d: i32 = syncthreads_and(i32(v < 1))
    y[i32(blockIdx.x) * 16 + t] = v + c * 100 + d * 10000 + rounds * 100000
""",
    "device function with barrier": """
@tile_function(level="thread")
def sum_all(v: i32, n: i32) -> i32:
    s = shared(i32, 16)
    t: i32 = i32(threadIdx.x)
    if n < 0:
        return -1
    s[t] = v
    syncthreads()
    total: i32 = 0
    for j in range(0, n):
        if s[j] == 9:
            return total + 1000
        total = total + s[j]
    syncthreads()
    return total


@tile_kernel(level="thread")
def k(x: Ptr[i32], y: Ptr[i32]):
    t: i32 = i32(threadIdx.x)
    a: i32 = sum_all(x[t], 8)
    syncthreads()
    b: i32 = sum_all(x[t] + a, 16)
    y[i32(blockIdx.x) * 16 + t] = a + b
""",
    "changed parameter": """
@tile_function(level="thread")
def bump(p: Ptr[i32]):
    p[0] = p[0] + i32(threadIdx.x)


@tile_kernel(level="thread")
def k(x: Ptr[i32], y: Ptr[i32]):
    n: i32 = 3
    bump(address(n))
    syncthreads()
    bump(address(n))
    x = x + n
    syncthreads()
    y[i32(blockIdx.x) * 16 + i32(threadIdx.x)] = x[0] + n
""",
}


@pytest.mark.parametrize("name", KERNELS)
def test_block_wide_kernel_equals_interpreter(name: str) -> None:
    (_, y) = both(KERNELS[name], (2,), (16,), [INTS, np.full(32, -7, np.int32)])
    assert (y != -7).any()


def test_divergent_barrier_is_reported() -> None:
    text = """
@tile_kernel(level="thread")
def k(y: Ptr[i32]):
    if threadIdx.x < u32(5):
        syncthreads()
    y[i32(threadIdx.x)] = 1
"""
    y = np.zeros(8, np.int32)
    outcome = run_c(parse(text), (1,), (8,), [y])
    assert [(r.kind, r.thread) for r in outcome.reports] == [(2, (5, 0, 0))]
    assert y.all()


def test_absent_lane_is_reported() -> None:
    text = """
@tile_kernel(level="thread")
def k(y: Ptr[i32]):
    t: i32 = i32(threadIdx.x)
    v: i32 = 0
    if t < 20:
        v = shfl_down_sync(u32(4294967295), t, 4, 32)
    y[t] = v
"""
    y = np.zeros(32, np.int32)
    outcome = run_c(parse(text), (1,), (32,), [y])
    assert {r.kind for r in outcome.reports} == {4}
    assert {r.thread[0] for r in outcome.reports} == set(range(20))
    assert list(y[:16]) == list(range(4, 20))


def test_three_dimensional_block_numbers_threads_as_cuda() -> None:
    text = """
@tile_kernel(level="thread")
def k(y: Ptr[i32]):
    t: i32 = i32((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x)
    v: i32 = shfl_up_sync(u32(4294967295), t, 1, 32)
    s = shared(i32, 64)
    s[t] = v
    syncthreads()
    y[t] = s[(t + 1) % 32]
"""
    both(text, (1,), (4, 2, 4), [np.zeros(32, np.int32)])


GUARDS = [
    "t < n", "t <= n", "n > t", "n >= t", "t > n", "t >= n", "t == n", "t != n", "not t < n",
    "t >= 3 and t < n", "t < n and x[t] > 9", "t < n or t == 12", "t + 2147483640 < 0",
    "u32(t) - u32(3) < u32(4)", "-t > -n", "2 * t < n", "t - n < 2", "u32(t + n) < u32(9)",
    "t * 7 > 20 and t < n", "i32(u32(t) + u32(4294967293)) >= n - 5",
]  # fmt: skip


@pytest.mark.parametrize("n", [-1, 0, 6, 100])
def test_guards_as_loop_bounds(n: int) -> None:
    body = "".join(
        f"    if {guard}:\n        y[{place} * 16 + t] = {place} + 1\n    syncthreads()\n"
        for place, guard in enumerate(GUARDS)
    )
    early = "    if not (t < n):\n        return\n    y[i32(u32(t) + u32(4294967295)) + 1] = 99\n"
    head = '@tile_kernel(level="thread")\ndef k(n: i32, x: Ptr[i32], y: Ptr[i32]):\n'
    text = f"{head}    t: i32 = i32(threadIdx.x)\n{body}{early}"
    both(text, (1,), (16,), [n, INTS, np.zeros(16 * len(GUARDS), np.int32)])


def test_indices_that_wrap_inside_a_row() -> None:
    text = """
@tile_kernel(level="thread")
def k(start: i32, count: u32, y: Ptr[i32]):
    i: i32 = start + i32(threadIdx.x)
    j: u32 = count - u32(8) + threadIdx.x
    if i < 0:
        y[i + 2147483647 + 20] = 1
    if j < u32(10):
        y[j + u32(74)] = i
    z: i32 = -i32(threadIdx.x) * 3 + 47
    if z >= 2:
        y[z + 128] = y[z + 128] + 5
"""
    both(text, (1,), (16,), [2**31 - 6, 3, np.zeros(192, np.int32)])


def test_waiting_for_a_later_block_traps_and_for_an_earlier_one_does_not() -> None:
    text = """
@tile_kernel(level="thread")
def k(ahead: i32, flag: Ptr[i32]):
    b: i32 = i32(blockIdx.x)
    if b != 0 or ahead != 0:
        while flag[b - 1 + 2 * ahead] == 0:
            threadfence()
    flag[b] = b + 1
"""
    flag = np.zeros(4, np.int32)
    outcome = run_c(parse(text), (3,), (1,), [0, flag])
    assert outcome.status == 0 and list(flag) == [1, 2, 3, 0]
    outcome = run_c(parse(text), (2,), (1,), [1, np.zeros(4, np.int32)])
    assert outcome.status == 2
    assert [(r.kind, r.block, "later" in r.message) for r in outcome.reports] == [(1, (0, 0, 0), True)]


def test_assertions_end_the_launch_with_the_place() -> None:
    text = """
@tile_function(level="thread")
def half(v: i32) -> i32:
    assert_(v % 2 == 0, "v is even")
    return v // 2


@tile_kernel(level="thread")
def k(y: Ptr[i32]):
    i: i32 = i32(blockIdx.x * blockDim.x + threadIdx.x)
    y[i] = half(i * 2 + i32(i == 5))
"""
    y = np.full(12, -1, np.int32)
    outcome = run_c(parse(text), (3,), (4,), [y])
    assert outcome.status == 2
    (report,) = outcome.reports
    assert (report.message, report.block, report.thread) == ("v is even", (1, 0, 0), (1, 0, 0))
    assert list(y) == [0, 1, 2, 3, 4, *[-1] * 7]
