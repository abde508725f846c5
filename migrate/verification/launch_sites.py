"""What the text of a CUDA file says about its host side: whether it has a `main`, and its block sizes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tmigrate.tilelang.ir.expressions import NamedConst
from tmigrate.verification.probing import Size

_SKIPPED = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<d>[^()\\\s]{0,16})\(.*?\)(?P=d)"|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'',
    re.DOTALL,
)
_MAIN = re.compile(r"\b(?:int|auto|void|signed)\s+main\s*\(")


def plain_text(text: str) -> str:
    """The text with comments blank and with empty strings; lines stay.

    >>> plain_text('a /* int main() */ "b"')
    'a                  ""'
    """

    def blank(match: re.Match[str]) -> str:
        found = match.group()
        if found.startswith("/"):
            return "".join(c if c == "\n" else " " for c in found)
        return found[0] + "\n" * found.count("\n") + found[-1]

    return _SKIPPED.sub(blank, text)


def has_main(text: str) -> bool:
    """Whether the text defines `main`."""
    return _MAIN.search(plain_text(text)) is not None


def block_sizes(text: str, kernel: str, constants: Sequence[NamedConst] = ()) -> tuple[Size, ...]:
    """The block sizes of a kernel's launches, where they are constants.

    `k<<<n / 256, 256>>>(...)`, `k<<<grid, dim3(16, 16)>>>`, and `dim3 block(TILE, TILE)` followed by
    `k<<<grid, block>>>` are understood.
    """
    plain = plain_text(text)
    values = {c.name: int(c.value) for c in constants if isinstance(c.value, int)}
    values |= {m[1]: int(m[2]) for m in re.finditer(r"#\s*define\s+(\w+)\s+\(?(\d+)\)?\s*$", plain, re.M)}
    values |= {m[1]: int(m[2]) for m in re.finditer(r"\bint\s+(\w+)\s*=\s*(\d+)\s*[;,]", plain)}
    name = re.escape(kernel.rpartition("::")[2])
    found = []
    for match in re.finditer(rf"\b{name}\s*(?:<[^<>;]*>)?\s*<<<(.*?)>>>", plain, re.DOTALL):
        parts = _split(match[1])
        size = _size(parts[1], plain, values) if len(parts) > 1 else None
        if size is not None:
            found.append(size)
    return tuple(dict.fromkeys(found))


def _split(text: str) -> list[str]:
    """The parts between commas outside brackets."""
    parts, depth = [""], 0
    for c in text:
        depth += (c in "([{") - (c in ")]}")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [part.strip() for part in parts]


def _size(text: str, plain: str, values: dict[str, int]) -> Size | None:
    if re.fullmatch(r"[A-Za-z_]\w*", text) and text not in values:
        match = re.search(
            rf"\bdim3\s+(?:\w+\s*\([^;]*\)\s*,\s*)?{text}\s*(?:=\s*dim3\s*)?[({{]([^;]*?)[)}}]\s*[,;]", plain
        )
        return _numbers(match[1], values) if match else None
    match = re.fullmatch(r"dim3\s*[({](.*)[)}]", text, re.DOTALL)
    return _numbers(match[1] if match else text, values)


def _numbers(text: str, values: dict[str, int]) -> Size | None:
    found = [_number(part, values) for part in _split(text)]
    if not 1 <= len(found) <= 3:
        return None
    x, y, z = [*found, 1, 1][:3]
    return None if x is None or y is None or z is None else (x, y, z)


def _number(text: str, values: dict[str, int]) -> int | None:
    """A product of numbers and named constants."""
    total = 1
    for factor in text.split("*"):
        word = factor.strip().strip("()").strip()
        value = int(word) if word.isdigit() else values.get(word)
        if not value or value < 0:
            return None
        total *= value
    return total
