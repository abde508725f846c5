"""Outputs as they stand on the disk, judged by ``verify`` and by the pytest file that ``convert`` wrote."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from command_support import CHECK, PROGRAM, SOURCE, THREAD, TILE, replace_once, tmigrate

from tmigrate.conversion import verify_file
from tmigrate.options import ConvertOptions
from tmigrate.results import KernelResult

STATEMENT = "y[i] = twice(x[i]) + y[i]"


def written_check(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the written pytest file as a user does."""
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", CHECK]
    return subprocess.run(
        [sys.executable, *words], cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )


def test_the_written_check_passes_as_written(converted_program: Path) -> None:
    done = written_check(converted_program)
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout + done.stderr


def test_the_written_check_of_an_unverified_conversion_passes(tmp_path: Path) -> None:
    """It runs the original, and finds the kernel in a better state than it was written in."""
    (tmp_path / SOURCE).write_text(PROGRAM)
    assert tmigrate(tmp_path, "convert", "--no-run", SOURCE).returncode == 0
    assert '"add_twice": "converted"' in (tmp_path / CHECK).read_text()
    done = written_check(tmp_path)
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("name", [TILE, THREAD])
def test_the_written_check_fails_after_an_edit_that_changes_a_result(project: Path, name: str) -> None:
    replace_once(project / name, STATEMENT, STATEMENT.replace("+", "-"))
    done = written_check(project)
    assert done.returncode == 1 and "1 failed" in done.stdout, done.stdout + done.stderr
    assert "AssertionError: refused, not verified: " in done.stdout, done.stdout


def test_the_written_check_fails_without_the_file_that_it_checks(project: Path) -> None:
    (project / TILE).unlink()
    done = written_check(project)
    assert done.returncode == 1 and f"there is no '{TILE}'" in done.stdout, done.stdout + done.stderr


@pytest.fixture
def here(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project as the current folder: relative paths keep the objects that the cache has."""
    monkeypatch.chdir(project)
    return project


def verified() -> KernelResult:
    """What verification says of the one kernel."""
    (kernel,) = verify_file(Path(SOURCE), ConvertOptions()).kernels
    return kernel


@pytest.mark.parametrize(
    ("file", "old", "new", "code"),
    [
        (TILE, STATEMENT, STATEMENT.replace("+", "-"), "TM4114"),
        (TILE, STATEMENT, "y[i] = x[i] if n == 5 else twice(x[i]) + y[i]", "TM4114"),  # at one size only
        (TILE, "return 2.0 * x", "return 3.0 * x", "TM4102"),  # its own copy of the helper
        (TILE, "return 2.0 * x", "return 2.000001 * x", "TM4102"),
        (TILE, "def add_twice", "def another", "TM4116"),
        (THREAD, STATEMENT, STATEMENT.replace("+", "-"), "TM4101"),
        (THREAD, "if i < n:", "if i < n - 1:", "TM4101"),
        (THREAD, "def add_twice", "def another", "TM4116"),
        # Isolation: the original's program has a helper of this name, which must not stand in for this one.
        (THREAD, "return 2.0 * x", "return 3.0 * x", "TM4101"),
    ],
)
def test_a_wrong_edit_is_refused(here: Path, file: str, old: str, new: str, code: str) -> None:
    replace_once(here / file, old, new)
    kernel = verified()
    assert (kernel.status.value, kernel.code) == ("refused", code)
    assert kernel.level is None and kernel.bit_exact is None and kernel.max_ulp is None
    assert code == "TM4101" or TILE in (kernel.reason or "") or THREAD in (kernel.reason or "")


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        (TILE, STATEMENT, "y[i] = y[i] + twice(x[i])"),
        (TILE, "return 2.0 * x", "return x + x"),
        (THREAD, "return 2.0 * x", "return x + x"),
    ],
)
def test_an_edit_that_changes_no_result_is_verified(here: Path, file: str, old: str, new: str) -> None:
    replace_once(here / file, old, new)
    kernel = verified()
    assert (kernel.status.value, kernel.code, kernel.level) == ("verified", None, "loop")


def test_a_thread_level_kernel_of_the_tile_file_is_judged_too(here: Path) -> None:
    """The two files need not agree: both are judged, also where neither holds a lift."""
    text = (here / THREAD).read_text()
    (here / TILE).write_text(text)
    same = verified()
    assert (same.status.value, same.level) == ("verified", "thread")
    (here / TILE).write_text(text.replace("return 2.0 * x", "return 3.0 * x"))
    assert (verified().status.value, verified().code) == ("refused", "TM4102")


def test_run_runs_the_outputs_as_edited(project: Path) -> None:
    replace_once(project / TILE, "return 2.0 * x", "return 3.0 * x")
    done = tmigrate(project, "run", SOURCE)
    assert (done.returncode, done.stdout) == (1, "FAIL\n"), done.stderr
