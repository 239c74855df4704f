"""Live updates: drafts, typing signs and marks as Discord can show them.

A draft is one message that grows, at a pace that Discord bears; it ends with a cursor, so that one
that was left behind is recognised. The line takes its place in the end (message_delivery.py), or it
goes. Which message shows which turn is a fact in the ledger, noted as soon as it stands there.

A mark is put by the account by which its mate speaks, and a new one before the old one is taken
away, so that a line is never without.

Does not show more than the first message of a long text before it is said. Knows places; when
something is to be shown is typing_updates.py's, when a line bears which mark that of
emoji_reactions.py.
"""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

import discord
from loopforge.chat.room.platform_channels import DraftPost
from loopforge.chat.room.room_store import stream_of
from loopforge.chat.rooms_api import RoomsApi
from loopforge.core.delivery_states import Drafted, nonce
from loopforge.core.limits.bounded_mapping import BoundedMapping
from loopforge.errors import LoopforgeError, SendFailed
from loopforge.io.discord.connection.api_errors import FAILURES, redact_tokens
from loopforge.io.discord.connection.bot_accounts import AccountSeat, BotAccounts, place_of
from loopforge.io.discord.mate_threads import channel_of_message
from loopforge.io.discord.sending.personas import DiscordSpeaker, Personas
from loopforge.io.discord.sending.status_emojis import STATUS_EMOJIS
from loopforge.io.discord.sending.webhooks import DiscordWebhooks
from loopforge.io.discord.text.markdown import LIMIT, split_into_messages
from loopforge.io.platforms.emoji_reactions import Mark
from loopforge.io.platforms.typing_updates import LiveSpeech

log = logging.getLogger(__name__)
CURSOR = " ▌"
"""Ends what is not said yet."""
TYPING_AGAIN = 8.0
"""Seconds between two typing signs; one is shown for ten."""
LOOKED_AT = 4 * LIMIT
"""Characters of a draft that are laid out, at each look anew; the first message of them shows."""
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


def draft_as_message(text: str) -> str:
    """A draft as a message: its beginning, whatever comes behind."""
    found = split_into_messages(text[:LOOKED_AT], LIMIT - len(CURSOR) - 1)
    if not found:
        return ""
    apart = "\n" if found[0].endswith("```") else ""
    return f"{found[0]}{apart}{CURSOR}"


class _Draft:
    """One draft in one place: it grows until it is `over`.

    `message` is 0 while none is known, `refused` how often in a row it was not taken; `posting`: it
    is about to stand there by a message not known yet.
    """

    def __init__(self) -> None:
        self.voice: DiscordSpeaker | None = None
        self.message = self.refused = 0
        self.over = self.posting = False
        self.busy = asyncio.Lock()


