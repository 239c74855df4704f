"""Lines: mates over TCP, one JSON object a line, on this machine alone.

    --> {"hello": "Ana", "key": "only Ana knows it"}   who it is: one key is one person
    --> {"say": "hello there", "id": 1}                heard once, however often it is sent
    <-- {"heard": 1}                                   it is in the ledger
    <-- {"typing": "maya"}
    <-- {"line": "Hi, Ana.", "by": "Maya", "id": "9f"}
    --> {"got": "9f"}                                  or {"no": "9f", "why": "I am full"}
    <-- {"have": "9f"}                                 asked before it is sent a second time
    --> {"got": "9f"}                                  or {"lost": "9f"}
    --> {"do": "help", "with": ""}                     a command of the room
    <-- {"notice": "..."}                              its answer, or what a stranger is told

Everybody has a private talk with all mates of the home. Shows no files, marks or edits.
"""

import asyncio
import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from loopforge.chat.room.platform_channels import ChannelSpot
from loopforge.chat.room.room_store import PREFIX
from loopforge.core.delivery_states import nonce
from loopforge.core.room_vocabulary import Heard, Said, Told
from loopforge.errors import InputError, LedgerError, SendFailed
from loopforge.io.platforms.emoji_reactions import Mark
from loopforge.io.platforms.incoming_lines import IncomingMessage
from loopforge.io.platforms.surface_plugin import SurfaceParts
from loopforge.io.platforms.typing_updates import LiveSpeech, RoomWatch
from loopforge.io.text.message_split import split
from loopforge.runtime.ports import Outgoing

LONGEST = 500
"""Characters of one line; a longer one goes out in several."""
PATIENCE = 5.0
"""Seconds in which a caller says that it has a line."""


class Caller:
    """Somebody who is connected. `got` are the ids of lines that they said they have."""

    def __init__(self, writer: asyncio.StreamWriter, account: str, name: str) -> None:
        self.account, self.name, self.got = account, name, set[str]()
        self._writer = writer
        self._asked: dict[str, asyncio.Future[str]] = {}

    @property
    def place(self) -> str:
        """The key of their private talk."""
        return f"lines:{self.account}"

    async def tell(self, what: dict[str, Any]) -> None:
        """Send them an object."""
        self._writer.write(json.dumps(what).encode() + b"\n")
        await self._writer.drain()

    async def ask(self, id: str, what: dict[str, Any]) -> bool:
        """Send them what they answer by "got" or not. Raises SendFailed."""
        self._asked[id] = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(PATIENCE):
                await self.tell(what)
                refused = await self._asked[id]
        except (OSError, TimeoutError):
            raise SendFailed("the caller is gone, or does not answer.") from None
        if refused:
            raise SendFailed(f"the caller refused it: {refused}", final=True)
        return id in self.got

    def answered(self, what: dict[str, Any]) -> None:
        """They said whether they have a line."""
        id = str(what.get("got") or what.get("lost") or what.get("no"))
        if "got" in what:
            self.got.add(id)
        if (asked := self._asked.pop(id, None)) is not None and not asked.done():
            asked.set_result(str(what.get("why", "no reason")) if "no" in what else "")

    def close(self) -> None:
        """They are gone; whatever they were asked is not answered any more."""
        for asked in self._asked.values():
            if not asked.done():
                asked.set_exception(ConnectionResetError())


