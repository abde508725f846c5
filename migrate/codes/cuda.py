"""Diagnostic codes of CUDA front end."""

from tmigrate.codes import Code

CODES: tuple[Code, ...] = ()
