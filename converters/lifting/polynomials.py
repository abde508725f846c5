"""Exact integer polynomials over the atoms of index expressions.

An atom is an expression that is not taken apart: a variable, a module constant, a launch index, a load.
Index arithmetic is read without wrap-around: signed overflow is undefined in C, and an unsigned difference
or a cast to unsigned counts only where the context shows it to be non-negative.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Union

from tmigrate.tilelang.ir.expressions import (
    Binary,
    BinaryOp,
    Cast,
    Const,
    Expr,
    LaunchIndex,
    NamedConst,
    Unary,
    UnaryOp,
    Var,
    type_of,
)
from tmigrate.tilelang.ir.types import ScalarType, Type

Monomial = tuple[Expr, ...]
Number = Union["Polynomial", int]


def atom_key(e: Expr) -> str:
    """A text that orders atoms and names them in messages."""
    if isinstance(e, Var | NamedConst):
        return e.name
    if isinstance(e, LaunchIndex):
        return f"{e.kind.value}.{'xyz'[e.axis]}"
    return repr(e)


class Polynomial:
    """A sum of integer multiples of monomials; terms keep the order of their first appearance."""

    __slots__ = ("terms",)

    def __init__(self, terms: dict[Monomial, int] | None = None) -> None:
        self.terms: dict[Monomial, int] = {m: c for m, c in (terms or {}).items() if c}

    @staticmethod
    def constant(value: int) -> Polynomial:
        return Polynomial({(): value})

    @staticmethod
    def atom(e: Expr) -> Polynomial:
        return Polynomial({(e,): 1})

    def __add__(self, other: Number) -> Polynomial:
        terms = dict(self.terms)
        for m, c in _lift(other).terms.items():
            terms[m] = terms.get(m, 0) + c
        return Polynomial(terms)

    def __neg__(self) -> Polynomial:
        return Polynomial({m: -c for m, c in self.terms.items()})

    def __sub__(self, other: Number) -> Polynomial:
        return self + -_lift(other)

    def __mul__(self, other: Number) -> Polynomial:
        terms: dict[Monomial, int] = {}
        for m, c in self.terms.items():
            for n, d in _lift(other).terms.items():
                both = tuple(sorted((*m, *n), key=atom_key))
                terms[both] = terms.get(both, 0) + c * d
        return Polynomial(terms)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Polynomial) and self.terms == other.terms

    def __hash__(self) -> int:
        return hash(frozenset(self.terms.items()))

    def __repr__(self) -> str:
        parts = [f"{c}*{'*'.join(map(atom_key, m))}" if m else str(c) for m, c in self.terms.items()]
        return " + ".join(parts) or "0"

    @property
    def atoms(self) -> set[Expr]:
        return {a for m in self.terms for a in m}

    @property
    def value(self) -> int | None:
        """The number that this is, or None."""
        if not self.terms:
            return 0
        return self.terms[()] if set(self.terms) == {()} else None

    @property
    def is_monomial(self) -> bool:
        return len(self.terms) == 1

    def coefficient(self, e: Expr) -> Polynomial:
        """The factor of an atom in the terms that hold it once."""
        return Polynomial({_without(m, e): c for m, c in self.terms.items() if m.count(e) == 1})

    def rest(self, e: Expr) -> Polynomial:
        """The terms without an atom."""
        return Polynomial({m: c for m, c in self.terms.items() if e not in m})

    def is_linear_in(self, e: Expr) -> bool:
        return all(m.count(e) <= 1 for m in self.terms)

    def substitute(self, e: Expr, value: Number) -> Polynomial:
        """With an atom replaced."""
        total = Polynomial()
        for m, c in self.terms.items():
            count = m.count(e)
            part = Polynomial({tuple(a for a in m if a != e): c})
            for _ in range(count):
                part = part * value
            total = total + part
        return total

    def divide(self, divisor: Polynomial) -> tuple[Polynomial, Polynomial]:
        """Quotient and remainder of a division by a monomial: terms that it divides go to the quotient.

        A constant multiple of the divisor counts: (3*N + 5) / N is 3, remainder 5; 7 / 4 is 1, remainder 3.
        """
        ((monomial, factor),) = divisor.terms.items()
        quotient: dict[Monomial, int] = {}
        remainder: dict[Monomial, int] = {}
        for m, c in self.terms.items():
            left = _cancel(m, monomial)
            if left is None or (c % factor and m):
                remainder[m] = c
                continue
            quotient[left] = quotient.get(left, 0) + c // factor
            if c % factor:
                remainder[m] = c % factor
        return Polynomial(quotient), Polynomial(remainder)


def _lift(value: Number) -> Polynomial:
    return Polynomial.constant(value) if isinstance(value, int) else value


def _without(m: Monomial, e: Expr) -> Monomial:
    position = m.index(e)
    return m[:position] + m[position + 1 :]


def _cancel(m: Monomial, divisor: Monomial) -> Monomial | None:
    left = list(m)
    for atom in divisor:
        if atom not in left:
            return None
        left.remove(atom)
    return tuple(left)


NonNegative = Callable[[Polynomial], bool]


def always(p: Polynomial) -> bool:
    """A context in which everything may be taken as non-negative (for patterns, never for proofs)."""
    return True


def to_polynomial(e: Expr, nonnegative: NonNegative) -> Polynomial:
    """The value of an integer expression; what is no sum, difference or product becomes an atom."""
    if isinstance(e, Const) and isinstance(e.value, int):
        return Polynomial.constant(int(e.value))
    if isinstance(e, Cast):
        return _of_cast(e, nonnegative)
    if isinstance(e, Unary) and e.op is UnaryOp.NEG and _signed(e.type):
        return -to_polynomial(e.operand, nonnegative)
    if isinstance(e, Binary) and e.op in (BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL) and _integer(e.type):
        return _of_binary(e, nonnegative)
    if (
        isinstance(e, Binary)
        and e.op is BinaryOp.SHL
        and isinstance(e.right, Const)
        and 0 <= e.right.value < 31
    ):
        return to_polynomial(e.left, nonnegative) * (1 << int(e.right.value))
    return Polynomial.atom(e)


def _of_binary(e: Binary, nonnegative: NonNegative) -> Polynomial:
    left, right = to_polynomial(e.left, nonnegative), to_polynomial(e.right, nonnegative)
    if e.op is BinaryOp.ADD:
        made = left + right
    elif e.op is BinaryOp.MUL:
        made = left * right
    else:
        made = left - right
    if not _signed(e.type) and any(c < 0 for c in made.terms.values()) and not nonnegative(made):
        return Polynomial.atom(e)
    return made


def _of_cast(e: Cast, nonnegative: NonNegative) -> Polynomial:
    source = type_of(e.operand)
    if not (_integer(source) and _integer(e.type)):
        return Polynomial.atom(e)
    inner = to_polynomial(e.operand, nonnegative)
    if isinstance(e.type, ScalarType) and e.type.bits < 32:
        return Polynomial.atom(e)
    if _signed(source) and not _signed(e.type) and not nonnegative(inner):
        return Polynomial.atom(e)
    return inner


def _integer(t: Type) -> bool:
    return isinstance(t, ScalarType) and t.is_integer


def _signed(t: Type) -> bool:
    return isinstance(t, ScalarType) and t.is_signed


def to_expression(p: Polynomial, t: Type) -> Expr:
    """The polynomial as an expression of type t: a positive term first, the constant last."""
    terms = [(m, c) for m, c in p.terms.items() if m]
    terms.sort(key=lambda term: term[1] < 0)
    result: Expr | None = None
    for m, c in terms:
        part = _product(m, abs(c) if result is not None else c, t)
        op = BinaryOp.ADD if c > 0 else BinaryOp.SUB
        result = part if result is None else Binary(op, result, part)
    number = p.terms.get((), 0)
    if result is None:
        return _constant(number, t)
    if number:
        return Binary(BinaryOp.ADD if number > 0 else BinaryOp.SUB, result, _constant(abs(number), t))
    return result


def _constant(number: int, t: Type) -> Const:
    """The number as the type holds it: 2654435769 is -1640531527 in i32."""
    if isinstance(t, ScalarType) and t.is_integer:
        number &= (1 << t.bits) - 1
        if t.is_signed and number >> (t.bits - 1):
            number -= 1 << t.bits
    return Const(number, t)


def _product(m: Monomial, factor: int, t: Type) -> Expr:
    parts: list[Expr] = [] if abs(factor) == 1 else [_constant(factor, t)]
    parts += [converted(a, t) for a in m]
    result = parts[0]
    for part in parts[1:]:
        result = Binary(BinaryOp.MUL, result, part)
    return Unary(UnaryOp.NEG, result) if factor == -1 else result


def converted(e: Expr, t: Type) -> Expr:
    """`e` as type t; i32(i64(k)) is k, but i32(i8(k)) is not."""
    if type_of(e) == t:
        return e
    if isinstance(e, Const) and isinstance(e.value, int) and _integer(t):
        return Const(e.value, t)
    if isinstance(e, Cast) and type_of(e.operand) == t and _holds(e.type, t):
        return e.operand
    return Cast(t, e)


def _holds(wide: Type, narrow: Type) -> bool:
    """Whether an integer type has all bits of another."""
    return (
        isinstance(wide, ScalarType)
        and isinstance(narrow, ScalarType)
        and wide.is_integer
        and narrow.is_integer
        and wide.bits >= narrow.bits
    )


def total(parts: Iterable[Polynomial]) -> Polynomial:
    """The sum."""
    result = Polynomial()
    for part in parts:
        result = result + part
    return result
