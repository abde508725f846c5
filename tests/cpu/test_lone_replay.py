"""Kernels that no program launches, through the whole path: generated launches, replay, verdict, outputs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tmigrate.conversion import convert_file
from tmigrate.options import ConvertOptions
from tmigrate.results import InputResult

ALONE = """\
#include <cuda_runtime.h>
// int main() stands only in this comment
struct Config { int width; float gain; };
__global__ void saxpy(int n, float a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
template <typename T, int N> __global__ void scale(T *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= N;
}
namespace { __constant__ float weight[3]; }
__global__ void blur(Config c, const float *in, float *out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= c.width) return;
    float sum = 0.0f;
    for (int d = -1; d <= 1; d++) if (x + d >= 0 && x + d < c.width) sum += weight[d + 1] * in[x + d];
    out[x] = c.gain * sum;
}
__global__ void total(int n, const int *x, int *out) {
    __shared__ int s[128];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? x[i] : 0;
    __syncthreads();
    for (int h = blockDim.x / 2; h > 0; h /= 2) {
        if (t < h) s[t] += s[t + h];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
__global__ void racy(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[0] = x[0] + i;
}
__global__ void pick(const int *at, const float *x, float *y) { y[threadIdx.x] = x[at[threadIdx.x] - 100]; }
"""

PROGRAM = """\
#include <cuda_runtime.h>
__global__ void used(int n, int mode, float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (mode == 7) x[i] = 0.0f; else x[i] += 1.0f;
}
__global__ void unused(int n, int *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = x[i] * 3;
}
int main() {
    float *x;
    cudaMalloc(&x, 1000 * sizeof(float));
    cudaMemset(x, 0, 1000 * sizeof(float));
    used<<<8, 128>>>(1000, 1, x);
    return cudaDeviceSynchronize() != cudaSuccess;
}
"""


def states(result: InputResult) -> dict[str, tuple[str, str | None]]:
    return {k.name: (k.status.value, k.code) for k in result.kernels}


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> tuple[InputResult, Path]:
    folder = tmp_path_factory.mktemp("alone")
    (folder / "alone.cu").write_text(ALONE)
    (folder / "pyproject.toml").write_text("")
    options = ConvertOptions(instantiate=("scale<float, 4>",), verify_seconds=90.0)
    return convert_file(folder / "alone.cu", options), folder


@pytest.mark.parametrize("name", ["saxpy", "scale", "blur", "total"])
def test_kernels_without_a_program_are_verified(alone: tuple[InputResult, Path], name: str) -> None:
    kernel = next(k for k in alone[0].kernels if k.name.startswith(name))
    assert (kernel.status.value, kernel.reason) == ("verified", None)
    assert kernel.cases is not None and kernel.cases >= 8


def test_a_race_is_not_verified(alone: tuple[InputResult, Path]) -> None:
    kernel = next(k for k in alone[0].kernels if k.name == "racy")
    assert (kernel.status.value, kernel.code) == ("converted", "TM4115")
    assert kernel.reason is not None and "race" in kernel.reason
    line = ALONE[: ALONE.index("x[0] = x[0]")].count("\n") + 1
    assert f"(line {line})" in kernel.reason


def test_an_undecidable_kernel_leaves_a_stub_that_then_decides(alone: tuple[InputResult, Path]) -> None:
    result, folder = alone
    assert states(result)["pick"] == ("converted", "TM4115")
    stub = folder / "tmigrate.toml"
    assert str(stub) in result.outputs and '[kernel."pick"]' in stub.read_text()
    text = '[kernel."pick"]\ngrid = [1]\nblock = [64]\nsizes = {at = 64, x = 50, y = 64}\n'
    stub.write_text(text + "ranges = {at = [100, 149]}\n")
    again = convert_file(folder / "alone.cu", ConvertOptions(instantiate=("scale<float, 4>",)))
    assert states(again)["pick"] == ("verified", None)
    assert stub.read_text().startswith(text)


def test_generated_launches_complete_those_of_a_program(tmp_path: Path) -> None:
    (tmp_path / "program.cu").write_text(PROGRAM)
    result = convert_file(tmp_path / "program.cu", ConvertOptions())
    assert states(result) == {"used": ("verified", None), "unused": ("verified", None)}


def test_a_wrong_conversion_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMIGRATE_RUN_BREAK", "1")
    (tmp_path / "wrong.cu").write_text(ALONE[: ALONE.index("template")])
    assert states(convert_file(tmp_path / "wrong.cu", ConvertOptions())) == {"saxpy": ("refused", "TM4101")}
