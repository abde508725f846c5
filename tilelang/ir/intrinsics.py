"""The table of intrinsics: every operation that is written as a call and is not a function of the module.

One row declares a name, its type rule and its effect; the printer, parser and verifier need nothing else.
How to compute it stands in one table per executor: `interpreter/operations.py` (Python) and each target's
lowering table.  `tests/unit/test_intrinsics.py` asserts that no executor misses one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from tmigrate.tilelang.ir.types import (
    B1,
    F32,
    I32,
    I64,
    U32,
    U64,
    VOID,
    PointerType,
    ScalarKind,
    ScalarType,
    Type,
    is_float,
    is_integer,
)


class Effect(Enum):
    """What a call does beyond giving a value; everything but PURE stands at a statement's root."""

    PURE = "pure"
    ATOMIC = "atomic"  # reads and writes memory indivisibly
    BARRIER = "barrier"  # all threads of the block meet
    LANES = "lanes"  # the lanes of a warp exchange values
    FENCE = "fence"  # orders memory
    OUTPUT = "output"  # prints, or ends the launch
    CLOCK = "clock"  # gives a different value each time


# A type rule takes the argument types and returns the result type, or a sentence that says what is wrong.
TypeRule = Callable[[Sequence[Type]], Type | str]


@dataclass(frozen=True, slots=True)
class Intrinsic:
    """One row: name, arities, type rule, effect and a sentence of documentation."""

    name: str
    arity: tuple[int, int]
    rule: TypeRule
    effect: Effect
    doc: str

    @property
    def is_pure(self) -> bool:
        return self.effect is Effect.PURE


INTRINSICS: dict[str, Intrinsic] = {}


def _declare(
    names: str, arity: int | tuple[int, int], rule: TypeRule, doc: str, effect: Effect = Effect.PURE
) -> None:
    bounds = arity if isinstance(arity, tuple) else (arity, arity)
    for name in names.split():
        if name in INTRINSICS:
            raise ValueError(f"intrinsic {name} is declared twice")
        INTRINSICS[name] = Intrinsic(name, bounds, rule, effect, doc)


# ---- type rules --------------------------------------------------------------------------------------


def _same(arguments: Sequence[Type]) -> str | None:
    if any(t != arguments[0] for t in arguments):
        return "all arguments must have one type"
    return None


def floats(arguments: Sequence[Type]) -> Type | str:
    """f, f -> f."""
    if not is_float(arguments[0]):
        return f"expected floating-point arguments, got {arguments[0]}"
    return _same(arguments) or arguments[0]


def numbers(arguments: Sequence[Type]) -> Type | str:
    """n, n -> n for any integer or float type."""
    if not (is_float(arguments[0]) or is_integer(arguments[0])):
        return f"expected numbers, got {arguments[0]}"
    return _same(arguments) or arguments[0]


def integers(arguments: Sequence[Type]) -> Type | str:
    """i, i -> i."""
    if not is_integer(arguments[0]):
        return f"expected integers, got {arguments[0]}"
    return _same(arguments) or arguments[0]


def words(arguments: Sequence[Type]) -> str | None:
    """What is wrong unless all are i32 or all u32."""
    if arguments[0] not in (I32, U32):
        return f"expected 32-bit integers, got {arguments[0]}"
    return _same(arguments)


def float_test(arguments: Sequence[Type]) -> Type | str:
    """f -> b1."""
    return B1 if is_float(arguments[0]) else f"expected a floating-point argument, got {arguments[0]}"


def float_and_int(arguments: Sequence[Type]) -> Type | str:
    """f, i32 -> f (ldexp)."""
    if not is_float(arguments[0]) or arguments[1] != I32:
        return "expected a float and an i32"
    return arguments[0]


def bits_to_i32(arguments: Sequence[Type]) -> Type | str:
    """i -> i32 (popc, clz, ffs)."""
    return I32 if is_integer(arguments[0]) else f"expected an integer, got {arguments[0]}"


def exactly(*expected: Type, gives: Type) -> TypeRule:
    """A rule for fixed argument types."""

    def rule(arguments: Sequence[Type]) -> Type | str:
        if tuple(arguments) != expected:
            return f"expected ({', '.join(map(str, expected))}), got ({', '.join(map(str, arguments))})"
        return gives

    return rule


def _atomic(kinds: frozenset[ScalarKind], operands: int) -> TypeRule:
    """Ptr[t], t... -> t."""

    def rule(arguments: Sequence[Type]) -> Type | str:
        pointer = arguments[0]
        if not isinstance(pointer, PointerType) or not isinstance(pointer.pointee, ScalarType):
            return f"expected a pointer to a number, got {pointer}"
        if pointer.pointee.kind not in kinds:
            return f"not defined on {pointer.pointee}"
        if any(t != pointer.pointee for t in arguments[1 : 1 + operands]):
            return f"expected {pointer.pointee} operands"
        return pointer.pointee

    return rule


