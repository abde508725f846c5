"""Diagnostic codes of the oracle, replay and verification."""

from tmigrate.codes import Code

CODES: tuple[Code, ...] = ()
