"""Index fusion: the launch's threads become parallel loops over data.

    i = i32(blockIdx.x * blockDim.x + threadIdx.x)          assume(i32(gridDim.x * blockDim.x) >= n)
    if i < n:                                       ->      for i in parallel(range(0, n)):
        y[i] = x[i]                                             y[i] = x[i]

Each axis that the kernel uses needs an upper bound: from a guard, from an early return, or from a
grid-stride loop.  An axis that it does not use must have one thread, else the same work is done twice.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tmigrate.converters.lifting.polynomials import (
    Polynomial,
    always,
    converted,
    to_expression,
    to_polynomial,
)
from tmigrate.converters.lifting.state import BlockedError, Lift, fresh_name
from tmigrate.tilelang.ir.expressions import (
    Binary,
    BinaryOp,
    Call,
    Cast,
    Compare,
    CompareOp,
    Const,
    Expr,
    LaunchIndex,
    LaunchIndexKind,
    NamedConst,
    Unary,
    Var,
    type_of,
)
from tmigrate.tilelang.ir.node import (
    FieldKind,
    Node,
    Trait,
    field_kinds,
    has_trait,
    operands_of,
    walk,
    with_fields,
)
from tmigrate.tilelang.ir.statements import Declare, Region
from tmigrate.tilelang.ir.types import I32, U32, ScalarType, is_integer

AXES = "xyz"


def thread(axis: int) -> LaunchIndex:
    return LaunchIndex(LaunchIndexKind.THREAD, axis)


def block(axis: int) -> LaunchIndex:
    return LaunchIndex(LaunchIndexKind.BLOCK, axis)


def block_size(axis: int) -> LaunchIndex:
    return LaunchIndex(LaunchIndexKind.BLOCK_SIZE, axis)


def grid_size(axis: int) -> LaunchIndex:
    return LaunchIndex(LaunchIndexKind.GRID_SIZE, axis)


@dataclass
class Axis:
    """How one axis of the launch is used: variable = index + offset, over `total` threads."""

    number: int
    name: str = ""
    type: ScalarType = I32
    offset: int = 0
    kind: str = ""  # "" (not used), fused, block, thread
    size: Expr | None = None  # the constant that the source writes for blockDim

    @property
    def var(self) -> Var:
        return Var(self.name, self.type)

    @property
    def total_var(self) -> Var:
        """Stands for the number of threads while strides are matched."""
        return Var(f"total {AXES[self.number]}", I32)

    @property
    def total(self) -> Expr:
        """The number of threads, as u32."""
        if self.kind == "block":
            return grid_size(self.number)
        if self.kind == "thread":
            return block_size(self.number)
        return Binary(BinaryOp.MUL, grid_size(self.number), block_size(self.number))

    def conditions(self) -> list[Expr]:
        """What the launch must look like besides its number of threads."""
        one = Const(1, U32)
        if self.kind == "block":
            return [Compare(CompareOp.EQ, block_size(self.number), one)]
        if self.kind == "thread":
            return [Compare(CompareOp.EQ, grid_size(self.number), one)]
        if not self.kind:
            return [Compare(CompareOp.EQ, self.total, one)]
        if self.size is not None:
            return [Compare(CompareOp.EQ, block_size(self.number), converted(self.size, U32))]
        return []


@dataclass
class Launch:
    """The three axes of a kernel."""

    axes: list[Axis] = field(default_factory=lambda: [Axis(n) for n in range(3)])

    @property
    def used(self) -> list[Axis]:
        return [a for a in self.axes if a.kind]


def find_indices(lift: Lift) -> bool:
    """The rule that runs before names are replaced: remember what the source calls its indices."""
    lift.axes = find_axes(lift)
    return False


def find_axes(lift: Lift) -> Launch:
    """Which axes are used, and the names that the source gives to its indices."""
    launch = Launch()
    seen = {(it.kind, it.axis) for it in walk(lift.body) if isinstance(it, LaunchIndex)}
    for axis in launch.axes:
        at_thread = (LaunchIndexKind.THREAD, axis.number) in seen
        at_block = (LaunchIndexKind.BLOCK, axis.number) in seen
        axis.kind = (
            "fused" if at_thread and at_block else "thread" if at_thread else "block" if at_block else ""
        )
    _find_names(lift, launch)
    taken = lift.taken_names()
    for axis in launch.used:
        if not axis.name:
            axis.name = fresh_name("ijk"[axis.number], taken)
    return launch


def _find_names(lift: Lift, launch: Launch) -> None:
    """`i: i32 = ... + 1` names axis x `i`, with offset 1."""
    known: dict[Expr, Polynomial] = {}
    for s in walk(lift.body):
        if not isinstance(s, Declare) or s.value is None or not is_integer(s.var.type):
            continue
        value = to_polynomial(s.value, always)
        for atom in value.atoms:
            if atom in known:
                value = value.substitute(atom, known[atom])
        known[s.var] = value
        for axis in launch.used:
            fused = _fuse(value, axis)
            if fused is None or axis.name:
                continue
            number = (fused - Polynomial.atom(_marker(axis))).value
            if number is not None and number >= 0:
                axis.name, axis.offset = s.var.name, number
                assert isinstance(s.var.type, ScalarType)
                axis.type = s.var.type


def _marker(axis: Axis) -> Var:
    return Var(f"index {AXES[axis.number]}", I32)


def _fuse(p: Polynomial, axis: Axis) -> Polynomial | None:
    """The polynomial with one axis's launch indices replaced by its marker; None where they do not fit."""
    t, b = thread(axis.number), block(axis.number)
    index = Polynomial.atom(_marker(axis))
    if axis.kind in ("thread", "block"):
        p = p.substitute(t if axis.kind == "thread" else b, index)
        total = block_size(axis.number) if axis.kind == "thread" else grid_size(axis.number)
        return p.substitute(total, Polynomial.atom(axis.total_var))
    per_thread, per_block = p.coefficient(t), p.coefficient(b)
    if not p.is_linear_in(t) or not p.is_linear_in(b):
        return None
    if per_thread.terms or per_block.terms:
        size = _size(per_thread, per_block, axis)
        if size is None:
            return None
        p = p.rest(t).rest(b) + per_thread * index
    return _with_total(p, axis)


