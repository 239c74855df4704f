"""Threads: a talk with a mate in a thread of its own, opened on the very message it begins with.

    a line in a channel calls a mate  --> a thread on it, where it is heard and answered (venue)
    somebody asks for it on any line  --> the same, whoever said it (ask)
    the room there finds a title      --> the thread bears it, once for each title

Discord lets a message have one thread, under the message's own id. So a call that broke off is
never made again before that id was looked up, and it does not matter how many of our bots hear a
line. Such a thread is told from people's own by who owns it: no fact is kept of it.

Where none can be opened a line is heard in its channel. Does not hear or say anything itself, and
does not cover threads and posts that people open: those are places like any other.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import NamedTuple, TypeGuard

import discord
from loopforge.chat.room.platform_channels import ChannelSpot, room_of
from loopforge.chat.room.room_state import RoomState
from loopforge.chat.speaking import name_mentions
from loopforge.chat.speaking.stop_requests import is_stop
from loopforge.core.events import Event
from loopforge.core.room_vocabulary import Said, Titled
from loopforge.errors import LoopforgeError, SendFailed, Unknown
from loopforge.io.discord.connection.account_checks import permission_label
from loopforge.io.discord.connection.api_errors import as_send_failure, redact_tokens
from loopforge.io.discord.connection.bot_accounts import (
    PREFIX,
    BotAccounts,
    channel_label,
    find_channel,
    place_of,
)
from loopforge.io.discord.connection.gateway_client import GatewayClient, Talk, own_permissions
from loopforge.io.discord.discord_settings import DiscordOptions
from loopforge.io.discord.text.incoming_message import (
    account_of,
    body_of,
    may_author_manage,
    spot_of,
)
from loopforge.io.discord.text.markdown import thread_name
from loopforge.io.platforms.surface_plugin import SurfaceParts
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.ports import Listening

log = logging.getLogger(__name__)
NEEDED = ("create_public_threads", "send_messages_in_threads")
"""Permissions without which there is no thread in which a mate could answer."""
ATTENDED = 500
"""Rooms whose titles are listened for: those in which somebody spoke last."""
NOWHERE = "A thread can be opened on a line in a text channel of a server."
UNSAID = "There is nothing said in it that one could talk about."
NOT_YOURS = "In this channel you may not open threads."
UNANSWERED = "In this channel mates do not answer you: whoever manages it set that by /rights."


class HeardPlace(NamedTuple):
    """Where a line is heard, and by which mates.

    `called`: it is said to them, also where it names none. `moved`: it stands in the channel, and
    is heard in the thread that was opened on it. `asker`: who brings it up there, not its author.
    """

    channel: Talk
    mates: tuple[str, ...]
    called: bool = False
    moved: bool = False
    asker: discord.abc.User | None = None


class _Opening(NamedTuple):
    """A thread that is to be opened: who heard of it, on which message, with whom."""

    client: GatewayClient
    message: discord.Message
    channel: discord.TextChannel
    mates: tuple[str, ...]


Hear = Callable[[GatewayClient, discord.Message, Talk, HeardPlace], Awaitable[None]]


def channel_of_message(channel: Talk, message: int) -> Talk:
    """Where a message stands that is a line of a place: what a thread was opened on, above it."""
    if not isinstance(channel, discord.Thread) or channel.id != message:
        return channel
    return channel.parent if isinstance(channel.parent, discord.TextChannel) else channel


def _is_opened_by(place: str, room: str) -> bool:
    """Whether a room was opened by this place, so that nothing older is in it."""
    return room.startswith(room_of(place))


class Threads:
    """Opens threads, tells which are ours, and names them."""

    def __init__(self, crowd: BotAccounts, parts: SurfaceParts, options: DiscordOptions) -> None:
        self._crowd, self._reception, self._front = crowd, parts.reception, parts.front
        self._sessions = parts.reception.sessions
        self._opening, self._patience = options.threads, parts.manners.patience
        self._beginning: dict[int, asyncio.Event] = {}
        self._told: set[tuple[int, str]] = set()
        self._ears: dict[str, Listening] = {}
        self._branching, self._tasks = asyncio.Lock(), BackgroundTasks()

    async def close(self) -> None:
        """Name nothing any more."""
        for ear in self._ears.values():
            ear.close()
        await self._tasks.close()

    # ------------------------------------------------------------ which lines are where

    async def heard(self, message: discord.Message) -> bool:
        """Whether it was heard in the thread that hangs on it."""
        return bool(await self._line_of(message.id))

    async def places(self, channel: int, message: int) -> list[str]:
        """Where a message of a channel may be a line: there, and in the thread that hangs on it."""
        there = [place_of(message)] if message != channel and await self._line_of(message) else []
        return [place_of(channel), *there]

    def ours(self, channel: object) -> TypeGuard[discord.Thread]:
        """Whether this is a thread that one of our accounts opened."""
        return isinstance(channel, discord.Thread) and self._crowd.us(channel.owner_id)

    async def mates(self, client: GatewayClient, channel: Talk) -> tuple[str, ...]:
        """Who is in a place besides those who are in its room: nobody, in a thread of ours."""
        if self.ours(channel) and await self._sessions.known(place_of(channel.id)):
            return ()
        return self._crowd.mates_in(channel) or self._crowd.mates_of(client.account)

    async def _line_of(self, message: int) -> str:
        return await self._sessions.channels.line(place_of(message), str(message))

    # ------------------------------------------------------------ where a line is heard

    async def venue(
        self,
        client: GatewayClient,
        channel: Talk,
        message: discord.Message,
        text: str,
        *,
        ours: bool,
    ) -> HeardPlace:
        """Where this line is heard; `ours`: it answers a message of ours. `begun` is said after."""
        if (begun := self._beginning.get(channel.id)) is not None:
            await begun.wait()  # what the thread was opened on is its first line
        if self.ours(channel):
            mates = await self.mates(client, channel)
            mates = mates or await self._called_mates(message, channel, text, ours=ours)
            if room := await self._sessions.known(place_of(channel.id)):
                self._follow_titles(room)
            else:  # nobody knew of it so far: the home ended, or the call broke off
                await self._open_room(channel, mates)
            return HeardPlace(channel, mates, called=not self._is_said_aside(message, ours=ours))
        if isinstance(channel, discord.TextChannel) and await self._is_worth_thread(message, text):
            apart = await self._is_apart(place_of(channel.id))
            mates = await self._called_mates(message, channel, text, ours=ours) if apart else ()
            opening = _Opening(client, message, channel, mates)
            thread = await self._try_thread(opening) if mates else None
            if thread is not None:
                await self._begin_room(thread, opening)
                return HeardPlace(thread, mates, called=True, moved=True)
        return HeardPlace(channel, await self.mates(client, channel))

    def begun(self, message: int) -> None:
        """The line is heard, or never will be: what is said in a thread on it is next."""
        if (waiting := self._beginning.pop(message, None)) is not None:
            waiting.set()

    async def _is_worth_thread(self, message: discord.Message, text: str) -> bool:
        """Whether a line of this kind is worth a thread, if it calls somebody: it is answered."""
        late = self._reception.time.age(message.created_at) > self._patience
        unfit = message.author.bot or late or is_stop(text, self._mates_in(message.channel))
        if self._opening != "answer" or unfit:
            return False
        return await self.may_talk(
            message.channel.id, account_of(message), keeper=may_author_manage(message)
        )

    async def may_talk(self, channel: int, account: str, *, keeper: bool) -> bool:
        """Whether somebody's lines are answered in a channel, so that they may begin a talk."""
        spot = ChannelSpot(place_of(channel), "", "group")
        return await self._reception.may_give(spot, account, keeper=keeper)

    async def _is_apart(self, place: str) -> bool:
        """Whether a place is a conversation of its own: people in joined ones are to hear it."""
        if not (room := await self._sessions.known(place)):
            return True
        return _is_opened_by(place, room) and len((await self._front.rooms.state(room)).places) == 1

    def _is_said_aside(self, message: discord.Message, *, ours: bool) -> bool:
        """Whether it is said to somebody else: a person who is mentioned, or answered."""
        if not all(self._crowd.us(user.id) for user in message.mentions):
            return True
        answered = message.reference.resolved if message.reference is not None else None
        return isinstance(answered, discord.Message) and not (
            ours or answered.author == message.author
        )

    async def _called_mates(
        self, message: discord.Message, channel: Talk, text: str, *, ours: bool
    ) -> tuple[str, ...]:
        """The mates that a line calls in a place, in the order in which it does."""
        state, here = await self._room_of_place(channel), self._mates_in(channel)
        said, away = name_mentions.strip_quotes_and_code(text, surface=PREFIX), self._mates_on_way()
        found = [
            (mate, call.summons) for mate, call in name_mentions.find_mentions(said, away | here)
        ]
        here |= {mate: away[mate] for mate, call in found if mate in away and call == "mention"}
        answered = message.reference.resolved if message.reference is not None else None
        if ours and isinstance(answered, discord.Message):
            found.insert(0, (await self._author_mate(answered, channel), "reply"))
        obeying = [mate for mate, call in found if mate in here and self._obeys(state, mate, call)]
        return tuple(dict.fromkeys(obeying))

    async def _room_of_place(self, channel: Talk) -> RoomState | None:
        """The room of a place; None if it has none."""
        room = await self._sessions.known(place_of(channel.id))
        return await self._front.rooms.state(room) if room else None

    def _mates_in(self, channel: object) -> dict[str, str]:
        """The names of the mates that are in a place."""
        return {mate: self._crowd.name(mate) for mate in self._crowd.mates_in(channel)}

    def _mates_on_way(self) -> dict[str, str]:
        """The names of the mates whose account is about to be there."""
        return {mate: self._crowd.name(mate) for mate in self._crowd.mates_awaited()}

    def _obeys(self, state: RoomState | None, mate: str, call: str) -> bool:
        """Whether a mate is there, and this call is one that it comes to."""
        if mate not in self._front.rooms.mates or (state is not None and mate in state.left):
            return False
        chosen = state.triggers.get(mate) if state is not None else None
        return call in (self._front.rooms.mates[mate].triggers if chosen is None else chosen)

    async def _author_mate(self, message: discord.Message, channel: Talk) -> str:
        """The mate that said a message of ours; "" for a word of the room."""
        place = place_of(channel.id)
        room, line = await self._sessions.known(place), ""
        if room:
            line = await self._sessions.channels.line(place, str(message.id))
        if line:
            try:
                body = (await self._front.line(room, line)).body
            except Unknown:
                return ""
            return body.mate if isinstance(body, Said) else ""
        account = self._crowd.users().get(message.author.id)
        mates = self._crowd.mates_of(account) if account is not None else ()
        return mates[0] if len(mates) == 1 else ""

    # ------------------------------------------------------------ opening

    async def ask(
        self,
        client: GatewayClient,
        message: discord.Message,
        asker: discord.abc.User,
        hear: Hear,
        *,
        ours: bool,
    ) -> str:
        """Open a thread on any line because somebody asks for it; what they are told.

        Somebody else's line is heard as their words about it, at their cost.
        """
        channel = client.met(message.channel)
        if not isinstance(channel, discord.TextChannel):
            return NOWHERE
        mates = await self._mates_to_ask(client, message, channel, ours=ours)
        if not mates:
            return "No mate is here by this bot."
        try:
            thread = await self._make_thread(opening := _Opening(client, message, channel, mates))
            if self.ours(thread):
                await self._begin_room(thread, opening, quoted=ours)
                if not ours and not await self._line_of(message.id):
                    by = asker if asker.id != message.author.id else None
                    venue = HeardPlace(thread, mates, called=True, moved=True, asker=by)
                    await hear(client, message, channel, venue)
        except LoopforgeError as error:
            why = error.why if isinstance(error, SendFailed) else str(error)
            return f"No thread could be opened: {why}"
        finally:
            self.begun(message.id)
        return f"The talk goes on in <#{thread.id}>."

    async def _mates_to_ask(
        self,
        client: GatewayClient,
        message: discord.Message,
        channel: discord.TextChannel,
        *,
        ours: bool,
    ) -> tuple[str, ...]:
        """Whose line it is, whom it calls, or who is there by this bot; nobody who was sent out."""
        left = state.left if (state := await self._room_of_place(channel)) is not None else []
        if ours and (author := await self._author_mate(message, channel)):
            return () if author in left else (author,)
        text = body_of(message, self._crowd, channel)
        called = await self._called_mates(message, channel, text, ours=False)
        here = tuple(m for m in self._crowd.mates_of(client.account) if m not in left)
        chosen = state.default_mate if state is not None else ""
        return called or ((chosen,) if chosen in here else here[:1])

    async def _try_thread(self, opening: _Opening) -> discord.Thread | None:
        """Our thread on a message; None where there is none, which is said once for each reason."""
        thread, channel = None, opening.channel
        try:
            thread = await self._make_thread(opening)
        except SendFailed as failure:
            if (channel.id, failure.why) not in self._told:
                self._told.add((channel.id, failure.why))
                log.warning("no thread in %s, so it is answered there: %s", channel, failure.why)
        if not self.ours(thread):
            self.begun(opening.message.id)
            return None
        return thread

    async def _make_thread(self, opening: _Opening) -> discord.Thread:
        """The thread on a message: the one there is, or a new one. Raises SendFailed."""
        client, message, channel, _ = opening
        self._beginning.setdefault(message.id, asyncio.Event())
        known = message.thread
        if known is None and message.flags.has_thread:
            known = await self._find_thread(client, message.id)
        if known is not None:
            return known
        opener, host = self._opener_of(opening)
        allowed = own_permissions(host)
        for each in NEEDED:
            if not getattr(allowed, each):
                right = permission_label(each)
                raise SendFailed(f"the bot lacks the permission {right} there.", final=True)
        name = thread_name(body_of(message, self._crowd, channel))
        for again in (True, False):
            try:
                return await host.get_partial_message(message.id).create_thread(name=name)
            except Exception as error:
                failure = as_send_failure(error, channel_label(channel))
            if (found := await self._find_thread(opener, message.id)) is not None:
                return found
            if failure.final or failure.gone or failure.after or not again:
                break
        raise failure

    async def _find_thread(self, client: GatewayClient, message: int) -> discord.Thread | None:
        """The thread that hangs on a message, asked for. Raises SendFailed where nobody knows."""
        found = await find_channel(client, message)
        return found if isinstance(found, discord.Thread) else None

    def _opener_of(self, opening: _Opening) -> tuple[GatewayClient, discord.TextChannel]:
        """Who opens the thread: the account of the first mate that was called, if it is there."""
        client, _, channel, mates = opening
        found = [
            (each, mine)
            for each in self._crowd.clients()
            if each.account.speaks_for(mates[0])
            and isinstance(mine := each.get_channel(channel.id), discord.TextChannel)
        ]
        own = [pair for pair in found if pair[0].account.mates == mates[:1]]
        return next(iter([*own, *found]), (client, channel))

    async def _begin_room(
        self, thread: discord.Thread, opening: _Opening, *, quoted: bool = False
    ) -> None:
        """The thread's room, with these mates, the channel's rights, and what of ours began it."""
        _, message, channel, mates = opening
        answered = message.reference.resolved if message.reference is not None else None
        source = message if quoted else answered
        told = ""
        if isinstance(source, discord.Message) and await self._author_mate(source, channel):
            words = body_of(source, self._crowd, channel)
            told = f"{source.author.display_name} had said in {channel_label(channel)}: {words}"
        await self._open_room(thread, mates, told)

    async def _open_room(
        self, thread: discord.Thread, mates: tuple[str, ...], told: str = ""
    ) -> None:
        """Let a thread of ours have a room, where the rights of its channel hold from the start."""
        async with self._branching:
            room = await self._sessions.room(spot_of(thread, thread.name), mates)
            of = await self._sessions.known(place_of(thread.parent_id))
            await self._front.branch(room, of, told)
        self._follow_titles(room)

    # ------------------------------------------------------------ names

    def _follow_titles(self, room: str) -> None:
        """Listen for titles of a room that a thread of ours is part of."""
        ear = self._ears.pop(room, None)
        if ear is None:
            ear = self._front.rooms.listen(room)
            self._tasks.spawn(self._listen_for_titles(room, ear), f"titles of {room}")
        self._ears[room] = ear
        if len(self._ears) > ATTENDED:
            self._ears.pop(next(iter(self._ears))).close()

    async def _listen_for_titles(self, room: str, ear: Listening) -> None:
        names = await self._title_given(room)
        async for what in ear:
            if isinstance(what, Event) and isinstance(what.body, Titled) and what.body.by == "room":
                try:
                    await self._rename_thread(room, thread_name(str(what.body.title)), names)
                except Exception as error:  # Discord takes two names in ten minutes
                    log.info("a thread keeps its name: %s", redact_tokens(repr(error)))

    async def _title_given(self, room: str) -> set[str]:
        """The name that the room's title gave its thread before this process was there."""
        try:
            state = await self._front.rooms.state(room)
        except LoopforgeError:
            return set()
        return {thread_name(str(state.title))} if state.titled_by == "room" else set()

    async def _rename_thread(self, room: str, name: str, names: set[str]) -> None:
        """Let our thread bear this name, unless somebody named it; `names`: those it had of us."""
        for place, known in (await self._front.rooms.state(room)).places.items():
            if not (place.startswith(PREFIX) and _is_opened_by(place, room)):
                continue
            thread = (await self._crowd.seat(place, owed=False)).channel
            given = {*names, str(known.met)} - {name}
            if not isinstance(thread, discord.Thread) or thread.name not in given:
                continue
            owner = self._crowd.ours(thread.owner_id)
            mine = await find_channel(owner, thread.id) if owner is not None else None
            if isinstance(mine, discord.Thread):
                names.add(name)
                await mine.edit(name=name)
