"""Statements, functions and modules to text: a Python file that people read and the parser takes back.

Statements carry the place they came from as a mark, `# k.cu:12`, written where the line changes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tmigrate.locations import Location
from tmigrate.tilelang.ir.expressions import Binary, BinaryOp, Expr, PointerAdd, type_of
from tmigrate.tilelang.ir.module import Function, GlobalVariable, Level, Module
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
from tmigrate.tilelang.ir.structs import Structs, alignment_of, size_of
from tmigrate.tilelang.ir.types import (
    I32,
    I64,
    VOID,
    ArrayType,
    StructDefinition,
    TensorType,
    Type,
)
from tmigrate.tilelang.text.comments import MARK
from tmigrate.tilelang.text.expressions import ExpressionPrinter, escaped, print_literal, quoted
from tmigrate.tilelang.text.literals import operand_types

INDENT = "    "
WIDTH = 100  # a longer signature has a line for each parameter

# `x = x + y` is written `x += y`; the parser reads both as one node.
AUGMENTED: frozenset[BinaryOp] = frozenset(
    op for op in BinaryOp if op not in (BinaryOp.TRUNC_DIV, BinaryOp.TRUNC_REM)
)


class _Writer:
    """Collects lines, and the mark that the last line carried."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.mark = ""

    def line(self, depth: int, text: str, location: Location | None = None) -> None:
        mark = _mark(location)
        suffix = f"  # {mark}" if mark and mark != self.mark else ""
        self.mark = mark or self.mark
        self.lines.append(f"{INDENT * depth}{text}{suffix}" if text else "")


def _mark(location: Location | None) -> str:
    """The mark of a place in an original; places in DSL text are not marked."""
    if location is None or not location.line or location.file.endswith((".py", ">")):
        return ""
    return location.mark if MARK.match(f"# {location.mark}") else ""


