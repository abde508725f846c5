"""Wrong lifts must fail the bounded check: lifted kernels are broken as a rule could break them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from tmigrate.converters.lifting.bounded import BoundedResult, check
from tmigrate.converters.lifting.lift import lift
from tmigrate.tilelang.ir.expressions import (
    Binary,
    BinaryOp,
    Cast,
    Compare,
    CompareOp,
    Const,
    Expr,
    NamedConst,
    Reduce,
    Subscript,
    Var,
    type_of,
)
from tmigrate.tilelang.ir.module import Function
from tmigrate.tilelang.ir.node import Node, rewrite_region, walk, with_fields
from tmigrate.tilelang.ir.statements import Assign, Assume, For, LoopKind
from tmigrate.tilelang.ir.types import I32, I64, is_float
from tmigrate.tilelang.text.parser import parse_module
from tmigrate.tilelang.text.printer import print_function

TEXT = """
NI: i32 = 100
NJ: i32 = 120
NK: i32 = 140

@tile_kernel(level="thread")
def product(alpha: f32, beta: f32, a: Ptr[f32], b: Ptr[f32], c: Ptr[f32]):
    j: i32 = i32(blockIdx.x * blockDim.x + threadIdx.x)
    i: i32 = i32(blockIdx.y * blockDim.y + threadIdx.y)
    if i < NI and j < NJ:
        c[i * NJ + j] = c[i * NJ + j] * beta
        for k in range(NK):
            c[i * NJ + j] = c[i * NJ + j] + alpha * a[i * NK + k] * b[k * NJ + j]

@tile_kernel(level="thread")
def stencil(n: i32, x: Ptr[f32], y: Ptr[f32]):
    j: i32 = i32(blockIdx.x * blockDim.x + threadIdx.x)
    i: i32 = i32(blockIdx.y * blockDim.y + threadIdx.y)
    if i > 0 and i < n - 1 and j > 0 and j < n - 1:
        if x[i * n + j] > 0.5:
            y[i * n + j] = x[(i - 1) * n + j] + x[i * n + (j + 1)] - y[i * n + j]
        else:
            y[i * n + j] = 0.25
"""
MODULE = parse_module(TEXT)


def pair(name: str) -> tuple[Function, Function]:
    original = MODULE.function(name)
    assert original is not None
    result = lift(MODULE, original)
    assert result.function is not None, result.blocked
    return original, result.function


def mutants(f: Function) -> Iterator[tuple[str, Function]]:
    """Every place of every operator, one at a time."""
    operators: dict[str, Callable[[Node], Node | tuple[Node, ...] | None]] = {
        "start + 1": lambda it: (
            with_fields(it, start=_plus(it.start)) if isinstance(it, For | Reduce) else None
        ),
        "stop - 1": lambda it: (
            with_fields(it, stop=_minus(it.stop)) if isinstance(it, For | Reduce) else None
        ),
        "swapped indices": lambda it: (
            with_fields(it, indices=it.indices[::-1])
            if isinstance(it, Subscript) and len(it.indices) == 2 and it.indices[0] != it.indices[1]
            else None
        ),
        "index + 1": lambda it: (
            with_fields(it, indices=(*it.indices[:-1], _plus(it.indices[-1])))
            if isinstance(it, Subscript)
            else None
        ),
        "dropped term": lambda it: (
            it.left
            if isinstance(it, Binary) and it.op in (BinaryOp.ADD, BinaryOp.SUB) and is_float(it.type)
            else None
        ),
        "dropped factor": lambda it: (
            it.left if isinstance(it, Binary) and it.op is BinaryOp.MUL and is_float(it.type) else None
        ),
        "sum to difference": lambda it: (
            with_fields(it, op=BinaryOp.SUB if it.op is BinaryOp.ADD else BinaryOp.ADD)
            if isinstance(it, Binary) and it.op in (BinaryOp.ADD, BinaryOp.SUB) and is_float(it.type)
            else None
        ),
        "dropped store": lambda it: () if isinstance(it, Assign) else None,
    }  # fmt: skip
    for name, rule in operators.items():
        places = sum(1 for it in walk(f.body) if rule(it) is not None)
        for place in range(places):
            seen = [0]

            def once(it: Node, rule: object = rule, place: int = place, seen: list[int] = seen) -> object:
                made = rule(it)  # type: ignore[operator]
                if made is None:
                    return None
                seen[0] += 1
                return made if seen[0] == place + 1 else None

            yield f"{name} {place}", replace(f, body=rewrite_region(f.body, once))  # type: ignore[arg-type]


def _plus(e: Expr) -> Expr:
    return Binary(BinaryOp.ADD, e, Const(1, type_of(e)))


def _minus(e: Expr) -> Expr:
    return Binary(BinaryOp.SUB, e, Const(1, type_of(e)))


@pytest.mark.parametrize("name", ["product", "stencil"])
def test_the_right_lift_is_checked_and_fast(name: str) -> None:
    result = check(MODULE, *pair(name))
    assert result.status == "checked", result
    assert len(result.sizes) == 6
    assert result.seconds < 0.3


@pytest.mark.parametrize("name", ["product", "stencil"])
def test_every_mutant_fails(name: str) -> None:
    original, good = pair(name)
    survivors = []
    count = 0
    for label, mutant in mutants(good):
        count += 1
        if check(MODULE, original, mutant).status != "failed":
            survivors.append(label)
    assert count >= 15
    assert survivors == []


def test_wrong_constant_in_a_shape_fails() -> None:
    """Sizes are unequal, so that NI in the place of NJ shows."""
    original, good = pair("product")

    def swap(it: Node) -> Node | None:
        if isinstance(it, For) and it.var.name == "i":
            return with_fields(it, stop=NamedConst("NJ", 120, I32))
        return None

    wrong = rewrite_region(good.body, swap)
    assert check(MODULE, original, replace(good, body=wrong)).status == "failed"  # type: ignore[arg-type]


def test_a_parallel_loop_whose_order_matters_fails() -> None:
    """A prefix sum declared parallel: iterations run in a shuffled order."""
    text = """
