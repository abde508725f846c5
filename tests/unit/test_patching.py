"""`--patch` says that it is not available, and writes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tmigrate.conversion import convert_file
from tmigrate.diagnostics import UsageError
from tmigrate.options import ConvertOptions


def test_patch_is_refused_before_any_work(tmp_path: Path) -> None:
    source = tmp_path / "k.cu"
    source.write_text("__global__ void k(int *x) { x[threadIdx.x] = 1; }\n")
    with pytest.raises(UsageError) as caught:
        convert_file(source, ConvertOptions(patch=True))
    assert caught.value.diagnostic.code == "TM5042"
    assert [p.name for p in tmp_path.iterdir()] == ["k.cu"]
