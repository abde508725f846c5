"""Text to modules: `parse_module(print_module(m)) == m`.

The file is read with Python's own parser; what a kernel file may hold at its top is listed in
:class:`ModuleParser`.  All problems found at the top level are reported at once.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tmigrate.diagnostics import Diagnostic, SourceError
from tmigrate.locations import Location
from tmigrate.tilelang.ir.expressions import Expr, NamedConst, Var, type_of
from tmigrate.tilelang.ir.module import Function, FunctionKind, GlobalVariable, Level, Module
from tmigrate.tilelang.ir.node import walk
from tmigrate.tilelang.ir.statements import Region, Return
from tmigrate.tilelang.ir.structs import alignment_of, size_of
from tmigrate.tilelang.ir.types import (
    VOID,
    ArrayType,
    Space,
    StructDefinition,
    StructField,
    TensorType,
    Type,
    is_integer,
)
from tmigrate.tilelang.passes.unique_names import unique_names
from tmigrate.tilelang.text.comments import CommentTable, read_comments
from tmigrate.tilelang.text.parse_expressions import ExpressionParser, parse_shape
from tmigrate.tilelang.text.parse_statements import StatementParser
from tmigrate.tilelang.text.parse_types import is_open, is_type_text, parse_type, static_int
from tmigrate.tilelang.text.scope import Scope, TypeFound

# `tile_optimize` is a kernel at the tensor level; what it asks of a schedule is no part of the IR.
_DECORATORS = {**{kind.value: kind for kind in FunctionKind}, "tile_optimize": FunctionKind.KERNEL}
_VARIABLES = {s.value: s for s in (Space.GLOBAL, Space.CONSTANT, Space.MANAGED, Space.SHARED)}
# Types of parameters that a call's arguments bind: by function, then by parameter.
Bindings = Mapping[str, Mapping[str, Type]]


class ModuleParser:
    """Reads one file: docstring, imports, constants, dimensions, structs, variables and functions."""

    def __init__(
        self, text: str, name: str, file: str, bindings: Bindings, dimensions: Sequence[str] = ()
    ) -> None:
        self.name = name
        self.scope = Scope(file)
        self.scope.declare_dimensions(list(dimensions))
        self.inferred: set[str] = set()
        self.bindings = bindings
        self.tree = _python(text, file)
        self.comments = read_comments(text)
        self.doc = ast.get_docstring(self.tree, clean=False) or ""
        self.source = ""
        self.order: list[str] = []
        self.bodies: list[ast.FunctionDef] = []
        self.problems: list[Diagnostic] = []

    def parse(self) -> Module:
        """The module; raises :class:`SourceError` with everything that is wrong."""
        body = self.tree.body[1:] if self.doc else self.tree.body
        self.scope.struct_names = {it.name for it in body if isinstance(it, ast.ClassDef)}
        for it in body:
            self._guarded(self.top_level, it)
        for definition in self.bodies:
            self._guarded(self.function_body, definition)
        if self.problems:
            raise SourceError(self.problems)
        scope = self.scope
        return Module(
            self.name,
            tuple(scope.functions[name] for name in self.order),
            tuple(scope.constants.values()),
            tuple(scope.structs.values()),
            tuple(scope.module_variables.values()),
            self.source,
            self.doc,
        )

    def _guarded(self, step: Callable[[Any], None], it: ast.stmt) -> None:
        try:
            step(it)
        except SourceError as error:
            self.problems.extend(error.diagnostics)

    def top_level(self, it: ast.stmt) -> None:
        """One statement at the top of the file."""
        if isinstance(it, ast.Import | ast.ImportFrom):
            return
        if isinstance(it, ast.FunctionDef):
            self.signature(it)
        elif isinstance(it, ast.ClassDef):
            self.struct(it)
        elif isinstance(it, ast.AnnAssign) and isinstance(it.target, ast.Name) and it.value is not None:
            self.constant(it.target.id, it.annotation, it.value)
        elif isinstance(it, ast.Assign) and len(it.targets) == 1:
            self.assignment(it.targets[0], it)
        else:
            self.scope.fail("TM2002", "only kernels and what they need may stand at the top of a file", it)

    def constant(self, name: str, annotation: ast.expr, value: ast.expr) -> None:
        t = parse_type(annotation, self.scope)
        e = ExpressionParser(self.scope).parse_as(value, t)
        if not hasattr(e, "value"):
            self.scope.fail("TM2002", "a module constant is a literal", value)
        self.scope.constants[name] = NamedConst(name, e.value, t)

    def assignment(self, target: ast.expr, it: ast.Assign) -> None:
        value = it.value
        if isinstance(target, ast.Name) and target.id == "__source__":
            self.source = str(ast.literal_eval(value))
            return
        is_call = isinstance(value, ast.Call) and isinstance(value.func, ast.Name)
        called = value.func.id if is_call else ""  # type: ignore[attr-defined]
        if called == "dims":
            names = target.elts if isinstance(target, ast.Tuple) else [target]
            self.scope.declare_dimensions([n.id for n in names if isinstance(n, ast.Name)])
        elif called in _VARIABLES and isinstance(target, ast.Name) and isinstance(value, ast.Call):
            self.variable(target.id, _VARIABLES[called], value)
        else:
            self.scope.fail(
                "TM2002", "only constants, dims(...) and device variables may be assigned here", it
            )

    def variable(self, name: str, space: Space, call: ast.Call) -> None:
        t = ArrayType(
            parse_type(call.args[0], self.scope), tuple(static_int(a, self.scope) for a in call.args[1:])
        )
        symbol = next((str(ast.literal_eval(k.value)) for k in call.keywords if k.arg == "symbol"), "")
        place = self.comments.marks.get(call.lineno)
        self.scope.module_variables[name] = GlobalVariable(name, t, space, symbol, place)

    def struct(self, it: ast.ClassDef) -> None:
        """`@tile_struct class S:` with one annotation per member."""
        options = _decorator_options(it.decorator_list, "tile_struct", it, self.scope)
        fields: list[StructField] = []
        offset, alignment = 0, 1
        for row in it.body:
            if isinstance(row, ast.Pass):
                continue
            if not (isinstance(row, ast.AnnAssign) and isinstance(row.target, ast.Name)):
                self.scope.fail("TM2002", "a struct holds annotated members only", row)
            t = parse_type(row.annotation, self.scope)
            try:
                wanted = alignment_of(t, self.scope.structs)
            except KeyError as error:
                self.scope.fail("TM2003", str(error.args[0]), row, "declare it above")
            offset = -(-offset // wanted) * wanted
            if isinstance(row.value, ast.Call):
                offset = static_int(row.value.args[0], self.scope)
            fields.append(StructField(row.target.id, t, offset))
            alignment = max(alignment, wanted)
            offset += size_of(t, self.scope.structs)
        alignment = int(options.get("alignment", alignment))
        size = int(options.get("size", max(1, -(-offset // alignment) * alignment)))
        self.scope.structs[it.name] = StructDefinition(it.name, tuple(fields), size, alignment)

    # ---- functions -----------------------------------------------------------------------------------

    def signature(self, it: ast.FunctionDef) -> None:
        """Note a function's types, so that others can call it whatever the order."""
        kind = next((k for k in _DECORATORS if _decorated(it.decorator_list, k)), None)
        if kind is None:
            self.scope.fail("TM2002", f"`{it.name}` has no tile decorator", it, "write @tile_kernel above it")
        options = _decorator_options(it.decorator_list, kind, it, self.scope)
        level = str(options.get("level", "tensor" if kind == "tile_optimize" else "loop"))
        if level not in {entry.value for entry in Level}:
            self.scope.fail("TM2005", f"`{level}` is not a level", it, "use thread, loop or tensor")
        place = self.comments.marks.get(it.lineno) or self.scope.place(it)
        parameters, result = self._header(it, Level(level))
        self.order.append(it.name)
        self.bodies.append(it)
        self.scope.functions[it.name] = Function(
            it.name,
            parameters,
            (),
            _DECORATORS[kind],
            Level(level),
            result,
            tuple(self.scope.used_dimensions.values()),
            str(options.get("symbol", "")),
            ast.get_docstring(it, clean=False) or "",
            place,
        )

    def _header(self, it: ast.FunctionDef, level: Level) -> tuple[tuple[Var, ...], Type]:
        """Parameters and result type; extents may use the scalar parameters, wherever these stand."""
        scope = self.scope
        if it.args.vararg or it.args.kwarg or it.args.kwonlyargs or it.args.defaults:
            scope.fail("TM2002", "parameters are plain names with types", it)
        bound = self.bindings.get(it.name, {})
        scope.used_dimensions = {}
        scope.variables = {}
        for a in it.args.args:
            if a.arg not in bound and isinstance(a.annotation, ast.Name):
                t = parse_type(a.annotation, scope)
                if is_integer(t):
                    scope.variables[a.arg] = Var(a.arg, t)
        parameters: list[Var] = []
        for a in it.args.args:
            t = bound[a.arg] if a.arg in bound else self._parameter_type(a)
            self._note_dimensions(t)
            parameters.append(Var(a.arg, t))
        if it.returns is None:
            if level is Level.TENSOR:
                self.inferred.add(it.name)
            return tuple(parameters), VOID
        return tuple(parameters), self._result_type(it, bound)

    def _parameter_type(self, a: ast.arg) -> Type:
        if a.annotation is None:
            self.scope.fail(
                "TM2007", f"the type of `{a.arg}` is not known here", a,
                "annotate it, or let the arguments of a call bind it",
            )  # fmt: skip
        return parse_type(a.annotation, self.scope)

    def _result_type(self, it: ast.FunctionDef, bound: Mapping[str, Type]) -> Type:
        """The result's type; an open one, as `Tensor[M, N]`, is found from what is returned."""
        assert it.returns is not None
        if "return" in bound:
            return bound["return"]
        if is_open(it.returns, self.scope):
            self.inferred.add(it.name)
            return VOID
        return parse_type(it.returns, self.scope)

    def _note_dimensions(self, t: Type) -> None:
        """Note the dimension names in a bound type, which was not read from text."""
        if isinstance(t, TensorType):
            for extent in t.shape:
                if isinstance(extent, Var) and extent.name in self.scope.dimensions:
                    self.scope.dimension(extent.name)

    def function_body(self, it: ast.FunctionDef) -> None:
        """Read a body, again as often as an untyped variable's type turns out to be another."""
        declared = self.scope.functions[it.name]
        hints: dict[str, Type] = {}
        while True:
            try:
                body = self._attempt(it, declared, hints)
                break
            except TypeFound as found:
                if found.name in hints:
                    self.scope.fail(
                        "TM2004", f"`{found.name}` is used with several types", it, "declare its type"
                    )
                hints[found.name] = found.type
        result = declared.result
        if it.name in self.inferred:
            result = self._inferred_result(it, body)
        whole = replace(
            declared, body=body, result=result, dimensions=tuple(self.scope.used_dimensions.values())
        )
        others = [*self.scope.constants, *self.scope.module_variables, *self.scope.functions]
        self.scope.functions[it.name] = unique_names(whole, others)

    def _inferred_result(self, it: ast.FunctionDef, body: Region) -> Type:
        """The type that the function returns, where its header leaves it open in part or wholly."""
        found = {type_of(n.value) for n in walk(body) if isinstance(n, Return) and n.value is not None}
        if len(found) > 1:
            self.scope.fail("TM2004", f"`{it.name}` returns several types", it, "annotate its result")
        result = found.pop() if found else VOID
        annotation = it.returns
        if isinstance(annotation, ast.Subscript) and isinstance(result, TensorType):
            extents = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
            element = is_type_text(extents[0], self.scope)
            shape = tuple(parse_shape(e, self.scope) for e in extents[1 if element else 0 :])
            if shape and shape != result.shape:
                self.scope.fail("TM2004", f"returns {result}, and the header says another shape", annotation)
        return result

    def _attempt(self, it: ast.FunctionDef, declared: Function, hints: dict[str, Type]) -> Any:
        scope = self.scope
        scope.variables = {p.name: p for p in declared.parameters}
        scope.used_dimensions = {d.name: d for d in declared.dimensions}
        scope.hints, scope.guessed = dict(hints), set()
        statements = it.body[1:] if declared.doc else it.body
        if not statements:
            return ()
        first = it.lineno
        if declared.doc:
            first = (it.body[0].end_lineno or it.body[0].lineno) + 1
        last = self._line_after(it)
        mark = self.comments.marks.get(it.lineno)
        result = None if declared.name in self.inferred else declared.result
        parser = StatementParser(scope, self.comments, result, mark)
        return parser.region(statements, first, last)

    def _line_after(self, it: ast.FunctionDef) -> int:
        position = self.tree.body.index(it)
        if position + 1 == len(self.tree.body):
            return 1 << 30
        following = self.tree.body[position + 1]
        decorators = getattr(following, "decorator_list", [])
        lines: list[int] = [following.lineno, *(d.lineno for d in decorators)]
        return min(lines)


