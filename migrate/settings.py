"""`tmigrate.toml`: what a person says about programs and kernels, where the command line does not.

::

    [program."solver.cu"]
    arguments = ["-n", "1003"]
    defines = ["REAL=float"]
    include_folders = ["include"]       # relative to this file
    standard = "c++17"
    instantiate = ["scale<float, 4>"]
    sources = ["main.cpp"]              # the program's other files, where naming them all is not enough

    [kernel."gather"]                   # a kernel that no program launches
    grid = [4]
    block = [128]
    shared = 1024                       # bytes of dynamic shared memory
    sizes = {n = [500, 37], out = 500, table = 64}   # scalars, and elements behind pointers
    ranges = {index = [0, 63]}          # both ends included

The file is looked for in the input's folder and its parents, up to the root of the project (the first folder
that holds `.git`, `.hg` or `pyproject.toml`).  Every key must be one of these.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tmigrate.diagnostics import Diagnostic, UsageError
from tmigrate.locations import Location
from tmigrate.options import ConvertOptions

FILE_NAME = "tmigrate.toml"
_ROOT_MARKS = (".git", ".hg", "pyproject.toml")

Size = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class KernelSettings:
    """How to launch a kernel that no program launches: `sizes` gives one or several values each."""

    grid: Size | None = None
    block: Size | None = None
    shared: int | None = None
    sizes: Mapping[str, tuple[int | float, ...]] = field(default_factory=dict)
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ProgramSettings:
    """How to read and run one program; folders are resolved against the settings file."""

    arguments: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    include_folders: tuple[Path, ...] = ()
    standard: str | None = None
    instantiate: tuple[str, ...] = ()
    sources: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Settings:
    """A settings file: `path` is None where there is none."""

    path: Path | None = None
    programs: Mapping[str, ProgramSettings] = field(default_factory=dict)
    kernels: Mapping[str, KernelSettings] = field(default_factory=dict)

    def merged(self, source: Path, options: ConvertOptions) -> ConvertOptions:
        """The options for `source`, with the file's where the command line says nothing."""
        found = self.programs.get(source.name)
        if found is None:
            return options
        return replace(
            options,
            arguments=options.arguments or found.arguments,
            defines=(*found.defines, *options.defines),
            include_folders=(*options.include_folders, *found.include_folders),
            standard=options.standard or found.standard,
            instantiate=options.instantiate or found.instantiate,
            companions=options.companions or found.sources,
        )


def find_settings(source: Path, output: Path | None = None) -> Settings:
    """The settings that hold for `source`: of its folder, a parent up to the project's root, or `output`."""
    for folder in _folders(source.resolve().parent):
        if (folder / FILE_NAME).is_file():
            return read_settings(folder / FILE_NAME)
    if output is not None and (output / FILE_NAME).is_file():
        return read_settings(output / FILE_NAME)
    return Settings()


def write_stub(folder: Path, rows: Sequence[tuple[str, Sequence[str], str]]) -> Path | None:
    """Write a settings file to complete: (kernel, names of its parameters, why no launch was found) each.

    None where a file stands there already: it is never overwritten.
    """
    path = folder / FILE_NAME
    text = "# Sizes for kernels that no program launches; see `tmigrate explain TM4115`.\n"
    for name, parameters, reason in rows:
        sizes = ", ".join(f"{p} = 1000" if _BARE.fullmatch(p) else f'"{p}" = 1000' for p in parameters)
        text += f'\n[kernel."{name}"]\n# {reason}\n# grid = [1]\n# block = [128]\n'
        text += f"# sizes = {{{sizes}}}\n# ranges = {{}}\n"
    try:
        with path.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError:
        return None
    return path


_BARE = re.compile(r"[A-Za-z0-9_-]+")


def _folders(start: Path) -> Iterable[Path]:
    for folder in (start, *start.parents):
        yield folder
        if any((folder / mark).exists() for mark in _ROOT_MARKS):
            return


def read_settings(path: Path) -> Settings:
    """Read one file; UsageError (TM5041) with line and column for everything that is not as it should be."""
    text = path.read_text(encoding="utf-8", errors="replace")
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(_syntax_error(path, text, error)) from None
    reader = _Reader(path, text)
    programs = {n: reader.program(n, t) for n, t in reader.tables(data, "program").items()}
    kernels = {n: reader.kernel(n, t) for n, t in reader.tables(data, "kernel").items()}
    if reader.faults:
        raise UsageError(reader.faults)
    return Settings(path, programs, kernels)


def _syntax_error(path: Path, text: str, error: tomllib.TOMLDecodeError) -> Diagnostic:
    match = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
    message = re.sub(r" \(at .*\)$", "", str(error))
    line, column = (int(match[1]), int(match[2])) if match else (max(1, len(text.splitlines())), 1)
    return Diagnostic("TM5041", message, Location(str(path), line, column))


class _Fault(Exception):
    """A value of the wrong form; the message says what is expected."""


