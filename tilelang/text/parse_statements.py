"""Text to statements and functions."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from tmigrate.locations import Location
from tmigrate.tilelang.ir.expressions import (
    BinaryOp,
    Call,
    Const,
    Expr,
    Member,
    PointerAdd,
    Subscript,
    Unary,
    UnaryOp,
    Var,
    type_of,
)
from tmigrate.tilelang.ir.node import with_fields
from tmigrate.tilelang.ir.statements import (
    Allocate,
    Assign,
    Assume,
    Break,
    Comment,
    Continue,
    Cover,
    Declare,
    Evaluate,
    For,
    If,
    LoopKind,
    Region,
    Return,
    Stmt,
    While,
)
from tmigrate.tilelang.ir.types import (
    B1,
    F32,
    I32,
    VOID,
    ArrayType,
    PointerType,
    ScalarType,
    Space,
    StructType,
    TensorType,
    Type,
)
from tmigrate.tilelang.text.comments import CommentTable
from tmigrate.tilelang.text.parse_expressions import (
    ExpressionParser,
    binary_op,
    literal_value,
    parse_shape,
)
from tmigrate.tilelang.text.parse_types import is_type_text, parse_type, static_int
from tmigrate.tilelang.text.scope import Scope, TypeFound

_ALLOCATIONS = {"shared": Space.SHARED, "local": Space.LOCAL, "allocate": Space.GLOBAL}
_LOOPS = {kind.value: kind for kind in LoopKind if kind is not LoopKind.SERIAL}


class StatementParser:
    """Reads the regions of one function."""

    def __init__(
        self, scope: Scope, comments: CommentTable, result: Type | None, mark: Location | None = None
    ) -> None:
        self.scope = scope
        self.comments = comments
        self.expressions = ExpressionParser(scope)
        self.result = result
        self.mark = mark
        self.taken: set[tuple[int, int]] = set()

    def region(self, body: list[ast.stmt], first: int, last: int) -> Region:
        """The statements of `body`, with the comments that stand on lines `first` to `last` (exclusive).

        Of the comments after the last statement only those belong here that are indented as far; what is
        left, a region further out takes.
        """
        column = body[0].col_offset
        found: list[Stmt] = []
        line = first
        for i, it in enumerate(body):
            found.extend(self._comments(line, it.lineno, 0))
            limit = body[i + 1].lineno if i + 1 < len(body) else last
            found.extend(self.statement(it, limit))
            line = (it.end_lineno or it.lineno) + 1
        found.extend(self._comments(line, last, column))
        return tuple(found)

    def _comments(self, first: int, last: int, column: int) -> list[Stmt]:
        """The comments on these lines, indented at least to `column`, that no region has taken yet."""
        found: list[Stmt] = []
        for c in self.comments.between(first, last):
            place = c.line, c.column
            if place not in self.taken and (c.column >= column or not c.alone):
                self.taken.add(place)
                found.append(Comment(c.text))
        return found

    def _header_end(self, it: ast.stmt) -> int:
        """The last line of a statement's own text, without the regions in it."""
        if isinstance(it, ast.For):
            return it.iter.end_lineno or it.lineno
        if isinstance(it, ast.While | ast.If):
            return it.test.end_lineno or it.lineno
        return it.end_lineno or it.lineno

    def place(self, it: ast.stmt) -> Location:
        """Where the statement came from: its mark, else the last mark, else its place in the text."""
        lines = range(it.lineno, self._header_end(it) + 1)
        mark = next((self.comments.marks[n] for n in lines if n in self.comments.marks), None)
        self.mark = mark or self.mark
        return self.mark or self.scope.place(it)

    def statement(self, it: ast.stmt, limit: int) -> list[Stmt]:
        """The statement `it` (`pass` gives none) after its comments; `limit` is the line of what follows."""
        handler = _HANDLERS.get(type(it))
        if handler is None:
            self.scope.fail("TM2002", f"`{ast.unparse(it).splitlines()[0]}` is not part of the DSL", it)
        place = self.place(it)
        notes = self._comments(it.lineno, self._header_end(it) + 1, 0)
        made = handler(self, it, limit)
        return notes if made is None else [*notes, with_fields(made, location=place)]

    # ---- declarations and stores ---------------------------------------------------------------------

    def declare(self, it: ast.AnnAssign, limit: int) -> Stmt:
        if not isinstance(it.target, ast.Name):
            self.scope.fail("TM2002", "only a name can be declared", it.target)
        t = parse_type(it.annotation, self.scope)
        value = None if it.value is None else self.expressions.parse_as(it.value, t)
        return Declare(self.define(it.target.id, t, it), value)

    def define(self, name: str, t: Type, it: ast.AST) -> Var:
        """A new variable; a name that means something else already is an error."""
        known = self.scope.variables.get(name)
        if known is not None and known.type != t:
            self.scope.retry_guess(known, t)
            self.scope.fail("TM2008", f"`{name}` is declared as {known.type} already", it, "use another name")
        self.scope.variables[name] = Var(name, t)
        return self.scope.variables[name]

    def assign(self, it: ast.Assign, limit: int) -> Stmt:
        if len(it.targets) != 1:
            self.scope.fail("TM2002", "one target to an assignment", it)
        target = it.targets[0]
        if isinstance(target, ast.Name):
            allocation = self.allocation(target.id, it.value)
            if allocation is not None:
                return allocation
            if target.id not in self.scope.variables and target.id not in self.scope.module_variables:
                return self.implicit_declaration(target, it.value)
        place = self.place_expression(target)
        return Assign(place, self.stored(place, it.value))

    def stored(self, place: Expr, value: ast.expr) -> Expr:
        """The value of a store: it must have the place's type (or settle a guessed one)."""
        wanted = type_of(place)
        e = self.expressions.parse(value, wanted)
        if type_of(e) != wanted:
            root = place.base if isinstance(place, Subscript) else place
            self.scope.retry_guess(root, type_of(e))
            self.scope.retry_guess(e, wanted)
        return e if type_of(e) == wanted else self.expressions.parse_as(value, wanted)

    def implicit_declaration(self, target: ast.Name, value: ast.expr) -> Stmt:
        """`x = value` for a new name: it takes the value's type; a bare literal's is a guess at first."""
        literal = literal_value(value)
        hint = self.scope.hints.get(target.id)
        if literal is None:
            e = self.expressions.parse(value, hint)
        else:
            self.scope.guessed.add(target.id)
            e = self.expressions.parse(value, hint or (F32 if isinstance(literal, float) else I32))
        return Declare(self.define(target.id, type_of(e), target), e)

    def allocation(self, name: str, value: ast.expr) -> Stmt | None:
        """`tile = shared(f32, 16, 17)` and its kin, or None."""
        if not (isinstance(value, ast.Call) and isinstance(value.func, ast.Name)):
            return None
        space = _ALLOCATIONS.get(value.func.id)
        if space is None:
            return None
        typed = bool(value.args) and is_type_text(value.args[0], self.scope)
        element = parse_type(value.args[0], self.scope) if typed else self.scope.hints.get(name, F32)
        extents = value.args[1:] if typed else value.args
        if not typed:
            self.scope.guessed.add(name)
        if space is Space.GLOBAL:
            if not isinstance(element, ScalarType | StructType):
                self.scope.fail("TM2006", f"a tensor cannot hold {element}", value)
            shape = tuple(parse_shape(e, self.scope) for e in extents)
            return Allocate(self.define(name, TensorType(element, shape), value), space)
        sizes = tuple(static_int(e, self.scope) for e in extents)
        return Allocate(self.define(name, ArrayType(element, sizes), value), space)

    def place_expression(self, it: ast.expr) -> Expr:
        place = self.expressions.parse(it)
        root: Expr = place
        while isinstance(root, Member):
            root = root.base
        if not isinstance(root, Var | Subscript):
            self.scope.fail("TM2002", f"`{ast.unparse(it)}` cannot be assigned to", it)
        return place

    def augmented(self, it: ast.AugAssign, limit: int) -> Stmt:
        place = self.place_expression(it.target)
        op = binary_op(it.op, it, self.scope)
        if isinstance(type_of(place), PointerType):
            offset = self.expressions.parse(it.value, I32)
            if op is BinaryOp.SUB:
                offset = Unary(UnaryOp.NEG, offset)
            return Assign(place, PointerAdd(place, offset))
        value = self.stored(place, it.value)
        return Assign(place, self.expressions.checked_binary(op, place, value, it))

    # ---- calls as statements -------------------------------------------------------------------------

    def evaluate(self, it: ast.Expr, limit: int) -> Stmt | None:
        call = it.value
        if isinstance(call, ast.Constant) and isinstance(call.value, str):
            self.scope.fail("TM2002", "a string that does nothing", it, "write a comment")
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
            self.scope.fail("TM2002", f"`{ast.unparse(it)}` has no effect", it)
        if call.func.id == "assume":
            return Assume(self.expressions.parse_as(call.args[0], B1))
        if call.func.id == "cover":
            return Cover(static_int(call.args[0], self.scope))
        value = self.expressions.parse(call)
        if not isinstance(value, Call):
            self.scope.fail("TM2002", f"`{ast.unparse(it)}` has no effect", it)
        return Evaluate(value)

    # ---- control -------------------------------------------------------------------------------------

    def branch(self, it: ast.If, limit: int) -> Stmt:
        condition = self.expressions.parse_as(it.test, B1)
        if not it.orelse:
            return If(condition, self.region(it.body, it.lineno + 1, limit), ())
        ending = (it.body[-1].end_lineno or it.body[-1].lineno) + 1
        split = self.comments.else_line(ending, it.orelse[0].lineno, it.col_offset) or it.orelse[0].lineno
        then = (*self.region(it.body, it.lineno + 1, split), *self._comments(ending, split, 0))
        if it.orelse[0].col_offset == it.col_offset:  # elif
            return If(condition, then, tuple(self.statement(it.orelse[0], limit)))
        return If(condition, then, self.region(it.orelse, split, limit))

    def loop(self, it: ast.For, limit: int) -> Stmt:
        if it.orelse or not isinstance(it.target, ast.Name):
            self.scope.fail("TM2002", "a loop runs one name over a range, without else", it)
        kind, bounds = self.loop_kind(it.iter)
        start, stop, step = self.expressions.range_bounds(bounds)
        if not isinstance(step, Const) or step.value == 0:
            self.scope.fail("TM2004", "the step of a range is a constant that is not 0", it.iter)
        var = self.define(it.target.id, type_of(start), it.target)
        return For(var, start, stop, step, self.region(it.body, it.lineno + 1, limit), kind)

    def loop_kind(self, it: ast.expr) -> tuple[LoopKind, ast.expr]:
        """`range(...)`, `parallel(range(...))`, and `parallel_for(n)` for the latter."""
        if not (isinstance(it, ast.Call) and isinstance(it.func, ast.Name)):
            self.scope.fail("TM2002", f"`{ast.unparse(it)}` is not a range", it, "write range(n)")
        if it.func.id == "parallel_for":
            ranged = ast.Call(ast.copy_location(ast.Name("range"), it.func), it.args, [])
            return LoopKind.PARALLEL, ast.copy_location(ranged, it)
        kind = _LOOPS.get(it.func.id)
        if kind is None:
            return LoopKind.SERIAL, it
        if len(it.args) != 1:
            self.scope.fail("TM2005", f"{it.func.id} takes one range", it)
        return kind, it.args[0]

    def while_loop(self, it: ast.While, limit: int) -> Stmt:
        if it.orelse:
            self.scope.fail("TM2002", "a loop without else", it)
        condition = self.expressions.parse_as(it.test, B1)
        last = it.body[-1]
        if not _is_step(last):
            return While(condition, self.region(it.body, it.lineno + 1, limit), ())
        assert isinstance(last, ast.With)
        body: Region = ()
        if len(it.body) > 1:
            body = self.region(it.body[:-1], it.lineno + 1, last.lineno)
        else:
            body = tuple(self._comments(it.lineno + 1, last.lineno, 0))
        return While(condition, body, self.region(last.body, last.lineno, limit))

    def breaks(self, it: ast.Break, limit: int) -> Stmt:
        return Break()

    def continues(self, it: ast.Continue, limit: int) -> Stmt:
        return Continue()

    def returns(self, it: ast.Return, limit: int) -> Stmt:
        if it.value is None:
            return Return(None)
        if self.result is None:  # inferred: a tensor function without an annotation
            return Return(self.expressions.parse(it.value))
        if self.result == VOID:
            self.scope.fail(
                "TM2004", "this function returns nothing", it, "declare its result: def f(...) -> f32:"
            )
        if isinstance(self.result, TensorType):
            return Return(self.expressions.parse(it.value))
        return Return(self.expressions.parse_as(it.value, self.result))

    def passes(self, it: ast.Pass, limit: int) -> None:
        return None


def _is_step(it: ast.stmt) -> bool:
    return (
        isinstance(it, ast.With)
        and len(it.items) == 1
        and isinstance(it.items[0].context_expr, ast.Name)
        and it.items[0].context_expr.id == "step"
    )


# Each method takes its own class of syntax, which `Callable` cannot say for a table keyed by class.
_HANDLERS: dict[type[ast.stmt], Callable[[StatementParser, Any, int], Stmt | None]] = {
    ast.AnnAssign: StatementParser.declare,
    ast.Assign: StatementParser.assign,
    ast.AugAssign: StatementParser.augmented,
    ast.Expr: StatementParser.evaluate,
    ast.If: StatementParser.branch,
    ast.For: StatementParser.loop,
    ast.While: StatementParser.while_loop,
    ast.Break: StatementParser.breaks,
    ast.Continue: StatementParser.continues,
    ast.Return: StatementParser.returns,
    ast.Pass: StatementParser.passes,
}

__all__ = ["StatementParser", "TypeFound"]
