"""The kill suite for mutated rules: what one room makes of fixed inputs, and what verification says of it.

Front end: the text of the module, and what was refused where.  Lifting: the text of each lift.  Back end: the
C of every version.  Only what differs from the unchanged rules' output is verified.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from equivalence import assembly_of, normal_form
from replaying import compile_parts, replay_objects

from tmigrate.converters.cuda import FrontEndOptions, convert_source
from tmigrate.converters.lifting.bounded import check
from tmigrate.converters.lifting.lift import lift
from tmigrate.emission import select
from tmigrate.oracle import Built
from tmigrate.tilelang.ir.module import Function, Module
from tmigrate.tilelang.ir.verify import verify
from tmigrate.tilelang.targets.cpu.build import build_module, write_source
from tmigrate.tilelang.targets.cpu.options import EmitOptions
from tmigrate.tilelang.text.parser import parse_module
from tmigrate.tilelang.text.printer import print_function, print_module
from tmigrate.verification.manifest import (
    KernelEntry,
    Version,
    exact_on_integers,
    is_watched,
    parameter_kinds,
    pointee_kinds,
    works_alone,
)
from tmigrate.verification.objects import LIFTED, REPLAYED_THREAD, SHADOW
from tmigrate.verification.verdict import evidence_of, judge, judge_lift

ROOMS = ("front end", "lifting", "back end")
Outputs = dict[str, str]
Lines = frozenset[tuple[str, int]]
# What optimisations may always answer, at the price of time alone: no product, no size, order matters.
OPTIMISATIONS: tuple[tuple[str, str, object], ...] = (
    ("tmigrate.tilelang.targets.cpu.products", "match_product", None),
    ("tmigrate.tilelang.targets.cpu.functions", "likely_block_sizes", []),
    ("tmigrate.tilelang.targets.cpu.build", "is_order_sensitive", True),
)
REFUSED = "refused"  # the part of the front end's outputs that no kernel comes from


@dataclass(frozen=True)
class Input:
    """A program of the suite: its source, its oracle, and what the unchanged rules make of it."""

    source: Path
    oracle: bytes  # pickled: its class may be a mutant's
    thread: str  # the text of the thread-level module
    lifted: str  # the text of the lifted kernels
    outputs: Mapping[str, Outputs]  # by room
    lines: Mapping[str, Lines]  # by room: what it executes
    verdicts: Mapping[str, str]
    alone: Outputs  # the C of each kernel by itself
    unoptimised: tuple[Outputs, ...]  # the same without each of OPTIMISATIONS

    @property
    def name(self) -> str:
        """The program's name."""
        return self.source.stem


def converted(source: Path) -> tuple[Module, list[str]]:
    """The thread-level module of a program, checked as the pipeline checks it, and what was refused."""
    result = convert_source(source, FrontEndOptions())
    module = result.module
    verify(module)
    if parse_module(print_module(module), module.name) != module:
        raise ValueError("the text reads back as another module")
    found = [(r.name, d) for r in result.kernels for d in r.diagnostics]
    found += [("", d) for d in result.diagnostics]
    return module, [f"{name} {d.code} {d.location}" for name, d in found]


def lifts_of(module: Module) -> dict[str, Function]:
    """The lifts of a module's kernels, before any check."""
    found = {k.name: lift(module, k).function for k in module.kernels}
    return {name: f for name, f in found.items() if f is not None}


def sources(module: Module, lifted: Module | None) -> Iterator[tuple[str, str]]:
    """The C of every version that verification runs."""
    yield "thread", write_source(module, REPLAYED_THREAD).text
    if lifted is not None:
        yield "shadow", write_source(shadowed(module, lifted), SHADOW).text
        yield "lifted", write_source(lifted, LIFTED).text


def alone(module: Module, lifted: Module | None) -> Outputs:
    """The C of each kernel by itself."""
    found: Outputs = {}
    for k in module.kernels:
        other = lifted.function(k.name) if lifted else None
        mine = select(lifted, [other]) if lifted and other else None
        found |= {f"{k.name} {role}": text for role, text in sources(select(module, [k]), mine)}
    return found


def unoptimised(module: Module, lifted: Module | None) -> tuple[Outputs, ...]:
    """The same without each of the optimisations."""
    found = []
    for holder, name, answer in OPTIMISATIONS:
        place = importlib.import_module(holder)
        whole = getattr(place, name)
        setattr(place, name, lambda *_, answer=answer: answer)
        try:
            found.append(alone(module, lifted))
        finally:
            setattr(place, name, whole)
    return tuple(found)


