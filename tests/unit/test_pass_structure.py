"""Passes of the CPU lowering on small kernels: uniformity, inlining, waits, loop order, coverage."""

from __future__ import annotations

from dataclasses import replace

from tmigrate.tilelang.ir.expressions import Call
from tmigrate.tilelang.ir.module import Function, FunctionKind, Module
from tmigrate.tilelang.ir.node import walk
from tmigrate.tilelang.ir.statements import For, LoopKind, While
from tmigrate.tilelang.passes.coverage import PointKind, insert_coverage
from tmigrate.tilelang.passes.effects import is_order_sensitive, summarize
from tmigrate.tilelang.passes.inline import inline_block_functions
from tmigrate.tilelang.passes.loop_order import order_loops
from tmigrate.tilelang.passes.spin_waits import has_spin_wait
from tmigrate.tilelang.passes.structure import Structure
from tmigrate.tilelang.passes.threads_to_loops import threads_to_loops
from tmigrate.tilelang.passes.uniformity import Uniformity
from tmigrate.tilelang.text.parser import parse_module

HEAD = "from __future__ import annotations\n\nfrom tmigrate.tilelang import *\n\n\n"


def module_of(text: str) -> Module:
    return parse_module(HEAD + text, name="m")


def kernel(body: str, parameters: str = "n: i32, x: Ptr[i32]") -> Function:
    lines = "".join(f"    {line}\n" for line in body.strip("\n").split("\n"))
    found = module_of(f'@tile_kernel(level="thread")\ndef k({parameters}):\n{lines}').function("k")
    assert found is not None
    return found


def test_uniform_values_and_what_divergent_control_does_to_them() -> None:
    function = kernel("""
t: i32 = i32(threadIdx.x)
s: i32 = n // 2
loaded: i32 = x[0]
b: i32 = i32(blockIdx.x) + s
outside: i32 = 0
if t < s:
    outside = s
    inside: i32 = s
for i in range(0, s):
    if x[i] > 0:
        break
    after: i32 = i
    s2: i32 = 0
    outside = 1
""")
    divergent = Uniformity(function, Module("m", (function,))).divergent
    assert {"t", "loaded", "outside"} <= divergent
    assert not divergent & {"s", "b", "inside", "i", "after", "s2"}


def test_a_uniform_variable_that_threads_change_is_no_scalar() -> None:
    function = kernel("""
a: i32 = n // 2
b: i32 = 0
for i in range(0, n):
    b = b + 1
    x[i] = b
syncthreads()
c: i32 = 1
while c < n:
    c = c * 2
x[0] = a + b + c
""")
    module = Module("m", (function,))
    scalars = Structure(function, module, summarize(module)).scalars
    assert {"a", "c"} <= scalars and "b" not in scalars


def pieces(function: Function) -> int:
    lowered = threads_to_loops(function, Module("m", (function,)), summarize(Module("m", (function,))))
    return sum(
        1
        for it in walk(lowered.body)
        if isinstance(it, For) and it.kind is LoopKind.THREADS and it.var.name.startswith("thread_z")
    )


def test_uniform_loops_need_no_masks_and_divergent_ones_do() -> None:
    body = "for i in range(0, {}):\n    x[i32(threadIdx.x)] = i\n    syncthreads()"
    assert pieces(kernel(body.format("n"))) == 1
    assert pieces(kernel(body.format("x[0]"))) > 3


def test_a_kernel_without_barriers_is_one_piece() -> None:
    assert pieces(kernel("if i32(threadIdx.x) > n:\n    return\nx[i32(threadIdx.x)] = n")) == 1


def test_inlining_removes_block_wide_functions_and_keeps_one_shared_array() -> None:
    module = module_of("""
@tile_function(level="thread")
def total(v: i32) -> i32:
    s = shared(i32, 8)
    s[i32(threadIdx.x)] = v
    syncthreads()
    return s[0]


@tile_function(level="thread")
def plain(v: i32) -> i32:
    return v + 1


@tile_kernel(level="thread")
def k(x: Ptr[i32]):
    a: i32 = total(plain(1))
    syncthreads()
    b: i32 = total(a)
    x[0] = b
""")
    inlined = inline_block_functions(module, summarize(module))
    assert [f.name for f in inlined.functions] == ["plain", "k"]
    body = inlined.functions[1].body
    assert sum(1 for it in walk(body) if type(it).__name__ == "Allocate") == 1
    assert not any(isinstance(it, Call) and it.callee == "total" for it in walk(body))


def test_order_matters_for_float_sums_and_used_old_values_only() -> None:
    cases = {
        "atomic_add(x, 1)": False,
        "atomic_max(x, n)": False,
        "old: i32 = atomic_add(x, 1)": True,
        "atomic_exch(x, n)": True,
        'printf("%d", n)': True,
    }
    for text, sensitive in cases.items():
        function = kernel(text)
        assert is_order_sensitive(Module("m", (function,)), function) is sensitive, text
    floats = kernel("atomic_add(x, 1.0)", "x: Ptr[f32]")
    assert is_order_sensitive(Module("m", (floats,)), floats)


def test_loops_that_wait_are_told_from_loops_that_work() -> None:
    waits = ["while x[0] == 0:\n    threadfence()", "d: i32 = 0\nwhile d == 0:\n    d = x[n]"]
    works = [
        "i: i32 = 0\nwhile x[i] == 0:\n    i = i + 1",
        "while x[0] == 0:\n    x[0] = 1",
        "d: i32 = n\nwhile d != 0:\n    d = x[d]",
    ]
    assert all(has_spin_wait(kernel(text)) for text in waits)
    assert not any(has_spin_wait(kernel(text)) for text in works)


def loop_names(text: str) -> list[str]:
    module = module_of(text)
    function = module.function("k")
    assert function is not None
    ordered = order_loops(function, module)
    return [it.var.name for it in walk(ordered.body) if isinstance(it, For)]


NEST = """
@tile_kernel
def k(n: i32, a: Tensor[f32, n, n], b: Tensor[f32, n, n]):
    for x in parallel(range(n)):
        for y in parallel(range(n)):
            {}
"""


def test_the_loop_along_memory_becomes_innermost() -> None:
    assert loop_names(NEST.format("b[y, x] = a[y, x]")) == ["y", "x"]
    assert loop_names(NEST.format("b[x, y] = a[x, y + 1]")) == ["x", "y"]
    assert loop_names(NEST.format("b[x, y] = a[y, x]")) == ["y_tile", "x_tile", "x", "y"]


def test_dependent_bounds_keep_their_order() -> None:
    text = NEST.format("b[y, x] = a[y, x]").replace(
        "for y in parallel(range(n))", "for y in parallel(range(x))"
    )
    assert loop_names(text) == ["x", "y"]


def test_coverage_counts_every_outcome_once() -> None:
    function = kernel("""
if n > 0:
    x[0] = 1 if n > 5 else 2
for i in range(0, n):
    if x[i] == 3:
        break
while True:
    n = n - 1
    if n < 0:
        break
""")
    module, points = insert_coverage(Module("m", (replace(function, kind=FunctionKind.KERNEL),)))
    kinds = [p.kind for p in points["k"]]
    assert kinds.count(PointKind.THEN) == kinds.count(PointKind.ELSE) == 4
    assert kinds.count(PointKind.STORE) == 1
    assert kinds.count(PointKind.ENTERED) == 2 and kinds.count(PointKind.LEFT) == 1
    assert any(isinstance(it, While) for it in walk(module.functions[0].body))
