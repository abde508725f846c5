"""Which statements of a kernel run block-wide, once for all threads, or for each thread.

*Scalar* statements run once: they give uniform variables uniform values.  *Wide* ones hold a barrier or a
lane operation, or are jumps that all threads take together.  The rest runs per thread, in pieces.
A uniform variable counts as scalar only if all its definitions are scalar statements at wide places; the
others are treated as divergent, and the analysis repeated until nothing changes.
"""

from __future__ import annotations

from collections.abc import Iterable

from tmigrate.tilelang.ir.expressions import Call, Expr, Var
from tmigrate.tilelang.ir.module import Function, Module
from tmigrate.tilelang.ir.node import bindings_of, walk
from tmigrate.tilelang.ir.statements import (
    Allocate,
    Assign,
    Break,
    Comment,
    Continue,
    Declare,
    For,
    If,
    Region,
    Return,
    Stmt,
    While,
)
from tmigrate.tilelang.ir.types import PointerType, ScalarType
from tmigrate.tilelang.passes.effects import Summaries, holds_block_wide
from tmigrate.tilelang.passes.uniformity import Uniformity


class Structure:
    """The classification of one kernel's statements."""

    def __init__(self, function: Function, module: Module, summaries: Summaries) -> None:
        self._summaries = summaries
        self._holds: dict[int, bool] = {}
        self._adopted: dict[int, Stmt] = {}
        self._keep: list[Stmt] = []  # so that the ids above stay theirs
        forced: frozenset[str] = frozenset()
        declared = {v.name for it in walk(function.body) for v in bindings_of(it) if isinstance(v, Var)} | {
            p.name for p in function.parameters
        }
        while True:
            self._uniformity = Uniformity(function, module, forced)
            self.scalars = frozenset(declared - self._uniformity.divergent)
            self._loose: set[str] = set()
            self._check(function.body, wide=True)
            loose = frozenset(self._loose) & self.scalars
            if not loose:
                break
            forced |= loose
        self.scalars -= {it.var.name for it in walk(function.body) if isinstance(it, Allocate)}

    # ---- questions -------------------------------------------------------------------------------------

    def once(self, e: Expr) -> bool:
        """Whether one evaluation serves all threads."""
        return self._uniformity.once(e)

    def holds(self, s: Stmt) -> bool:
        """Whether a barrier or a lane operation stands in the statement."""
        found = self._holds.get(id(s))
        if found is None:
            found = holds_block_wide(s, self._summaries)
            self._holds[id(s)] = found
            self._keep.append(s)
        return found

    def is_wide(self, s: Stmt) -> bool:
        """Whether all threads run the statement together."""
        if isinstance(s, Break | Continue | Return) or self.holds(s):
            return True
        return isinstance(s, If) and self.once(s.condition) and _leaves(s)

    def is_scalar(self, s: Stmt) -> bool:
        """Whether the statement runs once for all threads."""
        if isinstance(s, Comment):
            return True
        if isinstance(s, Declare):
            is_register = isinstance(s.var.type, ScalarType | PointerType)
            return is_register and s.var.name in self.scalars and (s.value is None or self.once(s.value))
        if isinstance(s, Assign):
            is_scalar = isinstance(s.target, Var) and s.target.name in self.scalars
            return is_scalar and self.once(s.value)
        if isinstance(s, If):
            inner = (*s.then, *s.otherwise)
            return bool(inner) and self.once(s.condition) and not _leaves(s) and self._all_scalar(inner)
        if isinstance(s, For):
            bounds = all(self.once(e) for e in (s.start, s.stop, s.step))
            return bounds and s.var.name in self.scalars and self._is_scalar_loop(s.body)
        if isinstance(s, While):
            return self.once(s.condition) and self._is_scalar_loop((*s.body, *s.step))
        return False

    def _is_scalar_loop(self, body: Region) -> bool:
        return bool(body) and self._all_scalar(body)

    def _all_scalar(self, region: Region) -> bool:
        return all(self.is_scalar(s) for s in region if not isinstance(s, Break | Continue))

    def has_thread_jumps(self, loop: Stmt) -> bool:
        """Whether a thread may leave or continue the loop where others do not."""
        loop = self._adopted.get(id(loop), loop)
        assert isinstance(loop, For | While)
        step = loop.step if isinstance(loop, While) else ()
        return self._thread_jumps((*loop.body, *step))

    def _thread_jumps(self, region: Region) -> bool:
        for s in region:
            if not isinstance(s, If) or not any(isinstance(j, Break | Continue) for j in _jumps(s)):
                continue
            if not (self.is_wide(s) and self.once(s.condition)):
                return True
            if self._thread_jumps(s.then) or self._thread_jumps(s.otherwise):
                return True
        return False

    # ---- changes by the lowering -----------------------------------------------------------------------

    def make_divergent(self, names: Iterable[str]) -> None:
        """Variables that the lowering gives each thread its own of."""
        self._uniformity.divergent.update(names)
        self.scalars -= frozenset(names)

    def add_scalar(self, name: str) -> None:
        """A new variable that is common to all threads."""
        self.scalars |= {name}

    def adopt(self, made: Stmt, original: Stmt) -> None:
        """A loop that the lowering made from another one."""
        self._adopted[id(made)] = original
        self._keep += [made, original]

    # ---- the definitions of scalars --------------------------------------------------------------------

    def _check(self, region: Region, wide: bool) -> None:
        """Collect variables with a definition that is no scalar statement at a wide place."""
        for s in region:
            if wide and self.is_scalar(s):
                continue
            if isinstance(s, Declare):
                self._loose.add(s.var.name)
            elif isinstance(s, Assign) and isinstance(s.target, Var) and not (wide and _is_joining(s)):
                self._loose.add(s.target.name)
            if isinstance(s, Declare) and wide and _is_joining(s):
                self._loose.discard(s.var.name)
            self._check_inside(s, wide and self.is_wide(s))

    def _check_inside(self, s: Stmt, wide: bool) -> None:
        if isinstance(s, If):
            self._check(s.then, wide)
            self._check(s.otherwise, wide)
        elif isinstance(s, For):
            if not wide:
                self._loose.add(s.var.name)
            self._check(s.body, wide)
        elif isinstance(s, While):
            self._check((*s.body, *s.step), wide)


def _is_joining(s: Declare | Assign) -> bool:
    return isinstance(s.value, Call) and s.value.callee.startswith("syncthreads_")


def _jumps(s: Stmt) -> list[Stmt]:
    """Jumps inside a statement that leave it."""
    if isinstance(s, Break | Continue | Return):
        return [s]
    if isinstance(s, If):
        return [j for inner in (*s.then, *s.otherwise) for j in _jumps(inner)]
    if isinstance(s, For | While):
        return [it for it in walk(s) if isinstance(it, Return)]
    return []


def _leaves(s: Stmt) -> bool:
    return bool(_jumps(s))
