"""Compiled, plain Python and interpreted results of every operator and function, bit for bit.

Functions that neither C's library nor exact arithmetic gives may differ in the last places: those are named.
"""

from __future__ import annotations

import ast
from functools import cache
from typing import Any

import numpy as np
import pytest

from tmigrate.tilelang.dsl.reference import compile_reference
from tmigrate.tilelang.dsl.scalars import dtype_of
from tmigrate.tilelang.interpreter.arithmetic import Native
from tmigrate.tilelang.interpreter.functions import Program
from tmigrate.tilelang.interpreter.machine import Machine
from tmigrate.tilelang.interpreter.memory import Buffer
from tmigrate.tilelang.interpreter.operations import OPERATIONS, Shape
from tmigrate.tilelang.ir.expressions import BinaryOp, CompareOp
from tmigrate.tilelang.ir.intrinsics import INTRINSICS, result_type
from tmigrate.tilelang.ir.module import Module
from tmigrate.tilelang.ir.types import B1, BF16, F16, I32, SCALARS, U32, ScalarType
from tmigrate.tilelang.ir.verify import verify
from tmigrate.tilelang.ir.verify_expressions import is_defined
from tmigrate.tilelang.runtime.toolchain import ARITHMETIC_FLAGS, compile_c
from tmigrate.tilelang.targets.cpu.build import BuiltObject, write_source
from tmigrate.tilelang.targets.cpu.launch import launch
from tmigrate.tilelang.targets.cpu.names import kernel_symbol
from tmigrate.tilelang.text.parser import parse_module

# By iteration or by integrals in the interpreter's formulas, by other formulas in compiled code.
APPROXIMATE = frozenset({"erfinv", "erfcinv", "normcdfinv"})
WORDS = {BinaryOp.TRUNC_DIV: "truncdiv(x[i], y[i])", BinaryOp.TRUNC_REM: "truncrem(x[i], y[i])"}


def values_of(t: ScalarType, count: int = 48) -> np.ndarray[Any, Any]:
    """Ordinary and extreme values of a type."""
    random = np.random.default_rng(t.bits)
    if t.is_bool:
        return random.integers(0, 2, count).astype(np.bool_)
    if t.is_float:
        special = [0.0, -0.0, 1.0, -1.0, 0.5, np.inf, -np.inf, np.nan, 3.0, -2.5, 1e-3, 100.0]
        with np.errstate(all="ignore"):
            return np.array([*special, *random.normal(0, 4, count - len(special))]).astype(dtype_of(t))
    info = np.iinfo(dtype_of(t))
    special = [0, 1, 2, 3, 7, info.max, info.min, info.max - 1]
    drawn = random.integers(info.min, info.max, count - len(special), dtype_of(t), endpoint=True)
    return np.array([*special, *drawn.tolist()], dtype_of(t))


Case = tuple[str, tuple[ScalarType, ...], ScalarType]


def operator_cases() -> list[Case]:
    found: list[Case] = []
    for t in SCALARS.values():
        for op in BinaryOp:
            if is_defined(op, t):
                found.append((WORDS.get(op, f"x[i] {op.value} y[i]"), (t, t), t))
        if t != B1:
            found.append(("-x[i]", (t,), t))
            found += [(f"x[i] {op.value} y[i]", (t, t), B1) for op in tuple(CompareOp)[t.bits % 3 :: 2]]
            found.append(("x[i] if x[i] < y[i] else y[i]", (t, t), t))
            found.append((f"x[i] * 3 - {'0.1 * x[i]' if t.is_float else '5'}", (t,), t))
        if t.is_integer:
            found.append(("~x[i]", (t,), t))
        near = [to for to in SCALARS.values() if to != t and (to.bits != 16 or t.bits == 32)]
        found += [(f"{to}(x[i])", (t,), to) for to in near]
        found += [
            (f"bitcast({to}, x[i])", (t,), to)
            for to in SCALARS.values()
            if to.bits == t.bits and to != t != B1
        ]
    found += [("x[i] and y[i]", (B1, B1), B1), ("x[i] or not y[i]", (B1, B1), B1)]
    return found


def intrinsic_cases() -> list[Case]:
    found: list[Case] = []
    for name, row in INTRINSICS.items():
        if not row.is_pure:
            continue
        shapes: list[tuple[ScalarType, ...]] = []
        for t in SCALARS.values():
            shapes += [(t,) * row.arity[0], (t, I32)[: row.arity[0]], (t, t, U32)[: row.arity[0]]]
        for types in dict.fromkeys(s for s in shapes if len(s) == row.arity[0]):
            result = result_type(name, types)
            half = len(types) and types[0] in ((F16,) if len(name) % 2 else (BF16,))
            if isinstance(result, ScalarType) and not half:
                names = ["x[i]", "y[i]", "z[i]"][: len(types)]
                found.append((f"{name}({', '.join(names)})", types, result))
    return found


