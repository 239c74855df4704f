"""What of the Discord surface can be set, as one value.

Does not know where a value comes from.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Literal

from msgspec import Struct

from loopforge.artifacts.file_intake import FileLimits


class DiscordOptions(Struct, frozen=True, kw_only=True):
    """How the surface behaves.

    `stream`: what a mate is saying is shown while it says it. `marks`: a line that called a mate
    bears a sign of how far that is. `threads`: "answer" opens a thread on a line that calls a mate
    in a channel, if the line is no older than `patience`. `catch_up`: messages read in one place at
    most after a gap. `files`: the limits of one file that people give. `guilds`: seconds that a
    client waits for guilds that are late. `pauses` before an account is tried again, by how often
    it failed in a row (Discord takes a token back that identifies 1000 times in a day); `refused`
    seconds before one is that Discord does not let in.
    """

    stream: bool = True
    marks: bool = True
    threads: Literal["off", "answer"] = "off"
    patience: timedelta = timedelta(hours=12)
    catch_up: int = 300
    files: FileLimits = FileLimits(size=10_000_000, text=200_000)
    guilds: float = 2.0
    pauses: tuple[float, ...] = (1.0, 2.0, 5.0, 15.0, 60.0, 120.0, 300.0)
    refused: float = 900.0
