"""Clang's types as types of the IR, and the layout of structs as clang has it."""

from __future__ import annotations

import re
from typing import Any

from tmigrate.converters.cuda.bindings import (
    Cursor,
    CursorKind,
    TypeKind,
    canonical_key,
    children_of,
    field_offset_bits,
    in_system_header,
)
from tmigrate.converters.cuda.refusals import refuse
from tmigrate.tilelang.ir.structs import BUILTIN_STRUCTS
from tmigrate.tilelang.ir.types import (
    B1,
    BF16,
    F16,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    VOID,
    ArrayType,
    PointerType,
    ScalarType,
    StructDefinition,
    StructField,
    StructType,
    Type,
)  # fmt: skip
from tmigrate.tilelang.text.names import is_free, to_python

ClangType = Any  # clang.cindex.Type, which has no annotations

_SCALARS: dict[TypeKind, Type] = {
    TypeKind.VOID: VOID, TypeKind.BOOL: B1,
    TypeKind.CHAR_S: I8, TypeKind.SCHAR: I8, TypeKind.CHAR_U: U8, TypeKind.UCHAR: U8,
    TypeKind.SHORT: I16, TypeKind.USHORT: U16, TypeKind.INT: I32, TypeKind.UINT: U32,
    TypeKind.LONG: I64, TypeKind.ULONG: U64, TypeKind.LONGLONG: I64, TypeKind.ULONGLONG: U64,
    TypeKind.FLOAT: F32, TypeKind.DOUBLE: F64,
    TypeKind.CHAR16: U16, TypeKind.CHAR32: U32, TypeKind.WCHAR: I32,
}  # fmt: skip

# Kinds that no library hides behind a typedef (a texture object is an unsigned long long).
_PLAIN = frozenset(_SCALARS) - {TypeKind.ULONGLONG}

# Classes of our headers that are scalars in the IR.
_HALVES: dict[str, Type] = {"__half": F16, "__nv_bfloat16": BF16}

REFERENCES = (TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE)
ARRAYS = (
    TypeKind.CONSTANTARRAY,
    TypeKind.INCOMPLETEARRAY,
    TypeKind.VARIABLEARRAY,
    TypeKind.DEPENDENTSIZEDARRAY,
)

# Types of libraries that have no place in the IR yet, by the start of their names.
_LIBRARY_TYPES: tuple[tuple[str, str, str, str], ...] = (
    ("cooperative_groups", "TM1018", "cooperative groups are not converted yet",
     "use __syncthreads() for a block and *_sync functions with mask 0xffffffff for a warp"),
    ("cub::", "TM1024", "cub is not converted yet", "write the block-wide operation in the kernel itself"),
    ("thrust::", "TM1024", "thrust in device code is not converted yet", "write the operation out"),
    ("nvcuda::wmma", "TM1040", "tensor-core fragments are not converted yet", "use the plain product"),
    ("cudaTextureObject_t", "TM1017", "textures are not converted yet", "read the array through a pointer"),
    ("texture<", "TM1017", "textures are not converted yet", "read the array through a pointer"),
    ("surface<", "TM1017", "surfaces are not converted yet", "write the array through a pointer"),
)  # fmt: skip


def canonical(t: ClangType) -> ClangType:
    """The type without typedefs."""
    return t.get_canonical()


def is_reference(t: ClangType) -> bool:
    """Whether a type is `T&` or `T&&`."""
    return canonical(t).kind in REFERENCES


def refuse_library_type(spelling: str, where: Cursor) -> None:
    """Refuse a type that belongs to a library or hardware unit without a place in the IR."""
    bare = re.sub(r"\b(const|struct|class|volatile)\b\s*", "", spelling).strip()
    for start, code, message, remedy in _LIBRARY_TYPES:
        if bare.startswith(start) and (start[-1] in ":<" or re.match(r"2?(?!\w)", bare[len(start) :])):
            refuse(code, message, where, remedy)


