"""What every ledger promises of views, of the outbox and of snapshots."""

import asyncio
import hashlib
import tracemalloc
from collections.abc import Sequence
from typing import Any, cast, get_args

import pytest
from sqlalchemy import BigInteger, Column, Table, Text, create_engine, select
from sqlalchemy.engine import Connection

from loopforge.core.delivery_states import Accepted, Attempting, Failed, PutOff, Queued
from loopforge.core.effect_states import (
    EFFECT_TABLE,
    EffectApproved,
    EffectDenied,
    EffectEvent,
    EffectExpired,
    EffectFailed,
    EffectProposed,
    EffectReturned,
    EffectRunning,
    EffectState,
    EffectStopped,
    EffectUnknown,
)
from loopforge.core.events import Body, Event, kind_of
from loopforge.core.room_vocabulary import Heard, Stopped
from loopforge.core.text.erasable_text import Words
from loopforge.errors import Conflict, LedgerError
from loopforge.ledger.database.database_engine import parse_database_url
from loopforge.ledger.database.table_schema import metadata
from loopforge.ledger.sql_ledger import SqlLedger
from tests.ledger.saying import ROOM, Scribbler, opened

lines = Table(
    "test_lines",
    metadata,
    Column("person", Text, primary_key=True),
    Column("count", BigInteger, nullable=False),
    Column("last", Text, nullable=False),
)


class Lines:
    """How often each person spoke, and what was said last; it cannot bear the word "never"."""

    name, kinds, tables, holds_texts = "test lines", frozenset({"room.heard"}), (lines,), True

    def __init__(self, version: int = 1) -> None:
        self.version = version

    def apply(self, connection: Connection, events: Sequence[Event]) -> None:
        """Count."""
        for event in events:
            assert isinstance(event.body, Heard)
            mine = lines.c.person == event.body.person
            row = connection.execute(lines.select().where(mine)).one_or_none()
            connection.execute(lines.delete().where(mine))
            count = row[1] + 1 if row else 1
            connection.execute(
                lines.insert().values(
                    person=event.body.person, count=count, last=str(event.body.text)
                )
            )
            if event.body.text.text == "never":
                raise LedgerError("this view cannot bear it")


def rows_of(url: str) -> list[tuple[str, int, str]]:
    """What stands in the table."""
    engine = create_engine(parse_database_url(url))
    with engine.connect() as connection:
        found = connection.execute(select(lines).order_by(lines.c.person)).all()
    engine.dispose()
    return [(row[0], row[1], row[2]) for row in found]


async def test_a_view_is_never_behind(ledger_url: str, scribbler: Scribbler) -> None:
    """A view has taken in an event when its append returns, whatever stream it came in."""
    async with opened(ledger_url, [Lines()]) as ledger:
        await ledger.append(
            ROOM, [scribbler.heard("a"), scribbler.noted("x"), scribbler.heard("b")]
        )
        await ledger.append("room:b", [scribbler.heard("c", "p2")])
        assert rows_of(ledger_url) == [("p1", 2, "b"), ("p2", 1, "c")]


async def test_a_view_that_refuses_stops_its_append_alone(ledger_url: str) -> None:
    """An event that a view refuses is not written, nor what the view had done; others are."""
    scribbler = Scribbler()
    async with opened(ledger_url, [Lines()]) as ledger:
        outcomes = await asyncio.gather(
            ledger.append(ROOM, [scribbler.heard("one")]),
            ledger.append(ROOM, [scribbler.heard("two"), scribbler.heard("never")]),
            ledger.append(ROOM, [scribbler.heard("three")]),
            return_exceptions=True,
        )
        assert [type(outcome) for outcome in outcomes] == [tuple, LedgerError, tuple]
        assert rows_of(ledger_url) == [("p1", 2, "three")]
        assert await ledger.heads() == {ROOM: 2}


async def test_a_new_view_is_folded_when_the_ledger_opens(ledger_url: str) -> None:
    """A view that is new, or of a new version, is folded from all events at opening."""
    scribbler = Scribbler()
    async with opened(ledger_url) as ledger:
        await ledger.append(ROOM, [scribbler.heard(str(nth)) for nth in range(1100)])
    for version in (1, 2):
        async with opened(ledger_url, [Lines(version)]):
            assert rows_of(ledger_url) == [("p1", 1100, "1099")]
        engine = create_engine(parse_database_url(ledger_url))
        with engine.begin() as connection:
            connection.execute(lines.delete())
        engine.dispose()
    async with opened(ledger_url, [Lines(2)]):
        assert rows_of(ledger_url) == []


