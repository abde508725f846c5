"""The kill suite for mutated rules, as a test: what it says of the rules as they are, and of wrong ones."""

from __future__ import annotations

import pickle
from functools import partial
from typing import Any

import pytest
import rules
from source_operators import SourceMutant, mutants_of_source


def prepared(name: str) -> Any:
    """A program of the suite under the unchanged rules, made in a child process."""
    made = rules.in_child(partial(rules._prepared, rules.KERNELS / f"{name}.cu"), 120.0)
    assert not isinstance(made, str), made
    return made[0]


@pytest.fixture(scope="module")
def overlaps() -> Any:
    return prepared("overlaps")


def chosen(room: str, module: str, line: str, change: str) -> tuple[SourceMutant, str]:
    """The first mutant with a change at the only line with a text."""
    ((name, path),) = [(n, p) for n, p in rules.modules_of(room) if n.endswith(module)]
    text = path.read_text()
    (number,) = [k for k, it in enumerate(text.splitlines(), 1) if line in it]
    found = [m for m in mutants_of_source(name, text) if m.line == number]
    found = [m for m in found if f"{m.operator}: {m.label}".startswith(change)]
    assert found, f"nothing of '{change}' at {name}:{number}"
    return found[0], text


def states_of(data: bytes) -> dict[str, str]:
    found: dict[str, str] = pickle.loads(data).verdicts
    return found


def test_what_no_launch_reaches_is_named() -> None:
    """The measure of coverage is a rule as well: it must name each outcome of each form of statement."""
    found = rules.in_child(partial(states_of, prepared("uncovered")), 60.0)
    named = {k: s.partition(": ")[2].split(", ") for k, s in found.items() if s.startswith("TM4103")}
    assert {k: [it for it in its if "operand" not in it] for k, its in named.items()} == {
        "branches": [
            "9 condition true", "10 store", "11 condition false", "14 store", "15 condition false",
            "16 condition true", "16 store", "17 condition true",
        ],
        "loops": [
            "25 loop entered", "27 loop left", "29 loop entered", "32 condition true", "36 condition false",
            "40 condition true", "41 condition true", "42 condition false",
        ],
        "waits": ["53 condition true", "54 store", "57 loop entered", "58 store"],
    }  # fmt: skip


def test_accesses_outside_of_arrays_are_reported() -> None:
    """The watch over indices is a measure, too: values that count for nothing must not hide an access."""
    found = rules.in_child(partial(states_of, prepared("outside")), 60.0)
    assert {found[name] for name in ("kept_across", "of_module", "beyond")} == {"TM4117"}


def test_unchanged_rules_are_verified(overlaps: Any) -> None:
    found = rules.in_child(partial(states_of, overlaps), 60.0)
    assert set(found.values()) == {"verified", "shown"} and len(found) == 9


@pytest.mark.parametrize(
    ("room", "module", "line", "change", "state"),
    [
        ("front end", "cuda.operators", "_ARITHMETIC: dict", "exchanged entries: 1 <-> 2", "TM4101"),
        ("back end", "cpu.parameters", "for second, other in", "constant: 1 + 1", "TM4102"),
    ],
)
def test_wrong_rules_are_noticed(
    overlaps: Any, room: str, module: str, line: str, change: str, state: str
) -> None:
    mutant, text = chosen(room, module, line, change)
    assert rules.in_child(partial(rules.judge, room, mutant, text, [overlaps]), 120.0) == state
