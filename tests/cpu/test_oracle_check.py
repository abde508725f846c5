"""Faults planted in originals are reported with line, block and thread; clean programs are not."""

# ruff: noqa: E501  (CUDA sources stand inline)

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tmigrate.oracle import Report, RunResult, build, run

FAULTS = r"""
#include <cstdio>
#include <cstring>
__global__ void race_in_block(float *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    a[i] = a[i] + 1;                                        // LINE race_in_block
}
__global__ void missing_barrier(float *a) {
  __shared__ float s[64];
  s[threadIdx.x] = threadIdx.x;
  a[threadIdx.x] = s[63 - threadIdx.x];                     // LINE missing_barrier
}
__global__ void race_of_blocks(int *a) {
  a[0] = blockIdx.x;                                        // LINE race_of_blocks
}
__global__ void missing_syncwarp(int *a) {
  __shared__ int s[32];
  s[threadIdx.x] = threadIdx.x;
  a[threadIdx.x] = s[31 - threadIdx.x];                     // LINE missing_syncwarp
}
__global__ void uninitialised(float *a, float *b) {
  b[threadIdx.x] = a[threadIdx.x];                          // LINE uninitialised
}
__global__ void shared_bounds(int *a) {
  extern __shared__ int s[];
  s[threadIdx.x] = 1;                                       // LINE shared_bounds
}
__global__ void plain_and_atomic(int *a) {
  if (threadIdx.x == 0) atomicAdd(a, 1);
  else if (threadIdx.x == 40) a[0] = 5;                     // LINE plain_and_atomic
}
__global__ void bytes(unsigned char *a) {
  a[threadIdx.x / 2] = 1;                                   // LINE bytes
}
__device__ int last_value[4];
__global__ void variable_bounds(int *a) {
  last_value[threadIdx.x + a[0]] = 1;                       // LINE variable_bounds
}
__global__ void beyond(float *a, int n) {
  if (threadIdx.x <= n)
    a[threadIdx.x] = 2;                                     // LINE beyond
}
int main(int argc, char **argv) {
  void *p, *fresh; cudaMalloc(&p, 256); cudaMalloc(&fresh, 256); cudaMemset(p, 0, 256);
  const char *w = argv[1];
  if (!strcmp(w, "race_in_block")) race_in_block<<<1, dim3(32, 2)>>>((float *)p, 32);
  if (!strcmp(w, "missing_barrier")) missing_barrier<<<1, 64>>>((float *)p);
  if (!strcmp(w, "race_of_blocks")) race_of_blocks<<<3, 1>>>((int *)p);
  if (!strcmp(w, "missing_syncwarp")) missing_syncwarp<<<1, 32>>>((int *)p);
  if (!strcmp(w, "uninitialised")) uninitialised<<<1, 64>>>((float *)fresh, (float *)p);
  if (!strcmp(w, "shared_bounds")) shared_bounds<<<1, 33, 128>>>((int *)p);
  if (!strcmp(w, "plain_and_atomic")) plain_and_atomic<<<1, 64>>>((int *)p);
  if (!strcmp(w, "bytes")) bytes<<<1, 64>>>((unsigned char *)p);
  if (!strcmp(w, "variable_bounds")) variable_bounds<<<1, 5>>>((int *)p);
  if (!strcmp(w, "beyond")) beyond<<<1, 65>>>((float *)p, 64);
}
"""