class Printer:
    """Prints one module; `used` collects the DSL names to import."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.used: set[str] = set()
        functions = {f.name: f for f in module.functions}
        self.expressions = ExpressionPrinter(functions, module.struct_table, self.used)
        self.out = _Writer()
        self.result: Type = VOID

    def word(self, name: str) -> str:
        self.used.add(name)
        return name

    def expr(self, e: Expr, expected: Type | None = None) -> str:
        return self.expressions.text(e, expected)

    # ---- statements ----------------------------------------------------------------------------------

    def region(self, body: Region, depth: int) -> None:
        """The statements of a region; `pass` where there are none."""
        for statement in body:
            _STATEMENTS[type(statement)](self, statement, depth)
        if all(isinstance(s, Comment) for s in body):
            self.out.line(depth, "pass")

    def declare(self, s: Declare, depth: int) -> None:
        head = f"{s.var.name}: {self.expressions.type_text(s.var.type)}"
        value = "" if s.value is None else f" = {self.expr(s.value, s.var.type)}"
        self.out.line(depth, head + value, s.location)

    def allocate(self, s: Allocate, depth: int) -> None:
        t = s.var.type
        if isinstance(t, ArrayType):
            call = self.word(s.space.value)
            extents = [str(n) for n in t.shape]
        else:
            assert isinstance(t, TensorType)
            call = self.word("allocate")
            extents = [self.expr(n, I64) for n in t.shape]
        arguments = ", ".join([self.expressions.type_text(t.element), *extents])
        self.out.line(depth, f"{s.var.name} = {call}({arguments})", s.location)

    def assign(self, s: Assign, depth: int) -> None:
        target = self.expr(s.target)
        value = s.value
        if isinstance(value, Binary) and value.op in AUGMENTED and value.left == s.target:
            _, right = operand_types(type_of(value.left), None, None, None)
            text = f"{target} {value.op.value}= {self.expr(value.right, right)}"
        elif isinstance(value, PointerAdd) and value.pointer == s.target:
            text = f"{target} += {self.expr(value.offset, I32)}"
        else:
            text = f"{target} = {self.expr(value, type_of(s.target))}"
        self.out.line(depth, text, s.location)

    def evaluate(self, s: Evaluate, depth: int) -> None:
        self.out.line(depth, self.expr(s.value), s.location)

    def branch(self, s: If, depth: int) -> None:
        keyword, it = "if", s
        while True:  # a chain of elif may be long
            self.out.line(depth, f"{keyword} {self.expr(it.condition)}:", it.location)
            self.region(it.then, depth + 1)
            if not (len(it.otherwise) == 1 and isinstance(it.otherwise[0], If)):
                break
            keyword, it = "elif", it.otherwise[0]
        if it.otherwise:
            self.out.line(depth, "else:")
            self.region(it.otherwise, depth + 1)

    def loop(self, s: For, depth: int) -> None:
        bounds = self.expressions.range_text(s.var.type, s.start, s.stop, s.step)
        if s.kind is not LoopKind.SERIAL:
            bounds = f"{self.word(s.kind.value)}({bounds})"
        self.out.line(depth, f"for {s.var.name} in {bounds}:", s.location)
        self.region(s.body, depth + 1)

    def while_loop(self, s: While, depth: int) -> None:
        self.out.line(depth, f"while {self.expr(s.condition)}:", s.location)
        if not s.step:
            self.region(s.body, depth + 1)
            return
        for statement in s.body:
            _STATEMENTS[type(statement)](self, statement, depth + 1)
        self.out.line(depth + 1, f"with {self.word('step')}:")
        self.region(s.step, depth + 2)

    def jump(self, s: Break | Continue, depth: int) -> None:
        self.out.line(depth, "break" if isinstance(s, Break) else "continue", s.location)

    def returns(self, s: Return, depth: int) -> None:
        value = "" if s.value is None else f" {self.expr(s.value, self.result)}"
        self.out.line(depth, f"return{value}", s.location)

    def assume(self, s: Assume, depth: int) -> None:
        self.out.line(depth, f"{self.word('assume')}({self.expr(s.condition)})", s.location)

    def comment(self, s: Comment, depth: int) -> None:
        self.out.line(depth, f"# {s.text}".rstrip())

    def cover(self, s: Cover, depth: int) -> None:
        self.out.line(depth, f"{self.word('cover')}({s.point})", s.location)

    # ---- definitions ---------------------------------------------------------------------------------

    def function(self, f: Function) -> None:
        """A decorator, a signature with types, the docstring and the body."""
        self.out.mark = ""
        self.result = f.result
        options = [] if f.level is Level.LOOP else [f'level="{f.level.value}"']
        if f.symbol:
            options.append(f"symbol={quoted(f.symbol)}")
        decorator = self.word(f.kind.value)
        self.out.line(0, f"@{decorator}({', '.join(options)})" if options else f"@{decorator}")
        parameters = [f"{p.name}: {self.expressions.type_text(p.type)}" for p in f.parameters]
        result = "" if f.result == VOID else f" -> {self.expressions.type_text(f.result)}"
        single = f"def {f.name}({', '.join(parameters)}){result}:"
        if len(single) <= WIDTH:
            self.out.line(0, single, f.location)
        else:
            self.out.line(0, f"def {f.name}(", f.location)
            for parameter in parameters:
                self.out.line(1, f"{parameter},")
            self.out.line(0, f"){result}:")
        if f.doc:
            self.out.line(1, f'"""{_docstring(f.doc)}"""')
        self.region(f.body, 1)

    def struct(self, s: StructDefinition, structs: Structs) -> None:
        """A class of annotations; offsets and sizes only where they are not C's natural ones."""
        offset, alignment = 0, 1
        rows: list[str] = []
        for member in s.fields:
            wanted = alignment_of(member.type, structs)
            natural = -(-offset // wanted) * wanted
            alignment = max(alignment, wanted)
            at = "" if natural == member.offset else f" = {self.word('at')}({member.offset})"
            rows.append(f"{member.name}: {self.expressions.type_text(member.type)}{at}")
            offset = member.offset + size_of(member.type, structs)
        natural_size = max(1, -(-offset // alignment) * alignment)
        options = (
            ""
            if (natural_size, alignment) == (s.size, s.alignment)
            else (f"(size={s.size}, alignment={s.alignment})")
        )
        self.out.line(0, f"@{self.word('tile_struct')}{options}")
        self.out.line(0, f"class {s.name}:")
        for row in rows or ["pass"]:
            self.out.line(1, row)

    def variable(self, v: GlobalVariable) -> None:
        shape = "".join(f", {n}" for n in v.type.shape)
        symbol = f", symbol={quoted(v.symbol)}" if v.symbol else ""
        call = self.word(v.space.value)
        self.out.line(
            0, f"{v.name} = {call}({self.expressions.type_text(v.type.element)}{shape}{symbol})", v.location
        )

    def text(self) -> str:
        """The whole file."""
        module = self.module
        for constant in module.constants:
            literal = print_literal(constant.value, constant.type)
            kind = self.expressions.type_text(constant.type)
            value = f'{kind}("{constant.value}")' if literal is None else literal
            self.out.line(0, f"{constant.name}: {kind} = {value}")
        known: dict[str, StructDefinition] = {}
        for s in module.structs:
            known[s.name] = s
            self._gap(2)
            self.struct(s, known)
        if module.variables:
            self._gap(2 if module.structs else 1)
        for v in module.variables:
            self.variable(v)
        for f in module.functions:
            self._gap(2)
            self.function(f)
        return "\n".join([*self._header(), *self.out.lines]).rstrip("\n") + "\n"

    def _gap(self, lines: int) -> None:
        if self.out.lines:
            self.out.lines.extend([""] * lines)

    def _header(self) -> list[str]:
        """Docstring, imports, source and dimension names; written last, when the names used are known."""
        module = self.module
        names = list(dict.fromkeys(d.name for f in module.functions for d in f.dimensions))
        if names:
            self.word("dims")
        lines = [f'"""{_docstring(module.doc)}"""', ""] if module.doc else []
        lines += ["from __future__ import annotations", ""]
        lines += _import(sorted(self.used - _PYTHON_NAMES, key=import_order))
        if module.source:
            lines += ["", f"__source__ = {quoted(module.source)}"]
        if names:
            joined = ", ".join(names)
            lines += ["", f'{joined} = dims("{" ".join(names)}")']
        gap = 2 if self.out.lines and self.out.lines[0].startswith(("@", "def ", "class ")) else 1
        return [*lines, *[""] * gap]


# Names that Python itself provides, with the meaning that the DSL wants.
_PYTHON_NAMES = frozenset({"range", "abs", "max", "min", "sum", "any", "all", "pow"})


def _import(names: list[str]) -> list[str]:
    if not names:
        return []
    single = f"from tmigrate.tilelang import {', '.join(names)}"
    if len(single) <= 88:
        return [single]
    return ["from tmigrate.tilelang import (", *(f"{INDENT}{n}," for n in names), ")"]


def import_order(name: str) -> tuple[int, list[tuple[int, int, str]], str]:
    """How ruff sorts the names of an import: constants, classes, then the rest, numbers by value."""
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2
    pieces = re.findall(r"\d+|\D+", name.lower())
    natural = [(0, int(p), "") if p.isdigit() else (1, 0, p) for p in pieces]
    return kind, natural, name


def _docstring(text: str) -> str:
    """The text between triple quotes: Python reads back exactly `text`."""
    body = re.sub(r'"{3,}|"+\Z', lambda m: '\\"' * len(m[0]), text.replace("\\", "\\\\"))
    return "".join(c if c == "\n" else escaped(c) for c in body)


# Each method takes its own class of statement, which `Callable` cannot say for a table keyed by class.
_STATEMENTS: dict[type[Stmt], Callable[[Printer, Any, int], None]] = {
    Declare: Printer.declare,
    Allocate: Printer.allocate,
    Assign: Printer.assign,
    Evaluate: Printer.evaluate,
    If: Printer.branch,
    For: Printer.loop,
    While: Printer.while_loop,
    Break: Printer.jump,
    Continue: Printer.jump,
    Return: Printer.returns,
    Assume: Printer.assume,
    Comment: Printer.comment,
    Cover: Printer.cover,
}


def print_module(module: Module) -> str:
    """The text of a module; `parse_module` of it gives an equal module."""
    return Printer(module).text()


def print_function(function: Function, module: Module | None = None) -> str:
    """The text of one function, without a file around it."""
    printer = Printer(module or Module("module", (function,)))
    printer.function(function)
    return "\n".join(printer.out.lines) + "\n"


def print_region(body: Region) -> str:
    """The text of a few statements, for messages and tests."""
    printer = Printer(Module("module"))
    printer.region(body, 0)
    return "\n".join(printer.out.lines) + "\n"


__all__ = ["AUGMENTED", "Printer", "print_function", "print_module", "print_region"]
