"""Discord's settings, each with its default and what is said of it; and the surface's options."""

from dataclasses import dataclass
from typing import Literal

from msgspec import Struct

from loopforge.io.platforms.place_allowlist import only_places
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


class DiscordOptions(Struct, frozen=True, kw_only=True):
    """How the surface behaves.

    `threads`: "answer" opens a thread on a line that calls a mate in a channel, if the line may
    still be answered. `catch_up`: messages read in one place at most after a gap. `guilds`: seconds
    that a client waits for guilds that are late. `pauses` before an account is tried again, by how
    often it failed in a row (Discord takes a token back that identifies 1000 times in a day);
    `refused` seconds before one is that Discord does not let in.
    """

    threads: Literal["off", "answer"] = "off"
    catch_up: int = 300
    guilds: float = 2.0
    pauses: tuple[float, ...] = (1.0, 2.0, 5.0, 15.0, 60.0, 120.0, 300.0)
    refused: float = 900.0
