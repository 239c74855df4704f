"""Polling: one bot of Telegram, asked for what is new for as long as the home runs.

What came is taken in before it is acknowledged (the next question carries the number of the first
update that is still wanted), so that nothing is lost when the home dies in between; what comes
twice is heard once by whoever hears it. A connection that breaks is made anew, with growing pauses.
An update that the library cannot read is passed over: it would come again for ever.

The updates of a chat are taken in one after the other, chats side by side: a file that comes slowly
holds up its own chat alone. What stands behind the first that is not taken in yet comes again, and
is known by its number here. Telegram tells a hundred updates at once: so far the other chats can
run ahead of a slow one. What cannot be kept is dropped with what waits behind it in its chat, and
comes again in that order. The messages of an album come one by one, and are taken in as one.

Does not know what an update means, but that a group which becomes a supergroup stays one chat.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from itertools import takewhile
from typing import Any
from urllib.parse import quote

import httpx
from telegram.error import (
    BadRequest,
    Conflict,
    Forbidden,
    InvalidToken,
    NetworkError,
    TelegramError,
)
from telegram.request import HTTPXRequest

import telegram
from loopforge.core.limits.bounded_mapping import BoundedMapping
from loopforge.errors import LedgerError
from loopforge.io.platforms.bot_tokens import BotAccount
from loopforge.io.platforms.platform_time import PlatformTime
from loopforge.io.telegram.connection.api_errors import as_send_failure, is_refused_by_proxy
from loopforge.io.telegram.connection.rate_limit import FloodWait
from loopforge.io.telegram.telegram_settings import OFFICIAL, api_server_name
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.ports import Clock

Read = Callable[[Sequence[dict[str, Any]]], Sequence[telegram.Update]]
Take = Callable[[Sequence[telegram.Update]], Awaitable[None]]
Sleep = Callable[[float], Awaitable[None]]
Lane = tuple[int, int]
"""A chat, and in it the message under which is pressed; 0 for all that is no press."""
ALBUM = 10
"""Messages that Telegram lets an album have."""
REST = 1.5
"""Seconds for which more of an album is waited for: longer than until Telegram is asked again."""


class UpdateIntake:
    """The updates of one bot. `take` takes one in, or all that are one album.

    If it raises, they have to come again.
    """

    def __init__(self, read: Read, take: Take, sleep: Sleep = asyncio.sleep) -> None:
        self._read, self._take, self._sleep = read, take, sleep
        self._tasks = BackgroundTasks()
        self._lanes: dict[Lane, deque[telegram.Update]] = {}
        self._working: dict[Lane, asyncio.Task[None]] = {}
        self._page: list[int] = []
        self._done: set[int] = set()
        self._grown: dict[int, int] = {}
        self._failed: Exception | None = None

    @property
    def offset(self) -> int | None:
        """The number to ask for next; None before the first answer."""
        if not self._page:
            return None
        return next((each for each in self._page if each not in self._done), self._page[-1] + 1)

    def put(self, came: Sequence[dict[str, Any]], offset: int | None) -> None:
        """Begin with what came, asked for from `offset` on; what is under way or done stays so."""
        self._done = {each for each in self._done if offset is not None and each >= offset}
        known = self._done.union(each.update_id for lane in self._lanes.values() for each in lane)
        new = {each["update_id"]: each for each in came if each["update_id"] not in known}
        self._page = [each["update_id"] for each in came] or self._page
        updates = self._read(list(new.values()))
        self._done |= new.keys() - {each.update_id for each in updates}
        for update in updates:
            key = self._lane(update)
            if (lane := self._lanes.get(key)) is None:
                lane = self._lanes[key] = deque()
                self._working[key] = self._tasks.spawn(self._work(key, lane), "a telegram chat")
            lane.append(update)

    async def settle(self, seconds: float) -> None:
        """Wait until all of it is taken in, so long at most. Raises what `take` raised."""
        if self._working:
            await asyncio.wait(self._working.values(), timeout=seconds)
        failed, self._failed = self._failed, None
        if failed is not None:
            raise failed

    async def _work(self, key: Lane, lane: deque[telegram.Update]) -> None:
        try:
            while lane:
                whole = await self._whole(lane)
                await self._take(whole)
                for each in whole:
                    self._done.add(each.update_id)
                    lane.popleft()
        except Exception as error:
            self._failed = error
        finally:
            del self._lanes[key], self._working[key]

    async def _whole(self, lane: deque[telegram.Update]) -> list[telegram.Update]:
        """What is first, with the rest of its album."""
        album, found = _album(lane[0]), 0
        while True:
            same = list(takewhile(lambda each: _album(each) == album, lane)) if album else [lane[0]]
            if not album or len(same) in (found, ALBUM) or len(lane) > len(same):
                return same[:ALBUM]
            found = len(same)
            await self._sleep(REST)

    def _lane(self, update: telegram.Update) -> Lane:
        """Whose order an update keeps: a supergroup's is that of the group which it was.

        A press of a button waits only for others on its message: Telegram wants an answer to each
        within seconds.
        """
        chat = update.effective_chat.id if update.effective_chat else 0
        if query := update.callback_query:
            return chat, query.message.message_id if query.message else 0
        if message := update.message:
            if message.migrate_to_chat_id:
                self._grown[message.migrate_to_chat_id] = chat
            if message.migrate_from_chat_id:
                self._grown[chat] = message.migrate_from_chat_id
        return self._grown.get(chat, chat), 0

    async def close(self) -> None:
        """Take in nothing more; what was not taken in comes again to whoever asks next."""
        await self._tasks.close()


def _album(update: telegram.Update) -> str:
    """The album that a message is of; "" for none."""
    message = update.message or update.channel_post
    return (message.media_group_id or "") if message else ""


log = logging.getLogger(__name__)
KINDS = (
    "message",
    "edited_message",
    "channel_post",
    "edited_channel_post",
    "message_reaction",
    "callback_query",
    "my_chat_member",
)
HOLD = 25
"""Seconds that Telegram may hold a question open until there is something new."""
AGAIN = 1.0
"""Seconds after which it is asked again while something is still being taken in, a file mostly."""
CONNECTIONS, FILES = 16, 8
"""Connections of a bot, and how many of them may be fetching files at the same time."""
PAUSES = (1.0, 2.0, 5.0, 15.0, 60.0)
LONG_PAUSE = 300.0
"""Seconds before a token that was refused is tried again."""
ASKED = "another program asks for this bot's messages; end that one"
HOOKED = (
    "this bot's messages go to another program's webhook; connect the mate anew with --take-over"
)
WORDY = ("telegram.Bot", "telegram.request.BaseRequest")
"""Loggers of the library that say nothing but what they could not read, with people's words."""

