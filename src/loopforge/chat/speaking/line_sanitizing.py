"""Sanitizing: lines, titles and files that people bring, as a room keeps them.

Does not know rooms; raises what a person is told.
"""

import re
from unicodedata import category

from loopforge.artifacts.file_intake import plain_name
from loopforge.core.room_vocabulary import File
from loopforge.core.text.erasable_text import Words, public_words
from loopforge.core.text.name_labels import is_invisible, one_line
from loopforge.errors import BadLine, TooLarge

LONGEST_TITLE, LONGEST_NAME = 80, 200
HASH = re.compile(r"[0-9a-f]{64}")
_CONTROL = {code: None for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"} | {
    0x202D: None,
    0x202E: None,
}
_BREAKS = re.compile("\r\n|[\r\x85\u2028\u2029]")


def title_as_kept(text: str) -> str:
    """A title as it is kept: one line, without signs that nobody can see. Raises BadLine."""
    return _one_line(text, "title", LONGEST_TITLE)


def name_as_kept(text: str) -> str:
    """What a person at a terminal is called, kept likewise. Raises BadLine."""
    return _one_line(text, "name", LONGEST_NAME)


def _one_line(text: str, what: str, longest: int) -> str:
    kept = one_line(text, longest + 1)
    if not kept:
        raise BadLine(f"There is nothing in this {what} that could be read.")
    if len(kept) > longest:
        raise BadLine(f"A {what} may have {longest} characters. Take a shorter one.")
    return kept


def line_as_kept(text: str, limit: int) -> str:
    """The line as it is kept: without control or broken characters, not empty, not too long.

    Signs that turn the direction of all that follows (overrides) are taken out; those by which
    right-to-left writing is set apart stay.
    """
    text = _BREAKS.sub("\n", text).translate(_CONTROL)
    text = text.encode("utf-8", "replace").decode().strip()
    if len(text) > limit:
        raise BadLine(
            f"This line has {len(text):,} characters; a line may have {limit:,}. "
            "Split it, or give it to the room as a file."
        )
    if all(sign.isspace() or (is_invisible(sign) and category(sign) != "Cn") for sign in text):
        raise BadLine("There is nothing in this line that could be said.")
    return text


def file_as_kept(file: File, limit: int) -> File:
    """The file as it is kept; `limit` in bytes of text. Raises BadLine, TooLarge.

    One without a text needs bytes that are kept under a hash.
    """
    if str(file.hash):
        return _stored(file, limit)
    size = len(str(file.text).encode("utf-8", "replace"))
    if size > limit:
        raise TooLarge(f"{file.name} has {size:,} bytes; a file may have {limit:,}.")
    name, text = plain_name(str(file.name)), line_as_kept(str(file.text), size + 1)
    return File(name=Words(name), size=size, text=Words(text))


def _stored(file: File, limit: int) -> File:
    text, hash = str(file.text), str(file.hash)
    if not HASH.fullmatch(hash):
        raise BadLine(f"{file.name} has no hash of 64 hex digits; give the file anew.")
    size = len(text.encode("utf-8", "replace"))
    if size > limit:
        text = ""
    return File(
        name=Words(plain_name(str(file.name))),
        size=file.size,
        text=Words(line_as_kept(text, size + 1)) if text.strip() else public_words(""),
        hash=Words(hash),
        media=file.media,
        width=file.width,
        height=file.height,
        pages=file.pages,
        length=file.length if text.strip() else 0,
        unread=file.unread,
    )
