"""The parts of work on tasks, put together for a home: worlds and services.

parts = work_parts(ports, ...)          # the composition root
Worlds(..., [bot, *parts.worlds])
await parts.follow(lanes)               # stop, threads that become free, what rooms are told
tasks.spawn(parts.keep_up())            # where the home is run
"""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import NamedTuple, Protocol
from zoneinfo import ZoneInfo

from loopforge.core.events import Event
from loopforge.core.mates.mate_file import Mate
from loopforge.core.work.work_vocabulary import TaskStopped
from loopforge.errors import LedgerError
from loopforge.ledger.sql_ledger import SqlLedger
from loopforge.memory.memory_store import MemoryStore
from loopforge.runtime.plugins.setting_declarations import PluginSettings
from loopforge.runtime.ports import EffectSite, Lanes
from loopforge.runtime.turn_driver import TurnPorts
from loopforge.work.assignment.role_files import RoleFiles
from loopforge.work.assignment.task_calls import TaskCalls
from loopforge.work.git.task_repositories import TaskRepositories
from loopforge.work.learning.insight_book import InsightBook, Names
from loopforge.work.model_choice import ModelChoice
from loopforge.work.task_forgetting import Erase, TaskForgetting
from loopforge.work.task_service import TaskService
from loopforge.work.task_state import PREFIX
from loopforge.work.task_store import TaskStore
from loopforge.work.task_world import TaskWorld
from loopforge.work.thread_lease import THREAD, ThreadLeases
from loopforge.work.threads.thread_posts import ThreadPosts
from loopforge.work.watching.repository_watch import RepositoryWatch
from loopforge.work.watching.watch_service import WatchService
from loopforge.work.work_place import WorkPlaces
from loopforge.work.work_settings import WorkSettings
from loopforge.work.workspace.workspace_settings import workspaces_of

SOON = 0.25
"""Seconds between two looks for what other processes wrote, while a task is at work: a stop that a
command says has to be heard within one."""


class LiveHome(Protocol):
    """How a home is set at any moment."""

    @property
    def now(self) -> PluginSettings:
        """Its settings."""

    @property
    def zone(self) -> ZoneInfo:
        """Its time zone."""


class TaskMemory(NamedTuple):
    """Where mates keep what tasks taught; names of people, which none of it holds; what erases."""

    store: MemoryStore
    names: Names
    erase: Erase


class WorkParts(NamedTuple):
    """Work on tasks, as a home has it."""

    world: TaskWorld
    tasks: TaskService
    store: TaskStore
    forgetting: TaskForgetting
    ports: TurnPorts
    watch: WatchService
    posts: ThreadPosts | None = None

    @property
    def worlds(self) -> tuple[TaskWorld, RepositoryWatch]:
        """The kinds of streams that are worked on."""
        return self.world, self.watch.world

    async def follow(self, lanes: Lanes) -> None:
        """Work on tasks here: halt what is stopped, wake what waited for a thread that is free."""
        self.world.hosted, wake = True, lanes.wake
        self.forgetting.follow(lanes.settled)
        self.watch.world.follow(wake)
        ledger, signals = self.ports.ledger, self.ports.signals

        def stopped(stream: str, events: Sequence[Event]) -> None:
            for event in events:
                if isinstance(event.body, TaskStopped):
                    signals.halt(stream, str(event.body.why))

        def freed(stream: str, _events: Sequence[Event]) -> None:
            thread = stream.removeprefix(THREAD)
            following = partial(self._next, thread, wake)
            clock = self.ports.stamp.clock
            self.ports.tasks.insist(following, "who waits for a thread", clock)

        ledger.subscribe(stopped, streams=PREFIX, kinds=["task.stopped"])
        ledger.subscribe(freed, streams=THREAD, kinds=["thread.released"])
        if self.posts is not None:
            await self.posts.follow()

    async def _next(self, thread: str, wake: Callable[[str], None]) -> None:
        """Wake what waits for a thread."""
        for state in await self.store.of_thread(thread):
            if state.stage == "queued":
                wake(state.stream)

    async def keep_up(self, ledger: SqlLedger) -> None:
        """Hear at once what other processes say to tasks at work; let go of forgotten ones.

        While no task is at work it waits for something to happen to one, and looks at nothing.
        """
        stirred = asyncio.Event()

        def stir(_stream: str, _events: Sequence[Event]) -> None:
            stirred.set()

        self.ports.ledger.subscribe(stir, streams=PREFIX)
        self.ports.ledger.subscribe(stir, kinds=["ledger.erased"])
        while True:
            stirred.clear()
            await self.ports.tasks.insist(
                self.forgetting.sweep_once, "what forgotten tasks left", self.ports.stamp.clock
            )
            if any(state.at_work for state in self.store.known()):
                await self.ports.stamp.clock.sleep(SOON)
                with suppress(LedgerError):  # who follows for all says so
                    await ledger.follow()
            else:
                await stirred.wait()


def work_parts(
    ports: TurnPorts,
    mates: Mapping[str, Mate],
    models: object,
    live: LiveHome,
    secrets: Callable[[], Collection[str]],
    site: EffectSite,
    memory: TaskMemory,
) -> WorkParts:
    """The parts of work on tasks. `models` may say which there are."""
    now, clock = live.now, ports.stamp.clock
    workspaces = workspaces_of(now, clock, secrets)
    repositories = TaskRepositories(now.home, workspaces, clock, secrets)
    places = WorkPlaces(workspaces, repositories, ports.stamp)
    store = TaskStore(ports.ledger, ports.signals)

    def own() -> WorkSettings:
        return live.now.of("work", WorkSettings)

    choice, roles = ModelChoice(models, own), RoleFiles(mates, now.home)
    calls = TaskCalls(store, roles, ports.tools, own, secrets)
    site.inner.add(PREFIX, calls)
    world = TaskWorld(
        ports,
        store,
        ThreadLeases(ports.ledger, ports.stamp),
        places,
        calls,
        choice,
        own,
        lambda: live.zone,
        InsightBook(ports.ledger, memory.store, store, memory.names),
    )
    halt = ports.signals.halt

    def address() -> str:
        return live.now.web_address

    tasks = TaskService(ports.ledger, ports.stamp, store, places, world, halt, address)
    forgetting = TaskForgetting(ports.ledger, memory.erase, store, repositories, halt)
    watching = RepositoryWatch(ports.ledger, ports.stamp, tasks)
    watch = WatchService(ports.ledger, ports.stamp, tasks, watching, lambda: live.zone)
    return WorkParts(world, tasks, store, forgetting, ports, watch)
