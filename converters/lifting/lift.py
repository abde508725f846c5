"""The ladder: rules that carry a kernel from thread level to loop level, in one readable list."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from tmigrate.converters.lifting.rules import (
    counted,
    exits,
    independence,
    inline,
    launch,
    pointers,
    ranges,
    reductions,
    scalars,
    tensors,
    tidy,
)
from tmigrate.converters.lifting.state import Blocked, BlockedError, Lift
from tmigrate.tilelang.ir.expressions import Call, DynamicShared, Expr
from tmigrate.tilelang.ir.intrinsics import INTRINSICS, Effect
from tmigrate.tilelang.ir.module import Function, FunctionKind, Level, Module
from tmigrate.tilelang.ir.node import walk
from tmigrate.tilelang.ir.statements import Allocate, Assume, Region
from tmigrate.tilelang.ir.types import Space


@dataclass(frozen=True, slots=True)
class LiftResult:
    """What came of a lift.

    `function` is the lifted version, called with the same arguments, or None where the kernel was `blocked`.
    `assumptions` are its `assume` conditions; `disjoint` lists pairs of parameters that must not overlap.
    """

    function: Function | None
    level: Level
    rules: tuple[str, ...] = ()
    assumptions: tuple[Expr, ...] = ()
    disjoint: tuple[tuple[str, str], ...] = ()
    blocked: Blocked | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """One rung: its name in reports, and the rule; it gives whether it changed anything, or names."""

    name: str
    apply: Callable[[Lift], bool | list[str]]


# In this order: exits must be gone before loops and guards can be read; names are replaced before the
# launch's index is looked for; ranges are needed to split indices, and split indices to tell iterations
# apart.
LADDER: tuple[Rule, ...] = (
    Rule("device functions in place", inline.apply),
    Rule("early return", exits.apply),
    Rule("counted loop", counted.apply),
    Rule("index names", launch.find_indices),
    Rule("private scalars", scalars.apply),
    Rule("index fusion", ranges.apply),
    Rule("private scalars", scalars.apply),
    Rule("pointer offsets", pointers.apply),
    Rule("delinearisation", tensors.apply),
    Rule("independent iterations", independence.apply),
    Rule("reduction", reductions.apply),
    Rule("merged stores", tidy.apply),
    Rule("private scalars", scalars.apply),
)


def lift(module: Module, function: Function) -> LiftResult:
    """Lift a thread-level kernel to loop level, or say what keeps it where it is.  Nothing is executed."""
    state = Lift(module, function, function.body, function.parameters)
    names: list[str] = []
    try:
        _check_kind(function)
        for rule in LADDER:
            outcome = rule.apply(state)
            applied = outcome if isinstance(outcome, list) else [rule.name] if outcome else []
            names += [n for n in applied if n not in names]
            if rule.apply is inline.apply:
                _check_constructs(module, state.body)
    except BlockedError as error:
        return LiftResult(None, Level.THREAD, tuple(names), blocked=error.blocked)
    conditions = state.assumptions()
    lifted = replace(
        function,
        body=(*map(Assume, conditions), *state.body),
        parameters=state.parameters,
        dimensions=state.dimensions,
        level=Level.LOOP,
    )
    return LiftResult(lifted, Level.LOOP, tuple(names), tuple(conditions), tuple(state.disjoint))


def _check_kind(function: Function) -> None:
    if function.kind is not FunctionKind.KERNEL or function.level is not Level.THREAD:
        raise BlockedError("TM3001", "only thread-level kernels are lifted", function.location)


def _check_constructs(module: Module, body: Region) -> None:
    """Stop at once at what no rule handles yet."""
    for it in walk(body):
        if isinstance(it, Allocate) and it.space is Space.SHARED or isinstance(it, DynamicShared):
            raise BlockedError("TM3008", "threads share memory of the block", it.location)
        if isinstance(it, Call):
            _check_call(module, it)


def _check_call(module: Module, call: Call) -> None:
    entry = INTRINSICS.get(call.callee)
    if entry is not None:
        if entry.effect in (Effect.BARRIER, Effect.LANES):
            raise BlockedError("TM3008", f"threads meet at {call.callee}", call.location)
        if entry.effect is not Effect.PURE:
            raise BlockedError(
                "TM3009", f"{call.callee} has an effect that a loop does not have", call.location
            )
        return
    called = module.function(call.callee)
    if called is None:
        raise BlockedError("TM3009", f"{call.callee} is not known", call.location)
    if inline.works_on_memory(called):
        raise BlockedError("TM3010", f"the device function {call.callee} works on memory", call.location)
    for it in walk(called.body):
        if isinstance(it, Call):
            _check_call(module, it)
