"""Expressions of shadow execution."""

from __future__ import annotations

from tmigrate.tilelang.targets.cpu.expressions import Expressions


class ShadowExpressions(Expressions):
    """To be written."""
