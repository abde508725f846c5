"""What libclang offers and its Python bindings leave out: operator kinds, constant evaluation, layout.

The bindings of 18.1.1 know no operator of an expression; the shared library does.  Everything here takes
and gives plain Python values, so that no other module calls ctypes.
"""

from __future__ import annotations

import ctypes
from enum import IntEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from clang import cindex

if TYPE_CHECKING:  # the bindings have no annotations

    class _Open(type):
        def __getattr__(cls, name: str) -> Any: ...

    class Cursor(metaclass=_Open):
        """A node of clang's tree."""

        def __getattr__(self, name: str) -> Any: ...

    class CursorKind(metaclass=_Open):
        """What a node is."""

        def __getattr__(self, name: str) -> Any: ...

    class TypeKind(metaclass=_Open):
        """What a type is."""

        def __getattr__(self, name: str) -> Any: ...

else:
    Cursor = cindex.Cursor
    CursorKind = cindex.CursorKind
    TypeKind = cindex.TypeKind


class BinaryKind(IntEnum):
    """`CXBinaryOperatorKind`."""

    PTR_MEM_D, PTR_MEM_I, MUL, DIV, REM, ADD, SUB, SHL, SHR, CMP = range(1, 11)
    LT, GT, LE, GE, EQ, NE, AND, XOR, OR, LAND, LOR = range(11, 22)
    ASSIGN, MUL_ASSIGN, DIV_ASSIGN, REM_ASSIGN, ADD_ASSIGN, SUB_ASSIGN = range(22, 28)
    SHL_ASSIGN, SHR_ASSIGN, AND_ASSIGN, XOR_ASSIGN, OR_ASSIGN, COMMA = range(28, 34)


class UnaryKind(IntEnum):
    """`CXUnaryOperatorKind`."""

    POST_INC, POST_DEC, PRE_INC, PRE_DEC, ADDRESS, DEREF, PLUS, MINUS = range(1, 9)
    NOT, LNOT, REAL, IMAG, EXTENSION, COAWAIT = range(9, 15)


_INT, _FLOAT, _STRING = 1, 2, 4


@lru_cache(maxsize=1)
def _library() -> Any:
    """The shared library with the signatures that the bindings do not declare."""
    lib = cindex.conf.lib
    declared: list[tuple[str, list[Any], Any]] = [
        ("clang_getCursorBinaryOperatorKind", [Cursor], ctypes.c_int),
        ("clang_getCursorUnaryOperatorKind", [Cursor], ctypes.c_int),
        ("clang_Cursor_Evaluate", [Cursor], ctypes.c_void_p),
        ("clang_EvalResult_getKind", [ctypes.c_void_p], ctypes.c_int),
        ("clang_EvalResult_getAsLongLong", [ctypes.c_void_p], ctypes.c_longlong),
        ("clang_EvalResult_isUnsignedInt", [ctypes.c_void_p], ctypes.c_uint),
        ("clang_EvalResult_getAsUnsigned", [ctypes.c_void_p], ctypes.c_ulonglong),
        ("clang_EvalResult_getAsDouble", [ctypes.c_void_p], ctypes.c_double),
        ("clang_EvalResult_getAsStr", [ctypes.c_void_p], ctypes.c_char_p),
        ("clang_EvalResult_dispose", [ctypes.c_void_p], None),
        ("clang_Location_isInSystemHeader", [cindex.SourceLocation], ctypes.c_int),
        ("clang_Cursor_getOffsetOfField", [Cursor], ctypes.c_longlong),
        ("clang_Cursor_isMacroFunctionLike", [Cursor], ctypes.c_uint),
        ("clang_CXXConstructor_isCopyConstructor", [Cursor], ctypes.c_uint),
        ("clang_CXXConstructor_isMoveConstructor", [Cursor], ctypes.c_uint),
        ("clang_CXXConstructor_isDefaultConstructor", [Cursor], ctypes.c_uint),
        ("clang_CXXMethod_isDefaulted", [Cursor], ctypes.c_uint),
        ("clang_Cursor_isNull", [Cursor], ctypes.c_int),
    ]
    for name, arguments, result in declared:
        function = getattr(lib, name)
        function.argtypes, function.restype = arguments, result
    return lib


def binary_kind(cursor: Cursor) -> BinaryKind | None:
    """Which operator a BINARY_OPERATOR or COMPOUND_ASSIGNMENT_OPERATOR is; None where libclang cannot say."""
    value = int(_library().clang_getCursorBinaryOperatorKind(cursor))
    return BinaryKind(value) if 1 <= value <= 33 else None


def unary_kind(cursor: Cursor) -> UnaryKind | None:
    """Which operator a UNARY_OPERATOR is; None where libclang cannot say."""
    value = int(_library().clang_getCursorUnaryOperatorKind(cursor))
    return UnaryKind(value) if 1 <= value <= 14 else None


def evaluate(cursor: Cursor) -> int | float | str | None:
    """The value of a constant expression or of a string literal; None where it is not constant."""
    lib = _library()
    result = lib.clang_Cursor_Evaluate(cursor)
    if not result:
        return None
    try:
        kind = lib.clang_EvalResult_getKind(result)
        if kind == _INT:
            if lib.clang_EvalResult_isUnsignedInt(result):
                return int(lib.clang_EvalResult_getAsUnsigned(result))
            return int(lib.clang_EvalResult_getAsLongLong(result))
        if kind == _FLOAT:
            return float(lib.clang_EvalResult_getAsDouble(result))
        if kind == _STRING:
            text = lib.clang_EvalResult_getAsStr(result)
            return bytes(text).decode("utf-8", "surrogateescape") if text is not None else None
        return None
    finally:
        lib.clang_EvalResult_dispose(result)


def key_of(cursor: Cursor) -> int:
    """An identity for a declaration: the address of clang's own node."""
    return int(cursor.data[0] or 0)


def canonical_key(cursor: Cursor) -> int:
    """The same for all redeclarations of a function, variable or class."""
    return key_of(cursor.canonical)


def in_system_header(cursor: Cursor) -> bool:
    """Whether a declaration comes from a header found by ``-isystem`` (the compiler's or ours)."""
    return bool(_library().clang_Location_isInSystemHeader(cursor.location))


def field_offset_bits(cursor: Cursor) -> int:
    """The offset of a FIELD_DECL in its class, in bits; negative where unknown."""
    return int(_library().clang_Cursor_getOffsetOfField(cursor))


def is_function_like(macro: Cursor) -> bool:
    """Whether a MACRO_DEFINITION takes arguments."""
    return bool(_library().clang_Cursor_isMacroFunctionLike(macro))


def is_copy_or_move(constructor: Cursor) -> bool:
    """Whether a CONSTRUCTOR copies or moves its own type."""
    lib = _library()
    return bool(
        lib.clang_CXXConstructor_isCopyConstructor(constructor)
        or lib.clang_CXXConstructor_isMoveConstructor(constructor)
    )


def is_default_constructor(constructor: Cursor) -> bool:
    """Whether a CONSTRUCTOR can be called without arguments."""
    return bool(_library().clang_CXXConstructor_isDefaultConstructor(constructor))


def is_defaulted(method: Cursor) -> bool:
    """Whether a method was declared ``= default``."""
    return bool(_library().clang_CXXMethod_isDefaulted(method))


def is_null(cursor: Cursor | None) -> bool:
    """Whether there is no such cursor."""
    return cursor is None or bool(_library().clang_Cursor_isNull(cursor))


def children_of(cursor: Cursor) -> list[Cursor]:
    """The cursors directly inside, in the order that libclang visits them."""
    return list(cursor.get_children())
