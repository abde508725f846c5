"""Expressions of IR as Python source: the first half of the interpreter's compiler.

Places (what can be stored to) compile to a pair of sources, (buffer, byte offset).  Sums and products of
integers wrap once, at the root of a chain: modulo 2^n that is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tmigrate.tilelang.interpreter import integers
from tmigrate.tilelang.interpreter.arithmetic import Arithmetic
from tmigrate.tilelang.interpreter.memory import NULL, POINTER, Access, Buffer, CellKind, FaultError
from tmigrate.tilelang.interpreter.operations import OPERATIONS, Shape
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
    MakeArray,
    MakeStruct,
    Member,
    NamedConst,
    PointerAdd,
    PointerDifference,
    Reduce,
    ReduceOp,
    Select,
    StringConst,
    Subscript,
    Unary,
    UnaryOp,
    Var,
    type_of,
)
from tmigrate.tilelang.ir.module import Module
from tmigrate.tilelang.ir.structs import definition_of, size_of
from tmigrate.tilelang.ir.types import (
    ArrayType,
    PointerType,
    ScalarType,
    StructType,
    TensorType,
    Type,
)

Place = tuple[str, str]
_RING = {BinaryOp.ADD: "+", BinaryOp.SUB: "-", BinaryOp.MUL: "*"}
_PLAIN = {BinaryOp.AND: "&", BinaryOp.OR: "|", BinaryOp.XOR: "^", BinaryOp.FLOOR_MOD: "%"}
_INDEX = {
    LaunchIndexKind.THREAD: "thread",
    LaunchIndexKind.BLOCK: "block",
    LaunchIndexKind.BLOCK_SIZE: "block_size",
    LaunchIndexKind.GRID_SIZE: "grid_size",
}


class Scope:
    """What one compiled function shares with the others: the namespace, the module, the arithmetic."""

    def __init__(
        self, module: Module, arithmetic: Arithmetic, constants: Mapping[str, int | float | bool]
    ) -> None:
        self.module = module
        self.arithmetic = arithmetic
        self.constants = constants
        self.structs = module.struct_table
        self.access = Access(arithmetic.reinterpret, self._unknown)
        self.namespace: dict[str, Any] = {
            "Buffer": Buffer,
            "NULL": NULL,
            "difference": pointer_difference,
            "address": address_number,
            **arithmetic.namespace(),
        }
        self._names: dict[Any, str] = {}
        self._leaves: dict[Type, tuple[tuple[int, CellKind], ...]] = {}
        self.buffers: dict[int, Buffer] = {}

    def _unknown(self, buffer: Buffer, offset: int, kind: CellKind) -> Any:
        if not isinstance(kind, ScalarType):
            return NULL
        if kind.is_float:
            return self.arithmetic.unknown((buffer.name, offset), kind)
        return 0

    def use(self, key: Any, make: Callable[[], Any], hint: str) -> str:
        """The name of an object in generated code, made on first use of its key."""
        name = self._names.get(key)
        if name is None:
            name = f"{hint}_{len(self._names)}"
            self._names[key] = name
            self.namespace[name] = make()
        return name

    def leaves(self, t: Type) -> tuple[tuple[int, CellKind], ...]:
        """The scalars and pointers of a type with their byte offsets."""
        found = self._leaves.get(t)
        if found is None:
            found = tuple(self._find_leaves(t))
            self._leaves[t] = found
        return found

    def _find_leaves(self, t: Type) -> list[tuple[int, CellKind]]:
        if isinstance(t, ScalarType):
            return [(0, t)]
        if isinstance(t, PointerType):
            return [(0, POINTER)]
        if isinstance(t, ArrayType):
            width = size_of(t.element, self.structs)
            return [(k * width + o, c) for k in range(t.count) for o, c in self.leaves(t.element)]
        if isinstance(t, StructType):
            fields = definition_of(t, self.structs).fields
            return [(f.offset + o, c) for f in fields for o, c in self.leaves(f.type)]
        raise FaultError("unsupported", f"a value of type {t}")

    def common_kind(self, t: Type) -> CellKind | None:
        """The cell kind that all leaves share, if they also fill the type."""
        leaves = self.leaves(t)
        first = leaves[0][1] if leaves else None
        if first is None or any(kind is not first for _, kind in leaves):
            return None
        return first if len(leaves) * first.bytes == size_of(t, self.structs) else None

    def loader(self, t: Type) -> str:
        """The name of a function (buffer, offset) -> value; a struct's value is the tuple of its leaves."""
        return self.use(("load", t), lambda: self._make_loader(t), "ld")

    def _make_loader(self, t: Type) -> Callable[[Buffer, int], Any]:
        if not isinstance(t, StructType | ArrayType):
            return self.access.loader(self.leaves(t)[0][1])
        parts = [(offset, self.access.loader(kind)) for offset, kind in self.leaves(t)]
        return lambda buffer, at: tuple(load(buffer, at + offset) for offset, load in parts)

    def storer(self, t: Type) -> str:
        """The name of a function (buffer, offset, value)."""
        return self.use(("store", t), lambda: self._make_storer(t), "st")

    def _make_storer(self, t: Type) -> Callable[[Buffer, int, Any], None]:
        if not isinstance(t, StructType | ArrayType):
            return self.access.storer(self.leaves(t)[0][1])
        parts = [(offset, self.access.storer(kind)) for offset, kind in self.leaves(t)]

        def store(buffer: Buffer, at: int, values: tuple[Any, ...]) -> None:
            for (offset, put), value in zip(parts, values, strict=True):
                put(buffer, at + offset, value)

        return store

    def new_buffer(self, name: str, t: Type) -> str:
        """Source that makes storage for one variable."""
        kind = self.common_kind(t)
        element = "None" if kind is None else self.use(("kind", kind), lambda: kind, "kind")
        return f"Buffer({name!r}, {size_of(t, self.structs)}, {element})"


