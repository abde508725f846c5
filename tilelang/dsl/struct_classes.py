"""`@tile_struct class S:`, read by the text form's own parser."""

from __future__ import annotations

import sys
from typing import Any

from tmigrate.tilelang.dsl.structs import StructWord
from tmigrate.tilelang.ir.structs import BUILTIN_STRUCTS, alignment_of, size_of
from tmigrate.tilelang.ir.types import StructDefinition, StructField, Type


def read_struct(cls: type, size: int, alignment: int) -> StructWord:
    """The struct that a class of annotations declares; members may be structs of the same file."""
    from tmigrate.tilelang.text.parse_types import parse_type
    from tmigrate.tilelang.text.scope import Scope

    names: dict[str, Any] = vars(sys.modules.get(cls.__module__, object()))
    known = {w.definition.name: w.definition for w in names.values() if isinstance(w, StructWord)}
    scope = Scope(cls.__module__, structs=known, struct_names={*known, cls.__name__})
    fields: list[StructField] = []
    offset, most = 0, 1
    for name, annotation in cls.__annotations__.items():
        t = _annotated(annotation, scope, parse_type)
        wanted = alignment_of(t, {**BUILTIN_STRUCTS, **known})
        offset = getattr(cls, name, -(-offset // wanted) * wanted)
        fields.append(StructField(name, t, offset))
        offset += size_of(t, {**BUILTIN_STRUCTS, **known})
        most = max(most, wanted)
    most = alignment or most
    definition = StructDefinition(
        cls.__name__, tuple(fields), size or max(1, -(-offset // most) * most), most
    )
    return StructWord(definition, {**known, cls.__name__: definition})


def _annotated(annotation: Any, scope: Any, parse: Any) -> Type:
    """The type of an annotation: text (under `from __future__ import annotations`), or a word."""
    import ast

    if isinstance(annotation, str):
        found: Type = parse(ast.parse(annotation, mode="eval").body, scope)
        return found
    return annotation.type  # type: ignore[no-any-return]
