"""The mutation operators reach every node class, and do to small programs what they say."""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "mutation"))

from mutants import is_valid, mutants_of, sampled  # noqa: E402
from operators import OPERATORS, commute, variants_at  # noqa: E402
from places import places, put  # noqa: E402
from source_operators import apply, mutants_of_source  # noqa: E402

from tmigrate.tilelang.ir.module import Function, Module  # noqa: E402
from tmigrate.tilelang.ir.node import walk  # noqa: E402
from tmigrate.tilelang.text.parser import parse_module  # noqa: E402
from tmigrate.tilelang.text.printer import print_function  # noqa: E402

GOLDEN = sorted((TESTS / "golden" / "samples").glob("*.py"))
TEXT = """
@tile_kernel(level="thread")
def k(x: Ptr[f32], y: Ptr[f32], n: i32):
    s = shared(f32, 4, 8)
    i: i32 = i32(threadIdx.x)
    a: f32 = x[i]
    b: f32 = y[i]
    s[0, i] = a
    syncthreads()
    if i < n:
        y[i] = a - s[0, i] * b
"""


def kernel() -> tuple[Module, Function]:
    module = parse_module(TEXT)
    return module, module.functions[0]


def labels(operator: str) -> list[str]:
    module, function = kernel()
    return [m.label for m in mutants_of(module, [function]) if m.operator == operator]


def test_every_operator_and_every_node_class_of_the_samples_is_reached() -> None:
    reached: dict[str, set[str]] = defaultdict(set)
    present: set[str] = set()
    for path in GOLDEN:
        module = parse_module(path.read_text(), path.stem)
        for function in module.functions:
            present |= {type(it).__name__ for it in walk(function.body)}
            for place in places(module, function):
                for operator, _, _ in variants_at(place):
                    reached[operator].add(type(place.node).__name__)
    assert set(reached) == {entry.name for entry in OPERATORS}
    # A bitcast, an address and a dynamic array have nothing of their own to change: what they hold has.
    assert present - set().union(*reached.values()) <= {
        "Comment",
        "AddressOf",
        "Bitcast",
        "DynamicShared",
        "Return",
    }


def test_no_mutant_is_the_original() -> None:
    module, function = kernel()
    mutants = list(mutants_of(module, [function]))
    assert len(mutants) > 60 and len({m.name for m in mutants}) == len(mutants)
    assert all(m.function != function for m in mutants)


def test_what_the_verifier_refuses_is_no_mutant() -> None:
    module, function = kernel()
    valid = {
        m.label: is_valid(m, module) for m in mutants_of(module, [function]) if m.operator == "initial value"
    }
    assert valid == {"0": True}
    moved = [m for m in mutants_of(module, [function]) if m.operator == "exchanged statements"]
    assert not all(is_valid(m, module) for m in moved)


def test_labels_say_what_was_done() -> None:
    assert "index 1 + 1" in labels("index")
    assert "SHARED -> LOCAL" in labels("enumeration")
    assert labels("exchanged operands").count("left <-> right") == 2  # the difference and the comparison
    assert "contracted" not in labels("reassociated")  # a - b * c is no sum


def test_statements_that_commute_are_not_exchanged() -> None:
    module, function = kernel()
    body = function.body
    assert commute(body[2], body[3])  # a: f32 = x[i]; b: f32 = y[i]
    assert not commute(body[4], body[5])  # s[0, i] = a; syncthreads()
    exchanged = [m for m in mutants_of(module, [function]) if m.operator == "exchanged statements"]
    (barrier,) = [m for m in exchanged if "/body4/" in m.name]
    lines = [line.strip() for line in print_function(barrier.function, module).splitlines()]
    assert lines.index("syncthreads()") == lines.index("s[0, i] = a") - 1
    assert len(barrier.function.body) == len(body)


def test_put_replaces_one_node() -> None:
    module, function = kernel()
    (store,) = [p for p in places(module, function) if p.path == (("body", 4),)]
    assert len(put(function, store.path, ()).body) == len(function.body) - 1
    assert put(function, store.path, store.node) == function


def test_a_sample_is_drawn_with_its_seed() -> None:
    module, function = kernel()
    mutants = list(mutants_of(module, [function]))
    assert sampled(mutants, 10, 1) == sampled(mutants, 10, 1) != sampled(mutants, 10, 2)
    assert len(sampled(mutants, 10, 1)) == 10


SOURCE = '''"""Text."""
TABLE = {"a": Kind.ONE, "b": Kind.TWO}


def f(x: int, y: int) -> int:
    """Text."""
    if x < 3 and not y:
        raise ValueError("no")
    z = g(x, y)
    return z + 1
'''


def test_source_mutants_do_what_they_say() -> None:
    made = {m.label: ast.unparse(apply(m, SOURCE)) for m in mutants_of_source("m", SOURCE)}
    assert "if x <= 3 and (not y)" in made["Lt -> LtE"]
    assert "x < 3 or not y" in made["And -> Or"]
    assert "if not (x < 3 and (not y))" in made["not"]
    assert "z = g(y, x)" in made["0 <-> 1"]
    assert "return z - 1" in made["Add -> Sub"]
    assert "raise" not in made["raise"]
    assert "'a': Kind.TWO" in made["ONE -> TWO"]
    entries = [
        ast.unparse(apply(m, SOURCE))
        for m in mutants_of_source("m", SOURCE)
        if m.operator == "exchanged entries"
    ]
    assert ["{'a': Kind.TWO, 'b': Kind.ONE}" in text for text in entries] == [True]


def test_texts_and_annotations_are_left_alone() -> None:
    for mutant in mutants_of_source("m", SOURCE):
        text = ast.unparse(apply(mutant, SOURCE))
        assert "x: int, y: int) -> int" in text and text.count("Text.") == 2
