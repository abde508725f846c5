"""Which files make up one program: kernels in some, `main` in another, perhaps in plain C++.

::

    tmigrate convert main.cpp kernels.cu     # one program: kernels.cu is converted, main.cpp launches it
    tmigrate convert project/                # one program where one of its files has a `main`
    tmigrate convert samples/                # one program a file: each has a `main` of its own

The rule: files that are named together, or stand in one folder, are one program where exactly one of them
defines `main`.  Where several do, those of each single folder are looked at alone.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from tmigrate.inputs import Input, find_inputs, host_files
from tmigrate.verification.launch_sites import has_main

Files = tuple[str, ...]


def find_programs(paths: Sequence[str | Path], include_folders: Sequence[Path] = ()) -> list[Input]:
    """The inputs that `paths` name, each with the other source files of its program.

    Files of plain C++ are no inputs, unless nothing else is named.
    """
    found = find_inputs(paths, include_folders)
    units = [entry for entry in found if not entry.host]
    if not units:
        return found
    named = [entry.path for entry in found if entry.fault is None and entry.empty is None]
    folders = [Path(path) for path in paths if Path(path).is_dir()]
    hosts = [str(file) for folder in folders for file in host_files(folder, include_folders)]
    others = _companions([f for f in dict.fromkeys([*named, *hosts]) if Path(f).suffix != ".onnx"])
    return [replace(entry, companions=others.get(entry.path, ())) for entry in units]


def program_has_main(source: Path, companions: Iterable[Path]) -> bool:
    """Whether one of a program's files defines `main`."""
    return any(has_main(_text(file)) for file in (source, *companions))


def _companions(files: Sequence[str]) -> Mapping[str, Files]:
    """For each file of a program of several the others, in order."""
    mains = {file for file in files if has_main(_text(Path(file)))}
    found: dict[str, Files] = {}
    for group in _groups(files, mains):
        found |= {file: tuple(f for f in group if f != file) for file in group}
    return found


def _groups(files: Sequence[str], mains: set[str]) -> Iterator[Sequence[str]]:
    """The programs of several files."""
    folders: dict[str, list[str]] = defaultdict(list)
    for file in files:
        folders[os.path.dirname(os.path.realpath(file))].append(file)
    wholes = [files] if len(mains) == 1 else folders.values()
    for group in wholes:
        if len(group) > 1 and sum(file in mains for file in group) == 1:
            yield group


def _text(file: Path) -> str:
    try:
        return file.read_text(errors="replace")
    except OSError:
        return ""
