"""Watching a task in a terminal: by the process that runs the home, or beside it.

Where nobody runs the home, this process does until the task stands still; else it only looks on
while the other one works. ctrl+c says stop, and what was done is summed up; where that cannot be
written down, or at a second ctrl+c, the command ends as things stand.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from loopforge.core.events import Event
from loopforge.errors import HostTaken, LoopforgeError, Unknown
from loopforge.home import make_home
from loopforge.host_lock import home_holder_pid, lock_home

if TYPE_CHECKING:
    from loopforge.app import App
    from loopforge.setting_defaults import Settings
    from loopforge.work.task_state import TaskState

LOOK = 0.2
"""Seconds between two looks for what the process that runs the home wrote."""
QUIET = 0.05
INTERRUPTED = 130


@asynccontextmanager
async def join_or_run_home(settings: Settings) -> AsyncIterator[tuple[App, bool]]:
    """The home, and whether it is run here: by this process, where no other one does.

    Raises HostTaken or LedgerRewound amid the block, where it is run here no longer.
    """
    from loopforge.app import open_app, open_aside
    from loopforge.host import until_overtaken

    make_home(settings.home)
    async with AsyncExitStack() as stack:
        here = False
        if home_holder_pid(settings.home) is None:
            with suppress(HostTaken):
                stack.enter_context(lock_home(settings.home))
                here = True
        opened = open_app if here else open_aside
        app = await stack.enter_async_context(opened(settings))
        if here:
            await stack.enter_async_context(until_overtaken(app))
        yield app, here


async def act_and_watch(
    settings: Settings,
    do: Callable[[App, str], Awaitable[tuple[str, int]]],
    *,
    watch: bool,
    as_json: bool,
) -> int:
    """Have something done with tasks, and watch the task that it is about; the exit code.

    `do` is given the home and who sits here, and returns the task's id, and after which event of
    it to begin.
    """
    async with join_or_run_home(settings) as (app, here):
        person = (await app.people.meet("terminal", settings.person)).id
        watcher = TaskWatcher(app, here, as_json)
        task, after = await do(app, person)
        if not watch:
            if here:
                typer.echo("Nobody runs this home; `loopforge up` works on it.", err=True)
            return 0
        others = await _at_work(app, task) if here else []
        for state in others:
            typer.echo(f"Beside it goes on what was at work: {_named(state)}.", err=True)
        code = await watcher.watch(task, person, after)
        for state in await _at_work(app, task) if others else ():
            typer.echo(
                f"Left amid its work: {_named(state)}. {next_step_hint(state, idle=True)}", err=True
            )
        return code


async def _at_work(app: App, but: str) -> list[TaskState]:
    """The tasks that are at work, but for one."""
    return [one for one in await app.work.tasks.tasks() if one.at_work and one.id != but]


def _named(state: TaskState) -> str:
    return replace_unprintable(f"{state.id[-8:]} ({str(state.task.text)[:60]})")


async def person_of(app: App) -> str:
    """Who sits at this terminal."""
    return (await app.people.meet("terminal", app.settings.person)).id


class TaskWatcher:
    """Prints what happens to a task until it stands still."""

    def __init__(self, app: App, here: bool, as_json: bool) -> None:
        self._app, self._here, self._json = app, here, as_json
        self._from = 0
        self._stopping: asyncio.Task[str] | None = None
        self._left = False

    async def watch(self, task: str, person: str, after: int = 0) -> int:
        """Watch it; the exit code: 0, or 130 where it was interrupted."""
        from loopforge.work.task_summary import is_settled

        tasks = self._app.work.tasks
        state = await tasks.store.named(task)
        self._from = after
        loop = asyncio.get_running_loop()

        def interrupted() -> None:
            self._left = self._stopping is not None
            self._stopping = self._stopping or self._app.work.ports.tasks.spawn(
                tasks.stop(state.id, person, "ctrl+c in the terminal"), "stop"
            )

        loop.add_signal_handler(signal.SIGINT, interrupted)
        try:
            while True:
                await self._print(state.stream)
                state = await tasks.store.state(state.stream)
                if is_settled(state) or self._left:
                    break
                if self._stopping is not None and self._stopping.done():
                    await self._stopping  # raises what kept it from being stopped
                await self._app.stamp.clock.sleep(QUIET if self._here else LOOK)
                if not self._here:
                    await self._app.ledger.follow()
                    if home_holder_pid(self._app.settings.home) is None:
                        raise Unknown(
                            "The process that ran this home has ended; `loopforge work resume "
                            f"{state.id[-8:]}` goes on here."
                        )
            await self._print(state.stream)
        except BrokenPipeError:
            hint = next_step_hint(state, idle=self._here)
            typer.echo(f"Nobody reads any more. Task {state.id[-8:]}: {hint}", err=True)
            raise
        finally:
            loop.remove_signal_handler(signal.SIGINT)
        if not self._json:
            typer.echo(
                f"\nTask {state.id[-8:]}: {state.stage}. {next_step_hint(state, idle=self._here)}"
            )
            tell_folder(self._app, state)
        return INTERRUPTED if self._stopping is not None else 0

    async def _print(self, stream: str) -> None:
        events = await self._app.ledger.read(stream, after=self._from)
        for event in events:
            self._from = event.seq
            self._show(event)

    def _show(self, event: Event) -> None:
        from loopforge.ledger.jsonl_export import as_json_line
        from loopforge.work.task_transcript import lines_of

        for row in [as_json_line(event)] if self._json else lines_of(event, owner=True):
            typer.echo(row if self._json else replace_unprintable(row))


def replace_unprintable(text: str) -> str:
    """A line without signs that would drive the terminal."""
    return "".join(sign if sign.isprintable() else " " for sign in text)


def tell_folder(app: App, state: TaskState) -> None:
    """Say where what a task wrote lies, unless that is in the clone of a repository."""
    with suppress(LoopforgeError):
        if state.written and not state.task.repo:
            place = app.work.tasks.places.workspaces.known(state.stream).place
            typer.echo(replace_unprintable(f"Its files lie in {place}"))


async def tell_uncommitted(app: App, repository: str) -> None:
    """Say what of a person's work a task does not see."""
    with suppress(LoopforgeError, OSError):  # what is amiss there, the task says
        if told := await app.work.tasks.places.repositories.uncommitted(repository):
            typer.echo(replace_unprintable(told), err=True)


