"""Loop-level kernels that are matrix products, as one call of the bundled library."""

from __future__ import annotations

from dataclasses import replace

from tmigrate.tilelang.ir.expressions import Var, type_of
from tmigrate.tilelang.ir.module import Function, Level
from tmigrate.tilelang.ir.node import walk
from tmigrate.tilelang.ir.statements import Assume
from tmigrate.tilelang.ir.types import F32, TensorType
from tmigrate.tilelang.libs.matrix import source
from tmigrate.tilelang.passes.match_product import Operand, Product, match_product
from tmigrate.tilelang.targets.cpu.expressions import Expressions, extent_name
from tmigrate.tilelang.targets.cpu.names import variable_name


def product_of(function: Function) -> Product | None:
    """The product that a loop-level kernel is, its assumptions aside."""
    if function.level is not Level.LOOP:
        return None
    body = tuple(s for s in function.body if not isinstance(s, Assume))
    return match_product(replace(function, body=body))


def library_text(functions: tuple[Function, ...]) -> list[str]:
    """The library's C text, where a kernel needs it: only the element types in use."""
    kinds = {str(_element(f, p)) for f in functions if (p := product_of(f)) is not None}
    if not kinds:
        return []
    left_out = [f"#define TM_MATRIX_NO_{t.upper()}" for t in ("f32", "f64") if t not in kinds]
    return ["#define TM_MATRIX_ENTRY static", *left_out, source()]


def call_of_product(function: Function, product: Product, expressions: Expressions) -> list[str]:
    """The C call: sizes, three matrices with their strides, factors, services."""
    t = _element(function, product)
    one, zero = ("1.0f", "0.0f") if t == F32 else ("1.0", "0.0")
    sizes = [expressions.wide(e) for e in (product.m, product.n, product.k)]
    variables = _variables(function)
    matrices = [_matrix(o, variables) for o in (product.a, product.b, Operand(product.c, False))]
    factors = [one, one if product.adds else zero]
    arguments = ", ".join([*sizes, *matrices, *factors, "tm_f->launch->services"])
    return [f"  tm_matmul_{t}({arguments});"]


def _variables(function: Function) -> dict[str, Var]:
    found = {
        it.name: it for it in walk(function.body) if isinstance(it, Var) and isinstance(it.type, TensorType)
    }
    return found | {p.name: p for p in function.parameters}


def _element(function: Function, product: Product) -> object:
    t = type_of(_variables(function)[product.c])
    assert isinstance(t, TensorType)
    return t.element


def _matrix(operand: Operand, variables: dict[str, Var]) -> str:
    """Pointer, row stride, column stride."""
    var = variables[operand.name]
    row = extent_name(var, 1)
    strides = f"1, {row}" if operand.transposed else f"{row}, 1"
    return f"{variable_name(var)}, {strides}"
