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

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tmigrate.locations import Location
from tmigrate.tilelang.ir.expressions import (
    Binary,
    BinaryOp,
    Call,
    Cast,
    Compare,
    CompareOp,
    Const,
    Expr,
    LaunchIndex,
    LaunchIndexKind,
    Select,
    StringConst,
    Subscript,
    Unary,
    UnaryOp,
    Var,
    type_of,
)
from tmigrate.tilelang.ir.intrinsics import INTRINSICS, Effect
from tmigrate.tilelang.ir.module import Function, Module
from tmigrate.tilelang.ir.node import Node, rewrite_region, walk, with_fields
from tmigrate.tilelang.ir.statements import (
    Allocate,
    Assign,
    Break,
    Continue,
    Declare,
    Evaluate,
    For,
    If,
    LoopKind,
    Region,
    Return,
    Stmt,
    While,
)
from tmigrate.tilelang.ir.types import B1, I32, I64, U32, VOID, Space, Type
from tmigrate.tilelang.passes.contexts import block_threads, context_type
from tmigrate.tilelang.passes.effects import Summaries, address_taken, assigned_variables, holds_block_wide
from tmigrate.tilelang.passes.names import Names, names_of, substitute
from tmigrate.tilelang.passes.pieces import finish_pieces
from tmigrate.tilelang.passes.structure import Structure

_NULL = Const(0, I64)
TRUE, FALSE = Const(True, B1), Const(False, B1)


@dataclass(frozen=True, slots=True)
class _Mask:
    """An active mask: its array, and the loop whose `continue` or `break` it serves."""

    array: Var
    role: str  # "live": threads that have not returned; "branch", "loop", "turn" (of a loop)


Masks = tuple[_Mask, ...]


@dataclass(slots=True)
class _Loop:
    """A block-wide loop around the current place."""

    masked: bool
    outer_masks: int  # how many masks stood outside of it


def threads_to_loops(function: Function, module: Module, summaries: Summaries) -> Function:
    """The kernel as a loop over blocks; its block-wide device functions are inlined already."""
    function = _private_parameters(function, module)
    names = names_of(function, module)
    body = list(_hoisted_shared(function.body))
    rest = without_shared_arrays(function.body)
    if any(holds_block_wide(s, summaries) for s in rest):
        body += _BlockWide(replace(function, body=rest), module, summaries, names).run()
    else:
        body += finish_pieces([_piece(rest)], names, module, frozenset())
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


def _piece(body: Sequence[Stmt], mask: Var | None = None) -> For:
    """Statements that each thread runs for itself; `pieces.py` gives it its loops."""
    thread = Var("thread", I64)
    guard: list[Stmt] = []
    if mask is not None:
        guard = [If(Unary(UnaryOp.NOT, Subscript(mask, (thread,))), (Return(None),), ())]
    return For(thread, Const(0, I64), block_threads(), Const(1, I64), (*guard, *body), LoopKind.THREADS)


class _LiveMaskNeeded(Exception):
    """A thread may return while others go on: the kernel is lowered again with a mask of live threads."""


