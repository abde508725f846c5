"""Barriers and lane operations of a block-wide kernel, as calls of the runtime on arrays of values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tmigrate.locations import Location
from tmigrate.tilelang.ir.expressions import (
    Call,
    Const,
    Expr,
    LaunchIndex,
    LaunchIndexKind,
    StringConst,
    Subscript,
    Var,
    type_of,
)
from tmigrate.tilelang.ir.intrinsics import INTRINSICS, Effect
from tmigrate.tilelang.ir.node import with_fields
from tmigrate.tilelang.ir.statements import (
    Assign,
    Declare,
    Evaluate,
    Stmt,
)
from tmigrate.tilelang.ir.types import I32, I64, VOID, Type
from tmigrate.tilelang.passes.contexts import block_threads
from tmigrate.tilelang.passes.names import Names
from tmigrate.tilelang.passes.structure import Structure

if TYPE_CHECKING:
    from tmigrate.tilelang.passes.block_wide import Group, Masks

NULL = Const(0, I64)


class Together:
    """The part of :class:`BlockWide` that turns these statements into runtime calls."""

    names: Names
    structure: Structure
    live: Var | None

    def array(self, name: str, element: Type) -> Var:
        """A new array with one element per thread."""
        raise NotImplementedError

    def at(self, array: Var) -> Subscript:
        """The current thread's element."""
        raise NotImplementedError

    # ---- barriers and lanes ----------------------------------------------------------------------------

    def together(self, s: Stmt, masks: Masks, group: Group) -> None:
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
        active = masks[-1].array if masks else NULL
        where = (*self.where(s.location), block_threads())
        target = () if result is None else (result,)
        name = f"tm_{call.callee.removesuffix('_sync')}"
        arguments = (*target, *kept, active, self.live or NULL, *where)
        group.wide(Evaluate(Call(name, arguments, VOID), location=s.location))
        if result is not None:
            self.give(s, self.at(result), group)

    def lane_arguments(self, call: Call, group: Group) -> list[Expr]:
        """The value or predicate first, as an array with one element per thread; a mask, lane or width as a
        pair: (such an array, 0) where it depends on the thread, (null, value) where it does not."""
        names: tuple[str, ...] = ("mask", "value", "lane", "width")
        if INTRINSICS[call.callee].effect is Effect.BARRIER:
            names = ("value",)
        kept: list[Expr] = []
        for name, argument in zip(names, call.arguments, strict=False):
            if name != "value" and self.structure.once(argument):
                kept += [NULL, argument]
                continue
            array = self.array(name, type_of(argument))
            group.add(Assign(self.at(array), argument))
            kept = [array, *kept] if name == "value" else [*kept, array, Const(0, I32)]
        return kept

    def check_barrier(self, s: Stmt, masks: Masks, group: Group) -> None:
        """A barrier is counted where a launch asks for it; under a mask it is reported where a thread is
        missing that has not returned."""
        active = masks[-1].array if masks else NULL
        group.wide(Evaluate(Call("tm_count_barrier", (active, block_threads()), VOID), location=s.location))
        if not masks or masks[-1].role == "live":
            return
        arguments = (masks[-1].array, self.live or NULL, *self.where(s.location), block_threads())
        group.wide(Evaluate(Call("tm_check_barrier", arguments, VOID), location=s.location))

    def joined(self, s: Stmt, call: Call, predicate: Expr, masks: Masks, group: Group) -> None:
        """`syncthreads_count` and kin: one value for the block."""
        active = masks[-1].array if masks else NULL
        value = Call(f"tm_{call.callee}", (predicate, active, block_threads()), I32)
        common = Var(self.names.fresh("common"), I32)
        group.wide(Declare(common, value, location=s.location))
        self.structure.add_scalar(common.name)
        self.give(s, common, group)

    def give(self, s: Stmt, value: Expr, group: Group) -> None:
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
