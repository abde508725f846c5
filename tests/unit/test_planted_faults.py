"""Kernels made wrong on purpose: each store, wherever the kernel has it."""

from __future__ import annotations

import pytest

from tmigrate.faults import VARIABLE, with_planted_faults
from tmigrate.tilelang.text.parser import parse_module
from tmigrate.tilelang.text.printer import print_module

HEAD = '''@tile_struct
class Pair:
    at: float2
    count: i32


@tile_function(level="thread")
def twice(x: i32) -> i32:
    return 2 * x


@tile_function(level="thread")
def put(p: Ptr[i32], x: i32):
    p[0] = x


@tile_kernel(level="thread")
def k(p: Ptr[i32], f: Ptr[f32], b: Ptr[b1], s: Ptr[Pair], n: i32):
'''


@pytest.mark.parametrize(
    ("line", "broken"),
    [
        ("p[n] = 3", "p[n] = 3 ^ 1"),
        ("f[n] = 3.0", "f[n] = 3.0 * 2.0 + 1.0"),
        ("p[n] = twice(n)", "p[n] = twice(n)\n    p[n] ^= 1"),
        ("put(p + n, 3)", "p[0] = x ^ 1"),  # the function that it calls
        ("atomic_add(address(p[n]), 3)", "atomic_add(address(p[n]), i32(3) ^ 1)"),
        ("b[n] = n > 3", "b[n] = not n > 3"),
        ("s[n] = Pair(float2(1.0, 2.0), 3)", "s[n].at.x = s[n].at.x * 2.0 + 1.0"),
        ("s[n].count = 3", "s[n].count = 3 ^ 1"),
    ],
)
def test_what_a_kernel_stores_is_wrong(monkeypatch: pytest.MonkeyPatch, line: str, broken: str) -> None:
    module = parse_module(f"{HEAD}    {line}\n")
    assert with_planted_faults(module) is module
    monkeypatch.setenv(VARIABLE, "1")
    text = print_module(with_planted_faults(module))
    assert broken in text, text
    assert ("p[0] = x ^ 1" in text) is line.startswith("put")
