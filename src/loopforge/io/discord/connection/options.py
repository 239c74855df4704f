"""What of the Discord surface can be set besides the manners of all surfaces, as one value.

Does not know where a value comes from.
"""

from typing import Literal

from msgspec import Struct


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
