"""The verifier's rules about statements: stores, loops, jumps, results, and what each level leaves out."""

from __future__ import annotations

from collections.abc import Iterator

from tmigrate.tilelang.ir.expressions import (
    AddressOf,
    Call,
    Const,
    DynamicShared,
    Expr,
    Extent,
    LaunchIndex,
    LaunchIndexKind,
    MakeArray,
    PointerAdd,
    PointerDifference,
    Reduce,
    StringConst,
    Var,
    type_of,
)
from tmigrate.tilelang.ir.intrinsics import INTRINSICS, Effect
from tmigrate.tilelang.ir.node import Trait, has_trait, walk
from tmigrate.tilelang.ir.statements import (
    Allocate,
    Assign,
    Assume,
    Break,
    Comment,
    Continue,
    Declare,
    For,
    LoopKind,
    Return,
    While,
)
from tmigrate.tilelang.ir.types import (
    VOID,
    ArrayType,
    PointerType,
    ScalarType,
    Space,
    StructType,
    TensorType,
    is_integer,
)
from tmigrate.tilelang.ir.verify import Finding
from tmigrate.tilelang.ir.verify_expressions import is_place
from tmigrate.tilelang.ir.view import View, Visit, root_of, types_in

# Limits of Python's parser and compiler: 100 indents, 200 parentheses, 20 nested loops and withs.
MAX_INDENTS = 98
MAX_LOOPS = 19
MAX_EXPRESSION_DEPTH = 64


def declared_values(view: View) -> Iterator[Finding]:
    """`Declare` makes scalars, pointers and structs, `Allocate` arrays; values have the declared type."""
    for visit, s in view.of(Declare):
        t = s.var.type
        whole = isinstance(t, TensorType) and s.value is not None
        if not isinstance(t, ScalarType | PointerType | StructType) and not whole:
            yield Finding(f"`{s.var.name}` is declared as {t}", visit, "allocate arrays")
        elif s.value is not None and type_of(s.value) != t:
            yield Finding(f"`{s.var.name}` is {t}, its value {type_of(s.value)}", visit, "cast the value")
    for visit, a in view.of(Allocate):
        expected = TensorType if a.space is Space.GLOBAL else ArrayType
        if a.space not in (Space.GLOBAL, Space.SHARED, Space.LOCAL) or not isinstance(a.var.type, expected):
            yield Finding(
                f"`{a.var.name}: {a.var.type}` cannot be allocated in {a.space.value} memory", visit
            )


def stores(view: View) -> Iterator[Finding]:
    """The target of a store is a variable, element or member, and has the value's type."""
    for visit, s in view.of(Assign):
        if not is_place(s.target):
            yield Finding("a store into something that is not a place", visit)
        elif type_of(s.target) != type_of(s.value):
            yield Finding(
                f"a {type_of(s.value)} is stored into a {type_of(s.target)}", visit, "cast the value"
            )
        elif isinstance(type_of(s.target), ArrayType | TensorType) and not isinstance(s.value, MakeArray):
            yield Finding("a whole array is stored", visit, "store its elements")
        elif isinstance(root_of(s.target), StringConst):
            yield Finding("a store into a string", visit)


def loop_variables(view: View) -> Iterator[Finding]:
    """Nothing but its loop writes a loop's variable; nothing writes a dimension."""
    assert view.function is not None
    fixed = {v.name for visit, v in view.bindings() if isinstance(visit.node, For | Reduce)}
    fixed |= {d.name for d in view.function.dimensions}
    for visit, s in view.of(Assign):
        root = root_of(s.target)
        if isinstance(root, Var) and root.name in fixed:
            yield Finding(f"`{root.name}` is written, and a loop or a shape gives its value", visit)
    for visit, a in view.of(AddressOf):
        root = root_of(a.place)
        if isinstance(root, Var) and root.name in fixed:
            yield Finding(f"the address of `{root.name}`, which a loop or a shape gives its value", visit)


