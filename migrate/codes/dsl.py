"""Diagnostic codes of DSL and IR."""

from tmigrate.codes import Code

CODES: tuple[Code, ...] = ()
