"""A host program around kernels that no program launches, and its replay.

The program includes the user's file and starts kernels as a file of launches says, so that it is compiled
once for any number of launches.  The file holds 64-bit little-endian words and counted bytes::

    launches
    per launch: kernel, grid (3), block (3), shared bytes
                buffers:   count, then (size, bytes) each
                arguments: count, then (size, bytes) each
                pointers:  count, then (argument, byte offset, buffer) each
                variables: count, then (variable, size, bytes) each
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tmigrate.planning import KernelPlan
from tmigrate.tilelang.ir.module import GlobalVariable
from tmigrate.verification.mangling import parameter_types, source_name
from tmigrate.verification.probing import Prepared

_PROGRAM = r"""
namespace tm_lone {

/* The file stands in memory: replay forks, and a child would move a shared file's position. */
struct tm_reader {
    std::vector<unsigned char> data;
    size_t at = 0;
    void need(size_t bytes) {
        if (data.size() - at < bytes) {
            fprintf(stderr, "the file of launches ends early\n");
            exit(3);
        }
    }
    unsigned long long word() {
        need(8);
        unsigned long long value = 0;
        for (int i = 7; i >= 0; i--) value = value << 8 | data[at + i];
        at += 8;
        return value;
    }
    std::vector<unsigned char> bytes() {
        size_t count = (size_t)word();
        need(count);
        std::vector<unsigned char> found(data.begin() + at, data.begin() + at + count);
        at += count;
        return found;
    }
};

struct tm_launch {
    size_t kernel;
    dim3 grid, block;
    size_t shared;
    std::vector<std::vector<unsigned char>> arguments;
};

template <class tm_type> tm_type tm_argument(const tm_launch &it, size_t k) {
    alignas(tm_type) unsigned char raw[sizeof(tm_type)];
    if (k >= it.arguments.size() || it.arguments[k].size() != sizeof(tm_type)) {
        fprintf(stderr, "argument %zu of kernel %zu has another size\n", k, it.kernel);
        exit(3);
    }
    memcpy(raw, it.arguments[k].data(), sizeof(tm_type));
    return *reinterpret_cast<tm_type *>(raw);
}

template <class... tm_types, size_t... tm_k>
void tm_start(void (*kernel)(tm_types...), const tm_launch &it, std::index_sequence<tm_k...>) {
    kernel<<<it.grid, it.block, it.shared>>>(tm_argument<tm_types>(it, tm_k)...);
}

template <class... tm_types> void tm_call(void (*kernel)(tm_types...), const tm_launch &it) {
    tm_start(kernel, it, std::make_index_sequence<sizeof...(tm_types)>());
}

template <class tm_type> void tm_set(tm_type &variable, const std::vector<unsigned char> &bytes) {
    if (std::is_const<typename std::remove_all_extents<tm_type>::type>::value) return;
    if (bytes.size() == sizeof(variable)) cudaMemcpyToSymbol(variable, bytes.data(), bytes.size());
}

static void tm_dispatch(const tm_launch &it) {
    switch (it.kernel) {
@KERNELS@
    default: fprintf(stderr, "there is no kernel %zu\n", it.kernel); exit(3);
    }
}

static void tm_variable(size_t number, const std::vector<unsigned char> &bytes) {
    switch (number) {
@VARIABLES@
    default: (void)bytes;
    }
}

static dim3 tm_size(tm_reader &in) {
    unsigned x = (unsigned)in.word(), y = (unsigned)in.word(), z = (unsigned)in.word();
    return dim3(x, y, z);
}

static void tm_run(tm_reader &in) {
    tm_launch it;
    it.kernel = (size_t)in.word();
    it.grid = tm_size(in);
    it.block = tm_size(in);
    it.shared = (size_t)in.word();
    std::vector<void *> buffers((size_t)in.word());
    for (size_t i = 0; i < buffers.size(); i++) {
        std::vector<unsigned char> bytes = in.bytes();
        if (cudaMalloc(&buffers[i], bytes.empty() ? 16 : bytes.size()) != cudaSuccess) exit(4);
        if (!bytes.empty()) cudaMemcpy(buffers[i], bytes.data(), bytes.size(), cudaMemcpyHostToDevice);
    }
    it.arguments.resize((size_t)in.word());
    for (size_t i = 0; i < it.arguments.size(); i++) it.arguments[i] = in.bytes();
    for (unsigned long long n = in.word(); n > 0; n--) {
        size_t argument = (size_t)in.word(), offset = (size_t)in.word(), buffer = (size_t)in.word();
        memcpy(&it.arguments[argument][offset], &buffers[buffer], sizeof(void *));
    }
    for (unsigned long long n = in.word(); n > 0; n--) {
        size_t number = (size_t)in.word();
        tm_variable(number, in.bytes());
    }
    tm_dispatch(it);
    cudaDeviceSynchronize();
    cudaGetLastError();
    for (size_t i = 0; i < buffers.size(); i++) cudaFree(buffers[i]);
}

}  // namespace tm_lone

