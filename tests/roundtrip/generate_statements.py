"""Statements: regions whose declarations, loops and stores obey the verifier's rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from generate_expressions import WORDS
from generate_tensors import Tensors
from signatures import SIGNATURES

from tmigrate.locations import Location
from tmigrate.tilelang.ir.expressions import (
    AddressOf,
    Binary,
    Call,
    Compare,
    CompareOp,
    Const,
    Expr,
    LaunchIndex,
    LaunchIndexKind,
    StringConst,
    Var,
)
from tmigrate.tilelang.ir.intrinsics import INTRINSICS, Effect
from tmigrate.tilelang.ir.module import Level
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
from tmigrate.tilelang.ir.types import (
    B1,
    I32,
    SCALARS,
    U32,
    VOID,
    ArrayType,
    PointerType,
    ScalarType,
    Space,
    TensorType,
    Type,
)

COMMENTS = ("", "a comment", "  indented", "k.cu:12", "# hashes #", "else:", "\u00e9", "pass")


class Statements(Tensors):
    """Makes regions."""

    loops: list[str]
    result: Type

    def origin(self) -> Location | None:
        """A place in the original, or none."""
        raise NotImplementedError

    def tensor_type(self) -> TensorType:
        """A tensor type over the function's dimensions."""
        raise NotImplementedError

    def start(self, level: Level) -> None:
        """Begin a function."""
        self.level = level
        self.loops = []

    def region(self, depth: int, top: bool = False) -> Region:
        """A few statements; what they declare is visible to the end of the region."""
        known = len(self.scope)
        found: list[Stmt] = []
        for _ in range(self.integer(1 if top else 0, 4)):
            made = self.statement(depth)
            if made is not None:
                found.append(replace(made, location=self.origin()))
        del self.scope[known:]
        return tuple(found)

    def statement(self, depth: int) -> Stmt | None:
        flat: list[Callable[[int], Stmt | None]] = [
            self.declare, self.declare, self.allocate, self.store, self.store, self.effect, self.effect,
            self.comment, self.jump, self.assumption, self.cover, self.printing,
        ]  # fmt: skip
        if self.level is Level.TENSOR:
            flat += [self.tensor_declaration] * 8
        nested: list[Callable[[int], Stmt | None]] = [self.branch, self.loop, self.loop_while]
        return self.choice(flat + nested * 2 if depth > 0 else flat)(depth)

    # ---- declarations and stores ---------------------------------------------------------------------

    def variable_type(self) -> Type:
        kind = self.integer(0, 5)
        if kind == 0:
            return self.struct_type()
        if kind == 1 and self.level is Level.THREAD:
            return self.pointer_type()
        return self.scalar()

    def declare(self, depth: int) -> Stmt:
        t = self.variable_type()
        value = self.expr(t, self.depth) if self.integer(0, 4) else None
        var = Var(self.fresh("v"), t)
        self.scope.append(var)
        return Declare(var, value)

    def allocate(self, depth: int) -> Stmt:
        t: Type
        if self.level is Level.THREAD:
            space = self.choice((Space.SHARED, Space.LOCAL))
        else:
            space = self.choice((Space.GLOBAL, Space.LOCAL))
        if space is Space.GLOBAL:
            t = self.tensor_type()
        else:
            element: Type = self.scalar() if self.integer(0, 3) else self.struct_type()
            t = ArrayType(element, self.choice(((1,), (16, 17), (2, 3, 4))))
        var = Var(self.fresh("a"), t)
        self.scope.append(var)
        return Allocate(var, space)

    def store(self, depth: int) -> Stmt | None:
        candidates = [v.type for v in self.scope] + [
            v.type.element for v in self.scope if isinstance(v.type, ArrayType | TensorType)
        ]
        if not candidates:
            return None
        t = self.choice(candidates)
        if isinstance(t, TensorType) or (self.level is not Level.THREAD and self.leads_to_pointer(t)):
            return None
        target = self.place(t, 1)
        if target is None:
            return None
        if isinstance(t, ArrayType):
            return Assign(target, self.value(t, 2))
        value = self.expr(t, self.depth)
        if isinstance(value, Binary) and self.integer(0, 1):
            value = replace(value, left=target)  # written as `target op= right`
        return Assign(target, value)

    # ---- effects -------------------------------------------------------------------------------------

    def effect(self, depth: int) -> Stmt | None:
        """A call with effects as a statement, a declaration, a store or a returned value."""
        call = self.effectful_call()
        if call is None:
            return None
        t = call.type
        if not isinstance(t, ScalarType) or self.integer(0, 2) == 0:
            return Evaluate(call)
        target = self.place(t, 1) if self.integer(0, 1) else None
        if target is not None:
            return Assign(target, call)
        var = Var(self.fresh("v"), t)
        self.scope.append(var)
        return Declare(var, call)

    def effectful_call(self) -> Call | None:
        below = self.level is Level.THREAD
        rows = [s for s in SIGNATURES if not s.is_pure]
        if not below:
            allowed = (Effect.ATOMIC, Effect.CLOCK, Effect.OUTPUT)
            rows = [s for s in rows if INTRINSICS[s.name].effect in allowed]
        usable = [f for f, effectful in self.callees if effectful and self.can_call(f)]
        if usable and self.integer(0, 3) == 0:
            f = self.choice(usable)
            return Call(f.name, tuple(self.expr(p.type, 1) for p in f.parameters), f.result)
        row = self.row(rows)
        arguments: list[Expr] = []
        for t in row.arguments:
            if isinstance(t, PointerType) and not below:
                place = self.element(t.pointee, 1)
                if place is None or not self.writable(place):
                    return None
                arguments.append(AddressOf(place, t))
            else:
                arguments.append(self.expr(t, 2))
        return Call(row.name, tuple(arguments), row.result)

    def printing(self, depth: int) -> Stmt:
        text = StringConst(self.choice(WORDS))
        if self.integer(0, 2) == 0:
            return Evaluate(Call("assert_", (self.expr(B1, 2), text), VOID))
        values = tuple(self.expr(self.scalar(), 1) for _ in range(self.integer(0, 3)))
        return Evaluate(Call("printf", (text, *values), I32))

    # ---- control -------------------------------------------------------------------------------------

    def branch(self, depth: int) -> Stmt:
        return If(self.expr(B1, 2), self.region(depth - 1), self.region(depth - 1))

    def loop(self, depth: int) -> Stmt:
        t = self.choice([s for s in SCALARS.values() if s.is_integer])
        start = self.choice((Const(0, t), self.expr(t, 2)))
        stop, step = self.expr(t, 2), Const(self.choice((1, 1, 2, -1 if t.is_signed else 3)), t)
        kinds = [LoopKind.SERIAL, LoopKind.PARALLEL]
        if self.level is Level.THREAD:
            kinds += [LoopKind.THREADS, LoopKind.BLOCKS]
        kind = self.choice(kinds)
        read = {n.name for n in walk((start, stop)) if isinstance(n, Var)}
        var = Var(self.fresh("it"), t)
        saved = set(self.frozen)
        self.frozen |= {*read, var.name}
        self.scope.append(var)
        self.loops.append(kind.value)
        body = self.region(depth - 1)
        self.loops.pop()
        self.scope.remove(var)
        self.frozen = saved | {var.name}
        return For(var, start, stop, step, body, kind)

    def loop_while(self, depth: int) -> Stmt:
        condition = self.expr(B1, 2)
        self.loops.append("while")
        body = self.region(depth - 1)
        self.loops[-1] = "step"
        step = self.region(depth - 1) if self.integer(0, 1) else ()
        self.loops.pop()
        return While(condition, body, step)

    def jump(self, depth: int) -> Stmt | None:
        kind = self.integer(0, 2)
        parallel = {LoopKind.PARALLEL.value, LoopKind.THREADS.value, LoopKind.BLOCKS.value}
        if kind == 0 and self.loops and self.loops[-1] not in parallel:
            return Break()
        if kind == 1 and self.loops and self.loops[-1] != "step":
            return Continue()
        if LoopKind.PARALLEL.value in self.loops:
            return None
        return self.returns()

    def returns(self) -> Stmt:
        return Return(None if self.result == VOID else self.expr(self.result, 2))

    def assumption(self, depth: int) -> Stmt:
        kinds = (LaunchIndexKind.GRID_SIZE, LaunchIndexKind.BLOCK_SIZE)
        size = LaunchIndex(self.choice(kinds), self.integer(0, 2))
        return Assume(Compare(self.choice(tuple(CompareOp)), size, self.expr(U32, 1)))

    def comment(self, depth: int) -> Stmt:
        return Comment(self.choice(COMMENTS))

    def cover(self, depth: int) -> Stmt:
        return Cover(self.integer(0, 99))


__all__ = ["Statements"]
