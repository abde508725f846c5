"""Run a kernel on generated values in the interpreter, to learn what a launch needs: how many bytes of each
buffer it touches, which coverage points it passes, and whether it stays inside CUDA's rules.

Memory is sparse: a byte that the kernel reads before writing gets its value on the spot, from a hash of the
seed and its place, and is remembered; what was touched last tells how large the buffer must be.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tmigrate.tilelang.interpreter.arithmetic import Native
from tmigrate.tilelang.interpreter.functions import Program, reachable
from tmigrate.tilelang.interpreter.machine import Limits, Machine
from tmigrate.tilelang.interpreter.memory import POINTER, Buffer, CellKind, Fault
from tmigrate.tilelang.ir.expressions import Var
from tmigrate.tilelang.ir.module import Function, Module
from tmigrate.tilelang.ir.node import Node, rewrite_region, walk, with_fields
from tmigrate.tilelang.ir.statements import Assign, Cover, For, If, Region, While
from tmigrate.tilelang.ir.structs import Structs, definition_of, size_of
from tmigrate.tilelang.ir.types import ArrayType, PointerType, ScalarType, StructType, Type, VoidType
from tmigrate.verification.values import Values, scalar_bytes

Size = tuple[int, int, int]

LARGEST_BUFFER = 1 << 24  # bytes; an index that reaches further is not bounded by the sizes given
DYNAMIC_SHARED = 16 << 10  # bytes of dynamic shared memory, for a kernel that uses any
_LIMITS = Limits(steps=400_000, seconds=10.0)


@dataclass(frozen=True, slots=True)
class Slot:
    """One scalar or pointer of a kernel's parameters: `config.width` at byte 4 of parameter 2."""

    name: str
    kind: CellKind
    parameter: int
    offset: int
    pointee: Type | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """A launch before its memory is known: sizes, the scalars by slot name, and how memory is filled."""

    grid: Size
    block: Size
    scalars: Mapping[str, int | float | bool]
    shared: int = 0
    integers: str = "small"
    floats: str = "ordinary"
    seed: int = 1
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def describe(self) -> str:
        """`n=161, grid 3, block 64`; sizes without their trailing ones."""
        scalars = [f"{name}={value}" for name, value in self.scalars.items()]
        profile = [f"{self.floats} floats"] if self.floats != "ordinary" else []
        return ", ".join([*scalars, f"grid {_short(self.grid)}", f"block {_short(self.block)}", *profile])


def _short(size: Size) -> str:
    kept = list(size)
    while len(kept) > 1 and kept[-1] == 1:
        kept.pop()
    return "x".join(map(str, kept))


@dataclass(frozen=True, slots=True)
class Prepared:
    """A launch with all its bytes: what the harness program is told.

    `arguments` holds the bytes of each parameter; `pointers` says (parameter, byte offset, buffer) where
    addresses go; `variables` holds the initial bytes of module variables.
    """

    case: Case
    arguments: tuple[bytes, ...]
    pointers: tuple[tuple[int, int, int], ...]
    buffers: tuple[bytes, ...]
    variables: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Probed:
    """What one run showed.  `launch` is None where it is not usable; then `fault` says why.

    `final` is memory after the run, for comparing orders of threads; `uninitialised`: it read shared or local
    memory that nothing had written.
    """

    covered: frozenset[int]
    fault: Fault | None = None
    launch: Prepared | None = None
    final: tuple[bytes, ...] = ()
    uninitialised: bool = False
    steps: int = 0


def slots_of(function: Function, structs: Structs) -> tuple[Slot, ...]:
    """The scalars and pointers of all parameters, structs by value taken apart."""
    found: list[Slot] = []
    for position, p in enumerate(function.parameters):
        found += _slots(p.name, p.type, position, 0, structs)
    return tuple(found)


