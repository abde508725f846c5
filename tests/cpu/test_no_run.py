"""``--no-run`` and ``assess`` execute nothing of the input, and compile nothing of it either.

The compilers on the path are stand-ins that write down how they were called, then call the real ones.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from command_support import tmigrate

from tmigrate.tilelang.runtime.compilers import find_compilers

# Whatever of it runs leaves a file: a constructor before main, and main.
PROGRAM = """
#include <cstdio>
#include <cuda_runtime.h>
struct Early {{ Early() {{ fclose(fopen("{folder}/constructor-ran", "w")); }} }} early;
static int value = (fclose(fopen("{folder}/initialiser-ran", "w")), 3);
__global__ void fill(int n, int *x) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = n;
}}
int main() {{
    fclose(fopen("{folder}/main-ran", "w"));
    int *x;
    cudaMalloc(&x, 70 * sizeof(int));
    fill<<<value, 32>>>(70, x);
}}
"""
MARKS = {"constructor-ran", "initialiser-ran", "main-ran"}

# A machine without a compiler has no shell tools to count on, but it has Python.
STAND_IN = """#!{python}
import os, sys
with open({log!r}, "a") as log:
    log.write(repr(sys.argv[1:]) + "\\n")
os.execv({real[0]!r}, {real!r} + sys.argv[1:])
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the program; what of it runs leaves files there."""
    (tmp_path / "marks.cu").write_text(PROGRAM.format(folder=tmp_path))
    return tmp_path


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[list[str]]]:
    """Puts stand-ins for gcc and g++ first on the path; what they were called with so far."""
    found = find_compilers()
    stand_ins = tmp_path / "bin"
    stand_ins.mkdir()
    log = tmp_path / "calls"
    for name, compiler in (("gcc", found.c), ("g++", found.cxx)):
        file = stand_ins / name
        file.write_text(STAND_IN.format(python=sys.executable, log=str(log), real=list(compiler.command)))
        file.chmod(0o755)
    monkeypatch.setenv("PATH", str(stand_ins), prepend=os.pathsep)
    monkeypatch.setenv("TMIGRATE_CACHE", str(tmp_path / "cache"))
    for name in ("TMIGRATE_CC", "TMIGRATE_CXX"):
        monkeypatch.delenv(name, raising=False)
    return lambda: [ast.literal_eval(line) for line in log.read_text().splitlines()]


def marks(folder: Path) -> set[str]:
    """What ran."""
    return {path.name for path in folder.iterdir()} & MARKS


def is_probe(call: list[str]) -> bool:
    """Whether a compiler was asked what it is, where its headers are, or to compile tmigrate's own probe."""
    if call == ["--version"] or call[:2] == ["-E", "-v"] and call[-1] == "-":
        return True
    return any(Path(word).name in ("probe.c", "probe.cpp", "empty.cpp") for word in call)


def test_verification_runs_the_program(folder: Path) -> None:
    """What the other tests look for is there to be found."""
    done = tmigrate(folder, "convert", "marks.cu")
    assert done.returncode == 0 and "1 verified" in done.stdout, done.stdout + done.stderr
    assert marks(folder) == MARKS


@pytest.mark.parametrize(
    ("words", "written"),
    [(["convert", "--no-run"], 4), (["convert", "--no-run", "--check"], 4), (["assess"], 0)],
)
def test_nothing_of_the_input_is_compiled_or_run(
    folder: Path, calls: Callable[[], list[list[str]]], words: list[str], written: int
) -> None:
    done = tmigrate(folder, *words, "marks.cu")
    assert done.returncode == 0 and "1 converted" in done.stdout, done.stdout + done.stderr
    assert len([path for path in folder.iterdir() if path.name.count("marks_")]) == written
    assert marks(folder) == set()
    assert calls() and [call for call in calls() if not is_probe(call)] == []
    objects = folder / "cache" / "objects"
    assert not objects.exists() or not any(objects.iterdir())