class Lines:
    """The surface: `run` until `close`; `send` and `sent` are for the deliveries."""

    name = "lines"

    def __init__(self, parts: SurfaceParts) -> None:
        self._parts, self._state = parts, "not connected yet"
        self._callers: dict[str, Caller] = {}
        self._open = set[asyncio.StreamWriter]()
        self._watch = RoomWatch(
            parts.front, self, parts.clock, again=5.0, streams=False, marks=False
        )

    # ------------------------------------------------------------ running

    async def run(self) -> None:
        """Take calls until this is cancelled."""
        for room in (await self._parts.reception.sessions.channels.all(self.name)).values():
            self._watch.room(room)
        port = self._parts.options.port
        server = await asyncio.start_server(self._called, "127.0.0.1", port)
        self._state = f"connected at 127.0.0.1:{port}"
        try:
            await asyncio.Event().wait()
        finally:
            # Whoever is let in while Python 3.11 closes a server hangs for ever: nobody is, then.
            for door in server.sockets:
                asyncio.get_running_loop().remove_reader(door)
            for _ in range(3):  # turns of the loop until who was let in stands in `_open`
                await asyncio.sleep(0)
            server.close()

    async def close(self) -> None:
        """Hang up, and take no more calls."""
        for writer in self._open:
            writer.close()
        await self._watch.close()

    def attend(self, room: str) -> None:
        """Show typing signs of this room from now on."""
        self._watch.room(room)

    def states(self) -> dict[str, str]:
        """How it stands."""
        return {"*": self._state}

    # ------------------------------------------------------------ what goes out

    async def send(self, out: Outgoing) -> str:
        """Send the parts that the caller does not have yet. Raises SendFailed."""
        caller, parts = self._caller(out.place), await self._worded(out)
        for id, words in parts.items():
            if id not in caller.got:
                await caller.ask(id, {**words, "id": id})
        return " ".join(parts) or out.delivery

    async def sent(self, out: Outgoing) -> str | None:
        """Whether the caller has all of it. Raises SendFailed."""
        caller, parts = self._caller(out.place), await self._worded(out)
        have = [await caller.ask(id, {"have": id}) for id in parts]
        return " ".join(parts) if parts and all(have) else None

    def _caller(self, place: str) -> Caller:
        if place not in self._callers:
            raise SendFailed("nobody is connected there.", unsent=True)
        return self._callers[place]

    async def _worded(self, out: Outgoing) -> dict[str, dict[str, str]]:
        """A line in parts, each by its id: the same ones after every restart."""
        match out.event.body:
            case Said(mate=mate, text=text):
                by = (
                    self._parts.front.rooms.mates[mate].name
                    if mate in self._parts.front.rooms.mates
                    else mate
                )
            case Heard(person=person, text=text):
                by = (await self._parts.front.rooms.scene(out.stream.removeprefix(PREFIX))).person(
                    person
                )
            case Told(text=text):
                by = ""
            case _:
                return {}
        pieces = enumerate(split(str(text), LONGEST))
        return {nonce(out.delivery, n): {"line": each.text, "by": by} for n, each in pieces}

    # ------------------------------------------------------------ what is in the air

    async def typing(self, place: str, mate: str) -> None:
        """Show that a mate is at it."""
        if place in self._callers:
            await self._callers[place].tell({"typing": mate})

    async def draft(self, speech: LiveSpeech, text: str) -> float:
        """Drafts are not shown."""
        return 0.0

    async def withdraw(self, speech: LiveSpeech) -> None:
        """Nor is anything to be withdrawn."""

    async def mark(self, place: str, line: str, mate: str, new: Mark, old: Sequence[Mark]) -> None:
        """Nor marked."""

    # ------------------------------------------------------------ what comes in

    async def _called(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        caller: Caller | None = None
        self._open.add(writer)
        try:
            async for line in reader:
                what = json.loads(line)
                if "hello" in what:
                    account = hashlib.sha256(str(what["key"]).encode()).hexdigest()[:16]
                    caller = Caller(writer, account, str(what["hello"]))
                    self._callers[caller.place] = caller
                elif caller is not None:
                    await self._take(caller, what)
        except (ValueError, KeyError, TypeError, OSError):
            pass  # it speaks no lines, or is gone: what it has not got is sent when it calls again
        except LedgerError:
            pass  # the home ends: a line that it was not told to be heard, it sends again
        finally:
            if caller is not None:
                caller.close()
                if self._callers.get(caller.place) is caller:
                    del self._callers[caller.place]
            writer.close()
            self._open.discard(writer)

    async def _take(self, caller: Caller, what: dict[str, Any]) -> None:
        spot = ChannelSpot(caller.place, caller.name, "private")
        mates, who = tuple(self._parts.front.rooms.mates), (caller.account, caller.name)
        try:
            if "say" in what:
                coming = IncomingMessage(
                    spot=spot,
                    mates=mates,
                    message=str(int(what["id"])),
                    account=caller.account,
                    name=caller.name,
                    text=str(what["say"]),
                    at=self._parts.clock.now(),
                    keeper=True,
                )
                taken = await self._parts.reception.take(coming)
                if taken.room:
                    self._watch.room(taken.room)
                await caller.tell({"heard": what["id"]})
                notice = taken.notice
            elif "do" in what:
                command, argument = str(what["do"]), str(what.get("with", ""))
                notice = await self._parts.reception.command(spot, mates, *who, command, argument)
            else:
                caller.answered(what)
                return
        except InputError as refused:
            notice = str(refused)
        if notice:
            with suppress(OSError):
                await caller.tell({"notice": notice})
