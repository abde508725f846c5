"""Lexical reading of declarations: scopes, statements, declarators and parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tmigrate.oracle.tokens import Token, match_angles, match_backward, match_forward

VARIABLE_MARKERS = {"__tm_managed__": "managed", "__tm_constant__": "constant", "__tm_device__": "device"}
MARKERS = {"__tm_global__", "__tm_shared__", *VARIABLE_MARKERS}

_QUALIFIERS = {
    "const",
    "volatile",
    "__restrict__",
    "__restrict",
    "restrict",
    "struct",
    "class",
    "enum",
    "union",
}
_QUALIFIERS |= {"typename", "register", *MARKERS}
_TYPES = {"void", "bool", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "auto"}
_TYPES |= {"wchar_t", "char16_t", "char32_t", "__int128"}
_ATTRIBUTES = {"__attribute__", "__attribute", "alignas", "__declspec"}
_FUNCTION_TAILS = {"const", "noexcept", "override", "final", "mutable", "volatile", "try"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """A kernel's parameter: its name (made up where it has none), and its declaration without a default.

    ``name_index`` is its name's token, -1 where it has none.  ``constant``: the tokens ``const`` of a value,
    as in ``const unsigned int n``.
    """

    name: str
    declaration: str
    pack: bool
    invented: bool
    type_end: int
    name_index: int
    constant: tuple[int, ...]

    @property
    def entry_name(self) -> str:
        """What the kernel's entry calls it: a constant is initialised again each time that a body begins."""
        return f"tm_{self.name}" if self.constant else self.name


@dataclass(frozen=True, slots=True)
class Declarator:
    """A declared variable: its name, where the name stands, and the index one past its last token."""

    name: str
    name_index: int
    end: int


def scopes(tokens: Sequence[Token]) -> list[str]:
    """For each token, what the innermost open brace belongs to: ``namespace``, ``class`` or ``block``."""
    result: list[str] = []
    stack = ["namespace"]
    for index, token in enumerate(tokens):
        if token.kind == "mark" and token.text == "}" and len(stack) > 1:
            stack.pop()
        result.append(stack[-1])
        if token.kind == "mark" and token.text == "{":
            stack.append(_brace_kind(tokens, index))
    return result


def _brace_kind(tokens: Sequence[Token], index: int) -> str:
    if (
        index == 0
        or tokens[index - 1].text in (")", "=", ",", "(")
        or tokens[index - 1].text in _FUNCTION_TAILS
    ):
        return "block"
    head = tokens[statement_start(tokens, index) : index]
    words: list[str] = []
    position = 0
    while position < len(head):
        if head[position].text == "template" and position + 1 < len(head) and head[position + 1].text == "<":
            position = max(match_angles(head, position + 1), position + 1)
        else:
            words.append(head[position].text)
        position += 1
    if "namespace" in words or (words[:1] == ["extern"] and len(words) == 2):
        return "namespace"
    if "(" in words and not _ATTRIBUTES & set(words):
        return "block"
    return "class" if {"class", "struct", "union"} & set(words) else "block"


def statement_start(tokens: Sequence[Token], index: int) -> int:
    """The first token of the declaration around ``index``; labels and closed blocks end the one before."""
    position = index - 1
    while position >= 0:
        token = tokens[position]
        if token.kind == "mark":
            if token.text in (";", "{", "}"):
                break
            if (
                token.text == ":"
                and position > 0
                and tokens[position - 1].text in ("public", "private", "protected")
            ):
                break
            if token.text in (")", "]"):
                position = match_backward(tokens, position)
                if position < 0:
                    return 0
        position -= 1
    return position + 1


def statement_end(tokens: Sequence[Token], index: int) -> int:
    """The index of the ``;`` that ends the declaration around ``index``; -1 where there is none."""
    position = index
    while position < len(tokens):
        token = tokens[position]
        if token.kind == "mark":
            if token.text == ";":
                return position
            if token.text in ("(", "[", "{"):
                position = match_forward(tokens, position)
                if position < 0:
                    return -1
            elif token.text in (")", "]", "}"):
                return -1
        position += 1
    return -1


def parameter_list(tokens: Sequence[Token], index: int) -> int:
    """The index of the ``(`` of the function declared around ``index``; -1 where none follows."""
    position = index + 1
    while position < len(tokens):
        token = tokens[position]
        if token.text in _ATTRIBUTES or token.text == "decltype":
            position = match_forward(tokens, position + 1)
            if position < 0:
                return -1
        elif token.text == "<":
            position = match_angles(tokens, position)
            if position < 0:
                return -1
        elif token.text == "(" and token.kind == "mark":
            return position
        elif token.kind == "mark" and token.text in (";", "{", "}", "="):
            return -1
        position += 1
    return -1


def is_function(tokens: Sequence[Token], start: int, index: int) -> bool:
    """Whether the declaration with a marker at ``index`` is a function (or lambda), not a variable."""
    position = index + 1
    while position < len(tokens):
        token = tokens[position]
        if token.text == "operator" and token.kind == "name":
            return True
        if token.text in _ATTRIBUTES or token.text == "decltype":
            position = match_forward(tokens, position + 1)
            if position < 0:
                return True
        elif token.kind == "mark":
            if token.text == "(":
                return True
            if token.text in ("=", ";", "[", ","):
                return False
            if token.text == "{":
                # `__device__ struct S { ... } s;` and `__device__ int x{3};` are variables.
                return False
            if token.text == "<":
                position = match_angles(tokens, position)
                if position < 0:
                    return True
            elif token.text in (")", "}", "]"):
                return True
        position += 1
    return True


