"""Each rung of the ladder on a small kernel: thread-level text in, loop-level text out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tmigrate.converters.lifting.bounded import check
from tmigrate.converters.lifting.lift import LiftResult, lift
from tmigrate.tilelang.ir.module import Level, Module
from tmigrate.tilelang.ir.verify import verify
from tmigrate.tilelang.text.parser import parse_module
from tmigrate.tilelang.text.printer import print_module, print_region

INDEX_X = "i32(blockIdx.x * blockDim.x + threadIdx.x)"
INDEX_Y = "i32(blockIdx.y * blockDim.y + threadIdx.y)"
ONE_YZ = "assume(gridDim.y * blockDim.y == 1)\nassume(gridDim.z * blockDim.z == 1)\n"
ONE_Z = "assume(gridDim.z * blockDim.z == 1)\n"


def module_of(parameters: str, body: str, constants: str = "") -> Module:
    """A module with one thread-level kernel."""
    lines = "\n".join("    " + line for line in body.strip("\n").splitlines())
    return parse_module(f'{constants}\n@tile_kernel(level="thread")\ndef lone({parameters}):\n{lines}\n')


def lifted(module: Module) -> tuple[LiftResult, str]:
    """The result and the lifted body's text; the lift must also pass its bounded check."""
    kernel = module.kernels[0]
    result = lift(module, kernel)
    assert result.function is not None, result.blocked
    assert result.function.level is Level.LOOP
    bounded = check(module, kernel, result.function)
    assert bounded.status == "checked", bounded
    lifted_module = replace(
        module, functions=tuple(result.function if f is kernel else f for f in module.functions)
    )
    verify(lifted_module)
    assert parse_module(print_module(lifted_module), module.name) == lifted_module
    return result, print_region(result.function.body)


def assert_lifts(module: Module, expected: str) -> LiftResult:
    result, text = lifted(module)
    assert text.strip() == expected.strip()
    return result


def test_a_narrow_index_stays_narrow() -> None:
    """From 128 on, i8(i) is another number than i: further than the bounded check goes."""
    module = module_of("n: i32, k: Ptr[i32]", f"i: i32 = {INDEX_X}\nif i < n:\n    k[i] = i32(i8(i)) + 5")
    assert "k[i] = i32(i8(i)) + 5" in lifted(module)[1]


def test_saxpy() -> None:
    module = module_of(
        "n: i32, a: f32, x: Ptr[f32], y: Ptr[f32]",
        f"""
i: i32 = {INDEX_X}
if i < n:
    y[i] = a * x[i] + y[i]
""",
    )
    result = assert_lifts(
        module,
        f"""
assume(i32(gridDim.x * blockDim.x) >= n)
{ONE_YZ}for i in parallel(range(n)):
    y[i] = a * x[i] + y[i]
""",
    )
    assert "index fusion" in result.rules
    assert result.disjoint == (("x", "y"),)
    assert result.function is not None
    assert [str(p.type) for p in result.function.parameters] == [
        "i32", "f32", "Tensor[f32, n]", "Tensor[f32, n]"
    ]  # fmt: skip


def test_matrix_product_with_unused_parameters() -> None:
    module = module_of(
        "ni: i32, alpha: f32, beta: f32, a: Ptr[f32], b: Ptr[f32], c: Ptr[f32]",
        f"""
j: i32 = {INDEX_X}
i: i32 = {INDEX_Y}
if i < NI and j < NJ:
    c[i * NJ + j] = c[i * NJ + j] * beta
    k: i32
    k = 0
    while k < NK:
        c[i * NJ + j] = c[i * NJ + j] + alpha * a[i * NK + k] * b[k * NJ + j]
        with step:
            k = k + 1
""",
        "NI: i32 = 30\nNJ: i32 = 40\nNK: i32 = 50",
    )
    result = assert_lifts(
        module,
        f"""
assume(i32(gridDim.x * blockDim.x) >= NJ)
assume(i32(gridDim.y * blockDim.y) >= NI)
{ONE_Z}for i in parallel(range(NI)):
    for j in parallel(range(NJ)):
        c[i, j] = c[i, j] * beta + sum(alpha * a[i, k] * b[k, j] for k in range(NK))
""",
    )
    assert result.function is not None
    shapes = {p.name: str(p.type) for p in result.function.parameters}
    assert shapes["a"] == "Tensor[f32, NI, NK]" and shapes["b"] == "Tensor[f32, NK, NJ]"
    assert list(shapes) == ["ni", "alpha", "beta", "a", "b", "c"]


