"""Source locations: a leaf module that every room may import."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a source text; lines and columns count from 1, and 0 means "not known".

    Columns count bytes of UTF-8, as libclang's do (and those of Python's ``ast``, which start from 0).

    ``end_column`` is one past the last column of the marked text on the same line.

    >>> str(Location("kernel.cu", 12, 5))
    'kernel.cu:12:5'
    """

    file: str
    line: int = 0
    column: int = 0
    end_column: int = 0

    def __str__(self) -> str:
        parts = [self.file]
        if self.line:
            parts.append(str(self.line))
            if self.column:
                parts.append(str(self.column))
        return ":".join(parts)

    @property
    def mark(self) -> str:
        """The short form that generated code carries, without a folder: ``k.cu:12``."""
        name = self.file.replace("\\", "/").rpartition("/")[2]
        return f"{name}:{self.line}"


UNKNOWN = Location("<unknown>")