def _less_optimised(program: Input, module: Module, lifted: Module | None) -> bool:
    """Whether each kernel's C is that of the unchanged rules, or theirs without an optimisation."""
    made, known = alone(module, lifted), program.alone
    return made.keys() == known.keys() and any(
        all(made[part] in (known[part], without[part]) for part in made) for without in program.unoptimised
    )


def shadowed(module: Module, lifted: Module) -> Module:
    """The kernels that a lift is compared with."""
    names = {f.name for f in lifted.kernels}
    return select(module, [k for k in module.kernels if k.name in names])


def outputs(room: str, source: Path, thread: str, lifted: str) -> Outputs:
    """What a room makes of an input, part by part."""
    if room == "front end":
        made, refused = converted(source)
        return {"module": print_module(made), REFUSED: "\n".join(refused)}
    module = parse_module(thread, source.stem)
    if room == "lifting":
        return {name: print_function(f, module) for name, f in lifts_of(module).items()}
    return dict(sources(module, parse_module(lifted, source.stem) if lifted else None))


def checked_lifts(module: Module, known: Mapping[str, str]) -> tuple[Module | None, list[str]]:
    """The lifts that do not fail the bounded check, and the names of the others; known texts are good."""
    kept, failed = [], []
    for name, lifted in lifts_of(module).items():
        original = module.function(name)
        assert original is not None
        good = known.get(name) == print_function(lifted, module)
        if not good and check(module, original, lifted, seconds=5.0).status == "failed":
            failed.append(name)
        else:
            kept.append(lifted)
    return (select(module, kept) if kept else None), failed


# ---- one mutant and one program ------------------------------------------------------------------------


def judge_program(room: str, program: Input, oracle: Built, rule: str) -> str:
    """What becomes of a program under a changed module: how verification notices, or why it need not."""
    made, known = outputs(room, program.source, program.thread, program.lifted), program.outputs[room]
    if made == known:
        return "same output"
    if room == "front end":
        return _judge_front_end(program, oracle, made, known)
    module = parse_module(program.thread, program.name)
    lifted = parse_module(program.lifted, program.name) if program.lifted else None
    if room == "lifting":
        return _judge_lifts(program, oracle, module, made, known, rule)
    found = _worse(program.verdicts, verdicts(program.source, oracle, module, lifted))
    if found:
        code = "other coverage" if "TM4103:" in found else found.partition(":")[0]
        return "not reported" if found == "verified" else code
    changed = [part for part in known if made.get(part) != known[part]]
    same = all(part in made and assembly_of(made[part]) == assembly_of(known[part]) for part in changed)
    if same:
        return "same code"
    return "less optimised" if _less_optimised(program, module, lifted) else "survived"


def _judge_front_end(program: Input, oracle: Built, made: Outputs, known: Outputs) -> str:
    module = parse_module(made["module"], program.name)
    before = parse_module(program.thread, program.name)
    if module == before:  # places in the source do not count
        return "other message"
    states = {name: state for name, state in program.verdicts.items() if not name.endswith(" lifted")}
    found = verdicts(program.source, oracle, module, None)
    states, found = _codes(states), _codes(found)
    wrong = [state for name, state in found.items() if name not in states and state.startswith("TM410")]
    bad = _worse(states, found) or (wrong[0] if wrong else "")
    if bad:
        return bad
    common = [k.name for k in module.kernels if k.name in states]
    if _code(before, common) == _code(module, common):
        return "more converted" if len(common) < len(module.kernels) else "same code"
    return "survived"


def _judge_lifts(
    program: Input, oracle: Built, module: Module, made: Outputs, known: Outputs, rule: str
) -> str:
    lifted, failed = checked_lifts(module, known)
    if failed:
        return "bounded check"
    found = verdicts(program.source, oracle, module, lifted)
    lost = [name for name in known if name not in made]
    expected = {n: s for n, s in program.verdicts.items() if n.removesuffix(" lifted") not in lost}
    expected |= {f"{name} lifted": "shown" for name in made}
    bad = _worse(_codes(expected), _codes(found))
    if bad:
        return bad
    new = any(name not in known for name in made)
    harmless = "more lifted" if new else "less lifted" if lost else "same code"
    changed = [name for name in made if made[name] != known.get(name, made[name])]
    if not changed or lifted is None:
        return harmless
    before = parse_module(program.lifted, program.name)
    if all(_alike(before.function(name), lifted.function(name)) for name in changed):
        return harmless
    if _code(before, changed, LIFTED) == _code(lifted, changed, LIFTED):
        return harmless
    fewer = _without_rule(module, rule)
    if all(fewer.get(name) == made[name] for name in changed):
        return "more lifted" if new else "less lifted"
    return "survived"


