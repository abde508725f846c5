"""One C function: its prologue, the loops that become functions of their own, and memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tmigrate.tilelang.ir.expressions import (
    Call,
    Expr,
    LaunchIndex,
    Var,
)
from tmigrate.tilelang.ir.module import Module
from tmigrate.tilelang.ir.node import Node, bindings_of, walk
from tmigrate.tilelang.ir.statements import Allocate, For, LoopKind, Region, Stmt
from tmigrate.tilelang.ir.structs import Structs, size_of
from tmigrate.tilelang.ir.types import ArrayType, Space, TensorType, is_float
from tmigrate.tilelang.passes.contexts import is_context
from tmigrate.tilelang.targets.cpu.expressions import Expressions, Surroundings, extent_name
from tmigrate.tilelang.targets.cpu.names import (
    c_type,
    identifier,
    pointer_to_array,
    register_type,
    spaced,
    variable_name,
)
from tmigrate.tilelang.targets.cpu.options import EmitOptions
from tmigrate.tilelang.targets.cpu.shadow import ShadowExpressions
from tmigrate.tilelang.targets.cpu.statements import StatementWriter
from tmigrate.tilelang.targets.cpu.watching import WatchedExpressions

_FEW = 16  # iterations that gcc unrolls before it looks for vectors
_MOST_SIZES = 1  # each costs about the compile time of the kernel once more
_SIZES = (("tm_block_dim", "block"), ("tm_grid_dim", "grid"))


@dataclass(frozen=True)
class CContext:
    """What the functions of one C source share."""

    module: Module
    options: EmitOptions
    structs: Structs
    in_order: bool
    uses_shared: bool
    memory: frozenset[str]
    restricted: frozenset[str] = field(default_factory=frozenset)  # tensors that overlap no other
    result: Var | None = None  # the tensor that a loop-level kernel returns, in memory of the caller

    @property
    def module_variables(self) -> dict[str, int]:
        """The module's variables and their places in `launch->globals`."""
        return {v.name: i for i, v in enumerate(self.module.variables)}


