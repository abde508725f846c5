"""Kernels at run time: bound to a call's arguments, compiled for this machine, launched."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from tmigrate.diagnostics import Diagnostic, RefusedError, TmigrateError, UsageError
from tmigrate.tilelang.dsl.arrays import HostArray, is_array, to_host
from tmigrate.tilelang.dsl.binding import Binder, Bound, check_array, dimension_values, evaluate, fail
from tmigrate.tilelang.dsl.products import run_product
from tmigrate.tilelang.dsl.source import KernelSource, read_source
from tmigrate.tilelang.dsl.structs import numpy_dtype
from tmigrate.tilelang.ir.expressions import LaunchIndex
from tmigrate.tilelang.ir.module import Function, FunctionKind, Level, Module
from tmigrate.tilelang.ir.node import walk
from tmigrate.tilelang.ir.statements import Assume
from tmigrate.tilelang.ir.types import PointerType, ScalarType, StructType, TensorType
from tmigrate.tilelang.ir.verify import verify
from tmigrate.tilelang.passes.expand_tensors import expand_tensors
from tmigrate.tilelang.passes.match_product import Product, match_product
from tmigrate.tilelang.passes.outputs import Outputs, outputs_to_parameters
from tmigrate.tilelang.text.parser import parse_module

Size = tuple[int, ...] | int


@dataclass(slots=True)
class Compiled:
    """A kernel for one set of types: the module as written, and as lowered.

    `product` is set where the whole kernel is a matrix product.
    """

    module: Module
    function: Function
    outputs: Outputs
    lowered: Module
    product: Product | None
    object: Any = None

    @property
    def built(self) -> Any:
        """The compiled object; built when first needed, since a product seldom needs it."""
        from tmigrate.tilelang.targets.cpu.build import build_module

        if self.object is None:
            self.object = build_module(self.lowered)
        return self.object


class AssumptionFailed(Exception):
    """A lifted kernel's precondition does not hold for this launch; nothing was executed."""


