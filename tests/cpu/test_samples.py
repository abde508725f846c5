"""Every sample through the whole path: converted, verified, and run on its regenerated kernels."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tmigrate.api import convert

SAMPLES = Path(__file__).resolve().parents[2] / "samples"

# The level at which each kernel is verified.  A kernel may climb; it may not fall.
LEVELS: dict[str, dict[str, str]] = {
    "bit_tricks": {"tricks": "loop"},
    "black_scholes": {"black_scholes": "loop"},
    "convolution_constant": {"convolve": "thread"},
    "csr_spmv": {"spmv_thread_per_row": "thread", "spmv_block_per_row": "thread"},
    "hello": {"hello": "thread", "roll_call": "thread"},
    "histogram": {"histogram_global": "thread", "histogram_shared": "thread"},
    "jacobi": {"jacobi_sweep": "thread"},
    "managed_gemv": {"gemv": "thread", "gemv_transposed": "loop"},
    "mandelbrot": {"mandelbrot": "thread"},
    "matmul_shared": {"matmul_plain": "loop", "matmul_shared": "thread"},
    "nbody": {"accelerate": "thread", "move": "loop"},
    "particles": {"advance": "loop", "measure": "thread"},
    "prefix_sum": {"scan_blocks": "thread", "add_offsets": "thread"},
    "reduction_tree": {"reduce_sum": "thread", "reduce_max": "thread"},
    "saxpy": {"saxpy": "loop", "saxpy_grid_stride": "loop"},
    "shuffle_reduce": {"sum_all": "thread", "below_group_max": "thread"},
    "stencil": {"stencil_plain": "loop", "stencil_tiled": "thread"},
    "string_search": {"search": "thread"},
    "template_transform": {"transform_float_Square_float": "loop", "zip_3_float_Blend_float": "thread"},
    "transpose": {"transpose_plain": "loop", "transpose_tiled": "thread"},
}
RANK = {"thread": 0, "loop": 1, "tensor": 2}


def test_every_sample_is_in_the_table() -> None:
    assert {path.stem for path in SAMPLES.glob("*.cu")} == set(LEVELS)


@pytest.mark.parametrize("name", sorted(LEVELS))
def test_a_sample_is_verified_and_runs(name: str, tmp_path: Path) -> None:
    source = SAMPLES / f"{name}.cu"
    result = convert(source, output=tmp_path)
    states = {k.name: (k.status.value, k.reason) for k in result.kernels}
    assert states == {kernel: ("verified", None) for kernel in states}, result.diagnostics
    for kernel in result.kernels:
        wanted = LEVELS[name].get(kernel.name)
        assert kernel.level is not None
        assert wanted is None or RANK[kernel.level.value] >= RANK[wanted], (kernel.name, kernel.blocked)
    command = [sys.executable, "-m", "tmigrate", "run", str(source)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0 and "PASS" in ran.stdout, ran.stdout + ran.stderr
