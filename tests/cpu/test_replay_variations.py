"""Launches that a program might have made: they cover what its own do not, and count as evidence."""

from __future__ import annotations

from pathlib import Path

import pytest

from tmigrate.api import convert, verify
from tmigrate.results import InputResult, KernelResult

PROGRAM = """
#include <cstdio>
#include <cuda_runtime.h>
{kernel}
int main() {{
  const int n = 128;
  float h[n];
  for (int i = 0; i < n; ++i) h[i] = 0.5f * i + 1;
  float *x, *y;
  cudaMalloc(&x, sizeof h);
  cudaMalloc(&y, sizeof h);
  cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
  cudaMemset(y, 0, sizeof h);
  k<<<2, 64>>>(x, y, n, 1);
  cudaMemcpy(h, y, sizeof h, cudaMemcpyDeviceToHost);
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += h[i];
  printf("%.3f\\n", sum);
  return 0;
}}
"""


def program(folder: Path, kernel: str) -> Path:
    path = folder / "k.cu"
    path.write_text(PROGRAM.format(kernel=kernel))
    return path


def only(result: InputResult) -> KernelResult:
    assert len(result.kernels) == 1, result.diagnostics
    return result.kernels[0]


def test_a_ragged_grid_reaches_the_other_side_of_a_guard(tmp_path: Path) -> None:
    """128 elements in 2 blocks of 64: the program itself never sees `i < n` false."""
    source = program(
        tmp_path,
        "__global__ void k(const float *x, float *y, int n, int mode) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "  if (i < n) y[i] = 2 * x[i];\n"
        "}",
    )
    found = only(convert(source))
    assert (found.status.value, found.level and found.level.value) == ("verified", "loop"), found.reason
    assert found.launches == 1 and found.cases is not None and found.cases > 1


MODES = """
__global__ void k(const float *x, float *y, int n, int mode) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (mode == 3) y[i] = x[i] - 1;
  else if (x[i] < 0) y[i] = 0;
  else y[i] = x[i];
}
"""


def test_other_scalars_and_data_reach_branches(tmp_path: Path) -> None:
    """The program passes mode 1 and positive numbers only."""
    assert only(convert(program(tmp_path, MODES))).status.value == "verified"


def test_a_fault_that_only_a_variation_reaches_is_found(tmp_path: Path) -> None:
    source = program(tmp_path, MODES)
    convert(source)
    for name in ("k_thread.py", "k_tile.py"):
        text = (tmp_path / name).read_text()
        assert "x[i] - 1.0" in text
        (tmp_path / name).write_text(text.replace("x[i] - 1.0", "x[i] + 1.0"))
    found = only(verify(source))
    assert (found.status.value, found.code) == ("refused", "TM4101")


NEGATIVE = """
__global__ void k(const float *x, float *y, int n, int mode) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (mode < 0) y[i] = x[i] - 1;
  else y[i] = x[i];
}
"""


def test_negative_scalars_reach_branches(tmp_path: Path) -> None:
    """The program passes mode 1, whose other values 0, 2 and 3 do not enter the branch."""
    source = program(tmp_path, NEGATIVE)
    assert only(convert(source)).status.value == "verified"
    for name in ("k_thread.py", "k_tile.py"):
        text = (tmp_path / name).read_text()
        assert "x[i] - 1.0" in text
        (tmp_path / name).write_text(text.replace("x[i] - 1.0", "x[i] + 1.0"))
    assert only(verify(source)).code == "TM4101"


MANY = """
struct Mode {{ int kind; bool active; float scale; }};
__global__ void k(const float *x, float *y, const int n, const Mode mode) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  {statement}
  y[i] = v;
}}
"""


@pytest.mark.parametrize(
    "statement",
    [
        pytest.param("if (!mode.active) v = 1;", id="a flag in a struct"),
        pytest.param("if (mode.kind == 31) v = 1;", id="what the kernel compares with"),
        pytest.param("if (n == 64) { if (mode.kind == 3) v = 1; }", id="two numbers at once"),
        pytest.param("if (v > 1e6f) v = 1; else if (v < -2e6f) v = 2;", id="data beyond thresholds"),
        pytest.param("if (((const unsigned char *)x)[4 * i + 3] == 0) v = 1;", id="zeros"),
    ],
)
def test_branches_that_need_more_than_another_scalar(tmp_path: Path, statement: str) -> None:
    """The program passes n = 128, {4, true, 1.0f} and numbers from 1 to 64.5."""
    source = program(tmp_path, MANY.format(statement=statement))
    source.write_text(source.read_text().replace("(x, y, n, 1)", "(x, y, n, Mode{4, true, 1.0f})"))
    found = only(convert(source))
    assert found.status.value == "verified", found.reason


CONSTANTS = """
struct Scale {
  float k;
  __device__ float of(float v) { return 0; }
  __device__ float of(float v) const { return k * v + 2; }
 private:
  float *data() { return &k; }
 public:
  __device__ const float *data() const { return &k; }
};
template <class T> struct Kind { static constexpr int value = 1; };
template <class T> struct Kind<const T> { static constexpr int value = 2; };
__device__ int pick(int &) { return 3; }
__device__ int pick(const int &) { return 4; }
__global__ void k(const float *x, float *y, const int n, const Scale scale) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = scale.of(x[i]) + Kind<decltype(n)>::value + 8 * pick(n) + *scale.data();
}
"""