class DiscordLiveUpdates:
    """Shows what is in the air of a room, and knows all drafts that stand on Discord."""

    name = "discord"

    def __init__(
        self, crowd: BotAccounts, voices: Personas, hooks: DiscordWebhooks, front: RoomsApi
    ) -> None:
        self._crowd, self._voices, self._hooks, self._front = crowd, voices, hooks, front
        self._drafts: BoundedMapping[DraftKey, _Draft] = BoundedMapping(REMEMBERED)
        self._used: deque[int] = deque(maxlen=REMEMBERED)
        self._tidied: set[tuple[int, str]] = set()

    async def typing(self, place: str, mate: str) -> None:
        """Show that this mate is typing, for ten seconds."""
        seat = await self._crowd.seat(place, mate)
        await seat.channel.typing()

    async def mark(self, place: str, line: str, mate: str, new: Mark, old: Sequence[Mark]) -> None:
        """Put a mark on the message that a line is, and take the old ones off."""
        posts = await self._front.channels.posts(place, line)
        if not posts:
            return
        seat, id = await self._crowd.seat(place, mate), int(posts[0])
        message, me = channel_of_message(seat.channel, id).get_partial_message(id), seat.client.user
        if new:
            await message.add_reaction(STATUS_EMOJIS[new])
        if me is None:
            return
        for each in old:
            with contextlib.suppress(discord.NotFound):  # it was not there, perhaps
                await message.remove_reaction(STATUS_EMOJIS[each], me)

    # ------------------------------------------------------------ drafts

    async def draft(self, speech: LiveSpeech, text: str) -> float:
        """There is more of what a mate is saying; what is over is not shown any more.

        Seconds to wait before the same is tried again; 0 if it stands, or never will.
        """
        draft = self._drafts.setdefault(key := DraftKey(speech.place, speech.turn), _Draft())
        async with draft.busy:
            if draft.voice is None and not draft.over:
                await self._begin(key, draft, speech.mate)
            if draft.voice is None or draft.over:
                return 0.0
            try:
                await self._put(
                    speech, draft, draft.voice, draft_as_message(draft.voice.quoted + text)
                )
            except SendFailed as failure:
                draft.refused += 1
                draft.over |= failure.final or draft.refused == REFUSED
                return 0.0 if draft.over else max(failure.after, AFTER)
            draft.refused = 0
            return 0.0

    async def _begin(self, key: DraftKey, draft: _Draft, mate: str) -> None:
        """Find who shows it, and what of it stands; it is over where nobody can."""
        try:
            draft.voice = await self._voices.mate(key.place, mate)
        except SendFailed as failure:
            log.info("a draft is not shown: %s", failure.why)
            draft.over = True
        else:
            draft.message = await self._known(key)

    async def take(self, place: str, turn: str) -> int:
        """The message that shows this turn, for the line to stand there; it grows no more.

        0 if there is none. The caller says `done` when the line stands.
        """
        draft = self._drafts.setdefault(key := DraftKey(place, turn), _Draft())
        draft.over = True
        async with draft.busy:
            draft.message = draft.message or await self._known(key)
        self._used.append(draft.message)
        return draft.message

    def done(self, place: str, turn: str) -> None:
        """The line stands where its draft stood, or never will."""
        self._drafts.setdefault(DraftKey(place, turn), _Draft()).message = 0

    async def withdraw(self, speech: LiveSpeech) -> None:
        """Nothing was said after all: the draft goes, unless a line is to stand there."""
        key = DraftKey(speech.place, speech.turn)
        if (row := await self._row(key)) is not None and row.line:
            return
        message = await self.take(*key)
        try:
            if message:
                voice = await self._voices.mate(key.place, speech.mate)
                await self._voices.take(voice, message)
                await self._note(speech.room, key, 0)
        except SendFailed as failure:
            if not failure.final:
                raise
            log.info("a draft could not be taken away: %s", failure.why)  # at the next start, then
        finally:
            self.done(*key)

    async def _known(self, key: DraftKey) -> int:
        """The message that showed a turn before this process was there; 0 if none did."""
        row = await self._row(key)
        return int(row.message) if row else 0

    async def _row(self, key: DraftKey) -> DraftPost | None:
        found = await self._front.channels.drafts(key.place)
        return next((each for each in found if each.turn == key.turn), None)

    # ------------------------------------------------------------ showing

    async def _put(
        self, speech: LiveSpeech, draft: _Draft, voice: DiscordSpeaker, text: str
    ) -> None:
        if draft.message:
            await voice.edit(draft.message, text)
            return
        draft.posting = True
        try:
            once = nonce(f"draft/{speech.turn}/{speech.place}")
            reply = await self._answered(voice, speech)
            draft.message = await voice.post(text, once, reply)
        except SendFailed:
            draft.message = await self._posted(voice, text)
            if not draft.message:
                raise
        finally:
            draft.posting = False
            self._used.append(draft.message)
        await self._note(speech.room, DraftKey(speech.place, speech.turn), draft.message)

    async def _answered(self, voice: DiscordSpeaker, speech: LiveSpeech) -> int | None:
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
            why = f"whether a draft stands there, nobody knows: {redact_tokens(error)}"
            raise SendFailed(why, final=True) from None
        return 0

    async def _note(self, room: str, key: DraftKey, message: int) -> None:
        body = Drafted(turn=key.turn, surface=key.place, message_id=str(message or ""))
        try:
            await self._front.note(stream_of(room), body)
        except LoopforgeError as error:
            log.warning("a draft could not be noted: %s", error)

    # ------------------------------------------------------------ what was left behind

    async def tidy(self, seat: AccountSeat, room: str) -> None:
        """Take away this account's drafts in a place whose turns said nothing after all.

        A draft whose line or whose turn is still to end well stays; one whose line was lost goes.
        Looks once in a process.
        """
        client, channel = seat
        place = place_of(channel.id)
        if (client.id, place) in self._tidied:
            return
        self._tidied.add((client.id, place))
        channels = self._front.channels
        over = {each.message for each in await channels.drafts(place) if each.over}
        owed = await channels.owed(place)
        rows = {each.message: each for each in await channels.drafts(place)}  # what arrived is gone
        strays = {id for id, row in rows.items() if id in over and row.line not in owed}
        try:
            read = [message async for message in channel.history(limit=LOOKED)]
            for id in strays - {str(message.id) for message in read}:
                with contextlib.suppress(discord.NotFound):
                    read.append(await channel.fetch_message(int(id)))
            for message in read:
                stays = str(message.id) in rows and str(message.id) not in strays
                stays = stays or message.id in self._used or self._busy_in(place)
                if message.content.endswith(CURSOR) and not stays:
                    await self._remove(seat, message)
        except (discord.HTTPException, SendFailed) as error:
            log.info("drafts in %s could not be looked for: %s", place, redact_tokens(error))
            return
        for id in strays:
            await self._note(room, DraftKey(place, rows[id].turn), 0)

    async def returned(self, place: str) -> None:
        """Something arrived in a place: drafts of lines that were lost there go now."""
        over = [each for each in await self._front.channels.drafts(place) if each.over]
        owed = await self._front.channels.owed(place) if over else set()
        for draft in (each for each in over if each.line not in owed):
            try:
                seat = await self._crowd.seat(place)
                with contextlib.suppress(discord.NotFound):
                    message = await seat.channel.fetch_message(int(draft.message))
                    if message.content.endswith(CURSOR):
                        await self._remove(seat, message)
                room = await self._front.channels.room(place)
                await self._note(room, DraftKey(place, draft.turn), 0)
            except (*FAILURES, LoopforgeError) as error:
                log.info("a draft in %s stays: %s", place, redact_tokens(error))

    def _busy_in(self, place: str) -> bool:
        """Whether a draft is being posted there now, by a message not known yet."""
        return any(draft.posting for key, draft in self._drafts.items() if key.place == place)

    async def _remove(self, seat: AccountSeat, message: discord.Message) -> None:
        if message.author.id == seat.client.id:
            await DiscordSpeaker(seat).delete(message.id)
        elif message.webhook_id is not None:
            hook = await self._hooks.by(seat.channel, message.webhook_id)
            if hook is not None or self._hooks.said(message):  # that one is gone
                await DiscordSpeaker(seat, hook).delete(message.id)
