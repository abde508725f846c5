"""Diagnostic codes of the command line and the environment."""

from tmigrate.codes import Code

CODES: tuple[Code, ...] = ()
