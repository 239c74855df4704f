"""Edited lines: a line of a room as it stands after somebody changed it, or took it away.

The event itself never changes: it is the record. What people are shown is a Revised one, with the
words it has now (or none) and the change that made it so. Of a line that came as several messages
each can change by itself. Knows no tables and no rights.
"""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import asdict, replace

from loopforge.core.events import Event
from loopforge.core.room_vocabulary import Heard, LineEdited, Said
from loopforge.core.text.erasable_text import Words, public_words

TRANSCRIBED = "transcribed"
"""What people are told beside a line that says what a voice note says."""


class Revision(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The change that made a line what it is now: which event, and by whom (an actor).

    `aside` is what people are told of it, beside the line.
    """

    line: str
    by: str
    deleted: bool = False
    event: str = ""
    seq: int = 0
    aside: str = "edited"


class Revised(Event, frozen=True, kw_only=True):
    """A line as it stands now, after this change."""

    revision: Revision


def edit_remark(body: LineEdited) -> str:
    """What people are told of an edit beside the line; nothing where it says what it first said."""
    if not body.anew:
        return TRANSCRIBED if body.transcribed else "edited"
    return "" if body.version == body.line else "another version"


def apply_revision(event: Event, revision: Revision, text: Words | None = None) -> Event:
    """A line as it stands after a change; with no text, it has none any more."""
    body = event.body
    if not isinstance(body, Heard | Said):
        return event
    if revision.deleted:
        body = replace(body, text=Words(None, body.text.ref), files=())
        if isinstance(body, Said):
            body = replace(body, rule=public_words(""), narrative=public_words(""))
    elif text is not None:
        body = replace(body, text=text)
    return Revised(**asdict(event) | {"body": body}, revision=revision)


def split_captions(text: str, captions: Sequence[int]) -> list[str]:
    """What each message of a line says, by how much of its text each has.

    Where it was changed as a whole, all of it is taken as the words of the first.
    """
    parts, at = list[str](), 0
    for size in captions:
        parts.append(text[at : at + size])
        at += size + bool(size)
    return parts if join_captions(parts) == text else [text, *("" for _ in captions[1:])]


def join_captions(parts: Sequence[str]) -> str:
    """What several messages say, as one line does."""
    return "\n".join(part for part in parts if part.strip())


def caption_lengths(parts: Sequence[str]) -> tuple[int, ...]:
    """How much of such a line's text each message has."""
    return tuple(len(part) if part.strip() else 0 for part in parts)