int main(int argc, char **argv) {
    FILE *file = argc > 1 ? fopen(argv[1], "rb") : 0;
    if (!file) return 3;
    tm_lone::tm_reader in;
    unsigned char part[4096];
    for (size_t n; (n = fread(part, 1, sizeof part, file)) > 0;)
        in.data.insert(in.data.end(), part, part + n);
    fclose(file);
    for (unsigned long long n = in.word(); n > 0; n--) tm_lone::tm_run(in);
    return 0;
}
"""

_HEADERS = ("cuda_runtime.h", "cstdio", "cstdlib", "cstring", "type_traits", "utility", "vector")


@dataclass(frozen=True, slots=True)
class Harness:
    """A host program's text; `kernels` and `variables` (by IR name) say what its numbers mean.

    `unnamed` are kernels that C++ source cannot name.
    """

    text: str
    kernels: tuple[str, ...]
    variables: tuple[str, ...]
    unnamed: tuple[str, ...]


def make_harness(
    source: Path, kernels: Sequence[KernelPlan], variables: Iterable[GlobalVariable], *, has_main: bool
) -> Harness:
    """The program that launches `kernels` of `source`; its own `main` is renamed where it has one."""
    clashes = Counter(k.definition for k in kernels)
    calls: list[str] = []
    names: list[str] = []
    unnamed: list[str] = []
    for kernel in kernels:
        expression = _address(kernel, overloaded=clashes[kernel.definition] > 1)
        if expression is None:
            unnamed.append(kernel.name)
            continue
        calls.append(f"    case {len(names)}: tm_call({expression}, it); break;")
        names.append(kernel.name)
    settings: list[str] = []
    known: list[str] = []
    for variable in variables:
        name = source_name(variable.symbol, variable.symbol or variable.name)
        if name is not None:
            settings.append(f"    case {len(known)}: tm_set(::{name}, bytes); break;")
            known.append(variable.name)
    headers = "".join(f"#include <{name}>\n" for name in _HEADERS)
    program = _PROGRAM.replace("@KERNELS@", "\n".join(calls)).replace("@VARIABLES@", "\n".join(settings))
    text = headers + including(source, has_main) + program
    return Harness(text, tuple(names), tuple(known), tuple(unnamed))


def including(source: Path, has_main: bool = True) -> str:
    """The text that includes `source`, with its `main` renamed where it has one."""
    path = str(source.resolve()).replace("\\", "\\\\").replace('"', '\\"')
    include = f'#include "{path}"\n'
    return f"#define main tm_original_main\n{include}#undef main\n" if has_main else include


def _address(kernel: KernelPlan, overloaded: bool) -> str | None:
    """An expression for the kernel's address; a cast chooses between overloads."""
    name = source_name(kernel.symbol, kernel.definition)
    if name is None:
        return None
    types = parameter_types(kernel.symbol)
    if overloaded and types is not None and "<" not in name:
        return f"static_cast<void (*){types}>(&::{name})"
    return f"&::{name}"


def write_launches(
    path: Path, launches: Sequence[tuple[str, Prepared]], kernels: Sequence[str], variables: Sequence[str]
) -> None:
    """Write the file of launches: (kernel name, launch) in order."""
    data = bytearray(_words(len(launches)))
    for name, launch in launches:
        case = launch.case
        data += _words(kernels.index(name), *case.grid, *case.block, case.shared)
        for rows in (launch.buffers, launch.arguments):
            data += _words(len(rows))
            for row in rows:
                data += _words(len(row)) + row
        data += _words(len(launch.pointers))
        for pointer in launch.pointers:
            data += _words(*pointer)
        known = _known(launch.variables, variables)
        data += _words(len(known))
        for number, row in known:
            data += _words(number, len(row)) + row
    path.write_bytes(data)


def _known(values: Mapping[str, bytes], variables: Sequence[str]) -> list[tuple[int, bytes]]:
    return [(variables.index(name), row) for name, row in values.items() if name in variables]


def _words(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}Q", *values)
