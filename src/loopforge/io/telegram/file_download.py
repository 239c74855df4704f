"""Download: the files that come with a message, kept as artifacts.

Telegram's own server gives bots files of 20 MB at most. Another server (telegram-bot-api) gives the
same over the network; where it runs with --local it names a path on its own disk instead, and such
a file is read there: it has to be on this machine, and readable. What is no such path is never read
from this machine's disk.

Does not know who may give files.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace
from telegram.error import TelegramError

from loopforge.artifacts.artifact_store import Artifacts
from loopforge.artifacts.file_intake import FileLimits, ingest_file
from loopforge.artifacts.media_types import SPOKEN_FILM
from loopforge.core.room_vocabulary import File
from loopforge.errors import BadLine, LoopforgeError, TooLarge
from loopforge.io.telegram.connection.polling import BotPolling
from loopforge.io.telegram.text.incoming_message import Attachment

MOST = 20_000_000
"""Bytes of a file that Telegram lets bots have."""
QUIET, LONGEST = 60.0, 240.0
"""Seconds that a file may stand still, and that it may take: a server may have to get it first."""


class FileDownload:
    """Fetches by whichever bot was told. `own`: it asks another server than Telegram's."""

    def __init__(self, artifacts: Artifacts, limits: FileLimits, *, own: bool) -> None:
        self._artifacts, self._limits, self._own = artifacts, limits, own

    async def __call__(
        self, poll: BotPolling, attached: Sequence[Attachment]
    ) -> tuple[list[File], list[str]]:
        """The files that came along, kept; and what is to be said of those that were not."""
        files, refused = [], []
        most = self._limits.size if self._own else min(self._limits.size, MOST)
        for each in attached:
            try:
                if each.size > most:
                    raise TooLarge.file(each.name, each.size, most)
                async with poll.files, asyncio.timeout(LONGEST):
                    data = await self._data(poll, each, most)
                file = await ingest_file(self._artifacts, each.name, data, self._limits)
                files.append(replace(file, media=SPOKEN_FILM) if each.spoken else file)
            except LoopforgeError as error:
                refused.append(str(error))
            except (TelegramError, TimeoutError) as error:
                why = "Telegram gives bots 20 MB at most" if "too big" in str(error) else ""
                why = f" ({why})" if why else ""
                refused.append(
                    f"{each.name} could not be fetched from Telegram{why}. Give it again."
                )
        return files, refused

    async def _data(self, poll: BotPolling, each: Attachment, most: int) -> bytes:
        """The bytes of a file. Raises BadLine, TelegramError."""
        path = await poll.bot.path(each.id, QUIET)
        if not Path(path).is_absolute():
            return await poll.bot.download(path, QUIET)
        if not self._own:
            raise BadLine(f"{each.name} could not be fetched from Telegram. Give it again.")
        try:
            return await asyncio.to_thread(_read, Path(path), each.name, most)
        except OSError:
            raise BadLine(
                f"{each.name} cannot be read: the server that runs with --local keeps it where "
                "this home cannot read it. Tell the owner (docs/telegram.md)."
            ) from None


def _read(path: Path, name: str, most: int) -> bytes:
    if (size := path.stat().st_size) > most:
        raise TooLarge.file(name, size, most)
    return path.read_bytes()
