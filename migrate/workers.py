"""Each input is worked on in a child process: a crash, a hang or a runaway parse costs that input only.

The child keeps serving until its inputs are done, so that heavy imports are paid once.  Messages over the
connection are pickled tuples: ``(step, path, options)`` to the child; from it ``("slow", text)``,
``("went on",)``, then ``("result", InputResult)`` or ``("fault", text)``.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib import import_module
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, cast

from tmigrate.diagnostics import Diagnostic, TmigrateError, UsageError
from tmigrate.inputs import Input
from tmigrate.options import ConvertOptions, Listener
from tmigrate.results import InputResult

CONVERT_SECONDS = 300.0
SLOW_STEP_SECONDS = 1200.0  # what a one-time build may add
MEMORY_BYTES = 8 * 2**30  # address space of a parse under --no-run


def run_inputs(
    inputs: Sequence[Input], step: str, options: ConvertOptions, listener: Listener
) -> list[InputResult]:
    """Do ``step``, as ``tmigrate.conversion:convert_file``, for every input, ``options.jobs`` at a time."""
    listener.begin(len(inputs))
    tell = _OneAtATime(listener)
    if options.debug:
        return [_told(entry, tell, lambda e: _call(step, e.path, of_program(e, options))) for entry in inputs]
    local = threading.local()
    workers: list[Worker] = []

    def work(entry: Input) -> InputResult:
        if not hasattr(local, "worker"):
            local.worker = Worker()
            workers.append(local.worker)
        worker: Worker = local.worker
        return _told(entry, tell, lambda e: worker.do(step, e.path, of_program(e, options)))

    try:
        with ThreadPoolExecutor(max_workers=max(1, options.jobs)) as pool:
            futures = [pool.submit(work, entry) for entry in inputs]
            try:
                return [future.result() for future in futures]
            except BaseException:
                for future in futures:
                    future.cancel()
                for worker in workers:
                    worker.end()  # its thread meets the end of the connection
                raise
    finally:
        for worker in workers:
            worker.stop()


def of_program(entry: Input, options: ConvertOptions) -> ConvertOptions:
    """The options for an input, with the other files of its program."""
    found = tuple(map(Path, entry.companions))
    return replace(options, companions=found) if found else options


class _OneAtATime(Listener):
    """Passes everything on, from one thread at a time."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._lock = threading.Lock()

    def start(self, path: str) -> None:
        with self._lock:
            self._listener.start(path)

    def finish(self, result: InputResult) -> None:
        with self._lock:
            self._listener.finish(result)


def _told(entry: Input, tell: Listener, work: Callable[[Input], InputResult]) -> InputResult:
    tell.start(entry.path)
    result = _without_work(entry) or work(entry)
    tell.finish(result)
    return result


def _without_work(entry: Input) -> InputResult | None:
    """The result of an input that cannot be read, or in which there is nothing."""
    if entry.fault is not None:
        readable = entry.kind == "onnx" and entry.fault.code == "TM5016"
        diagnostics = (entry.fault,)
        return InputResult(
            path=entry.path, kind=entry.kind, diagnostics=diagnostics, parsed=False, readable=readable
        )
    if entry.empty is not None:
        return InputResult(path=entry.path, kind=entry.kind, diagnostics=(entry.empty,))
    return None


def _call(step: str, path: str, options: ConvertOptions) -> InputResult:
    """The step itself; errors of the input become its diagnostics, wrong use goes up."""
    module, _, function = step.partition(":")
    try:
        return cast(InputResult, getattr(import_module(module), function)(Path(path), options))
    except UsageError:
        raise
    except TmigrateError as error:
        return InputResult(path=path, diagnostics=error.diagnostics, parsed=False)


