"""Discord as a plugin: its settings, its bots, and how it is made. Loads no library of it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from loopforge.io.platforms.place_allowlist import only_places
from loopforge.io.platforms.surface_plugin import (
    AccountVisit,
    BotRules,
    ConnectReport,
    RunningSurface,
    SurfaceParts,
    SurfacePlugin,
)
from loopforge.runtime.plugins.setting_declarations import setting


@dataclass(frozen=True, kw_only=True)
class DiscordSettings:
    """What can be set of Discord."""

    dm: Literal["pairing", "open", "allowlist"] = setting(
        "pairing",
        "What happens when a stranger writes to a mate in private on Discord. pairing: they are "
        "shown a code, and the owner lets them in by it. open: they are answered like everybody. "
        "allowlist: they are told once that only people whom the owner has let in are answered.",
    )
    places: str = setting(
        "known",
        "Which servers and channels of Discord this home serves. known: those where somebody whom "
        "you let in has said something, and those of the bot's own maker. open: every one that "
        "the bot is brought into. Or ids of servers and channels, with commas between.",
        clean=only_places("discord_places", "[0-9]+", "4711"),
    )
    threads: Literal["off", "answer"] = setting(
        "off",
        "Whether a line that calls a mate in a channel of Discord is answered there (off), or in a "
        "thread that the mate opens on it (answer).",
    )


def make(parts: SurfaceParts, connector: Callable[[], Any] | None = None) -> RunningSurface:
    """The surface; `connector`, for tests, makes the connections of one client."""
    from loopforge.io.discord.connection.options import DiscordOptions
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
