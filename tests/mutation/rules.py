"""Mutate the rules' own source, one change at a time, and see whether verification notices.

    python tests/mutation/rules.py --results build/mutation-rules.jsonl --most 20

Each mutant runs in a child process whose imports hand out the changed module; no file is touched.  States:

* not reached: the suite never executes the line (the mutant is not run);
* same output: every text and C source of the suite is what it was;
* crash: the tool raises; refused: less converts; lift lost; bounded check; and the codes of verification;
* survived: the output differs, and everything is as verified as before.
"""

from __future__ import annotations

import argparse
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
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from source_operators import SourceMutant, apply, mutants_of_source

HERE = Path(__file__).resolve().parent
KERNELS = HERE / "kernels"
SECONDS = 90.0
MODULES = {
    "front end": ["converters/cuda"],
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
    parser.add_argument("--prepare", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(words)
    if options.prepare:
        prepare(options.prepare)
        return 0
    state = options.results.with_suffix(".state")
    if not state.exists():
        subprocess.run([sys.executable, __file__, "--results", "-", "--prepare", str(state)], check=True)
    run(options, pickle.loads(state.read_bytes()))
    return 0


# ---- what the unchanged rules do ---------------------------------------------------------------------


def prepare(path: Path) -> None:
    """Run the suite on the unchanged rules, once for results and once more to see which lines it executes."""
    rule_suite = importlib.import_module("rule_suite")
    oracle = importlib.import_module("tmigrate.oracle")
    inputs: list[Any] = []
    for source in sorted(KERNELS.glob("*.cu")):
        module = rule_suite.converted(source)
        lifted, failed = rule_suite.checked_lifts(module, {})
        thread = rule_suite.print_module(module)
        text = rule_suite.print_module(lifted) if lifted else ""
        made = {room: rule_suite.outputs(room, source, thread, text) for room in MODULES}
        built = oracle.build(source)
        verdicts = rule_suite.verdicts(source, built, module, lifted)
        print(source.stem, verdicts, "lifts that fail:", failed, flush=True)
        entry = (source, pickle.dumps(built), thread, text, made, verdicts)
        inputs.append(entry)
    lines = {room: _executed(rule_suite, room, inputs) for room in MODULES}
    path.write_bytes(pickle.dumps((inputs, lines)))


def _executed(rule_suite: ModuleType, room: str, inputs: list[Any]) -> set[tuple[str, int]]:
    found: set[tuple[str, int]] = set()

    def trace(frame: Any, event: str, argument: Any) -> Any:
        if "tmigrate" not in frame.f_globals.get("__name__", ""):
            return None
        found.add((frame.f_globals["__name__"], frame.f_lineno))
        return trace

    sys.settrace(trace)
    try:
        for source, _, thread, text, _, _ in inputs:
            rule_suite.outputs(room, source, thread, text)
    finally:
        sys.settrace(None)
    return found


# ---- mutants -----------------------------------------------------------------------------------------


def run(options: argparse.Namespace, state: tuple[list[Any], dict[str, set[tuple[str, int]]]]) -> None:
    """Every sampled mutant that the results file does not have yet."""
    inputs, lines = state
    preload()
    done = (
        {json.loads(line)["mutant"] for line in options.results.read_text().splitlines()}
        if (options.results.exists())
        else set()
    )
    deadline = time.monotonic() + options.seconds
    with options.results.open("a") as file:
        for room, mutant, text, reached in candidates(options, lines):
            if mutant.name in done:
                continue
            if time.monotonic() > deadline:
                return
            found = in_child(room, mutant, text, inputs) if reached else "not reached"
            record = {"room": room, "mutant": mutant.name, "operator": mutant.operator, "state": found}
            file.write(json.dumps(record) + "\n")
            file.flush()


def candidates(
    options: argparse.Namespace, lines: dict[str, set[tuple[str, int]]]
) -> Iterator[tuple[str, SourceMutant, str, bool]]:
    """(room, mutant, source text, whether the suite executes its line); `most` reached ones of a module."""
    for room in options.rooms:
        for name, path in modules_of(room):
            text = path.read_text()
            everything = list(mutants_of_source(name, text))
            inside = _function_lines(text)
            reached = [m for m in everything if (name, m.line) in lines[room] or m.line not in inside]
            kept = set(reached)
            if len(reached) > options.most:
                chosen = random.Random(f"{options.seed} {name}").sample(reached, options.most)
                reached = sorted(chosen, key=lambda m: (m.site, m.variant))
            yield from ((room, m, text, True) for m in reached)
            yield from ((room, m, text, False) for m in everything if m not in kept)


def modules_of(room: str) -> Iterator[tuple[str, Path]]:
    """The modules of a room by name."""
    top = HERE.parents[1]
    for entry in MODULES[room]:
        place = top / entry
        for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            parts = path.relative_to(top).with_suffix("").parts
            if parts[-1] != "__init__":
                yield ".".join(("tmigrate", *parts)), path


def _function_lines(text: str) -> set[int]:
    """The lines inside functions: the others are executed when the module is imported."""
    import ast

    found: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            found.update(range(node.lineno + isinstance(node, ast.FunctionDef), (node.end_lineno or 0) + 1))
    return found


def preload() -> None:
    """Import what children need and no mutant changes, so that a fork has it."""
    for name in ("numpy", "clang.cindex", "ml_dtypes"):
        importlib.import_module(name)


def in_child(room: str, mutant: SourceMutant, text: str, inputs: list[Any]) -> str:
    """Fork, run the suite with the mutant, and return what came of it."""
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(readable)
        os.setsid()
        _silence()
        try:
            found = judge(room, mutant, text, inputs)
        except BaseException as error:
            found = f"crash: {type(error).__name__}"
        os.write(writable, found.encode()[:4000])
        os._exit(0)
    os.close(writable)
    ready, _, _ = select.select([readable], [], [], SECONDS)
    found = os.read(readable, 4096).decode() if ready else "hang"
    os.close(readable)
    for end in (os.killpg, os.kill):
        try:
            end(child, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue
    os.waitpid(child, 0)
    return found or "crash: the process died"


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


def judge(room: str, mutant: SourceMutant, text: str, inputs: list[Any]) -> str:
    """In the child: the suite's findings with the mutant in place."""
    code = compile(apply(mutant, text), mutant.module.replace(".", "/") + ".py", "exec")
    sys.meta_path.insert(0, _Finder(mutant.module, code))
    suite = importlib.import_module("rule_suite")
    parse = importlib.import_module("tmigrate.tilelang.text.parser").parse_module
    if mutant.module not in sys.modules:
        importlib.import_module(mutant.module)
    changed = False
    for source, built, thread, lifted, known, verdicts in inputs:
        made = suite.outputs(room, source, thread, lifted)
        if made == known[room]:
            continue
        changed = True
        module = suite.converted(source) if room == "front end" else parse(thread, source.stem)
        lifts = parse(lifted, source.stem) if lifted else None
        if room == "lifting":
            lifts, failed = suite.checked_lifts(module, known[room])
            if failed:
                return "bounded check"
        if room == "front end":
            lifts = None
        found = suite.verdicts(source, pickle.loads(built), module, lifts)
        worse = _worse(verdicts, found, with_lifts=room != "front end")
        if worse:
            return worse
    return "survived" if changed else "same output"


def _worse(before: dict[str, str], after: dict[str, str], *, with_lifts: bool) -> str:
    for name, state in before.items():
        if name.endswith(" lifted") and not with_lifts:
            continue
        now = after.get(name)
        if now != state:
            if now is None:
                return "lift lost" if name.endswith(" lifted") else "refused"
            return now
    return ""


def summary(path: Path) -> Counter[tuple[str, str]]:
    """(room, state) -> how many."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return Counter((r["room"], r["state"].partition(":")[0]) for r in rows)


if __name__ == "__main__":
    sys.exit(main())
