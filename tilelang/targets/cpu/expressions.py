"""Expressions to C, natively.  Every operator is parenthesised; the C is read by compilers first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tmigrate.diagnostics import Diagnostic, RefusedError
from tmigrate.locations import Location
from tmigrate.tilelang.ir.expressions import (
    AddressOf,
    Binary,
    BinaryOp,
    Bitcast,
    Call,
    Cast,
    Compare,
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
    Select,
    StringConst,
    Subscript,
    Unary,
    UnaryOp,
    Var,
    type_of,
)
from tmigrate.tilelang.ir.intrinsics import INTRINSICS
from tmigrate.tilelang.ir.structs import Structs, definition_of
from tmigrate.tilelang.ir.types import (
    ArrayType,
    PointerType,
    ScalarType,
    StructType,
    TensorType,
    Type,
    is_float,
)
from tmigrate.tilelang.targets.cpu.literals import literal, string
from tmigrate.tilelang.targets.cpu.lowering import LOWERING
from tmigrate.tilelang.targets.cpu.names import c_type, declaration, identifier, row_pointer, variable_name

_ARITHMETIC = {BinaryOp.ADD: "+", BinaryOp.SUB: "-", BinaryOp.MUL: "*", BinaryOp.DIV: "/"}
_BITWISE = {BinaryOp.AND: "&", BinaryOp.OR: "|", BinaryOp.XOR: "^"}
_FUNCTIONS = {
    BinaryOp.FLOOR_DIV: "floordiv", BinaryOp.FLOOR_MOD: "floormod",
    BinaryOp.TRUNC_DIV: "truncdiv", BinaryOp.TRUNC_REM: "truncrem",
    BinaryOp.SHL: "shl", BinaryOp.SHR: "shr",
}  # fmt: skip
_HALF_NAMES = {BinaryOp.ADD: "add", BinaryOp.SUB: "sub", BinaryOp.MUL: "mul", BinaryOp.DIV: "div"}
_DIMENSION = {LaunchIndexKind.BLOCK_SIZE: "tm_block_dim", LaunchIndexKind.GRID_SIZE: "tm_grid_dim"}


@dataclass
class Surroundings:
    """What expressions of one C function may refer to.

    `in_order`: blocks run in order, so that atomics may be plain.  `check`: every index is checked.
    `memory` names the variables whose address is taken (for shadow execution).
    """

    structs: Structs
    in_order: bool = False
    check: bool = False
    memory: frozenset[str] = field(default_factory=frozenset)


class Expressions:
    """Writes one function's expressions."""

    def __init__(self, around: Surroundings) -> None:
        self.around = around
        self.here: Location | None = None  # of the statement that is being written
        self._rules: dict[type[Expr], Callable[..., str]] = {
            Const: lambda e: self.constant(e.value, e.type),
            NamedConst: lambda e: self.constant(e.value, e.type),
            StringConst: lambda e: string(e.value),
            Var: self.variable,
            LaunchIndex: self.launch_index,
            Unary: self.unary,
            Binary: self.binary,
            Compare: self.compare,
            Logical: self.logical,
            Select: self.select,
            Cast: self.cast,
            Bitcast: self.bitcast,
            Subscript: self.load,
            Member: self.member,
            MakeStruct: self.make_struct,
            MakeArray: self.make_array,
            AddressOf: self.address_of,
            PointerAdd: self.pointer_add,
            PointerDifference: lambda e: f"((int64_t)({self.counted(e.left)} - {self.counted(e.right)}))",
            DynamicShared: lambda e: f"(({c_type(e.type)})tm_f->shared)",
            Call: self.call,
            Extent: self.extent,
            Reduce: self.reduce,
        }

    def value(self, e: Expr) -> str:
        """The C expression of a value."""
        return self._rules[type(e)](e)

    def wide(self, e: Expr) -> str:
        """An integer expression in 64 bits."""
        return f"(int64_t)({self.value(e)})"

    # ---- leaves ----------------------------------------------------------------------------------------

    def constant(self, value: int | float | bool, t: Type) -> str:
        """A literal."""
        return literal(value, t)

    def variable(self, e: Var) -> str:
        """A variable; one of array type stands for a pointer to its first element."""
        name = variable_name(e)
        if isinstance(e.type, ArrayType) and len(e.type.shape) > 1:
            return f"(({c_type(e.type)}){name})"
        return name

    def launch_index(self, e: LaunchIndex) -> str:
        """A size of the launch; thread and block indices are variables of loops by now."""
        if e.kind not in _DIMENSION:
            raise ValueError(f"{e.kind.value} is left after the thread lowering")
        return f"{_DIMENSION[e.kind]}[{e.axis}]"

    def extent(self, e: Extent) -> str:
        """An extent of a tensor variable: a constant that its declaration defines."""
        assert isinstance(e.tensor, Var)
        return extent_name(e.tensor, e.axis)

    def reduce(self, e: Reduce) -> str:
        """A fold that the loop lowering left in place."""
        raise ValueError("Reduce must stand at the root of an assignment when C is written")

    # ---- operators -------------------------------------------------------------------------------------

    def unary(self, e: Unary) -> str:
        """`-x`, `~x`, `not x`."""
        t, x = e.type, self.value(e.operand)
        if e.op is UnaryOp.NOT:
            return f"(!{x})"
        if is_float(t) and isinstance(t, ScalarType) and t.bits == 16:
            return f"tm_neg_{t}({x})"
        return self._narrow(t, f"({e.op.value}{x})")

    def binary(self, e: Binary) -> str:
        """Arithmetic; narrow integers are cut back to their width."""
        return self.binary_operation(e.op, e.type, self.value(e.left), self.value(e.right), e.right)

    def binary_operation(self, op: BinaryOp, t: Type, left: str, right: str, amount: Expr) -> str:
        """`left op right` of type t."""
        assert isinstance(t, ScalarType)
        if op in (BinaryOp.SHL, BinaryOp.SHR) and _in_range(amount, t):
            sign = "<<" if op is BinaryOp.SHL else ">>"
            return self._narrow(t, f"({left} {sign} {right})")
        if op in _FUNCTIONS:
            return f"tm_{_FUNCTIONS[op]}_{t}({left}, {right})"
        if op in _BITWISE:
            return self._narrow(t, f"({left} {_BITWISE[op]} {right})")
        if t.is_float and t.bits == 16:
            return f"tm_{_HALF_NAMES[op]}_{t}({left}, {right})"
        return self._narrow(t, f"({left} {_ARITHMETIC[op]} {right})")

    def _narrow(self, t: Type, text: str) -> str:
        if isinstance(t, ScalarType) and not t.is_float and t.bits < 32:
            return f"(({c_type(t)}){text})"
        return text

    def compare(self, e: Compare) -> str:
        """A comparison, as bool."""
        left, right, t = self.value(e.left), self.value(e.right), type_of(e.left)
        if is_float(t) and isinstance(t, ScalarType) and t.bits == 16:
            left, right = f"tm_{t}_to_f32({left})", f"tm_{t}_to_f32({right})"
        return f"({left} {e.op.value} {right})"

    def logical(self, e: Logical) -> str:
        """`and`, `or`."""
        sign = "&&" if e.op is LogicalOp.AND else "||"
        return f"({self.value(e.left)} {sign} {self.value(e.right)})"

    def select(self, e: Select) -> str:
        """A conditional expression."""
        return f"({self.value(e.condition)} ? {self.value(e.then)} : {self.value(e.otherwise)})"

    # ---- conversions -----------------------------------------------------------------------------------

    def cast(self, e: Cast) -> str:
        """A conversion of a value."""
        return self.convert(self.value(e.operand), type_of(e.operand), e.type)

    def convert(self, text: str, source: Type, target: Type) -> str:
        """C's conversion, or the saturating one from float to integer."""
        if source == target:
            return text
        if isinstance(source, PointerType) or isinstance(target, PointerType):
            bridge = "(uintptr_t)" if isinstance(source, ScalarType) or isinstance(target, ScalarType) else ""
            return f"(({c_type(target)}){bridge}{text})"
        assert isinstance(source, ScalarType) and isinstance(target, ScalarType)
        if target.is_bool:
            wide = f"tm_{source}_to_f32({text})" if source.is_float and source.bits == 16 else text
            return f"({wide} != 0)"
        if source.is_float and source.bits == 16:
            single = ScalarType("f32", source.kind, 32)
            return self.convert(f"tm_{source}_to_f32({text})", single, target)
        if target.is_float and target.bits == 16:
            wide = text if source.is_float else f"(double){text}"
            return f"tm_{source if source.is_float else 'f64'}_to_{target}({wide})"
        if source.is_float and target.is_integer:
            return f"tm_{source}_to_{target}({text})"
        return f"(({c_type(target)}){text})"

    def bitcast(self, e: Bitcast) -> str:
        """The same bits as another type."""
        source = type_of(e.operand)
        return f"TM_BITCAST({c_type(e.type)}, {c_type(source)}, {self.value(e.operand)})"

    # ---- memory ----------------------------------------------------------------------------------------

    def load(self, e: Subscript) -> str:
        """An element's value."""
        return self.place(e)

    def member(self, e: Member) -> str:
        """A member's value."""
        return self.place(e)

    def place(self, e: Expr) -> str:
        """A C lvalue (or, for a member of a struct value, an rvalue)."""
        if isinstance(e, Var):
            return variable_name(e)
        if isinstance(e, Member):
            return f"{self.place(e.base)}.{identifier('m_', e.name)}"
        if isinstance(e, Subscript):
            return self.subscript(e)
        return self.value(e)

    def counted(self, pointer: Expr) -> str:
        """A pointer to count from in its pointees."""
        t = type_of(pointer)
        assert isinstance(t, PointerType)
        return row_pointer(t, self.value(pointer))

    def pointer_add(self, e: PointerAdd) -> str:
        """`pointer + offset`."""
        moved, t = f"({self.counted(e.pointer)} + {self.value(e.offset)})", e.type
        rows = isinstance(t, PointerType) and isinstance(t.pointee, ArrayType)
        return f"(({c_type(t)}){moved})" if rows else moved

    def subscript(self, e: Subscript) -> str:
        """`base[i][j]`; a tensor's indices are put together row-major."""
        base_type = type_of(e.base)
        base = self.place(e.base) if isinstance(e.base, Var | Member | Subscript) else self.value(e.base)
        if isinstance(base_type, TensorType):
            assert isinstance(e.base, Var)
            return f"{base}[{self.linear_index(e)}]"
        if isinstance(base_type, PointerType):
            base = row_pointer(base_type, base)
        if isinstance(base_type, PointerType) and self.around.check:
            index = self.value(e.indices[0])
            return f"{base}[TM_CHECK_POINTER({base}, {index}, {place_in_source(e.location)})]"
        return base + "".join(f"[{self.index(e, axis)}]" for axis in range(len(e.indices)))

    def linear_index(self, e: Subscript) -> str:
        """`(i * N + j) * K + k` in 64 bits."""
        assert isinstance(e.base, Var)
        text = self.index(e, 0)
        for axis in range(1, len(e.indices)):
            text = f"(int64_t)({text}) * {extent_name(e.base, axis)} + {self.index(e, axis)}"
        return text

    def index(self, e: Subscript, axis: int) -> str:
        """One index, inside a check of its range where checks are asked for."""
        text, base_type = self.value(e.indices[axis]), type_of(e.base)
        if not self.around.check or isinstance(base_type, PointerType):
            return text
        extent = str(base_type.shape[axis]) if isinstance(base_type, ArrayType) else ""
        if isinstance(e.base, Var) and not extent:
            extent = extent_name(e.base, axis)
        return f"tm_check_index(tm_f, {text}, {extent}, {place_in_source(e.location)})"

    def make_struct(self, e: MakeStruct) -> str:
        """A compound literal of all members in order."""
        assert isinstance(e.type, StructType)
        members = definition_of(e.type, self.around.structs).fields
        values = [
            f".{identifier('m_', member.name)} = {self.value(item)}"
            for member, item in zip(members, e.values, strict=True)
        ]
        return f"(({c_type(e.type)}){{{', '.join(values)}}})"

    def make_array(self, e: MakeArray) -> str:
        """`{1.0f, 2.0f}`: only as an initialiser."""
        return "{" + ", ".join(self.value(v) for v in e.values) + "}"

    def address_of(self, e: AddressOf) -> str:
        """The address of a place."""
        if isinstance(type_of(e.place), ArrayType | TensorType):
            return f"(({c_type(e.type)}){self.place(e.place)})"
        return f"(&{self.place(e.place)})"

    # ---- calls -----------------------------------------------------------------------------------------

    def call(self, e: Call) -> str:
        """An intrinsic by the lowering table, a function of the module, or a runtime function (`tm_...`)."""
        arguments = self.arguments(e)
        if e.callee in LOWERING:
            types = [type_of(a) for a in e.arguments]
            return LOWERING[e.callee](e.callee, types, arguments, self.around.in_order)
        if e.callee == "printf":
            return f"TM_PRINT(tm_f, {', '.join(arguments)})"
        if e.callee in INTRINSICS:
            message = f"'{e.callee}' cannot stand here in code for a CPU"
            raise RefusedError(Diagnostic("TM4302", message, e.location))
        if e.callee.startswith("tm_"):
            return f"{e.callee}({', '.join(arguments)})"
        return f"{identifier('f_', e.callee)}({', '.join(['tm_f', *arguments])})"

    def arguments(self, e: Call) -> list[str]:
        """The values of a call's arguments."""
        return [self.value(a) for a in e.arguments]

    # ---- statements' values ----------------------------------------------------------------------------

    def declare(self, var: Var, value: Expr | None) -> list[str]:
        """C lines that introduce a variable."""
        text = declaration(var.type, variable_name(var))
        return [f"{text};" if value is None else f"{text} = {self.value(value)};"]

    def store(self, target: Expr, value: Expr) -> list[str]:
        """C lines that write a place."""
        return [f"{self.place(target)} = {self.value(value)};"]

    def fill(self, target: Expr, array: ArrayType, values: tuple[Expr, ...], count: int) -> list[str]:
        """C lines that write the first `count` elements of an array: the values, then zeros."""
        place = self.place(target)
        zero = Const(0.0 if is_float(array.element) else 0, array.element)
        lines = []
        for flat in range(count):
            text = self.value(values[flat] if flat < len(values) else zero)
            lines.append(f"{place}{''.join(f'[{i}]' for i in unflatten(flat, array.shape))} = {text};")
        return lines

    def give_back(self, value: Expr) -> list[str]:
        """C lines that return a value."""
        return [f"return {self.value(value)};"]

    def settle_parameter(self, parameter: Var) -> list[str]:
        """C lines that a parameter needs before it is used."""
        return []


def unflatten(flat: int, shape: tuple[int, ...]) -> list[int]:
    """The indices of the flat-th element of an array."""
    indices = []
    for extent in reversed(shape):
        indices.append(flat % extent)
        flat //= extent
    return indices[::-1]


def extent_name(tensor: Var, axis: int) -> str:
    """The C constant that holds an extent of a tensor variable."""
    return f"{variable_name(tensor)}_extent{axis}"


def place_in_source(location: Location | None) -> str:
    """File and line, as C arguments."""
    return '"", 0' if location is None else f"{string(location.file)}, {location.line}"


def _in_range(amount: Expr, t: ScalarType) -> bool:
    return isinstance(amount, Const | NamedConst) and 0 <= int(amount.value) < t.bits
