"""Fresh variable names, and substitution."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tmigrate.tilelang.ir.expressions import Expr, Var
from tmigrate.tilelang.ir.module import Function, Module
from tmigrate.tilelang.ir.node import Node, bindings_of, rewrite_region, walk, with_fields
from tmigrate.tilelang.ir.statements import Region


class Names:
    """Hands out names that no variable of a function or of the module has."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = {_plain(name) for name in taken}

    def fresh(self, wanted: str) -> str:
        """`wanted`, or `wanted_2`, ...

        Names with a dot cannot be written in the DSL; only lowered code has them, and C writes `__`.

        >>> Names(["i", "i_2"]).fresh("i")
        'i_3'
        """
        name, count = wanted, 1
        while _plain(name) in self._taken:
            count += 1
            stem, dot, rest = wanted.partition(".")
            name = f"{stem}_{count}{dot}{rest}"
        self._taken.add(_plain(name))
        return name


def _plain(name: str) -> str:
    return name.replace(".", "__")


def names_of(function: Function, module: Module) -> Names:
    """Names that are fresh in the function."""
    taken = {v.name for v in (*function.parameters, *function.dimensions)}
    taken |= {v.name for v in module.variables} | {c.name for c in module.constants}
    taken |= {v.name for it in walk(function.body) for v in bindings_of(it) if isinstance(v, Var)}
    return Names(taken)


def substitute(body: Region, replacements: Mapping[str, Expr]) -> Region:
    """The region with uses of variables replaced; definitions stay."""

    def rule(it: Node) -> Node | None:
        return replacements.get(it.name) if isinstance(it, Var) else None

    return rewrite_region(body, rule)  # type: ignore[return-value]


def rename(body: Region, new_names: Mapping[str, Var]) -> Region:
    """The region with variables renamed, their definitions included."""

    def rule(it: Node) -> Node | None:
        if isinstance(it, Var):
            return new_names.get(it.name)
        changes = {}
        for name in ("var",):
            bound = getattr(it, name, None)
            if isinstance(bound, Var) and bound.name in new_names:
                changes[name] = new_names[bound.name]
        return with_fields(it, **changes) if changes else None

    return rewrite_region(body, rule)  # type: ignore[return-value]
