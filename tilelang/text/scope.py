"""What names mean while text is parsed, and how the parser complains."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import NoReturn

from tmigrate.diagnostics import Diagnostic, SourceError
from tmigrate.locations import Location
from tmigrate.tilelang.ir.expressions import Expr, NamedConst, Var
from tmigrate.tilelang.ir.module import Function, GlobalVariable
from tmigrate.tilelang.ir.structs import definition_of
from tmigrate.tilelang.ir.types import I64, StructDefinition, StructType, Type


@dataclass(slots=True)
class Scope:
    """The module's names, and the variables of the function that is being read.

    `hints` are types found for untyped variables by an earlier attempt; see :class:`TypeFound`.
    """

    file: str = "<text>"
    constants: dict[str, NamedConst] = field(default_factory=dict)
    structs: dict[str, StructDefinition] = field(default_factory=dict)
    struct_names: set[str] = field(default_factory=set)
    module_variables: dict[str, GlobalVariable] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    dimensions: dict[str, Var] = field(default_factory=dict)
    variables: dict[str, Var] = field(default_factory=dict)
    used_dimensions: dict[str, Var] = field(default_factory=dict)
    hints: dict[str, Type] = field(default_factory=dict)
    guessed: set[str] = field(default_factory=set)

    def place(self, it: ast.AST) -> Location:
        """The location of a piece of Python text."""
        line = getattr(it, "lineno", 0)
        column = getattr(it, "col_offset", -1) + 1
        same_line = getattr(it, "end_lineno", None) == line
        end = (getattr(it, "end_col_offset", -1) or -1) + 1 if same_line else 0
        return Location(self.file, line, column, end)

    def fail(self, code: str, message: str, it: ast.AST, remedy: str = "") -> NoReturn:
        """Raise a :class:`SourceError` at a piece of text."""
        raise SourceError(Diagnostic(code, message, self.place(it), remedy=remedy))

    def definition(self, t: StructType, it: ast.AST) -> StructDefinition:
        """The definition of a struct type."""
        try:
            return definition_of(t, self.structs)
        except KeyError:
            self.fail("TM2003", f"struct {t} is not declared", it)

    def retry_guess(self, e: Expr, found: Type) -> None:
        """Read the function again if `e` is a variable whose type was only guessed from a bare literal."""
        if isinstance(e, Var) and e.name in self.guessed and self.hints.get(e.name) != found:
            raise TypeFound(e.name, found)

    def dimension(self, name: str) -> Var | None:
        """A dimension name of `dims(...)`, noted as used by the function."""
        found = self.dimensions.get(name)
        if found is not None:
            self.used_dimensions.setdefault(name, found)
        return found

    def declare_dimensions(self, names: list[str]) -> None:
        for name in names:
            self.dimensions[name] = Var(name, I64)


class TypeFound(Exception):
    """An untyped variable turned out to have another type than guessed: read the function again."""

    def __init__(self, name: str, type_: Type) -> None:
        self.name = name
        self.type = type_
        super().__init__(name)
