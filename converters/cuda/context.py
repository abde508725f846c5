"""The state of a function that is being converted, and of the module around it.

Expressions of C have effects, those of the IR have none.  So a handler that meets an effect appends a
statement to `out` and returns a pure expression for the value; :meth:`FunctionContext.ordered` keeps
values that such a statement could change in temporaries.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from tmigrate.converters.cuda.bindings import Cursor, CursorKind, canonical_key, key_of
from tmigrate.converters.cuda.macros import MacroTable
from tmigrate.converters.cuda.parsing import ParsedFile
from tmigrate.converters.cuda.prescan import Prescan
from tmigrate.converters.cuda.refusals import PoisonedError, location_of, refuse
from tmigrate.converters.cuda.types import TypeTable, identifier
from tmigrate.diagnostics import Diagnostic, RefusedError
from tmigrate.locations import Location
from tmigrate.tilelang.ir.expressions import (
    AddressOf,
    Call,
    Const,
    Expr,
    LaunchIndex,
    NamedConst,
    StringConst,
    Subscript,
    Var,
    type_of,
)  # fmt: skip
from tmigrate.tilelang.ir.intrinsics import INTRINSICS
from tmigrate.tilelang.ir.module import Function, GlobalVariable
from tmigrate.tilelang.ir.node import Node, children, walk
from tmigrate.tilelang.ir.statements import Assign, Comment, Declare, Evaluate, Stmt
from tmigrate.tilelang.ir.types import VOID, PointerType, Type
from tmigrate.tilelang.text.names import to_python


@dataclass(slots=True)
class Converted:
    """A function of the module: its IR once it converted, else what kept it from converting."""

    name: str
    cursor: Cursor
    function: Function | None = None
    diagnostics: list[Diagnostic] = field(default_factory=list)
    effectful: bool = True
    reference_result: bool = False
    takes_self: bool = False
    callees: set[str] = field(default_factory=set)


class ModuleContext:
    """What functions of one module share."""

    def __init__(self, parsed: ParsedFile, defines: tuple[str, ...]) -> None:
        self.parsed = parsed
        self.macros = MacroTable(parsed, defines)
        self.types = TypeTable()
        self.constants: dict[str, NamedConst] = {}
        self.variables: dict[int, GlobalVariable] = {}
        self.captured: dict[int, list[Cursor]] = {}  # a lambda's class -> the variables that it captures
        self.device_lambdas: set[int] = set()  # classes of lambdas that device code makes
        self.shared_users: dict[int, set[str]] = {}  # module-level __shared__ variable -> functions
        self.functions: dict[int, Converted] = {}
        self.order: list[Converted] = []  # callees before callers
        self.active: list[int] = []  # functions being converted, outermost first
        self.taken: set[str] = set()

    def has_name(self, name: str) -> bool:
        """Whether something of the module has that name already."""
        return name in self.taken or name in self.constants or name in self.types.structs

    def free_name(self, wanted: str, also: Container[str] = ()) -> str:
        """A name that no function, variable, constant or struct of the module has; now taken."""
        base = to_python(identifier(wanted))
        name, n = base, 1
        while self.has_name(name) or name in also:
            name, n = f"{base}_{n}", n + 1
        self.taken.add(name)
        return name

    def constant(self, wanted: str, value: int | float | bool, t: Type) -> NamedConst:
        """The module constant of that name; another value under the same name gets a suffix."""
        base = to_python(identifier(wanted))
        name, n = base, 1
        while True:
            found = self.constants.get(name)
            if found is not None and found.value == value and found.type == t:
                return found
            if found is None and name not in self.taken:
                self.constants[name] = NamedConst(name, value, t)
                return self.constants[name]
            name, n = f"{base}_{n}", n + 1


@dataclass(slots=True)
class Binding:
    """What a C++ variable is in the IR: the place that a use of it means; None where it was refused."""

    place: Expr | None


@dataclass(slots=True)
class JumpTarget:
    """A loop, or a switch that was made a loop of one trip.

    `continue` inside such a switch sets `flag` and leaves it; behind the switch the flag continues.
    """

    is_switch: bool = False
    flag: Var | None = None
    continues: bool = False


class FunctionContext:
    """One function: its names, its statements so far, its problems."""

    def __init__(self, module: ModuleContext, record: Converted, prescan: Prescan) -> None:
        self.module = module
        self.types = module.types
        self.record = record
        self.prescan = prescan
        self.bindings: dict[int, Binding] = {}
        self.pending: dict[int, tuple[str, Type]] = {}  # variables that belong to the loops which set them
        self.names: set[str] = set()
        self.out: list[Stmt] = []
        self.prologue: list[Stmt] = []  # declarations that stand ahead of the body
        self.result: Type = VOID
        self.last_call = ""  # the callee of the last call that became a statement
        self.self_place: Expr | None = None
        self.diagnostics: list[Diagnostic] = record.diagnostics
        self.unstable: set[str] = set()  # IR variables that are written after their declaration
        self.location: Location | None = None
        self.targets: list[JumpTarget] = []  # what break and continue bind to, innermost last

    # ---- names ---------------------------------------------------------------------------------------

    def free_name(self, wanted: str) -> str:
        """A name that no other variable of the function has, and nothing of the module."""
        base = to_python(wanted if wanted.isidentifier() else identifier(wanted or "unnamed"))
        name, n = base, 1
        while name in self.names or self.module.has_name(name):
            name, n = f"{base}_{n}", n + 1
        self.names.add(name)
        return name

    def variable(self, wanted: str, t: Type, unstable: bool = False) -> Var:
        """A new variable."""
        var = Var(self.free_name(wanted), t, location=self.location)
        if unstable:
            self.unstable.add(var.name)
        return var

    def bind(self, cursor: Cursor, place: Expr | None) -> None:
        """Say what uses of a C++ variable mean."""
        self.bindings[key_of(cursor)] = Binding(place)

    def bound(self, cursor: Cursor, where: Cursor) -> Expr | None:
        """The place of a C++ variable of this function; None where it is not of this function."""
        found = self.bindings.get(key_of(cursor))
        if found is None:
            return None
        if found.place is None:
            raise PoisonedError
        return found.place

    # ---- statements ----------------------------------------------------------------------------------

    def emit(self, statement: Stmt) -> None:
        self.out.append(statement)

    @contextmanager
    def region(self) -> Iterator[list[Stmt]]:
        """Statements emitted inside go to a list of their own."""
        saved, self.out = self.out, []
        try:
            yield self.out
        finally:
            self.out = saved

    def temporary(self, wanted: str, value: Expr) -> Var:
        """A new variable that holds a value."""
        var = self.variable(wanted, type_of(value))
        self.emit(Declare(var, value, location=self.location))
        return var

    @contextmanager
    def at(self, cursor: Cursor) -> Iterator[None]:
        """Statements emitted inside carry the place of this cursor."""
        saved, self.location = self.location, location_of(cursor)
        try:
            yield
        finally:
            self.location = saved

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """A refusal inside is recorded, and conversion goes on behind it: all problems in one run."""
        try:
            yield
        except RefusedError as error:
            for found in error.diagnostics:
                if found not in self.diagnostics:
                    self.diagnostics.append(found)

    # ---- order of evaluation -------------------------------------------------------------------------

    def ordered(self, makers: list[Callable[[], Expr]]) -> list[Expr]:
        """Evaluate operands left to right; a value that a later operand's effect could change is kept."""
        values: list[Expr] = []
        for make in makers:
            mark = len(self.out)
            value = make()
            if any(changes_something(s) for s in self.out[mark:]):
                values = self._keep(values, mark)
            values.append(value)
        return values

    def _keep(self, values: list[Expr], mark: int) -> list[Expr]:
        later, self.out[mark:] = self.out[mark:], []
        kept = [v if self.is_stable(v) else self.temporary("kept", v) for v in values]
        self.out.extend(later)
        return kept

    def keep_place(self, place: Expr, mark: int) -> Expr:
        """A place whose indices later statements cannot change; `mark` is where those statements begin."""
        if not any(changes_something(s) for s in self.out[mark:]) or isinstance(place, Var):
            return place
        later, self.out[mark:] = self.out[mark:], []
        kept = self._kept_place(place)
        self.out.extend(later)
        return kept

    def _kept_place(self, place: Expr) -> Expr:
        changes: dict[str, Expr | tuple[Expr, ...]] = {}
        indices: tuple[Expr, ...] = getattr(place, "indices", ())
        if indices:
            changes["indices"] = tuple(i if self.is_stable(i) else self.temporary("kept", i) for i in indices)
        base = getattr(place, "base", None)
        if isinstance(base, Expr):
            is_pointer = isinstance(type_of(base), PointerType)
            stable = self.is_stable(base)
            changes["base"] = (
                base if stable else self.temporary("kept", base) if is_pointer else self._kept_place(base)
            )
        return replace(place, **changes) if changes else place  # type: ignore[arg-type]

    def is_stable(self, value: Expr) -> bool:
        """Whether no effect can change what the expression gives."""
        stack: list[Node] = [value]
        while stack:
            node = stack.pop()
            if isinstance(node, AddressOf):  # the address of a variable stays, whatever it holds
                stack += _inside_place(node.place)
                continue
            if isinstance(node, Subscript):
                return False
            if isinstance(node, Var) and node.name in self.unstable:
                return False
            if isinstance(node, Call) and node.callee not in INTRINSICS:
                return False
            stack += children(node)
        return True

    def is_simple(self, value: Expr) -> bool:
        """Whether an expression is a constant or a variable that keeps its value: cheap to repeat."""
        if isinstance(value, Const | NamedConst | LaunchIndex | StringConst):
            return True
        return isinstance(value, Var) and value.name not in self.unstable

    # ---- calls ---------------------------------------------------------------------------------------

    def call(self, callee: str, arguments: tuple[Expr, ...], t: Type, effectful: bool) -> Expr:
        """A call; one with effects becomes a statement, and its value a variable."""
        value = Call(callee, arguments, t, location=self.location)
        if not effectful:
            return value
        self.last_call = callee
        if t == VOID:
            self.emit(Evaluate(value, location=self.location))
            return value
        return self.temporary(_result_name(callee), value)


