"""From the paths a person names to the inputs to work on; what cannot be read is found before any work."""

from __future__ import annotations

import os
import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tmigrate.diagnostics import Diagnostic, Severity
from tmigrate.locations import Location
from tmigrate.results import InputKind

SOURCE_SUFFIXES = frozenset({".cu"})
MODEL_SUFFIXES = frozenset({".onnx"})
HOST_SUFFIXES = frozenset({".c", ".cc", ".cpp", ".cxx"})
LARGEST_SOURCE = 32 * 2**20  # bytes; a real translation unit before preprocessing is far smaller
_CONTROL = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1b")) + b"\x7f"  # no source holds more than a few

_INCLUDERS = SOURCE_SUFFIXES | HOST_SUFFIXES | {".cuh", ".h", ".hpp", ".hh", ".inl"}
_KERNELS = re.compile(rb"\b__global__\b|<<<")
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Input:
    """One input; ``fault`` says why it cannot be worked on, ``empty`` that there is nothing in it.

    ``host``: plain C or C++, which has no kernels.  ``companions``: the other source files of its program.
    """

    path: str
    kind: InputKind = "cuda"
    fault: Diagnostic | None = None
    empty: Diagnostic | None = None
    host: bool = False
    companions: tuple[str, ...] = ()


def find_inputs(paths: Sequence[str | Path], include_folders: Sequence[Path] = ()) -> list[Input]:
    """The inputs that ``paths`` name, in order and once each.

    A folder stands for its ``.cu`` and ``.onnx`` files, at any depth, without those that another file of
    the folder includes.  Paths are kept as given: no absolute path reaches an output.
    """
    found: list[Input] = []
    seen: set[str] = set()
    for path in paths:
        for entry in _of_path(Path(path), include_folders):
            real = os.path.realpath(entry.path)
            if real not in seen:
                seen.add(real)
                found.append(entry)
    return found


def _of_path(path: Path, include_folders: Sequence[Path]) -> Iterator[Input]:
    if not path.is_dir():
        yield check_file(path)
        return
    files = list(_files_below(path))
    included = _included_files(files, path, include_folders)
    wanted = [
        f for f in files if f.suffix in SOURCE_SUFFIXES | MODEL_SUFFIXES and f.resolve() not in included
    ]
    if not wanted:
        message = f"folder '{path}' has no .cu or .onnx file that could be converted"
        yield Input(str(path), fault=Diagnostic("TM5012", message, remedy="name a file, or another folder"))
    for file in wanted:
        yield check_file(file)


def host_files(folder: Path, include_folders: Sequence[Path] = ()) -> list[Path]:
    """The files of plain C or C++ below ``folder`` that no other file of it includes."""
    files = list(_files_below(folder))
    included = _included_files(files, folder, include_folders)
    return [f for f in files if f.suffix in HOST_SUFFIXES and f.resolve() not in included]


def _files_below(folder: Path) -> Iterator[Path]:
    """The files below ``folder`` in a fixed order; hidden folders are other tools' (``.git``, ``.venv``)."""
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            file = Path(root) / name
            if file.suffix in _INCLUDERS | MODEL_SUFFIXES and file.is_file():
                yield file


def _included_files(files: Iterable[Path], top: Path, include_folders: Sequence[Path]) -> set[Path]:
    """The files that another one includes.

    ``#include "x.cu"`` in ``top/a/b.cu`` may mean ``top/a/x.cu``, ``top/x.cu``, or x.cu in a ``-I`` folder.
    """
    included: set[Path] = set()
    for file in files:
        if file.suffix in MODEL_SUFFIXES:
            continue
        parents = [file.parent, *(p for p in file.parent.parents if p.is_relative_to(top)), *include_folders]
        for match in _INCLUDE.finditer(_head(file)):
            name = match.group(1).decode(errors="replace").strip()
            candidates = ((parent / name) for parent in parents)
            target = next((c.resolve() for c in candidates if c.is_file()), None)
            if target is not None and target != file.resolve():
                included.add(target)
    return included


def _head(file: Path) -> bytes:
    try:
        with file.open("rb") as stream:
            return stream.read(2**20)
    except OSError:
        return b""


def check_file(path: Path) -> Input:
    """``path`` as an input, with what keeps it from being read."""
    kind: InputKind = "onnx" if path.suffix in MODEL_SUFFIXES else "cuda"
    if not path.exists():
        remedy = "check the spelling; paths are relative to the current folder"
        return Input(str(path), kind, Diagnostic("TM5011", f"'{path}' does not exist", remedy=remedy))
    if not path.is_file():
        return Input(str(path), kind, Diagnostic("TM5011", f"'{path}' is not a regular file"))
    if kind == "onnx":
        message = f"'{path}' is an ONNX model, which this version does not convert"
        return Input(str(path), kind, Diagnostic("TM5016", message))
    try:
        size = path.stat().st_size
        data = path.read_bytes() if size <= LARGEST_SOURCE else b""
    except OSError as error:
        return Input(str(path), kind, Diagnostic("TM5011", f"'{path}' cannot be read: {error.strerror}"))
    if size > LARGEST_SOURCE:
        message = f"'{path}' has {size:,} bytes; a source file may have {LARGEST_SOURCE:,}"
        return Input(str(path), kind, Diagnostic("TM5015", message))
    return _check_text(path, data)


def _check_text(path: Path, data: bytes) -> Input:
    zero = data.find(b"\0")
    if zero >= 0:
        message = f"'{path}' is not text: byte {zero} is zero"
        remedy = "name the CUDA source, not an object or a library; save UTF-16 sources as UTF-8"
        return Input(str(path), fault=Diagnostic("TM5013", message, remedy=remedy))
    if len(data.translate(None, _CONTROL)) < 0.99 * len(data):
        message = f"'{path}' is not text: it holds many control characters"
        return Input(str(path), fault=Diagnostic("TM5013", message, remedy="name the CUDA source"))
    if not data.removeprefix(BOM_UTF8).strip():
        empty = Diagnostic("TM5014", "the file is empty", Location(str(path)), Severity.WARNING)
        return Input(str(path), empty=empty)
    return Input(str(path), host=path.suffix in HOST_SUFFIXES and not _KERNELS.search(data))
