"""Launches whose sizes stand in `tmigrate.toml`: nothing is probed, buffers are filled whole."""

from __future__ import annotations

from dataclasses import replace

from tmigrate.settings import KernelSettings
from tmigrate.tilelang.interpreter.memory import POINTER, Buffer
from tmigrate.tilelang.ir.structs import size_of
from tmigrate.tilelang.ir.types import U8, ScalarType, Type, VoidType
from tmigrate.verification.probing import DYNAMIC_SHARED, Case, Prepared, Probe, argument_bytes
from tmigrate.verification.values import Values

_PROFILES = (("ordinary", 1), ("special", 2), ("ordinary", 3))


def explicit_launches(probe: Probe, settings: KernelSettings) -> tuple[Prepared, ...] | None:
    """The launches of complete settings: grid, block, and a size for each pointer and integer; else None.

    `sizes = {n = [1000, 37], x = [1000, 37]}` gives two sets of sizes; each runs on ordinary and special
    floats.
    """
    names = {
        s.name
        for s in probe.slots
        if s.kind is POINTER or (isinstance(s.kind, ScalarType) and s.kind.is_integer)
    }
    known = settings.sizes.keys() | (settings.ranges.keys() & probe.scalar_names)
    if settings.grid is None or settings.block is None or not names <= known:
        return None
    sets = max((len(values) for values in settings.sizes.values()), default=1)
    found = []
    for k in range(sets):
        sizes = {name: values[k % len(values)] for name, values in settings.sizes.items()}
        scalars = {name: value for name, value in sizes.items() if name in probe.scalar_names}
        shared = DYNAMIC_SHARED if settings.shared is None else settings.shared
        case = Case(settings.grid, settings.block, scalars, shared, ranges=settings.ranges)
        for floats, seed in _PROFILES:
            found.append(_filled(probe, replace(case, floats=floats, seed=seed), sizes))
    return tuple(found)


def _filled(probe: Probe, case: Case, sizes: dict[str, int | float]) -> Prepared:
    pointers = [slot for slot in probe.slots if slot.kind is POINTER]
    buffers = []
    for slot in pointers:
        assert slot.pointee is not None
        buffers.append((Buffer(slot.name, int(sizes[slot.name]) * probe.width(slot.pointee)), slot.pointee))
    for v in probe.variables:
        buffers.append((Buffer(v.name, size_of(v.type, probe.structs)), v.type))
    values = Values(case.seed, case.integers, case.floats, case.ranges, [b for b, _ in buffers])
    contents = [_contents(probe, values, b, t) for b, t in buffers]
    return Prepared(
        case,
        argument_bytes(probe.function, probe.slots, probe.structs, case, values),
        tuple((slot.parameter, slot.offset, k) for k, slot in enumerate(pointers)),
        tuple(contents[: len(pointers)]),
        {v.name: data for v, data in zip(probe.variables, contents[len(pointers) :], strict=True)},
    )


def _contents(probe: Probe, values: Values, buffer: Buffer, t: Type) -> bytes:
    """The buffer's bytes, every element of it drawn."""
    leaves = ((0, U8),) if isinstance(t, VoidType) else probe.program.scope.leaves(t)
    for start in range(0, buffer.size, probe.width(t)):
        for offset, kind in leaves:
            values.unknown(buffer, start + offset, kind)
    return values.initial_bytes(buffer, buffer.size)
