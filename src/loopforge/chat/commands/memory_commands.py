"""Memory by command: /memory shows what mates keep of whoever asks, and changes it on their word.

    /memory                    what mates here keep of you, with numbers
    /memory [MATE] 12          one of them, with the lines that it rests on
    /memory correct 12: text   lock 12, unlock 12, drop 12, restore 12, forget 12
    /memory share 12 [ROOM]    let it be used in a room, or everywhere; unshare 12
    /memory undo               take your last change back
    /memory off, on            keep nothing of you from now on; here off, here on: of this room

For whoever asks alone. At the machine itself it is of everybody.
"""

from collections.abc import Callable, Sequence
from zoneinfo import ZoneInfo

from loopforge.chat.commands.command_request import CommandRequest, handle_of, number_of
from loopforge.chat.memories.belief_wording import belief_labels
from loopforge.chat.memories.memory_service import Belief, MemoryReader, MemoryService
from loopforge.chat.room.permissions import may
from loopforge.chat.room.room_store import stream_of
from loopforge.chat.server import Rooms
from loopforge.core.mates.mate_file import mate_name
from loopforge.core.memory.memory_vocabulary import EVERYWHERE, MACHINE, KeepingSet
from loopforge.core.text.spoken_lists import pluralize
from loopforge.errors import InputError, Unknown
from loopforge.memory.memory_store import MemoryStore

WAYS = (
    "Ways: /memory 12; correct 12: TEXT; lock 12; drop 12; restore 12; forget 12 (for good); "
    "share 12 [ROOM]; undo; off; on; here off."
)
NOTHING = "No mate here remembers anything of you."
MOST = 30
"""Items that are listed at once, the newest."""
DONE = {
    "lock": "Locked: only a person can change it now.",
    "unlock": "Unlocked: what mates learn may change it, too.",
    "drop": "Let go. /memory undo brings it back.",
    "restore": "It holds again.",
    "forget": "Forgotten for good, with what was made of it. "
    "Lines that say so stay in their rooms until they are deleted.",
}


