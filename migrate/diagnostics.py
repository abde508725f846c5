"""Diagnostics: what is wrong, where, and what to write instead.

A leaf module that every room may import.  A :class:`Diagnostic` is data; an error class carries
diagnostics up to the command line, which renders them with source excerpts and carets.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum

from tmigrate.locations import Location


class Severity(Enum):
    """How much a diagnostic weighs; an ``ERROR`` keeps a kernel from being converted."""

    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Note:
    """A second place that explains a diagnostic ("the other access is here")."""

    message: str
    location: Location | None = None


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding: a code of ``tmigrate explain``, a sentence, a place and a remedy."""

    code: str
    message: str
    location: Location | None = None
    severity: Severity = Severity.ERROR
    remedy: str = ""
    notes: tuple[Note, ...] = field(default=())

    def __str__(self) -> str:
        place = f"{self.location}: " if self.location else ""
        text = f"{place}{self.severity.value} {self.code}: {self.message}"
        return f"{text} ({self.remedy})" if self.remedy else text


class TmigrateError(Exception):
    """Base of all errors that a user can meet; carries one diagnostic or several."""

    def __init__(self, diagnostics: Diagnostic | Iterable[Diagnostic]) -> None:
        found = (diagnostics,) if isinstance(diagnostics, Diagnostic) else tuple(diagnostics)
        self.diagnostics: tuple[Diagnostic, ...] = found
        super().__init__("\n".join(str(d) for d in found))

    @property
    def diagnostic(self) -> Diagnostic:
        """The first diagnostic."""
        return self.diagnostics[0]


class UsageError(TmigrateError):
    """Wrong use of the tool, or an input or output place that cannot be read or written (status 2)."""


class SourceError(TmigrateError):
    """An input that cannot be parsed: CUDA source, DSL text or an option file."""


class RefusedError(TmigrateError):
    """A construct that is understood and not converted."""


class VerifyError(TmigrateError):
    """IR that breaks one of its level's rules: a fault of a pass or of hand-written DSL."""


class ToolchainError(TmigrateError):
    """A compiler or a built program failed in a way that is not the input's fault."""