def _alike(one: Function | None, other: Function | None) -> bool:
    return one is not None and other is not None and normal_form(one) == normal_form(other)


def _without_rule(module: Module, rule: str) -> Outputs:
    """The lifts of a ladder without the rungs that a module holds."""
    ladder = importlib.import_module("tmigrate.converters.lifting.lift")
    whole = ladder.LADDER
    rest = tuple(r for r in whole if r.apply.__module__ != rule)
    if len(rest) == len(whole):
        return {}
    ladder.LADDER = rest  # type: ignore[attr-defined]
    try:
        return {name: print_function(f, module) for name, f in lifts_of(module).items()}
    finally:
        ladder.LADDER = whole  # type: ignore[attr-defined]


def _codes(states: Mapping[str, str]) -> dict[str, str]:
    """The states without the lines that they name."""
    return {name: state.partition(":")[0] for name, state in states.items()}


def _code(module: Module, kernels: list[str], options: EmitOptions | None = None) -> str:
    """The instructions of some kernels of a module."""
    chosen = select(module, [k for k in module.kernels if k.name in kernels])
    chosen = replace(chosen, name="m", source="m")
    return assembly_of(write_source(chosen, options or EmitOptions()).text)


def _worse(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """The first kernel whose state is another one than with the unchanged rules."""
    for name, state in before.items():
        now = after.get(name, "lift lost" if name.endswith(" lifted") else "refused")
        if now != state:
            return now
    return ""


def verdicts(source: Path, oracle: Built, module: Module, lifted: Module | None) -> dict[str, str]:
    """Every kernel's state, and whether its lift was borne out, after one replay of the program."""
    name = source.stem
    objects = {"thread": compile_parts(module, name, [("", module, module.kernels)], REPLAYED_THREAD)}
    if lifted is not None:
        original = shadowed(module, lifted)
        objects["shadow"] = compile_parts(original, name, [("", original, original.kernels)], SHADOW)
        objects["lifted"] = build_module(lifted, LIFTED)  # as it is shipped: `restrict` counts at -O3 only
    points = {k.name: objects["thread"].points(k.name) for k in module.kernels}
    entries = []
    for k in module.kernels:
        versions = {
            role: Version(role, b.kernels[k.name]) for role, b in objects.items() if k.name in b.kernels
        }
        other = lifted.function(k.name) if lifted else None
        entries.append(
            KernelEntry(
                k.symbol,
                coverage=len(points[k.name]),
                parameters=parameter_kinds(k, module.struct_table),
                pointees=pointee_kinds(k, module.struct_table),
                integers=other is not None and exact_on_integers(k) and exact_on_integers(other),
                any_block=works_alone(module, k),
                watched=is_watched(module, k),
                thread=versions.get("thread"),
                shadow=versions.get("shadow"),
                lifted=versions.get("lifted"),
            )
        )
    replayed, _ = replay_objects(oracle, objects, entries, (), 10.0)
    found = {}
    for k in module.kernels:
        numbered = dict(enumerate(points[k.name]))
        evidence = evidence_of(replayed, k.symbol, numbered, reads_clock=False, failure="")
        verdict = judge(evidence)
        found[k.name] = verdict.code or verdict.status.value
        if verdict.code == "TM4101":
            ends = [launch.thread.verdict for launch in evidence.counted if launch.thread]
            found[k.name] += f": {next((end for end in ends if end != 'equal'), 'printed')}"
        if verdict.code == "TM4103":
            places = ((p.location.line if p.location else 0, p.kind.value) for p in evidence.uncovered)
            found[k.name] += f": {', '.join(f'{line} {what}' for line, what in sorted(set(places)))}"
        if lifted and lifted.function(k.name):
            lift_verdict = judge_lift(evidence)
            found[f"{k.name} lifted"] = lift_verdict.code or "shown"
    return found
