"""Operations on whole tensors, for functions at the tensor level."""

from __future__ import annotations

from generate_expressions import Expressions

from tmigrate.tilelang.ir.expressions import Call, Const, Expr, Var, type_of
from tmigrate.tilelang.ir.statements import Declare, Stmt
from tmigrate.tilelang.ir.tensor_table import tensor_operations
from tmigrate.tilelang.ir.types import I32, I64, ScalarType, TensorType


class Tensors(Expressions):
    """Makes tensor values."""

    def tensor_declaration(self, depth: int) -> Stmt | None:
        """A whole tensor computed from tensors in scope."""
        value = self.tensor_value(2)
        if not isinstance(value, Call):
            return None
        var = Var(self.fresh("whole"), value.type)
        self.scope.append(var)
        return Declare(var, value)

    def whole_tensors(self) -> list[Var]:
        """The tensors of numbers in scope."""
        return [
            v for v in self.scope if isinstance(v.type, TensorType) and isinstance(v.type.element, ScalarType)
        ]

    def tensor_value(self, depth: int) -> Expr | None:
        """A tensor variable, or an operation whose type rule accepts what was chosen."""
        known = self.whole_tensors()
        if not known:
            return None
        first: Expr | None = self.choice(known)
        if depth > 1 and self.integer(0, 2) == 0:
            first = self.tensor_value(depth - 1)
        if first is None:
            return None
        return self.tensor_call(self.choice(list(tensor_operations())), first)

    def tensor_call(self, name: str, first: Expr) -> Call | None:
        """The operation of that name on a tensor, or None where its rule refuses."""
        operation = tensor_operations()[name]
        operands = self.operands(operation.name, operation.operands, first, operation.scalars)
        t = type_of(operands[0] if isinstance(type_of(operands[0]), TensorType) else operands[1])
        assert isinstance(t, TensorType)
        rest: list[Expr] = [
            Const(self.integer(0, t.rank - 1 if n == "dim" else 1), I32) for n in operation.numbers
        ]
        if operation.shape:
            rest += [Const(self.integer(1, 64), I64) if operation.alias else e for e in reversed(t.shape)]
        arguments = (*operands, *rest)
        result = operation.result_type(arguments)
        return None if isinstance(result, str) else Call(operation.name, arguments, result)

    def operands(self, name: str, count: int, first: Expr, scalars: bool) -> list[Expr]:
        """The tensors of an operation; a scalar in the place of one of them where that is allowed."""
        t = type_of(first)
        assert isinstance(t, TensorType) and isinstance(t.element, ScalarType)
        if name == "@":
            return [Call("transpose", (first,), TensorType(t.element, tuple(reversed(t.shape)))), first]
        found: list[Expr] = [first] * count
        if scalars and self.integer(0, 1):
            found[self.integer(0, count - 1)] = self.expr(t.element, 1)
        return found if any(isinstance(type_of(e), TensorType) for e in found) else [first] * count
