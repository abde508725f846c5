"""`parse(print(m)) == m` for generated modules, and the generator reaches everything there is."""

from __future__ import annotations

from functools import cache
from typing import Any

from generator import Drawn, Seeded, make_module
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from signatures import SIGNATURES

from tmigrate.tilelang.ir.expressions import (
    Binary,
    BinaryOp,
    Call,
    Compare,
    CompareOp,
    Const,
    LaunchIndex,
    LaunchIndexKind,
    Logical,
    LogicalOp,
    Reduce,
    ReduceOp,
    Unary,
    UnaryOp,
)
from tmigrate.tilelang.ir.intrinsics import INTRINSICS
from tmigrate.tilelang.ir.module import Level, Module
from tmigrate.tilelang.ir.node import NODE_CLASSES, Node, bindings_of, walk
from tmigrate.tilelang.ir.statements import Allocate, For, LoopKind
from tmigrate.tilelang.ir.tensor_table import tensor_operations
from tmigrate.tilelang.ir.types import SCALARS, Space
from tmigrate.tilelang.ir.verify import verify
from tmigrate.tilelang.text.parser import parse_module
from tmigrate.tilelang.text.printer import print_module

SEEDS = range(270)
LEVELS = (None, None, (Level.TENSOR,))


@cache
def modules() -> tuple[Module, ...]:
    """The modules of the fixed seeds; every third at the tensor level; `focus` counts through."""
    return tuple(
        make_module(Seeded(s), 3, LEVELS[s % 3], s // 3 if s % 3 == 2 else s // 3 * 2 + s % 3) for s in SEEDS
    )


def check(module: Module) -> None:
    """The three properties of a module."""
    verify(module)
    text = print_module(module)
    back = parse_module(text, module.name)
    assert back == module, text
    assert print_module(back) == text


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_generated_modules_round_trip(data: Any) -> None:
    level = data.draw(st.sampled_from(LEVELS))
    check(make_module(Drawn(data.draw), depth=2, levels=level))


def test_fixed_seeds_round_trip() -> None:
    for module in modules():
        check(module)


def all_nodes() -> list[Node]:
    found: list[Node] = []
    for module in modules():
        for function in module.functions:
            found.extend(walk(function.body))
            found.extend(function.parameters)
    return found + [v for n in found for v in bindings_of(n)]


def test_the_generator_reaches_every_node_class() -> None:
    reached = {type(n) for n in all_nodes()}
    assert not {c.__name__ for c in NODE_CLASSES} - {c.__name__ for c in reached}


def test_the_generator_reaches_every_operator() -> None:
    nodes = all_nodes()
    assert {n.op for n in nodes if isinstance(n, Binary)} == set(BinaryOp)
    assert {n.op for n in nodes if isinstance(n, Unary)} == set(UnaryOp)
    assert {n.op for n in nodes if isinstance(n, Compare)} == set(CompareOp)
    assert {n.op for n in nodes if isinstance(n, Logical)} == set(LogicalOp)
    assert {n.op for n in nodes if isinstance(n, Reduce)} == set(ReduceOp)
    assert {n.kind for n in nodes if isinstance(n, For)} == set(LoopKind)
    kinds = {(n.kind, n.axis) for n in nodes if isinstance(n, LaunchIndex)}
    assert kinds == {(k, a) for k in LaunchIndexKind for a in range(3)}


def test_the_generator_reaches_every_intrinsic_and_tensor_operation() -> None:
    called = {n.callee for n in all_nodes() if isinstance(n, Call)}
    assert not set(INTRINSICS) - called
    assert not set(tensor_operations()) - called
    assert {s.name for s in SIGNATURES} | {"printf", "assert_"} == set(INTRINSICS)


def test_the_generator_reaches_every_type_and_space() -> None:
    nodes = all_nodes()
    types = {getattr(n, "type", None) for n in nodes}
    assert set(SCALARS.values()) <= types
    assert {type(t).__name__ for t in types} >= {
        "VoidType", "ScalarType", "PointerType", "ArrayType", "TensorType", "StructType",
    }  # fmt: skip
    assert {t.space for t in types if hasattr(t, "space")} == set(Space)
    assert {n.space for n in nodes if isinstance(n, Allocate)} == {Space.GLOBAL, Space.LOCAL, Space.SHARED}
    assert {v.space for m in modules() for v in m.variables} == {
        Space.GLOBAL, Space.CONSTANT, Space.MANAGED, Space.SHARED,
    }  # fmt: skip


def test_the_generator_reaches_every_literal_form() -> None:
    """Negative, extreme, -0.0, NaN and infinite literals of every type that has them."""
    literals = {(n.type, repr(n.value)) for n in all_nodes() if isinstance(n, Const)}
    for t in SCALARS.values():
        if t.is_float:
            wanted = {"0.0", "-0.0", "nan", "inf", "-inf", "-1.5"}
        elif t.is_bool:
            wanted = {"True", "False"}
        else:
            top = (1 << (t.bits - t.is_signed)) - 1
            wanted = {"0", str(top), *([str(-top - 1), "-1"] if t.is_signed else [])}
        assert wanted <= {value for kind, value in literals if kind == t}, t