class MemoryCommands:
    """What people do with memories by command."""

    def __init__(
        self,
        rooms: Rooms,
        memories: MemoryService,
        store: MemoryStore,
        zone: Callable[[], ZoneInfo],
    ) -> None:
        self._rooms, self._memories, self._store, self._zone = rooms, memories, store, zone
        self.table = {"memory": self.memory}

    async def memory(self, asked: CommandRequest) -> str:
        """List, look, or change."""
        word, _, rest = asked.argument.partition(" ")
        rest = rest.strip()
        reader = MemoryReader(asked.person, asked.owner)
        match word.casefold():
            case "" | "list":
                return await self._listed(asked, reader, rest)
            case "undo":
                return f"Taken back: {await self._memories.undo(reader)}."
            case "on" | "off" | "default":
                return await self._keeping(asked, f"person:{asked.person}", word.casefold(), "you")
            case "here":
                return await self._here(asked, rest.casefold())
            case "correct":
                return await self._correct(asked, reader, rest)
            case "share" | "unshare":
                return await self._share(asked, reader, rest, on=word.casefold() == "share")
            case "lock" | "unlock" | "drop" | "restore" | "forget" as how:
                belief = await self._named(asked, reader, rest)
                await self._change(reader, belief, how)
                return DONE[how]
            case _:
                return self._told(await self._named(asked, reader, asked.argument))

    async def _change(self, reader: MemoryReader, belief: Belief, how: str) -> None:
        match how:
            case "lock" | "unlock":
                await self._memories.lock(reader, belief, on=how == "lock")
            case "drop":
                await self._memories.drop(reader, belief)
            case "restore":
                await self._memories.restore(reader, belief)
            case _:
                await self._memories.forget(reader, belief)

    # ------------------------------------------------------------ looking

    async def _listed(self, asked: CommandRequest, reader: MemoryReader, mate: str) -> str:
        found = await self._all(asked, reader)
        if mate:
            handle = handle_of(mate, self._rooms.mates)
            found = [one for one in found if one.item.mate == handle]
        lines = []
        for handle in dict.fromkeys(one.item.mate for one in found[:MOST]):
            lines.append(f"{mate_name(self._rooms.mates, handle)} keeps:")
            lines += [self._brief(one) for one in found[:MOST] if one.item.mate == handle]
        if len(found) > MOST:
            lines.append(f"... and {len(found) - MOST} more, in the web room.")
        return "\n".join([*lines, WAYS]) if lines else NOTHING

    async def _all(self, asked: CommandRequest, reader: MemoryReader) -> list[Belief]:
        """What mates of the room keep of whoever asks."""
        here = (await self._rooms.state(asked.room)).mates
        found = [await self._memories.beliefs(reader, mate, all=not reader.person) for mate in here]
        return [one for some in found for one in some if one.item.state != "forgotten"]

    def _brief(self, belief: Belief) -> str:
        return (
            f"[{belief.item.seq}] {belief.text} ({', '.join(belief_labels(belief, self._zone()))})"
        )

    def _told(self, belief: Belief) -> str:
        """One item with its evidence."""
        lines = [self._brief(belief), "It rests on:"]
        for one in belief.evidence:
            at = f"{one.at.astimezone(self._zone()):%Y-%m-%d %H:%M}"
            lines.append(f"- {at} {one.who} ({one.address}): {one.text[:200]}")
        if belief.hidden:
            hidden = pluralize(belief.hidden, "line")
            lines.append(f"- {hidden} of rooms where you were not")
        if not belief.evidence and not belief.hidden:
            lines.append("- somebody's word")
        return "\n".join(lines)

    async def _named(self, asked: CommandRequest, reader: MemoryReader, said: str) -> Belief:
        """The item that is meant by "12" or "maya 12". Raises Unknown, InputError."""
        mate, _, number = said.strip().rpartition(" ")
        seq = number_of(number)
        if not seq:
            raise InputError(WAYS)
        handle = handle_of(mate.strip(), self._rooms.mates) if mate else ""
        found = [
            one
            for one in await self._all(asked, reader)
            if one.item.seq == seq and handle in ("", one.item.mate)
        ]
        return _one(found, seq)

    # ------------------------------------------------------------ changing

    async def _correct(self, asked: CommandRequest, reader: MemoryReader, rest: str) -> str:
        which, colon, text = rest.partition(":")
        if not colon or not text.strip():
            raise InputError("Say which and what instead: /memory correct 12: I live in Oslo")
        belief = await self._named(asked, reader, which)
        await self._memories.correct(reader, belief, text.strip())
        return "Corrected. It is used where you alone are; /memory share lets it be used elsewhere."

    async def _share(
        self, asked: CommandRequest, reader: MemoryReader, rest: str, *, on: bool
    ) -> str:
        words = rest.split()
        last = number_of(words[-1]) if words else 0
        room = "" if last or not words else words.pop()
        belief = await self._named(asked, reader, " ".join(words))
        to = EVERYWHERE if room in ("", EVERYWHERE) else stream_of(room)
        for each in [to] if on or room else belief.shared:
            await self._memories.share(reader, belief, each, on=on)
        if not on:
            return "It is used only where everybody present knows it."
        return f"It may be used {EVERYWHERE if to == EVERYWHERE else 'in ' + room} now."

    async def _here(self, asked: CommandRequest, how: str) -> str:
        if how not in ("on", "off", "default"):
            raise InputError(
                "/memory here off: nothing of this room is kept; here on; here default."
            )
        state = await self._rooms.state(asked.room)
        if asked.person and not may(
            state, asked.person, "change", keeper=asked.keeper, owner=asked.owner
        ):
            raise InputError("Whoever may change this room decides whether it is remembered.")
        return await self._keeping(asked, stream_of(asked.room), how, "this room")

    async def _keeping(self, asked: CommandRequest, scope: str, kept: str, whom: str) -> str:
        if scope == "person:":
            raise InputError("Somebody has to say so; the machine itself is nobody.")
        setting = KeepingSet(scope=scope, kept=kept, by=asked.person or MACHINE)  # type: ignore[arg-type]
        await self._store.set_keeping(setting)
        told = {
            "on": f"Mates may keep what they learn of {whom}.",
            "off": f"Nothing of {whom} is kept from now on; what was kept before stays until it is "
            "forgotten.",
            "default": f"What is kept of {whom} is as it is by default again.",
        }
        return told[kept]


def _one(found: Sequence[Belief], seq: int) -> Belief:
    if not found:
        raise Unknown(
            f"No mate here remembers anything of you under the number {seq}; see /memory."
        )
    if len(found) > 1:
        mates = ", ".join(f"{one.item.mate} {seq}" for one in found)
        raise InputError(f"Several mates have a number {seq}; say which: {mates}.")
    return found[0]
