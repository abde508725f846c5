"""`__half` and `__nv_bfloat16`: scalars of 16 bits in the IR, classes with operators in C++.

Arithmetic is computed in f32 and rounded once, which gives the correctly rounded result; a pair (`__half2`)
is a struct of two, and its operations work on each half of it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tmigrate.converters.cuda.bindings import Cursor, CursorKind
from tmigrate.converters.cuda.context import FunctionContext
from tmigrate.converters.cuda.conversions import constant, convert
from tmigrate.converters.cuda.intrinsics import operation
from tmigrate.converters.cuda.operators import type_at
from tmigrate.converters.cuda.refusals import location_of, refuse
from tmigrate.converters.cuda.registry import value
from tmigrate.tilelang.ir.expressions import (
    Binary,
    BinaryOp,
    Bitcast,
    Cast,
    Compare,
    CompareOp,
    Const,
    Expr,
    Logical,
    LogicalOp,
    MakeStruct,
    Member,
    type_of,
)
from tmigrate.tilelang.ir.statements import Assign
from tmigrate.tilelang.ir.types import BF16, F16, F32, F64, U16, ScalarType, StructType, Type

HALVES = (F16, BF16)
PAIRS: dict[str, ScalarType] = {"half2": F16, "nv_bfloat162": BF16}

_ARITHMETIC = {
    "operator+": BinaryOp.ADD, "operator-": BinaryOp.SUB,
    "operator*": BinaryOp.MUL, "operator/": BinaryOp.DIV,
    "hadd": BinaryOp.ADD, "hsub": BinaryOp.SUB, "hmul": BinaryOp.MUL, "hdiv": BinaryOp.DIV,
    "hadd_rn": BinaryOp.ADD, "hmul_rn": BinaryOp.MUL, "h2div": BinaryOp.DIV,
}  # fmt: skip
_COMPOUND = {
    "operator+=": BinaryOp.ADD, "operator-=": BinaryOp.SUB,
    "operator*=": BinaryOp.MUL, "operator/=": BinaryOp.DIV,
}  # fmt: skip
_COMPARISONS = {
    "operator==": CompareOp.EQ, "operator!=": CompareOp.NE,
    "operator<": CompareOp.LT, "operator>": CompareOp.GT,
    "operator<=": CompareOp.LE, "operator>=": CompareOp.GE, "heq": CompareOp.EQ, "hne": CompareOp.NE,
    "hlt": CompareOp.LT, "hgt": CompareOp.GT, "hle": CompareOp.LE, "hge": CompareOp.GE,
}  # fmt: skip
_FUNCTIONS = {
    "hsqrt": "sqrt", "hrsqrt": "rsqrt", "hexp": "exp", "hexp2": "exp2", "hlog": "log", "hlog2": "log2",
    "hsin": "sin", "hcos": "cos", "htanh": "tanh", "hfloor": "floor", "hceil": "ceil", "hrint": "rint",
    "htrunc": "trunc",
}  # fmt: skip
_TO_INTEGER = {
    "__half2int_rn": "float_to_int_rn", "__half2int_rz": "float_to_int_rz",
    "__half2uint_rn": "float_to_uint_rn",
    "__bfloat162int_rn": "float_to_int_rn", "__bfloat162int_rz": "float_to_int_rz",
    "__bfloat162uint_rn": "float_to_uint_rn",
}  # fmt: skip
_LANES = {"low2half": "x", "high2half": "y", "low2bfloat16": "x", "high2bfloat16": "y"}
_FROM_NUMBER = (
    "__float2half", "__float2half_rn", "__double2half", "__int2half_rn", "__uint2half_rn", "__float2bfloat16",
    "__float2bfloat16_rn", "__double2bfloat16", "__int2bfloat16_rn",
)  # fmt: skip
_TO_FLOAT = ("__half2float", "__bfloat162float")
_BITS = (
    "__half_as_ushort", "__half_as_short", "__ushort_as_half", "__short_as_half", "__bfloat16_as_ushort",
    "__ushort_as_bfloat16", "__bfloat16_as_short", "__short_as_bfloat16",
)  # fmt: skip


def is_half(t: Type) -> bool:
    """Whether a type is a 16-bit float or a pair of them."""
    return t in HALVES or (isinstance(t, StructType) and t.name in PAIRS)


def half_constructed(f: FunctionContext, cursor: Cursor, t: Type, arguments: list[Cursor]) -> Expr:
    """`__half(x)` of any number, and `__half2(a, b)`."""
    values = f.ordered([partial(value, f, k) for k in arguments])
    here = location_of(cursor)
    if isinstance(t, StructType):
        parts = tuple(to_half(f, v, PAIRS[t.name], cursor) for v in values)
        return MakeStruct(t, parts, location=here) if len(parts) == 2 else values[0]
    assert isinstance(t, ScalarType)
    if not values:
        return Const(0.0, t, location=here)
    return to_half(f, values[0], t, cursor)


def to_half(f: FunctionContext, e: Expr, t: ScalarType, where: Cursor) -> Expr:
    """A number as a 16-bit float, through f32."""
    source = type_of(e)
    if source == t:
        return e
    if not isinstance(source, ScalarType):
        return refuse("TM1025", f"no 16-bit float from {source}", where, "convert a number")
    return Cast(t, convert(f, e, F32, where), location=location_of(where))


def half_call(
    f: FunctionContext, cursor: Cursor, callee: Cursor, arguments: list[Cursor], owner: Callable[[], Expr]
) -> Expr:
    """A function of the half headers on halves.  `owner` gives a method's object."""
    name = str(callee.spelling)
    if callee.kind == CursorKind.CONVERSION_FUNCTION:
        return convert(f, owner(), type_at(f, cursor), cursor)
    if name in _COMPOUND:
        return _compound(f, cursor, _COMPOUND[name], arguments)
    values = f.ordered([partial(value, f, k) for k in arguments])
    return _named(f, cursor, name, values)


