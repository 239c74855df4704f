"""Account setup: a short visit to Telegram with the token of one bot.

Asks how the bot stands (account_checks.py judges it), tells Telegram its commands, and gives it a
mate's name, role and face. What Telegram refuses of that is a finding, and no failure. Does not ask
for messages, so it disturbs no home that is running.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from telegram.error import InvalidToken, NetworkError, TelegramError

import telegram
from loopforge.chat.commands.command_catalogue import COMMANDS
from loopforge.core.mates.mate_file import Mate
from loopforge.errors import NotLetIn, Unreachable
from loopforge.io.platforms.platform_time import PlatformTime
from loopforge.io.platforms.surface_plugin import (
    AccountFinding,
    AccountVisit,
    ConnectReport,
    clock_findings,
)
from loopforge.io.telegram.connection.account_checks import (
    bot_findings,
    bot_invite_link,
    private_chat_link,
)
from loopforge.io.telegram.connection.api_errors import as_send_failure
from loopforge.io.telegram.connection.polling import dated_request
from loopforge.io.telegram.telegram_settings import OFFICIAL, api_server_name
from loopforge.mates.cards.avatar_image import Portraits
from loopforge.runtime.system_clock import SystemClock

LONGEST = 60.0
"""Seconds that a visit may take."""
NAME, DESCRIPTION, SHORT = 64, 512, 120
"""Characters that a bot's name, its description and its short description may have."""


async def set_up_account(order: AccountVisit) -> ConnectReport:
    """Look at a bot, and tell Telegram what is wanted. Raises NotLetIn, Unreachable."""
    logging.getLogger("telegram").setLevel(logging.WARNING)
    time = PlatformTime(SystemClock())
    async with visiting(order.account.token, order.options.base_url, time) as bot:
        found, webhook = [], await _webhook(bot)
        if order.take_over and webhook:
            done = (
                f"its messages went to {webhook}, and come to this home now; what waited is kept."
            )
            found = [await _tried(bot.delete_webhook, done, "its webhook stays")]
            webhook = await _webhook(bot)
        found += [*bot_findings(bot.bot, webhook), *clock_findings(time.amiss("Telegram"))]
        found += [await _register(bot)] if order.told else []
        found += (
            await _present(bot, order.face, order.portraits or Portraits()) if order.face else []
        )
        name = bot.bot.username or ""
    ways = (
        ("Talk to it in private", private_chat_link(name)),
        ("Bring it into a group", bot_invite_link(name)),
    )
    return ConnectReport(tuple(found), ways)


@asynccontextmanager
async def visiting(token: str, base: str, time: PlatformTime) -> AsyncIterator[telegram.Bot]:
    """Be at Telegram with this token. Raises NotLetIn for a bad token, and Unreachable."""
    server, base = api_server_name(base), base or OFFICIAL
    try:
        bot = telegram.Bot(
            token,
            base_url=f"{base}/bot",
            base_file_url=f"{base}/file/bot",
            request=dated_request(time),
        )
        async with asyncio.timeout(LONGEST):
            async with bot:
                yield bot
    except InvalidToken:
        if base != OFFICIAL:
            raise NotLetIn(
                f"{server} does not know this token, or is no server of the Bot API. Check "
                "telegram_base_url, and the token with /mybots at https://t.me/BotFather"
            ) from None
        raise NotLetIn(
            "Telegram does not know this token. Look it up with /mybots (API Token), or make a new "
            "one with /revoke, at https://t.me/BotFather"
        ) from None
    except (NetworkError, TimeoutError):
        raise Unreachable(f"{server} cannot be reached, or does not answer. Try again.") from None
    except TelegramError as error:
        raise Unreachable(f"{server} could not be asked: {as_send_failure(error).why}") from None


async def _webhook(bot: telegram.Bot) -> str:
    """The host of another program that gets the bot's messages; "" if none does."""
    hook = await bot.get_webhook_info()
    return (urlsplit(hook.url).hostname or "somewhere else") if hook.url else ""


async def _register(bot: telegram.Bot) -> AccountFinding:
    """Tell Telegram the commands of rooms."""
    told = [
        telegram.BotCommand(command.name.replace("-", "_"), command.help[:256])
        for command in COMMANDS
    ]
    done = f"Telegram knows its {len(told)} commands; type / to see them."
    return await _tried(lambda: bot.set_my_commands(told), done, "its commands stay")


async def _present(bot: telegram.Bot, mate: Mate, portraits: Portraits) -> list[AccountFinding]:
    """Give the bot the mate's name, role and face."""
    name, found = mate.name[:NAME], []
    if bot.bot.first_name == name:
        found.append(AccountFinding("ok", f"its name is {name}."))
    else:
        done = f"its name is {name} now."
        found.append(await _tried(lambda: bot.set_my_name(name), done, "its name stays"))
    if role := mate.role:

        async def describe() -> None:
            await bot.set_my_description(role[:DESCRIPTION])
            await bot.set_my_short_description(role[:SHORT])

        done = f"it says what it is: {role[:SHORT]}"
        found.append(await _tried(describe, done, "its description stays"))
    portrait = await portraits.picture(mate.handle, mate.colour, "jpeg")
    face = telegram.InputProfilePhotoStatic(portrait)
    done = f"it has {mate.name}'s face now."
    found.append(await _tried(lambda: bot.set_my_profile_photo(face), done, "its picture stays"))
    return found


async def _tried(
    work: Callable[[], Awaitable[object]], done: str, otherwise: str
) -> AccountFinding:
    try:
        await work()
    except TelegramError as error:
        mend = "Run this again later, or set it at https://t.me/BotFather"
        return AccountFinding(
            "warn", f"{otherwise}: {as_send_failure(error).why.rstrip('.')}.", mend
        )
    return AccountFinding("ok", done)