class Kernel:
    """What `@tile_kernel` makes.

    Loop- and tensor-level kernels are called plainly, `kernel(A, B)`; thread-level ones as
    `kernel[grid, block](...)` or `kernel[grid, block, shared]`, `shared` in bytes.  A lifted kernel whose
    original was launched over threads is also called `kernel.cuda(grid, block, ...)`.  Arrays are NumPy's,
    CuPy's, PyTorch's, or anything with DLPack; kernels write in place.
    """

    def __init__(self, function: Callable[..., Any], level: str, target_arch: str = "") -> None:
        self.__wrapped__ = function
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        self.level = Level(level)
        self.target_arch = target_arch
        self.thread: Kernel | None = None
        self._bound: dict[Bound, Module] = {}
        self._compiled: dict[tuple[Bound, bool], Compiled] = {}

    @cached_property
    def source(self) -> KernelSource:
        """The text of the kernel and of what it uses."""
        return read_source(self.__wrapped__)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the parameters."""
        return tuple(a.arg for a in self.source.definition.args.args)

    # ---- calls ---------------------------------------------------------------------------------------

    def __call__(self, *arguments: Any) -> Any:
        """Run a loop- or tensor-level kernel; gives what it returns."""
        if self.level is Level.THREAD:
            fail("TM2064", f"`{self.__name__}` is a thread-level kernel", None,
                 f"write {self.__name__}[grid, block](...)")  # fmt: skip
        try:
            return self._run(1, 1, 0, arguments, is_launch=False)
        except AssumptionFailed:
            fail("TM2065", f"an assumption of `{self.__name__}` does not hold for these arguments", None,
                 "its parallel iterations need arrays that do not overlap")  # fmt: skip

    def __getitem__(self, launch: tuple[Any, ...]) -> Callable[..., Any]:
        """`kernel[grid, block]` or `kernel[grid, block, shared]`: a launch of a thread-level kernel."""
        if not isinstance(launch, tuple) or len(launch) not in (2, 3):
            fail("TM2064", "a launch is [grid, block] or [grid, block, shared]", None)
        if self.level is not Level.THREAD:
            fail("TM2064", f"`{self.__name__}` has no threads", None,
                 f"write {self.__name__}(...), or {self.__name__}.cuda(grid, block, ...)")  # fmt: skip
        grid, block, shared = (*launch, 0)[:3]
        return lambda *arguments: self._run(grid, block, shared, arguments, is_launch=True)

    def cuda(self, grid: Size, block: Size, *arguments: Any, shared: int = 0) -> Any:
        """Run as the original was launched: where an assumption fails, the thread-level version runs."""
        if self.level is Level.THREAD:
            return self[grid, block, shared](*arguments)
        try:
            return self._run(grid, block, shared, arguments, is_launch=True)
        except AssumptionFailed:
            if self.thread is None:
                fail("TM2065", f"an assumption of `{self.__name__}` does not hold for this launch", None,
                     f"set {self.__name__}.thread to the thread-level kernel")  # fmt: skip
            return self.thread[grid, block, shared](*arguments)

    def reference(self, *arguments: Any) -> Any:
        """Run the kernel's own text under plain Python, on NumPy scalars: slow, and its definition."""
        from tmigrate.tilelang.dsl.reference import compile_reference

        host = self._host(arguments)
        module = self._module(self._bind(host))
        function = self._function(module)
        if function.level is Level.THREAD:
            fail("TM2064", f"`{self.__name__}` is a thread-level kernel; plain Python has no threads", None)
        definition = self.source.definition
        if function.level is Level.TENSOR:
            module, definition = _expanded(module, self.__name__)
            function = self._function(module)
        values = self._check(function, host, module)
        names: dict[str, Any] = {d.name: np.int64(values[d.name]) for d in function.dimensions}
        names.update(self._storage())
        names.update(_functions(module, self.source))
        run = compile_reference(definition, function, module, names)
        with np.errstate(all="ignore"):
            result = run(*(_viewed(a) for a in host))
        _write_back(host)
        return result

    # ---- binding -------------------------------------------------------------------------------------

    def _host(self, arguments: Sequence[Any]) -> list[Any]:
        if len(arguments) != len(self.parameters):
            message = f"`{self.__name__}` takes {len(self.parameters)} arguments, got {len(arguments)}"
            fail("TM2060", message, None, f"pass {', '.join(self.parameters)}")
        return [to_host(a) if is_array(a) else a for a in arguments]

    def _bind(self, host: Sequence[Any]) -> Bound:
        return Binder(self.source).bind(host)

    def _module(self, bound: Bound) -> Module:
        """The kernel's module for these types, verified."""
        found = self._bound.get(bound)
        if found is None:
            source = self.source
            found = parse_module(
                source.text,
                self.__name__,
                file=source.file,
                bindings={self.__name__: dict(bound.types)},
                dimensions=(*source.dimensions, *bound.dimensions),
            )
            verify(found)
            self._bound[bound] = found
        return found

    def ir(self, *arguments: Any) -> Module:
        """The IR of the kernel for arguments of these types."""
        return self._module(self._bind(self._host(arguments)))

    def _function(self, module: Module) -> Function:
        found = module.function(self.__name__)
        assert found is not None
        return found

    def _check(self, function: Function, host: Sequence[Any], module: Module) -> dict[str, int]:
        """The dimensions' values; raises :class:`UsageError` where an argument does not fit."""
        for p, a in zip(function.parameters, host, strict=True):
            if isinstance(p.type, TensorType | PointerType) != isinstance(a, HostArray):
                fail("TM2060", f"argument `{p.name}` is {type(a).__name__}, the kernel wants {p.type}",
                     function.location)  # fmt: skip
            if isinstance(p.type, TensorType):
                check_array(function, p.name, p.type, a.array, module.struct_table)
            if isinstance(p.type, PointerType):
                _check_pointer(function, p.name, p.type, a.array, module)
        return dimension_values(function, host)

    # ---- compiling and launching ---------------------------------------------------------------------

    def _compile(self, bound: Bound, is_launch: bool) -> Compiled:
        found = self._compiled.get((bound, is_launch))
        if found is None:
            module = self._module(bound)
            found = compile_kernel(module, self.__name__, keep_launch=is_launch)
            self._compiled[bound, is_launch] = found
        return found

    def _run(self, grid: Size, block: Size, shared: int, arguments: Sequence[Any], *, is_launch: bool) -> Any:
        host = self._host(arguments)
        bound = self._bind(host)
        compiled = self._compile(bound, is_launch)
        values = self._check(compiled.function, host, compiled.module)
        given: list[Any] = [a.array if isinstance(a, HostArray) else a for a in host]
        given = [_scalar(p.type, a) for p, a in zip(compiled.function.parameters, given, strict=True)]
        added = {v.name: _allocate(v.type, values, compiled.module) for v in compiled.outputs.added}
        launched = compiled.outputs.function
        arrays = dict(zip((p.name for p in launched.parameters), [*given, *added.values()], strict=True))
        if compiled.product is None or not run_product(compiled.product, arrays, values):
            extents = [values[d.name] for d in launched.dimensions]
            _launch(compiled, [*arrays.values(), *extents], grid, block, shared, self._storage())
        _write_back(host)
        return _result(compiled, dict(zip(self.parameters, arguments, strict=True)), added)

    def plan(self, *arguments: Any) -> str:
        """How a call with these arguments runs: `matrix product` (the bundled library's) or `loops`."""
        compiled = self._compile(self._bind(self._host(arguments)), False)
        return "loops" if compiled.product is None else "matrix product"

    def lowered_text(self, *arguments: Any) -> str:
        """The loop-level text that a call with these arguments compiles."""
        from tmigrate.tilelang.text.printer import print_module

        return print_module(self._compile(self._bind(self._host(arguments)), False).lowered)

    def _storage(self) -> dict[str, np.ndarray[Any, Any]]:
        """The arrays of the file's `device(...)` variables."""
        return {n: v for n, v in self.__wrapped__.__globals__.items() if isinstance(v, np.ndarray)}

    def __repr__(self) -> str:
        return f"<{self.level.value}-level kernel {self.__name__}>"


