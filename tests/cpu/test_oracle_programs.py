"""Whole programs under emulation: launches, memory, warps, device variables, errors, limits."""

# ruff: noqa: E501  (CUDA sources stand inline)

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tmigrate.api import convert
from tmigrate.diagnostics import SourceError
from tmigrate.oracle import Limits, RunResult, build, run

Runner = Callable[..., RunResult]


@pytest.fixture
def emulate(tmp_path: Path) -> Runner:
    def runner(
        source: str, *arguments: str, mode: str = "oracle", limits: Limits | None = None, **env: str
    ) -> RunResult:
        path = tmp_path / "program.cu"
        path.write_text(source)
        return run(build(path, mode=mode), arguments, limits, environment=env)

    return runner


LAUNCHES = r"""
#include <cstdio>
#include <vector>
enum Mode { PLAIN, TWICE };
struct Scale { float by; __host__ __device__ float operator()(float x) const { return by * x; } };
template <typename T, typename F> __global__ void apply(T *x, int n, F f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  x[i] = f(x[i]);
}
__global__ void add(float *x, float by = 1.0f) { x[threadIdx.x] += by; }
__global__ void add(int *x, int by) { x[threadIdx.x] += by; }
extern "C" __global__ void named(float *x, int) { x[0] += 1000; }
namespace inner { static __global__ void hidden(float *x) { x[blockIdx.y * gridDim.x + blockIdx.x] -= 1; } }
template <int N> void host_side(float *x) { apply<<<N, 4>>>(x, 7, Scale{2}); }
template <class... T> __global__ void total(int *out, T... parts) { *out = (0 + ... + parts); }
int main() {
  float *x; int *y;
  cudaMalloc(&x, 8 * sizeof(float));
  cudaMallocManaged(&y, 8 * sizeof(int));
  std::vector<float> h(8, 1.0f);
  cudaMemcpy(x, h.data(), 32, cudaMemcpyHostToDevice);
  host_side<2>(x);
  apply<<<dim3(2), dim3(4)>>>(x, 8, [=] __device__ (float v) { return v + 1; });
  add<<<1, 8>>>(x);
  add<<<1, 8>>>(y, 3);
  void (*pointer)(float *, int) = named;
  pointer<<<1, 1>>>(x, NULL);
  inner::hidden<<<dim3(4, 2), 1>>>(x);
  total<<<1, 1>>>(y, 1, 2, 3);
  int by = 7; void *arguments[] = {&y, &by};
  cudaLaunchKernel(static_cast<void (*)(int *, int)>(add), dim3(1), dim3(8), arguments, 0, 0);
  float shift = 0.5f; void *others[] = {&x, &shift};
  cudaLaunchKernel((const void *)static_cast<void (*)(float *, float)>(add), dim3(1), dim3(8), others, 0, 0);
  cudaMemcpy(h.data(), x, 32, cudaMemcpyDeviceToHost);
  printf("%g %g %g %d %d\n", h[0], h[6], h[7], y[0], y[1]);
}
"""


def test_every_form_of_launch(emulate: Runner) -> None:
    result = emulate(LAUNCHES)
    assert (result.status, result.stdout) == (0, "1003.5 3.5 2.5 13 10\n"), result.stderr
    assert result.reports == ()


SHARED = r"""
#include <cstdio>
__device__ int blocks_done;
__constant__ float weights[3] = {1, 2, 4};
template <typename T> __constant__ T table[2];
__managed__ int managed = 5;
namespace space { __device__ double offset = 0.25; }
__global__ void reverse(const float *in, float *out) {
  extern __shared__ float buffer[];
  __shared__ int count[2];
  int t = threadIdx.x;
  if (t < 2) count[t] = t;
  buffer[t] = in[blockIdx.x * 32 + t];
  __syncthreads();
  out[blockIdx.x * 32 + t] = buffer[31 - t] * weights[t % 3] + count[1] + space::offset + table<int>[1];
  if (t == 0) { atomicAdd(&blocks_done, 1); managed += 1; }
}
__global__ void early(int *out, int n) {
  if (threadIdx.x >= n) return;
  int seen = __syncthreads_count(threadIdx.x % 2 == 0);
  out[threadIdx.x] = seen;
}
int main() {
  float *in, *out, h[64]; int *counts, hc[64], extra[2] = {0, 100};
  cudaMalloc(&in, 256); cudaMalloc(&out, 256); cudaMalloc(&counts, 256);
  for (int i = 0; i < 64; i++) h[i] = i;
  cudaMemcpy(in, h, 256, cudaMemcpyHostToDevice);
  cudaMemcpyToSymbol(table<int>, extra, 8);
  reverse<<<2, 32, 32 * sizeof(float)>>>(in, out);
  early<<<1, 64>>>(counts, 37);
  int done; cudaMemcpyFromSymbol(&done, blocks_done, sizeof done);
  cudaMemcpy(h, out, 256, cudaMemcpyDeviceToHost); cudaMemcpy(hc, counts, 256, cudaMemcpyDeviceToHost);
  printf("%g %g %g %d %d %d\n", h[0], h[1], h[63], done, managed, hc[36]);
}
"""