@tile_kernel(level="thread")
def scan(n: i32, x: Ptr[f32]):
    i: i32 = i32(blockIdx.x * blockDim.x + threadIdx.x)
    if i == 0:
        for k in range(1, n):
            x[k] = x[k] + x[k - 1]
"""
    module = parse_module(text)
    original = module.kernels[0]
    result = lift(module, original)
    assert result.function is not None
    assert check(module, original, result.function).status == "checked"

    def parallel(it: Node) -> Node | None:
        return with_fields(it, kind=LoopKind.PARALLEL) if isinstance(it, For) else None

    body = rewrite_region(result.function.body, parallel)
    wrong = replace(result.function, body=body)  # type: ignore[arg-type]
    assert check(module, original, wrong).status == "failed"


def test_the_difference_names_sizes_and_place() -> None:
    original, good = pair("product")
    wrong = replace(good, body=good.body[:-1])
    result = check(MODULE, original, wrong)
    assert result.status == "failed"
    assert "of c is" in result.difference and "NI=" in result.difference


def test_the_time_limit_gives_unchecked() -> None:
    result = check(MODULE, *pair("product"), seconds=0.0)
    assert result == BoundedResult("unchecked", (), (), "", "time", result.seconds)


def test_impossible_assumptions_give_unchecked() -> None:
    original, good = pair("stencil")
    from tmigrate.tilelang.ir.expressions import Compare, CompareOp
    from tmigrate.tilelang.ir.statements import Assume

    never = Assume(Compare(CompareOp.GT, Var("n", I32), Const(1000, I32)))
    result = check(MODULE, original, replace(good, body=(never, *good.body)))
    assert result.status == "unchecked" and "assumptions" in result.reason


WRAPPING = """
@tile_kernel(level="thread")
def mixed(n: i32, a: Ptr[u32], b: Ptr[u32], out: Ptr[i64]):
    i: i32 = i32(blockIdx.x * blockDim.x + threadIdx.x)
    if i < n:
        out[i] = i64(a[i] * 2654435769 + b[i])
