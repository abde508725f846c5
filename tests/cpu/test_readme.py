"""The README's first commands, and its Python, do what it says; installing is tested with the wheel."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command_support import tmigrate

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ".venv/bin/tmigrate "


def first_block(language: str) -> str:
    """The README's first block of a language."""
    found = re.search(rf"```{language}\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert found is not None
    return found[1]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with the one sample that the README names."""
    (tmp_path / "samples").mkdir()
    shutil.copy(ROOT / "samples" / "saxpy.cu", tmp_path / "samples")
    return tmp_path


def test_the_first_commands(checkout: Path) -> None:
    commands = [part.strip() for part in first_block("sh").split("&&")]
    ours = [part.removeprefix(PROGRAM).split() for part in commands if part.startswith(PROGRAM)]
    assert [words[0] for words in ours] == ["convert", "run"]
    converted, ran = (tmigrate(checkout, *words) for words in ours)
    assert converted.returncode == 0 and "2 verified" in converted.stdout, converted.stdout + converted.stderr
    assert ran.returncode == 0 and ran.stdout.endswith("\nPASS\n"), ran.stdout + ran.stderr


def test_the_python(checkout: Path) -> None:
    command = [sys.executable, "-c", first_block("python")]
    done = subprocess.run(command, cwd=checkout, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[('saxpy', 'verified'), ('saxpy_grid_stride', 'verified')]\n"
