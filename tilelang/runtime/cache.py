"""The folder of things that can be made again: compiled objects, probes of compilers, zig's libraries.

Everything in it is named by a hash of what it was made from, is written under a private name first and
renamed, so that several processes may share it without locks.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path

MOST_BYTES = 2 * 2**30  # of each subfolder
LEAST_AGE = 3600.0  # seconds


def cache_folder(name: str = "") -> Path:
    """The cache (or its subfolder ``name``), made if missing.

    ``$TMIGRATE_CACHE``, else ``$XDG_CACHE_HOME/tmigrate``, else ``~/.cache/tmigrate``; where that place
    cannot be written, a folder of this user below the system's temporary folder.
    """
    root = _writable_root(os.environ.get("TMIGRATE_CACHE", ""), os.environ.get("XDG_CACHE_HOME", ""))
    folder = root / name if name else root
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@lru_cache(maxsize=8)
def _writable_root(asked: str, xdg: str) -> Path:
    wanted = Path(asked) if asked else Path(xdg or Path.home() / ".cache") / "tmigrate"
    if _make_private(wanted):
        return wanted.absolute()
    fallback = Path(tempfile.gettempdir()) / f"tmigrate-{os.getuid()}"
    # Anyone may create names in /tmp: a folder of someone else must not feed us objects to load.
    if _make_private(fallback) and fallback.stat().st_uid == os.getuid():
        return fallback
    return Path(tempfile.mkdtemp(prefix="tmigrate-"))


def _make_private(folder: Path) -> bool:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK | os.X_OK)


def content_key(parts: Iterable[str | bytes]) -> str:
    """A hash of the parts, in order; no two different lists of parts run together.

    >>> content_key(["ab", "c"]) == content_key(["a", "bc"])
    False
    """
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(f"{len(data)}:".encode())
        digest.update(data)
    return digest.hexdigest()[:32]


def folder_key(folders: Iterable[Path], patterns: tuple[str, ...] = ("*.h", "*.hpp", "*.cuh")) -> str:
    """A hash of the names and contents of the headers below ``folders``."""
    parts: list[str | bytes] = []
    for folder in folders:
        for pattern in patterns:
            for file in sorted(folder.rglob(pattern)):
                parts += [str(file.relative_to(folder)), file.read_bytes()]
    return content_key(parts)


def write_atomically(path: Path, data: bytes) -> None:
    """Write ``data`` so that a reader sees all of it or the file that stood there before."""
    handle, private = tempfile.mkstemp(prefix=path.name + ".", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(private, path)
    except BaseException:
        Path(private).unlink(missing_ok=True)
        raise


def cached(path: Path) -> bool:
    """Whether the cache holds ``path``; if so it is marked as used now."""
    try:
        os.utime(path)
    except OSError:
        return path.exists()
    return True


def trim(name: str, *, most_bytes: int = MOST_BYTES, least_age: float = LEAST_AGE) -> None:
    """Remove what was not used for longest from the subfolder ``name`` until it holds ``most_bytes`` at most.

    What was used within ``least_age`` seconds stays: another process may be about to run it.
    """
    rows = []
    for entry in os.scandir(cache_folder(name)):
        with suppress(OSError):
            if entry.is_file(follow_symlinks=False):
                rows.append((entry.stat().st_mtime, entry.stat().st_size, entry.path))
    excess = sum(size for _, size, _ in rows) - most_bytes
    for used, size, path in sorted(rows):
        if excess <= 0 or time.time() - used < least_age:
            return
        with suppress(OSError):
            os.unlink(path)
            excess -= size


@contextmanager
def locked(name: str) -> Iterator[None]:
    """Hold the cache's lock ``name``; for the few builds that two processes should not both do."""
    with (cache_folder() / f"{name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)
