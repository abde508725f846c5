"""Writing what a conversion made, beside what people have done to it since.

A copy of every text as tmigrate wrote it stays in ``.tmigrate/`` beside the outputs.  An output equal to
its copy is ours to replace; one that differs was edited, and the new text is merged into it three ways
(copy, edited, new), with git's conflict marks where both changed the same lines; while such marks stand in
it, it is left alone.  Without the copy (it was not committed), the hash in the certificate still tells
whether the file was edited; then every difference is marked.  A file that was never ours is not touched.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from tmigrate.diagnostics import Diagnostic, Severity, UsageError
from tmigrate.locations import Location
from tmigrate.merging import YOURS, merge

BASE_FOLDER = ".tmigrate"


class Action(StrEnum):
    """What became of one output."""

    WRITTEN = "written"
    UNCHANGED = "unchanged"
    KEPT = "kept"  # edited by a person, and our text is the same as last time
    MERGED = "merged"
    CONFLICT = "conflict"


@dataclass(frozen=True, slots=True)
class OutputState:
    """One output: ``sha256`` is of the text as tmigrate made it, not of what edits left on the disk."""

    path: Path
    action: Action
    sha256: str
    touched: bool = True  # whether anything was written to the file

    def diagnostic(self) -> Diagnostic | None:
        """What a person must know about it."""
        place = Location(str(self.path))
        if self.action is Action.CONFLICT:
            message = f"'{self.path.name}' was edited since it was written, and both changed the same lines"
            if not self.touched:
                message = f"'{self.path.name}' still has the marks of an earlier conflict"
            remedy = "choose between the lines marked <<<<<<< and >>>>>>>"
            return Diagnostic("TM5022", message, place, Severity.WARNING, remedy)
        if self.action in (Action.KEPT, Action.MERGED):
            done = "left alone" if self.action is Action.KEPT else "merged with the new conversion"
            message = f"'{self.path.name}' was edited since it was written, and was {done}"
            remedy = "run `tmigrate verify`, which judges it as it stands"
            return Diagnostic("TM5023", message, place, Severity.WARNING, remedy)
        return None


def text_hash(text: str) -> str:
    """The hash that certificates store for an output."""
    return hashlib.sha256(text.encode()).hexdigest()


def check_writable(folder: Path) -> None:
    """Raise UsageError (TM5020) unless files can be made in ``folder`` or its first existing parent."""
    try:
        existing = _existing(folder)
        if not existing.is_dir():
            raise _unwritable(folder, f"'{existing}' is not a folder")
        with tempfile.TemporaryFile(dir=existing):
            pass
    except OSError as error:
        raise _unwritable(folder, error.strerror or str(error)) from None


def _existing(folder: Path) -> Path:
    """The folder or the first of its parents that exists; raises OSError for names that can never be."""
    while folder != folder.parent:
        try:
            folder.stat()
        except (FileNotFoundError, NotADirectoryError):
            folder = folder.parent
        else:
            break
    return folder


def _unwritable(folder: Path, why: str) -> UsageError:
    message = f"cannot write to folder '{folder}': {why}"
    return UsageError(Diagnostic("TM5020", message, remedy="choose another folder with -o"))


def write_outputs(
    folder: Path,
    texts: Mapping[str, str],
    previous: Mapping[str, str] | None = None,
    certificate: str | None = None,
) -> list[OutputState]:
    """Write ``texts`` (by file name) into ``folder`` and say what became of each, in the same order.

    ``previous``: the hashes that the last certificate stores, by file name.  Raises UsageError, before
    anything is written, where a file of that name was never ours, or the one named ``certificate``, which
    is written later, is not one.
    """
    hashes = previous or {}
    check_writable(folder)
    plans = [_plan(folder, name, text, hashes.get(name)) for name, text in texts.items()]
    if certificate is not None:
        _plan(folder, certificate, "", None)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / BASE_FOLDER).mkdir(exist_ok=True)
    try:
        for plan in plans:
            if plan.result is not None:
                _replace(folder / plan.name, plan.result)
            if not plan.unresolved and _read(folder / BASE_FOLDER / plan.name) != texts[plan.name]:
                _replace(folder / BASE_FOLDER / plan.name, texts[plan.name])
    except OSError as error:
        raise _unwritable(folder, error.strerror or str(error)) from None
    return [plan.state(folder, texts[plan.name]) for plan in plans]


@dataclass(frozen=True, slots=True)
class _Plan:
    name: str
    action: Action
    result: str | None  # None: leave the file as it is
    unresolved: bool = False  # marks of an earlier conflict stand in it

    def state(self, folder: Path, text: str) -> OutputState:
        """What became of the output whose new text this is."""
        return OutputState(folder / self.name, self.action, text_hash(text), self.result is not None)


def _plan(folder: Path, name: str, text: str, previous: str | None) -> _Plan:
    path = folder / name
    if not path.exists():
        return _Plan(name, Action.WRITTEN, text)
    current = _read(path)
    if current == text:
        return _Plan(name, Action.UNCHANGED, None)
    base = _read(folder / BASE_FOLDER / name)
    if current is None or (base is None and previous is None and not _is_certificate(current)):
        message = f"'{path}' exists and was not written by tmigrate"
        raise UsageError(
            Diagnostic("TM5021", message, remedy="move it away, or choose another folder with -o")
        )
    if current == base or text_hash(current) == previous or (base is None and _is_certificate(current)):
        return _Plan(name, Action.WRITTEN, text)
    if f"{YOURS}\n" in current:
        return _Plan(name, Action.CONFLICT, None, unresolved=True)
    if base == text:
        return _Plan(name, Action.KEPT, None)
    merged = merge(base, current, text)
    return _Plan(name, Action.CONFLICT if merged.conflicts else Action.MERGED, merged.text)


def _is_certificate(text: str) -> bool:
    """Whether the text is a certificate, whose hash no file holds; it is evidence, and made anew."""
    return text.lstrip().startswith("{") and '"tmigrate"' in text


def _read(path: Path) -> str | None:
    try:
        return path.read_bytes().decode()
    except (OSError, UnicodeDecodeError):
        return None


def _replace(path: Path, text: str) -> None:
    """Write all of ``text`` or nothing, through symbolic links, keeping the file's mode."""
    target = path.resolve()
    handle, private = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode())
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
        os.chmod(private, mode)
        os.replace(private, target)
    except BaseException:
        Path(private).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
