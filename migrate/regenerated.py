"""``tmigrate run``: the original's host code with regenerated kernels, and no emulator in sight."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tmigrate.diagnostics import Diagnostic, RefusedError
from tmigrate.emission import select, through_text
from tmigrate.options import ConvertOptions
from tmigrate.oracle import build
from tmigrate.planning import Plan
from tmigrate.tilelang.ir.module import Module
from tmigrate.tilelang.targets.cpu.build import BuiltObject, build_module
from tmigrate.tilelang.targets.cpu.options import EmitOptions, FloatFunctions
from tmigrate.verification.judging import compile_flags
from tmigrate.verification.manifest import KernelEntry, ObjectEntry, Version, write_manifest
from tmigrate.verification.replay import variable_symbols


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
    lifted = through_text(select(plan.module, plan.lifts.values())) if plan.lifts else None
    with ThreadPoolExecutor(2) as pool, tempfile.TemporaryDirectory(prefix="tmigrate-") as name:
        program = pool.submit(build, plan.source, compile_flags(options), mode="run")
        objects = _objects(thread, lifted)
        manifest = Path(name) / "manifest"
        _write(manifest, thread, lifted, objects)
        environment = {**os.environ, "TMIGRATE_RUN": str(manifest)}
        sys.stdout.flush()
        command = [str(program.result().executable), *options.arguments]
        status = subprocess.run(command, env=environment, check=False).returncode
    return status if status >= 0 else 128 - status


def _objects(thread: Module, lifted: Module | None) -> dict[str, BuiltObject]:
    found = {"thread": build_module(thread, EmitOptions())}
    if lifted is not None:
        found["lifted"] = build_module(lifted, EmitOptions(functions=FloatFunctions.VECTOR))
    return found


def _write(path: Path, thread: Module, lifted: Module | None, objects: dict[str, BuiltObject]) -> None:
    entries = [ObjectEntry(name, b.path, variable_symbols(b)) for name, b in objects.items()]
    kernels = []
    for f in thread.kernels:
        has_lift = lifted is not None and lifted.function(f.name) is not None
        kernels.append(
            KernelEntry(
                f.symbol,
                thread=Version("thread", objects["thread"].kernels[f.name]),
                lifted=Version("lifted", objects["lifted"].kernels[f.name]) if has_lift else None,
            )
        )
    write_manifest(path, entries, kernels)
