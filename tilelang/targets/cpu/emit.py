"""A module of lowered functions to one C source.

The renderer knows loops, not CUDA's threads: `passes/threads_to_loops.py` has turned a kernel into a `For` of
kind BLOCKS around `For`s of kind THREADS.  Two conventions are left of what they were:
`Return` inside a THREADS loop ends that iteration only, and `Return` inside a BLOCKS loop ends that block.
The outermost BLOCKS or PARALLEL loop becomes a C function of a range, which the launcher's services may spread
over threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tmigrate.tilelang.ir.expressions import DynamicShared, Var
from tmigrate.tilelang.ir.module import Function, FunctionKind, Level, Module
from tmigrate.tilelang.ir.node import walk
from tmigrate.tilelang.ir.statements import Allocate, Return
from tmigrate.tilelang.ir.structs import BUILTIN_STRUCTS
from tmigrate.tilelang.ir.types import VOID, TensorType
from tmigrate.tilelang.targets.cpu.functions import CContext, FunctionWriter, address_taken
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
from tmigrate.tilelang.targets.cpu.structs import define_structs, used_structs


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
    lines.append('#include "tm_device.h"')
    if options.is_shadow:
        lines.append('#include "tm_shadow.h"')
    if options.functions is FloatFunctions.VECTOR:
        lines.append('#include "tm_math.h"')
    lines += define_structs(used_structs(module), structs)
    if options.coverage:
        lines.append(f"static unsigned char tm_no_coverage[{max(1, points)}];")
    uses_shared = any(isinstance(it, DynamicShared) for f in module.functions for it in walk(f.body))
    devices = [f for f in module.functions if f.kind is FunctionKind.DEVICE]
    lines += [f"{_signature(f, options.is_shadow)};" for f in devices]
    for function in (*devices, *module.kernels):
        context = CContext(
            module, options, structs, function.name in in_order, uses_shared, address_taken(function.body)
        )
        lines.append("")
        lines += _device(context, function) if function in devices else _kernel(context, function)
    return "\n".join(lines) + "\n"


def _comment(text: str) -> str:
    return text.replace("*/", "* /")


def _signature(function: Function, shadow: bool) -> str:
    parameters = ["const tm_frame *tm_f"]
    parameters += [spaced(register_type(p.type, shadow)) + variable_name(p) for p in function.parameters]
    result = "void" if function.result == VOID else register_type(function.result, shadow)
    name = identifier("f_", function.name)
    return f"static inline __attribute__((unused)) {spaced(result)}{name}({', '.join(parameters)})"


def _device(context: CContext, function: Function) -> list[str]:
    writer = FunctionWriter(context, function.name)
    body = writer.function_body(function.body, function.parameters)
    return [*writer.outlined, f"{_signature(function, context.options.is_shadow)} {{", *body, "}"]


def _kernel(context: CContext, function: Function) -> list[str]:
    if function.level is Level.THREAD:
        writer = FunctionWriter(context, function.name, entry=True)
        before: Sequence[str] = kernel_prologue(context, function)
        body = writer.entry_body(function.body)
    else:
        context = replace(context, restricted=_disjoint(function), result=_result(function))
        loops = LoopWriter(context, function.name, entry=True)
        writer, before = loops, kernel_prologue(context, function)
        checks = preconditions(context, function, loops.expressions)
        body = loops.entry_body(function.body, checks)
    head = f"TM_EXPORT int {kernel_symbol(function.name)}(const tm_launch *launch, void *const *arguments) {{"
    frame = "  const tm_frame tm_frame_of_launch = {.launch = launch}, *const tm_f = &tm_frame_of_launch;"
    return [*writer.outlined, head, frame, "  int tm_status = TM_OK;", *before, *body, "  return tm_status;", "}"]


def _disjoint(function: Function) -> frozenset[str]:
    """The tensors that overlap no other, as the kernel's entry has checked: all of them."""
    tensors = [p.name for p in function.parameters if isinstance(p.type, TensorType)]
    temporaries = [
        it.var.name for it in walk(function.body) if isinstance(it, Allocate) and isinstance(it.var.type, TensorType)
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
