"""Statements to C."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tmigrate.locations import Location
from tmigrate.tilelang.ir.expressions import (
    Call,
    Cast,
    Const,
    Expr,
    LaunchIndex,
    LaunchIndexKind,
    MakeArray,
    NamedConst,
    StringConst,
    Var,
    type_of,
)
from tmigrate.tilelang.ir.intrinsics import INTRINSICS
from tmigrate.tilelang.ir.node import walk
from tmigrate.tilelang.ir.statements import (
    Allocate,
    Assign,
    Assume,
    Break,
    Comment,
    Continue,
    Cover,
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
from tmigrate.tilelang.ir.structs import size_of
from tmigrate.tilelang.ir.types import ArrayType, Space, TensorType
from tmigrate.tilelang.targets.cpu.expressions import Expressions
from tmigrate.tilelang.targets.cpu.literals import string
from tmigrate.tilelang.targets.cpu.names import c_type, declaration, spaced, variable_name
from tmigrate.tilelang.targets.cpu.options import EmitOptions

_MANY_ELEMENTS = 16


@dataclass
class _Target:
    """Where jumps go: `kind` is "loop", "iteration" (of a THREADS, BLOCKS or spread loop)."""

    kind: str
    label: str
    used: bool = False


class StatementWriter:
    """Writes statements as indented C lines."""

    def __init__(self, expressions: Expressions, options: EmitOptions) -> None:
        self.expressions = expressions
        self.options = options
        self.lines: list[str] = []
        self.depth = 1
        self.done_used = False
        self.entry = False
        self.has_short_rows = False  # a block's size that has a version of its own is at most 16 along x
        self._targets: list[_Target] = []
        self._labels = 0
        self._last_mark = ""
        self._rules: dict[type[Stmt], Callable[[Any], None]] = {
            Declare: self.declare,
            Allocate: self.allocate,
            Assign: self.assign,
            Evaluate: self.evaluate,
            If: self.branch,
            For: self.loop,
            While: self.while_loop,
            Break: lambda s: self.write("break;"),
            Continue: self.next_iteration,
            Return: self.leave,
            Assume: lambda s: None,  # checked at the kernel's entry
            Comment: lambda s: self.write(f"/* {s.text.replace('*/', '* /')} */"),
            Cover: lambda s: self.write(f"tm_f->coverage[{s.point}] = 1;"),
        }

    # ---- text ------------------------------------------------------------------------------------------

    def write(self, text: str) -> None:
        """One line at the current depth."""
        self.lines.append("  " * self.depth + text)

    @contextmanager
    def indented(self) -> Iterator[None]:
        """One level deeper."""
        self.depth += 1
        yield
        self.depth -= 1

    def value(self, e: Expr) -> str:
        """The C expression of a value."""
        return self.expressions.value(e)

    def region(self, statements: Region) -> None:
        """Statements in order."""
        for statement in statements:
            first = len(self.lines)
            self.expressions.here = statement.location
            self._rules[type(statement)](statement)
            self._mark(first, statement.location)

    def _mark(self, line: int, location: Location | None) -> None:
        if location is None or location.mark == self._last_mark or line >= len(self.lines):
            return
        self._last_mark = location.mark
        self.lines[line] += f" /* {location.mark.replace('*/', '')} */"

    def new_label(self, what: str) -> str:
        """A label that no other statement of the function has."""
        self._labels += 1
        return f"tm_{what}_{self._labels}"

    # ---- storage ---------------------------------------------------------------------------------------

    def declare(self, s: Declare) -> None:
        """A scalar, pointer or struct variable."""
        for line in self.expressions.declare(s.var, s.value):
            self.write(line)

    def allocate(self, s: Allocate) -> None:
        """A local array; shared arrays and temporaries stand before the loop around them."""
        if isinstance(s.var.type, TensorType):
            self.allocate_here(s)
        elif s.space is not Space.SHARED:
            self.write(declaration(s.var.type, variable_name(s.var)) + ";")

    def allocate_here(self, statement: Allocate) -> None:
        """A tensor-typed allocation at this place."""
        raise NotImplementedError

    def assign(self, s: Assign) -> None:
        """A store."""
        if isinstance(s.value, MakeArray):
            self._fill(s.target, s.value)
            return
        for line in self.expressions.store(s.target, s.value):
            self.write(line)

    def _fill(self, target: Expr, value: MakeArray) -> None:
        array = type_of(target)
        assert isinstance(array, ArrayType)
        count, given = array.count, len(value.values)
        if count - given > _MANY_ELEMENTS:
            size = size_of(array, self.expressions.around.structs)
            self.write(f"__builtin_memset({self.expressions.place(target)}, 0, {size});")
            count = given
        for line in self.expressions.fill(target, array, value.values, count):
            self.write(line)

    def evaluate(self, s: Evaluate) -> None:
        """A call for its effect."""
        call = s.value
        if isinstance(call, Call) and call.callee in ("tm_assert", "assert_"):
            self._assert(call)
        else:
            self.write(f"{self.value(call)};")

    def _assert(self, call: Call) -> None:
        condition, text, *where = call.arguments
        place = call.location
        file, line = (string(place.file), place.line) if place else ('""', 0)
        message = string(text.value) if isinstance(text, StringConst) else self.value(text)
        indices = ", ".join(self.value(w) for w in where) or ", ".join(["TM_NOWHERE"] * 6)
        self.write(f"if (__builtin_expect(!{self.value(condition)}, 0)) {{")
        self.write(f"  tm_report(tm_f, TM_REPORT_ASSERT, {message}, {file}, {line}, {indices});")
        self.write("  tm_trap();")
        self.write("}")

    # ---- control ---------------------------------------------------------------------------------------

    def branch(self, s: If) -> None:
        """`if`, `else if`, `else`."""
        head = "if"
        while True:
            self.write(f"{head} ({_bare(self.value(s.condition))}) {{")
            with self.indented():
                self.region(s.then)
            rest = s.otherwise
            if len(rest) == 1 and isinstance(rest[0], If):
                s, head = rest[0], "} else if"
                continue
            if rest:
                self.write("} else {")
                with self.indented():
                    self.region(rest)
            self.write("}")
            return

    def loop(self, s: For) -> None:
        """A counted loop."""
        if s.kind is LoopKind.THREADS and self.options.reversible:
            self._either_way(s)
            return
        t, name = c_type(s.var.type), variable_name(s.var)
        stop = self.value(s.stop)
        if not isinstance(s.stop, Const | NamedConst | Var):
            self._labels += 1
            limit = f"tm_stop_{self._labels}"
            self.write(f"const {spaced(c_type(type_of(s.stop)))}{limit} = {stop};")
            stop = limit
        step = s.step.value if isinstance(s.step, Const | NamedConst) else 1
        if s.kind is LoopKind.THREADS and is_independent(s.body):
            few = self.has_short_rows and _is_block_size(s.stop)
            self.write("TM_INDEPENDENT_FEW" if few else "TM_INDEPENDENT")
        sign = "<" if step > 0 else ">"
        change = f"{name}++" if step == 1 else f"{name} += {self.value(s.step)}"
        self.write(f"for ({t} {name} = {self.value(s.start)}; {name} {sign} {stop}; {change}) {{")
        with self.indented():
            if s.kind is LoopKind.THREADS:
                self.thread_body(s.body)
            else:
                self.loop_body(s.body)
        self.write("}")

    def _either_way(self, s: For) -> None:
        """A loop over threads, in the order that the launch asks for."""
        self._labels += 1
        t, name = c_type(s.var.type), variable_name(s.var)
        turn, first, stop = (f"tm_{word}_{self._labels}" for word in ("turn", "first", "stop"))
        self.write(f"const {spaced(t)}{first} = {self.value(s.start)}, {stop} = {self.value(s.stop)};")
        self.write(f"for ({t} {turn} = {first}; {turn} < {stop}; {turn}++) {{")
        with self.indented():
            back = f"{first} + ({stop} - 1 - {turn})"
            self.write(f"const {spaced(t)}{name} = tm_descending ? ({t})({back}) : {turn};")
            self.thread_body(s.body)
        self.write("}")

    def loop_body(self, body: Region) -> None:
        """The body of a loop to which `break` and `continue` bind natively."""
        self._targets.append(_Target("loop", ""))
        self.region(body)
        self._targets.pop()

    def thread_body(self, body: Region) -> None:
        """The body of a loop whose iterations `Return` ends."""
        target = _Target("iteration", self.new_label("next"))
        self._targets.append(target)
        self.region(body)
        self._targets.pop()
        if target.used:
            self.write(f"{target.label}:;")

    def while_loop(self, s: While) -> None:
        """A general loop: `continue` goes to the step."""
        target = _Target("loop", self.new_label("step"))
        endless = isinstance(s.condition, Const) and bool(s.condition.value)
        condition = _bare(self.value(s.condition))
        self.write("for (;;) {" if endless else f"while ({condition}) {{")
        with self.indented():
            self._targets.append(target)
            self.region(s.body)
            self._targets.pop()
            if target.used:
                self.write(f"{target.label}:;")
            if s.step:
                self.loop_body(s.step)
        self.write("}")

    def next_iteration(self, s: Continue) -> None:
        """`continue`: natively, or to the loop's step."""
        target = self._targets[-1]
        if not target.label:
            self.write("continue;")
            return
        target.used = True
        self.write(f"goto {target.label};")

    def leave(self, s: Return) -> None:
        """`return`: from the function, or to the next iteration of the thread or block loop around."""
        for depth, target in enumerate(reversed(self._targets)):
            if target.kind != "iteration":
                continue
            if depth == 0:
                self.write("continue;")
            else:
                target.used = True
                self.write(f"goto {target.label};")
            return
        if self.entry:
            self.done_used = True
            self.write("goto tm_done;")
        elif s.value is None:
            self.write("return;")
        else:
            for line in self.expressions.give_back(s.value):
                self.write(line)

    def uses(self, body: Region, name: str) -> bool:
        """Whether a region mentions a variable."""
        return any(isinstance(it, Var) and it.name == name for it in walk(body))


