"""The bounded check of a lift: both versions run at several small sizes, and all memory must agree exactly.

Floats are elements of a random prime field (so that reordered sums compare exactly) and, in one run, small
exact numbers in their real order.  Module constants that appear in the lifted version take small unequal
values, the same in both versions; integer parameters are drawn until the lifted version's assumptions on
them hold, and the launch is the first that satisfies the rest.  Integer arrays may steer addresses: they are
filled as a permutation, as sorted offsets, as equal small numbers, and from the type's whole range, where
sums wrap; a filling that drives the original out of bounds is not a valid input and is skipped.
"""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from tmigrate.tilelang.interpreter.arithmetic import Arithmetic
from tmigrate.tilelang.interpreter.fields import PrimeField, SmallNumbers
from tmigrate.tilelang.interpreter.functions import Program
from tmigrate.tilelang.interpreter.machine import Limits, Machine, Outcome, Size
from tmigrate.tilelang.interpreter.memory import Buffer
from tmigrate.tilelang.ir.expressions import (
    Compare,
    CompareOp,
    Const,
    Expr,
    LaunchIndex,
    LaunchIndexKind,
    NamedConst,
    Var,
)
from tmigrate.tilelang.ir.module import Function, Level, Module
from tmigrate.tilelang.ir.node import Node, walk
from tmigrate.tilelang.ir.statements import Assume, For, Stmt
from tmigrate.tilelang.ir.structs import size_of
from tmigrate.tilelang.ir.types import (
    B1,
    ArrayType,
    PointerType,
    ScalarType,
    StructType,
    TensorType,
    Type,
)
from tmigrate.tilelang.passes.coverage import stores

STRUCTURES = ("permutation", "sorted", "small", "wide")  # wide: the whole range of the type, where sums wrap
_VALUES = (3, 4, 5, 6, 7)
_BLOCKS = (2, 3, 4, 1, 5, 6, 7, 8)
_DRAWS = 400
_MOST_THREADS = 64
_OTHER_LAUNCHES = 16  # for which the assumptions may fail: where none does, all must agree
_REDZONE = 3
_EXTENTS = (16, 128, 1024)  # elements of a tensor whose extent no expression gives


@dataclass(frozen=True, slots=True)
class BoundedResult:
    """What the check found.

    `status` is checked, failed, or unchecked (with `reason`: time, or why nothing could be run).  `sizes`
    lists what was run, as text; `structures` the fillings of integer arrays that were valid.
    """

    status: str
    sizes: tuple[str, ...] = ()
    structures: tuple[str, ...] = ()
    difference: str = ""
    reason: str = ""
    seconds: float = 0.0

    @property
    def summary(self) -> str:
        """`checked(NI=5 NJ=3, ...; permutation)`."""
        if self.status != "checked":
            return f"{self.status}({self.difference or self.reason})"
        parts = ", ".join(self.sizes)
        return f"checked({parts}; {', '.join(self.structures)})" if self.structures else f"checked({parts})"


@dataclass(frozen=True)
class Sizes:
    """One choice: module constants, parameters by name, launch, symbolic dimensions."""

    constants: dict[str, int]
    scalars: dict[str, Any]
    grid: Size
    block: Size
    dimensions: dict[str, int]

    def __str__(self) -> str:
        numbers = {**self.constants, **{k: v for k, v in self.scalars.items() if isinstance(v, int)}}
        launch = f"{'x'.join(map(str, self.grid))} blocks of {'x'.join(map(str, self.block))}"
        return " ".join([*(f"{k}={v}" for k, v in numbers.items()), launch])


@dataclass
class Comparison:
    """Two versions of a kernel, compiled once for each arithmetic and choice of constants."""

    module: Module
    original: Function
    lifted: Function
    seconds: float
    started: float = field(default_factory=time.monotonic)
    extent: int = _EXTENTS[0]
    any_launch: bool = False  # the assumptions may fail
    changes: bool = False  # a run changed memory

    def left(self) -> float:
        """The time that is left."""
        return self.seconds - (time.monotonic() - self.started)

    @cached_property
    def constants(self) -> list[NamedConst]:
        """The module constants that take small values instead of their own."""
        return _varied_constants(self)

    @cached_property
    def conditions(self) -> tuple[list[Expr], list[Expr]]:
        """What the lifted version assumes of the launch, and of the scalars alone."""
        conditions = [s.condition for s in self.lifted.body if isinstance(s, Assume)]
        on_launch = [c for c in conditions if any(isinstance(it, LaunchIndex) for it in walk(c))]
        return on_launch, [c for c in conditions if c not in on_launch]

    @cached_property
    def fixed_blocks(self) -> dict[int, int]:
        """The block sizes that the lifted version asks for by number, by axis: `assume(blockDim.x == 32)`."""
        found: dict[int, int] = {}
        for c in self.conditions[0]:
            if not isinstance(c, Compare) or c.op is not CompareOp.EQ or not isinstance(c.right, Const):
                continue
            if isinstance(c.left, LaunchIndex) and c.left.kind is LaunchIndexKind.BLOCK_SIZE:
                found[c.left.axis] = int(c.right.value)
        return found

    def compile(self, arithmetic: Arithmetic, constants: Mapping[str, int]) -> tuple[Program, Program]:
        module = self.module
        return (
            Program(module, self.original, arithmetic, constants),
            Program(module, self.lifted, arithmetic, constants),
        )