def test_constant_parameters_stay_constant_in_the_original(tmp_path: Path) -> None:
    """Other functions are chosen for what is not constant."""
    source = program(tmp_path, CONSTANTS)
    source.write_text(source.read_text().replace("(x, y, n, 1)", "(x, y, n, Scale())"))
    found = only(convert(source))
    assert found.status.value == "verified", found.reason


INTEGERS = """
__global__ void k(const unsigned char *x, float *y, int n, int mode) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] > 250 ? 1 : x[i] == 77 ? 2 : 3;
}
"""


def test_other_integers_in_arrays(tmp_path: Path) -> None:
    """The program's bytes are all zero."""
    source = program(tmp_path, INTEGERS)
    copy = "cudaMemcpy(x, h, sizeof h, cudaMemcpyHost"
    text = source.read_text().replace(copy, "cudaMemset(x, 0, sizeof h); //")
    source.write_text(text.replace("k<<<2, 64>>>(x,", "k<<<2, 64>>>((unsigned char *)x,"))
    found = only(convert(source))
    assert found.status.value == "verified", found.reason


def test_a_branch_that_nothing_reaches_is_named(tmp_path: Path) -> None:
    source = program(
        tmp_path,
        "__global__ void k(const float *x, float *y, int n, int mode) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "  if (i >= n) return;\n"
        "  y[i] = x[i];\n"
        "  if (mode * 7 == 77776) y[i] = 5;\n"
        "}",
    )
    found = only(convert(source))
    line = 1 + next(i for i, t in enumerate(source.read_text().splitlines()) if "77776" in t)
    assert (found.status.value, found.code) == ("converted", "TM4103")
    assert found.reason is not None and f"line {line} (condition true)" in found.reason


def test_an_operand_with_one_value_only_is_noted(tmp_path: Path) -> None:
    """The condition as a whole is true and false: its second half is never false.  `i >= 0` is no fault."""
    source = program(
        tmp_path,
        "__global__ void k(const float *x, float *y, int n, int mode) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "  if (i < n && mode * 7 != 77776) y[i] = x[i];\n"
        "}",
    )
    assert only(convert(source)).status.value == "verified"
    certificate = next((tmp_path / ".tmigrate").rglob("*.json"))
    assert "k.cu:6 (operand false)" in certificate.read_text()


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("((unsigned char *)y)[i] = 300 * x[i];", "unsigned char"),
        ("y[i] = 1 << (i + 20);", "shift"),
    ],
)
def test_what_a_gpu_defines_otherwise_is_reported(tmp_path: Path, statement: str, words: str) -> None:
    source = program(
        tmp_path,
        "__global__ void k(const float *x, float *y, int n, int mode) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        f"  if (i < n) {statement}\n"
        "}",
    )
    result = convert(source)
    assert (only(result).status.value, only(result).code) == ("converted", "TM4109")
    messages = [d for d in result.diagnostics if d.code == "TM4109" and words in d.message]
    assert messages and all(d.location is not None and d.location.line == 6 for d in messages)


def test_the_sign_of_a_nan_is_nobodys_promise(tmp_path: Path) -> None:
    source = program(
        tmp_path,
        "__global__ void k(const float *x, float *y, int n, int mode) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "  float zero = x[i % n] - x[i % n];\n"
        "  if (i < n) y[i] = zero / zero * x[i] - zero / zero;\n"
        "}",
    )
    assert only(convert(source)).status.value == "verified"


LOST = """
__global__ void k(const float *x, float *y, int n, int mode) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  if (mode == 77) v = 5;
  y[i] = v;
}
"""


def test_a_branch_that_an_edit_lost_is_missed(tmp_path: Path) -> None:
    """What is left is covered as a whole: only the source knows of 77."""
    source = program(tmp_path, LOST)
    assert only(convert(source)).status.value == "verified"
    for name in ("k_thread.py", "k_tile.py"):
        lines = (tmp_path / name).read_text().splitlines(keepends=True)
        at = next(i for i, line in enumerate(lines) if "mode == 77" in line)
        (tmp_path / name).write_text("".join(lines[:at] + lines[at + 2 :]))
    found = only(verify(source))
    assert (found.status.value, found.code) == ("refused", "TM4101")


FLAGS = """
__global__ void k(const int *flags, const int *x, int *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (flags[i] == 0) y[i] = x[i] * 3;
  else y[i] = x[i];
}
int main() {
  int *flags, *x, *y;
  cudaMallocManaged(&flags, 400);
  cudaMallocManaged(&x, 400);
  cudaMallocManaged(&y, 400);
  for (int i = 0; i < 100; i++) flags[i] = 2 + i % 2, x[i] = i + 2;
  k<<<2, 64>>>(flags, x, y, 100);
  cudaDeviceSynchronize();
}
"""


def test_zeros_everywhere_are_not_all_that_is_tried(tmp_path: Path) -> None:
    """They reach the branch, where 0 * 3 is 0 * 5."""
    (tmp_path / "k.cu").write_text(FLAGS)
    assert only(convert(tmp_path / "k.cu")).status.value == "verified"
    for name in ("k_thread.py", "k_tile.py"):
        text = (tmp_path / name).read_text()
        assert "3 * x[i]" in text or "x[i] * 3" in text
        (tmp_path / name).write_text(text.replace("3 * x[i]", "5 * x[i]").replace("x[i] * 3", "x[i] * 5"))
    assert only(verify(tmp_path / "k.cu")).code == "TM4101"