CLEAN = r"""
#include <cstdio>
__device__ unsigned int count;
__global__ void tree(const float *in, float *out, int n) {
  __shared__ float s[64];
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  s[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int k = 32; k > 0; k /= 2) { if (t < k) s[t] += s[t + k]; __syncthreads(); }
  if (t == 0) out[blockIdx.x] = s[0];
}
__global__ void through_warp(float *out) {
  __shared__ float s[64];
  s[threadIdx.x] = threadIdx.x;
  __syncwarp();
  float v = s[threadIdx.x ^ 1];
  for (int k = 16; k; k /= 2) v += __shfl_down_sync(~0u, v, k);
  s[threadIdx.x] = v;
  __syncwarp();
  if (threadIdx.x % 32 == 1) out[blockIdx.x * 2 + threadIdx.x / 32] = s[threadIdx.x - 1];
}
__global__ void last_block(float *parts, float *sum) {
  __shared__ bool last;
  parts[blockIdx.x] = blockIdx.x;
  __threadfence();
  if (threadIdx.x == 0) last = atomicAdd(&count, 1) == gridDim.x - 1;
  __syncthreads();
  if (last && threadIdx.x == 0) { float s = 0; for (int i = 0; i < gridDim.x; i++) s += parts[i]; *sum = s; }
}
__global__ void neighbours(char *a) { a[threadIdx.x] = (char)threadIdx.x; }
struct Pair { char tag; double value; };
__global__ void copies(Pair *a) { Pair p; p.tag = 1; p.value = threadIdx.x; a[threadIdx.x] = p; Pair q = a[threadIdx.x]; a[threadIdx.x].value = q.value + 1; }
int main() {
  float *a, *b, *c; Pair *p; cudaMalloc(&a, 4000); cudaMalloc(&b, 4000); cudaMalloc(&c, 4000); cudaMalloc(&p, 4000);
  cudaMemset(a, 0, 500 * 4);
  tree<<<8, 64>>>(a, b, 500); through_warp<<<2, 64>>>(b); last_block<<<5, 1>>>(b, c);
  neighbours<<<1, 64>>>((char *)c); copies<<<1, 64>>>(p);
  printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
"""


def line_of(source: str, mark: str) -> int:
    return next(i for i, text in enumerate(source.splitlines(), 1) if text.endswith(f"LINE {mark}"))


def kinds(reports: Sequence[Report]) -> set[tuple[str, int]]:
    return {(r.kind, r.place.location.line) for r in reports}


@pytest.fixture(scope="module")
def faults(tmp_path_factory: pytest.TempPathFactory) -> dict[str, RunResult]:
    path = tmp_path_factory.mktemp("faults") / "faults.cu"
    path.write_text(FAULTS)
    built = build(path, mode="check")
    names = [line.rsplit(" ", 1)[1] for line in FAULTS.splitlines() if " LINE " in line]
    return {name: run(built, [name]) for name in names}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("race_in_block", "race"),
        ("missing_barrier", "uninitialised"),
        ("missing_barrier", "race"),
        ("race_of_blocks", "race"),
        ("missing_syncwarp", "race"),
        ("uninitialised", "uninitialised"),
        ("shared_bounds", "bounds"),
        ("plain_and_atomic", "race"),
        ("bytes", "race"),
        ("variable_bounds", "bounds"),
        ("beyond", "bounds"),
    ],
)
def test_planted_fault_is_found_at_its_line(faults: dict[str, RunResult], name: str, kind: str) -> None:
    assert (kind, line_of(FAULTS, name)) in kinds(faults[name].reports), faults[name]


def test_race_names_both_threads(faults: dict[str, RunResult]) -> None:
    found = next(r for r in faults["race_in_block"].reports if r.kind == "race")
    assert found.other is not None
    assert {found.place.thread, found.other.thread} == {(0, 1, 0), (0, 0, 0)}
    assert found.other.location.line == line_of(FAULTS, "race_in_block")
    blocks = next(r for r in faults["race_of_blocks"].reports)
    assert blocks.other is not None and blocks.place.block != blocks.other.block
    assert blocks.count == 2


def test_clean_program_has_no_report(tmp_path: Path) -> None:
    path = tmp_path / "clean.cu"
    path.write_text(CLEAN)
    result = run(build(path, mode="check"))
    assert (result.stdout, result.reports) == ("cudaSuccess\n", ()), result.reports


