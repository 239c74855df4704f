"""Backfill: what happened on Discord while nobody of ours was there, read once one is back.

    a server tells its channels, open threads,   --> a place is read if that is newer than the
    and the last message of each                     watermark and than what was heard there
    a private talk: nothing is told              --> it is asked for what came after the last line
    somebody closed a thread meanwhile           --> channels list their closed threads
    the newest few places                        --> what was edited or deleted in them, too, and
                                                     what they are called

Ids of Discord's messages are in the order of time; the watermark stands in unread_backlog.py:
without it, at the very first start, nothing is read. Where several of ours see a place, the first
one reads it. Nothing is taken for deleted because it is not in an answer: Discord is asked for it,
and has to say that there is no such message. Lines of ours are not judged.

Does not cover direct messages of people who never wrote before (bots cannot list those), private
threads that were closed meanwhile, and reactions: a stop sign that was put on a line during a gap
is not obeyed late, since what it was to stop is over. Does not know what is done with a message,
nor the order with what is heard meanwhile (incoming_events.py keeps that).
"""

import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator
from functools import partial

import discord
from loopforge.errors import LedgerError
from loopforge.io.discord.connection.api_errors import FAILURES, as_send_failure, redact_tokens
from loopforge.io.discord.connection.bot_accounts import (
    AccountSeat,
    BotAccounts,
    channel_of,
    find_channel,
    place_of,
)
from loopforge.io.discord.connection.gateway_client import (
    GatewayClient,
    Talk,
    is_complete_message,
    own_permissions,
)
from loopforge.io.discord.connection.rate_limit import low_priority_calls
from loopforge.io.discord.connection.unread_backlog import MARGIN, Backlog
from loopforge.io.discord.discord_settings import DiscordOptions
from loopforge.io.discord.mate_threads import channel_of_message
from loopforge.io.discord.sending.draft_messages import DiscordLiveUpdates
from loopforge.io.discord.text.incoming_message import spot_of
from loopforge.io.platforms.surface_plugin import SurfaceParts
from loopforge.io.platforms.typing_updates import RoomWatch

log = logging.getLogger(__name__)
Job = Callable[[], Awaitable[None]]
Read = Callable[[], Awaitable[bool]]
"""Reads a place; whether all of it is read."""
Take = Callable[[GatewayClient, discord.Message], Awaitable[None]]
Open = discord.TextChannel | discord.VoiceChannel | discord.StageChannel | discord.Thread
"""Where messages can be in a server."""
Threaded = discord.TextChannel | discord.ForumChannel
"""Where threads can be."""
TRIES = (1.0, 2.0, 5.0, 15.0)
"""Seconds between tries to read, or to write down what the ledger could not take."""
BACK = 50
"""Lines before the last one that was heard which are looked at again."""
FRESH = 50
"""Places without a room that are read after one gap, those first where something was said last."""
LOOKED = 10
"""Places whose last lines are looked at again after one gap."""
LISTED = 20
"""Channels that list their closed threads after one gap, those first with the newest."""
MOST_CLOSED = 1000
"""Closed threads that one channel lists: those that were closed last."""
UNKNOWN_MESSAGE = 10008
"""Discord's code for a message that is no more."""


