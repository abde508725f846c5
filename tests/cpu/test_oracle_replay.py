"""Replay and run mode with converted kernels written by hand in C: right ones, wrong ones, crashing ones."""

# ruff: noqa: E501  (CUDA sources stand inline)

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tmigrate import tilelang
from tmigrate.oracle import Built, build, run
from tmigrate.tilelang.runtime.toolchain import find_compilers, run_compiler

ABI = Path(str(tilelang.__file__)).parent / "targets" / "cpu" / "runtime"

PROGRAM = r"""
#include <cstdio>
__device__ int counter;
__constant__ const float shift = 0.25f;
extern "C" __device__ float helper(float x) { return x * 2; }
__global__ void k(float *p, int n, float s) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { p[i] = helper(p[i]) + s; atomicAdd(&counter, 1); printf("t %d\n", i); }
}
__global__ void order(int *p) { atomicExch(p, (int)threadIdx.x); p[1] = 7; }
int main() {
  float *p; cudaMalloc(&p, 40); cudaMemset(p, 0, 40);
  for (int i = 0; i < 6; i++) k<<<3, 4>>>(p, 10, 0.1f);
  int *q; cudaMallocManaged(&q, 8); order<<<1, 4>>>(q);
  float h[10]; int c; cudaMemcpy(h, p, 40, cudaMemcpyDeviceToHost); cudaMemcpyFromSymbol(&c, counter, 4);
  fprintf(stderr, "%g %d %d %s\n", h[3], c, q[1], cudaGetErrorName(cudaGetLastError()));
}
"""

