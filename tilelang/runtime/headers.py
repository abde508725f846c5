"""The C and C++ headers that libclang reads: its wheel has none, not even ``stddef.h``.

The system compiler's list of include folders serves where libclang parses what it leads to; else those of
the ``ziglang`` package, which bring a C++ library and a C library of their own.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterator
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from tmigrate.diagnostics import Diagnostic, ToolchainError
from tmigrate.tilelang.runtime.cache import cache_folder, content_key, write_atomically
from tmigrate.tilelang.runtime.compilers import Compiler, run_compiler, usable_pairs, zig_folder

CUDA_FLAGS = ("-x", "cuda", "-nocudainc", "-nocudalib", "--cuda-host-only", "-std=c++17")
"""How a CUDA file is parsed; the probe uses the same."""

_PROBED = "cstdio cstdlib cmath vector string iostream algorithm stdint.h math.h"
PROBE = "".join(f"#include <{name}>\n" for name in _PROBED.split())


def builtin_include_flags() -> list[str]:
    """The arguments that show libclang a complete set of C and C++ headers.

    They are ``-nostdinc -nostdinc++`` with ``-isystem`` folders, so that the answer does not depend on
    what libclang finds by itself; raises ToolchainError (TM5003) where no set parses cleanly.
    """
    return list(_flags(str(cache_folder())))


@lru_cache(maxsize=4)
def _flags(cache: str) -> tuple[str, ...]:
    tried: list[str] = []
    for origin, flags in header_sets():
        fault = _fault(flags)
        if not fault:
            return tuple(flags)
        tried.append(f"{origin}: {fault}")
    message = "no C and C++ headers that libclang can parse" + "".join(f"\n  {line}" for line in tried)
    raise ToolchainError(Diagnostic("TM5003", message, remedy='pip install "tmigrate[compiler]"'))


def header_sets() -> Iterator[tuple[str, list[str]]]:
    """Each set of headers on this machine: where it is from, and libclang's arguments for it."""
    zig = zig_folder()
    for pair in usable_pairs():
        if pair.cxx.kind == "zig":
            yield pair.cxx.version, _zig_flags(pair.cxx)
            continue
        folders = _search_list(pair.cxx)
        if zig is not None and pair.cxx.kind == "gcc":
            # gcc's own stddef.h serves clang, its immintrin.h does not: clang's builtin headers go first.
            yield f"{pair.cxx.version} with clang's builtin headers", _isystem([*_cxx_first(folders, zig)])
        yield pair.cxx.version, _isystem(folders)


def _isystem(folders: list[str]) -> list[str]:
    return ["-nostdinc", "-nostdinc++", *(word for folder in folders for word in ("-isystem", folder))]


def _search_list(compiler: Compiler) -> list[str]:
    """The folders that gcc or clang searches for ``#include <...>``, in order."""
    done = run_compiler(compiler, ["-E", "-v", "-x", "c++", "-"], standard_input="", timeout=30)
    _, _, rest = done.stderr.partition("#include <...> search starts here:")
    listed, _, _ = rest.partition("End of search list.")
    folders = [line.strip().removesuffix(" (framework directory)") for line in listed.splitlines()]
    return [str(Path(folder).resolve()) for folder in folders if folder and Path(folder).is_dir()]


def _cxx_first(folders: list[str], zig: Path) -> Iterator[str]:
    """``folders`` with clang's builtin headers before gcc's, and after the C++ library.

    The C++ library's ``<cstdlib>`` says ``#include_next <stdlib.h>``: the C folders must follow it.
    """
    builtin = str(zig / "lib" / "include")
    placed = False
    for folder in folders:
        if not placed and (Path(folder) / "stddef.h").exists() and (Path(folder) / "stdarg.h").exists():
            yield builtin
            placed = True
        yield folder


def _zig_flags(compiler: Compiler) -> list[str]:
    """The folders and definitions that ``zig c++`` hands to its own clang."""
    with tempfile.TemporaryDirectory(prefix="tmigrate-headers-") as folder:
        source = Path(folder) / "empty.cpp"
        source.write_text("")
        words = ["-O2", "-v", "-c", str(source), "-o", str(Path(folder) / "empty.o")]
        done = run_compiler(compiler, words, timeout=120)
    line = next((text for text in done.stderr.splitlines() if " -cc1 " in text), "")
    words = line.split()
    pairs = list(zip(words, words[1:], strict=False))
    folders = [value for option, value in pairs if option in ("-isystem", "-internal-isystem")]
    defines = [f"-D{value}" for option, value in pairs if option == "-D" and not value.startswith("__TIME")]
    return [*_isystem(folders), *defines]


def _fault(flags: list[str]) -> str:
    """What libclang cannot parse with these headers; empty where it parses all of the probe."""
    record = cache_folder("probes") / f"headers-{_probe_key(flags)}.json"
    try:
        if all(Path(header).exists() for header in json.loads(record.read_text())):
            return ""
    except (OSError, ValueError):
        pass
    fault, headers = _parse(flags)
    if not fault:
        write_atomically(record, json.dumps(headers).encode())
    return fault


def _probe_key(flags: list[str]) -> str:
    try:
        release = version("libclang")
    except PackageNotFoundError:
        release = "unknown"
    return content_key([PROBE, release, *CUDA_FLAGS, "--", *flags])


def _parse(flags: list[str]) -> tuple[str, list[str]]:
    from clang import cindex

    try:
        unit = cindex.Index.create().parse(
            "probe.cu", args=[*CUDA_FLAGS, *flags], unsaved_files=[("probe.cu", PROBE)]
        )
    except (cindex.TranslationUnitLoadError, cindex.LibclangError, subprocess.SubprocessError) as error:
        return str(error).splitlines()[0], []
    errors = [d.spelling for d in unit.diagnostics if d.severity >= cindex.Diagnostic.Error]
    headers = sorted({str(include.include) for include in unit.get_includes() if include.depth == 1})
    return (errors[0] if errors else ""), headers