def loop_ranges(view: View) -> Iterator[Finding]:
    """A range and its variable have one integer type; the step is a constant that is not 0."""
    for visit, s in view.of(For):
        kinds = {s.var.type, type_of(s.start), type_of(s.stop), type_of(s.step)}
        if len(kinds) > 1 or not is_integer(s.var.type):
            yield Finding("the variable, bounds and step of a loop have one integer type", visit)
        if not isinstance(s.step, Const) or s.step.value == 0:
            yield Finding("the step of a loop is a constant that is not 0", visit, "use a while loop")


def loop_bounds(view: View) -> Iterator[Finding]:
    """The body of a `for` writes nothing that its bounds read."""
    for visit, s in view.of(For):
        shapes = {id(n.tensor) for n in walk((s.start, s.stop)) if isinstance(n, Extent)}
        read = {n.name for n in walk((s.start, s.stop)) if isinstance(n, Var) and id(n) not in shapes}
        for n in walk(s.body):
            place = n.target if isinstance(n, Assign) else n.place if isinstance(n, AddressOf) else None
            root = None if place is None else root_of(place)
            if isinstance(root, Var) and root.name in read and not _through_pointer(place, root):
                yield Finding(f"the loop's body writes `{root.name}`, which its bounds read", visit,
                              "use a while loop")  # fmt: skip


def _through_pointer(place: Expr | None, root: Var) -> bool:
    """Whether the place is memory that a pointer variable leads to, whose own value stays."""
    return place is not root and isinstance(root.type, PointerType)


def jumps(view: View) -> Iterator[Finding]:
    """`break` and `continue` stand in a loop; `break` and `return` do not leave a parallel one."""
    for visit, s in view.of(Break, Continue):
        loop = _loop_around(visit)
        if loop is None:
            yield Finding("outside a loop", visit)
            continue
        parallel = isinstance(loop[0], For) and loop[0].kind is not LoopKind.SERIAL
        if parallel and isinstance(s, Break):
            yield Finding("`break` in a parallel loop, whose iterations are independent", visit, "use range")
        if loop[1] == "step" and isinstance(s, Continue):
            yield Finding("`continue` in the step of a loop", visit)
    for visit, _ in view.of(Return):
        for around in visit.ancestors():
            if isinstance(around.node, For) and around.node.kind is LoopKind.PARALLEL:
                yield Finding("`return` in a parallel loop", visit, "use continue")
                break


def _loop_around(visit: Visit) -> tuple[For | While, str] | None:
    """The innermost loop, and the region of it that holds the visit."""
    slot = visit.slot
    for around in visit.ancestors():
        if isinstance(around.node, For | While) and has_trait(around.node, Trait.LOOP):
            return around.node, slot
        slot = around.slot
    return None


def results(view: View) -> Iterator[Finding]:
    """Returned values have the declared type; a function with a result returns one."""
    assert view.function is not None
    wanted = view.function.result
    returned = False
    for visit, s in view.of(Return):
        returned = returned or s.value is not None
        found = VOID if s.value is None else type_of(s.value)
        if found != wanted:
            yield Finding(f"returns {found}, and the function gives {wanted}", visit)
    if wanted != VOID and not returned:
        yield Finding(f"no return, and the function gives {wanted}", view.function.location)


def comments(view: View) -> Iterator[Finding]:
    """A comment is one line without trailing blanks."""
    for visit, s in view.of(Comment):
        if s.text != s.text.rstrip() or any(c != "\t" and not c.isprintable() for c in s.text):
            yield Finding("a comment that is not one line of text", visit)


# ---- levels ------------------------------------------------------------------------------------------


def no_launch_indices(view: View) -> Iterator[Finding]:
    """Above the thread level the launch's sizes stand only in `assume`, indices of threads nowhere.

    `assume(i32(gridDim.x * blockDim.x) >= n)` is asked once, before any thread is there.
    """
    for visit, e in view.of(LaunchIndex):
        is_size = e.kind in (LaunchIndexKind.GRID_SIZE, LaunchIndexKind.BLOCK_SIZE)
        if not is_size or not any(isinstance(around.node, Assume) for around in visit.ancestors()):
            yield Finding(f"`{e.kind.value}` above the thread level", visit, "use a parallel range")


