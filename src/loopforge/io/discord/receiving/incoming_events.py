"""Incoming events: what people do on Discord, in the order of each place, taken to the reception.

    a client hears  --> the place's queue (channel_queues.py) --> reception.take, edited, ...
    it was away     --> that queue first reads what was missed there (missed_backfill.py)

Several of our bots hear the same message: the first one counts. What we ourselves said, by an
account or a webhook, is not heard. A message that is refused is answered with the reason, where
somebody waits for one. Does not send anything else, and does not know rooms.
"""

import asyncio
import logging
from collections import defaultdict, deque
from collections.abc import Callable
from functools import partial

import discord
from loopforge.core.room_vocabulary import File
from loopforge.errors import BadLine, InputError, LedgerError, TooLarge
from loopforge.io.discord.connection.api_errors import FAILURES, redact_tokens
from loopforge.io.discord.connection.bot_accounts import (
    AccountSeat,
    BotAccounts,
    find_channel,
    place_of,
)
from loopforge.io.discord.connection.gateway_client import (
    NOBODY,
    SAID,
    GatewayClient,
    Talk,
    is_complete_message,
)
from loopforge.io.discord.connection.unread_backlog import Backlog
from loopforge.io.discord.discord_settings import DiscordOptions
from loopforge.io.discord.mate_threads import HeardPlace, Threads
from loopforge.io.discord.receiving.channel_queues import ChannelQueues
from loopforge.io.discord.receiving.file_download import FileDownload
from loopforge.io.discord.receiving.missed_backfill import MissedBackfill
from loopforge.io.discord.sending.draft_messages import DiscordLiveUpdates
from loopforge.io.discord.sending.personas import post_notice, tell_author_alone
from loopforge.io.discord.sending.webhooks import DiscordWebhooks
from loopforge.io.discord.text.incoming_message import (
    account_of,
    attachments_of,
    body_of,
    ground_of,
    is_addressed_to_us,
    is_sent_by_account,
    is_spoken_message,
    may_author_manage,
    may_manage_channel,
    own_words,
    quoted_by,
    spot_of,
)
from loopforge.io.platforms.emoji_reactions import STOP_EMOJIS
from loopforge.io.platforms.incoming_lines import IncomingMessage, note_refused_files
from loopforge.io.platforms.line_buttons import Presser
from loopforge.io.platforms.surface_plugin import SurfaceParts
from loopforge.io.platforms.typing_updates import RoomWatch
from loopforge.runtime.background_tasks import BackgroundTasks

log = logging.getLogger(__name__)
AGAIN = 60.0
"""Seconds after which a gap is read again that could not be read."""
DELETED = "it was deleted"
REMEMBERED = 4000
"""Messages of which it is known that they were heard; the ledger knows all the others."""