class Difference(Exception):
    """The versions disagree."""


class Invalid(Exception):
    """The original faults on this input."""


def check(
    module: Module,
    original: Function,
    lifted: Function,
    *,
    seconds: float = 2.0,
    seed: int = 1,
    runs: int = 6,
) -> BoundedResult:
    """Compare a lifted function with its thread-level original; takes at most about `seconds`."""
    job = Comparison(module, original, lifted, seconds)
    draw = random.Random(seed)
    done: list[str] = []
    structures: list[str] = []
    steered = _integer_memory(original, module)
    reason = ""
    for number in range(runs + _OTHER_LAUNCHES + len(_signed_scalars(job))):
        job.any_launch = number >= runs
        if number < runs + _OTHER_LAUNCHES:
            sizes = (_other_launch if job.any_launch else _choose)(job, draw, number)
        else:
            sizes = _with_a_negative(job, draw, number - runs - _OTHER_LAUNCHES)
        if sizes is None:
            reason = "no small size satisfies the assumptions"
            break
        arithmetic = SmallNumbers(seed) if number == runs - 1 else PrimeField(seed * 1009 + number)
        try:
            valid = _run_structures(job, sizes, arithmetic, steered, seed * 31 + number)
            for extent in _EXTENTS[1:]:  # an extent that no expression gives: try larger ones
                if isinstance(valid, str) and extent > job.extent and sizes.dimensions:
                    job.extent = extent
                    sizes = replace(sizes, dimensions=dict.fromkeys(sizes.dimensions, extent))
                    valid = _run_structures(job, sizes, arithmetic, steered, seed * 31 + number)
        except Difference as error:
            taken = time.monotonic() - job.started
            return BoundedResult("failed", (*done, str(sizes)), (), str(error), "", taken)
        except TimeoutError:
            reason = "time"
            break
        if job.any_launch:
            continue
        if isinstance(valid, str):
            reason = valid
            continue
        done.append(str(sizes))
        structures += [s for s in valid if s not in structures]
    taken = time.monotonic() - job.started
    if done and not job.changes and any(stores(s) for s in walk(original.body) if isinstance(s, Stmt)):
        reason, done = reason or "no size that was tried changes memory", []
    if reason and (reason == "time" or not done):
        return BoundedResult("unchecked", tuple(done), tuple(structures), "", reason, taken)
    return BoundedResult("checked", tuple(done), tuple(structures), "", "", taken)


def _run_structures(
    job: Comparison, sizes: Sizes, arithmetic: Arithmetic, steered: bool, seed: int
) -> list[str] | str:
    """The fillings that were valid and agreed; a sentence where none was valid."""
    programs = job.compile(arithmetic, sizes.constants)
    if not steered:
        try:
            _run_once(job, programs, sizes, "", seed)
        except Invalid as error:
            return str(error)
        return []
    valid: list[str] = []
    reason = "no filling of the integer arrays is valid"
    for structure in STRUCTURES:
        try:
            _run_once(job, programs, sizes, structure, seed)
            valid.append(structure)
        except Invalid as error:
            reason = str(error)
    return valid or reason


