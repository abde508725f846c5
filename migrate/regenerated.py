"""``tmigrate run``: the original's host code with regenerated kernels, and no emulator in sight."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tmigrate.diagnostics import Diagnostic, RefusedError
from tmigrate.emission import lifted_module, through_text
from tmigrate.on_disk import same_code
from tmigrate.options import ConvertOptions
from tmigrate.oracle import build
from tmigrate.planning import Plan
from tmigrate.tilelang.ir.module import Function, Module
from tmigrate.verification.flags import compile_flags
from tmigrate.verification.manifest import name_in_unit
from tmigrate.verification.objects import build_for_run, write_objects


def run_program(plans: Sequence[Plan], sources: Sequence[Path], options: ConvertOptions) -> int:
    """Build the program of `sources` with its kernels regenerated, run it on this terminal, give its status.

    A lifted kernel whose assumption fails at a launch gives way to its thread-level version.  Raises
    RefusedError (TM4120) where a kernel that the program has could not be converted: the program would
    have to run without it.
    """
    refused = [k for plan in plans for k in plan.kernels if k.function is None]
    if refused:
        raise RefusedError(
            [*(d for k in refused for d in k.diagnostics)]
            or Diagnostic("TM4120", f"kernel {refused[0].name} was not converted", refused[0].location)
        )
    _refuse_namesakes(plans)
    with ThreadPoolExecutor(2) as pool, tempfile.TemporaryDirectory(prefix="tmigrate-") as name:
        program = pool.submit(build, sources, compile_flags(options), mode="run")
        units = [build_for_run(through_text(p.module), lifted_module(p), n) for n, p in enumerate(plans)]
        faults = [fault for unit in units for fault in unit.thread.faults.values()]
        if faults:
            raise RefusedError(faults)
        manifest = Path(name) / "manifest"
        write_objects(manifest, *units)
        environment = {**os.environ, "TMIGRATE_RUN": str(manifest)}
        sys.stdout.flush()
        command = [str(program.result().executable), *options.arguments]
        status = subprocess.run(command, env=environment, check=False).returncode
    return status if status >= 0 else 128 - status


def _refuse_namesakes(plans: Sequence[Plan]) -> None:
    """A launch names its kernel: two files may define one name only alike, as by a shared header."""
    found: dict[str, tuple[Module, Function]] = {}
    for unit, plan in enumerate(plans):
        for kernel in plan.kernels:
            assert kernel.function is not None
            mine = (plan.module, kernel.function)
            if not same_code(*found.setdefault(name_in_unit(kernel.symbol, unit), mine), *mine):
                message = f"two files of the program define a kernel {kernel.name}, and not alike"
                remedy = "rename one of them"
                raise RefusedError(Diagnostic("TM4120", message, kernel.location, remedy=remedy))