def _size(per_thread: Polynomial, per_block: Polynomial, axis: Axis) -> Expr | None:
    """What stands for blockDim: per_block == per_thread * size."""
    if per_block == per_thread * Polynomial.atom(block_size(axis.number)):
        return block_size(axis.number)
    if not per_thread.is_monomial:
        return None
    size, remainder = per_block.divide(per_thread)
    if remainder.terms or not size.is_monomial:
        return None
    ((monomial, factor),) = size.terms.items()
    found: Expr = Const(factor, U32)
    if monomial:
        if len(monomial) != 1 or factor != 1 or not isinstance(monomial[0], NamedConst):
            return None
        found = monomial[0]
    if axis.size is not None and axis.size != found:
        return None
    axis.size = found
    return found


def _with_total(p: Polynomial, axis: Axis) -> Polynomial:
    """gridDim * blockDim -> the number of threads."""
    g, d = grid_size(axis.number), block_size(axis.number)
    per_grid = p.coefficient(g)
    if not per_grid.terms:
        return p
    total = Polynomial.atom(axis.total_var)
    if not per_grid.rest(d).terms:
        return p.rest(g) + per_grid.coefficient(d) * total
    if axis.size is not None:
        size = to_polynomial(axis.size, always)
        if size.is_monomial:
            quotient, remainder = per_grid.divide(size)
            if not remainder.terms:
                return p.rest(g) + quotient * total
    return p


def fuse_region(region: Region, launch: Launch) -> Region:
    """Replace launch indices in every expression."""
    return tuple(_fuse_node(s, launch) for s in region)


def _fuse_node(it: Any, launch: Launch) -> Any:
    """The largest expressions first; where their polynomial does not fit, their operands."""
    if isinstance(it, Expr) and is_integer(type_of(it)) and _holds_index(it):
        p = to_polynomial(it, always)
        if (p.atoms != {it} or isinstance(it, LaunchIndex)) and not _widens_data(it):
            fused = _fused_expression(p, type_of(it), launch)
            if fused is not None:
                return fused
    if isinstance(it, LaunchIndex):
        raise BlockedError(
            "TM3002", "block and thread index do not combine to one index over the launch", it.location
        )
    return _rebuild(it, launch)


def _fused_expression(p: Polynomial, t: Any, launch: Launch) -> Expr | None:
    for axis in launch.used:
        fused = _fuse(p, axis)
        if fused is None:
            return None
        p = fused.substitute(_marker(axis), Polynomial.atom(axis.var) - axis.offset)
    for atom in p.atoms:
        if not isinstance(atom, LaunchIndex) and _holds_index(atom):
            p = p.substitute(atom, Polynomial.atom(_rebuild(atom, launch)))
    return to_expression(p, t)


def _widens_data(e: Expr) -> bool:
    """Whether sums of what memory holds are converted to a wider type: there it shows whether they wrapped.

        y[i] = i64(u32(a[i]) + 7)      # not i64(a[i]) + 7
    """
    for cast in _casts(e):
        narrow, wide = type_of(cast.operand), cast.type
        assert isinstance(narrow, ScalarType) and isinstance(wide, ScalarType)
        p = to_polynomial(cast.operand, always)
        if wide.bits > narrow.bits and p.atoms != {cast.operand} and any(map(_is_data, p.atoms)):
            return True
    return False


def _casts(e: Expr) -> list[Cast]:
    """The integer conversions that a polynomial of `e` takes apart."""
    found: list[Cast] = []
    stack: list[Node] = [e]
    while stack:
        it = stack.pop()
        if isinstance(it, Cast) and is_integer(it.type) and is_integer(type_of(it.operand)):
            found.append(it)
        if isinstance(it, Cast | Unary | Binary):
            stack.extend(operands_of(it))
    return found


def _is_data(atom: Expr) -> bool:
    return any(has_trait(it, Trait.READS_MEMORY) or isinstance(it, Call) for it in walk(atom))


def _holds_index(e: Node) -> bool:
    return any(isinstance(it, LaunchIndex) for it in walk(e))


def _rebuild(it: Any, launch: Launch) -> Any:
    changes: dict[str, Any] = {}
    for name, kind in field_kinds(type(it)):
        value = getattr(it, name)
        if kind is FieldKind.OPERAND and value is not None and _holds_index(value):
            changes[name] = _fuse_node(value, launch)
        elif kind in (FieldKind.OPERANDS, FieldKind.REGION) and any(_holds_index(v) for v in value):
            changes[name] = tuple(_fuse_node(v, launch) for v in value)
    return with_fields(it, **changes) if changes else it
