"""The public face of this folder: compilers, compiled objects, and headers for libclang."""

from tmigrate.tilelang.runtime.cache import cache_folder
from tmigrate.tilelang.runtime.compilers import (
    Compiler,
    Compilers,
    find_compilers,
    run_compiler,
    set_announcer,
)
from tmigrate.tilelang.runtime.headers import builtin_include_flags
from tmigrate.tilelang.runtime.objects import (
    ARITHMETIC_FLAGS,
    FAITHFUL_FLAGS,
    LIFTED_FLAGS,
    CUnit,
    compile_c,
    compile_many,
)

__all__ = [
    "ARITHMETIC_FLAGS",
    "CUnit",
    "Compiler",
    "Compilers",
    "FAITHFUL_FLAGS",
    "LIFTED_FLAGS",
    "builtin_include_flags",
    "cache_folder",
    "compile_c",
    "compile_many",
    "find_compilers",
    "run_compiler",
    "set_announcer",
]
