"""The stages that a program goes through, and what each found.

translate   tmigrate convert --no-run   how long the conversion alone takes
convert     tmigrate convert            conversion and verification
verify      tmigrate verify             verification of the outputs as they stand on the disk
run         tmigrate run                the program's own verdict, and which versions its launches took
broken      tmigrate run, one kernel made wrong on purpose: PASS must become FAIL, or verify must notice
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from limits import Finished, Limits, run_limited
from programs import Program

COUNTS_VARIABLE = "TMIGRATE_RUN_COUNTS"
"""Environment variable: the file to which ``tmigrate run`` writes its launches by kernel and version."""

BREAK_VARIABLE = "TMIGRATE_RUN_BREAK"
"""Environment variable: any value but the empty one makes the converted kernels' results wrong."""

CAUGHT = "caught by verify"
NOT_CAUGHT = "NOT CAUGHT"

STAGES = ("translate", "convert", "verify", "run", "broken")
TOOL_FAULTS = frozenset({"TM5030", "TM5031"})  # an internal error; the conversion of an input was ended

_TRACEBACK = re.compile(r"^Traceback \(most recent call last\):", re.MULTILINE)
_CODE = re.compile(r"\bTM\d{4}\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """What ``--json`` says of one kernel, as far as the table needs it."""

    name: str
    location: str
    status: str
    level: str | None
    code: str | None
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StageResult:
    """One stage.  ``fault`` is what the tool did wrong: crash, time, memory, output; None where nothing.

    ``unusable`` holds the codes with which the tool refused to work on the input at all.
    """

    stage: str
    seconds: float
    status: int
    fault: str | None = None
    detail: str = ""
    kernels: tuple[Kernel, ...] = ()
    unusable: tuple[str, ...] = ()
    verdict: str | None = None
    launches: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What the stages of one program share: ``folder`` is the scratch copy, ``outputs`` where results go."""

    tool: tuple[str, ...]
    folder: Path
    sources: tuple[str, ...]
    outputs: Path
    limits: Limits
    verify_seconds: float
    break_value: str = "1"


def run_stage(stage: str, program: Program, bench: Bench, verified: frozenset[str]) -> StageResult:
    """Do one stage of one program; ``verified`` names the kernels that an earlier stage verified."""
    if stage in ("run", "broken"):
        return _run(stage, program, bench, verified)
    log = bench.outputs / stage
    command = {"translate": ["convert", "--no-run"], "convert": ["convert"], "verify": ["verify"]}[stage]
    written = bench.outputs / ("translated" if stage == "translate" else "converted")
    words = [*bench.tool, *command, "--json", "-o", str(written), *_options(program)]
    if stage != "translate":
        words += ["--verify-time", f"{bench.verify_seconds:g}"]
    words += [*bench.sources, *_program_arguments(program)]
    return read_report(stage, run_limited(words, bench.folder, {}, bench.limits, log))


def _options(program: Program) -> list[str]:
    options = [word for define in program.defines for word in ("-D", define)]
    options += [word for folder in program.includes for word in ("-I", folder)]
    return [*options, *program.flags]


def _program_arguments(program: Program) -> list[str]:
    return ["--", *program.args] if program.args else []


def read_report(stage: str, finished: Finished) -> StageResult:
    """The kernels in the one JSON object on standard output, or what is wrong with it."""
    fault, detail = tool_fault(finished)
    report: dict[str, Any] = {}
    try:
        report = json.loads(finished.stdout)
    except ValueError as error:
        codes = tuple(dict.fromkeys(_CODE.findall(finished.stderr)))
        if fault is None and finished.status == 2 and codes:  # wrong use, told on standard error
            return StageResult(stage=stage, seconds=finished.seconds, status=2, unusable=codes)
        fault, detail = (fault, detail) if fault else ("crash", f"not JSON: {error}")
    inputs = report.get("inputs", [])
    codes = tuple(d["code"] for entry in inputs for d in entry["diagnostics"])
    kernels = tuple(_kernel(kernel) for entry in inputs for kernel in entry["kernels"])
    if fault is None and TOOL_FAULTS & {*codes, *(kernel.code for kernel in kernels)}:
        messages = [d["message"] for e in inputs for d in e["diagnostics"] if d["code"] in TOOL_FAULTS]
        fault, detail = "crash", "; ".join(messages)
    lost = tuple(
        d["code"] for e in inputs if e["status"] == "refused" and not e["kernels"] for d in e["diagnostics"]
    )
    return StageResult(
        stage=stage,
        seconds=finished.seconds,
        status=finished.status,
        fault=fault,
        detail=detail,
        kernels=kernels,
        unusable=tuple(dict.fromkeys(lost)),
    )


def _kernel(kernel: Mapping[str, Any]) -> Kernel:
    return Kernel(
        name=kernel["name"],
        location=kernel.get("location") or "",
        status=kernel["status"],
        level=kernel.get("level"),
        code=kernel.get("code"),
        reason=kernel.get("reason"),
    )


def tool_fault(finished: Finished) -> tuple[str | None, str]:
    """What the tool, not the input, did wrong, and a line that shows it."""
    if finished.ending == "missing":
        return "crash", finished.stderr
    if finished.ending in ("time", "memory", "output"):
        return finished.ending, f"ended after {finished.seconds:.0f} s"
    if finished.ending == "signal":
        return "crash", f"signal {-finished.status}"
    if _TRACEBACK.search(finished.stderr) or _TRACEBACK.search(finished.stdout):
        return "crash", finished.stderr.strip().rpartition("\n")[2]
    internal = [line for line in finished.stderr.splitlines() if TOOL_FAULTS & set(_CODE.findall(line))]
    if internal:
        return "crash", internal[0]
    return None, ""


def _run(stage: str, program: Program, bench: Bench, verified: frozenset[str]) -> StageResult:
    counts = bench.outputs / f"{stage}-counts.json"
    counts.unlink(missing_ok=True)
    environment = {COUNTS_VARIABLE: str(counts)}
    if stage == "broken":
        environment[BREAK_VARIABLE] = bench.break_value
    words = [*bench.tool, "run", *_options(program), *bench.sources, *_program_arguments(program)]
    finished = run_limited(words, bench.folder, environment, bench.limits, bench.outputs / stage)
    fault, detail = tool_fault(finished)
    if finished.ending not in ("exited", "missing"):
        fault = None  # the program's own doing, as far as one can see from outside; the verdict says so
    verdict = judge(finished, program)
    if stage == "broken" and verdict == "PASS":
        verdict, fault, detail = _noticed_by_verify(program, bench, verified)
    return StageResult(
        stage=stage,
        seconds=finished.seconds,
        status=finished.status,
        fault=fault,
        detail=detail,
        verdict=verdict,
        launches=read_counts(counts),
    )


def judge(finished: Finished, program: Program) -> str:
    """The program's own verdict: PASS, FAIL, none (it printed neither word), or how it was ended."""
    if finished.ending != "exited":
        return finished.ending
    text = finished.stdout + "\n" + finished.stderr
    if program.reject.search(text):
        return "FAIL"
    if program.expect.search(text):
        return "PASS" if finished.status == 0 else f"exit {finished.status}"
    codes = _CODE.findall(finished.stderr)
    if codes and finished.status == 2:
        return f"refused {codes[0]}"
    return f"signal {finished.status - 128}" if finished.status > 128 else "none"


def read_counts(file: Path) -> dict[str, int]:
    """Launches by version, summed over the kernels."""
    try:
        kernels = json.loads(file.read_text())["kernels"]
    except (OSError, ValueError, KeyError):
        return {}
    total: dict[str, int] = {}
    for versions in kernels.values():
        for version, count in versions.items():
            total[version] = total.get(version, 0) + int(count)
    return total


def _noticed_by_verify(
    program: Program, bench: Bench, verified: frozenset[str]
) -> tuple[str, str | None, str]:
    """The program still says PASS: ``verify`` must take back what it said of at least one kernel."""
    words = [*bench.tool, "verify", "--json", "-o", str(bench.outputs / "converted"), *_options(program)]
    words += ["--verify-time", f"{bench.verify_seconds:g}", *bench.sources, *_program_arguments(program)]
    environment = {BREAK_VARIABLE: bench.break_value}
    log = bench.outputs / "broken-verify"
    found = read_report("broken", run_limited(words, bench.folder, environment, bench.limits, log))
    if found.fault is not None:
        return NOT_CAUGHT, found.fault, found.detail
    taken_back = verified - {kernel.name for kernel in found.kernels if kernel.status == "verified"}
    return (CAUGHT if taken_back else NOT_CAUGHT), None, ""
