"""Diagnostic codes of lifting."""

from tmigrate.codes import Code

CODES: tuple[Code, ...] = ()