def test_early_return_and_lower_bound() -> None:
    module = module_of(
        "n: i32, x: Ptr[f32], y: Ptr[f32]",
        f"""
i: i32 = {INDEX_X}
if i >= n - 1 or i < 1:
    return
y[i] = x[i - 1] + x[i + 1]
""",
    )
    assert_lifts(
        module,
        f"""
assume(i32(gridDim.x * blockDim.x) >= n - 1)
{ONE_YZ}for i in parallel(range(1, n - 1)):
    y[i] = x[i - 1] + x[i + 1]
""",
    )


def test_grid_stride_loop_needs_no_number_of_threads() -> None:
    module = module_of(
        "n: i32, x: Ptr[f32], y: Ptr[f32]",
        f"""
i: i32 = {INDEX_X}
while i < n:
    y[i] = x[i]
    with step:
        i = i + i32(gridDim.x * blockDim.x)
""",
    )
    result = assert_lifts(module, f"{ONE_YZ}for i in parallel(range(n)):\n    y[i] = x[i]\n")
    assert result.rules[0] == "grid-stride loop"


def test_three_axes_and_a_constant_block_size() -> None:
    module = module_of(
        "nx: i32, ny: i32, nz: i32, y: Ptr[f32]",
        f"""
a: i32 = i32(blockIdx.x * 4 + threadIdx.x)
b: i32 = {INDEX_Y}
c: i32 = i32(blockIdx.z * blockDim.z + threadIdx.z)
if a < nx and b < ny and c <= nz:
    y[(c * ny + b) * nx + a] = 1.0
""",
    )
    _, text = lifted(module)
    assert "assume(blockDim.x == 4)" in text
    assert "for c in parallel(range(nz + 1)):" in text
    assert "y[c, b, a] = 1.0" in text


def test_single_thread_kernel_has_no_parallel_loop() -> None:
    module = module_of(
        "n: i32, x: Ptr[f32], y: Ptr[f32]",
        f"""
t: i32 = {INDEX_X}
if t == 0:
    total: f32 = 0.0
    for i in range(n):
        total = total + x[i] * x[i]
    y[0] = sqrt(total)
""",
    )
    assert_lifts(module, f"{ONE_YZ}y[0] = sqrt(sum(x[i] * x[i] for i in range(n)))\n")


def test_triangular_loop_that_writes_both_halves() -> None:
    module = module_of(
        "m: i32, s: Ptr[f32]",
        f"""
i: i32 = {INDEX_X}
if i < m:
    for j in range(i, m):
        s[i * m + j] = 2.0
        s[j * m + i] = s[i * m + j]
""",
    )
    _, text = lifted(module)
    assert "for j in range(i, m):\n        s[i, j] = 2.0\n        s[j, i] = s[i, j]" in text


def test_scalar_parameter_as_index_becomes_an_assumption() -> None:
    module = module_of(
        "n: i32, a: Ptr[f32], k: i32",
        f"""
j: i32 = {INDEX_X}
if j > k and j < n:
    a[k * n + j] = a[k * n + j] / a[k * n + k]
""",
    )
    _, text = lifted(module)
    assert "assume(k >= 0)" in text
    assert "for j in parallel(range(k + 1, n)):\n    a[k, j] /= a[k, k]" in text


