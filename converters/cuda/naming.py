"""Local names that something of the module came to have later get another one.

A function is converted before the module's last constant, struct or function has its name::

    __global__ void first(int *N) { ... }     `N` of `first` is renamed `N_1`,
    #define N 512                             because the module has the constant `N`
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import cast

from tmigrate.tilelang.ir.expressions import Var
from tmigrate.tilelang.ir.module import Function, Module
from tmigrate.tilelang.ir.node import FieldKind, Node, field_kinds, rewrite_region, walk, with_fields
from tmigrate.tilelang.ir.statements import Region


def separate_names(module: Module) -> Module:
    """The module with every local variable renamed whose name the module uses for something else."""
    taken = {
        *(f.name for f in module.functions),
        *(c.name for c in module.constants),
        *(s.name for s in module.structs),
        *(v.name for v in module.variables),
    }
    return replace(module, functions=tuple(_separate(f, taken) for f in module.functions))


def _separate(function: Function, taken: set[str]) -> Function:
    local = _locals(function)
    clashes = local & taken
    if not clashes:
        return function
    renamed: dict[str, str] = {}
    for name in sorted(clashes):
        renamed[name] = _free(name, local | taken | set(renamed.values()))

    def rule(node: Node) -> Node | None:
        if isinstance(node, Var):
            return _var(node, renamed)
        changes = {
            field: _var(getattr(node, field), renamed)
            for field, kind in field_kinds(type(node))
            if kind is FieldKind.BINDING and getattr(node, field).name in renamed
        }
        return with_fields(node, **changes) if changes else None

    return replace(
        function,
        parameters=tuple(_var(p, renamed) or p for p in function.parameters),
        body=cast(Region, rewrite_region(function.body, rule)),
    )


def _var(var: Var, renamed: dict[str, str]) -> Var | None:
    return with_fields(var, name=renamed[var.name]) if var.name in renamed else None


def _free(name: str, taken: Iterable[str]) -> str:
    used, n = set(taken), 1
    while f"{name}_{n}" in used:
        n += 1
    return f"{name}_{n}"


def _locals(function: Function) -> set[str]:
    found = {p.name for p in function.parameters}
    for node in walk(function.body):
        for field, kind in field_kinds(type(node)):
            if kind is FieldKind.BINDING:
                found.add(getattr(node, field).name)
    return found
