"""The wheel holds what the type checker sees, and works where there is no checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("migrate", "tilelang", "converters", "compat", "setup.py", "pyproject.toml", "README.md", "LICENSE")


def files_seen_by_the_checker() -> set[str]:
    """Everything below ``tests/typing/tmigrate``, through its links."""
    top = ROOT / "tests" / "typing"
    found: set[str] = set()
    for folder, folders, names in os.walk(top / "tmigrate", followlinks=True):
        folders[:] = [name for name in folders if name != "__pycache__"]
        found |= {str((Path(folder) / name).relative_to(top)) for name in names if not name.endswith(".pyc")}
    return found


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from a copy of the checkout, without the network."""
    pytest.importorskip("setuptools")
    copy = tmp_path_factory.mktemp("checkout")
    for part in PARTS:
        if (ROOT / part).is_dir():
            skip = shutil.ignore_patterns("__pycache__", "*.pyc")
            shutil.copytree(ROOT / part, copy / part, symlinks=True, ignore=skip)
        elif (ROOT / part).exists():
            shutil.copy(ROOT / part, copy / part)
    words = ["-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "--no-index", "-q", "-w", "dist", "."]
    done = subprocess.run([sys.executable, *words], cwd=copy, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return next((copy / "dist").glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the wheel was installed into."""
    target = tmp_path_factory.mktemp("installed")
    words = ["-m", "pip", "install", "--no-deps", "--no-index", "-q", "--target", str(target), str(wheel)]
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return target


def run_installed(installed: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run Python from outside the checkout, with the installed wheel first on its path."""
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    return subprocess.run(
        [sys.executable, *words],
        cwd=installed.parent,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_the_wheel_holds_the_files_that_the_checker_sees(wheel: Path) -> None:
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert packed == files_seen_by_the_checker()


def test_the_installed_wheel_imports_from_its_own_folder(installed: Path) -> None:
    code = (
        "import tmigrate.tilelang, tmigrate.converters, tmigrate.compat, tmigrate; print(tmigrate.__file__)"
    )
    done = run_installed(installed, "-c", code)
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()).is_relative_to(installed)


def test_the_installed_wheel_has_the_kernel_headers(installed: Path) -> None:
    code = (
        "from tmigrate.tilelang.runtime.objects import RUNTIME_HEADERS as h; print((h / 'tm_abi.h').exists())"
    )
    assert run_installed(installed, "-c", code).stdout.strip() == "True"


def test_the_installed_command_answers(installed: Path) -> None:
    done = run_installed(installed, "-m", "tmigrate", "--help")
    assert done.returncode == 0, done.stderr
    assert "convert" in done.stdout and "explain" in done.stdout
