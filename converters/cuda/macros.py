"""Macros that stand for one constant: `#define NI 512` becomes the module constant `NI`.

Clang's tree shows the literal 512 at the place where the source says NI.  The rule: the whole expression
stands for one name in the text, the name is an object-like macro, and its body is one literal, perhaps in
parentheses or negative, or another such macro (whose name is then taken)::

    #define NI 512          ->  NI = i32(512)
    #define _PB_NI NI       ->  NI
    #define TWICE (2 * NI)  ->  TWICE = i32(1024)
    #define BAD 2 + 3       ->  no constant: `BAD * 4` is not 5 * 4
"""

from __future__ import annotations

import re

from tmigrate.converters.cuda.bindings import Cursor, CursorKind, is_function_like
from tmigrate.converters.cuda.parsing import ParsedFile

_NAME = re.compile(rb"[A-Za-z_]\w*")
_LITERAL = re.compile(r"(\d|\.\d)[\w.']*([eEpP][+-]?[\w.]+)?|'.*'", re.DOTALL)
_TOKEN = re.compile(r"\s+|[A-Za-z_]\w*|(?:\d|\.\d)(?:[eEpP][+-]|[\w.'])*|'(?:[^'\\]|\\.)*'|.", re.DOTALL)


class MacroTable:
    """The object-like macros of a translation unit, by name; bodies as tokens."""

    def __init__(self, parsed: ParsedFile, defines: tuple[str, ...]) -> None:
        self._parsed = parsed
        self._defines = dict(_command_line(d) for d in defines)
        self._definitions: dict[str, list[Cursor]] | None = None
        self._bodies: dict[str, list[str] | None] = {}

    def constant_name(self, cursor: Cursor) -> str | None:
        """The macro that an expression stands for as a whole, or None."""
        extent = cursor.extent
        start, end = extent.start, extent.end
        if start.file is None:
            return None
        match = _NAME.match(self._parsed.text_of(start.file.name), start.offset)
        if match is None or end.offset != match.end():
            return None
        return self._resolve(match.group().decode(), cursor.kind)

    def _resolve(self, name: str, kind: CursorKind) -> str | None:
        for _ in range(20):  # a chain of macros that name each other
            body = self._body(name)
            if not body:
                return None
            if len(body) == 1 and body[0][0].isidentifier():
                name = body[0]
                continue
            return name if _stands_alone(body, kind) else None
        return None

    def _body(self, name: str) -> list[str] | None:
        if name not in self._bodies:
            self._bodies[name] = self._find_body(name)
        return self._bodies[name]

    def _find_body(self, name: str) -> list[str] | None:
        if name in self._defines:
            return self._defines[name]
        found = self._all().get(name, [])
        bodies = {tuple(t.spelling for t in list(m.get_tokens())[1:]) for m in found}
        if len(bodies) != 1 or any(is_function_like(m) for m in found):
            return None
        return list(next(iter(bodies)))

    def _all(self) -> dict[str, list[Cursor]]:
        if self._definitions is None:
            self._definitions = {}
            assert self._parsed.unit is not None
            for cursor in self._parsed.unit.cursor.get_children():
                if cursor.kind == CursorKind.MACRO_DEFINITION:
                    self._definitions.setdefault(cursor.spelling, []).append(cursor)
        return self._definitions


def _command_line(define: str) -> tuple[str, list[str]]:
    name, _, body = define.partition("=")
    tokens = [t for t in _TOKEN.findall(body or "1") if not t.isspace()]
    return name, tokens


def _stands_alone(body: list[str], kind: CursorKind) -> bool:
    """Whether a macro's body parses as one operand wherever it is used, and `kind` is its outermost node."""
    if len(body) == 1:
        literal = (CursorKind.INTEGER_LITERAL, CursorKind.FLOATING_LITERAL, CursorKind.CHARACTER_LITERAL)
        return kind in literal and _LITERAL.fullmatch(body[0]) is not None
    if len(body) == 2 and body[0] == "-":
        return kind == CursorKind.UNARY_OPERATOR and _LITERAL.fullmatch(body[1]) is not None
    return kind == CursorKind.PAREN_EXPR and _is_parenthesised(body)


def _is_parenthesised(body: list[str]) -> bool:
    depth = 0
    for position, token in enumerate(body):
        depth += (token == "(") - (token == ")")
        if depth == 0:
            return position == len(body) - 1 and body[0] == "("
    return False