CONVERTED = r"""
#include "tm_abi.h"
#include <math.h>
#define EXPORT __attribute__((visibility("default")))
EXPORT float helper(float x) { return x * HELPER; }
static void body(const tm_launch *l, void *const *a, int print) {
  float *p = *(float **)a[0]; int n = *(int *)a[1]; float s = *(float *)a[2]; int *c = l->globals[0];
  if (l->coverage) l->coverage[0] = 1;
  for (int i = 0; i < (int)(l->grid[0] * l->block[0]); i++)
    if (i < n) {
      p[i] = helper(p[i]) + s;
      ++*c;
      if (print) l->services->print(l->services->context, "t %d\n", i);
      if (l->coverage) l->coverage[1] = 1;
    }
}
EXPORT int right(const tm_launch *l, void *const *a) { body(l, a, 1); return TM_OK; }
EXPORT int silent(const tm_launch *l, void *const *a) { body(l, a, 0); return TM_OK; }
EXPORT int one_off(const tm_launch *l, void *const *a) { body(l, a, 1); (*(float **)a[0])[3] += 1; return TM_OK; }
EXPORT int touches_more(const tm_launch *l, void *const *a) { body(l, a, 1); (*(char **)a[0])[39] ^= 0; *(int *)l->globals[0] += 1; return TM_OK; }
EXPORT int crash(const tm_launch *l, void *const *a) { *(volatile int *)16 = 1; return TM_OK; }
EXPORT int assumption(const tm_launch *l, void *const *a) { return TM_ASSUMPTION_FAILED; }
EXPORT int trap(const tm_launch *l, void *const *a) {
  uint32_t block[3] = {1, 0, 0}, thread[3] = {2, 0, 0};
  l->services->report(l->services->context, TM_REPORT_ASSERT, "no", "k.cu", 5, block, thread);
  return TM_TRAPPED;
}
EXPORT int close(const tm_launch *l, void *const *a) {
  float *p = *(float **)a[0]; body(l, a, 1);
  if (p[0] != floorf(p[0])) p[0] = nextafterf(p[0], 100);
  return TM_OK;
}
EXPORT int far(const tm_launch *l, void *const *a) {
  float *p = *(float **)a[0]; body(l, a, 1);
  if (p[0] != floorf(p[0])) p[0] *= 1.00001f;
  return TM_OK;
}
EXPORT int wrong_on_integers(const tm_launch *l, void *const *a) {
  float *p = *(float **)a[0]; body(l, a, 1);
  if (p[1] == floorf(p[1])) p[1] += 1;
  return TM_OK;
}
EXPORT int last_exchange(const tm_launch *l, void *const *a) { int *p = *(int **)a[0]; p[0] = 2; p[1] = 7; return TM_OK; }
static const tm_shadow_memory *memory;
EXPORT void tm_set_shadow_memory(const tm_shadow_memory *given) { memory = given; }
EXPORT int shadow(const tm_launch *l, void *const *a) {
  float *p = *(float **)a[0]; int n = *(int *)a[1]; float s = *(float *)a[2];
  for (int i = 0; i < n; i++) {
    tm_shadow v;
    if (!memory->load(memory->context, p + i, 4, &v)) v = (tm_shadow){p[i], p[i], 0, 0, 0, 0};
    v.native = (float)(v.native * 2 + s); v.value = v.value * 2 + s; v.error = fabs(v.value) * 6e-8;
    p[i] = (float)v.native;
    memory->store(memory->context, p + i, 4, &v);
    ++*(int *)l->globals[0];
  }
  return TM_OK;
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("replay")
    (path / "program.cu").write_text(PROGRAM)
    (path / "converted.c").write_text(CONVERTED)
    for name, factor in (("converted", "2"), ("wrong_helper", "3")):
        words = [
            "-shared",
            "-fPIC",
            "-O2",
            "-w",
            f"-DHELPER={factor}",
            "-I",
            str(ABI),
            str(path / "converted.c"),
        ]
        done = run_compiler(find_compilers().c, [*words, "-lm", "-o", str(path / f"{name}.so")])
        assert done.returncode == 0, done.stderr
    return path


@pytest.fixture(scope="module")
def program(folder: Path) -> Built:
    return build(folder / "program.cu")


def manifest(
    folder: Path, thread: str, lifted: str = "", library: str = "converted", variable: str = "counter"
) -> Path:
    records = [
        ["tmigrate-manifest", "1"],
        ["object", "o", str(folder / f"{library}.so")],
        ["globals", "o", variable],
        ["kernel", "_Z1kPfif"],
        ["thread", "o", thread],
        *([["lifted", "o", lifted], ["shadow", "o", "shadow"]] if lifted else []),
        ["coverage", "3"],
        ["parameters", "-", "-", "f32"],
        ["integers", "yes"],
        ["kernel", "_Z5orderPi"],
        ["thread", "o", "last_exchange"],
    ]
    path = folder / "manifest.txt"
    path.write_text("".join("\t".join(record) + "\n" for record in records))
    return path


@pytest.fixture
def replay(folder: Path, program: Built) -> Callable[..., list[dict[str, Any]]]:
    def runner(*arguments: str, **options: str) -> list[dict[str, Any]]:
        report = folder / "report.jsonl"
        report.unlink(missing_ok=True)
        environment = {"TMIGRATE_REPLAY": str(manifest(folder, *arguments, **options))}
        result = run(program, environment={**environment, "TMIGRATE_REPLAY_REPORT": str(report)})
        # Whatever the converted kernels did, the program went on from the original's results.
        assert result.stderr == "6.3 60 7 cudaSuccess\n", result.stderr
        assert result.stdout.count("t 9\n") == 6
        return [json.loads(line) for line in report.read_text().splitlines()]

    return runner


def launches(events: list[dict[str, Any]], kernel: str = "_Z1kPfif") -> list[dict[str, Any]]:
    return [e for e in events if e["event"] == "launch" and e["kernel"] == kernel and "variation" not in e]


def test_right_kernel_agrees_and_covers(replay: Callable[..., list[dict[str, Any]]]) -> None:
    events = replay("right", "close")
    found = launches(events)
    assert [e["ordinal"] for e in found] == [0, 1, 2, 3]  # then powers of two: the fourth, the eighth
    assert all(e["thread"]["verdict"] == "equal" and e["thread"]["printed"] == "equal" for e in found)
    assert all(e["lifted"]["verdict"] == "within" and e["lifted"]["max_ulp"] >= 0.5 for e in found)
    assert all(e["integers"]["verdict"] == "equal" for e in found)
    final = next(e for e in events if e["event"] == "kernel" and e["kernel"] == "_Z1kPfif")
    assert (final["launches"], final["coverage"]) == (6, "110")
    assert any(e["event"] == "skip" and e["reason"] == "sampling" for e in events)


def test_schedule_decides_bytes_are_left_out(replay: Callable[..., list[dict[str, Any]]]) -> None:
    (found,) = launches(replay("right"), "_Z5orderPi")
    assert found["schedules"] == 3 and found["schedule_bytes"] == 1
    assert found["thread"]["verdict"] == "equal"


@pytest.mark.parametrize(
    ("thread", "options", "verdict"),
    [
        ("one_off", {}, "differs"),
        ("silent", {}, "differs"),
        ("touches_more", {}, "differs"),
        ("crash", {}, "crashed"),
        ("trap", {}, "trapped"),
        ("nowhere", {}, "missing"),
        ("right", {"library": "wrong_helper"}, "differs"),  # isolation: not replaced by the original's helper
        ("right", {"variable": "nothing"}, "missing"),
        ("right", {"library": "no_such_file"}, "missing"),
    ],
)
def test_wrong_thread_version_is_found(
    replay: Callable[..., list[dict[str, Any]]], thread: str, options: dict[str, str], verdict: str
) -> None:
    found = launches(replay(thread, **options))[1:]  # the first launch sees only zeros
    assert len(found) == 3
    assert all(e["thread"]["verdict"] == verdict and e["lifted"] is None for e in found), found


def test_mismatch_names_the_byte(replay: Callable[..., list[dict[str, Any]]]) -> None:
    mismatch = launches(replay("one_off"))[0]["thread"]["mismatch"]
    assert (mismatch["kind"], mismatch["offset"] // 4, mismatch["size"]) == ("device", 3, 40)
    variable = launches(replay("touches_more"))[0]["thread"]["mismatch"]
    assert (variable["kind"], variable["allocation"], variable["bytes"]) == ("variable", "counter", 1)


@pytest.mark.parametrize(
    ("lifted", "verdict", "integers"),
    [
        ("far", "differs", "equal"),
        ("assumption", "assumption", None),
        ("wrong_on_integers", "equal", "differs"),
        ("crash", "crashed", None),
    ],
)
def test_wrong_lifted_version_is_found(
    replay: Callable[..., list[dict[str, Any]]], lifted: str, verdict: str, integers: str | None
) -> None:
    found = launches(replay("right", lifted))[0]
    assert found["lifted"]["verdict"] == verdict, found
    assert (found["integers"] or {}).get("verdict") == integers, found
    if lifted == "far":
        assert found["lifted"]["max_error_ratio"] > 1 and "allowance" in found["lifted"]["mismatch"]


def test_run_mode_takes_lifted_then_thread_versions(folder: Path) -> None:
    built = build(folder / "program.cu", mode="run")
    counts = folder / "counts.json"
    for thread, lifted, expected in (
        ("right", "close", {"lifted": 6, "thread": 0, "missing": 0}),
        ("right", "assumption", {"lifted": 0, "thread": 6, "missing": 0}),
    ):
        environment = {
            "TMIGRATE_RUN": str(manifest(folder, thread, lifted)),
            "TMIGRATE_RUN_COUNTS": str(counts),
        }
        result = run(built, environment=environment)
        assert result.stderr.startswith("6.3") and " 60 7 cudaSuccess" in result.stderr, result.stderr
        assert result.stdout.count("t 9\n") == 6
        assert json.loads(counts.read_text())["kernels"]["_Z1kPfif"] == expected


def test_run_mode_without_a_version_says_so(folder: Path) -> None:
    result = run(
        build(folder / "program.cu", mode="run"), environment={"TMIGRATE_RUN": str(folder / "none.txt")}
    )
    assert result.status == 2 and "_Z1kPfif is not run" in result.stderr


def test_run_mode_holds_no_kernel_body(folder: Path) -> None:
    source = folder / "secret.cu"
    source.write_text(
        '#include <cstdio>\n__global__ void k() { printf("the-body\\n"); }\nint main() { k<<<1, 1>>>(); }\n'
    )
    assert b"the-body" in build(source).executable.read_bytes()
    executable = build(source, mode="run").executable.read_bytes()
    assert b"the-body" not in executable and b"tm_switch" not in executable


VARIED = r"""
#include <cassert>
#include <cstdio>
__global__ void k(int *p, int n, int mode) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  assert(mode != 0);
  if (i < n) p[i] += mode;
}
int main() {
  int *p; cudaMalloc(&p, 32); cudaMemset(p, 0, 32);
  k<<<2, 4>>>(p, 8, 1);
  int h[8]; cudaMemcpy(h, p, 32, cudaMemcpyDeviceToHost);
  printf("%d %s\n", h[7], cudaGetErrorName(cudaGetLastError()));
}
"""

CONVERTED_VARIED = r"""
#include "tm_abi.h"
#define EXPORT __attribute__((visibility("default")))
static int body(const tm_launch *l, void *const *a, int error) {
  int *p = *(int **)a[0], n = *(int *)a[1], mode = *(int *)a[2];
  for (int i = 0; i < (int)(l->grid[0] * l->block[0]); i++) if (i < n) p[i] += mode + (mode < 0 ? error : 0);
  return TM_OK;
}
EXPORT int right(const tm_launch *l, void *const *a) { return body(l, a, 0); }
EXPORT int wrong(const tm_launch *l, void *const *a) { return body(l, a, 1); }
EXPORT int outside(const tm_launch *l, void *const *a) {
  uint32_t place[3] = {0, 0, 0};
  if (*(int *)a[2] < 0 && l->modes & TM_WATCH)
    l->services->report(l->services->context, TM_REPORT_INDEX, "outside", "k.cu", 5, place, place);
  return body(l, a, 1);
}
"""


@pytest.fixture(scope="module")
def varied(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., dict[str, dict[str, Any]]]:
    """What a version gives in each variation of one launch."""
    folder = tmp_path_factory.mktemp("varied")
    (folder / "varied.cu").write_text(VARIED)
    (folder / "varied.c").write_text(CONVERTED_VARIED)
    words = ["-shared", "-fPIC", "-O1", "-w", "-I", str(ABI), str(folder / "varied.c")]
    done = run_compiler(find_compilers().c, [*words, "-o", str(folder / "varied.so")])
    assert done.returncode == 0, done.stderr
    built = build(folder / "varied.cu")

    def runner(thread: str, watched: str = "yes") -> dict[str, dict[str, Any]]:
        records = [
            ["tmigrate-manifest", "1"],
            ["object", "o", str(folder / "varied.so")],
            ["globals", "o"],
            ["kernel", "_Z1kPiii"],
            ["thread", "o", thread],
            ["coverage", "1"],  # never passed: everything is tried
            ["parameters", "-", "i32", "i32"],
            ["pointees", "i32", "-", "-"],
            ["watched", watched],
        ]
        path, report = folder / "manifest.txt", folder / "report.jsonl"
        path.write_text("".join("\t".join(record) + "\n" for record in records))
        report.unlink(missing_ok=True)
        environment = {"TMIGRATE_REPLAY": str(path), "TMIGRATE_REPLAY_REPORT": str(report)}
        assert run(built, environment=environment).stdout == "1 cudaSuccess\n"
        events = [json.loads(line) for line in report.read_text().splitlines()]
        return {e.get("variation", ""): e for e in events if e["event"] == "launch"}

    return runner


def test_variations_go_on_where_the_original_fails(varied: Callable[..., dict[str, dict[str, Any]]]) -> None:
    """The child that runs them must not go on with the program either (its line would stand twice)."""
    found = varied("right")
    names = list(found)
    assert found["parameter 2 = 0"]["original"] == "failed"
    assert names.index("parameter 2 = 0") < names.index("parameter 2 = 3")
    assert found["parameter 2 = 3"]["thread"]["verdict"] == "equal"


def test_negative_scalars_are_tried_where_accesses_are_watched(
    varied: Callable[..., dict[str, dict[str, Any]]],
) -> None:
    assert varied("right")["parameter 2 = -1"]["thread"]["verdict"] == "equal"
    assert varied("right")["parameter 1 = -8"]["changed_bytes"] == 0
    assert varied("wrong")["parameter 2 = -1"]["thread"]["verdict"] == "differs"
    assert not [name for name in varied("wrong", "no") if "= -" in name]
    found = varied("outside")  # what lies beside an array counts for nothing
    assert "parameter 1 = -1" in found and "parameter 2 = -1" not in found
