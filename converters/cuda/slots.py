"""Which slot of a `for`, `if`, `while` or `switch` each child of a cursor fills.

libclang lists the children that exist and drops empty slots: `for (; c; s)` and `for (i; c;)` look alike.
The positions of the semicolons in the source tell them apart.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tmigrate.converters.cuda.bindings import Cursor, children_of
from tmigrate.converters.cuda.parsing import ParsedFile
from tmigrate.converters.cuda.refusals import refuse

_SKIPPED = re.compile(rb"""//[^\n]*|/\*.*?\*/|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)'|[()\[\]{};]""", re.DOTALL)
_HEADER = re.compile(rb"(for|if|while|switch)\s*(?:constexpr\s*)?\(")


@dataclass(frozen=True, slots=True)
class Header:
    """Byte offsets of a statement's parenthesis: where it opens, its semicolons, where it closes."""

    opens: int
    semicolons: tuple[int, ...]
    closes: int


@dataclass(frozen=True, slots=True)
class ForSlots:
    """The parts of a `for`; None where a slot is empty."""

    init: Cursor | None
    condition: Cursor | None
    step: Cursor | None
    body: Cursor


def header_of(parsed: ParsedFile, cursor: Cursor) -> Header | None:
    """The parenthesis after a statement's keyword; None where the keyword comes from a macro."""
    start = cursor.extent.start
    if start.file is None:
        return None
    text = parsed.text_of(start.file.name)
    match = _HEADER.match(text, start.offset)
    if match is None:
        return None
    depth = 1
    semicolons: list[int] = []
    for token in _SKIPPED.finditer(text, match.end()):
        word = token.group()
        if word in b"([{" and len(word) == 1:
            depth += 1
        elif word in b")]}" and len(word) == 1:
            depth -= 1
            if depth == 0:
                return Header(match.end(), tuple(semicolons), token.start())
        elif word == b";" and depth == 1:
            semicolons.append(token.start())
    return None


def for_slots(parsed: ParsedFile, cursor: Cursor) -> ForSlots:
    """The slots of a FOR_STMT; refuses where a macro hides which are empty."""
    kids = children_of(cursor)
    if len(kids) == 4:
        return ForSlots(kids[0], kids[1], kids[2], kids[3])
    if len(kids) == 1:
        return ForSlots(None, None, None, kids[0])
    header = header_of(parsed, cursor)
    if header is None or len(header.semicolons) != 2 or len(kids) > 4:
        refuse("TM1030", "a macro hides which parts of this 'for' are empty", cursor,
               "write the loop without the macro")  # fmt: skip
    first, second = header.semicolons
    found: dict[str, Cursor] = {}
    for kid in kids[:-1]:
        offset = kid.extent.start.offset
        slot = "init" if offset <= first else "condition" if offset <= second else "step"
        if slot in found:  # a condition that declares a variable
            refuse(
                "TM1030", "this form of 'for' is not converted", cursor, "declare the variable ahead of it"
            )
        found[slot] = kid
    return ForSlots(found.get("init"), found.get("condition"), found.get("step"), kids[-1])


def has_init(parsed: ParsedFile, cursor: Cursor) -> bool:
    """Whether an `if` or `switch` has an initialiser: `if (int i = f(); i > 0)`."""
    header = header_of(parsed, cursor)
    return header is not None and bool(header.semicolons)
