"""Operators, literals and casts."""

from __future__ import annotations

from functools import partial

from tmigrate.converters.cuda.bindings import (
    BinaryKind,
    Cursor,
    CursorKind,
    UnaryKind,
    binary_kind,
    children_of,
    evaluate,
    unary_kind,
)
from tmigrate.converters.cuda.context import FunctionContext
from tmigrate.converters.cuda.conversions import ZERO, address_of, constant, convert, dereferenced, negated
from tmigrate.converters.cuda.refusals import location_of, refuse
from tmigrate.converters.cuda.registry import (
    effect,
    effect_handler,
    place,
    place_handler,
    value,
    value_handler,
)
from tmigrate.converters.cuda.types import promoted, usual
from tmigrate.tilelang.ir.expressions import (
    Binary,
    BinaryOp,
    Call,
    Cast,
    Compare,
    CompareOp,
    Const,
    Expr,
    Logical,
    LogicalOp,
    PointerAdd,
    PointerDifference,
    Select,
    Subscript,
    Unary,
    UnaryOp,
    Var,
    type_of,
)  # fmt: skip
from tmigrate.tilelang.ir.statements import Assign, Declare, Evaluate, If, Stmt
from tmigrate.tilelang.ir.types import B1, I32, I64, VOID, PointerType, ScalarType, StructType, Type

K = BinaryKind

_ARITHMETIC: dict[BinaryKind, BinaryOp] = {
    K.MUL: BinaryOp.MUL, K.ADD: BinaryOp.ADD, K.SUB: BinaryOp.SUB, K.AND: BinaryOp.AND, K.OR: BinaryOp.OR,
    K.XOR: BinaryOp.XOR, K.SHL: BinaryOp.SHL, K.SHR: BinaryOp.SHR, K.REM: BinaryOp.TRUNC_REM,
}  # fmt: skip
_COMPARISONS: dict[BinaryKind, CompareOp] = {
    K.LT: CompareOp.LT, K.GT: CompareOp.GT, K.LE: CompareOp.LE, K.GE: CompareOp.GE,
    K.EQ: CompareOp.EQ, K.NE: CompareOp.NE,
}  # fmt: skip
_COMPOUND: dict[BinaryKind, BinaryKind] = {
    K.MUL_ASSIGN: K.MUL, K.DIV_ASSIGN: K.DIV, K.REM_ASSIGN: K.REM, K.ADD_ASSIGN: K.ADD, K.SUB_ASSIGN: K.SUB,
    K.SHL_ASSIGN: K.SHL, K.SHR_ASSIGN: K.SHR, K.AND_ASSIGN: K.AND, K.XOR_ASSIGN: K.XOR, K.OR_ASSIGN: K.OR,
}  # fmt: skip


def type_at(f: FunctionContext, cursor: Cursor) -> Type:
    """The IR type of an expression."""
    return f.types.of(cursor.type, cursor)


def named_constant(f: FunctionContext, cursor: Cursor) -> Expr | None:
    """The module constant for a macro that the whole expression stands for."""
    name = f.module.macros.constant_name(cursor)
    if name is None:
        return None
    number, t = evaluate(cursor), type_at(f, cursor)
    if not isinstance(number, int | float) or not isinstance(t, ScalarType) or t.is_bool:
        return None
    return f.module.constant(name, constant(number, t).value, t)


# ---- literals ----------------------------------------------------------------------------------------


@value_handler(
    CursorKind.INTEGER_LITERAL, CursorKind.FLOATING_LITERAL, CursorKind.CHARACTER_LITERAL,
    CursorKind.CXX_BOOL_LITERAL_EXPR, CursorKind.CXX_UNARY_EXPR,
)  # fmt: skip
def literal(f: FunctionContext, cursor: Cursor) -> Expr:
    """A number, a truth value, or sizeof and alignof."""
    return named_constant(f, cursor) or evaluated(f, cursor)


def evaluated(f: FunctionContext, cursor: Cursor) -> Expr:
    """The value that clang computes for a constant expression."""
    number, t = evaluate(cursor), type_at(f, cursor)
    if not isinstance(number, int | float) or not isinstance(t, ScalarType):
        return refuse("TM1013", "clang gives no value for this constant", cursor)
    return Const(constant(number, t).value, t, location=location_of(cursor))


@value_handler(CursorKind.CXX_NULL_PTR_LITERAL_EXPR, CursorKind.GNU_NULL_EXPR)
def null_pointer(f: FunctionContext, cursor: Cursor) -> Expr:
    """nullptr and NULL; the context converts it to the pointer's type."""
    return Const(0, I32, location=location_of(cursor))


