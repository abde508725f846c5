"""Odd places of the text form: comments, strings, literals, names, imports, deep nesting."""

from __future__ import annotations

import ast
import importlib.util
from dataclasses import replace
from pathlib import Path

import pytest

from tmigrate.diagnostics import VerifyError
from tmigrate.locations import Location
from tmigrate.tilelang.ir.expressions import (
    Binary,
    BinaryOp,
    Call,
    Const,
    Expr,
    Logical,
    LogicalOp,
    Select,
    StringConst,
    Unary,
    UnaryOp,
    Var,
)
from tmigrate.tilelang.ir.module import Function, FunctionKind, Level, Module
from tmigrate.tilelang.ir.statements import Assign, Comment, Declare, Evaluate, For, If, Stmt, While
from tmigrate.tilelang.ir.types import B1, F32, I32, I64
from tmigrate.tilelang.ir.verify import verify
from tmigrate.tilelang.passes.hoist import heights, hoist
from tmigrate.tilelang.text.parser import parse_expression, parse_module, parse_statements
from tmigrate.tilelang.text.printer import import_order, print_module, print_region

VARIABLES = {"x": F32, "n": I32, "c": B1, "m": I64}
x, n, c = Var("x", F32), Var("n", I32), Var("c", B1)


def device(*body: Stmt, doc: str = "") -> Module:
    return Module("m", (Function("f", (x, n, c), body, FunctionKind.DEVICE, Level.THREAD, doc=doc),))


def round_trip(module: Module) -> str:
    text = print_module(module)
    assert parse_module(text, "m") == module
    return text


@pytest.mark.parametrize(
    "text",
    [
        "# before\nif c:\n    # first\n    n = 1\n    # last\nelse:\n    # other\n    n = 2\n# after\n",
        "if c:\n    # only\n    pass\nelif n == 1:\n    n = 2\n    # in elif\n",
        "while c:\n    # body\n    with step:\n        # step\n        n += 1\n",
        "while c:\n    while c:\n        n = 1\n        with step:\n            n += 1\n"
        "    with step:\n        n += 2\n",
        "for i in range(n):\n    # only a comment\n    pass\n# outside\n",
        "#\n#  two blanks\nn = -1\n",
        "n = 1  # k.cu:12\nn = 2  # k.cu:13\n",
    ],
)
def test_statements_print_as_they_were(text: str) -> None:
    assert print_region(parse_statements(text, VARIABLES)) == text


def test_comments_at_odd_places_are_kept() -> None:
    """Beside code, at a shallower column, between branches, inside an expression."""
    text = (
        "n = 1  # beside\n"
        "for i in range(n):\n    n_ = i\n# shallow\n    x = 1.0\n"
        "if c:\n    n = 2\n# between\nelse:  # by else\n    n = 3\n"
        "x = (1.0 +\n     # inside\n     x)\n"
    )
    printed = print_region(parse_statements(text, VARIABLES))
    for word in ("beside", "shallow", "between", "by else", "inside"):
        assert printed.count(f"# {word}") == 1
    assert print_region(parse_statements(printed, VARIABLES)) == printed


def test_a_nested_if_in_else_is_not_an_elif() -> None:
    inner = If(c, (Assign(n, Const(1, I32)),), ())
    for otherwise in ((inner,), (Comment("note"), inner), (inner, inner)):
        round_trip(device(If(c, (), otherwise)))


@pytest.mark.parametrize(
    "text", ["-5", "-i32(5)", "-i32(-5)", "n - -5", "~i32(5)", "-n", "2 * -n", "n << 33"]
)
def test_signs_of_integers(text: str) -> None:
    from tmigrate.tilelang.text.expressions import print_expr

    assert print_expr(parse_expression(text, VARIABLES, I32), I32) == text


def test_negation_of_a_literal_is_not_a_negative_literal() -> None:
    assert parse_expression("-i32(5)", VARIABLES) == Unary(UnaryOp.NEG, Const(5, I32))
    assert parse_expression("-5", VARIABLES) == Const(-5, I32)


def test_literals_take_the_type_of_the_other_operand() -> None:
    assert parse_expression("m + 1", VARIABLES) == Binary(BinaryOp.ADD, Var("m", I64), Const(1, I64))
    assert parse_expression("x * 2", VARIABLES) == Binary(BinaryOp.MUL, x, Const(2.0, F32))


@pytest.mark.parametrize("value", [0.0, -0.0, float("nan"), float("inf"), float("-inf"), 1e10, 16777216.0])
def test_special_floats(value: float) -> None:
    text = round_trip(device(Declare(Var("y", F32), Const(value, F32))))
    assert ("-0.0" in text) == (str(value) == "-0.0")


def test_strings_with_odd_characters() -> None:
    odd = "".join(map(chr, range(128))) + "\u00e9\u4e2d\U0001f600\ud800{}%"
    round_trip(device(Evaluate(Call("printf", (StringConst(odd),), I32)), doc='a "doc"\\ ends with ""'))
    round_trip(replace(device(), doc='""" \\N and "', source='a "b".cu'))


