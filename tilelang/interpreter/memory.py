"""Memory of the interpreter: buffers of typed cells, and the faults that bad accesses are.

A pointer value is the tuple (buffer, byte offset).  A cell is one scalar or pointer at its byte offset, so
that a float buffer may hold numbers of any arithmetic (field elements have no bytes).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from tmigrate.locations import Location
from tmigrate.tilelang.ir.types import ScalarType


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a run ended early: a word of a fixed list, a sentence, and the statement's place if known.

    Kinds: bounds, misaligned, null, type, division, deadlock, trap, assumption, steps, time, recursion,
    unsupported.
    """

    kind: str
    message: str
    location: Location | None = None

    def __str__(self) -> str:
        place = f"{self.location}: " if self.location else ""
        return f"{place}{self.kind}: {self.message}"


class FaultError(Exception):
    """Carries a fault from inside generated code up to the machine; never leaves the interpreter."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message


class PointerCell:
    """The cell kind of all pointers (one object: `POINTER`)."""

    bytes = 8

    def __str__(self) -> str:
        return "pointer"


POINTER = PointerCell()
CellKind = ScalarType | PointerCell
_BASE_STEP = 1 << 40
_serial = iter(range(1, 1 << 60))


class Buffer:
    """`size` bytes of cells; `element` is every cell's kind, or None where `kinds` tells."""

    __slots__ = ("base", "cells", "element", "kinds", "name", "size")

    def __init__(self, name: str, size: int, element: CellKind | None = None) -> None:
        self.name = name
        self.size = size
        self.element = element
        self.cells: dict[int, Any] = {}
        self.kinds: dict[int, CellKind] = {}
        self.base = next(_serial) * _BASE_STEP

    def check(self, offset: int, width: int) -> None:
        """Raise a fault unless the access is inside and aligned."""
        if offset < 0 or offset + width > self.size:
            raise FaultError("bounds", f"{width} bytes at {offset} of {self.name}, which has {self.size}")
        if offset % width:
            raise FaultError("misaligned", f"{width} bytes at {offset} of {self.name}")

    def mix(self) -> None:
        """Give up the common element kind: from now on each cell carries its own."""
        if self.element is not None:
            self.kinds = dict.fromkeys(self.cells, self.element)
            self.element = None

    def fill(self, kind: CellKind, values: Iterable[Any]) -> None:
        """Set the cells from offset 0 on."""
        width = kind.bytes
        for position, value in enumerate(values):
            self.cells[position * width] = value
        if self.element is None:
            self.kinds.update(dict.fromkeys(range(0, len(self.cells) * width, width), kind))

    def values(self, count: int | None = None) -> list[Any]:
        """The cells in order of their offsets (missing ones as None, for a buffer of one kind)."""
        if self.element is None:
            return [self.cells[k] for k in sorted(self.cells)]
        width = self.element.bytes
        total = self.size // width if count is None else count
        return [self.cells.get(k * width) for k in range(total)]

    def copy(self) -> Buffer:
        """A buffer of the same name and contents at another address."""
        made = Buffer(self.name, self.size, self.element)
        made.cells = dict(self.cells)
        made.kinds = dict(self.kinds)
        return made


Pointer = tuple[Buffer, int]
NULL: Pointer = (Buffer("null", 0), 0)


@dataclass(slots=True)
class TensorView:
    """A dense row-major tensor in a buffer; `at` checks each index and gives the byte offset."""

    buffer: Buffer
    offset: int
    shape: tuple[int, ...]
    width: int

    def at(self, *indices: int) -> int:
        """The byte offset of an element."""
        flat = 0
        for index, extent in zip(indices, self.shape, strict=True):
            if not 0 <= index < extent:
                raise FaultError(
                    "bounds",
                    f"index {list(indices)} of {self.buffer.name}, whose shape is {list(self.shape)}",
                )
            flat = flat * extent + index
        return self.offset + flat * self.width

    @property
    def count(self) -> int:
        """The number of elements."""
        total = 1
        for extent in self.shape:
            total *= extent
        return total


Converter = Callable[[Any, ScalarType, ScalarType], Any]  # value, stored kind, wanted kind -> value


class Access:
    """Loads and stores by cell kind; `reinterpret` converts bits, `unknown` gives uninitialised values."""

    def __init__(self, reinterpret: Converter, unknown: Callable[[Buffer, int, CellKind], Any]) -> None:
        self.reinterpret = reinterpret
        self.unknown = unknown
        self.uninitialised: list[tuple[str, int]] = []

    def loader(self, kind: CellKind) -> Callable[[Buffer, int], Any]:
        """A function (buffer, byte offset) -> value."""
        missing = object()

        def load(buffer: Buffer, offset: int) -> Any:
            if buffer.element is kind:
                value = buffer.cells.get(offset, missing)
                if value is not missing:
                    return value
            return self._load(buffer, offset, kind)

        return load

    def storer(self, kind: CellKind) -> Callable[[Buffer, int, Any], None]:
        """A function (buffer, byte offset, value)."""
        width = kind.bytes

        def store(buffer: Buffer, offset: int, value: Any) -> None:
            if buffer.element is kind and offset in buffer.cells:
                buffer.cells[offset] = value
                return
            buffer.check(offset, width)
            if buffer.element is not kind:
                buffer.mix()
                for k in _overlapping(buffer, offset, width):
                    del buffer.cells[k], buffer.kinds[k]
                buffer.kinds[offset] = kind
            buffer.cells[offset] = value

        return store

    def _load(self, buffer: Buffer, offset: int, kind: CellKind) -> Any:
        if buffer is NULL[0]:
            raise FaultError("null", "a null pointer is read")
        buffer.check(offset, kind.bytes)
        stored = buffer.element or buffer.kinds.get(offset)
        if offset in buffer.cells and stored is not None and stored.bytes == kind.bytes:
            value = buffer.cells[offset]
            if stored is kind or stored == kind:
                return value
            if isinstance(stored, ScalarType) and isinstance(kind, ScalarType):
                return self.reinterpret(value, stored, kind)
        if any(True for _ in _overlapping(buffer, offset, kind.bytes)):
            raise FaultError("type", f"{buffer.name} at {offset} holds {stored}, and is read as {kind}")
        self.uninitialised.append((buffer.name, offset))
        value = self.unknown(buffer, offset, kind)
        self.storer(kind)(buffer, offset, value)
        return value


def _overlapping(buffer: Buffer, offset: int, width: int) -> Iterator[int]:
    """Offsets of the cells that share a byte with [offset, offset + width)."""
    for k in range(offset - 7, offset + width):
        if k in buffer.cells:
            kind = buffer.element or buffer.kinds[k]
            if k + kind.bytes > offset:
                yield k
