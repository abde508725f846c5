"""Mutate the rules' own source, one change at a time, and see whether verification notices.

    python tests/mutation/rules.py --results build/mutation-rules.jsonl --most 20
    python tests/mutation/rules.py --results build/mutation-rules.jsonl --table

Each mutant runs in a child process whose imports hand out the changed module; no file is touched.  States:

* crash: the tool raises; hang; refused: a kernel less converts; bounded check; and the codes of verification;
  other coverage, not reported: the suite's faulty programs are not reported as they are;
* survived: the output differs, and everything is as verified as before;
* no fault, as a machine shows: the same output; the same code (the C compiler finds the same instructions, or
  only the order of commutative operands differs); less optimised: the C of each kernel as the unchanged rules
  make it, or make it without one optimisation; less lifted: a lift less, or without a rule; more lifted: a
  lift more, which both checks bear out; other message: only what is said of refused kernels, or places in the
  source; more converted: a refused kernel converts and is verified; all others are as they were;
* not reached: the suite never executes the line (the mutant is not run).
"""

from __future__ import annotations

import argparse
import ast
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import pickle
import random
import select
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from clang.cindex import Index
from source_operators import SourceMutant, apply, mutants_of_source

HERE = Path(__file__).resolve().parent
KERNELS = HERE / "kernels"
SECONDS = 60.0
SUITE = ("rule_suite", "replaying", "equivalence", "mutants", "operators", "places")
NO_FAULT = (
    "same output",
    "other message",
    "same code",
    "less optimised",
    "less lifted",
    "more lifted",
    "more converted",
)
# No rules: options as data, clang's prototypes, and calls of kernels from Python.  No kernel that was CUDA
# goes through the last two.
LEFT_OUT = (
    "converters/cuda/options.py",
    "converters/cuda/bindings.py",
    "tilelang/targets/cpu/options.py",
    "tilelang/targets/cpu/launch.py",
    "tilelang/passes/expand_tensors.py",
    "tilelang/passes/outputs.py",
)
MODULES = {
    "front end": ["converters/cuda", "tilelang/passes/hoist.py"],
    "lifting": [
        "converters/lifting/rules",
        "converters/lifting/polynomials.py",
        "converters/lifting/facts.py",
        "converters/lifting/contexts.py",
        "converters/lifting/state.py",
    ],
    "back end": ["tilelang/passes", "tilelang/targets/cpu"],
}