class _Reader:
    """Checks the tables of one file and collects all that is wrong."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.lines = text.splitlines()
        self.faults: list[Diagnostic] = []

    def tables(self, data: Mapping[str, Any], word: str) -> Mapping[str, Any]:
        """The tables below `program` or `kernel`."""
        for key in data:
            if key not in ("program", "kernel"):
                self._fault(
                    (), key, f"'{key}' is not a table of tmigrate.toml", "[program.NAME] or [kernel.NAME]"
                )
        found = data.get(word, {})
        if isinstance(found, dict):
            return found
        self._fault((), word, f"'{word}' must be a table", f'write [{word}."NAME"]')
        return {}

    def program(self, name: str, table: Any) -> ProgramSettings:
        """One `[program."NAME"]`."""
        return ProgramSettings(**self._values(("program", name), table, _PROGRAM_KEYS))

    def kernel(self, name: str, table: Any) -> KernelSettings:
        """One `[kernel."NAME"]`."""
        return KernelSettings(**self._values(("kernel", name), table, _KERNEL_KEYS))

    def _values(
        self, place: tuple[str, str], table: Any, keys: Mapping[str, Callable[[Any, Path], Any]]
    ) -> dict[str, Any]:
        if not isinstance(table, dict):
            self._fault(
                place[:1], place[1], f"'{place[1]}' must be a table", f'write [{place[0]}."{place[1]}"]'
            )
            return {}
        found = {}
        for key, value in table.items():
            if key not in keys:
                known = ", ".join(keys)
                self._fault(place, key, f"'{key}' is not a key of [{place[0]}.NAME]", f"one of: {known}")
                continue
            try:
                found[key] = keys[key](value, self.path.parent)
            except _Fault as fault:
                self._fault(place, key, f"'{key}' must be {fault}", "")
        return found

    def _fault(self, table: tuple[str, ...], key: str, message: str, remedy: str) -> None:
        line, column = self._place(table, key)
        end = column + len(key)
        place = Location(str(self.path), line, column, end)
        if place not in [d.location for d in self.faults]:
            self.faults.append(Diagnostic("TM5041", message, place, remedy=remedy))

    def _place(self, table: tuple[str, ...], key: str) -> tuple[int, int]:
        """Where a key stands: below the header of its table, or in a header, or where the file begins."""
        inside: tuple[str, ...] = ()
        for number, line in enumerate(self.lines, 1):
            header = re.match(r"\s*\[\[?([^\]]*)\]", line)
            if header:
                inside = _parts(header[1])
                if key in inside and inside[: len(table)] == table:
                    return number, _column(line, line.index(key))
            else:
                match = re.match(rf"(?:\s*|.*?[{{,.]\s*)([\"']?){re.escape(key)}\1\s*[=.]", line)
                if match and inside[: len(table)] == table:
                    return number, _column(line, line.index(key))
        return 1, 1


def _column(line: str, index: int) -> int:
    """The byte column, from 1, of a character of a line."""
    return len(line[:index].encode()) + 1


def _parts(header: str) -> tuple[str, ...]:
    """The keys of a table's header: `kernel."a.b"` -> ("kernel", "a.b")."""
    found = re.findall(r'"((?:[^"\\]|\\.)*)"|\'([^\']*)\'|([A-Za-z0-9_-]+)', header)
    return tuple(a or b or c for a, b, c in found)


# ---- values ------------------------------------------------------------------------------------------


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _texts(value: Any, _: Path) -> tuple[str, ...]:
    if isinstance(value, list) and all(isinstance(v, str) for v in value):
        return tuple(value)
    raise _Fault('an array of strings, as in ["a", "b"]')


def _text(value: Any, _: Path) -> str:
    if isinstance(value, str):
        return value
    raise _Fault('a string, as in "c++17"')


def _paths(value: Any, folder: Path) -> tuple[Path, ...]:
    return tuple(folder / text for text in _texts(value, folder))


def _size(value: Any, _: Path) -> Size:
    found = [value] if _is_integer(value) else value
    if isinstance(found, list) and 1 <= len(found) <= 3 and all(_is_integer(v) and v > 0 for v in found):
        x, y, z = [*found, 1, 1][:3]
        return (x, y, z)
    raise _Fault("one to three positive integers, as in [4, 2]")


def _bytes(value: Any, _: Path) -> int:
    if _is_integer(value) and value >= 0:
        return int(value)
    raise _Fault("a number of bytes")


def _sizes(value: Any, _: Path) -> dict[str, tuple[int | float, ...]]:
    rows = {k: v if isinstance(v, list) else [v] for k, v in _flat(value).items()}
    if rows and all(v and all(isinstance(n, int | float) for n in v) for v in rows.values()):
        return {k: tuple(v) for k, v in rows.items()}
    raise _Fault("a table of numbers or arrays of numbers, as in {n = [1000, 37], x = 1000}")


def _ranges(value: Any, _: Path) -> dict[str, tuple[float, float]]:
    rows = _flat(value)
    if all(_is_range(v) for v in rows.values()):
        return {k: (v[0], v[1]) for k, v in rows.items()}
    raise _Fault("a table of pairs, the smaller number first, as in {index = [0, 99]}")


def _is_range(value: Any) -> bool:
    pair = isinstance(value, list) and len(value) == 2 and all(isinstance(n, int | float) for n in value)
    return pair and value[0] <= value[1]


def _flat(value: Any, prefix: str = "") -> dict[str, Any]:
    """`{config = {width = 3}}` and `{"config.width" = 3}` are the same."""
    if not isinstance(value, dict):
        raise _Fault("a table")
    found: dict[str, Any] = {}
    for key, v in value.items():
        found |= _flat(v, f"{prefix}{key}.") if isinstance(v, dict) else {f"{prefix}{key}": v}
    return found


_PROGRAM_KEYS: dict[str, Callable[[Any, Path], Any]] = {
    "arguments": _texts,
    "defines": _texts,
    "include_folders": _paths,
    "standard": _text,
    "instantiate": _texts,
    "sources": _paths,
}
_KERNEL_KEYS: dict[str, Callable[[Any, Path], Any]] = {
    "grid": _size,
    "block": _size,
    "shared": _bytes,
    "sizes": _sizes,
    "ranges": _ranges,
}
