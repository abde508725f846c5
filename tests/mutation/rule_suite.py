"""The kill suite for mutated rules: what one room makes of fixed inputs, and what verification says of it.

Front end: the text of the module.  Lifting: the text of each lift.  Back end: the C of every version.  Only
what differs from the unchanged rules' output is verified; the same output needs no second verification.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from replaying import compile_parts, replay_objects

from tmigrate.converters.cuda import FrontEndOptions, convert_source
from tmigrate.converters.lifting.bounded import check
from tmigrate.converters.lifting.lift import lift
from tmigrate.emission import select
from tmigrate.oracle import Built
from tmigrate.tilelang.ir.module import Function, Module
from tmigrate.tilelang.ir.verify import verify
from tmigrate.tilelang.targets.cpu.build import write_source
from tmigrate.tilelang.text.parser import parse_module
from tmigrate.tilelang.text.printer import print_function, print_module
from tmigrate.verification.manifest import (
    KernelEntry,
    Version,
    exact_on_integers,
    parameter_kinds,
    pointee_kinds,
)
from tmigrate.verification.objects import LIFTED, REPLAYED_THREAD, SHADOW
from tmigrate.verification.verdict import evidence_of, judge, judge_lift

ROOMS = ("front end", "lifting", "back end")
Outputs = dict[str, str]


@dataclass(frozen=True)
class Input:
    """A program of the suite: its source, its oracle, and what the unchanged rules make of it."""

    source: Path
    oracle: Built
    thread: str  # the text of the thread-level module
    lifted: str  # the text of the lifted kernels
    outputs: Mapping[str, Outputs]  # by room
    verdicts: Mapping[str, str]


def converted(source: Path) -> Module:
    """The thread-level module of a program, checked as the pipeline checks it."""
    module = convert_source(source, FrontEndOptions()).module
    verify(module)
    if parse_module(print_module(module), module.name) != module:
        raise ValueError("the text reads back as another module")
    return module


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


def shadowed(module: Module, lifted: Module) -> Module:
    """The kernels that a lift is compared with."""
    names = {f.name for f in lifted.kernels}
    return select(module, [k for k in module.kernels if k.name in names])


def outputs(room: str, source: Path, thread: str, lifted: str) -> Outputs:
    """What a room makes of an input, part by part."""
    if room == "front end":
        return {"module": print_module(converted(source))}
    module = parse_module(thread, source.stem)
    if room == "lifting":
        return {name: print_function(f, module) for name, f in lifts_of(module).items()}
    return dict(sources(module, parse_module(lifted, source.stem) if lifted else None))


def checked_lifts(module: Module, known: Mapping[str, str]) -> tuple[Module | None, list[str]]:
    """The lifts that the bounded check lets pass, and the names of the others; known texts need no check."""
    kept, failed = [], []
    for name, lifted in lifts_of(module).items():
        original = module.function(name)
        assert original is not None
        good = known.get(name) == print_function(lifted, module)
        if good or check(module, original, lifted, seconds=5.0).status == "checked":
            kept.append(lifted)
        else:
            failed.append(name)
    return (select(module, kept) if kept else None), failed


def verdicts(source: Path, oracle: Built, module: Module, lifted: Module | None) -> dict[str, str]:
    """Every kernel's state, and whether its lift was borne out, after one replay of the program."""
    name = source.stem
    objects = {"thread": compile_parts(module, name, [("", module, module.kernels)], REPLAYED_THREAD)}
    if lifted is not None:
        original = shadowed(module, lifted)
        objects["shadow"] = compile_parts(original, name, [("", original, original.kernels)], SHADOW)
        objects["lifted"] = compile_parts(lifted, name, [("", lifted, lifted.kernels)], LIFTED)
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
                parameters=parameter_kinds(k),
                pointees=pointee_kinds(k, module.struct_table),
                integers=other is not None and exact_on_integers(k) and exact_on_integers(other),
                **versions,
            )
        )
    replayed, _ = replay_objects(oracle, objects, entries, (), 10.0)
    found = {}
    for k in module.kernels:
        numbered = dict(enumerate(points[k.name]))
        evidence = evidence_of(replayed, k.symbol, numbered, reads_clock=False, failure="")
        verdict = judge(evidence)
        found[k.name] = verdict.code or verdict.status.value
        if lifted and lifted.function(k.name):
            lift_verdict = judge_lift(evidence)
            found[f"{k.name} lifted"] = lift_verdict.code or "shown"
    return found
