"""Expressions of shadow execution: floats are `tm_shadow` values, structs are passed by address.

A float lives either in a register (a C variable of type `tm_shadow`: scalars whose address is never taken,
and contexts of threads) or in memory: the native value stands there, the shadow memory is asked by address.
Structs always live in memory; an expression of struct type is written as a pointer to one.
"""

from __future__ import annotations

from tmigrate.tilelang.ir.expressions import (
    Binary,
    BinaryOp,
    Bitcast,
    Call,
    Compare,
    CompareOp,
    Const,
    Expr,
    MakeStruct,
    Member,
    Select,
    Subscript,
    Unary,
    Var,
    type_of,
)
from tmigrate.tilelang.ir.intrinsics import INTRINSICS, Effect
from tmigrate.tilelang.ir.structs import definition_of
from tmigrate.tilelang.ir.types import (
    ArrayType,
    ScalarType,
    StructType,
    Type,
    is_float,
)
from tmigrate.tilelang.passes.contexts import is_context
from tmigrate.tilelang.targets.cpu.expressions import Expressions, unflatten
from tmigrate.tilelang.targets.cpu.literals import literal, string
from tmigrate.tilelang.targets.cpu.lowering import LOWERING
from tmigrate.tilelang.targets.cpu.names import c_type, declaration, identifier, spaced, variable_name

_OPERATORS = {BinaryOp.ADD: "add", BinaryOp.SUB: "sub", BinaryOp.MUL: "mul", BinaryOp.DIV: "div",
              BinaryOp.FLOOR_DIV: "floordiv", BinaryOp.FLOOR_MOD: "floormod"}  # fmt: skip
_COMPARISONS = {CompareOp.LT: "lt", CompareOp.LE: "le", CompareOp.GT: "gt", CompareOp.GE: "ge",
                CompareOp.EQ: "eq", CompareOp.NE: "ne"}  # fmt: skip
_TESTS = frozenset({"isnan", "isinf", "isfinite", "signbit", "ilogb"})


