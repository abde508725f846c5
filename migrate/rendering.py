"""What a person reads: diagnostics with the source and carets, and tables of kernels.

Diagnostics go to the standard error, tables to the standard output.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from tmigrate.diagnostics import Diagnostic, Severity
from tmigrate.locations import Location
from tmigrate.results import InputResult, KernelResult, Status

if TYPE_CHECKING:
    from rich.console import Console

TAB_STOP = 4
WIDEST = 120  # cells of a source line that are shown; generated sources have lines of kilobytes

_COLOURS = {
    Severity.ERROR: "bold red",
    Severity.WARNING: "bold yellow",
    Severity.NOTE: "bold cyan",
    Status.VERIFIED: "green",
    Status.CONVERTED: "yellow",
    Status.REFUSED: "red",
    Status.NONE: "dim",
}


def console(*, error: bool = False) -> Console:
    """A console on the standard output or error, as they are now."""
    from rich.console import Console

    stream = sys.stderr if error else sys.stdout
    width = None if stream.isatty() else 140
    return Console(file=stream, width=width, highlight=False, markup=False, emoji=False)


def render_diagnostic(diagnostic: Diagnostic) -> list[tuple[str, str]]:
    """The lines of a diagnostic, each with its style.

    ``k.cu:3:5: error TM1004: message``, the source line with carets, notes with theirs, then the remedy.
    """
    place = f"{diagnostic.location}: " if diagnostic.location else ""
    first, *more = diagnostic.message.splitlines() or [""]
    style = _COLOURS[diagnostic.severity]
    lines = [(visible(f"{place}{diagnostic.severity.value} {diagnostic.code}: {first}"), style)]
    lines += [(visible(f"    {line}"), "") for line in more]
    lines += [(line, "") for line in excerpt(diagnostic.location)]
    for note in diagnostic.notes:
        where = f"{note.location}: " if note.location else ""
        lines.append((visible(f"  {where}note: {note.message}"), _COLOURS[Severity.NOTE]))
        lines += [(line, "") for line in excerpt(note.location)]
    if diagnostic.remedy:
        lines.append((visible(f"  help: {diagnostic.remedy}"), "bold"))
    return lines


def excerpt(location: Location | None) -> list[str]:
    """The source line of a location with carets below it; empty where there is nothing to show.

    Columns count bytes of UTF-8, as libclang and Python's parser do.  Tabs are expanded, wide characters
    take two cells, and control characters cannot reach the terminal::

        12 |     x = tex2D(t, u, v);
           |         ^^^^^
    """
    if location is None or not location.line:
        return []
    source = _source_lines(location.file)
    if location.line > len(source):
        return []
    line = source[location.line - 1]
    before, marked = _cut(line, location)
    shown, start, width = _fit(
        _cells(before), _cells(marked, len(_cells(before))), _cells(line.decode(errors="replace"))
    )
    number = str(location.line)
    margin = " " * len(number)
    lines = [f"  {number} | {shown}".rstrip()]
    if location.column:
        lines.append(f"  {margin} | {' ' * start}{'^' * width}")
    return lines


@lru_cache(maxsize=16)
def _source_lines(file: str) -> tuple[bytes, ...]:
    try:
        data = Path(file).read_bytes()
    except OSError:
        return ()
    return tuple(data.replace(b"\r\n", b"\n").split(b"\n"))


def _cut(line: bytes, location: Location) -> tuple[str, str]:
    """The text before the marked text, and the marked text."""
    start = max(location.column - 1, 0)
    end = max(location.end_column - 1, start + 1)
    # A span that ends on another line has no end column here, or one before its start.
    return line[:start].decode(errors="replace"), line[start:end].decode(errors="replace")


def _cells(text: str, at: int = 0) -> str:
    """``text`` as the terminal will show it from cell ``at`` on; a wide character is followed by NUL.

    So the length of the result is its width: ``"\\t"`` at 0 becomes four spaces.
    """
    from rich.cells import cell_len

    out: list[str] = []
    for character in text:
        if character == "\t":
            out.append(" " * (TAB_STOP - (at + sum(map(len, out))) % TAB_STOP))
            continue
        safe = character if character.isprintable() else "\ufffd"
        width = cell_len(safe)
        out.append(safe + "\0" * (width - 1))
    return "".join(out)


def _fit(before: str, marked: str, line: str) -> tuple[str, int, int]:
    """The part of the line to show, and where the carets stand in it: start and count of cells."""
    start, width = len(before), max(len(marked), 1)
    skip = max(0, start - WIDEST * 2 // 3)
    shown = line[skip : skip + WIDEST]
    if skip:
        shown = "\u2026" + shown[1:]
    if skip + WIDEST < len(line):
        shown = shown[:-1] + "\u2026"
    width = max(1, min(width, len(shown) - (start - skip)))
    return shown.replace("\0", ""), start - skip, width


def visible(text: str) -> str:
    """``text`` without characters that would steer the terminal."""
    return "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text)


def print_diagnostics(diagnostics: Iterable[Diagnostic]) -> None:
    """Write diagnostics to the standard error, one blank line apart."""
    from rich.text import Text

    out = console(error=True)
    for diagnostic in diagnostics:
        for line, style in render_diagnostic(diagnostic):
            out.print(Text(line, style=style), soft_wrap=True)
        out.print()


def print_results(results: Sequence[InputResult]) -> None:
    """One table of all kernels, what was written, and a closing line of counts."""
    from rich.table import Table
    from rich.text import Text

    out = console()
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("kernel", "place", "level", "status", "evidence", "why not better"):
        table.add_column(heading, overflow="fold")
    for result in results:
        for kernel in result.kernels:
            table.add_row(*(Text(visible(cell), style=style) for cell, style in _row(kernel)))
    if table.row_count:
        out.print(table)
    for result in results:
        for path in (path for path in result.outputs if path not in result.untouched):
            out.print(f"wrote {visible(path)}", soft_wrap=True)
    out.print(summary(results), soft_wrap=True)


def _row(kernel: KernelResult) -> list[tuple[str, str]]:
    reason = " ".join(part for part in (kernel.code, kernel.reason) if part)
    if not reason and kernel.blocked:
        reason = f"next level: {kernel.blocked}"
    return [
        (kernel.name, "bold"),
        (str(kernel.location or ""), ""),
        (kernel.level.value if kernel.level else "", ""),
        (kernel.status.value, _COLOURS[kernel.status]),
        (_evidence(kernel), ""),
        (reason, ""),
    ]


def _evidence(kernel: KernelResult) -> str:
    """``8 launches, 12 cases, bit-exact`` or ``8 launches, 2.0 ulp``; only what is known."""
    parts = []
    if kernel.launches is not None:
        parts.append(f"{kernel.launches} launch{'es' if kernel.launches != 1 else ''}")
    if kernel.cases is not None:
        parts.append(f"{kernel.cases} case{'s' if kernel.cases != 1 else ''}")
    if kernel.bit_exact:
        parts.append("bit-exact")
    elif kernel.max_ulp is not None:
        parts.append(f"{kernel.max_ulp:.3g} ulp")
    return ", ".join(parts)


def summary(results: Sequence[InputResult]) -> str:
    """``3 inputs, 5 kernels: 4 verified, 1 refused``."""
    kernels = [kernel for result in results for kernel in result.kernels]
    counts = [(status, sum(kernel.status is status for kernel in kernels)) for status in Status]
    listed = ", ".join(f"{count} {status.value}" for status, count in counts if count)
    inputs = f"{len(results)} input{'s' if len(results) != 1 else ''}"
    total = f"{len(kernels)} kernel{'s' if len(kernels) != 1 else ''}"
    unread = sum(not (result.parsed and result.readable) for result in results)
    failed = f"; {unread} input{'s' if unread != 1 else ''} refused" if unread else ""
    return f"{inputs}, {total}" + (f": {listed}" if listed else "") + failed
