"""Discord as a plugin: its bots, and how it is made. Loads no library of it."""

from collections.abc import Callable
from typing import Any

from loopforge.io.discord.discord_settings import DiscordSettings
from loopforge.io.platforms.surface_plugin import (
    AccountVisit,
    BotRules,
    ConnectReport,
    RunningSurface,
    SurfaceParts,
    SurfacePlugin,
)


def make(parts: SurfaceParts, connector: Callable[[], Any] | None = None) -> RunningSurface:
    """The surface; `connector`, for tests, makes the connections of one client."""
    from loopforge.io.discord.discord_settings import DiscordOptions
    from loopforge.io.discord.surface import Discord

    return Discord(parts, DiscordOptions(threads=parts.options.threads), connector)


async def visit(order: AccountVisit, connector: Callable[[], Any] | None = None) -> ConnectReport:
    """Look at an account at Discord. Raises NotLetIn, Unreachable."""
    from loopforge.io.discord.account_setup import set_up_account

    return await set_up_account(order, connector)


SURFACE = SurfacePlugin(
    title="Discord",
    make=make,
    settings=DiscordSettings,
    loads=("loopforge.io.discord.surface",),
    bots=BotRules(
        shape=r"[\w-]{18,}\.[\w-]{4,}\.[\w-]{20,}",
        where=(
            "It stands on the page Bot of your application (Reset Token), and has three parts with "
            "dots between; the public key and the client secret are something else: "
            "https://discord.com/developers/applications"
        ),
        visit=visit,
    ),
    place=r"[1-9]\d{0,18}",
    account="[0-9]+",
    dm="dm",
    places="places",
)
