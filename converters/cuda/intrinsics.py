"""CUDA's device functions by name: which operation of the IR each is.

The table is data.  An entry's handler gets the call, its converted arguments and gives the value; a function
of a system header that has no entry is refused by name where it is called.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from tmigrate.converters.cuda.bindings import Cursor, evaluate
from tmigrate.converters.cuda.context import FunctionContext
from tmigrate.converters.cuda.conversions import ZERO, convert, dereferenced
from tmigrate.converters.cuda.operators import type_at
from tmigrate.converters.cuda.refusals import location_of, refuse
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
    Select,
    Unary,
    UnaryOp,
    type_of,
)  # fmt: skip
from tmigrate.tilelang.ir.intrinsics import INTRINSICS, result_type
from tmigrate.tilelang.ir.statements import Assign
from tmigrate.tilelang.ir.types import (
    B1,
    F32,
    F64,
    I32,
    U32,
    U64,
    VOID,
    PointerType,
    ScalarType,
    Type,
)  # fmt: skip

Handler = Callable[[FunctionContext, Cursor, list[Expr]], Expr]
TABLE: dict[str, Handler] = {}
FULL_MASK = 0xFFFFFFFF


def operation(f: FunctionContext, cursor: Cursor, name: str, arguments: Sequence[Expr]) -> Expr:
    """A call of an intrinsic of the IR, with its type rule checked."""
    found = result_type(name, [type_of(a) for a in arguments])
    if isinstance(found, str):
        return refuse("TM1014", f"'{cursor.spelling}': {found}", cursor)
    return f.call(name, tuple(arguments), found, not INTRINSICS[name].is_pure)


def _entry(names: str, handler: Handler) -> None:
    for name in names.split():
        assert name not in TABLE, name
        TABLE[name] = handler


def _same_type(name: str, f: FunctionContext, cursor: Cursor, arguments: list[Expr]) -> Expr:
    """f, f -> f: all arguments in the result's type (`pow(float, int)` computes in double)."""
    t = type_at(f, cursor)
    return operation(f, cursor, name, [convert(f, a, t, cursor) for a in arguments])


def _as_given(name: str, f: FunctionContext, cursor: Cursor, arguments: list[Expr]) -> Expr:
    """The operation on the arguments as C converted them; the result in the call's type."""
    result = operation(f, cursor, name, arguments)
    t = type_at(f, cursor)
    return result if t == VOID else convert(f, result, t, cursor)


def _fixed(
    name: str, types: tuple[Type, ...], f: FunctionContext, cursor: Cursor, arguments: list[Expr]
) -> Expr:
    """The operation on arguments of given types."""
    given = [convert(f, a, t, cursor) for a, t in zip(arguments, types, strict=True)]
    return _as_given(name, f, cursor, given)


# ---- mathematics -------------------------------------------------------------------------------------

_MATH = (
    "sqrt rsqrt cbrt rcbrt exp exp2 exp10 expm1 log log2 log10 log1p sin cos tan sinpi cospi asin acos atan "
    "sinh cosh tanh asinh acosh atanh erf erfc erfinv erfcinv erfcx normcdf normcdfinv tgamma lgamma "
    "j0 j1 y0 y1 floor ceil trunc round rint fabs pow atan2 fmod remainder hypot rhypot fdim copysign "
    "nextafter fma norm3d fmin fmax"
)
for _name in _MATH.split():
    _entry(f"{_name} {_name}f", partial(_same_type, _name))
_entry("nearbyint nearbyintf", partial(_same_type, "rint"))
_entry("__tanhf", partial(_same_type, "tanh"))
_entry("__builtin_sqrtf __builtin_sqrt", partial(_same_type, "sqrt"))
for _name in "isnan isinf isfinite signbit".split():
    _entry(f"{_name} {_name}f __{_name} __{_name}f __builtin_{_name}", partial(_as_given, _name))
