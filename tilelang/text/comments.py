"""What `ast` drops: comments on lines of their own, and the marks `# k.cu:12` at line ends."""

from __future__ import annotations

import io
import re
import tokenize
from dataclasses import dataclass, field

from tmigrate.locations import Location

_MARK = re.compile(r"^#\s*(\S+\.\w+):(\d+)$")


@dataclass(slots=True)
class CommentTable:
    """`own`: (line, column, text) of comments that stand alone; `marks`: places by line; `elses`: places."""

    own: list[tuple[int, int, str]] = field(default_factory=list)
    marks: dict[int, Location] = field(default_factory=dict)
    elses: list[tuple[int, int]] = field(default_factory=list)

    def between(self, first: int, last: int, column: int) -> list[tuple[int, str]]:
        """The comments alone on lines `first` to `last` (exclusive) at that column."""
        return [(line, text) for line, at, text in self.own if first <= line < last and at == column]

    def else_line(self, first: int, last: int, column: int) -> int | None:
        """The line of an `else:` at that column within a range of lines."""
        return next((line for line, at in self.elses if first <= line <= last and at == column), None)


def read_comments(text: str) -> CommentTable:
    """Tokenise `text` (which `ast` has accepted) and collect its comments."""
    table = CommentTable()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        line, column = token.start
        if token.type == tokenize.NAME and token.string == "else" and not token.line[:column].strip():
            table.elses.append((line, column))
        if token.type != tokenize.COMMENT:
            continue
        mark = _MARK.match(token.string)
        if not token.line[:column].strip():
            table.own.append((line, column, token.string[1:].removeprefix(" ")))
        elif mark:
            table.marks[line] = Location(mark.group(1), int(mark.group(2)))
    return table
