"""The compiler flags that options stand for."""

from __future__ import annotations

from tmigrate.options import ConvertOptions


def compile_flags(options: ConvertOptions) -> list[str]:
    """The flags that the original is compiled with."""
    flags = [f"-D{name}" for name in options.defines]
    flags += [f"-I{folder}" for folder in options.include_folders]
    return [*flags, f"-std={options.standard}"] if options.standard else flags
