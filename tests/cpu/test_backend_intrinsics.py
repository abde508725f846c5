"""Every intrinsic has C, natively and in shadow arithmetic; the exact ones give the documented values."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from backend_support import DTYPES, parse, run_c, run_interpreter

from tmigrate.tilelang.interpreter.operations import OPERATIONS
from tmigrate.tilelang.ir.expressions import Call, Expr, Var
from tmigrate.tilelang.ir.intrinsics import INTRINSICS, Effect, result_type
from tmigrate.tilelang.ir.module import Function, Module
from tmigrate.tilelang.ir.statements import Declare, Evaluate, Stmt
from tmigrate.tilelang.ir.types import (
    B1,
    BF16,
    F16,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    VOID,
    PointerType,
    Type,
)
from tmigrate.tilelang.runtime.toolchain import compile_c
from tmigrate.tilelang.targets.cpu.build import write_source
from tmigrate.tilelang.targets.cpu.lowering import missing
from tmigrate.tilelang.targets.cpu.options import Arithmetic, EmitOptions

SCALARS = (B1, I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64)
POINTERS = tuple(PointerType(t) for t in SCALARS[1:])


def signatures(name: str) -> list[tuple[Type, ...]]:
    """Argument types that the intrinsic's rule accepts: all of one type, or few kinds mixed."""
    arity = INTRINSICS[name].arity[0]
    small: tuple[Type, ...] = (I32, U32, F32, B1)
    tried = {(t,) * arity for t in SCALARS}
    tried |= {(p, *(p.pointee,) * (arity - 1)) for p in POINTERS} if arity else set()
    tried |= {(first, *rest) for first in SCALARS for rest in product(small, repeat=max(0, arity - 1))}
    if arity == 4:
        tried = {(U32, t, I32, I32) for t in SCALARS}
    return sorted(
        (t for t in tried if len(t) == arity and not isinstance(result_type(name, t), str)), key=str
    )


def uses(name: str) -> list[Stmt]:
    """One statement per signature."""
    made: list[Stmt] = []
    for number, types in enumerate(signatures(name)):
        arguments: tuple[Expr, ...] = tuple(
            Var(f"p_{t.pointee}" if isinstance(t, PointerType) else f"x_{t}", t) for t in types
        )
        result = result_type(name, types)
        assert isinstance(result, Type)
        call = Call(name, arguments, result)
        made.append(Evaluate(call) if result == VOID else Declare(Var(f"r_{name}_{number}", result), call))
    return made


def everything() -> Module:
    parameters = tuple(Var(f"x_{t}", t) for t in SCALARS) + tuple(Var(f"p_{p.pointee}", p) for p in POINTERS)
    skipped = {"printf", "assert_"}
    body = tuple(s for name in INTRINSICS if name not in skipped for s in uses(name))
    return Module("everything", (Function("k", parameters, body),))


def test_no_intrinsic_misses_a_lowering() -> None:
    assert missing() == set()


def test_each_intrinsic_was_tried() -> None:
    assert [name for name in INTRINSICS if name not in ("printf", "assert_") and not signatures(name)] == []


@pytest.mark.parametrize("arithmetic", list(Arithmetic))
def test_every_intrinsic_compiles_for_every_type(arithmetic: Arithmetic) -> None:
    source = write_source(everything(), EmitOptions(arithmetic=arithmetic))
    compile_c(source.text, name="everything", flags=("-O0",))


EDGES = {
    "i32": [0, 1, -1, 7, -7, 2**31 - 1, -(2**31), 0x00FF00FF, 1 << 24],
    "u32": [0, 1, 7, 31, 32, 33, 2**31, 2**32 - 1, 0x01234567, 0x89ABCDEF],
    "i64": [0, 1, -1, 2**63 - 1, -(2**63), 123456789012],
    "u64": [0, 1, 2**64 - 1, 2**63, 5],
    "i8": [0, 1, -1, 127, -128],
    "u16": [0, 1, 65535, 256],
}
INTEGER = "min max abs popc clz ffs brev mulhi hadd rhadd".split()


@pytest.mark.parametrize("t", EDGES)
def test_integer_functions_at_the_edges(t: str) -> None:
    calls = [f"{name}({', '.join(['a', 'b'][: INTRINSICS[name].arity[0]])})" for name in INTEGER]
    calls = [f"{t}({c})" if c.startswith(("popc", "clz", "ffs")) else c for c in calls]
    compare(calls, [t, t], t)


def test_word_functions_at_the_edges() -> None:
    names = ["byte_perm", "funnelshift_l", "funnelshift_r", "funnelshift_lc", "funnelshift_rc"]
    compare([f"{name}(a, b, c)" for name in names], ["u32"] * 3, "u32")


OPERATORS = ["a + b", "a - b", "a * b", "a & b", "a | b", "a ^ b", "a << b", "a >> b", "~a", "-a"]
DIVISIONS = ["a // b", "a % b", "truncdiv(a, b)", "truncrem(a, b)"]


