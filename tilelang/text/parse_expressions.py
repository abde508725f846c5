"""Text to expressions, with the types of literals by the rules of :mod:`tmigrate.tilelang.text.literals`."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from tmigrate.tilelang.ir.expressions import (
    AddressOf,
    Binary,
    BinaryOp,
    Bitcast,
    Call,
    Cast,
    Compare,
    CompareOp,
    Const,
    DynamicShared,
    Expr,
    Extent,
    LaunchIndex,
    LaunchIndexKind,
    Logical,
    LogicalOp,
    MakeArray,
    MakeStruct,
    Member,
    PointerAdd,
    PointerDifference,
    Reduce,
    ReduceOp,
    Select,
    StringConst,
    Subscript,
    Unary,
    UnaryOp,
    Var,
    type_of,
)
from tmigrate.tilelang.ir.intrinsics import INTRINSICS, result_type
from tmigrate.tilelang.ir.rounding import round_float
from tmigrate.tilelang.ir.tensor_table import tensor_operations
from tmigrate.tilelang.ir.types import (
    B1,
    F32,
    I32,
    I64,
    ArrayType,
    PointerType,
    ScalarType,
    StructType,
    TensorType,
    Type,
    is_float,
    is_integer,
)
from tmigrate.tilelang.text.literals import argument_types, default_address_type, operand_types
from tmigrate.tilelang.text.parse_types import is_type_text, parse_space, parse_type, static_int
from tmigrate.tilelang.text.scope import Scope
from tmigrate.tilelang.text.tensor_calls import (
    ALIASES,
    INFIX,
    NEGATIVE,
    element_type,
    is_tensor,
    make_call,
    read_call,
)

_BINARY: dict[type[ast.operator], BinaryOp] = {
    ast.Add: BinaryOp.ADD,
    ast.Sub: BinaryOp.SUB,
    ast.Mult: BinaryOp.MUL,
    ast.Div: BinaryOp.DIV,
    ast.FloorDiv: BinaryOp.FLOOR_DIV,
    ast.Mod: BinaryOp.FLOOR_MOD,
    ast.BitAnd: BinaryOp.AND,
    ast.BitOr: BinaryOp.OR,
    ast.BitXor: BinaryOp.XOR,
    ast.LShift: BinaryOp.SHL,
    ast.RShift: BinaryOp.SHR,
}

_COMPARE: dict[type[ast.cmpop], CompareOp] = {
    ast.Eq: CompareOp.EQ,
    ast.NotEq: CompareOp.NE,
    ast.Lt: CompareOp.LT,
    ast.LtE: CompareOp.LE,
    ast.Gt: CompareOp.GT,
    ast.GtE: CompareOp.GE,
}

_REDUCTIONS = {op.value: op for op in ReduceOp}
_LAUNCH = {kind.value: kind for kind in LaunchIndexKind}


def literal_value(it: ast.expr) -> int | float | None:
    """The value of a bare number, signed or not; None for anything else (booleans too)."""
    if isinstance(it, ast.UnaryOp) and isinstance(it.op, ast.USub):
        inner = literal_value(it.operand) if isinstance(it.operand, ast.Constant) else None
        return None if inner is None else -inner
    if isinstance(it, ast.Constant) and type(it.value) in (int, float):
        return it.value  # type: ignore[return-value]
    return None


def binary_op(op: ast.operator, it: ast.AST, scope: Scope) -> BinaryOp:
    """The IR's operator for Python's."""
    found = _BINARY.get(type(op))
    if found is None:
        scope.fail("TM2002", f"the operator of `{ast.unparse(it)}` is not part of the DSL", it)
    return found


def constant(value: int | float, t: Type, it: ast.AST, scope: Scope) -> Const:
    """A literal of type `t`, rounded to it; an integer that does not fit is an error."""
    if isinstance(t, PointerType) and isinstance(value, int):
        return Const(value, t)
    if not isinstance(t, ScalarType):
        scope.fail("TM2004", f"a number cannot stand for a {t}", it)
    if t.is_float:
        return Const(round_float(_as_float(value, t, it, scope), t), t)
    if isinstance(value, float):
        scope.fail(
            "TM2004", f"`{value}` is not an integer, and the surroundings want {t}", it, f"write {t}(...)"
        )
    low, high = (-(1 << (t.bits - 1)), 1 << (t.bits - 1)) if t.is_signed else (0, 1 << t.bits)
    if not low <= value < high:
        scope.fail("TM2004", f"{value} does not fit {t}", it, "use a wider type")
    return Const(value, t)


def _as_float(value: int | float, t: ScalarType, it: ast.AST, scope: Scope) -> float:
    try:
        return float(value)
    except OverflowError:
        scope.fail("TM2004", f"{value} does not fit {t}", it)


def parse_shape(it: ast.expr, scope: Scope) -> Expr:
    """One extent of a tensor type: an integer expression; a bare number is i64."""
    return ExpressionParser(scope).parse(it, I64)


class ExpressionParser:
    """Reads one expression at a time in a scope."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def parse(self, it: ast.expr, expected: Type | None = None) -> Expr:
        """The expression `it`; a bare literal takes the type `expected`."""
        value = literal_value(it)
        if value is not None:
            default = F32 if isinstance(value, float) else I32
            return constant(value, expected if expected is not None else default, it, self.scope)
        handler = _HANDLERS.get(type(it))
        if handler is None:
            self.scope.fail("TM2002", f"`{ast.unparse(it)}` is not part of the DSL", it)
        return handler(self, it, expected)

    def parse_as(self, it: ast.expr, wanted: Type) -> Expr:
        """The expression `it`, which must have the type `wanted`."""
        e = self.parse(it, wanted)
        if type_of(e) != wanted:
            self.scope.fail(
                "TM2004",
                f"expected {wanted}, got {type_of(e)}",
                it,
                f"convert it: {wanted}({ast.unparse(it)})",
            )
        return e

    # ---- leaves --------------------------------------------------------------------------------------

    def name(self, it: ast.Name, expected: Type | None) -> Expr:
        scope = self.scope
        found: Expr | None = scope.variables.get(it.id) or scope.constants.get(it.id)
        if found is None and it.id in scope.module_variables:
            found = scope.module_variables[it.id].var
        found = found or scope.dimension(it.id)
        if found is None:
            scope.fail("TM2003", f"`{it.id}` is not defined here", it)
        return found

    def constant(self, it: ast.Constant, expected: Type | None) -> Expr:
        if isinstance(it.value, bool):
            return Const(it.value, B1)
        if isinstance(it.value, str):
            return StringConst(it.value)
        self.scope.fail("TM2002", f"`{ast.unparse(it)}` is not part of the DSL", it)

    def attribute(self, it: ast.Attribute, expected: Type | None) -> Expr:
        if isinstance(it.value, ast.Name) and it.value.id in _LAUNCH and it.attr in ("x", "y", "z"):
            return LaunchIndex(_LAUNCH[it.value.id], "xyz".index(it.attr))
        base = self.parse(it.value)
        t = type_of(base)
        if it.attr == "T" and is_tensor(base):
            return make_call(self, "transpose", [base], it)
        if not isinstance(t, StructType):
            self.scope.fail("TM2004", f"a {t} has no member `{it.attr}`", it)
        member = self.scope.definition(t, it).field(it.attr)
        if member is None:
            self.scope.fail("TM2003", f"{t} has no member `{it.attr}`", it)
        return Member(base, it.attr, member.type)

    # ---- operators -----------------------------------------------------------------------------------

    def pair(
        self,
        left: ast.expr,
        right: ast.expr,
        expected: Type | None,
        a: Expr | None = None,
        b: Expr | None = None,
    ) -> tuple[Expr, Expr]:
        """Two operands of one type; `a`, `b`: those that have been read already."""
        if a is None and literal_value(left) is None:
            a = self.parse(left, expected)
        if b is None and literal_value(right) is None:
            b = self.parse(right, expected)
        own = F32 if any(isinstance(literal_value(x), float) for x in (left, right)) else I32
        ta, tb = operand_types(
            None if a is None else type_of(a), None if b is None else type_of(b), expected, own
        )
        x = a if a is not None else self.parse(left, ta or own)
        y = b if b is not None else self.parse(right, tb or own)
        if type_of(x) != type_of(y):
            self.scope.retry_guess(x, type_of(y))
            self.scope.retry_guess(y, type_of(x))
            self.scope.fail(
                "TM2004",
                f"the operands have different types, {type_of(x)} and {type_of(y)}",
                right,
                f"convert one: {type_of(x)}({ast.unparse(right)})",
            )
        return x, y

    def binop(self, it: ast.BinOp, expected: Type | None) -> Expr:
        left = None if literal_value(it.left) is not None else self.parse(it.left, expected)
        moves = isinstance(it.op, ast.Add | ast.Sub)
        if left is not None and isinstance(type_of(left), PointerType) and moves:
            return self.pointer_arithmetic(binary_op(it.op, it, self.scope), left, it)
        right = None if literal_value(it.right) is not None else self.parse(it.right, expected)
        if is_tensor(left) or is_tensor(right):
            return self.tensor_operator(it, left, right)
        op = binary_op(it.op, it, self.scope)
        x, y = self.pair(it.left, it.right, expected, left, right)
        return self.checked_binary(op, x, y, it)

    def tensor_operator(self, it: ast.BinOp, left: Expr | None, right: Expr | None) -> Expr:
        """`x + y` on whole tensors, or on a tensor and a scalar."""
        if type(it.op) not in INFIX:
            self.scope.fail("TM2002", f"the operator of `{ast.unparse(it)}` is not defined on tensors", it)
        element = element_type([left, right])
        x = left if left is not None else self.parse(it.left, element)
        y = right if right is not None else self.parse(it.right, element)
        return make_call(self, INFIX[type(it.op)], [x, y], it)

    def pointer_arithmetic(self, op: BinaryOp, left: Expr, it: ast.BinOp) -> Expr:
        """`p + i`, `p - i` and `p - q`."""
        right = self.parse(it.right, I32)
        if op is BinaryOp.SUB and type_of(right) == type_of(left):
            return PointerDifference(left, right)
        if not is_integer(type_of(right)):
            self.scope.fail("TM2004", f"a pointer moves by an integer, not by {type_of(right)}", it.right)
        if op is BinaryOp.SUB:
            right = Const(-right.value, right.type) if isinstance(right, Const) else Unary(UnaryOp.NEG, right)
        return PointerAdd(left, right)

    def checked_binary(self, op: BinaryOp, x: Expr, y: Expr, it: ast.AST) -> Expr:
        """A binary node whose operand types fit the operator."""
        t = type_of(x)
        allowed = is_float(t) if op is BinaryOp.DIV else is_integer(t)
        if op in (BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL):
            allowed = is_float(t) or is_integer(t)
        if op in (BinaryOp.AND, BinaryOp.OR, BinaryOp.XOR):
            allowed = allowed or t == B1
        if not allowed:
            hint = "`/` divides floats; use `//`, `truncdiv`" if op is BinaryOp.DIV else ""
            self.scope.fail("TM2004", f"`{op.value}` is not defined on {t}", it, hint)
        return Binary(op, x, y)

    def unary(self, it: ast.UnaryOp, expected: Type | None) -> Expr:
        if isinstance(it.op, ast.Not):
            return Unary(UnaryOp.NOT, self.parse_as(it.operand, B1))
        if isinstance(it.op, ast.UAdd):
            return self.parse(it.operand, expected)
        op = UnaryOp.NEG if isinstance(it.op, ast.USub) else UnaryOp.INVERT
        x = self.parse(it.operand, expected)
        t = type_of(x)
        if is_tensor(x) and op is UnaryOp.NEG:
            return make_call(self, NEGATIVE, [x], it)
        if not (is_integer(t) or (is_float(t) and op is UnaryOp.NEG)):
            self.scope.fail("TM2004", f"`{op.value}` is not defined on {t}", it)
        return Unary(op, x)

    def compare(self, it: ast.Compare, expected: Type | None) -> Expr:
        result: Expr | None = None
        left = it.left
        for op, right in zip(it.ops, it.comparators, strict=True):
            if type(op) not in _COMPARE:
                self.scope.fail("TM2002", f"`{ast.unparse(it)}` is not part of the DSL", it)
            part = Compare(_COMPARE[type(op)], *self.pair(left, right, None))
            result = part if result is None else Logical(LogicalOp.AND, result, part)
            left = right
        assert result is not None
        return result

    def logical(self, it: ast.BoolOp, expected: Type | None) -> Expr:
        op = LogicalOp.AND if isinstance(it.op, ast.And) else LogicalOp.OR
        result = self.parse_as(it.values[0], B1)
        for value in it.values[1:]:
            result = Logical(op, result, self.parse_as(value, B1))
        return result

    def select(self, it: ast.IfExp, expected: Type | None) -> Expr:
        condition = self.parse_as(it.test, B1)
        then, otherwise = self.pair(it.body, it.orelse, expected)
        return Select(condition, then, otherwise)

    # ---- memory --------------------------------------------------------------------------------------

    def subscript(self, it: ast.Subscript, expected: Type | None) -> Expr:
        if isinstance(it.value, ast.Attribute) and it.value.attr == "shape":
            owner = self.parse(it.value.value)
            if not isinstance(type_of(owner), StructType):
                return self.extent(owner, it)
        base = self.parse(it.value)
        t = type_of(base)
        indices = list(it.slice.elts) if isinstance(it.slice, ast.Tuple) else [it.slice]
        if not isinstance(t, PointerType | ArrayType | TensorType):
            self.scope.fail("TM2004", f"a {t} cannot be subscripted", it)
        wanted = 1 if isinstance(t, PointerType) else len(t.shape)
        if len(indices) != wanted:
            self.scope.fail("TM2005", f"{t} takes {wanted} indices, got {len(indices)}", it)
        return Subscript(base, tuple(self.index(i) for i in indices))

    def index(self, it: ast.expr) -> Expr:
        e = self.parse(it, I32)
        if not is_integer(type_of(e)):
            self.scope.fail("TM2004", f"an index must be an integer, not {type_of(e)}", it)
        return e

    def extent(self, base: Expr, it: ast.Subscript) -> Expr:
        t = type_of(base)
        if not isinstance(t, TensorType):
            self.scope.fail("TM2004", f"a {t} has no shape", it.value)
        axis = static_int(it.slice, self.scope)
        if not 0 <= axis < t.rank:
            self.scope.fail("TM2005", f"axis {axis} of a tensor of rank {t.rank}", it)
        return Extent(base, axis)

    # ---- calls ---------------------------------------------------------------------------------------

    def call(self, it: ast.Call, expected: Type | None) -> Expr:
        named = self.named_call(it)
        if named is not None:
            return named
        if it.keywords:
            self.scope.fail("TM2005", "calls take no keyword arguments here", it.keywords[0].value)
        if is_type_text(it.func, self.scope):
            return self.conversion(parse_type(it.func, self.scope), it)
        if not isinstance(it.func, ast.Name):
            self.scope.fail("TM2002", f"`{ast.unparse(it.func)}` cannot be called here", it)
        name = it.func.id
        if name in _REDUCTIONS and len(it.args) == 1 and isinstance(it.args[0], ast.GeneratorExp):
            return self.reduction(_REDUCTIONS[name], it.args[0])
        special = _SPECIAL_CALLS.get(name)
        if special is not None:
            return special(self, it)
        return self.plain_call(name, it, expected)

    def named_call(self, it: ast.Call) -> Expr | None:
        """`x.softmax(dim=1)`, `softmax(x, dim=1)`: calls that only whole tensors have; None for others."""
        if isinstance(it.func, ast.Attribute):
            base = self.parse(it.func.value)
            if not is_tensor(base):
                self.scope.fail("TM2002", f"`{ast.unparse(it.func)}` cannot be called here", it)
            return read_call(self, it.func.attr, [base], [it.func.value, *it.args], it)
        if it.keywords and isinstance(it.func, ast.Name) and it.args and it.func.id in tensor_operations():
            first = self.parse(it.args[0])
            if is_tensor(first):
                return read_call(self, it.func.id, [first], it.args, it)
        return None

    def plain_call(self, name: str, it: ast.Call, expected: Type | None) -> Expr:
        function = self.scope.functions.get(name)
        known = function is not None or name in INTRINSICS or ALIASES.get(name, name) in tensor_operations()
        if not known:
            self.scope.fail("TM2003", f"`{name}` is neither an operation nor a function of this module", it)
        first = [None if literal_value(a) is not None else self.parse(a) for a in it.args]
        if function is None and any(map(is_tensor, first)):
            return read_call(self, name, first, it.args, it)
        if function is None and name not in INTRINSICS:
            self.scope.fail("TM2005", f"`{name}` works on whole tensors", it)
        types = argument_types(name, function, [None if a is None else type_of(a) for a in first])
        if all(t is None for t in types) and expected is not None:
            types = [expected for _ in types]
        arguments = tuple(
            self.parse(a, t) if e is None else e for a, e, t in zip(it.args, first, types, strict=True)
        )
        if function is None:
            t = result_type(name, [type_of(a) for a in arguments])
            if isinstance(t, str):
                self.scope.fail("TM2005", f"{name}: {t}", it)
            return Call(name, arguments, t)
        declared = [p.type for p in function.parameters]
        if [type_of(a) for a in arguments] != declared:
            got = ", ".join(str(type_of(a)) for a in arguments)
            self.scope.fail("TM2005", f"{name} takes ({', '.join(map(str, declared))}), got ({got})", it)
        return Call(name, arguments, function.result)

    def conversion(self, t: Type, it: ast.Call) -> Expr:
        """`i64(3)`, `f32("nan")`, `f32(x)`, `float4(a, b, c, d)`."""
        if isinstance(t, StructType):
            members = self.scope.definition(t, it).fields
            if len(it.args) != len(members):
                self.scope.fail("TM2005", f"{t} has {len(members)} members, got {len(it.args)} values", it)
            values = [self.parse_as(a, m.type) for a, m in zip(it.args, members, strict=True)]
            return MakeStruct(t, tuple(values))
        if len(it.args) != 1:
            self.scope.fail("TM2005", f"{t}(...) converts one value", it)
        argument = it.args[0]
        value = literal_value(argument)
        if value is not None:
            return constant(value, t, argument, self.scope)
        if is_float(t) and isinstance(argument, ast.Constant) and isinstance(argument.value, str):
            return self.special_float(t, argument.value, argument)
        return Cast(t, self.parse(argument))

    def special_float(self, t: Type, value: str, it: ast.Constant) -> Expr:
        if value not in ("nan", "inf", "-inf"):
            self.scope.fail("TM2004", f'{t}("{value}") is not a number', it, 'use "nan", "inf" or "-inf"')
        return Const(float(value), t)

    def reduction(self, op: ReduceOp, it: ast.GeneratorExp) -> Expr:
        generator = it.generators[0]
        if len(it.generators) != 1 or generator.ifs or not isinstance(generator.target, ast.Name):
            self.scope.fail("TM2002", "a reduction runs over one range without conditions", it)
        return self.fold(op, generator.target.id, generator.iter, it.elt)

    def fold(self, op: ReduceOp, name: str, ranged: ast.expr, value: ast.expr) -> Expr:
        """The reduction of `value` over `name` in a range."""
        start, stop, step = self.range_bounds(ranged)
        if step != Const(1, type_of(start)):
            self.scope.fail("TM2002", "a reduction's range has step 1", ranged)
        var = Var(name, type_of(start))
        previous = self.scope.variables.get(var.name)
        self.scope.variables[var.name] = var
        body = self.parse(value)
        if previous is None:
            del self.scope.variables[var.name]
        else:
            self.scope.variables[var.name] = previous
        return Reduce(op, var, start, stop, body)

    def map_reduce(self, it: ast.Call) -> Expr:
        """`map_reduce(lambda k: A[i, k], range(K), "sum")` is `sum(A[i, k] for k in range(K))`."""
        self._arity(it, 2, 3)
        function, ranged = it.args[:2]
        word = it.args[2] if len(it.args) == 3 else ast.copy_location(ast.Constant("sum"), it)
        if not isinstance(function, ast.Lambda) or len(function.args.args) != 1:
            self.scope.fail("TM2005", "map_reduce takes a lambda of one index first", function)
        if not isinstance(word, ast.Constant) or word.value not in _REDUCTIONS:
            self.scope.fail("TM2005", f"use one of {', '.join(_REDUCTIONS)}", word)
        return self.fold(_REDUCTIONS[str(word.value)], function.args.args[0].arg, ranged, function.body)

    def range_bounds(self, it: ast.expr) -> tuple[Expr, Expr, Expr]:
        """start, stop and step of `range(...)`, all of one integer type."""
        is_range = isinstance(it, ast.Call) and isinstance(it.func, ast.Name) and it.func.id == "range"
        if not is_range or not isinstance(it, ast.Call) or not 1 <= len(it.args) <= 3:
            self.scope.fail("TM2002", f"`{ast.unparse(it)}` is not a range", it, "write range(n)")
        parts = list(it.args)
        if len(parts) == 1:
            parts.insert(0, ast.copy_location(ast.Constant(0), it))
        if len(parts) == 2:
            parts.append(ast.copy_location(ast.Constant(1), it))
        known = next((type_of(self.parse(p)) for p in parts if literal_value(p) is None), I32)
        start, stop, step = (self.parse_as(p, known) for p in parts)
        if not is_integer(known):
            self.scope.fail("TM2004", f"a range counts in integers, not in {known}", it)
        return start, stop, step

    # ---- calls with a grammar of their own -----------------------------------------------------------

    def bitcast(self, it: ast.Call) -> Expr:
        self._arity(it, 2, 2)
        return Bitcast(parse_type(it.args[0], self.scope), self.parse(it.args[1]))

    def address(self, it: ast.Call) -> Expr:
        self._arity(it, 1, 2)
        place = self.parse(it.args[0])
        if not isinstance(place, Var | Subscript | Member):
            self.scope.fail("TM2005", "only a variable, an element or a member has an address", it.args[0])
        t = default_address_type(type_of(place))
        if len(it.args) == 2:
            t = PointerType(t.pointee, parse_space(it.args[1], self.scope))
        return AddressOf(place, t)

    def dynamic_shared(self, it: ast.Call) -> Expr:
        self._arity(it, 1, 1)
        return DynamicShared(parse_type(it.args[0], self.scope))

    def make_array(self, it: ast.Call) -> Expr:
        self._arity(it, 2, 1 << 20)
        if not isinstance(it.args[1], ast.List):
            self.scope.fail("TM2005", "an array's shape is a list: array(f32, [4], ...)", it.args[1])
        element = parse_type(it.args[0], self.scope)
        t = ArrayType(element, tuple(static_int(n, self.scope) for n in it.args[1].elts))
        if len(it.args) - 2 > t.count:
            self.scope.fail("TM2005", f"{len(it.args) - 2} values for {t.count} elements", it)
        return MakeArray(t, tuple(self.parse_as(a, element) for a in it.args[2:]))

    def trunc_operator(self, it: ast.Call) -> Expr:
        self._arity(it, 2, 2)
        assert isinstance(it.func, ast.Name)
        x, y = self.pair(it.args[0], it.args[1], None)
        return self.checked_binary(BinaryOp(it.func.id), x, y, it)

    def _arity(self, it: ast.Call, low: int, high: int) -> None:
        if not low <= len(it.args) <= high:
            assert isinstance(it.func, ast.Name)
            self.scope.fail("TM2005", f"{it.func.id} takes {low} arguments, got {len(it.args)}", it)


_SPECIAL_CALLS: dict[str, Callable[[ExpressionParser, ast.Call], Expr]] = {
    "bitcast": ExpressionParser.bitcast,
    "address": ExpressionParser.address,
    "dynamic_shared": ExpressionParser.dynamic_shared,
    "array": ExpressionParser.make_array,
    "map_reduce": ExpressionParser.map_reduce,
    "truncdiv": ExpressionParser.trunc_operator,
    "truncrem": ExpressionParser.trunc_operator,
}

# Each method takes its own class of syntax, which `Callable` cannot say for a table keyed by class.
_HANDLERS: dict[type[ast.expr], Callable[[ExpressionParser, Any, Type | None], Expr]] = {
    ast.Name: ExpressionParser.name,
    ast.Constant: ExpressionParser.constant,
    ast.Attribute: ExpressionParser.attribute,
    ast.BinOp: ExpressionParser.binop,
    ast.UnaryOp: ExpressionParser.unary,
    ast.Compare: ExpressionParser.compare,
    ast.BoolOp: ExpressionParser.logical,
    ast.IfExp: ExpressionParser.select,
    ast.Subscript: ExpressionParser.subscript,
    ast.Call: ExpressionParser.call,
}
