"""C definitions of struct types with exactly the layout that the module declares."""

from __future__ import annotations

from collections.abc import Iterable

from tmigrate.tilelang.ir.expressions import Expr
from tmigrate.tilelang.ir.module import Module
from tmigrate.tilelang.ir.node import FieldKind, field_kinds, walk
from tmigrate.tilelang.ir.structs import BUILTIN_STRUCTS, Structs, alignment_of, size_of
from tmigrate.tilelang.ir.types import (
    SCALARS,
    ArrayType,
    PointerType,
    StructDefinition,
    StructType,
    TensorType,
    Type,
    is_float,
)
from tmigrate.tilelang.targets.cpu.names import c_type, declaration, identifier


def used_structs(module: Module) -> list[StructDefinition]:
    """The definitions that the module's code mentions, members before the structs that hold them."""
    table: dict[str, StructDefinition] = {**BUILTIN_STRUCTS, **module.struct_table}
    ordered: dict[str, StructDefinition] = {}

    def visit(name: str) -> None:
        if name in ordered or name not in table:
            return
        for member in table[name].fields:
            for inner in _by_value(member.type):
                visit(inner)
        ordered[name] = table[name]

    for name in _mentioned(module, table):
        visit(name)
    return list(ordered.values())


def _by_value(t: Type) -> Iterable[str]:
    if isinstance(t, StructType):
        yield t.name
    elif isinstance(t, ArrayType):
        yield from _by_value(t.element)


def _named(t: Type) -> Iterable[str]:
    if isinstance(t, PointerType):
        yield from _named(t.pointee)
    elif isinstance(t, ArrayType | TensorType):
        yield from _named(t.element)
    else:
        yield from _by_value(t)


def _mentioned(module: Module, table: Structs) -> list[str]:
    found: dict[str, None] = {}

    def add(t: Type) -> None:
        for name in _named(t):
            if name not in found:
                found[name] = None
                for member in table[name].fields if name in table else ():
                    add(member.type)

    for variable in module.variables:
        add(variable.type)
    for function in module.functions:
        add(function.result)
        for parameter in function.parameters:
            add(parameter.type)
        for it in walk(function.body):
            for name, kind in field_kinds(type(it)):
                value = getattr(it, name)
                if kind is FieldKind.BINDING:
                    add(value.type)
                elif kind is FieldKind.ATTRIBUTE and isinstance(value, Type):
                    add(value)
            if isinstance(it, Expr) and not isinstance(it, StructType):
                add(getattr(it, "type"))  # noqa: B009 - a field or a property, by class
    return list(found)


def define_structs(definitions: list[StructDefinition], structs: Structs) -> list[str]:
    """C lines: forward declarations, then definitions with padding members and layout checks."""
    lines = [f"struct {identifier('s_', s.name)};" for s in definitions]
    for definition in definitions:
        lines += _define(definition, structs)
    return lines


def _define(definition: StructDefinition, structs: Structs) -> list[str]:
    name = identifier("s_", definition.name)
    lines, place, packed, checks = [f"struct {name} {{"], 0, False, []
    for member in definition.fields:
        alignment = alignment_of(member.type, structs)
        natural = -(-place // alignment) * alignment
        if natural > member.offset:
            packed = True
        elif natural < member.offset:
            lines.append(f"  char pad_{place}[{member.offset - place}];")
        member_name = identifier("m_", member.name)
        lines.append(f"  {declaration(member.type, member_name)};")
        checks.append(f"offsetof(struct {name}, {member_name}) == {member.offset}")
        place = member.offset + size_of(member.type, structs)
    if not definition.fields:
        lines.append(f"  char pad_0[{definition.size}];")
    attributes = f"aligned({definition.alignment})" + (", packed" if packed else "")
    lines.append(f"}} __attribute__(({attributes}));")
    checks.append(f"sizeof(struct {name}) == {definition.size}")
    return lines + [f'_Static_assert({check}, "layout of {definition.name}");' for check in checks]


def define_copies(definitions: list[StructDefinition], structs: Structs) -> list[str]:
    """C functions for shadow execution: a ring of values that no variable holds, and a copy with shadows.

    Shadows are read before the bytes are written, since the two may overlap.
    """
    lines = []
    for definition in definitions:
        name = identifier("s_", definition.name)
        lines.append(f"TM_SLOTS({name})")
        parameters = f"struct {name} *to, const struct {name} *from"
        lines.append(f"static __attribute__((unused)) void tm_copy_{name}({parameters}) {{")
        leaves = float_leaves(definition.type, structs)
        lines.append("  if (to == from) return;")
        lines += [
            f"  tm_shadow leaf_{number} = tms_load_{t}((const void *)((const char *)from + {offset}));"
            for number, (offset, t) in enumerate(leaves)
        ]
        lines.append("  __builtin_memmove(to, from, sizeof *to);")
        lines += [
            f"  tm_record((char *)to + {offset}, {SCALARS[t].bytes}, &leaf_{number});"
            for number, (offset, t) in enumerate(leaves)
        ]
        lines.append("}")
    return lines


def float_leaves(t: Type, structs: Structs, offset: int = 0) -> list[tuple[int, str]]:
    """Byte offset and scalar name of every float inside a value of type `t`.

    >>> float_leaves(StructType("float2"), {})
    [(0, 'f32'), (4, 'f32')]
    """
    if is_float(t):
        return [(offset, str(t))]
    if isinstance(t, ArrayType):
        step = size_of(t.element, structs)
        return [leaf for i in range(t.count) for leaf in float_leaves(t.element, structs, offset + i * step)]
    if isinstance(t, StructType):
        definition = structs.get(t.name) or BUILTIN_STRUCTS[t.name]
        return [leaf for m in definition.fields for leaf in float_leaves(m.type, structs, offset + m.offset)]
    return []


__all__ = ["c_type", "define_structs", "float_leaves", "used_structs"]
