"""Drafts: what a mate is saying, shown on Discord while it says it.

A draft is one message that grows, at a pace that Discord bears; it ends with a mark, so that one
that was left behind is recognised. The line takes its place in the end (outward.py), or it goes.
Which message shows which turn is a fact in the ledger, noted as soon as it stands there.

Does not show more than the first message of a long text before it is said.
"""

from __future__ import annotations

import asyncio
import logging
from typing import NamedTuple

import discord
from loopforge.chat.front import Front
from loopforge.core.delivery import Drafted, nonce
from loopforge.errors import LoopforgeError, SendFailed
from loopforge.io.discord.client import Client
from loopforge.io.discord.crowd import Crowd, channel_of, find
from loopforge.io.discord.markdown import LIMIT, pieces
from loopforge.io.discord.troubles import scrub
from loopforge.io.discord.voice import Voice
from loopforge.io.discord.voices import Voices
from loopforge.io.edits import Pace
from loopforge.io.session import Sessions
from loopforge.runtime.ports import Clock
from loopforge.runtime.tasks import Tasks

log = logging.getLogger(__name__)
MARK = " ▌"
"""Ends what is not said yet."""
LOOKED = 50
"""Messages of a place among which drafts that were left behind are looked for."""
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


class Showing:
    """One draft in one place, shown by a task of its own."""

    def __init__(self, voice: Voice) -> None:
        self.voice, self.pace = voice, Pace()
        self.message = 0
        self.over = False
        self.busy = asyncio.Lock()
        self.more = asyncio.Event()


class Drafts:
    """All drafts that stand on Discord."""

    def __init__(
        self, crowd: Crowd, voices: Voices, sessions: Sessions, front: Front, clock: Clock
    ) -> None:
        self._crowd, self._voices, self._sessions = crowd, voices, sessions
        self._front, self._clock = front, clock
        self._showing: dict[Key, Showing] = {}
        self._over: set[Key] = set()
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
                self._over.add(key)
                return
            if key in self._over:
                return
            self._showing[key] = Showing(voice)
            self._tasks.spawn(self._run(stream, key, self._showing[key]), f"draft {key}")
        showing = self._showing[key]
        showing.pace.offer(text, self._clock.ticks())
        showing.more.set()

    async def take(self, place: str, turn: str) -> int:
        """The message that shows this turn, for the line to stand there; it grows no more.

        0 if there is none.
        """
        key = Key(place, turn)
        self._over.add(key)
        showing = self._showing.pop(key, None)
        if showing is None:
            return 0
        async with showing.busy:
            showing.over = True
            showing.more.set()
        return showing.message

    async def drop(self, stream: str, key: Key) -> None:
        """Nothing was said after all: the draft goes."""
        showing = self._showing.get(key)
        message = await self.take(*key)
        if showing is None or not message:
            return
        try:
            await showing.voice.delete(message)
        except SendFailed as failure:
            log.info("a draft could not be taken away: %s", failure.why)
            return  # it is a stray now, and goes at the next start
        await self._note(stream, key, 0)

    def rest(self, turn: str) -> None:
        """The turn is over; nothing of it is shown from now on."""
        self._over = {key for key in self._over if key.turn != turn}

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
                text = showing.pace.take(self._clock.ticks())
                if showing.over or text is None or not looks(text):
                    continue
                try:
                    await self._put(stream, key, showing, looks(text))
                    refusals = 0
                except SendFailed as failure:
                    refusals = REFUSED if failure.final else refusals + 1
                    showing.pace.put_off(max(failure.after, 2.0), self._clock.ticks())

    async def _put(self, stream: str, key: Key, showing: Showing, text: str) -> None:
        if showing.message:
            await showing.voice.edit(showing.message, text)
            return
        try:
            once = nonce(f"draft/{key.turn}/{key.place}")
            showing.message = await showing.voice.post(text, once)
        except SendFailed as failure:
            if showing.voice.hook is not None:  # whether it stands there, nobody knows
                raise SendFailed(failure.why, final=True) from None
            raise
        await self._note(stream, key, showing.message)

    async def _note(self, stream: str, key: Key, message: int) -> None:
        body = Drafted(turn=key.turn, surface=key.place, message_id=str(message or ""))
        try:
            await self._front.note(stream, body)
        except LoopforgeError as error:
            log.warning("a draft could not be noted: %s", error)

    # ------------------------------------------------------------ what was left behind

    async def tidy(self, client: Client, place: str, stream: str) -> None:
        """Take away this client's drafts in a place whose turns said nothing after all."""
        channel = await find(client, channel_of(place))
        if channel is None:
            return
        known = {showing.message for showing in self._showing.values()}
        strays = [each for each in await self._sessions.strays("discord") if each.place == place]
        try:
            async for message in channel.history(limit=LOOKED):
                mine = message.author.id == client.id
                if mine and message.content.endswith(MARK) and message.id not in known:
                    if await self._waits(place, message.id, [each.message for each in strays]):
                        continue
                    await message.delete()
        except discord.HTTPException as error:
            log.info("drafts in %s could not be looked for: %s", place, scrub(error))
            return
        for each in strays:
            await self._note(stream, Key(place, each.turn), 0)

    async def _waits(self, place: str, message: int, strays: list[str]) -> bool:
        """Whether a line is about to take this draft's place, or has done so."""
        if str(message) in strays:
            return False
        return bool(await self._sessions.line(place, str(message)))
