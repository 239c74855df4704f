"""A progress bar for sweeps: runs done, time left, cost so far; quiet off a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

    from loopforge.lab.sweeps.sweep_runner import Watcher


class ProgressBar:
    """Draws what a sweep tells it. A sweep that spends nothing shows no cost."""

    def __init__(self, progress: Progress, task: TaskID) -> None:
        self._progress, self._task = progress, task

    def begin(self, runs: int, done: int, cost: float) -> None:
        """So many runs, so many of them done before."""
        self._progress.update(self._task, total=runs, completed=done, cost=_dollars(cost))

    def advance(self, done: int, cost: float) -> None:
        """So many are done now, at that cost in US dollars."""
        self._progress.update(self._task, completed=done, cost=_dollars(cost))


@contextmanager
def bar(title: str, console: Console | None = None) -> Iterator[Watcher]:
    """A bar on standard error, or on this console, as long as the block runs."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    console = console or Console(stderr=True)
    progress = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[cost]}", markup=False),
        console=console,
        disable=not console.is_terminal,
    )
    with progress:
        yield ProgressBar(progress, progress.add_task(title, total=None, cost=""))


def _dollars(cost: float) -> str:
    return f"${cost:.4f} so far" if cost else ""