@pytest.mark.parametrize("t", EDGES)
def test_operators_wrap_and_shift_as_a_gpu(t: str) -> None:
    compare(OPERATORS, [t, t], t)


@pytest.mark.parametrize("t", ["i32", "u32", "i64", "i8"])
def test_divisions_round_as_they_say(t: str) -> None:
    compare(DIVISIONS, [t, t], t, nonzero=True)


FLOATS = [0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 1e10, -1e10, 3e38, -3e38, float("inf"), float("-inf"),
          float("nan"), 2147483520.0, -129.7, 255.4, 1e-40]  # fmt: skip


@pytest.mark.parametrize("target", ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "b1"])
@pytest.mark.parametrize("source", ["f32", "f64"])
def test_float_to_integer_saturates(source: str, target: str) -> None:
    compare([f"{target}(a)"], [source], target, {source: FLOATS})


@pytest.mark.parametrize("kind", ["int", "uint", "ll", "ull"])
def test_rounded_conversions(kind: str) -> None:
    names = [n for n in INTRINSICS if n.startswith(f"float_to_{kind}_")]
    result = str(result_type(names[0], (F32,)))
    compare([f"{name}(a)" for name in names], ["f32"], result, {"f32": FLOATS})


def compare(
    texts: list[str], types: list[str], result: str, edges: dict | None = None, nonzero: bool = False
) -> None:
    """Expressions on all combinations of edge values, in C and in the interpreter."""
    edges = edges or EDGES
    rows = [r for r in product(*(edges[t] for t in types)) if not (nonzero and r[1] == 0)]
    names = "abc"[: len(types)]
    parameters = "".join(f"p{n}: Ptr[{t}], " for n, t in zip(names, types, strict=True))
    reads = "".join(f"    {n}: {t} = p{n}[i]\n" for n, t in zip(names, types, strict=True))
    module = parse(
        f'@tile_kernel(level="thread")\ndef k({parameters}y: Ptr[{result}]):\n'
        f"    i: i32 = i32(threadIdx.x)\n{reads}"
        + "".join(f"    y[i * {len(texts)} + {n}] = {text}\n" for n, text in enumerate(texts))
    )
    columns = [np.array(c, dtype=DTYPES[t]) for c, t in zip(zip(*rows, strict=True), types, strict=True)]
    here, there = (np.zeros((len(rows), len(texts)), DTYPES[result]) for _ in range(2))
    run_c(module, (1,), (len(rows),), [*columns, here])
    run_interpreter(module, (1,), (len(rows),), [*columns, there])
    for n, text in enumerate(texts):
        np.testing.assert_array_equal(here[:, n], there[:, n], err_msg=text)


def test_half_arithmetic_rounds_once() -> None:
    text = """
@tile_kernel(level="thread")
def k(a: Ptr[f16], b: Ptr[f16], c: Ptr[f16], y: Ptr[f16]):
    i: i32 = i32(threadIdx.x)
    y[i * 5] = a[i] + b[i]
    y[i * 5 + 1] = a[i] * b[i]
    y[i * 5 + 2] = a[i] / b[i]
    y[i * 5 + 3] = f16(f32(a[i]) * 1.001)
    y[i * 5 + 4] = fma(a[i], b[i], c[i])
"""
    bits = np.random.default_rng(1).integers(0, 0x7C00, (3, 1000)).astype(np.uint16)
    a, b, c = bits.view(np.float16)
    y = np.zeros(5000, np.float16)
    run_c(parse(text), (1,), (1000,), [a, b, c, y])
    got = y.reshape(1000, 5)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(got[:, 0], a + b)
        np.testing.assert_array_equal(got[:, 1], a * b)
        np.testing.assert_array_equal(got[:, 2], a / b)
        np.testing.assert_array_equal(
            got[:, 3], (a.astype(np.float32) * np.float32(1.001)).astype(np.float16)
        )
        exact = a.astype(np.longdouble) * b.astype(np.longdouble) + c.astype(np.longdouble)
        np.testing.assert_array_equal(got[:, 4], exact.astype(np.float16))


def test_atomics_give_the_old_value_and_blocks_keep_their_order() -> None:
    text = """
@tile_kernel(level="thread")
def k(n: Ptr[u32], y: Ptr[u32]):
    i: i32 = i32(blockIdx.x * blockDim.x + threadIdx.x)
    old: u32 = atomic_inc(n, u32(6))
    y[i] = old
"""
    n, y = np.zeros(1, np.uint32), np.zeros(16, np.uint32)
    run_c(parse(text), (4,), (4,), [n, y])
    np.testing.assert_array_equal(y, np.arange(16) % 7)


def test_effects_are_pure_or_lowered() -> None:
    assert {e for i in INTRINSICS.values() for e in [i.effect]} == set(Effect)
    assert set(OPERATIONS) <= set(INTRINSICS)
