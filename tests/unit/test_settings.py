"""`tmigrate.toml`: where it is found, what it completes, and how its mistakes are told."""

from __future__ import annotations

from pathlib import Path

import pytest

from tmigrate.diagnostics import UsageError
from tmigrate.options import ConvertOptions
from tmigrate.settings import KernelSettings, find_settings, read_settings, write_stub

PROGRAM = """\
[program."solver.cu"]
arguments = ["-n", "100"]
defines = ["REAL=float"]
include_folders = ["include"]
standard = "c++20"
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "tmigrate.toml"
    path.write_text(text)
    return path


def test_settings_come_from_the_nearest_folder_up_to_the_root(tmp_path: Path) -> None:
    project, inner = tmp_path / "project", tmp_path / "project" / "src" / "deep"
    inner.mkdir(parents=True)
    (project / "pyproject.toml").write_text("")
    source = inner / "solver.cu"
    write(tmp_path, PROGRAM)
    assert find_settings(source).path is None  # above the root
    outer = write(project, PROGRAM)
    assert find_settings(source).path == outer
    nearer = write(inner, PROGRAM)
    assert find_settings(source).path == nearer


def test_the_command_line_wins(tmp_path: Path) -> None:
    settings = read_settings(write(tmp_path, PROGRAM))
    plain = settings.merged(Path("solver.cu"), ConvertOptions())
    assert plain.arguments == ("-n", "100")
    assert plain.include_folders == (tmp_path / "include",)
    assert plain.standard == "c++20"
    given = ConvertOptions(arguments=("-n", "7"), standard="c++17", defines=("REAL=double",))
    merged = settings.merged(Path("solver.cu"), given)
    assert merged.arguments == ("-n", "7")
    assert merged.standard == "c++17"
    assert merged.defines == ("REAL=float", "REAL=double")  # of two -D of one name the last holds
    assert settings.merged(Path("other.cu"), given) == given


def test_kernel_settings(tmp_path: Path) -> None:
    text = """\
[kernel."gather"]
grid = 4
block = [16, 8]
shared = 1024
sizes = {n = [500, 37], out = 500, config = {width = 3}}
ranges = {index = [0, 63]}
"""
    found = read_settings(write(tmp_path, text)).kernels["gather"]
    sizes = {"n": (500, 37), "out": (500,), "config.width": (3,)}
    assert found == KernelSettings((4, 1, 1), (16, 8, 1), 1024, sizes, {"index": (0, 63)})


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ('[program."a.cu"]\n  args = ["1"]\n', 2, 3, "'args' is not a key"),
        ('[program."a.cu"]\narguments = "1"\n', 2, 1, "'arguments' must be an array of strings"),
        ("[kernel.k]\nsizes = {n = 1}\ngird = [1]\n", 3, 1, "'gird' is not a key"),
        ("[kernel.k]\nblock = [0]\n", 2, 1, "positive integers"),
        ("[kernel.k]\nranges = {x = [3, 1]}\n", 2, 1, "smaller number first"),
        ("\n[kernels.k]\nblock = 1\n", 2, 2, "'kernels' is not a table"),
        ("[kernel.k]\nblock = = 1\n", 2, 9, "Invalid value"),
    ],
)
def test_mistakes_have_a_place(tmp_path: Path, text: str, line: int, column: int, words: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(UsageError) as caught:
        read_settings(path)
    found = caught.value.diagnostic
    assert found.code == "TM5041"
    assert words in found.message
    assert found.location is not None
    assert (found.location.file, found.location.line, found.location.column) == (str(path), line, column)


def test_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        read_settings(write(tmp_path, "[kernel.k]\na = 1\nb = 2\n[kernel.j]\nb = 3\n"))
    places = [(d.location.line, d.location.column) for d in caught.value.diagnostics if d.location]
    assert places == [(2, 1), (3, 1), (5, 1)]


def test_a_stub_parses_and_never_replaces_a_file(tmp_path: Path) -> None:
    path = write_stub(tmp_path, [("pick", ["at", "x"], "an index is negative")])
    assert path == tmp_path / "tmigrate.toml"
    assert read_settings(path).kernels == {"pick": KernelSettings()}
    completed = (
        path.read_text().replace("# grid", "grid").replace("# block", "block").replace("# sizes", "sizes")
    )
    path.write_text(completed)
    assert read_settings(path).kernels["pick"].sizes == {"at": (1000,), "x": (1000,)}
    assert write_stub(tmp_path, [("other", [], "")]) is None
    assert path.read_text() == completed
