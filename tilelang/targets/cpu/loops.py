"""Loop-level kernels to C: wide induction variables, reductions, independent loops.

Loop variables of type i32 get a 64-bit twin that indices use: `y[i - 1]` is then an affine address for the
compiler, which 32-bit arithmetic that wraps is not.  The two differ only where an index overflows i32, which
no index inside a tensor does.
"""

from __future__ import annotations

from tmigrate.diagnostics import Diagnostic, RefusedError
from tmigrate.tilelang.ir.expressions import (
    Binary,
    BinaryOp,
    Call,
    Cast,
    Const,
    Expr,
    Logical,
    LogicalOp,
    NamedConst,
    Reduce,
    ReduceOp,
    Select,
    Subscript,
    Unary,
    UnaryOp,
    Var,
    type_of,
)
from tmigrate.tilelang.ir.node import FieldKind, field_kinds, walk, with_fields
from tmigrate.tilelang.ir.statements import (
    Allocate,
    Assign,
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
from tmigrate.tilelang.ir.types import B1, I32, I64, ScalarType, TensorType, Type
from tmigrate.tilelang.targets.cpu.expressions import Expressions, Surroundings
from tmigrate.tilelang.targets.cpu.functions import CContext, FunctionWriter
from tmigrate.tilelang.targets.cpu.literals import literal
from tmigrate.tilelang.targets.cpu.lowering import VECTOR_FUNCTIONS
from tmigrate.tilelang.targets.cpu.names import c_type, spaced, variable_name
from tmigrate.tilelang.targets.cpu.options import FloatFunctions

_WIDENED = {BinaryOp.ADD: "+", BinaryOp.SUB: "-", BinaryOp.MUL: "*"}
_PRAGMA = {ReduceOp.SUM: "+", ReduceOp.PRODUCT: "*", ReduceOp.MAX: "max", ReduceOp.MIN: "min",
           ReduceOp.ANY: "||", ReduceOp.ALL: "&&"}  # fmt: skip
SERIAL_WORK = 16384
"""Below this many iterations a loop of plain statements is not worth waking a thread for."""


class LoopExpressions(Expressions):
    """Expressions whose indices are computed in 64 bits."""

    def __init__(self, around: Surroundings, vector_functions: bool) -> None:
        super().__init__(around)
        self.twins: dict[str, str] = {}
        self.vector_functions = vector_functions

    def wide(self, e: Expr) -> str:
        """An integer expression in 64 bits; sums and products of i32 do not wrap."""
        t = type_of(e)
        if t not in (I32, I64):
            return f"(int64_t){self.value(e)}"
        if isinstance(e, Var):
            return self.twins.get(e.name, f"(int64_t){variable_name(e)}" if t == I32 else variable_name(e))
        if isinstance(e, Const | NamedConst):
            return str(int(e.value))
        if isinstance(e, Binary) and e.op in _WIDENED:
            return f"({self.wide(e.left)} {_WIDENED[e.op]} {self.wide(e.right)})"
        if isinstance(e, Unary) and e.op is UnaryOp.NEG:
            return f"(-{self.wide(e.operand)})"
        if isinstance(e, Cast) and type_of(e.operand) in (I32, I64) and t == I64:
            return self.wide(e.operand)
        text = self.value(e)
        return f"(int64_t){text}" if t == I32 else text

    def index(self, e: Subscript, axis: int) -> str:
        """One index of a tensor or an array."""
        if self.around.check:
            return super().index(e, axis)
        return self.wide(e.indices[axis])

    def call(self, e: Call) -> str:
        """Functions that compilers can vectorise where they are asked for."""
        if self.vector_functions and (e.callee, str(e.type)) in VECTOR_FUNCTIONS:
            return f"tm_vector_{e.callee}_{e.type}({', '.join(self.value(a) for a in e.arguments)})"
        return super().call(e)


class LoopWriter(FunctionWriter):
    """Writes a loop-level kernel or one of the range functions of its parallel loops."""

    expressions: LoopExpressions

    def __init__(self, context: CContext, name: str, entry: bool = False) -> None:
        super().__init__(context, name, entry)
        around = self.expressions.around
        vector = context.options.functions is FloatFunctions.VECTOR
        self.expressions = LoopExpressions(around, vector)
        self.temporaries = 0
        self.zeroes_temporaries = True

    # ---- reductions ------------------------------------------------------------------------------------

    def settle(self, e: Expr) -> Expr:
        """The expression with each reduction computed into a variable before the statement.

        A reduction that only one side of a conditional needs stays under that condition, since its loads
        may be valid there only.
        """
        if not any(isinstance(it, Reduce) for it in walk(e)):
            return e
        if isinstance(e, Reduce):
            return self.reduction(e)
        if isinstance(e, Select) and any(isinstance(it, Reduce) for it in walk((e.then, e.otherwise))):
            return self.conditional(e.condition, e.then, e.otherwise, e.type)
        if isinstance(e, Logical) and any(isinstance(it, Reduce) for it in walk(e.right)):
            known = Const(e.op is LogicalOp.OR, B1)
            if e.op is LogicalOp.AND:
                return self.conditional(e.left, e.right, known, B1)
            return self.conditional(e.left, known, e.right, B1)
        return self.with_settled_operands(e)

    def with_settled_operands(self, e: Expr) -> Expr:
        """The node rebuilt on settled operands."""
        changes: dict[str, object] = {}
        for name, kind in field_kinds(type(e)):
            value = getattr(e, name)
            if kind is FieldKind.OPERAND and value is not None:
                changes[name] = self.settle(value)
            elif kind is FieldKind.OPERANDS:
                changes[name] = tuple(self.settle(v) for v in value)
        return with_fields(e, **changes)

    def temporary(self, t: Type, hint: str) -> Var:
        """A new variable of the C function."""
        self.temporaries += 1
        return Var(f"{hint}.{self.temporaries}", t)

    def conditional(self, condition: Expr, then: Expr, otherwise: Expr, t: Type) -> Var:
        """`result = then if condition else otherwise` as an if statement."""
        result = self.temporary(t, "chosen")
        self.write(f"{spaced(c_type(t))}{variable_name(result)};")
        self.write(f"if ({self.value(self.settle(condition))}) {{")
        with self.indented():
            self.write(f"{variable_name(result)} = {self.value(self.settle(then))};")
        self.write("} else {")
        with self.indented():
            self.write(f"{variable_name(result)} = {self.value(self.settle(otherwise))};")
        self.write("}")
        return result

    def reduction(self, e: Reduce) -> Var:
        """A fold whose order is the compiler's: partial results in the lanes of a vector."""
        assert isinstance(e.type, ScalarType)
        result = self.temporary(e.type, e.op.value)
        name = variable_name(result)
        start, stop = self.expressions.wide(self.settle(e.start)), self.expressions.wide(self.settle(e.stop))
        self.write(f"{spaced(c_type(e.type))}{name} = {_neutral(e.op, e.type)};")
        is_plain = not any(isinstance(it, Reduce) for it in walk(e.body)) and e.type.bits >= 32
        if is_plain:
            self.write(f"#pragma omp simd reduction({_PRAGMA[e.op]} : {name})")
        twin = f"{variable_name(e.var)}_wide"
        self.write(f"for (int64_t {twin} = {start}; {twin} < {stop}; {twin}++) {{")
        with self.indented():
            self.bind(e.var, twin)
            body = self.value(self.settle(e.body))
            self.write(f"{name} = {self.folded(e, name, body)};")
        self.write("}")
        return result

    def folded(self, e: Reduce, result: str, body: str) -> str:
        """One step of a fold."""
        assert isinstance(e.type, ScalarType)
        if e.op in (ReduceOp.ANY, ReduceOp.ALL):
            return f"({result} {_PRAGMA[e.op]} {body})"
        if e.op in (ReduceOp.MAX, ReduceOp.MIN):
            function = "fmax" if e.op is ReduceOp.MAX else "fmin"
            if e.type.is_float and e.type.bits > 16:
                return f"tm_fold_{function}_{e.type}({result}, {body})"
            if e.type.is_float:
                wide = ", ".join(f"tm_{e.type}_to_f32({value})" for value in (result, body))
                return f"tm_f32_to_{e.type}(tm_fold_{function}_f32({wide}))"
            return f"tm_{function[1:]}_{e.type}({result}, {body})"
        op = BinaryOp.ADD if e.op is ReduceOp.SUM else BinaryOp.MUL
        return self.expressions.binary_operation(op, e.type, result, body, Const(0, e.type))

    def bind(self, var: Var, twin: str) -> None:
        """The variable itself beside its 64-bit twin."""
        if var.type in (I32, I64):
            self.expressions.twins[var.name] = twin
        self.write(f"const {c_type(var.type)} {variable_name(var)} = ({c_type(var.type)}){twin};")

    # ---- statements ------------------------------------------------------------------------------------

    def declare(self, s: Declare) -> None:
        """A variable; reductions in its value come first."""
        if s.value is not None:
            s = with_fields(s, value=self.settle(s.value))
        super().declare(s)

    def assign(self, s: Assign) -> None:
        """A store; reductions come first."""
        super().assign(with_fields(s, target=self.settle(s.target), value=self.settle(s.value)))

    def evaluate(self, s: Evaluate) -> None:
        """A call for its effect; reductions come first."""
        super().evaluate(with_fields(s, value=self.settle(s.value)))

    def branch(self, s: If) -> None:
        """Reductions in the condition come first; those of an `else if` inside its arm."""
        if any(isinstance(it, Reduce) for arm in _chain(s) for it in walk(arm)):
            self.write(f"if ({self.value(self.settle(s.condition))}) {{")
            with self.indented():
                self.region(s.then)
            if s.otherwise:
                self.write("} else {")
                with self.indented():
                    self.region(s.otherwise)
            self.write("}")
        else:
            super().branch(s)

    def while_loop(self, s: While) -> None:
        """A general loop; a reduction in its condition would run once only."""
        if any(isinstance(it, Reduce) for it in walk(s.condition)):
            message = "a reduction in the condition of a while loop"
            raise RefusedError(
                Diagnostic("TM4303", message, s.location, remedy="assign it to a variable first")
            )
        super().while_loop(s)

    def leave(self, s: Return) -> None:
        """`return` of a kernel; a returned tensor is the caller's already, or copied to it."""
        if isinstance(s.value, Var) and isinstance(s.value.type, TensorType):
            result = self.context.result
            assert result is not None
            if s.value.name != result.name:
                places = f"{variable_name(result)}, {variable_name(s.value)}"
                self.write(f"tm_copy_tensor({places}, {self._bytes(s.value)});")
            s = with_fields(s, value=None)
        super().leave(s)

    def allocate(self, s: Allocate) -> None:
        """A temporary; the tensor that the kernel returns has its memory from the caller."""
        if self.context.result is None or s.var.name != self.context.result.name:
            super().allocate(s)

    # ---- loops -----------------------------------------------------------------------------------------

    def loop(self, s: For) -> None:
        """A counted loop; iterations of a PARALLEL one are declared independent."""
        s = with_fields(s, start=self.settle(s.start), stop=self.settle(s.stop))
        if s.kind is LoopKind.PARALLEL and self.entry:
            super().loop(s)
            return
        if s.var.type not in (I32, I64) or not isinstance(s.step, Const | NamedConst):
            super().loop(s)
            return
        twin = f"{variable_name(s.var)}_wide"
        self._labels += 1
        limit = f"tm_stop_{self._labels}"
        self.write(f"const int64_t {limit} = {self.expressions.wide(s.stop)};")
        if s.kind is LoopKind.PARALLEL and is_simple(s.body):
            self.write("TM_INDEPENDENT")
        step = int(s.step.value)
        sign, change = ("<" if step > 0 else ">"), (f"{twin}++" if step == 1 else f"{twin} += {step}")
        start = self.expressions.wide(s.start)
        self.write(f"for (int64_t {twin} = {start}; {twin} {sign} {limit}; {change}) {{")
        with self.indented():
            self.bind(s.var, twin)
            self.loop_body(s.body)
        self.write("}")

    def spread_condition(self, loop: For) -> str:
        """Small loops of plain statements stay on the calling thread."""
        if any(isinstance(it, For | While | Reduce) for it in walk(loop.body)):
            return "false"
        return f"tm_count < {SERIAL_WORK}"

    def _range_loop(self, loop: For) -> None:
        if is_simple(loop.body) and not any(isinstance(it, Reduce) for it in walk(loop.body)):
            self.write("TM_INDEPENDENT")
        self.write("for (int64_t tm_i = tm_begin; tm_i < tm_end; tm_i++) {")
        with self.indented():
            step = int(loop.step.value) if isinstance(loop.step, Const | NamedConst) else 1
            start = self.expressions.wide(loop.start)
            position = "tm_i" if step == 1 else f"tm_i * {step}"
            twin = f"{variable_name(loop.var)}_wide"
            self.write(f"const int64_t {twin} = {position if start == '0' else f'{start} + {position}'};")
            self.bind(loop.var, twin)
            self.thread_body(loop.body)
        self.write("}")


def is_simple(body: Region) -> bool:
    """Whether a loop body is what compilers vectorise: no inner loops, no calls with effects."""
    return not any(isinstance(it, For | While | Evaluate | Return | Reduce) for it in walk(body))


def _chain(s: If) -> list[Expr]:
    conditions = [s.condition]
    rest: tuple[Stmt, ...] = s.otherwise
    while len(rest) == 1 and isinstance(rest[0], If):
        conditions.append(rest[0].condition)
        rest = rest[0].otherwise
    return conditions


def _neutral(op: ReduceOp, t: ScalarType) -> str:
    if op in (ReduceOp.ANY, ReduceOp.ALL):
        return "true" if op is ReduceOp.ALL else "false"
    if op is ReduceOp.SUM:
        return literal(0, t)
    if op is ReduceOp.PRODUCT:
        return literal(1, t)
    sign = -1 if op is ReduceOp.MAX else 1
    if t.is_float:
        return literal(sign * float("inf"), t)
    if t.is_signed:
        return literal(-(1 << (t.bits - 1)) if sign < 0 else (1 << (t.bits - 1)) - 1, t)
    return literal(0 if sign < 0 else (1 << t.bits) - 1, t)