def declarators(tokens: Sequence[Token], start: int, end: int) -> Iterator[Declarator]:
    """The variables that ``tokens[start:end]`` declares; ``end`` is its ``;``."""
    name = -1
    settled = False  # the declarator's name is known: an array bound or initialiser has begun
    position = start
    while position <= end:
        token = tokens[position]
        if token.text in _ATTRIBUTES or token.text == "decltype":
            position = match_forward(tokens, position + 1)
        elif token.kind == "name" and not settled:
            name = position if token.text not in _QUALIFIERS | _TYPES else name
        elif token.kind == "mark":
            if token.text in (",", ";"):
                if name >= 0:
                    yield Declarator(tokens[name].text, name, position)
                name, settled = -1, False
            elif token.text == "=":
                settled = True
            elif token.text == "<" and not settled:
                position = max(match_angles(tokens, position), position)
                name = -1
            elif token.text in ("(", "[", "{"):
                closing = match_forward(tokens, position)
                if token.text == "(" and not settled and name < 0:
                    inner = [i for i in range(position, closing) if tokens[i].kind == "name"]
                    name = inner[-1] if inner else name
                settled = (
                    settled
                    or token.text == "["
                    or (token.text == "{" and not _is_type_body(tokens, start, position))
                )
                position = closing
        if position < 0:
            return
        position += 1


def _is_type_body(tokens: Sequence[Token], start: int, brace: int) -> bool:
    """Whether the brace opens the body of a struct or union that the declaration defines in place."""
    words = [token.text for token in tokens[start:brace]]
    return bool({"struct", "union", "class", "enum"} & set(words))


def parameters(tokens: Sequence[Token], opening: int, closing: int, text: str) -> list[Parameter]:
    """The parameters between the parentheses at ``opening`` and ``closing``."""
    result: list[Parameter] = []
    for first, last in _split(tokens, opening + 1, closing):
        stop = _default(tokens, first, last)
        if stop == first or (stop - first == 1 and tokens[first].text == "void"):
            continue
        result.append(_parameter(tokens, first, stop, len(result)))
    return result


def _split(tokens: Sequence[Token], first: int, closing: int) -> Iterator[tuple[int, int]]:
    """Stretches between commas outside brackets and template arguments."""
    position = begin = first
    in_default = False
    while position < closing:
        token = tokens[position]
        if token.kind == "mark":
            if token.text in ("(", "[", "{"):
                position = match_forward(tokens, position)
            elif token.text == "<" and not in_default:
                found = match_angles(tokens, position)
                position = found if 0 <= found < closing else position
            elif token.text == "=":
                in_default = True
            elif token.text == ",":
                yield begin, position
                begin, in_default = position + 1, False
        position += 1
    if begin < closing:
        yield begin, closing


def _default(tokens: Sequence[Token], first: int, last: int) -> int:
    """The index of the parameter's ``=``, or ``last``."""
    position = first
    while position < last:
        token = tokens[position]
        if token.kind == "mark":
            if token.text == "=":
                return position
            if token.text == "<":
                position = max(match_angles(tokens, position), position)
            elif token.text in ("(", "[", "{"):
                position = match_forward(tokens, position)
        position += 1
    return last


def _parameter(tokens: Sequence[Token], first: int, stop: int, number: int) -> Parameter:
    """Find the name: the last that a type stands before; ``unsigned``, ``Foo`` and ``ns::Foo`` have none."""
    name = -1
    types = 0
    pack = False
    position = first
    while position < stop:
        token = tokens[position]
        if token.text in _ATTRIBUTES or token.text == "decltype":
            types += token.text == "decltype"
            position = match_forward(tokens, position + 1)
        elif token.text == "...":
            pack = True
        elif token.text == "<":
            position = max(match_angles(tokens, position), position)
        elif token.text == "(":
            inner = [i for i in range(position, match_forward(tokens, position)) if tokens[i].kind == "name"]
            name = inner[-1] if inner and types else name
            break
        elif token.text == "[":
            break
        elif token.kind == "name" and token.text not in _QUALIFIERS:
            qualified = position > first and tokens[position - 1].text == "::"
            if token.text in _TYPES or types == 0 or qualified:
                types += 1
            else:
                name = position
        position += 1
    invented = name < 0
    spelled = f"tm_unnamed_{number}" if invented else tokens[name].text
    declaration = " ".join(token.text for token in tokens[first:stop])
    constant = () if pack or invented else _constant(tokens, first, stop)
    return Parameter(spelled, declaration, pack, invented, tokens[stop - 1].end, name, constant)


def _constant(tokens: Sequence[Token], first: int, stop: int) -> tuple[int, ...]:
    """The tokens ``const`` of a value: ``const int n``, ``Shape<int> const s``, but not ``const int *p``."""
    found = []
    position = first
    while position < stop:
        text = tokens[position].text
        if text in ("*", "&", "&&", "[", "("):
            return ()
        if text == "<":
            position = max(match_angles(tokens, position), position)
        elif text == "const":
            found.append(position)
        position += 1
    return tuple(found)
