"""A kernel that holds barriers or lane operations, block-wide: pieces, masks, loops and jumps.

`threads_to_loops.py` says what the result looks like.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tmigrate.tilelang.ir.expressions import (
    Binary,
    BinaryOp,
    Call,
    Compare,
    CompareOp,
    Const,
    Expr,
    Subscript,
    Unary,
    UnaryOp,
    Var,
    type_of,
)
from tmigrate.tilelang.ir.module import Function, Module
from tmigrate.tilelang.ir.node import with_fields
from tmigrate.tilelang.ir.statements import (
    Allocate,
    Assign,
    Break,
    Continue,
    Declare,
    For,
    If,
    LoopKind,
    Region,
    Return,
    Stmt,
    While,
)
from tmigrate.tilelang.ir.types import B1, I64, Space, Type
from tmigrate.tilelang.passes.contexts import block_threads, context_type
from tmigrate.tilelang.passes.effects import Summaries
from tmigrate.tilelang.passes.names import Names
from tmigrate.tilelang.passes.pieces import finish_pieces
from tmigrate.tilelang.passes.structure import Structure
from tmigrate.tilelang.passes.together import Together

TRUE, FALSE = Const(True, B1), Const(False, B1)


@dataclass(frozen=True, slots=True)
class Mask:
    """An active mask: its array, and the loop whose `continue` or `break` it serves."""

    array: Var
    role: str  # "live": threads that have not returned; "branch", "loop", "turn" (of a loop)


Masks = tuple[Mask, ...]


@dataclass(slots=True)
class Loop:
    """A block-wide loop around the current place."""

    masked: bool
    outer_masks: int  # how many masks stood outside of it


def piece(body: Sequence[Stmt], mask: Var | None = None) -> For:
    """Statements that each thread runs for itself; `pieces.py` gives it its loops."""
    thread = Var("thread", I64)
    guard: list[Stmt] = []
    if mask is not None:
        guard = [If(Unary(UnaryOp.NOT, Subscript(mask, (thread,))), (Return(None),), ())]
    return For(thread, Const(0, I64), block_threads(), Const(1, I64), (*guard, *body), LoopKind.THREADS)


class _LiveMaskNeeded(Exception):
    """A thread may return while others go on: the kernel is lowered again with a mask of live threads."""


class BlockWide(Together):
    """The lowering of one kernel that holds barriers or lane operations."""

    def __init__(self, function: Function, module: Module, summaries: Summaries, names: Names) -> None:
        self.function = function
        self.module = module
        self.names = names
        self.structure = Structure(function, module, summaries)
        self.allocations: list[Stmt] = []
        self.loops: list[Loop] = []
        self.live: Var | None = None

    def run(self) -> list[Stmt]:
        """The statements of one block."""
        try:
            body = self._lower()
        except _LiveMaskNeeded:
            self.allocations, self.loops = [], []
            self.live = self.array("live", B1)
            body = [piece([Assign(self.at(self.live), TRUE)]), *self._lower()]
        pieces = finish_pieces(body, self.names, self.module, self.structure.scalars)
        return [*self.allocations, *pieces]

    def _lower(self) -> list[Stmt]:
        masks: Masks = (Mask(self.live, "live"),) if self.live is not None else ()
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

    def clearing(self, masks: Sequence[Mask]) -> list[Stmt]:
        """Clear the current thread's bits."""
        return [Assign(self.at(mask.array), FALSE) for mask in masks]

    def none_left(self, mask: Mask) -> Expr:
        """Whether no thread's bit is set."""
        return Unary(UnaryOp.NOT, Call("tm_any_set", (mask.array, block_threads()), B1))

    # ---- sequences -------------------------------------------------------------------------------------

    def sequence(self, region: Region, masks: Masks) -> list[Stmt]:
        """A block-wide region: statements that threads run alone are gathered into pieces."""
        group = Group(self, masks)
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

    def branch(self, s: If, masks: Masks, group: Group) -> None:
        """A block-wide `if`."""
        if self.structure.once(s.condition):
            group.flush()
            then, otherwise = self.sequence(s.then, masks), self.sequence(s.otherwise, masks)
            group.wide(with_fields(s, then=tuple(then), otherwise=tuple(otherwise)))
            return
        arms = [("then", s.then)] + ([("otherwise", s.otherwise)] if s.otherwise else [])
        chosen = [Mask(self.array(name, B1), "branch") for name, _ in arms]
        condition = Var(self.names.fresh("condition"), B1)
        setting: list[Stmt] = [Assign(self.at(mask.array), FALSE) for mask in chosen]
        if masks:  # threads outside of the current mask have no bit in either
            group.flush()
            group.wide(piece(setting))
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

    def counted_loop(self, s: For, masks: Masks, group: Group) -> None:
        """A block-wide `for`; its counter is common to all threads where its bounds are."""
        if not all(self.structure.once(e) for e in (s.start, s.stop, s.step)):
            self.general_loop(self.as_while(s, group), masks, group)
            return
        group.flush()
        if not self.structure.has_thread_jumps(s):
            self.loops.append(Loop(False, len(masks)))
            body = self.sequence(s.body, masks)
            self.loops.pop()
            group.wide(with_fields(s, body=tuple(body)))
            return
        loop = self.enter_loop(masks, group)
        turn = self.turn_masks(s.body, masks, loop)
        self.loops.append(Loop(True, len(masks)))
        body = [If(self.none_left(loop), (Break(),), ()), *self.start_turn(turn, loop)]
        body += self.sequence(s.body, turn)
        self.loops.pop()
        group.wide(with_fields(s, body=tuple(body)))

    def as_while(self, s: For, group: Group) -> While:
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

    def general_loop(self, s: While, masks: Masks, group: Group) -> None:
        """A block-wide `while`."""
        group.flush()
        is_uniform = self.structure.once(s.condition)
        if is_uniform and not self.structure.has_thread_jumps(s):
            self.loops.append(Loop(False, len(masks)))
            body, step = self.sequence(s.body, masks), self.sequence(s.step, masks)
            self.loops.pop()
            # Where all threads may have returned, nothing might ever change the condition.
            stop = [If(self.none_left(masks[-1]), (Break(),), ())] if masks else []
            group.wide(with_fields(s, body=(*stop, *body), step=tuple(step)))
            return
        loop = self.enter_loop(masks, group)
        turn = self.turn_masks((*s.body, *s.step), masks, loop)
        self.loops.append(Loop(True, len(masks)))
        inner = (*masks, loop)
        test = self.test(s, is_uniform, loop)
        body = [*test, *self.start_turn(turn, loop), *self.sequence(s.body, turn)]
        step = self.sequence(s.step, inner)
        self.loops.pop()
        group.wide(While(TRUE, (*body,), tuple(step), location=s.location))

    def test(self, s: While, is_uniform: bool, loop: Mask) -> list[Stmt]:
        """Leave the loop where its condition fails, and altogether where no thread is left."""
        if isinstance(s.condition, Const) and s.condition.value:
            return [If(self.none_left(loop), (Break(),), ())]
        fails = Unary(UnaryOp.NOT, s.condition, location=s.location)
        leave: Stmt = If(fails, tuple(self.clearing((loop,))), ())
        if is_uniform:
            return [If(self.none_left(loop), (Break(),), ()), If(fails, (Break(),), ())]
        return [piece([leave], loop.array), If(self.none_left(loop), (Break(),), ())]

    def enter_loop(self, masks: Masks, group: Group) -> Mask:
        """The mask of the threads that are in a loop, set from the current one."""
        loop = Mask(self.array("loop", B1), "loop")
        current: Expr = self.at(masks[-1].array) if masks else TRUE
        group.wide(piece([Assign(self.at(loop.array), current)]))
        return loop

    def turn_masks(self, body: Region, masks: Masks, loop: Mask) -> Masks:
        """The masks inside a masked loop: one of its own for the turn, where `continue` clears bits."""
        if not _jumps_here(body, Continue):
            return (*masks, loop)
        return (*masks, loop, Mask(self.array("turn", B1), "turn"))

    def start_turn(self, masks: Masks, loop: Mask) -> list[Stmt]:
        """All threads in the loop begin the turn."""
        if masks[-1] is loop:
            return []
        return [piece([Assign(self.at(masks[-1].array), self.at(loop.array))])]

    # ---- jumps -----------------------------------------------------------------------------------------

    def jump(self, s: Stmt, masks: Masks, group: Group) -> None:
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


class Group:
    """Statements of a block-wide region on their way into pieces."""

    def __init__(self, lowering: BlockWide, masks: Masks) -> None:
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
            self.done.append(piece(body, self.masks[-1].array if self.masks else None))
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
