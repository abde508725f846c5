"""CUDA C++ (parsed by libclang) to thread-level tile IR.

>>> from pathlib import Path
>>> from tmigrate.converters.cuda import FrontEndOptions, convert_source
>>> result = convert_source(Path("saxpy.cu"), FrontEndOptions())   # doctest: +SKIP
>>> [(k.name, k.status) for k in result.kernels]                   # doctest: +SKIP
[('saxpy', 'converted')]
"""

from __future__ import annotations

from pathlib import Path

from tmigrate.converters.cuda.options import FrontEndOptions, FrontEndResult, KernelRecord, LaunchSite


def convert_source(path: Path, options: FrontEndOptions | None = None) -> FrontEndResult:
    """Convert a CUDA file; see :func:`tmigrate.converters.cuda.frontend.convert_source`."""
    from tmigrate.converters.cuda.frontend import convert_source as convert

    return convert(path, options)


__all__ = ["FrontEndOptions", "FrontEndResult", "KernelRecord", "LaunchSite", "convert_source"]
