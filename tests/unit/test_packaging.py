"""The wheel holds what the type checker sees, and works where there is no checkout."""

from __future__ import annotations

import os
import subprocess
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def files_seen_by_the_checker() -> set[str]:
    """Everything below ``tests/typing/tmigrate``, through its links."""
    top = ROOT / "tests" / "typing"
    found: set[str] = set()
    for folder, folders, names in os.walk(top / "tmigrate", followlinks=True):
        folders[:] = [name for name in folders if name != "__pycache__"]
        found |= {str((Path(folder) / name).relative_to(top)) for name in names if not name.endswith(".pyc")}
    return found


@pytest.fixture
def python(installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The Python of the environment that has the wheel, away from the checkout."""
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.chdir(tmp_path)
    return installed / "bin" / "python"


def said(python: Path, *words: str) -> str:
    """What Python prints."""
    done = subprocess.run([str(python), *words], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_holds_the_files_that_the_checker_sees(wheel: Path) -> None:
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert packed == files_seen_by_the_checker()
    wanted = "py.typed compat/include/cuda_runtime.h oracle/runtime/fiber.cpp oracle/runtime/runtime.h"
    wanted += " tilelang/targets/cpu/runtime/tm_abi.h converters/cuda/parsing.py"
    assert {f"tmigrate/{name}" for name in wanted.split()} <= packed


def test_the_installed_wheel_imports_from_its_own_folder(python: Path, installed: Path) -> None:
    names = "tmigrate tmigrate.tilelang tmigrate.converters tmigrate.compat".split()
    code = f"import sys, {', '.join(names)}; print(*(sys.modules[n].__file__ for n in {names}), sep='\\n')"
    files = said(python, "-c", code).splitlines()
    assert len(files) == len(names) and all(Path(file).is_relative_to(installed) for file in files), files


def test_the_installed_wheel_has_the_kernel_headers(python: Path) -> None:
    code = (
        "from tmigrate.tilelang.runtime.objects import RUNTIME_HEADERS as h; print((h / 'tm_abi.h').exists())"
    )
    assert said(python, "-c", code) == "True\n"


def test_the_installed_command_answers(installed: Path, python: Path) -> None:
    command = [str(installed / "bin" / "tmigrate"), "--help"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert "convert" in done.stdout and "explain" in done.stdout
    assert said(python, "-m", "tmigrate", "--help") == done.stdout