class IncomingEvents:
    """Hears for all accounts."""

    def __init__(
        self,
        crowd: BotAccounts,
        parts: SurfaceParts,
        options: DiscordOptions,
        hooks: DiscordWebhooks,
        files: FileDownload,
        watch: RoomWatch,
        drafts: DiscordLiveUpdates,
        threads: Threads,
        arrived: Callable[[GatewayClient], None],
    ) -> None:
        self._crowd, self._reception, self._hooks = crowd, parts.reception, hooks
        self._files, self._clock, self._watch = files, parts.clock, watch
        self._threads, self._arrived = threads, arrived
        self._known: deque[int] = deque(maxlen=REMEMBERED)
        self._names: dict[int, str] = {}
        self._unsure: dict[int, Talk] = {}
        takes = (self._hear_once, self._take_edit)
        self._backlog, self._tasks = Backlog(parts.front), BackgroundTasks()
        self._queues = ChannelQueues(crowd, self._backlog, parts.clock, self._tasks)
        self._missed = MissedBackfill(crowd, parts, options, watch, drafts, self._backlog, takes)
        self._reading: dict[int, dict[object, bool]] = defaultdict(dict)

    async def close(self) -> None:
        """Hear nothing any more."""
        await self._tasks.close()

    # ------------------------------------------------------------ what clients tell

    def listen(self, client: GatewayClient) -> None:
        """Be told from now on what this client hears, in the order in which it does.

        By discord.py's names for it, and (spoiled) by gateway_client.py's.
        """
        for name, heard in vars(IncomingEvents).items():
            if name.startswith("on_"):
                setattr(client, name, partial(heard, self, client))

    async def on_connect(self, client: GatewayClient) -> None:
        """A session began: what is heard now waits until it is known what was missed."""
        self._queues.begin(client)
        self._queues.hold(client)
        self._reading[self._crowd.index(client)] = {}
        await self.on_disconnect(client)

    async def on_disconnect(
        self, client: GatewayClient, _guild: discord.Guild | None = None
    ) -> None:
        """From now on it may miss something: its connection, or a server, is gone."""
        self._backlog.opened(self._crowd.index(client))

    on_guild_unavailable = on_disconnect

    async def on_resumed(self, client: GatewayClient) -> None:
        """It missed nothing, unless it reads what it missed before."""
        self._tasks.spawn(self._finish_backfill(client), f"{client.user} resumed")

    async def on_ready(self, client: GatewayClient) -> None:
        """Its servers are known: read what was missed."""
        self._crowd.stands(self._crowd.index(client), "connected")
        self._arrived(client)
        for id, channel in self._unsure.items():
            self._queues.put(client, id, partial(self._let_mates_join, client, channel))
        if not self._crowd.mates_awaited():
            self._unsure.clear()
        self._begin_catch_up(client)

    async def on_guild_available(self, client: GatewayClient, guild: discord.Guild) -> None:
        """A server that was late, or away: what was missed there is read before what comes now."""
        if not self._queues.holds(client) or self._reading[self._crowd.index(client)]:
            self._queues.hold(client)
            self._begin_catch_up(client, guild)

    async def on_message(self, client: GatewayClient, message: discord.Message) -> None:
        """Somebody said something."""
        if not is_complete_message(message):
            client.passed_over(SAID[0])
            await self.on_spoiled(client, message.channel.id, message.id, edited=False)
            return
        self._backlog.heard(self._crowd.index(client), message.id)
        if is_sent_by_account(client, message) and client.speech.heard(message.id):
            self._crowd.contested(self._crowd.index(client))
        work = partial(self._hear_once, client, message)
        self._queues.put(client, message.channel.id, work, message.id)

    async def on_guild_channel_update(self, client: GatewayClient, *channel: object) -> None:
        """A channel or a thread may bear another name now."""
        if isinstance(it := channel[-1], Talk):
            spot = spot_of(it, "")
            work = partial(self._reception.sessions.renamed, spot)
            self._queues.put_change(client, it.id, ("name", *spot), work)

    on_thread_update = on_guild_channel_update

    async def on_guild_channel_delete(
        self, client: GatewayClient, gone: discord.abc.GuildChannel | discord.RawThreadDeleteEvent
    ) -> None:
        """A channel or a thread is no more: nobody steers or stops anything there."""
        id = gone.thread_id if isinstance(gone, discord.RawThreadDeleteEvent) else gone.id
        work = partial(self._reception.sessions.part, place_of(id), DELETED, lost=True)
        self._queues.put_change(client, id, ("gone", id), work)

    on_raw_thread_delete = on_guild_channel_delete

    async def on_webhooks_update(
        self, _client: GatewayClient, channel: discord.abc.GuildChannel
    ) -> None:
        """A channel has other webhooks now."""
        self._hooks.changed(channel.id)

    async def on_raw_message_edit(
        self, client: GatewayClient, event: discord.RawMessageUpdateEvent
    ) -> None:
        """A message was changed; without a new text, Discord only added a preview to it.

        What was published from a channel and deleted there is no more.
        """
        if not is_complete_message(event.message):
            client.passed_over(SAID[1])
            await self.on_spoiled(client, event.channel_id, event.message_id, edited=True)
        elif event.message.flags.source_message_deleted:
            self._queue_deletion(client, event.channel_id, {event.message_id})
        elif event.message.edited_at is not None:
            work = partial(self._take_edit, client, event.message)
            what = ("edit", event.message_id, event.message.edited_at)
            self._queues.put_change(client, event.channel_id, what, work)

    async def on_spoiled(
        self, client: GatewayClient, channel: int, message: int, *, edited: bool
    ) -> None:
        """A message came without what is needed of it: ask for it, in its turn."""
        job = partial(self._missed.again, client, channel, message, edited=edited)
        if edited:
            self._queues.put_change(client, channel, ("edit", message), job)
        else:
            self._queues.put(client, channel, job, message)

    async def on_raw_message_delete(
        self, client: GatewayClient, event: discord.RawMessageDeleteEvent
    ) -> None:
        """A message is no more."""
        self._queue_deletion(client, event.channel_id, {event.message_id})

    async def on_raw_bulk_message_delete(
        self, client: GatewayClient, event: discord.RawBulkMessageDeleteEvent
    ) -> None:
        """Several are no more."""
        self._queue_deletion(client, event.channel_id, event.message_ids)

    def _queue_deletion(self, client: GatewayClient, channel: int, messages: set[int]) -> None:
        async def work() -> None:
            for each in sorted(messages):
                for place in await self._threads.places(channel, each):
                    await self._reception.deleted(place, str(each))

        self._queues.put_change(client, channel, ("deletion", *sorted(messages)), work)

    async def on_raw_reaction_add(
        self, client: GatewayClient, event: discord.RawReactionActionEvent
    ) -> None:
        """An emoji was put on a message, or taken back; our own do not count."""
        if not self._crowd.us(event.user_id):
            work = partial(self._take_reaction, client, event)
            what = (event.event_type, event.message_id, event.user_id, str(event.emoji))
            self._queues.put_change(client, event.channel_id, what, work)

    on_raw_reaction_remove = on_raw_reaction_add

    async def on_raw_reaction_clear(
        self,
        client: GatewayClient,
        event: discord.RawReactionClearEvent | discord.RawReactionClearEmojiEvent,
    ) -> None:
        """Whoever keeps a place took all emojis off a message, or each of one kind."""
        kind = isinstance(event, discord.RawReactionClearEmojiEvent) and event.emoji
        emoji, message = str(kind or ""), str(event.message_id)

        async def work() -> None:
            for place in await self._threads.places(event.channel_id, event.message_id):
                await self._reception.cleared(place, message, emoji)

        self._queues.put_change(client, event.channel_id, ("cleared", message, emoji), work)

    on_raw_reaction_clear_emoji = on_raw_reaction_clear

    def forget(self, client: GatewayClient) -> None:
        """This client is no more; what it heard last, its successor reads."""
        self._queues.release(client, gone=True)

    # ------------------------------------------------------------ what was missed

    def _begin_catch_up(self, client: GatewayClient, late: discord.Guild | None = None) -> None:
        reading = object()
        self._reading[self._crowd.index(client)][reading] = False
        self._tasks.spawn(self._catch_up(client, late, reading), f"what {client.user} missed")

    async def _catch_up(
        self, client: GatewayClient, late: discord.Guild | None, reading: object
    ) -> None:
        """Let every place read what was missed first, then what was heard meanwhile.

        What cannot be read now is read later, unless a newer session reads all of it.
        """
        while not await self._caught_up(client, late, reading):
            await self._clock.sleep(AGAIN)
            if self._given_up(client, reading):
                return
        if self._reading[self._crowd.index(client)].pop(reading, False):
            await self._finish_backfill(client)

    async def _caught_up(
        self, client: GatewayClient, late: discord.Guild | None, reading: object
    ) -> bool:
        """Whether it could be found out what was missed, and that was read, or is not to be."""
        try:
            missed = await self._missed.jobs(client, late)
            waiting = [self._queues.put_reading(*each) for each in missed]
            self._release_held(client, reading)
            closed = await self._missed.closed(client, late)
            waiting += [self._queues.put_reading(*each) for each in closed]
            missed += closed
            while not all(read := await asyncio.gather(*waiting)):
                await self._clock.sleep(AGAIN)
                if self._given_up(client, reading):
                    return False
                missed = [each for each, done in zip(missed, read, strict=True) if not done]
                waiting = [self._queues.put_reading(*each) for each in missed]
        except LedgerError as error:
            log.critical("what was missed on Discord cannot be found out now: %s", error)
            return False
        finally:
            self._release_held(client, reading)
        return True

    def _given_up(self, client: GatewayClient, reading: object) -> bool:
        """Whether a newer session reads all of it, or nobody does."""
        return reading not in self._reading[self._crowd.index(client)] or client.is_closed()

    async def _finish_backfill(self, client: GatewayClient) -> None:
        """It missed nothing, if nothing is left to be read, and nothing is away."""
        index = self._crowd.index(client)
        read = not self._queues.holds(client) and not self._reading[index]
        if read and client.ws.open and not any(each.unavailable for each in client.guilds):
            await self._backlog.done(index)

    def _release_held(self, client: GatewayClient, reading: object) -> None:
        """Take what was heard meanwhile, after all that is read; but not a newer session's."""
        readings = self._reading[self._crowd.index(client)]
        if reading in readings:
            readings[reading] = True
            if all(readings.values()):
                self._queues.release(client)

    # ------------------------------------------------------------ hearing

    async def _hear_once(self, client: GatewayClient, message: discord.Message) -> None:
        """Take one message in, once, whichever of our bots brought it."""
        if (
            message.id in self._known
            or not is_spoken_message(message)
            or await self._is_ours(message)
        ):
            return
        if await self._threads.heard(message):
            return
        if client.is_closed() and attachments_of(message):  # it cannot fetch files any more
            await self._missed.again(client, message.channel.id, message.id, edited=False)
            return
        channel = client.met(message.channel) or await find_channel(client, message.channel.id)
        if channel is not None:
            await self._backlog.guard(message.id)
            self._names[message.author.id] = message.author.display_name
            await self._bring(client, message, channel)

    async def thread(
        self, client: GatewayClient, message: discord.Message, asker: discord.abc.User
    ) -> str:
        """Open a thread on a message, since somebody asks for it; what they are told."""
        ours = await self._is_ours(message)
        return await self._threads.ask(client, message, asker, self._bring, ours=ours)

    async def _bring(
        self,
        client: GatewayClient,
        message: discord.Message,
        channel: Talk,
        venue: HeardPlace | None = None,
    ) -> None:
        seat = AccountSeat(client, channel)
        notice = await self._take_if_allowed(seat, message, venue)
        self._known.append(message.id)
        await self._explain_refusal(seat, message, notice)

    async def _take_if_allowed(
        self, seat: AccountSeat, message: discord.Message, venue: HeardPlace | None
    ) -> str:
        """Let it be heard, if it may be; what is to be said of that."""
        client, channel = seat
        ground = ground_of(client, channel, message.author.id)
        if ground is not None:
            asked = is_addressed_to_us(message, self._crowd)
            refused = await self._reception.serves(ground, account_of(message), asked=asked)
            if refused is not None:
                await self._spend_exposed_code(seat, message)
                return refused
        files, problems = list[File](), list[str]()
        if attachments_of(message):
            notice, given = await self._check_uploader(message, channel)
            if notice is not None:
                return notice
            files, problems = await self._files.taken(message) if given else ([], [])
        text = body_of(message, self._crowd, channel)
        bare = not text.strip() and not files
        if bare and (not problems or self._awaits_answer(channel, message)):
            return " ".join(problems)
        try:
            told = await self._take_in(
                seat, message, note_refused_files(text, problems).strip(), files, venue
            )
        except (BadLine, TooLarge, InputError) as error:
            self._files.settled(files)
            told = str(error)
        return " ".join([told, *problems]).strip()

    async def _check_uploader(
        self, message: discord.Message, channel: Talk
    ) -> tuple[str | None, bool]:
        """What the door says to somebody who brings files, and whether these are kept."""
        account, name = account_of(message), message.author.display_name
        spot, bot = spot_of(channel, name), message.author.bot
        notice = await self._reception.admit(spot, account, name, bot=bot)
        return notice, await self._reception.may_give(
            spot, account, keeper=may_author_manage(message)
        )

    async def _take_in(
        self,
        seat: AccountSeat,
        message: discord.Message,
        text: str,
        files: list[File],
        venue: HeardPlace | None,
    ) -> str:
        if not await self._reception.sessions.known(place_of(seat.channel.id)):
            await self._crowd.gathered()  # else whoever connects last is in no new room
        reference = message.reference if message.type is discord.MessageType.reply else None
        replied = reference.message_id if reference is not None else None
        ours = await self._to_us(reference)
        try:
            venue = venue or await self._threads.venue(*seat, message, text, ours=ours)
            coming = IncomingMessage(
                spot=spot_of(venue.channel, message.author.display_name),
                mates=venue.mates,
                message=str(message.id),
                account=account_of(message),
                name=message.author.display_name,
                text=text,
                at=self._reception.time.now() if venue.moved else message.created_at,
                reply_to="" if venue.moved else str(replied or ""),
                ours=ours,
                bot=message.author.bot,
                keeper=may_author_manage(message),
                called=venue.called or self._mentions_shared_account(message),
                files=tuple(files),
            )
            if venue.asker is not None:
                coming = quoted_by(venue.asker, coming, seat.channel)
            taken = await self._reception.take(coming)
        finally:
            self._threads.begun(message.id)
        self._files.settled(files)
        if taken.room:
            self._watch.room(taken.room)
        if taken.heard is not None and self._crowd.mates_awaited():
            self._unsure[venue.channel.id] = venue.channel  # whoever is there by those is not yet
        await post_notice(seat, message, taken.warning)
        await tell_author_alone(seat, message, taken.private)
        return taken.notice

    async def _let_mates_join(self, client: GatewayClient, channel: Talk) -> None:
        """Let the mates of an account that connected late into a place that was spoken in."""
        here = set(self._crowd.mates_in(channel)) & set(self._crowd.mates_of(client.account))
        spot = spot_of(channel, "")
        if here and not self._threads.ours(channel):
            await self._reception.sessions.room(spot, sorted(here))

    async def _to_us(self, reference: discord.MessageReference | None) -> bool:
        """Whether a reply is to a message of ours."""
        found = reference.resolved if reference is not None else None
        return isinstance(found, discord.Message) and await self._is_ours(found)

    def _mentions_shared_account(self, message: discord.Message) -> bool:
        """Whether it mentions an account of ours that is there for several mates."""
        ours = self._crowd.users()
        return any(ours[user.id].shared for user in message.mentions if user.id in ours)

    async def _is_ours(self, message: discord.Message) -> bool:
        if self._crowd.us(message.author.id):
            return True
        if message.webhook_id is None:
            return False
        if message.application_id not in self._crowd.applications():
            await self._crowd.gathered()  # it may be of an account that connects only now
        return await self._hooks.ours(message)

    def _awaits_answer(self, channel: Talk, message: discord.Message) -> bool:
        """Whether somebody waits for an answer, and is told why something was not taken."""
        if message.author.bot:
            return False
        return isinstance(channel, discord.DMChannel) or is_addressed_to_us(message, self._crowd)

    async def _explain_refusal(
        self, seat: AccountSeat, message: discord.Message, text: str
    ) -> None:
        """Say why something was not taken, to somebody who waits for an answer."""
        if self._awaits_answer(seat.channel, message):
            await post_notice(seat, message, text)

    async def _spend_exposed_code(self, seat: AccountSeat, message: discord.Message) -> None:
        """Spend a code for linking that others can read in it, and say so."""
        spot = spot_of(seat.channel, message.author.display_name)
        text = body_of(message, self._crowd, seat.channel)
        await post_notice(seat, message, await self._reception.exposed(spot, text))

    # ------------------------------------------------------------ changes

    async def _take_edit(self, client: GatewayClient, message: discord.Message) -> None:
        if await self._is_ours(message):
            return
        channel = client.met(message.channel)
        if channel is not None:
            text = body_of(message, self._crowd, channel)
            for place in await self._threads.places(channel.id, message.id):
                own = str if message.author.bot else own_words
                await self._reception.edited(place, str(message.id), account_of(message), text, own)
            await self._spend_exposed_code(AccountSeat(client, channel), message)

    async def _take_reaction(
        self, client: GatewayClient, event: discord.RawReactionActionEvent
    ) -> None:
        """Take in an emoji; what a stop sign did is told to who put it there."""
        message = str(event.message_id)
        back, account = event.event_type == "REACTION_REMOVE", str(event.user_id)
        name = await self._name_of_reactor(client, event)
        manages = may_manage_channel(event.member, client.get_channel(event.channel_id))
        by = Presser(
            account=account,
            name=name,
            keeper=event.guild_id is None or manages,
            bot=event.member is not None and event.member.bot,
        )
        told = ""
        for place in await self._threads.places(event.channel_id, event.message_id):
            shown = await self._reception.reacted(place, message, by, str(event.emoji), back=back)
            told = shown or told
        channel = await find_channel(client, event.channel_id)
        stops = str(event.emoji) in STOP_EMOJIS and not (back or told or by.bot)
        if stops and channel is not None:
            told = await self._stop_in_place(client, channel, by)
        if channel is not None and told:
            try:
                said = await channel.send(f"-# *{told}*", allowed_mentions=NOBODY)
                client.speech.said(said.id)
            except FAILURES as error:
                log.info("what a stop sign did could not be shown: %s", redact_tokens(error))

    async def _stop_in_place(self, client: GatewayClient, channel: Talk, by: Presser) -> str:
        """Stop what mates do in a place, by a sign on what is no line; what is told of it."""
        place = place_of(channel.id)
        if not await self._reception.sessions.known(place):
            return ""
        spot, mates = spot_of(channel, by.name), await self._threads.mates(client, channel)
        try:
            return await self._reception.command(
                spot, mates, by.account, by.name, "stop", "", keeper=by.keeper
            )
        except InputError as refused:
            return self._reception.unheeded(place, by, str(refused))

    async def _name_of_reactor(
        self, client: GatewayClient, event: discord.RawReactionActionEvent
    ) -> str:
        """Who that is; a reaction that is taken back comes without its name."""
        if event.member is not None:
            self._names[event.user_id] = event.member.display_name
        if event.user_id not in self._names:
            try:
                user = await client.fetch_user(event.user_id)
                self._names[event.user_id] = user.display_name
            except FAILURES:
                return ""
        return self._names[event.user_id]
