"""The lowering table: how each intrinsic is written in C.

Most are one function of the runtime headers, named after the intrinsic and its first argument's type
(`tm_popc_u32`).  The table says which rule forms the name; intrinsics that exist at thread level only
because of other threads (barriers, lanes) are gone by then: `passes/threads_to_loops.py` turns them into
calls of `tm_lanes.h`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tmigrate.tilelang.ir.intrinsics import INTRINSICS, Effect
from tmigrate.tilelang.ir.types import PointerType, ScalarType, Type

Rule = Callable[[str, Sequence[Type], Sequence[str], bool], str]
"""(intrinsic, argument types, C arguments, whether blocks run in order) -> C expression."""


def _call(name: str, arguments: Sequence[str]) -> str:
    return f"{name}({', '.join(arguments)})"


def by_first_type(name: str, types: Sequence[Type], arguments: Sequence[str], in_order: bool) -> str:
    """`tm_popc_u32(x)`."""
    return _call(f"tm_{name}_{types[0]}", arguments)


def by_all_types(name: str, types: Sequence[Type], arguments: Sequence[str], in_order: bool) -> str:
    """`tm_dp4a_i32_u32_i32(x, y, z)`."""
    return _call("_".join([f"tm_{name}", *map(str, types)]), arguments)


def on_floats(name: str, types: Sequence[Type], arguments: Sequence[str], in_order: bool) -> str:
    """`tm_sin_f32(x)`; 16-bit floats are computed in f32 and rounded where no own function exists."""
    t = types[0]
    assert isinstance(t, ScalarType)
    if t.bits != 16 or name in _OWN_HALF_FUNCTIONS:
        return _call(f"tm_{name}_{t}", arguments)
    wide = [
        f"tm_{t}_to_f32({argument})" if kind == t else argument
        for kind, argument in zip(types, arguments, strict=True)
    ]
    result = _call(f"tm_{name}_f32", wide)
    return result if name in _FLOAT_TO_OTHER else f"tm_f32_to_{t}({result})"


def atomic(name: str, types: Sequence[Type], arguments: Sequence[str], in_order: bool) -> str:
    """`tm_atomic_add_i32(p, v)`; kernels whose blocks run in order take the plain form."""
    pointer = types[0]
    assert isinstance(pointer, PointerType)
    return _call(f"tm_{'ordered_' if in_order else ''}{name}_{pointer.pointee}", arguments)


_OWN_HALF_FUNCTIONS = frozenset({"fabs", "copysign", "fma", "nextafter"})
_FLOAT_TO_OTHER = frozenset(
    {"isnan", "isinf", "isfinite", "signbit", "ilogb"} | {n for n in INTRINSICS if n.startswith("float_to_")}
)

_FLOAT_FUNCTIONS = """
sqrt rsqrt cbrt rcbrt exp exp2 exp10 expm1 log log2 log10 log1p sin cos tan sinpi cospi asin acos atan sinh
cosh tanh asinh acosh atanh erf erfc erfinv erfcinv erfcx normcdf normcdfinv tgamma lgamma j0 j1 y0 y1 floor
ceil trunc round rint fabs pow atan2 fmod remainder hypot rhypot fdim copysign nextafter fmin fmax fma norm3d
isnan isinf isfinite signbit ldexp ilogb fast_exp fast_exp10 fast_log fast_log2 fast_log10 fast_sin fast_cos
fast_tan fast_pow fast_divide saturate add_rn mul_rn sub_rn div_rn frcp_rn float_to_int_rn float_to_int_rd
float_to_int_ru float_to_int_rz float_to_uint_rn float_to_uint_rd float_to_uint_ru float_to_uint_rz
float_to_ll_rn float_to_ll_rd float_to_ll_ru float_to_ll_rz float_to_ull_rn float_to_ull_rd float_to_ull_ru
float_to_ull_rz
""".split()
_INTEGER_FUNCTIONS = """
min max abs popc clz ffs brev mulhi mul24 hadd rhadd sad byte_perm funnelshift_l funnelshift_r funnelshift_lc
funnelshift_rc
""".split()
_ATOMICS = """
atomic_add atomic_sub atomic_min atomic_max atomic_exch atomic_inc atomic_dec atomic_and atomic_or atomic_xor
atomic_cas
""".split()

LOWERING: dict[str, Rule] = {
    **dict.fromkeys(_FLOAT_FUNCTIONS, on_floats),
    **dict.fromkeys(_INTEGER_FUNCTIONS, by_first_type),
    **dict.fromkeys(_ATOMICS, atomic),
    "dp4a": by_all_types,
    "threadfence": lambda *_: "__atomic_thread_fence(__ATOMIC_SEQ_CST)",
    "threadfence_block": lambda *_: "__atomic_signal_fence(__ATOMIC_SEQ_CST)",
    "threadfence_system": lambda *_: "__atomic_thread_fence(__ATOMIC_SEQ_CST)",
    "trap": lambda *_: "tm_trap()",
    "clock": lambda *_: "tm_clock()",
}

VECTOR_FUNCTIONS = frozenset(
    {
        (name, "f32")
        for name in ("exp", "exp2", "exp10", "log", "log2", "log10", "tanh", "fast_exp", "fast_log")
    }
    | {("exp", "f64"), ("log", "f64")}
    | {(name, t) for name in ("fmax", "fmin") for t in ("f32", "f64")}
)
"""(function, type) of tm_math.h: our own polynomials, which compilers vectorise."""

RENDERED = frozenset({"printf", "assert_"})
"""Written by the renderer itself, since their C needs more than their arguments."""


def is_block_wide(name: str) -> bool:
    """Whether the intrinsic is performed by several threads together."""
    entry = INTRINSICS.get(name)
    return entry is not None and entry.effect in (Effect.BARRIER, Effect.LANES)


def missing() -> set[str]:
    """Intrinsics that nothing lowers; a test asserts that there are none."""
    return {n for n in INTRINSICS if n not in LOWERING and n not in RENDERED and not is_block_wide(n)}