def main(words: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--most", type=int, default=20, help="mutants per module, drawn with the seed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rooms", nargs="*", default=list(MODULES))
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--again", action="store_true", help="judge the survivors of the results file again")
    parser.add_argument("--table", action="store_true", help="print what the results file has, as Markdown")
    parser.add_argument("--prepare", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(words)
    if options.prepare:
        prepare(options.prepare)
        return 0
    if options.table:
        print(table(options.results))
        return 0
    state = options.results.with_suffix(".state")
    if not state.exists():
        subprocess.run([sys.executable, __file__, "--results", "-", "--prepare", str(state)], check=True)
    (again if options.again else run)(options, load(state))
    return 0


# ---- what the unchanged rules do ---------------------------------------------------------------------


def prepare(path: Path) -> None:
    """What the unchanged rules make of each program of the suite, and which lines that executes."""
    programs = []
    for source in sorted(KERNELS.glob("*.cu")):
        made = in_child(partial(_prepared, source), 600.0)
        if isinstance(made, str):
            raise SystemExit(f"{source.name}: {made}")
        program, said = made
        print(said, flush=True)
        programs.append(program)
    path.write_bytes(pickle.dumps(programs))


def _prepared(source: Path) -> tuple[bytes, str]:
    """In a child, where nothing is cached yet: the program as :class:`rule_suite.Input`, and its states."""
    rule_suite = importlib.import_module("rule_suite")
    oracle = importlib.import_module("tmigrate.oracle")
    parse = importlib.import_module("tmigrate.tilelang.text.parser").parse_module
    made: dict[str, Any] = {}
    lines: dict[str, Any] = {}
    thread = text = ""
    for room in MODULES:
        made[room], lines[room] = _traced(rule_suite, room, source, thread, text)
        if room == "front end":
            thread = made[room]["module"]
        elif room == "lifting":
            lifted, failed = rule_suite.checked_lifts(parse(thread, source.stem), {})
            text = rule_suite.print_module(lifted) if lifted else ""
    built = oracle.build(source)
    module = parse(thread, source.stem)
    verdicts = rule_suite.verdicts(source, built, module, parse(text, source.stem) if text else None)
    lifts = parse(text, source.stem) if text else None
    by_itself = rule_suite.alone(module, lifts), rule_suite.unoptimised(module, lifts)
    program = rule_suite.Input(source, pickle.dumps(built), thread, text, made, lines, verdicts, *by_itself)
    good = sum(state in ("verified", "shown") for state in verdicts.values())
    others = {name: state for name, state in verdicts.items() if state not in ("verified", "shown")}
    said = f"{source.stem}: {good} verified or shown, others {others}, lifts that fail {failed}"
    return pickle.dumps(program), said


def _traced(suite: ModuleType, room: str, *given: Any) -> tuple[Any, frozenset[tuple[str, int]]]:
    """A room's outputs, and the lines that made them."""
    found: set[tuple[str, int]] = set()

    def trace(frame: Any, event: str, argument: Any) -> Any:
        name = frame.f_globals.get("__name__", "")
        if "tmigrate" not in name:
            return None
        found.add((name, frame.f_lineno))
        return trace

    sys.settrace(trace)
    try:
        made = suite.outputs(room, *given)
    finally:
        sys.settrace(None)
    return made, frozenset(found)


def load(state: Path) -> list[Any]:
    """The programs of a state file: (program, its name, its lines by room), the program still pickled."""
    found = []
    for data in pickle.loads(state.read_bytes()):
        lines = in_child(partial(_lines_of, data), 60.0)
        assert isinstance(lines, dict), lines
        found.append((data, lines))
    return found


def _lines_of(data: bytes) -> dict[str, frozenset[tuple[str, int]]]:
    """In a child: the parent must not import what mutants change."""
    found: dict[str, frozenset[tuple[str, int]]] = pickle.loads(data).lines
    return found


# ---- mutants -----------------------------------------------------------------------------------------


def run(options: argparse.Namespace, programs: list[Any]) -> None:
    """Every sampled mutant that the results file does not have yet."""
    preload(programs)
    results = options.results
    rows = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
    done = {r["mutant"] for r in rows}
    deadline = time.monotonic() + options.seconds
    with results.open("a") as file:
        for room, mutant, text in candidates(options, programs):
            if mutant.name in done:
                continue
            if time.monotonic() > deadline:
                return
            chosen = [d for d, lines in programs if text and reaches(lines[room], mutant, text)]
            judged = partial(judge, room, mutant, text, chosen)
            found = in_child(judged, SECONDS) if chosen else "not reached"
            record = {"room": room, "mutant": mutant.name, "operator": mutant.operator, "state": found}
            file.write(json.dumps(record) + "\n")
            file.flush()


def again(options: argparse.Namespace, programs: list[Any]) -> None:
    """Judge the survivors once more, with the suite and the verification of today."""
    preload(programs)
    rows = [json.loads(line) for line in options.results.read_text().splitlines()]
    names = {r["mutant"] for r in rows if r["state"] == "survived"}
    states: dict[str, str] = {}
    for room in options.rooms:
        for name, path in modules_of(room):
            text = path.read_text()
            for mutant in mutants_of_source(name, text):
                if mutant.name in names:
                    chosen = [d for d, lines in programs if reaches(lines[room], mutant, text)]
                    states[mutant.name] = in_child(partial(judge, room, mutant, text, chosen), SECONDS)
    for row in rows:
        row["state"] = states.get(row["mutant"], row["state"])
    options.results.write_text("".join(json.dumps(row) + "\n" for row in rows))


def candidates(options: argparse.Namespace, programs: list[Any]) -> Iterator[tuple[str, SourceMutant, str]]:
    """(room, mutant, source text, or "" if no program executes it); `most` reached ones of a module.

    The modules take turns, so that a run that is broken off has some of each.
    """
    drawn: list[tuple[int, str, SourceMutant, str]] = []
    for room in options.rooms:
        for name, path in modules_of(room):
            text = path.read_text()
            everything = list(mutants_of_source(name, text))
            reached = [m for m in everything if any(reaches(ls[room], m, text) for _, ls in programs)]
            order = random.Random(f"{options.seed} {name}").sample(reached, len(reached))
            drawn += [(turn, room, m, text) for turn, m in enumerate(order[: options.most])]
            kept = set(reached)
            drawn += [(10**6, room, m, "") for m in everything if m not in kept]
    drawn.sort(key=lambda it: it[0])
    for _, room, mutant, text in drawn:
        yield room, mutant, text


def reaches(lines: frozenset[tuple[str, int]], mutant: SourceMutant, text: str) -> bool:
    """Whether a program executes a mutant's line; all do for lines that imports execute."""
    return (mutant.module, mutant.line) in lines or mutant.line not in _function_lines(text)


def modules_of(room: str) -> Iterator[tuple[str, Path]]:
    """The modules of a room by name."""
    top = HERE.parents[1]
    for entry in MODULES[room]:
        place = top / entry
        for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            parts = path.relative_to(top).with_suffix("").parts
            if parts[-1] == "__init__" or str(path.relative_to(top)) in LEFT_OUT:
                continue
            if path == place or str(path.relative_to(top)) not in MODULES["front end"]:
                yield ".".join(("tmigrate", *parts)), path


@lru_cache(maxsize=128)
def _function_lines(text: str) -> set[int]:
    """The lines inside functions: the others are executed when the module is imported."""
    found: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            found.update(range(node.lineno + isinstance(node, ast.FunctionDef), (node.end_lineno or 0) + 1))
    return found


def preload(programs: Sequence[tuple[bytes, Any]]) -> None:
    """Import what children need, so that a fork has it; few rules are among it (see :func:`judge`)."""
    for name in (
        "numpy",
        "ml_dtypes",
        "tmigrate.tilelang.text.parser",
        "tmigrate.tilelang.text.printer",
        "tmigrate.tilelang.ir.verify",
        "tmigrate.oracle",
        "tmigrate.verification.manifest",
    ):
        importlib.import_module(name)
    _keep_parses([call for data, _ in programs for call in in_child(partial(_parses_of, data), 60.0)])


Parse = tuple[str, list[str], int]


def _parses_of(data: bytes) -> list[Parse]:
    """In a child: what the unchanged front end asks clang to parse for a program."""
    calls: list[Parse] = []
    original = Index.parse

    def parse(self: Index, path: str, args: list[str], unsaved_files: Any = None, options: int = 0) -> Any:
        if not unsaved_files:
            calls.append((path, list(args), options))
        return original(self, path, args=args, unsaved_files=unsaved_files, options=options)

    Index.parse = parse
    importlib.import_module("rule_suite").converted(pickle.loads(data).source)
    return calls


def _keep_parses(calls: Sequence[Parse]) -> None:
    """Parse once, ahead of all forks: clang's trees do not depend on the rules, only on what is asked."""
    original = Index.parse
    kept = {(p, tuple(a), o): Index.create().parse(p, args=a, options=o) for p, a, o in calls}

    def parse(self: Index, path: str, args: list[str], unsaved_files: Any = None, options: int = 0) -> Any:
        found = None if unsaved_files else kept.get((path, tuple(args), options))
        return found or original(self, path, args=args, unsaved_files=unsaved_files, options=options)

    Index.parse = parse


def in_child(work: Callable[[], Any], seconds: float) -> Any:
    """What a function gives in a forked process; "hang" or "crash: ..." where it does not give anything."""
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(readable)
        os.setsid()
        _silence()
        try:
            found = work()
        except BaseException as error:
            found = f"crash: {type(error).__name__}"
        with os.fdopen(writable, "wb") as file:
            file.write(pickle.dumps(found))
        os._exit(0)
    os.close(writable)
    data, deadline = b"", time.monotonic() + seconds
    while select.select([readable], [], [], max(0.0, deadline - time.monotonic()))[0]:
        part = os.read(readable, 1 << 16)
        data += part
        if not part:
            break
    else:
        data = pickle.dumps("hang")
    os.close(readable)
    for end in (os.killpg, os.kill):
        try:
            end(child, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue
    os.waitpid(child, 0)
    return pickle.loads(data) if data else "crash: the process died"


def _silence() -> None:
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Hands out one module from a changed tree."""

    def __init__(self, name: str, code: CodeType) -> None:
        self.name, self.code = name, code

    def find_spec(self, name: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name != self.name:
            return None
        return importlib.util.spec_from_loader(name, self)

    def exec_module(self, module: ModuleType) -> None:
        exec(self.code, module.__dict__)


def judge(room: str, mutant: SourceMutant, text: str, programs: Sequence[bytes]) -> str:
    """In the child: the worst that the mutant does to the programs that execute it."""
    code = compile(apply(mutant, text), mutant.module.replace(".", "/") + ".py", "exec")
    sys.meta_path.insert(0, _Finder(mutant.module, code))
    if mutant.module in sys.modules:  # imported ahead of the fork: nothing that may hold it stays
        for name in [n for n in sys.modules if n.partition(".")[0] in ("tmigrate", *SUITE)]:
            del sys.modules[name]
    suite = importlib.import_module("rule_suite")
    if mutant.module not in sys.modules:
        importlib.import_module(mutant.module)
    found = []
    for data in programs:
        program = pickle.loads(data)
        state = suite.judge_program(room, program, pickle.loads(program.oracle), mutant.module)
        if state not in (*NO_FAULT, "survived"):
            return str(state)
        found.append(state)
    return str(max(found, key=(*NO_FAULT, "survived").index))


def table(path: Path) -> str:
    """The counts of a results file by room and by operator, as Markdown."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    lines = []
    for key in ("room", "operator"):
        counts = Counter((r[key], r["state"].partition(":")[0]) for r in rows)
        rest = sorted({state for _, state in counts} - {*NO_FAULT, "survived", "not reached"})
        states = [*rest, *NO_FAULT, "survived", "not reached"]
        lines += [f"| {key} | " + " | ".join(states) + " |", "|---|" + "---:|" * len(states)]
        for name in list(dict.fromkeys(r[key] for r in rows)):
            lines.append(f"| {name} | " + " | ".join(str(counts[name, s]) for s in states) + " |")
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
