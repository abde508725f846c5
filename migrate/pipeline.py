"""The commands as functions: find the inputs, hand each to the conversion, collect what came of it.

>>> from tmigrate.pipeline import ConvertOptions, convert
>>> results = convert(["saxpy.cu"], ConvertOptions(execute=False))   # doctest: +SKIP
>>> results[0].status                                                # doctest: +SKIP
<Status.CONVERTED: 'converted'>
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tmigrate.diagnostics import Diagnostic, UsageError
from tmigrate.inputs import Input
from tmigrate.options import ConvertOptions, Listener
from tmigrate.outputs import check_writable
from tmigrate.programs import find_programs
from tmigrate.results import InputResult

SILENT = Listener()

__all__ = ["ConvertOptions", "InputResult", "assess", "convert", "run", "verify"]


def convert(
    paths: Sequence[str | Path], options: ConvertOptions, listener: Listener = SILENT
) -> list[InputResult]:
    """Convert (and verify, unless told not to run) every input below ``paths``; in the inputs' order.

    What is wrong with one input stands in its result; UsageError is raised, before any work, where the
    outputs could not be written.
    """
    inputs = find_programs(paths, options.include_folders)
    _refuse_one_place(inputs, options)
    for folder in {options.output_folder(Path(found.path)) for found in inputs if found.fault is None}:
        check_writable(folder)
    return _for_each(inputs, "tmigrate.conversion:convert_file", options, listener)


def _refuse_one_place(inputs: Sequence[Input], options: ConvertOptions) -> None:
    """Outputs are called after their input: those of a/k.cu and b/k.cu in one folder would be the same."""
    places: dict[Path, str] = {}
    faults = []
    remedy = "convert them one by one, each with its own -o"
    for entry in inputs:
        source = Path(entry.path)
        place = options.output_folder(source) / f"{source.stem}_tile.py"
        other = places.setdefault(place, entry.path)
        if other != entry.path:
            message = f"'{other}' and '{entry.path}' would both be written to '{place}'"
            faults.append(Diagnostic("TM5010", message, remedy=remedy))
    if faults:
        raise UsageError(faults)


def verify(
    paths: Sequence[str | Path], options: ConvertOptions, listener: Listener = SILENT
) -> list[InputResult]:
    """Verify again what was converted, as it stands on the disk now."""
    return _for_each(
        find_programs(paths, options.include_folders), "tmigrate.conversion:verify_file", options, listener
    )


def assess(
    paths: Sequence[str | Path], options: ConvertOptions, listener: Listener = SILENT
) -> list[InputResult]:
    """Say what would convert and what would be refused; executes and writes nothing."""
    return _for_each(
        find_programs(paths, options.include_folders), "tmigrate.conversion:assess_file", options, listener
    )


def run(paths: Sequence[str | Path], options: ConvertOptions) -> int:
    """Build the program of ``paths`` with its kernels regenerated, run it, and return its exit status."""
    from tmigrate.conversion import run_files

    found = find_programs(paths, options.include_folders)
    faults = [entry.fault for entry in found if entry.fault is not None]
    if faults:
        raise UsageError(faults)
    if any({entry.path, *entry.companions} < {e.path for e in found} for entry in found):
        named = " ".join(f"'{path}'" for path in paths)
        remedy = "name the files of one program, one of which has a main"
        message = f"{named}: these are {len(found)} programs; run takes one"
        raise UsageError(Diagnostic("TM5010", message, remedy=remedy))
    return run_files(found, options)


def _for_each(
    inputs: Sequence[Input], step: str, options: ConvertOptions, listener: Listener
) -> list[InputResult]:
    from tmigrate.workers import run_inputs

    return run_inputs(inputs, step, options, listener)
