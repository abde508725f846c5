"""A scratch copy of one program: its own folder is copied, everything around it is linked.

So ``#include "../../common/util.h"`` finds its file as before, and cuts never reach the original:

    top/common/util.h            scratch/common           -> top/common
    top/apps/reduce/main.cu      scratch/apps/other       -> top/apps/other
    top/apps/other/...           scratch/apps/reduce/main.cu (a copy)
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from generators import generate
from programs import Cut, Program, TableError


def prepare(top: Path, program: Program, scratch: Path) -> tuple[Path, tuple[str, ...]]:
    """Make ``scratch``; return the program's folder in it and its sources, relative to that folder.

    A program that is a file alone lies in a folder with others; that folder is linked entry by entry, and
    only the file is copied.
    """
    original = top / program.path
    if not original.exists():
        raise TableError(f"{program.name}: '{original}' does not exist")
    if scratch.exists():
        shutil.rmtree(scratch)
    scratch.mkdir(parents=True)
    _link_entries(top.resolve(), scratch)
    copied = materialise(scratch, Path(program.path))
    folder = copied if original.is_dir() else copied.parent
    for cut in program.cuts:
        _apply(cut, scratch, folder, program)
    for file in program.inputs:
        try:
            generate(folder / file.file, file.kind, file.numbers)
        except ValueError as error:
            raise TableError(f"{program.name}: {error}") from error
    return folder, _sources(program, original, folder)


def materialise(scratch: Path, path: Path) -> Path:
    """Turn the links on the way to ``path`` into folders of links, and ``path`` itself into a copy."""
    here = scratch
    for part in path.parts[:-1]:
        here = here / part
        if here.is_symlink():
            original = here.resolve()
            here.unlink()
            here.mkdir()
            _link_entries(original, here)
    last = here / path.name
    if last.is_symlink():
        original = last.resolve()
        last.unlink()
        if original.is_dir():
            shutil.copytree(original, last, symlinks=False, ignore_dangling_symlinks=True)
        else:
            shutil.copy2(original, last)
    return last


def _link_entries(original: Path, folder: Path) -> None:
    for entry in sorted(original.iterdir()):
        if entry.name != ".git":
            (folder / entry.name).symlink_to(entry)


def _apply(cut: Cut, scratch: Path, folder: Path, program: Program) -> None:
    target = Path(os.path.normpath(folder / cut.file))
    if not target.is_relative_to(scratch):
        raise TableError(f"{program.name}: a cut names '{cut.file}', outside of the top folder")
    if not target.is_file():
        raise TableError(f"{program.name}: a cut names '{cut.file}', which does not exist")
    file = materialise(scratch, target.relative_to(scratch))
    text = file.read_bytes()
    if cut.old.encode() not in text:
        raise TableError(f"{program.name}: '{cut.old}' does not occur in '{cut.file}'")
    file.chmod(0o644)
    file.write_bytes(text.replace(cut.old.encode(), cut.new.encode()))


def _sources(program: Program, original: Path, folder: Path) -> tuple[str, ...]:
    if not original.is_dir():
        return program.sources or (original.name,)
    sources = program.sources or tuple(sorted(file.name for file in folder.glob("*.cu")))
    missing = [source for source in sources if not (folder / source).is_file()]
    if missing or not sources:
        raise TableError(f"{program.name}: no source {', '.join(missing) or '*.cu'} in '{original}'")
    return sources
