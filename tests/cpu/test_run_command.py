"""``tmigrate run``: the program's own words and status, on regenerated kernels alone."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from command_support import SOURCE, THREAD, TILE, replace_once, tmigrate

from tmigrate.oracle import build

BREAK = {"TMIGRATE_RUN_BREAK": "1"}


def test_arguments_input_output_and_status_pass_through(converted_program: Path) -> None:
    done = tmigrate(converted_program, "run", SOURCE, "--", "7", "--help", "a b", typed="typed\nlines")
    assert done.stdout == "PASS\nargument 7\nargument --help\nargument a b\ntyped\nlines"
    assert (done.returncode, done.stderr) == (7, "0 wrong\n")


def test_a_broken_kernel_turns_pass_into_fail(converted_program: Path) -> None:
    """What the program computes is what the regenerated kernels computed, and its own check sees it."""
    done = tmigrate(converted_program, "run", SOURCE, variables=BREAK)
    assert (done.returncode, done.stdout, done.stderr) == (1, "FAIL\n", "1003 wrong\n")


def test_a_program_needs_no_conversion_on_the_disk(converted_program: Path, tmp_path: Path) -> None:
    (tmp_path / SOURCE).write_text((converted_program / SOURCE).read_text())
    done = tmigrate(tmp_path, "run", SOURCE)
    assert (done.returncode, done.stdout) == (0, "PASS\n"), done.stderr
    assert [path.name for path in tmp_path.iterdir()] == [SOURCE]


@pytest.mark.parametrize("name", [TILE, THREAD])
def test_half_a_conversion_is_not_run(project: Path, name: str) -> None:
    (project / name).unlink()
    done = tmigrate(project, "run", SOURCE)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"{name}: error TM4116: there is no '{name}'")


def test_the_folder_of_the_outputs_may_be_another(project: Path) -> None:
    (project / "out").mkdir()
    for name in (TILE, THREAD):
        (project / name).rename(project / "out" / name)
    replace_once(project / "out" / TILE, "return 2.0 * x", "return 3.0 * x")
    assert tmigrate(project, "run", SOURCE).stdout == "PASS\n"
    assert tmigrate(project, "run", SOURCE, "-o", "out").stdout == "FAIL\n"


def test_a_program_that_crashes_gives_its_signals_status(tmp_path: Path) -> None:
    """As a shell says it: 128 and the signal's number."""
    source = "#include <csignal>\n__global__ void k(int *x) { *x = 1; }\nint main() { raise(SIGTERM); }\n"
    (tmp_path / "crash.cu").write_text(source)
    assert tmigrate(tmp_path, "run", "crash.cu").returncode == 128 + 15


def test_a_kernel_that_does_not_convert_keeps_the_program_from_running(tmp_path: Path) -> None:
    kernel = '__global__ void k(int *x) {\n    asm volatile("bar.sync 0;");\n    *x = 1;\n}\n'
    program = '#include <cstdio>\nint main() { printf("ran\\n"); k<<<1, 1>>>(nullptr); }\n'
    (tmp_path / "k.cu").write_text(kernel + program)
    done = tmigrate(tmp_path, "run", "k.cu")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("k.cu:2:5: error TM1016: ")


STATIC_TEMPLATE = """
#include <cstdio>
namespace part {
template <int N> static __global__ void add(int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += N;
}
}
int main() {
    int *x, host[200];
    cudaMalloc(&x, sizeof host);
    cudaMemset(x, 0, sizeof host);
    part::add<3><<<4, 64>>>(x, 200);
    cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
    printf("%d\\n", host[199]);
}
"""


def test_a_static_template_has_one_name_for_all_compilers(tmp_path: Path) -> None:
    """gcc leaves the L of internal linkage out: the kernel was not found, and the program went on."""
    (tmp_path / "k.cu").write_text(STATIC_TEMPLATE)
    done = tmigrate(tmp_path, "convert", "k.cu")
    assert done.returncode == 0 and "1 launch, " in done.stdout, done.stdout + done.stderr
    assert tmigrate(tmp_path, "run", "k.cu").stdout == "3\n"


def test_a_program_does_not_go_on_without_a_kernel(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(STATIC_TEMPLATE)
    built = build(tmp_path / "k.cu", mode="run")
    (tmp_path / "manifest").write_text("tmigrate-manifest\t1\n")
    environment = {"TMIGRATE_RUN": str(tmp_path / "manifest")}
    done = subprocess.run([built.executable], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "is not run: the manifest does not list it" in done.stderr
