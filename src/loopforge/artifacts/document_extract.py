"""Reading what a document says, in a process that is held to limits: it comes from strangers.

    reading = await read_document("application/pdf", data, most=200_000)

PDF, the files of Word, PowerPoint and Excel since 2007, and pages of the web (their address in the
first line, then HTML in UTF-8). The process (`document_child.py`) has
no environment, so no keys; processor time, memory and files are limited from within, time from out
here, and it is killed at the end whatever it does. Its text is cut by bytes, pages and half of its
time, with a mark that says so. Does not know who gave the file.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct

from loopforge.core.room_vocabulary import Unread
from loopforge.core.text.document_kinds import DOCUMENTS, HTML

log = logging.getLogger(__name__)

_PROGRAM = Path(__file__).with_name("document_child.py")


class Bounds(NamedTuple):
    """Pages (slides, sheets) that are read, seconds of a processor and in all, bytes of memory."""

    pages: int = 200
    seconds: int = 10
    wall: float = 20.0
    memory: int = 512 * 1024 * 1024


BOUNDS = Bounds()


class DocumentReading(Struct, frozen=True):
    """What it says: its pages (0 where nobody can know), their text, or why there is none."""

    pages: int = 0
    text: str = ""
    unread: Unread = ""


async def read_document(
    media: str, data: bytes, most: int, bounds: Bounds = BOUNDS
) -> DocumentReading:
    """The text of HTML or one of DOCUMENTS, of at most `most` bytes in UTF-8.

    Raises for nothing in it.
    """
    kind = "html" if media == HTML else DOCUMENTS[media].ending
    numbers = map(str, (most, bounds.pages, bounds.seconds, bounds.memory, bounds.wall))
    try:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", str(_PROGRAM), kind, *numbers),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={},
            start_new_session=True,
        )
    except OSError:
        log.exception("no process could be started that would read a document")
        return DocumentReading(unread="failed")
    try:
        async with asyncio.timeout(bounds.wall):
            told, complaint = await process.communicate(data)
    except TimeoutError:
        return DocumentReading(unread="heavy")
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    ended = process.returncode or 0
    if ended < 0:  # a limit's signal
        return DocumentReading(unread="heavy")
    if not ended:
        return msgspec.json.decode(told, type=DocumentReading)
    log.error("a document could not be read: %s", complaint.decode("utf-8", "replace")[-2000:])
    return DocumentReading(unread="failed")
