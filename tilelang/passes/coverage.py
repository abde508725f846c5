"""Insert coverage points: both outcomes of every branch and operand, loops entered and left, every store.

    if c: y[i] = 1      ->      if c:
                                    cover(0)
                                    cover(2)
                                    y[i] = 1
                                else: cover(1)

Points are numbered per kernel; a kernel gets its own copies of the device functions it calls, so that one
byte array serves a launch.  An endless loop (`while True`) has no outcome "left".
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeVar

from tmigrate.locations import Location
from tmigrate.tilelang.ir.expressions import (
    Call,
    Cast,
    Compare,
    CompareOp,
    Const,
    Expr,
    Logical,
    LogicalOp,
    NamedConst,
    Select,
    Unary,
    UnaryOp,
    Var,
    type_of,
)
from tmigrate.tilelang.ir.intrinsics import INTRINSICS, Effect
from tmigrate.tilelang.ir.module import Function, FunctionKind, Module
from tmigrate.tilelang.ir.node import Node, rewrite, rewrite_region, walk, with_fields
from tmigrate.tilelang.ir.statements import (
    Allocate,
    Assign,
    Break,
    Comment,
    Cover,
    Declare,
    Evaluate,
    For,
    If,
    Region,
    Stmt,
    While,
)
from tmigrate.tilelang.ir.types import B1, I32, ScalarType
from tmigrate.tilelang.passes.names import Names, names_of

N = TypeVar("N", bound=Node)


class PointKind(Enum):
    """What a coverage point stands for."""

    THEN = "condition true"
    ELSE = "condition false"
    ENTERED = "loop entered"
    LEFT = "loop left"
    STORE = "store"
    HOLDS = "operand true"
    FAILS = "operand false"


@dataclass(frozen=True, slots=True)
class CoveragePoint:
    """One byte of `tm_launch.coverage`: its kind, the statement's place, and the kernel or function."""

    kind: PointKind
    function: str
    location: Location | None = None

    @property
    def is_operand(self) -> bool:
        """Whether it asks for a value of an operand of `and` or `or`: noted, but not required."""
        return self.kind in (PointKind.HOLDS, PointKind.FAILS)


Points = dict[str, tuple[CoveragePoint, ...]]


def insert_coverage(module: Module) -> tuple[Module, Points]:
    """The module with `Cover` statements, and each kernel's points in the order of their numbers."""
    made: list[Function] = []
    points: Points = {}
    for kernel in module.kernels:
        found: list[CoveragePoint] = []
        callees = _reached(kernel, module)
        copies = {f.name: f"{f.name}.{kernel.name}" for f in callees}
        for function in (*callees, kernel):
            body = _Inserter(function, module, found).region(function.body)
            body = _renamed_calls(body, copies)
            made.append(replace(function, name=copies.get(function.name, function.name), body=body))
        points[kernel.name] = tuple(found)
    return replace(module, functions=tuple(made)), points


def _decided_choice(it: Node) -> Node | None:
    """`a if True else b`, of a template argument, is `a`: no run can reach the other."""
    outcome = decided(it.condition) if isinstance(it, Select) else None
    if outcome is None or not isinstance(it, Select):
        return None
    return it.then if outcome else it.otherwise


def _reached(kernel: Function, module: Module) -> list[Function]:
    """The device functions that a kernel calls, in the module's order."""
    names, pending = set(), [kernel]
    while pending:
        for it in walk(pending.pop().body):
            target = module.function(it.callee) if isinstance(it, Call) else None
            if target is not None and target.name not in names:
                names.add(target.name)
                pending.append(target)
    return [f for f in module.functions if f.name in names and f.kind is FunctionKind.DEVICE]


def _renamed_calls(body: Region, copies: dict[str, str]) -> Region:
    def rule(it: Node) -> Node | None:
        if isinstance(it, Call) and it.callee in copies:
            return with_fields(it, callee=copies[it.callee])
        return None

    return rewrite_region(body, rule)  # type: ignore[return-value]


