"""What every ledger promises of searching."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopforge.core.room_vocabulary import File, Told
from loopforge.core.text.erasable_text import Words, public_words
from loopforge.ledger import line_search
from loopforge.ledger.erasure.quote_matching import fold_for_search
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.ledger.line_search import bits_of, trigrams
from loopforge.ledger.sql_ledger import SqlLedger
from tests.ledger.saying import ROOM, Scribbler

LINES = [
    "Ripe tomatoes",
    "ripe TOMATOES and basil",
    "100% sure",
    "100 sure",
    "snake_case",
    "Straße",
]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("tomatoes", [1, 0]),
        ("BASIL  ripe", [1]),
        ("100%", [2]),
        ("snake_case", [4]),
        ("snakeXcase", []),
        ("%", [2]),
        ("STRASSE", [5]),
        ("", []),
        ("nowhere", []),
    ],
)
async def test_lines_are_found_by_their_words(
    ledger: SqlLedger, scribbler: Scribbler, words: str, found: list[int]
) -> None:
    """All words must be there, in any case, and `%` and `_` mean themselves; newest first."""
    await ledger.append("room:other", [scribbler.heard(line) for line in LINES])
    await ledger.append(ROOM, [scribbler.heard(line) for line in LINES])
    events = await ledger.search(ROOM, words)
    assert [event.seq - 1 for event in events] == found
    assert {event.stream for event in events} <= {ROOM}


@pytest.mark.timeout(60)
async def test_words_that_nearly_stand_everywhere_are_looked_for_once(ledger: SqlLedger) -> None:
    """A guest's search for 500 letters in 500 lines of one letter took five seconds of a database."""
    scribbler = Scribbler()
    lines = ["a" * 8000] * 500 + ["a" * 499 + "b"]
    await ledger.append(ROOM, [scribbler.heard(line) for line in lines])
    for _ in range(20):
        assert [event.seq for event in await ledger.search(ROOM, "a" * 499 + "b")] == [501]


async def test_only_what_people_see_is_searched(ledger: SqlLedger, scribbler: Scribbler) -> None:
    """Lines, the room's own notices and files are found; narratives and notes are not."""
    file = File(name=Words("figs.txt"), size=1, text=Words("quinces"))
    await ledger.append(
        ROOM,
        [
            scribbler.noted("fruit: pears"),
            scribbler.heard("plums"),
            scribbler.heard("look", files=(file,)),
            scribbler.said("apples"),
            scribbler.fact(Told(text=public_words("fruit is out"))),
        ],
    )
    found = {w: len(await ledger.search(ROOM, w)) for w in ("pears", "plums", "figs", "quinces")}
    assert found == {"pears": 0, "plums": 1, "figs": 1, "quinces": 1}
    assert len(await ledger.search(ROOM, "apples")) == 1
    assert len(await ledger.search(ROOM, "fruit")) == 1


async def test_a_search_goes_back_page_by_page(ledger: SqlLedger) -> None:
    """A line is found however many lines came after it, and `limit` takes the newest."""
    scribbler, many = Scribbler(), line_search.PAGE * 2 + 1
    await ledger.append(ROOM, [scribbler.heard("needle"), *(map(scribbler.heard, ["hay"] * many))])
    assert [event.seq for event in await ledger.search(ROOM, "needle")] == [1]
    assert [e.seq for e in await ledger.search(ROOM, "hay", 2)] == [many + 1, many]


async def test_what_was_forgotten_is_gone_from_the_index(ledger: SqlLedger) -> None:
    """Forgetting a line deletes its row of the index at once; others stay."""
    scribbler = Scribbler()
    secret, _ = await ledger.append(
        ROOM, [scribbler.heard("the code is 4711"), scribbler.heard("nice weather")]
    )
    await ledger.erase(ErasureRequest(events=(secret.id,)))
    rows = await ledger.look(lambda connection: connection.execute(trigrams.select()).all())
    assert [row.seq for row in rows] == [2]
    assert await ledger.search(ROOM, "4711") == []


@given(st.text(min_size=1, max_size=60), st.data())
def test_the_index_never_hides_a_word(text: str, data: st.DataObject) -> None:
    """A word that stands in a text, wherever it begins and ends, has no bit that the text lacks."""
    whole = fold_for_search(text)
    begin = data.draw(st.integers(0, len(whole)))
    part = whole[begin : data.draw(st.integers(begin, len(whole)))].strip()
    pairs = zip(bits_of(text), bits_of(part), strict=True)
    assert all(word & line == word for line, word in pairs)