def test_index_with_carry_into_the_outer_dimension() -> None:
    module = module_of(
        "n: i32, x: Ptr[f32]",
        f"""
i: i32 = {INDEX_X}
if i < n:
    for k in range(n - 2):
        x[i * n + (n - k - 2)] = x[i * n + (n - 2 - k - 1)]
""",
    )
    _, text = lifted(module)
    assert "x[i, n - k - 2] = x[i, n - k - 3]" in text


def test_a_row_of_constant_length_is_walked_from_its_end() -> None:
    """Row `i + 1` and column `-k - 2` have the same address, and would assume that there is nothing to do."""
    module = module_of(
        "n: i32, x: Ptr[f32]",
        f"""
i: i32 = {INDEX_X}
if i < n:
    for k in range(n - 2):
        x[i * N + (N - k - 2)] = x[i * N + (N - 2 - k - 1)]
""",
        constants="N: i32 = 16\n",
    )
    _, text = lifted(module)
    assert "assume(n <= N)" in text
    assert "x[i, N - k - 2] = x[i, N - k - 3]" in text


def test_condition_at_the_access_proves_the_index() -> None:
    """`i - 1` is a row only where i != 0."""
    module = module_of(
        "n: i32, m: i32, x: Ptr[f32], y: Ptr[f32]",
        f"""
j: i32 = {INDEX_X}
i: i32 = {INDEX_Y}
if i < n and j < m:
    if i == 0:
        y[i * m + j] = 0.0
    else:
        y[i * m + j] = x[(i - 1) * m + j]
""",
    )
    _, text = lifted(module)
    assert "y[i, j] = x[i - 1, j]" in text
    assert "y[0, j] = 0.0" in text or "y[i, j] = 0.0" in text


def test_compressed_rows_keep_their_loads_as_bounds() -> None:
    module = module_of(
        "n: i32, rows: Ptr[i32], columns: Ptr[i32], values: Ptr[f32], x: Ptr[f32], y: Ptr[f32]",
        f"""
i: i32 = {INDEX_X}
if i < n:
    total: f32 = 0.0
    for k in range(rows[i], rows[i + 1]):
        total = total + values[k] * x[columns[k]]
    y[i] = total
""",
    )
    result, text = lifted(module)
    assert "y[i] = sum(values[k] * x[columns[k]] for k in range(rows[i], rows[i + 1]))" in text
    assert result.function is not None
    assert [d.name for d in result.function.dimensions] == ["columns_size", "values_size", "x_size"]


def test_two_reductions_in_one_loop_separate() -> None:
    module = module_of(
        "n: i32, a: Ptr[f32], x: Ptr[f32], p: Ptr[f32], q: Ptr[f32]",
        f"""
i: i32 = {INDEX_X}
if i < n:
    for j in range(n):
        p[i] = p[i] + a[i * n + j] * x[j]
        q[i] = q[i] - a[j * n + i] * x[j]
""",
    )
    _, text = lifted(module)
    assert "p[i] += sum(a[i, j] * x[j] for j in range(n))" in text
    assert "q[i] -= sum(a[j2, i] * x[j2] for j2 in range(n))" in text


def test_a_recurrence_stays_a_loop() -> None:
    """The second statement reads what the first accumulates: no reduction."""
    module = module_of(
        "n: i32, x: Ptr[f32], p: Ptr[f32], q: Ptr[f32]",
        f"""
i: i32 = {INDEX_X}
if i < n:
    for j in range(n):
        p[i] = p[i] + x[j]
        q[i] = q[i] + p[i]
""",
    )
    _, text = lifted(module)
    assert "sum(" not in text and "for j in range(n):" in text


