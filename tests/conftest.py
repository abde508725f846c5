"""What all tests share."""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("migrate", "tilelang", "converters", "compat", "setup.py", "pyproject.toml", "README.md", "LICENSE")
DEPENDENCIES = ("clang", "numpy", "ml_dtypes", "click", "rich", "ziglang")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the golden files anew")


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are to be written."""
    return bool(request.config.getoption("--update-golden"))


@pytest.fixture(scope="session")
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
    _pip("wheel", "--no-build-isolation", "--no-deps", "--no-index", "-q", "-w", "dist", ".", folder=copy)
    return next((copy / "dist").glob("*.whl"))


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment that has the wheel, and sees this one's packages for what the wheel needs."""
    folder = tmp_path_factory.mktemp("installed")
    command = [sys.executable, "-m", "venv", "--without-pip", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    _pip("--python", str(folder / "bin" / "python"), "install", "--no-deps", "--no-index", "-q", str(wheel))
    found = [find_spec(name) for name in DEPENDENCIES]
    roots = {str(Path(spec.origin).parents[1]) for spec in found if spec is not None and spec.origin}
    (packages,) = (folder / "lib").glob("python*/site-packages")
    (packages / "dependencies.pth").write_text("\n".join(sorted(roots)) + "\n")
    return folder


def _pip(*words: str, folder: Path | None = None) -> None:
    command = [sys.executable, "-m", "pip", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
