"""What converting and verifying found, as data: the command line prints it, ``--json`` writes it.

The field names of ``to_json`` are public: additions are fine, renames are not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from tmigrate.diagnostics import Diagnostic
from tmigrate.locations import Location

JSON_VERSION = 1

InputKind = Literal["cuda", "onnx"]


class Status(StrEnum):
    """How far a kernel or an input came; the order is from good to bad."""

    VERIFIED = "verified"
    CONVERTED = "converted"
    REFUSED = "refused"
    NONE = "none"  # an input without kernels


class Level(StrEnum):
    """The highest form whose equivalence with the original was shown."""

    THREAD = "thread"
    LOOP = "loop"
    TENSOR = "tensor"


_WORSE = {Status.NONE: 0, Status.VERIFIED: 1, Status.CONVERTED: 2, Status.REFUSED: 3}


def worst(statuses: Iterable[Status]) -> Status:
    """The worst of several states; NONE where there is none.

    >>> worst([Status.VERIFIED, Status.CONVERTED])
    <Status.CONVERTED: 'converted'>
    """
    return max(statuses, key=_WORSE.__getitem__, default=Status.NONE)


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelResult:
    """One kernel definition (its state is the worst of its instances'), or one function of a model.

    ``code`` and ``reason`` say why the state is not better; ``blocked`` says what kept it from the next
    level.  ``max_ulp`` is the largest error measured in step (b), in units of the last place.
    """

    name: str
    status: Status
    location: Location | None = None
    level: Level | None = None
    code: str | None = None
    reason: str | None = None
    blocked: str | None = None
    oracle: str | None = None
    cases: int | None = None
    launches: int | None = None
    max_ulp: float | None = None
    bit_exact: bool | None = None
    rules: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    lines_before: int | None = None
    lines_after: int | None = None

    def to_json(self) -> dict[str, Any]:
        """The kernel's object under ``kernels``."""
        return {
            "name": self.name,
            "location": str(self.location) if self.location else None,
            "level": self.level.value if self.level else None,
            "status": self.status.value,
            "code": self.code,
            "reason": self.reason,
            "blocked": self.blocked,
            "oracle": self.oracle,
            "cases": self.cases,
            "launches": self.launches,
            "max_ulp": self.max_ulp,
            "bit_exact": self.bit_exact,
            "rules": list(self.rules),
            "assumptions": list(self.assumptions),
            "lines_before": self.lines_before,
            "lines_after": self.lines_after,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class InputResult:
    """One translation unit or model.

    ``parsed`` is false where the input's text was read and not understood (a syntax error); ``readable``
    is false where there was nothing to read, or tmigrate itself failed.  ``outputs`` are paths as written;
    ``untouched`` those of them that were left as they stood.  ``texts`` holds the outputs' texts by file
    name where source text was converted and nothing was kept on the disk.
    """

    path: str
    kind: InputKind = "cuda"
    kernels: tuple[KernelResult, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    outputs: tuple[str, ...] = ()
    parsed: bool = True
    readable: bool = True
    conflicts: tuple[str, ...] = ()
    untouched: tuple[str, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)

    @property
    def status(self) -> Status:
        """The worst of the kernels' states."""
        if not self.parsed or not self.readable:
            return Status.REFUSED
        return worst(kernel.status for kernel in self.kernels)

    def to_json(self) -> dict[str, Any]:
        """The input's object under ``inputs``."""
        return {
            "path": self.path,
            "kind": self.kind,
            "status": self.status.value,
            "kernels": [kernel.to_json() for kernel in self.kernels],
            "diagnostics": [diagnostic_to_json(diagnostic) for diagnostic in self.diagnostics],
            "outputs": list(self.outputs),
            "conflicts": list(self.conflicts),
            "untouched": list(self.untouched),
        }


def diagnostic_to_json(diagnostic: Diagnostic) -> dict[str, Any]:
    """A diagnostic with its place taken apart."""
    place = diagnostic.location
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity.value,
        "message": diagnostic.message,
        "file": place.file if place else None,
        "line": (place.line or None) if place else None,
        "column": (place.column or None) if place else None,
        "remedy": diagnostic.remedy or None,
        "notes": [
            {"message": note.message, "location": str(note.location) if note.location else None}
            for note in diagnostic.notes
        ],
    }


def report_to_json(inputs: Iterable[InputResult]) -> dict[str, Any]:
    """The one object that ``--json`` prints."""
    return {"version": JSON_VERSION, "inputs": [result.to_json() for result in inputs]}


def exit_status(inputs: Iterable[InputResult], *, executed: bool) -> int:
    """0 all verified (all converted, where nothing was executed), 1 something less, 2 unreadable."""
    results = list(inputs)
    if any(not result.readable for result in results):
        return 2
    enough = {Status.NONE, Status.VERIFIED} if executed else {Status.NONE, Status.VERIFIED, Status.CONVERTED}
    if any(result.conflicts or result.status not in enough for result in results):
        return 1
    return 0