_entry("finite finitef __finite __finitef", partial(_as_given, "isfinite"))
_entry("ilogb ilogbf", partial(_as_given, "ilogb"))


def _ldexp(f: FunctionContext, cursor: Cursor, arguments: list[Expr]) -> Expr:
    t = type_at(f, cursor)
    return operation(
        f, cursor, "ldexp", [convert(f, arguments[0], t, cursor), convert(f, arguments[1], I32, cursor)]
    )


_entry("ldexp ldexpf scalbn scalbnf", _ldexp)

for _name in "exp exp10 log log2 log10 sin cos tan".split():
    _entry(f"__{_name}f", partial(_same_type, f"fast_{_name}"))
_entry("__powf", partial(_same_type, "fast_pow"))
_entry("__fdividef fdividef", partial(_same_type, "fast_divide"))
_entry("__saturatef", partial(_same_type, "saturate"))
for _name in "add sub mul div".split():
    _entry(f"__f{_name}_rn __d{_name}_rn", partial(_same_type, f"{_name}_rn"))
_entry("__fmaf_rn __fma_rn", partial(_same_type, "fma"))
_entry("__frcp_rn __drcp_rn", partial(_same_type, "frcp_rn"))
_entry("__fsqrt_rn __dsqrt_rn", partial(_same_type, "sqrt"))


def _frsqrt(f: FunctionContext, cursor: Cursor, arguments: list[Expr]) -> Expr:
    """The reciprocal square root, rounded once: through f64."""
    root = operation(f, cursor, "sqrt", [convert(f, arguments[0], F64, cursor)])
    here = location_of(cursor)
    return Cast(F32, Binary(BinaryOp.DIV, Const(1.0, F64), root, location=here), location=here)


_entry("__frsqrt_rn", _frsqrt)


def _both(first: str, second: str, f: FunctionContext, cursor: Cursor, arguments: list[Expr]) -> Expr:
    """`sincos(x, &s, &c)`: two stores."""
    x = arguments[0] if f.is_simple(arguments[0]) else f.temporary("angle", arguments[0])
    for name, pointer in zip((first, second), arguments[1:], strict=True):
        target = dereferenced(pointer)
        stored = operation(f, cursor, name, [convert(f, x, type_of(target), cursor)])
        f.emit(Assign(target, stored, location=f.location))
    return ZERO


def _frexp(f: FunctionContext, cursor: Cursor, arguments: list[Expr]) -> Expr:
    """`frexp(x, &e)`: e is one above the exponent, 0 for zero, infinity and NaN; the rest is exact."""
    t, here = type_at(f, cursor), location_of(cursor)
    x = convert(f, arguments[0], t, cursor)
    x = x if f.is_simple(x) else f.temporary("number", x)
    assert isinstance(t, ScalarType)
    nonzero = Compare(CompareOp.NE, x, Const(0.0, t), location=here)
    usual = Logical(LogicalOp.AND, operation(f, cursor, "isfinite", [x]), nonzero, location=here)
    above = Binary(BinaryOp.ADD, operation(f, cursor, "ilogb", [x]), Const(1, I32), location=here)
    exponent = f.temporary("exponent", Select(usual, above, Const(0, I32), location=here))
    f.emit(Assign(dereferenced(arguments[1]), exponent, location=f.location))
    return operation(f, cursor, "ldexp", [x, Unary(UnaryOp.NEG, exponent, location=here)])


def _modf(f: FunctionContext, cursor: Cursor, arguments: list[Expr]) -> Expr:
    """`modf(x, &whole)`: the rest keeps the sign of x; an infinity has none."""
    t, here = type_at(f, cursor), location_of(cursor)
    assert isinstance(t, ScalarType)
    x = convert(f, arguments[0], t, cursor)
    x = x if f.is_simple(x) else f.temporary("number", x)
    whole = f.temporary("whole", operation(f, cursor, "trunc", [x]))
    f.emit(Assign(dereferenced(arguments[1]), whole, location=f.location))
    rest = Binary(BinaryOp.SUB, x, whole, location=here)
    finite = Select(operation(f, cursor, "isinf", [x]), Const(0.0, t), rest, location=here)
    return operation(f, cursor, "copysign", [finite, x])


