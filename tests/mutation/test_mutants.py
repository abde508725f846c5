"""A small part of the mutation of verification, as a test: every mutant of a fixed sample must be noticed.

The whole of it is run by `run.py` and `rules.py`; docs/mutation.md has what they found.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from equivalence import assumes_enough
from lifting_mutants import LiftJudge
from mutants import Mutant, is_valid, mutants_of, sampled
from replaying import Program

from tmigrate.tilelang.ir.module import Function

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
SAXPY = SAMPLES / "saxpy.cu"
# Whether a conversion's detour shows depends on sizes that a fast test does not have.
LEFT_OUT = "conversion"


@pytest.fixture(scope="module")
def program() -> Program:
    return Program(SAXPY)


def chosen(program: Program) -> list[Mutant]:
    found = [m for m in mutants_of(program.module, program.module.functions) if m.operator != LEFT_OUT]
    return [m for m in sampled(found, 30, seed=3) if is_valid(m, program.module)]


def named(program: Program, *ends: str) -> Iterator[Mutant]:
    for mutant in mutants_of(program.module, program.module.functions):
        if mutant.name.endswith(ends):
            yield mutant


def test_unchanged_kernels_are_verified(program: Program) -> None:
    assert {v.code for v in program.baseline.values()} == {None}


def test_step_a_notices_every_mutant(program: Program) -> None:
    mutants = chosen(program)
    assert len(mutants) >= 25
    survivors = [m.name for m, found in program.judge(mutants) if found.state != "killed"]
    assert survivors == []


def test_a_store_one_past_the_end_is_refused(program: Program) -> None:
    """No snapshot holds the byte behind an allocation: replay looks at the padding apart."""
    mutants = [m for m in named(program, "LT -> LE") if m.function.name == "saxpy"]
    assert [found.how for _, found in program.judge(mutants)] == ["TM4101 overran"]


def test_a_loop_without_end_is_stopped(program: Program) -> None:
    mutants = list(named(program, "range/no step"))
    assert len(mutants) == 1
    ((_, found),) = program.judge(mutants)
    assert found.state == "killed"


def test_another_rounding_is_refused(program: Program) -> None:
    """The program's data have few digits: only the variation with random floats shows a contraction."""
    found = [found.how for _, found in program.judge(list(named(program, "reassociated/contracted")))]
    assert found == ["TM4101 differs in a variation"] * 2


def test_stores_of_two_threads_to_one_place_are_refused() -> None:
    """All threads fill the tile's edges: ascending, the right one comes last; backwards it does not."""
    program = Program(SAMPLES / "stencil.cu")
    mutants = [m for m in named(program, "its body only") if m.name.startswith("stencil_tiled/body6.then")]
    found = {m.name.split("/")[1]: found.how for m, found in program.judge(mutants)}
    assert found["body6.then2"] == found["body6.then4"] == "TM4101 differs backwards"


def test_reads_outside_an_array_are_noticed() -> None:
    """What is read there is not used: only the watch of indices tells."""
    program = Program(SAMPLES / "matmul_shared.cu")
    found = program.judge(list(named(program, "body7.body0.value.condition.right/negated/true")))
    assert [it.how for _, it in found] == ["TM4117"]


def test_a_lost_barrier_is_noticed() -> None:
    """The loop behind it begins when all threads have stored: only the count of barriers tells."""
    program = Program(SAMPLES / "reduction_tree.cu")
    mutants = [m for m in named(program, "statement/evaluate") if m.name.startswith("reduce_sum/body7/")]
    assert [it.how for _, it in program.judge(mutants)] == ["TM4117"]


def test_masks_and_widths_of_shuffles_are_noticed() -> None:
    """Nobody reads lane 0, and a sum over 33 lanes is one over 32: the values are right."""
    program = Program(SAMPLES / "shuffle_reduce.cu")
    ends = "warp_sum/body1.body0.value.arguments0/constant/4294967295 -> -1", "arguments3/constant/32 -> +1"
    mutants = [m for m in named(program, *ends) if m.function.name == "warp_sum"]
    assert [it.how for _, it in program.judge(mutants)] == ["TM4117", "TM4117"]


def test_one_extent_of_a_block_for_the_other_is_refused() -> None:
    """The program's blocks are square: only a variation's are not."""
    program = Program(SAMPLES / "jacobi.cu")
    mutants = [m for m in named(program, "/axis 0 -> 1", "/axis 1 -> 0") if "left.left.right" in m.name]
    found = [found.how for _, found in program.judge(mutants)]
    assert found == ["TM4101 differs in a variation"] * 2


def test_the_checks_of_a_lift_notice_its_mutants() -> None:
    judge = LiftJudge(SAXPY)
    assert judge.shown == {"saxpy": True, "saxpy_grid_stride": True}
    everything = mutants_of(judge.module, judge.lifts.values())
    found = [m for m in everything if _can_be_wrong(m, judge.lifts[m.function.name])]
    mutants = [m for m in sampled(found, 25, seed=2) if is_valid(m, judge.module)]
    assert len(mutants) >= 20
    survivors = [m.name for m, found in judge.judge(mutants) if found.state != "killed"]
    assert survivors == []


def _can_be_wrong(mutant: Mutant, original: Function) -> bool:
    """Not roundings that the allowance of step (b) covers, nor assumptions of more than is needed."""
    if mutant.operator in ("conversion", "reassociated"):
        return False
    return not assumes_enough(mutant, original)