def test_pointer_to_a_row_is_followed() -> None:
    module = module_of(
        "n: i32, m: i32, a: Ptr[f32], y: Ptr[f32]",
        f"""
i: i32 = {INDEX_X}
if i < n:
    row: Ptr[f32] = a + i * m
    total: f32 = 0.0
    for j in range(m):
        total = total + row[j]
    y[i] = total
""",
    )
    _, text = lifted(module)
    assert "y[i] = sum(a[i, j] for j in range(m))" in text


def test_remainder_and_clamp_prove_their_indices() -> None:
    """One index over both dimensions, taken apart by division; the neighbour is clamped to the row."""
    module = module_of(
        "n: i32, m: i32, x: Ptr[f32], y: Ptr[f32]",
        f"""
g: i32 = {INDEX_X}
if g < n * m and m > 0:
    i: i32 = truncdiv(g, m)
    j: i32 = truncrem(g, m)
    y[i * m + j] = x[i * m + min(j + 1, m - 1)]
""",
    )
    _, text = lifted(module)
    assert "y[truncdiv(g, m), truncrem(g, m)] = x[truncdiv(g, m), min(truncrem(g, m) + 1, m - 1)]" in text


def test_device_function_with_references_is_put_in_place() -> None:
    text = """
@tile_function(level="thread")
def wrap(k: Ptr[i32], n: i32) -> i32:
    if k[0] >= n:
        k[0] = k[0] - n
        return 1
    return 0

@tile_kernel(level="thread")
def rotate(n: i32, x: Ptr[f32], y: Ptr[f32]):
    i: i32 = i32(blockIdx.x * blockDim.x + threadIdx.x)
    if i < n:
        k: i32 = i + 2
        wrapped: i32 = wrap(address(k), n)
        y[i] = x[k] + f32(wrapped)
"""
    module = parse_module(text)
    result, body = lifted(module)
    assert "device functions in place" in result.rules
    assert "wrap(" not in body and "k -= n" in body


@pytest.mark.parametrize(
    ("code", "parameters", "body"),
    [
        ("TM3002", "n: i32, y: Ptr[f32]",
         "i: i32 = i32(blockIdx.x * 7 + threadIdx.x * 2)\nif i < n:\n    y[i] = 1.0"),
        ("TM3003", "n: i32, y: Ptr[f32]",
         f"i: i32 = {INDEX_X}\nfor k in range(n):\n    if y[k] < 0.0:\n        return\ny[i] = 1.0"),
        ("TM3005", "y: Ptr[f32]", f"i: i32 = {INDEX_X}\ny[i] = 1.0"),
        ("TM3006", "n: i32, m: i32, y: Ptr[f32], f: Ptr[i32]",
         f"i: i32 = {INDEX_X}\nif i < n:\n    y[i * m + f[i]] = 1.0"),
        ("TM3007", "n: i32, y: Ptr[f32]", f"i: i32 = {INDEX_X}\nif i > 0 and i < n:\n    y[i] = y[i - 1]"),
        ("TM3007", "n: i32, y: Ptr[f32]", f"i: i32 = {INDEX_X}\nif i < n:\n    y[0] = 1.0"),
        ("TM3007", "n: i32, x: Ptr[f32], y: Ptr[f32]",
         f"last: f32 = 0.0\ni: i32 = {INDEX_X}\nwhile i < n:\n    y[i] = last\n    last = x[i]\n"
         "    with step:\n        i = i + i32(gridDim.x * blockDim.x)"),
        ("TM3008", "y: Ptr[f32]", "s = shared(f32, 4)\nsyncthreads()\ny[0] = s[0]"),
        ("TM3009", "n: i32, h: Ptr[i32]", f"i: i32 = {INDEX_X}\nif i < n:\n    atomic_add(address(h[0]), 1)"),
    ],
)  # fmt: skip
def test_blocked_with_its_code(code: str, parameters: str, body: str) -> None:
    module = module_of(parameters, body)
    result = lift(module, module.kernels[0])
    assert result.function is None and result.blocked is not None
    assert result.blocked.code == code, result.blocked
