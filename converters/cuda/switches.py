"""`switch` without jumps into the middle: a chain of ifs.

Each case whose statements end in break (or return, or continue) becomes one branch::

    switch (k) { case 0: a(); break; case 1: case 2: b(); break; default: c(); }
    ->  if k == 0: a()  elif k == 1 or k == 2: b()  else: c()

A case that falls through sets a flag that enters the next one.  A break in the middle of a case makes the
switch a loop of one trip that the break leaves.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tmigrate.converters.cuda.bindings import Cursor, CursorKind, children_of, evaluate, key_of
from tmigrate.converters.cuda.context import FunctionContext, JumpTarget
from tmigrate.converters.cuda.conversions import constant, negated
from tmigrate.converters.cuda.refusals import location_of, refuse
from tmigrate.converters.cuda.registry import statement, statement_handler, value
from tmigrate.converters.cuda.slots import has_init
from tmigrate.tilelang.ir.expressions import Compare, CompareOp, Const, Expr, Logical, LogicalOp, type_of
from tmigrate.tilelang.ir.statements import Assign, Break, Continue, Declare, If, Region, Stmt, While
from tmigrate.tilelang.ir.types import B1, ScalarType


@dataclass(slots=True)
class _Case:
    """A run of labels and the statements behind them."""

    where: Cursor
    labels: list[int] = field(default_factory=list)
    is_default: bool = False
    statements: list[Cursor] = field(default_factory=list)


@statement_handler(CursorKind.SWITCH_STMT)
def switch_statement(f: FunctionContext, cursor: Cursor) -> None:
    kids = children_of(cursor)
    if has_init(f.module.parsed, cursor):
        statement(f, kids.pop(0))
    if len(kids) != 2 or kids[1].kind != CursorKind.COMPOUND_STMT:
        refuse("TM1031", "this form of switch is not converted", cursor, "use if and else")
    subject = value(f, kids[0])
    if not f.is_simple(subject):
        subject = f.temporary("selector", subject)
    cases = _cases(kids[1])
    _check_scopes(cases)
    if not cases:
        return
    middle = any(_breaks_inside(c) for c in cases)
    if middle or any(_falls_through(c) for c in cases[:-1]):
        _general(f, cursor, subject, cases, middle)
    else:
        f.out.extend(_chain(f, cursor, subject, cases))


def _cases(body: Cursor) -> list[_Case]:
    """The statements of the body by label."""
    cases: list[_Case] = []
    for item in children_of(body):
        current = item
        fresh: _Case | None = None
        while current.kind in (CursorKind.CASE_STMT, CursorKind.DEFAULT_STMT):
            if fresh is None:
                merge = cases and not cases[-1].statements
                fresh = cases[-1] if merge else _Case(current)
                if not merge:
                    cases.append(fresh)
            kids = children_of(current)
            if current.kind == CursorKind.DEFAULT_STMT:
                fresh.is_default = True
            else:
                if len(kids) != 2:
                    refuse("TM1031", "a range of cases is not converted", current, "list the cases")
                label = evaluate(kids[0])
                if not isinstance(label, int):
                    refuse("TM1031", "this case's value is not known", current)
                fresh.labels.append(label)
            current = kids[-1]
        if not cases:
            refuse("TM1031", "statements ahead of the first case are not converted", item, "move them out")
        cases[-1].statements.append(current)
        _check_no_label(current)
    return cases


def _check_no_label(cursor: Cursor) -> None:
    """Refuse a case inside of another statement (Duff's device)."""
    stack = [cursor]
    while stack:
        it = stack.pop()
        if it.kind in (CursorKind.CASE_STMT, CursorKind.DEFAULT_STMT):
            refuse("TM1031", "a case inside of another statement is not converted", it, "use if and else")
        if it.kind != CursorKind.SWITCH_STMT:
            stack += children_of(it)


def _check_scopes(cases: list[_Case]) -> None:
    """Refuse a variable that one case declares and another uses."""
    owner: dict[int, int] = {}
    for n, case in enumerate(cases):
        for item in case.statements:
            if item.kind == CursorKind.DECL_STMT:
                owner.update((key_of(v), n) for v in children_of(item))
    for n, case in enumerate(cases):
        stack = list(case.statements)
        while stack:
            it = stack.pop()
            named = it.referenced if it.kind == CursorKind.DECL_REF_EXPR else None
            if named is not None and owner.get(key_of(named), n) != n:
                refuse("TM1031", f"'{it.spelling}' is declared in another case", it,
                       "declare it ahead of the switch")  # fmt: skip
            stack += children_of(it)


_JUMPS = (CursorKind.BREAK_STMT, CursorKind.RETURN_STMT, CursorKind.CONTINUE_STMT)


def _last(case: _Case) -> Cursor | None:
    """The last statement, inside of a block if the case's statements are one."""
    found = case.statements[-1] if case.statements else None
    while found is not None and found.kind == CursorKind.COMPOUND_STMT:
        kids = children_of(found)
        found = kids[-1] if kids else None
    return found


def _falls_through(case: _Case) -> bool:
    last = _last(case)
    return last is None or last.kind not in _JUMPS


def _breaks_inside(case: _Case) -> bool:
    """Whether a break other than the last statement binds to the switch."""
    last = _last(case)
    stack = list(case.statements)
    while stack:
        it = stack.pop()
        if it.kind == CursorKind.BREAK_STMT and it != last:
            return True
        inner = (CursorKind.FOR_STMT, CursorKind.WHILE_STMT, CursorKind.DO_STMT, CursorKind.SWITCH_STMT)
        if it.kind not in inner:
            stack += children_of(it)
    return False


def _matches(subject: Expr, case: _Case) -> Expr:
    """`k == 1 or k == 2`."""
    t = type_of(subject)
    assert isinstance(t, ScalarType)
    here = location_of(case.where)
    tests: list[Expr] = [
        Compare(CompareOp.EQ, subject, Const(constant(label, t).value, t), location=here)
        for label in case.labels
    ]
    found = tests[0]
    for test in tests[1:]:
        found = Logical(LogicalOp.OR, found, test, location=here)
    return found


def _chain(f: FunctionContext, cursor: Cursor, subject: Expr, cases: list[_Case]) -> list[Stmt]:
    """if, elif, else; the default's statements stand in the last else."""
    otherwise: Region = ()
    for case in cases:
        if case.is_default:
            otherwise = _statements(f, case)
    for case in reversed(cases):
        if not case.is_default:
            then = _statements(f, case)
            otherwise = (If(_matches(subject, case), then, otherwise, location=location_of(case.where)),)
    return list(otherwise)


def _statements(f: FunctionContext, case: _Case) -> Region:
    """The statements of a case without its last break."""
    last = _last(case)
    with f.region() as inner:
        for item in case.statements:
            _without_break(f, item, last)
    return tuple(inner)


def _without_break(f: FunctionContext, item: Cursor, last: Cursor | None) -> None:
    if last is not None and item == last and item.kind == CursorKind.BREAK_STMT:
        return
    if item.kind == CursorKind.COMPOUND_STMT:
        for child in children_of(item):
            _without_break(f, child, last)
        return
    statement(f, item)


def _general(f: FunctionContext, cursor: Cursor, subject: Expr, cases: list[_Case], middle: bool) -> None:
    """Fall through by a flag, breaks in the middle by a loop of one trip."""
    here = location_of(cursor)
    target = JumpTarget(is_switch=True)
    if middle:
        target.flag = f.variable("goes_on", B1, unstable=True)
        f.targets.append(target)
    try:
        with f.region() as inner:
            _fall(f, subject, cases)
    finally:
        if middle:
            f.targets.pop()
    if not middle:
        f.out.extend(inner)
        return
    assert target.flag is not None
    if target.continues:
        f.emit(Declare(target.flag, Const(False, B1), location=here))
    f.emit(While(Const(True, B1), (*inner, Break(location=here)), (), location=here))
    if target.continues:
        inside_switch = bool(f.targets) and f.targets[-1].is_switch
        leave: Stmt = Break(location=here) if inside_switch else Continue(location=here)
        f.emit(If(target.flag, (leave,), (), location=here))


def _fall(f: FunctionContext, subject: Expr, cases: list[_Case]) -> None:
    """Each case under `entered or k == label`; one that does not fall through clears the flag."""
    others = [c for c in cases if not c.is_default]
    falls = [_falls_through(c) for c in cases[:-1]]
    entered = f.variable("entered", B1, unstable=True) if any(falls) else None
    if entered is not None:
        f.emit(Declare(entered, Const(False, B1), location=f.location))
    for n, case in enumerate(cases):
        match = _default_match(subject, case, others) if case.is_default else _matches(subject, case)
        if entered is not None and n > 0 and falls[n - 1]:
            match = Logical(LogicalOp.OR, entered, match, location=match.location)
        flag: Region = ()
        if entered is not None and n < len(falls):
            flag = (Assign(entered, Const(falls[n], B1), location=f.location),)
        f.emit(If(match, (*flag, *_statements(f, case)), (), location=location_of(case.where)))


def _default_match(subject: Expr, default: _Case, others: list[_Case]) -> Expr:
    """No other label matches."""
    here = location_of(default.where)
    found: Expr = Const(True, B1, location=here)
    for case in others:
        test = negated(_matches(subject, case))
        found = test if isinstance(found, Const) else Logical(LogicalOp.AND, found, test, location=here)
    return found
