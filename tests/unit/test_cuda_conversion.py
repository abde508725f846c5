"""Each construct of CUDA C++ as thread-level IR: the cases stand in `cuda_conversion.txt`, source and text.

All sources are one translation unit, parsed once; a case's text is that of the functions on its lines.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pytest

from tmigrate.converters.cuda import FrontEndOptions, FrontEndResult, convert_source
from tmigrate.tilelang.ir.verify import verify
from tmigrate.tilelang.text.parser import parse_module
from tmigrate.tilelang.text.printer import print_module


@dataclass(frozen=True)
class Case:
    """A source, and the functions that it becomes."""

    source: str
    expected: str


SECTION = re.compile(r"^//// ([^\n]+)\n(.*?)^----\n(.*?)(?=^////|\Z)", re.MULTILINE | re.DOTALL)
TEXT = Path(__file__).parent / "cuda_conversion.txt"
CASES = {m[1]: Case(m[2], m[3]) for m in SECTION.finditer(TEXT.read_text())} if TEXT.exists() else {}


def convert_file(folder: Path) -> FrontEndResult:
    path = folder / "cases.cu"
    path.write_text("".join(case.source for case in CASES.values()))
    result = convert_source(path, FrontEndOptions())
    assert not result.diagnostics, [str(d) for d in result.diagnostics]
    return result


def convert_all(folder: Path) -> dict[str, str]:
    """The text of each case's functions, without marks and decorators."""
    module = convert_file(folder).module
    functions = {f.name: f for f in module.functions}
    text = re.sub(r"  # cases\.cu:\d+$", "", print_module(module), flags=re.MULTILINE)
    found = dict.fromkeys(CASES, "")
    for match in re.finditer(r"^def (\w+)\(.*?(?=^[^\s)]|\Z)", text, re.MULTILINE | re.DOTALL):
        location = functions[match[1]].location
        assert location is not None
        found[_case_of(location.line)] += match[0].rstrip() + "\n"
    return found


def _case_of(line: int) -> str:
    last = 0
    for name, case in CASES.items():
        last += case.source.count("\n")
        if line <= last:
            return name
    raise AssertionError(f"no case has line {line}")


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> FrontEndResult:
    return convert_file(tmp_path_factory.mktemp("cuda"))


@lru_cache(maxsize=1)
def texts(folder: Path) -> dict[str, str]:
    return convert_all(folder)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cuda_texts")


@pytest.mark.parametrize("name", CASES)
def test_construct(name: str, folder: Path) -> None:
    assert texts(folder)[name].strip() == CASES[name].expected.strip()


def test_every_kernel_converts(result: FrontEndResult) -> None:
    refused = [k for k in result.kernels if k.status != "converted"]
    assert [(k.name, [str(d) for d in k.diagnostics]) for k in refused] == []
    assert len(CASES) >= 30


def test_the_module_is_sound_and_round_trips(result: FrontEndResult) -> None:
    verify(result.module)
    assert parse_module(print_module(result.module)).functions == result.module.functions


def test_constants_and_variables_of_the_module(result: FrontEndResult) -> None:
    constants = {c.name: (c.value, str(c.type)) for c in result.module.constants}
    assert constants["WIDTH"] == (16, "i32") and constants["TWICE"] == (32, "i32")
    assert constants["SCALE"] == (0.5, "f32") and constants["MINUS"] == (-3, "i32")
    assert "LOOSE" not in constants and "ALIAS" not in constants
    variables = {v.name: (str(v.type), v.space.value, v.symbol) for v in result.module.variables}
    assert variables["table"] == ("Array[f32, 2, 3]", "device", "_ZL5table")
    assert variables["total"] == ("Array[i32, 1]", "managed", "total")
    assert variables["coefficients"][1] == "constant"


def test_struct_layouts_are_clang_s(result: FrontEndResult) -> None:
    outer = result.module.struct_table["Outer"]
    assert [(f.name, f.offset) for f in outer.fields] == [("p", 0), ("d", 16)]
    assert (outer.size, outer.alignment) == (24, 8)
    assert [f.name for f in result.module.struct_table["Derived"].fields] == ["base_Base", "m"]


def test_every_statement_has_its_place(result: FrontEndResult) -> None:
    from tmigrate.tilelang.ir.node import walk
    from tmigrate.tilelang.ir.statements import Stmt

    for function in result.module.functions:
        for node in walk(function.body):
            if isinstance(node, Stmt):
                assert node.location is not None and node.location.line > 0, (function.name, node)
