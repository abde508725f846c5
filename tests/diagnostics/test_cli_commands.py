"""Exit statuses, ``--json`` and messages of the command, with conversions that the test chooses."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tmigrate.cli import status_of
from tmigrate.diagnostics import Diagnostic, SourceError
from tmigrate.inputs import Input
from tmigrate.locations import Location
from tmigrate.options import ConvertOptions
from tmigrate.results import InputResult, KernelResult, Level, Status
from tmigrate.tilelang.runtime import compilers

KERNEL_FIELDS = set(
    "name location level status code reason oracle cases launches max_ulp bit_exact rules assumptions "
    "lines_before lines_after".split()
)


class Conversion(ModuleType):
    """Stands in for ``tmigrate.conversion``: every input has one kernel of the wanted status."""

    def __init__(self) -> None:
        super().__init__("tmigrate.conversion")
        self.status = Status.VERIFIED
        self.calls: list[tuple[str, ConvertOptions]] = []
        self.error: Exception | None = None

    def convert_file(self, path: Path, options: ConvertOptions) -> InputResult:
        self.calls.append((str(path), options))
        if self.error is not None:
            raise self.error
        kernel = KernelResult(
            name="saxpy",
            status=self.status,
            level=Level.LOOP,
            location=Location(str(path), 3, 17),
            launches=2,
        )
        return InputResult(path=str(path), kernels=(kernel,), outputs=("k_tile.py",))

    verify_file = assess_file = convert_file

    def run_files(self, inputs: Sequence[Input], options: ConvertOptions) -> int:
        self.calls += [(entry.path, options) for entry in inputs]
        return 7


@pytest.fixture
def conversion(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Conversion:
    """A conversion of the test's own, with the current folder empty."""
    found = Conversion()
    monkeypatch.setitem(sys.modules, "tmigrate.conversion", found)
    monkeypatch.setattr("tmigrate.conversion", found, raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.cu").write_text("__global__ void k() {}\n")
    return found


def call(*words: str) -> int:
    """The exit status; ``--debug`` works in this process, where the stand-in is."""
    return status_of([words[0], "--debug", *words[1:]])


@pytest.mark.parametrize(
    ("status", "command", "expected"),
    [
        (Status.VERIFIED, ["convert", "k.cu"], 0),
        (Status.CONVERTED, ["convert", "k.cu"], 1),
        (Status.CONVERTED, ["convert", "--no-run", "k.cu"], 0),
        (Status.REFUSED, ["convert", "k.cu"], 1),
        (Status.REFUSED, ["convert", "--no-run", "k.cu"], 1),
        (Status.CONVERTED, ["verify", "k.cu"], 1),
        (Status.CONVERTED, ["assess", "k.cu"], 0),
    ],
)
def test_exit_status(conversion: Conversion, status: Status, command: list[str], expected: int) -> None:
    conversion.status = status
    assert call(*command) == expected


def test_options_reach_the_conversion(conversion: Conversion) -> None:
    words = ["-o", "out", "--verify-time", "5", "-I", "inc", "-Iother", "-DN=4", "-D", "M", "-std=c++20"]
    words += ["--instantiate", "f<int>", "--patch", "--check", "-j2", "k.cu", "--", "-n", "100", "--json"]
    assert call("convert", *words) == 0
    (path, options), = conversion.calls  # fmt: skip
    assert path == "k.cu"
    assert options == ConvertOptions(
        output=Path("out"),
        verify_seconds=5.0,
        include_folders=(Path("inc"), Path("other")),
        defines=("N=4", "M"),
        standard="c++20",
        instantiate=("f<int>",),
        arguments=("-n", "100", "--json"),
        patch=True,
        check=True,
        jobs=2,
        debug=True,
    )


def test_no_run_executes_nothing(conversion: Conversion) -> None:
    call("convert", "--no-run", "k.cu")
    assert conversion.calls[0][1].execute is False


def test_json_is_one_object_with_the_public_names(
    conversion: Conversion, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("convert", "--json", "k.cu", "missing.cu") == 2
    report = json.loads(capsys.readouterr().out)
    assert report["version"] == 1
    first, second = report["inputs"]
    assert {"path", "kind", "status", "kernels", "diagnostics", "outputs"} <= set(first)
    assert (first["path"], first["kind"], first["status"]) == ("k.cu", "cuda", "verified")
    kernel = first["kernels"][0]
    assert set(kernel) >= KERNEL_FIELDS
    assert (kernel["location"], kernel["level"], kernel["launches"]) == ("k.cu:3:17", "loop", 2)
    assert kernel["max_ulp"] is None and kernel["reason"] is None and kernel["rules"] == []
    assert (second["status"], second["kernels"]) == ("refused", [])
    assert second["diagnostics"][0]["code"] == "TM5011"


def test_an_inputs_status_is_the_worst_of_its_kernels() -> None:
    kernels = [
        KernelResult(name=s.value, status=s) for s in (Status.VERIFIED, Status.REFUSED, Status.CONVERTED)
    ]
    assert InputResult(path="k.cu", kernels=tuple(kernels)).status is Status.REFUSED
    assert InputResult(path="k.cu", kernels=(kernels[0], kernels[2])).status is Status.CONVERTED
    assert InputResult(path="k.cu").status is Status.NONE
    assert InputResult(path="k.cu", kernels=(kernels[0],), parsed=False).status is Status.REFUSED


def test_an_error_of_the_input_shows_its_place(
    conversion: Conversion, capsys: pytest.CaptureFixture[str]
) -> None:
    conversion.error = SourceError(Diagnostic("TM1001", "expected ';'", Location("k.cu", 1, 12, 16)))
    assert call("convert", "k.cu") == 1
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "k.cu:1:12: error TM1001: expected ';'"
    assert lines[1:3] == ["  1 | __global__ void k() {}", "    |            ^^^^"]


def test_a_conflict_is_not_a_success(conversion: Conversion) -> None:
    def conflicting(path: Path, options: ConvertOptions) -> InputResult:
        return InputResult(path=str(path), conflicts=("k_tile.py",))

    conversion.convert_file = conflicting  # type: ignore[method-assign]
    assert call("convert", "k.cu") == 1


def test_run_gives_the_programs_status_and_arguments(conversion: Conversion) -> None:
    assert call("run", "k.cu", "--", "-n", "3") == 7
    assert conversion.calls[0][1].arguments == ("-n", "3")


def test_run_takes_one_program(conversion: Conversion, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("l.cu", "m.cu"):
        Path(name).write_text("int main() {}\n")
    assert call("run", "l.cu", "m.cu") == 2
    assert "TM5010: 'l.cu' 'm.cu': these are 2 programs; run takes one" in capsys.readouterr().err
    assert call("run", "l.cu", "k.cu") == 7
    assert [path for path, _ in conversion.calls] == ["l.cu", "k.cu"]


def test_two_inputs_of_one_name_do_not_share_a_folder(
    conversion: Conversion, capsys: pytest.CaptureFixture[str]
) -> None:
    """The second's outputs would replace the first's."""
    for folder in ("a", "b"):
        Path(folder).mkdir()
        (Path(folder) / "k.cu").write_text("__global__ void k() {}\n")
    assert call("convert", "a", "b", "-o", "out") == 2
    told = "TM5010: 'a/k.cu' and 'b/k.cu' would both be written to 'out/k_tile.py'"
    assert told in capsys.readouterr().err
    assert not conversion.calls and not Path("out").exists()
    assert call("convert", "a", "b") == 0 and len(conversion.calls) == 2


def test_a_slow_step_is_told_in_a_log_too(
    conversion: Conversion, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def slow(path: Path, options: ConvertOptions) -> InputResult:
        with compilers.announce("Building the library"):
            return InputResult(path=str(path))

    monkeypatch.setattr(compilers, "_announcer", compilers._announcer)
    conversion.convert_file = slow  # type: ignore[method-assign]
    assert call("convert", "k.cu") == 0
    assert capsys.readouterr().err.startswith("Building the library ...\n")


def wrong(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """What the command says when it must end with status 2 and without a traceback."""
    assert status_of(words) == 2
    said: str = capsys.readouterr().err
    assert "Traceback" not in said
    return said


@pytest.mark.parametrize(
    "words",
    [["convert"], ["convert", "--no-such-option", "k.cu"], ["convert", "-j0", "k.cu"], ["no-such-command"]],
)
def test_wrong_use(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert wrong(words, capsys).startswith("Usage: tmigrate")


@pytest.mark.parametrize("place", ["file", "file/below", "/proc/out"])
def test_an_output_place_that_cannot_be_written(
    conversion: Conversion, place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("file").write_text("")
    assert "TM5020" in wrong(["convert", "k.cu", "-o", place], capsys)
    assert conversion.calls == []


def test_wrong_use_under_json_is_one_object_too(
    conversion: Conversion, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("file").write_text("")
    assert status_of(["convert", "k.cu", "-o", "file", "--json"]) == 2
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert report["inputs"] == [] and report["diagnostics"][0]["code"] == "TM5020"


def test_explain_prints_an_entry(capsys: pytest.CaptureFixture[str]) -> None:
    assert status_of(["explain", "tm5001"]) == 0
    assert capsys.readouterr().out.startswith("TM5001: no working compiler\n")


def test_explain_lists_every_code_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert status_of(["explain"]) == 0
    codes = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert "TM5001" in codes and codes == sorted(set(codes))


@pytest.mark.parametrize(("code", "near"), [("TM501", "TM5010"), ("TM5OO1", "TM5001"), ("5002", "TM5002")])
def test_explain_suggests_the_nearest_code(code: str, near: str, capsys: pytest.CaptureFixture[str]) -> None:
    said = wrong(["explain", code], capsys)
    assert "TM5040" in said and near in said


def test_every_entry_is_complete() -> None:
    from tmigrate.codes import all_codes

    for code, entry in all_codes().items():
        assert code == entry.code and len(code) == 6 and code[2:].isdigit(), code
        assert entry.title and entry.meaning.endswith((".", "`", ":")), code


def test_doctor_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert status_of(["doctor", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["usable"] is True and found["problems"] == []
    assert found["used"] in found["compilers"] or found["used"]["c"]
    assert found["packages"]["libclang"] == "18.1.1"
