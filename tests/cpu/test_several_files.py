"""Programs of several source files: which files are one program, and that all of them count."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_support import replace_once, tmigrate

import tmigrate as api
from tmigrate.programs import find_programs

HEADER = """\
void set_factor(float f);
void launch_scale(float *x, int n);
__global__ void add(float *x, float v, int n);
"""
SCALE = """\
#include "parts.h"
static __constant__ float factor;
__global__ void scale(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = factor * x[i];
}
void set_factor(float f) { cudaMemcpyToSymbol(factor, &f, sizeof f); }
void launch_scale(float *x, int n) { scale<<<(n + 127) / 128, 128>>>(x, n); }
"""
ADD = """\
__global__ void add(float *x, float v, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += v;
}
"""
MAIN = r"""
#include <cstdio>
#include <cuda_runtime.h>
#include "parts.h"
void launch_add(float *x, float v, int n);
int main() {
    const int n = 1003;
    static float host[n];
    for (int i = 0; i < n; i++) host[i] = 3.0f;
    float *x;
    cudaMalloc(&x, sizeof host);
    cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
    set_factor(2.0f);
    launch_scale(x, n);
    launch_add(x, 1.0f, n);
    cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (float v : host) wrong += v != 7.0f;
    printf("%s\n", wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
"""
LAUNCHER = """\
#include "parts.h"
void launch_add(float *x, float v, int n) { add<<<(n + 63) / 64, 64>>>(x, v, n); }
"""
FILES = {"parts.h": HEADER, "scale.cu": SCALE, "add.cu": ADD, "launcher.cu": LAUNCHER, "main.cpp": MAIN}
SOURCES = [name for name in FILES if not name.endswith(".h")]


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, converted: constant memory of one file, and a kernel that another file launches."""
    folder = write(tmp_path_factory.mktemp("several"), FILES)
    done = tmigrate(folder, "convert", ".", "-o", "out", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    found = {k["name"]: k for entry in json.loads(done.stdout)["inputs"] for k in entry["kernels"]}
    assert {name: (k["status"], k["level"]) for name, k in found.items()} == {
        "scale": ("verified", "loop"),
        "add": ("verified", "loop"),
    }
    assert all(k["launches"] == 1 for k in found.values())
    return folder


def test_a_program_of_several_files_runs_on_its_converted_kernels(program: Path) -> None:
    assert tmigrate(program, "run", *SOURCES, "-o", "out").stdout == "PASS\n"
    wrong = {"TMIGRATE_RUN_BREAK": "1"}
    assert tmigrate(program, "run", ".", variables=wrong).stdout == "FAIL\n"


def test_the_pytest_file_and_the_certificate_know_the_other_files(program: Path) -> None:
    assert 'sources=[HERE / "../add.cu", HERE / "../launcher.cu", HERE / "../main.cpp"]' in (
        program / "out" / "test_scale_tile.py"
    ).read_text()
    assert tmigrate(program, "status", "out").returncode == 0
    replace_once(program / "main.cpp", "1003", "1001")
    done = tmigrate(program, "status", "out")
    replace_once(program / "main.cpp", "1001", "1003")
    assert done.returncode == 1 and "stale: input ../main.cpp changed" in done.stdout


def test_the_api_takes_the_other_files(program: Path) -> None:
    others = [program / name for name in SOURCES if name != "add.cu"]
    result = api.verify(program / "add.cu", output=program / "out", sources=others)
    assert [(k.name, k.status.value, k.launches) for k in result.kernels] == [("add", "verified", 1)]


def test_a_settings_file_names_the_other_files(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    others = ", ".join(f'"{name}"' for name in SOURCES if name != "scale.cu")
    (tmp_path / "tmigrate.toml").write_text(f'[program."scale.cu"]\nsources = [{others}]\n')
    done = tmigrate(tmp_path, "convert", "scale.cu", "--json")
    (kernel,) = json.loads(done.stdout)["inputs"][0]["kernels"]
    assert (kernel["status"], kernel["launches"]) == ("verified", 1)


NAMESAKES = """\
#include <cstdio>
static __device__ int stored;
static __global__ void k(int *x, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = {value};
    if (i == 0) stored = {value};
}}
"""
FIRST = NAMESAKES.format(value=1) + "void first(int *x, int n) { k<<<2, 64>>>(x, n); }\n"
SECOND = NAMESAKES.format(value=2) + """
void first(int *x, int n);
int main() {
    int *x, host[50], seen;
    cudaMalloc(&x, sizeof host);
    first(x, 50);
    cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
    printf("%d", host[49]);
    k<<<2, 64>>>(x, 50);
    cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
    cudaMemcpyFromSymbol(&seen, stored, sizeof seen);
    printf(" %d %d\\n", host[49], seen);
}
"""


def test_static_kernels_and_variables_of_one_name_are_not_confused(tmp_path: Path) -> None:
    write(tmp_path, {"one.cu": FIRST, "two.cu": SECOND})
    done = tmigrate(tmp_path, "convert", ".", "--json")
    kernels = {e["path"]: e["kernels"][0] for e in json.loads(done.stdout)["inputs"]}
    assert {p: (k["status"], k["launches"]) for p, k in kernels.items()} == {
        "one.cu": ("verified", 1),
        "two.cu": ("verified", 1),
    }
    assert tmigrate(tmp_path, "run", ".").stdout == "1 2 2\n"


def test_a_settings_file_may_name_what_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "add.cu").write_text(ADD)
    (tmp_path / "tmigrate.toml").write_text('[program."add.cu"]\nsources = ["nowhere.cpp"]\n')
    done = tmigrate(tmp_path, "convert", "add.cu", "--json")
    (found,) = json.loads(done.stdout)["inputs"][0]["diagnostics"]
    assert found["code"] == "TM5011" and "nowhere.cpp' does not exist" in found["message"]


def test_the_pytest_file_finds_the_headers(tmp_path: Path) -> None:
    kernel = '#include "inc.h"\n__global__ void k(int *x) { x[threadIdx.x] = VALUE; }\n'
    write(tmp_path, {"inc/inc.h": "#define VALUE 3\n", "k.cu": kernel})
    assert tmigrate(tmp_path, "convert", "k.cu", "--no-run", "-I", "inc", "-o", "out").returncode == 0
    assert ', include_folders=[HERE / "../inc"]' in (tmp_path / "out" / "test_k_tile.py").read_text()


def test_two_kernels_of_one_name_are_not_run(tmp_path: Path) -> None:
    """A launch names its kernel: the wrong one would run."""
    kernel = "namespace part { static __global__ void k(int *x) { *x = VALUE; } }\n"
    one = kernel.replace("VALUE", "1") + "void first(int *x) { part::k<<<1, 1>>>(x); }\n"
    two = kernel.replace("VALUE", "2") + "int main() { part::k<<<1, 1>>>(nullptr); }\n"
    write(tmp_path, {"one.cu": one, "two.cu": two})
    done = tmigrate(tmp_path, "run", ".")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("two.cu:1:41: error TM4120: two files of the program define a kernel ")


MAIN_CU, KERNELS, PLAIN = "int main() {}\n", "__global__ void k() {}\n", "void f() {}\n"


@pytest.mark.parametrize(
    ("files", "named", "expected"),
    [
        # one main: one program
        ({"a.cu": MAIN_CU, "b.cu": KERNELS}, ["a.cu", "b.cu"], {"a.cu": ["b.cu"], "b.cu": ["a.cu"]}),
        ({"a.cpp": MAIN_CU, "b.cu": KERNELS}, ["b.cu", "a.cpp"], {"b.cu": ["a.cpp"]}),
        ({"a.cpp": MAIN_CU, "b.cu": KERNELS, "c.c": PLAIN}, ["."], {"b.cu": ["a.cpp", "c.c"]}),
        ({"a.cu": MAIN_CU, "k/b.cu": KERNELS}, ["."], {"a.cu": ["k/b.cu"], "k/b.cu": ["a.cu"]}),
        # several: each folder alone
        ({"a.cu": MAIN_CU, "b.cu": MAIN_CU, "c.cu": KERNELS}, ["."], {"a.cu": [], "b.cu": [], "c.cu": []}),
        (
            {"p/a.cu": MAIN_CU, "p/b.cu": KERNELS, "q/a.cu": MAIN_CU},
            ["."],
            {"p/a.cu": ["p/b.cu"], "p/b.cu": ["p/a.cu"], "q/a.cu": []},
        ),
        # a file that another includes is no part of its own; files that are not named are not looked for
        ({"a.cu": '#include "b.cpp"\n' + MAIN_CU, "b.cpp": PLAIN}, ["."], {"a.cu": []}),
        ({"a.cu": MAIN_CU, "b.cu": KERNELS}, ["b.cu"], {"b.cu": []}),
        # plain C++ alone is an input without kernels; with kernels it is CUDA
        ({"a.cpp": MAIN_CU}, ["a.cpp"], {"a.cpp": []}),
        ({"a.cpp": MAIN_CU + KERNELS, "b.cu": PLAIN}, ["."], {"b.cu": ["a.cpp"]}),
        ({"a.cpp": MAIN_CU + KERNELS}, ["a.cpp"], {"a.cpp": []}),
    ],
)
def test_which_files_are_one_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], named: list[str], expected: object
) -> None:
    write(tmp_path, files)
    monkeypatch.chdir(tmp_path)
    assert {entry.path: list(entry.companions) for entry in find_programs(named)} == expected


def test_places_in_other_files_are_told_as_a_person_names_them(tmp_path: Path) -> None:
    """A race in an included file: the line table joins its name with the folder of the compilation."""
    part = "__global__ void k(int *x) {\n    *x = threadIdx.x;  // every thread\n}\n"
    main = '#include "part/k.cuh"\nint main() { int *x; cudaMalloc(&x, 4); k<<<1, 64>>>(x); }\n'
    write(tmp_path, {"part/k.cuh": part, "main.cu": main})
    done = tmigrate(tmp_path, "convert", "main.cu", "--json")
    (entry,) = json.loads(done.stdout)["inputs"]
    places = [(d["file"], d["line"]) for d in entry["diagnostics"] if d["code"] == "TM4109"]
    assert places == [("part/k.cuh", 2)], entry["diagnostics"]