def takes_halves(f: FunctionContext, cursor: Cursor, callee: Cursor) -> bool:
    """Whether a function of a system header works on halves or makes one."""
    if callee.kind == CursorKind.CONVERSION_FUNCTION:
        return is_half(f.types.of(callee.semantic_parent.type, cursor))
    if callee.kind != CursorKind.FUNCTION_DECL or callee.spelling in ("__ldg", "atomicAdd", "printf"):
        return False
    spellings = [callee.result_type.spelling, *(str(a.type.spelling) for a in callee.get_arguments())]
    return any("half" in s or "bfloat16" in s for s in spellings)


def _named(f: FunctionContext, cursor: Cursor, name: str, values: list[Expr]) -> Expr:
    t = type_at(f, cursor)
    base = name.removeprefix("__").removesuffix("2") if name not in _TO_FLOAT else name
    here = location_of(cursor)
    if name in _FROM_NUMBER:
        assert isinstance(t, ScalarType)
        return to_half(f, values[0], t, cursor)
    if name in _TO_FLOAT:
        return Cast(F32, values[0], location=here)
    if name in _BITS:
        return Bitcast(t, values[0], location=here)
    if name in _TO_INTEGER:
        return operation(f, cursor, _TO_INTEGER[name], [Cast(F32, values[0], location=here)])
    if isinstance(type_of(values[0]), StructType) or isinstance(t, StructType):
        return _pair_function(f, cursor, name, values, t)
    if base in _COMPARISONS:
        return _compared(_COMPARISONS[base], values, cursor)
    return _scalar_function(f, cursor, base, values)


def _scalar_function(f: FunctionContext, cursor: Cursor, name: str, values: list[Expr]) -> Expr:
    """An operation on one element."""
    t = type_of(values[0])
    assert isinstance(t, ScalarType)
    here = location_of(cursor)
    wide = [Cast(F32, v, location=here) for v in values]
    if name in _ARITHMETIC and len(values) == 2:
        return Cast(t, Binary(_ARITHMETIC[name], wide[0], wide[1], location=here), location=here)
    if name in ("hneg", "operator-"):
        return _with_sign(BinaryOp.XOR, 0x8000, values[0])
    if name == "habs":
        return _with_sign(BinaryOp.AND, 0x7FFF, values[0])
    if name == "operator+":
        return values[0]
    if name in ("hmax", "hmin"):
        return Cast(t, operation(f, cursor, "f" + name[1:], wide), location=here)
    if name == "hfma":
        a, b, c = (Cast(F64, w, location=here) for w in wide)
        exact = Binary(BinaryOp.ADD, Binary(BinaryOp.MUL, a, b, location=here), c, location=here)
        return Cast(t, Cast(F32, exact, location=here), location=here)
    if name == "hisnan":
        return operation(f, cursor, "isnan", wide)
    if name == "hrcp":
        return Cast(t, Binary(BinaryOp.DIV, constant(1, F32), wide[0], location=here), location=here)
    if name in _FUNCTIONS:
        return Cast(t, operation(f, cursor, _FUNCTIONS[name], wide), location=here)
    return _unknown(cursor)


def _with_sign(op: BinaryOp, mask: int, e: Expr) -> Expr:
    bits = Bitcast(U16, e, location=e.location)
    return Bitcast(type_of(e), Binary(op, bits, Const(mask, U16), location=e.location), location=e.location)


