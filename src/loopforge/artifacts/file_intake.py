"""Taking in a file that somebody gives to a room: its bytes are kept, its text is for mates.

    file = await receive(artifacts, "notes.txt", data, limits)
    await front.rooms.hear(..., files=[file])          # or artifacts.settle(hash) if it is refused

Does not know who gives it, or to which room.
"""

from typing import NamedTuple

from msgspec.structs import replace

from loopforge.artifacts.artifact_store import Artifacts
from loopforge.artifacts.document_process import DocumentReading, read_document
from loopforge.artifacts.media_types import media_of, read_text, sides_of
from loopforge.core.room_vocabulary import File
from loopforge.core.text.document_kinds import DOCUMENTS
from loopforge.core.text.erasable_text import Words, public_words
from loopforge.core.text.name_labels import is_invisible
from loopforge.errors import BadLine, TooLarge

LONGEST_NAME = 120
NAME_BYTES = 200
"""In UTF-8; most systems take 255, and where files are packed a number comes before the name."""


class FileLimits(NamedTuple):
    """Bytes that a file may have, and bytes of text that mates may be given to read."""

    size: int
    text: int


async def ingest_file(artifacts: Artifacts, name: str, data: bytes, limits: FileLimits) -> File:
    """Keep the bytes and describe them. Raises BadLine, TooLarge or ArtifactError.

    The file's `text` is what mates read of it: "" (and public) where it is no text, or too long. Of
    a document it is what that says, as far as the limit goes; two of a store are read at a time.
    """
    shown = plain_name(name)
    if not data.strip():
        raise BadLine(f"{shown} is empty.")
    if len(data) > limits.size:
        raise TooLarge.file(shown, len(data), limits.size)
    read = await _read(artifacts, media_of(data), data, limits)  # kept bytes would grow old
    kept = await store_file(artifacts, name, data)
    return replace(
        kept,
        text=Words(read.text) if read.text.strip() else public_words(""),
        pages=read.pages,
        length=len(read.text.encode()) if kept.media in DOCUMENTS else 0,
        unread=read.unread,
    )


async def store_file(artifacts: Artifacts, name: str, data: bytes) -> File:
    """Keep the bytes and describe them, without reading what they say. Raises ArtifactError."""
    hash = await artifacts.put(data)
    width, height = sides_of(data)
    return File(
        name=Words(plain_name(name)),
        size=len(data),
        text=public_words(""),
        hash=Words(hash),
        media=media_of(data),
        width=width,
        height=height,
    )


async def _read(
    artifacts: Artifacts, media: str, data: bytes, limits: FileLimits
) -> DocumentReading:
    """What mates read of it."""
    if media not in DOCUMENTS:
        return DocumentReading(text=read_text(data, limits.text) or "")
    async with artifacts.reading:
        return await read_document(media, data, limits.text)


async def data_of(artifacts: Artifacts, file: File) -> bytes:
    """The bytes of a file that was given to a room. Raises Unknown, ArtifactError."""
    if not file.hash:
        return str(file.text).encode("utf-8", "replace")
    return await artifacts.get(str(file.hash))


def is_erased(file: File) -> bool:
    """Whether its name or its bytes are."""
    if None in (file.name.text, file.hash.text):
        return True
    return not file.hash and file.text.text is None


def plain_name(name: str) -> str:
    """The name without folders and hidden signs, and not too long; "file" if nothing is left."""
    last = name.replace("\\", "/").rpartition("/")[2]
    seen = "".join(sign for sign in last if not is_invisible(sign))
    seen = " ".join(seen.split()).strip(". ") or "file"
    if len(seen) <= LONGEST_NAME and len(seen.encode()) <= NAME_BYTES:
        return seen
    stem, dot, ending = seen.rpartition(".")
    if not dot or len(ending) > 10:
        stem, dot, ending = seen, "", ""
    most = NAME_BYTES - len(f"{dot}{ending}".encode())
    stem = stem[: LONGEST_NAME - len(f"{dot}{ending}")].encode()[:most].decode("utf-8", "ignore")
    return f"{stem}{dot}{ending}"
