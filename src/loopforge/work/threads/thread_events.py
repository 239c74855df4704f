"""What people do in the room of a task: stop, signs on its lines, and lines that are deleted.

    stop, its mate sent out, less
    rights for whoever gave it    -> the task is stopped, by these people and for this reason
    a sign on a line of the task  -> it is rated, or stopped
    a line that steered is gone   -> which files may still hold what it said

Where a task was given on a platform, the loss of the room's last place stops it, too. What is said
of a task in its room is thread_posts.py's.
"""

from collections.abc import Callable, Collection, Coroutine, Sequence
from functools import partial
from typing import Any, NamedTuple

from loopforge.core.events import Event
from loopforge.core.room_vocabulary import (
    LineDeleted,
    MateLeft,
    PersonReacted,
    PlaceJoined,
    PlaceLeft,
    RightsSet,
    Said,
    Stopped,
)
from loopforge.core.text.erasable_text import public_words
from loopforge.core.text.spoken_lists import pluralize
from loopforge.core.work.work_vocabulary import ANY_TOOL, TaskSteered
from loopforge.runtime.ports import Ledger, RoomVoice
from loopforge.work.task_service import SAID_STOP, TaskService
from loopforge.work.task_state import PREFIX, TaskState
from loopforge.work.threads.task_rights import OVER, TaskRights

ROOM = "room:"
UP, DOWN = "👍", "👎"
HALT = ("🛑", "⏹", "✋")
"""Signs on a line of a task that stop it."""
LESS = "whoever gave it may have less used here than before"
LEFT = (
    "That line is gone from the record of my work, with what I said of it; but what I wrote stays "
    "and may hold it: I changed {}. Tell me what to take out, or /undo goes back to the copy "
    "before the last change."
)
STOPS = ("room.stopped", "room.mate_left", "room.place_left", "room.rights_set")
PLACES = ("room.place_joined", "room.place_left")
MANY = ("everyone", "keepers")
"""Whom rights are set for that may be several, and one of them who gave a task."""
LET_GO = ("task.opened", "task.steered", "task.resumed")
"""What people have a task go on with, also behind a stop of its room."""


def _is_stoppable(state: TaskState) -> bool:
    return state.at_work or state.stage == "waiting"


def _platform_of(surface: str) -> str:
    """The platform of a place ("platform:123"), or what else something was said in."""
    return surface.partition(":")[0]


class _Stop(NamedTuple):
    """That a task is stopped: by whom, why ("" for not at all), and with which tools left to it."""

    person: str = ""
    why: str = ""
    tools: Collection[str] = (ANY_TOOL,)


def _stop_of(event: Event, state: TaskState) -> _Stop:
    """Whether what happened in its room stops a task."""
    task, by = state.task, event.actor.removeprefix("person:")
    match event.body:
        case Stopped(person=person):
            return _Stop(person, SAID_STOP)
        case MateLeft(mate=mate) if mate == task.mate:
            return _Stop(by, f"{mate} was sent out of the room")
        case PlaceLeft(why=why) if event.actor == "runtime":
            return _Stop("", f"nobody can steer it where it was given: {str(why).rstrip('.')}")
        case RightsSet(who=who) as body if who == task.person and not task.owner:
            return _stop_for_less(by, body.tools if "tools" in body.rights else (), state)
        case _:
            return _Stop()


def _stop_for_less(by: str, tools: Collection[str], state: TaskState) -> _Stop:
    """That whoever gave it may have these tools used, where those are less than it uses."""
    less = state.tools_among(tools) != state.tools
    return _Stop(by, LESS, tools) if less else _Stop()