def kernel_text(cases: list[Case]) -> str:
    """One kernel per case."""
    lines = ["from tmigrate.tilelang import *", "", 'N = dims("N")']
    for k, (expression, types, result) in enumerate(cases):
        names = [f"{n}: Tensor[{t}, N]" for n, t in zip("xyz", types, strict=False)]
        lines += ["", "", "@tile_kernel", f"def k{k}({', '.join(names)}, out: Tensor[{result}, N]):"]
        lines += ["    for i in range(N):", f"        out[i] = {expression}"]
    return "\n".join(lines) + "\n"


@cache
def built(group: str) -> tuple[list[Case], Module, Any]:
    cases = operator_cases() if group == "operators" else intrinsic_cases()
    module = parse_module(kernel_text(cases), group)
    verify(module)
    source = write_source(module)
    path = compile_c(source.text, name=group, flags=("-O1", *ARITHMETIC_FLAGS))  # hundreds of kernels: quick
    symbols = {f.name: kernel_symbol(f.name) for f in module.kernels}
    return cases, module, BuiltObject(path, module, symbols, ())


def inputs(expression: str, types: tuple[ScalarType, ...]) -> list[np.ndarray[Any, Any]]:
    """Arrays of one length; divisors are not zero, and the quotient fits."""
    made = [np.roll(values_of(t), 5 * position) for position, t in enumerate(types)]
    if ("//" in expression or "%" in expression or "trunc" in expression) and types[0].is_integer:
        made[1][made[1] == 0] = 1
        if types[0].is_signed:
            made[1][made[1] == -1] = 2
    return made


def same(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Element by element: the same bits, or both NaN."""
    bits = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}[a.itemsize]
    equal = a.view(bits) == b.view(bits)
    return equal | ((a != a) & (b != b))  # type: ignore[no-any-return]


@pytest.mark.parametrize("group", ["operators", "intrinsics"])
def test_compiled_code_agrees_with_plain_python(group: str) -> None:
    cases, module, product = built(group)
    definitions = {n.name: n for n in ast.parse(kernel_text(cases)).body if isinstance(n, ast.FunctionDef)}
    wrong: list[str] = []
    for k, (expression, types, result) in enumerate(cases):
        arrays = inputs(expression, types)
        n = len(arrays[0])
        compiled, plain = np.zeros(n, dtype_of(result)), np.zeros(n, dtype_of(result))
        assert launch(product, f"k{k}", 1, 1, [*arrays, compiled, n]).status == 0  # type: ignore[arg-type]
        function = module.function(f"k{k}")
        assert function is not None
        run = compile_reference(definitions[f"k{k}"], function, module, {"N": np.int64(n)})
        with np.errstate(all="ignore"):
            run(*arrays, plain)
        agree = same(compiled, plain)
        if expression.split("(")[0] in APPROXIMATE:
            with np.errstate(all="ignore"):
                wide = compiled.astype(np.float64), plain.astype(np.float64)
                agree |= np.isclose(*wide, rtol=2e-2 if result.bits == 16 else 1e-6)
        if not agree.all():
            at = int(np.argmin(agree))
            given = ", ".join(str(a[at]) for a in arrays)
            wrong.append(
                f"{expression} of {'/'.join(map(str, types))} at {given}: {compiled[at]} {plain[at]}"
            )
    assert not wrong, "\n".join(wrong)


def buffer_of(name: str, t: ScalarType, array: np.ndarray[Any, Any]) -> Buffer:
    made = Buffer(name, array.nbytes, t)
    made.fill(t, [float(v) if t.is_float else bool(v) if t.is_bool else int(v) for v in array])
    return made


def is_exact(expression: str) -> bool:
    """Operators, and operations on integers: every executor gives the same bits."""
    operation = OPERATIONS.get(expression.split("(")[0])
    return operation is None or operation.shape in (Shape.INTEGER, Shape.ROUND)


@pytest.mark.parametrize("group", ["operators", "intrinsics"])
def test_compiled_code_agrees_with_the_interpreter(group: str) -> None:
    cases, module, product = built(group)
    wrong: list[str] = []
    for k, (expression, types, result) in enumerate(cases):
        if not is_exact(expression):
            continue
        arrays = inputs(expression, types)
        n, out = len(arrays[0]), np.zeros(len(arrays[0]), dtype_of(result))
        assert launch(product, f"k{k}", 1, 1, [*arrays, out, n]).status == 0  # type: ignore[arg-type]
        function = module.function(f"k{k}")
        assert function is not None
        target = buffer_of("out", result, np.zeros_like(out))
        sources = [buffer_of(str(i), t, a) for i, (t, a) in enumerate(zip(types, arrays, strict=True))]
        program = Program(module, function, Native())
        outcome = Machine().call(program, [(b, 0) for b in (*sources, target)], {"N": n})
        assert outcome.fault is None, f"{expression}: {outcome.fault}"
        with np.errstate(all="ignore"):
            found = np.array(target.values(), np.float64 if result.is_float else dtype_of(result))
            found = found.astype(dtype_of(result))
        agree = same(out, found)
        if not agree.all():
            at = int(np.argmin(agree))
            given = ", ".join(str(a[at]) for a in arrays)
            wrong.append(f"{expression} of {'/'.join(map(str, types))} at {given}: {out[at]} {found[at]}")
    assert not wrong, "\n".join(wrong)
