"""Faults planted on purpose: with ``TMIGRATE_RUN_BREAK`` set, every converted kernel stores wrong values.

Acceptance runs use it to see that a program's own check, or verification, notices a wrong kernel.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import cast

from tmigrate.tilelang.ir.expressions import Binary, BinaryOp, Call, Const, Expr, Subscript, type_of
from tmigrate.tilelang.ir.intrinsics import INTRINSICS, Effect
from tmigrate.tilelang.ir.module import Function, FunctionKind, Module
from tmigrate.tilelang.ir.node import Node, rewrite_region, with_fields
from tmigrate.tilelang.ir.statements import Assign, Region
from tmigrate.tilelang.ir.types import is_float, is_integer

VARIABLE = "TMIGRATE_RUN_BREAK"


def with_planted_faults(module: Module) -> Module:
    """The module, broken if the environment asks for it."""
    if not os.environ.get(VARIABLE):
        return module
    return replace(module, functions=tuple(_broken(f) for f in module.functions))


def _broken(function: Function) -> Function:
    if function.kind is not FunctionKind.KERNEL:
        return function
    return replace(function, body=cast(Region, rewrite_region(function.body, _break)))


def _break(it: Node) -> Node | None:
    """A stored float becomes 2x + 1, a stored integer loses its lowest bit; atomic operands likewise."""
    if isinstance(it, Assign) and isinstance(it.target, Subscript):
        return with_fields(it, value=_wrong(it.value))
    if isinstance(it, Call) and it.callee in INTRINSICS and INTRINSICS[it.callee].effect is Effect.ATOMIC:
        return with_fields(it, arguments=(*it.arguments[:-1], _wrong(it.arguments[-1])))
    return None


def _wrong(value: Expr) -> Expr:
    t = type_of(value)
    if is_float(t):
        return Binary(BinaryOp.ADD, Binary(BinaryOp.MUL, value, Const(2.0, t)), Const(1.0, t))
    if is_integer(t) and not (isinstance(value, Call) and value.callee not in INTRINSICS):
        return Binary(BinaryOp.XOR, value, Const(1, t))
    return value