@pytest.mark.parametrize("schedule", ["0", "1", "2"])
def test_shared_memory_barriers_and_device_variables(emulate: Runner, schedule: str) -> None:
    result = emulate(SHARED, TMIGRATE_SCHEDULE=schedule)
    assert (result.status, result.stdout) == (0, "132.25 161.25 165.25 2 7 19\n"), result.stderr


WARPS = r"""
#include <cstdio>
__global__ void warps(int *o) {
  int t = threadIdx.x, v = t;
  o[0 + t] = __shfl_sync(~0u, v, 3, 8);
  o[32 + t] = __shfl_up_sync(~0u, v, 2);
  o[64 + t] = __shfl_down_sync(~0u, v, 4, 16);
  o[96 + t] = __shfl_xor_sync(~0u, v, 5);
  o[128 + t] = __ballot_sync(~0u, t % 3 == 0) + __any_sync(~0u, t == 40) + __all_sync(~0u, t < 32);
  if (t < 16) o[160 + t] = __shfl_sync(0xffffu, v, 15 - t); else o[160 + t] = __shfl_sync(0xffff0000u, v, 31);
  o[192 + t] = __match_any_sync(~0u, t / 8);
  o[224 + t] = __reduce_max_sync(~0u, t * 7 % 32);
  double d = t + 0.5; d += __shfl_xor_sync(~0u, d, 1); o[256 + t] = (int)(d * 2);
  if (t % 2) o[288 + t] = __activemask(); else o[288 + t] = 1;
}
int main() {
  int *o, h[320], sum = 0; cudaMalloc(&o, sizeof h);
  warps<<<1, 32>>>(o); cudaMemcpy(h, o, sizeof h, cudaMemcpyDeviceToHost);
  printf("%d %d %d %d %d | %d %d ", h[5], h[20], h[33], h[34], h[31 + 64], h[64 + 13], h[96 + 6]);
  printf("%x %d %d %x %d %d %x\n", h[128], h[160 + 2], h[160 + 20], h[192 + 9], h[224], h[256], h[288 + 3]);
}
"""


@pytest.mark.parametrize("schedule", ["0", "2"])
def test_warp_operations(emulate: Runner, schedule: str) -> None:
    result = emulate(WARPS, TMIGRATE_SCHEDULE=schedule)
    assert result.stdout == "3 19 1 0 31 | 13 3 4924924a 13 31 ff00 31 4 aaaaaaaa\n", result.stderr
    assert result.reports == ()


HASH_TABLE = r"""
#include <cstdio>
__global__ void insert(unsigned *table, unsigned *slots, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned slot = 3 * (i % 5);
  while (atomicCAS(&table[slot], 0u, i + 1u) != 0) slot = (slot + 1) & 255;
  slots[i] = slot;
}
int main() {
  unsigned *table, *slots, h[200]; cudaMalloc(&table, 1024); cudaMemset(table, 0, 1024); cudaMalloc(&slots, 800);
  insert<<<4, 50>>>(table, slots, 200);
  cudaMemcpy(h, slots, 800, cudaMemcpyDeviceToHost);
  bool taken[256] = {}; int early = 0;
  for (int i = 0; i < 200; i++) {
    unsigned s = 3 * (i % 5); while (taken[s]) s = (s + 1) & 255;
    taken[s] = true; early += s != h[i];
  }
  printf("%d\n", early);
}
"""


def test_a_thread_that_probes_on_keeps_its_turn(emulate: Runner) -> None:
    """Only one that tries the same place again waits: under schedule 0 threads insert in their order, as converted
    code does."""
    result = emulate(HASH_TABLE)
    assert (result.stdout, result.reports) == ("0\n", ()), result.stderr