def address_number(pointer: tuple[Buffer, int]) -> int:
    """A pointer as an integer; null is 0."""
    return 0 if pointer[0] is NULL[0] else pointer[0].base + pointer[1]


def pointer_difference(left: tuple[Buffer, int], right: tuple[Buffer, int], width: int) -> int:
    """Elements between two pointers into one buffer."""
    if left[0] is not right[0]:
        raise FaultError("bounds", f"the difference of pointers into {left[0].name} and {right[0].name}")
    return (left[1] - right[1]) // width


class ExpressionCompiler:
    """Compiles the expressions of one function; `resident` variables live in buffers."""

    def __init__(self, scope: Scope, resident: frozenset[str], generators: frozenset[str]) -> None:
        self.scope = scope
        self.resident = resident
        self.generators = generators
        self.temporaries = 0
        self.reduction_variables: list[str] = []

    # ---- values ----------------------------------------------------------------------------------

    def value(self, e: Expr) -> str:
        """Python source of an expression's value."""
        return _VALUES[type(e)](self, e)

    def temporary(self) -> str:
        self.temporaries += 1
        return f"t_{self.temporaries}"

    def call_function(self, key: Any, make: Callable[[], Any], hint: str, *arguments: str) -> str:
        return f"{self.scope.use(key, make, hint)}({', '.join(arguments)})"

    def const(self, e: Const | NamedConst) -> str:
        value = self.scope.constants.get(e.name, e.value) if isinstance(e, NamedConst) else e.value
        t = e.type
        if isinstance(t, PointerType):
            return "NULL" if value == 0 else self._pointer_from_integer(repr(int(value)))
        assert isinstance(t, ScalarType)
        if t.is_float:
            made = self.scope.arithmetic.constant(float(value), t)
            if isinstance(made, int):
                return repr(made) if made >= 0 else f"({made})"
            return self.scope.use(("constant", repr(made), t), lambda: made, "c")
        if t.is_bool:
            return repr(bool(value))
        return f"({value})" if value < 0 else repr(int(value))

    def var(self, e: Var) -> str:
        if e.name in self.reduction_variables:
            return f"v_{e.name}"
        if any(v.name == e.name for v in self.scope.module.variables):
            return f"(g_{e.name}, 0)"
        if isinstance(e.type, ArrayType):
            return f"(v_{e.name}, 0)"
        if e.name in self.resident:
            return f"{self.scope.loader(e.type)}(v_{e.name}, 0)"
        return f"v_{e.name}"

    def launch_index(self, e: LaunchIndex) -> str:
        return f"T.{_INDEX[e.kind]}[{e.axis}]"

    def raw(self, e: Expr) -> str:
        """An integer expression that is right modulo 2^bits only."""
        if isinstance(e, Binary) and e.op in _RING and type_of(e) == type_of(e.left):
            return f"({self.raw(e.left)} {_RING[e.op]} {self.raw(e.right)})"
        if isinstance(e, Unary) and e.op is UnaryOp.NEG:
            return f"(-{self.raw(e.operand)})"
        return self.value(e)

    def unary(self, e: Unary) -> str:
        t = e.type
        assert isinstance(t, ScalarType)
        if e.op is UnaryOp.NOT:
            return f"(not {self.value(e.operand)})"
        if t.is_float:
            arithmetic = self.scope.arithmetic
            return self.call_function(("neg", t), lambda: arithmetic.negate(t), "neg", self.value(e.operand))
        if t.is_bool:
            return f"(not {self.value(e.operand)})"
        sign = "-" if e.op is UnaryOp.NEG else "~"
        return integers.wrapping(f"{sign}{self.raw(e.operand)}", t)

    def binary(self, e: Binary) -> str:
        t = e.type
        assert isinstance(t, ScalarType)
        if t.is_float:
            template = self.scope.arithmetic.template(e.op, t)
            left, right = self.value(e.left), self.value(e.right)
            if template is not None:
                return template.format(a=left, b=right)
            return self.call_function(
                ("binary", e.op, t),
                lambda: self.scope.arithmetic.binary(e.op, t),
                e.op.name.lower(),
                left,
                right,
            )
        if e.op in _RING and not t.is_bool:
            return integers.wrapping(self.raw(e), t)
        left, right = self.value(e.left), self.value(e.right)
        if e.op in _PLAIN:
            return f"({left} {_PLAIN[e.op]} {right})"
        if e.op is BinaryOp.FLOOR_DIV:
            return integers.wrapping(f"{left} // {right}", t)
        maker: Callable[[], Any] = {
            BinaryOp.TRUNC_DIV: lambda: integers.trunc_div,
            BinaryOp.TRUNC_REM: lambda: integers.trunc_rem,
            BinaryOp.SHL: lambda: integers.shift_left(t),
            BinaryOp.SHR: lambda: integers.shift_right(t),
        }[e.op]
        made = self.call_function(("integer", e.op, t), maker, e.op.name.lower(), left, right)
        return integers.wrapping(made, t) if e.op is BinaryOp.TRUNC_DIV else made

    def compare(self, e: Compare) -> str:
        t = type_of(e.left)
        left, right = self.value(e.left), self.value(e.right)
        if isinstance(t, PointerType):
            return f"(address({left}) {e.op.value} address({right}))"
        assert isinstance(t, ScalarType)
        if t.is_float:
            return self.call_function(
                ("compare", e.op), lambda: self.scope.arithmetic.compare(e.op), e.op.name.lower(), left, right
            )
        return f"({left} {e.op.value} {right})"

    def logical(self, e: Logical) -> str:
        return f"({self.value(e.left)} {e.op.value} {self.value(e.right)})"

    def select(self, e: Select) -> str:
        return f"({self.value(e.then)} if {self.value(e.condition)} else {self.value(e.otherwise)})"

    def cast(self, e: Cast) -> str:
        source, to = type_of(e.operand), e.type
        if isinstance(to, PointerType):
            if isinstance(source, PointerType | ArrayType):
                return self.value(e.operand)
            return self._pointer_from_integer(self.value(e.operand))
        if isinstance(source, PointerType):
            return f"address({self.value(e.operand)})"
        if not (isinstance(source, ScalarType) and isinstance(to, ScalarType)):
            return self.value(e.operand)
        return self._cast_scalar(e.operand, source, to)

    def _cast_scalar(self, operand: Expr, source: ScalarType, to: ScalarType) -> str:
        arithmetic = self.scope.arithmetic
        if source.is_float and to.is_float:
            return self.call_function(
                ("convert", source, to), lambda: arithmetic.convert(source, to), "cvt", self.value(operand)
            )
        if to.is_float:
            return self.call_function(
                ("from", to), lambda: arithmetic.from_integer(to), "from_int", self.value(operand)
            )
        if source.is_float and to.is_bool:
            zero = arithmetic.constant(0.0, source)
            return self.call_function(
                ("truth", source), lambda: lambda x: bool(x != zero), "truth", self.value(operand)
            )
        if source.is_float:
            return self.call_function(
                ("to", to, "rz"), lambda: arithmetic.to_integer(to, "rz"), "to_int", self.value(operand)
            )
        if to.is_bool:
            return f"({self.value(operand)} != 0)"
        if source.is_bool:
            return f"int({self.value(operand)})"
        low, high = integers.limits(source)
        least, greatest = integers.limits(to)
        if least <= low and high <= greatest:
            return self.value(operand)
        narrowing = to.bits <= source.bits
        return integers.wrapping(self.raw(operand) if narrowing else self.value(operand), to)

    def _pointer_from_integer(self, code: str) -> str:
        return f"T.machine.pointer({code})"

    def bitcast(self, e: Bitcast) -> str:
        source, to = type_of(e.operand), e.type
        assert isinstance(source, ScalarType) and isinstance(to, ScalarType)
        reinterpret = self.scope.arithmetic.reinterpret
        return self.call_function(
            ("bits", source, to), lambda: lambda x: reinterpret(x, source, to), "bits", self.value(e.operand)
        )

    # ---- memory ----------------------------------------------------------------------------------

    def load(self, e: Subscript | Member) -> str:
        if isinstance(e, Member) and not self.is_place(e.base):
            return self._member_of_value(e)
        if isinstance(e.type, ArrayType):
            buffer, offset = self.place(e)
            return f"({buffer}, {offset})"
        buffer, offset = self.place(e)
        return f"{self.scope.loader(e.type)}({buffer}, {offset})"

    def _member_of_value(self, e: Member) -> str:
        base = type_of(e.base)
        assert isinstance(base, StructType)
        member = definition_of(base, self.scope.structs).field(e.name)
        assert member is not None
        width = size_of(member.type, self.scope.structs)
        inside = [
            k
            for k, (offset, _) in enumerate(self.scope.leaves(base))
            if member.offset <= offset < member.offset + width
        ]
        if isinstance(member.type, StructType | ArrayType):
            return f"{self.value(e.base)}[{inside[0]}:{inside[-1] + 1}]"
        return f"{self.value(e.base)}[{inside[0]}]"

    def is_place(self, e: Expr) -> bool:
        """Whether an expression names memory."""
        if isinstance(e, Var):
            return e.name in self.resident or isinstance(e.type, ArrayType)
        return isinstance(e, Subscript) or (isinstance(e, Member) and self.is_place(e.base))

    def place(self, e: Expr) -> Place:
        """Sources of the buffer and of the byte offset; the first is evaluated first."""
        if isinstance(e, Var):
            variable = any(v.name == e.name for v in self.scope.module.variables)
            return (f"g_{e.name}" if variable else f"v_{e.name}"), "0"
        if isinstance(e, Member):
            buffer, offset = self.place(e.base)
            base = type_of(e.base)
            assert isinstance(base, StructType)
            member = definition_of(base, self.scope.structs).field(e.name)
            assert member is not None
            return buffer, (f"{offset} + {member.offset}" if member.offset else offset)
        assert isinstance(e, Subscript), f"{type(e).__name__} is not a place"
        return self._element_place(e)

    def _element_place(self, e: Subscript) -> Place:
        t = type_of(e.base)
        indices = [self.value(i) for i in e.indices]
        if isinstance(t, TensorType):
            tensor = self.value(e.base)
            return f"{tensor}.buffer", f"{tensor}.at({', '.join(indices)})"
        if isinstance(t, ArrayType):
            buffer, offset = self.place(e.base)
            width = size_of(t.element, self.scope.structs)
            flat = indices[0]
            for index, extent in zip(indices[1:], t.shape[1:], strict=True):
                flat = f"({flat}) * {extent} + {index}"
            return buffer, f"{offset} + ({flat}) * {width}"
        assert isinstance(t, PointerType)
        buffer, offset = self.pointer(e.base)
        return buffer, f"{offset} + {indices[0]} * {size_of(t.pointee, self.scope.structs)}"

    def pointer(self, e: Expr) -> Place:
        """A pointer value split into its two halves."""
        if isinstance(e, Var) and e.name not in self.resident and isinstance(e.type, PointerType):
            return f"v_{e.name}[0]", f"v_{e.name}[1]"
        if isinstance(e, PointerAdd):
            buffer, offset = self.pointer(e.pointer)
            t = type_of(e.pointer)
            width = size_of(t.pointee if isinstance(t, PointerType) else t, self.scope.structs)
            return buffer, f"{offset} + {self.value(e.offset)} * {width}"
        if isinstance(e, AddressOf):
            return self.place(e.place)
        name = self.temporary()
        return f"({name} := {self.value(e)})[0]", f"{name}[1]"

    def pointer_value(self, e: PointerAdd | AddressOf) -> str:
        buffer, offset = self.pointer(e)
        return f"({buffer}, {offset})"

    def pointer_difference(self, e: PointerDifference) -> str:
        t = type_of(e.left)
        assert isinstance(t, PointerType)
        width = size_of(t.pointee, self.scope.structs)
        return f"difference({self.value(e.left)}, {self.value(e.right)}, {width})"

    def dynamic_shared(self, e: DynamicShared) -> str:
        return "(T.shared.dynamic, 0)"

    def make(self, e: MakeStruct | MakeArray) -> str:
        parts = []
        for v in e.values:
            spread = isinstance(type_of(v), StructType | ArrayType)
            parts.append(("*" if spread else "") + self.value(v))
        if isinstance(e, MakeArray):
            assert isinstance(e.type, ArrayType)
            parts += [self._zero(e.type.element)] * (e.type.count - len(parts))
        return f"({', '.join(parts)},)" if parts else "()"

    def _zero(self, t: Type) -> str:
        if isinstance(t, ScalarType):
            return self.const(Const(0.0 if t.is_float else 0, t))
        if isinstance(t, PointerType):
            return "NULL"
        kinds = [kind for _, kind in self.scope.leaves(t)]
        zeros = [self._zero(k) if isinstance(k, ScalarType) else "NULL" for k in kinds]
        return "*(" + ", ".join(zeros) + ",)"

    def extent(self, e: Extent) -> str:
        return f"{self.value(e.tensor)}.shape[{e.axis}]"

    # ---- calls and reductions --------------------------------------------------------------------

    def call(self, e: Call) -> str:
        entry = OPERATIONS.get(e.callee)
        if entry is None:
            arguments = ", ".join(["T", *map(self.value, e.arguments)])
            made = f"f_{e.callee}({arguments})"
            return f"(yield from {made})" if e.callee in self.generators else made
        if entry.shape is Shape.COLLECTIVE:
            arguments = "".join(f", {self.value(a)}" for a in e.arguments)
            return f"(yield ({e.callee!r}{arguments}))" if arguments else f"(yield ({e.callee!r},))"
        if entry.shape is Shape.HOST:
            return f"T.machine.{e.callee}({', '.join(map(self.value, e.arguments))})"
        return self._operation(e, entry.shape, entry.detail)

    def _operation(self, e: Call, shape: Shape, detail: Any) -> str:
        types = tuple(type_of(a) for a in e.arguments)
        arithmetic = self.scope.arithmetic
        arguments = [self.value(a) for a in e.arguments]
        key, hint = (e.callee, types), e.callee
        first = types[0]
        if shape is Shape.ATOMIC:
            assert isinstance(first, PointerType) and isinstance(first.pointee, ScalarType)
            element = first.pointee
            return self.call_function(key, lambda: self._atomic(detail, element), hint, *arguments)
        assert isinstance(first, ScalarType)
        if shape is Shape.FLOAT:
            return self.call_function(key, lambda: arithmetic.function(e.callee, first), hint, *arguments)
        if shape is Shape.ROUND:
            to = e.type
            assert isinstance(to, ScalarType)
            return self.call_function(key, lambda: arithmetic.to_integer(to, detail), hint, *arguments)
        return self.call_function(key, lambda: detail(types), hint, *arguments)

    def _atomic(self, word: str, t: ScalarType) -> Callable[..., Any]:
        from tmigrate.tilelang.interpreter.operations import atomic_rule

        arithmetic = self.scope.arithmetic
        add = arithmetic.binary(BinaryOp.ADD, t) if t.is_float else lambda a, b: integers.wrap(a + b, t)
        less = arithmetic.compare(CompareOp.LT) if t.is_float else lambda a, b: a < b
        rule = atomic_rule(word, t, add, less)
        load, store = self.scope.access.loader(t), self.scope.access.storer(t)

        def apply(pointer: tuple[Buffer, int], *operands: Any) -> Any:
            old = load(*pointer)
            store(*pointer, rule(old, *operands))
            return old

        return apply

    def reduce(self, e: Reduce) -> str:
        start, stop = self.value(e.start), self.value(e.stop)
        self.reduction_variables.append(e.var.name)
        body = self.value(e.body)
        self.reduction_variables.pop()
        t = e.type
        assert isinstance(t, ScalarType)
        fold = self.scope.use(("reduce", e.op, t), lambda: reducer(self.scope.arithmetic, e.op, t), "fold")
        return f"{fold}(({body} for v_{e.var.name} in T.machine.counted({start}, {stop}, 1)))"