_entry("frexp frexpf", _frexp)
_entry("modf modff", _modf)
_entry("sincos sincosf", partial(_both, "sin", "cos"))
_entry("sincospi sincospif", partial(_both, "sinpi", "cospi"))
_entry("__sincosf", partial(_both, "fast_sin", "fast_cos"))


def _least_or_greatest(kind: str, f: FunctionContext, cursor: Cursor, arguments: list[Expr]) -> Expr:
    """CUDA's min and max; std::min and std::max keep C's comparison, which NaN makes false."""
    t = type_at(f, cursor)
    if not isinstance(t, ScalarType):
        return refuse("TM1014", f"'{cursor.spelling}' on {t} is not converted", cursor)
    a, b = (convert(f, x, t, cursor) for x in arguments)
    if not t.is_float:
        return operation(f, cursor, kind, [a, b])
    if "&" not in cursor.referenced.result_type.spelling:
        return operation(f, cursor, "fmin" if kind == "min" else "fmax", [a, b])
    a, b = (x if f.is_simple(x) else f.temporary("candidate", x) for x in (a, b))
    here = location_of(cursor)
    left, right = (b, a) if kind == "min" else (a, b)  # (b < a) ? b : a, and (a < b) ? b : a
    return Select(Compare(CompareOp.LT, left, right, location=here), b, a, location=here)


_entry("min umin llmin ullmin", partial(_least_or_greatest, "min"))
_entry("max umax llmax ullmax", partial(_least_or_greatest, "max"))


def _absolute(f: FunctionContext, cursor: Cursor, arguments: list[Expr]) -> Expr:
    t = type_at(f, cursor)
    name = "fabs" if isinstance(t, ScalarType) and t.is_float else "abs"
    return operation(f, cursor, name, [convert(f, arguments[0], t, cursor)])


_entry("abs labs llabs", _absolute)


def _rounded_to_integer(name: str, f: FunctionContext, cursor: Cursor, arguments: list[Expr]) -> Expr:
    return convert(f, operation(f, cursor, name, arguments), type_at(f, cursor), cursor)


_entry("lrint lrintf llrint llrintf", partial(_rounded_to_integer, "float_to_ll_rn"))
_entry("lround lroundf llround llroundf", partial(_rounded_to_integer, "round"))

# ---- integers and bits -------------------------------------------------------------------------------

_entry("__popc __popcll", partial(_as_given, "popc"))
_entry("__clz __clzll", partial(_as_given, "clz"))
_entry("__ffs __ffsll", partial(_as_given, "ffs"))
_entry("__brev __brevll", partial(_as_given, "brev"))
_entry("__mulhi __umulhi __mul64hi __umul64hi mulhi umulhi", partial(_as_given, "mulhi"))
_entry("__mul24 __umul24 mul24 umul24", partial(_as_given, "mul24"))
_entry("__hadd __uhadd", partial(_as_given, "hadd"))
_entry("__rhadd __urhadd", partial(_as_given, "rhadd"))
_entry("__sad __usad", partial(_as_given, "sad"))
_entry("__byte_perm", partial(_as_given, "byte_perm"))
_entry("__dp4a", partial(_as_given, "dp4a"))
for _name in "l r lc rc".split():
    _entry(f"__funnelshift_{_name}", partial(_as_given, f"funnelshift_{_name}"))

for _to, _from in (("int", "int"), ("uint", "uint"), ("ll", "ll"), ("ull", "ull")):
    for _rounding in ("rn", "rd", "ru", "rz"):
        for _source in ("float", "double"):
            _entry(f"__{_source}2{_to}_{_rounding}", partial(_as_given, f"float_to_{_from}_{_rounding}"))


