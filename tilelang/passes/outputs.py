"""Returned and temporary tensors become parameters, which the launcher allocates.

def matmul(A, B) -> Tensor[f32, M, N]:          def matmul(A, B, C: Tensor[f32, M, N]):
    C = allocate(f32, M, N)               ->        ...
    ...
    return C
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tmigrate.diagnostics import Diagnostic, RefusedError
from tmigrate.tilelang.ir.expressions import Const, Subscript, Var, type_of
from tmigrate.tilelang.ir.module import Function
from tmigrate.tilelang.ir.node import Node, rewrite_region, walk
from tmigrate.tilelang.ir.statements import Allocate, Assign, Region, Return
from tmigrate.tilelang.ir.types import I64, VOID, ScalarType, Space, TensorType


@dataclass(frozen=True, slots=True)
class Outputs:
    """A function that returns nothing, the parameters added for tensors, and the one that holds the result.

    `result` is None where the original returned nothing; a scalar result is a tensor of one element.
    """

    function: Function
    added: tuple[Var, ...]
    result: str | None


def outputs_to_parameters(function: Function) -> Outputs:
    """Move the allocations of the function's outermost region, and its result, to parameters."""
    added: list[Var] = []
    kept = []
    for s in function.body:
        if isinstance(s, Allocate) and s.space is Space.GLOBAL:
            added.append(s.var)
        else:
            kept.append(s)
    body: Region = tuple(kept)
    result = _returned(function, added)
    if isinstance(function.result, ScalarType):
        holder = Var(_fresh(function, "result"), TensorType(function.result, (Const(1, I64),)))
        added.append(holder)
        result = holder.name
        body = _store_result(body, holder)
    elif function.result != VOID:
        body = _plain_returns(body)
    made = replace(function, parameters=(*function.parameters, *added), body=body, result=VOID)
    return Outputs(made, tuple(added), result)


def _returned(function: Function, added: list[Var]) -> str | None:
    """The one tensor that every return names."""
    if not isinstance(function.result, TensorType):
        return None
    names = [n.value for n in walk(function.body) if isinstance(n, Return)]
    known = {v.name for v in (*added, *function.parameters)}
    found = {v.name for v in names if isinstance(v, Var)}
    if len(found) != 1 or len(names) != sum(isinstance(v, Var) for v in names) or not found <= known:
        raise RefusedError(
            Diagnostic(
                "TM2063",
                f"`{function.name}` returns something other than one tensor that it allocates or was given",
                function.location,
                remedy="allocate it in the outermost region and return its name",
            )
        )
    return found.pop()


def _fresh(function: Function, wanted: str) -> str:
    taken = {n.name for n in walk(function.body) if isinstance(n, Var)}
    taken |= {v.name for v in (*function.parameters, *function.dimensions)}
    while wanted in taken:
        wanted += "_"
    return wanted


def _plain_returns(body: Region) -> Region:
    def rule(it: Node) -> Node | None:
        return replace(it, value=None) if isinstance(it, Return) else None

    return rewrite_region(body, rule)  # type: ignore[return-value]


def _store_result(body: Region, holder: Var) -> Region:
    """`return e` as a store and a return."""

    def rule(it: Node) -> Node | tuple[Node, ...] | None:
        if not isinstance(it, Return) or it.value is None:
            return None
        place = Subscript(holder, (Const(0, I64),))
        assert type_of(place) == type_of(it.value)
        return Assign(place, it.value, location=it.location), replace(it, value=None)

    return rewrite_region(body, rule)  # type: ignore[return-value]


__all__ = ["Outputs", "outputs_to_parameters"]
