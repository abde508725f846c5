"""What objects export and programs link: converted code meets neither the original nor the emulator."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from command_support import SOURCE

from tmigrate.emission import lifted_module, through_text
from tmigrate.options import ConvertOptions
from tmigrate.oracle import build
from tmigrate.planning import plan_file
from tmigrate.verification.objects import BuiltKernels, build_for_replay, build_for_run

EMULATOR = ("tm_switch", "tm_oracle::new_fiber(", "tm_oracle::(anonymous namespace)::replay(")


def symbols(file: Path, *flags: str) -> set[str]:
    """The names that an object defines."""
    done = subprocess.run(["nm", "-C", "--defined-only", *flags, str(file)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return {line.split(maxsplit=2)[-1] for line in done.stdout.splitlines()}


def of_the_emulator(file: Path) -> set[str]:
    """Those of the emulator's names that an executable has."""
    return {name for name in EMULATOR if any(symbol.startswith(name) for symbol in symbols(file))}


@pytest.fixture
def source(converted_program: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The program, by a path that the cache knows."""
    monkeypatch.chdir(converted_program)
    return Path(SOURCE)


def test_an_object_exports_its_kernels_and_nothing_else(source: Path) -> None:
    """The program has a function ``twice`` of C linkage; the objects' own one must not meet it."""
    plan = plan_file(source, ConvertOptions())
    thread, lifted = through_text(plan.module), lifted_module(plan)
    replayed, run = build_for_replay(thread, lifted), build_for_run(thread, lifted)

    def exported(kernels: BuiltKernels) -> set[str]:
        (built,) = kernels.objects
        return symbols(built.path, "-D") - {"_init", "_fini"}

    assert "twice" in symbols(build(source).executable)
    for kernels in (replayed.thread, replayed.lifted, run.thread, run.lifted):
        assert exported(kernels) == {"tm_kernel_add_twice"}
    assert exported(replayed.shadow) == {"tm_kernel_add_twice", "tm_set_shadow_memory"}


def test_a_regenerated_program_holds_neither_emulator_nor_kernels(source: Path) -> None:
    original, regenerated = (build(source, mode=mode).executable for mode in ("oracle", "run"))
    assert of_the_emulator(original) == set(EMULATOR)
    assert of_the_emulator(regenerated) == set()
