"""A task whose words were forgotten keeps nothing else: no workspace, no checkpoint, no branch.

    forget -> its texts are erased -> at work still? it is halted -> sweep: workspace, checkpoints,
    branch

Whoever has a task, the line that gave it, a room or a person forgotten erases texts in the ledger.
What is to go with them is asked of the ledger, never remembered: a task that was opened with words
which are no more. So a process that died in between leaves the rest to the next start. What was
merged stays merged.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from itertools import chain

from loopforge.core.events import Event
from loopforge.core.room_vocabulary import LineDeleted
from loopforge.core.work.work_vocabulary import TaskOpened
from loopforge.errors import Changed, LedgerError, LoopforgeError
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.runtime.ports import Ledger, RoomVoice
from loopforge.work.git.task_repositories import TaskRepositories
from loopforge.work.task_state import FORGOTTEN, PREFIX, TaskState
from loopforge.work.task_store import TaskStore, skip_unreadable_task

Erase = Callable[[ErasureRequest], Awaitable[object]]
Settled = Callable[[str], Awaitable[None]]

WHY = "the task was to be forgotten"

log = logging.getLogger(__name__)


class TaskForgetting:
    """Looks after that, where a home is run; and has one task forgotten, in any process.

    By `voice`, where there is one, rooms are told what becomes of tasks.
    """

    def __init__(
        self,
        ledger: Ledger,
        erase: Erase,
        store: TaskStore,
        repositories: TaskRepositories,
        halt: Callable[[str, str], None],
    ) -> None:
        self._ledger, self._erase, self._store = ledger, erase, store
        self._repositories, self._halt = repositories, halt
        self._settled: Settled = _alone
        self.voice: RoomVoice | None = None
        self._gone: set[str] = set()
        self._wanted = True

    async def forget(self, task: str, person: str) -> str:
        """Forget a task whole, what rests on it, and what its room was told; what is told of it.

        What people said in the room stays, and so does on record that there was one, when, and
        what it cost. Raises Unknown, and Changed while something of it is under way.
        """
        state = await self._store.named(task)
        if state.at_work:
            raise Changed("Something of this task is under way; stop it first.")
        if state.open or state.running:
            raise Changed(
                "What this task had under way is not ended yet: whoever runs the home does that "
                "now, or `loopforge up` if nobody does. Then forget it."
            )
        already = state.forgotten
        unsaid = await self._unsaid(state, person)  # first: else it would be said again, forgotten
        await self._erase(ErasureRequest(stream=state.stream, by=person, why=WHY))
        await self._repositories.forget(state.stream)
        if already:
            return "It is forgotten already."
        return f"Forgotten, with all its files{' and what it said in its room' * bool(unsaid)}."

    async def _unsaid(self, state: TaskState, person: str) -> int:
        """Take back what a room was told of a task; how many lines. Nothing of other people's."""
        if self.voice is None or not state.thread.startswith("room:"):
            return 0
        causes = {event.id for event in await self._ledger.read(state.stream)}
        spoken = await self.voice.spoken(state.thread, causes)
        if words := (*spoken, *chain.from_iterable(spoken.values())):
            await self._erase(ErasureRequest(events=words, exactly=True, by=person, why=WHY))
        for line in spoken:
            await self.voice.delete(state.thread, line, person)
        return len(spoken)

    def follow(self, settled: Settled) -> None:
        """Look again whenever something was forgotten, by this process or by another one.

        `settled` returns when nobody is at work on a stream.
        """
        self._settled = settled
        self._ledger.subscribe(self._erased, kinds=["ledger.erased"])
        self._ledger.subscribe(self._deleted, kinds=["room.line_deleted"])

    def _erased(self, _stream: str, _events: Sequence[Event]) -> None:
        self._wanted = True

    def _deleted(self, _stream: str, events: Sequence[Event]) -> None:
        """The task that a line gave stops at once: its words are erased when it is not at work."""
        for event in events:
            if isinstance(event.body, LineDeleted):
                self._halt(PREFIX + event.body.line, FORGOTTEN)

    async def sweep_once(self) -> None:
        """Sweep, if anything was forgotten since; once at the start, too."""
        if self._wanted:
            self._wanted = False
            try:
                await self.sweep()
            except LedgerError:
                self._wanted = True
                raise

    async def sweep(self) -> list[str]:
        """Let go of what forgotten tasks have left; their streams."""
        swept = []
        for stream in sorted(await self._ledger.heads(PREFIX)):
            if stream in self._gone or not await self._forgotten(stream):
                continue
            state = await self._store.state(stream)
            if state.at_work or state.looks_back:  # its world stops it, then it is next
                self._halt(stream, FORGOTTEN)
                self._wanted = True
                continue
            await self._settled(stream)  # what its lane was at could leave files behind
            try:
                await self._repositories.forget(stream)
            except (LoopforgeError, OSError) as error:
                log.warning("what %s left is there until the next start: %s", stream, error)
                continue
            self._gone.add(stream)
            swept.append(stream)
        return swept

    async def _forgotten(self, stream: str) -> bool:
        with skip_unreadable_task():
            for event in await self._ledger.read(stream, kinds=["task.opened"]):
                if isinstance(event.body, TaskOpened):
                    return event.body.text.text is None
        return False


async def _alone(_stream: str) -> None:
    """Nobody is at work here."""
