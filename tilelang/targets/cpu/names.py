"""C identifiers and C types.

Every name of the program gets a prefix (`v_` variables, `f_` functions, `s_` structs, `m_` members), so that
none meets a keyword, a macro or a function of C's library.
"""

from __future__ import annotations

import re

from tmigrate.tilelang.ir.expressions import Var
from tmigrate.tilelang.ir.types import (
    ArrayType,
    PointerType,
    ScalarType,
    StructType,
    TensorType,
    Type,
    VoidType,
    is_float,
)

_SCALARS = {
    "b1": "bool", "i8": "int8_t", "i16": "int16_t", "i32": "int32_t", "i64": "int64_t",
    "u8": "uint8_t", "u16": "uint16_t", "u32": "uint32_t", "u64": "uint64_t",
    "f16": "tm_f16", "bf16": "tm_bf16", "f32": "float", "f64": "double",
}  # fmt: skip


def identifier(prefix: str, name: str) -> str:
    """`prefix` and the name, other characters than C's written as `_hex_`; distinct names stay distinct.

    >>> identifier("v_", "x"), identifier("f_", "add<int>")
    ('v_x', 'f_add_3c_int_3e_')
    """
    return prefix + re.sub(r"[^A-Za-z0-9_]", lambda m: f"_{ord(m.group(0)):x}_", name.replace(".", "__"))


def variable_name(var: Var) -> str:
    """The C name of a variable."""
    return identifier("v_", var.name)


def kernel_symbol(name: str) -> str:
    """The symbol that a kernel's object exports."""
    return identifier("tm_kernel_", name)


def c_type(t: Type) -> str:
    """The C type of a value of type `t` (arrays and tensors: of a pointer to their elements)."""
    if isinstance(t, ScalarType):
        return _SCALARS[t.name]
    if isinstance(t, VoidType):
        return "void"
    if isinstance(t, PointerType):
        pointee = t.pointee
        while isinstance(pointee, ArrayType):
            pointee = pointee.element
        return f"{c_type(pointee)} *"
    if isinstance(t, StructType):
        return f"struct {identifier('s_', t.name)}"
    if isinstance(t, ArrayType | TensorType):
        return f"{c_type(t.element)} *"
    raise TypeError(f"{t} has no C type")


def register_type(t: Type, shadow: bool) -> str:
    """The C type of a variable that lives in no memory: floats are shadows in shadow execution."""
    return "tm_shadow" if shadow and is_float(t) else c_type(t)


def declaration(t: Type, name: str) -> str:
    """A declarator of storage: `float v_a[4][4]`, `int32_t v_i`.

    >>> from tmigrate.tilelang.ir.types import F32
    >>> declaration(ArrayType(F32, (4, 3)), "v_a")
    'float v_a[4][3]'
    """
    if isinstance(t, ArrayType):
        inner = declaration(t.element, name + "".join(f"[{extent}]" for extent in t.shape))
        return inner
    return f"{spaced(c_type(t))}{name}"


def pointer_to_array(t: ArrayType, name: str) -> tuple[str, str]:
    """The declarator of a pointer that is subscripted like the array, and the type to cast an address to.

    >>> from tmigrate.tilelang.ir.types import F32
    >>> pointer_to_array(ArrayType(F32, (4, 3)), "v_a")
    ('float (*v_a)[3]', 'float (*)[3]')
    """
    element, rest = c_type(t.element), "".join(f"[{extent}]" for extent in t.shape[1:])
    if not rest:
        return f"{spaced(element)}*{name}", f"{spaced(element)}*"
    return f"{spaced(element)}(*{name}){rest}", f"{spaced(element)}(*){rest}"


def row_pointer(t: PointerType, text: str) -> str:
    """A pointer value ready to be counted in its pointees: one to arrays is kept as one to their elements.

    >>> from tmigrate.tilelang.ir.types import F32
    >>> row_pointer(PointerType(ArrayType(F32, (3,))), "v_rows")
    '((float (*)[3])v_rows)'
    """
    return f"(({declaration(t.pointee, '(*)')}){text})" if isinstance(t.pointee, ArrayType) else text


def spaced(text: str) -> str:
    """The type with a blank before a name, none after a star."""
    return text if text.endswith("*") else text + " "
