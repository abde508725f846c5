"""The Python blocks of the pages about operations and passes run, each page in a process of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tmigrate.tilelang.ir.verify import verify
from tmigrate.tilelang.text.parser import parse_module
from tmigrate.tilelang.text.printer import print_module

DOCS = Path(__file__).parents[2] / "docs"


def blocks(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)


@pytest.mark.parametrize("page", ["adding_an_op.md", "writing_passes.md"])
def test_the_blocks_of_a_page_run(page: str) -> None:
    code = "\n".join(blocks(page))
    assert "assert " in code
    typing = str(Path(__file__).parents[1] / "typing")
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONPATH": typing})


def test_the_file_shown_is_what_is_printed() -> None:
    (text,) = blocks("text.md")
    module = parse_module(text, "m")
    verify(module)
    assert print_module(module) == text