def _run_once(
    job: Comparison, programs: tuple[Program, Program], sizes: Sizes, structure: str, seed: int
) -> None:
    results: list[tuple[Outcome, dict[str, Buffer]]] = []
    for program, order in zip(programs, (None, seed), strict=True):
        if job.left() <= 0:
            raise TimeoutError
        memory = _memory(job, sizes, programs[0].arithmetic, structure, seed)
        arguments = [
            (memory[p.name], 0)
            if p.name in memory
            else sizes.scalars.get(p.name, _struct(programs[0], p.type))
            for p in job.original.parameters
        ]
        variables = {v.name: memory[v.name] for v in job.module.variables}
        machine = Machine(_limits(job, structure), order=order)
        outcome = machine.launch(
            program, sizes.grid, sizes.block, arguments, variables=variables,
            dimensions=sizes.dimensions if program is programs[1] else None,
        )  # fmt: skip
        if outcome.fault is not None and outcome.fault.kind in ("time", "steps"):
            if structure == "wide" and program is programs[0]:
                raise Invalid("integers from the whole range steer a loop")
            raise TimeoutError
        results.append((outcome, memory))
    if not job.changes and results[1][0].fault is None:
        untouched = _memory(job, sizes, programs[0].arithmetic, structure, seed)
        job.changes = any(results[0][1][name].cells != it.cells for name, it in untouched.items())
    _compare(job, sizes, structure, *results)


def _limits(job: Comparison, structure: str) -> Limits:
    """Where wide integers turn out to bound a loop, that shall not take the time of the others."""
    left = job.left()
    return Limits(steps=20_000, seconds=min(left, 0.5)) if structure == "wide" else Limits(seconds=left)


def _compare(
    job: Comparison,
    sizes: Sizes,
    structure: str,
    first: tuple[Outcome, dict[str, Buffer]],
    second: tuple[Outcome, dict[str, Buffer]],
) -> None:
    """Raise where the runs differ in a fault or in any cell of memory."""
    place = f"at {sizes}" + (f", {structure} integers" if structure else "")
    if job.any_launch and second[0].fault is not None and second[0].fault.kind == "assumption":
        return
    if first[0].fault is not None:
        if structure or job.any_launch or second[0].fault is not None:
            raise Invalid(f"the original faults: {first[0].fault.message}")
        raise Difference(f"{place}: only the original faults: {first[0].fault.message}")
    if second[0].fault is not None:
        raise Difference(f"{place}: the lifted version faults: {second[0].fault}")
    for name, buffer in first[1].items():
        other = second[1][name]
        if buffer.cells == other.cells:
            continue
        for at in sorted({*buffer.cells, *other.cells}):
            here, there = buffer.cells.get(at), other.cells.get(at)
            if here == there or (here != here and there != there):
                continue
            raise Difference(
                f"{place}: byte {at} of {name} is {here} in the original, {there} in the lifted version"
            )


# ---- sizes -------------------------------------------------------------------------------------------


def _choose(job: Comparison, draw: random.Random, number: int) -> Sizes | None:
    """Draw constants and parameters until the assumptions on them hold, then find a launch."""
    on_launch, on_scalars = job.conditions
    scalars = [p for p in job.original.parameters if isinstance(p.type, ScalarType)]
    test = _tester(job, on_scalars)
    fixed = max(job.fixed_blocks.values(), default=0)
    for attempt in range(_DRAWS):
        constants = _constants(draw, job.constants)
        values = {p.name: _scalar(draw, p.type, attempt, fixed) for p in scalars}
        if not test(constants, values):
            continue
        launch = _launch(job, on_launch, constants, values, draw, number)
        if launch is not None:
            return Sizes(
                constants, values, *launch, dict.fromkeys((d.name for d in job.lifted.dimensions), job.extent)
            )
    return None


def _other_launch(job: Comparison, draw: random.Random, number: int) -> Sizes | None:
    """A launch that a program might make, whether or not the assumptions hold for it; they must tell.

    In turn, each axis of a valid launch gets other blocks, fewer of them, or more where it had one thread;
    every fourth time the scalars are others.
    """
    sizes = _choose(job, draw, number)
    if sizes is None:
        return None
    axis, kind = number % 4, number // 4 % 4
    if axis == 3:
        scalars = [p for p in job.original.parameters if isinstance(p.type, ScalarType)]
        return replace(sizes, scalars={p.name: _scalar(draw, p.type, draw.randrange(2)) for p in scalars})
    grid, block = list(sizes.grid), list(sizes.block)
    g, b = grid[axis], block[axis]
    others = [(2, 1), (1, 2)] * 2 if g * b == 1 else [(g, 1), (1, b), (g, max(b - 1, 1)), (max(g - 1, 1), b)]
    grid[axis], block[axis] = others[kind]
    for other in {0, 1, 2} - {axis}:
        if draw.random() < 0.3:
            block[other] = draw.randint(1, min(block[other] + 1, 4))
    return replace(sizes, grid=_size(grid), block=_size(block))


