"""All mutants of a module's functions, in a fixed order, each with a name that says where and what."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from operators import variants_at
from places import Place, places, put

from tmigrate.diagnostics import VerifyError
from tmigrate.tilelang.ir.module import Function, Module
from tmigrate.tilelang.ir.verify import verify_function


@dataclass(frozen=True, slots=True)
class Mutant:
    """A function with one node changed: `name` is unique in its module."""

    name: str
    operator: str
    label: str
    line: int
    function: Function

    def module(self, around: Module) -> Module:
        """The module with the mutant in the place of its original."""
        functions = (self.function if f.name == self.function.name else f for f in around.functions)
        return replace(around, functions=tuple(functions))


def mutants_of(module: Module, functions: Iterable[Function]) -> Iterator[Mutant]:
    """Every operator at every place; variants may be invalid (see :func:`is_valid`)."""
    for function in functions:
        for place in places(module, function):
            for operator, label, replacement in variants_at(place):
                name = f"{function.name}/{_path(place)}/{operator}/{label}"
                made = put(function, place.path, replacement)
                yield Mutant(name, operator, label, place.line, made)


def is_valid(mutant: Mutant, module: Module) -> bool:
    """Whether the IR's own verifier lets the mutant pass; where it does not, nothing else is asked."""
    try:
        verify_function(mutant.function, module)
    except VerifyError:
        return False
    return True


def sampled(mutants: list[Mutant], most: int, seed: int) -> list[Mutant]:
    """At most `most` of them, drawn with a seed, in their order."""
    if len(mutants) <= most:
        return mutants
    chosen = sorted(random.Random(seed).sample(range(len(mutants)), most))
    return [mutants[k] for k in chosen]


def _path(place: Place) -> str:
    return ".".join(field if k is None else f"{field}{k}" for field, k in place.path)