def _plain_conversion(f: FunctionContext, cursor: Cursor, arguments: list[Expr]) -> Expr:
    return convert(f, arguments[0], type_at(f, cursor), cursor)


_entry(
    "__int2float_rn __uint2float_rn __ll2float_rn __ull2float_rn __int2double_rn __uint2double_rn "
    "__ll2double_rn __ull2double_rn __double2float_rn",
    _plain_conversion,
)


def _bits(f: FunctionContext, cursor: Cursor, arguments: list[Expr]) -> Expr:
    return Bitcast(type_at(f, cursor), arguments[0], location=location_of(cursor))


_entry(
    "__float_as_int __float_as_uint __int_as_float __uint_as_float __double_as_longlong __longlong_as_double",
    _bits,
)


def _half_of_double(shift: int, f: FunctionContext, cursor: Cursor, arguments: list[Expr]) -> Expr:
    here = location_of(cursor)
    bits: Expr = Bitcast(U64, arguments[0], location=here)
    if shift:
        bits = Binary(BinaryOp.SHR, bits, Const(shift, U64), location=here)
    return Cast(I32, bits, location=here)


def _double_of_halves(f: FunctionContext, cursor: Cursor, arguments: list[Expr]) -> Expr:
    here = location_of(cursor)
    high, low = (Cast(U64, Cast(U32, a, location=here), location=here) for a in arguments)
    shifted = Binary(BinaryOp.SHL, high, Const(32, U64), location=here)
    return Bitcast(F64, Binary(BinaryOp.OR, shifted, low, location=here), location=here)


_entry("__double2loint", partial(_half_of_double, 0))
_entry("__double2hiint", partial(_half_of_double, 32))
_entry("__hiloint2double", _double_of_halves)

# ---- atomics -----------------------------------------------------------------------------------------


def _atomic(name: str, f: FunctionContext, cursor: Cursor, arguments: list[Expr]) -> Expr:
    pointer = type_of(arguments[0])
    if not isinstance(pointer, PointerType) or not isinstance(pointer.pointee, ScalarType):
        return refuse("TM1043", f"'{cursor.spelling}' on {pointer} is not converted", cursor,
                      "use 32- or 64-bit integers or floats")  # fmt: skip
    rest = [convert(f, a, pointer.pointee, cursor) for a in arguments[1:]]
    return operation(f, cursor, name, [arguments[0], *rest])


for _cuda, _name in (
    ("Add", "add"), ("Sub", "sub"), ("Min", "min"), ("Max", "max"), ("Exch", "exch"), ("Inc", "inc"),
    ("Dec", "dec"), ("And", "and"), ("Or", "or"), ("Xor", "xor"), ("CAS", "cas"),
):  # fmt: skip
    _entry(f"atomic{_cuda} atomic{_cuda}_block atomic{_cuda}_system", partial(_atomic, f"atomic_{_name}"))

# ---- threads, lanes, memory order --------------------------------------------------------------------

_entry("__syncthreads", partial(_fixed, "syncthreads", ()))
for _name in "count and or".split():
    _entry(f"__syncthreads_{_name}", partial(_fixed, f"syncthreads_{_name}", (I32,)))
for _name in ("threadfence", "threadfence_block", "threadfence_system"):
    _entry(f"__{_name}", partial(_fixed, _name, ()))


def _full_mask(f: FunctionContext, cursor: Cursor, mask: Expr) -> Expr:
    """Only operations on whole warps are converted: the mask must be the constant 0xffffffff."""
    given = convert(f, mask, U32, cursor)
    value = getattr(given, "value", None)
    if not isinstance(given, Const) and isinstance(given, Cast):
        value = getattr(given.operand, "value", None)
    if value is None:
        given_arguments = list(cursor.get_arguments())
        value = evaluate(given_arguments[0]) if given_arguments else None
    if not isinstance(value, int) or value & FULL_MASK != FULL_MASK:
        refuse("TM1034", f"'{cursor.spelling}' with a mask other than 0xffffffff is not converted", cursor,
               "let all 32 lanes take part and use the mask 0xffffffff")  # fmt: skip
    return Const(FULL_MASK, U32, location=mask.location)