class FunctionWriter(StatementWriter):
    """Writes the statements of one function; loops that are spread over threads go to `outlined`."""

    def __init__(self, context: CContext, name: str, entry: bool = False) -> None:
        around = Surroundings(
            context.structs, context.in_order, context.options.check_indices, context.memory
        )
        super().__init__(_kind_of_expressions(context.options)(around), context.options)
        self.context = context
        self.name = name
        self.entry = entry
        self.outlined: list[str] = []
        self.scratch = False
        self.has_fixed_block = False  # the block's size is a parameter of the C function
        self.zeroes_temporaries = (
            False  # a loop-level `allocate` begins with zeros, contexts of threads do not
        )

    # ---- whole bodies ----------------------------------------------------------------------------------

    def function_body(self, body: Region, parameters: Sequence[Var]) -> list[str]:
        """The C lines of a device function's body."""
        self._copy_memory_parameters(parameters)
        self._prologue(body)
        self.region(body)
        return self.lines

    def _copy_memory_parameters(self, parameters: Sequence[Var]) -> None:
        """Shadow execution: a float parameter whose address is taken moves from its register to memory."""
        if not self.context.options.is_shadow:
            return
        for parameter in parameters:
            self.lines += [f"  {line}" for line in self.expressions.settle_parameter(parameter)]

    def entry_body(self, body: Region, checks: Sequence[str] = ()) -> list[str]:
        """The C lines of a kernel's entry after its parameters; `checks` come before the body."""
        self._prologue(body)
        self.lines += checks
        self.region(body)
        lines = self.lines
        if self.scratch:
            lines = ["  tm_scratch *tm_scratch_memory = 0;", *lines]
        if self.done_used:
            lines.append("tm_done:;")
        if self.scratch:
            lines.append("  tm_scratch_close(tm_scratch_memory);")
        return lines

    def _prologue(self, body: Iterable[Stmt]) -> None:
        nodes = list(walk(tuple(body)))
        if any(isinstance(it, LaunchIndex) for it in self._with_shapes(nodes)):
            for name, member in _SIZES:
                given = self.has_fixed_block and member == "block"
                source = "tm_size" if given else f"tm_f->launch->{member}"
                values = ", ".join(f"{source}{axis}" if given else f"{source}[{axis}]" for axis in range(3))
                self.write(f"const uint32_t {name}[3] = {{{values}}};")
        used = {it.name for it in nodes if isinstance(it, Var)}
        for name, place in self.context.module_variables.items():
            if name in used:
                array = self.context.module.variables[place].type
                declarator, pointer = pointer_to_array(array, identifier("v_", name))
                self.write(f"{declarator} = ({pointer})tm_f->launch->globals[{place}];")

    def _with_shapes(self, nodes: list[Node]) -> Iterable[Node]:
        yield from nodes
        for it in nodes:
            if isinstance(it, Allocate) and isinstance(it.var.type, TensorType):
                for extent in it.var.type.shape:
                    yield from walk(extent)

    # ---- loops that become functions -------------------------------------------------------------------

    def loop(self, loop: For) -> None:
        """A loop; BLOCKS and, in an entry, the outermost PARALLEL loops become functions of a range."""
        if loop.kind is LoopKind.BLOCKS or (loop.kind is LoopKind.PARALLEL and self.entry):
            self._spread(loop)
        else:
            super().loop(loop)

    def _spread(self, loop: For) -> None:
        name = f"{identifier('k_', self.name)}_{len(self.outlined)}"
        captured = self._free_variables(loop)
        inner = type(self)(self.context, self.name)
        inner.outlined = self.outlined
        lines = inner.range_function(name, loop, captured)
        fields = [f"  {declarator};" for _, declarator in self._captures(captured)]
        guarded = self._guard(name) if self._may_trap() else []
        self.outlined += ["", f"struct {name} {{", "  tm_work work;", *fields, "};", *lines, *guarded]
        values = ", ".join(["{tm_f->launch, TM_OK}", *(n for n, _ in self._captures(captured))])
        self.write("{")
        start, stop = self.value(loop.start), self.value(loop.stop)
        step = self.value(loop.step)
        self.write(f"  struct {name} tm_w = {{{values}}};")
        self.write(f"  int64_t tm_start = {start}, tm_step = {step};")
        self.write(f"  int64_t tm_count = tm_trip_count(tm_start, {stop}, tm_step);")
        serial = self.context.in_order or self.context.options.is_shadow
        in_order = "true" if serial else self.spread_condition(loop)
        body = f"{name}_guarded" if guarded else name
        self.write(f"  tm_spread(&tm_w.work, tm_count, {body}, {in_order});")
        self.write("  if (tm_w.work.status) tm_status = tm_w.work.status;")
        self.write("}")

    def spread_condition(self, loop: For) -> str:
        """The C condition under which a loop is not spread over threads."""
        return "false"

    def _may_trap(self) -> bool:
        return any(
            isinstance(it, Call) and it.callee in ("assert_", "tm_assert", "trap")
            for function in self.context.module.functions
            for it in walk(function.body)
        )

    def _guard(self, name: str) -> list[str]:
        head = f"static void {name}_guarded(void *data, int64_t begin, int64_t end) {{"
        return [head, f"  tm_run_guarded({name}, data, begin, end);", "}"]

    def _free_variables(self, loop: For) -> list[Var]:
        bound = {v.name for it in walk(loop) for v in bindings_of(it) if isinstance(v, Var)}
        found: dict[str, Var] = {}
        for it in self._with_shapes(list(walk((*loop.body, *_loop_bounds(loop))))):
            if isinstance(it, Var) and it.name not in bound and it.name not in self.context.module_variables:
                found.setdefault(it.name, it)
        return list(found.values())

    def _captures(self, captured: Sequence[Var]) -> list[tuple[str, str]]:
        """(C name, declarator) of everything that a range function needs from around it."""
        found = []
        for var in captured:
            name = variable_name(var)
            shadow = (
                self.context.options.is_shadow and is_float(var.type) and var.name not in self.context.memory
            )
            found.append((name, spaced(register_type(var.type, shadow)) + name))
            if isinstance(var.type, TensorType):
                found += [
                    (extent_name(var, axis), f"int64_t {extent_name(var, axis)}")
                    for axis in range(var.type.rank)
                ]
        return found

    def range_function(self, name: str, loop: For, captured: Sequence[Var]) -> list[str]:
        """The C function that runs iterations tm_begin..tm_end of the loop."""
        sizes = likely_block_sizes(loop) if not self.context.options.is_shadow else []
        self.has_fixed_block = bool(sizes)
        self.has_short_rows = any(x <= _FEW for x, _, _ in sizes)
        self.write(f"struct {name} *tm_w = tm_data;")
        cover = "tm_w->work.launch->coverage ? tm_w->work.launch->coverage : tm_no_coverage"
        coverage = f", .coverage = {cover}" if self.context.options.coverage else ""
        launch = ".launch = tm_w->work.launch"
        self.write(f"tm_frame tm_frame_of_piece = {{{launch}{coverage}}}, *const tm_f = &tm_frame_of_piece;")
        if self.context.options.reversible:
            self.write("const bool tm_descending = (tm_f->launch->modes & TM_DESCENDING) != 0;")
        for field_name, declarator in self._captures(captured):
            self.write(f"{self._restrict(declarator, captured)} = tm_w->{field_name};")
        self._prologue((loop,))
        taken = self._open_arena(loop)
        self._range_loop(loop)
        if taken:
            self.write("tm_arena_close(&tm_memory);")
        parameters = "void *tm_data, int64_t tm_begin, int64_t tm_end"
        if not sizes:
            return [f"static void {name}({parameters}) {{", *self.lines, "}"]
        fixed = "uint32_t tm_size0, uint32_t tm_size1, uint32_t tm_size2"
        head = f"TM_INLINE void {name}_sized({parameters}, {fixed}) {{"
        return [head, *self.lines, "}", *_choose_size(name, parameters, sizes)]

    def _restrict(self, declarator: str, captured: Sequence[Var]) -> str:
        for var in captured:
            name = variable_name(var)
            is_restricted = isinstance(var.type, TensorType) and var.name in self.context.restricted
            if is_restricted and declarator.endswith(f"*{name}"):
                return declarator.replace(f"*{name}", f"*restrict {name}")
        return declarator

    def _range_loop(self, loop: For) -> None:
        t, name = c_type(loop.var.type), variable_name(loop.var)
        self.write("for (int64_t tm_i = tm_begin; tm_i < tm_end; tm_i++) {")
        with self.indented():
            start, step = self.value(loop.start), self.value(loop.step)
            plain = (start, step) in (("0", "1"), ("0ll", "1ll"))
            turn = "tm_i"
            if self.context.options.reversible and loop.kind is LoopKind.BLOCKS:
                turn = "(tm_descending ? tm_begin + tm_end - 1 - tm_i : tm_i)"
            self.write(f"{t} {name} = ({t}){turn if plain else f'({start} + {turn} * {step})'};")
            if self.context.options.fill_shared and loop.kind is LoopKind.BLOCKS:
                self._fill_shared(loop)
            self.thread_body(loop.body)
        self.write("}")

    # ---- memory ----------------------------------------------------------------------------------------

    def _pieces_of_memory(self, loop: For) -> list[tuple[Var, str, Space]]:
        found = []
        for it in walk(loop.body):
            if isinstance(it, Allocate) and (it.space is Space.SHARED or isinstance(it.var.type, TensorType)):
                found.append((it.var, self._bytes(it.var), it.space))
        return found

    def _bytes(self, var: Var) -> str:
        if isinstance(var.type, TensorType):
            extents = " * ".join(f"(size_t){extent_name(var, axis)}" for axis in range(var.type.rank))
            element = register_type(var.type.element, self.context.options.is_shadow and is_context(var))
            return f"{extents} * sizeof({element})"
        return str(size_of(var.type, self.context.structs))

    def define_extents(self, var: Var) -> None:
        """`const int64_t v_C_extent0 = ...;` for an allocated tensor."""
        assert isinstance(var.type, TensorType)
        for axis, extent in enumerate(var.type.shape):
            self.write(f"const int64_t {extent_name(var, axis)} = {self.expressions.wide(extent)};")

    def _open_arena(self, loop: For) -> bool:
        """Takes the memory of all arrays that the loop allocates once, before it starts."""
        allocated = [it.var for it in walk(loop.body) if isinstance(it, Allocate)]
        for var in allocated:
            if isinstance(var.type, TensorType):
                self.define_extents(var)
        pieces = self._pieces_of_memory(loop)
        dynamic = self.context.uses_shared and loop.kind is LoopKind.BLOCKS
        if not pieces and not dynamic:
            return False
        sizes = [f"tm_arena_size({size})" for _, size, _ in pieces]
        if dynamic:
            sizes.append("tm_arena_size(tm_f->launch->dynamic_shared)")
        self.write(f"tm_arena tm_memory = tm_arena_open({' + '.join(sizes)});")
        if dynamic:
            self.write("tm_f->shared = tm_arena_take(&tm_memory, tm_f->launch->dynamic_shared);")
        for var, size, _ in pieces:
            declarator = spaced(c_type(var.type)) + f"restrict {variable_name(var)}"
            if isinstance(var.type, ArrayType):
                # Only where nothing else points into the array.
                alone = "" if var.name in self.context.memory else "restrict "
                declarator, _ = pointer_to_array(var.type, alone + variable_name(var))
            elif self._holds_shadows(var):
                declarator = f"tm_shadow *restrict {variable_name(var)}"
            self.write(f"{declarator} = tm_arena_take(&tm_memory, {size});")
        return True

    def _holds_shadows(self, var: Var) -> bool:
        is_float_context = isinstance(var.type, TensorType) and is_float(var.type.element) and is_context(var)
        return self.context.options.is_shadow and is_float_context

    def _fill_shared(self, loop: For) -> None:
        for var, size, space in self._pieces_of_memory(loop):
            if space is Space.SHARED:
                self.write(f"__builtin_memset({variable_name(var)}, TM_SHARED_FILL, {size});")
        if self.context.uses_shared:
            self.write("__builtin_memset(tm_f->shared, TM_SHARED_FILL, tm_f->launch->dynamic_shared);")

    def allocate_here(self, statement: Allocate) -> None:
        """A loop-level temporary in an entry: freed where the entry ends."""
        if not self.entry:  # the range function around took the memory
            if self.zeroes_temporaries:
                self.write(
                    f"__builtin_memset({variable_name(statement.var)}, 0, {self._bytes(statement.var)});"
                )
            return
        self.scratch = True
        self.define_extents(statement.var)
        element, name = c_type(statement.var.type), variable_name(statement.var)
        size = self._bytes(statement.var)
        self.write(f"{spaced(element)}{name} = tm_scratch_take(&tm_scratch_memory, {size});")


