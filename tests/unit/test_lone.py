"""Launches for kernels that no program launches: what the search finds, and when it gives up."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from tmigrate.planning import KernelPlan
from tmigrate.settings import KernelSettings
from tmigrate.tilelang.ir.module import Module
from tmigrate.tilelang.text.parser import parse_module
from tmigrate.verification.harness import make_harness, write_launches
from tmigrate.verification.launch_sites import block_sizes, has_main
from tmigrate.verification.lone import Found, find_launches
from tmigrate.verification.mangling import demangle, parameter_types, source_name
from tmigrate.verification.probing import Prepared, Probe

INDEX = "    i: i32 = i32(blockIdx.x * blockDim.x + threadIdx.x)\n"


def kernel(parameters: str, body: str) -> Module:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return parse_module(
        f'@tile_kernel(level="thread", symbol="k")\ndef k({parameters}):\n{INDEX}{lines}', "m"
    )


def search(module: Module, settings: KernelSettings | None = None) -> Found:
    return find_launches(module, module.kernels[0], settings=settings)


def reached(module: Module, launches: tuple[Prepared, ...]) -> tuple[set[int], int]:
    probe = Probe(module, module.kernels[0])
    covered: set[int] = set()
    for launch in launches:
        covered |= probe.run(launch.case).covered
    return covered, probe.points


SAXPY = kernel("n: i32, a: f32, x: Ptr[f32], y: Ptr[f32]", "if i < n:\n    y[i] = a * x[i] + y[i]")


def test_a_guarded_kernel_gets_ragged_empty_small_and_special_launches() -> None:
    launches = search(SAXPY).launches
    first = launches[0].case
    n = int(first.scalars["n"])
    threads = first.grid[0] * first.block[0]
    assert first.grid[0] > 1 and threads - first.block[0] < n < threads and n % 2 == 1
    assert [len(b) for b in launches[0].buffers] == [4 * n, 4 * n]  # what the guard lets through, no more
    sizes = {int(it.case.scalars["n"]) for it in launches}
    assert 0 in sizes and any(0 < s < first.block[0] for s in sizes)
    special = next(it for it in launches if it.case.floats == "special")
    values = struct.unpack(f"{n}f", special.buffers[0])
    assert any(v != v for v in values) and float("inf") in values and any(0 < abs(v) < 1e-38 for v in values)


def test_the_search_is_deterministic() -> None:
    assert search(SAXPY) == search(SAXPY)


def test_a_configuration_is_repeated_three_times_at_most() -> None:
    """Replay compares the first three launches of a configuration: a fourth would be left out."""
    counts: dict[object, int] = {}
    for launch in search(SAXPY).launches:
        key = (launch.case.grid, launch.case.block, launch.case.shared)
        counts[key] = counts.get(key, 0) + 1
    assert max(counts.values()) <= 3


def test_branches_on_constants_are_reached() -> None:
    module = kernel(
        "n: i32, mode: i32, x: Ptr[f32]",
        "if i < n:\n    if mode == 77:\n        x[i] = 1.0\n    if mode == 12 and n > 3:\n        x[i] = 2.0",
    )
    covered, points = reached(module, search(module).launches)
    assert len(covered) == points


def test_indices_in_memory_are_valid_and_bound_what_they_index() -> None:
    module = kernel("n: i32, at: Ptr[i32], x: Ptr[f32], y: Ptr[f32]", "if i < n:\n    y[i] = x[at[i]]")
    for launch in search(module).launches:
        table = struct.unpack(f"{len(launch.buffers[0]) // 4}i", launch.buffers[0])
        assert all(0 <= index < len(launch.buffers[1]) // 4 for index in table)


def test_a_scatter_gets_indices_that_do_not_meet() -> None:
    module = kernel("n: i32, at: Ptr[i32], x: Ptr[f32], y: Ptr[f32]", "if i < n:\n    y[at[i]] = x[i]")
    first = search(module).launches[0]
    table = struct.unpack(f"{len(first.buffers[0]) // 4}i", first.buffers[0])
    assert len(set(table)) == len(table) > 64


def test_blocks_fit_shared_arrays() -> None:
    text = """
@tile_kernel(level="thread", symbol="k")
def k(n: i32, x: Ptr[f32], y: Ptr[f32]):
    tile = shared(f32, 12, 13)
    i: i32 = i32(blockIdx.x * blockDim.x + threadIdx.x)
    tile[i32(threadIdx.y), i32(threadIdx.x)] = x[i]
    syncthreads()
    if i < n and threadIdx.y == 0:
        y[i] = tile[11 - i32(threadIdx.y), 11 - i32(threadIdx.x)]
"""
    module = parse_module(text, "m")
    blocks = [it.case.block for it in search(module).launches]
    assert blocks and all(x <= 13 and y == 12 for x, y, _ in blocks)


def test_blocks_are_as_far_apart_as_the_source_has_them() -> None:
    """In wider blocks two threads would store to one place: a race, which the original is not blamed for."""
    fixed = parse_module(
        '@tile_kernel(level="thread", symbol="k")\ndef k(n: i32, y: Ptr[f32]):\n'
        "    i: i32 = i32(blockIdx.x * 48 + threadIdx.x)\n    if i < n:\n        y[i] = 1.0\n",
        "m",
    )
    widths = [it.case.block[0] for it in search(fixed).launches]
    assert widths[0] == 48 and max(widths) == 48 and min(widths) < 48


def test_struct_members_are_filled() -> None:
    text = """
