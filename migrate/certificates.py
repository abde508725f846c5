"""The certificate: what a conversion rests on, so that anyone can see it and do it again.

Byte-identical from run to run: no times, no absolute paths, everything in a fixed order.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tmigrate import __version__
from tmigrate.results import InputResult, KernelResult
from tmigrate.tilelang.ir.module import Function, Module
from tmigrate.tilelang.text.printer import print_function
from tmigrate.verification.report import Launch


@dataclass(frozen=True, slots=True)
class KernelEvidence:
    """What a certificate stores of one kernel instance beside its result."""

    result: KernelResult
    symbol: str
    thread: Function | None
    lifted: Function | None
    bounded: str | None
    launches: tuple[Launch, ...]
    points: int
    covered: int
    uncovered: tuple[str, ...]


def sha256(text: str | bytes) -> str:
    """The hash used throughout, in hexadecimal."""
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()


def make_certificate(
    *,
    source: Path,
    companions: Sequence[Path],
    folder: Path,
    result: InputResult,
    module: Module,
    kernels: Sequence[KernelEvidence],
    outputs: Mapping[str, str],
    options: Mapping[str, Any],
    tools: Mapping[str, str],
) -> str:
    """The certificate's text; `folder` is its place, `outputs` gives the hashes of the files beside it.

    `companions` are the other source files of the program that `source` is a part of.
    """
    content = {
        "tmigrate": __version__,
        "input": _file(source, folder),
        "sources": [_file(file, folder) for file in sorted(companions)],
        "status": result.status.value,
        "tools": dict(sorted(tools.items())),
        "options": dict(sorted(options.items())),
        "kernels": [_kernel(entry, module) for entry in kernels],
        "outputs": dict(sorted(outputs.items())),
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _file(file: Path, folder: Path) -> dict[str, str]:
    return {
        "path": os.path.relpath(file, folder).replace(os.sep, "/"),
        "sha256": sha256(file.read_bytes()),
    }


def _kernel(entry: KernelEvidence, module: Module) -> dict[str, Any]:
    described = entry.result.to_json()
    place = entry.result.location
    described["location"] = f"{place.mark}:{place.column}" if place else None
    described["symbol"] = entry.symbol
    described["thread_sha256"] = sha256(print_function(entry.thread, module)) if entry.thread else None
    described["lifted_sha256"] = sha256(print_function(entry.lifted, module)) if entry.lifted else None
    described["bounded_check"] = entry.bounded
    described["coverage"] = {
        "points": entry.points,
        "covered": entry.covered,
        "uncovered": list(entry.uncovered),
    }
    described["compared"] = [_launch(launch) for launch in entry.launches]
    return described


def _launch(launch: Launch) -> dict[str, Any]:
    found: dict[str, Any] = {
        "ordinal": launch.ordinal,
        "grid": list(launch.grid),
        "block": list(launch.block),
        "original": launch.original,
    }
    if launch.variation:
        found["variation"] = launch.variation
    for name in ("thread", "lifted", "integers"):
        step = getattr(launch, name)
        if step is not None:
            found[name] = step.verdict
    return found


def tool_versions(compilers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The versions that a result rests on; `compilers` gives (driver, version)."""
    from importlib.metadata import version

    found = {
        "python": ".".join(map(str, sys.version_info[:2])),
        "libclang": version("libclang"),
        "numpy": version("numpy"),
        "tmigrate": __version__,
    }
    found.update({f"compiler {name}": text for name, text in compilers})
    return found