"""


def test_sums_of_data_wrap_where_the_source_wraps_them() -> None:
    """Index arithmetic does not wrap, data does: `i64(a[i] + b[i])` is not `i64(a[i]) + i64(b[i])`."""
    module = parse_module(WRAPPING)
    original = module.functions[0]
    lifted = lift(module, original).function
    assert lifted is not None
    assert check(module, original, lifted).status == "checked"
    assert "i64(2654435769 * a[i] + b[i])" in print_function(lifted, module)


def test_a_lift_that_loses_a_wrap_fails() -> None:
    """Small integers never wrap: the check needs values from the whole range."""
    text = WRAPPING.replace("a[i] * 2654435769 + b[i]", "a[i] + b[i]")
    module = parse_module(text)
    original = module.functions[0]
    lifted = lift(module, original).function
    assert lifted is not None

    def widen(it: Node) -> Node | None:
        if isinstance(it, Cast) and isinstance(it.operand, Binary):
            parts = (Cast(I64, it.operand.left), Cast(I64, it.operand.right))
            return Binary(it.operand.op, *parts)
        return None

    wrong = replace(lifted, body=rewrite_region(lifted.body, widen))  # type: ignore[arg-type]
    found = check(module, original, wrong)
    assert found.status == "failed" and "wide integers" in found.difference
    assert check(module, original, lifted).structures == ("permutation", "sorted", "small", "wide")


@pytest.mark.parametrize("name", ["product", "stencil"])
def test_a_lift_that_assumes_too_little_fails(name: str) -> None:
    """Without `assume(gridDim.x * blockDim.x >= n)`, a small grid would do less than the lift."""
    original, good = pair(name)
    assumptions = [s for s in good.body if isinstance(s, Assume)]
    assert assumptions
    for left_out in assumptions:
        weaker = replace(good, body=tuple(s for s in good.body if s is not left_out))
        found = check(MODULE, original, weaker)
        assert found.status == "failed", left_out


FROM_FIRST = """
@tile_kernel(level="thread")
def fill(n: i32, first: i32, a: Ptr[i32]):
    i: i32 = i32(blockIdx.x * blockDim.x + threadIdx.x)
    if i >= first and i < n:
        a[i] = i
"""


def test_a_lift_that_is_wrong_for_negative_parameters_fails() -> None:
    """No thread has a negative index: `range(first, n)` needs `first >= 0`."""
    module = parse_module(FROM_FIRST)
    original = module.functions[0]
    lifted = lift(module, original).function
    assert lifted is not None and check(module, original, lifted).status == "checked"
    kept = [s for s in lifted.body if not (isinstance(s, Assume) and Var("first", I32) in walk(s.condition))]
    assert len(kept) == len(lifted.body) - 1
    assert check(module, original, replace(lifted, body=tuple(kept))).status == "failed"


FIXED = parse_module(
    '''
@tile_kernel(level="thread")
def fixed(n: i32, x: Ptr[f32], y: Ptr[f32]):
    i: i32 = i32(blockIdx.x * 32 + threadIdx.x)
    if i < n:
        y[i] = 2.0 * x[i]
'''
)


def test_block_sizes_that_the_source_fixes_are_used() -> None:
    """In several blocks, too: a lift that mistakes their distance is wrong from the second one on."""
    original = FIXED.kernels[0]
    lifted = lift(FIXED, original).function
    assert lifted is not None
    result = check(FIXED, original, lifted)
    assert result.status == "checked" and any("3x1x1 blocks of 32x1x1" in it for it in result.sizes), result

    def shorter(it: Node) -> Node | None:
        return with_fields(it, stop=Const(32, I32)) if isinstance(it, For) else None

    wrong = replace(lifted, body=rewrite_region(lifted.body, shorter))  # type: ignore[arg-type]
    assert check(FIXED, original, wrong).status == "failed"


def test_sizes_at_which_nothing_happens_show_nothing() -> None:
    """A lift that assumes `n <= 0` agrees wherever it may run."""
    original = FIXED.kernels[0]
    lifted = lift(FIXED, original).function
    assert lifted is not None
    nothing = Assume(Compare(CompareOp.LE, Var("n", I32), Const(0, I32)))
    result = check(FIXED, original, replace(lifted, body=(nothing, *lifted.body)))
    assert (result.status, result.reason) == ("unchecked", "no size that was tried changes memory")
