"""The whole command, in a process and a folder of its own, on one small program."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

NAME = "doubled"
SOURCE = f"{NAME}.cu"
TILE, THREAD, CHECK = f"{NAME}_tile.py", f"{NAME}_thread.py", f"test_{NAME}_tile.py"
CERTIFICATE = f"{NAME}_tile.cert.json"
OUTPUTS = {TILE, THREAD, CHECK, CERTIFICATE}

# Checks its kernel; then prints its arguments and what it reads, and ends with the status it is asked for.
PROGRAM = r"""
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

extern "C" __device__ float twice(float x) { return 2.0f * x; }

__global__ void add_twice(int n, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = twice(x[i]) + y[i];
}

int main(int argc, char **argv) {
    const int n = 1003;
    static float x[n], y[n];
    for (int i = 0; i < n; i++) { x[i] = 0.25f * i; y[i] = 3.0f; }
    float *d_x, *d_y;
    cudaMalloc(&d_x, sizeof x);
    cudaMalloc(&d_y, sizeof y);
    cudaMemcpy(d_x, x, sizeof x, cudaMemcpyHostToDevice);
    cudaMemcpy(d_y, y, sizeof y, cudaMemcpyHostToDevice);
    add_twice<<<(n + 127) / 128, 128>>>(n, d_x, d_y);
    cudaMemcpy(y, d_y, sizeof y, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < n; i++) wrong += y[i] != 2.0f * x[i] + 3.0f;
    printf("%s\n", wrong ? "FAIL" : "PASS");
    for (int i = 1; i < argc; i++) printf("argument %s\n", argv[i]);
    for (int c; (c = getchar()) != EOF;) putchar(c);
    fprintf(stderr, "%d wrong\n", wrong);
    return wrong ? 1 : argc > 1 ? atoi(argv[1]) : 0;
}
"""


def tmigrate(
    folder: Path, *words: str, variables: Mapping[str, str] | None = None, typed: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run a command of tmigrate in ``folder``; what is ``typed`` stands on its standard input."""
    return subprocess.run(
        [sys.executable, "-m", "tmigrate", *words],
        cwd=folder,
        env={**os.environ, **(variables or {})},
        input=typed,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def replace_once(file: Path, old: str, new: str) -> None:
    """Edit a file as a person does."""
    text = file.read_text()
    assert text.count(old) == 1, text
    file.write_text(text.replace(old, new))
