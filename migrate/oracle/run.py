"""Run a built program in a child process with limits, and read what it reported."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tmigrate.locations import UNKNOWN, Location
from tmigrate.oracle.build import Built
from tmigrate.oracle.lines import LineTable, line_table


@dataclass(frozen=True, slots=True)
class Limits:
    """What a child may use: seconds of wall time, bytes of address space, of each file, of output."""

    seconds: float = 60.0
    memory_bytes: int = 16 << 30
    file_bytes: int = 256 << 20
    output_bytes: int = 16 << 20


@dataclass(frozen=True, slots=True)
class Place:
    """Where a violation happened: source line, block and thread."""

    location: Location
    block: tuple[int, int, int]
    thread: tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Report:
    """One violation by the original: ``kind`` is race, bounds, uninitialised, barrier, mask, lane, deadlock,
    assert, trap, launch or undefined; ``count`` says how often it occurred at this line."""

    kind: str
    message: str
    kernel: str
    place: Place
    other: Place | None
    count: int = 1


@dataclass(frozen=True, slots=True)
class RunResult:
    """How a child ended: ``reason`` is exit, signal, time, output or memory; ``status`` its exit status, or
    minus the signal's number."""

    status: int
    stdout: str
    stderr: str
    reports: tuple[Report, ...]
    seconds: float
    reason: str = "exit"
    extra: Mapping[str, str] = field(default_factory=dict)


def run(
    built: Built,
    argv: Sequence[str] = (),
    limits: Limits | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> RunResult:
    """Run ``built`` with the program arguments ``argv``; its standard input is empty.

    ``environment`` is added to this process's own (see runtime/REPLAY.md for the variables).
    """
    bound = limits or Limits()
    with TemporaryDirectory(prefix="tmigrate-run-") as folder:
        files = {name: Path(folder) / name for name in ("stdout", "stderr", "reports")}
        variables = {**os.environ, "TMIGRATE_REPORTS": str(files["reports"]), **(environment or {})}
        started = time.monotonic()
        with files["stdout"].open("wb") as out, files["stderr"].open("wb") as err:
            child = subprocess.Popen(
                [str(built.executable), *argv],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                cwd=cwd,
                env=variables,
                start_new_session=True,
                preexec_fn=lambda: _limit(bound),
            )
            reason = _wait(child, bound, started, files)
        seconds = time.monotonic() - started
        texts = {name: _read(path, bound.output_bytes) for name, path in files.items()}
    status = child.returncode
    if reason == "exit" and status < 0:
        reason = "output" if -status == signal.SIGXFSZ else "signal"
    if reason in ("exit", "signal") and status != 0 and "bad_alloc" in texts["stderr"]:
        reason = "memory"
    reports = read_reports(texts["reports"], _table(built.executable))
    return RunResult(status, texts["stdout"], texts["stderr"], reports, seconds, reason)


def _limit(limits: Limits) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (limits.memory_bytes, limits.memory_bytes))
    resource.setrlimit(resource.RLIMIT_FSIZE, (limits.file_bytes, limits.file_bytes))
    _, hard = resource.getrlimit(resource.RLIMIT_STACK)
    stack = 64 << 20
    resource.setrlimit(
        resource.RLIMIT_STACK, (stack if hard == resource.RLIM_INFINITY else min(stack, hard), hard)
    )


def _wait(child: subprocess.Popen[bytes], limits: Limits, started: float, files: Mapping[str, Path]) -> str:
    """Wait for the child's end; kill its whole session where it exceeds time or output."""
    pause = 0.002
    reason = "exit"
    while True:
        try:
            child.wait(timeout=pause)
            break
        except subprocess.TimeoutExpired:
            pause = min(pause * 2, 0.1)
        if time.monotonic() - started > limits.seconds:
            reason = "time"
        elif any(_size(files[name]) > limits.output_bytes for name in ("stdout", "stderr")):
            reason = "output"
        if reason != "exit":
            _kill(child)
            child.wait()
            return reason
    _kill(child)  # what it left behind in its session
    return reason


def _kill(child: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _read(path: Path, limit: int) -> str:
    try:
        with path.open("rb") as file:
            return file.read(limit).decode(errors="replace")
    except OSError:
        return ""


@lru_cache(maxsize=16)
def _table(executable: Path) -> LineTable:
    return line_table(executable)


def read_reports(text: str, table: LineTable) -> tuple[Report, ...]:
    """The violations in a report file, their sites turned into lines."""
    image = 0
    found: dict[int, dict[str, Any]] = {}
    for line in text.splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if "image" in record:
            image = 0 if table.relocatable else int(record["image"])
        elif "repeat" in record:
            found[record["repeat"]]["count"] = record["count"]
        else:
            found[record["index"]] = record
    return tuple(_report(record, table, image) for record in found.values())


def _report(record: dict[str, Any], table: LineTable, image: int) -> Report:
    other = _place(record["other"], table, image) if "other" in record else None
    return Report(
        record["kind"],
        record["message"],
        record["kernel"],
        _place(record, table, image),
        other,
        record.get("count", 1),
    )


def _as_named(file: str) -> str:
    """A file below the current folder as a person names it; line tables join it with its folder."""
    here = os.getcwd()
    return os.path.relpath(file, here) if os.path.isabs(file) and Path(file).is_relative_to(here) else file


def _place(record: dict[str, Any], table: LineTable, image: int) -> Place:
    site = int(record["site"])
    location = table.find(site + image) if site >= 0 else UNKNOWN
    if "line" in record:
        location = replace(location, line=int(record["line"]))
    location = replace(location, file=_as_named(location.file))
    block, thread = (tuple(int(v) for v in record[key]) for key in ("block", "thread"))
    return Place(location, (block[0], block[1], block[2]), (thread[0], thread[1], thread[2]))
