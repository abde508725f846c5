"""Launch built kernels through ctypes, on NumPy arrays and scalars."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from tmigrate.tilelang.ir.expressions import Var
from tmigrate.tilelang.ir.module import Function
from tmigrate.tilelang.ir.structs import BUILTIN_STRUCTS, size_of
from tmigrate.tilelang.ir.types import PointerType, ScalarType, StructType, TensorType, Type
from tmigrate.tilelang.targets.cpu.build import BuiltObject

OK, ASSUMPTION_FAILED, TRAPPED = 0, 1, 2
DESCENDING, WATCH = 1, 2  # bits of `tm_launch.modes`

_PRINT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)
_EXTENT = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p)
_PARALLEL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)
_REPORT = ctypes.CFUNCTYPE(
    None,
    ctypes.c_void_p,
    ctypes.c_int,
    ctypes.c_char_p,
    ctypes.c_char_p,
    ctypes.c_int,
    ctypes.POINTER(ctypes.c_uint32),
    ctypes.POINTER(ctypes.c_uint32),
)


class Services(ctypes.Structure):
    """`tm_services`."""

    _fields_ = [
        ("context", ctypes.c_void_p),
        ("print", ctypes.c_void_p),
        ("extent", ctypes.c_void_p),
        ("parallel", ctypes.c_void_p),
        ("report", ctypes.c_void_p),
        ("barrier", ctypes.c_void_p),
    ]


class Launch(ctypes.Structure):
    """`tm_launch`."""

    _fields_ = [
        ("grid", ctypes.c_uint32 * 3),
        ("block", ctypes.c_uint32 * 3),
        ("dynamic_shared", ctypes.c_uint64),
        ("globals", ctypes.POINTER(ctypes.c_void_p)),
        ("coverage", ctypes.c_void_p),
        ("services", ctypes.POINTER(Services)),
        ("argument_count", ctypes.c_uint32),
        ("modes", ctypes.c_uint32),
    ]


@dataclass(frozen=True, slots=True)
class Report:
    """One call of `tm_services.report`."""

    kind: int
    message: str
    file: str
    line: int
    block: tuple[int, ...]
    thread: tuple[int, ...]


@dataclass
class Outcome:
    """What a launch gave: its status, the reports, and the coverage bytes where points exist."""

    status: int
    reports: list[Report] = field(default_factory=list)
    coverage: bytes = b""


@lru_cache(maxsize=256)
def _library(path: str) -> ctypes.CDLL:
    return ctypes.CDLL(path)


@dataclass
class PreparedLaunch:
    """A launch whose C arguments are laid out; :meth:`run` may be called again and again."""

    entry: Any
    record: Launch
    packed: Any
    reports: list[Report]
    coverage: Any
    keep: list[Any]

    def run(self) -> Outcome:
        """Run the kernel once."""
        self.reports.clear()
        status = self.entry(ctypes.byref(self.record), self.packed)
        return Outcome(status, list(self.reports), self.coverage.raw if self.coverage is not None else b"")


def launch(
    built: BuiltObject,
    kernel: str,
    grid: Sequence[int],
    block: Sequence[int],
    arguments: Sequence[Any],
    **more: Any,
) -> Outcome:
    """Run a kernel once; see :func:`prepare`."""
    return prepare(built, kernel, grid, block, arguments, **more).run()


def prepare(
    built: BuiltObject,
    kernel: str,
    grid: Sequence[int],
    block: Sequence[int],
    arguments: Sequence[Any],
    *,
    shared: int = 0,
    variables: Mapping[str, np.ndarray[Any, Any]] | None = None,
    parallel: int = 0,
    extent: Callable[[int], int] | None = None,
    result: np.ndarray[Any, Any] | None = None,
    modes: int = 0,
) -> PreparedLaunch:
    """Lay out a launch.

    `arguments` are NumPy arrays (pointers and tensors), numbers, or bytes for structs, in the order of the
    parameters and then of the dimensions.  `variables` gives the storage of module variables; `parallel`
    the address of a `tm_services.parallel` function (0: blocks run in order); `extent` answers bytes from
    an address to its allocation's end; `result` is the memory of a returned tensor; `modes` are bits of
    `tm_launch.modes`, such as :data:`DESCENDING`.
    """
    function = built.module.function(kernel)
    if function is None:
        raise KeyError(f"the module has no kernel '{kernel}'")
    reports: list[Report] = []
    services, keep = _services(reports, parallel, extent)
    packed, keep_arguments = _pack(function, [*arguments, *([] if result is None else [result])], built)
    addresses = (ctypes.c_void_p * max(1, len(built.variables)))(
        *(_address((variables or {})[name]) for name in built.variables)
    )
    points = len(built.points(kernel))
    coverage = ctypes.create_string_buffer(points) if points else None
    record = Launch(
        (ctypes.c_uint32 * 3)(*_three(grid)),
        (ctypes.c_uint32 * 3)(*_three(block)),
        shared,
        ctypes.cast(addresses, ctypes.POINTER(ctypes.c_void_p)),
        ctypes.cast(coverage, ctypes.c_void_p) if coverage is not None else None,
        ctypes.pointer(services),
        len(arguments),
        modes,
    )
    entry = getattr(_library(str(built.path)), built.kernels[kernel])
    entry.restype = ctypes.c_int
    keep += [*keep_arguments, services, addresses]
    return PreparedLaunch(entry, record, packed, reports, coverage, keep)


def _three(sizes: Sequence[int] | int) -> tuple[int, int, int]:
    given = (sizes,) if isinstance(sizes, int) else tuple(sizes)
    x, y, z = (*given, 1, 1, 1)[:3]
    return x, y, z


def _address(array: np.ndarray[Any, Any]) -> int:
    return int(array.ctypes.data)


def _services(
    reports: list[Report], parallel: int, extent: Callable[[int], int] | None
) -> tuple[Services, list[Any]]:
    def report(
        context: int, kind: int, message: bytes, file: bytes, line: int, block: Any, thread: Any
    ) -> None:
        reports.append(
            Report(kind, message.decode(), file.decode(), line, tuple(block[:3]), tuple(thread[:3]))
        )

    keep: list[Any] = [_REPORT(report)]
    extent_address = None
    if extent is not None:
        callback = _EXTENT(lambda context, pointer: extent(pointer or 0))
        keep.append(callback)
        extent_address = ctypes.cast(callback, ctypes.c_void_p)
    report_address = ctypes.cast(keep[0], ctypes.c_void_p)
    return Services(None, None, extent_address, parallel or None, report_address, None), keep


def _pack(function: Function, arguments: Sequence[Any], built: BuiltObject) -> tuple[Any, list[Any]]:
    parameters = (*function.parameters, *function.dimensions)
    if isinstance(function.result, TensorType):
        parameters = (*parameters, Var("result", function.result))
    if len(arguments) != len(parameters):
        raise TypeError(f"{function.name} takes {len(parameters)} arguments, got {len(arguments)}")
    keep: list[Any] = []
    table = (ctypes.c_void_p * max(1, len(parameters)))()
    for place, (parameter, argument) in enumerate(zip(parameters, arguments, strict=True)):
        data = _bytes(parameter.type, argument, built)
        storage = ctypes.create_string_buffer(data, max(16, len(data)))
        keep += [storage, argument]
        table[place] = ctypes.cast(storage, ctypes.c_void_p)
    return table, keep


_FORMATS = {"b1": "?", "i8": "b", "i16": "h", "i32": "i", "i64": "q", "u8": "B", "u16": "H", "u32": "I",
            "u64": "Q", "f16": "e", "f32": "f", "f64": "d"}  # fmt: skip


def _bytes(t: Type, argument: Any, built: BuiltObject) -> bytes:
    if isinstance(t, PointerType | TensorType):
        address = _address(argument) if isinstance(argument, np.ndarray) else int(argument or 0)
        return struct.pack("Q", address)
    if isinstance(t, StructType):
        size = size_of(t, {**BUILTIN_STRUCTS, **built.module.struct_table})
        data = bytes(argument)
        if len(data) != size:
            raise TypeError(f"{t} has {size} bytes, got {len(data)}")
        return data
    assert isinstance(t, ScalarType)
    if t.name == "bf16":
        return struct.pack("f", float(argument))[2:]
    if t.is_integer:
        return (int(argument) & ((1 << t.bits) - 1)).to_bytes(t.bytes, "little")
    return struct.pack(_FORMATS[t.name], argument)