def _compared(op: CompareOp, values: list[Expr], cursor: Cursor) -> Expr:
    here = location_of(cursor)
    left, right = (Cast(F32, v, location=here) for v in values)
    return Compare(op, left, right, location=here)


# ---- pairs -------------------------------------------------------------------------------------------


def _pair_function(f: FunctionContext, cursor: Cursor, name: str, values: list[Expr], t: Type) -> Expr:
    """An operation on pairs, element by element."""
    base = name.removeprefix("__")
    held = [
        v if f.is_simple(v) or not isinstance(type_of(v), StructType) else f.temporary("pair", v)
        for v in values
    ]
    here = location_of(cursor)
    if base in _LANES:
        return _lane(held[0], _LANES[base])
    if base in ("low2float", "high2float"):
        return Cast(F32, _lane(held[0], "x" if base[0] == "l" else "y"), location=here)
    if base in ("hbeq2", "hbgt2", "hblt2"):
        op = _COMPARISONS["h" + base[2:4]]
        tests = [_compared(op, [_lane(v, lane) for v in held], cursor) for lane in "xy"]
        return Logical(LogicalOp.AND, tests[0], tests[1], location=here)
    if not isinstance(t, StructType):
        return _unknown(cursor)
    if t.name == "float2":
        return MakeStruct(
            t, tuple(Cast(F32, _lane(held[0], lane), location=here) for lane in "xy"), location=here
        )
    element = PAIRS[t.name]
    whole = _whole_pair(f, cursor, base, held, element)
    if whole is None:
        function = base.replace("h2", "h", 1) if base.startswith("h2") else base.removesuffix("2")
        whole = [_element(f, cursor, function, [_lane(v, lane) for v in held], element) for lane in "xy"]
    return MakeStruct(t, tuple(whole), location=here)


def _element(f: FunctionContext, cursor: Cursor, name: str, values: list[Expr], t: ScalarType) -> Expr:
    """One element of a pair's operation; a comparison gives 1 or 0."""
    if name in _COMPARISONS:
        return Cast(t, Cast(F32, _compared(_COMPARISONS[name], values, cursor)), location=location_of(cursor))
    return _scalar_function(f, cursor, name, values)


def _whole_pair(
    f: FunctionContext, cursor: Cursor, name: str, values: list[Expr], t: ScalarType
) -> list[Expr] | None:
    """Pairs made of numbers or of the halves of other pairs; None where the operation is elementwise."""
    if name in ("floats2half2_rn", "halves2half2", "make_half2", "floats2bfloat162_rn", "halves2bfloat162"):
        return [to_half(f, v, t, cursor) for v in values]
    if name in ("float2half2_rn", "half2half2", "float2bfloat162_rn", "bfloat162bfloat162"):
        return [to_half(f, values[0], t, cursor)] * 2
    if name in ("float22half2_rn", "float22bfloat162_rn"):
        return [Cast(t, _lane(values[0], lane), location=location_of(cursor)) for lane in "xy"]
    lanes = {
        "low2half2": "xx", "high2half2": "yy", "lowhigh2highlow": "yx",
        "low2bfloat162": "xx", "high2bfloat162": "yy",
    }  # fmt: skip
    if name in lanes:
        return [_lane(values[0], lane) for lane in lanes[name]]
    if name in ("lows2half2", "highs2half2", "lows2bfloat162", "highs2bfloat162"):
        return [_lane(v, "x" if name[0] == "l" else "y") for v in values]
    return None


def _lane(pair: Expr, lane: str) -> Expr:
    t = type_of(pair)
    if not isinstance(t, StructType):
        return pair
    element = PAIRS.get(t.name, F32)
    if isinstance(pair, MakeStruct):
        return pair.values["xy".index(lane)]
    return Member(pair, lane, element, location=pair.location)


# ---- compound assignment -----------------------------------------------------------------------------


def _compound(f: FunctionContext, cursor: Cursor, op: BinaryOp, arguments: list[Cursor]) -> Expr:
    """`a += b`; gives the place `a`."""
    from tmigrate.converters.cuda.places import object_place

    right, target = f.ordered([partial(value, f, arguments[1]), partial(object_place, f, arguments[0])])
    name = f"operator{op.value}"
    t = type_of(target)
    if isinstance(t, StructType):
        stored = _pair_function(f, cursor, name, [target, right], t)
    else:
        stored = _scalar_function(f, cursor, name, [target, right])
    f.emit(Assign(target, stored, location=f.location or location_of(cursor)))
    return target


def _unknown(cursor: Cursor) -> Expr:
    return refuse("TM1025", f"'{cursor.spelling}' on 16-bit floats is not converted yet", cursor, "use float")


__all__ = ["HALVES", "half_call", "half_constructed", "is_half", "takes_halves"]
