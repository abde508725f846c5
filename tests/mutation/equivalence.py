"""Mutants that the C compiler proves equal: their optimised code is the original's."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from mutants import Mutant

from tmigrate.diagnostics import TmigrateError
from tmigrate.emission import select
from tmigrate.tilelang.ir.module import Function, Module
from tmigrate.tilelang.runtime.objects import RUNTIME_HEADERS
from tmigrate.tilelang.runtime.toolchain import ARITHMETIC_FLAGS, find_compilers, run_compiler
from tmigrate.tilelang.targets.cpu.build import write_source
from tmigrate.tilelang.targets.cpu.options import EmitOptions

_FLAGS = ("-O2", *ARITHMETIC_FLAGS, "-fno-math-errno", "-fno-trapping-math", "-S", "-x", "c")
_NOISE = re.compile(r"^\s*\.(file|ident|size|type|loc)\b.*$|\s+#.*$", re.M)


def is_equal_code(mutant: Mutant, module: Module, kernels: Sequence[str], options: EmitOptions) -> bool:
    """Whether the kernels that run the mutant compile to the same instructions with and without it."""
    changed = mutant.module(module)
    try:
        return _assembly(_of(module, kernels), options) == _assembly(_of(changed, kernels), options)
    except (TmigrateError, ValueError):
        return False


def _of(module: Module, kernels: Sequence[str]) -> Module:
    functions: list[Function] = [f for f in module.functions if f.name in kernels]
    return replace(select(module, functions), name="m", source="m")


@lru_cache(maxsize=64)
def _assembly(module: Module, options: EmitOptions) -> str:
    with tempfile.TemporaryDirectory(prefix="mutation-") as name:
        source, made = Path(name) / "m.c", Path(name) / "m.s"
        source.write_text(write_source(module, options).text)
        words = [*_FLAGS, "-I", str(RUNTIME_HEADERS), str(source), "-o", str(made)]
        done = run_compiler(find_compilers().c, words)
        if done.returncode:
            raise ValueError(done.stderr.splitlines()[0])
        return _NOISE.sub("", made.read_text())