async def test_rebuilding_leaves_what_appending_made(ledger_url: str, scribbler: Scribbler) -> None:
    """A rebuilding gives the very rows that stood there before."""
    async with opened(ledger_url, [Lines()]) as ledger:
        for nth in range(5):
            await ledger.append(f"room:{nth}", [scribbler.heard(f"{nth}", f"p{nth % 2}")])
        await _queue(ledger, scribbler, "web")
        before, open = rows_of(ledger_url), await ledger.outbox()
        assert await ledger.rebuild() == 6
        assert sorted(rows_of(ledger_url)) == before
        assert await ledger.outbox() == open


wide = Table("test_wide", metadata, Column("nth", BigInteger, primary_key=True), Column("it", Text))


class Wide:
    """A page of long rows for each line."""

    name, version, kinds, tables, holds_texts = "wide", 1, frozenset({"room.heard"}), (wide,), False

    def apply(self, connection: Connection, events: Sequence[Event]) -> None:
        """Write them, the last first."""
        for event in events:
            first = event.seq * 1000
            rows = [{"nth": first - nth, "it": f"{nth}" * 150} for nth in range(1000)]
            connection.execute(wide.insert(), rows)


async def test_comparing_views_takes_no_more_memory_for_more_rows(
    ledger_url: str, scribbler: Scribbler
) -> None:
    """Verifying holds a page of a view's rows at once, not all of them; one changed row is found."""
    peaks = []
    async with opened(ledger_url, [Wide()]) as ledger:
        for _ in range(2):
            await ledger.append(ROOM, [scribbler.heard(str(nth)) for nth in range(3)])
            await ledger.verify()
            tracemalloc.start()
            try:
                assert (await ledger.verify()).sound
                peaks.append(tracemalloc.get_traced_memory()[1])
            finally:
                tracemalloc.stop()
        assert peaks[1] < 1.5 * peaks[0]
        await ledger.change(
            lambda c: c.execute(wide.update().where(wide.c.nth == 1500).values(it="changed"))
        )
        assert [each.trouble for each in (await ledger.verify()).findings] == ["view"]


# ---------------------------------------------------------------- the outbox


async def _queue(ledger: SqlLedger, scribbler: Scribbler, surface: str) -> str:
    (event,) = await ledger.append(ROOM, [scribbler.fact(Queued(surface=surface, of="e1"))])
    return event.id


async def test_the_outbox_holds_what_is_open(ledger: SqlLedger, scribbler: Scribbler) -> None:
    """A delivery stands in the outbox, with its state and attempts, until accepted or failed."""
    one, two = [await _queue(ledger, scribbler, name) for name in ("web", "terminal")]
    assert [(row.delivery, row.surface, row.state) for row in await ledger.outbox()] == [
        (one, "web", "queued"),
        (two, "terminal", "queued"),
    ]
    steps: list[tuple[Body, tuple[str, int]]] = [
        (Attempting(delivery=one, nth=1), ("attempting", 1)),
        (PutOff(delivery=one), ("queued", 1)),
        (Attempting(delivery=one, nth=2), ("attempting", 2)),
    ]
    for body, state in steps:
        await ledger.append(ROOM, [scribbler.fact(body)])
        row = (await ledger.outbox())[0]
        assert (row.state, row.attempts) == state
    await ledger.append(ROOM, [scribbler.fact(Accepted(delivery=one, message_id="m"))])
    assert [row.delivery for row in await ledger.outbox()] == [two]


async def test_what_the_table_does_not_allow_is_refused(ledger: SqlLedger) -> None:
    """A delivery that is finished, unknown or in the wrong state takes no such event."""
    scribbler = Scribbler()
    id = await _queue(ledger, scribbler, "web")
    with pytest.raises(Conflict, match=r"is queued, so delivery\.failed cannot happen"):
        await ledger.append(ROOM, [scribbler.fact(Failed(delivery=id))])
    accepted = Accepted(delivery=id, message_id="m")
    with pytest.raises(Conflict, match="not open"):
        await ledger.append(ROOM, [scribbler.fact(accepted), scribbler.fact(accepted)])
    await ledger.append(ROOM, [scribbler.fact(accepted)])
    for body in (accepted, Attempting(delivery=id, nth=1), PutOff(delivery="nobody")):
        with pytest.raises(Conflict, match="not open"):
            await ledger.append(ROOM, [scribbler.fact(body)])
    assert await ledger.heads() == {ROOM: 2}


async def test_a_whole_delivery_fits_in_one_append(ledger: SqlLedger, scribbler: Scribbler) -> None:
    """Queued and what follows may come in the same append."""
    queued = scribbler.fact(Queued(surface="web", of="e1"))
    open = scribbler.fact(Queued(surface="web", of="e2"))
    sent = scribbler.fact(Attempting(delivery=queued.id, nth=1))
    done = scribbler.fact(Accepted(delivery=queued.id, message_id="m"))
    await ledger.append(ROOM, [queued, open, sent, done])
    assert [row.of for row in await ledger.outbox()] == ["e2"]


# ---------------------------------------------------------------- open effects