def test_marks_are_written_where_the_line_changes() -> None:
    here, there = Location("k.cu", 3), Location("k.cu", 4)
    body = [Assign(n, n, location=here), Assign(n, n, location=here), Assign(n, n, location=there)]
    text = round_trip(device(*body))
    assert text.count("# k.cu:3") == 1 and text.count("# k.cu:4") == 1
    back = parse_module(text, "m").functions[0].body
    assert [s.location and s.location.line for s in back] == [3, 3, 4]


def test_a_long_sum_parses_in_linear_time() -> None:
    text = " + ".join(["n"] * 60)
    assert heights(parse_expression(text, VARIABLES)) is not None


def test_two_loops_may_use_one_name() -> None:
    """As in Python; the second gets a name of its own, and so does what begins anew in its body."""
    text = (
        "from tmigrate.tilelang import f32, i32, tile_function\n\n\n@tile_function\ndef f(n: i32) -> f32:\n"
        "    total: f32 = 0.0\n"
        "    for i in range(n):\n        part = 1.0\n        total += part\n"
        "    for i in range(n):\n        part = 2.0\n        total += part\n"
        "    return total\n"
    )
    module = parse_module(text, "m")
    verify(module)
    assert "for i_2 in range(n):\n        part_2: f32 = 2.0\n        total += part_2" in round_trip(module)


def test_a_declaration_of_a_visible_name_is_a_store() -> None:
    text = (
        "from tmigrate.tilelang import i32, tile_function\n\n\n@tile_function\ndef f(n: i32) -> i32:\n"
        "    y: i32 = 1\n    if n > 0:\n        y: i32 = 2\n    return y\n"
    )
    function = parse_module(text, "m").functions[0]
    branch = function.body[1]
    assert isinstance(branch, If) and branch.then == (Assign(Var("y", I32), Const(2, I32)),)


def test_imports_are_exactly_the_names_used(tmp_path: Path) -> None:
    """A printed file imports as a module, and its import line is sorted as ruff sorts."""
    body = Declare(Var("y", F32), Call("fmax", (x, Const(1.0, F32)), F32))
    text = print_module(device(body))
    tree = ast.parse(text)
    imported = [a.name for n in tree.body if isinstance(n, ast.ImportFrom) and n.level == 0 for a in n.names]
    assert imported == ["annotations", "b1", "f32", "fmax", "i32", "tile_function"]
    path = tmp_path / "printed.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location("printed", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert callable(module.f)


def test_the_order_of_imported_names() -> None:
    names = ["i8", "u64", "i16", "Tensor", "BF16", "threadIdx", "Ptr", "atomic_add", "float4", "float2"]
    assert sorted(names, key=import_order) == [
        "BF16", "Ptr", "Tensor", "atomic_add", "float2", "float4", "i8", "i16", "threadIdx", "u64",
    ]  # fmt: skip


# ---- the pass hoist ----------------------------------------------------------------------------------


def deep(kind: str, count: int) -> Expr:
    found: Expr = c if kind == "logical" else x
    for i in range(count):
        if kind == "sum":
            found = Binary(BinaryOp.ADD, found, x) if i % 2 else Binary(BinaryOp.MUL, x, found)
        elif kind == "select":
            found = Select(c, x, found)
        else:
            found = Logical(LogicalOp.AND if i % 2 else LogicalOp.OR, c, found)
    return found


@pytest.mark.parametrize("kind,t", [("sum", F32), ("select", F32), ("logical", B1)])
def test_deep_expressions_are_hoisted_until_they_parse(kind: str, t: object) -> None:
    target = c if t == B1 else x
    module = device(Assign(target, deep(kind, 300)))
    with pytest.raises(VerifyError):
        verify(module)
    low = hoist(module)
    verify(low)
    round_trip(low)


def test_hoisting_keeps_what_is_not_evaluated_unevaluated() -> None:
    """A part behind `and` is computed only where it was."""
    low = hoist(device(Assign(c, deep("logical", 100))))
    body = low.functions[0].body
    assert isinstance(body[0], Declare) and body[0].value is None
    assert isinstance(body[1], If)


def test_a_deep_condition_of_a_loop_is_computed_in_each_iteration() -> None:
    low = hoist(device(While(deep("logical", 100), (Assign(x, x),), ())))
    loop = low.functions[0].body[0]
    assert isinstance(loop, While) and loop.condition == Const(True, B1)
    verify(low)


def test_a_shallow_module_is_not_touched() -> None:
    module = device(For(Var("k", I32), Const(0, I32), n, Const(1, I32), (Assign(x, x),)))
    assert hoist(module) == module


def test_a_long_chain_of_elif_round_trips() -> None:
    chain: tuple[Stmt, ...] = ()
    for i in range(150):
        chain = (If(equals(i), (Assign(x, x),), chain),)
    round_trip(device(*chain))


def equals(i: int) -> Expr:
    from tmigrate.tilelang.ir.expressions import Compare, CompareOp

    return Compare(CompareOp.EQ, n, Const(i, I32))
