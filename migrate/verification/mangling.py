"""From mangled names to names that C++ source can use."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from functools import lru_cache
from typing import cast

_LIBRARIES = (None, "libstdc++.so.6", "libc++abi.so.1", "libc++abi.dylib", "libstdc++.6.dylib")


def demangle(symbol: str) -> str | None:
    """The declaration that a mangled name stands for; None where it is none, or nothing can tell.

    >>> demangle("_Z5scaleIfLi4EEvPT_i")                                # doctest: +SKIP
    'void scale<float, 4>(float*, int)'
    """
    function = _demangler()
    if function is None or not symbol.startswith("_Z"):
        return None
    status = ctypes.c_int(-1)
    address = function(symbol.encode(), None, None, ctypes.byref(status))
    if not address or status.value:
        return None
    text = ctypes.string_at(address).decode()
    ctypes.CDLL(None).free(ctypes.c_void_p(address))
    return text


@lru_cache(maxsize=1)
def _demangler() -> Callable[..., int | None] | None:
    for name in _LIBRARIES:
        try:
            function = ctypes.CDLL(name).__cxa_demangle
        except (OSError, AttributeError):
            continue
        function.restype = ctypes.c_void_p
        function.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int)]
        return cast("Callable[..., int | None]", function)
    return None


def source_name(symbol: str, definition: str) -> str | None:
    """How C++ source names the function or variable of a symbol; None for what it cannot name (lambdas).

    `definition` is its qualified name without template arguments, which serves where nothing demangles.
    """
    text = demangle(symbol)
    if text is None:
        return definition or symbol or None
    name = _without_parameters(text.replace("(anonymous namespace)::", "")).removeprefix("void ")
    return None if "{lambda" in name or "'" in name else name


def same_kernel(one: str, other: str) -> bool:
    """Whether two mangled names are one kernel's, as clang and as gcc write it.

    Compilers disagree on the L of internal linkage in templates' names.

    >>> same_kernel("_ZL1kILi3EEvPi", "_Z1kILi3EEvPi")
    True
    """
    return one == other or _without_linkage(one) == _without_linkage(other)


def _without_linkage(symbol: str) -> str:
    """Identifiers and literals are copied whole: `7counterL`, `Li3E`."""
    kept, at = "", 0
    while at < len(symbol):
        identifier = re.match(r"\d+", symbol[at:])
        if identifier:
            end = at + len(identifier[0]) + int(identifier[0])
        elif literal := re.match(r"L[a-z][^E]*E", symbol[at:]):
            end = at + len(literal[0])
        else:
            end = at + 1
        kept += "" if re.match(r"L\d", symbol[at:]) else symbol[at:end]
        at = end
    return kept


def parameter_types(symbol: str) -> str | None:
    """`(float*, int)`: the parameters of a mangled function."""
    text = (demangle(symbol) or "").replace("(anonymous namespace)::", "")
    head = _without_parameters(text)
    return text[len(head) :] or None


def _without_parameters(text: str) -> str:
    """What stands before the first parenthesis outside template arguments."""
    depth = 0
    for position, character in enumerate(text):
        depth += {"<": 1, ">": -1}.get(character, 0)
        if character == "(" and depth == 0:
            return text[:position]
    return text