def compile_kernel(module: Module, name: str, *, keep_launch: bool) -> Compiled:
    """Lower and build one kernel of a module; `keep_launch`: check assumptions about launch sizes too."""
    function = module.function(name)
    assert function is not None
    lowered = expand_tensors(module)
    kernel = lowered.function(name)
    assert kernel is not None
    if not keep_launch:
        kernel = replace(kernel, body=tuple(s for s in kernel.body if not _about_launch(s)))
    outputs = outputs_to_parameters(kernel)
    others = (f for f in lowered.functions if f.name != name and f.kind is not FunctionKind.KERNEL)
    changed = replace(lowered, functions=(*others, outputs.function))
    return Compiled(module, function, outputs, changed, match_product(kernel))


def _about_launch(s: Any) -> bool:
    return isinstance(s, Assume) and any(isinstance(n, LaunchIndex) for n in walk(s))


def _size(size: Size) -> tuple[int, ...]:
    return (size,) if isinstance(size, int) else tuple(size)


def _launch(
    compiled: Compiled,
    arguments: list[Any],
    grid: Size,
    block: Size,
    shared: int,
    variables: Mapping[str, Any],
) -> None:
    import ctypes

    from tmigrate.tilelang.runtime.pool import load_pool
    from tmigrate.tilelang.targets.cpu.launch import ASSUMPTION_FAILED, OK, launch

    pool = ctypes.cast(load_pool().tm_pool_parallel, ctypes.c_void_p).value or 0
    outcome = launch(
        compiled.built, compiled.function.name, _size(grid), _size(block), arguments,
        shared=shared, variables=variables, parallel=pool,
    )  # fmt: skip
    if outcome.status == ASSUMPTION_FAILED:
        raise AssumptionFailed(compiled.function.name)
    if outcome.status != OK or outcome.reports:
        what = "; ".join(f"{r.message} ({r.file}:{r.line})" for r in outcome.reports[:3]) or "it trapped"
        raise TmigrateError(Diagnostic("TM2066", f"`{compiled.function.name}` ended: {what}",
                                       compiled.function.location))  # fmt: skip


