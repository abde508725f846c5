"""The table of programs: one row a program, read from a file of tab- or comma-separated values.

A small table (columns may stand in any order; only ``program`` is needed; lines that begin with ``#`` are
skipped):

    program    sources         args     defines      includes    cuts                       inputs
    reduce     main.cu         1003 2                ../common   main.cu: 1 << 20 => 1003
    edges      main.cu io.cu   in.bmp                                                       in.bmp: bmp 64 48
    blur.cu                    65 33    -DRADIUS=2

``program`` is a folder or a file below the top folder.  ``sources`` are relative to the program's folder;
by default they are the file itself, or the folder's ``.cu`` files.  ``args``, ``defines``, ``includes`` and
``flags`` (further options of tmigrate) are written as in a shell; ``includes`` are relative to the
program's folder.  ``cuts`` replace text in a scratch copy, ``inputs`` generate files there.  ``name`` tells
two rows of one program apart.
"""

from __future__ import annotations

import csv
import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

COLUMNS = (
    *("program", "name", "sources", "args", "defines", "includes", "flags"),
    *("cuts", "inputs", "expect", "reject", "note"),
)
SEPARATOR = " ;; "
EXPECT = "PASS"
REJECT = "FAIL"


class TableError(Exception):
    """What is wrong with the table, and where."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Replace ``old`` by ``new``, wherever it stands in ``file``."""

    file: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class InputFile:
    """Have the generator ``kind`` write ``file``."""

    file: str
    kind: str
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One row.  ``path`` is relative to the top folder; ``expect`` and ``reject`` are regular expressions."""

    name: str
    path: str
    sources: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    cuts: tuple[Cut, ...] = ()
    inputs: tuple[InputFile, ...] = ()
    expect: re.Pattern[str]
    reject: re.Pattern[str]
    note: str = ""


def read_table(path: Path) -> list[Program]:
    """The programs of a ``.tsv`` (no quoting) or ``.csv`` (quoted as usual) file."""
    lines = [line for line in path.read_text().splitlines() if line.strip() and not line.startswith("#")]
    if path.suffix == ".csv":
        rows = csv.reader(lines)
    else:
        rows = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
    return _programs(rows, path)


def _programs(rows: Iterable[list[str]], path: Path) -> list[Program]:
    numbered = iter(rows)
    header = [column.strip() for column in next(numbered, [])]
    unknown = [column for column in header if column not in COLUMNS]
    if unknown or "program" not in header:
        raise TableError(f"{path}: the first row names the columns: {', '.join(COLUMNS)}; it has {header}")
    programs: list[Program] = []
    for row in numbered:
        if len(row) > len(header):
            raise TableError(f"{path}: the row of '{row[0]}' has {len(row)} fields for {len(header)} columns")
        programs.append(_program(dict(zip(header, row, strict=False)), path))
    names = [program.name for program in programs]
    for name in {name for name in names if names.count(name) > 1}:
        raise TableError(f"{path}: two rows are called '{name}'; give them a 'name'")
    return programs


def _program(row: dict[str, str], path: Path) -> Program:
    program = row["program"].strip().rstrip("/")
    if not program:
        raise TableError(f"{path}: a row has no program")
    try:
        return Program(
            name=row.get("name", "").strip() or program,
            path=program,
            sources=tuple(shlex.split(row.get("sources", ""))),
            args=tuple(shlex.split(row.get("args", ""))),
            defines=_without(row.get("defines", ""), "-D"),
            includes=_without(row.get("includes", ""), "-I"),
            flags=tuple(shlex.split(row.get("flags", ""))),
            cuts=tuple(_cut(text) for text in _items(row.get("cuts", ""))),
            inputs=tuple(_input(text) for text in _items(row.get("inputs", ""))),
            expect=re.compile(row.get("expect", "").strip() or EXPECT, re.MULTILINE),
            reject=re.compile(row.get("reject", "").strip() or REJECT, re.MULTILINE),
            note=row.get("note", "").strip(),
        )
    except (ValueError, re.error) as error:
        raise TableError(f"{path}: the row of '{program}': {error}") from error


def _without(text: str, prefix: str) -> tuple[str, ...]:
    """``-DA=1 B`` is ``A=1`` and ``B``."""
    return tuple(word.removeprefix(prefix) for word in shlex.split(text))


def _items(text: str) -> list[str]:
    return [item for item in text.split(SEPARATOR) if item.strip()]


def _cut(text: str) -> Cut:
    file, colon, rest = text.strip().partition(": ")
    old, arrow, new = rest.partition(" =>")
    if not colon or not arrow or not old:
        raise ValueError(f"a cut is 'FILE: OLD => NEW', not '{text}'")
    return Cut(file, old, new.removeprefix(" "))


def _input(text: str) -> InputFile:
    file, colon, rest = text.strip().partition(": ")
    words = rest.split()
    if not colon or not words:
        raise ValueError(f"an input file is 'FILE: GENERATOR NUMBER...', not '{text}'")
    return InputFile(file, words[0], tuple(int(word) for word in words[1:]))
