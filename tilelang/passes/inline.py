"""Inline device functions that hold barriers, lane operations or shared memory into their callers.

A call stands only at the root of a statement's value, so that inlining needs no hoisting:

    x = f(a, b)     ->     p: T = a; q: T = b; result: R; <body with `return v` -> `result = v`>; x = result

A `return` that is not the last statement leaves a loop of one turn; inside inner loops a flag carries it out.
Shared arrays of an inlined function stay one array, however often it is called, as in CUDA.
"""

from __future__ import annotations

from dataclasses import replace

from tmigrate.diagnostics import Diagnostic, RefusedError
from tmigrate.tilelang.ir.expressions import Call, Const, Expr, Var
from tmigrate.tilelang.ir.module import Function, FunctionKind, Module
from tmigrate.tilelang.ir.node import bindings_of, walk, with_fields
from tmigrate.tilelang.ir.statements import (
    Allocate,
    Assign,
    Break,
    Declare,
    Evaluate,
    For,
    If,
    Region,
    Return,
    Stmt,
    While,
)
from tmigrate.tilelang.ir.types import B1, I32, VOID, Space
from tmigrate.tilelang.passes.effects import Summaries, summarize
from tmigrate.tilelang.passes.names import Names, names_of, rename


def inline_block_functions(module: Module, summaries: Summaries) -> Module:
    """The module with every block-wide function inlined into the kernels, and removed."""
    wide = {name for name, summary in summaries.items() if summary.is_block_wide}
    kept = []
    for function in module.functions:
        if function.kind is FunctionKind.KERNEL:
            kept.append(_Inliner(function, module, wide).run())
        elif function.name not in wide:
            kept.append(function)
    return replace(module, functions=tuple(kept))


class _Inliner:
    def __init__(self, kernel: Function, module: Module, wide: set[str]) -> None:
        self.kernel = kernel
        self.module = module
        self.wide = wide
        self.names: Names = names_of(kernel, module)
        self.shared: dict[tuple[str, str], Var] = {}

    def run(self) -> Function:
        body = self.region(self.kernel.body, ())
        arrays = tuple(Allocate(var, Space.SHARED) for var in self.shared.values())
        return replace(self.kernel, body=(*arrays, *body))

    def region(self, region: Region, active: tuple[str, ...]) -> Region:
        return tuple(made for s in region for made in self.statement(s, active))

    def statement(self, s: Stmt, active: tuple[str, ...]) -> Region:
        if isinstance(s, If):
            then, otherwise = self.region(s.then, active), self.region(s.otherwise, active)
            return (with_fields(s, then=then, otherwise=otherwise),)
        if isinstance(s, For):
            return (with_fields(s, body=self.region(s.body, active)),)
        if isinstance(s, While):
            return (with_fields(s, body=self.region(s.body, active), step=self.region(s.step, active)),)
        value = getattr(s, "value", None)
        if isinstance(value, Call) and value.callee in self.wide:
            return self.call(s, value, active)
        return (s,)

    def call(self, s: Stmt, call: Call, active: tuple[str, ...]) -> Region:
        if call.callee in active:
            message = f"'{call.callee}' calls itself and holds a barrier, a lane operation or shared memory"
            raise RefusedError(Diagnostic("TM4301", message, call.location, remedy="write it as a loop"))
        callee = self.module.function(call.callee)
        assert callee is not None
        body, parameters = self.copy_of(callee)
        made: list[Stmt] = [
            Declare(parameter, argument, location=s.location)
            for parameter, argument in zip(parameters, call.arguments, strict=True)
        ]
        result = None
        if callee.result != VOID:
            result = Var(self.names.fresh(f"{callee.name}_result"), callee.result)
            made.append(Declare(result, None, location=s.location))
        made += _ReturnRemover(result, self.names).body(body)
        made += _use(s, result)
        return self.region(tuple(made), (*active, call.callee))

    def copy_of(self, callee: Function) -> tuple[Region, list[Var]]:
        """The callee's body and parameters under fresh names; its shared arrays move to the kernel's top."""
        renamed: dict[str, Var] = {p.name: replace_name(p, self.names) for p in callee.parameters}
        body: list[Stmt] = list(callee.body)
        for it in walk(callee.body):
            if isinstance(it, Allocate) and it.space is Space.SHARED:
                key = (callee.name, it.var.name)
                if key not in self.shared:
                    self.shared[key] = replace_name(it.var, self.names)
                renamed[it.var.name] = self.shared[key]
            else:
                for var in bindings_of(it):
                    if isinstance(var, Var):
                        renamed[var.name] = replace_name(var, self.names)
        return without_shared(rename(tuple(body), renamed)), [renamed[p.name] for p in callee.parameters]


