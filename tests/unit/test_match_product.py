"""Which loop nests are matrix products: every order and transposition, and near misses that are not."""

from __future__ import annotations

from itertools import permutations

import pytest

from tmigrate.tilelang.ir.verify import verify
from tmigrate.tilelang.passes.match_product import Product, match_product
from tmigrate.tilelang.text.expressions import print_expr
from tmigrate.tilelang.text.parser import parse_module

HEAD = """from tmigrate.tilelang import *

M, N, K = dims("M N K")


@tile_kernel
def f(A: Tensor[T, M, K], B: Tensor[T, K, N], C: Tensor[T, M, N], s: T):
"""


def match(body: str, element: str = "f32", head: str = HEAD) -> Product | None:
    module = parse_module(head.replace("[T", f"[{element}").replace("s: T", f"s: {element}") + body)
    verify(module)
    return match_product(module.functions[0])


def nest(order: str, statement: str, kind: str = "range") -> str:
    extents = {"i": "M", "j": "N", "k": "K"}
    lines = []
    for depth, name in enumerate(order, 1):
        loop = (
            f"range({extents[name]})"
            if name == "k" or kind == "range"
            else f"parallel(range({extents[name]}))"
        )
        lines.append(f"{'    ' * depth}for {name} in {loop}:")
    return "\n".join([*lines, f"{'    ' * (len(order) + 1)}{statement}", ""])


@pytest.mark.parametrize("order", ["".join(p) for p in permutations("ijk")])
@pytest.mark.parametrize("a", ["A[i, k]", "A[k, i]"])
@pytest.mark.parametrize("b", ["B[k, j]", "B[j, k]"])
def test_all_orders_and_transpositions_in_place(order: str, a: str, b: str) -> None:
    found = match(nest(order, f"C[i, j] += {a} * {b}"))
    assert found is not None and found.adds
    assert (found.a.name, found.a.transposed) == ("A", a == "A[k, i]")
    assert (found.b.name, found.b.transposed) == ("B", b == "B[j, k]")
    assert [print_expr(e) for e in (found.m, found.n, found.k)] == ["M", "N", "K"]


K = "            for k in range(K):\n                "
CLEAR = nest("ij", "C[i, j] = 0.0")
RIGHT = {
    "cleared before": CLEAR + nest("kij", "C[i, j] += A[i, k] * B[k, j]"),
    "cleared inside": nest("ij", f"C[i, j] = 0.0\n{K}C[i, j] += A[i, k] * B[k, j]"),
    "scalar": nest("ji", f"acc = 0.0\n{K}acc += B[k, j] * A[i, k]\n            C[i, j] = acc"),
    "fold": nest("ij", "C[i, j] = sum(A[i, k] * B[k, j] for k in range(K))"),
    "parallel": nest("ij", "C[i, j] = sum(A[i, k] * B[k, j] for k in range(K))", "parallel"),
    "sum on the left": nest("ij", f"acc = 0.0\n{K}acc = A[i, k] * B[k, j] + acc\n            C[i, j] = acc"),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_other_forms(name: str) -> None:
    for element in ("f32", "f64"):
        found = match(RIGHT[name], element)
        assert found is not None and not found.adds and found.c == "C"


def test_an_extent_may_be_a_part() -> None:
    found = match(nest("ij", "C[i, j] = sum(A[i, k] * B[k, j] for k in range(A.shape[1]))"))
    assert found is not None and print_expr(found.k) == "A.shape[1]"


MISSES = {
    "epilogue": nest("ij", "C[i, j] = s * sum(A[i, k] * B[k, j] for k in range(K))"),
    "start": nest("ij", "C[i, j] = sum(A[i, k] * B[k, j] for k in range(1, K))"),
    "maximum": nest("ij", "C[i, j] = max(A[i, k] * B[k, j] for k in range(K))"),
    "sum of factors": nest("ij", "C[i, j] = sum(A[i, k] + B[k, j] for k in range(K))"),
    "shifted index": nest("ij", "C[i, j] = sum(A[i, k + 0] * B[k, j] for k in range(K))"),
    "one operand squared": nest("ij", "C[i, j] = sum(A[i, k] * A[i, k] for k in range(K))"),
    "wrong pair": nest("ij", "C[i, j] = sum(A[i, k] * B[i, k] for k in range(K))"),
    "reads the result": nest("ij", "C[i, j] = sum(C[i, k] * B[k, j] for k in range(K))"),
    "subtracts": nest("ijk", "C[i, j] = C[i, j] - A[i, k] * B[k, j]"),
    "overwrites": nest("ijk", "C[i, j] = A[i, k] * B[k, j]"),
    "guarded": nest("ijk", "if i <= j:\n                    C[i, j] += A[i, k] * B[k, j]"),
    "triangular": nest("ij", "C[i, j] = sum(A[i, k] * B[k, j] for k in range(i))"),
    "starts at one": RIGHT["scalar"].replace("acc = 0.0", "acc = 1.0"),
    "stores elsewhere": RIGHT["scalar"].replace("C[i, j] = acc", "C[0, j] = acc"),
    "two stores": RIGHT["fold"] + "            C[i, j] = C[i, j]\n",
    "clears a part": CLEAR.replace("range(N)", "range(M)") + nest("ijk", "C[i, j] += A[i, k] * B[k, j]"),
    "clears another": CLEAR.replace("C[i, j]", "A[i, j]") + nest("ijk", "C[i, j] += A[i, k] * B[k, j]"),
    "parallel sum": nest("ijk", "C[i, j] += A[i, k] * B[k, j]").replace("range(K)", "parallel(range(K))"),
    "step": nest("ijk", "C[i, j] += A[i, k] * B[k, j]").replace("range(K)", "range(0, K, 2)"),
    "three factors": nest("ijk", "C[i, j] += A[i, k] * B[k, j] * s"),
    "scalar kept": "    acc = 0.0\n" + nest("ij", f"{K[12:]}acc += A[i, k] * B[k, j]\n{K[:12]}C[i, j] = acc"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISSES)
def test_near_misses_are_not_recognised(name: str) -> None:
    assert match(MISSES[name]) is None


def test_integers_are_not_recognised() -> None:
    assert match(nest("ijk", "C[i, j] += A[i, k] * B[k, j]"), "i32") is None
