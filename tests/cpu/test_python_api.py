"""``tmigrate.convert``, ``verify`` and ``assess`` as Python calls: their results, and their errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_support import CERTIFICATE, OUTPUTS, PROGRAM, SOURCE, THREAD

import tmigrate
from tmigrate.diagnostics import UsageError

# DESIGN's names for --json, with the types that a kernel which was verified has.
KERNEL: dict[str, type | tuple[type, ...]] = {
    "name": str,
    "location": str,
    "level": str,
    "status": str,
    "code": type(None),
    "reason": type(None),
    "oracle": str,
    "cases": int,
    "launches": int,
    "max_ulp": float,
    "bit_exact": bool,
    "rules": list,
    "assumptions": list,
    "lines_before": int,
    "lines_after": int,
}
INPUT: dict[str, type] = {
    "path": str,
    "kind": str,
    "status": str,
    "kernels": list,
    "diagnostics": list,
    "outputs": list,
}

REFUSED = '__global__ void k(int *x)\n{\n    asm volatile("bar.sync 0;");\n}\n'


def wrong_types(found: dict[str, Any], wanted: dict[str, Any]) -> dict[str, Any]:
    """What is missing in an object or has another type."""
    return {
        name: found.get(name, "missing") for name in wanted if type(found.get(name, ...)) is not wanted[name]
    }


def test_a_file_is_converted_and_verified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path(SOURCE).write_text(PROGRAM)
    result = tmigrate.convert(SOURCE)
    (kernel,) = result.kernels
    assert (result.status, kernel.status, kernel.level) == ("verified", "verified", "loop")
    assert (kernel.launches, kernel.bit_exact, kernel.oracle) == (1, True, "cpu")
    assert kernel.cases is not None and kernel.cases > 1
    assert kernel.location is not None and (kernel.location.line, kernel.location.column) == (8, 17)
    assert {Path(name).name for name in result.outputs} == OUTPUTS and result.texts == {}

    found = result.to_json()
    assert json.loads(json.dumps(found)) == found
    assert wrong_types(found, INPUT) == {}
    assert (found["path"], found["kind"], found["diagnostics"]) == (SOURCE, "cuda", [])
    assert wrong_types(found["kernels"][0], KERNEL) == {}
    assert {type(word) for word in found["outputs"]} == {str}
    # The certificate says the same.
    certificate = json.loads(Path(CERTIFICATE).read_text())
    assert {name: certificate["kernels"][0][name] for name in KERNEL} == {
        name: found["kernels"][0][name] for name in KERNEL
    }


def test_verify_judges_what_stands_on_the_disk(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    assert tmigrate.verify(SOURCE).status == "verified"
    text = Path(THREAD).read_text()
    Path(THREAD).write_text(text.replace("2.0", "3.0"))
    (kernel,) = tmigrate.verify(SOURCE).kernels
    assert (kernel.status, kernel.code, kernel.level) == ("refused", "TM4101", None)
    assert wrong_types(kernel.to_json(), {"level": type(None), "max_ulp": type(None), "code": str}) == {}


def test_source_text_leaves_nothing_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = tmigrate.convert(PROGRAM, run=False)
    assert (result.status, result.outputs) == ("converted", ())
    assert set(result.texts) == {name.replace("doubled", "source") for name in OUTPUTS}
    assert "y[i] = twice(x[i]) + y[i]" in result.texts["source_tile.py"]
    assert list(tmp_path.iterdir()) == []


def test_source_text_stands_beside_its_outputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that they can be verified again."""
    monkeypatch.chdir(tmp_path)
    result = tmigrate.convert(PROGRAM, output="out", run=False)
    assert all(Path(name).exists() for name in result.outputs) and result.texts == {}
    assert Path("out/source.cu").read_text() == PROGRAM
    assert tmigrate.verify("out/source.cu").status == "verified"
    with pytest.raises(UsageError, match="TM5021"):
        tmigrate.convert(PROGRAM + "\n", output="out", run=False)
    assert Path("out/source.cu").read_text() == PROGRAM


def test_what_is_wrong_with_a_source_stands_in_its_result() -> None:
    refused = tmigrate.assess(REFUSED)
    (kernel,) = refused.kernels
    assert (refused.status, kernel.status, kernel.code) == ("refused", "refused", "TM1016")
    assert kernel.location is not None and kernel.location.line == 1
    broken = tmigrate.convert("__global__ void k(int *x) {\n    x[0] = 1\n}\n", run=False)
    assert (broken.status, broken.kernels, broken.parsed, broken.outputs) == ("refused", (), False, ())
    (found,) = broken.diagnostics
    assert found.location is not None
    assert (found.code, found.location.line, found.location.column) == ("TM1001", 2, 13)


@pytest.mark.parametrize("call", ["convert", "verify", "assess"])
@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("missing.cu", "TM5011"),
        ("__global__ void k(int *x) { *x = 1; }", "TM5011"),  # text has a line break
        ("object.o", "TM5013"),
        ("empty", "TM5012"),
        ("two", "TM5010"),  # a silent choice of one would drop the other
    ],
)
def test_what_is_no_source_is_an_error(
    call: str, path: str, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("object.o").write_bytes(b"\x7fELF\0")
    Path("empty").mkdir()
    Path("two").mkdir()
    for name in ("a.cu", "b.cu"):
        (tmp_path / "two" / name).write_text("__global__ void k(int *x) { *x = 1; }\n")
    with pytest.raises(tmigrate.TmigrateError) as caught:
        getattr(tmigrate, call)(path)
    assert isinstance(caught.value, UsageError) and caught.value.diagnostic.code == code
    assert {entry.name for entry in tmp_path.rglob("*")} == {"object.o", "empty", "two", "a.cu", "b.cu"}


@pytest.mark.parametrize("source", [SOURCE, PROGRAM])
def test_a_place_that_cannot_be_written_is_an_error(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(SOURCE).write_text(PROGRAM)
    with pytest.raises(UsageError, match="TM5020"):
        tmigrate.convert(source, output=SOURCE, run=False)