def _slots(name: str, t: Type, parameter: int, offset: int, structs: Structs) -> Iterable[Slot]:
    if isinstance(t, PointerType):
        yield Slot(name, POINTER, parameter, offset, t.pointee)
    elif isinstance(t, StructType):
        for member in definition_of(t, structs).fields:
            yield from _slots(
                f"{name}.{member.name}", member.type, parameter, offset + member.offset, structs
            )
    elif isinstance(t, ArrayType):
        width = size_of(t.element, structs)
        for k in range(t.count):
            yield from _slots(f"{name}[{k}]", t.element, parameter, offset + k * width, structs)
    elif isinstance(t, ScalarType):
        yield Slot(name, t, parameter, offset)


# ---- coverage ----------------------------------------------------------------------------------------


class _Marker:
    """Puts a coverage point at each outcome of each branch and at each store."""

    def __init__(self) -> None:
        self.count = 0

    def point(self) -> Cover:
        self.count += 1
        return Cover(self.count - 1)

    def mark(self, it: Node) -> Node | tuple[Node, ...] | None:
        if isinstance(it, If):
            then, otherwise = (self.point(), *it.then), (self.point(), *it.otherwise)
            return with_fields(it, then=then, otherwise=otherwise)
        if isinstance(it, For | While):
            return with_fields(it, body=(self.point(), *it.body)), self.point()
        if isinstance(it, Assign) and not isinstance(it.target, Var):
            return it, self.point()
        return None


def marked(module: Module, function: Function) -> tuple[Module, Function, int]:
    """The module and the kernel with coverage points, and how many there are."""
    marker = _Marker()
    names = {f.name for f in reachable(module, function)}
    functions = tuple(_marked(f, marker) if f.name in names else f for f in module.functions)
    made = Module(module.name, functions, module.constants, module.structs, module.variables)
    kernel = made.function(function.name)
    assert kernel is not None
    return made, kernel, marker.count


def _marked(f: Function, marker: _Marker) -> Function:
    body: Region = rewrite_region(f.body, marker.mark)  # type: ignore[assignment]
    return Function(
        f.name, f.parameters, body, f.kind, f.level, f.result, f.dimensions, f.symbol, f.doc, f.location
    )


# ---- running -----------------------------------------------------------------------------------------


class Probe:
    """A kernel made ready to run on generated values."""

    def __init__(self, module: Module, function: Function, limits: Limits = _LIMITS) -> None:
        self.module, self.function, self.points = marked(module, function)
        self.structs = module.struct_table
        self.slots = slots_of(function, self.structs)
        self.program = Program(self.module, self.function, Native())
        self.limits = limits
        used = _variables_used(self.module, self.function)
        self.variables = tuple(v for v in module.variables if v.name in used)
        self.scalar_names = {slot.name for slot in self.slots if slot.kind is not POINTER}
        kinds = [kind for slot in self.slots for kind in self.kinds(slot)]
        kinds += [kind for v in self.variables for _, kind in self.program.scope.leaves(v.type)]
        scalars = [kind for kind in kinds if isinstance(kind, ScalarType)]
        self.has_integer_memory = any(kind.is_integer for kind in scalars)
        self.has_float_memory = any(kind.is_float for kind in scalars)

    def kinds(self, slot: Slot) -> tuple[CellKind, ...]:
        """What the memory behind a pointer slot is made of; nothing for a scalar or a `void` pointer."""
        if slot.pointee is None or isinstance(slot.pointee, VoidType):
            return ()
        return tuple(kind for _, kind in self.program.scope.leaves(slot.pointee))

    def width(self, t: Type) -> int:
        """The size of an element in bytes; a `void` pointer counts bytes."""
        return 1 if isinstance(t, VoidType) else size_of(t, self.structs)

    def run(self, case: Case, order: int | None = None) -> Probed:
        """Run one case; `order` seeds the order of threads."""
        pointers = [slot for slot in self.slots if slot.kind is POINTER]
        buffers = [Buffer(slot.name, 1 << 36, self._element(slot)) for slot in pointers]
        storage = {v.name: Buffer(v.name, size_of(v.type, self.structs)) for v in self.variables}
        values = Values(case.seed, case.integers, case.floats, case.ranges, [*buffers, *storage.values()])
        self.program.scope.access.unknown = values.unknown
        machine = Machine(self.limits, order)
        outcome = machine.launch(
            self.program,
            case.grid,
            case.block,
            self._arguments(case, values, buffers),
            shared_bytes=case.shared,
            variables=storage,
        )
        covered = frozenset(machine.covered)
        fault = outcome.fault or _too_large(buffers)
        if fault is not None:
            return Probed(covered, fault, steps=outcome.steps)
        launch = Prepared(
            case,
            self._argument_bytes(case, values),
            tuple((slot.parameter, slot.offset, k) for k, slot in enumerate(pointers)),
            tuple(values.initial_bytes(b, _extent(b)) for b in buffers),
            {name: values.initial_bytes(b, b.size) for name, b in storage.items()},
        )
        final = tuple(_final_bytes(b) for b in [*buffers, *storage.values()])
        return Probed(covered, None, launch, final, values.stray, outcome.steps)

    def _element(self, slot: Slot) -> CellKind | None:
        """The kind of a buffer's cells, where its type says so."""
        t = slot.pointee
        return self.program.scope.common_kind(t) if t is not None and not isinstance(t, VoidType) else None

    def _arguments(self, case: Case, values: Values, buffers: list[Buffer]) -> list[Any]:
        """The arguments as the interpreter takes them: a struct is the tuple of its leaves."""
        pointers = iter(buffers)
        leaves: list[list[Any]] = [[] for _ in self.function.parameters]
        for slot in self.slots:
            value = (next(pointers), 0) if slot.kind is POINTER else scalar(case, values, slot)
            leaves[slot.parameter].append(value)
        whole = [isinstance(p.type, StructType | ArrayType) for p in self.function.parameters]
        return [tuple(found) if w else found[0] for found, w in zip(leaves, whole, strict=True)]

    def _argument_bytes(self, case: Case, values: Values) -> tuple[bytes, ...]:
        return argument_bytes(self.function, self.slots, self.structs, case, values)