class _BlockWide:
    """The lowering of one kernel that holds barriers or lane operations."""

    def __init__(self, function: Function, module: Module, summaries: Summaries, names: Names) -> None:
        self.function = function
        self.module = module
        self.names = names
        self.structure = Structure(function, module, summaries)
        self.allocations: list[Stmt] = []
        self.loops: list[_Loop] = []
        self.live: Var | None = None

    def run(self) -> list[Stmt]:
        """The statements of one block."""
        try:
            body = self._lower()
        except _LiveMaskNeeded:
            self.allocations, self.loops = [], []
            self.live = self.array("live", B1)
            body = [_piece([Assign(self.at(self.live), TRUE)]), *self._lower()]
        pieces = finish_pieces(body, self.names, self.module, self.structure.scalars)
        return [*self.allocations, *pieces]

    def _lower(self) -> list[Stmt]:
        masks: Masks = (_Mask(self.live, "live"),) if self.live is not None else ()
        return self.sequence(self.function.body, masks)

    # ---- helpers ---------------------------------------------------------------------------------------

    def array(self, name: str, element: Type) -> Var:
        """A new array with one element per thread."""
        var = Var(self.names.fresh(f"{name}.threads"), context_type(element))
        self.allocations.append(Allocate(var, Space.LOCAL))
        return var

    def at(self, array: Var) -> Subscript:
        """The current thread's element."""
        return Subscript(array, (Var("thread", I64),))

    def clearing(self, masks: Sequence[_Mask]) -> list[Stmt]:
        """Clear the current thread's bits."""
        return [Assign(self.at(mask.array), FALSE) for mask in masks]

    def none_left(self, mask: _Mask) -> Expr:
        """Whether no thread's bit is set."""
        return Unary(UnaryOp.NOT, Call("tm_any_set", (mask.array, block_threads()), B1))

    # ---- sequences -------------------------------------------------------------------------------------

    def sequence(self, region: Region, masks: Masks) -> list[Stmt]:
        """A block-wide region: statements that threads run alone are gathered into pieces."""
        group = _Group(self, masks)
        for s in region:
            if self.structure.is_scalar(s):
                group.scalar(s)
            elif not self.structure.is_wide(s):
                group.add(s)
            elif isinstance(s, Break | Continue | Return):
                self.jump(s, masks, group)
                break  # what follows is not reached
            elif isinstance(s, If):
                self.branch(s, masks, group)
            elif isinstance(s, For):
                self.counted_loop(s, masks, group)
            elif isinstance(s, While):
                self.general_loop(s, masks, group)
            else:
                self.together(s, masks, group)
        return group.finish()

    def branch(self, s: If, masks: Masks, group: _Group) -> None:
        """A block-wide `if`."""
        if self.structure.once(s.condition):
            group.flush()
            then, otherwise = self.sequence(s.then, masks), self.sequence(s.otherwise, masks)
            group.wide(with_fields(s, then=tuple(then), otherwise=tuple(otherwise)))
            return
        arms = [("then", s.then)] + ([("otherwise", s.otherwise)] if s.otherwise else [])
        chosen = [_Mask(self.array(name, B1), "branch") for name, _ in arms]
        condition = Var(self.names.fresh("condition"), B1)
        setting: list[Stmt] = [Assign(self.at(mask.array), FALSE) for mask in chosen]
        if masks:  # threads outside of the current mask have no bit in either
            group.flush()
            group.wide(_piece(setting))
        group.add(Declare(condition, s.condition, location=s.location))
        group.add(Assign(self.at(chosen[0].array), condition))
        if len(chosen) == 2:
            group.add(Assign(self.at(chosen[1].array), Unary(UnaryOp.NOT, condition)))
        group.flush()
        for mask, (_, region) in zip(chosen, arms, strict=True):
            body = self.sequence(region, (*masks, mask))
            any_set = Call("tm_any_set", (mask.array, block_threads()), B1)
            group.wide(If(any_set, tuple(body), (), location=s.location))

    # ---- loops -----------------------------------------------------------------------------------------

    def counted_loop(self, s: For, masks: Masks, group: _Group) -> None:
        """A block-wide `for`; its counter is common to all threads where its bounds are."""
        if not all(self.structure.once(e) for e in (s.start, s.stop, s.step)):
            self.general_loop(self.as_while(s, group), masks, group)
            return
        group.flush()
        if not self.structure.has_thread_jumps(s):
            self.loops.append(_Loop(False, len(masks)))
            body = self.sequence(s.body, masks)
            self.loops.pop()
            group.wide(with_fields(s, body=tuple(body)))
            return
        loop = self.enter_loop(masks, group)
        turn = self.turn_masks(s.body, masks, loop)
        self.loops.append(_Loop(True, len(masks)))
        body = [If(self.none_left(loop), (Break(),), ()), *self.start_turn(turn, loop)]
        body += self.sequence(s.body, turn)
        self.loops.pop()
        group.wide(with_fields(s, body=tuple(body)))

    def as_while(self, s: For, group: _Group) -> While:
        """A `for` whose bounds depend on the thread, with a counter of its own for each thread."""
        stop = Var(self.names.fresh(f"{s.var.name}_stop"), type_of(s.stop))
        group.add(Declare(s.var, s.start, location=s.location))
        group.add(Declare(stop, s.stop, location=s.location))
        self.structure.make_divergent((s.var.name, stop.name))
        assert isinstance(s.step, Const)
        op = CompareOp.LT if s.step.value > 0 else CompareOp.GT
        step = Assign(s.var, Binary(BinaryOp.ADD, s.var, s.step))
        made = While(Compare(op, s.var, stop), s.body, (step,), location=s.location)
        self.structure.adopt(made, s)
        return made

    def general_loop(self, s: While, masks: Masks, group: _Group) -> None:
        """A block-wide `while`."""
        group.flush()
        is_uniform = self.structure.once(s.condition)
        if is_uniform and not self.structure.has_thread_jumps(s):
            self.loops.append(_Loop(False, len(masks)))
            body, step = self.sequence(s.body, masks), self.sequence(s.step, masks)
            self.loops.pop()
            # Where all threads may have returned, nothing might ever change the condition.
            stop = [If(self.none_left(masks[-1]), (Break(),), ())] if masks else []
            group.wide(with_fields(s, body=(*stop, *body), step=tuple(step)))
            return
        loop = self.enter_loop(masks, group)
        turn = self.turn_masks((*s.body, *s.step), masks, loop)
        self.loops.append(_Loop(True, len(masks)))
        inner = (*masks, loop)
        test = self.test(s, is_uniform, loop)
        body = [*test, *self.start_turn(turn, loop), *self.sequence(s.body, turn)]
        step = self.sequence(s.step, inner)
        self.loops.pop()
        group.wide(While(TRUE, (*body,), tuple(step), location=s.location))

    def test(self, s: While, is_uniform: bool, loop: _Mask) -> list[Stmt]:
        """Leave the loop where its condition fails, and altogether where no thread is left."""
        if isinstance(s.condition, Const) and s.condition.value:
            return [If(self.none_left(loop), (Break(),), ())]
        fails = Unary(UnaryOp.NOT, s.condition, location=s.location)
        leave: Stmt = If(fails, tuple(self.clearing((loop,))), ())
        if is_uniform:
            return [If(self.none_left(loop), (Break(),), ()), If(fails, (Break(),), ())]
        return [_piece([leave], loop.array), If(self.none_left(loop), (Break(),), ())]

    def enter_loop(self, masks: Masks, group: _Group) -> _Mask:
        """The mask of the threads that are in a loop, set from the current one."""
        loop = _Mask(self.array("loop", B1), "loop")
        current: Expr = self.at(masks[-1].array) if masks else TRUE
        group.wide(_piece([Assign(self.at(loop.array), current)]))
        return loop

    def turn_masks(self, body: Region, masks: Masks, loop: _Mask) -> Masks:
        """The masks inside a masked loop: one of its own for the turn, where `continue` clears bits."""
        if not _jumps_here(body, Continue):
            return (*masks, loop)
        return (*masks, loop, _Mask(self.array("turn", B1), "turn"))

    def start_turn(self, masks: Masks, loop: _Mask) -> list[Stmt]:
        """All threads in the loop begin the turn."""
        if masks[-1] is loop:
            return []
        return [_piece([Assign(self.at(masks[-1].array), self.at(loop.array))])]

    # ---- jumps -----------------------------------------------------------------------------------------

    def jump(self, s: Stmt, masks: Masks, group: _Group) -> None:
        """A jump that all threads of the current mask take together."""
        if isinstance(s, Return):
            if not masks or masks[-1].role == "live":
                group.flush()
                group.wide(s)
                return
            group.add(Return(None, location=s.location))
        elif self.loops[-1].masked:
            group.add(s)
        else:
            group.flush()
            group.wide(s)

    def escaping(self, region: Region, masks: Masks, in_loop: bool = False) -> Region:
        """A piece's statements with jumps out of the piece as cleared bits."""
        made: list[Stmt] = []
        for s in region:
            if isinstance(s, Return):
                if self.live is None:
                    raise _LiveMaskNeeded
                made += [*self.clearing(masks), Return(None, location=s.location)]
            elif isinstance(s, Break | Continue) and not in_loop:
                made += [*self.clearing(self.jumped(s, masks)), Return(None, location=s.location)]
            elif isinstance(s, If):
                then, other = (self.escaping(r, masks, in_loop) for r in (s.then, s.otherwise))
                made.append(with_fields(s, then=then, otherwise=other))
            elif isinstance(s, For):
                made.append(with_fields(s, body=self.escaping(s.body, masks, True)))
            elif isinstance(s, While):
                body, step = (self.escaping(r, masks, True) for r in (s.body, s.step))
                made.append(with_fields(s, body=body, step=step))
            else:
                made.append(s)
        return tuple(made)

    def jumped(self, s: Stmt, masks: Masks) -> Masks:
        """The masks that a `break` or `continue` of the innermost block-wide loop clears."""
        inner = masks[self.loops[-1].outer_masks :]
        return inner if isinstance(s, Break) else inner[1:]

    # ---- barriers and lanes ----------------------------------------------------------------------------

    def together(self, s: Stmt, masks: Masks, group: _Group) -> None:
        """A statement whose value is a barrier or a lane operation."""
        call = getattr(s, "value", None)
        assert isinstance(call, Call)
        effect = INTRINSICS[call.callee].effect
        kept = self.lane_arguments(call, group)
        group.flush()
        if effect is Effect.BARRIER:
            self.check_barrier(s, masks, group)
            if call.type != VOID:
                self.joined(s, call, kept[0], masks, group)
            return
        result = None if call.type == VOID else self.array("result", call.type)
        active = masks[-1].array if masks else _NULL
        where = (*self.where(s.location), block_threads())
        target = () if result is None else (result,)
        name = f"tm_{call.callee.removesuffix('_sync')}"
        arguments = (*target, *kept, active, self.live or _NULL, *where)
        group.wide(Evaluate(Call(name, arguments, VOID), location=s.location))
        if result is not None:
            self.give(s, self.at(result), group)

    def lane_arguments(self, call: Call, group: _Group) -> list[Expr]:
        """The value or predicate first, as an array with one element per thread; a mask, lane or width as a
        pair: (such an array, 0) where it depends on the thread, (null, value) where it does not."""
        names: tuple[str, ...] = ("mask", "value", "lane", "width")
        if INTRINSICS[call.callee].effect is Effect.BARRIER:
            names = ("value",)
        kept: list[Expr] = []
        for name, argument in zip(names, call.arguments, strict=False):
            if name != "value" and self.structure.once(argument):
                kept += [_NULL, argument]
                continue
            array = self.array(name, type_of(argument))
            group.add(Assign(self.at(array), argument))
            kept = [array, *kept] if name == "value" else [*kept, array, Const(0, I32)]
        return kept

    def check_barrier(self, s: Stmt, masks: Masks, group: _Group) -> None:
        """A barrier under a mask: report it where a thread that has not returned is missing."""
        if not masks or masks[-1].role == "live":
            return
        arguments = (masks[-1].array, self.live or _NULL, *self.where(s.location), block_threads())
        group.wide(Evaluate(Call("tm_check_barrier", arguments, VOID), location=s.location))

    def joined(self, s: Stmt, call: Call, predicate: Expr, masks: Masks, group: _Group) -> None:
        """`syncthreads_count` and kin: one value for the block."""
        active = masks[-1].array if masks else _NULL
        value = Call(f"tm_{call.callee}", (predicate, active, block_threads()), I32)
        common = Var(self.names.fresh("common"), I32)
        group.wide(Declare(common, value, location=s.location))
        self.structure.add_scalar(common.name)
        self.give(s, common, group)

    def give(self, s: Stmt, value: Expr, group: _Group) -> None:
        """Store the result where the statement says."""
        if isinstance(s, Declare | Assign):
            changed = with_fields(s, value=value)
            if self.structure.is_scalar(changed):
                group.scalar(changed)
            else:
                group.add(changed)

    def where(self, location: Location | None) -> tuple[Expr, ...]:
        """File, line and block for a report."""
        file, line = (location.file, location.line) if location else ("", 0)
        block = (LaunchIndex(LaunchIndexKind.BLOCK, axis) for axis in range(3))
        return (StringConst(file), Const(line, I32), *block)