def reducer(arithmetic: Arithmetic, op: ReduceOp, t: ScalarType) -> Callable[[Any], Any]:
    """A function that folds an iterable."""
    if op in (ReduceOp.ANY, ReduceOp.ALL):
        return any if op is ReduceOp.ANY else all
    if t.is_float:
        table: dict[ReduceOp, Callable[..., Any]] = {
            ReduceOp.SUM: arithmetic.binary(BinaryOp.ADD, t),
            ReduceOp.PRODUCT: arithmetic.binary(BinaryOp.MUL, t),
            ReduceOp.MAX: arithmetic.function("fmax", t),
            ReduceOp.MIN: arithmetic.function("fmin", t),
        }
        neutral = arithmetic.neutral(op, t)
    else:
        low, high = integers.limits(t)
        neutral = {ReduceOp.SUM: 0, ReduceOp.PRODUCT: 1, ReduceOp.MAX: low, ReduceOp.MIN: high}[op]
        table = {
            ReduceOp.SUM: lambda a, b: integers.wrap(a + b, t),
            ReduceOp.PRODUCT: lambda a, b: integers.wrap(a * b, t),
            ReduceOp.MAX: max,
            ReduceOp.MIN: min,
        }
    combine = table[op]

    def fold(values: Any) -> Any:
        total = neutral
        for value in values:
            total = combine(total, value)
        return total

    return fold


