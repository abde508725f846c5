"""One child process under limits of time, memory and output, with everything that it starts."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

POLL_SECONDS = 0.1
LARGEST_OUTPUT = 64 * 2**20  # bytes

Ending = Literal["exited", "signal", "time", "memory", "output", "missing"]


@dataclass(frozen=True, slots=True)
class Limits:
    """``seconds`` of wall clock; ``memory`` in bytes, resident, over the process and its descendants."""

    seconds: float
    memory: int


@dataclass(frozen=True, slots=True)
class Finished:
    """How a command ended; ``status`` is its exit status, or minus the signal that ended it."""

    ending: Ending
    status: int
    seconds: float
    stdout: str
    stderr: str


def run_limited(
    command: Sequence[str], cwd: Path, environment: Mapping[str, str], limits: Limits, log: Path
) -> Finished:
    """Run ``command`` with no input; its output lands in ``log``.out and ``log``.err too."""
    out, err = log.with_name(log.name + ".out"), log.with_name(log.name + ".err")
    began = time.monotonic()
    with out.open("wb") as stdout, err.open("wb") as stderr:
        try:
            process = subprocess.Popen(
                command,
                cwd=cwd,
                env={**os.environ, **environment},
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
                preexec_fn=_no_core_files,
            )
        except OSError as error:
            return Finished("missing", 127, 0.0, "", str(error))
        ending = _watch(process, limits, began + limits.seconds, (out, err))
    seconds = time.monotonic() - began
    if ending == "exited" and process.returncode < 0:
        ending = "signal"
    return Finished(ending, process.returncode, seconds, _text(out), _text(err))


def _no_core_files() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _watch(
    process: subprocess.Popen[bytes], limits: Limits, deadline: float, outputs: Sequence[Path]
) -> Ending:
    """Wait until the process ends or reaches a limit; leave nothing of it running."""
    family = Family(process.pid)
    ending: Ending = "exited"
    try:
        while not _ended_within(process, POLL_SECONDS):
            if time.monotonic() > deadline:
                ending = "time"
            elif family.resident_bytes() > limits.memory:
                ending = "memory"
            elif any(file.stat().st_size > LARGEST_OUTPUT for file in outputs):
                ending = "output"
            if ending != "exited":
                break
    finally:
        family.end()
        process.wait()
    return ending


def _ended_within(process: subprocess.Popen[bytes], seconds: float) -> bool:
    try:
        process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


@dataclass(frozen=True, slots=True)
class _Process:
    parent: int
    group: int
    started: int  # tells a process from a later one with the same number
    resident: int  # bytes


class Family:
    """A process, its group, and every descendant ever seen; one whose parent died stays in the family.

    Where there is no /proc nobody is seen: time alone is limited, and only the group is ended.
    """

    def __init__(self, leader: int) -> None:
        self._leader = leader
        self._started: dict[int, int] = {}
        self._look()

    def resident_bytes(self) -> int:
        """Resident memory of all that live."""
        processes = self._look()
        return sum(processes[pid].resident for pid in self._started)

    def end(self) -> None:
        """Kill all that live."""
        self._look()
        for pid in self._started.keys() - {self._leader}:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._leader, signal.SIGKILL)

    def _look(self) -> dict[int, _Process]:
        processes = _processes()
        for pid, started in list(self._started.items()):
            if pid not in processes or processes[pid].started != started:
                del self._started[pid]
        grew = True
        while grew:
            found = {
                pid: process.started
                for pid, process in processes.items()
                if pid not in self._started
                and (process.parent in self._started or process.group == self._leader)
            }
            self._started |= found
            grew = bool(found)
        return processes


def _processes() -> dict[int, _Process]:
    page = os.sysconf("SC_PAGE_SIZE")
    found: dict[int, _Process] = {}
    proc = Path("/proc")
    for name in os.listdir(proc) if proc.is_dir() else []:
        if not name.isdigit():
            continue
        with suppress(OSError, ValueError, IndexError):
            # "PID (NAME) STATE PARENT GROUP ...": the name may hold blanks and brackets.
            fields = (proc / name / "stat").read_text().rpartition(")")[2].split()
            found[int(name)] = _Process(
                int(fields[1]), int(fields[2]), int(fields[19]), int(fields[21]) * page
            )
    return found


def _text(file: Path) -> str:
    with file.open("rb") as stream:
        return stream.read(LARGEST_OUTPUT).decode(errors="replace")