ATOMICS = r"""
#include <cstdio>
__device__ unsigned int wrap; __device__ int lock, guarded; __device__ double sum;
__device__ double add_by_cas(double *p, double v) {
  unsigned long long *a = (unsigned long long *)p, old = *a, seen;
  do { seen = old; old = atomicCAS(a, seen, __double_as_longlong(v + __longlong_as_double(seen))); } while (seen != old);
  return __longlong_as_double(old);
}
__global__ void all(int *o, float *f) {
  atomicInc(&wrap, 4); atomicMax(o, (int)threadIdx.x); atomicMin(o + 1, -(int)threadIdx.x);
  atomicOr(o + 2, 1 << (threadIdx.x % 8)); atomicXor(o + 3, threadIdx.x); atomicExch(f, 2.5f);
  add_by_cas(&sum, 0.5);
  bool done = false;
  while (!done) if (atomicCAS(&lock, 0, 1) == 0) { guarded = guarded + 1; __threadfence(); atomicExch(&lock, 0); done = true; }
}
int main() {
  int *o, h[4]; float *f, hf; cudaMalloc(&o, 16); cudaMemset(o, 0, 16); cudaMalloc(&f, 4);
  all<<<3, 64>>>(o, f);
  cudaMemcpy(h, o, 16, cudaMemcpyDeviceToHost); cudaMemcpy(&hf, f, 4, cudaMemcpyDeviceToHost);
  unsigned w; int g; double s; cudaMemcpyFromSymbol(&w, wrap, 4); cudaMemcpyFromSymbol(&g, guarded, 4); cudaMemcpyFromSymbol(&s, sum, 8);
  printf("%d %d %d %d %g %u %d %g\n", h[0], h[1], h[2], h[3], hf, w, g, s);
}
"""


def test_atomics_and_locks(emulate: Runner) -> None:
    assert emulate(ATOMICS).stdout == "63 -63 255 0 2.5 2 192 96\n"


INTRINSICS = r"""
#include <cstdio>
__global__ void k() {
  printf("%d %d %d %d %x %d\n", __popc(0xf0f0), __clz(1), __clz(0), __ffs(8), __brev(1), __ffsll(1LL << 40));
  printf("%d %u %d %u\n", __mulhi(-5, 1 << 30), __umulhi(0xffffffffu, 3), __mul24(0xfffffe, 3), __umul24(0x1000001, 3));
  printf("%d %d %d %u %d\n", __float2int_rn(2.5f), __float2int_rz(-3e10f), __float2int_ru(0.1f), __float2uint_rn(-4.0f),
         __float2int_rd(__int_as_float(0x7fffffff)));
  printf("%a %a %a\n", __fadd_rz(1.0f, 0x1p-25f), __fadd_ru(1.0f, 0x1p-25f), __fmaf_rn(0x1.000004p0f, 0x1.000004p0f, -1.0f));
  printf("%d %u %g %g\n", min(-1, 1), min(-1, 1u), max(1.0f, CUDART_NAN_F), __saturatef(-2.0f));
  printf("%x %x %x\n", __byte_perm(0x33221100, 0x77665544, 0x7531), __funnelshift_l(0x80000000, 1, 1), __vmaxs4(0x80ff0102, 0x01010101));
  printf("%d %d\n", (int)__dp4a(0x01020304, 0x01010101, 5), __sad(3, -4, 1));
}
int main() { k<<<1, 1>>>(); }
"""


def test_intrinsics_give_what_ptx_defines(emulate: Runner) -> None:
    expected = (
        "8 31 32 4 80000000 41\n-2 2 -6 3\n2 -2147483648 1 0 0\n0x1p+0 0x1.000002p+0 0x1.000002p-21\n"
        "-1 1 1 0\n77553311 3 1010102\n15 8\n"
    )
    assert emulate("#include <math_constants.h>\n" + INTRINSICS).stdout == expected


ERRORS = r"""
#include <cstdio>
__global__ void k(int *p) { *p = 1; }
int main() {
  int *p; cudaMalloc(&p, 4); cudaMemset(p, 0, 4);
  k<<<1, 1025>>>(p); printf("%s\n", cudaGetErrorName(cudaGetLastError()));
  k<<<0, 1>>>(p); printf("%s\n", cudaGetErrorString(cudaPeekAtLastError()));
  printf("%s\n", cudaGetErrorName(cudaGetLastError()));
  int h = 7; cudaMemcpy(&h, p, 4, cudaMemcpyDeviceToHost); printf("%d %s\n", h, cudaGetErrorName(cudaGetLastError()));
  printf("%s ", cudaGetErrorName(cudaMemcpy(p, &h, 400, cudaMemcpyHostToDevice)));
  printf("%s ", cudaGetErrorName(cudaMalloc(&p, (size_t)1 << 50)));
  printf("%s\n", cudaGetErrorName(cudaFree(&h)));
  printf("%s %s\n", cudaGetErrorName((cudaError_t)719), cudaGetErrorString((cudaError_t)12345));
}
"""


