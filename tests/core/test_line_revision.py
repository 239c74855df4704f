"""Revisions: a line as it stands after a change, and the event as it was."""

from __future__ import annotations

from datetime import UTC, datetime

from loopforge.core.events import Event
from loopforge.core.line_revision import Revised, Revision, revised
from loopforge.core.room_vocabulary import File, Heard, Told
from loopforge.core.text.erasable_text import Words, public

EDIT = Revision(line="e1", by="person:ana", event="e5", seq=5)
GONE = Revision(line="e1", by="room", deleted=True, event="e6", seq=6)


def line() -> Event:
    """A line with a file."""
    file = File(name=Words("notes.txt"), size=3, text=Words("abc"))
    return Event(
        stream="room:r",
        seq=1,
        id="e1",
        at=datetime(2026, 11, 21, tzinfo=UTC),
        actor="person:ana",
        cause="",
        body=Heard(person="ana", text=Words("old"), files=(file,)),
    )


def test_an_edited_line_has_its_new_words_and_what_else_it_had() -> None:
    """The event itself is as it was."""
    event = line()
    now = revised(event, EDIT, Words("new"))
    assert isinstance(now, Revised)
    assert now.revision is EDIT
    assert isinstance(now.body, Heard)
    assert str(now.body.text) == "new"
    assert len(now.body.files) == 1
    assert (now.id, now.seq, now.kind) == ("e1", 1, "room.heard")
    assert isinstance(event.body, Heard)
    assert str(event.body.text) == "old"


def test_a_deleted_line_has_no_words_and_no_files() -> None:
    """Whatever it is said to have."""
    now = revised(line(), GONE, Words("new"))
    assert isinstance(now.body, Heard)
    assert now.body.text.text is None
    assert now.body.files == ()


def test_only_what_people_say_is_revised() -> None:
    """Anything else is given back as it is."""
    event = line()
    told = Event(
        stream="room:r",
        seq=2,
        id="e2",
        at=event.at,
        actor="room",
        cause="",
        body=Told(text=public("x")),
    )
    assert revised(told, EDIT, Words("new")) is told
