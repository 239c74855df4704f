"""Edits, deletions, reactions and places in the terminal: drawn, plain, and as JSON."""

import json
from datetime import UTC, datetime
from pathlib import Path

from loopforge.chat.room.event_wording import line_asides
from loopforge.core.edited_lines import Revised, Revision, apply_revision
from loopforge.core.events import Body, Event
from loopforge.core.room_vocabulary import (
    Heard,
    LineDeleted,
    LineEdited,
    PersonReacted,
    PlaceJoined,
    PlaceLeft,
    TalkSet,
)
from loopforge.core.text.erasable_text import Words
from loopforge.io.socket import wire_protocol
from loopforge.io.terminal.terminal_wording import line_quotation, line_text, notice_sentence
from tests.io.commons import HOSTED
from tests.io.test_plain_mode import QUIET, talk
from tests.io.test_terminal_app import R, seat
from tests.io.test_terminal_wording import event, minutes


def text_of(event: Event) -> Words:
    """The text of a line that somebody said."""
    assert isinstance(event.body, Heard)
    return event.body.text


def test_a_line_is_quoted_as_it_stands() -> None:
    """After an edit its new words are quoted, after a deletion none; an older edit changes none."""
    known = minutes()
    known.add(event(LineEdited(line="e7", text=Words("a better one"), by="person:p1"), 9))
    known.add(event(LineEdited(line="e7", text=Words("an older one"), by="person:p1"), 8))
    line = known.line("e7")
    assert line is not None
    assert known.numbered(7) is line
    assert line_quotation(line, known) == "Ana: a better one"
    assert line_asides(line) == ["edited"]
    known.add(event(LineDeleted(line="e7", by="person:p1"), 10))
    line = known.line("e7")
    assert line is not None
    assert line_text(line, known) == "(deleted by Ana)"
    assert line_asides(line) == []


def test_what_happens_on_platforms_reads_as_a_sentence() -> None:
    """Edits, deletions, reactions, places and free talk each have one."""
    known = minutes()
    bodies: list[tuple[Body, str]] = [
        (LineEdited(line="e7", text=Words("new"), by="person:p1"), "Ana edited #7: new"),
        (LineDeleted(line="e7", by="person:p1"), "Ana deleted #7."),
        (
            LineDeleted(line="e3", by="room"),
            "An earlier line was deleted on the platform where it was said.",
        ),
        (PersonReacted(person="p1", to="e7", emoji="👍"), "Ana put 👍 on “Ana: a question”."),
        (
            PersonReacted(person="p1", to="e7", emoji="👍", back=True),
            "Ana took 👍 off “Ana: a question”.",
        ),
        (
            PlaceJoined(place="discord:7", name=Words("general"), kind="group"),
            "“general” on Discord is part of this room now: what is said in one is said in all.",
        ),
        (
            PlaceLeft(place="telegram:7", why=Words("the group is gone")),
            "A place on Telegram is part of this room no longer: the group is gone",
        ),
        (TalkSet(free=True), "Mates may speak here without being called now."),
    ]
    for body, reads in bodies:
        assert notice_sentence(event(body, 20), known) == reads


def test_a_page_of_history_says_which_lines_were_changed() -> None:
    """Over the wire a line that was edited or deleted comes back as one."""
    line = Event(
        stream="room:r",
        seq=7,
        id="e7",
        at=datetime(2026, 10, 8, tzinfo=UTC),
        actor="person:p1",
        cause="",
        body=Heard(person="p1", text=Words("old")),
    )
    change = Revision(line="e7", by="person:p1", event="e9", seq=9)
    shown = wire_protocol.shown(apply_revision(line, change, Words("new")))
    assert shown is not None
    page = wire_protocol.answer(1, [shown])
    read = wire_protocol.from_host(wire_protocol.encode(page))
    assert isinstance(read, wire_protocol.HostAnswer)
    (back,) = read.as_they_stand
    assert isinstance(back, Revised)
    assert back.revision == change
    assert str(text_of(back)) == "new"


async def test_the_screen_shows_what_a_line_says_now(tmp_path: Path) -> None:
    """An edit changes the line in place, a deletion empties it, a reaction stands below it."""
    async with seat(tmp_path, size=(92, 40)) as ana:
        line = ana.heard("I grow turnips")
        await ana.sees("turnips")
        edited = LineEdited(line=line.id, text=Words("I grow leeks"), by="person:p-ben")
        ana.rooms.add(R, edited, "person:p-ben")
        reacted = PersonReacted(person="p-ben", to=line.id, emoji="+1")
        ana.rooms.add(R, reacted, "person:p-ben")
        await ana.sees("I grow leeks", "(edited)", "+1")
        assert "turnips" not in ana.screen()
        ana.rooms.add(R, LineDeleted(line=line.id, by="room"), "room")
        await ana.sees("(deleted on the platform where it was said)")
        assert "leeks" not in ana.screen()


async def test_plain_and_json_tell_of_changes(tmp_path: Path) -> None:
    """An edit goes to standard error in words; as JSON it names its line and its new text."""
    await talk(tmp_path, b"hi\n", QUIET)
    rooms = HOSTED[tmp_path]
    line = rooms.add("commons", Heard(person="p-ben", text=Words("old"), bot=True), "person:p-ben")
    changed = LineEdited(line=line.id, text=Words("new"), by="person:p-ben")
    rooms.add("commons", changed, "person:p-ben")
    code, out, err = await talk(tmp_path, b"", QUIET, tail=10)
    assert code == 0
    assert "somebody (a bot)" in out
    assert "edited #" in err
    _, out, _ = await talk(tmp_path, b"", QUIET, tail=10, as_json=True)
    rows = [json.loads(row) for row in out.splitlines()]
    (edit,) = (row for row in rows if row["kind"] == "line_edited")
    assert (edit["line"], edit["text"]) == (line.id, "new")
    assert [row.get("bot") for row in rows if row.get("text") == "old"] == [True]


async def test_who_is_at_a_terminal_may_do_what_the_owner_may(tmp_path: Path) -> None:
    """Lines and commands of a terminal are those of somebody at the machine itself."""
    await talk(tmp_path, b"hi\n/title Tea\n", QUIET)
    assert HOSTED[tmp_path].owners == [True]
    assert [one[1:] for one in HOSTED[tmp_path].acts] == [("title", "Tea")]
