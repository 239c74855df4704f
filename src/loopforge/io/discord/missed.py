"""Missed: what happened on Discord while nobody of ours was there, read when an account is back.

    a known place    --> what was said since the line that was heard there last; and, among the
                         lines before it, what was edited or deleted meanwhile
    any other place  --> what was said since the last line that was heard anywhere

Ids of Discord's messages are in the order of time, so the highest one that was heard is the
watermark: without it, at the very first start, nothing is read. Nothing is taken for deleted
because it is not in an answer: Discord is asked for it, and has to say that there is no such
message. Lines of ours are not judged.

Does not cover direct messages of people who never wrote before (bots cannot list those), threads
that were closed meanwhile, and reactions: a stop sign that was put on a line during a gap is not
obeyed late, since what it was to stop is over. Does not know what is done with a message, nor the
order with what is heard meanwhile (inward.py keeps that).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator
from datetime import datetime
from functools import partial
from typing import Protocol

import aiohttp

import discord
from loopforge.errors import LedgerError, SendFailed
from loopforge.io.discord.client import Client, Talk, rights, whole
from loopforge.io.discord.crowd import Crowd, Seat, channel_of, find, place_of
from loopforge.io.discord.options import Options
from loopforge.io.discord.threads import carrier
from loopforge.io.discord.troubles import failed, scrub
from loopforge.io.reception import Reception
from loopforge.runtime.ports import Clock

log = logging.getLogger(__name__)
Job = Callable[[], Awaitable[None]]
Take = Callable[[Client, discord.Message], Awaitable[None]]
Open = discord.TextChannel | discord.VoiceChannel | discord.StageChannel | discord.Thread
"""Where messages can be in a server."""
TRIES = (1.0, 2.0, 5.0, 15.0)
"""Seconds between tries to read, or to write down what the ledger could not take."""
MARGIN = 60_000 << 22
"""A minute, in ids: what is said at the same time in many places is heard in any order."""
BACK = 50
"""Lines before the last one that was heard which are looked at again."""
FRESH = 50
"""Places without a room that are read after one gap, those first where something was said last."""
FAILURES = (SendFailed, discord.DiscordException, aiohttp.ClientError, OSError, RuntimeError)
"""What a call may raise; a client that was closed meanwhile raises a RuntimeError."""
UNKNOWN_MESSAGE = 10008
"""Discord's code for a message that is no more."""


class Reading(Protocol):
    """Who is told which places are read."""

    def attend(self, room: str) -> None:
        """In this room something is, or may be, heard."""

    async def tidy(self, seat: Seat, room: str) -> None:
        """This place is about to be read: what was left behind there may go."""


