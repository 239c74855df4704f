"""Revision: a line of a room as it stands after somebody changed it, or took it away.

The event itself never changes: it is the record. What people are shown is a Revised one, with the
words it has now (or none) and the change that made it so. Knows no tables and no rights.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import asdict, replace

from loopforge.core.events import Event
from loopforge.core.room_vocabulary import Heard, LineEdited, Said
from loopforge.core.text.erasable_text import Words, public

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


def edit_aside(body: LineEdited) -> str:
    """What people are told of an edit beside the line; nothing where it says what it first said."""
    if not body.anew:
        return TRANSCRIBED if body.transcribed else "edited"
    return "" if body.version == body.line else "another version"


def revised(event: Event, revision: Revision, text: Words | None = None) -> Event:
    """A line as it stands after a change; with no text, it has none any more."""
    body = event.body
    if not isinstance(body, Heard | Said):
        return event
    if revision.deleted:
        body = replace(body, text=Words(None, body.text.ref), files=())
        if isinstance(body, Said):
            body = replace(body, rule=public(""), narrative=public(""))
    elif text is not None:
        body = replace(body, text=text)
    return Revised(**asdict(event) | {"body": body}, revision=revision)
