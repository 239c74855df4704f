"""A progress bar for sweeps: runs done, time left, cost so far; quiet off a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from loopforge.lab.sweeps.sweep_runner import Watcher


@contextmanager
def show_progress(title: str, console: Console | None = None) -> Iterator[Watcher]:
    """A bar on standard error, or on this console, as long as the block runs.

    A sweep that spends nothing shows no cost.
    """
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
        task = progress.add_task(title, total=None, cost="")

        def watch(runs: int, done: int, cost: float) -> None:
            told = f"${cost:.4f} so far" if cost else ""
            progress.update(task, total=runs, completed=done, cost=told)

        yield watch
