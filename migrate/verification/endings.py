"""How a program that was run beside its conversion ended, in a sentence."""

from __future__ import annotations

import signal

from tmigrate.oracle import Limits, RunResult

_WIDEST = 160  # characters of the program's own last words


def describe_failure(ended: RunResult, limits: Limits) -> str:
    """Why the program did not end well, with its last words; empty where it did.

    ``the program crashed with SIGABRT (Aborted): "main.cu:12: int main(): Assertion `n > 0' failed."``
    """
    if ended.reason == "exit" and ended.status == 0:
        return ""
    return f"the program {_what(ended, limits)}{_last_words(ended.stderr)}"


def _what(ended: RunResult, limits: Limits) -> str:
    if ended.reason == "time":
        return f"did not end within {limits.seconds:.0f} s and was stopped"
    if ended.reason == "output":
        return "wrote more than it may and was stopped"
    if ended.reason == "memory":
        return f"ran out of memory (it may use {limits.memory_bytes / 2**30:.0f} GiB)"
    if ended.reason == "signal" or ended.status < 0:
        return f"crashed with {_signal_name(-ended.status)}"
    return f"exited with status {ended.status}"


def _signal_name(number: int) -> str:
    try:
        return f"{signal.Signals(number).name} ({signal.strsignal(number)})"
    except ValueError:
        return f"signal {number}"


def _last_words(text: str) -> str:
    """The last line that the program wrote to its standard error, without what could steer a terminal."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        return ""
    shown = "".join(c if c.isprintable() else "\ufffd" for c in lines[-1])
    return f': "{shown if len(shown) <= _WIDEST else shown[: _WIDEST - 1] + "…"}"'
