"""The decorators of kernel files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

from tmigrate.tilelang.dsl.kernel import Kernel
from tmigrate.tilelang.dsl.structs import StructWord

Function = Callable[..., Any]


@overload
def tile_kernel(function: Function, /) -> Kernel: ...
@overload
def tile_kernel(*, level: str = "loop", symbol: str = "") -> Callable[[Function], Kernel]: ...
def tile_kernel(function: Function | None = None, /, *, level: str = "loop", symbol: str = "") -> Any:
    """Make a kernel of a function: `@tile_kernel`, or `@tile_kernel(level="thread")`."""

    def make(it: Function) -> Kernel:
        return Kernel(it, level)

    return make if function is None else make(function)


def tile_function(function: Function | None = None, /, *, level: str = "loop", symbol: str = "") -> Any:
    """Make a function that kernels of the same file call."""

    def make(it: Function) -> Function:
        return it

    return make if function is None else make(function)


def tile_optimize(function: Function | None = None, /, *, target_arch: str = "") -> Any:
    """Make a tensor-level kernel from untyped parameters; an unknown `target_arch` is this machine."""

    def make(it: Function) -> Kernel:
        return Kernel(it, "tensor", target_arch)

    return make if function is None else make(function)


def tile_struct(cls: type | None = None, /, *, size: int = 0, alignment: int = 0) -> Any:
    """Make a struct of a class of annotations."""
    from tmigrate.tilelang.dsl.struct_classes import read_struct

    def make(it: type) -> StructWord:
        return read_struct(it, size, alignment)

    return make if cls is None else make(cls)
