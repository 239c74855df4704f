"""What every ledger promises of lines that were edited or deleted."""

from loopforge.core.edited_lines import Revised
from loopforge.core.room_vocabulary import LineDeleted, LineEdited
from loopforge.core.text.erasable_text import Words
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.ledger.sql_ledger import SqlLedger
from loopforge.ledger.storage.revised_lines import (
    apply_revisions,
    latest_revisions,
    pending_erasures,
)
from tests.ledger.saying import ROOM, Scribbler, opened, text_of


async def test_lines_stand_as_they_were_changed_last(ledger: SqlLedger) -> None:
    """The last edit counts; a deletion counts for ever; what was not changed is as it was."""
    scribbler = Scribbler()
    lines = await ledger.append(ROOM, [scribbler.heard(text) for text in ("a", "b", "c")])
    one, two, three = (line.id for line in lines)
    for body in (
        LineEdited(line=one, text=Words("first"), by="person:p"),
        LineEdited(line=two, text=Words("second"), by="person:p"),
        LineDeleted(line=two, by="room"),
        LineEdited(line=one, text=Words("third"), by="person:p"),
        LineEdited(line=two, text=Words("too late"), by="person:p"),
    ):
        await ledger.append(ROOM, [scribbler.fact(body)])
    read = await ledger.read(ROOM, kinds=["room.heard"])
    now = await ledger.look(lambda found: apply_revisions(found, read))
    assert [text_of(event) for event in now] == ["third", None, "c"]
    assert [isinstance(event, Revised) for event in now] == [True, True, False]
    found = await ledger.look(lambda tables: latest_revisions(tables, [one, two, three]))
    assert {line: change.deleted for line, change in found.items()} == {one: False, two: True}
    assert [text_of(event) for event in await ledger.read(ROOM, limit=3)] == [
        "a",
        "b",
        "c",
    ]


async def test_search_sees_lines_as_they_stand(ledger: SqlLedger, scribbler: Scribbler) -> None:
    """Old words and those of deleted lines find nothing; new ones find the line, once."""
    lines = await ledger.append(
        ROOM, [scribbler.heard(text) for text in ("figs", "figs too", "Straße")]
    )
    one, two, three = (line.id for line in lines)
    for body in (
        LineEdited(line=one, text=Words("pears and Äpfel"), by="person:p"),
        LineEdited(line=three, text=Words("pears, more pears"), by="person:p"),
        LineEdited(line=three, text=Words("pears at last"), by="person:p"),
        LineDeleted(line=two, by="room"),
    ):
        await ledger.append(ROOM, [scribbler.fact(body)])
    assert await ledger.search(ROOM, "figs") == []
    assert await ledger.search(ROOM, "strasse") == []
    assert await ledger.search(ROOM, "more") == []
    assert [event.id for event in await ledger.search(ROOM, "PEARS")] == [three, one]
    assert [event.id for event in await ledger.search(ROOM, "äpfel")] == [one]
    assert [event.id for event in await ledger.search(ROOM, "pears", 1)] == [three]


async def test_what_deleted_lines_still_say_is_known_until_it_is_forgotten(ledger_url: str) -> None:
    """The line and all it was edited to, by stream; nothing once it is erased."""
    scribbler = Scribbler()
    async with opened(ledger_url) as ledger:
        (line,) = await ledger.append(ROOM, [scribbler.heard("rhubarb-4711")])
        body = LineEdited(line=line.id, text=Words("gherkin-4712"), by="person:p")
        (edit,) = await ledger.append(ROOM, [scribbler.fact(body)])
        assert await ledger.look(pending_erasures) == {}
        await ledger.append(ROOM, [scribbler.fact(LineDeleted(line=line.id, by="room"))])
        found = await ledger.look(pending_erasures)
        assert found == {ROOM: sorted([line.id, edit.id])}
        assert await ledger.look(lambda tables: pending_erasures(tables, "room:other")) == {}
        await ledger.erase(ErasureRequest(events=tuple(found[ROOM])))
        assert await ledger.look(pending_erasures) == {}
        assert (await ledger.verify()).findings == ()