def replace_name(var: Var, names: Names) -> Var:
    """The variable under a fresh name."""
    return with_fields(var, name=names.fresh(var.name))


def without_shared(body: Region) -> Region:
    """The region without allocations of shared arrays."""
    from tmigrate.tilelang.ir.node import Node, rewrite_region

    def rule(it: Node) -> Node | tuple[Node, ...] | None:
        return () if isinstance(it, Allocate) and it.space is Space.SHARED else None

    return rewrite_region(body, rule)  # type: ignore[return-value]


def _use(s: Stmt, result: Var | None) -> list[Stmt]:
    if isinstance(s, Evaluate):
        return []
    assert result is not None
    return [with_fields(s, value=result)]


class _ReturnRemover:
    """Turns `return` into an assignment and structured jumps."""

    def __init__(self, result: Var | None, names: Names) -> None:
        self.result = result
        self.names = names
        self.flag: Var | None = None

    def body(self, body: Region) -> Region:
        """The body of an inlined function."""
        if not any(isinstance(it, Return) for it in walk(body)):
            return body
        last = body[-1]
        if isinstance(last, Return) and not any(isinstance(it, Return) for it in walk(body[:-1])):
            return (*body[:-1], *self.assign(last))
        inner = self.region(body, in_loop=False)
        turn = Var(self.names.fresh("turn"), I32)
        zero, one = Const(0, I32), Const(1, I32)
        made: list[Stmt] = []
        if self.flag is not None:
            made.append(Declare(self.flag, Const(False, B1)))
        return (*made, For(turn, zero, one, one, inner))

    def assign(self, s: Return) -> Region:
        """`result = v`."""
        if s.value is None or self.result is None:
            return ()
        return (Assign(self.result, s.value, location=s.location),)

    def region(self, region: Region, in_loop: bool) -> Region:
        """A region whose returns break out of the loop of one turn."""
        made: list[Stmt] = []
        for s in region:
            made += self.statement(s, in_loop)
            if isinstance(s, Return):
                break
        return tuple(made)

    def statement(self, s: Stmt, in_loop: bool) -> list[Stmt]:
        if isinstance(s, Return):
            mark: list[Stmt] = [Assign(self.raised(), Const(True, B1))] if in_loop else []
            return [*self.assign(s), *mark, Break(location=s.location)]
        if isinstance(s, If):
            then, otherwise = self.region(s.then, in_loop), self.region(s.otherwise, in_loop)
            return [with_fields(s, then=then, otherwise=otherwise)]
        if not isinstance(s, For | While) or not any(isinstance(it, Return) for it in walk(s)):
            return [s]
        changed: Stmt = with_fields(s, body=self.region(s.body, True))
        if isinstance(changed, While):
            changed = with_fields(changed, step=self.region(changed.step, True))
        return [changed, If(self.raised(), (Break(),), ())]

    def raised(self) -> Expr:
        """The flag that is set where an inner loop was left by `return`."""
        if self.flag is None:
            self.flag = Var(self.names.fresh("returned"), B1)
        return self.flag


__all__ = ["inline_block_functions", "summarize"]
