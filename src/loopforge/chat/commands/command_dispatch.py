"""Commands: what a person may ask of a room by name, whichever surface offers it.

    the menu (command_catalogue.py) --may they? (permissions.py)--> an order (change_commands.py) or
    an answer (query_commands.py)

Each takes the room, the person and an argument, and returns a plain sentence on what was done, or
what was asked for. What something beside the room carries out is given on to it:

    /work, /resume, /reject, /undo  --> OrderRoute
    /approve, /deny  --> a question of a mate here, by its number; else OrderRoute, where that waits
    a button under a line of what carries them out  --> OrderRoute, as an answer to that line

With it goes who asks, what they may do here, and which files they gave: those of others may be from
before they came.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Protocol

from msgspec.structs import replace

from loopforge.chat.commands.approval_commands import ApprovalCommands, open_questions
from loopforge.chat.commands.change_commands import TALK, ChangeCommands
from loopforge.chat.commands.command_catalogue import BY_NAME, COMMANDS, RoomCommand, usage
from loopforge.chat.commands.command_request import CommandRequest, number_of
from loopforge.chat.commands.query_commands import QueryCommands
from loopforge.chat.room.member_visibility import MemberSight
from loopforge.chat.room.permissions import EVERYONE, KEEPERS, may, who_may
from loopforge.chat.room.rights_parsing import inherited_rights
from loopforge.chat.room.room_state import RoomState
from loopforge.chat.room.room_store import stream_of
from loopforge.chat.server import Rooms
from loopforge.chat.speaking.line_routing import here_of, tools_of
from loopforge.core.events import Event
from loopforge.core.mates.mate_file import Mate, mate_name
from loopforge.core.room_vocabulary import Right, Said
from loopforge.errors import BadLine, InputError, Unknown
from loopforge.mates.mate_editing import MateEditing
from loopforge.runtime.ports import LineButton, LineSource, OrderRoute, RoomOrder

ROUTED = ("work", "resume", "reject", "undo")
SHARED = ("approve", "deny")


class RoutedCommands:
    """Commands that something beside the room carries out, or that it shares with the room."""

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


MOST = 25
"""Ways to go on that are offered at once."""
BRIEF = 60
"""Characters of a line that is offered."""


class CommandTable(Protocol):
    """Some more commands, by name."""

    @property
    def table(self) -> Mapping[str, Callable[[CommandRequest], Awaitable[str]]]:
        """What does each."""


class Commands:
    """The commands over the rooms. `policies` are the names that may be chosen.

    `routed` are those that something beside the room carries out.
    """

    def __init__(
        self,
        rooms: Rooms,
        policies: Collection[str],
        answers: QueryCommands,
        workshop: MateEditing,
        routed: RoutedCommands,
        *more: CommandTable,
    ) -> None:
        self._rooms, self._policies, self._answers = rooms, policies, answers
        self._approvals, self.routed = routed.approvals, routed
        answers.source = routed.source
        self._table: dict[str, Callable[[CommandRequest], Awaitable[str]]] = {
            **ChangeCommands(rooms, policies, workshop).table,
            **answers.table,
            **routed.approvals.table,
        }
        for each in (*more, routed):
            self._table |= each.table

    async def act(
        self, room: str, person: str, name: str, argument: str, *, owner: bool = False
    ) -> str:
        """Carry out a command that was given in this house itself, by no account of a platform."""
        asked = CommandRequest(room=room, person=person, argument=argument, owner=owner)
        return await self.carry_out(name, asked)

    async def carry_out(self, name: str, asked: CommandRequest) -> str:
        """Do what the command of this name does; what is to be told of it.

        Raises Unknown and other input errors, also where who asks may not.
        """
        asked = self._marked_if_guest(replace(asked, argument=asked.argument.strip()))
        command = BY_NAME.get(name)
        if command is None:
            known = ", ".join(command.name for command in COMMANDS)
            raise Unknown(f"There is no command {name!r} for a room. Known: {known}.")
        if (size := len(asked.argument)) > (most := self._rooms.line_limit):
            raise BadLine(f"/{name} was given {size:,} characters; a line may have {most:,}.")
        state, person = await self._settled_rights(asked), asked.person
        free = command.private or (command.asks and not asked.argument)
        right: Right = command.right
        if not free and not may(state, person, right, keeper=asked.keeper, owner=asked.owner):
            own = " Yours were set apart, by /rights." if person in state.rights else ""
            raise InputError(f"/{name} is for {who_may(state, right)}.{own}")
        if command.needs and not asked.argument:
            raise InputError(f"Say what is meant: {usage(command)}, {command.help}.")
        return await self._table[name](asked)

    async def press(self, name: str, asked: CommandRequest) -> str:
        """A button of this name was pressed on a platform, under the line `asked.reply_to`.

        What carries it out says whether they may. Raises input errors.
        """
        await self._settled_rights(asked)
        return await self.routed.press(name, self._marked_if_guest(asked))

    async def _settled_rights(self, asked: CommandRequest) -> RoomState:
        """The room, where what was set for another self of who asks is set for them, too."""
        state = await self._rooms.state(asked.room)
        if gone_along := inherited_rights(state, asked.person, self._rooms.same):
            await self._rooms.add(asked.room, asked.person, *gone_along)
            return await self._rooms.state(asked.room)
        return state

    def _marked_if_guest(self, asked: CommandRequest) -> CommandRequest:
        """The same; somebody whom an invite let in is a guest, on whichever surface."""
        invited = not asked.surface or self._rooms.is_guest(asked.person)
        return replace(asked, guest=bool(asked.person) and invited and not asked.owner)

    async def check_answer(self, asked: CommandRequest, *, always: bool = False) -> None:
        """Whether somebody may answer a question so, before they do. Raises what doing it would."""
        state = await self._settled_rights(asked)
        if not may(state, asked.person, "talk", keeper=asked.keeper, owner=asked.owner):
            raise InputError(f"Answering a mate is for {who_may(state, 'talk')}.")
        await self._approvals.check(asked, always=always)

    async def complete(
        self,
        room: str,
        person: str,
        name: str,
        begun: str,
        *,
        owner: bool = False,
        mates: Sequence[str] = (),
    ) -> list[str]:
        """What the argument of a command may be that holds what is begun, at most 25.

        `room` may be "" where there is none yet; `mates` are then here. Lines are offered as far as
        this person may see them; who is not in the room is told of no line and no other person.
        """
        command = BY_NAME.get(name)
        if command is None or not command.complete:
            return []
        state = await self._rooms.state(room) if room else None
        known = state if state is not None and person in state.people else None
        here = list(state.mates) if state is not None else list(mates)
        if name == "mate":
            found = self._making(here) if owner else here
        elif command.complete == "lines":
            found = await self._lines(room, person, known, older=name == "why") if known else []
        else:
            found = self._choices(command, here, known)
        near = begun.strip().casefold()
        return [one for one in found if near in one.casefold()][:MOST]

    def _choices(self, command: RoomCommand, here: list[str], known: RoomState | None) -> list[str]:
        match command.complete:
            case "mates":
                return list(self._rooms.mates)
            case "mates here":
                return here
            case "policies":
                return sorted(self._policies)
            case "talk":
                return list(TALK)
            case "people":
                people = known.people.values() if known else ()
                return [EVERYONE, KEEPERS, *(str(one.name) for one in people)]
            case _:
                return []

    def _making(self, here: list[str]) -> list[str]:
        """What /mate offers to the owner of the home."""
        words = (f"{word} {mate}" for word in ("edit", "fork") for mate in self._rooms.mates)
        return [*here, "new", *words]

    async def _lines(self, room: str, person: str, state: RoomState, *, older: bool) -> list[str]:
        """The last lines; with `older` also those of mates that were said before they began."""
        seen, mates = await self._answers.sight(room, person), self._rooms.mates
        found = _lines(state, seen, mates)
        if not older or len(found) >= MOST:
            return found
        first = min((entry.seq for entry in state.lines.values()), default=state.seq + 1)
        said = await self._answers.said(room, seen, before=first, most=MOST)
        return found + [_brief(seq, mate_name(mates, mate), text) for seq, mate, text in said]


def _lines(state: RoomState, seen: MemberSight, mates: Mapping[str, Mate]) -> list[str]:
    """The last lines, newest first, each with its number in front."""
    found = []
    for entry in reversed(state.recent(MOST * 2)):
        if seen.sees(entry.seq):
            name = str(entry.name) or mate_name(mates, entry.who)
            found.append(_brief(entry.seq, name, str(entry.text)))
    return found


def _brief(seq: int, name: str, text: str) -> str:
    return f"#{seq} {name}: {' '.join(text.split())}"[:BRIEF]