class MissedBackfill:
    """Reads what was missed; `hear` takes each message in, `edit` one that was changed."""

    def __init__(
        self,
        crowd: BotAccounts,
        parts: SurfaceParts,
        options: DiscordOptions,
        watch: RoomWatch,
        drafts: DiscordLiveUpdates,
        backlog: Backlog,
        takes: tuple[Take, Take],
    ) -> None:
        self._crowd, self._reception, self._channels = crowd, parts.reception, parts.front.channels
        self._clock, self._options, self._backlog = parts.clock, options, backlog
        self._watch, self._drafts = watch, drafts
        self._hear, self._edit = takes
        self._done: dict[int, tuple[int, int]] = {}

    # ------------------------------------------------------------ what is to be read

    async def jobs(
        self, client: GatewayClient, late: discord.Guild | None = None
    ) -> list[tuple[int, Read]]:
        """What is to be read by a client that is back: channels, and what reads each.

        Nothing is asked for this. With a server that is `late`, only what is there. Raises
        LedgerError.
        """
        mark = await self._backlog.since(self._crowd.index(client))
        places = await self._channels.all("discord")
        for room in places.values():
            self._watch.room(room)
        if not mark:
            return []
        found = await self._jobs_elsewhere(client, places, mark) if late is None else []
        # From here on nothing waits: a server that comes now is late, and is read by itself.
        guilds = client.guilds if late is None else [late]
        found[:0] = [
            *self._jobs_in_known(client, guilds, places, mark),
            *self._jobs_in_fresh(client, guilds, places, mark),
        ]
        return [(id, partial(self._try_to_read, client, place_of(id), job)) for id, job in found]

    async def closed(
        self, client: GatewayClient, late: discord.Guild | None = None
    ) -> list[tuple[int, Read]]:
        """The same for threads that were closed meanwhile, as their channels list them."""
        mark = await self._backlog.since(self._crowd.index(client))
        if not mark:
            return []
        hosts: list[Threaded] = [
            channel
            for guild in (client.guilds if late is None else [late])
            for channel in _thread_hosts(guild)
            if self._crowd.first(channel.id) is client and _is_readable(client, channel)
        ]
        hosts.sort(key=lambda each: -(each.last_message_id or 0))
        found: list[tuple[int, Read]] = []
        for host in hosts[:LISTED]:
            jobs: list[tuple[int, Job]] = []
            if await self._list_with_retries(client, host, mark, jobs):
                found += [
                    (id, partial(self._try_to_read, client, place_of(id), job)) for id, job in jobs
                ]
            else:
                found.append((host.id, partial(self._listed_late, client, host, mark)))
        return found

    def _jobs_in_known(
        self,
        client: GatewayClient,
        guilds: Iterable[discord.Guild],
        places: dict[str, str],
        mark: int,
    ) -> Iterator[tuple[int, Job]]:
        """Places with a room in which something is new, or something may have been changed."""
        here = [
            channel
            for guild in guilds
            for channel in _channels_of(guild)
            if place_of(channel.id) in places and _is_readable(client, channel)
        ]
        here.sort(key=lambda each: -(each.last_message_id or 0))
        for nth, channel in enumerate(here):
            first, newest = self._crowd.first(channel.id) is client, channel.last_message_id or 0
            room = places[place_of(channel.id)] if nth < LOOKED else ""
            if room or (first and newest > mark - MARGIN):
                job = partial(self._catch_up, client, channel, mark, room)
                yield channel.id, partial(job, newest if first else 0)

    def _jobs_in_fresh(
        self,
        client: GatewayClient,
        guilds: Iterable[discord.Guild],
        places: dict[str, str],
        mark: int,
    ) -> list[tuple[int, Job]]:
        """Places without a room in which something was said."""
        found = [
            (channel, after)
            for guild in guilds
            for after in [max(mark - MARGIN, _id_at_joining(guild))]
            for channel in _channels_of(guild)
            if (channel.last_message_id or 0) > after
            and place_of(channel.id) not in places
            and _is_readable(client, channel)
        ]
        if len(found) > FRESH:
            log.warning("of %d places with something new, %d are read", len(found), FRESH)
        found.sort(key=lambda each: -(each[0].last_message_id or 0))
        return [
            (each.id, partial(self._read_unknown, client, each, after, each.last_message_id or 0))
            for each, after in found[:FRESH]
        ]

    async def _jobs_elsewhere(
        self, client: GatewayClient, places: dict[str, str], mark: int
    ) -> list[tuple[int, Job]]:
        """Private talks of this account, and places where a draft of a dead turn stands."""
        mine = set(self._crowd.mates_of(client.account))
        private = await self._channels.private("discord")
        talks = [place for place, mates in private.items() if mates & mine and place in places]
        strays = {draft.place for draft in await self._channels.strays("discord")}
        jobs: dict[str, Job] = {
            place: partial(self._tidy_drafts, client, place, places[place])
            for place in strays.intersection(places)
        }
        lasts = {place: await self._channels.last(place) for place in {*jobs, *talks}}
        newest = sorted(lasts, key=lasts.__getitem__, reverse=True)
        for nth, place in enumerate(each for each in newest if each in talks):
            last = lasts[place]
            job = partial(self._read_private, client, place, mark, places[place], last)
            jobs[place] = partial(job, looks=nth < LOOKED)
        return [(channel_of(place), jobs[place]) for place in newest]

    async def _try_to_read(self, client: GatewayClient | None, place: str, job: Job) -> bool:
        """Read a place, as long as a client is there; what is said there meanwhile waits for it.

        Whether nothing is left there to be read.
        """
        for pause in (*TRIES, None):
            try:
                await job()
            except FAILURES as error:
                failure = as_send_failure(error, place)
                log.info("what was missed in %s could not be read: %s", place, failure.why)
                gone = client is not None and client.is_closed()
                if pause is None or failure.final or failure.gone or gone:
                    return failure.final or failure.gone
                await self._clock.sleep(pause)
            else:
                return True
        return False

    # ------------------------------------------------------------ reading

    async def again(
        self, client: GatewayClient, channel: int, message: int, *, edited: bool
    ) -> None:
        """Take in one message whose event was spoiled, as Discord gives it now."""

        async def job() -> None:
            seat = await self._seat_for(client, channel)
            told = await seat.channel.fetch_message(message)
            if is_complete_message(told):
                await (self._edit if edited else self._hear)(seat.client, told)

        await self._try_to_read(None, place_of(channel), job)

    async def _seat_for(self, client: GatewayClient, channel: int) -> AccountSeat:
        """This client, or if it is no more whoever of us is there. Raises SendFailed."""
        found = await find_channel(client, channel) if not client.is_closed() else None
        if found is not None:
            return AccountSeat(client, found)
        return await self._crowd.seat(place_of(channel), owed=False)

    async def _catch_up(
        self, client: GatewayClient, channel: Open, mark: int, room: str, newest: int
    ) -> None:
        """Hear what was said in a place of a room since the last line that was heard there.

        With its `room`: see also what is to be taken away there, what was changed, and what the
        place is called. `newest` is the last message there; 0 where another one of ours reads it.
        """
        if room:
            await self._reception.sessions.renamed(spot_of(channel, ""))
            with low_priority_calls():
                await self._drafts.tidy(AccountSeat(client, channel), room)
        last, after = await self._channels.last(place_of(channel.id)), mark - MARGIN
        if room and last and newest:
            await self._look_back(client, channel, last, after)
        if last > mark:  # another of ours heard it, or one before a crash: it hides what is missing
            last = after
        since = max(last, after, _id_at_joining(channel.guild))
        if newest > since:
            await self._read_since(client, channel, since)

    async def _read_private(
        self, client: GatewayClient, place: str, mark: int, room: str, last: int, *, looks: bool
    ) -> None:
        """The same in a private talk, of which Discord tells nothing by itself."""
        with low_priority_calls():
            channel = await find_channel(client, channel_of(place))
            if channel is None:
                return
            await self._drafts.tidy(AccountSeat(client, channel), room)
        after = max(mark - MARGIN, 0)
        if last and looks:
            await self._look_back(client, channel, last, after)
        if last:  # one above the watermark hides what is missing, as above
            await self._read_since(client, channel, last if last <= mark else after)

    async def _tidy_drafts(self, client: GatewayClient, place: str, room: str) -> None:
        with low_priority_calls():
            channel = await find_channel(client, channel_of(place))
            if channel is not None:
                await self._drafts.tidy(AccountSeat(client, channel), room)

    async def _list_with_retries(
        self, client: GatewayClient, host: Threaded, mark: int, jobs: list[tuple[int, Job]]
    ) -> bool:
        """Whether a channel has told its closed threads, in so many tries."""
        job = partial(self._list_closed_threads, client, host, mark, jobs)
        return await self._try_to_read(client, place_of(host.id), job)

    async def _listed_late(self, client: GatewayClient, host: Threaded, mark: int) -> bool:
        """List them and read them, where the list could not be had; whether all of that is done."""
        jobs: list[tuple[int, Job]] = []
        if not await self._list_with_retries(client, host, mark, jobs):
            return False
        return all([await self._try_to_read(client, place_of(id), job) for id, job in jobs])

    async def _list_closed_threads(
        self,
        client: GatewayClient,
        host: Threaded,
        mark: int,
        jobs: list[tuple[int, Job]],
    ) -> None:
        """Find the threads of a channel that were closed since, and what is new in them."""
        jobs.clear()
        after = max(mark - MARGIN, _id_at_joining(host.guild))
        since = discord.utils.snowflake_time(max(mark - MARGIN, 0))
        with low_priority_calls():
            async for thread in host.archived_threads(limit=MOST_CLOSED):
                if thread.archive_timestamp < since:
                    break
                if (newest := thread.last_message_id or 0) > after:
                    job = partial(self._read_unknown, client, thread, after, newest)
                    jobs.append((thread.id, job))

    async def _read_unknown(
        self, client: GatewayClient, channel: Open, after: int, newest: int
    ) -> None:
        """The same where nobody was heard so far; not if another of ours has read it by now."""
        since, upto = self._done.get(channel.id, (after + 1, 0))
        if after < since or upto < newest:
            await self._read_since(client, channel, after)
            self._done[channel.id] = (after, newest)

    async def _read_since(self, client: GatewayClient, channel: Talk, after: int) -> None:
        """Hear what was said after a message; before one that is heard in a thread, all was."""
        most, missed = self._options.catch_up, list[discord.Message]()
        with low_priority_calls():
            async for message in channel.history(
                after=discord.Object(after), limit=most, oldest_first=False
            ):
                id = str(message.id)
                if message.id != channel.id and await self._channels.line(place_of(message.id), id):
                    break  # the first line of a thread that was opened on it
                missed.append(message)
        if len(missed) == most:
            log.warning("more than %d messages were missed in %s", most, place_of(channel.id))
        for message in reversed(missed):
            try:
                await self._hear(client, message)
            except (LedgerError, *FAILURES):
                raise
            except Exception as error:
                log.critical(
                    "something missed on Discord was not heard: %s", redact_tokens(repr(error))
                )

    async def _look_back(self, client: GatewayClient, channel: Talk, last: int, after: int) -> None:
        """Take in what became of the last lines that were heard: one call, and one for each gone.

        Only edits after the watermark are new: a name in a text may read otherwise now than then.
        """
        upto, since = discord.Object(last + 1), discord.utils.snowflake_time(max(after, 0))
        with low_priority_calls():
            stands = {each.id: each async for each in channel.history(limit=BACK, before=upto)}
        for message in sorted(stands.values(), key=lambda each: each.id):
            if message.flags.source_message_deleted:
                await self._reception.deleted(place_of(channel.id), str(message.id))
            elif message.edited_at is not None and message.edited_at >= since:
                await self._edit(client, message)
        place = place_of(channel.id)
        lowest = min(stands) if len(stands) == BACK else 0
        for id in await self._channels.heard(place, BACK):
            if lowest <= id <= last and id not in stands and await _is_gone(channel, id):
                await self._reception.deleted(place, str(id))


