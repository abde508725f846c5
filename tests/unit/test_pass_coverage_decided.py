"""Branches that no value of a type can take ask for no coverage."""

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
