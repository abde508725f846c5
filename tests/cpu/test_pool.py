"""The thread pool: every index once, for any number of threads, nested, concurrent and after fork."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from ctypes import c_int64, c_void_p

import numpy as np
import pytest

from tmigrate.tilelang.runtime.pool import (
    Body,
    default_services,
    flush,
    load_pool,
    set_threads,
    thread_count,
)
from tmigrate.tilelang.runtime.toolchain import FAITHFUL_FLAGS, compile_c

# Bodies in C: adds 1 to each of its int64 elements, by itself or through a nested call of the pool.
BODIES = """
#include "tm_abi.h"
typedef struct { const tm_services *services; int64_t *counts; int64_t inner; } work;
#define EXPORT __attribute__((visibility("default")))
EXPORT void count(void *data, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; i++) ((work *)data)->counts[i]++;
}
static void inner(void *data, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; i++) (*(int64_t **)data)[i]++;
}
EXPORT void nested(void *data, int64_t begin, int64_t end) {
  work *w = data;
  for (int64_t i = begin; i < end; i++) {
    int64_t *row = w->counts + i * w->inner;
    w->services->parallel(w->services->context, w->inner, inner, &row);
  }
}
EXPORT void say(const tm_services *services, int value) {
  uint32_t at[3] = {1, 2, 3};
  services->print(services->context, "value %d %s\\n", value, "end");
  services->report(services->context, TM_REPORT_ASSERT, "x > 0", "k.cu", 12, at, at);
}
"""


class Work(ctypes.Structure):
    _fields_ = [("services", c_void_p), ("counts", c_void_p), ("inner", c_int64)]


@pytest.fixture(scope="module")
def bodies() -> ctypes.CDLL:
    return ctypes.CDLL(str(compile_c(BODIES, name="pool_bodies", flags=FAITHFUL_FLAGS)))


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    yield
    set_threads(0)


def run(body: object, counts: np.ndarray, outer: int, inner: int = 1) -> None:
    services = default_services()
    work = Work(ctypes.addressof(services), counts.ctypes.data, inner)
    load_pool().tm_pool_parallel(None, outer, ctypes.cast(body, Body), ctypes.addressof(work))  # type: ignore[arg-type]


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("count", [0, 1, 2, 7, 1000, 100_003])
def test_every_index_is_done_once(bodies: ctypes.CDLL, threads: int, count: int) -> None:
    set_threads(threads)
    counts = np.zeros(count + 1, np.int64)
    for _ in range(20):
        run(bodies.count, counts, count)
    assert (counts[:count] == 20).all() and counts[count] == 0


def test_nested_calls_run_on_the_thread_that_makes_them(bodies: ctypes.CDLL) -> None:
    set_threads(4)
    counts = np.zeros(50 * 40, np.int64)
    run(bodies.nested, counts, 50, 40)
    assert (counts == 1).all()


def test_pieces_of_several_threads_run_at_the_same_time() -> None:
    """Two pieces that wait for each other end only if two threads take them."""
    set_threads(2)
    barrier = threading.Barrier(2)
    seen: set[int] = set()

    def body(data: int, begin: int, end: int) -> None:
        barrier.wait(timeout=30)
        seen.add(threading.get_native_id())

    load_pool().tm_pool_parallel(None, 2, Body(body), None)
    assert len(seen) == 2 and not barrier.broken


def test_a_limit_in_the_services_keeps_to_the_calling_thread() -> None:
    set_threads(4)
    pieces: list[tuple[int, int]] = []
    services = default_services(threads=1)
    services.parallel(services.context, 100, Body(lambda data, begin, end: pieces.append((begin, end))), None)
    assert pieces == [(0, 100)]


def test_calls_from_several_threads_all_finish(bodies: ctypes.CDLL) -> None:
    set_threads(3)
    arrays = [np.zeros(5000, np.int64) for _ in range(4)]

    def repeat(counts: np.ndarray) -> None:
        for _ in range(50):
            run(bodies.count, counts, len(counts))

    callers = [threading.Thread(target=repeat, args=(counts,)) for counts in arrays]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(timeout=60)
    assert all((counts == 50).all() for counts in arrays)


def test_a_forked_child_starts_its_own_workers(bodies: ctypes.CDLL) -> None:
    set_threads(2)
    counts = np.zeros(100, np.int64)
    run(bodies.count, counts, 100)
    child = os.fork()
    if child == 0:  # in the child: two pieces that need two threads, or the alarm ends it
        import signal

        signal.alarm(30)
        barrier = threading.Barrier(2)
        load_pool().tm_pool_parallel(None, 2, Body(lambda data, begin, end: barrier.wait() and None), None)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    run(bodies.count, counts, 100)
    assert (counts == 2).all()


def test_the_default_follows_the_environment() -> None:
    program = "from tmigrate.tilelang.runtime.pool import thread_count; print(thread_count())"
    for asked, expected in (
        ("3", 3),
        ("", len(os.sched_getaffinity(0)) if sys.platform == "linux" else None),
    ):
        environment = {**os.environ, "TMIGRATE_THREADS": asked}
        done = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
        )
        assert expected is None or int(done.stdout) == expected


def test_print_goes_to_stdout_and_report_to_stderr(
    bodies: ctypes.CDLL, capfd: pytest.CaptureFixture[str]
) -> None:
    bodies.say(ctypes.byref(default_services()), 42)
    flush()
    output = capfd.readouterr()
    assert output.out == "value 42 end\n"
    assert output.err == "k.cu:12: block (1,2,3), thread (1,2,3): failed assert: x > 0\n"


def test_setting_and_asking_agree() -> None:
    set_threads(3)
    assert thread_count() == 3
