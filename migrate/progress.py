"""Progress on the standard error: a bar over the inputs, and one-time builds by name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tmigrate.options import Listener
from tmigrate.rendering import console, visible
from tmigrate.results import InputResult
from tmigrate.tilelang.runtime.compilers import set_announcer

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class _Bar(Listener):
    def __init__(self, bar: Progress, doing: str) -> None:
        self._bar, self._doing = bar, doing
        self._task: TaskID = bar.add_task(doing, total=None)

    def begin(self, total: int) -> None:
        self._bar.update(self._task, total=total)

    def start(self, path: str) -> None:
        self._bar.update(self._task, description=f"{self._doing} {visible(path)}")

    def finish(self, result: InputResult) -> None:
        self._bar.advance(self._task)


@contextmanager
def progress(doing: str) -> Iterator[Listener]:
    """A bar, where the standard error is a terminal; yields the listener for the pipeline.

    A slow one-time step has a line of its own in any case, so that a log explains the wait.
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    out = console(error=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    interactive = out.is_terminal
    with Progress(*columns, TimeElapsedColumn(), console=out, transient=True, disable=not interactive) as bar:

        @contextmanager
        def slow_step(message: str) -> Iterator[None]:
            out.print(f"{message} ...", soft_wrap=True)
            task = bar.add_task(message, total=None)
            try:
                yield
            finally:
                bar.remove_task(task)

        set_announcer(slow_step)
        yield _Bar(bar, doing)


def announce_slow_steps() -> None:
    """Show one-time builds by a spinner, for commands without a bar."""
    out = console(error=True)

    @contextmanager
    def slow_step(message: str) -> Iterator[None]:
        if not out.is_terminal:
            out.print(f"{message} ...", soft_wrap=True)
            yield
            return
        with out.status(message):
            yield

    set_announcer(slow_step)