@value_handler(CursorKind.PAREN_EXPR)
def parenthesis(f: FunctionContext, cursor: Cursor) -> Expr:
    return named_constant(f, cursor) or value(f, children_of(cursor)[0])


@place_handler(CursorKind.PAREN_EXPR)
def parenthesis_place(f: FunctionContext, cursor: Cursor) -> Expr:
    return place(f, children_of(cursor)[0])


@effect_handler(CursorKind.PAREN_EXPR)
def parenthesis_effect(f: FunctionContext, cursor: Cursor) -> None:
    effect(f, children_of(cursor)[0])


# ---- unary -------------------------------------------------------------------------------------------

_STEPS = {
    UnaryKind.PRE_INC: BinaryOp.ADD, UnaryKind.POST_INC: BinaryOp.ADD,
    UnaryKind.PRE_DEC: BinaryOp.SUB, UnaryKind.POST_DEC: BinaryOp.SUB,
}  # fmt: skip


@value_handler(CursorKind.UNARY_OPERATOR)
def unary(f: FunctionContext, cursor: Cursor) -> Expr:
    """Operators on one operand."""
    kind, operand = unary_kind(cursor), children_of(cursor)[0]
    here = location_of(cursor)
    if kind == UnaryKind.DEREF:
        return unary_place(f, cursor)
    if kind in (UnaryKind.POST_INC, UnaryKind.POST_DEC):
        target = place(f, operand)
        old = f.temporary("old", target)
        _step(f, cursor, target, old)
        return old
    if kind in (UnaryKind.PRE_INC, UnaryKind.PRE_DEC):
        return unary_place(f, cursor)
    if kind == UnaryKind.ADDRESS:
        return _address(f, cursor, operand)
    if kind == UnaryKind.LNOT:
        return negated(convert(f, value(f, operand), B1, operand))
    if kind == UnaryKind.MINUS:
        return _minus(f, cursor, operand)
    if kind in (UnaryKind.PLUS, UnaryKind.EXTENSION):
        return convert(f, value(f, operand), type_at(f, cursor), cursor)
    if kind == UnaryKind.NOT:
        return Unary(UnaryOp.INVERT, convert(f, value(f, operand), type_at(f, cursor), cursor), location=here)
    return refuse("TM1013", "this operator is not converted", cursor)


def _minus(f: FunctionContext, cursor: Cursor, operand: Cursor) -> Expr:
    named = named_constant(f, cursor)
    if named is not None:
        return named
    t = type_at(f, cursor)
    e = convert(f, value(f, operand), t, cursor)
    if isinstance(e, Const) and isinstance(t, ScalarType):
        return Const(constant(-e.value, t).value, t, location=location_of(cursor))
    return Unary(UnaryOp.NEG, e, location=location_of(cursor))


def _address(f: FunctionContext, cursor: Cursor, operand: Cursor) -> Expr:
    t = type_at(f, cursor)
    if not isinstance(t, PointerType):
        return refuse("TM1021", "the address of a member or function is not converted", cursor)
    return address_of(place(f, operand), t)


@place_handler(CursorKind.UNARY_OPERATOR)
def unary_place(f: FunctionContext, cursor: Cursor) -> Expr:
    """`*p`, `++x`, `--x` denote places."""
    kind, operand = unary_kind(cursor), children_of(cursor)[0]
    if kind == UnaryKind.DEREF:
        return dereferenced(value(f, operand))
    if kind in (UnaryKind.PRE_INC, UnaryKind.PRE_DEC):
        target = place(f, operand)
        _step(f, cursor, target, target)
        return target
    if kind == UnaryKind.EXTENSION:
        return place(f, operand)
    return refuse("TM1013", "this operator does not give a place", cursor)


@effect_handler(CursorKind.UNARY_OPERATOR)
def unary_effect(f: FunctionContext, cursor: Cursor) -> None:
    """`i++;` needs no copy of the old value."""
    kind = unary_kind(cursor)
    if kind in _STEPS:
        target = place(f, children_of(cursor)[0])
        _step(f, cursor, target, target)
    else:
        unary(f, cursor)