def shuffled(arguments: Sequence[Type]) -> Type | str:
    """u32 mask, t value, i32 lane or delta, i32 width -> t."""
    if arguments[0] != U32 or arguments[2] != I32 or arguments[3] != I32:
        return "expected (u32 mask, value, i32 lane, i32 width)"
    if not isinstance(arguments[1], ScalarType):
        return f"cannot shuffle {arguments[1]}"
    return arguments[1]


def printing(arguments: Sequence[Type]) -> Type | str:
    """format, numbers... -> i32."""
    return I32


def nothing(arguments: Sequence[Type]) -> Type | str:
    """... -> void."""
    return VOID


_NUMBERS = frozenset({ScalarKind.SIGNED, ScalarKind.UNSIGNED, ScalarKind.FLOAT})
_INTEGERS = frozenset({ScalarKind.SIGNED, ScalarKind.UNSIGNED})

# ---- floating point ----------------------------------------------------------------------------------

_declare(
    "sqrt rsqrt cbrt rcbrt exp exp2 exp10 expm1 log log2 log10 log1p", 1, floats, "The function of that name."
)
_declare(
    "sin cos tan sinpi cospi asin acos atan sinh cosh tanh asinh acosh atanh",
    1,
    floats,
    "The function of that name, in radians (`pi` forms: of x times pi).",
)
_declare(
    "erf erfc erfinv erfcinv erfcx normcdf normcdfinv tgamma lgamma j0 j1 y0 y1",
    1,
    floats,
    "The special function of that name.",
)
_declare(
    "floor ceil trunc round rint",
    1,
    floats,
    "Rounding: down, up, to zero, half away from zero, half to even.",
)
_declare("fabs", 1, floats, "The absolute value; clears the sign bit.")
_declare(
    "pow atan2 fmod remainder hypot rhypot fdim copysign nextafter",
    2,
    floats,
    "The function of that name in C's math.h.",
)
_declare("fmin fmax", 2, floats, "The smaller or greater one; a NaN argument is ignored.")
_declare("fma", 3, floats, "x * y + z with one rounding.")
_declare("norm3d", 3, floats, "sqrt(x*x + y*y + z*z).")
_declare("isnan isinf isfinite signbit", 1, float_test, "The test of that name.")
_declare("ldexp", 2, float_and_int, "x times 2 to the power of an integer.")
_declare("ilogb", 1, lambda a: I32 if is_float(a[0]) else "expected a float", "The exponent of x.")
_declare(
    "fast_exp fast_exp10 fast_log fast_log2 fast_log10 fast_sin fast_cos fast_tan",
    1,
    exactly(F32, gives=F32),
    "CUDA's `__expf` and kin: f32 with a documented error; this project computes the accurate function.",
)
_declare("fast_pow fast_divide", 2, exactly(F32, F32, gives=F32), "CUDA's `__powf`, `__fdividef`.")
_declare("saturate", 1, exactly(F32, gives=F32), "Clamped to [0, 1]; NaN gives 0.")
_declare("add_rn mul_rn sub_rn div_rn", 2, floats, "The operation, never contracted, rounded to nearest.")
_declare("frcp_rn", 1, floats, "1 / x, rounded to nearest.")

# ---- integers ----------------------------------------------------------------------------------------

_declare("min max", 2, integers, "The smaller or greater integer.")
_declare("abs", 1, integers, "The absolute value; the least integer stays itself.")
_declare(
    "popc clz ffs",
    1,
    bits_to_i32,
    "Count of ones, of leading zeros; 1-based place of the lowest one (0: none).",
)
_declare("brev", 1, integers, "The bits in reverse order.")
_declare("mulhi", 2, integers, "The upper half of the double-width product.")
_declare("mul24", 2, lambda a: words(a[:2]) or a[0], "The low 32 bits of the product of the low 24 bits.")
_declare("hadd rhadd", 2, integers, "(x + y) / 2 without overflow; `rhadd` rounds up.")
_declare(
    "sad",
    3,
    lambda a: words(a[:2]) or (U32 if a[2] == U32 else "expected (i32, i32, u32) or (u32, u32, u32)"),
    "|x - y| + z.",
)
_declare("byte_perm", 3, exactly(U32, U32, U32, gives=U32), "Four bytes picked from two words by a selector.")
_declare(
    "funnelshift_l funnelshift_r funnelshift_lc funnelshift_rc",
    3,
    exactly(U32, U32, U32, gives=U32),
    "Shift of the 64-bit word hi:lo (lo, hi, amount); `c` clamps the amount at 32, else it wraps.",
)
_declare(
    "dp4a",
    3,
    lambda a: a[2] if {*a} <= {I32, U32} and a[0] == a[1] else "expected 32-bit integers",
    "Sum of four byte products plus z.",
)

