"""Named generators of input files.  The same numbers give the same bytes on every machine."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from pathlib import Path

SEED = 20240229


def generate(file: Path, kind: str, numbers: tuple[int, ...]) -> None:
    """Write ``file``; ValueError where there is no such generator, or it takes other numbers."""
    if kind not in GENERATORS:
        raise ValueError(f"no generator '{kind}'; there are: {', '.join(sorted(GENERATORS))}")
    write, names = GENERATORS[kind]
    if len(numbers) != len(names):
        raise ValueError(f"the generator '{kind}' takes {' '.join(names)}, not {len(numbers)} numbers")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(write(random.Random(SEED), *numbers))


def _pixels(chance: random.Random, width: int, height: int) -> list[list[tuple[int, int, int]]]:
    """A gradient with bright squares and some noise: edges as well as smooth places."""
    rows = []
    for y in range(height):
        row = []
        for x in range(width):
            base = 200 if (x // 11 + y // 7) % 3 == 0 else (x * 120) // width
            row.append((base, (base + y) % 256, min(255, base + chance.randrange(20))))
        rows.append(row)
    return rows


def _bmp(chance: random.Random, width: int, height: int) -> bytes:
    """An uncompressed 24-bit bitmap; rows go from the bottom up and are padded to four bytes."""
    padding = b"\0" * (-width * 3 % 4)
    rows = [b"".join(bytes(reversed(p)) for p in row) + padding for row in _pixels(chance, width, height)]
    data = b"".join(reversed(rows))
    header = struct.pack("<2sIHHI", b"BM", 54 + len(data), 0, 0, 54)
    return header + struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, len(data), 0, 0, 0, 0) + data


def _ppm(chance: random.Random, width: int, height: int) -> bytes:
    """A binary colour image (P6)."""
    pixels = b"".join(bytes(p) for row in _pixels(chance, width, height) for p in row)
    return f"P6\n{width} {height}\n255\n".encode() + pixels


def _pgm(chance: random.Random, width: int, height: int) -> bytes:
    """A binary grey image (P5)."""
    pixels = bytes(p[0] for row in _pixels(chance, width, height) for p in row)
    return f"P5\n{width} {height}\n255\n".encode() + pixels


def _edges(chance: random.Random, rows: int, columns: int, per_row: int) -> list[list[int]]:
    """Ragged rows of sorted distinct columns, on average ``per_row`` of them."""
    lengths = [min(columns, chance.randrange(2 * per_row + 1)) for _ in range(rows)]
    return [sorted(chance.sample(range(columns), length)) for length in lengths]


def _mtx(chance: random.Random, rows: int, columns: int, per_row: int) -> bytes:
    """A sparse matrix in Matrix Market form, general and real."""
    edges = _edges(chance, rows, columns, per_row)
    lines = [f"{r + 1} {c + 1} {chance.uniform(-1, 1):.6f}" for r, row in enumerate(edges) for c in row]
    head = ["%%MatrixMarket matrix coordinate real general", f"{rows} {columns} {len(lines)}"]
    return "\n".join([*head, *lines, ""]).encode()


def _egr(chance: random.Random, nodes: int, per_node: int) -> bytes:
    """An undirected graph in the binary form of ECL: counts, row starts, neighbours; no weights."""
    neighbours: list[set[int]] = [set() for _ in range(nodes)]
    for node, row in enumerate(_edges(chance, nodes, nodes, max(1, per_node // 2))):
        for other in row:
            if other != node:
                neighbours[node].add(other)
                neighbours[other].add(node)
    starts = [0]
    for found in neighbours:
        starts.append(starts[-1] + len(found))
    flat = [other for found in neighbours for other in sorted(found)]
    return struct.pack(f"<2i{len(starts)}i{len(flat)}i", nodes, len(flat), *starts, *flat)


def _text(chance: random.Random, words: int) -> bytes:
    """Words of one to nine letters, ten a line."""
    letters = "etaoinshrdlu"
    made = ["".join(chance.choice(letters) for _ in range(chance.randint(1, 9))) for _ in range(words)]
    return "\n".join(" ".join(made[i : i + 10]) for i in range(0, words, 10)).encode() + b"\n"


def _floats(chance: random.Random, count: int) -> bytes:
    """32-bit floats between -1 and 1, little endian."""
    return struct.pack(f"<{count}f", *(chance.uniform(-1, 1) for _ in range(count)))


def _bytes(chance: random.Random, count: int) -> bytes:
    return chance.randbytes(count)


GENERATORS: dict[str, tuple[Callable[..., bytes], tuple[str, ...]]] = {
    "bmp": (_bmp, ("WIDTH", "HEIGHT")),
    "bytes": (_bytes, ("COUNT",)),
    "egr": (_egr, ("NODES", "PER_NODE")),
    "floats": (_floats, ("COUNT",)),
    "mtx": (_mtx, ("ROWS", "COLUMNS", "PER_ROW")),
    "pgm": (_pgm, ("WIDTH", "HEIGHT")),
    "ppm": (_ppm, ("WIDTH", "HEIGHT")),
    "text": (_text, ("WORDS",)),
}
