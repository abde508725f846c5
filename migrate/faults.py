"""Faults planted on purpose: with ``TMIGRATE_RUN_BREAK`` set, every converted kernel stores wrong values.

Acceptance runs use it to see that a program's own check, or verification, notices a wrong kernel.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import cast

from tmigrate.tilelang.ir.expressions import (
    Binary,
    BinaryOp,
    Call,
    Const,
    Expr,
    Member,
    Subscript,
    Unary,
    UnaryOp,
    type_of,
)
from tmigrate.tilelang.ir.intrinsics import INTRINSICS, Effect
from tmigrate.tilelang.ir.module import Function, Module
from tmigrate.tilelang.ir.node import Node, rewrite_region, walk, with_fields
from tmigrate.tilelang.ir.statements import Assign, Region
from tmigrate.tilelang.ir.structs import Structs, definition_of
from tmigrate.tilelang.ir.types import B1, I32, ArrayType, StructType, is_float, is_integer

VARIABLE = "TMIGRATE_RUN_BREAK"


def with_planted_faults(module: Module) -> Module:
    """The module, broken if the environment asks for it: what kernels store, or what they call."""
    if not os.environ.get(VARIABLE):
        return module
    structs = module.struct_table
    broken = {k.name: _broken(k, structs) for k in module.kernels}
    idle = [k for k in module.kernels if broken[k.name] == k]
    called = {it.callee for k in idle for it in walk(k.body) if isinstance(it, Call)}
    broken |= {f.name: _broken(f, structs) for f in module.functions if f.name in called}
    return replace(module, functions=tuple(broken.get(f.name, f) for f in module.functions))


def _broken(function: Function, structs: Structs) -> Function:
    def rule(it: Node) -> Node | tuple[Node, ...] | None:
        return _break(it, structs)

    return replace(function, body=cast(Region, rewrite_region(function.body, rule)))


def _break(it: Node, structs: Structs) -> Node | tuple[Node, ...] | None:
    """A stored float becomes 2x + 1, a stored integer loses its lowest bit, a flag turns over.

    Atomic operands likewise, and the first number of a stored struct.
    """
    if isinstance(it, Assign) and any(isinstance(place, Subscript) for place in walk(it.target)):
        called = isinstance(it.value, Call) and it.value.callee not in INTRINSICS  # stands alone
        if not called and not isinstance(type_of(it.target), StructType):
            return with_fields(it, value=_wrong(it.value))
        place = _first_number(it.target, structs)
        return it, Assign(place, _wrong(place))
    if isinstance(it, Call) and it.callee in INTRINSICS and INTRINSICS[it.callee].effect is Effect.ATOMIC:
        return with_fields(it, arguments=(*it.arguments[:-1], _wrong(it.arguments[-1])))
    return None


def _first_number(place: Expr, structs: Structs) -> Expr:
    """`pixels[i].color.red` of a struct of structs."""
    while isinstance(t := type_of(place), StructType | ArrayType):
        if isinstance(t, ArrayType):
            place = Subscript(place, tuple(Const(0, I32) for _ in t.shape))
        else:
            member = definition_of(t, structs).fields[0]
            place = Member(place, member.name, member.type)
    return place


def _wrong(value: Expr) -> Expr:
    t = type_of(value)
    if t == B1:
        return Unary(UnaryOp.NOT, value)
    if is_float(t):
        return Binary(BinaryOp.ADD, Binary(BinaryOp.MUL, value, Const(2.0, t)), Const(1.0, t))
    if is_integer(t):
        return Binary(BinaryOp.XOR, value, Const(1, t))
    return value