class _Inserter:
    def __init__(self, function: Function, module: Module, points: list[CoveragePoint]) -> None:
        self.function = function
        self.points = points
        self.here: Location | None = function.location  # of the statement at hand
        self.names: Names = names_of(function, module)
        self.implied: frozenset[Expr] = frozenset()  # operands whose value others of the expression decide
        self.asked = frozenset(_other_labels(function))
        self._rules: dict[type[Stmt], Callable[..., list[Stmt]]] = {
            If: self.branch,
            For: self.counted,
            While: self.general,
        }

    def point(self, kind: PointKind, location: Location | None) -> int:
        """The number of a new point."""
        self.points.append(CoveragePoint(kind, self.function.name, location or self.here))
        return len(self.points) - 1

    def cover(self, kind: PointKind, location: Location | None) -> Cover:
        """A statement that marks a new point."""
        return Cover(self.point(kind, location))

    def region(self, region: Region) -> Region:
        """A region with its points."""
        made: list[Stmt] = []
        for s in region:
            self.here = s.location or self.here
            rule = self._rules.get(type(s))
            made += rule(s) if rule else self.simple(s)
        return tuple(made)

    def simple(self, s: Stmt) -> list[Stmt]:
        """A statement without regions: a point for its store."""
        if isinstance(s, Comment | Allocate | Break):
            return [s]
        changed = self.marked(s)
        return [self.cover(PointKind.STORE, s.location), changed] if stores(s) else [changed]

    def branch(self, s: If) -> list[Stmt]:
        """Both arms begin with a point; an arm that the operands' types rule out has none.

        `unsigned char c = ...; if (c > 255)` holds for no value of its type: no run can reach its arm.
        """
        outcome = decided(s.condition)
        if outcome is not None:
            reached = {"then" if outcome else "otherwise": self.region(s.then if outcome else s.otherwise)}
            return [with_fields(s, **reached)]
        condition = self.expression(s.condition)
        then = self.cover(PointKind.THEN, s.location)
        otherwise = self.cover(PointKind.ELSE, s.location)
        arms = (then, *self.region(s.then)), (otherwise, *self.region(s.otherwise))
        return [with_fields(s, condition=condition, then=arms[0], otherwise=arms[1])]

    def counted(self, s: For) -> list[Stmt]:
        """The body begins with a point; another follows the loop."""
        entered = self.cover(PointKind.ENTERED, s.location)
        start, stop = self.expression(s.start), self.expression(s.stop)
        return self.left(s, entered, {"start": start, "stop": stop})

    def general(self, s: While) -> list[Stmt]:
        """As for a counted loop; the condition is evaluated in between."""
        condition = self.expression(s.condition)
        entered = self.cover(PointKind.ENTERED, s.location)
        step = self.region(s.step)
        if isinstance(condition, Const) and condition.value:
            return [with_fields(s, body=(entered, *self.region(s.body)), step=step)]
        return self.left(s, entered, {"condition": condition, "step": step})

    def left(self, s: For | While, entered: Cover, changes: dict[str, object]) -> list[Stmt]:
        """A loop and the point that is passed where it ends by its condition, not by `break`."""
        body = self.region(s.body)
        step = changes.get("step", ())
        assert isinstance(step, tuple)
        left = self.cover(PointKind.LEFT, s.location)
        if not (_breaks(body) or _breaks(step)):
            return [with_fields(s, body=(entered, *body), **changes), left]
        flag = Var(self.names.fresh("ran_out"), B1)
        lower = Assign(flag, Const(False, B1))
        body = _before_breaks(body, lower)
        if step:
            changes["step"] = _before_breaks(step, lower)
        loop = with_fields(s, body=(entered, *body), **changes)
        return [Declare(flag, Const(True, B1)), loop, If(flag, (left,), ())]

    def expression(self, e: Expr) -> Expr:
        """An expression with points at its conditional parts."""
        return self.marked(e)

    def marked(self, it: N) -> N:
        """A statement or an expression with points at its conditional parts."""
        it = rewrite(it, _decided_choice)
        roots = [e for e in walk(it) if isinstance(e, Logical)]
        self.implied = frozenset(e for root in roots for e in implied(root, {}))
        return rewrite(it, self.selected)

    def selected(self, it: Node) -> Node | None:
        """`a if c else b` marks which one it took, `a and b` what each operand gave."""
        if isinstance(it, Logical):
            return with_fields(it, left=self.operand(it.left, it), right=self.operand(it.right, it))
        if not isinstance(it, Select):
            return None
        place = it.location or it.condition.location
        return with_fields(it, condition=self.outcome(it.condition, PointKind.THEN, PointKind.ELSE, place))

    def operand(self, e: Expr, around: Logical) -> Expr:
        """An operand with a point for each value; one that is itself `and` or `or` has its own operands'."""
        if isinstance(e, Logical | Const) or decided(e) is not None or e in self.implied or e in self.asked:
            return e
        return self.outcome(e, PointKind.HOLDS, PointKind.FAILS, e.location or around.location)

    def outcome(self, e: Expr, true: PointKind, false: PointKind, place: Location | None) -> Expr:
        """A condition that marks its value."""
        arguments = (e, Const(self.point(true, place), I32), Const(self.point(false, place), I32))
        return Call("tm_cover_outcome", arguments, B1)


def implied(e: Expr, known: Mapping[Expr, bool]) -> Iterator[Expr]:
    """The operands of `and` and `or` that have one value only where they are asked for.

    `x == 8 or (x != 7 and x != 8)`: the last is asked for where `x == 8` has failed.
    """
    if not isinstance(e, Logical):
        if e in known:
            yield e
        return
    yield from implied(e.left, known)
    yield from implied(e.right, {**known, **_consequences(e.left, e.op is LogicalOp.AND)})