# ---- conversions with a named rounding, and bits -----------------------------------------------------

_declare(
    "float_to_int_rn float_to_int_rd float_to_int_ru float_to_int_rz",
    1,
    lambda a: I32 if is_float(a[0]) else "expected a float",
    "To i32 rounding to nearest even, down, up, to zero; saturates, NaN gives 0.",
)
_declare(
    "float_to_uint_rn float_to_uint_rd float_to_uint_ru float_to_uint_rz",
    1,
    lambda a: U32 if is_float(a[0]) else "expected a float",
    "To u32, as above.",
)
_declare(
    "float_to_ll_rn float_to_ll_rd float_to_ll_ru float_to_ll_rz",
    1,
    lambda a: I64 if is_float(a[0]) else "expected a float",
    "To i64, as above.",
)
_declare(
    "float_to_ull_rn float_to_ull_rd float_to_ull_ru float_to_ull_rz",
    1,
    lambda a: U64 if is_float(a[0]) else "expected a float",
    "To u64, as above.",
)

# ---- atomics -----------------------------------------------------------------------------------------

_declare("atomic_add", 2, _atomic(_NUMBERS, 1), "old = *p; *p = old + v; gives old.", Effect.ATOMIC)
_declare("atomic_sub", 2, _atomic(_INTEGERS, 1), "old = *p; *p = old - v; gives old.", Effect.ATOMIC)
_declare(
    "atomic_min atomic_max",
    2,
    _atomic(_NUMBERS, 1),
    "old = *p; *p = min or max(old, v); gives old.",
    Effect.ATOMIC,
)
_declare("atomic_exch", 2, _atomic(_NUMBERS, 1), "old = *p; *p = v; gives old.", Effect.ATOMIC)
_declare(
    "atomic_inc atomic_dec",
    2,
    _atomic(frozenset({ScalarKind.UNSIGNED}), 1),
    "Counting that wraps at v, as in CUDA; gives old.",
    Effect.ATOMIC,
)
_declare("atomic_and atomic_or atomic_xor", 2, _atomic(_INTEGERS, 1), "Bitwise; gives old.", Effect.ATOMIC)
_declare(
    "atomic_cas", 3, _atomic(_NUMBERS, 2), "old = *p; if old == compare: *p = v; gives old.", Effect.ATOMIC
)

# ---- threads of a block and lanes of a warp ----------------------------------------------------------

_declare("syncthreads", 0, nothing, "Barrier of the block.", Effect.BARRIER)
_declare(
    "syncthreads_count syncthreads_and syncthreads_or",
    1,
    exactly(I32, gives=I32),
    "Barrier that counts, ands or ors a predicate.",
    Effect.BARRIER,
)
_declare("syncwarp", 1, exactly(U32, gives=VOID), "Barrier of the lanes in the mask.", Effect.LANES)
_declare(
    "shfl_sync shfl_up_sync shfl_down_sync shfl_xor_sync",
    4,
    shuffled,
    "Value of another lane: (mask, value, lane or delta, width).",
    Effect.LANES,
)
_declare("ballot_sync", 2, exactly(U32, B1, gives=U32), "Bit i: lane i's predicate.", Effect.LANES)
_declare(
    "any_sync all_sync", 2, exactly(U32, B1, gives=B1), "Or and and over the lanes in the mask.", Effect.LANES
)
_declare("activemask", 0, exactly(gives=U32), "The lanes that execute this together.", Effect.LANES)
_declare(
    "threadfence threadfence_block threadfence_system",
    0,
    nothing,
    "Orders this thread's memory operations.",
    Effect.FENCE,
)

# ---- output and control ------------------------------------------------------------------------------

_declare("printf", (1, 64), printing, "Device printf; C's default promotions are explicit.", Effect.OUTPUT)
_declare(
    "assert_", 2, nothing, "assert_(condition, text): a false condition traps the launch.", Effect.OUTPUT
)
_declare("trap", 0, nothing, "Ends the launch with an error.", Effect.OUTPUT)
_declare("clock", 0, exactly(gives=I64), "A counter of cycles.", Effect.CLOCK)


def result_type(name: str, arguments: Sequence[Type]) -> Type | str:
    """The result type of an intrinsic, or a sentence that says why the call is wrong."""
    entry = INTRINSICS[name]
    low, high = entry.arity
    if not low <= len(arguments) <= high:
        expected = str(low) if low == high else f"{low} to {high}"
        return f"{name} takes {expected} arguments, got {len(arguments)}"
    return entry.rule(arguments)


__all__ = ["INTRINSICS", "Effect", "Intrinsic", "result_type"]