def _channels_of(guild: discord.Guild) -> Iterator[Open]:
    """Where messages can be in a server, with the threads and posts that are open."""
    yield from guild.text_channels
    yield from guild.voice_channels
    yield from guild.stage_channels
    yield from guild.threads


def _thread_hosts(guild: discord.Guild) -> Iterator[Threaded]:
    """Where threads can be in a server."""
    yield from guild.text_channels
    yield from guild.forums


def _id_at_joining(guild: discord.Guild) -> int:
    """The lowest id since our account is there: what was said before was never for its ears."""
    me: discord.Member | None = guild.me
    return (
        discord.utils.time_snowflake(me.joined_at)
        if me is not None and me.joined_at is not None
        else 0
    )


def _is_readable(client: GatewayClient, channel: object) -> bool:
    """Whether the past can be read there: without the right to, Discord says there is none."""
    if not client.sees(channel):
        return False
    if not isinstance(channel, discord.abc.GuildChannel | discord.Thread):
        return True
    return own_permissions(channel).read_message_history


async def _is_gone(channel: Talk, message: int) -> bool:
    """Whether Discord says that there is no such message. Raises what it says otherwise."""
    try:
        await channel_of_message(channel, message).fetch_message(message)
    except discord.NotFound as error:
        if error.code != UNKNOWN_MESSAGE:
            raise
        return True
    return False
