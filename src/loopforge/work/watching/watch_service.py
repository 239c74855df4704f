"""Watches as a service: begun, looked at, ended, by the owner of the home.

Every method appends facts; the world does the rest, in this process or in the one that runs the
home.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from msgspec import Struct

from loopforge.core.events import Body
from loopforge.core.work.task_lifecycle import TaskStage
from loopforge.core.work.watch_events import CommitsSeen, LookWanted, WatchBegan, WatchEnded
from loopforge.errors import BadLine, InputError, LoopforgeError, Unknown
from loopforge.runtime.ports import Ledger
from loopforge.runtime.system_clock import Stamp
from loopforge.schedule.phrases.phrase_reading import spoken_language
from loopforge.schedule.reminder_check import check, filled_form
from loopforge.schedule.reminder_form import AsksBack, Fits, Refused
from loopforge.schedule.rule_expansion import rule_start
from loopforge.work.git.person_repository import PersonRepository
from loopforge.work.git.registered_repositories import Repository
from loopforge.work.task_service import TaskService, checked_budget
from loopforge.work.watching.repository_watch import RepositoryWatch
from loopforge.work.watching.watch_state import WATCHES, WatchState


class WatchShown(Struct, frozen=True, kw_only=True):
    """A watch as people see it: when it looks next, how its open task stands, what is wrong."""

    state: WatchState
    next: datetime | None
    stage: TaskStage | None = None
    trouble: str = ""


class WatchService:
    """The watches of a home. `zone` is the home's time zone now."""

    def __init__(
        self,
        ledger: Ledger,
        stamp: Stamp,
        tasks: TaskService,
        world: RepositoryWatch,
        zone: Callable[[], ZoneInfo],
    ) -> None:
        self._ledger, self._stamp, self._tasks = ledger, stamp, tasks
        self.world, self._zone = world, zone

    async def begin(
        self,
        repo: str,
        person: str,
        every: str,
        budget: float,
        *,
        mate: str = "",
        thread: str = "",
    ) -> str:
        """Have a registered repository watched, or otherwise than before; when, in words.

        What it holds now is no news. Raises Unknown, RepositoryError, and InputError for words that
        say no repetition.
        """
        found = self._found(repo)
        if mate and not self._tasks.world.calls.roles.is_mate(mate):
            raise Unknown(f"There is no mate {mate!r}; `loopforge mate list` shows them.")
        if checked_budget(budget) <= 0:
            raise BadLine("A watch needs a budget for each of its tasks, in US dollars.")
        rule, start, told = self._rule(every)
        body = WatchBegan(
            repo=found.name,
            person=person,
            rule=rule,
            start=start,
            zone=str(self._zone()),
            budget=float(budget),
            mate=mate,
            thread=thread,
        )
        facts: list[Body] = [body]
        if (await self.world.fold(WATCHES + found.name)).began is None:
            head = await PersonRepository(Path(found.path)).head(found.branch)
            facts.append(CommitsSeen(head=head))
        await self._append(found.name, facts, person)
        return told

    async def end(self, repo: str, person: str) -> str:
        """Watch it no longer; a task that is open stays. Raises Unknown where it is not watched."""
        state = await self._watched(repo)
        await self._append(state.repo, [WatchEnded(by=person)], person)
        return f"{state.repo} is watched no longer."

    async def want_look(self, repo: str, person: str) -> str:
        """Have it looked at now; its stream. Raises Unknown where it is not watched."""
        state = await self._watched(repo)
        await self._append(state.repo, [LookWanted(by=person)], person)
        return state.stream

    async def shown(self) -> list[WatchShown]:
        """All that are watched now, by name."""
        streams = sorted(await self._ledger.heads(WATCHES))
        states = [await self.world.fold(stream) for stream in streams]
        return [await self._shown(state) for state in states if state.began is not None]

    # ------------------------------------------------------------ inside

    def _found(self, repo: str) -> Repository:
        return self._tasks.places.repositories.registered.find(repo)

    async def _watched(self, repo: str) -> WatchState:
        try:
            name = self._found(repo).name
        except Unknown:
            name = repo  # it may be registered no longer, and watched still
        state = await self.world.fold(WATCHES + name)
        if state.began is None:
            known = ", ".join(one.state.repo for one in await self.shown()) or "none"
            raise Unknown(f"{repo!r} is not watched. Watched: {known}.")
        return state

    async def _shown(self, state: WatchState) -> WatchShown:
        trouble, stage = "", None
        try:
            found = self._found(state.repo)
            await PersonRepository(Path(found.path)).head(found.branch)
        except LoopforgeError as error:
            trouble = str(error)
        trouble = trouble or await self.world.trouble(state)
        if state.task:
            stage = (await self._tasks.store.state(f"task:{state.task}")).stage
        ring = state.next_look(self._stamp.clock.now())
        return WatchShown(state=state, next=ring, stage=stage, trouble=trouble)

    def _rule(self, every: str) -> tuple[str, str, str]:
        """The rule of "every day at nine", from when on it goes, and how it is said."""
        now, zone, language = self._stamp.clock.now(), str(self._zone()), spoken_language(every)
        form = filled_form(every, now, zone, language)
        if form.zone:
            raise InputError(f"A watch goes by the clock of this home, {zone}: name no place.")
        found = check(form, now, zone, language)
        if every.strip() and isinstance(found, AsksBack | Refused):
            raise InputError(found.question if isinstance(found, AsksBack) else found.why)
        if not form.rule or not isinstance(found, Fits):
            raise InputError(f'"{every}" says no repetition; say such as "every day at 9:00".')
        local = now.astimezone(self._zone()).replace(tzinfo=None)
        return form.rule, rule_start(form.rule, local).isoformat(timespec="minutes"), found.words

    async def _append(self, name: str, bodies: Sequence[Body], person: str) -> None:
        facts = [self._stamp.fact(body, actor=f"person:{person}") for body in bodies]
        await self._ledger.append(WATCHES + name, facts)
