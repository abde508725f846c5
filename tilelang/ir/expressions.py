"""Expressions: values without effects, except that they may read memory and call.

A :class:`Call` with effects stands only at the root of a statement's value; the verifier checks it.
Operand types are equal on both sides of an operator: every conversion of C is a :class:`Cast`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from tmigrate.tilelang.ir.node import Node, Trait, attribute, binding, node, operand, operands
from tmigrate.tilelang.ir.types import B1, I8, I64, PointerType, Space, Type, element_of


@dataclass(frozen=True, slots=True)
class Expr(Node):
    """Base of expressions; each has a `type`."""


def type_of(e: Expr) -> Type:
    """The type of an expression."""
    found = getattr(e, "type")  # noqa: B009 - declared by each class, as a field or a property
    assert isinstance(found, Type)
    return found


@node
class Const(Expr):
    """A literal: int for integers and pointers, bool for b1, float for floats.  Prints bare where the
    other operand or the declaration gives the type, else as `i64(3)`."""

    value: int | float | bool = attribute()
    type: Type = attribute()

    def __eq__(self, other: object) -> bool:
        """Floats compare by bits, so that -0.0, 0.0 and NaN are three literals."""
        if not isinstance(other, Const):
            return NotImplemented
        return self.type == other.type and _bits(self.value) == _bits(other.value)

    def __hash__(self) -> int:
        return hash(_hashed(self.value))


def _bits(value: int | float | bool) -> tuple[type, str]:
    if isinstance(value, float):
        return float, value.hex()
    return type(value), repr(value)


def _hashed(value: int | float | bool) -> int | str:
    """As :func:`_bits`, but cheap: NaN would hash by its address."""
    return value.hex() if isinstance(value, float) else value


@node
class StringConst(Expr):
    """A string literal: a format of `printf`, a message of `assert_`."""

    value: str = attribute()

    @property
    def type(self) -> Type:
        return PointerType(I8, Space.CONSTANT)


@node
class NamedConst(Expr):
    """A module constant (a CUDA macro, an enumerator, a `constexpr`): `NI` with `NI = i32(512)` above."""

    name: str = attribute()
    value: int | float | bool = attribute()
    type: Type = attribute()

    def __eq__(self, other: object) -> bool:
        """As for :class:`Const`."""
        if not isinstance(other, NamedConst):
            return NotImplemented
        return (self.name, self.type, _bits(self.value)) == (other.name, other.type, _bits(other.value))

    def __hash__(self) -> int:
        return hash(self.name)


@node
class Var(Expr):
    """A variable, parameter, loop index, dimension or module variable: a unique name in its function.

    A variable of array type stands for its storage; a module variable always has array type
    (a scalar `__device__ int n` is `n: Array[i32, 1]` and is read as `n[0]`).
    """

    name: str = attribute()
    type: Type = attribute()


class LaunchIndexKind(Enum):
    """Which of CUDA's built-in variables."""

    THREAD = "threadIdx"
    BLOCK = "blockIdx"
    BLOCK_SIZE = "blockDim"
    GRID_SIZE = "gridDim"


@node
class LaunchIndex(Expr):
    """`threadIdx.x` and its kin; `axis` is 0 for x.  Unsigned 32-bit, as in CUDA."""

    kind: LaunchIndexKind = attribute()
    axis: int = attribute()

    @property
    def type(self) -> Type:
        from tmigrate.tilelang.ir.types import U32

        return U32


class UnaryOp(Enum):
    """Operators on one operand; the value is how Python spells them."""

    NEG = "-"
    INVERT = "~"
    NOT = "not"


@node
class Unary(Expr):
    """`-x`, `~x` on numbers, `not x` on b1; the result has the operand's type."""

    op: UnaryOp = attribute()
    operand: Expr = operand()

    @property
    def type(self) -> Type:
        return type_of(self.operand)


class BinaryOp(Enum):
    """Arithmetic on two operands of one type; the value is how Python spells it.

    `//` and `%` round towards minus infinity; `truncdiv` and `truncrem` are C's.  Integers wrap at
    their width.  Shifts by the width or more give 0 (or -1 for a negative `>>`), as in PTX.
    """

    ADD = "+"
    SUB = "-"
    MUL = "*"
    DIV = "/"
    FLOOR_DIV = "//"
    FLOOR_MOD = "%"
    TRUNC_DIV = "truncdiv"
    TRUNC_REM = "truncrem"
    AND = "&"
    OR = "|"
    XOR = "^"
    SHL = "<<"
    SHR = ">>"


@node
class Binary(Expr):
    """`left op right`; both have the result's type (the amount of a shift too)."""

    op: BinaryOp = attribute()
    left: Expr = operand()
    right: Expr = operand()

    @property
    def type(self) -> Type:
        return type_of(self.left)


class CompareOp(Enum):
    """Comparisons; on floats IEEE's, NaN makes all but `!=` false."""

    EQ = "=="
    NE = "!="
    LT = "<"
    LE = "<="
    GT = ">"
    GE = ">="


