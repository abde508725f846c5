"""The pytest file that ``convert`` writes, so that the check lives on in the user's own tests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from tmigrate.results import KernelResult, Status

_TEMPLATE = '''"""Checks that {tile} still agrees with {source}.  Written by tmigrate; run with pytest."""

from pathlib import Path

import pytest

import tmigrate

HERE = Path(__file__).parent
SOURCE = HERE / "{path}"
# What was shown when this file was written; a kernel may not fall behind it.
EXPECTED = {expected}
STATES = ["refused", "converted", "verified"]


@pytest.fixture(scope="module")
def found():
    """The state of each kernel, from running original and conversion side by side."""
    result = tmigrate.verify(SOURCE, output=HERE{options})
    return {{kernel.name: kernel for kernel in result.kernels}}


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_kernel_agrees_with_the_original(found, name):
    state, wanted = found[name].status.value, EXPECTED[name]
    assert STATES.index(state) >= STATES.index(wanted), f"{{state}}, not {{wanted}}: {{found[name].reason}}"
'''


def check_file(
    name: str,
    path: PurePosixPath,
    kernels: Sequence[KernelResult],
    options: Sequence[tuple[str, object]],
    **paths: Sequence[str],
) -> str:
    """The text of ``test_NAME_tile.py``; `path` leads from its folder to the source.

    `paths` are further arguments of ``verify`` that lead from there: the program's other `sources`.
    """
    expected = {k.name: k.status.value for k in kernels if k.status is not Status.REFUSED}
    rows = "".join(f'    "{kernel}": "{status}",\n' for kernel, status in sorted(expected.items()))
    arguments = "".join(f", {word}={value!r}" for word, value in options if value)
    for word, found in paths.items():
        if found:
            arguments += f", {word}=[" + ", ".join(f'HERE / "{each}"' for each in found) + "]"
    return _TEMPLATE.format(
        tile=f"{name}_tile.py",
        source=path.name,
        path=path,
        expected="{\n" + rows + "}" if rows else "{}",
        options=arguments,
    )
