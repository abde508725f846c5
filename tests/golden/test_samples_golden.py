"""The generated DSL of every sample, as files worth reading; `pytest --update-golden` writes them anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from tmigrate.emission import texts_of
from tmigrate.options import ConvertOptions
from tmigrate.planning import plan_file
from tmigrate.tilelang.text.parser import parse_module
from tmigrate.tilelang.text.printer import print_module

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
GOLDEN = Path(__file__).resolve().parent / "samples"
NAMES = sorted(path.stem for path in SAMPLES.glob("*.cu"))


def test_every_sample_has_its_files() -> None:
    written = {path.name for path in GOLDEN.glob("*.py")}
    assert written == {f"{name}_{kind}.py" for name in NAMES for kind in ("tile", "thread")}
    assert len(NAMES) >= 14


@pytest.mark.parametrize("name", NAMES)
def test_the_generated_text_is_the_golden_one(name: str, update_golden: bool) -> None:
    plan = plan_file(SAMPLES / f"{name}.cu", ConvertOptions(execute=False))
    texts = texts_of(plan)
    for kind, text in (("tile", texts.tile), ("thread", texts.thread)):
        path = GOLDEN / f"{name}_{kind}.py"
        if update_golden:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        assert path.read_text() == text


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["tile", "thread"])
def test_golden_text_reads_back_and_prints_the_same(name: str, kind: str) -> None:
    text = (GOLDEN / f"{name}_{kind}.py").read_text()
    assert print_module(parse_module(text, name)) == text
