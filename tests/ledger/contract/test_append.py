"""What every ledger promises of appending."""

import asyncio
from datetime import UTC, datetime, timedelta
from math import inf, nan

import msgspec
import pytest
from msgspec.structs import replace

from loopforge.core.events import GENESIS, Event, Fact, chain_hash, encode_body, epoch_micros
from loopforge.core.room_vocabulary import EnergySet, Heard, Told
from loopforge.core.text.erasable_text import Words, public_words, salted_digest
from loopforge.core.turn_events import Returned
from loopforge.errors import BadLine, Conflict
from loopforge.ledger.sql_ledger import SqlLedger
from loopforge.ledger.storage.row_codec import unescape_stored_text
from tests.ledger.saying import ROOM, Scribbler, opened, text_of


async def test_appended_facts_are_numbered_from_one(ledger_url: str, scribbler: Scribbler) -> None:
    """Events of a stream are numbered from 1 without gaps, each stream by itself."""
    async with opened(ledger_url) as ledger:
        first = await ledger.append(ROOM, [scribbler.heard("one"), scribbler.heard("two")])
        other = await ledger.append("room:other", [scribbler.heard("elsewhere")])
        third = await ledger.append(ROOM, [scribbler.heard("three")])
        assert [event.seq for event in (*first, *other, *third)] == [1, 2, 1, 3]
        assert await ledger.heads() == {ROOM: 3, "room:other": 1}
        assert await ledger.heads("room:o") == {"room:other": 1}


async def test_what_is_read_is_what_was_appended(ledger_url: str, scribbler: Scribbler) -> None:
    """An event read back equals the one the append returned, private words, hash and all."""
    cause = scribbler.heard("why not")
    body = Heard(
        person="p1", text=Words('hällo 🌱\n"quoted"'), surface="terminal", reply_to=cause.id
    )
    moment = datetime(2026, 2, 3, 4, 5, 6, 789012, tzinfo=UTC)
    fact = scribbler.fact(body, "person:p1", cause=cause.id)
    fact = msgspec.structs.replace(fact, at=moment)
    async with opened(ledger_url) as ledger:
        appended = await ledger.append(ROOM, [cause, fact])
    async with opened(ledger_url) as ledger:
        read = await ledger.read(ROOM)
        assert read == list(appended)
        assert [text_of(event) for event in read] == ["why not", 'hällo 🌱\n"quoted"']
        assert read[1].at == moment
        assert await ledger.event(fact.id) == read[1]


async def test_hashes_chain(ledger: SqlLedger, scribbler: Scribbler) -> None:
    """Each event's hash is `chained` over the one before, the first over GENESIS."""
    events = await ledger.append(ROOM, [scribbler.heard("one"), scribbler.said("two")])
    previous = GENESIS
    for event in events:
        previous = _hash(previous, event)
        assert event.hash == previous


def _hash(previous: str, event: Event) -> str:
    head = (event.stream, event.seq, event.id, epoch_micros(event.at), event.actor, event.cause)
    return chain_hash(previous, *head, encode_body(event.body))


async def test_private_words_are_not_in_the_event(ledger: SqlLedger, scribbler: Scribbler) -> None:
    """A body is stored with the digest of its private words, and its public words as they are."""
    told = scribbler.fact(Told(text=public_words("The garden is open.")))
    (heard, open) = await ledger.append(ROOM, [scribbler.heard("my secret"), told])
    assert b"secret" not in encode_body(heard.body)
    assert b"The garden is open." in encode_body(open.body)
    assert isinstance(heard.body, Heard)
    assert len(heard.body.text.ref) == 64
    assert heard.body.text.ref != salted_digest("my secret", b"")


async def test_one_words_object_is_stored_once(ledger: SqlLedger, scribbler: Scribbler) -> None:
    """Words that stand in several facts, or have a ref already, are one text with one ref."""
    words = Words("the same")
    await ledger.append(ROOM, [scribbler.heard(words), scribbler.heard(words)])
    ref = words.ref
    await ledger.append("room:other", [scribbler.heard(Words(None, ref))])
    refs = [e.body.text.ref for e in await ledger.read(ROOM) if isinstance(e.body, Heard)]
    (elsewhere,) = await ledger.read("room:other")
    assert [*refs, words.ref] == [ref] * 3
    assert text_of(elsewhere) == "the same"


async def test_words_of_equal_text_have_different_refs(
    ledger: SqlLedger, scribbler: Scribbler
) -> None:
    """Two private texts that read the same cannot be told to be the same by their refs."""
    one, other = Words("yes"), Words("yes")
    await ledger.append(ROOM, [scribbler.heard(one), scribbler.heard(other)])
    assert one.ref
    assert one.ref != other.ref


async def test_expectation(ledger: SqlLedger, scribbler: Scribbler) -> None:
    """An append that expects another head is refused whole, and its words stay unstored."""
    await ledger.append(ROOM, [scribbler.heard("one")], expect=0)
    late = scribbler.heard("late")
    for wrong in (0, 2):
        with pytest.raises(Conflict, match="stands at 1"):
            await ledger.append(ROOM, [late, scribbler.heard("more")], expect=wrong)
    assert len(await ledger.read(ROOM)) == 1
    await ledger.append(ROOM, [late], expect=1)
    assert [text_of(event) for event in await ledger.read(ROOM)] == ["one", "late"]