class TypeTable:
    """Types of one module; collects the structs it meets, in order of first use."""

    def __init__(self) -> None:
        self.structs: dict[str, StructDefinition] = {}
        self._names: dict[int, str] = {}
        self.captures: dict[int, list[str]] = {}  # a lambda's class -> its captured variables' names
        self.bases: dict[tuple[str, str], str] = {}  # (struct, base struct) -> the member that holds the base

    def of(self, t: ClangType, where: Cursor) -> Type:
        """The IR type of a value of this type; a reference is a pointer."""
        c = canonical(t)
        if c.kind not in _PLAIN:
            refuse_library_type(t.spelling, where)
        if c.is_volatile_qualified():
            refuse("TM1015", "volatile memory is not converted", where,
                   "drop volatile and separate the accesses by __syncthreads() or atomics")  # fmt: skip
        found = _SCALARS.get(c.kind)
        if found is not None:
            return found
        if c.kind == TypeKind.ENUM:
            return self.of(c.get_declaration().enum_type, where)
        if c.kind == TypeKind.POINTER or c.kind in REFERENCES:
            return self._pointer(c.get_pointee(), where)
        if c.kind in ARRAYS:
            return self._array(c, where)
        if c.kind == TypeKind.RECORD:
            half = _HALVES.get(c.spelling.removeprefix("const ").strip())
            if half is not None and in_system_header(c.get_declaration()):
                return half
            return self.struct(c, where)
        return self._unknown(c, where)

    def _unknown(self, c: ClangType, where: Cursor) -> Type:
        spelling = c.spelling
        if c.kind == TypeKind.HALF or spelling in ("_Float16", "__fp16", "__bf16"):
            refuse("TM1025", "16-bit floats are not converted yet", where, "use float")
        if c.kind in (TypeKind.MEMBERPOINTER, TypeKind.FUNCTIONPROTO, TypeKind.FUNCTIONNOPROTO):
            refuse("TM1021", f"a value of type '{spelling}' points to a function or member", where,
                   "choose with if or switch, or make the function a template argument")  # fmt: skip
        refuse("TM1026", f"type '{spelling}' has no counterpart in the tile IR", where,
               "use a type of at most 64 bits that GPUs have")  # fmt: skip

    def _pointer(self, pointee: ClangType, where: Cursor) -> PointerType:
        c = canonical(pointee)
        if c.kind in (TypeKind.FUNCTIONPROTO, TypeKind.FUNCTIONNOPROTO):
            refuse("TM1021", "function pointers are not converted", where,
                   "choose with if or switch, or make the function a template argument")  # fmt: skip
        return PointerType(self.of(pointee, where))

    def _array(self, c: ClangType, where: Cursor) -> Type:
        if c.kind == TypeKind.INCOMPLETEARRAY:  # a parameter `float x[]`
            return self._pointer(c.element_type, where)
        if c.kind != TypeKind.CONSTANTARRAY:
            refuse("TM1029", "an array's size must be a constant", where, "use a constant upper bound")
        shape: list[int] = []
        while c.kind == TypeKind.CONSTANTARRAY:
            shape.append(int(c.element_count))
            c = canonical(c.element_type)
        element = self.of(c, where)
        return ArrayType(element, tuple(shape))

    # ---- structs -------------------------------------------------------------------------------------

    def struct(self, c: ClangType, where: Cursor) -> StructType:
        """The struct type of a class; its definition enters the table."""
        declaration = c.get_declaration()
        refuse_library_type(c.spelling, where)
        name = c.spelling.rpartition("::")[2]
        if name.removeprefix("const ").strip() in BUILTIN_STRUCTS and in_system_header(declaration):
            return StructType(name.removeprefix("const ").strip())
        key = canonical_key(declaration)
        if key not in self._names:
            self._names[key] = self._free_name(c, declaration)
            self.structs[self._names[key]] = StructDefinition(self._names[key], (), 1, 1)  # for recursion
            try:
                self.structs[self._names[key]] = self._define(self._names[key], c, declaration, where)
            except Exception:
                del self.structs[self._names.pop(key)]
                raise
            self.structs[self._names[key]] = self.structs.pop(self._names[key])  # after what it contains
        return StructType(self._names[key])

    def _free_name(self, c: ClangType, declaration: Cursor) -> str:
        spelling = c.spelling.removeprefix("const ")
        if "lambda at" in spelling or "(unnamed" in spelling or "(anonymous" in spelling:
            place = declaration.location
            kind = "Lambda" if "lambda" in spelling else "Struct"
            spelling = f"{kind}_{place.line}"
        base = identifier(spelling)
        name, n = base, 1
        while name in self.structs or not is_free(name):
            name, n = f"{base}_{n}", n + 1
        return name

    def _define(self, name: str, c: ClangType, declaration: Cursor, where: Cursor) -> StructDefinition:
        if declaration.kind == CursorKind.UNION_DECL:
            refuse("TM1027", f"union '{c.spelling}' is not converted", where,
                   "use __float_as_int and its kin to reinterpret bits")  # fmt: skip
        size, alignment = int(c.get_size()), int(c.get_align())
        if size < 0:
            refuse("TM1026", f"type '{c.spelling}' is incomplete here", where)
        for child in children_of(declaration):
            if child.kind in (CursorKind.UNION_DECL, CursorKind.STRUCT_DECL) and child.is_anonymous():
                refuse(
                    "TM1027",
                    "members of an unnamed struct or union are not converted",
                    child,
                    "give it a name",
                )
        fields = self._bases(name, declaration, where)
        for position, member in enumerate(c.get_fields()):
            fields.append(self._field(declaration, member, position, where))
        _check_no_virtual(declaration, where)
        return StructDefinition(name, tuple(fields), size, alignment)

    def _bases(self, name: str, declaration: Cursor, where: Cursor) -> list[StructField]:
        """A base class as a first member; empty bases take no room."""
        fields: list[StructField] = []
        for base in children_of(declaration):
            if base.kind != CursorKind.CXX_BASE_SPECIFIER:
                continue
            found = self.struct(canonical(base.type), where)
            definition = self.structs.get(found.name) or BUILTIN_STRUCTS[found.name]
            if not definition.fields:
                continue
            if fields:
                refuse("TM1032", "several base classes with members are not converted", where,
                       "make the bases members")  # fmt: skip
            own = next(iter(canonical(declaration.type).get_fields()), None)
            if own is not None and field_offset_bits(own) < 8 * definition.size:
                refuse("TM1032", "a member lies in its base class's padding", where, "make the base a member")
            fields.append(StructField(f"base_{found.name}", found, 0))
            self.bases[(name, found.name)] = f"base_{found.name}"
        return fields

    def _field(self, record: Cursor, member: Cursor, position: int, where: Cursor) -> StructField:
        if member.is_bitfield():
            refuse("TM1028", f"bit-field '{member.spelling}' is not converted", where,
                   "use a whole integer and shift and mask")  # fmt: skip
        name = member.spelling
        captured = self.captures.get(canonical_key(record))
        if not name and captured is not None and position < len(captured):
            name = captured[position]
        if not name:
            refuse("TM1027", "a member without a name is not converted", where, "give it a name")
        return StructField(to_python(name), self.of(member.type, where), field_offset_bits(member) // 8)

    def field_name(self, member: Cursor) -> str:
        """A member's name in the IR."""
        return to_python(member.spelling)


def _check_no_virtual(declaration: Cursor, where: Cursor) -> None:
    for child in children_of(declaration):
        if child.kind in (CursorKind.CXX_METHOD, CursorKind.DESTRUCTOR) and child.is_virtual_method():
            refuse("TM1020", f"class '{declaration.spelling}' has virtual functions", where,
                   "use templates or a switch over a type tag")  # fmt: skip


def identifier(spelling: str) -> str:
    """A C++ name as an identifier: `scale<float, 4>` -> `scale_float_4`, `a::b` -> `a_b`."""
    text = spelling.replace("(anonymous namespace)::", "").replace("(anonymous)::", "")
    text = re.sub(r"\(lambda at [^)]*\)", "lambda", text)
    text = text.replace("unsigned ", "u").replace("-", "minus").replace("*", "Ptr").replace("&", "Ref")
    text = re.sub(r"\b(const|struct|class)\b", "", text)
    text = re.sub(r"\W+", "_", text).strip("_")
    return text if text and not text[0].isdigit() else f"_{text}"


def parameter_type(types: TypeTable, parameter: Cursor) -> Type:
    """The type of a parameter; `float x[2][3]` is a pointer to rows."""
    t = canonical(parameter.type)
    if t.kind == TypeKind.CONSTANTARRAY:
        return PointerType(types.of(t.element_type, parameter))
    return types.of(parameter.type, parameter)


def is_scalar(t: Type) -> bool:
    """Whether a value of the type is one number."""
    return isinstance(t, ScalarType)


def promoted(t: ScalarType) -> ScalarType:
    """Integer promotion: types below int become int."""
    return I32 if t.is_bool or (t.is_integer and t.bits < 32) else t


def usual(left: ScalarType, right: ScalarType) -> ScalarType:
    """C's usual arithmetic conversions of two operand types."""
    if left.is_float or right.is_float:
        floats = [t for t in (left, right) if t.is_float]
        return max(floats, key=lambda t: t.bits)
    a, b = promoted(left), promoted(right)
    if a.bits != b.bits:
        return a if a.bits > b.bits else b
    return a if not a.is_signed else b
