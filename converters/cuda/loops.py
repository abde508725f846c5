"""Loops: `for`, `while`, `do`, and when a `for` of C is a range."""

from __future__ import annotations

from tmigrate.converters.cuda.bindings import (
    BinaryKind,
    Cursor,
    CursorKind,
    binary_kind,
    children_of,
    evaluate,
    is_null,
    key_of,
)
from tmigrate.converters.cuda.context import FunctionContext, JumpTarget, is_effectful_name
from tmigrate.converters.cuda.conversions import constant, convert, negated
from tmigrate.converters.cuda.refusals import location_of, refuse
from tmigrate.converters.cuda.registry import effect, statement, statement_handler, value
from tmigrate.converters.cuda.slots import for_slots
from tmigrate.converters.cuda.statements import block, condition_value
from tmigrate.tilelang.ir.expressions import (
    AddressOf,
    Binary,
    BinaryOp,
    Call,
    Compare,
    CompareOp,
    Const,
    Expr,
    NamedConst,
    Subscript,
    Var,
    type_of,
)  # fmt: skip
from tmigrate.tilelang.ir.node import walk
from tmigrate.tilelang.ir.statements import (
    Assign,
    Break,
    Declare,
    Evaluate,
    For,
    If,
    Region,
    Stmt,
    While,
)  # fmt: skip
from tmigrate.tilelang.ir.types import B1, ArrayType, ScalarType

TRUE = Const(True, B1)


def _body(f: FunctionContext, cursor: Cursor) -> Region:
    f.targets.append(JumpTarget())
    try:
        return block(f, cursor)
    finally:
        f.targets.pop()


@statement_handler(CursorKind.WHILE_STMT)
def while_statement(f: FunctionContext, cursor: Cursor) -> None:
    kids = children_of(cursor)
    if len(kids) != 2:
        refuse("TM1013", "a variable declared in a condition is not converted", cursor,
               "declare it ahead of the loop")  # fmt: skip
    emit_while(f, kids[0], kids[1], (), cursor)


def emit_while(f: FunctionContext, test: Cursor | None, body: Cursor, step: Region, cursor: Cursor) -> None:
    """`while test`; a test with effects runs at the start of each trip."""
    here = location_of(cursor)
    with f.region() as before:
        condition = TRUE if test is None else condition_value(f, test)
    inner = _body(f, body)
    if before:
        leave = If(negated(condition), (Break(location=here),), (), location=here)
        f.emit(While(TRUE, (*before, leave, *inner), step, location=here))
    else:
        f.emit(While(condition, inner, step, location=here))


@statement_handler(CursorKind.DO_STMT)
def do_statement(f: FunctionContext, cursor: Cursor) -> None:
    """`do b while (c)`: the test stands in the step region, which `continue` reaches."""
    body, test = children_of(cursor)
    here = location_of(cursor)
    if evaluate(test) == 0 and not _jumps(body):
        statement(f, body)  # `do { ... } while (0)` of a macro
        return
    inner = _body(f, body)
    with f.region() as step:
        condition = condition_value(f, test)
        if not (isinstance(condition, Const) and condition.value):
            f.emit(If(negated(condition), (Break(location=here),), (), location=here))
    f.emit(While(TRUE, inner, tuple(step), location=here))


def _jumps(body: Cursor) -> bool:
    """Whether a `break` or `continue` inside binds to the loop around `body`."""
    stack = [body]
    while stack:
        cursor = stack.pop()
        if cursor.kind in (CursorKind.BREAK_STMT, CursorKind.CONTINUE_STMT):
            return True
        loops = (CursorKind.FOR_STMT, CursorKind.WHILE_STMT, CursorKind.DO_STMT, CursorKind.LAMBDA_EXPR)
        if cursor.kind not in loops:
            stack += children_of(cursor)
    return False


# ---- for ---------------------------------------------------------------------------------------------


@statement_handler(CursorKind.FOR_STMT)
def for_statement(f: FunctionContext, cursor: Cursor) -> None:
    slots = for_slots(f.module.parsed, cursor)
    here = location_of(cursor)
    mark = len(f.out)
    if slots.init is not None:
        _init(f, slots.init)
    own = f.out[-1] if len(f.out) == mark + 1 else None
    with f.region() as before:
        condition = TRUE if slots.condition is None else condition_value(f, slots.condition)
    inner = _body(f, slots.body)
    with f.region() as step:
        if slots.step is not None:
            effect(f, slots.step)
    if before:
        leave = If(negated(condition), (Break(location=here),), (), location=here)
        f.emit(While(TRUE, (*before, leave, *inner), tuple(step), location=here))
        return
    ranged = _as_range(f, own, condition, tuple(step), inner, cursor)
    if ranged is None:
        f.emit(While(condition, inner, tuple(step), location=here))
    else:
        f.out[mark:] = [ranged]


