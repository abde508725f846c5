"""The CUDA front end around the kernels: launches, instances, flags, symbols, names."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tmigrate.converters.cuda import FrontEndOptions, FrontEndResult, convert_source
from tmigrate.tilelang.text.printer import print_module


def convert(folder: Path, source: str, options: FrontEndOptions | None = None) -> FrontEndResult:
    path = folder / "k.cu"
    path.write_text(source)
    return convert_source(path, options or FrontEndOptions())


def text(result: FrontEndResult) -> str:
    assert [str(d) for k in result.kernels for d in k.diagnostics] == []
    return print_module(result.module)


LAUNCHES = """
namespace deep { __global__ void inner(int *a) { a[0] = 1; } }
template <class T> __global__ void fill(T *p, T v) { p[threadIdx.x] = v; }
template <class T> void start(T *p, int n) {
  fill<<<(n + 31) / 32, dim3(32, 2), n * sizeof(T)>>>(p, T(1));
}
int main() {
  float *f = 0;
  double *d = 0;
  start(f, 3);
  start(d, 4);
  deep::inner<<<1, 2>>>((int *)0);
  deep::inner<<<3, 4>>>((int *)0);
}
"""


def test_launches_inside_host_templates(tmp_path: Path) -> None:
    result = convert(tmp_path, LAUNCHES)
    inner, first, second = result.kernels
    assert (inner.name, inner.definition, inner.symbol) == ("inner", "deep::inner", "_ZN4deep5innerEPi")
    assert [(s.location.line, s.grid, s.block) for s in inner.launches] == [(12, "1", "2"), (13, "3", "4")]
    assert {first.symbol, second.symbol} == {"_Z4fillIfEvPT_S0_", "_Z4fillIdEvPT_S0_"}
    assert {first.name, second.name} == {"fill_float", "fill_double"}
    (site,) = first.launches
    assert (site.grid, site.block, site.shared) == ("(n + 31) / 32", "dim3(32, 2)", "n * sizeof(T)")


def test_asked_for_instances(tmp_path: Path) -> None:
    source = "template <class T, int N> __global__ void scale(T *p) { p[0] *= N; }\n"
    result = convert(tmp_path, source, FrontEndOptions(instantiate=("scale<float, 4>", "scale<int, -2>")))
    assert sorted(k.name for k in result.kernels) == ["scale_float_4", "scale_int_minus2"]
    assert all(k.location.line == 1 for k in result.kernels)


def test_explicit_instances(tmp_path: Path) -> None:
    source = (
        "template <class T> __global__ void one(T *p) { p[0] = 1; }\n"
        "template __global__ void one<float>(float *);\n"
    )
    assert [k.name for k in convert(tmp_path, source).kernels] == ["one_float"]


def test_a_kernel_named_without_a_launch(tmp_path: Path) -> None:
    source = (
        "template <class T> __global__ void one(T *p) { p[0] = 1; }\n"
        "void start(void **args) { cudaLaunchKernel((const void *)one<int>, dim3(1), dim3(1), args); }\n"
    )
    assert [k.symbol for k in convert(tmp_path, source).kernels] == ["_Z3oneIiEvPT_"]


def test_defines_and_include_folders(tmp_path: Path) -> None:
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "size.h").write_text("#define NJ (NI * 2)\n")
    source = '#include "size.h"\n__global__ void k(int *a) { for (int i = 0; i < NI; i++) a[i] = NJ; }\n'
    options = FrontEndOptions(include_folders=(str(tmp_path / "inc"),), defines=("NI=12",))
    found = text(convert(tmp_path, source, options))
    assert "NI: i32 = 12" in found and "NJ: i32 = 24" in found
    assert "for i in range(NI):" in found and "a[i] = NJ" in found


def test_compile_commands(tmp_path: Path) -> None:
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "size.h").write_text("")
    entry = {"directory": str(tmp_path), "file": "k.cu", "command": "nvcc -Iinc -DSIDE=5 -O3 -c k.cu"}
    (tmp_path / "compile_commands.json").write_text(json.dumps([entry]))
    found = text(convert(tmp_path, '#include "size.h"\n__global__ void k(int *a) { a[0] = SIDE; }\n'))
    assert "SIDE: i32 = 5" in found


def test_a_header_s_kernels_belong_to_the_file(tmp_path: Path) -> None:
    (tmp_path / "kernels.cuh").write_text("__global__ void k(int *a) { a[0] = 1; }\n")
    (kernel,) = convert(tmp_path, '#include "kernels.cuh"\n').kernels
    assert kernel.location.file.endswith("kernels.cuh") and kernel.source_lines == 1


def test_names_that_the_module_takes_later(tmp_path: Path) -> None:
    source = (
        "__global__ void first(int *N) { N[0] = 1; }\n"
        "#define N 512\n__global__ void second(int *a) { a[0] = N; }\n"
    )
    found = text(convert(tmp_path, source))
    assert "def first(N_1: Ptr[i32])" in found and "a[0] = N" in found


def test_a_macro_with_two_values_is_no_constant(tmp_path: Path) -> None:
    source = (
        "#define S 1\n__global__ void first(int *a) { a[0] = S; }\n"
        "#undef S\n#define S 2\n__global__ void second(int *a) { a[0] = S; }\n"
    )
    found = text(convert(tmp_path, source))
    assert "a[0] = 1" in found and "a[0] = 2" in found


HALVES = """
#include <cuda_fp16.h>
#include <cuda_bf16.h>
__global__ void k(__half *h, float *f, __half2 *p, __nv_bfloat16 *b) {
  h[0] += __float2half(f[0]);
  f[1] = (float)(h[1] * h[2]);
  p[0] = __hadd2(p[1], p[2]);
  b[0] = b[1];
  if (h[3] < h[4]) h[5] = -h[6];
}
"""


def test_halves_compute_in_f32(tmp_path: Path) -> None:
    found = text(convert(tmp_path, HALVES))
    assert "h: Ptr[f16], f: Ptr[f32], p: Ptr[half2], b: Ptr[bf16]" in found
    assert "h[0] = f16(f32(h[0]) + f32(f16(f[0])))" in found
    assert "f[1] = f32(f16(f32(h[1]) * f32(h[2])))" in found
    assert "half2(f16(f32(pair.x) + f32(pair_1.x)), f16(f32(pair.y) + f32(pair_1.y)))" in found
    assert "if f32(h[3]) < f32(h[4]):" in found


def test_splitting_floats(tmp_path: Path) -> None:
    source = "__global__ void k(float *f, int *e) { f[0] = frexpf(f[1], e); f[2] = modff(f[3], f + 4); }\n"
    found = text(convert(tmp_path, source))
    assert "exponent: i32 = ilogb(number) + 1 if isfinite(number) and number != 0.0 else 0" in found
    assert "f[0] = ldexp(number, -exponent)" in found
    assert "f[2] = copysign(0.0 if isinf(number_1) else number_1 - whole, number_1)" in found


def test_the_same_text_from_run_to_run(tmp_path: Path) -> None:
    assert text(convert(tmp_path, LAUNCHES)) == text(convert(tmp_path, LAUNCHES))


@pytest.mark.parametrize("terms", [60, 400])
def test_long_expressions(terms: int, tmp_path: Path) -> None:
    source = f"__global__ void k(int *a) {{ a[0] = {' + '.join(f'a[{n}]' for n in range(terms))}; }}\n"
    from tmigrate.tilelang.ir.verify import verify

    verify(convert(tmp_path, source).module)


def test_time_per_file(tmp_path: Path) -> None:
    """Well under a second of processor time; the bound leaves room for slow machines."""
    convert(tmp_path, LAUNCHES)
    start = time.process_time()
    convert(tmp_path, "#include <vector>\n#include <cstdio>\n#include <cmath>\n" + LAUNCHES)
    assert time.process_time() - start < 2.0


@pytest.mark.parametrize("origin", ["zig", "g++", "clang"])
def test_every_set_of_headers_serves(origin: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tmigrate.tilelang.runtime import headers, toolchain

    flags = next((f for name, f in headers.header_sets() if name.startswith(origin)), None)
    if flags is None:
        pytest.skip(f"no {origin} on this machine")
    monkeypatch.setattr(toolchain, "builtin_include_flags", lambda: flags)
    source = (
        "#include <algorithm>\n#include <vector>\n#include <cstdio>\n#include <string>\n"
        "__global__ void k(float *f, int n) {\n"
        "  f[0] = std::exp(f[1]) + exp(f[2]) + fmaxf(f[3], 1) + std::max(f[4], f[5]) + abs(n);\n"
        '  f[7] = pow(f[8], 2.0f) + isnan(f[9]) + rsqrtf(f[10]) + sqrt((double)n);\n  printf("%d", n);\n'
        "  assert(n > 0);\n}\nint main() { std::vector<int> v(3); std::sort(v.begin(), v.end()); }\n"
    )
    assert "f[0] = exp(f[1]) + exp(f[2]) + fmax(f[3], 1.0)" in text(convert(tmp_path, source))
