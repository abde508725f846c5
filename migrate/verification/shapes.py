"""Grids and blocks that suit a kernel: which axes it uses, and which widths its shared arrays have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tmigrate.converters.lifting.polynomials import always, to_polynomial
from tmigrate.settings import KernelSettings
from tmigrate.tilelang.interpreter.functions import reachable
from tmigrate.tilelang.ir.expressions import Binary, BinaryOp, LaunchIndex, LaunchIndexKind
from tmigrate.tilelang.ir.module import Function, Module
from tmigrate.tilelang.ir.node import walk
from tmigrate.tilelang.ir.statements import Allocate
from tmigrate.tilelang.ir.types import ArrayType, Space, is_integer
from tmigrate.verification.probing import Size

_BLOCKS = 3  # blocks an axis; the last one is ragged
_LARGEST_BLOCK = 1024
_WIDTHS = (64, 128, 256, 32)
_PLANES = ((16, 16), (8, 8), (32, 8), (32, 4), (32, 32))
_BOXES = ((8, 4, 4), (4, 4, 4), (8, 8, 4))


class Shapes:
    """The launch shapes of one kernel; `blocks` lists block sizes, the likely ones first."""

    def __init__(
        self, module: Module, function: Function, blocks: Sequence[Size], settings: KernelSettings
    ) -> None:
        self.functions = reachable(module, function)
        self.given = settings.grid
        found = [it for f in self.functions for it in walk(f.body) if isinstance(it, LaunchIndex)]
        in_block = (LaunchIndexKind.THREAD, LaunchIndexKind.BLOCK_SIZE)
        self.block_axes = sorted({it.axis for it in found if it.kind in in_block})
        self.grid_axes = sorted({it.axis for it in found if it.kind not in in_block})
        hints = [
            int(c.value)
            for c in module.constants
            if isinstance(c.value, int)
            and any(word in c.name.upper() for word in ("BLOCK", "TILE", "THREAD"))
        ]
        fitting = self._fitting([*blocks, *self._candidates(hints)])
        candidates = [settings.block] if settings.block else [*blocks, *fitting]
        self.blocks = tuple(dict.fromkeys(b for b in candidates if 1 <= b[0] * b[1] * b[2] <= _LARGEST_BLOCK))

    def _fitting(self, candidates: Sequence[Size]) -> Iterator[Size]:
        """Blocks that do not overlap where the source fixes how far apart they are, this distance first.

        `blockIdx.x * 32 + threadIdx.x`: in blocks of 64, two threads would have each index.
        """
        apart = self._distances()
        if apart and candidates:
            widest = dict(enumerate(candidates[0])) | apart
            yield _placed(widest)
        yield from (b for b in candidates if all(b[axis] <= width for axis, width in apart.items()))

    def _distances(self) -> dict[int, int]:
        """The least constant that a block index is multiplied by where a thread's is added, by axis."""
        found: dict[int, int] = {}
        for it in (it for f in self.functions for it in walk(f.body) if isinstance(it, Binary)):
            if it.op is not BinaryOp.ADD or not is_integer(it.type):
                continue
            p = to_polynomial(it, always)
            for axis in range(3):
                block, thread = (
                    p.coefficient(LaunchIndex(kind, axis)).value
                    for kind in (LaunchIndexKind.BLOCK, LaunchIndexKind.THREAD)
                )
                if block and thread and block > thread > 0:
                    width = block // thread
                    found[axis] = min(width, found.get(axis, width))
        return found

    def _candidates(self, hints: Sequence[int]) -> Iterator[Size]:
        shared = list(self._shared_shapes())
        if len(self.block_axes) <= 1:
            axis = self.block_axes[0] if self.block_axes else 0
            if not self.block_axes:
                yield (1, 1, 1)
            widths = [n for shape in shared for n in _line_widths(shape)]
            for width in [*(h for h in hints if h >= 8), *widths, *_WIDTHS]:
                yield _placed({axis: width})
            return
        planes = [plane for shape in shared for plane in _planes(shape)]
        planes += [(h, h) for h in hints]
        if len(self.block_axes) == 2:
            x, y = self.block_axes
            yield from (_placed({x: w, y: h}) for w, h in [*planes, *_PLANES])
            return
        yield from ((w, h, 1) for w, h in planes)
        yield from _BOXES

    def _shared_shapes(self) -> Iterator[tuple[int, ...]]:
        for f in self.functions:
            for it in walk(f.body):
                if (
                    isinstance(it, Allocate)
                    and it.space is Space.SHARED
                    and isinstance(it.var.type, ArrayType)
                ):
                    yield it.var.type.shape

    @property
    def axes(self) -> list[int]:
        """The axes that the kernel uses at all; x where it uses none."""
        return sorted({*self.block_axes, *self.grid_axes}) or [0]

    def grid(self, block: Size) -> Size:
        """Several blocks on each axis whose block index is used."""
        if self.given is not None:
            return self.given
        return _placed(dict.fromkeys(self.grid_axes, _BLOCKS))

    def widths(self, block: Size) -> list[int]:
        """The block's width on each axis in use."""
        return [block[axis] for axis in self.axes]

    def extents(self, block: Size) -> list[int]:
        """Odd data sizes that end inside the last block, different on each axis."""
        found = []
        for k, axis in enumerate(self.axes):
            width = block[axis]
            whole = (_BLOCKS - 1) * width
            found.append(whole + max(1, (width // 2 - 4 * k) | 1) if width > 1 else _BLOCKS)
        return found


def _placed(widths: dict[int, int]) -> Size:
    return (widths.get(0, 1), widths.get(1, 1), widths.get(2, 1))


def _line_widths(shape: tuple[int, ...]) -> Iterable[int]:
    """`s[256]` suits 256 threads; `s[258]` 256 with a halo; `s[2 * 128]` 128; `s[16][17]` 16 or 256."""
    last = shape[-1]
    if len(shape) == 1:
        return [n for n in (last, last - 2, last // 2) if n >= 8]
    first = shape[0]
    return [n for n in (first * last, first * first, first, last) if n >= 8]


def _planes(shape: tuple[int, ...]) -> Iterable[tuple[int, int]]:
    """`s[16][16]` suits 16 x 16, as does `s[16][17]` (padded) or `s[18][18]` (a halo); `s[32][33]` 32 x 8."""
    if len(shape) < 2:
        return []
    height, width = shape[-2], shape[-1]
    return [(width, height), (height, height), (width - 2, height - 2), (height, 8)]
