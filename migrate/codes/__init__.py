"""The table of diagnostic codes, one module per room; ``tmigrate explain`` prints from here.

TM1xxx CUDA front end, TM2xxx DSL and IR, TM3xxx lifting, TM4xxx running and verification,
TM5xxx command line and environment.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

_ROOMS = ("cuda", "dsl", "lifting", "running", "verification", "command")


@dataclass(frozen=True, slots=True)
class Code:
    """One entry: a title, what it means, and an example of the fault and of its remedy."""

    code: str
    title: str
    meaning: str
    bad: str = ""
    good: str = ""


def all_codes() -> dict[str, Code]:
    """Every code by its name, in order."""
    table: dict[str, Code] = {}
    for room in _ROOMS:
        for entry in import_module(f"tmigrate.codes.{room}").CODES:
            if entry.code in table:
                raise ValueError(f"diagnostic code {entry.code} is declared twice")
            table[entry.code] = entry
    return dict(sorted(table.items()))
