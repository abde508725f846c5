"""The kernels of string_search.cu, each at the highest level shown equivalent.  Written by tmigrate."""

from __future__ import annotations

from tmigrate.tilelang import (
    Ptr,
    address,
    atomic_add,
    atomic_max,
    atomic_min,
    b1,
    blockDim,
    blockIdx,
    constant,
    i8,
    i32,
    threadIdx,
    tile_function,
    tile_kernel,
    tile_struct,
    u32,
)

__source__ = "string_search.cu"


@tile_struct
class SearchResult:
    count: u32
    first: i32
    last: i32


d_pattern = constant(i8, 32, symbol="d_pattern")  # string_search.cu:20


@tile_function(level="thread")
def lower(c: i8) -> i8:  # string_search.cu:28
    return i8(i32(c) - 65 + 97) if i32(c) >= 65 and i32(c) <= 90 else c  # string_search.cu:29


@tile_kernel(level="thread", symbol="_Z6searchPKciiPcP12SearchResult")
def search(  # string_search.cu:33
    text: Ptr[i8],
    text_length: i32,
    pattern_length: i32,
    marks: Ptr[i8],
    result: Ptr[SearchResult],
):
    start: i32 = i32(blockIdx.x * blockDim.x + threadIdx.x)  # string_search.cu:35
    if start >= text_length:  # string_search.cu:36
        return
    found: b1 = False  # string_search.cu:38
    if start + pattern_length <= text_length:  # string_search.cu:39
        k: i32 = 0  # string_search.cu:40
        while k < pattern_length and i32(lower(text[start + k])) == i32(d_pattern[k]):  # string_search.cu:41
            k += 1  # string_search.cu:42
        found = k == pattern_length  # string_search.cu:44
    marks[start] = 94 if found else 46  # string_search.cu:47
    if found:  # string_search.cu:48
        atomic_add(address(result[0].count), 1)  # string_search.cu:49
        atomic_min(address(result[0].first), start)  # string_search.cu:50
        atomic_max(address(result[0].last), start)  # string_search.cu:51
