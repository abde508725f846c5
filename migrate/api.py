"""The Python API: what the commands do, as calls that return data.

>>> import tmigrate
>>> result = tmigrate.convert("saxpy.cu", run=False)          # doctest: +SKIP
>>> [kernel.status.value for kernel in result.kernels]         # doctest: +SKIP
['converted']

What is wrong with a source stands in its result, under ``diagnostics`` and each kernel's ``reason``.
UsageError is raised for what is no source at all (a missing or binary file, a folder of several), and for a
place that cannot be written.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from tmigrate.diagnostics import Diagnostic, UsageError
from tmigrate.options import ConvertOptions
from tmigrate.results import InputResult

__all__ = ["assess", "convert", "verify"]

TEXT_NAME = "source.cu"


def convert(
    source: str | Path,
    *,
    output: str | Path | None = None,
    run: bool = True,
    verify_seconds: float = 60.0,
    arguments: Sequence[str] = (),
    defines: Sequence[str] = (),
    include_folders: Sequence[str | Path] = (),
    standard: str | None = None,
    instantiate: Sequence[str] = (),
    sources: Sequence[str | Path] = (),
) -> InputResult:
    """Convert a CUDA file, or CUDA source text (anything with a line break); verify unless `run` is false.

    Outputs go beside the file or to `output`.  Source text is written to `output` as ``source.cu``, beside
    them; without `output` nothing is left on the disk, and the result's ``texts`` holds what was written.
    `sources` are the other files of its program, where it has several.
    """
    options = ConvertOptions(
        output=None if output is None else Path(output),
        execute=run,
        verify_seconds=verify_seconds,
        arguments=tuple(arguments),
        defines=tuple(defines),
        include_folders=tuple(map(Path, include_folders)),
        standard=standard,
        instantiate=tuple(instantiate),
        companions=tuple(map(Path, sources)),
    )
    with _as_file(source, options.output) as path:
        result = _one("convert", path, options)
        if options.output is not None or not is_text(source):
            return result
        texts = {Path(name).name: Path(name).read_text() for name in result.outputs}
        return replace(result, outputs=(), texts=texts)


def verify(
    source: str | Path,
    *,
    output: str | Path | None = None,
    verify_seconds: float = 60.0,
    arguments: Sequence[str] = (),
    defines: Sequence[str] = (),
    include_folders: Sequence[str | Path] = (),
    standard: str | None = None,
    instantiate: Sequence[str] = (),
    sources: Sequence[str | Path] = (),
) -> InputResult:
    """Verify again what ``convert`` wrote for a file (into `output`), as it stands on the disk now."""
    options = ConvertOptions(
        output=None if output is None else Path(output),
        verify_seconds=verify_seconds,
        arguments=tuple(arguments),
        defines=tuple(defines),
        include_folders=tuple(map(Path, include_folders)),
        standard=standard,
        instantiate=tuple(instantiate),
        companions=tuple(map(Path, sources)),
    )
    return _one("verify", Path(source), options)


def assess(
    source: str | Path,
    *,
    defines: Sequence[str] = (),
    include_folders: Sequence[str | Path] = (),
    standard: str | None = None,
    instantiate: Sequence[str] = (),
) -> InputResult:
    """Say what of a file or source text would convert, and what would be refused; runs and writes nothing."""
    options = ConvertOptions(
        execute=False,
        defines=tuple(defines),
        include_folders=tuple(map(Path, include_folders)),
        standard=standard,
        instantiate=tuple(instantiate),
    )
    with _as_file(source, None) as path:
        return _one("assess", path, options)


def is_text(source: str | Path) -> bool:
    """Whether a source is given as text: a path has no line break."""
    return isinstance(source, str) and "\n" in source


@contextmanager
def _as_file(source: str | Path, output: Path | None) -> Iterator[Path]:
    """The file of a source; text without an `output` folder gets one for as long as the context lasts."""
    if not is_text(source):
        yield Path(source)
    elif output is None:
        with tempfile.TemporaryDirectory(prefix="tmigrate-") as folder:
            yield _written(str(source), Path(folder))
    else:
        yield _written(str(source), output)


def _written(text: str, folder: Path) -> Path:
    from tmigrate.outputs import check_writable

    check_writable(folder)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / TEXT_NAME
    if path.exists() and path.read_bytes() != text.encode():
        message = f"'{path}' exists and holds another text"
        raise UsageError(
            Diagnostic("TM5021", message, remedy="move it away, or choose another output folder")
        )
    path.write_bytes(text.encode())
    return path


def _one(command: str, path: Path, options: ConvertOptions) -> InputResult:
    from tmigrate import pipeline
    from tmigrate.inputs import find_inputs

    found = find_inputs([path], options.include_folders)
    if len(found) != 1:
        message = f"'{path}' holds {len(found)} sources; this call takes one"
        raise UsageError(Diagnostic("TM5010", message, remedy=f"call {command} for each of its files"))
    if found[0].fault is not None:
        raise UsageError(found[0].fault)
    results: list[InputResult] = getattr(pipeline, command)([path], options)
    return results[0]
