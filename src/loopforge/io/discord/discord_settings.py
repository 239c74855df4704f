"""Discord's settings: their names, values, defaults, and what is said of each."""

from dataclasses import dataclass
from typing import Literal

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
