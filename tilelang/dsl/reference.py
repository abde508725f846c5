"""A kernel under plain Python: its own text, with each store converted to the variable's declared type.

    acc = 0                         ->      acc = T[f32](0)
    for i in range(n):              ->      for i in range_of(T[i32], n):
    while c: ... with step: s       ->      while c: ...; s        (and s before every `continue`)

Values are NumPy scalars, so that integers wrap and floats round in their own precision.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tmigrate.tilelang.dsl.operations import OPERATION_WORDS, Place
from tmigrate.tilelang.dsl.scalars import ScalarWord, convert, scalar_type_of
from tmigrate.tilelang.dsl.structs import StructWord
from tmigrate.tilelang.dsl.words import FOLDS, address, all_words, range_of
from tmigrate.tilelang.ir.expressions import Var
from tmigrate.tilelang.ir.module import Function, Module
from tmigrate.tilelang.ir.node import bindings_of, walk
from tmigrate.tilelang.ir.types import ArrayType, ScalarType, StructDefinition, StructType, TensorType, Type

_LOOPS = frozenset({"parallel", "threads", "blocks"})


def variable_types(function: Function) -> dict[str, Type]:
    """The type of every variable by its name in the text."""
    found: dict[str, Type] = {p.name: p.type for p in function.parameters}
    for n in walk(function.body):
        for var in bindings_of(n):
            assert isinstance(var, Var)
            found.setdefault(var.name, var.type)
    return found


class _Typed(ast.NodeTransformer):
    """Rewrites one function definition."""

    def __init__(self, function: Function) -> None:
        self.types = variable_types(function)
        self.function = function
        self.steps: list[list[ast.stmt] | None] = []

    def converted(self, name: str, value: ast.expr) -> ast.expr:
        """`T["name"](value)` for a variable that holds a number or a struct; other values as they are."""
        t = self.types.get(name)
        if isinstance(t, ScalarType | StructType):
            return _call(_item("T", str(t)), value)
        return value

    # ---- stores --------------------------------------------------------------------------------------

    def visit_Assign(self, it: ast.Assign) -> ast.AST:
        self.generic_visit(it)
        target = it.targets[0]
        if isinstance(target, ast.Name):
            it.value = self.stored(target.id, it.value)
        return it

    def stored(self, name: str, value: ast.expr) -> ast.expr:
        """The value of `name = value`; an allocation gets the element type that it was found to have."""
        t = self.types.get(name)
        called = value.func.id if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) else ""
        if called in ("allocate", "local", "shared") and isinstance(t, TensorType | ArrayType):
            assert isinstance(value, ast.Call)
            extents = value.args[-len(t.shape) :]
            return _call(_name("allocate"), _item("T", str(t.element)), *extents)
        return self.converted(name, value)

    def visit_AnnAssign(self, it: ast.AnnAssign) -> ast.AST | None:
        self.generic_visit(it)
        assert isinstance(it.target, ast.Name)
        if it.value is None:
            return ast.copy_location(ast.Pass(), it)
        made = ast.Assign([it.target], self.stored(it.target.id, it.value))
        return ast.copy_location(made, it)

    def visit_AugAssign(self, it: ast.AugAssign) -> ast.AST:
        self.generic_visit(it)
        if not isinstance(it.target, ast.Name):
            return it
        read = _name(it.target.id)
        value = self.visit_BinOp(ast.BinOp(read, it.op, it.value))
        return ast.copy_location(ast.Assign([it.target], self.converted(it.target.id, value)), it)

    def visit_Return(self, it: ast.Return) -> ast.AST:
        self.generic_visit(it)
        if it.value is not None and isinstance(self.function.result, ScalarType):
            it.value = _call(_item("T", str(self.function.result)), it.value)
        return it

    # ---- loops ---------------------------------------------------------------------------------------

    def ranged(self, name: str, it: ast.expr) -> ast.expr:
        """`range(...)`, `parallel(range(...))` or `parallel_for(...)` counting in the variable's type."""
        assert isinstance(it, ast.Call) and isinstance(it.func, ast.Name)
        if it.func.id in _LOOPS:
            return self.ranged(name, it.args[0])
        return _call(_name("range_of"), _item("S", str(self.types[name])), *it.args)

    def visit_For(self, it: ast.For) -> ast.AST:
        self.steps.append(None)
        self.generic_visit(it)
        self.steps.pop()
        assert isinstance(it.target, ast.Name)
        it.iter = self.ranged(it.target.id, it.iter)
        return it

    def visit_GeneratorExp(self, it: ast.GeneratorExp) -> ast.AST:
        self.generic_visit(it)
        target = it.generators[0].target
        assert isinstance(target, ast.Name)
        it.generators[0].iter = self.ranged(target.id, it.generators[0].iter)
        return it

    def visit_While(self, it: ast.While) -> ast.AST:
        last = it.body[-1]
        step: list[ast.stmt] | None = None
        if isinstance(last, ast.With):
            self.steps.append(None)  # `break` in the step leaves the loop; `continue` is not allowed there
            step = [self.visit(copy.deepcopy(s)) for s in last.body]
            self.steps.pop()
            it.body = it.body[:-1]
        self.steps.append(step)
        self.generic_visit(it)
        self.steps.pop()
        it.body = [*it.body, *(step or [ast.Pass()])]
        return it

    def visit_Continue(self, it: ast.Continue) -> ast.AST | list[ast.stmt]:
        step = self.steps[-1] if self.steps else None
        return it if step is None else [*copy.deepcopy(step), it]

    # ---- calls and operators -------------------------------------------------------------------------

    def visit_BinOp(self, it: ast.BinOp) -> ast.expr:
        """A bare literal beside a value takes the value's type (NumPy would widen bfloat16)."""
        self.generic_visit(it)
        for own, other in (("left", "right"), ("right", "left")):
            literal = getattr(it, own)
            if _is_literal(literal) and not _is_literal(getattr(it, other)):
                text = _name(type(it.op).__name__)
                return _call(_name("with_literal"), ast.Constant(text.id), it.left, it.right)
        return it

    def visit_Call(self, it: ast.Call) -> ast.AST:
        if isinstance(it.func, ast.Name) and it.func.id == "address":
            return self.address(it)
        if (
            isinstance(it.func, ast.Name)
            and it.func.id == "map_reduce"
            and isinstance(it.args[0], ast.Lambda)
        ):
            name = it.args[0].args.args[0].arg
            it.args[1] = self.ranged(name, it.args[1])
        self.generic_visit(it)
        return it

    def address(self, it: ast.Call) -> ast.AST:
        place = it.args[0]
        self.generic_visit(it)
        if isinstance(place, ast.Subscript):
            return _call(_name("Place"), place.value, _index(place.slice))
        raise TypeError(f"plain Python has no address for `{ast.unparse(place)}`")

    def visit_Expr(self, it: ast.Expr) -> ast.AST:
        """`assume` and `cover` do nothing here."""
        call = it.value
        if (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Name)
            and call.func.id in ("assume", "cover")
        ):
            return ast.copy_location(ast.Pass(), it)
        self.generic_visit(it)
        return it


