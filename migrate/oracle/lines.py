"""Addresses to source lines, from an executable's own line table (ELF, DWARF 2 to 5), without binutils."""

from __future__ import annotations

import struct
import zlib
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tmigrate.locations import UNKNOWN, Location


class _Reader:
    """Little-endian fields from a stretch of bytes."""

    def __init__(self, data: bytes, position: int = 0) -> None:
        self.data = data
        self.position = position

    def number(self, size: int) -> int:
        value = int.from_bytes(self.data[self.position : self.position + size], "little")
        self.position += size
        return value

    def uleb(self) -> int:
        result = shift = 0
        while True:
            byte = self.data[self.position]
            self.position += 1
            result |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return result

    def sleb(self) -> int:
        result = shift = 0
        while True:
            byte = self.data[self.position]
            self.position += 1
            result |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return result - (1 << shift) if byte & 0x40 else result

    def text(self) -> str:
        end = self.data.index(b"\0", self.position)
        found = self.data[self.position : end].decode(errors="replace")
        self.position = end + 1
        return found


@dataclass(slots=True)
class LineTable:
    """Source lines by address; an empty table knows none."""

    addresses: list[int] = field(default_factory=list)
    places: list[Location] = field(default_factory=list)
    relocatable: bool = True

    def find(self, address: int) -> Location:
        """The line of the instruction at ``address`` (as linked)."""
        index = bisect_right(self.addresses, address) - 1
        return self.places[index] if index >= 0 else UNKNOWN


def line_table(executable: Path) -> LineTable:
    """The line table of an ELF executable; empty where it has none that is understood."""
    try:
        data = executable.read_bytes()
        sections, relocatable = _sections(data)
        rows = sorted(_rows(sections), key=lambda row: row[0])
    except (OSError, IndexError, ValueError, struct.error, zlib.error):
        return LineTable()
    return LineTable([row[0] for row in rows], [row[1] for row in rows], relocatable)


def _sections(data: bytes) -> tuple[dict[str, bytes], bool]:
    if data[:5] != b"\x7fELF\x02":
        return {}, True
    relocatable = struct.unpack_from("<H", data, 16)[0] == 3  # ET_DYN: addresses count from the image's start
    (start,) = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<HHH", data, 58)
    headers = [struct.unpack_from("<IIQQQQ", data, start + i * size) for i in range(count)]
    text = headers[names]
    strings = data[text[4] : text[4] + text[5]]
    result: dict[str, bytes] = {}
    for name, _, flags, _, offset, length in headers:
        title = strings[name : strings.index(b"\0", name)].decode()
        if title in (".debug_line", ".debug_line_str", ".debug_str"):
            body = data[offset : offset + length]
            result[title] = zlib.decompress(body[24:]) if flags & 0x800 else body
    return result, relocatable


def _rows(sections: dict[str, bytes]) -> Iterator[tuple[int, Location]]:
    data = sections.get(".debug_line", b"")
    reader = _Reader(data)
    while reader.position + 4 <= len(data):
        length = reader.number(4)
        if length == 0xFFFFFFFF:
            return  # 64-bit DWARF: nobody writes it for such programs
        end = reader.position + length
        yield from _unit(_Reader(data[:end], reader.position), sections)
        reader.position = end


def _unit(reader: _Reader, sections: dict[str, bytes]) -> Iterator[tuple[int, Location]]:
    version = reader.number(2)
    if version >= 5:
        reader.position += 2  # address and segment sizes
    header_length = reader.number(4)
    program = reader.position + header_length
    minimum = reader.number(1)
    if version >= 4:
        reader.number(1)
    reader.number(1)  # default_is_stmt
    base = reader.number(1) - 256 if reader.data[reader.position] > 127 else reader.number(1)
    line_range, opcode_base = reader.number(1), reader.number(1)
    lengths = [reader.number(1) for _ in range(opcode_base - 1)]
    files = _files5(reader, sections) if version >= 5 else _files2(reader)
    reader.position = program
    yield from _program(reader, files, minimum, base, line_range, opcode_base, lengths)


def _files2(reader: _Reader) -> list[str]:
    folders = [""]
    while reader.data[reader.position]:
        folders.append(reader.text())
    reader.position += 1
    files = [""]
    while reader.data[reader.position]:
        name, folder = reader.text(), reader.uleb()
        reader.uleb()
        reader.uleb()
        files.append(name if name.startswith("/") or not folder else f"{folders[folder]}/{name}")
    return files


def _files5(reader: _Reader, sections: dict[str, bytes]) -> list[str]:
    folders = [name for name, _ in _entries(reader, sections)]
    files = []
    for name, folder in _entries(reader, sections):
        joined = name if name.startswith("/") or folder >= len(folders) else f"{folders[folder]}/{name}"
        files.append(joined)
    return files


def _entries(reader: _Reader, sections: dict[str, bytes]) -> list[tuple[str, int]]:
    formats = [(reader.uleb(), reader.uleb()) for _ in range(reader.number(1))]
    result = []
    for _ in range(reader.uleb()):
        name, folder = "", 0
        for content, form in formats:
            value = _form(reader, form, sections)
            if content == 1 and isinstance(value, str):
                name = value
            elif content == 2 and isinstance(value, int):
                folder = value
        result.append((name, folder))
    return result


def _form(reader: _Reader, form: int, sections: dict[str, bytes]) -> str | int:
    if form == 0x08:
        return reader.text()
    if form in (0x0E, 0x1F):
        section = sections[".debug_str" if form == 0x0E else ".debug_line_str"]
        return _Reader(section, reader.number(4)).text()
    sizes = {0x0B: 1, 0x05: 2, 0x06: 4, 0x07: 8}
    if form in sizes:
        return reader.number(sizes[form])
    if form == 0x0F:
        return reader.uleb()
    if form == 0x1E:
        reader.position += 16
        return 0
    raise ValueError(f"form {form:#x}")


def _program(
    reader: _Reader,
    files: list[str],
    minimum: int,
    base: int,
    line_range: int,
    opcode_base: int,
    lengths: list[int],
) -> Iterator[tuple[int, Location]]:
    """The line number program: states are rows of (address, file, line)."""
    address, file, line = 0, 1, 1
    while reader.position < len(reader.data):
        opcode = reader.number(1)
        row = False
        if opcode >= opcode_base:
            adjusted = opcode - opcode_base
            address += adjusted // line_range * minimum
            line += base + adjusted % line_range
            row = True
        elif opcode == 0:
            length = reader.uleb()
            following = reader.position + length
            extended = reader.number(1)
            if extended == 1:
                yield address, UNKNOWN
                address, file, line = 0, 1, 1
            elif extended == 2:
                address = reader.number(length - 1)
            reader.position = following
        elif opcode == 1:
            row = True
        elif opcode == 2:
            address += reader.uleb() * minimum
        elif opcode == 3:
            line += reader.sleb()
        elif opcode == 4:
            file = reader.uleb()
        elif opcode == 8:
            address += (255 - opcode_base) // line_range * minimum
        elif opcode == 9:
            address += reader.number(2)
        else:
            for _ in range(lengths[opcode - 1]):
                reader.uleb()
        if row and address:
            yield address, Location(files[file] if file < len(files) else "", line)
