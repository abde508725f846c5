"""Kernels as DSL text, run as C and by the interpreter, and compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tmigrate.tilelang.interpreter.arithmetic import Native
from tmigrate.tilelang.interpreter.functions import Program
from tmigrate.tilelang.interpreter.machine import Limits, Machine
from tmigrate.tilelang.interpreter.memory import Buffer
from tmigrate.tilelang.ir.module import Module
from tmigrate.tilelang.ir.types import SCALARS, PointerType, ScalarType
from tmigrate.tilelang.targets.cpu.build import NATIVE, build_module
from tmigrate.tilelang.targets.cpu.launch import Outcome, launch
from tmigrate.tilelang.targets.cpu.options import EmitOptions
from tmigrate.tilelang.text.parser import parse_module

DTYPES = {
    "b1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "u8": np.uint8,
    "u16": np.uint16, "u32": np.uint32, "u64": np.uint64, "f16": np.float16, "f32": np.float32,
    "f64": np.float64,
}  # fmt: skip
HEAD = """from __future__ import annotations

from tmigrate.tilelang import *


"""


def parse(text: str, name: str = "kernels") -> Module:
    """A module from DSL text without its imports."""
    return parse_module(HEAD + text, name=name)


def run_c(
    module: Module,
    grid: Sequence[int],
    block: Sequence[int],
    arguments: Sequence[Any],
    options: EmitOptions = NATIVE,
    kernel: str = "k",
    **more: Any,
) -> Outcome:
    """Build and launch one kernel; arrays are changed in place."""
    return launch(build_module(module, options), kernel, grid, block, arguments, **more)


def run_interpreter(
    module: Module, grid: Sequence[int], block: Sequence[int], arguments: Sequence[Any], kernel: str = "k"
) -> None:
    """The same through the interpreter; arrays are changed in place."""
    function = module.function(kernel)
    assert function is not None
    program = Program(module, function, Native())
    packed: list[Any] = []
    buffers: list[tuple[Buffer, np.ndarray[Any, Any]]] = []
    for parameter, argument in zip(function.parameters, arguments, strict=True):
        if isinstance(argument, np.ndarray):
            assert isinstance(parameter.type, PointerType) and isinstance(parameter.type.pointee, ScalarType)
            buffer = Buffer(parameter.name, argument.nbytes, parameter.type.pointee)
            buffer.fill(parameter.type.pointee, argument.ravel().tolist())
            buffers.append((buffer, argument))
            packed.append((buffer, 0))
        else:
            packed.append(argument)
    three = [tuple([*size, 1, 1, 1][:3]) for size in (grid, block)]
    outcome = Machine(Limits(steps=2_000_000, seconds=60)).launch(program, three[0], three[1], packed)
    assert outcome.fault is None, outcome.fault
    for buffer, array in buffers:
        array.flat[:] = np.array(buffer.values(), dtype=array.dtype)


def both(
    text: str, grid: Sequence[int], block: Sequence[int], arguments: Sequence[Any], **more: Any
) -> list[np.ndarray[Any, Any]]:
    """Run C and interpreter on copies, require equal arrays and no report, return the arrays."""
    module = parse(text)
    first = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    second = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    outcome = run_c(module, grid, block, first, **more)
    assert outcome.status == 0 and outcome.reports == []
    run_interpreter(module, grid, block, second)
    for c_result, reference in zip(first, second, strict=True):
        if isinstance(c_result, np.ndarray):
            np.testing.assert_array_equal(c_result, reference)
    return [a for a in first if isinstance(a, np.ndarray)]


__all__: list[str] = ["DTYPES", "Mapping", "SCALARS", "both", "parse", "run_c", "run_interpreter"]
