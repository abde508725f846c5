"""Branches and operands that can have one value only ask for no coverage."""

from __future__ import annotations

import pytest

from tmigrate.tilelang.ir.types import I16, I32, U8, U32
from tmigrate.tilelang.passes.coverage import PointKind, decided, insert_coverage
from tmigrate.tilelang.text.parser import parse_expression, parse_module

NAMES = {"c": U8, "s": I16, "i": I32, "u": U32}


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("i32(c) > 255", False),
        ("i32(c) > 254", None),
        ("i32(c) >= 0", True),
        ("u >= 0", True),
        ("i >= 0", None),
        ("i32(c) == 256", False),
        ("i32(c) != -1", True),
        ("i32(c) == 7", None),
        ("i32(s) < -32768", False),
        ("i32(u32(s)) < 0", None),
        ("True", True),
        ("not True", False),
        ("7 == i32(7)", True),
        ("7 != i32(7)", False),
        ("i32(7) < 7", False),
        ("i > 0 and False", False),
        ("True and i > 0", None),
        ("i > 0 or u >= 0", True),
        ("u < 0 or False", False),
    ],
)
def test_a_comparison_decided_by_its_type(text: str, outcome: bool | None) -> None:
    assert decided(parse_expression(text, NAMES)) is outcome


def test_the_arm_that_cannot_run_has_no_points() -> None:
    module = parse_module(
        '@tile_kernel(level="thread")\n'
        "def k(x: Ptr[u8]):\n"
        "    c: u8 = x[0]\n"
        "    if i32(c) > 255:\n"
        "        x[1] = 1\n"
        "    x[2] = c\n"
    )
    points = insert_coverage(module)[1]["k"]
    assert [p.kind for p in points] == [PointKind.STORE]


@pytest.mark.parametrize(
    ("choice", "kinds"),
    [
        ("1 if True else 2", []),
        ("1 if False else (2 if n > 0 else 3)", [PointKind.THEN, PointKind.ELSE]),
        ("(2 if n > 0 else 3) if False else 1", []),
        ("(1 if True else 2) if n > 0 else 3", [PointKind.THEN, PointKind.ELSE]),
    ],
)
def test_a_choice_that_a_template_argument_made_has_no_points(choice: str, kinds: list[PointKind]) -> None:
    module = parse_module(f"{HEAD}    x[0] = {choice}\n")
    assert sorted(p.kind.value for p in insert_coverage(module)[1]["k"]) == sorted(
        kind.value for kind in (PointKind.STORE, *kinds)
    )


HEAD = '@tile_kernel(level="thread")\ndef k(x: Ptr[i32], n: i32, m: i32):\n'


@pytest.mark.parametrize(
    ("lines", "operands"),
    [
        (["if n > 0 and m > 0:", "    x[0] = 1"], 2),
        (["if n > 0 and (m > 0 or n == 3):", "    x[0] = 1"], 3),
        (["x[0] = 1 if n > 0 or m > 0 else 2"], 2),
        (["while n > 0 and m > 0:", "    n = n - 1"], 2),
        (["b: b1 = n > 0 or m > 0", "x[0] = i32(b)"], 2),
        (["if n > 0 and u32(m) >= 0:", "    x[0] = 1"], 1),  # no value of the type fails
        (["if n > 0 or u32(m) >= 0:", "    x[0] = 1"], 0),  # always true
        (["if n == 8 or (m != 7 and n != 8):", "    x[0] = 1"], 2),  # n != 8 is asked where n == 8 failed
        (["if not (n > 0 or m > 0) or n > 0:", "    x[0] = 1"], 4),
        (["if n == 7:", "    x[0] = 1", "if m > 0 or n != 7:", "    x[0] = 2"], 1),  # a label of a switch
    ],
)
def test_operands_have_a_point_for_each_value(lines: list[str], operands: int) -> None:
    module = parse_module(HEAD + "".join(f"    {line}\n" for line in lines))
    kinds = [p.kind for p in insert_coverage(module)[1]["k"]]
    assert kinds.count(PointKind.HOLDS) == kinds.count(PointKind.FAILS) == operands
