"""Watches over repositories, as a world: what is due there is a look, or a task. No mind is asked.

    a ring of its rule, or somebody asks -> the branch stands elsewhere -> what is new is read
    docstrings are missing, and the last task is decided on -> one task for all that waits

Nothing is written where a look finds nothing new. The repository is read as git has it, by its
objects; no file of a task is touched. A look that fails is made again at the next ring.
"""

import logging
from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from pathlib import Path

from loopforge.core.events import Body, Event, Fact
from loopforge.core.room_vocabulary import MateJoined, MateLeft, RoomClosed
from loopforge.core.work.watch_events import (
    CodePlace,
    CommitsSeen,
    DocstringsDecided,
    DocstringsWanted,
)
from loopforge.errors import LoopforgeError
from loopforge.runtime.ports import Ledger
from loopforge.runtime.system_clock import Stamp
from loopforge.work.docstrings.docstring_process import MOST_FILES, FilePair, missing_docstrings
from loopforge.work.git.change_review import FILE, NOTHING, PROGRAM, PathChange, shown_path
from loopforge.work.git.person_repository import PersonRepository
from loopforge.work.task_service import TaskService
from loopforge.work.task_state import PREFIX as TASKS
from loopforge.work.task_state import TaskState
from loopforge.work.watching.watch_state import WATCHES, WatchState, place_without_line

log = logging.getLogger(__name__)
MOST_AT_ONCE, MOST_WAITING, MOST_NAMED = 20, 200, 20
"""Places in one task, places that wait, and files that are named as unread."""
TASK = (
    "Write the docstrings that are missing in this Python code, and change nothing else.\n\n"
    "{places}\n\n"
    "Paths are those of the repository, which lies in the folder {folder}. Read each of them "
    "first: a docstring says in a sentence what it is for, and no more than the code bears out. "
    "Leave every other line as it stands: code, comments, `pass`, blanks. What changes anything "
    "but docstrings is not offered."
)
FOLDER = "repo/"
PRESENCE = ("room.closed", "room.mate_joined", "room.mate_left")
MATE_GONE = "There is no mate {mate} any more: bring its file back, or start it by another."
ROOM_GONE = (
    "The room {room}, which was told of it, was deleted: start it anew for another, or none."
)
SENT_OUT = "{mate} is not in the room {room} any more: bring it back there, or start it by another."