def _with_a_negative(job: Comparison, draw: random.Random, which: int) -> Sizes | None:
    """A valid launch, but for one scalar below 0: `assume(first >= 0)` fails then, if it is there."""
    sizes = _choose(job, draw, which)
    if sizes is None:
        return None
    return replace(sizes, scalars={**sizes.scalars, _signed_scalars(job)[which].name: -draw.randrange(1, 4)})


def _signed_scalars(job: Comparison) -> list[Var]:
    parameters = job.original.parameters
    return [p for p in parameters if isinstance(p.type, ScalarType) and p.type.is_signed]


def _varied_constants(job: Comparison) -> list[NamedConst]:
    """Integer constants of the lifted version's ranges, shapes and conditions, except sizes of arrays."""
    sized: set[int] = set()
    for f in (job.original, job.lifted):
        for it in walk(f.body):
            t = getattr(getattr(it, "var", None), "type", None)
            if isinstance(t, ArrayType):
                sized |= set(t.shape)
    for v in job.module.variables:
        sized |= set(v.type.shape)
    found: dict[str, NamedConst] = {}
    for root in _size_expressions(job.lifted):
        for it in walk(root):
            if (
                isinstance(it, NamedConst)
                and isinstance(it.value, int)
                and it.value not in sized
                and it.value > 2
            ):
                found[it.name] = it
    return list(found.values())


def _size_expressions(f: Function) -> Iterable[Node]:
    for p in f.parameters:
        if isinstance(p.type, TensorType):
            yield from p.type.shape
    for it in walk(f.body):
        if isinstance(it, For):
            yield from (it.start, it.stop)
        elif isinstance(it, Assume):
            yield it.condition


def _constants(draw: random.Random, names: list[NamedConst]) -> dict[str, int]:
    """Unequal small numbers while there are enough of them."""
    pool = list(_VALUES)
    draw.shuffle(pool)
    while len(pool) < len(names):
        pool.append(draw.choice(_VALUES))
    return {c.name: pool[k] for k, c in enumerate(names)}


def _scalar(draw: random.Random, t: Type, attempt: int, fixed: int = 0) -> Any:
    """A small number; where the source fixes a larger block, every other one reaches into the next blocks."""
    assert isinstance(t, ScalarType)
    if fixed > max(_BLOCKS) and t.is_integer and draw.random() < 0.5:
        return draw.randrange(fixed + 1, 3 * fixed)
    if t == B1:
        return draw.random() < 0.5
    if t.is_float:
        return draw.randrange(2, 9)
    return draw.randrange(3, 8) if attempt % 2 == 0 else draw.randrange(0, 9)


def _tester(job: Comparison, conditions: list[Expr]) -> Any:
    """Evaluates conditions on constants and parameters."""
    if not conditions:
        return lambda constants, values: True
    parameters = tuple(p for p in job.original.parameters if isinstance(p.type, ScalarType))
    body = tuple(Assume(c) for c in conditions)
    function = Function("assumptions", parameters, body, level=Level.LOOP)
    module = Module(job.module.name, (function,), structs=job.module.structs)

    def test(constants: dict[str, int], values: dict[str, Any]) -> bool:
        program = Program(module, function, SmallNumbers(0), constants)
        return Machine().call(program, [values[p.name] for p in parameters]).fault is None

    return test


def _struct(program: Program, t: Type) -> tuple[Any, ...]:
    """A struct passed by value: small numbers in all members."""
    if not isinstance(t, StructType):
        return ()
    return tuple(k % 3 + 1 for k, _ in enumerate(program.scope.leaves(t)))


def _axes_of(condition: Expr) -> set[int]:
    return {it.axis for it in walk(condition) if isinstance(it, LaunchIndex)}


def _launch(
    job: Comparison,
    conditions: list[Expr],
    constants: dict[str, int],
    values: dict[str, Any],
    draw: random.Random,
    number: int,
) -> tuple[Size, Size] | None:
    """The first launch with small blocks that satisfies the conditions, axis by axis."""
    blocks = [*_BLOCKS[number % 3 :], *_BLOCKS[: number % 3]]
    grid, block = [1, 1, 1], [1, 1, 1]
    parameters = tuple(p for p in job.original.parameters if isinstance(p.type, ScalarType))
    for axis in range(3):
        mine = tuple(Assume(c) for c in conditions if axis in _axes_of(c) and max(_axes_of(c)) == axis)
        if not mine:
            grid[axis], block[axis] = 2, 3
            continue
        function = Function("assumptions", parameters, mine, level=Level.LOOP)
        module = Module(job.module.name, (function,), structs=job.module.structs)
        program = Program(module, function, SmallNumbers(0), constants)
        bound = all(isinstance(s.condition, Compare) and s.condition.op.value == "==" for s in mine)
        arguments = [values[p.name] for p in parameters]
        sizes = [1, *blocks] if bound else blocks
        if axis in job.fixed_blocks:
            sizes = [job.fixed_blocks[axis]]
        for d, g in itertools.product(sizes, range(1, 12)):
            grid[axis], block[axis] = g, d
            fault = Machine().launch(program, _size(grid), _size(block), arguments).fault
            if fault is None:
                break
        else:
            return None
    return _size(grid), _size(block)


