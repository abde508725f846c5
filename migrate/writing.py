"""Write what a conversion made: the two kernel files, the pytest file and the certificate."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from tmigrate.certificate_status import CERTIFICATE_SUFFIX, previous_hashes
from tmigrate.certificates import KernelEvidence, make_certificate, tool_versions
from tmigrate.checks import check_file
from tmigrate.options import ConvertOptions
from tmigrate.outputs import Action, OutputState, write_outputs
from tmigrate.planning import Plan
from tmigrate.results import InputResult
from tmigrate.tilelang.runtime.compilers import find_compilers
from tmigrate.verification.judging import Judged

if TYPE_CHECKING:
    from tmigrate.emission import Texts


def write_results(
    path: Path,
    plan: Plan,
    judged: Mapping[str, Judged],
    result: InputResult,
    texts: Texts,
    options: ConvertOptions,
) -> InputResult:
    """Write all outputs of one input; the result with their paths, and conflicts with edits, in it."""
    folder = options.output_folder(path)
    stem = path.stem
    names = {
        f"{stem}_tile.py": texts.tile,
        f"{stem}_thread.py": texts.thread,
        f"test_{stem}_tile.py": _check_text(path, folder, result, options),
    }
    certificate = folder / f"{stem}{CERTIFICATE_SUFFIX}"
    states = write_outputs(folder, names, previous_hashes(certificate), certificate.name)
    hashes = {state.path.name: state.sha256 for state in states}
    text = make_certificate(
        source=path,
        companions=options.companions,
        folder=folder,
        result=result,
        module=plan.module,
        kernels=_evidence(plan, judged),
        outputs=hashes,
        options=_chosen(options),
        tools=tool_versions(_compilers()),
    )
    states += write_outputs(folder, {certificate.name: text}, previous_hashes(certificate))
    return _with_outputs(result, states)


def _with_outputs(result: InputResult, states: list[OutputState]) -> InputResult:
    conflicts = tuple(str(s.path) for s in states if s.action is Action.CONFLICT)
    untouched = tuple(str(s.path) for s in states if not s.touched)
    found = [d for d in (s.diagnostic() for s in states) if d is not None]
    return replace(
        result,
        outputs=tuple(str(s.path) for s in states),
        conflicts=conflicts,
        untouched=untouched,
        diagnostics=(*result.diagnostics, *found),
    )


def _check_text(path: Path, folder: Path, result: InputResult, options: ConvertOptions) -> str:
    relative = PurePosixPath(os.path.relpath(path, folder).replace(os.sep, "/"))
    others = [os.path.relpath(file, folder).replace(os.sep, "/") for file in options.companions]
    chosen = (("arguments", options.arguments), ("defines", options.defines), ("standard", options.standard))
    headers = [os.path.relpath(each, folder).replace(os.sep, "/") for each in options.include_folders]
    found = {"sources": sorted(others), "include_folders": headers}
    return check_file(path.stem, relative, result.kernels, chosen, **found)


def _chosen(options: ConvertOptions) -> dict[str, object]:
    return {
        "arguments": list(options.arguments),
        "defines": list(options.defines),
        "execute": options.execute,
        "instantiate": list(options.instantiate),
        "standard": options.standard,
        "verify_seconds": options.verify_seconds,
    }


def _compilers() -> list[tuple[str, str]]:
    found = find_compilers()
    return [("c", found.c.version), ("c++", found.cxx.version)]


def _evidence(plan: Plan, judged: Mapping[str, Judged]) -> list[KernelEvidence]:
    from tmigrate.conversion import kernel_result

    rows = []
    for kernel in plan.kernels:
        found = judged.get(kernel.name)
        rows.append(
            KernelEvidence(
                kernel_result(kernel, plan, found),
                kernel.symbol,
                kernel.function,
                kernel.lift.function if kernel.lift else None,
                kernel.lift.bounded if kernel.lift else None,
                found.launches if found else (),
                found.points if found else 0,
                found.covered if found else 0,
                found.uncovered if found else (),
            )
        )
    return rows