def _consequences(e: Expr, holds: bool) -> dict[Expr, bool]:
    """What else has a known value where `e` is true (or false)."""
    if isinstance(e, Logical):
        if holds is not (e.op is LogicalOp.AND):
            return {}
        return {**_consequences(e.left, holds), **_consequences(e.right, holds)}
    found = {e: holds}
    if isinstance(e, Compare) and e.op in _OPPOSITES:
        found[with_fields(e, op=_OPPOSITES[e.op])] = not holds
    return found


def _other_labels(function: Function) -> Iterator[Expr]:
    """`x != 7` where an `if x == 7` asks for both values.

    A switch whose last label falls through: `if x == 7: entered = True`, `if entered or x != 7: ...`.
    """
    for it in walk(function.body):
        if isinstance(it, If) and isinstance(it.condition, Compare) and it.condition.op is CompareOp.EQ:
            yield with_fields(it.condition, op=CompareOp.NE)


def decided(condition: Expr) -> bool | None:
    """What a condition gives for every value of its operands' types; None where it depends.

    `True`, of a template argument; `i32(c) > 255` for an unsigned char; `not` and `and` of such.
    """
    if isinstance(condition, Const | NamedConst) and isinstance(condition.value, bool):
        return condition.value
    if isinstance(condition, Unary) and condition.op is UnaryOp.NOT:
        inner = decided(condition.operand)
        return None if inner is None else not inner
    if isinstance(condition, Logical):
        outcomes = {decided(condition.left), decided(condition.right)}
        dominant = condition.op is LogicalOp.OR
        return dominant if dominant in outcomes else None if None in outcomes else not dominant
    if not isinstance(condition, Compare) or not isinstance(condition.right, Const | NamedConst):
        return None
    bounds, limit = _bounds(condition.left), condition.right.value
    if bounds is None or isinstance(limit, float):
        return None
    if condition.op in (CompareOp.EQ, CompareOp.NE):
        if bounds[0] <= limit <= bounds[1] and bounds[0] != bounds[1]:
            return None
        return (bounds[0] == limit) is (condition.op is CompareOp.EQ)
    outcomes = {_COMPARISONS[condition.op](value, limit) for value in bounds}
    return outcomes.pop() if len(outcomes) == 1 else None


# Not of `<` and its kin: both may fail for a NaN.
_OPPOSITES = {CompareOp.EQ: CompareOp.NE, CompareOp.NE: CompareOp.EQ}
_COMPARISONS: dict[CompareOp, Callable[[int, int], bool]] = {
    CompareOp.EQ: operator.eq,
    CompareOp.NE: operator.ne,
    CompareOp.LT: operator.lt,
    CompareOp.LE: operator.le,
    CompareOp.GT: operator.gt,
    CompareOp.GE: operator.ge,
}


def _bounds(e: Expr) -> tuple[int, int] | None:
    """The least and the greatest value of an integer expression, by its type before widening casts."""
    t = type_of(e)
    if not isinstance(t, ScalarType) or not t.is_integer:
        return None
    if isinstance(e, Const | NamedConst):
        return int(e.value), int(e.value)
    own = (-(1 << (t.bits - 1)), (1 << (t.bits - 1)) - 1) if t.is_signed else (0, (1 << t.bits) - 1)
    inner = _bounds(e.operand) if isinstance(e, Cast) else None
    return inner if inner is not None and own[0] <= inner[0] and inner[1] <= own[1] else own


def stores(s: Stmt) -> bool:
    """Whether a statement stores to memory: an assignment to an element, or an atomic."""
    if isinstance(s, Assign) and not isinstance(s.target, Var):
        return True
    value = getattr(s, "value", None)
    if not isinstance(s, Declare | Assign | Evaluate) or not isinstance(value, Call):
        return False
    return value.callee in INTRINSICS and INTRINSICS[value.callee].effect is Effect.ATOMIC


def _breaks(region: Region) -> bool:
    """Whether a `break` binds to the loop whose body this is."""
    return any(
        isinstance(s, Break) or (isinstance(s, If) and (_breaks(s.then) or _breaks(s.otherwise)))
        for s in region
    )


def _before_breaks(region: Region, statement: Stmt) -> Region:
    made: list[Stmt] = []
    for s in region:
        if isinstance(s, Break):
            made.append(statement)
        elif isinstance(s, If):
            then, otherwise = (_before_breaks(r, statement) for r in (s.then, s.otherwise))
            s = with_fields(s, then=then, otherwise=otherwise)
        made.append(s)
    return tuple(made)
