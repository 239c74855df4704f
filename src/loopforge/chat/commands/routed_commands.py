"""Commands that something beside the room carries out, and those that it shares with the room.

    /work, /resume, /reject, /undo  --> OrderRoute
    /approve, /deny  --> a question of a mate here, by its number; else OrderRoute, where that waits
    a button under a line of what carries them out  --> OrderRoute, as an answer to that line

Says who asks, what they may do here, and which files they gave: those of others may be from before
they came. Does not know what carries them out.
"""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from loopforge.chat.commands.approval_commands import ApprovalCommands, open_questions
from loopforge.chat.commands.command_request import CommandRequest, number_of
from loopforge.chat.room.permissions import may
from loopforge.chat.room.room_store import stream_of
from loopforge.chat.server import Rooms
from loopforge.chat.speaking.line_routing import here_of, tools_of
from loopforge.core.events import Event
from loopforge.core.room_vocabulary import Said
from loopforge.errors import InputError
from loopforge.runtime.ports import LineButton, LineSource, OrderRoute, RoomOrder

ROUTED = ("work", "resume", "reject", "undo")
SHARED = ("approve", "deny")


class RoutedCommands:
    """Gives them on."""

    def __init__(self, rooms: Rooms, approvals: ApprovalCommands, route: OrderRoute) -> None:
        self._rooms, self.approvals, self._route = rooms, approvals, route

    @property
    def table(self) -> dict[str, Callable[[CommandRequest], Awaitable[str]]]:
        """What does each command."""
        table: dict[str, Callable[[CommandRequest], Awaitable[str]]] = {}
        table |= {name: partial(self._order, name) for name in ROUTED}
        table |= {name: partial(self._shared, name) for name in SHARED}
        return table

    async def buttons(self, line: Event) -> Sequence[LineButton]:
        """The buttons that belong under a line; none under one of a turn, or of a person."""
        return await self._route.buttons(line) if _posted(line) else ()

    async def source(self, line: Event) -> LineSource | None:
        """Where more is told of a line, and why it came to be; None where the room knows itself."""
        return await self._route.source(line) if _posted(line) else None

    async def press(self, name: str, asked: CommandRequest) -> str:
        """A button of this name was pressed under the line `reply_to`. Raises input errors."""
        return await self._order(name, asked)

    async def _shared(self, name: str, asked: CommandRequest) -> str:
        own = self.approvals.table[name]
        if number_of(asked.argument):
            return await own(asked)
        open = open_questions(await self._rooms.state(asked.room))
        if await self._route.awaits(stream_of(asked.room), asked.reply_to):
            if open and not asked.reply_to:
                raise InputError(
                    f"Question {open[0]} waits here, and so does the task. Answer the question "
                    f"first, by /{name} {open[0]}; then /{name} is for the task."
                )
            return await self._order(name, asked)
        if not asked.argument:
            which = open[0] if open else "N"
            raise InputError(
                f"Nothing waits for that here. /{name} {which} answers question {which}."
            )
        return await own(asked)

    async def _order(self, name: str, asked: CommandRequest) -> str:
        state, owner = await self._rooms.state(asked.room), asked.owner or not asked.person
        person, keeper = asked.person, asked.keeper
        barred = (asked.untrusted or asked.guest) and not owner
        order = RoomOrder(
            stream=state.stream,
            person=person,
            name=name,
            argument=asked.argument,
            surface=asked.surface or "web",
            reply_to=asked.reply_to,
            files=tuple(
                file
                for entry in state.lines.values()
                if entry.kind == "heard" and entry.who == person
                for file in entry.files
            ),
            here=here_of(state),
            tools=tools_of(state, person, keeper=keeper, owner=owner, barred=barred),
            owner=owner,
            guest=asked.guest,
            changes=may(state, person, "change", keeper=keeper, owner=owner),
            stops=may(state, person, "stop", keeper=keeper, owner=owner),
        )
        return await self._route.order(order)


def _posted(line: Event) -> bool:
    """Whether a mate said it by `RoomVoice`: what comes of a plan always bears its mode."""
    return isinstance(line.body, Said) and not line.body.mode
