"""Revisions: a line as it stands after a change, and the event as it was."""

from datetime import UTC, datetime

from msgspec.structs import replace

from loopforge.core.edited_lines import Revised, Revision, apply_revision
from loopforge.core.events import Body, Event
from loopforge.core.room_vocabulary import File, Heard, Told
from loopforge.core.text.erasable_text import Words, public_words

EDIT = Revision(line="e1", by="person:ana", event="e5", seq=5)
GONE = Revision(line="e1", by="room", deleted=True, event="e6", seq=6)


def event(body: Body) -> Event:
    """An event of a room."""
    at = datetime(2026, 11, 21, tzinfo=UTC)
    return Event(stream="room:r", seq=1, id="e1", at=at, actor="room", cause="", body=body)


def test_an_edited_line_has_its_new_words_and_what_else_it_had() -> None:
    """A deleted one has neither words nor files, whatever it is said to have; the event is as it was."""
    file = File(name=Words("notes.txt"), size=3, text=Words("abc"))
    heard = Heard(person="ana", text=Words("old"), files=(file,))
    line = event(heard)
    now = apply_revision(line, EDIT, Words("new"))
    assert isinstance(now, Revised)
    assert (now.revision, now.id, now.seq, now.kind) == (EDIT, "e1", 1, "room.heard")
    assert now.body == replace(heard, text=Words("new"))
    gone = apply_revision(line, GONE, Words("new"))
    assert gone.body == replace(heard, text=Words(None), files=())
    assert line.body is heard


def test_only_what_people_say_is_revised() -> None:
    """Anything else is given back as it is."""
    told = event(Told(text=public_words("x")))
    assert apply_revision(told, EDIT, Words("new")) is told
