"""Rooms as threads: which lines of them are for a task, and what their commands do with one.

    a line while a task is at work, or waits     -> it steers that task, or answers it
    a reply to a line of a task that is over,
    a correction ("no, just answer")             -> it goes on with that
    clear work, for a mate whose file gives it
    tools of the workspace                       -> a task, tied to the room
    /work, /resume, ... as a line, where the
    surface knows no commands                    -> that is done
    all else                                     -> the room's mates answer, as ever

One task at a time belongs to a room. Who may have nothing done there by tools steers nothing.
Files that were given go into the workspace, at `in/`.
"""

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from loopforge.core.events import Event
from loopforge.core.mates.mate_file import Mate, find_mate
from loopforge.core.room_vocabulary import File
from loopforge.core.work.task_classifier import classify_task, correction_of
from loopforge.core.work.work_vocabulary import TaskSteered
from loopforge.errors import InputError, LoopforgeError, NotLetIn
from loopforge.runtime.ports import (
    EffectFiles,
    Ledger,
    LineButton,
    LineSource,
    RoomLine,
    RoomOrder,
    RoomVoice,
    ToolFile,
)
from loopforge.work.assignment.task_calls import WORKSPACE
from loopforge.work.task_service import TaskService
from loopforge.work.task_state import PREFIX, TaskState
from loopforge.work.task_store import TaskStore
from loopforge.work.threads.task_rights import OVER, may_give
from loopforge.work.threads.thread_orders import ANSWERS, ThreadOrders, absent
from loopforge.work.work_place import why_of

WORKING = ("sequential-thinking", "shell", "branch")
"""Flows of work, not of an answer."""
_TYPED = re.compile(
    r"/(?P<name>work|resume|reject|undo|approve|deny)(?:\s+(?P<argument>.+))?\s*", re.DOTALL
)
_CHOSEN = re.compile(r"@?(?P<mate>[\w-]+)\s*[:,]\s+(?P<rest>\S.*)", re.DOTALL)
_REPO = re.compile(r"repo[=:](?P<repo>\S+)\s+(?P<rest>\S.*)", re.DOTALL)
SEEN = "👀"
"""What a mate puts on a line that was taken in."""
BUSY = (
    "Work goes on here already, one thing at a time. Say what is to be done in it, /stop it, or "
    "begin in another room or thread."
)
GONE = "its room was deleted"


