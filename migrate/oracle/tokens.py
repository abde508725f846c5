"""C++ tokens of a preprocessed text, as far as the launch rewriter needs them.

Text that stands in system headers (a line mark with flag 3) is skipped whole: it holds no CUDA.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tmigrate.locations import Location

_TOKEN = re.compile(
    r"""
    (?P<space>[ \t\r\n\f\v]+)
  | (?P<raw>(?:u8|u|U|L)?R"(?P<delimiter>[^()\\\s]{0,16})\(.*?\)(?P=delimiter)")
  | (?P<text>(?:u8|u|U|L)?"(?:[^"\\\n]|\\.)*"|(?:u8|u|U|L)?'(?:[^'\\\n]|\\.)*')
  | (?P<number>\.?[0-9](?:[eEpP][+-]|'?[0-9A-Za-z_.])*)
  | (?P<name>[A-Za-z_$\x80-\U0010ffff][A-Za-z_0-9$\x80-\U0010ffff]*)
  | (?P<mark>::|->|\.\.\.|<<<|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_LINE_MARK = re.compile(
    r'^#(?:line)?[ \t]+(\d+)(?:[ \t]+"((?:[^"\\]|\\.)*)"([ \t\d]*))?[^\n]*\n?', re.MULTILINE
)
_OTHER_DIRECTIVE = re.compile(r"^[ \t]*#[^\n]*\n?", re.MULTILINE)

OPENERS = {"(": ")", "[": "]", "{": "}"}
CLOSERS = {close: open_ for open_, close in OPENERS.items()}


@dataclass(frozen=True, slots=True)
class Token:
    """One token: its kind (``name``, ``number``, ``text``, ``mark``), text and extent in the whole text."""

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class _Piece:
    start: int
    end: int
    file: str
    line: int
    system: bool


class TokenText:
    """A preprocessed text with its tokens outside system headers, and the source place of each offset."""

    def __init__(self, text: str, name: str = "<text>") -> None:
        self.text = text
        self._pieces = list(_pieces(text, name))
        self.tokens: list[Token] = [
            token for piece in self._pieces if not piece.system for token in self._scan(piece)
        ]

    def _scan(self, piece: _Piece) -> Iterator[Token]:
        position = piece.start
        while position < piece.end:
            directive = _OTHER_DIRECTIVE.match(self.text, position, piece.end)
            if directive and (position == 0 or self.text[position - 1] == "\n"):
                position = directive.end()
                continue
            match = _TOKEN.match(self.text, position, piece.end)
            if match is None:
                return
            kind = match.lastgroup or "mark"
            if kind != "space":
                yield Token("text" if kind in ("raw", "delimiter") else kind, match.group(), match.start())
                position = match.end()
            else:
                # A directive (#pragma) can follow a line break inside white space.
                line_break = match.group().rfind("\n")
                position = match.start() + line_break + 1 if line_break >= 0 else match.end()
                if line_break >= 0 and _OTHER_DIRECTIVE.match(self.text, position, piece.end) is None:
                    position = match.end()

    def location(self, offset: int) -> Location:
        """The source file and line of an offset."""
        for piece in self._pieces:
            if piece.start <= offset < piece.end:
                before = self.text[piece.start : offset]
                column = (
                    offset
                    - (self.text.rfind("\n", piece.start, offset) + 1 if "\n" in before else piece.start)
                    + 1
                )
                return Location(piece.file, piece.line + before.count("\n"), column)
        return Location("<text>")


def _pieces(text: str, name: str) -> Iterator[_Piece]:
    """The stretches between line marks.

    A macro of a system header leaves marks with flag 3 in the middle of the user's lines; what counts is
    how a file was entered (flag 1).
    """
    file, line, system, start = name, 1, False, 0
    entered: dict[str, bool] = {}
    for mark in _LINE_MARK.finditer(text):
        if mark.start() > start:
            yield _Piece(start, mark.start(), file, line, system)
        line = int(mark.group(1))
        if mark.group(2) is not None:
            file = mark.group(2)
            flags = (mark.group(3) or "").split()
            if "1" in flags or file not in entered:
                entered[file] = "3" in flags or file.startswith("<")
            system = entered[file]
        start = mark.end()
    if start < len(text):
        yield _Piece(start, len(text), file, line, system)


def match_forward(tokens: Sequence[Token], index: int) -> int:
    """The index of the bracket that closes the one at ``index``; -1 where there is none."""
    depth = 0
    for position in range(index, len(tokens)):
        token = tokens[position]
        if token.kind == "mark":
            if token.text in OPENERS:
                depth += 1
            elif token.text in CLOSERS:
                depth -= 1
                if depth == 0:
                    return position
    return -1


def match_backward(tokens: Sequence[Token], index: int) -> int:
    """The index of the bracket that opens the one closed at ``index``; -1 where there is none."""
    depth = 0
    for position in range(index, -1, -1):
        token = tokens[position]
        if token.kind == "mark":
            if token.text in CLOSERS:
                depth += 1
            elif token.text in OPENERS:
                depth -= 1
                if depth == 0:
                    return position
    return -1


def match_angles(tokens: Sequence[Token], index: int) -> int:
    """The index of the ``>`` that closes the ``<`` at ``index``, brackets skipped; -1 where none."""
    depth = 0
    position = index
    while position < len(tokens):
        token = tokens[position]
        if token.kind == "mark":
            if token.text == "<":
                depth += 1
            elif token.text == ">":
                depth -= 1
                if depth == 0:
                    return position
            elif token.text in OPENERS:
                position = match_forward(tokens, position)
                if position < 0:
                    return -1
            elif token.text in CLOSERS or token.text == ";":
                return -1
        position += 1
    return -1


def match_angles_backward(tokens: Sequence[Token], index: int) -> int:
    """The index of the ``<`` that opens the ``>`` at ``index``; -1 where there is none."""
    depth = 0
    position = index
    while position >= 0:
        token = tokens[position]
        if token.kind == "mark":
            if token.text == ">":
                depth += 1
            elif token.text == "<":
                depth -= 1
                if depth == 0:
                    return position
            elif token.text in CLOSERS:
                position = match_backward(tokens, position)
                if position < 0:
                    return -1
            elif token.text in OPENERS or token.text == ";":
                return -1
        position -= 1
    return -1
