"""Expressions to text.

Parentheses follow Python's precedence.  A literal is written bare where the parser will give it the same
type from its surroundings (the other operand, the declared type), else with its type, as `i64(3)`.  The
rules for "surroundings" stand in :mod:`tmigrate.tilelang.text.literals`, shared with the parser.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tmigrate.tilelang.ir.expressions import (
    AddressOf,
    Binary,
    BinaryOp,
    Bitcast,
    Call,
    Cast,
    Compare,
    Const,
    DynamicShared,
    Expr,
    Extent,
    LaunchIndex,
    Logical,
    MakeArray,
    MakeStruct,
    Member,
    NamedConst,
    PointerAdd,
    PointerDifference,
    Reduce,
    Select,
    StringConst,
    Subscript,
    Unary,
    UnaryOp,
    Var,
    type_of,
)
from tmigrate.tilelang.ir.module import Function
from tmigrate.tilelang.ir.structs import BUILTIN_STRUCTS
from tmigrate.tilelang.ir.types import (
    B1,
    F32,
    I32,
    I64,
    ArrayType,
    PointerType,
    StructDefinition,
    Type,
)
from tmigrate.tilelang.text.literals import argument_types, default_address_type, operand_types
from tmigrate.tilelang.text.names import RESERVED
from tmigrate.tilelang.text.tensor_calls import INFIX, NEGATIVE, call_text, element_type, is_tensor_call
from tmigrate.tilelang.text.types import type_words

TERNARY, OR, AND, NOT, COMPARE, BIT_OR, BIT_XOR, BIT_AND, SHIFT, SUM, PRODUCT, UNARY, ATOM = range(13)

_BINARY_LEVEL: dict[BinaryOp, int] = {
    BinaryOp.ADD: SUM,
    BinaryOp.SUB: SUM,
    BinaryOp.MUL: PRODUCT,
    BinaryOp.DIV: PRODUCT,
    BinaryOp.FLOOR_DIV: PRODUCT,
    BinaryOp.FLOOR_MOD: PRODUCT,
    BinaryOp.AND: BIT_AND,
    BinaryOp.OR: BIT_OR,
    BinaryOp.XOR: BIT_XOR,
    BinaryOp.SHL: SHIFT,
    BinaryOp.SHR: SHIFT,
}


def print_literal(value: int | float | bool, t: Type) -> str | None:
    """The bare literal, or None where only `f32("nan")` can say it."""
    if isinstance(value, bool) or not isinstance(value, float):
        return repr(value)
    if value != value or value in (float("inf"), float("-inf")):
        return None
    return _shortest(value) if t == F32 else repr(value)


def _shortest(value: float) -> str:
    """The shortest decimal that f32 rounds to `value`."""
    text = str(np.float32(value))
    return text if any(c in text for c in ".e") else f"{text}.0"


class ExpressionPrinter:
    """Prints expressions; `used` collects the DSL names that the text needs imported."""

    def __init__(
        self,
        functions: Mapping[str, Function] | None = None,
        structs: Mapping[str, StructDefinition] | None = None,
        used: set[str] | None = None,
    ) -> None:
        self.functions = functions or {}
        self.structs = structs or {}
        self.used = used if used is not None else set()

    def word(self, name: str) -> str:
        """A DSL name, noted as used."""
        self.used.add(name)
        return name

    def type_text(self, t: Type) -> str:
        """A type, its names noted as used."""
        pieces = type_words(t, lambda extent: self.text(extent, I64))
        self.used.update(p for p in pieces if p in RESERVED and p not in self.structs)
        return "".join(pieces)

    def text(self, e: Expr, expected: Type | None = None, level: int = TERNARY) -> str:
        """`e` as text that may stand where Python's grammar wants at least `level`."""
        own, text = self._print(e, expected)
        return f"({text})" if own < level else text

    def _print(self, e: Expr, expected: Type | None) -> tuple[int, str]:
        return _PRINTERS[type(e)](self, e, expected)

    def _pair(self, left: Expr, right: Expr, expected: Type | None) -> tuple[Type | None, Type | None]:
        """What each operand's surroundings expect: a literal the other's type, another what both expect."""
        literals = isinstance(left, Const), isinstance(right, Const)
        a, b = operand_types(
            None if literals[0] else type_of(left),
            None if literals[1] else type_of(right),
            expected if type_of(left) == expected else None,
            type_of(left),
        )
        return (a if literals[0] else expected), (b if literals[1] else expected)

    # ---- leaves --------------------------------------------------------------------------------------

    def const(self, e: Const, expected: Type | None) -> tuple[int, str]:
        if e.type == B1:
            return ATOM, repr(bool(e.value))
        literal = print_literal(e.value, e.type)
        if literal is None:
            return ATOM, f'{self.type_text(e.type)}("{float(e.value)}")'
        if e.type == expected:
            return (UNARY if literal.startswith("-") else ATOM), literal
        return ATOM, f"{self.type_text(e.type)}({literal})"

    def string(self, e: StringConst, expected: Type | None) -> tuple[int, str]:
        return ATOM, quoted(e.value)

    def named(self, e: NamedConst, expected: Type | None) -> tuple[int, str]:
        return ATOM, e.name

    def var(self, e: Var, expected: Type | None) -> tuple[int, str]:
        return ATOM, e.name

    def launch_index(self, e: LaunchIndex, expected: Type | None) -> tuple[int, str]:
        return ATOM, f"{self.word(e.kind.value)}.{'xyz'[e.axis]}"

    def dynamic_shared(self, e: DynamicShared, expected: Type | None) -> tuple[int, str]:
        return ATOM, f"{self.word('dynamic_shared')}({self.type_text(e.element)})"

    # ---- operators -----------------------------------------------------------------------------------

    def unary(self, e: Unary, expected: Type | None) -> tuple[int, str]:
        if e.op is UnaryOp.NOT:
            return NOT, f"not {self.text(e.operand, level=NOT)}"
        # `-5` is a literal: the negation of the literal 5 is `-i32(5)`.
        inner = None if isinstance(e.operand, Const) else expected
        return UNARY, f"{e.op.value}{self.text(e.operand, inner, UNARY)}"

    def binary(self, e: Binary, expected: Type | None) -> tuple[int, str]:
        level = _BINARY_LEVEL.get(e.op)
        left, right = self._pair(e.left, e.right, None if level is None else expected)
        if level is None:
            name = self.word(e.op.value)
            return ATOM, f"{name}({self.text(e.left, left)}, {self.text(e.right, right)})"
        return level, (
            f"{self.text(e.left, left, level)} {e.op.value} {self.text(e.right, right, level + 1)}"
        )

    def compare(self, e: Compare, expected: Type | None) -> tuple[int, str]:
        left, right = self._pair(e.left, e.right, None)
        return COMPARE, (
            f"{self.text(e.left, left, COMPARE + 1)} {e.op.value} {self.text(e.right, right, COMPARE + 1)}"
        )

    def logical(self, e: Logical, expected: Type | None) -> tuple[int, str]:
        level = AND if e.op.value == "and" else OR
        return level, (f"{self.text(e.left, None, level)} {e.op.value} {self.text(e.right, None, level + 1)}")

    def select(self, e: Select, expected: Type | None) -> tuple[int, str]:
        then, otherwise = self._pair(e.then, e.otherwise, expected)
        return TERNARY, (
            f"{self.text(e.then, then, OR)} if {self.text(e.condition, None, OR)} "
            f"else {self.text(e.otherwise, otherwise, TERNARY)}"
        )

    def cast(self, e: Cast, expected: Type | None) -> tuple[int, str]:
        return ATOM, f"{self.type_text(e.type)}({self.text(e.operand)})"

    def bitcast(self, e: Bitcast, expected: Type | None) -> tuple[int, str]:
        return ATOM, f"{self.word('bitcast')}({self.type_text(e.type)}, {self.text(e.operand)})"

    # ---- memory --------------------------------------------------------------------------------------

    def subscript(self, e: Subscript, expected: Type | None) -> tuple[int, str]:
        indices = ", ".join(self.text(i, I32) for i in e.indices)
        return ATOM, f"{self.text(e.base, level=ATOM)}[{indices}]"

    def member(self, e: Member, expected: Type | None) -> tuple[int, str]:
        return ATOM, f"{self.text(e.base, level=ATOM)}.{e.name}"

    def address(self, e: AddressOf, expected: Type | None) -> tuple[int, str]:
        name = self.word("address")
        default = default_address_type(type_of(e.place))
        if e.type == default or not isinstance(e.type, PointerType):
            return ATOM, f"{name}({self.text(e.place)})"
        return ATOM, f"{name}({self.text(e.place)}, {self.word(e.type.space.value)})"

    def pointer_add(self, e: PointerAdd, expected: Type | None) -> tuple[int, str]:
        return SUM, f"{self.text(e.pointer, level=SUM)} + {self.text(e.offset, I32, SUM + 1)}"

    def pointer_difference(self, e: PointerDifference, expected: Type | None) -> tuple[int, str]:
        return SUM, f"{self.text(e.left, level=SUM)} - {self.text(e.right, level=SUM + 1)}"

    def extent(self, e: Extent, expected: Type | None) -> tuple[int, str]:
        return ATOM, f"{self.text(e.tensor, level=ATOM)}.shape[{e.axis}]"

    # ---- calls ---------------------------------------------------------------------------------------

    def call(self, e: Call, expected: Type | None) -> tuple[int, str]:
        function = self.functions.get(e.callee)
        if function is None and is_tensor_call(e):
            return self.tensor_call(e)
        if function is None:
            self.word(e.callee)
        types = argument_types(
            e.callee,
            function,
            [None if isinstance(a, Const) else type_of(a) for a in e.arguments],
        )
        arguments = ", ".join(
            self.text(a, t if isinstance(a, Const) else None) for a, t in zip(e.arguments, types, strict=True)
        )
        return ATOM, f"{e.callee}({arguments})"

    def tensor_call(self, e: Call) -> tuple[int, str]:
        """An operation on whole tensors: an operator, or a call with its numbers by name."""
        if e.callee == NEGATIVE:
            return UNARY, f"-{self.text(e.arguments[0], None, UNARY)}"
        if e.callee not in INFIX.values():
            return ATOM, call_text(e, self.text, self.word)
        level = SUM if e.callee in "+-" else PRODUCT
        element = element_type(e.arguments)
        left, right = e.arguments
        first = self.text(left, element if isinstance(left, Const) else None, level)
        second = self.text(right, element if isinstance(right, Const) else None, level + 1)
        return level, f"{first} {e.callee} {second}"

    def make_struct(self, e: MakeStruct, expected: Type | None) -> tuple[int, str]:
        name = str(e.type)
        definition = self.structs.get(name) or BUILTIN_STRUCTS[name]
        values = ", ".join(
            self.text(v, member.type) for v, member in zip(e.values, definition.fields, strict=True)
        )
        return ATOM, f"{self.type_text(e.type)}({values})"

    def make_array(self, e: MakeArray, expected: Type | None) -> tuple[int, str]:
        assert isinstance(e.type, ArrayType)
        shape = ", ".join(map(str, e.type.shape))
        values = "".join(f", {self.text(v, e.type.element)}" for v in e.values)
        return ATOM, f"{self.word('array')}({self.type_text(e.type.element)}, [{shape}]{values})"

    def reduce(self, e: Reduce, expected: Type | None) -> tuple[int, str]:
        bounds = self.range_text(e.var.type, e.start, e.stop, None)
        return ATOM, f"{self.word(e.op.value)}({self.text(e.body)} for {e.var.name} in {bounds})"

    def range_text(self, t: Type, start: Expr, stop: Expr, step: Expr | None) -> str:
        """`range(stop)`, `range(start, stop)` or `range(start, stop, step)`."""
        bare = t if t == I32 or not (isinstance(start, Const) and isinstance(stop, Const)) else None
        parts = [
            self.text(start, t if isinstance(start, Const) else None),
            self.text(stop, bare if isinstance(stop, Const) else None),
        ]
        if step is not None and step != Const(1, t):
            parts.append(self.text(step, t))
        elif start == Const(0, t):
            parts = parts[1:]
        self.word("range")
        return f"range({', '.join(parts)})"