def _size(values: list[int]) -> Size:
    return values[0], values[1], values[2]


# ---- memory ------------------------------------------------------------------------------------------


def _integer_memory(f: Function, module: Module) -> bool:
    """Whether integers in memory may steer control or addresses."""
    types = [p.type.pointee for p in f.parameters if isinstance(p.type, PointerType)]
    return any(isinstance(t, ScalarType) and t.is_integer for t in types)


def _memory(
    job: Comparison, sizes: Sizes, arithmetic: Arithmetic, structure: str, seed: int
) -> dict[str, Buffer]:
    """Fresh buffers for all pointer parameters and module variables, with seeded contents."""
    draw = random.Random(seed)
    found: dict[str, Buffer] = {}
    lifted = {p.name: p.type for p in job.lifted.parameters}
    for p in job.original.parameters:
        if not isinstance(p.type, PointerType):
            continue
        t = lifted[p.name]
        assert isinstance(t, TensorType)
        count = 1
        for extent in t.shape:
            count *= max(_evaluate(job, extent, sizes), 0)
        own = any(
            d.name in {v.name for e in t.shape for v in walk(e) if isinstance(v, Var)}
            for d in job.lifted.dimensions
        )
        count += 0 if own else _REDZONE
        found[p.name] = _filled(job, p.name, p.type.pointee, count, arithmetic, structure, draw)
    for v in job.module.variables:
        found[v.name] = _filled(job, v.name, v.type.element, v.type.count, arithmetic, structure, draw)
    return found


def _evaluate(job: Comparison, e: Expr, sizes: Sizes) -> int:
    """An extent."""
    from tmigrate.converters.lifting.polynomials import always, to_polynomial

    p = to_polynomial(e, always)
    for atom in p.atoms:
        if isinstance(atom, NamedConst):
            p = p.substitute(atom, sizes.constants.get(atom.name, int(atom.value)))
        elif isinstance(atom, Var):
            value = sizes.dimensions.get(atom.name, sizes.scalars.get(atom.name))
            p = p.substitute(atom, int(value if value is not None else 16))
    return p.value if p.value is not None else 16


def _filled(
    job: Comparison,
    name: str,
    element: Type,
    count: int,
    arithmetic: Arithmetic,
    structure: str,
    draw: random.Random,
) -> Buffer:
    kinds = [element] if isinstance(element, ScalarType) else []
    width = size_of(element, job.module.struct_table)
    buffer = Buffer(name, width * count, kinds[0] if kinds else None)
    if kinds:
        buffer.fill(kinds[0], _values(kinds[0], count, arithmetic, structure, draw))
        return buffer
    from tmigrate.tilelang.interpreter.expressions import Scope

    leaves = Scope(job.module, arithmetic, {}).leaves(element)
    for k in range(count):
        for offset, kind in leaves:
            if isinstance(kind, ScalarType):
                buffer.cells[k * width + offset] = _values(kind, 1, arithmetic, "small", draw)[0]
                buffer.kinds[k * width + offset] = kind
    return buffer


def _values(
    t: ScalarType, count: int, arithmetic: Arithmetic, structure: str, draw: random.Random
) -> list[Any]:
    if t.is_bool:
        return [draw.random() < 0.5 for _ in range(count)]
    if t.is_float:
        if isinstance(arithmetic, PrimeField):
            return [draw.randrange(arithmetic.prime) for _ in range(count)]
        return [draw.randrange(-4, 5) for _ in range(count)]
    if structure == "permutation":
        made = list(range(count))
        draw.shuffle(made)
        return made
    if structure == "sorted":
        return sorted(draw.randrange(0, max(count, 1)) for _ in range(count))
    if structure == "wide":
        low, high = (-(1 << (t.bits - 1)), (1 << (t.bits - 1)) - 1) if t.is_signed else (0, (1 << t.bits) - 1)
        return [draw.choice((low, high, *(draw.randint(low, high) for _ in range(2)))) for _ in range(count)]
    return [draw.randrange(0, 3) for _ in range(count)]


__all__ = ["BoundedResult", "check"]
