"""Calls on whole tensors in text: `x @ w + b`, `softmax(x, dim=1)`, `x.reshape(4, n)`.

The arguments of the node are the tensors, then the numbers of the operation's declaration, then the extents.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tmigrate.tilelang.ir.expressions import Call, Const, Expr, type_of
from tmigrate.tilelang.ir.tensor_table import tensor_operations
from tmigrate.tilelang.ir.types import I32, I64, TensorType, Type

if TYPE_CHECKING:
    from tmigrate.tilelang.tensors.operation import TensorOperation
    from tmigrate.tilelang.text.parse_expressions import ExpressionParser

# How operators are called in the table.
INFIX = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.MatMult: "@"}
NEGATIVE = "negative"
# Names that a method or a function may also have.
ALIASES = {"matmul": "@", "T": "transpose"}


def is_tensor(e: Expr | None) -> bool:
    """Whether an expression is a whole tensor."""
    return e is not None and isinstance(type_of(e), TensorType)


def element_type(operands: Sequence[Expr | None]) -> Type | None:
    """The element type of the first tensor: what a literal beside it takes."""
    found = next((type_of(e) for e in operands if e is not None and is_tensor(e)), None)
    return found.element if isinstance(found, TensorType) else None


def is_tensor_call(e: Call) -> bool:
    """Whether a call is printed by :func:`print_call`: some argument is a whole tensor."""
    return any(is_tensor(a) for a in e.arguments) and e.callee in tensor_operations()


# ---- reading -----------------------------------------------------------------------------------------


def make_call(
    parser: ExpressionParser, name: str, operands: Sequence[Expr], it: ast.AST, rest: Sequence[Expr] = ()
) -> Expr:
    """The call, its result type found by the operation's rule."""
    operation = tensor_operations().get(name)
    if operation is None:
        parser.scope.fail("TM2003", f"`{name}` is not an operation on whole tensors", it)
    arguments = (*operands, *rest)
    found = operation.result_type(arguments)
    if isinstance(found, str):
        parser.scope.fail("TM2005", f"{name}: {found}", it)
    return Call(name, arguments, found)


def read_call(
    parser: ExpressionParser,
    name: str,
    read: Sequence[Expr | None],
    arguments: Sequence[ast.expr],
    it: ast.Call,
) -> Expr:
    """`name(arguments...)` on whole tensors (of a method, the first argument stands before the dot).

    `read` holds the first arguments where they have been read already, None where not.
    """
    name = ALIASES.get(name, name)
    operation = tensor_operations().get(name)
    if operation is None:
        parser.scope.fail("TM2003", f"`{name}` is not an operation on whole tensors", it)
    count = min(operation.operands, len(arguments))
    ahead = [*read, *[None] * count]
    operands = [
        e or parser.parse(text, element_type(read))
        for e, text in zip(ahead[:count], arguments[:count], strict=True)
    ]
    given = list(arguments[count:])
    keywords = {str(k.arg): k.value for k in it.keywords}
    for parameter in (*operation.numbers, *([operation.shape] if operation.shape else [])):
        if parameter != operation.shape and given and parameter not in keywords:
            keywords[parameter] = given.pop(0)
    rest: list[Expr] = [
        _number(parser, operation, n, keywords.pop(n, None), operands[0], it) for n in operation.numbers
    ]
    if operation.shape:
        listed = keywords.pop(operation.shape, None)
        given = list(listed.elts) if isinstance(listed, ast.Tuple | ast.List) else given
        rest += [parser.parse(e, I64) for e in given]
        given = []
    if given or keywords:
        parser.scope.fail("TM2005", f"{name} does not take all of these arguments", it)
    return make_call(parser, name, operands, it, rest)


def _number(
    parser: ExpressionParser,
    operation: TensorOperation,
    name: str,
    value: ast.expr | None,
    first: Expr,
    it: ast.AST,
) -> Expr:
    """One number: a literal, True or False, a constant, or the default; `dim=-1` is the last dimension."""
    default = operation.numbers[name]
    if value is None:
        if default is None:
            parser.scope.fail("TM2005", f"{operation.name} needs {name}=", it)
        return Const(default, I32)
    negative = isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub)
    literal = value.operand if isinstance(value, ast.UnaryOp) and negative else value
    if isinstance(literal, ast.Constant) and isinstance(literal.value, bool):
        return Const(int(literal.value), I32)
    from tmigrate.tilelang.text.parse_types import static_int

    number = static_int(literal, parser.scope) * (-1 if negative else 1)
    rank = getattr(type_of(first), "rank", 0)
    return Const(number + rank if name == "dim" and number < 0 else number, I32)


# ---- printing ----------------------------------------------------------------------------------------


def call_text(e: Call, text: Callable[[Expr, Type | None], str], word: Callable[[str], str]) -> str:
    """`softmax(x, dim=1)`; operators are printed by the caller."""
    operation = tensor_operations()[e.callee]
    count = operation.operands
    element = element_type(e.arguments)
    parts = [text(a, element if isinstance(a, Const) else None) for a in e.arguments[:count]]
    numbers = zip(operation.numbers.items(), e.arguments[count:], strict=False)
    for (name, default), value in numbers:
        assert isinstance(value, Const)
        if default is None or value.value != default:
            parts.append(f"{name}={value.value if default is None else bool(value.value)}")
    parts += [text(a, I64) for a in e.arguments[count + len(operation.numbers) :]]
    return f"{word(e.callee)}({', '.join(parts)})"
