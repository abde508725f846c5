"""From a replay report to a kernel's state: every rule, and their order of weight."""

from __future__ import annotations

import json

import pytest

from tmigrate.locations import Location
from tmigrate.results import Status
from tmigrate.tilelang.passes.coverage import CoveragePoint, PointKind
from tmigrate.verification.report import read_report
from tmigrate.verification.verdict import Evidence, evidence_of, judge, judge_lift

POINTS = (
    CoveragePoint(PointKind.THEN, "k", Location("k.cu", 4)),
    CoveragePoint(PointKind.ELSE, "k", Location("k.cu", 4)),
    CoveragePoint(PointKind.STORE, "k", Location("k.cu", 5)),
)


def launch(**changes: object) -> dict[str, object]:
    event: dict[str, object] = {
        "event": "launch",
        "kernel": "k",
        "ordinal": 0,
        "grid": [3, 1, 1],
        "block": [64, 1, 1],
        "shared": 0,
        "original": "ok",
        "violations": 0,
        "schedule_bytes": 0,
        "schedules": 3,
        "changed_bytes": 400,
        "thread": {"verdict": "equal"},
        "lifted": {"verdict": "within", "max_ulp": 1.5, "max_error_ratio": 0.25},
        "integers": {"verdict": "equal"},
    }
    return {**event, **changes}


def summary(coverage: str = "111", launches: int = 1) -> dict[str, object]:
    return {"event": "kernel", "kernel": "k", "launches": launches, "compared": 1, "coverage": coverage}


def evidence(*events: dict[str, object], failure: str = "", clock: bool = False) -> Evidence:
    replay = read_report([json.dumps(e) for e in events])
    return evidence_of(replay, "k", dict(enumerate(POINTS)), reads_clock=clock, failure=failure)


def test_agreement_everywhere_is_verified() -> None:
    found = judge(evidence(launch(), summary()))
    assert (found.status, found.code) == (Status.VERIFIED, None)


def reporting(kind: int) -> dict[str, object]:
    """Step (a) that agrees and has a report of this kind."""
    where = {"file": "/tmp/k.cu", "line": 7, "block": [0, 0, 0], "thread": [0, 0, 0]}
    return {"verdict": "equal", "reports": [{"kind": kind, "message": "an index outside its array", **where}]}


@pytest.mark.parametrize(
    ("events", "status", "code"),
    [
        ([launch(thread={"verdict": "differs", "mismatch": {"offset": 8}}), summary()], "refused", "TM4101"),
        ([launch(thread={"verdict": "equal", "printed": "differs"}), summary()], "refused", "TM4101"),
        ([launch(thread={"verdict": "crashed", "signal": 11}), summary()], "refused", "TM4101"),
        ([launch(thread={"verdict": "missing", "reason": "no symbol"}), summary()], "converted", "TM4112"),
        ([launch(violations=2), summary()], "converted", "TM4109"),
        ([launch(original="failed", thread=None), summary()], "converted", "TM4109"),
        ([launch(schedule_bytes=4), summary()], "converted", "TM4107"),
        ([launch(thread=reporting(3)), summary()], "converted", "TM4117"),
        ([launch(thread=reporting(4)), summary()], "converted", "TM4117"),
        ([launch(thread=reporting(1)), summary()], "verified", None),
        ([launch(), summary("101")], "converted", "TM4103"),
        ([launch(), summary("")], "converted", "TM4103"),
        ([], "converted", "TM4104"),
        ([summary(launches=3)], "converted", "TM4105"),
        ([{"event": "begin", "kernel": "k", "ordinal": 0, "step": "thread"}], "refused", "TM4101"),
    ],
)
def test_each_rule_decides(events: list[dict[str, object]], status: str, code: str | None) -> None:
    found = judge(evidence(*events))
    assert (found.status.value, found.code) == (status, code)


def test_a_broken_rule_is_named_with_its_line() -> None:
    found = judge(evidence(launch(thread=reporting(3)), summary()))
    assert found.reason == "an index outside its array at k.cu:7, which the original was not seen to do"


def test_a_disagreement_outweighs_missing_coverage() -> None:
    found = judge(evidence(launch(thread={"verdict": "differs"}), summary("000")))
    assert found.code == "TM4101"


