"""Drafts: what a mate is saying, shown on Discord while it says it.

A draft is one message that grows, at a pace that Discord bears; it ends with a mark, so that one
that was left behind is recognised. The line takes its place in the end (message_delivery.py), or it
goes. Which message shows which turn is a fact in the ledger, noted as soon as it stands there.

Does not show more than the first message of a long text before it is said, and does not know when
there is more to show (live_updates.py does).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import Counter, deque
from typing import NamedTuple

import discord
from loopforge.chat.room.room_store import stream_of
from loopforge.chat.rooms_api import Front
from loopforge.core.delivery_states import Drafted, nonce
from loopforge.errors import LoopforgeError, SendFailed
from loopforge.io.discord.connection.api_errors import scrub
from loopforge.io.discord.connection.bot_accounts import AccountSeat, place_of
from loopforge.io.discord.sending.speaker import DiscordSpeaker
from loopforge.io.discord.sending.speaker_choice import Voices
from loopforge.io.discord.sending.webhooks import Hooks
from loopforge.io.discord.text.outgoing_markdown import LIMIT, pieces
from loopforge.io.platforms.live_updates import Speech

log = logging.getLogger(__name__)
MARK = " ▌"
"""Ends what is not said yet."""
LOOKED = 50
"""Messages of a place among which drafts that were left behind are looked for."""
REMEMBERED = 500
"""Turns of which it is known that they are over: a draft of theirs may come late."""
AFTER = 2.0
"""Seconds to wait after a refusal that names none."""
REFUSED = 3
"""Refusals in a row after which a draft is not shown any more; the line itself will come."""


class DraftKey(NamedTuple):
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
    """One draft in one place. `refused`: how often in a row it was not taken."""

    def __init__(self, voice: DiscordSpeaker, message: int) -> None:
        self.voice, self.message = voice, message
        self.refused = 0
        self.busy = asyncio.Lock()


class DiscordDrafts:
    """All drafts that stand on Discord."""

    def __init__(self, voices: Voices, hooks: Hooks, front: Front) -> None:
        self._voices, self._hooks, self._front = voices, hooks, front
        self._showing: dict[DraftKey, Showing] = {}
        self._over: dict[DraftKey, None] = {}
        self._taking: dict[DraftKey, int] = {}
        self._posting: Counter[str] = Counter()
        self._used: deque[int] = deque(maxlen=REMEMBERED)
        self._tidied: set[tuple[int, str]] = set()

    async def show(self, speech: Speech, text: str) -> float:
        """There is more of what a mate is saying; what is over is not shown any more.

        Seconds to wait before the same is tried again; 0 if it stands, or never will.
        """
        key = DraftKey(speech.place, speech.turn)
        showing = self._showing.get(key) or await self._begin(key, speech.mate)
        if showing is None:
            return 0.0
        async with showing.busy:
            if key in self._over:
                return 0.0
            try:
                await self._put(speech, showing, looks(showing.voice.quoted + text))
            except SendFailed as failure:
                showing.refused += 1
                if failure.final or showing.refused == REFUSED:
                    self._end(key)
                    return 0.0
                return max(failure.after, AFTER)
            showing.refused = 0
            return 0.0

    async def _begin(self, key: DraftKey, mate: str) -> Showing | None:
        """A draft that is to be shown; None where it is over, or nobody can show it."""
        if key in self._over:
            return None
        try:
            voice = await self._voices.mate(key.place, mate)
        except SendFailed as failure:
            log.info("a draft is not shown: %s", failure.why)
            self._end(key)
            return None
        message = await self._known(key)
        if key in self._over:
            return None
        return self._showing.setdefault(key, Showing(voice, message))

    async def take(self, place: str, turn: str) -> int:
        """The message that shows this turn, for the line to stand there; it grows no more.

        0 if there is none. The caller says `done` when the line stands.
        """
        key = DraftKey(place, turn)
        self._end(key)
        message = self._taking.setdefault(key, 0)
        if (showing := self._showing.pop(key, None)) is not None:
            async with showing.busy:
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
        self._taking.pop(DraftKey(place, turn), None)

    async def drop(self, speech: Speech) -> None:
        """Nothing was said after all: the draft goes."""
        key = DraftKey(speech.place, speech.turn)
        message = await self.take(*key)
        try:
            if message:
                voice = await self._voices.mate(key.place, speech.mate)
                await self._voices.take(voice, message)
                await self._note(stream_of(speech.room), key, 0)
        except SendFailed as failure:  # it is a stray now, and goes at the next start
            log.info("a draft could not be taken away: %s", failure.why)
        finally:
            self.done(*key)

    def _end(self, key: DraftKey) -> None:
        self._over[key] = None
        while len(self._over) > REMEMBERED:
            del self._over[next(iter(self._over))]

    async def _known(self, key: DraftKey) -> int:
        """The message that showed a turn before this process was there; 0 if none did."""
        found = await self._front.channels.drafts(key.place)
        return next((int(each.message) for each in found if each.turn == key.turn), 0)

    # ------------------------------------------------------------ showing

    async def _put(self, speech: Speech, showing: Showing, text: str) -> None:
        if showing.message:
            await showing.voice.edit(showing.message, text)
            return
        self._posting[speech.place] += 1
        try:
            once = nonce(f"draft/{speech.turn}/{speech.place}")
            reply = await self._answered(showing.voice, speech)
            showing.message = await showing.voice.post(text, once, reply)
        except SendFailed:
            showing.message = await self._posted(showing.voice, text)
            if not showing.message:
                raise
        finally:
            self._posting[speech.place] -= 1
            self._used.append(showing.message)
        key = DraftKey(speech.place, speech.turn)
        await self._note(stream_of(speech.room), key, showing.message)

    async def _answered(self, voice: DiscordSpeaker, speech: Speech) -> int | None:
        """The message to which it is a reply, as the line will be; None in private."""
        channel = voice.seat.channel
        if not speech.answers or isinstance(channel, discord.DMChannel):
            return None
        posts = await self._front.channels.posts(speech.place, speech.answers)
        return int(posts[0]) if posts and int(posts[0]) != channel.id else None

    async def _posted(self, voice: DiscordSpeaker, text: str) -> int:
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

    async def _note(self, stream: str, key: DraftKey, message: int) -> None:
        body = Drafted(turn=key.turn, surface=key.place, message_id=str(message or ""))
        try:
            await self._front.note(stream, body)
        except LoopforgeError as error:
            log.warning("a draft could not be noted: %s", error)

    # ------------------------------------------------------------ what was left behind

    async def tidy(self, seat: AccountSeat, stream: str) -> None:
        """Take away this account's drafts in a place whose turns said nothing after all.

        A draft whose line or whose turn is still to end well stays. Looks once in a process.
        """
        client, channel = seat
        place = place_of(channel.id)
        if (client.id, place) in self._tidied:
            return
        self._tidied.add((client.id, place))
        rows = {each.message: each for each in await self._front.channels.drafts(place)}
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
            await self._note(stream, DraftKey(place, rows[id].turn), 0)

    def _busy_in(self, place: str) -> bool:
        """Whether a draft is being posted there now, by a message not known yet."""
        return self._posting[place] > 0

    async def _remove(self, seat: AccountSeat, message: discord.Message) -> None:
        if message.author.id == seat.client.id:
            await DiscordSpeaker(seat).delete(message.id)
        elif message.webhook_id is not None:
            hook = await self._hooks.by(seat.channel, message.webhook_id)
            if hook is not None:
                await DiscordSpeaker(seat, hook).delete(message.id)
