"""The verifier's rules, as data: rules about a module's head, and rules about each function."""

from __future__ import annotations

from tmigrate.tilelang.ir import verify_expressions as expressions
from tmigrate.tilelang.ir import verify_names as names
from tmigrate.tilelang.ir import verify_statements as statements
from tmigrate.tilelang.ir.module import Level
from tmigrate.tilelang.ir.verify import EVERY_LEVEL, STRUCTURED, Rule

THREAD = frozenset({Level.THREAD})
BELOW_TENSOR = frozenset({Level.THREAD, Level.LOOP})

MODULE_RULES: tuple[Rule, ...] = (
    Rule("unique names", "TM2020", EVERY_LEVEL, names.unique_names),
    Rule("free module names", "TM2021", EVERY_LEVEL, names.free_module_names),
    Rule("constant values", "TM2022", EVERY_LEVEL, names.constant_values),
    Rule("struct layouts", "TM2023", EVERY_LEVEL, names.struct_layouts),
    Rule("module variables", "TM2024", EVERY_LEVEL, names.variables),
)

FUNCTION_RULES: tuple[Rule, ...] = (
    # Names.
    Rule("free names", "TM2021", EVERY_LEVEL, names.free_names),
    Rule("declared", "TM2025", EVERY_LEVEL, names.declared),
    Rule("declared once", "TM2026", EVERY_LEVEL, names.declared_once),
    Rule("one type", "TM2027", EVERY_LEVEL, names.one_type),
    Rule("dimensions", "TM2028", EVERY_LEVEL, names.dimensions),
    Rule("signatures", "TM2029", EVERY_LEVEL, names.signatures),
    # Expressions.
    Rule("operand types", "TM2030", EVERY_LEVEL, expressions.operand_types),
    Rule("operators", "TM2031", EVERY_LEVEL, expressions.operators),
    Rule("conditions", "TM2032", EVERY_LEVEL, expressions.conditions),
    Rule("effects", "TM2033", EVERY_LEVEL, expressions.effects),
    Rule("subscripts", "TM2034", EVERY_LEVEL, expressions.subscripts),
    Rule("members", "TM2035", EVERY_LEVEL, expressions.members),
    Rule("literals", "TM2036", EVERY_LEVEL, expressions.literals),
    Rule("named constants", "TM2037", EVERY_LEVEL, expressions.named_constants),
    Rule("reductions", "TM2038", EVERY_LEVEL, expressions.reductions),
    Rule("calls", "TM2039", EVERY_LEVEL, expressions.calls),
    Rule("addresses", "TM2040", EVERY_LEVEL, expressions.addresses),
    Rule("conversions", "TM2041", EVERY_LEVEL, expressions.conversions),
    Rule("initial values", "TM2042", EVERY_LEVEL, expressions.initial_values),
    Rule("launch indices", "TM2043", EVERY_LEVEL, expressions.launch_indices),
    # Statements.
    Rule("declared values", "TM2044", EVERY_LEVEL, statements.declared_values),
    Rule("stores", "TM2045", EVERY_LEVEL, statements.stores),
    Rule("loop variables", "TM2046", EVERY_LEVEL, statements.loop_variables),
    Rule("loop ranges", "TM2047", EVERY_LEVEL, statements.loop_ranges),
    Rule("loop bounds", "TM2048", EVERY_LEVEL, statements.loop_bounds),
    Rule("jumps", "TM2049", EVERY_LEVEL, statements.jumps),
    Rule("results", "TM2050", EVERY_LEVEL, statements.results),
    Rule("comments", "TM2051", EVERY_LEVEL, statements.comments),
    Rule("depth", "TM2052", EVERY_LEVEL, statements.depth),
    # Levels.
    Rule("no launch indices", "TM2053", STRUCTURED, statements.no_launch_indices),
    Rule("no barriers", "TM2054", STRUCTURED, statements.no_barriers),
    Rule("no pointers", "TM2055", STRUCTURED, statements.no_pointers),
    Rule("no tensors", "TM2056", THREAD, statements.no_tensors),
    Rule("no whole tensors", "TM2057", BELOW_TENSOR, statements.no_whole_tensors),
)

RULES = {rule.name: rule for rule in (*MODULE_RULES, *FUNCTION_RULES)}