def _python(text: str, file: str) -> ast.Module:
    try:
        return ast.parse(text, filename=file)
    except SyntaxError as error:
        place = Location(file, error.lineno or 0, error.offset or 0)
        raise SourceError(Diagnostic("TM2001", f"not Python: {error.msg}", place)) from None
    except (RecursionError, MemoryError):
        raise SourceError(
            Diagnostic("TM2001", "nested too deeply for Python's parser", Location(file))
        ) from None


def _decorated(decorators: list[ast.expr], name: str) -> bool:
    called = [d.func if isinstance(d, ast.Call) else d for d in decorators]
    return any(isinstance(d, ast.Name) and d.id == name for d in called)


def _decorator_options(
    decorators: list[ast.expr], name: str, it: ast.AST, scope: Scope
) -> dict[str, str | int]:
    """The keyword arguments of the decorator `name`."""
    for d in decorators:
        if isinstance(d, ast.Call) and isinstance(d.func, ast.Name) and d.func.id == name:
            return {str(k.arg): ast.literal_eval(k.value) for k in d.keywords}
        if isinstance(d, ast.Name) and d.id == name:
            return {}
    scope.fail("TM2002", f"expected the decorator @{name}", it)


def parse_module(
    text: str,
    name: str = "module",
    *,
    file: str = "<text>",
    bindings: Bindings | None = None,
    dimensions: Sequence[str] = (),
) -> Module:
    """Read a kernel file.

    `file` names it in diagnostics; `bindings` gives types to parameters that the text leaves open, over the
    file's dimensions and those of `dimensions`.
    Raises :class:`SourceError` (TM2001 to TM2008) with line and column of everything that is wrong.
    """
    return ModuleParser(text, name, file, bindings or {}, dimensions).parse()


def parse_statements(text: str, variables: Mapping[str, Type], result: Type = VOID) -> Any:
    """Read a few statements with the given variables, for tests and rewrite rules."""
    scope = Scope(variables={name: Var(name, t) for name, t in variables.items()})
    body = _python(text, scope.file).body
    comments: CommentTable = read_comments(text)
    return StatementParser(scope, comments, result).region(body, 1, 1 << 30) if body else ()


def parse_expression(text: str, variables: Mapping[str, Type], expected: Type | None = None) -> Expr:
    """Read one expression with the given variables, for tests and rewrite rules."""
    scope = Scope(variables={name: Var(name, t) for name, t in variables.items()})
    tree = _python(f"({text})", scope.file).body[0]
    assert isinstance(tree, ast.Expr)
    return ExpressionParser(scope).parse(tree.value, expected)