def _shuffle(name: str, f: FunctionContext, cursor: Cursor, arguments: list[Expr]) -> Expr:
    given = [
        _full_mask(f, cursor, arguments[0]), arguments[1],
        *(convert(f, a, I32, cursor) for a in arguments[2:]),
    ]  # fmt: skip
    if not isinstance(type_of(given[1]), ScalarType):
        return refuse("TM1034", f"a shuffle of {type_of(given[1])} is not converted", cursor,
                      "shuffle each member")  # fmt: skip
    return operation(f, cursor, name, given)


def _vote(name: str, f: FunctionContext, cursor: Cursor, arguments: list[Expr]) -> Expr:
    given = [_full_mask(f, cursor, arguments[0]), convert(f, arguments[1], B1, cursor)]
    return convert(f, operation(f, cursor, name, given), type_at(f, cursor), cursor)


def _syncwarp(f: FunctionContext, cursor: Cursor, arguments: list[Expr]) -> Expr:
    mask = arguments[0] if arguments else Const(FULL_MASK, U32)
    return operation(f, cursor, "syncwarp", [_full_mask(f, cursor, mask)])


for _name in ("shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync"):
    _entry(f"__{_name}", partial(_shuffle, _name))
for _name in ("ballot_sync", "any_sync", "all_sync"):
    _entry(f"__{_name}", partial(_vote, _name))
_entry("__syncwarp", _syncwarp)
_entry("__activemask", partial(_fixed, "activemask", ()))
_entry("__trap", partial(_fixed, "trap", ()))
_entry("clock clock64", partial(_fixed, "clock", ()))

# ---- memory ------------------------------------------------------------------------------------------


def _load(f: FunctionContext, cursor: Cursor, arguments: list[Expr]) -> Expr:
    """A load with a cache hint, which does not change the value."""
    return dereferenced(arguments[0])


def _store(f: FunctionContext, cursor: Cursor, arguments: list[Expr]) -> Expr:
    target = dereferenced(arguments[0])
    f.emit(Assign(target, convert(f, arguments[1], type_of(target), cursor), location=f.location))
    return ZERO


_entry("__ldg __ldcg __ldca __ldcs __ldlu __ldcv", _load)
_entry("__stcg __stcs __stwb __stwt", _store)

# Functions that are known and have no place in the IR: code, what is wrong, what to write.
REFUSED: dict[str, tuple[str, str, str]] = {
    name: (code, message, remedy)
    for names, code, message, remedy in (
        ("malloc free calloc realloc", "TM1019", "device-side allocation is not converted",
         "allocate on the host and pass the pointer"),
        ("memcpy memset memmove", "TM1045", "block copies in device code are not converted",
         "write the loop over elements"),
        ("__shfl __shfl_up __shfl_down __shfl_xor __ballot __any __all", "TM1041",
         "warp operations without _sync are undefined since CUDA 9",
         "use the _sync form with mask 0xffffffff"),
        ("tex1Dfetch tex1D tex2D tex3D tex2DLayered tex1DLayered", "TM1017", "textures are not converted yet",
         "read the array through a pointer"),
        ("surf1Dread surf2Dread surf1Dwrite surf2Dwrite", "TM1017", "surfaces are not converted yet",
         "use a pointer"),
        ("__match_any_sync __match_all_sync __reduce_add_sync __reduce_min_sync __reduce_max_sync "
         "__reduce_and_sync __reduce_or_sync __reduce_xor_sync", "TM1034",
         "this warp operation is not converted yet", "use shuffles or ballots"),
    )
    for name in names.split()
}  # fmt: skip

__all__ = ["REFUSED", "TABLE", "operation"]
