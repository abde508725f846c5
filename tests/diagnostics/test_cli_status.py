"""``tmigrate status``: certificates that no longer speak of the files beside them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from tmigrate.certificate_status import certificate_states, previous_hashes
from tmigrate.cli import status_of


def sha256(text: str) -> str:
    """The hash that a certificate stores."""
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.fixture
def converted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an input, an output and their certificate."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.cu").write_text("source")
    (tmp_path / "k_tile.py").write_text("tile")
    certificate = {
        "tmigrate": "0.1.0",
        "status": "verified",
        "input": {"path": "k.cu", "sha256": sha256("source")},
        "outputs": {"k_tile.py": sha256("tile")},
    }
    (tmp_path / "k_tile.cert.json").write_text(json.dumps(certificate))
    return tmp_path


def test_a_current_certificate(converted: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status_of(["status"]) == 0
    assert capsys.readouterr().out == "k_tile.cert.json  verified  current\n1 certificate, 0 stale\n"


@pytest.mark.parametrize(
    ("file", "text", "reason"),
    [
        ("k.cu", "changed", "input k.cu changed"),
        ("k.cu", None, "input k.cu is missing"),
        ("k_tile.py", "edited", "output k_tile.py was edited"),
        ("k_tile.py", None, "output k_tile.py is missing"),
        ("k_tile.cert.json", "{}", "is not a certificate"),
        ("k_tile.cert.json", "[", "is not a certificate"),
    ],
)
def test_a_stale_certificate(
    converted: Path, file: str, text: str | None, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if text is None:
        (converted / file).unlink()
    else:
        (converted / file).write_text(text)
    assert status_of(["status", "--json", "."]) == 1
    (found,) = json.loads(capsys.readouterr().out)["certificates"]
    assert found["stale"] == [reason] and found["current"] is False


def test_an_input_stands_for_its_certificate(converted: Path) -> None:
    (state,) = certificate_states([converted / "k.cu"])
    assert state.path.endswith("k_tile.cert.json") and state.current


def test_an_input_without_a_certificate_is_stale(converted: Path) -> None:
    (state,) = certificate_states([converted / "other.cu"])
    assert state.stale == ("does not exist",)


def test_previous_hashes_of_a_broken_certificate_are_none(converted: Path) -> None:
    assert previous_hashes(converted / "k_tile.cert.json") == {"k_tile.py": sha256("tile")}
    (converted / "k_tile.cert.json").write_text('{"tmigrate": "0.1.0", "outputs": [1]}')
    assert previous_hashes(converted / "k_tile.cert.json") == {}
