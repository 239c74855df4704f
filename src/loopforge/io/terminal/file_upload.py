"""Taking a text file from this machine to give it to a room.

Only text goes in: UTF-8, within a limit, with no NULs. Every refusal says which file and why.
"""

import stat
from pathlib import Path

from loopforge.core.room_vocabulary import File
from loopforge.core.text.erasable_text import Words
from loopforge.errors import BadLine, TooLarge
from loopforge.io.socket.wire_protocol import LIMIT

LARGEST = 200_000
"""Bytes, where nothing else is set."""
_MOST = LIMIT // 2
"""Bytes that surely pass through the socket at once, whatever is set."""


def take_file(path: str, limit: int = LARGEST) -> File:
    """Read a text file of at most `limit` bytes. Raises BadLine."""
    limit = min(limit, _MOST)
    where = Path(path).expanduser()
    try:
        about = where.stat()
        if stat.S_ISDIR(about.st_mode):
            raise BadLine(f"{where} is a folder; give one text file.")
        if not stat.S_ISREG(about.st_mode):
            raise BadLine(f"{where} is no ordinary file.")
        with where.open("rb") as file:
            data = file.read(limit + 1)
    except FileNotFoundError:
        raise BadLine(f"There is no file {where}.") from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise BadLine(f"{where} cannot be read: {why}.") from error
    if len(data) > limit:
        raise TooLarge.file(where, about.st_size, limit)
    if not data.strip():
        raise BadLine(f"{where} is empty.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadLine(
            f"{where} is no text in UTF-8 (byte {error.start + 1:,} is none). "
            "Convert it first, or give a text file."
        ) from None
    if "\0" in text:
        raise BadLine(f"{where} is no text: it holds NUL bytes.")
    name = where.name.encode("utf-8", "replace").decode()
    return File(name=Words(name), size=len(data), text=Words(text))