def argument_bytes(
    function: Function, slots: Iterable[Slot], structs: Structs, case: Case, values: Values
) -> tuple[bytes, ...]:
    """The bytes of each parameter; addresses stay zero, to be filled in by the harness."""
    made = [bytearray(size_of(p.type, structs)) for p in function.parameters]
    for slot in slots:
        if isinstance(slot.kind, ScalarType):
            data = scalar_bytes(scalar(case, values, slot), slot.kind)
            made[slot.parameter][slot.offset : slot.offset + len(data)] = data
    return tuple(map(bytes, made))


def scalar(case: Case, values: Values, slot: Slot) -> int | float | bool:
    """The value of a scalar slot: the case's, or a drawn one."""
    given = case.scalars.get(slot.name)
    assert isinstance(slot.kind, ScalarType)
    return values.scalar(slot.name, slot.kind) if given is None else given


def _variables_used(module: Module, function: Function) -> set[str]:
    nodes = (it for f in reachable(module, function) for it in walk(f.body))
    return {it.name for it in nodes if isinstance(it, Var)}


def _extent(buffer: Buffer) -> int:
    """One past the last byte touched."""
    if not buffer.cells:
        return 0
    last = max(buffer.cells)
    kind = buffer.element or buffer.kinds[last]
    return last + kind.bytes


def _too_large(buffers: Iterable[Buffer]) -> Fault | None:
    for buffer in buffers:
        if _extent(buffer) > LARGEST_BUFFER:
            message = f"{buffer.name} is accessed at byte {_extent(buffer)}: no size given bounds its index"
            return Fault("bounds", message)
    return None


def _final_bytes(buffer: Buffer) -> bytes:
    """A digest of memory after a run: equal only where all cells are equal, bit for bit."""
    rows = []
    for offset in sorted(buffer.cells):
        kind = buffer.element or buffer.kinds[offset]
        value = buffer.cells[offset]
        data = scalar_bytes(value, kind) if isinstance(kind, ScalarType) else repr(value[1]).encode()
        rows.append(struct.pack("<q", offset) + data)
    return b"".join(rows)
