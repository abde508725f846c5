"""A shadow memory in Python for the tests of shadow execution."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tmigrate.tilelang.ir.module import Module
from tmigrate.tilelang.targets.cpu.build import build_module
from tmigrate.tilelang.targets.cpu.launch import launch
from tmigrate.tilelang.targets.cpu.options import Arithmetic, EmitOptions


class Shadow(ctypes.Structure):
    """`tm_shadow`."""

    _fields_ = [(name, ctypes.c_double) for name in ("native", "value", "low", "error", "magnitude", "terms")]


_LOAD = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(Shadow))
_STORE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(Shadow))
_UNSTABLE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int)


class Interface(ctypes.Structure):
    """`tm_shadow_memory`."""

    _fields_ = [("context", ctypes.c_void_p), ("load", _LOAD), ("store", _STORE), ("unstable", _UNSTABLE)]


@dataclass
class ShadowRun:
    """The shadows by address, and the lines of unstable branches."""

    cells: dict[int, Shadow] = field(default_factory=dict)
    unstable: list[int] = field(default_factory=list)

    def of(self, array: np.ndarray[Any, Any], index: int) -> Shadow:
        """The shadow of an array's element."""
        return self.cells[int(array.ctypes.data) + index * array.itemsize]


def run_shadow(
    module: Module, grid: Sequence[int], block: Sequence[int], arguments: Sequence[Any]
) -> ShadowRun:
    """Run kernel `k` in shadow arithmetic; arrays get the native results."""
    run = ShadowRun()

    def load(context: int, address: int, size: int, out: Any) -> int:
        found = run.cells.get(address)
        if found is None:
            return 0
        out[0] = found
        return 1

    def store(context: int, address: int, size: int, value: Any) -> None:
        run.cells[address] = Shadow.from_buffer_copy(value.contents)

    interface = Interface(
        None, _LOAD(load), _STORE(store), _UNSTABLE(lambda c, f, line: run.unstable.append(line))
    )
    built = build_module(module, EmitOptions(arithmetic=Arithmetic.SHADOW))
    ctypes.CDLL(str(built.path)).tm_set_shadow_memory(ctypes.byref(interface))
    outcome = launch(built, "k", grid, block, arguments)
    assert outcome.status == 0 and outcome.reports == []
    return run
