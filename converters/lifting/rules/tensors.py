"""Delinearisation: pointers become tensors, flat indices become one index a dimension.

    a: Ptr[f32]                     a: Tensor[f32, NI, NK]
    a[i * NK + k]           ->      a[i, k]

A stride is a constant or symbol that multiplies an index variable.  It is accepted only where every access
of the pointer splits into quotient and remainder with 0 <= remainder < stride, proven from the loops' ranges
and the conditions around the access; what only parameters decide becomes an assumption of the lifted kernel.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tmigrate.converters.lifting.contexts import ContextWalker, root_of
from tmigrate.converters.lifting.facts import Facts, scalars_only
from tmigrate.converters.lifting.polynomials import Polynomial, to_expression, to_polynomial
from tmigrate.converters.lifting.state import BlockedError, Lift, fresh_name
from tmigrate.tilelang.ir.expressions import Expr, NamedConst, Subscript, Var, type_of
from tmigrate.tilelang.ir.node import Node, rewrite_region, walk, with_fields
from tmigrate.tilelang.ir.statements import For
from tmigrate.tilelang.ir.types import (
    I32,
    I64,
    PointerType,
    ScalarType,
    StructType,
    TensorType,
    Type,
)

_SHIFTS = (0, -1, 1, -2, 2, -3)


@dataclass(frozen=True)
class Access:
    """One subscript of a pointer parameter: its flat index as a polynomial and what holds there."""

    index: Polynomial
    facts: Facts
    node: Subscript


@dataclass
class Plan:
    """How one pointer is seen: inner extents from the last dimension outwards, and the outermost extent."""

    strides: list[Polynomial] = field(default_factory=list)
    needs: list[Polynomial] = field(default_factory=list)


@dataclass
class Tensors:
    """The state of the rule over one kernel."""

    lift: Lift
    loops: dict[Var, For]
    shapes: dict[str, tuple[Expr, ...]] = field(default_factory=dict)


def apply(lift: Lift) -> bool:
    """Turn every pointer parameter into a tensor."""
    pointers = [p for p in lift.parameters if isinstance(p.type, PointerType)]
    if not pointers:
        return False
    state = Tensors(lift, {it.var: it for it in walk(lift.body) if isinstance(it, For)})
    accesses = _collect(lift, {p.name for p in pointers})
    plans: dict[str, Plan] = {}
    names = lift.taken_names()
    for p in pointers:
        plans[p.name] = _plan(state, p, accesses[p.name])
    accesses = _collect(lift, {p.name for p in pointers})  # the assumptions count from here on
    for p in pointers:
        state.shapes[p.name] = _shape(state, p, plans[p.name], accesses[p.name], names)
    _rewrite(state, plans)
    return True


def _collect(lift: Lift, pointers: set[str]) -> dict[str, list[Access]]:
    found: dict[str, list[Access]] = {name: [] for name in pointers}

    def visit(e: Expr, facts: Facts, target: bool) -> None:
        if isinstance(e, Subscript) and isinstance(e.base, Var) and e.base.name in pointers:
            found[e.base.name].append(Access(to_polynomial(e.indices[0], facts.prove), facts, e))

    ContextWalker(lift.body, visit).run(lift.facts)
    return found


# ---- strides -----------------------------------------------------------------------------------------


def _plan(state: Tensors, p: Var, accesses: list[Access]) -> Plan:
    plan = Plan()
    current = [(a.index, a.facts) for a in accesses]
    while True:
        found = _next_stride(state, current)
        if found is None:
            break
        stride, quotients, needs = found
        plan.strides.append(stride)
        for need in needs:
            state.lift.assume_nonnegative(need)
        current = [
            (q, facts.with_facts(state.lift.scalar)) for q, (_, facts) in zip(quotients, current, strict=True)
        ]
    for (index, facts), access in zip(current, accesses, strict=True):
        _check_leading(state, p, index, facts, access)
    return plan


def _check_leading(state: Tensors, p: Var, index: Polynomial, facts: Facts, access: Access) -> None:
    """The outermost index: no product of loop variables with sizes is left, and it is not negative."""
    variables = _index_variables(state, index)
    if any(len(m) > 1 and any(a in variables for a in m) for m in index.terms):
        raise BlockedError(
            "TM3006",
            f"the index of {p.name} is flat and splits into no dimensions: {index}",
            access.node.location,
        )
    if not facts.prove(index):
        need = _least(state, index, facts)
        if need is not None and scalars_only(need, state.lift.scalars) and need.value is None:
            state.lift.assume_nonnegative(need)


def _index_variables(state: Tensors, index: Polynomial) -> set[Expr]:
    """Atoms that vary within a launch."""
    return {a for a in index.atoms if not scalars_only(Polynomial.atom(a), state.lift.scalars)}


Found = tuple[Polynomial, list[Polynomial], list[Polynomial]]


def _next_stride(state: Tensors, current: list[tuple[Polynomial, Facts]]) -> Found | None:
    """The innermost extent that splits all indices, without assumptions if possible."""
    candidates = list(dict.fromkeys(_candidates(state, [index for index, _ in current])))
    for assume in (False, True):
        for stride in candidates:
            split = _split_all(state, current, stride, assume)
            if split is not None:
                return split
    return None


def _candidates(state: Tensors, indices: list[Polynomial]) -> Iterator[Polynomial]:
    """Factors of index variables, smallest first; then factors in products of parameters."""
    direct: list[Polynomial] = []
    for index in indices:
        for v in sorted(_index_variables(state, index), key=str):
            factor = index.coefficient(v)
            if factor.is_monomial and factor.value not in (1, -1):
                ((monomial, number),) = factor.terms.items()
                direct.append(Polynomial({monomial: abs(number)}))
    yield from sorted(direct, key=_degree)
    sizes = _sizes(state)
    for index in indices:
        for monomial in index.terms:
            if len(monomial) > 1:
                atoms = [a for a in monomial if isinstance(a, NamedConst) or a in sizes]
                yield from (Polynomial.atom(a) for a in reversed(atoms))


def _degree(p: Polynomial) -> tuple[int, int]:
    ((monomial, number),) = p.terms.items()
    return len(monomial), number


def _sizes(state: Tensors) -> set[Expr]:
    """Parameters that bound loops from above."""
    found: set[Expr] = set()
    for loop in state.loops.values():
        found |= {a for a in to_polynomial(loop.stop, Facts().prove).atoms if isinstance(a, Var)}
    return found


def _split_all(
    state: Tensors, current: list[tuple[Polynomial, Facts]], stride: Polynomial, assume: bool
) -> Found | None:
    quotients: list[Polynomial] = []
    needs: list[Polynomial] = []
    useful = False
    for index, facts in current:
        split = _split(state, index, facts.with_facts(needs), stride, assume)
        if split is None:
            return None
        quotient, more = split
        useful = useful or bool(quotient.terms)
        quotients.append(quotient)
        needs += more
    return (stride, quotients, needs) if useful else None


def _split(
    state: Tensors, index: Polynomial, facts: Facts, stride: Polynomial, assume: bool
) -> tuple[Polynomial, list[Polynomial]] | None:
    """index = quotient * stride + remainder with 0 <= remainder < stride."""
    quotient, remainder = index.divide(stride)
    for shift in _SHIFTS:
        moved = remainder - stride * shift
        if facts.prove(moved) and facts.prove(stride - moved - 1):
            return quotient + shift, []
    for shift in _SHIFTS if assume else ():
        needs = _needs(state, remainder - stride * shift, facts, stride)
        if needs is not None:
            return quotient + shift, needs
    return None


def _needs(
    state: Tensors, remainder: Polynomial, facts: Facts, stride: Polynomial
) -> list[Polynomial] | None:
    """What must be assumed for 0 <= remainder < stride; None where no assumption says it."""
    needs: list[Polynomial] = []
    for claim in (remainder, stride - remainder - 1):
        if facts.prove(claim):
            continue
        need = _least(state, claim, facts)
        if need is None or not scalars_only(need, state.lift.scalars) or not _plausible(need, stride):
            return None
        needs.append(need)
    return needs


def _plausible(need: Polynomial, stride: Polynomial) -> bool:
    """An assumption that can hold and says something: not a number, and no size is bound by a constant alone.

    Of `i * N + (N - j - 2)` row `i + 1` and column `-j - 2` would assume that j counts to nothing; but
    `n <= 8` is fine where rows have 8 elements.
    """
    sizes = [number for monomial, number in need.terms.items() if monomial]
    return bool(sizes) and (stride.value is not None or max(sizes) > 0)


def _least(state: Tensors, p: Polynomial, facts: Facts) -> Polynomial | None:
    """A lower bound of p over its loop variables, as a polynomial in parameters; None where there is none."""
    return _extreme(state, p, facts, upper=False)


def _extreme(state: Tensors, p: Polynomial, facts: Facts, upper: bool) -> Polynomial | None:
    for _ in range(8):
        variables = [a for a in p.atoms if isinstance(a, Var) and a in state.loops]
        if not variables:
            return p if scalars_only(p, state.lift.scalars) else None
        v = max(variables, key=lambda a: list(state.loops).index(a))
        loop = state.loops[v]
        factor = p.coefficient(v).value
        if factor is None or not p.is_linear_in(v):
            return None
        first, last = to_polynomial(loop.start, facts.prove), to_polynomial(loop.stop, facts.prove)
        if getattr(loop.step, "value", 0) > 0:
            last = last - 1
        else:
            first, last = last + 1, first
        p = p.substitute(v, last if (factor > 0) == upper else first)
    return None


# ---- extents -----------------------------------------------------------------------------------------


def _shape(state: Tensors, p: Var, plan: Plan, accesses: list[Access], names: set[str]) -> tuple[Expr, ...]:
    inner = [to_expression(s, _type_of(s)) for s in reversed(plan.strides)]
    leading = _leading(state, plan, accesses)
    if leading is None:
        dimension = Var(fresh_name(f"{p.name}_size", names), I64)
        state.lift.dimensions += (dimension,)
        return (dimension, *inner)
    return (to_expression(leading, _type_of(leading)), *inner)


def _type_of(p: Polynomial) -> ScalarType:
    types = {type_of(a) for a in p.atoms}
    found = types.pop() if len(types) == 1 else I32 if not types else I64
    return found if isinstance(found, ScalarType) else I64


def _leading(state: Tensors, plan: Plan, accesses: list[Access]) -> Polynomial | None:
    """The least known size that every outermost index stays below."""
    if not accesses:
        return None
    indices: list[tuple[Polynomial, Facts]] = []
    for a in accesses:
        split = _indices(a, plan)
        if split is None:
            return None
        indices.append((split[0], a.facts))
    fitting = [c for c in _known_sizes(state, plan) if all(f.prove(c - q - 1) for q, f in indices)]
    bounds = {b for b in (_extreme(state, q + 1, f, upper=True) for q, f in indices)}
    exact = [b for b in bounds if b is not None]
    if len(exact) == len(bounds):
        for b in exact:
            if all(state.lift.facts.prove(b - other) for other in exact):
                return _rounded(b, fitting)
    return fitting[0] if fitting else None


def _rounded(bound: Polynomial, fitting: list[Polynomial]) -> Polynomial:
    """`N` where the indices reach only N - 2: a person declares the whole array."""
    for size in fitting:
        gap = (size - bound).value
        if gap is not None and gap >= 0:
            return size
    parameters = [a for a in bound.atoms if isinstance(a, NamedConst)]
    return bound if parameters or bound.value is not None or not fitting else fitting[0]


def _known_sizes(state: Tensors, plan: Plan) -> list[Polynomial]:
    """Module constants and parameters that bound something in this kernel."""
    found = [
        Polynomial.atom(it)
        for it in walk(state.lift.body)
        if isinstance(it, NamedConst) and type_of(it) == I32
    ]
    found += [Polynomial.atom(a) for a in sorted(_sizes(state), key=str)]
    found += [s for s in plan.strides if s.value is None and len(next(iter(s.terms))) == 1]
    return list(dict.fromkeys(found))


# ---- rewriting ---------------------------------------------------------------------------------------


def _indices(access: Access, plan: Plan) -> list[Polynomial] | None:
    """One polynomial a dimension, outermost first."""
    inner: list[Polynomial] = []
    rest = access.index
    for stride in plan.strides:
        quotient, remainder = rest.divide(stride)
        for shift in _SHIFTS:
            moved = remainder - stride * shift
            if access.facts.prove(moved) and access.facts.prove(stride - moved - 1):
                inner.insert(0, moved)
                rest = quotient + shift
                break
        else:
            return None
    return [rest, *inner]


def _rewrite(state: Tensors, plans: dict[str, Plan]) -> None:
    lift = state.lift
    parameters: dict[str, Var] = {}
    for p in lift.parameters:
        made = p
        if isinstance(p.type, PointerType):
            if not isinstance(p.type.pointee, ScalarType | StructType):
                what = f"{p.name} points to neither numbers nor structs"
                raise BlockedError("TM3004", what, lift.function.location)
            made = Var(p.name, TensorType(p.type.pointee, state.shapes[p.name]))
        parameters[p.name] = made

    def visit(e: Expr, facts: Facts, target: bool) -> Expr | None:
        if not isinstance(e, Subscript) or not isinstance(e.base, Var) or e.base.name not in plans:
            return None
        access = Access(to_polynomial(e.indices[0], facts.prove), facts, e)
        indices = _indices(access, plans[e.base.name])
        if indices is None:
            raise BlockedError(
                "TM3006", f"an index of {e.base.name} does not split into dimensions", e.location
            )
        t = type_of(e.indices[0])
        return with_fields(e, indices=tuple(_as_index(i, t) for i in indices))

    body = ContextWalker(lift.body, visit).run(lift.facts)

    def retype(it: Node) -> Node | None:
        return parameters[it.name] if isinstance(it, Var) and it.name in plans else None

    lift.body = rewrite_region(body, retype)  # type: ignore[assignment]
    lift.parameters = tuple(parameters[p.name] for p in lift.parameters)


def _as_index(p: Polynomial, t: Type) -> Expr:
    """An index of type t; a variable alone keeps its own type, which any index may have."""
    ((monomial, number), *rest) = p.terms.items() or (((), 0),)
    alone = not rest and number == 1 and len(monomial) == 1 and isinstance(monomial[0], Var)
    return monomial[0] if alone else to_expression(p, t)


__all__ = ["apply", "root_of"]
