"""The Python API: what the commands do, as calls that return data.

>>> import tmigrate
>>> result = tmigrate.convert("saxpy.cu", run=False)          # doctest: +SKIP
>>> [kernel.status.value for kernel in result.kernels]         # doctest: +SKIP
['converted']
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from tmigrate.options import ConvertOptions
from tmigrate.results import InputResult

__all__ = ["assess", "convert", "verify"]


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
) -> InputResult:
    """Convert a CUDA file, or CUDA source text (anything with a line break); verify unless `run` is false.

    Outputs go beside the file or to `output`; for source text without `output` they are discarded with the
    temporary folder that they were written to.
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
    )
    if isinstance(source, str) and "\n" in source:
        with tempfile.TemporaryDirectory(prefix="tmigrate-") as folder:
            path = Path(folder) / "source.cu"
            path.write_text(source)
            return _one("convert", path, options)
    return _one("convert", Path(source), options)


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
) -> InputResult:
    """Verify again what ``convert`` wrote for `source` (into `output`), as it stands on the disk now."""
    options = ConvertOptions(
        output=None if output is None else Path(output),
        verify_seconds=verify_seconds,
        arguments=tuple(arguments),
        defines=tuple(defines),
        include_folders=tuple(map(Path, include_folders)),
        standard=standard,
        instantiate=tuple(instantiate),
    )
    return _one("verify", Path(source), options)


def assess(source: str | Path, *, defines: Sequence[str] = ()) -> InputResult:
    """Say what of `source` would convert and what would be refused; executes and writes nothing."""
    return _one("assess", Path(source), ConvertOptions(defines=tuple(defines)))


def _one(command: str, path: Path, options: ConvertOptions) -> InputResult:
    from tmigrate import pipeline

    results: list[InputResult] = getattr(pipeline, command)([path], options)
    return results[0]