def _name(text: str) -> ast.Name:
    return ast.Name(text, ast.Load())


def _item(table: str, key: str) -> ast.expr:
    return ast.Subscript(_name(table), ast.Constant(key), ast.Load())


def _call(function: ast.expr, *arguments: ast.expr) -> ast.Call:
    return ast.Call(function, list(arguments), [])


def _index(it: ast.expr) -> ast.expr:
    return it


def _is_literal(it: ast.expr) -> bool:
    if isinstance(it, ast.UnaryOp) and isinstance(it.op, ast.USub):
        it = it.operand
    return isinstance(it, ast.Constant) and type(it.value) in (int, float)


_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "Add": lambda a, b: a + b, "Sub": lambda a, b: a - b, "Mult": lambda a, b: a * b,
    "Div": lambda a, b: a / b, "FloorDiv": lambda a, b: a // b, "Mod": lambda a, b: a % b,
    "BitAnd": lambda a, b: a & b, "BitOr": lambda a, b: a | b, "BitXor": lambda a, b: a ^ b,
    "LShift": lambda a, b: a << b, "RShift": lambda a, b: a >> b,
}  # fmt: skip


def with_literal(op: str, a: Any, b: Any) -> Any:
    """`a op b` where one is a bare number that takes the other's type."""
    t = scalar_type_of(a) or scalar_type_of(b)
    if t is not None:
        a = a if isinstance(a, np.generic) else convert(t, a)
        b = b if isinstance(b, np.generic) else convert(t, b)
    return _OPERATORS[op](a, b)


def _extreme(word: str) -> Callable[..., Any]:
    """`max` and `min`: of a sequence (any type; of none, an infinity), or of two integers of one type."""
    empty = -np.inf if word == "max" else np.inf

    def call(*values: Any) -> Any:
        if len(values) == 1:
            folded = list(values[0])
            return FOLDS[word](folded) if folded else empty
        return OPERATION_WORDS[word](*values)

    return call


def compile_reference(
    definition: ast.FunctionDef, function: Function, module: Module, namespace: Mapping[str, Any]
) -> Callable[..., Any]:
    """The function as plain Python; `namespace` adds dimensions, variables and functions of its file."""
    typed = copy.deepcopy(definition)
    typed.decorator_list, typed.returns = [], None
    for a in typed.args.args:
        a.annotation = None
    rewriter = _Typed(function)
    body: list[ast.stmt] = [
        ast.Assign([ast.Name(p.name, ast.Store())], rewriter.converted(p.name, _name(p.name)))
        for p in function.parameters
        if isinstance(p.type, ScalarType | StructType)
    ]
    for statement in typed.body:
        made = rewriter.visit(statement)
        body.extend(made if isinstance(made, list) else [made])
    typed.body = body
    tree = ast.fix_missing_locations(ast.Module([typed], []))
    scope = reference_names(module)
    scope.update(namespace)
    code = compile(tree, function.location.file if function.location else "<kernel>", "exec")
    exec(code, scope)
    return scope[definition.name]  # type: ignore[no-any-return]


def reference_names(module: Module) -> dict[str, Any]:
    """The names that a rewritten function uses."""
    words = all_words()
    table: dict[str, Any] = {k: w for k, w in words.items() if isinstance(w, ScalarWord | StructWord)}
    structs: dict[str, StructDefinition] = module.struct_table
    table.update({name: StructWord(d, structs) for name, d in structs.items()})
    scope = {**words, **table, **{c.name: table[str(c.type)](c.value) for c in module.constants}}
    scope.update(
        T=table, S={k: w.scalar for k, w in table.items() if isinstance(w, ScalarWord)}, range_of=range_of,
        with_literal=with_literal, Place=Place, address=address,
        max=_extreme("max"), min=_extreme("min"), abs=OPERATION_WORDS["abs"],
    )  # fmt: skip
    return scope
