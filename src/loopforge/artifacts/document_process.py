"""What documents and kept files say. Documents come from strangers: a limited process reads them.

    reading = await read_document("application/pdf", data, most=200_000)

PDF, the files of Word, PowerPoint and Excel since 2007, and pages of the web (their address in the
first line, then HTML in UTF-8). The process (`document_readers.py`) has
no environment, so no keys; processor time, memory and files are limited from within, time from out
here, and it is killed at the end whatever it does. Its text is cut by bytes, pages and half of its
time, with a mark that says so. Does not know who gave the file.

`FileText` is for an erasure that looks for words in kept files: texts of any encoding that tells
its own, and documents. It does not cover pictures, sound, archives, and what is beyond the bounds.
"""

import asyncio
import logging
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct

from loopforge.artifacts.artifact_store import Artifacts
from loopforge.artifacts.media_types import media_of, read_text
from loopforge.core.room_vocabulary import Unread
from loopforge.core.text.document_kinds import DOCUMENTS, HTML
from loopforge.errors import ArtifactError
from loopforge.runtime.installation.limited_process import run_limited

log = logging.getLogger(__name__)

_PROGRAM = Path(__file__).with_name("document_readers.py")


class DocumentLimits(NamedTuple):
    """Pages (slides, sheets) that are read, seconds of a processor and in all, bytes of memory."""

    pages: int = 200
    seconds: int = 10
    wall: float = 20.0
    memory: int = 512 * 1024 * 1024


BOUNDS = DocumentLimits()


class DocumentReading(Struct, frozen=True):
    """What it says: its pages (0 where nobody can know), their text, or why there is none."""

    pages: int = 0
    text: str = ""
    unread: Unread = ""


async def read_document(
    media: str, data: bytes, most: int, bounds: DocumentLimits = BOUNDS
) -> DocumentReading:
    """The text of HTML or one of DOCUMENTS, of at most `most` bytes in UTF-8.

    Raises for nothing in it.
    """
    kind = "html" if media == HTML else DOCUMENTS[media].ending
    numbers = map(str, (most, bounds.pages, bounds.seconds, bounds.memory, bounds.wall))
    try:
        ended = await run_limited(_PROGRAM, (kind, *numbers), data, bounds.wall)
    except OSError:
        log.exception("no process could be started that would read a document")
        return DocumentReading(unread="failed")
    if ended.code is None or ended.code < 0:  # a limit's signal
        return DocumentReading(unread="heavy")
    if not ended.code:
        return msgspec.json.decode(ended.output, type=DocumentReading)
    told = ended.complaint.decode("utf-8", "replace")[-2000:]
    log.error("a document could not be read: %s", told)
    return DocumentReading(unread="failed")


# ---------------------------------------------------------------- file text


LONGEST = 4_000_000
"""Bytes of text that are taken out of a document."""


class FileText:
    """Reads them out of one store."""

    def __init__(self, artifacts: Artifacts) -> None:
        self._artifacts = artifacts

    def __call__(self, hash: str) -> str | None:
        """What it says, by its hash; "" where it is gone already, None where nobody can tell."""
        try:
            data = self._artifacts.read(hash)
        except ArtifactError as error:
            log.warning("the kept file %s is not looked into: %s", hash[:12], error)
            return None
        if data is None:
            return ""
        media = media_of(data)
        if media in DOCUMENTS:
            reading = asyncio.run(read_document(media, data, LONGEST))
            return None if reading.unread else reading.text
        text = read_text(data, len(data))
        return text if text is not None or b"\0" in data else data.decode(errors="ignore")
