"""A module of lowered functions to one C source.

The renderer knows loops, not CUDA's threads: `passes/threads_to_loops.py` has turned a kernel into a `For` of
kind BLOCKS around `For`s of kind THREADS.  Two conventions are left of what they were:
`Return` inside a THREADS loop ends that iteration only, and `Return` inside a BLOCKS loop ends that block.
The outermost BLOCKS or PARALLEL loop becomes a C function of a range, which the launcher's services may
spread over threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tmigrate.tilelang.ir.expressions import DynamicShared, Var
from tmigrate.tilelang.ir.module import Function, FunctionKind, Level, Module
from tmigrate.tilelang.ir.node import walk
from tmigrate.tilelang.ir.statements import Allocate, Assume, Return
from tmigrate.tilelang.ir.structs import BUILTIN_STRUCTS
from tmigrate.tilelang.ir.types import StructType, TensorType, is_float
from tmigrate.tilelang.passes.effects import address_taken
from tmigrate.tilelang.passes.match_product import Product
from tmigrate.tilelang.targets.cpu.functions import CContext, FunctionWriter
from tmigrate.tilelang.targets.cpu.loops import LoopWriter
from tmigrate.tilelang.targets.cpu.names import (
    identifier,
    kernel_symbol,
    register_type,
    spaced,
    variable_name,
)
from tmigrate.tilelang.targets.cpu.options import EmitOptions, FloatFunctions
from tmigrate.tilelang.targets.cpu.parameters import kernel_prologue, preconditions
from tmigrate.tilelang.targets.cpu.products import call_of_product, library_text, product_of
from tmigrate.tilelang.targets.cpu.structs import define_copies, define_structs, used_structs


def render(
    module: Module, options: EmitOptions, in_order: frozenset[str] = frozenset(), points: int = 0
) -> str:
    """The C source of a module whose functions are lowered.

    `in_order` names the kernels and functions whose blocks must run one after the other; `points` is the
    number of coverage points.
    """
    structs = {**BUILTIN_STRUCTS, **module.struct_table}
    lines = [f"/* {_comment(module.source or module.name)} */"]
    if options.is_shadow:
        lines.append("#define TM_SHADOW 1")
    if options.watch:
        lines.append("#define TM_WATCHED 1")
    lines.append('#include "tm_device.h"')
    if options.is_shadow:
        lines.append('#include "tm_shadow.h"')
    if options.functions is FloatFunctions.VECTOR:
        lines.append('#include "tm_math.h"')
    lines += library_text(module.kernels)
    used = used_structs(module)
    lines += define_structs(used, structs)
    if options.is_shadow:
        lines += define_copies(used, structs)
    if options.coverage:
        lines.append(f"static unsigned char tm_no_coverage[{max(1, points)}];")
    uses_shared = any(isinstance(it, DynamicShared) for f in module.functions for it in walk(f.body))

    def context_of(f: Function) -> CContext:
        return CContext(module, options, structs, f.name in in_order, uses_shared, address_taken(f.body))

    devices = [f for f in module.functions if f.kind is FunctionKind.DEVICE]
    lines += [f"{_signature(context_of(f), f)};" for f in devices]
    for function in (*devices, *module.kernels):
        lines.append("")
        context = context_of(function)
        lines += _device(context, function) if function in devices else _kernel(context, function)
    return "\n".join(lines) + "\n"


def _comment(text: str) -> str:
    return text.replace("*/", "* /")


def _signature(context: CContext, function: Function) -> str:
    parameters = ["const tm_frame *tm_f", *(_parameter(context, p) for p in function.parameters)]
    result = register_type(function.result, context.options.is_shadow)
    if isinstance(function.result, StructType) and context.options.is_shadow:
        result += " *"
    name = identifier("f_", function.name)
    return f"static inline __attribute__((unused)) {spaced(result)}{name}({', '.join(parameters)})"


def _parameter(context: CContext, parameter: Var) -> str:
    """Shadow execution passes structs by address; what must lie in memory arrives under another name."""
    t, name = register_type(parameter.type, context.options.is_shadow), variable_name(parameter)
    if context.options.is_shadow and isinstance(parameter.type, StructType):
        return f"const {t} *{name}_given"
    if context.options.is_shadow and is_float(parameter.type) and parameter.name in context.memory:
        return f"{spaced(t)}{name}_given"
    return spaced(t) + name


def _device(context: CContext, function: Function) -> list[str]:
    writer = FunctionWriter(context, function.name)
    body = writer.function_body(function.body, function.parameters)
    return [*writer.outlined, f"{_signature(context, function)} {{", *body, "}"]


def _kernel(context: CContext, function: Function) -> list[str]:
    if function.level is Level.THREAD:
        writer = FunctionWriter(context, function.name, entry=True)
        before: Sequence[str] = [
            "  if (!tm_is_legal_block(launch)) return TM_ASSUMPTION_FAILED;",
            *kernel_prologue(context, function),
        ]
        body = writer.entry_body(function.body)
    else:
        context = replace(context, restricted=_disjoint(function), result=_result(function))
        loops = LoopWriter(context, function.name, entry=True)
        writer, before = loops, kernel_prologue(context, function)
        checks = preconditions(context, function, loops.expressions)
        product = _callable_product(context, function)
        if product is None:
            body = loops.entry_body(function.body, checks)
        else:
            assumptions = tuple(s for s in function.body if isinstance(s, Assume))
            body = loops.entry_body(assumptions, checks)
            body += call_of_product(function, product, loops.expressions)
    head = f"TM_EXPORT int {kernel_symbol(function.name)}(const tm_launch *launch, void *const *arguments) {{"
    frame = "  const tm_frame tm_frame_of_launch = {.launch = launch}, *const tm_f = &tm_frame_of_launch;"
    return [
        *writer.outlined,
        head,
        frame,
        "  int tm_status = TM_OK;",
        *before,
        *body,
        "  return tm_status;",
        "}",
    ]


def _callable_product(context: CContext, function: Function) -> Product | None:
    """The product that the kernel is, where the result's memory is the caller's."""
    product = product_of(function)
    if product is None:
        return None
    given = {p.name for p in function.parameters}
    if context.result is not None:
        given.add(context.result.name)
    return product if product.c in given else None


def _disjoint(function: Function) -> frozenset[str]:
    """The tensors that overlap no other, as the kernel's entry has checked: all of them."""
    tensors = [p.name for p in function.parameters if isinstance(p.type, TensorType)]
    temporaries = [
        it.var.name
        for it in walk(function.body)
        if isinstance(it, Allocate) and isinstance(it.var.type, TensorType)
    ]
    return frozenset((*tensors, *temporaries))


def _result(function: Function) -> Var | None:
    """The tensor that a kernel returns: the returned temporary, which then lives in the caller's memory, or
    another name where it returns several."""
    if not isinstance(function.result, TensorType):
        return None
    returned = [it.value for it in walk(function.body) if isinstance(it, Return)]
    allocated = {s.var.name for s in function.body if isinstance(s, Allocate)}
    if len(returned) == 1 and isinstance(returned[0], Var) and returned[0].name in allocated:
        return returned[0]
    return Var("result.out", function.result)
