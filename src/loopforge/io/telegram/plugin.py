"""Telegram as a plugin: its settings, its bots, and how it is made. Loads no library of it."""

from dataclasses import dataclass
from typing import Literal

from loopforge.io.platforms.place_allowlist import only_places
from loopforge.io.platforms.surface_plugin import (
    AccountVisit,
    BotRules,
    ConnectReport,
    RunningSurface,
    SurfaceParts,
    SurfacePlugin,
)
from loopforge.io.telegram.connection.api_server import checked_api_address
from loopforge.runtime.plugins.setting_declarations import setting


@dataclass(frozen=True, kw_only=True)
class TelegramSettings:
    """What can be set of Telegram."""

    dm: Literal["pairing", "open", "allowlist"] = setting(
        "pairing",
        "What happens when a stranger writes to a mate in private on Telegram. pairing: they are "
        "shown a code, and the owner lets them in by it. open: they are answered like everybody. "
        "allowlist: they are told once that only people whom the owner has let in are answered.",
    )
    groups: str = setting(
        "known",
        "Which groups of Telegram this home serves. known: those where somebody whom you let in "
        "has said something. open: every one that the bot is brought into. Or their ids, such as "
        "-1001234567890, with commas between.",
        clean=only_places("telegram_groups", "-[0-9]+", "-1001234567890"),
    )
    base_url: str = setting(
        "",
        "Another server of Telegram's Bot API: your own telegram-bot-api, or a proxy.",
        shown="https://api.telegram.org",
        clean=checked_api_address,
    )


def make(parts: SurfaceParts) -> RunningSurface:
    """The surface."""
    from loopforge.io.telegram.surface import Telegram

    return Telegram(parts, parts.options.base_url)


async def visit(order: AccountVisit) -> ConnectReport:
    """Look at a bot at Telegram. Raises NotLetIn, Unreachable."""
    from loopforge.io.telegram.account_setup import set_up_account

    return await set_up_account(order)


SURFACE = SurfacePlugin(
    title="Telegram",
    make=make,
    settings=TelegramSettings,
    loads=("loopforge.io.telegram.surface",),
    bots=BotRules(
        shape="[0-9]{5,}:[\\w-]{20,}",
        where=(
            "@BotFather gives it to you when you make a bot (/newbot), as a number, a colon and "
            "letters: https://t.me/BotFather"
        ),
        visit=visit,
        server="base_url",
        takes_over=True,
    ),
    place=r"-[1-9]\d{0,18}(/\d{1,19})?([@#][1-9]\d{0,18})?|[1-9]\d{0,18}@[1-9]\d{0,18}",
    account="[0-9]+",
    dm="dm",
    places="groups",
)
