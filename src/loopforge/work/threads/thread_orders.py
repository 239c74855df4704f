"""What is decided on a task in its room: by commands, by lines, and by buttons under its lines.

    order --> which task is meant? --> may they? --> as it was shown? --> the service of tasks

A yes or a no is for what was shown: what the line tells of that it answers, else the newest that
stood where it was said, before it was. What has moved on since is refused, and nothing is done.
"""

from collections.abc import Mapping, Sequence

from loopforge.core.effect_states import EffectProposed
from loopforge.core.events import Event
from loopforge.core.mates.mate_file import Mate
from loopforge.core.room_vocabulary import Said
from loopforge.core.work.work_vocabulary import ResultOffered, TaskFinished
from loopforge.errors import Changed, InputError, RepositoryError, Unknown
from loopforge.runtime.ports import Ledger, LineButton, LineSource, RoomOrder, RoomVoice
from loopforge.work.task_service import TaskService
from loopforge.work.task_state import PREFIX, TaskState
from loopforge.work.threads.task_buttons import task_buttons
from loopforge.work.threads.task_rights import OVER, TaskRights, may_give

ANSWERS = ("approve", "deny")
NOTHING = "Nothing is worked on here. /work and what is to be done begins it."
UNSEEN = (
    "What it offers now had not been shown here when you said that. Look at it, then say it again."
)
UNSHOWN = "-"
"""Begins no commit: what is offered a moment later is not taken unseen."""
MOVED = "It has moved on since that was shown. Look at what it says now, and decide on that."


class ThreadOrders:
    """Decides for rooms. See `OrderRoute`."""

    def __init__(
        self, ledger: Ledger, tasks: TaskService, mates: Mapping[str, Mate], voice: RoomVoice
    ) -> None:
        self._ledger, self._tasks, self._mates, self._voice = ledger, tasks, mates, voice

    async def cause(self, line: str) -> Event | None:
        """What happened to a task that a line of a mate tells of; None for another line."""
        if not line:
            return None
        try:
            said = await self._ledger.event(line)
            cause = await self._ledger.event(said.cause) if said.cause else said
        except Unknown:
            return None
        told = isinstance(said.body, Said) and cause.stream.startswith(PREFIX)
        return cause if told else None

    async def awaits(self, stream: str, reply_to: str = "") -> bool:
        """See `OrderRoute.awaits`."""
        if await self.cause(reply_to) is not None:
            return True
        tasks = await self._tasks.store.of_thread(stream)
        return any(state.allowing or state.stage == "finished" for state in tasks[-1:])

    async def order(self, order: RoomOrder) -> str:
        """Do it; what whoever gave it is told. Raises input errors."""
        told = await self.cause(order.reply_to)
        try:
            return await self._done(order, await self._meant(order, told), told)
        except RepositoryError as error:
            raise InputError(str(error)) from error

    async def _meant(self, order: RoomOrder, told: Event | None) -> TaskState:
        """The task of the line that it answers, else the last one of the room."""
        tasks = await self._tasks.store.of_thread(order.stream)
        found = [state for state in tasks if told is not None and state.stream == told.stream]
        if not tasks:
            raise InputError(NOTHING)
        return (found or tasks)[-1]

    async def _done(self, order: RoomOrder, state: TaskState, told: Event | None) -> str:
        tasks, id, person, name = self._tasks, state.id, order.person, order.name
        asked = told if isinstance(getattr(told, "body", None), EffectProposed) else None
        allowing = name == "deny" or (
            name == "approve" and bool(asked or (state.allowing and not _offers(told)))
        )
        rights_of(order, state).must("allow" if allowing else name)
        if allowing:
            use = asked.id if asked else "?" if _offers(told) else await self._waiting(order, state)
            return await tasks.allow(
                id,
                person,
                owner=order.owner,
                yes=name == "approve",
                use=use,
                tools=order.tools,
                reason=order.argument.strip(),
            )
        match name:
            case "stop":
                return await tasks.stop(id, person)
            case "resume":
                if (mate := self._mates.get(state.task.mate)) and mate.handle not in order.here:
                    raise absent(mate)
                return await tasks.resume(id, person)
            case "approve":
                return await tasks.approve(id, person, await self._offered(order, state, told))
            case "reject":
                commit = await self._offered(order, state, told)
                return await tasks.reject(id, person, commit, order.argument)
            case "undo":
                return await tasks.undo(id, person, state.standing)
            case _:
                raise InputError(NOTHING)

    async def _waiting(self, order: RoomOrder, state: TaskState) -> str:
        """The use of a tool that waits for a yes longest, if it was shown; "" where none does.

        Raises Changed.
        """
        use = next(iter(state.allowing), "")
        if use and not await self._voice.reached(order, use):
            raise Changed(UNSEEN)
        return use

    async def _offered(self, order: RoomOrder, state: TaskState, told: Event | None) -> str:
        """The commit that was shown, "" where there can be none.

        Raises Changed where that is not the newest.
        """
        kind = "task.result_offered" if state.task.repo else "task.finished"
        offers = await self._ledger.read(state.stream, kinds=[kind])
        if state.stage in OVER or not offers:
            return UNSHOWN if state.task.repo else ""  # the service says what there is
        shown = told if _offers(told) else None
        if shown is None and state.stage == "finished":
            shown = await self._newest(order, offers)
        if shown is not None and (shown.id != offers[-1].id or state.stage != "finished"):
            raise Changed(MOVED)
        return shown.body.commit if shown and isinstance(shown.body, ResultOffered) else ""

    async def _newest(self, order: RoomOrder, offers: Sequence[Event]) -> Event:
        """The newest offer that was shown where it was said, before it was. Raises Changed."""
        for offer in reversed(offers):
            if await self._voice.reached(order, offer.id):
                return offer
        raise Changed(UNSEEN)

    # ------------------------------------------------------------ under its lines

    async def buttons(self, said: Event) -> Sequence[LineButton]:
        """See `OrderRoute.buttons`."""
        cause = await self.cause(said.id)
        if cause is None:
            return ()
        return await task_buttons(self._ledger, cause, await self._tasks.store.state(cause.stream))

    async def source(self, said: Event) -> LineSource | None:
        """See `OrderRoute.source`."""
        cause = await self.cause(said.id)
        if cause is None:
            return None
        page = f"/work/{cause.stream.removeprefix(PREFIX)}"
        record = f"{page}/why/{cause.id}"
        shown = self._tasks.page_of(await self._tasks.store.state(cause.stream))
        where = f"{shown}/why/{cause.id}" if shown else f"{record} in the home's pages"
        words = f"That is of a task. How it came to be: {where}, or `loopforge why {said.id}`."
        return LineSource(page, record, words)


def absent(mate: Mate) -> InputError:
    """That it has to come in first."""
    return InputError(f"{mate.name} is not here. /add {mate.handle} brings it in.")


def rights_of(order: RoomOrder, state: TaskState) -> TaskRights:
    """How whoever gives a command in a room stands to a task of it."""
    return TaskRights(
        state=state,
        gave=state.task.person == order.person,
        owner=order.owner,
        tools=may_give(order.tools),
        change=order.changes,
        stop=order.stops,
    )


def _offers(told: Event | None) -> bool:
    """Whether a line tells of something that can be approved or rejected as a whole."""
    return told is not None and isinstance(told.body, ResultOffered | TaskFinished)
