"""Polling: one bot of Telegram, asked for what is new for as long as the home runs.

What came is taken in before it is acknowledged (the next question carries the number of the first
update that is still wanted: see update_intake.py), so that nothing is lost when the home dies in
between; what comes twice is heard once by whoever hears it. A connection that breaks is made anew,
with growing pauses. An update that the library cannot read is passed over: it would come again for
ever.

Does not know what an update means.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any
from urllib.parse import quote

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
from loopforge.io.telegram.connection.api_errors import as_send_failure, is_refused_by_proxy
from loopforge.io.telegram.connection.api_server import OFFICIAL, api_server_name
from loopforge.io.telegram.connection.rate_limit import FloodWait
from loopforge.io.telegram.connection.update_intake import UpdateIntake
from loopforge.runtime.ports import Clock

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


class BotPolling:
    """A bot and its polling. `state` says in plain words how it stands with it.

    `known`: Telegram has said who it is. `number` is the bot's id, as the token says. `for_all`: in
    some group it hears and speaks for other bots of ours. `files`: to be held while one is fetched.
    """

    def __init__(self, account: BotAccount, clock: Clock, hear: Hear, base: str = "") -> None:
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
            request=HTTPXRequest(connection_pool_size=CONNECTIONS),
            get_updates_request=HTTPXRequest(connection_pool_size=1),
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

    async def close(self) -> None:
        """Let the connections go."""
        await self.bot.shutdown()


def _refused(error: TelegramError) -> bool:
    """Whether Telegram itself said no."""
    refused = isinstance(error, BadRequest | Forbidden | InvalidToken)
    return refused and not is_refused_by_proxy(error)


FRESH, KEEPERS = 180.0, 500
"""Seconds for which it is remembered whether somebody keeps a group, and of how many."""


class GroupAdmins:
    """What one bot knows of its groups; `number` is its own."""

    def __init__(self, bot: telegram.Bot, number: int, clock: Clock) -> None:
        self._bot, self._number, self._clock = bot, number, clock
        self._members: dict[int, bool] = {}
        self._keepers: BoundedMapping[tuple[int, int], tuple[float, bool]] = BoundedMapping(KEEPERS)

    async def member(self, chat: int, *, before: bool = False) -> bool:
        """Whether this bot is in a group; asked once, then known. Unanswered, as `before`."""
        if chat not in self._members:
            try:
                found = await self._bot.get_chat_member(chat, self._number)
                self._members[chat] = found.status not in ("left", "kicked")
            except TelegramError as error:
                return before and not _refused(error)
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

        Where Telegram does not say so twice, as far as it is remembered.
        """
        key = (chat, user)
        asked, keeps = self._keepers.get(key, (-FRESH, False))
        keeps = keeps and self._clock.ticks() - asked < FRESH
        if not now and self._clock.ticks() - asked < FRESH:
            return keeps
        try:
            found = await self._stands(*key)
        except TelegramError as error:
            return keeps and not _refused(error)
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