class RepositoryWatch:
    """Those streams, as a world. Only where a home is `hosted` is anything due."""

    prefix = WATCHES
    waking: Collection[str] = ("watch.began", "watch.ended", "watch.look_wanted")

    def __init__(self, ledger: Ledger, stamp: Stamp, tasks: TaskService) -> None:
        self._ledger, self._stamp, self._tasks = ledger, stamp, tasks
        self._states: dict[str, WatchState] = {}
        self._looked: dict[str, tuple[datetime, int]] = {}
        self.hosted = False

    def follow(self, wake: Callable[[str], None]) -> None:
        """Watch here: whoever decides on a task makes something due, perhaps."""
        self.hosted = True

        def decided(_stream: str, _events: Sequence[Event]) -> None:
            for state in self._states.values():
                if state.task:
                    wake(state.stream)

        self._ledger.subscribe(decided, kinds=["task.approved", "task.rejected", "ledger.erased"])

    async def fold(self, stream: str) -> WatchState:
        """See `World.fold`."""
        state = self._states.setdefault(stream, WatchState(stream=stream))
        for event in await self._ledger.read(stream, after=state.seq):
            state.apply(event)
        return state

    async def due(self, state: WatchState) -> Sequence[Fact] | datetime | None:
        """See `World.due`; it is never a turn."""
        if not self.hosted or state.began is None:
            return None
        now = self._stamp.clock.now()
        try:
            if state.task and (decided := await self._decided(state)) is not None:
                self._looked.pop(state.stream, None)  # what waits is read as it is by now
                return [self._fact(decided)]
            if self._is_time(state, now):
                self._looked[state.stream] = (now, state.wanted)
                if (seen := await self.look(state)) is not None:
                    return [self._fact(seen)]
            if state.missing and not state.task and not await self.trouble(state):
                return [self._fact(DocstringsWanted(places=state.missing[:MOST_AT_ONCE]))]
        except (LoopforgeError, OSError) as error:
            log.warning("the repository %s could not be looked at: %s", state.repo, error)
        return state.next_look(now)

    def _fact(self, body: Body) -> Fact:
        return self._stamp.fact(body, actor="runtime")

    def _is_time(self, state: WatchState, now: datetime) -> bool:
        """Whether it rang since it was looked at last, in this process, or somebody asked."""
        if state.stream not in self._looked:
            return True
        before, wanted = self._looked[state.stream]
        ring = state.next_look(before)
        return state.wanted > wanted or (ring is not None and ring <= now)

    # ------------------------------------------------------------ its task

    async def _decided(self, state: WatchState) -> DocstringsDecided | None:
        """What became of its task, which is given if it was not yet; None while that is open."""
        task = await self._tasks.store.state(TASKS + state.task)
        if task.opened is None and not await self.trouble(state):
            await self._give(state)
        taken = taken_of(task)
        return None if taken is None else DocstringsDecided(task=state.task, taken=taken)

    async def _give(self, state: WatchState) -> None:
        assert state.began is not None
        rows = [f"- {one.path}, line {one.line}: `{one.name}`" for one in state.places]
        await self._tasks.open(
            TASK.format(places="\n".join(rows), folder=FOLDER),
            state.began.person,
            mate=state.began.mate,
            thread=state.began.thread or state.stream,
            repo=state.repo,
            budget=state.began.budget,
            owner=True,
            line=state.task,
            only="docstrings",
        )

    async def trouble(self, state: WatchState) -> str:
        """Why no task is given: nobody is there to do it, or would see it. "" for nothing."""
        began = state.began
        if began is None or not began.mate:
            return ""
        if not self._tasks.world.calls.roles.is_mate(began.mate):
            return MATE_GONE.format(mate=began.mate)
        if not began.thread:
            return ""
        room, here = began.thread.removeprefix("room:"), True
        for event in await self._ledger.read(began.thread, kinds=PRESENCE):
            match event.body:
                case RoomClosed():
                    return ROOM_GONE.format(room=room)
                case MateJoined(mate=mate) | MateLeft(mate=mate) if mate == began.mate:
                    here = isinstance(event.body, MateJoined)
        return "" if here else SENT_OUT.format(mate=began.mate, room=room)

    # ------------------------------------------------------------ looking

    async def look(self, state: WatchState) -> CommitsSeen | None:
        """What is new since the mark; None where nothing is. Raises RepositoryError, Unknown."""
        found = self._tasks.places.repositories.registered.find(state.repo)
        person = PersonRepository(Path(found.path))
        head = await person.head(found.branch)
        if head == state.mark:
            return None
        if not state.mark or not await person.contains(found.branch, state.mark):
            return CommitsSeen(head=head)
        changes = [one for one in await person.changes(state.mark, head) if _is_read(one)]
        pairs = await _pairs(person, changes[:MOST_FILES])
        touched = {one.path for one in pairs}
        still = [one for one in state.missing if one.path not in touched]
        waiting = [one for one in state.missing if one.path in touched]
        seen = await missing_docstrings(pairs, waiting)
        wanted = [one for one in (*still, *seen.places) if not _is_over(state, one)]
        return CommitsSeen(
            head=head,
            before=state.mark,
            missing=tuple(wanted[:MOST_WAITING]),
            unread=(*seen.unread, *(one.path for one in changes[MOST_FILES:]))[:MOST_NAMED],
            left=max(len(wanted) - MOST_WAITING, 0),
        )


def _is_over(state: WatchState, place: CodePlace) -> bool:
    """Whether it was refused, or is asked for in the task that is open."""
    return place_without_line(place) in state.refused or place_without_line(place) in map(
        place_without_line, state.places
    )


def _is_read(change: PathChange) -> bool:
    """Whether a change is of Python code, in a file with a name that can be shown."""
    plain = all(mode in (FILE, PROGRAM, NOTHING) for mode in (change.was, change.mode))
    return plain and change.path.endswith(".py") and shown_path(change.path) == change.path


async def _pairs(person: PersonRepository, changes: Sequence[PathChange]) -> list[FilePair]:
    """The files before and after."""
    sides = {one.old for one in changes if one.was != NOTHING}
    held = await person.contents(sides | {one.new for one in changes if not one.goes})
    return [FilePair(one.path, held.get(one.old), held.get(one.new)) for one in changes]


def taken_of(task: TaskState) -> bool | None:
    """Whether what came of a task was taken; None while nobody decided."""
    if task.forgotten:
        return False
    return {"approved": True, "rejected": False}.get(task.stage)