async def test_a_refused_append_takes_nobody_with_it(ledger_url: str, scribbler: Scribbler) -> None:
    """Of appends that wait for one commit, those that are in order go through."""
    async with opened(ledger_url) as ledger:
        (known,) = await ledger.append(ROOM, [scribbler.heard("known")])
        twice = scribbler.heard("twice")
        outcomes = await asyncio.gather(
            ledger.append("room:a", [scribbler.heard("fine")]),
            ledger.append("room:b", [scribbler.heard("conflict")], expect=7),
            ledger.append("room:c", [scribbler.fact(Told(text=public_words("\ud800")))]),
            ledger.append("room:d", [_like(known.id, scribbler)]),
            ledger.append("room:e", [twice, twice]),
            ledger.append("room:a", [scribbler.heard("fine too")]),
            return_exceptions=True,
        )
        kinds = [o if isinstance(o, tuple) else type(o) for o in outcomes]
        assert kinds[1:5] == [Conflict, BadLine, Conflict, Conflict]
        assert [text_of(event) for event in await ledger.read("room:a")] == ["fine", "fine too"]
        assert await ledger.heads() == {ROOM: 1, "room:a": 2}


def _like(id: str, scribbler: Scribbler) -> Fact:
    return msgspec.structs.replace(scribbler.heard("again"), id=id)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "nul \x00 inside",
            "half \ud83d pair",
            "\x01 first",
            "\x01",
            "\\u0000",
            "x" * 100_000,
        ),
        *("two \ud83e\uded6 halves", "\ud83e\uded6\ud83e🫖 \ud83e\\/\uded6 \\ud83e\\/\uded6\x00"),
    ],
    ids=("empty", "nul", "half", "escape first", "escape", "escaped", "long", "halves", "seams"),
)
async def test_any_text_is_kept(ledger: SqlLedger, scribbler: Scribbler, text: str) -> None:
    """Every Python string comes back as it was: NUL, half surrogate pairs, control characters."""
    await ledger.append(ROOM, [scribbler.heard(text)])
    (event,) = await ledger.read(ROOM)
    assert text_of(event) == text
    assert (await ledger.verify()).sound


def test_halves_that_were_kept_without_a_seam_are_read_as_they_were() -> None:
    """A text of before, whose halves JSON takes for one sign, has the digest of two halves."""
    assert unescape_stored_text("\x01Tea \\ud83e\\uded6") == "Tea \ud83e\uded6"
    with pytest.raises(ValueError, match="was not written by the ledger"):
        unescape_stored_text("\x01Tea")


async def test_what_cannot_be_stored_is_refused(ledger: SqlLedger, scribbler: Scribbler) -> None:
    """Broken strings, unprintable names, words without text or ref, no numbers raise BadLine."""
    cheap = Returned(turn="t1", nth=0, outcome="returned", value=public_words("null"))
    bad = [
        (ROOM, scribbler.heard("x", source="\udfff")),
        (ROOM, scribbler.fact(EnergySet(capacity=1, refill=1), actor="a\x1fb")),
        (ROOM, scribbler.heard(Words(None))),
        *((ROOM, scribbler.fact(replace(cheap, cost=cost))) for cost in (inf, nan)),
        ("room\x00", scribbler.heard("x")),
        ("", scribbler.heard("x")),
    ]
    for stream, fact in bad:
        with pytest.raises(BadLine):
            await ledger.append(stream, [fact])
    assert await ledger.heads() == {}
    await ledger.append(ROOM, [scribbler.fact(cheap)])


async def test_order_of_each_caller_is_kept(ledger: SqlLedger, scribbler: Scribbler) -> None:
    """Appends of many tasks at once are gapless, and each task's own stay in its order."""

    async def talk(ledger: SqlLedger, who: int) -> None:
        for nth in range(10):
            await ledger.append(ROOM, [scribbler.heard(f"{who} {nth}")])

    await asyncio.gather(*(talk(ledger, who) for who in range(20)))
    events = await ledger.read(ROOM)
    assert [event.seq for event in events] == list(range(1, 201))
    for who in range(20):
        mine = [t for t in map(text_of, events) if t and t.startswith(f"{who} ")]
        assert mine == [f"{who} {nth}" for nth in range(10)]


async def test_times_before_1970_are_kept(ledger: SqlLedger, scribbler: Scribbler) -> None:
    """A time is stored to the microsecond, also one before 1970."""
    moment = datetime(1969, 12, 31, 23, 59, 59, 1, tzinfo=UTC) - timedelta(days=9)
    fact = msgspec.structs.replace(scribbler.heard("old"), at=moment)
    await ledger.append(ROOM, [fact])
    (event,) = await ledger.read(ROOM)
    assert event.at == moment
