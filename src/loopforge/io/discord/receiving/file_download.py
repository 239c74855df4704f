"""Download: the files that come with a message, kept as artifacts.

Limits are looked at before anything is fetched. Does not know who may give files.
"""

import logging
from collections.abc import Sequence

import aiohttp

import discord
from loopforge.artifacts.artifact_store import Artifacts
from loopforge.artifacts.file_intake import FileLimits, ingest_file, plain_name
from loopforge.core.room_vocabulary import File
from loopforge.errors import InputError, LoopforgeError, TooLarge
from loopforge.io.discord.connection.api_errors import redact_tokens
from loopforge.io.discord.text.incoming_message import attachments_of
from loopforge.runtime.ports import Clock

log = logging.getLogger(__name__)
TRIES = 3


class FileDownload:
    """Fetches what came with messages, trying a server again that is out of order."""

    def __init__(self, artifacts: Artifacts, clock: Clock, limits: FileLimits) -> None:
        self._artifacts, self._clock, self._limits = artifacts, clock, limits

    async def taken(self, message: discord.Message) -> tuple[list[File], list[str]]:
        """What came with a message, kept; and a sentence for each file that was not."""
        kept: list[File] = []
        problems: list[str] = []
        for attachment in attachments_of(message):
            name = plain_name(attachment.filename)
            most = self._limits.size
            if attachment.size > most:
                problems.append(str(TooLarge.file(name, attachment.size, most)))
                continue
            try:
                data = await self._fetched(attachment)
                kept.append(await ingest_file(self._artifacts, name, data, self._limits))
            except InputError as error:
                problems.append(str(error))
            except (
                LoopforgeError,
                discord.DiscordException,
                aiohttp.ClientError,
                OSError,
            ) as error:
                log.warning("a file given on Discord was not kept: %s", redact_tokens(error))
                problems.append(f"{name} could not be taken; please give it again.")
        return kept, problems

    async def _fetched(self, attachment: discord.Attachment) -> bytes:
        for nth in range(1, TRIES + 1):
            try:
                return await attachment.read()
            except (discord.HTTPException, aiohttp.ClientError, OSError) as error:
                refused = isinstance(error, discord.HTTPException) and error.status < 500
                if refused or nth == TRIES:
                    raise
                await self._clock.sleep(float(nth))
        raise AssertionError("the last try returns or raises")

    def settled(self, files: Sequence[File]) -> None:
        """An event holds these now, or none ever will."""
        for file in files:
            if str(file.hash):
                self._artifacts.settle(str(file.hash))
