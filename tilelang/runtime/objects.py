"""From C text to a shared object in the content-addressed cache."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from tmigrate.diagnostics import Diagnostic, ToolchainError
from tmigrate.tilelang.runtime.cache import cache_folder, cached, content_key, folder_key, trim
from tmigrate.tilelang.runtime.compilers import Compiler, find_compilers, run_compiler

ARITHMETIC_FLAGS = ("-fwrapv", "-ffp-contract=off", "-fno-builtin", "-fno-strict-aliasing")
"""What the original and the regenerated code share: one side without them differs in every third value."""

FAITHFUL_FLAGS = ("-O2", *ARITHMETIC_FLAGS)
"""For thread-level kernels, compared bit for bit with the original."""

LIFTED_FLAGS = ("-O3", "-march=native", *ARITHMETIC_FLAGS)
"""For lifted kernels."""

RUNTIME_HEADERS = Path(__file__).resolve().parent.parent / "targets" / "cpu" / "runtime"
"""The folder of ``tm_abi.h``; always on the include path."""

_SHOWN_LINES = 12


@dataclass(frozen=True, slots=True)
class CUnit:
    """One C source to compile; ``name`` shows in file names and messages, and does not change the result."""

    source: str
    name: str
    flags: tuple[str, ...] = LIFTED_FLAGS
    libraries: tuple[str, ...] = ("m",)
    include_folders: tuple[Path, ...] = ()


def compile_c(
    source: str,
    *,
    name: str,
    flags: Sequence[str] = LIFTED_FLAGS,
    libraries: Sequence[str] = ("m",),
    include_folders: Sequence[Path] = (),
    compiler: Compiler | None = None,
) -> Path:
    """The shared object of ``source``, from the cache if it was built before.

    Symbols are hidden unless the source marks them ``visibility("default")``, and references bind
    inside the object (``-Bsymbolic``).  ``flags`` are gcc's spellings.  Raises ToolchainError (TM5002)
    with the compiler's first lines where the source does not compile.

    >>> compile_c("int one(void) { return 1; }", name="one").suffix
    '.so'
    """
    unit = CUnit(source, name, tuple(flags), tuple(libraries), tuple(include_folders))
    return _build(unit, compiler or find_compilers().c)


def compile_many(units: Sequence[CUnit], *, workers: int = 2, compiler: Compiler | None = None) -> list[Path]:
    """The shared objects of several sources, ``workers`` compilers at a time; raises the first failure."""
    chosen = compiler or find_compilers().c
    if len(units) <= 1 or workers <= 1:
        return [_build(unit, chosen) for unit in units]
    with ThreadPoolExecutor(max_workers=workers) as pool:
        return list(pool.map(lambda unit: _build(unit, chosen), units))


def object_key(unit: CUnit, compiler: Compiler) -> str:
    """What the object depends on: text, flags, compiler, our headers, and the CPU where it is tuned to it."""
    native = cpu_identity() if "-march=native" in unit.flags else ""
    headers = folder_key((RUNTIME_HEADERS, *unit.include_folders))
    asked = [unit.source, *unit.flags, "--", *unit.libraries]
    return content_key([*asked, "--", compiler.identity, headers, native])


@lru_cache(maxsize=1)
def cpu_identity() -> str:
    """The CPU's model and instruction sets; a shared home folder may serve several machines."""
    try:
        text = Path("/proc/cpuinfo").read_text(errors="replace")
    except OSError:
        return f"{platform.machine()} {platform.processor()}"
    wanted = re.compile(r"^(model name|flags|Features|CPU part|CPU implementer)\s*:\s*(.*)$", re.MULTILINE)
    return content_key(sorted({m.group(0) for m in wanted.finditer(text)}))


def _build(unit: CUnit, compiler: Compiler) -> Path:
    suffix = ".dylib" if sys.platform == "darwin" else ".so"
    safe_name = re.sub(r"[^A-Za-z0-9_]", "_", unit.name)[:60]
    target = cache_folder("objects") / f"{safe_name}-{object_key(unit, compiler)}{suffix}"
    if cached(target):
        return target
    # Built in a private folder of the same file system: a rename is atomic, and the loser of a race
    # replaces the winner's file by an equal one.
    with tempfile.TemporaryDirectory(prefix=".build-", dir=target.parent) as folder:
        source, built = Path(folder) / f"{safe_name}.c", Path(folder) / f"{safe_name}{suffix}"
        source.write_text(unit.source)
        words = [*_arguments(unit), source.name, "-o", built.name, *_links(unit)]
        done = run_compiler(compiler, words, cwd=Path(folder))
        if done.returncode != 0 or not built.exists():
            raise _failure(unit, compiler, done)
        os.replace(built, target)
    trim("objects")
    return target


def _arguments(unit: CUnit) -> list[str]:
    folders = (RUNTIME_HEADERS, *unit.include_folders)
    includes = [word for folder in folders for word in ("-I", str(folder))]
    return ["-std=gnu17", "-shared", "-fPIC", "-fvisibility=hidden", "-w", *unit.flags, *includes]


def _links(unit: CUnit) -> list[str]:
    bind = [] if sys.platform == "darwin" else ["-Wl,-Bsymbolic"]
    return [*bind, *(f"-l{library}" for library in unit.libraries)]


def _failure(unit: CUnit, compiler: Compiler, done: subprocess.CompletedProcess[str]) -> ToolchainError:
    lines = (done.stderr or done.stdout).strip().splitlines()
    shown = "\n".join(lines[:_SHOWN_LINES]) or f"exit status {done.returncode}"
    message = f"{compiler.version} does not compile the code generated for '{unit.name}':\n{shown}"
    return ToolchainError(Diagnostic("TM5002", message))
