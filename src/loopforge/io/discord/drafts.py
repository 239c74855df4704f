"""Drafts: what a mate is saying, shown on Discord while it says it.

A draft is one message that grows, at a pace that Discord bears; it ends with a mark, so that one
that was left behind is recognised. The line takes its place in the end (outward.py), or it goes.
Which message shows which turn is a fact in the ledger, noted as soon as it stands there.

Does not show more than the first message of a long text before it is said.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import Counter, deque
from typing import NamedTuple

from sqlalchemy import select

import discord
from loopforge.chat import places
from loopforge.chat.front import Front
from loopforge.core.delivery import Drafted, nonce
from loopforge.errors import LoopforgeError, SendFailed
from loopforge.io.discord.crowd import Seat, place_of
from loopforge.io.discord.hooks import Hooks
from loopforge.io.discord.markdown import LIMIT, pieces
from loopforge.io.discord.troubles import scrub
from loopforge.io.discord.voice import Voice
from loopforge.io.discord.voices import Voices
from loopforge.io.edits import Pace
from loopforge.runtime.ports import Clock
from loopforge.runtime.tasks import Tasks

log = logging.getLogger(__name__)
MARK = " ▌"
"""Ends what is not said yet."""
LOOKED = 50
"""Messages of a place among which drafts that were left behind are looked for."""
REMEMBERED = 500
"""Turns of which it is known that they are over: a draft of theirs may come late."""
AFTER = 2.0
"""Seconds to wait after a refusal that names none."""
OWED = 0.3
"""Seconds after which it is looked again whether what was said before has arrived."""
REFUSED = 3
"""Refusals in a row after which a draft is not shown any more; the line itself will come."""


class Key(NamedTuple):
    """A turn in a place."""

    place: str
    turn: str


def looks(text: str) -> str:
    """A draft as a message."""
    found = pieces(text, LIMIT - len(MARK) - 1)
    if not found:
        return ""
    apart = "\n" if found[0].endswith("```") else ""
    return f"{found[0]}{apart}{MARK}"


class Row(NamedTuple):
    """A draft as the ledger knows it: whose turn, the line it becomes, whether the turn is over."""

    turn: str
    line: str
    over: bool


class Showing:
    """One draft in one place, shown by a task of its own."""

    def __init__(self, voice: Voice, message: int) -> None:
        self.voice, self.pace = voice, Pace()
        self.message = message
        self.over = False
        self.busy = asyncio.Lock()
        self.more = asyncio.Event()


class Drafts:
    """All drafts that stand on Discord."""

    def __init__(self, voices: Voices, hooks: Hooks, front: Front, clock: Clock) -> None:
        self._voices, self._hooks = voices, hooks
        self._front, self._clock = front, clock
        self._showing: dict[Key, Showing] = {}
        self._over: dict[Key, None] = {}
        self._taking: dict[Key, int] = {}
        self._posting: Counter[str] = Counter()
        self._used: deque[int] = deque(maxlen=REMEMBERED)
        self._tidied: set[tuple[int, str]] = set()
        self._tasks = Tasks()

    async def close(self) -> None:
        """Show nothing any more; what stands is taken up at the next start."""
        await self._tasks.close()

    async def show(self, stream: str, key: Key, mate: str, text: str) -> None:
        """There is more of what this mate is saying."""
        if key in self._over:
            return
        if key not in self._showing:
            try:
                voice = await self._voices.mate(key.place, mate)
            except SendFailed as failure:
                log.info("a draft is not shown: %s", failure.why)
                self._end(key)
                return
            before = await self._known(key)
            if key in self._over:
                return
            self._showing[key] = Showing(voice, before)
            self._tasks.spawn(self._run(stream, key, self._showing[key]), f"draft {key}")
        showing = self._showing[key]
        showing.pace.offer(text, self._clock.ticks())
        showing.more.set()

    async def take(self, place: str, turn: str) -> int:
        """The message that shows this turn, for the line to stand there; it grows no more.

        0 if there is none. The caller says `done` when the line stands.
        """
        key = Key(place, turn)
        self._end(key)
        message = self._taking.setdefault(key, 0)
        if (showing := self._showing.pop(key, None)) is not None:
            async with showing.busy:
                showing.over = True
                showing.more.set()
            message = showing.message
        message = message or await self._known(key)
        self._taking[key] = message
        self._used.append(message)
        return message

    def shows(self, message: int) -> bool:
        """Whether this message is a draft that grows."""
        return any(showing.message == message for showing in self._showing.values())

    def done(self, place: str, turn: str) -> None:
        """The line stands where its draft stood, or never will."""
        self._taking.pop(Key(place, turn), None)

    async def drop(self, stream: str, key: Key, mate: str) -> None:
        """Nothing was said after all: the draft goes."""
        message = await self.take(*key)
        try:
            if message:
                voice = await self._voices.mate(key.place, mate)
                await self._voices.take(voice, message)
                await self._note(stream, key, 0)
        except SendFailed as failure:  # it is a stray now, and goes at the next start
            log.info("a draft could not be taken away: %s", failure.why)
        finally:
            self.done(*key)

    def _end(self, key: Key) -> None:
        self._over[key] = None
        while len(self._over) > REMEMBERED:
            del self._over[next(iter(self._over))]

    async def _rows(self, place: str) -> dict[str, Row]:
        """What the ledger knows of drafts in a place, by the message that shows each."""
        query = select(places.drafts).where(places.drafts.c.place == place)
        found = await self._front.look(lambda tables: tables.execute(query).all())
        return {row.message: Row(row.turn, row.line, row.over) for row in found}

    async def _known(self, key: Key) -> int:
        """The message that showed a turn before this process was there; 0 if none did."""
        rows = await self._rows(key.place)
        return next((int(id) for id, row in rows.items() if row.turn == key.turn), 0)

    # ------------------------------------------------------------ showing

    async def _run(self, stream: str, key: Key, showing: Showing) -> None:
        """Post it, and edit it as it grows, until it is over."""
        refusals = 0
        while not showing.over and refusals < REFUSED:
            due = showing.pace.due()
            if due is None:
                await showing.more.wait()
                showing.more.clear()
                continue
            if (wait := due - self._clock.ticks()) > 0:
                await self._clock.sleep(wait)
            async with showing.busy:
                if not showing.message and await self._owed(key.place):
                    showing.pace.wait(OWED, self._clock.ticks())
                    continue
                text = showing.pace.take(self._clock.ticks())
                if showing.over or not text or not text.strip():
                    continue
                try:
                    await self._put(stream, key, showing, looks(showing.voice.quoted + text))
                    refusals = 0
                except SendFailed as failure:
                    refusals = REFUSED if failure.final else refusals + 1
                    showing.pace.put_off(max(failure.after, AFTER), self._clock.ticks())

    async def _owed(self, place: str) -> bool:
        """Whether a line is still on its way there: what is said after it must stand after it."""
        query = select(places.sendings).where(places.sendings.c.place == place).limit(1)
        return await self._front.look(lambda found: found.execute(query).first() is not None)

    async def _put(self, stream: str, key: Key, showing: Showing, text: str) -> None:
        if showing.message:
            await showing.voice.edit(showing.message, text)
            return
        self._posting[key.place] += 1
        try:
            once = nonce(f"draft/{key.turn}/{key.place}")
            showing.message = await showing.voice.post(text, once)
        except SendFailed:
            showing.message = await self._posted(showing.voice, text)
            if not showing.message:
                raise
        finally:
            self._posting[key.place] -= 1
            self._used.append(showing.message)
        await self._note(stream, key, showing.message)

    async def _posted(self, voice: Voice, text: str) -> int:
        """The draft that a webhook has posted although its call broke off; 0 if it has not."""
        if voice.hook is None:
            return 0
        try:
            async for message in voice.seat.channel.history(limit=LOOKED):
                if message.webhook_id == voice.hook.id and message.content == text.strip():
                    return message.id
        except Exception as error:
            why = f"whether a draft stands there, nobody knows: {scrub(error)}"
            raise SendFailed(why, final=True) from None
        return 0

    async def _note(self, stream: str, key: Key, message: int) -> None:
        body = Drafted(turn=key.turn, surface=key.place, message_id=str(message or ""))
        try:
            await self._front.note(stream, body)
        except LoopforgeError as error:
            log.warning("a draft could not be noted: %s", error)

    # ------------------------------------------------------------ what was left behind

    async def tidy(self, seat: Seat, stream: str) -> None:
        """Take away this account's drafts in a place whose turns said nothing after all.

        A draft whose line or whose turn is still to end well stays. Looks once in a process.
        """
        client, channel = seat
        place = place_of(channel.id)
        if (client.id, place) in self._tidied:
            return
        self._tidied.add((client.id, place))
        rows = await self._rows(place)
        strays = {id for id, row in rows.items() if row.over and not row.line}
        try:
            read = [message async for message in channel.history(limit=LOOKED)]
            for id in strays - {str(message.id) for message in read}:
                with contextlib.suppress(discord.NotFound):
                    read.append(await channel.fetch_message(int(id)))
            for message in read:
                stays = str(message.id) in rows and str(message.id) not in strays
                stays = stays or message.id in self._used or self._busy_in(place)
                if message.content.endswith(MARK) and not stays:
                    await self._remove(seat, message)
        except (discord.HTTPException, SendFailed) as error:
            log.info("drafts in %s could not be looked for: %s", place, scrub(error))
            return
        for id in strays:
            await self._note(stream, Key(place, rows[id].turn), 0)

    def _busy_in(self, place: str) -> bool:
        """Whether a draft is being posted there now, by a message not known yet."""
        return self._posting[place] > 0

    async def _remove(self, seat: Seat, message: discord.Message) -> None:
        if message.author.id == seat.client.id:
            await Voice(seat).delete(message.id)
        elif message.webhook_id is not None:
            hook = await self._hooks.by(seat.channel, message.webhook_id)
            if hook is not None:
                await Voice(seat, hook).delete(message.id)
