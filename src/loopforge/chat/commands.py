"""Commands: what a person may ask of a room by name, whichever surface offers it.

Each takes the room, the person and an argument, and returns a plain sentence on what was done.
The table COMMANDS is what help texts are made from.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection

from msgspec import Struct

from loopforge.chat.rights import may, who_may
from loopforge.chat.server import LONGEST_TITLE, Rooms, clean
from loopforge.chat.triggers import CALLS
from loopforge.core.room import (
    ConversationBegan,
    ConversationEnded,
    EnergySet,
    Marked,
    MateJoined,
    MateLeft,
    PolicyChosen,
    Right,
    Titled,
    TriggersSet,
)
from loopforge.core.words import Words
from loopforge.errors import InputError, Unknown

MOST_ENERGY = 1000


class Command(Struct, frozen=True, kw_only=True):
    """A command as people are told of it, and the right that it needs.

    `asks`: without an argument it only tells how things stand, which needs no right.
    """

    name: str
    argument: str
    help: str
    right: Right = "talk"
    asks: bool = False


COMMANDS: tuple[Command, ...] = (
    Command(
        name="stop",
        argument="",
        help="halt everything mates do here, at once",
        right="stop",
    ),
    Command(
        name="new", argument="", help="begin a new conversation; mates start from a clean page"
    ),
    Command(name="end", argument="", help="end this conversation"),
    Command(
        name="title",
        argument="[TEXT]",
        help="fix the room's title, or let it find its own",
        right="change",
    ),
    Command(
        name="energy",
        argument="[N]",
        help="how many lines mates may say without a person",
        right="change",
        asks=True,
    ),
    Command(name="keep", argument="LINE", help="keep a line in the mates' minds", right="change"),
    Command(
        name="spent",
        argument="LINE",
        help="let a line leave the mates' minds first",
        right="change",
    ),
    Command(
        name="policy",
        argument="[NAME [MATE]]",
        help="which kind of mind runs here",
        right="change",
        asks=True,
    ),
    Command(name="add", argument="MATE", help="bring a mate into the room", right="change"),
    Command(name="remove", argument="MATE", help="send a mate out of the room", right="change"),
    Command(
        name="triggers", argument="MATE [CALLS]", help="what may call a mate here", right="change"
    ),
)

BY_NAME = {command.name: command for command in COMMANDS}


class Commands:
    """The commands over the rooms. `policies` are the names that may be chosen."""

    def __init__(self, rooms: Rooms, policies: Collection[str]) -> None:
        self._rooms, self._policies = rooms, policies
        self._table: dict[str, Callable[[str, str, str], Awaitable[str]]] = {
            "stop": self._stop,
            "new": self._new,
            "end": self._end,
            "title": self._title,
            "energy": self._energy,
            "keep": self._keep,
            "spent": self._spent,
            "policy": self._policy,
            "triggers": self._triggers,
            "add": self._add,
            "remove": self._remove,
        }

    async def act(
        self,
        room: str,
        person: str,
        name: str,
        argument: str,
        *,
        keeper: bool = False,
        owner: bool = False,
    ) -> str:
        """Do it, for somebody who may manage the place they ask from (`keeper`), or the `owner`.

        Raises Unknown and other input errors, also where they may not.
        """
        if name not in self._table:
            known = ", ".join(command.name for command in COMMANDS)
            raise Unknown(f"There is no command {name!r} for a room. Known: {known}.")
        state = await self._rooms.state(room)
        command = BY_NAME[name]
        right: Right = command.right if argument.strip() or not command.asks else "talk"
        if not may(state, person, right, keeper=keeper, owner=owner):
            raise InputError(f"/{name} is for {who_may(state, right)}.")
        return await self._table[name](room, person, argument.strip())

    async def _stop(self, room: str, person: str, _argument: str) -> str:
        await self._rooms.stop(room, person)
        return "Stopped. Mates stay still until somebody speaks to them again."

    async def _new(self, room: str, person: str, _argument: str) -> str:
        state = await self._rooms.state(room)
        ended = (ConversationEnded(why="asked"),) if state.conversation else ()
        began = ConversationBegan(why="first" if state.last_at is None else "asked")
        await self._rooms.add(room, person, *ended, began)
        return "A new conversation. What was said before stays in the ledger."

    async def _end(self, room: str, person: str, _argument: str) -> str:
        state = await self._rooms.state(room)
        if not state.conversation:
            return "No conversation is going on; the next line begins one."
        await self._rooms.add(room, person, ConversationEnded(why="asked"))
        return "The conversation is over; the next line begins another."

    async def _title(self, room: str, person: str, argument: str) -> str:
        if not argument:
            await self._rooms.add(room, person, Titled(title=Words(""), by=""))
            return "The room will find a title of its own."
        title = clean(argument, LONGEST_TITLE)
        await self._rooms.add(room, person, Titled(title=Words(title), by=person))
        return f"The room is called {title}."

    async def _energy(self, room: str, person: str, argument: str) -> str:
        energy = (await self._rooms.state(room)).energy
        if not argument:
            return (
                f"{energy.left} of {energy.capacity} lines are left to mates; "
                f"each line of a person gives {energy.refill} back."
            )
        capacity, _, refill = argument.partition(" ")
        try:
            numbers = int(capacity), int(refill) if refill.strip() else energy.refill
        except ValueError:
            raise InputError(
                f"{argument!r} is no energy; say how many lines, such as /energy 6, "
                "and perhaps what a person's line gives back, such as /energy 6 4."
            ) from None
        if not all(0 <= number <= MOST_ENERGY for number in numbers):
            raise InputError(f"Energy lies between 0 and {MOST_ENERGY}.")
        await self._rooms.add(room, person, EnergySet(capacity=numbers[0], refill=numbers[1]))
        return (
            f"Mates may say {numbers[0]} lines in a row; a person's line gives {numbers[1]} back."
        )

    async def _keep(self, room: str, person: str, argument: str) -> str:
        await self._mark(room, person, argument, "keep")
        return "Kept: this line leaves the mates' minds last."

    async def _spent(self, room: str, person: str, argument: str) -> str:
        await self._mark(room, person, argument, "spent")
        return "Spent: this line leaves the mates' minds first."

    async def _mark(self, room: str, person: str, line: str, mark: str) -> None:
        state = await self._rooms.state(room)
        if line not in state.lines:
            raise Unknown(
                f"No line {line!r} is in the mates' minds; it may be of an earlier conversation."
            )
        body = Marked(line=line, mark="keep" if mark == "keep" else "spent", by=f"person:{person}")
        await self._rooms.add(room, person, body)

    async def _policy(self, room: str, person: str, argument: str) -> str:
        if not argument:
            chosen = (await self._rooms.state(room)).policy("") or "each mate's own, or talk"
            return f"Policy here: {chosen}. Known: {', '.join(sorted(self._policies))}."
        policy, _, mate = argument.partition(" ")
        if policy not in self._policies:
            known = ", ".join(sorted(self._policies))
            raise Unknown(f"There is no policy {policy!r}. Known: {known}.")
        await self._must_be_here(room, mate)
        await self._rooms.add(room, person, PolicyChosen(policy=policy, mate=mate))
        return f"From now on {policy} runs here" + (f" for {mate}." if mate else ".")

    async def _triggers(self, room: str, person: str, argument: str) -> str:
        mate, *calls = argument.split()
        await self._must_be_here(room, mate)
        if calls == ["none"]:
            calls = []
        elif wrong := [call for call in calls if call not in CALLS]:
            raise Unknown(f"Nothing calls by {wrong[0]!r}. Known: {', '.join(CALLS)}, or none.")
        elif not calls:
            chosen = (await self._rooms.state(room)).triggers.get(mate)
            now = "what its file says" if chosen is None else ", ".join(chosen) or "nothing"
            return f"{mate} is called here by: {now}."
        await self._rooms.add(room, person, TriggersSet(mate=mate, triggers=tuple(calls)))
        return f"{mate} is called here by: {', '.join(calls) or 'nothing'}."

    async def _add(self, room: str, person: str, argument: str) -> str:
        known = self._rooms.mates
        if argument not in known:
            raise Unknown(f"There is no mate {argument!r}. Known: {', '.join(known) or 'none'}.")
        if argument in (await self._rooms.state(room)).mates:
            return f"{known[argument].name} is here already."
        await self._rooms.add(room, person, MateJoined(mate=argument))
        return f"{known[argument].name} is here now."

    async def _remove(self, room: str, person: str, argument: str) -> str:
        if not argument:
            raise InputError("Say which mate is to leave, such as /remove merlin.")
        await self._must_be_here(room, argument)
        await self._rooms.add(room, person, MateLeft(mate=argument))
        return f"{argument} has left."

    async def _must_be_here(self, room: str, mate: str) -> None:
        here = (await self._rooms.state(room)).mates
        if mate and mate not in here:
            raise Unknown(f"{mate!r} is not in this room. Here: {', '.join(here) or 'nobody'}.")
