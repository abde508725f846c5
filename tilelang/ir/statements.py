"""Statements: declarations, stores, structured control, and the few that only a pass or a person writes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from tmigrate.tilelang.ir.expressions import Expr, Var
from tmigrate.tilelang.ir.node import Node, Trait, attribute, binding, node, operand, region
from tmigrate.tilelang.ir.types import Space


@dataclass(frozen=True, slots=True)
class Stmt(Node):
    """Base of statements."""


Region = tuple[Stmt, ...]


@node
class Declare(Stmt):
    """`x: i32 = value`, or `x: i32` left uninitialised: a variable of scalar, pointer or struct type."""

    var: Var = binding()
    value: Expr | None = operand()

    @classmethod
    def traits(cls) -> frozenset[Trait]:
        return frozenset({Trait.DEFINES})


@node
class Allocate(Stmt):
    """`tile = shared(f32, 16, 17)`, `a = local(f32, 8)`, `C = allocate(f32, M, N)`: storage for an array.

    The variable has array type (tensor type for `allocate`, whose space is `device`).
    """

    var: Var = binding()
    space: Space = attribute()

    @classmethod
    def traits(cls) -> frozenset[Trait]:
        return frozenset({Trait.DEFINES})


@node
class Assign(Stmt):
    """`target = value`; the target is a variable, a subscript or a member of such a place."""

    target: Expr = operand()
    value: Expr = operand()

    @classmethod
    def traits(cls) -> frozenset[Trait]:
        return frozenset({Trait.STORES})


@node
class Evaluate(Stmt):
    """An effectful call whose result is not used: `syncthreads()`, `atomic_add(p, 1)`."""

    value: Expr = operand()


@node
class If(Stmt):
    """`if condition:` ... `else:` ..."""

    condition: Expr = operand()
    then: Region = region()
    otherwise: Region = region()

    @classmethod
    def traits(cls) -> frozenset[Trait]:
        return frozenset({Trait.BRANCH})


class LoopKind(Enum):
    """How the iterations of a `for` relate; the value is the word in the text form."""

    SERIAL = "range"
    PARALLEL = "parallel"  # iterations are independent
    THREADS = "threads"  # one iteration per CUDA thread of a block; made by the CPU lowering only
    BLOCKS = "blocks"  # one iteration per CUDA block; made by the CPU lowering only


@node
class For(Stmt):
    """`for var in range(start, stop, step)`, or `parallel(range(...))`.

    The body writes neither the variable nor anything that the bounds read; `step` is a non-zero
    constant.  `break` is allowed only in serial loops.
    """

    var: Var = binding()
    start: Expr = operand()
    stop: Expr = operand()
    step: Expr = operand()
    body: Region = region()
    kind: LoopKind = attribute(default=LoopKind.SERIAL)

    @classmethod
    def traits(cls) -> frozenset[Trait]:
        return frozenset({Trait.LOOP})


@node
class While(Stmt):
    """`while condition:` with a step region that runs after the body and after `continue`.

    C's `for (; c; s) b` is `while c: b; with step: s`; `do b while (c)` is
    `while True: b; with step: if not c: break`.
    """

    condition: Expr = operand()
    body: Region = region()
    step: Region = region()

    @classmethod
    def traits(cls) -> frozenset[Trait]:
        return frozenset({Trait.LOOP, Trait.BRANCH})


@node
class Break(Stmt):
    """Leave the innermost loop."""

    @classmethod
    def traits(cls) -> frozenset[Trait]:
        return frozenset({Trait.JUMPS})


@node
class Continue(Stmt):
    """Go to the innermost loop's step."""

    @classmethod
    def traits(cls) -> frozenset[Trait]:
        return frozenset({Trait.JUMPS})


@node
class Return(Stmt):
    """Leave the function (the thread, in a kernel)."""

    value: Expr | None = operand()

    @classmethod
    def traits(cls) -> frozenset[Trait]:
        return frozenset({Trait.JUMPS})


@node
class Assume(Stmt):
    """`assume(condition)`: a lifted kernel's precondition, checked at each launch before anything runs.

    It may use launch sizes (`gridDim.x * blockDim.x >= n`); where it fails, the thread-level version runs.
    """

    condition: Expr = operand()


@node
class Comment(Stmt):
    """`# text` on a line of its own."""

    text: str = attribute()

    @classmethod
    def traits(cls) -> frozenset[Trait]:
        return frozenset({Trait.NO_OPERATION})


@node
class Cover(Stmt):
    """`cover(3)`: mark coverage point 3 as passed; inserted for verification, never by a person."""

    point: int = attribute()