def _step(f: FunctionContext, cursor: Cursor, target: Expr, old: Expr) -> None:
    """target = old plus or minus 1, computed in the promoted type as C does."""
    op, t = _STEPS[unary_kind(cursor)], type_of(target)  # type: ignore[index]
    here = location_of(cursor)
    stepped: Expr
    if isinstance(t, PointerType):
        stepped = PointerAdd(old, Const(1 if op is BinaryOp.ADD else -1, I32), location=here)
    elif isinstance(t, ScalarType) and not t.is_bool:
        wide = promoted(t)
        stepped = Binary(op, convert(f, old, wide, cursor), constant(1, wide), location=here)
        stepped = convert(f, stepped, t, cursor)
    else:
        refuse("TM1013", f"a value of type {t} cannot be stepped", cursor)
    f.emit(Assign(target, stepped, location=f.location or here))


# ---- binary ------------------------------------------------------------------------------------------


@value_handler(CursorKind.BINARY_OPERATOR)
def binary(f: FunctionContext, cursor: Cursor) -> Expr:
    """Operators on two operands."""
    kind, (left, right) = binary_kind(cursor), children_of(cursor)
    if kind == K.ASSIGN:
        return assign(f, cursor)
    if kind == K.COMMA:
        effect(f, left)
        return value(f, right)
    if kind in (K.LAND, K.LOR):
        return _logical(f, cursor, kind, left, right)
    if kind is None or kind not in (*_ARITHMETIC, *_COMPARISONS, K.DIV):
        return refuse("TM1013", "this operator is not converted", cursor)
    a, b = f.ordered([partial(value, f, left), partial(value, f, right)])
    return combine(f, kind, a, b, type_at(f, cursor), cursor)


def combine(f: FunctionContext, kind: BinaryKind, a: Expr, b: Expr, result: Type, cursor: Cursor) -> Expr:
    """`a kind b` on values; `result` is the type that C gives the expression."""
    here = location_of(cursor)
    ta, tb = type_of(a), type_of(b)
    if isinstance(ta, PointerType) or isinstance(tb, PointerType):
        return _pointer_operation(f, kind, a, b, result, cursor)
    if not isinstance(ta, ScalarType) or not isinstance(tb, ScalarType):
        return refuse("TM1013", f"no operator on {ta} and {tb}", cursor)
    if kind in _COMPARISONS:
        wide = ta if ta == tb else usual(ta, tb)
        a, b = convert(f, a, wide, cursor), convert(f, b, wide, cursor)
        return Compare(_COMPARISONS[kind], a, b, location=here)
    if not isinstance(result, ScalarType):
        return refuse("TM1013", f"no operator gives {result}", cursor)
    a, b = convert(f, a, result, cursor), convert(f, b, result, cursor)
    division = BinaryOp.DIV if result.is_float else BinaryOp.TRUNC_DIV
    return Binary(_ARITHMETIC.get(kind, division), a, b, location=here)


def _pointer_operation(
    f: FunctionContext, kind: BinaryKind, a: Expr, b: Expr, result: Type, cursor: Cursor
) -> Expr:
    here = location_of(cursor)
    ta, tb = type_of(a), type_of(b)
    if kind in _COMPARISONS:
        common = ta if isinstance(ta, PointerType) else tb
        return Compare(
            _COMPARISONS[kind], convert(f, a, common, cursor), convert(f, b, common, cursor), location=here
        )
    if kind == K.SUB and isinstance(ta, PointerType) and isinstance(tb, PointerType):
        return convert(f, PointerDifference(a, convert(f, b, ta, cursor), location=here), result, cursor)
    if isinstance(tb, PointerType) and kind == K.ADD:
        a, b, ta, tb = b, a, tb, ta
    if not isinstance(ta, PointerType) or ta.pointee == VOID or kind not in (K.ADD, K.SUB):
        return refuse("TM1013", "this pointer arithmetic is not converted", cursor, "cast to char* first")
    if not isinstance(tb, ScalarType):
        return refuse("TM1013", "this pointer arithmetic is not converted", cursor)
    offset = convert(f, b, I32, cursor) if tb.is_bool or tb.bits < 32 else b
    if kind == K.SUB:
        offset = _negative(offset)
    return PointerAdd(a, offset, location=here)


def _negative(offset: Expr) -> Expr:
    """The negative of an index; an unsigned one is widened first, so that p - 1u steps back."""
    t = type_of(offset)
    assert isinstance(t, ScalarType)
    if isinstance(offset, Const):
        return Const(-offset.value, I32 if abs(offset.value) < 1 << 31 else t)
    if not t.is_signed:
        offset = Cast(I64, offset, location=offset.location)
    return Unary(UnaryOp.NEG, offset, location=offset.location)


