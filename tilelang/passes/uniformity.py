"""Which values are the same for all threads of a block that run a statement together.

A variable is *divergent* where some definition gives it a value that depends on the thread, or stands under
control that depends on the thread while the variable's declaration does not:

    s = n // 2                      # uniform
    while s > 0:                    # uniform condition: all threads take the same number of turns
        if threadIdx.x < s:         # divergent condition
            t = s                   # declared outside of the `if`: divergent
            u: i32 = s              # declared inside: the threads that see it agree
        syncthreads()
        with step: s = s // 2       # uniform

Memory counts as divergent, except constant memory: another thread may write it between two reads.
The analysis assumes that threads run a construct together; `threads_to_loops` makes that so.
"""

from __future__ import annotations

from tmigrate.tilelang.ir.expressions import (
    AddressOf,
    Call,
    Expr,
    LaunchIndex,
    LaunchIndexKind,
    Subscript,
    Var,
    type_of,
)
from tmigrate.tilelang.ir.intrinsics import INTRINSICS, Effect
from tmigrate.tilelang.ir.module import Function, Module
from tmigrate.tilelang.ir.node import Node, children, walk
from tmigrate.tilelang.ir.statements import (
    Allocate,
    Assign,
    Break,
    Continue,
    Declare,
    For,
    If,
    Region,
    Stmt,
    While,
)
from tmigrate.tilelang.ir.types import ArrayType, Space
from tmigrate.tilelang.passes.effects import address_taken, root_variable

_JOINING = frozenset({"syncthreads_count", "syncthreads_and", "syncthreads_or"})


class Uniformity:
    """The analysis of one kernel; `forced` names variables that the caller wants treated as divergent."""

    def __init__(self, function: Function, module: Module, forced: frozenset[str] = frozenset()) -> None:
        self._constant = {v.name for v in module.variables if v.space is Space.CONSTANT}
        self._module_variables = {v.name for v in module.variables}
        self.in_memory = address_taken(function.body)
        self.divergent: set[str] = set(forced) | set(self.in_memory)
        self._shared = {
            it.var.name for it in walk(function.body) if isinstance(it, Allocate) and it.space is Space.SHARED
        }
        self._loops: dict[int, bool] = {}  # loops left or continued by some threads earlier than by others
        self._declared: dict[str, int] = {p.name: 0 for p in function.parameters}
        before = (-1, -1)
        while before != (len(self.divergent), sum(self._loops.values())):
            before = (len(self.divergent), sum(self._loops.values()))
            self._region(function.body, 0, [])

    # ---- questions -------------------------------------------------------------------------------------

    def once(self, e: Expr) -> bool:
        """Whether evaluating `e` once serves all threads: uniform, and free of effects and of faults."""
        pending: list[Node] = [e]
        while pending:
            it = pending.pop()
            if isinstance(it, AddressOf):
                root = root_variable(it.place)
                if root is not None and not self._is_block_storage(root):
                    return False
                pending.extend(c for c in _indices_of_place(it.place))
                continue
            if not self._leaf_is_uniform(it):
                return False
            pending.extend(children(it))
        return True

    def _leaf_is_uniform(self, it: Node) -> bool:
        if isinstance(it, Var):
            is_storage = isinstance(it.type, ArrayType)
            return it.name in self._constant if is_storage else it.name not in self.divergent
        if isinstance(it, LaunchIndex):
            return it.kind is not LaunchIndexKind.THREAD
        if isinstance(it, Subscript):
            return isinstance(it.base, Var) and it.base.name in self._constant
        if isinstance(it, Call):
            is_pure = it.callee in INTRINSICS and INTRINSICS[it.callee].effect is Effect.PURE
            return is_pure or it.callee == "tm_cover_outcome"
        return True

    def _is_block_storage(self, root: Var) -> bool:
        return root.name in self._module_variables or root.name in self._shared

    def has_divergent_jumps(self, loop: Stmt) -> bool:
        """Whether some threads break out of the loop, or continue it, where others do not."""
        return self._loops.get(id(loop), False)

    # ---- the walk --------------------------------------------------------------------------------------

    def _region(self, region: Region, control: int, loops: list[tuple[Stmt, int]]) -> None:
        for statement in region:
            self._statement(statement, control, loops)

    def _statement(self, s: Stmt, control: int, loops: list[tuple[Stmt, int]]) -> None:
        if isinstance(s, Declare):
            self._declared[s.var.name] = control
            if s.value is not None and not self._value_is_uniform(s.value):
                self.divergent.add(s.var.name)
        elif isinstance(s, Assign) and isinstance(s.target, Var):
            if not self._value_is_uniform(s.value) or control > self._declared.get(s.target.name, 0):
                self.divergent.add(s.target.name)
        elif isinstance(s, Assign):
            root = root_variable(s.target)
            if root is not None:
                self.divergent.add(root.name)
        elif isinstance(s, If):
            inner = control + (not self.once(s.condition))
            self._region(s.then, inner, loops)
            self._region(s.otherwise, inner, loops)
        elif isinstance(s, For | While):
            self._loop(s, control, loops)
        elif isinstance(s, Break | Continue) and loops and control > loops[-1][1]:
            self._loops[id(loops[-1][0])] = True

    def _loop(self, s: For | While, control: int, loops: list[tuple[Stmt, int]]) -> None:
        bounds = (s.start, s.stop, s.step) if isinstance(s, For) else (s.condition,)
        is_uniform = all(self.once(e) for e in bounds)
        if isinstance(s, For):
            self._declared[s.var.name] = control
            if not is_uniform:
                self.divergent.add(s.var.name)
        # What follows a divergent jump runs for some threads only: the whole loop counts as divergent.
        inner = control + (not is_uniform or self.has_divergent_jumps(s))
        stack = [*loops, (s, inner)]
        self._region(s.body, inner, stack)
        if isinstance(s, While):
            self._region(s.step, inner, stack)

    def _value_is_uniform(self, value: Expr) -> bool:
        if isinstance(value, Call) and value.callee in _JOINING:
            return True
        return self.once(value)


def _indices_of_place(place: Expr) -> list[Node]:
    """The index expressions of a place, and the pointer it starts from."""
    found: list[Node] = []
    while not isinstance(place, Var):
        if isinstance(place, Subscript):
            found.extend(place.indices)
        base = getattr(place, "base", None)
        if base is None:
            found.append(place)
            break
        place = base
    if isinstance(place, Var) and not isinstance(type_of(place), ArrayType):
        found.append(place)
    return found
