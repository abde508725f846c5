"""Outputs beside what people did to them: nothing of theirs is ever lost."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tmigrate.diagnostics import UsageError
from tmigrate.merging import merge
from tmigrate.outputs import Action, check_writable, text_hash, write_outputs

BEFORE = "# header\nx = 1\ny = 2\nz = 3\n# end\n"


def actions(folder: Path, text: str, previous: dict[str, str] | None = None) -> Action:
    return write_outputs(folder, {"k_tile.py": text}, previous)[0].action


def test_writing_twice_leaves_the_file_alone(tmp_path: Path) -> None:
    assert actions(tmp_path / "out", BEFORE) is Action.WRITTEN
    stamp = (tmp_path / "out" / "k_tile.py").stat().st_mtime_ns
    assert actions(tmp_path / "out", BEFORE) is Action.UNCHANGED
    assert (tmp_path / "out" / "k_tile.py").stat().st_mtime_ns == stamp


def test_an_output_that_nobody_edited_is_replaced(tmp_path: Path) -> None:
    actions(tmp_path, BEFORE)
    assert actions(tmp_path, "new\n") is Action.WRITTEN
    assert (tmp_path / "k_tile.py").read_text() == "new\n"


def test_an_edit_is_kept_where_the_conversion_is_the_same(tmp_path: Path) -> None:
    actions(tmp_path, BEFORE)
    (tmp_path / "k_tile.py").write_text("mine\n")
    assert actions(tmp_path, BEFORE) is Action.KEPT
    assert (tmp_path / "k_tile.py").read_text() == "mine\n"


def test_changes_to_different_lines_are_merged(tmp_path: Path) -> None:
    actions(tmp_path, BEFORE)
    (tmp_path / "k_tile.py").write_text(BEFORE.replace("x = 1", "x = 10"))
    assert actions(tmp_path, BEFORE.replace("z = 3", "z = 30")) is Action.MERGED
    assert (tmp_path / "k_tile.py").read_text() == "# header\nx = 10\ny = 2\nz = 30\n# end\n"
    assert actions(tmp_path, BEFORE.replace("z = 3", "z = 30")) is Action.KEPT


def test_changes_to_the_same_lines_are_marked(tmp_path: Path) -> None:
    actions(tmp_path, BEFORE)
    (tmp_path / "k_tile.py").write_text(BEFORE.replace("y = 2", "y = mine"))
    state = write_outputs(tmp_path, {"k_tile.py": BEFORE.replace("y = 2", "y = theirs")})[0]
    assert state.action is Action.CONFLICT
    assert (tmp_path / "k_tile.py").read_text() == (
        "# header\nx = 1\n<<<<<<< yours\ny = mine\n||||||| as written before\ny = 2\n=======\ny = theirs\n"
        ">>>>>>> tmigrate\nz = 3\n# end\n"
    )
    found = state.diagnostic()
    assert found is not None and found.code == "TM5022"


def test_without_the_copy_the_certificates_hash_tells_an_edit(tmp_path: Path) -> None:
    (tmp_path / "k_tile.py").write_text(BEFORE)
    previous = {"k_tile.py": text_hash(BEFORE)}
    assert actions(tmp_path, "new\n", previous) is Action.WRITTEN


def test_without_the_copy_every_difference_of_an_edit_is_marked(tmp_path: Path) -> None:
    (tmp_path / "k_tile.py").write_text("x = 1\nmine = 2\n")
    assert actions(tmp_path, "x = 1\n", {"k_tile.py": text_hash(BEFORE)}) is Action.CONFLICT
    assert "mine = 2\n" in (tmp_path / "k_tile.py").read_text()


def test_a_strangers_file_is_not_touched_and_nothing_else_is_written(tmp_path: Path) -> None:
    (tmp_path / "k_tile.py").write_text("a stranger's\n")
    with pytest.raises(UsageError) as caught:
        write_outputs(tmp_path, {"k_thread.py": "t\n", "k_tile.py": BEFORE})
    assert caught.value.diagnostic.code == "TM5021"
    assert sorted(os.listdir(tmp_path)) == ["k_tile.py"]
    assert (tmp_path / "k_tile.py").read_text() == "a stranger's\n"


def test_a_certificate_without_its_copy_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / "k_tile.cert.json").write_text('{"tmigrate": "0.1.0", "old": 1}')
    state = write_outputs(tmp_path, {"k_tile.cert.json": '{"tmigrate": "0.1.0"}'})[0]
    assert state.action is Action.WRITTEN


@pytest.mark.parametrize("place", ["file", "file/below", "/proc/tmigrate-out"])
def test_a_place_that_cannot_be_written_is_found_before_work(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError) as caught:
        check_writable(tmp_path / place)
    assert caught.value.diagnostic.code == "TM5020"
    assert str(tmp_path / place) in caught.value.diagnostic.message


def test_checking_a_place_makes_nothing(tmp_path: Path) -> None:
    check_writable(tmp_path / "a" / "b")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("base", "yours", "ours", "merged"),
    [
        ("a\nb\n", "a\nb\nc\n", "z\na\nb\n", "z\na\nb\nc\n"),  # additions at both ends
        ("a\nb\nc\n", "a\nc\n", "a\nb\nc\nd\n", "a\nc\nd\n"),  # a removal and an addition
        ("a\nb\nc\n", "a\nX\nc\n", "a\nX\nc\n", "a\nX\nc\n"),  # the same change twice
        ("a\nb", "a\nb", "a\nB", "a\nB"),  # no line end at the end
        ("", "mine\n", "", "mine\n"),
    ],
)
def test_merge_applies_both_changes(base: str, yours: str, ours: str, merged: str) -> None:
    found = merge(base, yours, ours)
    assert (found.text, found.conflicts) == (merged, 0)


def test_merge_keeps_every_line_of_a_conflict_without_line_ends() -> None:
    assert merge("a", "b", "c").text.splitlines() == [
        "<<<<<<< yours",
        "b",
        "||||||| as written before",
        "a",
        "=======",
        "c",
        ">>>>>>> tmigrate",
    ]


def test_marks_of_a_conflict_stay_until_they_are_gone(tmp_path: Path) -> None:
    """The copy stays as it was, too: what the new text changes is merged in once the marks are gone."""
    actions(tmp_path, BEFORE)
    file = tmp_path / "k_tile.py"
    file.write_text(BEFORE.replace("x = 1", "x = 10"))
    ours = BEFORE.replace("x = 1", "x = 100")
    assert actions(tmp_path, ours) is Action.CONFLICT
    marked = file.read_text()
    newer = ours.replace("z = 3", "z = 30")
    assert actions(tmp_path, ours) is Action.CONFLICT
    (state,) = write_outputs(tmp_path, {"k_tile.py": newer})
    assert (state.action, state.touched) == (Action.CONFLICT, False)
    found = state.diagnostic()
    assert found is not None and "earlier conflict" in found.message
    assert file.read_text() == marked
    file.write_text(BEFORE.replace("x = 1", "x = 10"))
    assert actions(tmp_path, newer) is Action.MERGED
    assert file.read_text() == BEFORE.replace("x = 1", "x = 10").replace("z = 3", "z = 30")


def test_an_edited_output_is_named(tmp_path: Path) -> None:
    actions(tmp_path, BEFORE)
    (tmp_path / "k_tile.py").write_text(BEFORE.replace("x = 1", "x = 10"))
    (state,) = write_outputs(tmp_path, {"k_tile.py": BEFORE})
    found = state.diagnostic()
    assert found is not None and found.code == "TM5023" and "left alone" in found.message