BARRIERS = r"""
#include <cstdio>
#include <cstring>
#include <cassert>
__device__ int lock;
__global__ void divergent(int *a) {
  if (threadIdx.x < 32) __syncthreads();                    // first
  else __syncthreads();                                     // LINE divergent
}
__global__ void same_line(int *a) {
  for (int i = 0; i < 4; i++) { __syncthreads(); if (a[0]) return; }
}
__global__ void wrong_lane(int *a) {
  if (threadIdx.x < 16)
    a[threadIdx.x] = __shfl_sync(0xffffu, threadIdx.x, 20); // LINE wrong_lane
}
__global__ void wrong_width(int *a) {
  a[threadIdx.x] = __shfl_down_sync(~0u, a[0], 1, 33);      // LINE wrong_width
}
__global__ void absent_lanes(int *a) {
  if (threadIdx.x < 16)
    a[0] = __shfl_down_sync(~0u, threadIdx.x, 1);           // LINE absent_lanes
  __syncthreads();
}
__global__ void unnamed_lane(int *a) {
  __syncwarp(1u);                                           // LINE unnamed_lane
}
__global__ void spins(int *a) {
  while (atomicCAS(&lock, 0, 1) != 0) ;                     // LINE spins
}
__global__ void asserts(int *a) {
  assert(threadIdx.x != 3);                                 // LINE asserts
}
__global__ void overrun(int *a) {
  a[threadIdx.x + 1000000] = 1;                             // LINE overrun
}
__global__ void freed(int *a) {
  a[threadIdx.x] = 1;                                       // LINE freed
}
__global__ void padding(int *a) { a[3] = 1; }
__global__ void inner(int *a) {}
__global__ void outer(int *a) {
  inner<<<1, 1>>>(a);                                       // LINE outer
}
int main(int argc, char **argv) {
  int *p, *q; cudaMalloc(&p, 256); cudaMemset(p, 0, 256); cudaMalloc(&q, 12);
  const char *w = argv[1];
  if (!strcmp(w, "divergent")) divergent<<<1, 64>>>(p);
  if (!strcmp(w, "same_line")) same_line<<<1, 64>>>(p);
  if (!strcmp(w, "wrong_lane")) wrong_lane<<<1, 32>>>(p);
  if (!strcmp(w, "wrong_width")) wrong_width<<<1, 32>>>(p);
  if (!strcmp(w, "absent_lanes")) absent_lanes<<<1, 32>>>(p);
  if (!strcmp(w, "unnamed_lane")) unnamed_lane<<<1, 2>>>(p);
  if (!strcmp(w, "spins")) spins<<<1, 2>>>(p);
  if (!strcmp(w, "asserts")) asserts<<<2, 8>>>(p);
  if (!strcmp(w, "overrun")) overrun<<<1, 1>>>(p);
  if (!strcmp(w, "freed")) { cudaFree(p); freed<<<1, 1>>>(p); }
  if (!strcmp(w, "padding")) padding<<<1, 1>>>(q);
  if (!strcmp(w, "outer")) outer<<<1, 1>>>(p);
  printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
"""


@pytest.fixture(scope="module")
def barriers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, RunResult]:
    path = tmp_path_factory.mktemp("barriers") / "barriers.cu"
    path.write_text(BARRIERS)
    built = build(path)
    names = [line.rsplit(" ", 1)[1] for line in BARRIERS.splitlines() if " LINE " in line]
    return {name: run(built, [name]) for name in [*names, "same_line", "padding"]}


@pytest.mark.parametrize(
    ("name", "kind", "error"),
    [
        ("divergent", "barrier", "cudaSuccess"),
        ("wrong_lane", "lane", "cudaSuccess"),
        ("wrong_width", "lane", "cudaSuccess"),
        ("absent_lanes", "mask", "cudaSuccess"),
        ("absent_lanes", "lane", "cudaSuccess"),
        ("unnamed_lane", "mask", "cudaSuccess"),
        ("spins", "deadlock", "cudaErrorLaunchTimeout"),
        ("overrun", "bounds", "cudaErrorIllegalAddress"),
        ("freed", "bounds", "cudaErrorIllegalAddress"),
        ("outer", "launch", "cudaErrorNotSupported"),
        ("asserts", "assert", "cudaErrorAssert"),
    ],
)
def test_rules_that_are_always_checked(
    barriers: dict[str, RunResult], name: str, kind: str, error: str
) -> None:
    result = barriers[name]
    assert (kind, line_of(BARRIERS, name)) in kinds(result.reports), result
    assert result.stdout == error + "\n"


def test_barrier_of_one_line_is_one_barrier(barriers: dict[str, RunResult]) -> None:
    assert barriers["same_line"].reports == ()


def test_write_into_padding_is_found_after_the_launch(barriers: dict[str, RunResult]) -> None:
    (found,) = barriers["padding"].reports
    assert found.kind == "bounds" and "offset 12 of an allocation of 12 bytes" in found.message


def test_assert_names_block_and_thread(barriers: dict[str, RunResult]) -> None:
    (found,) = barriers["asserts"].reports
    assert (found.place.block, found.place.thread) == ((0, 0, 0), (3, 0, 0))
    assert "threadIdx.x != 3" in found.message and "Assertion" in barriers["asserts"].stderr
