"""What `ast` drops: comments, and the marks `# k.cu:12` at line ends."""

from __future__ import annotations

import io
import re
import tokenize
from dataclasses import dataclass, field

from tmigrate.locations import Location

# A mark: a file name with an ending, a colon and a line, and nothing else.
MARK = re.compile(r"^#\s*([^\s:]+\.\w+):(\d+)$")


@dataclass(frozen=True, slots=True)
class CommentText:
    """One comment: its place, its text, and whether it stands alone on its line."""

    line: int
    column: int
    text: str
    alone: bool


@dataclass(slots=True)
class CommentTable:
    """`comments` in order; `marks`: places by line; `elses`: places of the word else."""

    comments: list[CommentText] = field(default_factory=list)
    marks: dict[int, Location] = field(default_factory=dict)
    elses: list[tuple[int, int]] = field(default_factory=list)

    def between(self, first: int, last: int) -> list[CommentText]:
        """The comments on lines `first` to `last` (exclusive)."""
        return [c for c in self.comments if first <= c.line < last]

    def else_line(self, first: int, last: int, column: int) -> int | None:
        """The line of an `else:` at that column within a range of lines."""
        return next((line for line, at in self.elses if first <= line <= last and at == column), None)


def read_comments(text: str) -> CommentTable:
    """Tokenise `text` (which `ast` has accepted) and collect its comments."""
    table = CommentTable()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        line, column = token.start
        alone = not token.line[:column].strip()
        if token.type == tokenize.NAME and token.string == "else" and alone:
            table.elses.append((line, column))
        if token.type != tokenize.COMMENT:
            continue
        mark = MARK.match(token.string)
        if mark and not alone:
            table.marks[line] = Location(mark.group(1), int(mark.group(2)))
        else:
            body = token.string[1:].removeprefix(" ").rstrip()
            table.comments.append(CommentText(line, column, body, alone))
    return table