class Worker:
    """A child process that serves one input at a time; started on first use, and again after a death."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection[Any, Any] | None = None
        self._ended = False

    def do(self, step: str, path: str, options: ConvertOptions) -> InputResult:
        """The result of one input, whatever happens to the child."""
        seconds = CONVERT_SECONDS + (options.verify_seconds if options.execute else 0.0)
        connection = self._start()
        try:
            connection.send((step, path, options))
            kind, value = self._answer(connection, seconds)
        except TimeoutError:
            self.stop()
            return _lost(path, f"was not done within {seconds:.0f} s")
        except (EOFError, OSError):
            died = self._cause_of_death()
            self.stop()
            return _lost(path, died)
        if kind == "usage":
            raise UsageError(value)
        if kind == "result":
            return cast(InputResult, value)
        message = f"internal error: {value}"
        remedy = "run again with --debug for the traceback, and report it"
        found = Diagnostic("TM5030", message, remedy=remedy)
        return InputResult(path=path, diagnostics=(found,), readable=False)

    def _answer(self, connection: Connection[Any, Any], seconds: float) -> tuple[str, Any]:
        from tmigrate.tilelang.runtime.compilers import announce

        deadline = time.monotonic() + seconds
        while True:
            message = _receive(connection, deadline)
            if message[0] != "slow":
                return cast(tuple[str, Any], message)
            # A one-time build is not the input's time: the deadline moves by what it took.
            began = time.monotonic()
            with announce(message[1]):
                _receive(connection, began + SLOW_STEP_SECONDS)
            deadline += time.monotonic() - began

    def _start(self) -> Connection[Any, Any]:
        if self._connection is not None:
            return self._connection
        ours, theirs = Pipe()
        call = f"from tmigrate.workers import serve; serve({theirs.fileno()})"
        code = f"import sys; sys.path[:] = {sys.path!r}; {call}"
        self._process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(theirs.fileno(),),
            start_new_session=True,
        )
        theirs.close()
        if self._ended:  # the interrupt came while the child was being started
            self.kill()
        self._connection = ours
        return ours

    def _cause_of_death(self) -> str:
        if self._process is None:
            return "was interrupted"
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=5)
        status = self._process.returncode
        if status is not None and status < 0:
            return f"ended the process that worked on it with {signal.Signals(-status).name}"
        return "ended the process that worked on it"

    def kill(self) -> None:
        """End the child and what it started; may be called from another thread than ``do``."""
        process = self._process
        if process is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)

    def end(self) -> None:
        """End the child for good, also one that another thread is just starting."""
        self._ended = True
        self.kill()

    def stop(self) -> None:
        """End the child, so that the next input gets a new one."""
        self.kill()
        process, self._process = self._process, None
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
        if process is not None:
            process.wait()


def _receive(connection: Connection[Any, Any], deadline: float) -> tuple[Any, ...]:
    if not connection.poll(max(0.0, deadline - time.monotonic())):
        raise TimeoutError
    return cast(tuple[Any, ...], connection.recv())


def _lost(path: str, what: str) -> InputResult:
    found = Diagnostic("TM5031", f"'{path}' {what}", remedy="please report it, with the input")
    return InputResult(path=path, diagnostics=(found,), parsed=False)


def serve(descriptor: int) -> None:
    """The child: work on what comes until the parent closes the connection."""
    from tmigrate.tilelang.runtime.compilers import set_announcer

    connection: Connection[Any, Any] = Connection(descriptor)

    @contextmanager
    def forward(message: str) -> Iterator[None]:
        connection.send(("slow", message))
        try:
            yield
        finally:
            connection.send(("went on",))

    set_announcer(forward)
    while True:
        try:
            step, path, options = connection.recv()
        except EOFError:
            return
        connection.send(_guarded(step, path, options))


def _guarded(step: str, path: str, options: ConvertOptions) -> tuple[str, Any]:
    with _memory_limit(None if options.execute else MEMORY_BYTES):
        try:
            return "result", _call(step, path, options)
        except UsageError as error:
            return "usage", error.diagnostics
        except Exception as error:  # whatever it is, it costs this input only
            return "fault", f"{type(error).__name__}: {error}"


@contextmanager
def _memory_limit(limit: int | None) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    if limit is not None and (hard == resource.RLIM_INFINITY or limit < hard):
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    try:
        yield
    finally:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
