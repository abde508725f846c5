"""The verifier: a list of named rules, run between passes.

`verify(module)` raises one :class:`VerifyError` with everything that is wrong.  A rule is data: a name, the
levels it holds at, its diagnostic code and a function from a :class:`View` to findings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from tmigrate.diagnostics import Diagnostic, VerifyError
from tmigrate.locations import Location
from tmigrate.tilelang.ir.effects import effectful_functions
from tmigrate.tilelang.ir.module import Function, Level, Module
from tmigrate.tilelang.ir.view import View, Visit, view_function

EVERY_LEVEL = frozenset(Level)
STRUCTURED = frozenset({Level.LOOP, Level.TENSOR})


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule found: a sentence, its place and what to do instead."""

    message: str
    where: Visit | Location | None
    remedy: str = ""

    @property
    def location(self) -> Location | None:
        return self.where.location if isinstance(self.where, Visit) else self.where


Check = Callable[[View], Iterator[Finding]]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: its name, its diagnostic code, the levels where it holds, and the check."""

    name: str
    code: str
    levels: frozenset[Level]
    check: Check


def findings(module: Module, rules: Iterable[Rule] | None = None) -> Iterator[tuple[Rule, Finding]]:
    """Everything that is wrong, rule by rule; `rules` narrows them, for tests."""
    from tmigrate.tilelang.ir.verify_rules import FUNCTION_RULES, MODULE_RULES

    chosen = None if rules is None else list(rules)
    head = View(module, None)
    for rule in MODULE_RULES:
        if chosen is None or rule in chosen:
            yield from ((rule, finding) for finding in rule.check(head))
    effectful = effectful_functions(module)
    for function in module.functions:
        view = view_function(module, function, effectful)
        for rule in FUNCTION_RULES:
            if function.level in rule.levels and (chosen is None or rule in chosen):
                yield from ((rule, finding) for finding in rule.check(view))


def verify(module: Module) -> None:
    """Check every rule of every function's level; raises :class:`VerifyError` with all findings."""
    found = [
        Diagnostic(rule.code, finding.message, finding.location, remedy=finding.remedy)
        for rule, finding in findings(module)
    ]
    if found:
        raise VerifyError(dict.fromkeys(found))


def verify_function(function: Function, module: Module | None = None) -> None:
    """:func:`verify` for one function, in the surroundings of `module` if given."""
    from dataclasses import replace

    around = module or Module("module")
    others = tuple(f for f in around.functions if f.name != function.name)
    verify(replace(around, functions=(*others, function)))


__all__ = ["EVERY_LEVEL", "STRUCTURED", "Finding", "Rule", "findings", "verify", "verify_function"]