def test_launch_and_call_errors(emulate: Runner) -> None:
    result = emulate(ERRORS)
    assert result.stdout.splitlines() == [
        "cudaErrorInvalidConfiguration",
        "invalid configuration argument",
        "cudaErrorInvalidConfiguration",
        "0 cudaSuccess",
        "cudaErrorInvalidValue cudaErrorMemoryAllocation cudaErrorInvalidValue",
        "cudaErrorLaunchFailure unrecognized error code",
    ]


HALVES = r"""
#include <cstdio>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
__global__ void k(unsigned short *o) {
  o[0] = __half_as_ushort(__float2half(1.0f + 0x1p-11f)); o[1] = __half_as_ushort(__float2half(1.0f + 0x1.8p-10f));
  o[2] = __half_as_ushort(__float2half(65520.0f)); o[3] = __half_as_ushort(__float2half(0x1p-25f));
  o[4] = __half_as_ushort(__float2half(0x1.8p-24f)); o[5] = __half_as_ushort(__hadd(__half(1.5), __half(0.25f)));
  o[6] = __bfloat16_as_ushort(__float2bfloat16(1.00390625f)); half h = 3; h += half(2); o[7] = __half2float(h);
}
int main() { unsigned short *o, h[8]; cudaMalloc(&o, 16); k<<<1, 1>>>(o); cudaMemcpy(h, o, 16, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 8; i++) printf("%x ", h[i]); }
"""


def test_sixteen_bit_floats_round_to_even(emulate: Runner) -> None:
    assert emulate(HALVES).stdout == "3c00 3c02 7c00 0 2 3f00 3f80 5 "


BRAINS = r"""
#include <cstdio>
#include <cuda_bf16.h>
__global__ void k(const __nv_bfloat162 *a, const __nv_bfloat162 *b, float *f, int *i, __nv_bfloat162 *o) {
  f[0] = __low2float(a[0]), f[1] = __high2float(a[0]), f[2] = __low2bfloat16(a[0]), f[3] = __high2bfloat16(a[0]);
  i[0] = __bfloat162int_rn(a[0].y), i[1] = __bfloat162int_rz(a[0].y), i[2] = __bfloat162uint_rn(a[0].x);
  i[3] = __bfloat16_as_short(b[0].y) + (int)__bfloat162float(__short_as_bfloat16(0x4000));
  o[0] = __low2bfloat162(a[0]), o[1] = __high2bfloat162(a[0]), o[2] = __lowhigh2highlow(a[0]);
  o[3] = __lows2bfloat162(a[0], b[0]), o[4] = __highs2bfloat162(a[0], b[0]);
}
int main() {
  __nv_bfloat162 *a, *b, *o; float *f; int *i;
  cudaMallocManaged(&a, 4), cudaMallocManaged(&b, 4), cudaMallocManaged(&o, 20);
  cudaMallocManaged(&f, 16), cudaMallocManaged(&i, 16);
  a[0] = __floats2bfloat162_rn(1.5f, 2.75f), b[0] = __floats2bfloat162_rn(8, -4);
  k<<<1, 1>>>(a, b, f, i, o);
  cudaDeviceSynchronize();
  for (int n = 0; n < 4; n++) printf("%g %d ", f[n], i[n]);
  for (int n = 0; n < 5; n++) printf("%g %g ", __low2float(o[n]), __high2float(o[n]));
}
"""


def test_parts_of_pairs_of_bfloats(emulate: Runner, tmp_path: Path) -> None:
    """The headers' functions, on both sides: the original's, and what the front end makes of them."""
    expected = "1.5 3 2.75 2 1.5 2 2.75 -16254 1.5 1.5 2.75 2.75 2.75 1.5 1.5 8 2.75 -4 "
    assert emulate(BRAINS).stdout == expected
    source = tmp_path / "brains.cu"
    source.write_text(BRAINS)
    (found,) = convert(source).kernels
    assert found.status.value == "verified", found.reason


