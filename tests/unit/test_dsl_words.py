"""Every name that a kernel file may import is there, cheaply."""

from __future__ import annotations

import importlib.util
import keyword
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tmigrate.tilelang as dsl
from tmigrate.tilelang.dsl.scalars import convert
from tmigrate.tilelang.ir.tensor_table import tensor_operations
from tmigrate.tilelang.ir.types import F32, I8, I32, I64, U8, U64
from tmigrate.tilelang.text.names import RESERVED

GOLDEN = Path(__file__).parents[1] / "golden"


def test_every_word_of_the_text_form_is_exported() -> None:
    python = {*keyword.kwlist, *keyword.softkwlist}
    wanted = {name for name in RESERVED if name not in python} | {"range", "sum", "matmul"}
    wanted |= {name for name in tensor_operations() if name.isidentifier() and name != "negative"}
    assert wanted <= set(dsl.__all__)
    assert all(hasattr(dsl, name) for name in dsl.__all__)
    with pytest.raises(AttributeError):
        dsl.no_such_word  # noqa: B018


def test_importing_the_package_loads_nothing() -> None:
    code = (
        "import sys, tmigrate.tilelang; assert 'numpy' not in sys.modules; import tmigrate.tilelang.ir.types"
    )
    subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        env={"PYTHONPATH": str(Path(__file__).parents[1] / "typing")},
    )


@pytest.mark.parametrize("path", sorted(GOLDEN.rglob("*_t*.py")), ids=lambda p: p.stem)
def test_generated_files_import_as_modules(path: Path) -> None:
    spec = importlib.util.spec_from_file_location(f"golden_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    assert any(type(v).__name__ == "Kernel" for v in vars(module).values())


def test_conversions_have_the_results_of_the_ir() -> None:
    assert convert(U8, 300) == 44 and convert(I8, 200) == -56
    assert convert(I32, np.float32(3e9)) == 2147483647 and convert(I32, float("nan")) == 0
    assert convert(I32, -2.9) == -2 and convert(U8, -1.0) == 0
    assert convert(F32, np.int64(16777217)) == 16777216.0
    assert convert(F32, np.uint64(2**64 - 1)) == 2.0**64 and convert(U64, -1) == 2**64 - 1
    assert type(convert(I64, True)) is np.int64
    assert dsl.bitcast(dsl.u32, np.float32(1.0)) == 0x3F800000
    assert dsl.truncdiv(np.int32(-7), 2) == -3 and dsl.truncrem(np.int32(-7), 2) == -1
    assert dsl.fmax(np.float32(1.0), 2) == 2.0 and type(dsl.sqrt(np.float64(2))) is np.float64
