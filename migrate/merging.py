"""A three-way merge of texts by lines, as ``diff3 -m`` does it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

YOURS, BASE, OURS = "<<<<<<< yours", "||||||| as written before", ">>>>>>> tmigrate"


@dataclass(frozen=True, slots=True)
class Merged:
    """The merged text and how many places conflict."""

    text: str
    conflicts: int


def merge(base: str | None, yours: str, ours: str) -> Merged:
    """Apply the changes of both sides to ``base``.

    Where both sides changed the same lines differently, both stand between marks.  Without a base, every
    difference is such a place.

    >>> merge("a\\nb\\nc\\n", "A\\nb\\nc\\n", "a\\nb\\nC\\n")
    Merged(text='A\\nb\\nC\\n', conflicts=0)
    """
    a, b = yours.splitlines(keepends=True), ours.splitlines(keepends=True)
    o = base.splitlines(keepends=True) if base is not None else _common_lines(a, b)
    lines: list[str] = []
    conflicts = 0
    for base_part, a_part, b_part in _regions(o, a, b):
        if a_part == b_part or (base is not None and b_part == base_part):
            lines += a_part
        elif base is not None and a_part == base_part:
            lines += b_part
        else:
            conflicts += 1
            lines += _marked(a_part, base_part if base is not None else None, b_part)
    return Merged("".join(lines), conflicts)


def _common_lines(a: list[str], b: list[str]) -> list[str]:
    blocks = SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks()
    return [line for block in blocks for line in a[block.a : block.a + block.size]]


def _regions(o: list[str], a: list[str], b: list[str]) -> Iterator[tuple[list[str], list[str], list[str]]]:
    """Cut the three texts into parts that all share and parts in between, in order."""
    at_o = at_a = at_b = 0
    for start, end, in_a, in_b in [*_shared(o, a, b), (len(o), len(o), len(a), len(b))]:
        if (start, in_a, in_b) != (at_o, at_a, at_b):
            yield o[at_o:start], a[at_a:in_a], b[at_b:in_b]
        size = end - start
        if size:
            yield o[start:end], a[in_a : in_a + size], b[in_b : in_b + size]
        at_o, at_a, at_b = end, in_a + size, in_b + size


def _shared(o: list[str], a: list[str], b: list[str]) -> list[tuple[int, int, int, int]]:
    """Runs of base lines that stand unchanged in both: (start, end, where in a, where in b)."""
    in_a, in_b = _positions(o, a), _positions(o, b)
    runs: list[tuple[int, int, int, int]] = []
    for line in range(len(o)):
        if line not in in_a or line not in in_b:
            continue
        if runs:
            start, end, run_a, run_b = runs[-1]
            size = end - start
            if line == end and in_a[line] == run_a + size and in_b[line] == run_b + size:
                runs[-1] = (start, end + 1, run_a, run_b)
                continue
        runs.append((line, line + 1, in_a[line], in_b[line]))
    return runs


def _positions(o: list[str], x: list[str]) -> dict[int, int]:
    """Where each line of ``o`` that was kept stands in ``x``; increasing."""
    blocks = SequenceMatcher(None, o, x, autojunk=False).get_matching_blocks()
    return {block.a + i: block.b + i for block in blocks for i in range(block.size)}


def _marked(yours: list[str], base: list[str] | None, ours: list[str]) -> list[str]:
    middle = [BASE + "\n", *_closed(base)] if base is not None else []
    return [YOURS + "\n", *_closed(yours), *middle, "=======\n", *_closed(ours), OURS + "\n"]


def _closed(lines: list[str]) -> list[str]:
    """The lines, the last one with its line end, so that the next mark starts a line."""
    return [line if line.endswith("\n") else line + "\n" for line in lines]