OUTSIDE = r"""
#include <cstdio>
#include <cuda_runtime.h>
__shared__ float tile[64], more;
__shared__ int unset;
namespace inner { static __shared__ int pair[2][2]; }
__global__ void k(const float *a, float *b, int n) {
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  tile[t] = i < n ? a[i] : 0;
  if (t == 0) more = 0.5f, inner::pair[1][0] = n;
  __syncthreads();
  if (i < inner::pair[1][0]) b[i] = tile[63 - t] + more;
}
__global__ void fresh(int *o) { o[blockIdx.x] = unset; unset = 1; }
int main(int argc, char **argv) {
  const int n = 100;
  float *a, *b; int *o;
  cudaMallocManaged(&a, n * 4), cudaMallocManaged(&b, n * 4), cudaMallocManaged(&o, 8);
  for (int i = 0; i < n; ++i) a[i] = i;
  k<<<2, 64>>>(a, b, n);
  cudaDeviceSynchronize();
  printf("%g %g %g ", b[0], b[63], b[99]);
  if (argc > 1) fresh<<<2, 1>>>(o), cudaDeviceSynchronize(), printf("%d", o[0] == o[1]);
}
"""


def test_shared_variables_outside_of_functions(emulate: Runner, tmp_path: Path) -> None:
    """Each block has its own, which nothing has written when it begins."""
    assert emulate(OUTSIDE).stdout == "63.5 0.5 92.5 "
    assert emulate(OUTSIDE, "x").stdout == "63.5 0.5 92.5 1"
    (report,) = emulate(OUTSIDE, "x", mode="check").reports
    assert report.kind == "uninitialised" and report.place.location.line == 14
    source = tmp_path / "outside.cu"
    source.write_text(OUTSIDE)
    found = {k.name: k for k in convert(source).kernels}["k"]
    assert found.status.value == "verified", found.reason


GROUPS = r"""
#include <cooperative_groups.h>
#include <cstdio>
namespace cg = cooperative_groups;
__global__ void k(int *o) {
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<8>(block);
  int sum = tile.thread_rank() + 1;
  for (int i = tile.size() / 2; i > 0; i /= 2) sum += tile.shfl_down(sum, i);
  if (tile.thread_rank() == 0) o[tile.meta_group_rank()] = sum;
  block.sync();
  if (block.thread_rank() % 3 == 0) {
    auto lanes = cg::coalesced_threads();
    int second = lanes.shfl((int)block.thread_rank(), 1);
    if (block.thread_rank() == 0) { o[8] = second; o[9] = lanes.size(); }
  }
}
int main() {
  int *o, h[10]; cudaMalloc(&o, 40); k<<<1, 64>>>(o); cudaMemcpy(h, o, 40, cudaMemcpyDeviceToHost);
  printf("%d %d %d %d\n", h[0], h[7], h[8], h[9]);
}
"""


def test_cooperative_groups(emulate: Runner) -> None:
    assert emulate(GROUPS).stdout == "36 36 3 11\n"


def test_limits_end_a_program_that_hangs_writes_or_allocates(emulate: Runner) -> None:
    hang = emulate("int main() { for (volatile int i = 0;;) i = i + 1; }", limits=Limits(seconds=0.5))
    assert (hang.reason, hang.status) == ("time", -9) and hang.seconds < 5
    flood = emulate(
        '#include <cstdio>\nint main() { for (;;) puts("more"); }',
        limits=Limits(seconds=20, output_bytes=100000),
    )
    assert flood.reason == "output"
    greedy = emulate(
        "#include <vector>\nint main() { std::vector<char *> v; for (;;) v.push_back(new char[1 << 26]); }",
        limits=Limits(seconds=20, memory_bytes=1 << 30),
    )
    assert greedy.reason == "memory"
    reader = emulate('#include <cstdio>\nint main() { int c = getchar(); printf("%d", c); return 3; }')
    assert (reader.reason, reader.status, reader.stdout) == ("exit", 3, "-1")


def test_compiler_errors_stand_at_the_users_line(tmp_path: Path) -> None:
    path = tmp_path / "wrong.cu"
    path.write_text(
        "__global__ void k(int *p) {\n  *p = undeclared;\n}\nint main() { k<<<1, 1>>>(nowhere); }\n"
    )
    with pytest.raises(SourceError) as caught:
        build(path)
    places = [(d.code, d.location.file, d.location.line) for d in caught.value.diagnostics if d.location]
    assert places == [("TM4002", str(path), 2), ("TM4002", str(path), 4)]
