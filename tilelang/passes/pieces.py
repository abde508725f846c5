"""The last step of `threads_to_loops`: variables that live across pieces, and the loops over threads.

A variable that one piece declares and another uses is

- *recomputed* there, where its value follows from indices and scalars: `i = blockIdx.x * 64 + t`;
- else a *context*, an array with one element per thread: pieces load their element first and store it last.
  A variable whose address is taken, or an array, is used in place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product

from tmigrate.tilelang.ir.expressions import (
    AddressOf,
    Binary,
    BinaryOp,
    Bitcast,
    Cast,
    Compare,
    Const,
    Expr,
    LaunchIndex,
    LaunchIndexKind,
    Logical,
    MakeArray,
    NamedConst,
    PointerAdd,
    Select,
    Subscript,
    Unary,
    Var,
)
from tmigrate.tilelang.ir.module import Module
from tmigrate.tilelang.ir.node import Node, rewrite_region, walk, with_fields
from tmigrate.tilelang.ir.statements import (
    Allocate,
    Assign,
    Declare,
    For,
    If,
    LoopKind,
    Region,
    Return,
    Stmt,
)
from tmigrate.tilelang.ir.types import I64, U32, ArrayType, Space, is_float
from tmigrate.tilelang.passes.contexts import context_name, context_type
from tmigrate.tilelang.passes.effects import address_taken, assigned_variables
from tmigrate.tilelang.passes.names import Names
from tmigrate.tilelang.passes.thread_bounds import narrow

_CHEAP = (
    Const, NamedConst, Var, LaunchIndex, Unary, Binary, Compare, Logical, Select, Cast, Bitcast, PointerAdd,
)  # fmt: skip
_DIVISIONS = (BinaryOp.TRUNC_DIV, BinaryOp.TRUNC_REM, BinaryOp.FLOOR_DIV, BinaryOp.FLOOR_MOD, BinaryOp.DIV)
THREAD = Var("thread", I64)


@dataclass
class _Variables:
    """What the pieces of a kernel share."""

    recomputed: dict[str, Declare] = field(default_factory=dict)  # in the order of declaration
    contexts: dict[str, Var] = field(default_factory=dict)  # loaded and stored
    in_place: dict[str, Var] = field(default_factory=dict)
    originals: dict[str, Var] = field(default_factory=dict)
    allocations: list[Stmt] = field(default_factory=list)


def finish_pieces(body: Sequence[Stmt], names: Names, module: Module, scalars: frozenset[str]) -> list[Stmt]:
    """Give each piece its variables and its loops; allocations of contexts come first."""
    whole = tuple(body)
    pieces = [it for it in walk(whole) if isinstance(it, For) and it.kind is LoopKind.THREADS]
    variables = _classify(whole, pieces, names, module, scalars)
    axes = tuple(Var(names.fresh(f"thread_{axis}"), U32) for axis in "xyz")
    number = Var(names.fresh("thread"), I64)

    def rule(it: Node) -> Node | None:
        if isinstance(it, For) and it.kind is LoopKind.THREADS:
            return _nest(_with_variables(it, variables), axes, number, names)
        return None

    finished = rewrite_region(whole, rule)
    return [*variables.allocations, *finished]  # type: ignore[list-item]


# ---- which variables -----------------------------------------------------------------------------------


def _classify(
    whole: Region, pieces: list[For], names: Names, module: Module, scalars: frozenset[str]
) -> _Variables:
    found = _Variables()
    if len(pieces) < 2:
        return found
    uses: dict[str, int] = {}
    for piece in pieces:
        for name in {it.name for it in walk(piece.body) if isinstance(it, Var)} | _declared(piece).keys():
            uses[name] = uses.get(name, 0) + 1
    in_memory, assigned = address_taken(whole), assigned_variables(whole)
    changing = assigned | {v.name for v in module.variables}
    for piece in pieces:
        for name, statement in _declared(piece).items():
            if uses[name] < 2 and name not in in_memory:
                continue
            if isinstance(statement, Declare) and _is_recomputable(
                statement, found, in_memory | assigned, changing, scalars
            ):
                found.recomputed[name] = statement
                continue
            var = statement.var
            direct = name in in_memory or isinstance(var.type, ArrayType)
            context = Var(names.fresh(context_name(name, name in in_memory)), context_type(var.type))
            (found.in_place if direct else found.contexts)[name] = context
            found.originals[name] = var
            found.allocations.append(Allocate(context, Space.LOCAL))
    return found


def _declared(piece: For) -> dict[str, Declare | Allocate]:
    return {s.var.name: s for s in piece.body if isinstance(s, Declare | Allocate)}


def _is_recomputable(
    s: Declare,
    found: _Variables,
    fixed_not: frozenset[str],
    changing: frozenset[str],
    scalars: frozenset[str],
) -> bool:
    if s.value is None or s.var.name in fixed_not or is_float(s.var.type):
        return False
    declared_per_thread = found.contexts.keys() | found.in_place.keys()
    for it in walk(s.value):
        if not isinstance(it, _CHEAP):
            return False
        if isinstance(it, Binary) and it.op in _DIVISIONS and not isinstance(it.right, Const):
            return False
        if isinstance(it, Var):
            if it.name in changing or it.name in declared_per_thread or isinstance(it.type, ArrayType):
                return False
            if it.name not in found.recomputed and it.name not in scalars:
                return False
    return True


# ---- one piece -----------------------------------------------------------------------------------------


def _with_variables(piece: For, variables: _Variables) -> For:
    guard, body = _split_guard(piece.body)
    declared = _declared(piece)
    used = {it.name for it in walk(body) if isinstance(it, Var)} | declared.keys()
    written = assigned_variables(body) | declared.keys()
    loads: list[Stmt] = []
    stores: list[Stmt] = []
    early: list[Stmt] = []  # before a jump out of the piece: what it declares is dead then
    for name, context in variables.contexts.items():
        if name not in used:
            continue
        element = Subscript(context, (THREAD,))
        original = variables.originals[name]
        store = Assign(element, original)
        if name not in declared:
            loads.append(Declare(original, element))
        if name in written:
            stores.append(store)
            if name not in declared:
                early.append(store)
    body = _in_place(body, variables.in_place)
    if early:
        body = _before_returns(body, early)
    again = [variables.recomputed[n] for n in _needed(body, variables) if n not in declared]
    return with_fields(piece, body=(*guard, *again, *loads, *body, *stores))


def _split_guard(body: Region) -> tuple[Region, Region]:
    """The skip of threads outside of the mask, if there is one, and the rest."""
    if body and isinstance(body[0], If) and isinstance(body[0].condition, Unary):
        inner = body[0].condition.operand
        if isinstance(inner, Subscript) and inner.indices == (THREAD,):
            return body[:1], body[1:]
    return (), body


def _needed(body: Region, variables: _Variables) -> list[str]:
    """The recomputed variables that a body uses, through each other too, in the order of declaration."""
    wanted = {it.name for it in walk(body) if isinstance(it, Var)}
    for name in reversed(variables.recomputed):
        value = variables.recomputed[name].value
        if name in wanted and value is not None:
            wanted |= {it.name for it in walk(value) if isinstance(it, Var)}
    return [name for name in variables.recomputed if name in wanted]


def _in_place(body: Region, arrays: dict[str, Var]) -> Region:
    """Uses of variables that live in context arrays themselves."""
    if not arrays:
        return body

    def rule(it: Node) -> Node | tuple[Node, ...] | None:
        if isinstance(it, Allocate | Declare) and it.var.name in arrays:
            if isinstance(it, Allocate) or it.value is None:
                return ()
            return Assign(Subscript(arrays[it.var.name], (THREAD,)), it.value, location=it.location)
        if isinstance(it, Var) and it.name in arrays and not isinstance(it.type, ArrayType):
            return Subscript(arrays[it.name], (THREAD,))
        array = _array_inside(it, arrays)
        if array is None:
            return None
        context = arrays[array.name]
        if isinstance(it, Subscript):
            return with_fields(it, base=context, indices=(THREAD, *it.indices))
        if isinstance(it, AddressOf):
            return with_fields(it, place=Subscript(context, (THREAD, *_first(array))))
        assert isinstance(it, Assign) and isinstance(it.value, MakeArray)
        return _elementwise(it, it.value, array, context)

    return rewrite_region(body, rule)  # type: ignore[return-value]


def _array_inside(it: Node, arrays: dict[str, Var]) -> Var | None:
    """The array variable that a subscript, an address or an assignment names whole."""
    inner: Node | None = None
    if isinstance(it, Subscript):
        inner = it.base
    elif isinstance(it, AddressOf):
        inner = it.place
    elif isinstance(it, Assign):
        inner = it.target
    return inner if isinstance(inner, Var) and inner.name in arrays else None


def _first(array: Var) -> tuple[Expr, ...]:
    assert isinstance(array.type, ArrayType)
    return tuple(Const(0, I64) for _ in array.type.shape)


def _elementwise(s: Assign, value: MakeArray, array: Var, context: Var) -> tuple[Stmt, ...]:
    """`a = array(f32, [4], 1.0)` as four assignments."""
    t = array.type
    assert isinstance(t, ArrayType)
    zero = Const(0.0 if is_float(t.element) else 0, t.element)
    made: list[Stmt] = []
    for flat, place in enumerate(product(*(range(extent) for extent in t.shape))):
        target = Subscript(context, (THREAD, *(Const(i, I64) for i in place)), location=s.location)
        item = value.values[flat] if flat < len(value.values) else zero
        made.append(Assign(target, item, location=s.location))
    return tuple(made)


def _before_returns(body: Region, stores: list[Stmt]) -> Region:
    def rule(it: Node) -> Node | tuple[Node, ...] | None:
        return (*stores, it) if isinstance(it, Return) else None

    return rewrite_region(body, rule)  # type: ignore[return-value]


# ---- loops ---------------------------------------------------------------------------------------------


def _nest(piece: For, axes: tuple[Var, ...], number: Var, names: Names) -> For:
    """Loops over z, y and x around a piece's body, x innermost; `thread` numbers them as CUDA does."""
    replacements: dict[str, Expr] = {THREAD.name: number}
    used = {it.name for it in walk(piece.body) if isinstance(it, Var)}

    def rule(it: Node) -> Node | None:
        if isinstance(it, LaunchIndex) and it.kind is LaunchIndexKind.THREAD:
            return axes[it.axis]
        return replacements.get(it.name) if isinstance(it, Var) else None

    x, y, z = axes
    sizes = [LaunchIndex(LaunchIndexKind.BLOCK_SIZE, axis) for axis in range(3)]
    wide = [Cast(I64, size) for size in sizes]
    row = Var(names.fresh("row"), I64)
    body: Region = rewrite_region(piece.body, rule)  # type: ignore[assignment]
    before: Region = ()
    if THREAD.name in used:
        plane = Binary(BinaryOp.ADD, Binary(BinaryOp.MUL, Cast(I64, z), wide[1]), Cast(I64, y))
        before = (Declare(row, Binary(BinaryOp.MUL, plane, wide[0])),)
        body = (Declare(number, Binary(BinaryOp.ADD, row, Cast(I64, x))), *body)
    inner = narrow(_threads(x, sizes[0], body), x, names)
    return _threads(z, sizes[2], (_threads(y, sizes[1], (*before, *inner)),))


def _threads(var: Var, size: Expr, body: Region) -> For:
    return For(var, Const(0, U32), size, Const(1, U32), body, LoopKind.THREADS)
