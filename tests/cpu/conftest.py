"""One small program, converted once a session."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from command_support import OUTPUTS, PROGRAM, SOURCE, tmigrate


@pytest.fixture(scope="session")
def converted_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the program and its verified conversion; use ``project`` to change anything."""
    folder = tmp_path_factory.mktemp("converted")
    (folder / SOURCE).write_text(PROGRAM)
    done = tmigrate(folder, "convert", SOURCE)
    assert done.returncode == 0, done.stdout + done.stderr
    assert {path.name for path in folder.iterdir()} == {SOURCE, ".tmigrate", *OUTPUTS}
    return folder


@pytest.fixture
def project(converted_program: Path, tmp_path: Path) -> Path:
    """A copy of that folder, for one test."""
    return Path(shutil.copytree(converted_program, tmp_path / "project"))
