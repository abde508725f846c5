"""Loops that wait for another thread end with a report instead of hanging.

Threads of a block run one after the other between barriers, and blocks that wait run in order.  A loop whose
turns depend on memory alone waits for someone else's store:

    while flag[0] != v: pass       ->      turns = 0
                                           while flag[0] != v:
                                               turns = turns + 1
                                               assert_(turns < 2**26, "...")

Waiting for an earlier block (a look-back) or for a free lock ends at once; waiting for a later one traps.
"""

from __future__ import annotations

from dataclasses import replace

from tmigrate.tilelang.ir.expressions import (
    Binary,
    BinaryOp,
    Call,
    Compare,
    CompareOp,
    Const,
    StringConst,
    Subscript,
    Var,
)
from tmigrate.tilelang.ir.intrinsics import INTRINSICS, Effect
from tmigrate.tilelang.ir.module import Function, Module
from tmigrate.tilelang.ir.node import Node, bindings_of, rewrite_region, walk, with_fields
from tmigrate.tilelang.ir.statements import Assign, Break, Declare, Evaluate, Region, Return, Stmt, While
from tmigrate.tilelang.ir.types import U32, VOID
from tmigrate.tilelang.passes.names import names_of

_MOST_TURNS = 1 << 26
_MESSAGE = "waits for a thread that runs later"


def limit_spin_waits(function: Function, module: Module) -> Function:
    """The function with a limit on every loop that waits."""
    names = names_of(function, module)

    def rule(it: Node) -> Node | tuple[Node, ...] | None:
        if not isinstance(it, While) or not is_spin_wait(it):
            return None
        turns = Var(names.fresh("turns"), U32)
        count: Stmt = Assign(turns, Binary(BinaryOp.ADD, turns, Const(1, U32)))
        fine = Compare(CompareOp.LT, turns, Const(_MOST_TURNS, U32))
        check: Stmt = Evaluate(Call("assert_", (fine, StringConst(_MESSAGE)), VOID, location=it.location))
        changed = with_fields(it, body=(count, check, *it.body))
        return (Declare(turns, Const(0, U32)), changed)

    body: Region = rewrite_region(function.body, rule)  # type: ignore[assignment]
    return replace(function, body=body)


def has_spin_wait(function: Function) -> bool:
    """Whether a loop of the function waits for another thread."""
    return any(isinstance(it, While) and is_spin_wait(it) for it in walk(function.body))


def is_spin_wait(loop: While) -> bool:
    """Whether a turn depends on memory alone: it stores nothing and passes no variable on to the next."""
    inside = (*loop.body, *loop.step)
    declared = {v.name for it in walk(inside) for v in bindings_of(it) if isinstance(v, Var)}
    carried: set[str] = set()
    for it in walk(inside):
        if isinstance(it, Assign):
            if not isinstance(it.target, Var):
                return False
            carried |= {it.target.name} - declared
    reads = any(_reads_memory(it) for it in walk((loop.condition, *inside)))
    if not reads or any(isinstance(it, Return) for it in walk(inside)):
        return False
    leaves = any(isinstance(it, Break) for it in walk(inside)) or not isinstance(loop.condition, Const)
    return leaves and not _passes_on(inside, carried)


def _passes_on(inside: tuple[Stmt, ...], carried: set[str]) -> bool:
    """Whether a value computed in the loop uses what an earlier turn left."""
    for it in walk(inside):
        value = it.value if isinstance(it, Assign | Declare) else None
        if value is not None and any(isinstance(v, Var) and v.name in carried for v in walk(value)):
            return True
    return False


def _reads_memory(it: Node) -> bool:
    if isinstance(it, Subscript):
        return True
    return isinstance(it, Call) and it.callee in INTRINSICS and INTRINSICS[it.callee].effect is Effect.ATOMIC
