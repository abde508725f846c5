"""What the CUDA front end refuses, by code, line and column; the cases stand in `cuda_refusals.txt`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tmigrate.codes import all_codes
from tmigrate.converters.cuda import FrontEndOptions, FrontEndResult, convert_source

CASE = re.compile(r"^//// ([\w -]+): (TM\d+) (\d+):(\d+)\n(.*?)(?=^////|\Z)", re.MULTILINE | re.DOTALL)
TEXT = (Path(__file__).parent / "cuda_refusals.txt").read_text()
CASES = {m[1]: (m[2], int(m[3]), int(m[4]), m[5]) for m in CASE.finditer(TEXT)}


@pytest.fixture(autouse=True)
def without_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same answers on machines with and without a CUDA toolkit."""
    monkeypatch.setattr("tmigrate.converters.cuda.parsing.real_cuda_headers", lambda: None)


def convert(folder: Path, source: str) -> FrontEndResult:
    path = folder / "case.cu"
    path.write_text(source)
    return convert_source(path, FrontEndOptions())


def test_the_cases_are_read() -> None:
    assert len(CASES) == TEXT.count("////") >= 49


@pytest.mark.parametrize("name", CASES)
def test_refusal_names_code_and_place(name: str, tmp_path: Path) -> None:
    code, line, column, source = CASES[name]
    result = convert(tmp_path, source)
    kernel = next(k for k in result.kernels if k.definition == "k")
    assert kernel.status == "refused"
    assert result.module.function(kernel.name) is None
    places = [(d.code, d.location.line, d.location.column) for d in kernel.diagnostics if d.location]
    if name == "captured from the host":  # clang points at the use inside of the lambda
        assert code in {c for c, _, _ in places}
    else:
        assert (code, line, column) in places
    assert all(d.code in all_codes() for d in kernel.diagnostics)
    assert next(d for d in kernel.diagnostics if d.code == code).remedy or code in ("TM1001", "TM1013")


def test_all_problems_of_a_kernel_in_one_run(tmp_path: Path) -> None:
    source = (
        "__global__ void k(int *a) {\n"
        '  asm("");\n'
        "  int *p = new int;\n"
        "  a[0] = *p;\n"
        "  goto end;\n"
        "end:\n"
        "  a[1] = __shfl_down(a[0], 1);\n"
        "}\n"
        "__global__ void other(int *a) { a[0] = 1; }\n"
    )
    result = convert(tmp_path, source)
    refused, converted = result.kernels
    assert [(d.code, d.location.line) for d in refused.diagnostics if d.location] == [
        ("TM1016", 2), ("TM1019", 3), ("TM1012", 5), ("TM1012", 6),
    ]  # fmt: skip
    assert converted.status == "converted"
    assert [f.name for f in result.module.functions] == ["other"]


def test_refusal_in_a_called_function_names_the_call(tmp_path: Path) -> None:
    source = '__device__ void f() {\n  asm("");\n}\n__global__ void k(int *a) {\n  f();\n}\n'
    (kernel,) = convert(tmp_path, source).kernels
    (found,) = kernel.diagnostics
    assert found.location is not None and (found.code, found.location.line) == ("TM1016", 2)
    assert found.notes[0].location is not None and found.notes[0].location.line == 5


def test_an_unknown_construct_is_refused(tmp_path: Path) -> None:
    source = "__global__ void k(int *a) {\n  void *p = &&x;\nx:\n  a[0] = p != 0;\n}"
    (kernel,) = convert(tmp_path, source).kernels
    assert ("TM1013", 2, 13) in [
        (d.code, d.location.line, d.location.column) for d in kernel.diagnostics if d.location
    ]


@pytest.mark.parametrize("content", [b"\x7fELF\0\0\0", b"__global__ void k( {"], ids=["binary", "syntax"])
def test_an_unreadable_file_converts_nothing(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "bad.cu"
    path.write_bytes(content)
    result = convert_source(path, FrontEndOptions())
    assert [d.code for d in result.diagnostics][:1] == ["TM1001"]
    assert result.module.functions == ()


def test_a_host_file_has_no_kernels(tmp_path: Path) -> None:
    result = convert(tmp_path, '#include <cstdio>\nint main() { printf("hi"); }\n')
    assert (result.kernels, result.diagnostics) == ([], [])
