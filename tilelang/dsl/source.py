"""The text of a kernel: of its file, only what the kernel needs, with line numbers kept."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tmigrate.diagnostics import Diagnostic, UsageError
from tmigrate.locations import Location
from tmigrate.tilelang.dsl.words import Dimension

_DECORATORS = frozenset({"tile_kernel", "tile_function", "tile_struct", "tile_optimize"})
_STORAGE = frozenset({"device", "constant", "managed", "shared"})


@dataclass(frozen=True, slots=True)
class KernelSource:
    """`text` holds the kernel and what it uses, blank lines elsewhere; `file` its path."""

    text: str
    file: str
    definition: ast.FunctionDef
    dimensions: tuple[str, ...]
    structs: tuple[str, ...]


def read_source(function: Callable[..., Any]) -> KernelSource:
    """The source of a decorated function; :class:`UsageError` (TM2062) where there is none."""
    try:
        file = inspect.getsourcefile(function) or "<unknown>"
        lines, first = inspect.getsourcelines(function)
        module_lines, _ = inspect.findsource(function)
    except (OSError, TypeError):
        raise UsageError(
            Diagnostic(
                "TM2062",
                f"the text of `{function.__name__}` is not available",
                Location(function.__code__.co_filename, function.__code__.co_firstlineno),
                remedy="define the kernel in a file",
            )
        ) from None
    own = ["\n"] * max(first - 1, 0) + textwrap.dedent("".join(lines)).splitlines(keepends=True)
    definition = next(n for n in ast.parse("".join(own)).body if isinstance(n, ast.FunctionDef))
    names = _names(function)
    tree = ast.parse("".join(module_lines))
    taken = _needed(tree, definition, bool(_nested(function)))
    text = _assemble(own, module_lines, taken)
    dimensions = tuple(n for n, v in names.items() if isinstance(v, Dimension))
    structs = tuple(it.name for it in taken if isinstance(it, ast.ClassDef))
    return KernelSource(text, file, definition, dimensions, structs)


def _nested(function: Callable[..., Any]) -> bool:
    return "<locals>" in function.__qualname__


def _names(function: Callable[..., Any]) -> Mapping[str, Any]:
    """What the function sees: its module's names and its closure's."""
    return {**function.__globals__, **inspect.getclosurevars(function).nonlocals}


def _needed(tree: ast.Module, definition: ast.FunctionDef, nested: bool) -> list[ast.stmt]:
    """The file's structs, constants, variables and functions that the kernel refers to, in the end."""
    candidates: dict[str, ast.stmt] = {}
    for it in tree.body:
        for name in _defines(it):
            candidates[name] = it
    found: dict[str, ast.stmt] = {}
    todo = [definition]
    while todo:
        used = {n.id for n in ast.walk(todo.pop()) if isinstance(n, ast.Name)}
        for name in sorted(used & set(candidates)):
            if name not in found and (nested or name != definition.name):
                found[name] = candidates[name]
                todo.append(candidates[name])  # type: ignore[arg-type]
    return list(found.values())


def _defines(it: ast.stmt) -> list[str]:
    """The DSL names that a statement at the top of a file defines."""
    if isinstance(it, ast.FunctionDef | ast.ClassDef):
        called = [d.func if isinstance(d, ast.Call) else d for d in it.decorator_list]
        return [it.name] if any(isinstance(d, ast.Name) and d.id in _DECORATORS for d in called) else []
    if isinstance(it, ast.AnnAssign) and isinstance(it.target, ast.Name) and it.value is not None:
        return [it.target.id]
    if isinstance(it, ast.Assign) and isinstance(it.value, ast.Call) and isinstance(it.value.func, ast.Name):
        target = it.targets[0]
        if it.value.func.id in _STORAGE and isinstance(target, ast.Name):
            return [target.id]
    return []


def _assemble(own: list[str], module_lines: list[str], taken: list[ast.stmt]) -> str:
    """The kernel's lines and the needed statements' lines at their places."""
    result = ["\n"] * max(len(own), len(module_lines))
    for it in taken:
        decorators = getattr(it, "decorator_list", [])
        first = min([it.lineno, *(d.lineno for d in decorators)])
        result[first - 1 : it.end_lineno] = module_lines[first - 1 : it.end_lineno]
    for number, line in enumerate(own):
        if line.strip():
            result[number] = line
    return "".join(result)
