"""What a lambda captures, which libclang shows only in part.

A closure's members stand in the order of its captures: those that the brackets name, then those that the
body uses first.  libclang names the former; the latter are read off the body.  The members' types must
agree, else the lambda is refused where it is used.
"""

from __future__ import annotations

from tmigrate.converters.cuda.bindings import (
    Cursor,
    CursorKind,
    children_of,
    evaluate,
    is_null,
    key_of,
)
from tmigrate.converters.cuda.types import canonical

_BODIES = (
    CursorKind.FUNCTION_DECL,
    CursorKind.CXX_METHOD,
    CursorKind.CONSTRUCTOR,
    CursorKind.FUNCTION_TEMPLATE,
    CursorKind.CONVERSION_FUNCTION,
)


def captures_of(cursor: Cursor) -> list[Cursor] | None:
    """The captured variables of a LAMBDA_EXPR in the order of the closure's members; None where unclear."""
    named, used = _named_and_used(cursor)
    fields = list(canonical(cursor.type).get_fields())
    known = {key_of(v) for v in named}
    implicit = [v for v in used if key_of(v) not in known]
    if len(named) + len(implicit) != len(fields):  # constants that are not captured at all
        implicit = [v for v in implicit if not _is_constant(v)]
    found = [*named, *implicit]
    if len(found) != len(fields):
        return None
    agree = all(_agrees(v, field) for v, field in zip(found, fields, strict=True))
    return found if agree else None


def _named_and_used(cursor: Cursor) -> tuple[list[Cursor], list[Cursor]]:
    named: list[Cursor] = []
    used: dict[int, Cursor] = {}
    inside = cursor.extent
    for child in children_of(cursor):
        if child.kind == CursorKind.VARIABLE_REF and not is_null(child.referenced):
            named.append(child.referenced)
        if child.kind != CursorKind.COMPOUND_STMT:
            continue
        stack = [child]
        while stack:
            it = stack.pop()
            target = it.referenced if it.kind == CursorKind.DECL_REF_EXPR else None
            if target is not None and not is_null(target) and _is_outer_local(target, inside):
                used.setdefault(key_of(target), target)
            stack += reversed(children_of(it))
    return named, list(used.values())


def _is_outer_local(target: Cursor, inside: object) -> bool:
    """Whether a variable belongs to a function around the lambda."""
    if target.kind not in (CursorKind.VAR_DECL, CursorKind.PARM_DECL):
        return False
    parent = target.semantic_parent
    if parent is None or parent.kind not in _BODIES:
        return False
    start, end = inside.start, inside.end  # type: ignore[attr-defined]
    place = target.location
    same_file = str(place.file) == str(start.file)
    return not (same_file and start.offset <= place.offset < end.offset)


def _is_constant(variable: Cursor) -> bool:
    return bool(canonical(variable.type).is_const_qualified()) and evaluate(variable) is not None


def _agrees(variable: Cursor, field: Cursor) -> bool:
    held, own = canonical(field.type), canonical(variable.type)
    if held.kind.name.endswith("REFERENCE"):
        held = canonical(held.get_pointee())
    if own.kind.name.endswith("REFERENCE"):
        own = canonical(own.get_pointee())
    return _plain(held.spelling) == _plain(own.spelling)


def _plain(spelling: str) -> str:
    return " ".join(w for w in spelling.replace("*", " * ").split() if w != "const")
