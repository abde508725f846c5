"""The caret stands below the marked text, whatever the line holds before it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tmigrate.diagnostics import Diagnostic, Note, Severity
from tmigrate.locations import Location
from tmigrate.rendering import WIDEST, excerpt, render_diagnostic


def write(folder: Path, text: str) -> str:
    """A source file's path."""
    file = folder / "k.cu"
    file.write_bytes(text.encode())
    return str(file)


def byte_column(line: str, marked: str) -> int:
    """The column of ``marked`` as libclang counts it: bytes of UTF-8, from 1."""
    return line.encode().index(marked.encode()) + 1


@pytest.mark.parametrize(
    ("line", "shown", "caret"),
    [
        ("float y = bad(x);", "float y = bad(x);", "          ^^^"),
        ("\tfloat y = bad(x);", "    float y = bad(x);", "              ^^^"),
        ("a\tbad(x);", "a   bad(x);", "    ^^^"),
        ("/* 幅 */ bad(x);", "/* 幅 */ bad(x);", "         ^^^"),  # two cells, three bytes
        ("/* é */ bad(x);", "/* é */ bad(x);", "        ^^^"),  # one cell, two bytes
        ("/* \x1b[2J */ bad(x);", "/* \ufffd[2J */ bad(x);", "           ^^^"),  # must not clear the screen
        ("bad(x);\r", "bad(x);", "^^^"),
    ],
)
def test_carets_stand_below_the_marked_text(tmp_path: Path, line: str, shown: str, caret: str) -> None:
    column = byte_column(line, "bad")
    file = write(tmp_path, f"// first\n{line}\n")
    assert excerpt(Location(file, 2, column, column + 3)) == [f"  2 | {shown}", f"    | {caret}"]


def test_a_marked_wide_character_has_two_carets(tmp_path: Path) -> None:
    file = write(tmp_path, "int 幅;\n")
    assert excerpt(Location(file, 1, 5, 8))[1] == "    |     ^^"


def test_a_column_without_an_end_has_one_caret(tmp_path: Path) -> None:
    assert excerpt(Location(write(tmp_path, "int x\n"), 1, 6))[1] == "    |      ^"


def test_a_line_without_a_column_has_no_caret(tmp_path: Path) -> None:
    assert excerpt(Location(write(tmp_path, "int x;\n"), 1)) == ["  1 | int x;"]


def test_the_margin_is_as_wide_as_the_line_number(tmp_path: Path) -> None:
    file = write(tmp_path, "\n" * 99 + "bad\n")
    assert excerpt(Location(file, 100, 1, 4)) == ["  100 | bad", "      | ^^^"]


def test_a_long_line_is_cut_around_the_mark(tmp_path: Path) -> None:
    file = write(tmp_path, "x" * 5000 + "bad" + "y" * 5000)
    shown, carets = (line.partition("| ")[2] for line in excerpt(Location(file, 1, 5001, 5004)))
    assert len(shown) == WIDEST and shown[0] == shown[-1] == "\u2026"
    assert shown[len(carets) - 3 : len(carets)] == "bad" and carets.strip() == "^^^"


@pytest.mark.parametrize("location", [None, Location("missing.cu", 3, 1), Location("k.cu")])
def test_where_there_is_no_source_there_is_no_excerpt(location: Location | None) -> None:
    assert excerpt(location) == []


def test_a_diagnostic_names_its_place_notes_and_remedy(tmp_path: Path) -> None:
    file = write(tmp_path, "first();\n  second();\n")
    note = Note("the other access is here", Location(file, 1, 1, 6))
    found = Diagnostic("TM4001", "a race", Location(file, 2, 3, 9), Severity.ERROR, "add a barrier", (note,))
    assert [line for line, _ in render_diagnostic(found)] == [
        f"{file}:2:3: error TM4001: a race",
        "  2 |   second();",
        "    |   ^^^^^^",
        f"  {file}:1:1: note: the other access is here",
        "  1 | first();",
        "    | ^^^^^",
        "  help: add a barrier",
    ]


def test_a_message_cannot_steer_the_terminal() -> None:
    lines = render_diagnostic(Diagnostic("TM1000", "name '\x1b[31m'\nsecond line"))
    assert [line for line, _ in lines] == ["error TM1000: name '\ufffd[31m'", "    second line"]