@node
class Compare(Expr):
    """`left op right` on two operands of one scalar or pointer type, giving b1."""

    op: CompareOp = attribute()
    left: Expr = operand()
    right: Expr = operand()

    @property
    def type(self) -> Type:
        return B1


class LogicalOp(Enum):
    """Connectives of b1."""

    AND = "and"
    OR = "or"


@node
class Logical(Expr):
    """`left and right`, `left or right` on b1; `right` is evaluated only where `left` does not decide."""

    op: LogicalOp = attribute()
    left: Expr = operand()
    right: Expr = operand()

    @property
    def type(self) -> Type:
        return B1

    @classmethod
    def traits(cls) -> frozenset[Trait]:
        return frozenset({Trait.SHORT_CIRCUITS})


@node
class Select(Expr):
    """`then if condition else otherwise`; only the chosen one is evaluated."""

    condition: Expr = operand()
    then: Expr = operand()
    otherwise: Expr = operand()

    @property
    def type(self) -> Type:
        return type_of(self.then)

    @classmethod
    def traits(cls) -> frozenset[Trait]:
        return frozenset({Trait.SHORT_CIRCUITS, Trait.BRANCH})


@node
class Cast(Expr):
    """`f32(x)`: C's conversion where C defines it, PTX's otherwise (float to integer saturates, NaN gives 0).

    Also between pointers, and between pointers and 64-bit integers: `Ptr[i32](p)`, `u64(p)`.
    """

    type: Type = attribute()
    operand: Expr = operand()


@node
class Bitcast(Expr):
    """`bitcast(u32, x)`: the same bits as another scalar type of the same size."""

    type: Type = attribute()
    operand: Expr = operand()


@node
class Subscript(Expr):
    """`base[i, j]`: one element.  A pointer takes one index; an array or tensor one per dimension.

    As a value it reads memory; as the target of :class:`Assign` or under :class:`AddressOf` it is a place.
    """

    base: Expr = operand()
    indices: tuple[Expr, ...] = operands()

    @property
    def type(self) -> Type:
        return element_of(type_of(self.base))

    @classmethod
    def traits(cls) -> frozenset[Trait]:
        return frozenset({Trait.READS_MEMORY})


@node
class Member(Expr):
    """`base.name`: a member of a struct value or place; `type` is the member's."""

    base: Expr = operand()
    name: str = attribute()
    type: Type = attribute()


@node
class MakeStruct(Expr):
    """`float4(x, y, z, w)`: a struct value from all its members in order."""

    type: Type = attribute()
    values: tuple[Expr, ...] = operands()


@node
class MakeArray(Expr):
    """`array(f32, [4], 1.0, 2.0)`: an initial value for an array; missing tail elements are zero."""

    type: Type = attribute()
    values: tuple[Expr, ...] = operands()


@node
class AddressOf(Expr):
    """`address(place)`: a pointer to a variable, element or member; of an array, to its first element."""

    place: Expr = operand()
    type: Type = attribute()


@node
class PointerAdd(Expr):
    """`pointer + offset`, the offset in elements (any integer type, sign-extended)."""

    pointer: Expr = operand()
    offset: Expr = operand()

    @property
    def type(self) -> Type:
        return type_of(self.pointer)


@node
class PointerDifference(Expr):
    """`left - right` of two pointers of one type: elements, as i64."""

    left: Expr = operand()
    right: Expr = operand()

    @property
    def type(self) -> Type:
        return I64


@node
class DynamicShared(Expr):
    """`dynamic_shared(f32)`: the start of the launch's dynamic shared memory."""

    element: Type = attribute()

    @property
    def type(self) -> Type:
        return PointerType(self.element, Space.SHARED)


@node
class Call(Expr):
    """`name(arguments)`: an intrinsic of :mod:`intrinsics`, or a function of the module.

    `type` is the result type (`void` for none).
    """

    callee: str = attribute()
    arguments: tuple[Expr, ...] = operands()
    type: Type = attribute()


class ReduceOp(Enum):
    """Reductions; the value is the word in the text form."""

    SUM = "sum"
    PRODUCT = "prod"
    MAX = "max"
    MIN = "min"
    ANY = "any"
    ALL = "all"


@node
class Reduce(Expr):
    """`sum(body for k in range(start, stop))`: the fold of `body` over k, in any order; integers wrap.

    An empty range gives the operation's neutral value (0, 1, -inf, +inf, False, True; for integer max and
    min the type's least and greatest value).
    """

    op: ReduceOp = attribute()
    var: Var = binding()
    start: Expr = operand()
    stop: Expr = operand()
    body: Expr = operand()

    @property
    def type(self) -> Type:
        return type_of(self.body)

    @classmethod
    def traits(cls) -> frozenset[Trait]:
        return frozenset({Trait.LOOP})


@node
class Extent(Expr):
    """`A.shape[axis]`: an extent of a tensor variable, as i64."""

    tensor: Expr = operand()
    axis: int = attribute()

    @property
    def type(self) -> Type:
        return I64