class Missed:
    """Reads what was missed; `hear` takes each message in, `edit` one that was changed."""

    def __init__(
        self,
        crowd: Crowd,
        reception: Reception,
        clock: Clock,
        options: Options,
        reading: Reading,
        hear: Take,
        edit: Take,
    ) -> None:
        self._crowd, self._reception, self._sessions = crowd, reception, reception.sessions
        self._clock, self._options, self._reading = clock, options, reading
        self._hear, self._edit = hear, edit
        self._newest: dict[int, int] = {}
        self._marks: dict[Client, int] = {}
        self._start: int | None = None
        self._asking = asyncio.Lock()

    # ------------------------------------------------------------ the watermark

    def heard(self, client: Client, message: int) -> None:
        """A client was told of a message just now."""
        index = self._crowd.index(client)
        self._newest[index] = max(self._newest.get(index, 0), message)

    def began(self, client: Client) -> None:
        """A session began: what is after the newest that its account heard was missed."""
        self._marks[client] = self._newest.get(self._crowd.index(client), 0)

    def forget(self, client: Client) -> None:
        """This client is no more."""
        self._marks.pop(client, None)

    async def _mark(self, client: Client) -> int:
        """The watermark of a client; 0 if nobody was heard on Discord so far."""
        async with self._asking:
            if self._start is None:
                self._start = await self._sessions.newest(["discord:%"])
        return self._marks.get(client, 0) or self._start

    # ------------------------------------------------------------ what is to be read

    async def jobs(
        self, client: Client, late: discord.Guild | None = None
    ) -> list[tuple[int, Job]]:
        """What is to be read by a client that is back: channels, and what reads each.

        With a server that is `late`, only the places there that are not read without it.
        """
        try:
            mark = await self._mark(client)
            places = await self._sessions.all("discord")
        except LedgerError as error:
            log.critical("what was missed on Discord cannot be found out: %s", error)
            return []
        found: list[tuple[int, Job]] = []
        for place, room in places.items() if late is None else ():
            self._reading.attend(room)
            job = partial(self._known, client, place, room, mark)
            found.append((channel_of(place), partial(self._tried, client, place, job)))
        guilds = client.guilds if late is None else [late]
        for channel, after in self._fresh(client, guilds, places, mark):
            job = partial(self._unknown, client, channel, after, channel.last_message_id or 0)
            found.append((channel.id, partial(self._tried, client, place_of(channel.id), job)))
        return found

    def _fresh(
        self, client: Client, guilds: Iterable[discord.Guild], places: dict[str, str], mark: int
    ) -> list[tuple[Open, int]]:
        """Places without a room in which something was said, each with what it was said after."""
        if not mark:
            return []
        found = [
            (channel, after)
            for guild in guilds
            for after in [max(mark - MARGIN, _joined(guild))]
            for channel in _channels(guild)
            if (channel.last_message_id or 0) > after
            and place_of(channel.id) not in places
            and _readable(client, channel)
        ]
        if len(found) > FRESH:
            log.warning("of %d places with something new, %d are read", len(found), FRESH)
        return sorted(found, key=lambda each: -(each[0].last_message_id or 0))[:FRESH]

    async def _tried(self, client: Client | None, place: str, job: Job) -> None:
        """Read a place, as long as a client is there; what is said there meanwhile waits for it."""
        for pause in (*TRIES, None):
            try:
                await job()
            except FAILURES as error:
                failure = failed(error, place)
                log.info("what was missed in %s could not be read: %s", place, failure.why)
                gone = client is not None and client.is_closed()
                if pause is None or failure.final or gone:
                    return
                await self._clock.sleep(pause)
            else:
                return

    # ------------------------------------------------------------ reading

    async def again(self, client: Client, channel: int, message: int, *, edited: bool) -> None:
        """Take in one message whose event was spoiled, as Discord gives it now."""

        async def job() -> None:
            seat = await self._seat(client, channel)
            told = await seat.channel.fetch_message(message)
            if whole(told):
                await (self._edit if edited else self._hear)(seat.client, told)

        await self._tried(None, place_of(channel), job)

    async def _seat(self, client: Client, channel: int) -> Seat:
        """This client, or if it is no more whoever of us is there. Raises SendFailed."""
        found = await find(client, channel) if not client.is_closed() else None
        if found is not None:
            return Seat(client, found)
        return await self._crowd.seat(place_of(channel))

    async def _known(self, client: Client, place: str, room: str, mark: int) -> None:
        """Hear what was said in a place of a room since the last line that was heard there."""
        channel = await find(client, channel_of(place))
        if channel is None:
            return
        await self._reading.tidy(Seat(client, channel), room)
        last = int(await self._sessions.last(place) or 0)
        if last and self._crowd.first(channel.id) is client and _readable(client, channel):
            await self._look_back(
                client, channel, last, discord.utils.snowflake_time(max(mark - MARGIN, 0))
            )
        if last or mark:
            await self._read(client, channel, last or mark)

    async def _unknown(self, client: Client, channel: Open, after: int, newest: int) -> None:
        """The same where nobody was heard so far; not if another of ours has read it by now."""
        if int(await self._sessions.last(place_of(channel.id)) or 0) < newest:
            await self._read(client, channel, after)

    async def _read(self, client: Client, channel: Talk, after: int) -> None:
        """Hear what was said after a message; before one that is heard in a thread, all was."""
        most, missed = self._options.catch_up, list[discord.Message]()
        async for message in channel.history(
            after=discord.Object(after), limit=most, oldest_first=False
        ):
            if message.id != channel.id and await self._moved(message.id):
                break
            missed.append(message)
        if len(missed) == most:
            log.warning("more than %d messages were missed in %s", most, place_of(channel.id))
        for message in reversed(missed):
            try:
                await self._hear(client, message)
            except (LedgerError, *FAILURES):
                raise
            except Exception as error:
                log.critical("something missed on Discord was not heard: %s", scrub(repr(error)))

    async def _moved(self, message: int) -> bool:
        """Whether a message of a channel is the first line of a thread that was opened on it."""
        return bool(await self._sessions.line(place_of(message), str(message)))

    async def _look_back(self, client: Client, channel: Talk, last: int, since: datetime) -> None:
        """Take in what became of the last lines that were heard: one call, and one for each gone.

        Only edits after the watermark are new: a name in a text may read otherwise now than then.
        """
        upto = discord.Object(last + 1)
        stands = {each.id: each async for each in channel.history(limit=BACK, before=upto)}
        for message in sorted(stands.values(), key=lambda each: each.id):
            if message.edited_at is not None and message.edited_at >= since:
                await self._edit(client, message)
        place = place_of(channel.id)
        lowest = min(stands) if len(stands) == BACK else 0
        for id in await self._sessions.heard(place, BACK):
            if lowest <= id <= last and id not in stands and await _gone(channel, id):
                await self._reception.deleted(place, str(id))


def _channels(guild: discord.Guild) -> Iterator[Open]:
    """Where messages can be in a server, with the threads and posts that are open."""
    yield from guild.text_channels
    yield from guild.voice_channels
    yield from guild.stage_channels
    yield from guild.threads


def _joined(guild: discord.Guild) -> int:
    """The lowest id since our account is there: what was said before was never for its ears."""
    me: discord.Member | None = guild.me
    return (
        discord.utils.time_snowflake(me.joined_at)
        if me is not None and me.joined_at is not None
        else 0
    )


def _readable(client: Client, channel: object) -> bool:
    """Whether the past can be read there: without the right to, Discord says there is none."""
    if not client.sees(channel):
        return False
    if not isinstance(channel, discord.abc.GuildChannel | discord.Thread):
        return True
    return rights(channel).read_message_history


async def _gone(channel: Talk, message: int) -> bool:
    """Whether Discord says that there is no such message. Raises what it says otherwise."""
    try:
        await carrier(channel, message).fetch_message(message)
    except discord.NotFound as error:
        if error.code != UNKNOWN_MESSAGE:
            raise
        return True
    return False