class ThreadRouting:
    """See `LineRoute` and `OrderRoute`."""

    def __init__(
        self,
        ledger: Ledger,
        tasks: TaskService,
        mates: Mapping[str, Mate],
        files: EffectFiles,
        voice: RoomVoice,
    ) -> None:
        self._ledger, self._tasks, self._mates, self._files = ledger, tasks, mates, files
        self._voice, self._orders = voice, ThreadOrders(ledger, tasks, mates, voice)
        self._store: TaskStore = tasks.store

    # ------------------------------------------------------------ lines

    async def line(self, line: RoomLine) -> bool:
        """See `LineRoute.line`."""
        if not may_give(line.tools):
            return False
        tasks = await self._store.of_thread(line.stream)
        if any(state.id == line.line for state in tasks):
            return True
        if (typed := _TYPED.fullmatch(line.text)) and await self._typed(line, typed, tasks):
            return True
        meant = await self._meant(line, [one for one in tasks if one.task.mate in ("", *line.here)])
        if meant is not None:
            await self._steer(line, meant)
            return True
        mate = next((one for one in line.calls if self._works(one)), "")
        if not mate or going(tasks) is not None or not clear_work(line.text):
            return False
        await self._open(line, line.text, mate, line=line.line)
        return True

    async def _typed(
        self, line: RoomLine, typed: re.Match[str], tasks: Sequence[TaskState]
    ) -> bool:
        """A command that was written as a line, where a surface has none; whether it is one.

        A yes that came too late is refused: steering by it, a mate would take it for one.
        """
        name, argument = typed["name"], (typed["argument"] or "").strip()
        if name in ANSWERS and argument:
            return False
        at_work = any(state.at_work for state in tasks)
        if name in ANSWERS and not (at_work or await self.awaits(line.stream, line.reply_to)):
            return False
        order = RoomOrder(
            stream=line.stream,
            person=line.person,
            name=name,
            argument=argument,
            surface=line.surface,
            line=line.line,
            reply_to=line.reply_to,
            files=line.files,
            here=line.here,
            tools=line.tools,
            owner=line.owner,
            changes=line.changes,
        )
        mate = next((one for one in line.here if self._works(one)), line.here[0])
        try:
            await self.order(order)
        except InputError as refusal:
            await self._voice.say(line.stream, mate, str(refusal), cause=line.line)
        else:
            await self._voice.react(line.stream, mate, line.line, SEEN, cause=line.line)
        return True

    def _works(self, mate: str) -> bool:
        """Whether a mate's file gives it work."""
        found = self._mates.get(mate)
        return found is not None and any(map(_of_work, found.tools))

    async def _meant(self, line: RoomLine, tasks: Sequence[TaskState]) -> TaskState | None:
        """The task that a line is for; None for none."""
        now = going(tasks)
        if now is not None:
            others = set(line.named) - {now.task.mate}
            return None if others and now.task.mate not in line.named else now
        left = [one for one in tasks if one.stage not in OVER and not one.forgotten]
        if left and correction_of(line.text):
            return left[-1]
        cause = await self._orders.cause(line.reply_to)
        found = classify_task(line.text)
        if found is not None and found.type == "social":
            return None
        return next((one for one in left if cause and cause.stream == one.stream), None)

    async def _steer(self, line: RoomLine, state: TaskState) -> None:
        steered = await self._ledger.read(state.stream, kinds=["task.steered"])
        if any(isinstance(e.body, TaskSteered) and e.body.source == line.line for e in steered):
            return
        text = await self._taken_in(state.stream, line.text, line.files)
        await self._tasks.say(state.id, line.person, text, line.line, line.tools)

    async def _taken_in(self, stream: str, text: str, files: Sequence[File]) -> str:
        """What was said, and where in the workspace the files lie that were given with it."""
        if not files:
            return text
        told = await self._put(stream, files)
        return f"{text}\n\n{told}".strip()

    async def _put(self, stream: str, files: Sequence[File]) -> str:
        """Put files into the workspace; which, or why not, in words."""
        try:
            given = [await self._bytes(file) for file in files if file.name.text is not None]
            place = await self._tasks.places.workspaces.recovered(stream)
            return f"[Given: {', '.join(await place.take_in(given))}]"
        except (LoopforgeError, OSError) as error:
            return f"[Files were given, and could not be put in: {why_of(error)}]"

    async def _bytes(self, file: File) -> ToolFile:
        if file.hash.text:
            data = await self._files.read(str(file.hash))
        else:
            data = str(file.text).encode("utf-8", "replace")
        return ToolFile(name=str(file.name), data=data, media=file.media)

    async def ended(self, stream: str, person: str) -> list[str]:
        """Stop what is worked on in a room that is no more; the streams of all its tasks."""
        tasks = await self._store.of_thread(stream)
        for state in tasks:
            await self._tasks.stop(state.id, person, GONE)
        return [state.stream for state in tasks]

    # ------------------------------------------------------------ giving tasks

    async def _open(
        self, by: RoomLine | RoomOrder, text: str, mate: str, *, line: str = "", repo: str = ""
    ) -> None:
        id = line or self._tasks.new_id()
        text = await self._taken_in(PREFIX + id, text, by.files)
        try:
            await self._tasks.open(
                text,
                by.person,
                mate=mate,
                thread=by.stream,
                repo=repo,
                surface=by.surface,
                owner=by.owner,
                line=id,
                tools=by.tools,
            )
        except InputError:
            if PREFIX + id not in await self._store.streams():  # what was put in is nobody's
                await self._tasks.places.workspaces.forget(PREFIX + id)
            raise

    # ------------------------------------------------------------ commands

    async def awaits(self, stream: str, reply_to: str = "") -> bool:
        """See `OrderRoute.awaits`."""
        return await self._orders.awaits(stream, reply_to)

    async def order(self, order: RoomOrder) -> str:
        """See `OrderRoute.order`."""
        return await (self._begin(order) if order.name == "work" else self._orders.order(order))

    async def buttons(self, said: Event) -> Sequence[LineButton]:
        """See `OrderRoute.buttons`."""
        return await self._orders.buttons(said)

    async def source(self, said: Event) -> LineSource | None:
        """See `OrderRoute.source`."""
        return await self._orders.source(said)

    async def _begin(self, order: RoomOrder) -> str:
        if order.guest:
            raise NotLetIn("Guests cannot give work in this home; ask somebody who is no guest.")
        if not may_give(order.tools):
            raise NotLetIn("You may not have tools used here, so you cannot give work.")
        repo, text = _repository(order.argument)
        mate, text = self._chosen(order.here, text)
        if not repo:  # whom it is for may stand first
            repo, text = _repository(text)
        if repo and not order.owner:
            raise NotLetIn("Work on a repository is for the owner of this home to give.")
        if going(await self._store.of_thread(order.stream)) is not None:
            raise InputError(BUSY)
        await self._open(order, text, mate, line=order.line, repo=repo)
        return f"{self._mates[mate].name} takes it up."

    def _chosen(self, present: Sequence[str], text: str) -> tuple[str, str]:
        """Which mate is to do it, and what. Raises InputError."""
        here = [mate for mate in present if mate in self._mates]
        if not here:
            raise InputError("No mate is here that could do it.")
        if found := _CHOSEN.fullmatch(text):
            if meant := find_mate(found["mate"], [self._mates[mate] for mate in here]):
                return meant.handle, found["rest"]
            if away := find_mate(found["mate"], self._mates.values()):
                raise absent(away)
        return next((mate for mate in here if self._works(mate)), here[0]), text


def _of_work(entry: str) -> bool:
    """Whether an entry of a mate's file names tools of the workspace."""
    return entry.startswith(WORKSPACE) or fnmatchcase(f"{WORKSPACE}run", entry)


def _repository(text: str) -> tuple[str, str]:
    """The repository that stands at the beginning, "" for none; and what follows."""
    found = _REPO.fullmatch(text)
    return (found["repo"], found["rest"]) if found else ("", text)


def going(tasks: Sequence[TaskState]) -> TaskState | None:
    """The task that is at work, or waits for a person."""
    left = [state for state in tasks if not state.forgotten]
    now = [state for state in left if state.at_work or state.stage == "waiting"]
    return now[-1] if now else None


def clear_work(text: str) -> bool:
    """Whether a line clearly wants something done over several turns."""
    found = classify_task(text)
    return found is not None and found.flow in WORKING
