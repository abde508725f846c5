"""What a person may ask of the commands, as data."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tmigrate.results import InputResult


class Listener:
    """Is told how the work goes; this one does not care."""

    def begin(self, total: int) -> None:
        """``total`` inputs were found."""

    def start(self, path: str) -> None:
        """Work on an input starts."""

    def finish(self, result: InputResult) -> None:
        """An input is done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvertOptions:
    """What a person may ask of ``convert``, ``verify``, ``assess`` and ``run``.

    ``output``: the folder to write to; None writes beside each input.  ``execute``: whether anything of the
    input may run.  ``verify_seconds``: the time for verification, per file.  ``standard``: as in
    ``-std=c++17``.  ``instantiate``: template instantiations to convert, such as ``scale<float, 4>``.
    ``arguments``: the program's own.  ``companions``: the program's other source files.  ``patch``: also
    write a diff of the launch sites.  ``check``: full checking of the original for races, bounds and
    initialisation.  ``jobs``: inputs at a time.
    """

    output: Path | None = None
    execute: bool = True
    verify_seconds: float = 60.0
    include_folders: tuple[Path, ...] = ()
    defines: tuple[str, ...] = ()
    standard: str | None = None
    instantiate: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    companions: tuple[Path, ...] = ()
    patch: bool = False
    check: bool = False
    jobs: int = 1
    debug: bool = False

    def output_folder(self, source: Path) -> Path:
        """Where the outputs of ``source`` go."""
        return self.output if self.output is not None else source.parent