def quoted(text: str) -> str:
    """A string literal of one line in double quotes."""
    body = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(escaped(c) for c in body) + '"'


def escaped(c: str) -> str:
    """A character as it stands in a string literal."""
    named = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(c)
    if named:
        return named
    return c if c.isprintable() else (f"\\x{ord(c):02x}" if ord(c) < 256 else f"\\U{ord(c):08x}")


# Each method takes its own class of node, which `Callable` cannot say for a table keyed by class.
_PRINTERS: dict[type[Expr], Callable[[ExpressionPrinter, Any, Type | None], tuple[int, str]]] = {
    Const: ExpressionPrinter.const,
    StringConst: ExpressionPrinter.string,
    NamedConst: ExpressionPrinter.named,
    Var: ExpressionPrinter.var,
    LaunchIndex: ExpressionPrinter.launch_index,
    DynamicShared: ExpressionPrinter.dynamic_shared,
    Unary: ExpressionPrinter.unary,
    Binary: ExpressionPrinter.binary,
    Compare: ExpressionPrinter.compare,
    Logical: ExpressionPrinter.logical,
    Select: ExpressionPrinter.select,
    Cast: ExpressionPrinter.cast,
    Bitcast: ExpressionPrinter.bitcast,
    Subscript: ExpressionPrinter.subscript,
    Member: ExpressionPrinter.member,
    AddressOf: ExpressionPrinter.address,
    PointerAdd: ExpressionPrinter.pointer_add,
    PointerDifference: ExpressionPrinter.pointer_difference,
    Extent: ExpressionPrinter.extent,
    Call: ExpressionPrinter.call,
    MakeStruct: ExpressionPrinter.make_struct,
    MakeArray: ExpressionPrinter.make_array,
    Reduce: ExpressionPrinter.reduce,
}


def print_expr(e: Expr, expected: Type | None = None) -> str:
    """The text of one expression."""
    return ExpressionPrinter().text(e, expected)


__all__ = ["ExpressionPrinter", "print_expr", "print_literal"]
