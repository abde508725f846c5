"""Integer operations with PTX's results, on Python integers that are in their type's range."""

from __future__ import annotations

from collections.abc import Callable

from tmigrate.tilelang.ir.types import ScalarType


def wrap(value: int, t: ScalarType) -> int:
    """`value` modulo the type's range.

    >>> from tmigrate.tilelang.ir.types import I8
    >>> wrap(200, I8)
    -56
    """
    if t.is_bool:
        return bool(value)
    value &= (1 << t.bits) - 1
    if t.is_signed and value >> (t.bits - 1):
        value -= 1 << t.bits
    return value


def wrapping(code: str, t: ScalarType) -> str:
    """Python source for :func:`wrap`."""
    mask = (1 << t.bits) - 1
    if t.is_signed:
        half = 1 << (t.bits - 1)
        return f"((({code}) + {half} & {mask}) - {half})"
    return f"(({code}) & {mask})"


def limits(t: ScalarType) -> tuple[int, int]:
    """The least and the greatest value."""
    if t.is_signed:
        return -(1 << (t.bits - 1)), (1 << (t.bits - 1)) - 1
    return 0, (1 << t.bits) - 1


def trunc_div(a: int, b: int) -> int:
    """C's quotient."""
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def trunc_rem(a: int, b: int) -> int:
    """C's remainder."""
    r = abs(a) % abs(b)
    return -r if a < 0 else r


def shift_left(t: ScalarType) -> Callable[[int, int], int]:
    """`<<`: amounts outside 0..bits-1 give 0."""
    return lambda a, n: wrap(a << n, t) if 0 <= n < t.bits else 0


def shift_right(t: ScalarType) -> Callable[[int, int], int]:
    """`>>`: amounts outside 0..bits-1 give 0, or -1 for a negative value."""
    return lambda a, n: a >> n if 0 <= n < t.bits else (-1 if a < 0 else 0)


def _bits(a: int, t: ScalarType) -> int:
    return a & ((1 << t.bits) - 1)


def popc(a: int, t: ScalarType) -> int:
    """The number of ones."""
    return _bits(a, t).bit_count()


def clz(a: int, t: ScalarType) -> int:
    """The number of leading zeros."""
    return t.bits - _bits(a, t).bit_length()


def ffs(a: int, t: ScalarType) -> int:
    """The 1-based place of the lowest one; 0 for none."""
    u = _bits(a, t)
    return (u & -u).bit_length()


def brev(a: int, t: ScalarType) -> int:
    """The bits in reverse order."""
    return wrap(int(format(_bits(a, t), f"0{t.bits}b")[::-1], 2), t)


def mul24(a: int, b: int, t: ScalarType) -> int:
    """The low 32 bits of the product of the low 24 bits (sign-extended for signed types)."""

    def low(x: int) -> int:
        x &= 0xFFFFFF
        return x - (1 << 24) if t.is_signed and x >> 23 else x

    return wrap(low(a) * low(b), t)


def byte_perm(x: int, y: int, selector: int) -> int:
    """Four bytes of y:x picked by the selector's nibbles; bit 3 replicates the sign."""
    source = (y << 32 | x).to_bytes(8, "little")
    result = 0
    for lane in range(4):
        nibble = selector >> (4 * lane) & 0xF
        byte = source[nibble & 7]
        if nibble & 8:
            byte = 0xFF if byte & 0x80 else 0
        result |= byte << (8 * lane)
    return result


def funnel(left: bool, clamp: bool) -> Callable[[int, int, int], int]:
    """`funnelshift_*`(lo, hi, amount): the upper word of a left shift, the lower one of a right shift."""

    def shift(lo: int, hi: int, amount: int) -> int:
        n = min(amount, 32) if clamp else amount & 31
        both = hi << 32 | lo
        return (both << n >> 32 if left else both >> n) & 0xFFFFFFFF

    return shift


def dp4a(x: int, y: int, z: int, t: ScalarType, operand: ScalarType) -> int:
    """Sum of four byte products plus z; the operands' signedness chooses that of the bytes."""
    total = z
    for lane in range(4):
        a, b = x >> (8 * lane) & 0xFF, y >> (8 * lane) & 0xFF
        if operand.is_signed:
            a, b = (a ^ 0x80) - 0x80, (b ^ 0x80) - 0x80
        total += a * b
    return wrap(total, t)
