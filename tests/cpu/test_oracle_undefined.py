"""What C++ leaves undefined and a GPU defines otherwise is reported with its line where a kernel does it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tmigrate.oracle import build, run

PROGRAM = """
#include <cuda_runtime.h>
__global__ void k(const float *x, const int *s, unsigned *y, int *z) {
    int i = threadIdx.x;
    y[i] = (unsigned)x[i];
    z[i] = 1 << s[i];
}
int main() {
    float *x; int *s; unsigned *y; int *z;
    cudaMallocManaged(&x, 8); cudaMallocManaged(&s, 8); cudaMallocManaged(&y, 8); cudaMallocManaged(&z, 8);
    x[0] = FLOAT; x[1] = 2.5f; s[0] = SHIFT; s[1] = 31;
    k<<<1, 2>>>(x, s, y, z);
    cudaDeviceSynchronize();
    volatile float host = -1.0f;
    return (unsigned)host == 0 ? 0 : 0;
}
"""


@pytest.mark.parametrize(
    ("number", "shift", "lines"),
    [("7.0f", "3", []), ("-1.f", "3", [5]), ("5e9f", "3", [5]), ("7.f", "32", [6]), ("-2.f", "40", [5, 6])],
)
def test_undefined_conversions_and_shifts_are_reported(
    tmp_path: Path, number: str, shift: str, lines: list[int]
) -> None:
    source = tmp_path / "undefined.cu"
    source.write_text(PROGRAM.replace("FLOAT", number).replace("SHIFT", shift))
    found = run(build(source))
    assert found.status == 0
    assert [(r.kind, r.place.location.line) for r in found.reports] == [("undefined", line) for line in lines]