@tile_struct
class Config:
    width: i32
    data: Ptr[f32]


@tile_kernel(level="thread", symbol="k")
def k(c: Config):
    i: i32 = i32(blockIdx.x * blockDim.x + threadIdx.x)
    if i < c.width:
        c.data[i] = 2.0
"""
    first = search(parse_module(text, "m")).launches[0]
    assert first.pointers == ((0, 8, 0),)
    assert struct.unpack("<iiq", first.arguments[0]) == (first.case.scalars["c.width"], 0, 0)
    assert len(first.buffers[0]) == 4 * int(first.case.scalars["c.width"])


@pytest.mark.parametrize(
    ("module", "words"),
    [
        (kernel("x: Ptr[f32]", "x[i - 4] = 1.0"), "bounds: 4 bytes at -16 of x"),
        (kernel("x: Ptr[f32]", "x[i * 1000000] = 1.0"), "no size given bounds its index"),
        (kernel("n: i32, x: Ptr[Ptr[f32]]", "if i < n:\n    x[i][0] = 1.0"), "memory that holds pointers"),
    ],
)
def test_what_cannot_be_decided_is_said(module: Module, words: str) -> None:
    found = search(module)
    assert found.launches == ()
    assert words in found.reason


def test_complete_settings_replace_the_search() -> None:
    module = kernel("at: Ptr[i32], x: Ptr[f32], y: Ptr[f32]", "y[i] = x[at[i] - 100]")
    settings = KernelSettings(
        (2, 1, 1), (32, 1, 1), None, {"at": (64,), "x": (50,), "y": (64, 80)}, {"at": (100, 149)}
    )
    launches = search(module, settings).launches
    assert {tuple(map(len, it.buffers)) for it in launches} == {(256, 200, 256), (256, 200, 320)}
    assert {(it.case.grid, it.case.block) for it in launches} == {((2, 1, 1), (32, 1, 1))}
    for launch in launches:
        assert all(100 <= v <= 149 for v in struct.unpack("64i", launch.buffers[0]))


def test_partial_settings_bound_the_search() -> None:
    settings = KernelSettings(block=(96, 1, 1), sizes={"n": (200,)})
    cases = [it.case for it in search(SAXPY, settings).launches]
    assert {c.block for c in cases} == {(96, 1, 1)} and {c.scalars["n"] for c in cases} == {200}


def test_settings_name_parameters_as_the_source_does() -> None:
    module = kernel("n: i32, sum_: Ptr[f32]", "if i < n:\n    sum_[i] = 1.0")
    settings = KernelSettings((1, 1, 1), (32, 1, 1), None, {"n": (20,), "sum": (40,)})
    assert [len(b) for b in search(module, settings).launches[0].buffers] == [160]
    wrong = search(module, KernelSettings(sizes={"total": (40,)}))
    assert wrong.launches == () and "names total" in wrong.reason


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("int main() {}", True),
        ("auto main(int c, char **v) -> int {}", True),
        ('// int main()\n/* int main() */ const char *s = "int main()";', False),
        ("int domain(int x); struct S { int x; } main_loop;", False),
    ],
)
def test_main_is_found_outside_comments_and_strings(text: str, expected: bool) -> None:
    assert has_main(text) is expected


def test_block_sizes_come_from_launch_sites() -> None:
    text = """
#define TILE 16
void f() {
    const int threads = 96;
    k<<<(n + 127) / 128, 128>>>(x); k<<<g(1, 2), threads>>>(x);
    dim3 block(TILE, TILE * 2); k<float><<<grid, block>>>(x);
    // k<<<1, 7>>>(x);
    k<<<1, n>>>(x); other<<<1, 5>>>(x);
}
"""
    assert block_sizes(text, "ns::k") == ((128, 1, 1), (96, 1, 1), (16, 32, 1))


def test_names_of_instances() -> None:
    if demangle("_Z1kv") is None:
        pytest.skip("nothing demangles here")
    assert source_name("_Z5scaleIfLi4EEvPT_i", "scale") == "scale<float, 4>"
    assert source_name("_ZN12_GLOBAL__N_14blurEPKf", "blur") == "blur"
    assert source_name("plain", "plain") == "plain"
    assert parameter_types("_Z1kPfi") == "(float*, int)"


def test_the_harness_includes_the_source_and_renames_its_main(tmp_path: Path) -> None:
    source = tmp_path / "a.cu"
    plans = [KernelPlan(n, s, None, None, definition="k") for n, s in (("k", "_Z1kPf"), ("k_2", "_Z1kPi"))]
    made = make_harness(source, plans, (), has_main=True)
    assert made.kernels == ("k", "k_2")
    assert f'#define main tm_original_main\n#include "{source.resolve()}"\n#undef main' in made.text
    assert "static_cast<void (*)(int*)>(&::k)" in made.text  # overloads are told apart


def test_launch_files_name_kernels_by_number(tmp_path: Path) -> None:
    launch = search(SAXPY).launches[0]
    path = tmp_path / "launches"
    write_launches(path, [("k", launch)], ["other", "k"], [])
    words = struct.unpack_from("<9Q", path.read_bytes())
    assert words[:2] == (1, 1) and words[2:8] == (*launch.case.grid, *launch.case.block)
