"""A CUDA file to a module of thread-level IR."""

from __future__ import annotations

import sys
from pathlib import Path

from tmigrate.converters.cuda import (  # noqa: F401 - the handlers register themselves
    calls,
    initialisers,
    loops,
    operators,
    places,
    statements,
    switches,
)
from tmigrate.converters.cuda.bindings import Cursor, CursorKind, canonical_key
from tmigrate.converters.cuda.context import Converted, ModuleContext
from tmigrate.converters.cuda.functions import kernel_function
from tmigrate.converters.cuda.kernels import Found, find_kernels
from tmigrate.converters.cuda.naming import separate_names
from tmigrate.converters.cuda.options import FrontEndOptions, FrontEndResult, KernelRecord
from tmigrate.converters.cuda.parsing import ParsedFile, parse
from tmigrate.converters.cuda.refusals import name_location
from tmigrate.diagnostics import Diagnostic
from tmigrate.tilelang.ir.module import Function, Module
from tmigrate.tilelang.ir.node import walk
from tmigrate.tilelang.passes.hoist import hoist

_DEEP = 20_000  # Python frames: clang bounds the depth of its own tree


def convert_source(path: Path, options: FrontEndOptions | None = None) -> FrontEndResult:
    """Convert every kernel of a CUDA file, and what the kernels call, to thread-level IR.

    Never raises for what the file contains: clang's errors stand in the result's diagnostics, and then no
    kernel is converted; what cannot be converted in a kernel stands in that kernel's record.
    """
    chosen = options or FrontEndOptions()
    parsed = parse(path, chosen)
    if parsed.unit is None:
        return FrontEndResult(
            Module(path.stem, source=path.name), diagnostics=parsed.diagnostics, flags=parsed.flags
        )
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _DEEP))
    try:
        found = find_kernels(parsed)
        if parsed.diagnostics:
            return _broken(path, parsed, found)
        return _convert_all(path, parsed, found, chosen)
    finally:
        sys.setrecursionlimit(limit)


def _broken(path: Path, parsed: ParsedFile, found: Found) -> FrontEndResult:
    """A file with errors: its kernels are listed as refused, none is converted."""
    first = parsed.diagnostics[0]
    records = []
    for cursor in found.definitions:
        reason = Diagnostic(
            first.code, f"the file does not parse: {first.message}", first.location, remedy=first.remedy
        )
        records.append(_record(cursor, str(cursor.spelling), "", [reason]))
    module = Module(path.stem, source=path.name)
    return FrontEndResult(module, records, parsed.diagnostics, parsed.flags)


def _convert_all(path: Path, parsed: ParsedFile, found: Found, options: FrontEndOptions) -> FrontEndResult:
    module = ModuleContext(parsed, options.defines)
    module.captured = found.captured
    module.types.captures = {key: [c.spelling for c in names] for key, names in found.captured.items()}
    records: list[KernelRecord] = []
    for definition in found.definitions:
        for instance in _instances(definition, found):
            records.append(_convert_kernel(module, instance, found))
        if definition.kind == CursorKind.FUNCTION_TEMPLATE and not _instances(definition, found):
            records.append(_never_instantiated(definition))
    result = FrontEndResult(_module(path, module), records, [], parsed.flags)
    return result


def _instances(definition: Cursor, found: Found) -> list[Cursor]:
    """A plain kernel itself, or the instances of a template that host code names."""
    if definition.kind != CursorKind.FUNCTION_TEMPLATE:
        return [definition]
    place = definition.location
    return [
        c
        for c in found.instances.values()
        if c.location == place
        or (c.location.offset == place.offset and str(c.location.file) == str(place.file))
    ]


def _convert_kernel(module: ModuleContext, cursor: Cursor, found: Found) -> KernelRecord:
    made = kernel_function(module, cursor)
    record = _record(cursor, made.name, str(cursor.mangled_name), made.diagnostics)
    record.launches = found.launches.get(canonical_key(cursor), [])
    return record


def _never_instantiated(definition: Cursor) -> KernelRecord:
    name = str(definition.spelling)
    message = f"kernel template '{name}' is never launched in this file, so its types are not known"
    reason = Diagnostic(
        "TM1010", message, name_location(definition), remedy=f"name an instance: --instantiate '{name}<...>'"
    )
    return _record(definition, name, "", [reason])


def _record(cursor: Cursor, name: str, symbol: str, diagnostics: list[Diagnostic]) -> KernelRecord:
    lines = cursor.extent.end.line - cursor.extent.start.line + 1
    return KernelRecord(
        name, _qualified(cursor), symbol, name_location(cursor), diagnostics, source_lines=lines
    )


def _qualified(cursor: Cursor) -> str:
    parts = [str(cursor.spelling)]
    parent = cursor.semantic_parent
    while parent is not None and parent.kind != CursorKind.TRANSLATION_UNIT:
        if parent.spelling:
            parts.append(str(parent.spelling))
        parent = parent.semantic_parent
    return "::".join(reversed(parts))


def _module(path: Path, module: ModuleContext) -> Module:
    """What converted, without functions, structs and constants that no kernel needs."""
    converted = [m for m in module.order if m.function is not None]
    needed = _needed(converted)
    functions = tuple(m.function for m in converted if m.name in needed and m.function is not None)
    used = _used_names(functions)
    whole = Module(
        path.stem,
        functions,
        tuple(c for c in module.constants.values() if c.name in used),
        tuple(module.types.structs.values()),
        tuple(v for v in module.variables.values() if v.name in used),
        source=path.name,
    )
    return hoist(separate_names(whole))


def _needed(converted: list[Converted]) -> set[str]:
    """Kernels and the functions that they call, directly or not."""
    callees = {m.name: m.callees for m in converted}
    work = [m.name for m in converted if m.function is not None and m.function.symbol]
    needed: set[str] = set()
    while work:
        name = work.pop()
        if name not in needed:
            needed.add(name)
            work += callees.get(name, ())
    return needed


def _used_names(functions: tuple[Function, ...]) -> set[str]:
    from tmigrate.tilelang.ir.expressions import NamedConst, Var

    return {n.name for f in functions for n in walk(f.body) if isinstance(n, NamedConst | Var)}
