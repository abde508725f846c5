"""Which functions of a module have effects: they write memory that outlives the call, or do more."""

from __future__ import annotations

from tmigrate.tilelang.ir.expressions import Call, Expr, Var, type_of
from tmigrate.tilelang.ir.intrinsics import INTRINSICS
from tmigrate.tilelang.ir.module import Function, Module
from tmigrate.tilelang.ir.node import walk
from tmigrate.tilelang.ir.statements import Allocate, Assign
from tmigrate.tilelang.ir.types import PointerType, StructType, is_float, is_integer


def effectful_functions(module: Module) -> frozenset[str]:
    """The names of the functions whose calls have effects: directly, or through a function they call."""
    calls: dict[str, set[str]] = {}
    found: set[str] = set()
    for function in module.functions:
        if _writes(function):
            found.add(function.name)
        called = {n.callee for n in walk(function.body) if isinstance(n, Call)}
        calls[function.name] = called
        if any(c in INTRINSICS and not INTRINSICS[c].is_pure for c in called):
            found.add(function.name)
    while True:
        more = {name for name, called in calls.items() if name not in found and called & found}
        if not more:
            return frozenset(found)
        found |= more


def _writes(function: Function) -> bool:
    """Whether the function stores outside its own scalars, structs and arrays."""
    own = {n.var.name for n in walk(function.body) if isinstance(n, Allocate)}
    return any(isinstance(n, Assign) and not _is_own(n.target, own) for n in walk(function.body))


def _is_own(place: Expr, own: set[str]) -> bool:
    """`x`, `x.y`, `x[i]` of a variable that dies with the call; anything through a pointer is not."""
    it = place
    while isinstance(getattr(it, "base", None), Expr):
        it = it.base  # type: ignore[attr-defined]
        if isinstance(type_of(it), PointerType):
            return False
    if not isinstance(it, Var):
        return False
    t = it.type
    return (
        it.name in own
        or isinstance(t, StructType | PointerType)
        or is_integer(t)
        or is_float(t)
        or it is place
    )


def is_effectful(call: Call, functions: frozenset[str]) -> bool:
    """Whether a call must stand at the root of a statement; `functions`: what `effectful_functions` gives."""
    entry = INTRINSICS.get(call.callee)
    return call.callee in functions or (entry is not None and not entry.is_pure)
