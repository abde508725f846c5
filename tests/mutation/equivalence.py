"""Mutants that can be shown to be no fault.

Their optimised code is the original's; or they differ in an assumption only, and assume at least as much.
"""

from __future__ import annotations

import operator
import random
import re
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from enum import Enum
from functools import lru_cache
from pathlib import Path

from mutants import Mutant

from tmigrate.diagnostics import TmigrateError
from tmigrate.emission import select
from tmigrate.tilelang.ir.expressions import (
    Binary,
    BinaryOp,
    Cast,
    Compare,
    CompareOp,
    Const,
    Expr,
    LaunchIndex,
    NamedConst,
    Reduce,
    ReduceOp,
    Unary,
    UnaryOp,
    Var,
    type_of,
)
from tmigrate.tilelang.ir.module import Function, Module
from tmigrate.tilelang.ir.node import Node, rewrite_region, walk, with_fields
from tmigrate.tilelang.ir.statements import Assume
from tmigrate.tilelang.ir.types import ScalarType
from tmigrate.tilelang.runtime.objects import RUNTIME_HEADERS
from tmigrate.tilelang.runtime.toolchain import ARITHMETIC_FLAGS, find_compilers, run_compiler
from tmigrate.tilelang.targets.cpu.build import write_source
from tmigrate.tilelang.targets.cpu.options import EmitOptions

_FLAGS = ("-O2", *ARITHMETIC_FLAGS, "-fno-math-errno", "-fno-trapping-math", "-S", "-x", "c")
_NOISE = re.compile(r"^\s*\.(file|ident|size|type|loc)\b.*$|\s+#.*$", re.M)


def is_equal_code(mutant: Mutant, module: Module, kernels: Sequence[str], options: EmitOptions) -> bool:
    """Whether the kernels that run the mutant compile to the same instructions with and without it."""
    changed = mutant.module(module)
    try:
        return _assembly(_of(module, kernels), options) == _assembly(_of(changed, kernels), options)
    except (TmigrateError, ValueError):
        return False


def _of(module: Module, kernels: Sequence[str]) -> Module:
    functions: list[Function] = [f for f in module.functions if f.name in kernels]
    return replace(select(module, functions), name="m", source="m")


@lru_cache(maxsize=64)
def _assembly(module: Module, options: EmitOptions) -> str:
    return assembly_of(write_source(module, options).text)


@lru_cache(maxsize=64)
def assembly_of(text: str) -> str:
    """The instructions that the C compiler makes of a source; ValueError where it refuses it."""
    with tempfile.TemporaryDirectory(prefix="mutation-") as name:
        source, made = Path(name) / "m.c", Path(name) / "m.s"
        source.write_text(text)
        words = [*_FLAGS, "-I", str(RUNTIME_HEADERS), str(source), "-o", str(made)]
        done = run_compiler(find_compilers().c, words)
        if done.returncode:
            raise ValueError(done.stderr.splitlines()[0])
        return _NOISE.sub("", made.read_text())


# ---- the same up to the order of operands ---------------------------------------------------------------

_COMMUTATIVE = (BinaryOp.ADD, BinaryOp.MUL, BinaryOp.AND, BinaryOp.OR, BinaryOp.XOR)
_NEUTRAL = {ReduceOp.SUM: (BinaryOp.ADD, 0), ReduceOp.PRODUCT: (BinaryOp.MUL, 1)}


def normal_form(f: Function) -> Function:
    """The function with operands of commutative operators sorted, without `0 + sum(...)` or `1 * prod(...)`.

    Equal normal forms store equal values: folds start with 0 and 1 themselves.
    """

    def rule(it: Node) -> Node | None:
        if not isinstance(it, Binary) or it.op not in _COMMUTATIVE:
            return None
        left, right = sorted((it.left, it.right), key=_key)
        for one, other in ((left, right), (right, left)):
            found = isinstance(other, Reduce) and isinstance(one, Const)
            if found and _NEUTRAL.get(other.op) == (it.op, one.value):  # type: ignore[attr-defined]
                return other
        return with_fields(it, left=left, right=right)

    return replace(f, body=rewrite_region(f.body, rule))  # type: ignore[arg-type]


def _key(e: Node) -> str:
    """A text that equal expressions share, whatever their places in the source."""
    values = [getattr(e, f.name) for f in fields(e) if f.compare]
    inner = [_key(v) if isinstance(v, Node) else repr(v) for v in values if not isinstance(v, tuple)]
    inner += [_key(v) if isinstance(v, Node) else repr(v) for t in values if isinstance(t, tuple) for v in t]
    return f"{type(e).__name__}({', '.join(inner)})"


# ---- assumptions -------------------------------------------------------------------------------------

_DRAWS = 4000


def assumes_enough(mutant: Mutant, original: Function) -> bool:
    """Whether the mutant differs in assumptions only, and wherever its hold, the original's hold.

    Stronger assumptions are no fault: where they fail, the thread-level version runs.  Shown on drawn values:
    1 to 8 for launch sizes, -2 to 40 for parameters.
    """
    if [s for s in mutant.function.body if not isinstance(s, Assume)] != [
        s for s in original.body if not isinstance(s, Assume)
    ]:
        return False
    changed, before = _conditions(mutant.function), _conditions(original)
    draw = random.Random(1)
    launch, names = _atoms([*changed, *before])
    held = 0
    for _ in range(_DRAWS):
        values: dict[Expr, int] = {e: draw.choice((1, 1, 2, 3, 4, 5, 8)) for e in launch}
        values |= {e: draw.randrange(-2, 41) for e in names}
        try:
            if all(_value(c, values) for c in changed):
                held += 1
                if not all(_value(c, values) for c in before):
                    return False
        except (KeyError, OverflowError):
            return False
    return held > 0


def _conditions(f: Function) -> list[Expr]:
    return [s.condition for s in f.body if isinstance(s, Assume)]


def _atoms(conditions: Iterable[Expr]) -> tuple[list[Expr], list[Expr]]:
    found = dict.fromkeys(it for c in conditions for it in walk(c) if isinstance(it, Expr))
    launch: list[Expr] = [e for e in found if isinstance(e, LaunchIndex)]
    return launch, [e for e in found if isinstance(e, Var)]


def _value(e: Expr, values: Mapping[Expr, int]) -> int:
    """A condition's value; KeyError for what this does not know."""
    if e in values:
        return values[e]
    if isinstance(e, Const | NamedConst):
        return int(e.value)
    if isinstance(e, Cast):
        t = type_of(e)
        assert isinstance(t, ScalarType)
        return _wrapped(_value(e.operand, values), t)
    if isinstance(e, Unary):
        inner = _value(e.operand, values)
        return int(not inner) if e.op is UnaryOp.NOT else -inner
    if isinstance(e, Binary | Compare):
        return int(_OPERATIONS[e.op](_value(e.left, values), _value(e.right, values)))
    raise KeyError(e)


def _wrapped(value: int, t: ScalarType) -> int:
    value &= (1 << t.bits) - 1
    return value - (1 << t.bits) if t.is_signed and value >> (t.bits - 1) else value


_OPERATIONS: dict[Enum, Callable[[int, int], int]] = {
    BinaryOp.ADD: operator.add,
    BinaryOp.SUB: operator.sub,
    BinaryOp.MUL: operator.mul,
    CompareOp.EQ: operator.eq,
    CompareOp.NE: operator.ne,
    CompareOp.LT: operator.lt,
    CompareOp.LE: operator.le,
    CompareOp.GT: operator.gt,
    CompareOp.GE: operator.ge,
}
