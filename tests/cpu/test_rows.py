"""Pointers and references to arrays: what they index is memory like any other."""

from __future__ import annotations

from pathlib import Path

import pytest

from tmigrate.api import convert
from tmigrate.results import KernelResult

MAIN = """
int main() {
  const int n = 21;
  float (*a)[16], (*b)[16];
  cudaMallocManaged(&a, n * 16 * 4), cudaMallocManaged(&b, n * 16 * 4);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < 16; ++j) a[i][j] = i * 0.5f + j;
  k<<<dim3(2, 3), dim3(8, 8)>>>(a, b, n);
  cudaDeviceSynchronize();
  printf("%g\\n", b[3][4]);
}
"""


def converted(folder: Path, text: str, main: str = MAIN) -> tuple[KernelResult, str]:
    """The only kernel of a program, and its tile file."""
    path = folder / "rows.cu"
    path.write_text("#include <cstdio>\n#include <cuda_runtime.h>\n" + text + main)
    result = convert(path)
    assert len(result.kernels) == 1, result.diagnostics
    return result.kernels[0], (folder / "rows_tile.py").read_text()


def test_a_parameter_that_points_to_rows_is_lifted(tmp_path: Path) -> None:
    found, text = converted(
        tmp_path,
        "__global__ void k(const float (*a)[16], float (*b)[16], int n) {\n"
        "  int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "  if (i < n && j < 16) b[i][j] = 2.0f * a[i][j];\n"
        "}\n",
    )
    assert (found.status.value, found.level and found.level.value) == ("verified", "loop"), found.reason
    assert "b[i, j] = 2.0 * a[i, j]" in text


@pytest.mark.parametrize(
    ("body", "level", "blocked"),
    [
        ("const float *row = a[i]; b[i][j] = row[j];", "loop", None),
        ("b[i][j] = (*(a + i))[j] + ((const float (*)[16])a)[i][j];", "loop", None),
        (
            "const float (*c)[16] = a; c += i; b[i][j] = c[0][j] + (float)(c - a);",
            "thread",
            "a row of a is used as a whole",
        ),
    ],
)
def test_pointers_to_rows_are_counted_in_rows(
    tmp_path: Path, body: str, level: str, blocked: str | None
) -> None:
    found, _ = converted(
        tmp_path,
        "__global__ void k(const float (*a)[16], float (*b)[16], int n) {\n"
        "  int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;\n"
        f"  if (i < n && j < 16) {{ {body} }}\n"
        "}\n",
    )
    assert found.status.value == "verified" and found.level and found.level.value == level, found.reason
    assert blocked is None or (found.blocked and blocked in found.blocked), found.blocked


REFERENCES = """
__device__ float dot(const float (&row)[3], float x, float y) { return row[0] * x + row[1] * y + row[2]; }
__device__ void fill(float (*rows)[3], int i) { for (int j = 0; j < 3; ++j) rows[i][j] = i + 0.5f * j; }
__device__ void scale(float (&row)[3], float by) { for (int j = 0; j < 3; ++j) row[j] *= by; }
__device__ void turn(float (&m)[2][2]) { float t = m[0][1]; m[0][1] = m[1][0], m[1][0] = t; }
__device__ float last(float (*rows)[3]) { float (*p)[3] = rows + 2; return (*p)[2] + (float)(p - rows); }
__global__ void k(const float (*a)[16], float (*b)[16], int n) {
  int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  float m[3][3], q[2][2] = {{1, 2}, {3, 4}};
  if (i >= n || j >= 16) return;
  for (int r = 0; r < 3; ++r) fill(m, r);
  scale(m[1], a[i][j]);
  q[0][1] = a[i][j];
  turn(q);
  b[i][j] = dot(m[0], a[i][j], 2) + dot(m[1], 1, a[i][j]) + q[1][0] + last(m);
}
"""


def test_references_to_arrays_are_compiled(tmp_path: Path) -> None:
    found, _ = converted(tmp_path, REFERENCES)
    assert found.status.value == "verified", found.reason


@pytest.mark.parametrize("extra", ["void *extra", "float **extra"])
def test_a_parameter_that_no_tensor_can_hold_costs_its_lift_only(tmp_path: Path, extra: str) -> None:
    found, _ = converted(
        tmp_path,
        f"__global__ void k(const float (*a)[16], float (*b)[16], int n, {extra}) {{\n"
        "  int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "  if (i < n && j < 16) b[i][j] = 2.0f * a[i][j];\n"
        "}\n",
        MAIN.replace("(a, b, n)", "(a, b, n, nullptr)"),
    )
    assert (found.status.value, found.level and found.level.value) == ("verified", "thread"), found.reason
