"""What functions and statements do beyond computing a value, through calls too."""

from __future__ import annotations

from dataclasses import dataclass

from tmigrate.tilelang.ir.expressions import (
    AddressOf,
    Call,
    Expr,
    LaunchIndex,
    LaunchIndexKind,
    Member,
    Subscript,
    Var,
    type_of,
)
from tmigrate.tilelang.ir.intrinsics import INTRINSICS, Effect
from tmigrate.tilelang.ir.module import Function, Module
from tmigrate.tilelang.ir.node import Node, walk
from tmigrate.tilelang.ir.statements import Allocate, Assign, Evaluate, Stmt
from tmigrate.tilelang.ir.types import PointerType, Space, is_float

BLOCK_WIDE = frozenset({Effect.BARRIER, Effect.LANES})
_INDICES = (LaunchIndexKind.THREAD, LaunchIndexKind.BLOCK)


@dataclass(frozen=True, slots=True)
class Summary:
    """One function: its effects through all calls; whether it reads thread or block indices (a failed
    assertion reports them), and whether it declares shared memory."""

    effects: frozenset[Effect]
    uses_indices: bool
    has_shared: bool

    @property
    def is_block_wide(self) -> bool:
        """Whether the function's calls must stand in the kernel itself."""
        return bool(self.effects & BLOCK_WIDE) or self.has_shared


Summaries = dict[str, Summary]


def summarize(module: Module) -> Summaries:
    """The summary of each function; C functions call only what stands in the module (no pointers to them)."""
    own = {f.name: _own_summary(f) for f in module.functions}
    calls = {f.name: _callees(f) & own.keys() for f in module.functions}
    found = dict(own)
    changed = True
    while changed:
        changed = False
        for name, callees in calls.items():
            merged = found[name]
            for callee in callees:
                other = found[callee]
                merged = Summary(
                    merged.effects | other.effects,
                    merged.uses_indices or other.uses_indices,
                    merged.has_shared or other.has_shared,
                )
            if merged != found[name]:
                found[name], changed = merged, True
    return found


def _callees(function: Function) -> set[str]:
    return {it.callee for it in walk(function.body) if isinstance(it, Call)}


def _own_summary(function: Function) -> Summary:
    effects, indices, shared = set(), False, False
    for it in walk(function.body):
        if isinstance(it, Call) and it.callee in INTRINSICS:
            effects.add(INTRINSICS[it.callee].effect)
            indices = indices or it.callee == "assert_"
        elif isinstance(it, LaunchIndex):
            indices = indices or it.kind in _INDICES
        elif isinstance(it, Allocate):
            shared = shared or it.space is Space.SHARED
    return Summary(frozenset(effects - {Effect.PURE}), indices, shared)


def is_block_wide_call(it: Node, summaries: Summaries) -> bool:
    """Whether a call is performed by several threads together."""
    if not isinstance(it, Call):
        return False
    if it.callee in INTRINSICS:
        return INTRINSICS[it.callee].effect in BLOCK_WIDE
    return it.callee in summaries and summaries[it.callee].is_block_wide


def holds_block_wide(statement: Stmt, summaries: Summaries) -> bool:
    """Whether a barrier or a lane operation stands in the statement."""
    return any(is_block_wide_call(it, summaries) for it in walk(statement))


def root_variable(place: Expr) -> Var | None:
    """The variable whose storage a place lies in; None behind a pointer."""
    while isinstance(place, Member | Subscript):
        if isinstance(place, Subscript) and isinstance(type_of(place.base), PointerType):
            return None
        place = place.base
    return place if isinstance(place, Var) else None


def address_taken(body: tuple[Stmt, ...]) -> frozenset[str]:
    """The variables whose address is taken."""
    found = set()
    for it in walk(body):
        if isinstance(it, AddressOf):
            root = root_variable(it.place)
            if root is not None:
                found.add(root.name)
    return frozenset(found)


def is_order_sensitive(module: Module, function: Function) -> bool:
    """Whether the results may depend on the order in which blocks run, races aside.

    Integer atomics whose old value is dropped commute; sums of floats, exchanges, used old values, output
    and device-wide fences (which only matter between blocks that wait for each other) do not.
    """
    reached, pending = set(), [function]
    while pending:
        current = pending.pop()
        if current.name in reached:
            continue
        reached.add(current.name)
        if _order_matters_in(current):
            return True
        for callee in _callees(current):
            target = module.function(callee)
            if target is not None:
                pending.append(target)
    return False


def _order_matters_in(function: Function) -> bool:
    dropped = {id(it.value) for it in walk(function.body) if isinstance(it, Evaluate)}
    for it in walk(function.body):
        if not isinstance(it, Call) or it.callee not in INTRINSICS:
            continue
        effect = INTRINSICS[it.callee].effect
        if effect is Effect.OUTPUT and it.callee == "printf":
            return True
        if effect is Effect.ATOMIC and (id(it) not in dropped or not _commutes(it)):
            return True
    return False


def _commutes(call: Call) -> bool:
    if call.callee in ("atomic_exch", "atomic_cas", "atomic_dec", "atomic_inc"):
        return False
    pointer = type_of(call.arguments[0])
    is_sum = call.callee in ("atomic_add", "atomic_sub")
    return not (is_sum and isinstance(pointer, PointerType) and is_float(pointer.pointee))


def assigned_variables(body: tuple[Stmt, ...]) -> frozenset[str]:
    """The variables that an assignment writes, whole or in part."""
    found = set()
    for it in walk(body):
        if isinstance(it, Assign):
            root = root_variable(it.target)
            if root is not None:
                found.add(root.name)
    return frozenset(found)