def _logical(f: FunctionContext, cursor: Cursor, kind: BinaryKind, left: Cursor, right: Cursor) -> Expr:
    """`&&` and `||`; a right side with effects runs under an `if`."""
    a = convert(f, value(f, left), B1, left)
    with f.region() as inner:
        b = convert(f, value(f, right), B1, right)
    here = location_of(cursor)
    op = LogicalOp.AND if kind == K.LAND else LogicalOp.OR
    if not inner:
        return Logical(op, a, b, location=here)
    chosen = f.variable("condition", B1, unstable=True)
    f.emit(Declare(chosen, a, location=f.location))
    test: Expr = chosen if op is LogicalOp.AND else Unary(UnaryOp.NOT, chosen)
    f.emit(If(test, (*inner, Assign(chosen, b, location=here)), (), location=here))
    return chosen


@value_handler(CursorKind.CONDITIONAL_OPERATOR)
def conditional(f: FunctionContext, cursor: Cursor) -> Expr:
    """`c ? a : b`; branches with effects run under an `if`."""
    test, yes, no = children_of(cursor)
    t = type_at(f, cursor)
    condition = convert(f, value(f, test), B1, test)
    if t == VOID:
        with f.region() as a_out:
            effect(f, yes)
        with f.region() as b_out:
            effect(f, no)
        _emit_choice(f, condition, a_out, b_out, cursor)
        return Const(0, I32)
    with f.region() as a_out:
        a = convert(f, value(f, yes), t, yes)
    with f.region() as b_out:
        b = convert(f, value(f, no), t, no)
    here = location_of(cursor)
    if not a_out and not b_out:
        return Select(condition, a, b, location=here)
    chosen = f.variable("chosen", t, unstable=True)
    f.emit(Declare(chosen, None, location=f.location))
    a_out.append(Assign(chosen, a, location=here))
    b_out.append(Assign(chosen, b, location=here))
    f.emit(If(condition, tuple(a_out), tuple(b_out), location=here))
    return chosen


@effect_handler(CursorKind.CONDITIONAL_OPERATOR)
def conditional_effect(f: FunctionContext, cursor: Cursor) -> None:
    """`c ? f() : g();` as a statement."""
    test, yes, no = children_of(cursor)
    condition = convert(f, value(f, test), B1, test)
    with f.region() as a_out:
        effect(f, yes)
    with f.region() as b_out:
        effect(f, no)
    _emit_choice(f, condition, a_out, b_out, cursor)


def _emit_choice(
    f: FunctionContext, condition: Expr, yes: list[Stmt], no: list[Stmt], cursor: Cursor
) -> None:
    """An `if` for a `?:` without value; that of the macro `assert` is one call."""
    here = location_of(cursor)
    if not yes and len(no) == 1 and isinstance(no[0], Evaluate) and isinstance(no[0].value, Call):
        failed = no[0].value
        if failed.callee == "assert_":
            f.call("assert_", (condition, failed.arguments[1]), VOID, effectful=True)
            return
    if not yes and no:
        condition, yes, no = negated(condition), no, yes
    if yes:
        f.emit(If(condition, tuple(yes), tuple(no), location=here))


# ---- assignment --------------------------------------------------------------------------------------


@place_handler(CursorKind.BINARY_OPERATOR)
def binary_place(f: FunctionContext, cursor: Cursor) -> Expr:
    """`(a = b)` and `(a, b)` denote places."""
    kind, (left, right) = binary_kind(cursor), children_of(cursor)
    if kind == K.ASSIGN:
        return assign(f, cursor)
    if kind == K.COMMA:
        effect(f, left)
        return place(f, right)
    return refuse("TM1013", "this operator does not give a place", cursor)


@effect_handler(CursorKind.BINARY_OPERATOR)
def binary_effect(f: FunctionContext, cursor: Cursor) -> None:
    kind, (left, right) = binary_kind(cursor), children_of(cursor)
    if kind == K.ASSIGN:
        assign(f, cursor)
    elif kind == K.COMMA:
        effect(f, left)
        effect(f, right)
    elif kind in (K.LAND, K.LOR):
        condition = convert(f, value(f, left), B1, left)
        with f.region() as inner:
            effect(f, right)
        if inner:
            test = condition if kind == K.LAND else negated(condition)
            f.emit(If(test, tuple(inner), (), location=location_of(cursor)))
    else:
        binary(f, cursor)


def assign(f: FunctionContext, cursor: Cursor) -> Expr:
    """`a = b`: the right side first, then the left (C++17); gives the place `a`."""
    left, right = children_of(cursor)
    source, target = f.ordered([partial(value, f, right), partial(place, f, left)])
    stored = convert(f, source, type_of(target), cursor)
    f.emit(Assign(target, stored, location=f.location or location_of(cursor)))
    return target


