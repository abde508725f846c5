"""A machine without compiler and C headers: one program through the whole path, by the ziglang package.

The machine is made in a mount namespace, whose ``/usr/include`` and ``/usr/lib/gcc`` are empty; where this
user may not have one, only the path is emptied.  That variant runs everywhere.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from command_support import OUTPUTS, PROGRAM, SOURCE

from tmigrate.tilelang.runtime.cache import cache_folder

# Its arguments: an empty folder, then a command.
EMPTY_FOLDERS = """
for folder in /usr/include /usr/local/include /usr/lib/gcc /usr/lib64/gcc; do
    if [ -d "$folder" ]; then mount --bind "$1" "$folder" || exit; fi
done
shift
exec "$@"
"""

Command = Callable[..., subprocess.CompletedProcess[str]]


def in_a_namespace(empty: Path) -> list[str]:
    """The words that start a command where these folders are empty; skips where no namespace is allowed."""
    words = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", EMPTY_FOLDERS, "sh", str(empty)]
    if shutil.which("unshare") is None:
        pytest.skip("there is no unshare; the variant with an empty path runs")
    tried = subprocess.run([*words, "ls", "/usr/include"], capture_output=True, text=True, check=False)
    if (tried.returncode, tried.stdout) != (0, ""):
        pytest.skip(f"no mount namespace for this user ({tried.stderr.strip()}); the other variant runs")
    return words


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new cache, so that all is compiled; only zig's own library, minutes of work, is kept from before.

    Both variants share it: the first compiles, the second is quick.
    """
    pytest.importorskip("ziglang")
    folder = tmp_path_factory.mktemp("cache")
    (folder / "zig").symlink_to(cache_folder("zig"))
    return folder


@pytest.fixture(params=["empty folders", "empty path"])
def tmigrate(
    request: pytest.FixtureRequest, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> Command:
    """The command on such a machine, in a folder that holds the program."""
    empty = tmp_path / "empty"
    empty.mkdir()
    start = in_a_namespace(empty) if request.param == "empty folders" else []
    unshare = [shutil.which(start[0]) or "", *start[1:]] if start else []
    (tmp_path / SOURCE).write_text(PROGRAM)
    for name in ("TMIGRATE_CC", "TMIGRATE_CXX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TMIGRATE_CACHE", str(cache))
    # In the namespace, `sh` and `mount` are found first; the command itself is started with an empty path.
    words = [*unshare, "/usr/bin/env", f"PATH={empty}", sys.executable, "-m", "tmigrate"]

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*words, *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=1200, check=False
        )

    return run


def test_a_program_is_converted_verified_and_run(tmigrate: Command, tmp_path: Path) -> None:
    found = json.loads(tmigrate("doctor", "--json").stdout)
    assert found["usable"] and len(found["compilers"]) == 1
    assert all("zig" in compiler for compiler in found["used"].values()), found["used"]
    assert not [flag for flag in found["headers"] if flag.startswith("/usr/")], found["headers"]

    converted = tmigrate("convert", SOURCE)
    assert converted.returncode == 0, converted.stdout + converted.stderr
    assert "1 input, 1 kernel: 1 verified" in converted.stdout
    assert {path.name for path in tmp_path.iterdir()} >= OUTPUTS

    verified = tmigrate("verify", SOURCE)
    assert verified.returncode == 0, verified.stdout + verified.stderr

    ran = tmigrate("run", SOURCE, "--", "3")
    assert (ran.returncode, ran.stdout) == (3, "PASS\nargument 3\n"), ran.stderr