def _init(f: FunctionContext, init: Cursor) -> None:
    """The first slot: a declaration, or expressions; `j = 0` of a variable that only such loops use
    declares it for this loop."""
    if init.kind == CursorKind.DECL_STMT:
        statement(f, init)
        return
    if init.kind == CursorKind.BINARY_OPERATOR and binary_kind(init) == BinaryKind.ASSIGN:
        target, start = children_of(init)
        known = None if is_null(target.referenced) else f.pending.get(key_of(target.referenced))
        if target.kind == CursorKind.DECL_REF_EXPR and known is not None:
            name, t = known
            initial = convert(f, value(f, start), t, init)
            var = f.variable(name, t, unstable=True)
            f.emit(Declare(var, initial, location=location_of(init)))
            f.bind(target.referenced, var)
            return
    effect(f, init)


def _as_range(
    f: FunctionContext, own: Stmt | None, condition: Expr, step: Region, body: Region, cursor: Cursor
) -> For | None:
    """The `for` as a range, where neither its body nor its step does more than a range allows."""
    if not isinstance(own, Declare) or own.value is None or not isinstance(own.var.type, ScalarType):
        return None
    var, by = own.var, _constant_step(own.var, step)
    if by is None or not own.var.type.is_integer:
        return None
    stop = _stop(var, by, condition, own.value)
    if stop is None or not _keeps(body, var, own.value, stop):
        return None
    step_value = Const(by, var.type)
    return For(var, own.value, stop, step_value, body, location=location_of(cursor))


def _constant_step(var: Var, step: Region) -> int | None:
    """c of `v = v + c` or `v = v - c`, the only statement of the step."""
    if len(step) != 1 or not isinstance(step[0], Assign) or step[0].target != var:
        return None
    stored = step[0].value
    if not isinstance(stored, Binary) or stored.op not in (BinaryOp.ADD, BinaryOp.SUB):
        return None
    left, right = stored.left, stored.right
    if left != var and stored.op is BinaryOp.ADD:
        left, right = right, left
    if left != var or not isinstance(right, Const | NamedConst) or not isinstance(right.value, int):
        return None
    by = right.value if stored.op is BinaryOp.ADD else -right.value
    return by or None


_FLIPPED = {
    CompareOp.LT: CompareOp.GT, CompareOp.GT: CompareOp.LT, CompareOp.LE: CompareOp.GE,
    CompareOp.GE: CompareOp.LE, CompareOp.EQ: CompareOp.EQ, CompareOp.NE: CompareOp.NE,
}  # fmt: skip


def _stop(var: Var, by: int, condition: Expr, start: Expr) -> Expr | None:
    """The bound of `v < n`, `v <= n`, `v > n`, `v >= n`; None where the loop may wrap around."""
    if not isinstance(condition, Compare):
        return None
    op, bound = condition.op, condition.right
    if condition.left != var:
        op, bound = _FLIPPED[op], condition.left
        if condition.right != var:
            return None
    if any(isinstance(n, Var) and n.name == var.name for n in walk(bound)):
        return None
    t = var.type
    assert isinstance(t, ScalarType)
    if op is (CompareOp.LT if by > 0 else CompareOp.GT):
        safe = t.is_signed or abs(by) == 1 or isinstance(bound, Const | NamedConst)
        return bound if safe else None
    if op is not (CompareOp.LE if by > 0 else CompareOp.GE):
        return None
    if isinstance(bound, Const) and isinstance(bound.value, int):
        past = bound.value + (1 if by > 0 else -1)
        return Const(past, t, location=bound.location) if constant(past, t).value == past else None
    if not t.is_signed:
        return None
    one = Const(1, t)
    return Binary(BinaryOp.ADD if by > 0 else BinaryOp.SUB, bound, one, location=bound.location)


def _keeps(body: Region, var: Var, start: Expr, stop: Expr) -> bool:
    """Whether the body leaves the variable and everything that the bounds read as they are."""
    read = {n.name for n in walk((start, stop)) if isinstance(n, Var)} | {var.name}
    memory = any(
        isinstance(n, Subscript) or (isinstance(n, Call) and is_effectful_name(n.callee)) for n in walk(stop)
    )
    for node in walk(body):
        if isinstance(node, Assign):
            if _root(node.target) in read:
                return False
            if memory and not isinstance(node.target, Var):
                return False
        if memory and isinstance(node, Evaluate):
            return False
        if memory and isinstance(node, Call) and is_effectful_name(node.callee):
            return False
        if isinstance(node, AddressOf) and _root(node.place) in read:
            return False
    return True


def _root(place: Expr) -> str:
    """The variable that a place is part of; "" for memory behind a pointer."""
    while not isinstance(place, Var):
        base = getattr(place, "base", None)
        if base is None or (isinstance(place, Subscript) and not isinstance(type_of(base), ArrayType)):
            return ""
        place = base
    return place.name
