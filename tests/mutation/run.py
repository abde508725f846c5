"""Run the mutation of verification over programs, and write what became of each mutant, one JSON line each.

    python tests/mutation/run.py thread --results build/mutation-thread.jsonl samples/*.cu
    python tests/mutation/run.py lifted --results build/mutation-lifted.jsonl samples/*.cu
    python tests/mutation/run.py equivalent --results build/mutation-thread.jsonl samples/*.cu
    python tests/mutation/run.py table build/mutation-thread.jsonl

A run that is broken off goes on where it stopped: mutants that the results file has are not judged again.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from equivalence import assumes_enough, is_equal_code
from lifting_mutants import LiftJudge
from mutants import Mutant, is_valid, mutants_of, sampled
from replaying import Found, Program

from tmigrate.emission import called_functions, select, through_text
from tmigrate.options import ConvertOptions
from tmigrate.planning import plan_file
from tmigrate.tilelang.targets.cpu.options import EmitOptions
from tmigrate.verification.objects import LIFTED


def main(words: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("thread", "lifted"):
        command = commands.add_parser(name)
        command.add_argument("sources", nargs="+", type=Path)
        command.add_argument("--operators", nargs="*", help="only these")
        command.add_argument("--results", type=Path, required=True)
        command.add_argument("--arguments", nargs="*", default=[], help="the programs' own arguments")
        command.add_argument(
            "--most", type=int, default=10**9, help="mutants per program, drawn with the seed"
        )
        command.add_argument("--seed", type=int, default=1)
        command.add_argument("--batch", type=int, default=40, help="mutants compiled together")
        command.add_argument("--seconds", type=float, default=1e9, help="stop after about this long")
    equal = commands.add_parser("equivalent")
    equal.add_argument("sources", nargs="+", type=Path)
    equal.add_argument("--results", type=Path, required=True)
    table = commands.add_parser("table")
    table.add_argument("results", nargs="+", type=Path)
    options = parser.parse_args(words)
    if options.command == "table":
        print(table_of([r for path in options.results for r in read(path)]))
        return 0
    if options.command == "equivalent":
        for source in options.sources:
            mark_equivalent(source, options.results)
        return 0
    deadline = time.monotonic() + options.seconds
    judge = thread_level if options.command == "thread" else lifted
    for source in options.sources:
        judge(source, options, deadline)
    return 0


def read(path: Path) -> list[dict[str, Any]]:
    """The results in a file; a last line cut short is left out."""
    found = []
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


def _todo(source: Path, mutants: list[Mutant], options: argparse.Namespace) -> list[Mutant]:
    done = {r["mutant"] for r in read(options.results) if r["program"] == source.stem}
    if options.operators:
        mutants = [m for m in mutants if m.operator in options.operators]
    return [m for m in sampled(mutants, options.most, options.seed) if m.name not in done]


def thread_level(source: Path, options: argparse.Namespace, deadline: float) -> None:
    """Step (a) for the mutants of a program's thread-level functions."""
    program = Program(source, tuple(options.arguments))
    not_verified = {k: v.code for k, v in program.baseline.items() if v.code}
    print(f"{source.stem}: {program.seconds:.2f} s a run; not verified: {not_verified or 'none'}", flush=True)
    used = [f for f in program.module.functions if program.kernels_of(f.name)]
    todo = _todo(source, list(mutants_of(program.module, used)), options)
    with options.results.open("a") as file:
        for group in _groups(todo, options.batch):
            if time.monotonic() > deadline:
                return
            valid = [m for m in group if is_valid(m, program.module)]
            for mutant in (m for m in group if m not in valid):
                _write(file, source, mutant, Found("invalid", ""))
            for mutant, found in program.judge(valid) if valid else ():
                _write(file, source, mutant, found)


def lifted(source: Path, options: argparse.Namespace, deadline: float) -> None:
    """The bounded check, and step (b) where that lets a mutant pass, for a program's lifted kernels."""
    judge = LiftJudge(source)
    print(f"{source.stem}: lifted: {', '.join(judge.lifts) or 'nothing'}", flush=True)
    todo = _todo(source, list(mutants_of(judge.module, judge.lifts.values())), options)
    with options.results.open("a") as file:
        for group in _groups(todo, options.batch):
            if time.monotonic() > deadline:
                return
            valid = [m for m in group if is_valid(m, judge.module)]
            for mutant in (m for m in group if m not in valid):
                _write(file, source, mutant, Found("invalid", ""))
            for mutant, found in judge.judge(valid) if valid else ():
                _write(file, source, mutant, found)


def mark_equivalent(source: Path, path: Path) -> None:
    """Mark the survivors of a program that can be shown to be no fault.

    Rows of mutants that the operators do not make any more are left out.
    """
    rows = read(path)
    survivors = {r["mutant"] for r in rows if r["program"] == source.stem and r["state"] == "survived"}
    if not survivors:
        return
    plan = plan_file(source, ConvertOptions(execute=False))
    module = through_text(plan.module)
    lifted = through_text(select(plan.module, plan.lifts.values())) if plan.lifts else None
    equal, made = set(), set()
    for around, options in [(module, EmitOptions()), *([(lifted, LIFTED)] if lifted else [])]:
        for mutant in mutants_of(around, around.functions):
            made.add(mutant.name)
            name = mutant.function.name
            kernels = [k.name for k in around.kernels if name in {k.name, *called_functions(around, [k])}]
            if mutant.name not in survivors:
                continue
            before = around.function(name)
            assert before is not None
            if is_equal_code(mutant, around, kernels, options) or assumes_enough(mutant, before):
                equal.add(mutant.name)
    rows = [r for r in rows if r["program"] != source.stem or r["mutant"] in made]
    for row in rows:
        if row["program"] == source.stem and row["mutant"] in equal and row["state"] == "survived":
            row["state"] = "equivalent"
    path.write_text("".join(json.dumps(r) + "\n" for r in rows))
    print(f"{source.stem}: {len(equal)} of {len(survivors)} survivors are no fault", flush=True)


def _groups(mutants: list[Mutant], size: int) -> Iterator[list[Mutant]]:
    source = iter(mutants)
    while group := list(itertools.islice(source, size)):
        yield group


def _write(file: Any, source: Path, mutant: Mutant, found: Found) -> None:
    record = {
        "program": source.stem,
        "mutant": mutant.name,
        "operator": mutant.operator,
        "label": mutant.label,
        "line": mutant.line,
        "state": found.state,
        "how": found.how,
    }
    file.write(json.dumps(record) + "\n")
    file.flush()


def table_of(results: list[dict[str, Any]]) -> str:
    """Counts by operator, as Markdown."""
    states = ("killed", "build", "equivalent", "survived", "invalid")
    rows = Counter((r["operator"], r["state"]) for r in results)
    names = sorted({r["operator"] for r in results})
    lines = ["| operator | " + " | ".join(states) + " |", "|---|" + "---:|" * len(states)]
    for name in [*names, "all"]:
        counts = [
            sum(n for (operator, state), n in rows.items() if state == s and name in (operator, "all"))
            for s in states
        ]
        lines.append(f"| {name} | " + " | ".join(map(str, counts)) + " |")
    hows = Counter(r["how"] for r in results if r["state"] == "killed")
    lines += ["", *(f"{n} {how}" for how, n in hows.most_common(30))]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
