"""The installed wheel, away from the checkout, through the whole path: all that it needs came along."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from command_support import OUTPUTS, PROGRAM, SOURCE


def test_a_program_is_converted_verified_and_run(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONPATH", raising=False)
    (tmp_path / SOURCE).write_text(PROGRAM)

    def tmigrate(*words: str) -> str:
        done = subprocess.run(
            [str(installed / "bin" / "tmigrate"), *words],
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert "1 input, 1 kernel: 1 verified" in tmigrate("convert", SOURCE)
    assert {path.name for path in tmp_path.iterdir()} == {SOURCE, ".tmigrate", *OUTPUTS}
    assert "1 input, 1 kernel: 1 verified" in tmigrate("verify", SOURCE)
    assert tmigrate("run", SOURCE) == "PASS\n"
