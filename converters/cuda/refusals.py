"""Raising a refusal at a cursor."""

from __future__ import annotations

from typing import NoReturn

from tmigrate.converters.cuda.bindings import Cursor
from tmigrate.diagnostics import Diagnostic, Note, RefusedError
from tmigrate.locations import UNKNOWN, Location


class PoisonedError(RefusedError):
    """A construct depends on something that was refused already: nothing new to report."""

    def __init__(self) -> None:
        super().__init__(())


def location_of(cursor: Cursor) -> Location:
    """The place of a cursor, at its first character; inside a macro, the place of the macro's use."""
    extent = cursor.extent
    start, end = extent.start, extent.end
    if start.file is None:
        start = end = cursor.location
        if start.file is None:
            return UNKNOWN
    same_line = end.line == start.line and end.column > start.column
    return Location(start.file.name, start.line, start.column, end.column if same_line else 0)


def name_location(cursor: Cursor) -> Location:
    """The place of a declaration's name."""
    place = cursor.location
    if place.file is None:
        return UNKNOWN
    return Location(place.file.name, place.line, place.column, place.column + len(cursor.spelling))


def refuse(
    code: str, message: str, cursor: Cursor, remedy: str = "", notes: tuple[Note, ...] = ()
) -> NoReturn:
    """Raise RefusedError for a construct."""
    raise RefusedError(Diagnostic(code, message, location_of(cursor), remedy=remedy, notes=notes))