def is_independent(body: Region) -> bool:
    """Whether compilers may overlap the iterations of a loop over threads: code without general loops,
    atomics, output or calls, so that threads which do not race do not notice.

    Counted loops inside may only compute scalars, as `total = total + s[ty, p] * t[p, tx]`: where they store,
    each thread may store to the same places in turn, and an array of a thread's own is one array to C.
    """
    for it in walk(body):
        if isinstance(it, While | Cover) or (isinstance(it, For) and not _is_of_scalars(it, body)):
            return False
        if isinstance(it, Call) and not (it.callee in INTRINSICS and INTRINSICS[it.callee].is_pure):
            return False
    return True


def _is_of_scalars(loop: For, around: Region) -> bool:
    """Whether a counted loop of each thread writes no memory, nor reads an array that the thread made."""
    if loop.kind is LoopKind.THREADS or any(isinstance(it, Allocate) for it in walk(around)):
        return False
    stores = (it for it in walk(loop.body) if isinstance(it, Assign) and not isinstance(it.target, Var))
    return next(stores, None) is None


def _is_block_size(stop: Expr) -> bool:
    """Whether a loop over threads runs to `blockDim.x`, however converted."""
    while isinstance(stop, Cast):
        stop = stop.operand
    return isinstance(stop, LaunchIndex) and stop.kind is LaunchIndexKind.BLOCK_SIZE


def _bare(text: str) -> str:
    """Without the parentheses around the whole."""
    if not (text.startswith("(") and text.endswith(")")):
        return text
    depth = 0
    for place, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0 and place < len(text) - 1:
            return text
    return text[1:-1] if '"' not in text else text
