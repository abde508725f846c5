"""Functions of IR as Python functions: the second half of the interpreter's compiler.

A function that reaches a barrier or a lane operation becomes a generator, which yields the operation's name
and arguments and receives its result; every other one is a plain function.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tmigrate.locations import Location
from tmigrate.tilelang.interpreter.arithmetic import Arithmetic
from tmigrate.tilelang.interpreter.expressions import ExpressionCompiler, Scope
from tmigrate.tilelang.interpreter.memory import NULL, Buffer, Fault, FaultError, TensorView
from tmigrate.tilelang.interpreter.operations import is_collective
from tmigrate.tilelang.ir.expressions import AddressOf, Call, Expr, Member, Subscript, Var, type_of
from tmigrate.tilelang.ir.module import Function, Module
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
from tmigrate.tilelang.ir.types import PointerType, ScalarType, Space, StructType, TensorType


def reachable(module: Module, root: Function) -> list[Function]:
    """The function and the module's functions that it calls, directly or not."""
    found: dict[str, Function] = {}
    waiting = [root]
    while waiting:
        function = waiting.pop()
        if function.name in found:
            continue
        found[function.name] = function
        for it in walk(function.body):
            callee = module.function(it.callee) if isinstance(it, Call) else None
            if callee is not None:
                waiting.append(callee)
    return list(found.values())


def generator_names(functions: list[Function]) -> frozenset[str]:
    """Functions that reach a barrier or a lane operation."""
    calls = {f.name: {it.callee for it in walk(f.body) if isinstance(it, Call)} for f in functions}
    found = {name for name, callees in calls.items() if any(map(is_collective, callees))}
    while True:
        more = {name for name, callees in calls.items() if callees & found} - found
        if not more:
            return frozenset(found)
        found |= more


def resident_variables(function: Function) -> frozenset[str]:
    """Variables that live in buffers: structs, and whatever has its address taken."""
    found: set[str] = set()
    variables = list(function.parameters)
    for it in walk(function.body):
        if isinstance(it, Declare):
            variables.append(it.var)
        elif isinstance(it, AddressOf):
            place: Expr = it.place
            while isinstance(place, Member | Subscript):
                place = place.base
            if isinstance(place, Var) and not isinstance(it.place, Subscript):
                found.add(place.name)
    found |= {v.name for v in variables if isinstance(v.type, StructType)}
    return frozenset(found)


class FunctionCompiler:
    """Writes one function's Python source; `marks` gives each line's place in the original."""

    def __init__(self, scope: Scope, function: Function, generators: frozenset[str]) -> None:
        self.scope = scope
        self.function = function
        self.lines: list[str] = []
        self.marks: list[Location | None] = []
        self.resident = resident_variables(function)
        self.expressions = ExpressionCompiler(scope, self.resident, generators)
        self.steps: list[Region] = []  # the step regions of the enclosing loops, innermost last
        self.depth = 1

    def compile(self) -> None:
        """Write the whole function."""
        function = self.function
        dimensions = [f"v_{d.name}=0" for d in function.dimensions]
        parameters = ", ".join(["T", *(f"v_{p.name}" for p in function.parameters), *dimensions])
        self.lines.append(f"def f_{function.name}({parameters}):")
        self.marks.append(function.location)
        for p in function.parameters:
            self.parameter(p)
        self.region(function.body)
        if function.name in self.expressions.generators:
            self.write("return\n    yield", None)

    def write(self, line: str, place: Location | None) -> None:
        self.lines.append("    " * self.depth + line)
        self.marks.append(place)
        self.marks.extend([place] * line.count("\n"))

    def parameter(self, p: Var) -> None:
        if isinstance(p.type, TensorType):
            shape = ", ".join(map(self.expressions.value, p.type.shape))
            width = size_of(p.type.element, self.scope.structs)
            self.write(f"v_{p.name} = T.machine.tensor(v_{p.name}, ({shape},), {width})", None)
        elif p.name in self.resident:
            made = self.scope.new_buffer(p.name, p.type)
            self.write(f"v_{p.name}, t_0 = {made}, v_{p.name}", None)
            self.write(f"{self.scope.storer(p.type)}(v_{p.name}, 0, t_0)", None)

    def region(self, statements: Region) -> None:
        written = len(self.lines)
        for s in statements:
            _STATEMENTS[type(s)](self, s)
        if len(self.lines) == written:
            self.write("pass", None)

    def nested(self, statements: Region) -> None:
        self.depth += 1
        self.region(statements)
        self.depth -= 1

    # ---- statements ------------------------------------------------------------------------------

    def declare(self, s: Declare) -> None:
        v = s.var
        if v.name in self.resident:
            self.write(f"v_{v.name} = {self.scope.new_buffer(v.name, v.type)}", s.location)
            if s.value is not None:
                value = self.expressions.value(s.value)
                self.write(f"{self.scope.storer(v.type)}(v_{v.name}, 0, {value})", s.location)
        elif s.value is not None:
            self.write(f"v_{v.name} = {self.expressions.value(s.value)}", s.location)
        else:
            self.write(f"v_{v.name} = {self.undefined(v)}", s.location)

    def undefined(self, v: Var) -> str:
        """What an uninitialised scalar or pointer holds."""
        t = v.type
        if isinstance(t, PointerType):
            return "NULL"
        if isinstance(t, ScalarType) and t.is_float:
            unknown = self.scope.arithmetic.unknown
            return self.scope.use(("undefined", v.name, t), lambda: unknown((v.name,), t), "undefined")
        return "0"

    def allocate(self, s: Allocate) -> None:
        t = s.var.type
        if isinstance(t, TensorType):
            shape = ", ".join(map(self.expressions.value, t.shape))
            width = size_of(t.element, self.scope.structs)
            kind = self.scope.common_kind(t.element)
            element = "None" if kind is None else self.scope.use(("kind", kind), lambda: kind, "kind")
            made = f"T.machine.allocate({s.var.name!r}, ({shape},), {width}, {element})"
        elif s.space is Space.SHARED:
            made = f"T.shared.array({s.var.name!r}, lambda: {self.scope.new_buffer(s.var.name, t)})"
        else:
            made = self.scope.new_buffer(s.var.name, t)
        self.write(f"v_{s.var.name} = {made}", s.location)

    def assign(self, s: Assign) -> None:
        value = self.expressions.value(s.value)
        if not self.expressions.is_place(s.target):
            assert isinstance(s.target, Var)
            self.write(f"v_{s.target.name} = {value}", s.location)
            return
        buffer, offset = self.expressions.place(s.target)
        self.write(f"{self.scope.storer(type_of(s.target))}({buffer}, {offset}, {value})", s.location)

    def evaluate(self, s: Evaluate) -> None:
        self.write(self.expressions.value(s.value), s.location)

    def branch(self, s: If) -> None:
        self.write(f"if {self.expressions.value(s.condition)}:", s.location)
        self.nested(s.then)
        if s.otherwise:
            self.write("else:", s.location)
            self.nested(s.otherwise)

    def for_loop(self, s: For) -> None:
        start, stop, step = map(self.expressions.value, (s.start, s.stop, s.step))
        order = "parallel" if s.kind is LoopKind.PARALLEL else "counted"
        self.write(f"for v_{s.var.name} in T.machine.{order}({start}, {stop}, {step}):", s.location)
        self.steps.append(())
        self.nested(s.body)
        self.steps.pop()

    def while_loop(self, s: While) -> None:
        self.write("while True:", s.location)
        self.depth += 1
        self.write("T.machine.tick()", s.location)
        self.write(f"if not {self.expressions.value(s.condition)}: break", s.location)
        self.steps.append(s.step)
        self.region(s.body)
        self.steps.pop()
        self.steps.append(())
        if s.step:
            self.region(s.step)
        self.steps.pop()
        self.depth -= 1

    def continue_loop(self, s: Continue) -> None:
        step = self.steps[-1]
        if step:
            self.steps.append(())
            self.region(step)
            self.steps.pop()
        self.write("continue", s.location)

    def return_value(self, s: Return) -> None:
        self.write("return" if s.value is None else f"return {self.expressions.value(s.value)}", s.location)

    def assume(self, s: Assume) -> None:
        self.write(f"T.machine.assume({self.expressions.value(s.condition)})", s.location)


