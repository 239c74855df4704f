"""Upload: the files of a line of another surface, shown in a message.

Does not know rooms.
"""

import io
import logging
from collections.abc import Sequence

import discord
from loopforge.artifacts.artifact_store import Artifacts
from loopforge.artifacts.file_intake import data_of
from loopforge.core.room_vocabulary import File
from loopforge.errors import LoopforgeError

log = logging.getLogger(__name__)
MOST = 10
"""Files that a message may have."""
SMALL = 10_000_000
"""Bytes that a bot may upload anywhere; servers that are boosted take more."""


class FileUpload:
    """Makes uploads of artifacts."""

    def __init__(self, artifacts: Artifacts) -> None:
        self._artifacts = artifacts

    async def uploads(
        self, files: Sequence[File], most: int, long: tuple[str, bytes] | None = None
    ) -> tuple[list[discord.File], list[str]]:
        """The files as uploads, and words for each that cannot be one; `long` is one more.

        Each has `most` bytes, or what is small for any bot; with 0 none may be given.
        """
        found: list[discord.File] = []
        missing: list[str] = []
        why = "" if most else "; the bot lacks the permission Attach Files here"
        if long is not None:
            found.append(discord.File(io.BytesIO(long[1]), filename=long[0]))
        for file in files:
            if len(found) == MOST:
                missing.append(f"[file: {file.name}, {file.size:,} bytes; {MOST} are in a message]")
                continue
            try:
                data = await data_of(self._artifacts, file)
            except LoopforgeError as error:
                log.warning("a file could not be shown on Discord: %s", error)
                data = None
            if data is None or not most or len(data) > max(most, SMALL):
                missing.append(f"[file: {file.name}, {file.size:,} bytes{why}]")
            else:
                found.append(discord.File(io.BytesIO(data), filename=str(file.name)))
        return found, missing