WAYS: dict[str, tuple[type, ...]] = {
    "proposed": (),
    "approved": (EffectApproved,),
    "running": (EffectApproved, EffectRunning),
    "denied": (EffectDenied,),
    "returned": (EffectApproved, EffectRunning, EffectReturned),
    "failed": (EffectApproved, EffectFailed),
    "unknown": (EffectApproved, EffectRunning, EffectUnknown),
    "stopped": (EffectStopped,),
    "expired": (EffectExpired,),
}
"""How an effect comes to each state."""


def _step(kind: type, effect: str) -> Body:
    more: dict[str, Any] = {"value": Words("so")}
    if kind is EffectApproved:
        more = {"by": "rights"}
    elif kind is EffectRunning:
        more = {}
    elif kind is EffectDenied:
        more |= {"rule": "grant"}
    body: Body = kind(effect=effect, **more)
    return body


async def _propose(ledger: SqlLedger, scribbler: Scribbler, *kinds: type) -> str:
    """An effect to which this happened, in one append."""
    body = EffectProposed(turn="t", nth=1, tool="lamp", arguments=Words("{}"), idempotent=True)
    proposed = scribbler.fact(body)
    steps = [scribbler.fact(_step(kind, proposed.id)) for kind in kinds]
    return (await ledger.append(ROOM, [proposed, *steps]))[0].id


async def test_an_effect_goes_the_ways_of_its_table_and_no_other(ledger: SqlLedger) -> None:
    """From every state each event that the table knows is taken, and each other one refused."""
    scribbler = Scribbler()
    kinds = [kind for kind in get_args(EffectEvent) if kind is not EffectProposed]
    for state, way in WAYS.items():
        for kind in kinds:
            id = await _propose(ledger, scribbler, *way)
            fact = scribbler.fact(_step(kind, id))
            if kind_of(fact.body) in EFFECT_TABLE[cast("EffectState", state)]:
                await ledger.append(ROOM, [fact])
            else:
                with pytest.raises(Conflict, match=r"cannot happen to it; nothing was written"):
                    await ledger.append(ROOM, [fact])


async def test_open_effects_stand_with_their_state_and_what_stops_them(ledger: SqlLedger) -> None:
    """A stop is kept in mind of all that is open in its stream, and of nothing that comes later."""
    scribbler = Scribbler()
    over = await _propose(ledger, scribbler, EffectDenied)
    first = await _propose(ledger, scribbler, EffectApproved)
    await ledger.append("room:other", [scribbler.fact(Stopped(person="p"))])
    assert [one.halted for one in await ledger.open_effects()] == [""]
    await ledger.append(ROOM, [scribbler.fact(Stopped(person="p"))])
    second = await _propose(ledger, scribbler)
    expected = [
        (first, ROOM, "t", "lamp", True, "approved", "a person said stop"),
        (second, ROOM, "t", "lamp", True, "proposed", ""),
    ]
    assert await ledger.open_effects() == expected
    await ledger.rebuild()
    assert await ledger.open_effects() == expected
    assert over not in {one.effect for one in await ledger.open_effects()}


# ---------------------------------------------------------------- snapshots


async def test_the_newest_snapshot_of_a_version_is_kept(ledger: SqlLedger) -> None:
    """A snapshot replaces an older one or one of another version, never a newer one."""
    assert await ledger.load_snapshot(ROOM, 1) is None
    await ledger.append(ROOM, [Scribbler().heard("hello") for _ in range(10)])
    await ledger.save_snapshot(ROOM, 10, 1, b'{"a":"\\u0000"}')
    await ledger.save_snapshot(ROOM, 9, 1, b"{}")
    assert await ledger.load_snapshot(ROOM, 1) == (10, b'{"a":"\\u0000"}')
    await ledger.save_snapshot(ROOM, 3, 2, b"[]")
    assert await ledger.load_snapshot(ROOM, 1) is None
    assert await ledger.load_snapshot(ROOM, 2) == (3, b"[]")


async def test_a_snapshot_of_a_later_time_is_none(ledger: SqlLedger) -> None:
    """A process that goes by events which the database lost leaves no state of them behind."""
    seal = hashlib.sha256(f"{ROOM}\x1f7\x1f1\x1e[7]".encode()).hexdigest()
    left = (
        f"INSERT INTO snapshots (stream, seq, version, body) VALUES ('{ROOM}', 7, 1, '{seal}[7]')"
    )
    await ledger.append(ROOM, [Scribbler().heard("hello") for _ in range(3)])
    await ledger.save_snapshot(ROOM, 4, 1, b"[4]")
    assert await ledger.load_snapshot(ROOM, 1) is None
    await ledger.change(lambda there: there.exec_driver_sql(left).close())
    assert await ledger.load_snapshot(ROOM, 1) is None, "as an older program left it"
    await ledger.save_snapshot(ROOM, 3, 1, b"[3]")
    assert await ledger.load_snapshot(ROOM, 1) == (3, b"[3]")
