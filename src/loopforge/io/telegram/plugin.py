"""Telegram as a plugin: its bots, and how it is made. Loads no library of it."""

from loopforge.io.platforms.surface_plugin import (
    AccountVisit,
    BotRules,
    ConnectReport,
    RunningSurface,
    SurfaceParts,
    SurfacePlugin,
)
from loopforge.io.telegram.telegram_settings import TelegramSettings


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