_VALUES: dict[type[Expr], Callable[[ExpressionCompiler, Any], str]] = {
    Const: ExpressionCompiler.const,
    NamedConst: ExpressionCompiler.const,
    StringConst: lambda self, e: repr(e.value),
    Var: ExpressionCompiler.var,
    LaunchIndex: ExpressionCompiler.launch_index,
    Unary: ExpressionCompiler.unary,
    Binary: ExpressionCompiler.binary,
    Compare: ExpressionCompiler.compare,
    Logical: ExpressionCompiler.logical,
    Select: ExpressionCompiler.select,
    Cast: ExpressionCompiler.cast,
    Bitcast: ExpressionCompiler.bitcast,
    Subscript: ExpressionCompiler.load,
    Member: ExpressionCompiler.load,
    MakeStruct: ExpressionCompiler.make,
    MakeArray: ExpressionCompiler.make,
    AddressOf: ExpressionCompiler.pointer_value,
    PointerAdd: ExpressionCompiler.pointer_value,
    PointerDifference: ExpressionCompiler.pointer_difference,
    DynamicShared: ExpressionCompiler.dynamic_shared,
    Call: ExpressionCompiler.call,
    Reduce: ExpressionCompiler.reduce,
    Extent: ExpressionCompiler.extent,
}
