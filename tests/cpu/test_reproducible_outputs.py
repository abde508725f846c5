"""Outputs are the same from run to run, and a second conversion leaves alone what did not change."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_support import CERTIFICATE, OUTPUTS, PROGRAM, SOURCE, TILE, replace_once, tmigrate


@pytest.mark.parametrize("words", [["-o", "."], ["-o", "written/below"]])
def test_two_conversions_are_byte_identical(tmp_path: Path, words: list[str]) -> None:
    """Elsewhere, from another working folder, with other hashes in Python and other temporary folders."""
    found = []
    for number, name in enumerate(("a", "another folder/with a longer name")):
        folder = tmp_path / name
        folder.mkdir(parents=True)
        (folder / SOURCE).write_text(PROGRAM)
        temporary = tmp_path / f"temporary{number}"
        temporary.mkdir()
        variables = {"PYTHONHASHSEED": str(number), "TMPDIR": str(temporary), "TZ": f"UTC+{number}"}
        start = folder if number == 0 else folder.parent
        prefix = folder.relative_to(start)
        source, output = str(prefix / SOURCE), str(prefix / words[1])
        done = tmigrate(start, "convert", source, "-o", output, variables=variables)
        assert done.returncode == 0, done.stdout + done.stderr
        found.append({name: (folder / words[1] / name).read_bytes() for name in OUTPUTS})
    first, second = found
    assert first == second


def test_a_second_conversion_touches_nothing(project: Path) -> None:
    before = {name: (project / name).stat().st_mtime_ns for name in OUTPUTS}
    done = tmigrate(project, "convert", SOURCE)
    assert done.returncode == 0 and "wrote" not in done.stdout, done.stdout
    assert {name: (project / name).stat().st_mtime_ns for name in OUTPUTS} == before


def test_a_changed_input_is_stale_until_it_is_converted_again(project: Path) -> None:
    """An edit is merged; the new certificate is of tmigrate's own text, so that the edit shows as one."""
    assert tmigrate(project, "status").returncode == 0
    replace_once(project / TILE, "def add_twice", "# mine\ndef add_twice")
    replace_once(project / SOURCE, "twice(x[i]) + y[i]", "y[i] + twice(x[i])")
    stale = tmigrate(project, "status")
    assert stale.returncode == 1
    assert f"stale: input {SOURCE} changed; output {TILE} was edited" in stale.stdout
    done = tmigrate(project, "convert", SOURCE)
    assert done.returncode == 0 and f"{TILE}: warning TM5023" in done.stderr, done.stdout + done.stderr
    text = (project / TILE).read_text()
    assert "# mine\n" in text and "y[i] += twice(x[i])" in text
    again = tmigrate(project, "status")
    assert again.returncode == 1 and again.stdout == (
        f"{CERTIFICATE}  verified  stale: output {TILE} was edited\n1 certificate, 1 stale\n"
    )
    assert tmigrate(project, "verify", SOURCE).returncode == 0