def _kind_of_expressions(options: EmitOptions) -> type[Expressions]:
    if options.is_shadow:
        return ShadowExpressions
    return WatchedExpressions if options.watch else Expressions


def likely_block_sizes(loop: For) -> list[tuple[int, int, int]]:
    """Sizes worth a version of their own, in which the loops over threads have constant bounds.

    A block is mostly as large as its shared array: `float tile[16][17]` tells of blocks of 16 x 16.
    """
    found: dict[tuple[int, int, int], None] = {}
    if loop.kind is not LoopKind.BLOCKS:
        return []
    for it in walk(loop.body):
        if (
            not isinstance(it, Allocate)
            or it.space is not Space.SHARED
            or not isinstance(it.var.type, ArrayType)
        ):
            continue
        shape = it.var.type.shape
        if len(shape) == 1 and 32 <= shape[0] <= 1024 and shape[0] % 32 == 0:
            found[(shape[0], 1, 1)] = None
        if len(shape) == 2 and shape[0] * (shape[1] & ~1) <= 1024 and shape[1] > 1:
            found[(shape[1] & ~1, shape[0], 1)] = None
    return list(found)[:_MOST_SIZES]


def _choose_size(name: str, parameters: str, sizes: list[tuple[int, int, int]]) -> list[str]:
    lines = [f"static void {name}({parameters}) {{"]
    lines.append("  const uint32_t *block = ((tm_work *)tm_data)->launch->block;")
    for x, y, z in sizes:
        lines.append(f"  if (block[0] == {x} && block[1] == {y} && block[2] == {z}) {{")
        lines.append(f"    {name}_sized(tm_data, tm_begin, tm_end, {x}, {y}, {z});")
        lines.append("    return;")
        lines.append("  }")
    lines.append(f"  {name}_sized(tm_data, tm_begin, tm_end, block[0], block[1], block[2]);")
    return [*lines, "}"]


def _loop_bounds(loop: For) -> tuple[Expr, ...]:
    return (loop.start, loop.step)