def _inside_place(place: Expr) -> list[Node]:
    """What an address is computed from: indices and pointers, not the variable itself."""
    found: list[Node] = []
    while True:
        found += getattr(place, "indices", ())
        base = getattr(place, "base", None)
        if not isinstance(base, Expr):
            return found if isinstance(place, Var) else [*found, place]
        if isinstance(type_of(base), PointerType):
            return [*found, base]
        place = base


def _result_name(callee: str) -> str:
    if callee.startswith("atomic_"):
        return "old"
    return "result" if callee not in INTRINSICS else "lane_value" if callee.startswith("shfl") else "vote"


def changes_something(statement: Stmt) -> bool:
    """Whether a statement may change a variable or memory that existed before it."""
    if isinstance(statement, Declare):
        return any(isinstance(n, Call) and is_effectful_name(n.callee) for n in walk(statement))
    return not isinstance(statement, Comment)


def is_effectful_name(callee: str) -> bool:
    """Whether a call of an intrinsic has effects; functions of the module count as having some."""
    entry = INTRINSICS.get(callee)
    return entry is None or not entry.is_pure


def check_defined(cursor: Cursor, where: Cursor) -> Cursor:
    """The definition of a function, or a refusal."""
    definition = cursor if has_body(cursor) else cursor.get_definition()
    if definition is None or not has_body(definition):
        refuse(
            "TM1014", f"'{cursor.spelling}' has no definition that tmigrate can see", where,
            "define it in this file or in a header that this file includes",
        )  # fmt: skip
    return definition


def has_body(cursor: Cursor) -> bool:
    """Whether a function's cursor is its definition."""
    return any(c.kind == CursorKind.COMPOUND_STMT for c in cursor.get_children())


__all__ = [
    "Assign", "Binding", "Converted", "FunctionContext", "ModuleContext", "canonical_key",
    "changes_something", "check_defined", "has_body", "is_effectful_name",
]  # fmt: skip