Hear = Callable[["BotPolling", Sequence[telegram.Update]], Awaitable[None]]


class RawUpdateBot(telegram.Bot):
    """A bot that gives its updates as they came."""

    async def fresh(self, offset: int | None) -> list[dict[str, Any]]:
        """What is new from this number on, not read yet; waits for it. Raises TelegramError."""
        asked = {"offset": offset, "timeout": HOLD, "allowed_updates": KINDS}
        came: list[dict[str, Any]] = await self._post("getUpdates", asked, read_timeout=HOLD + 10)
        return came

    async def path(self, file: str, quiet: float) -> str:
        """Where a file is: below the server's address, or on its disk. Raises TelegramError."""
        found: dict[str, Any] = await self._post("getFile", {"file_id": file}, read_timeout=quiet)
        return str(found.get("file_path", ""))

    async def download(self, path: str, quiet: float) -> bytes:
        """The bytes of a file below the server's address. Raises TelegramError."""
        address = f"{self.base_file_url}/{quote(path)}"
        return await self.request.retrieve(address, read_timeout=quiet)

    def readable(self, came: Sequence[dict[str, Any]]) -> list[telegram.Update]:
        """Those that can be read."""
        found = []
        for each in came:
            try:
                found.append(telegram.Update.de_json(each, self))
            except Exception as error:
                kinds, why = ", ".join(set(KINDS).intersection(each)), type(error).__name__
                log.warning("telegram: an update (%s) cannot be read: %s", kinds, why)
        return found


def dated_request(time: PlatformTime, connections: int = 1) -> HTTPXRequest:
    """What a bot asks by; `time` is told the `Date` of each answer."""

    async def answered(response: httpx.Response) -> None:
        time.answered(response.headers.get("Date"))

    hooks = {"event_hooks": {"response": [answered]}}
    return HTTPXRequest(connection_pool_size=connections, httpx_kwargs=hooks)


