"""A thread-level kernel to loops over blocks and threads.

A kernel without barriers becomes one loop over the threads of a block around its body.  Otherwise every
construct that holds a barrier or a lane operation runs *block-wide*, and what stands between becomes loops
over threads, the *pieces*:

    t[threadIdx.x] = x                     for thread in threads: t[thread] = x
    s = n // 2                             s = n // 2
    while s > 0:                           while s > 0:
        if threadIdx.x < s: f()      ->        for thread in threads: if thread < s: f()
        syncthreads()
        with step: s = s // 2                  s = s // 2

A block-wide `if` or loop whose condition depends on the thread runs under a *mask*, an array of one bool
per thread: the pieces inside skip threads whose bit is clear; `break`, `continue` and `return` clear bits.
Uniform conditions (`uniformity.py`) need none.  Variables that live across pieces become *contexts*, arrays
with one element per thread (`pieces.py`).
"""

from __future__ import annotations

from dataclasses import replace

from tmigrate.tilelang.ir.expressions import (
    Binary,
    BinaryOp,
    Cast,
    Compare,
    CompareOp,
    Const,
    Expr,
    LaunchIndex,
    LaunchIndexKind,
    Select,
    Var,
)
from tmigrate.tilelang.ir.module import Function, Module
from tmigrate.tilelang.ir.node import Node, rewrite_region, walk, with_fields
from tmigrate.tilelang.ir.statements import (
    Allocate,
    Declare,
    For,
    LoopKind,
    Region,
    Stmt,
)
from tmigrate.tilelang.ir.types import I64, U32, Space
from tmigrate.tilelang.passes.block_wide import BlockWide, piece
from tmigrate.tilelang.passes.effects import Summaries, address_taken, assigned_variables, holds_block_wide
from tmigrate.tilelang.passes.names import Names, names_of, substitute
from tmigrate.tilelang.passes.pieces import finish_pieces


def threads_to_loops(function: Function, module: Module, summaries: Summaries) -> Function:
    """The kernel as a loop over blocks; its block-wide device functions are inlined already."""
    function = _private_parameters(function, module)
    names = names_of(function, module)
    body = list(_hoisted_shared(function.body))
    rest = without_shared_arrays(function.body)
    if any(holds_block_wide(s, summaries) for s in rest):
        body += BlockWide(replace(function, body=rest), module, summaries, names).run()
    else:
        body += finish_pieces([piece(rest)], names, module, frozenset())
    return replace(function, body=(_block_loop(tuple(body), names),))


def _private_parameters(function: Function, module: Module) -> Function:
    """Each thread has its own copy of a parameter that it may change.

    def k(n: i32): n = n + 1      ->      def k(n: i32): n_2: i32 = n; n_2 = n_2 + 1
    """
    changed = assigned_variables(function.body) | address_taken(function.body)
    names = names_of(function, module)
    copies: dict[str, Expr] = {}
    declarations: list[Stmt] = []
    for parameter in function.parameters:
        if parameter.name in changed:
            copy = with_fields(parameter, name=names.fresh(parameter.name))
            copies[parameter.name] = copy
            declarations.append(Declare(copy, parameter))
    if not copies:
        return function
    return replace(function, body=(*declarations, *substitute(function.body, copies)))


def _hoisted_shared(body: Region) -> list[Stmt]:
    return [it for it in walk(body) if isinstance(it, Allocate) and it.space is Space.SHARED]


def without_shared_arrays(body: Region) -> Region:
    """The body without the allocations of shared arrays, which stand at the block's top."""

    def rule(it: Node) -> Node | tuple[Node, ...] | None:
        return () if isinstance(it, Allocate) and it.space is Space.SHARED else None

    return rewrite_region(body, rule)  # type: ignore[return-value]


def _block_loop(body: Region, names: Names) -> For:
    """`for block in blocks(...)`: one iteration per block, with blockIdx as variables where it is used."""
    index = Var(names.fresh("block"), I64)
    axes = [Var(names.fresh(f"block_{axis}"), U32) for axis in "xyz"]
    sizes = [Cast(I64, LaunchIndex(LaunchIndexKind.GRID_SIZE, axis)) for axis in range(3)]
    plane = Binary(BinaryOp.MUL, sizes[0], sizes[1])
    zero = Const(0, I64)

    def rule(it: Node) -> Node | None:
        if isinstance(it, LaunchIndex) and it.kind is LaunchIndexKind.BLOCK:
            return axes[it.axis]
        return None

    changed: Region = rewrite_region(body, rule)  # type: ignore[assignment]
    used = {it.name for it in walk(changed) if isinstance(it, Var)}
    # Most grids are a row: no division then.
    is_row = Compare(CompareOp.EQ, Binary(BinaryOp.MUL, sizes[1], sizes[2]), Const(1, I64))
    values = (
        Select(is_row, index, Binary(BinaryOp.TRUNC_REM, index, sizes[0])),
        Select(
            is_row, zero, Binary(BinaryOp.TRUNC_REM, Binary(BinaryOp.TRUNC_DIV, index, sizes[0]), sizes[1])
        ),
        Select(is_row, zero, Binary(BinaryOp.TRUNC_DIV, index, plane)),
    )
    declarations = tuple(
        Declare(axis, Cast(U32, value)) for axis, value in zip(axes, values, strict=True) if axis.name in used
    )
    count = Binary(BinaryOp.MUL, plane, sizes[2])
    return For(index, Const(0, I64), count, Const(1, I64), (*declarations, *changed), LoopKind.BLOCKS)