@place_handler(CursorKind.COMPOUND_ASSIGNMENT_OPERATOR)
def compound_place(f: FunctionContext, cursor: Cursor) -> Expr:
    """`a += b`, computed in the type that C's usual conversions give; gives the place `a`."""
    left, right = children_of(cursor)
    kind = _COMPOUND.get(binary_kind(cursor) or K.COMMA)
    if kind is None:
        return refuse("TM1013", "this operator is not converted", cursor)
    operand, target = f.ordered([partial(value, f, right), partial(place, f, left)])
    t = type_of(target)
    if isinstance(t, StructType):
        return refuse("TM1013", "this operator is not converted", cursor)
    stored = combine(f, kind, target, operand, _computation(kind, t, type_of(operand)), cursor)
    f.emit(Assign(target, convert(f, stored, t, cursor), location=f.location or location_of(cursor)))
    return target


def _computation(kind: BinaryKind, left: Type, right: Type) -> Type:
    if not isinstance(left, ScalarType) or not isinstance(right, ScalarType):
        return left
    return promoted(left) if kind in (K.SHL, K.SHR) else usual(left, right)


# ---- casts -------------------------------------------------------------------------------------------


@value_handler(
    CursorKind.CSTYLE_CAST_EXPR, CursorKind.CXX_STATIC_CAST_EXPR, CursorKind.CXX_REINTERPRET_CAST_EXPR,
    CursorKind.CXX_CONST_CAST_EXPR, CursorKind.CXX_FUNCTIONAL_CAST_EXPR,
)  # fmt: skip
def cast(f: FunctionContext, cursor: Cursor) -> Expr:
    """An explicit conversion of a value."""
    inner = operand_of_cast(cursor)
    if _is_bare_lvalue(inner):
        return cast_place(f, cursor)
    target = type_at(f, cursor)
    if target == VOID:
        effect(f, inner)
        return Const(0, I32)
    return convert(f, value(f, inner), target, cursor)


@place_handler(
    CursorKind.CSTYLE_CAST_EXPR, CursorKind.CXX_STATIC_CAST_EXPR, CursorKind.CXX_REINTERPRET_CAST_EXPR,
    CursorKind.CXX_CONST_CAST_EXPR,
)  # fmt: skip
def cast_place(f: FunctionContext, cursor: Cursor) -> Expr:
    """`reinterpret_cast<float4 &>(x)` denotes x's bytes as another type."""
    inner = place(f, operand_of_cast(cursor))
    target = type_at(f, cursor)
    if type_of(inner) == target:
        return inner
    if isinstance(target, PointerType) and not isinstance(type_of(inner), PointerType):
        return refuse("TM1013", "this cast does not give a place", cursor)
    return Subscript(address_of(inner, PointerType(target)), (ZERO,), location=location_of(cursor))


@effect_handler(
    CursorKind.CSTYLE_CAST_EXPR, CursorKind.CXX_STATIC_CAST_EXPR, CursorKind.CXX_FUNCTIONAL_CAST_EXPR
)
def cast_effect(f: FunctionContext, cursor: Cursor) -> None:
    """`(void)x;`"""
    effect(f, operand_of_cast(cursor))


def _is_bare_lvalue(cursor: Cursor) -> bool:
    """Whether the operand of a cast is an lvalue that is not read: then the cast is to a reference.

    `(int)x` reads x, which clang shows as an implicit cast around x; `(int &)x` does not.
    """
    while cursor.kind == CursorKind.PAREN_EXPR:
        cursor = children_of(cursor)[0]
    if cursor.kind == CursorKind.DECL_REF_EXPR:
        return cursor.referenced is not None and cursor.referenced.kind in (
            CursorKind.VAR_DECL, CursorKind.PARM_DECL,
        )  # fmt: skip
    if cursor.kind == CursorKind.UNARY_OPERATOR:
        return unary_kind(cursor) in (UnaryKind.DEREF, UnaryKind.PRE_INC, UnaryKind.PRE_DEC)
    return cursor.kind in (CursorKind.ARRAY_SUBSCRIPT_EXPR, CursorKind.MEMBER_REF_EXPR)


def operand_of_cast(cursor: Cursor) -> Cursor:
    """The expression that is cast: the last child, behind the references to the type's name."""
    kids = [k for k in children_of(cursor) if k.kind.is_expression()]
    if not kids:
        return refuse("TM1013", "this cast is not converted", cursor)
    return kids[-1]


__all__ = ["Var", "assign", "combine", "evaluated", "named_constant", "operand_of_cast", "type_at"]