class BotPolling:
    """A bot and its polling. `state` says in plain words how it stands with it.

    `known`: Telegram has said who it is. `number` is the bot's id, as the token says. `for_all`: in
    some group it hears and speaks for other bots of ours. `files`: to be held while one is fetched.
    """

    def __init__(
        self, account: BotAccount, clock: Clock, hear: Hear, time: PlatformTime, base: str = ""
    ) -> None:
        self.mates, self._clock, token = account.mates, clock, account.token
        self._renewal = account.renewal
        self.shared, self.speaks_for = account.shared, account.speaks_for
        self._server, base = api_server_name(base), base or OFFICIAL
        for name in WORDY:
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        self.bot = RawUpdateBot(
            token,
            base_url=f"{base}/bot",
            base_file_url=f"{base}/file/bot",
            request=dated_request(time, CONNECTIONS),
            get_updates_request=dated_request(time),
        )
        self.state, self.flood = "not connected yet", FloodWait(clock)
        self.number = int(head) if (head := token.partition(":")[0]).isdigit() else 0
        self._failures = 0
        self.known = False
        self.for_all = False
        self.files = asyncio.Semaphore(FILES)
        self._intake = UpdateIntake(self.bot.readable, lambda whole: hear(self, whole), clock.sleep)
        self.groups = GroupAdmins(self.bot, self.number, clock)

    async def run(self) -> None:
        """Ask for ever; whatever breaks is begun anew."""
        try:
            await self._ask()
        finally:
            await self._intake.close()

    async def _ask(self) -> None:
        while True:
            try:
                if not self.known:
                    await self.bot.initialize()
                    self.known, self.state = True, "connected"
                offset = self._intake.offset
                came = await self.bot.fresh(offset)
                self.state = "connected"
                self._intake.put(came, offset)
                await self._intake.settle(AGAIN)
                self._failures = 0
            except TelegramError as error:
                await self._refused(error)
            except LedgerError as error:
                self.state = f"what came cannot be kept ({error}); it is tried again"
                await self._pause(self.state)
            except Exception as error:
                self.state = f"something went wrong ({type(error).__name__}); it is tried again"
                log.exception("a bot of Telegram stumbled")
                await self._pause(self.state)

    async def _refused(self, error: TelegramError) -> None:
        """Say how it stands, and wait for as long as Telegram asks, or as it may take."""
        refused = as_send_failure(error)
        self.state, wait = str(refused), refused.after
        match error:
            case InvalidToken() if not is_refused_by_proxy(error):
                self.state = f"{self._server} does not know this token; {self._renewal}"
                wait = LONG_PAUSE
            case Conflict():
                self.state = HOOKED if "webhook" in str(error.message) else ASKED
        if wait:
            await self._clock.sleep(wait)
        else:
            await self._pause(self.state)

    async def _pause(self, why: str) -> None:
        pause = PAUSES[min(self._failures, len(PAUSES) - 1)]
        self._failures += 1
        log.info("telegram: %s; again in %.0f s", why, pause)
        await self._clock.sleep(pause)

    async def hears_all(self, chat: int) -> bool:
        """Whether it is told of all that people say in a group; not, where Telegram does not say.

        An administrator is, and whoever is in no privacy mode.
        """
        reads = self.known and self.bot.can_read_all_group_messages
        return bool(reads) or await self.groups.keeper(chat, self.number, now=True)

    async def close(self) -> None:
        """Let the connections go."""
        await self.bot.shutdown()


def _refused(error: TelegramError) -> bool:
    """Whether Telegram itself said no."""
    refused = isinstance(error, BadRequest | Forbidden | InvalidToken)
    return refused and not is_refused_by_proxy(error)


def is_inside(found: telegram.ChatMember) -> bool:
    """Whether somebody is in a chat: who is restricted there may have left it."""
    if isinstance(found, telegram.ChatMemberRestricted):
        return found.is_member
    return found.status not in ("left", "kicked")


FRESH, KEEPERS = 180.0, 500
"""Seconds for which it is remembered whether somebody keeps a group, and of how many."""


class GroupAdmins:
    """What one bot knows of its groups; `number` is its own."""

    def __init__(self, bot: telegram.Bot, number: int, clock: Clock) -> None:
        self._bot, self._number, self._clock = bot, number, clock
        self._members: dict[int, bool] = {}
        self._refused: dict[int, float] = {}
        self._keepers: BoundedMapping[tuple[int, int], tuple[float, bool]] = BoundedMapping(KEEPERS)

    async def member(self, chat: int, *, before: bool = False) -> bool:
        """Whether this bot is in a group; asked once, then known. Unanswered, as `before`.

        Where Telegram refuses to say so it is not, and is asked again some minutes later.
        """
        now = self._clock.ticks()
        if chat not in self._members:
            if now - self._refused.get(chat, now - FRESH) < FRESH:
                return False
            try:
                found = await self._bot.get_chat_member(chat, self._number)
            except TelegramError as error:
                if refused := _refused(error):
                    self._refused[chat] = now
                return before and not refused
            self._members[chat] = is_inside(found)
        return self._members[chat]

    async def keeps(self, message: telegram.Message, *, now: bool = False) -> bool:
        """Whether who says this may manage the group: its admins, or the group itself.

        What was asked some minutes ago is not asked again, unless `now`.
        """
        if message.sender_chat is not None:
            return message.sender_chat.id == message.chat.id
        if message.from_user is None:
            return False
        return await self.keeper(message.chat.id, message.from_user.id, now=now)

    async def keeper(self, chat: int, user: int, *, now: bool = False) -> bool:
        """Whether somebody may manage a group.

        Where Telegram does not say so twice, as far as it is remembered; where it refuses to say,
        which it may in a group that the bot does not keep, they do not.
        """
        key = (chat, user)
        asked, keeps = self._keepers.get(key, (-FRESH, False))
        keeps = keeps and self._clock.ticks() - asked < FRESH
        if not now and self._clock.ticks() - asked < FRESH:
            return keeps
        try:
            found = await self._stands(*key)
        except TelegramError as error:
            if not _refused(error):
                return keeps
            keeps = False
        else:
            keeps = found.status in ("creator", "administrator")
        self._keepers[key] = (self._clock.ticks(), keeps)
        return keeps

    async def _stands(self, chat: int, user: int) -> telegram.ChatMember:
        """How somebody stands in a group; asked twice where the network fails."""
        try:
            return await self._bot.get_chat_member(chat, user)
        except NetworkError as error:
            if _refused(error):
                raise
            return await self._bot.get_chat_member(chat, user)

    def came(self, chat: int, *, there: bool) -> None:
        """The bot was let into a group, or sent away."""
        self._members[chat] = there
        self._refused.pop(chat, None)