def test_a_race_outweighs_a_disagreement() -> None:
    replay = read_report([json.dumps(launch(thread={"verdict": "differs"})), json.dumps(summary())])
    found = judge(evidence_of(replay, "k", {}, reads_clock=False, failure="", violations=["race at k.cu:5"]))
    assert (found.status, found.code, found.reason) == (Status.CONVERTED, "TM4109", "race at k.cu:5")


def test_uncovered_lines_are_named() -> None:
    found = judge(evidence(launch(), summary("100")))
    assert found.reason == "no compared run reached line 4 (condition false), line 5 (store)"


def test_a_failing_program_is_the_reason_where_nothing_was_compared() -> None:
    found = judge(evidence(failure="the program exited with status 3"))
    assert (found.code, found.reason) == ("TM4106", "the program exited with status 3")


def test_a_clock_reader_is_never_verified() -> None:
    assert judge(evidence(launch(), summary(), clock=True)).code == "TM4108"


EMPTY = {"changed_bytes": 0, "variation": "parameter 2 = 0", "lifted": {"verdict": "equal"}}


@pytest.mark.parametrize(
    ("events", "code"),
    [
        ([launch(lifted={"verdict": "assumption"}), launch(**EMPTY)], "TM4113"),
        ([launch(lifted={"verdict": "slow", "reason": "time"}), launch(**EMPTY)], "TM4105"),
        ([launch(lifted={"verdict": "assumption"}), launch(**EMPTY), launch()], None),
        ([launch(changed_bytes=0), launch(**EMPTY)], None),
    ],
)
def test_a_lift_is_not_shown_by_launches_that_change_nothing(
    events: list[dict[str, object]], code: str | None
) -> None:
    """With n = 0 every lift agrees; a kernel that never changes anything (it prints) is no such case."""
    found = judge_lift(evidence(*events, summary()))
    assert (found.shown, found.code) == (code is None, code)


def test_a_lift_within_its_bound_is_kept() -> None:
    found = judge_lift(evidence(launch(), launch(lifted={"verdict": "equal"}), summary()))
    assert (found.shown, found.max_ulp, found.bit_exact) == (True, 1.5, False)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"lifted": {"verdict": "differs"}}, "TM4102"),
        ({"lifted": {"verdict": "crashed"}}, "TM4102"),
        ({"integers": {"verdict": "differs"}}, "TM4102"),
        ({"lifted": {"verdict": "assumption"}, "integers": None}, "TM4113"),
        ({"lifted": None, "integers": None}, "TM4105"),
        ({"lifted": {"verdict": "slow"}, "integers": None}, "TM4105"),
    ],
)
def test_a_lift_without_support_is_dropped(changes: dict[str, object], code: str) -> None:
    found = judge_lift(evidence(launch(**changes), summary()))
    assert (found.shown, found.code) == (False, code)


def test_a_launch_whose_shadow_is_too_slow_leaves_the_lift_to_the_others() -> None:
    slow = launch(lifted={"verdict": "slow", "reason": "time"}, integers=None)
    assert judge_lift(evidence(slow, launch(), summary())).shown


def test_one_bad_launch_drops_a_lift_that_others_bear_out() -> None:
    assert not judge_lift(evidence(launch(), launch(lifted={"verdict": "differs"}), summary())).shown


@pytest.mark.parametrize(("seconds", "hangs"), [(8.0, False), (100.0, True)])
def test_a_step_cut_off_by_the_time_limit_does_not_hang(seconds: float, hangs: bool) -> None:
    steps = (("original", 1.0), ("schedule", 2.0), ("thread", 4.0))
    events = [{"event": "begin", "kernel": "k", "ordinal": 0, "step": s, "at": at} for s, at in steps]
    replay = read_report([json.dumps(e) for e in events])
    replay.settle(seconds)
    assert replay.pending == (("k", "thread") if hangs else None)


def test_a_line_cut_short_by_a_crash_is_left_out() -> None:
    text = json.dumps(launch())
    replay = read_report([text, text[: len(text) // 2]])
    assert len(replay.launches) == 1


def test_coverage_of_two_processes_is_their_union() -> None:
    replay = read_report([json.dumps(summary("100")), json.dumps(summary("001"))])
    assert replay.coverage["k"] == "101"