class _Group:
    """Statements of a block-wide region on their way into pieces."""

    def __init__(self, lowering: _BlockWide, masks: Masks) -> None:
        self.lowering = lowering
        self.masks = masks
        self.done: list[Stmt] = []
        self.open: list[Stmt] = []

    def add(self, s: Stmt) -> None:
        """A statement that each thread runs."""
        self.open.append(s)

    def scalar(self, s: Stmt) -> None:
        """A statement that runs once for all threads.  A declaration moves before the open piece, which
        cannot have read the variable yet."""
        if not isinstance(s, Declare):
            self.flush()
        self.done.append(s)

    def wide(self, s: Stmt) -> None:
        """A block-wide statement."""
        assert not self.open
        self.done.append(s)

    def flush(self) -> None:
        """Close the open piece."""
        if self.open:
            body = self.lowering.escaping(tuple(self.open), self.masks)
            self.done.append(_piece(body, self.masks[-1].array if self.masks else None))
            self.open = []

    def finish(self) -> list[Stmt]:
        """The lowered region."""
        self.flush()
        return self.done


def _jumps_here(region: Region, kind: type[Stmt]) -> bool:
    """Whether a jump of that kind binds to the loop whose body this is."""
    for s in region:
        if isinstance(s, kind):
            return True
        if isinstance(s, If) and (_jumps_here(s.then, kind) or _jumps_here(s.otherwise, kind)):
            return True
    return False


__all__ = ["threads_to_loops"]