def _allocate(t: Any, values: Mapping[str, int], module: Module) -> np.ndarray[Any, Any]:
    """Zeroed memory for a tensor that the kernel allocates."""
    assert isinstance(t, TensorType)
    shape = [evaluate(e, values) for e in t.shape]
    if any(n is None or n < 0 for n in shape):
        raise RefusedError(Diagnostic("TM2063", f"the extents of {t} are not known at the call"))
    return np.zeros([n for n in shape if n is not None], numpy_dtype(t.element, module.struct_table))


def _scalar(t: Any, value: Any) -> Any:
    if isinstance(t, StructType):
        return value.tobytes() if isinstance(value, np.void) else bytes(value)
    if isinstance(t, ScalarType) and t.is_integer:
        return int(value)
    if isinstance(t, ScalarType) and t.is_float:
        return float(value)
    return value


def _result(compiled: Compiled, arguments: Mapping[str, Any], added: Mapping[str, Any]) -> Any:
    name = compiled.outputs.result
    if name is None:
        return None
    if name in arguments:
        return arguments[name]
    return added[name][0] if isinstance(compiled.function.result, ScalarType) else added[name]


def _write_back(host: Sequence[Any]) -> None:
    for a in host:
        if isinstance(a, HostArray) and a.write_back is not None:
            a.write_back()


def _viewed(a: Any) -> Any:
    """An array of structs gives records, whose members are attributes."""
    if not isinstance(a, HostArray):
        return a
    return a.array.view(np.dtype((np.record, a.array.dtype))) if a.array.dtype.names else a.array


def _check_pointer(
    function: Function, name: str, t: PointerType, array: np.ndarray[Any, Any], module: Module
) -> None:
    """The array's elements are the pointee: the same type, or structs of them."""
    if isinstance(t.pointee, PointerType):
        return
    if isinstance(t.pointee, ScalarType) and array.dtype != numpy_dtype(t.pointee, module.struct_table):
        fail("TM2060", f"argument `{name}` holds {array.dtype}, the kernel wants {t}", function.location,
             f"pass {name}.astype(...)")  # fmt: skip
    if isinstance(t.pointee, StructType):
        size = numpy_dtype(t.pointee, module.struct_table).itemsize
        if array.nbytes % size:
            fail("TM2060", f"argument `{name}` has {array.nbytes} bytes, no multiple of {t.pointee}'s {size}",
                 function.location)  # fmt: skip


def _expanded(module: Module, name: str) -> tuple[Module, ast.FunctionDef]:
    """A tensor-level kernel at the loop level, as text."""
    from tmigrate.tilelang.text.printer import print_function

    expanded = expand_tensors(module)
    function = expanded.function(name)
    assert function is not None
    definition = ast.parse(print_function(function, expanded)).body[0]
    assert isinstance(definition, ast.FunctionDef)
    return expanded, definition


def _functions(module: Module, source: KernelSource) -> dict[str, Any]:
    """The file's functions that the kernel calls, as plain Python; each sees the others."""
    from tmigrate.tilelang.dsl.reference import compile_reference

    made: dict[str, Any] = {}
    for it in ast.parse(source.text).body:
        function = module.function(it.name) if isinstance(it, ast.FunctionDef) else None
        if function is None or function.name == source.definition.name:
            continue
        assert isinstance(it, ast.FunctionDef)
        run = compile_reference(it, function, module, made)
        made[function.name] = run
    for run in made.values():
        run.__globals__.update(made)
    return made


__all__ = ["AssumptionFailed", "Compiled", "Kernel", "UsageError", "compile_kernel"]