class ThreadEvents:
    """Follows the rooms of tasks. `spawn` begins what is to be done, under a name."""

    def __init__(
        self,
        ledger: Ledger,
        tasks: TaskService,
        voice: RoomVoice,
        spawn: Callable[[Callable[[], Coroutine[Any, Any, None]], str], None],
    ) -> None:
        self._ledger, self._tasks, self._voice, self._spawn = ledger, tasks, voice, spawn

    def follow(self) -> None:
        """Begin."""
        self._ledger.subscribe(self._follow_stops, streams=ROOM, kinds=STOPS)
        self._ledger.subscribe(self._follow_reactions, streams=ROOM, kinds=["room.person_reacted"])
        self._ledger.subscribe(self._follow_deletions, streams=ROOM, kinds=["room.line_deleted"])

    def _follow_stops(self, stream: str, events: Sequence[Event]) -> None:
        for event in events:
            self._spawn(partial(self._stop_tasks, stream, event), "a task is stopped")

    async def _stop_tasks(self, room: str, event: Event) -> None:
        for state in await self._tasks.store.of_thread(room):
            stop = await self._stop_by(event, state)
            halts = _is_stoppable(state) or state.stage == "stopped" or state.looks_back
            if stop.why and halts and await self._counts(event, state):
                await self._tasks.stop(state.id, *stop)

    async def stop_if_missed(self, state: TaskState) -> None:
        """Stop a task whose room was stopped, where the home ended before it was."""
        if not (_is_stoppable(state) or state.stage == "stopped"):
            return
        (let_go,) = await self._ledger.read(state.stream, kinds=LET_GO, limit=1, newest=True)
        for event in await self._ledger.read(state.thread, kinds=STOPS):
            stop = await self._stop_by(event, state)
            if stop.why and event.at > let_go.at and await self._counts(event, state):
                await self._tasks.stop(state.id, *stop)

    async def _stop_by(self, event: Event, state: TaskState) -> _Stop:
        """Whether it stops a task; where it sets rights of many, by what its giver may by now."""
        if state.task.owner or getattr(event.body, "who", "") not in MANY:
            return _stop_of(event, state)
        line = state.opened.cause or "" if state.opened else ""
        tools = await self._voice.granted(state.thread, state.task.person, line)
        return _stop_for_less(event.actor.removeprefix("person:"), tools, state)

    async def _counts(self, event: Event, state: TaskState) -> bool:
        """Whether what stops tasks stops this one: the loss of a place only where it was the last.

        Whoever gave it in the browser or a terminal steers it there, whatever platforms lose.
        """
        if not isinstance(event.body, PlaceLeft):
            return True
        places, platforms = set[str](), set[str]()
        for moved in await self._ledger.read(state.thread, kinds=PLACES):
            match moved.body:
                case PlaceJoined(place=place):
                    places.add(place)
                    platforms.add(_platform_of(place))
                case PlaceLeft(place=place):
                    places.discard(place)
        return not places and _platform_of(state.task.surface) in platforms

    def _follow_reactions(self, stream: str, events: Sequence[Event]) -> None:
        for event in events:
            body = event.body
            if isinstance(body, PersonReacted) and not body.back:
                self._spawn(
                    partial(self._take_reaction, stream, body), "a sign on a line of a task"
                )

    async def _take_reaction(self, room: str, body: PersonReacted) -> None:
        """A thumb counts for whoever gave the task; so does a sign that stops it."""
        thumb, halt = body.emoji[:1] in (UP, DOWN), body.emoji[:1] in HALT
        if not (thumb or halt):
            return
        said = await self._ledger.event(body.to)
        if not isinstance(said.body, Said) or not said.cause or said.stream != room:
            return
        cause = await self._ledger.event(said.cause)
        if not cause.stream.startswith(PREFIX):
            return
        state = await self._tasks.store.state(cause.stream)
        rights = TaskRights(state=state, gave=state.task.person == body.person, stop=False)
        if (state.stage in OVER and not halt) or not rights.may("stop" if halt else "rate"):
            return
        if halt:
            await self._tasks.stop(state.id, body.person)
        elif not state.forgotten:
            await self._tasks.rate(state.id, body.person, up=body.emoji[:1] == UP, line=body.to)

    def _follow_deletions(self, stream: str, events: Sequence[Event]) -> None:
        for event in events:
            if isinstance(body := event.body, LineDeleted):
                work = partial(self._name_files_left, stream, body.line, event.id)
                self._spawn(work, "a line that steered is deleted")

    async def _name_files_left(self, room: str, line: str, cause: str) -> None:
        """Say which files may still hold what a deleted line had a task do."""
        for state in await self._tasks.store.of_thread(room):
            if state.forgotten or not state.written:
                continue
            waiting = {one.source for one in state.pending.values()}
            steered = await self._ledger.read(state.stream, kinds=["task.steered"])
            sources = {one.body.source for one in steered if isinstance(one.body, TaskSteered)}
            if line in sources - waiting:
                told = public_words(LEFT.format(pluralize(len(state.written), "file")))
                await self._voice.say(room, state.task.mate, told, cause=cause)