_STATEMENTS: dict[type[Stmt], Callable[[FunctionCompiler, Any], None]] = {
    Declare: FunctionCompiler.declare,
    Allocate: FunctionCompiler.allocate,
    Assign: FunctionCompiler.assign,
    Evaluate: FunctionCompiler.evaluate,
    If: FunctionCompiler.branch,
    For: FunctionCompiler.for_loop,
    While: FunctionCompiler.while_loop,
    Break: lambda self, s: self.write("break", s.location),
    Continue: FunctionCompiler.continue_loop,
    Return: FunctionCompiler.return_value,
    Assume: FunctionCompiler.assume,
    Comment: lambda self, s: None,
    Cover: lambda self, s: self.write(f"T.machine.cover({s.point})", s.location),
}


class Program:
    """A function compiled for one arithmetic, with all that it calls.

    `constants` overrides module constants by name.  Run it with :class:`machine.Machine`.
    """

    def __init__(
        self,
        module: Module,
        function: Function,
        arithmetic: Arithmetic,
        constants: Mapping[str, int | float | bool] | None = None,
    ) -> None:
        self.module = module
        self.function = function
        self.arithmetic = arithmetic
        self.scope = Scope(module, arithmetic, constants or {})
        functions = [function, *(f for f in reachable(module, function) if f.name != function.name)]
        generators = generator_names(functions)
        self.collective = function.name in generators
        lines: list[str] = []
        self.marks: list[Location | None] = []
        for f in functions:
            compiler = FunctionCompiler(self.scope, f, generators)
            compiler.compile()
            lines += compiler.lines
            self.marks += compiler.marks
        self.source = "\n".join(lines) + "\n"
        self.file = f"<interpreted {function.name}>"
        exec(compile(self.source, self.file, "exec"), self.scope.namespace)
        self.entry: Callable[..., Any] = self.scope.namespace[f"f_{function.name}"]

    def bind_variables(self, variables: Mapping[str, Buffer]) -> None:
        """Give the module's variables their storage for the next run."""
        for name, buffer in variables.items():
            self.scope.namespace[f"g_{name}"] = buffer

    def fault(self, error: BaseException) -> Fault:
        """What an exception from generated code means, and where it happened."""
        place, trace = None, error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == self.file and trace.tb_lineno <= len(self.marks):
                place = self.marks[trace.tb_lineno - 1] or place
            trace = trace.tb_next
        if isinstance(error, FaultError):
            return Fault(error.kind, error.message, place)
        if isinstance(error, ZeroDivisionError):
            return Fault("division", "an integer is divided by zero", place)
        if isinstance(error, RecursionError):
            return Fault("recursion", "device functions call each other too deeply", place)
        return Fault("unsupported", f"{type(error).__name__}: {error}", place)


__all__ = ["NULL", "Program", "TensorView", "reachable"]