class ShadowExpressions(Expressions):
    """Writes one function's expressions for shadow execution."""

    # ---- where floats live -----------------------------------------------------------------------------

    def in_register(self, e: Expr) -> bool:
        """Whether a place of float type is a C variable or context element of type tm_shadow."""
        if isinstance(e, Var):
            return e.name not in self.around.memory
        return isinstance(e, Subscript) and isinstance(e.base, Var) and is_context(e.base)

    def source(self) -> str:
        """File and line of the statement, as C arguments."""
        return f"{string(self.here.file)}, {self.here.line}" if self.here else '"", 0'

    def constant(self, value: int | float | bool, t: Type) -> str:
        """A literal; as a shadow it is exact."""
        text = literal(value, t)
        if not is_float(t):
            return text
        return f"tm_exact({self.widen(text, t)})"

    @staticmethod
    def widen(text: str, t: Type) -> str:
        """A native float as a double."""
        return f"tm_{t}_to_f32({text})" if isinstance(t, ScalarType) and t.bits == 16 else text

    @staticmethod
    def native(text: str, t: Type) -> str:
        """The native value of a shadow."""
        return f"tms_native_{t}({text})"

    def value(self, e: Expr) -> str:
        """A value; of struct type, the address of one."""
        if isinstance(type_of(e), StructType):
            return self.address(e)
        return super().value(e)

    def variable(self, e: Var) -> str:
        """A variable."""
        if is_float(e.type) and not self.in_register(e):
            return f"tms_load_{e.type}(&{variable_name(e)})"
        return super().variable(e)

    def load(self, e: Subscript) -> str:
        """An element's value."""
        return self._loaded(e)

    def member(self, e: Member) -> str:
        """A member's value."""
        return self._loaded(e)

    def _loaded(self, e: Expr) -> str:
        t = type_of(e)
        if is_float(t) and not self.in_register(e):
            return f"tms_load_{t}(&{self.place(e)})"
        return self.place(e)

    def place(self, e: Expr) -> str:
        """A C lvalue; the base of a member may be any struct value."""
        if isinstance(e, Member):
            return f"({self.address(e.base)})->{identifier('m_', e.name)}"
        return super().place(e)

    # ---- structs ---------------------------------------------------------------------------------------

    def address(self, e: Expr) -> str:
        """The address of a struct value."""
        t = type_of(e)
        assert isinstance(t, StructType)
        if isinstance(e, Var | Subscript | Member):
            return f"&{self.place(e)}"
        if isinstance(e, Select):
            return f"({super().value(e.condition)} ? {self.address(e.then)} : {self.address(e.otherwise)})"
        if isinstance(e, MakeStruct):
            return f"({{ {' '.join(self._made(e, t))} tm_made; }})"
        if isinstance(e, Const):
            raise TypeError("a struct has no literal")
        return super().value(e)

    def _made(self, e: MakeStruct, t: StructType) -> list[str]:
        """Statements that fill a slot of the ring."""
        lines = [f"{spaced(c_type(t))}*tm_made = tm_slot_{identifier('s_', t.name)}();"]
        values = []
        for number, (member, item) in enumerate(
            zip(definition_of(t, self.around.structs).fields, e.values, strict=True)
        ):
            place = f"tm_made->{identifier('m_', member.name)}"
            if is_float(member.type):
                lines.append(f"tm_shadow tm_item_{number} = {self.value(item)};")
                values.append(f"tms_store_{member.type}(&{place}, tm_item_{number});")
            elif isinstance(member.type, StructType):
                values.append(f"{self._copy(member.type)}(&{place}, {self.address(item)});")
            elif isinstance(member.type, ArrayType):
                raise TypeError("an array member is filled by assignments")
            else:
                values.append(f"{place} = {self.value(item)};")
        return lines + values

    @staticmethod
    def _copy(t: StructType) -> str:
        return f"tm_copy_{identifier('s_', t.name)}"

    # ---- operators -------------------------------------------------------------------------------------

    def unary(self, e: Unary) -> str:
        """`-x` of a float flips all of its parts."""
        if is_float(e.type):
            return f"tms_neg_{e.type}({self.value(e.operand)})"
        return super().unary(e)

    def binary(self, e: Binary) -> str:
        """Arithmetic."""
        if is_float(e.type):
            return f"tms_{_OPERATORS[e.op]}_{e.type}({self.value(e.left)}, {self.value(e.right)})"
        return super().binary(e)

    def compare(self, e: Compare) -> str:
        """A comparison of floats goes the native way, and tells where the shadow would not."""
        t = type_of(e.left)
        if is_float(t):
            left, right = self.value(e.left), self.value(e.right)
            return f"tms_{_COMPARISONS[e.op]}_{t}({left}, {right}, {self.source()})"
        return super().compare(e)

    def convert(self, text: str, source: Type, target: Type) -> str:
        """Conversions to, from and between floats."""
        if source == target or not (is_float(source) or is_float(target)):
            return super().convert(text, source, target)
        assert isinstance(source, ScalarType) and isinstance(target, ScalarType)
        if is_float(source) and is_float(target):
            return f"tms_{source}_to_{target}({text})"
        if is_float(target):
            wide = "u64" if source.kind.value == "unsigned" else "i64"
            native = super().convert("tm_x", source, target)
            declared = f"{c_type(source)} tm_x = {text};"
            return f"({{ {declared} tms_from_{wide}_{target}({native}, tm_x); }})"
        if target.is_bool:
            return f"tms_ne_{source}({text}, tm_exact(0), {self.source()})"
        return f"TMS_TO_INTEGER(tm_f64_to_{target}, {text}, {self.source()})"

    def bitcast(self, e: Bitcast) -> str:
        """Bits of a float are its native value's; a float from bits is exact."""
        source, text = type_of(e.operand), self.value(e.operand)
        if is_float(source) and is_float(e.type):
            bits = f"TM_BITCAST({c_type(e.type)}, {c_type(source)}, {self.native(text, source)})"
            return f"tm_exact({self.widen(bits, e.type)})"
        if is_float(source):
            return f"TMS_BITS({c_type(e.type)}, {c_type(source)}, {source}, {text}, {self.source()})"
        if is_float(e.type):
            return f"tm_exact({self.widen(super().bitcast(e), e.type)})"
        return super().bitcast(e)

    # ---- calls -----------------------------------------------------------------------------------------

    def call(self, e: Call) -> str:
        """Intrinsics on floats by their shadow forms; the rest as natively."""
        if e.callee == "printf":
            parts = [
                f"({self.value(a)}).native" if is_float(type_of(a)) else self.value(a) for a in e.arguments
            ]
            return f"TM_PRINT(tm_f, {', '.join(parts)})"
        if e.callee not in LOWERING:
            return super().call(e)
        arguments = [self.value(a) for a in e.arguments]
        types = [type_of(a) for a in e.arguments]
        if INTRINSICS[e.callee].effect is Effect.ATOMIC:
            pointee = e.type
            if is_float(pointee):
                return f"tms_{e.callee}_{pointee}({', '.join(arguments)})"
            return super().call(e)
        if not types or not is_float(types[0]):
            return super().call(e)
        if e.callee in _TESTS:
            natives = [self.native(a, t) for a, t in zip(arguments, types, strict=True)]
            return LOWERING[e.callee](e.callee, types, natives, True)
        if e.callee.startswith("float_to_"):
            return f"TMS_TO_INTEGER(tm_{e.callee}_f64, {arguments[0]}, {self.source()})"
        return f"tms_{e.callee}_{types[0]}({', '.join(arguments)})"

    # ---- statements' values ----------------------------------------------------------------------------

    def declare(self, var: Var, value: Expr | None) -> list[str]:
        """C lines that introduce a variable."""
        name = variable_name(var)
        if isinstance(var.type, StructType):
            lines = [f"{declaration(var.type, name)};"]
            if value is not None:
                lines.append(f"{self._copy(var.type)}(&{name}, {self.address(value)});")
            return lines
        if not is_float(var.type):
            return super().declare(var, value)
        if not self.in_register(var):
            lines = [f"{declaration(var.type, name)};"]
            stored = [] if value is None else [f"tms_store_{var.type}(&{name}, {self.value(value)});"]
            return lines + stored
        return [f"tm_shadow {name};" if value is None else f"tm_shadow {name} = {self.value(value)};"]

    def store(self, target: Expr, value: Expr) -> list[str]:
        """C lines that write a place."""
        t = type_of(target)
        if isinstance(t, StructType):
            return [f"{self._copy(t)}(&{self.place(target)}, {self.address(value)});"]
        if is_float(t) and not self.in_register(target):
            return [f"tms_store_{t}(&{self.place(target)}, {self.value(value)});"]
        return [f"{self.place(target)} = {self.value(value)};"]

    def fill(self, target: Expr, array: ArrayType, values: tuple[Expr, ...], count: int) -> list[str]:
        """C lines that write the first elements of an array."""
        place = self.place(target)
        zero = Const(0.0 if is_float(array.element) else 0, array.element)
        lines = []
        for flat in range(count):
            element = place + "".join(f"[{i}]" for i in unflatten(flat, array.shape))
            item = values[flat] if flat < len(values) else zero
            if is_float(array.element):
                lines.append(f"tms_store_{array.element}(&{element}, {self.value(item)});")
            elif isinstance(array.element, StructType):
                lines.append(f"{self._copy(array.element)}(&{element}, {self.address(item)});")
            else:
                lines.append(f"{element} = {self.value(item)};")
        return lines

    def give_back(self, value: Expr) -> list[str]:
        """C lines that return a value; a struct is returned in a slot of the ring."""
        t = type_of(value)
        if not isinstance(t, StructType):
            return super().give_back(value)
        slot = f"{spaced(c_type(t))}*tm_made = tm_slot_{identifier('s_', t.name)}();"
        return [f"{{ {slot} {self._copy(t)}(tm_made, {self.address(value)}); return tm_made; }}"]

    def settle_parameter(self, parameter: Var) -> list[str]:
        """A struct argument is copied; a float whose address is taken moves to memory."""
        name = variable_name(parameter)
        if isinstance(parameter.type, StructType):
            copy = f"{self._copy(parameter.type)}(&{name}, {name}_given);"
            return [f"{declaration(parameter.type, name)};", copy]
        if is_float(parameter.type) and parameter.name in self.around.memory:
            store = f"tms_store_{parameter.type}(&{name}, {name}_given);"
            return [f"{declaration(parameter.type, name)};", store]
        return []