def no_barriers(view: View) -> Iterator[Finding]:
    """Above the thread level nothing synchronises threads, and no memory is shared by a block."""
    for visit, e in view.of(Call):
        entry = INTRINSICS.get(e.callee)
        if entry is not None and entry.effect in (Effect.BARRIER, Effect.LANES, Effect.FENCE):
            yield Finding(f"`{e.callee}` above the thread level", visit)
    for visit, s in view.of(Allocate):
        if s.space is Space.SHARED:
            yield Finding("shared memory above the thread level", visit, "use local or allocate")
    for visit, d in view.of(For):
        if d.kind in (LoopKind.THREADS, LoopKind.BLOCKS):
            yield Finding(f"a loop over {d.kind.value} above the thread level", visit)


def no_pointers(view: View) -> Iterator[Finding]:
    """Above the thread level memory is tensors; only an atomic takes an element's address."""
    for visit, t in types_in(view):
        pointer = isinstance(t, PointerType)
        allowed = visit is not None and isinstance(visit.node, AddressOf | StringConst)
        if pointer and not allowed:
            yield Finding("a pointer above the thread level", visit, "use a tensor and its indices")
    for visit, _address in view.of(AddressOf):
        parent = visit.parent.node if visit.parent else None
        entry = INTRINSICS.get(parent.callee) if isinstance(parent, Call) else None
        if entry is None or entry.effect is not Effect.ATOMIC:
            yield Finding("an address outside an atomic operation, above the thread level", visit)
    for visit, _ in view.of(PointerAdd, PointerDifference, DynamicShared):
        yield Finding("pointer arithmetic above the thread level", visit, "use a tensor and its indices")


def no_tensors(view: View) -> Iterator[Finding]:
    """At the thread level memory is pointers and arrays."""
    for visit, t in types_in(view):
        if isinstance(t, TensorType):
            yield Finding("a tensor at the thread level", visit, "use a pointer")
    for visit, _ in view.of(Extent):
        yield Finding("a tensor's extent at the thread level", visit, "pass it as a parameter")


def no_whole_tensors(view: View) -> Iterator[Finding]:
    """Below the tensor level no operation takes or gives a whole tensor."""
    for visit, e in view.of(Call):
        if any(isinstance(type_of(x), TensorType) for x in (e, *e.arguments)):
            yield Finding(f"`{e.callee}` on whole tensors below the tensor level", visit,
                          'write level="tensor", or a loop over elements')  # fmt: skip
    for visit, s in view.of(Declare):
        if isinstance(s.var.type, TensorType):
            yield Finding("a whole tensor is declared below the tensor level", visit, "use allocate")


# ---- limits of Python's parser -----------------------------------------------------------------------


def depth(view: View) -> Iterator[Finding]:
    """What is printed must parse: bounded nesting of regions and of expressions."""
    depths: dict[int, tuple[int, int, int]] = {}  # per visit: indents, loops, expression depth
    for visit in view.visits:
        indents, loops, level = depths[id(visit.parent)] if visit.parent else (1, 0, 0)
        if isinstance(visit.node, Expr):
            level += 1
            if level == MAX_EXPRESSION_DEPTH + 1:
                yield Finding("an expression nested too deeply to be printed", visit, "run the pass hoist")
        else:
            level = 0
            indents += 1 if visit.parent is not None and not _is_elif(visit) else 0
            loops += isinstance(visit.node, For) + (isinstance(visit.node, While))
            loops += visit.slot == "step"
            indents += visit.slot == "step"
            if indents == MAX_INDENTS + 1 or loops == MAX_LOOPS + 1:
                yield Finding("regions nested too deeply for Python's parser", visit, "use a function")
        depths[id(visit)] = indents, loops, level


def _is_elif(visit: Visit) -> bool:
    parent = visit.parent
    return (
        parent is not None
        and visit.slot == "otherwise"
        and type(visit.node) is type(parent.node)
        and len(getattr(parent.node, "otherwise", ())) == 1
    )


__all__ = ["MAX_EXPRESSION_DEPTH", "MAX_INDENTS", "MAX_LOOPS"]