def next_step_hint(state: TaskState, *, idle: bool = False) -> str:
    """What can be done with it now; `idle`: nobody runs the home."""
    from loopforge.work.task_service import PAID

    which = state.id[-8:]
    if state.forgotten:
        return "It was forgotten."
    if state.allowing:
        return f"`loopforge work allow {which}` or `loopforge work deny {which}`."
    match state.stage:
        case "waiting":
            return f'Answer by `loopforge work say {which} "..."`.'
        case "stopped" if state.halted is not None and state.halted.kind == "money":
            return PAID.format(id=which)
        case "stopped":
            return f"`loopforge work resume {which}` goes on from there."
        case "finished" if state.offered is not None and not state.offered.commit:
            return (
                f'`loopforge work say {which} "..."` has it go on, `loopforge work reject {which}` '
                "ends it."
            )
        case "finished":
            look = (
                f"`loopforge work show {which} --diff` shows the change; " if state.offered else ""
            )
            return f"{look}`loopforge work approve {which}` or `loopforge work reject {which}`."
        case "approved" | "rejected":
            return ""
        case _ if idle:
            return f"Nobody runs this home: `loopforge work resume {which}` goes on with it here."
        case _:
            return "It is at work."


def repository_of(app: App, folder: Path | None) -> Awaitable[str]:
    """The name of the repository in a folder, which becomes a registered one."""

    async def found() -> str:
        if folder is None:
            return ""
        known = app.work.tasks.places.repositories.registered
        try:
            return known.find(str(folder)).name
        except Unknown:
            return (await known.register(folder)).name

    return found()
