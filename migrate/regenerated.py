"""``tmigrate run``: the original's host code with regenerated kernels, and no emulator in sight."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tmigrate.diagnostics import Diagnostic, RefusedError
from tmigrate.emission import lifted_module, through_text
from tmigrate.options import ConvertOptions
from tmigrate.oracle import build
from tmigrate.planning import Plan
from tmigrate.verification.flags import compile_flags
from tmigrate.verification.objects import build_for_run, write_objects


def run_program(plan: Plan, options: ConvertOptions) -> int:
    """Build the program of a plan with its kernels regenerated, run it on this terminal, and give its status.

    A lifted kernel whose assumption fails at a launch gives way to its thread-level version.  Raises
    RefusedError (TM4120) where a kernel that the program has could not be converted: the program would
    have to run without it.
    """
    refused = [k for k in plan.kernels if k.function is None]
    if refused:
        raise RefusedError(
            [*(d for k in refused for d in k.diagnostics)]
            or Diagnostic("TM4120", f"kernel {refused[0].name} was not converted", refused[0].location)
        )
    thread = through_text(plan.module)
    lifted = lifted_module(plan)
    with ThreadPoolExecutor(2) as pool, tempfile.TemporaryDirectory(prefix="tmigrate-") as name:
        program = pool.submit(build, plan.source, compile_flags(options), mode="run")
        converted = build_for_run(thread, lifted)
        if converted.thread.faults:
            raise RefusedError(converted.thread.faults.values())
        manifest = Path(name) / "manifest"
        write_objects(manifest, converted)
        environment = {**os.environ, "TMIGRATE_RUN": str(manifest)}
        sys.stdout.flush()
        command = [str(program.result().executable), *options.arguments]
        status = subprocess.run(command, env=environment, check=False).returncode
    return status if status >= 0 else 128 - status
