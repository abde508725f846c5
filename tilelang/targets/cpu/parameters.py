"""A kernel's parameters: from the launcher's `arguments` to C variables, and a lifted kernel's preconditions."""

from __future__ import annotations

from tmigrate.tilelang.ir.expressions import Var
from tmigrate.tilelang.ir.module import Function
from tmigrate.tilelang.ir.types import is_float
from tmigrate.tilelang.targets.cpu.functions import CContext
from tmigrate.tilelang.targets.cpu.names import c_type, spaced, variable_name


def kernel_prologue(context: CContext, function: Function) -> list[str]:
    """C lines that read the parameters."""
    return [
        "  " + _read(context, parameter, place)
        for place, parameter in enumerate((*function.parameters, *function.dimensions))
    ]


def _read(context: CContext, parameter: Var, place: int) -> str:
    t, name = c_type(parameter.type), variable_name(parameter)
    value = f"*({spaced(t)}const *)arguments[{place}]"
    if context.options.is_shadow and is_float(parameter.type):
        return f"tm_shadow {name} = tm_exact({value});"
    return f"{spaced(t)}{name} = {value};"
