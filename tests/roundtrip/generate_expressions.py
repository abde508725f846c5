"""Expressions of a wanted type from what is in scope."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from signatures import SIGNATURES, Signature

from tmigrate.tilelang.ir.expressions import (
    AddressOf,
    Binary,
    BinaryOp,
    Bitcast,
    Call,
    Cast,
    Compare,
    CompareOp,
    Const,
    DynamicShared,
    Expr,
    Extent,
    LaunchIndex,
    LaunchIndexKind,
    Logical,
    LogicalOp,
    MakeArray,
    MakeStruct,
    Member,
    NamedConst,
    PointerAdd,
    PointerDifference,
    Reduce,
    ReduceOp,
    Select,
    Subscript,
    Unary,
    UnaryOp,
    Var,
    type_of,
)
from tmigrate.tilelang.ir.module import Function, GlobalVariable, Level
from tmigrate.tilelang.ir.rounding import round_float
from tmigrate.tilelang.ir.structs import BUILTIN_STRUCTS, definition_of
from tmigrate.tilelang.ir.types import (
    B1,
    I32,
    I64,
    SCALARS,
    U32,
    U64,
    ArrayType,
    PointerType,
    ScalarType,
    Space,
    StructDefinition,
    StructType,
    TensorType,
    Type,
)
from tmigrate.tilelang.ir.verify_expressions import is_defined
from tmigrate.tilelang.ir.view import root_of

T = TypeVar("T")

FLOATS = (
    0.0,
    -0.0,
    1.0,
    -1.5,
    0.1,
    1e10,
    1e-30,
    3e38,
    16777216.0,
    123456789.0,
    math.inf,
    -math.inf,
    math.nan,
)
WORDS = (
    "",
    "%d %s\n",
    'say "hi"',
    "back\\slash",
    "\x00\x07\x7f",
    "\u00e9\u4e2d\U0001f600",
    "\ud800",
    "{x}",
    "'",
)


def literal(g: Expressions, t: ScalarType) -> Const:
    """A literal of a scalar type, extremes among them."""
    if t.is_bool:
        return Const(bool(g.integer(0, 1)), t)
    if t.is_float:
        return Const(round_float(g.choice(FLOATS), t), t)
    low, high = (-(1 << (t.bits - 1)), (1 << (t.bits - 1)) - 1) if t.is_signed else (0, (1 << t.bits) - 1)
    return Const(g.choice((0, 1, 7, low, high, -1 if t.is_signed else 2)), t)


class Expressions:
    """Makes expressions; `frozen` names what may be neither written nor addressed."""

    level: Level
    scope: list[Var]
    frozen: set[str]
    structs: dict[str, StructDefinition]
    constants: tuple[NamedConst, ...]
    variables: tuple[GlobalVariable, ...]
    callees: list[tuple[Function, bool]]

    def __init__(self, chooser: Any, depth: int, levels: Sequence[Level] | None) -> None:
        self.chooser = chooser
        self.depth = depth
        self.levels = levels
        self.serial = 0

    # ---- choices -------------------------------------------------------------------------------------

    def integer(self, low: int, high: int) -> int:
        return int(self.chooser.integer(low, high))

    def choice(self, options: Sequence[T]) -> T:
        return options[self.integer(0, len(options) - 1)]

    def rarely(self) -> bool:
        return self.integer(0, 7) == 7

    def fresh(self, stem: str) -> str:
        self.serial += 1
        return f"{stem}{self.serial}"

    def scalar(self) -> ScalarType:
        return self.choice(list(SCALARS.values()))

    def struct_type(self) -> StructType:
        return StructType(self.choice([d.name for d in self.usable_structs()] + list(BUILTIN_STRUCTS)))

    def usable_structs(self) -> list[StructDefinition]:
        """The module's structs; above the thread level those without pointers."""
        found = list(self.structs.values())
        return found if self.level is Level.THREAD else [d for d in found if not self.has_pointer(d)]

    def has_pointer(self, d: StructDefinition) -> bool:
        inner = [self.structs[f.type.name] for f in d.fields if isinstance(f.type, StructType)]
        return any(isinstance(f.type, PointerType) for f in d.fields) or any(map(self.has_pointer, inner))

    def pointer_type(self) -> PointerType:
        pointee: Type = self.scalar()
        kind = self.integer(0, 6)
        if kind == 0:
            pointee = self.struct_type()
        elif kind == 1:
            pointee = PointerType(pointee, self.choice(tuple(Space)))
        return PointerType(pointee, self.choice(tuple(Space)) if self.rarely() else Space.GENERIC)

    # ---- expressions ---------------------------------------------------------------------------------

    def expr(self, t: Type, depth: int) -> Expr:
        """A pure expression of type `t`, at most `depth` levels deep."""
        if isinstance(t, ScalarType):
            return self.scalar_expr(t, depth)
        if isinstance(t, PointerType):
            return self.pointer_expr(t, depth)
        if isinstance(t, StructType):
            return self.struct_expr(t, depth)
        raise AssertionError(f"no expression of type {t}")

    def leaf(self, t: Type) -> Expr | None:
        """A variable or named constant of the type."""
        found: list[Expr] = [v for v in self.scope if v.type == t]
        found += [c for c in self.constants if c.type == t]
        return self.choice(found) if found else None

    def scalar_expr(self, t: ScalarType, depth: int) -> Expr:
        if depth <= 0:
            return (self.leaf(t) if self.integer(0, 2) else None) or literal(self, t)
        makers: list[Callable[[ScalarType, int], Expr | None]] = [
            self.operator, self.operator, self.selection, self.conversion, self.element,
            self.intrinsic, self.intrinsic, self.special, self.called, self.reduction,
        ]  # fmt: skip
        return self.choice(makers)(t, depth - 1) or self.scalar_expr(t, depth - 1)

    def operator(self, t: ScalarType, depth: int) -> Expr:
        if t == B1:
            kind = self.integer(0, 3)
            if kind == 0:
                return Unary(UnaryOp.NOT, self.expr(B1, depth))
            if kind == 1:
                return Logical(self.choice(tuple(LogicalOp)), self.expr(B1, depth), self.expr(B1, depth))
            if kind == 2:
                return self.comparison(depth)
        if t != B1 and self.integer(0, 3) == 0:
            op = self.choice((UnaryOp.NEG, UnaryOp.INVERT)) if t.is_integer else UnaryOp.NEG
            return Unary(op, self.expr(t, depth))
        op = self.choice([op for op in BinaryOp if is_defined(op, t)])
        return Binary(op, self.expr(t, depth), self.expr(t, depth))

    def comparison(self, depth: int) -> Expr:
        t: Type = self.scalar()
        if self.level is Level.THREAD and self.rarely():
            t = self.pointer_type()
        op = self.choice((CompareOp.EQ, CompareOp.NE) if t == B1 else tuple(CompareOp))
        return Compare(op, self.expr(t, depth), self.expr(t, depth))

    def selection(self, t: Type, depth: int) -> Expr:
        return Select(self.expr(B1, depth), self.expr(t, depth), self.expr(t, depth))

    def conversion(self, t: ScalarType, depth: int) -> Expr:
        if self.integer(0, 2) == 0:
            same = [s for s in SCALARS.values() if s.bits == t.bits]
            return Bitcast(t, self.expr(self.choice(same), depth))
        if t in (I64, U64) and self.level is Level.THREAD and self.rarely():
            return Cast(t, self.expr(self.pointer_type(), depth))
        return Cast(t, self.expr(self.scalar(), depth))

    def intrinsic(self, t: ScalarType, depth: int) -> Expr | None:
        rows = [s for s in SIGNATURES if s.result == t and s.is_pure]
        if not rows:
            return None
        row = self.row(rows)
        return Call(row.name, tuple(self.expr(a, depth) for a in row.arguments), t)

    def row(self, rows: Sequence[Signature]) -> Signature:
        """One signature, each name as likely as the others."""
        name = self.choice(list(dict.fromkeys(s.name for s in rows)))
        return self.choice([s for s in rows if s.name == name])

    def called(self, t: ScalarType, depth: int) -> Expr | None:
        usable = [f for f, effectful in self.callees if f.result == t and not effectful and self.can_call(f)]
        if not usable:
            return None
        f = self.choice(usable)
        return Call(f.name, tuple(self.expr(p.type, depth - 1) for p in f.parameters), t)

    def can_call(self, f: Function) -> bool:
        """Whether arguments of the parameters' types can be made here."""
        types = [p.type for p in f.parameters]
        if any(isinstance(t, TensorType) for t in types):
            return False
        return self.level is Level.THREAD or not any(self.leads_to_pointer(t) for t in types)

    def leads_to_pointer(self, t: Type) -> bool:
        if isinstance(t, ArrayType):
            return self.leads_to_pointer(t.element)
        if isinstance(t, StructType) and t.name in self.structs:
            return self.has_pointer(self.structs[t.name])
        return isinstance(t, PointerType)

    def special(self, t: ScalarType, depth: int) -> Expr | None:
        """What has a type of its own."""
        if t == U32 and self.level is Level.THREAD:
            return LaunchIndex(self.choice(tuple(LaunchIndexKind)), self.integer(0, 2))
        if t == I64:
            tensors = [v for v in self.scope if isinstance(v.type, TensorType)]
            if tensors:
                tensor = self.choice(tensors)
                assert isinstance(tensor.type, TensorType)
                return Extent(tensor, self.integer(0, tensor.type.rank - 1))
            if self.level is Level.THREAD:
                p = self.pointer_type()
                return PointerDifference(self.expr(p, depth), self.expr(p, depth))
        return self.member(t, depth)

    def member(self, t: Type, depth: int) -> Expr | None:
        owners = [
            *self.usable_structs(),
            BUILTIN_STRUCTS["float4"],
            BUILTIN_STRUCTS["uint3"],
            BUILTIN_STRUCTS["double2"],
        ]
        found = [(d, f) for d in owners for f in d.fields if f.type == t]
        if not found or depth <= 0:
            return None
        definition, member = self.choice(found)
        return Member(self.expr(definition.type, depth - 1), member.name, t)

    def reduction(self, t: ScalarType, depth: int) -> Expr:
        ops = (ReduceOp.ANY, ReduceOp.ALL) if t == B1 else tuple(ReduceOp)[:4]
        index = self.choice([s for s in SCALARS.values() if s.is_integer])
        start, stop = self.expr(index, depth - 2), self.expr(index, depth - 2)
        var = Var(self.fresh("r"), index)
        self.scope.append(var)
        self.frozen.add(var.name)
        body = self.expr(t, depth - 1)
        self.scope.remove(var)
        return Reduce(self.choice(ops), var, start, stop, body)

    # ---- memory --------------------------------------------------------------------------------------

    def index(self, depth: int) -> Expr:
        return self.expr(self.choice((I32, I32, I64, U32)), min(depth, 1))

    def element(self, t: Type, depth: int) -> Expr | None:
        """One element of a tensor, an array, a pointer or an array member."""
        bases: list[Expr] = [
            v for v in self.scope if isinstance(v.type, ArrayType | TensorType) and v.type.element == t
        ]
        if self.level is Level.THREAD and not isinstance(t, ArrayType) and self.integer(0, 2) == 0:
            bases.append(self.expr(PointerType(t), depth))
        bases += self.array_members(t)
        if self.level is Level.THREAD and not isinstance(t, ArrayType) and (not bases or self.rarely()):
            bases.append(DynamicShared(t))
        if not bases:
            return None
        base = self.choice(bases)
        kind = type_of(base)
        rank = 1 if isinstance(kind, PointerType) else len(kind.shape)  # type: ignore[attr-defined]
        return Subscript(base, tuple(self.index(depth) for _ in range(rank)))

    def array_members(self, t: Type) -> list[Expr]:
        found: list[Expr] = []
        for v in self.scope:
            if isinstance(v.type, StructType):
                for f in definition_of(v.type, self.structs).fields:
                    if isinstance(f.type, ArrayType) and f.type.element == t:
                        found.append(Member(v, f.name, f.type))
        return found

    def place(self, t: Type, depth: int) -> Expr | None:
        """A place of type `t` that may be written."""
        found: list[Expr] = [v for v in self.scope if v.type == t]
        made = self.element(t, depth)
        if made is not None:
            found.append(made)
        for v in self.scope:
            if isinstance(v.type, StructType):
                members = definition_of(v.type, self.structs).fields
                found += [Member(v, f.name, t) for f in members if f.type == t]
        found = [e for e in found if self.writable(e)]
        return self.choice(found) if found else None

    def writable(self, e: Expr) -> bool:
        root = root_of(e)
        return not (isinstance(root, Var) and root.name in self.frozen)

    def pointer_expr(self, t: PointerType, depth: int) -> Expr:
        if depth > 0:
            kind = self.integer(0, 5)
            if kind == 0:
                return PointerAdd(self.expr(t, depth - 1), self.expr(self.choice((I32, I64, U32)), 1))
            if kind == 1:
                return Cast(t, self.expr(self.choice((I64, U64)), depth - 1))
            if kind == 2:
                return Cast(t, self.expr(self.pointer_type(), depth - 1))
            if kind == 3 and t.space is Space.SHARED:
                return DynamicShared(t.pointee)
            if kind == 4:
                place = self.place(t.pointee, depth - 1) or self.array_of(t.pointee)
                if place is not None:
                    return AddressOf(place, t)
            if kind == 5:
                return self.selection(t, depth - 1)
        if t.space is Space.SHARED and self.integer(0, 1):
            return DynamicShared(t.pointee)
        return self.leaf(t) or Const(self.choice((0, 16)), t)

    def array_of(self, element: Type) -> Expr | None:
        found = [v for v in self.scope if isinstance(v.type, ArrayType) and v.type.element == element]
        found = [v for v in found if v.name not in self.frozen]
        return self.choice(found) if found else None

    def struct_expr(self, t: StructType, depth: int) -> Expr:
        found = self.leaf(t)
        if found is not None and self.integer(0, 1):
            return found
        if depth > 0 and self.rarely():
            return self.selection(t, depth - 1)
        members = definition_of(t, self.structs).fields
        return MakeStruct(t, tuple(self.value(f.type, depth - 1) for f in members))

    def value(self, t: Type, depth: int) -> Expr:
        """An expression of any type that a struct may hold; arrays included."""
        if isinstance(t, ArrayType):
            count = self.integer(0, t.count)
            return MakeArray(t, tuple(self.value(t.element, depth - 1) for _ in range(count)))
        return self.expr(t, depth)


__all__ = ["WORDS", "Expressions", "literal"]
