"""What every ledger promises of verifying."""

import asyncio

import pytest
from sqlalchemy import create_engine
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError

from loopforge.core.delivery_states import Queued
from loopforge.core.events import GENESIS, Erased, chain_hash, encode_body, epoch_micros
from loopforge.core.home_events import BudgetSet
from loopforge.core.limits.budget_limits import Budget
from loopforge.core.room_vocabulary import Heard
from loopforge.ledger import chain_verify
from loopforge.ledger.database.database_engine import parse_database_url
from loopforge.ledger.database.table_schema import ensure_triggers
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.ledger.schema_migration import migrate_schema
from loopforge.ledger.sql_ledger import SqlLedger
from tests.ledger.saying import ROOM, Scribbler, opened


def tamper(url: str, *statements: str) -> None:
    """Do what the triggers would refuse, and put these back."""
    engine = create_engine(parse_database_url(url))
    with engine.begin() as connection:
        _unguard(connection)
        for statement in statements:
            assert connection.exec_driver_sql(statement).rowcount, statement
        ensure_triggers(connection)
    engine.dispose()


def _unguard(connection: Connection) -> None:
    if connection.dialect.name == "sqlite":
        named = connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        for (name,) in named.all():
            connection.exec_driver_sql(f"DROP TRIGGER {name}")
        return
    for table in ("events", "texts"):
        connection.exec_driver_sql(f"ALTER TABLE {table} DISABLE TRIGGER USER")


async def fill(ledger: SqlLedger) -> None:
    """Two streams with texts, a shared text, public things, an open delivery and a snapshot."""
    scribbler = Scribbler()
    (first,) = await ledger.append(ROOM, [scribbler.heard("one")])
    assert isinstance(first.body, Heard)
    await ledger.append(
        ROOM,
        [
            scribbler.heard(first.body.text, reply_to=first.id),
            scribbler.said("two \x00"),
            scribbler.fact(Queued(surface="web", of=first.id)),
        ],
    )
    await ledger.append("room:other", [scribbler.heard("three"), scribbler.noted("four")])
    await ledger.save_snapshot(ROOM, 3, 1, b'{"title":"Garden"}')


async def troubles(
    url: str, prefix: str = "", anchors: dict[str, chain_verify.Anchor] | None = None
) -> list[str]:
    """What a verifying finds."""
    async with opened(url) as ledger:
        found = await ledger.verify(prefix, anchors)
        assert found.sound == (not found.findings)
        return [finding.trouble for finding in found.findings]


async def test_a_sound_ledger_is_found_sound(ledger: SqlLedger) -> None:
    """Nothing is found where nothing is wrong, or nothing is; the report counts what it went over."""
    assert (await ledger.verify()).sound
    await fill(ledger)
    found = await ledger.verify()
    assert (found.events, found.texts, found.findings) == (6, 4, ())
    heads = {stream: seq for stream, (seq, _) in found.anchors.items()}
    assert heads == await ledger.heads()
    (last,) = await ledger.read(ROOM, limit=1, newest=True)
    assert found.anchors[ROOM] == (4, last.hash)
    part = await ledger.verify("room:o")
    assert (part.events, part.texts, part.findings) == (2, 2, ())


CASES = {
    "UPDATE events SET body = replace(body, 'web', 'wev') WHERE seq = 4": {"hash", "view"},
    "UPDATE events SET body = replace(body, 'what', 'whau') WHERE seq = 4": {"hash"},
    "UPDATE events SET body = replace(body, 'delivery.queued', 'delivery.quewed') WHERE seq = 4": {
        "unreadable",
        "view",
    },
    "UPDATE events SET kind = 'room.said' WHERE seq = 1 AND stream = 'room:other'": {"kind"},
    "DELETE FROM events WHERE stream = 'room:commons' AND seq = 2": {"gap", "hash", "view"},
    "DELETE FROM events WHERE stream = 'room:commons' AND seq = 4": {"head", "view"},
    "DELETE FROM events WHERE stream = 'room:other'": {"head", "stray", "view"},
    "DELETE FROM streams WHERE stream = 'room:other'": {"head"},
    "DELETE FROM texts WHERE stream = 'room:other'": {"missing", "view"},
    "UPDATE texts SET text = 'other'": {"text", "view"},
    "UPDATE texts SET event = (SELECT id FROM events WHERE seq = 4)": {"stray"},
    "UPDATE texts SET stream = 'room:other' WHERE stream = 'room:commons'": {"stray"},
    "UPDATE deliveries SET state = 'attempting'": {"view"},
    "DELETE FROM deliveries": {"view"},
    "UPDATE snapshots SET body = replace(body, 'Garden', 'Jungle')": {"view"},
    "UPDATE snapshots SET stream = 'room:other'": {"view"},
}


@pytest.mark.parametrize("statement", CASES)
async def test_tampering_is_found(ledger_url: str, statement: str) -> None:
    """Whatever is changed behind the triggers, verifying tells what kind of thing is wrong."""
    async with opened(ledger_url) as ledger:
        await fill(ledger)
    tamper(ledger_url, statement)
    assert set(await troubles(ledger_url)) == CASES[statement]


async def test_a_trigger_that_is_gone_is_found_and_made_anew(ledger_url: str) -> None:
    """A database that refuses changes no longer is told of; migrating it makes it refuse again."""
    async with opened(ledger_url) as ledger:
        await fill(ledger)
    engine = create_engine(parse_database_url(ledger_url))
    with engine.begin() as connection:
        _unguard(connection)
    assert set(await troubles(ledger_url)) == {"trigger"}
    assert await troubles(ledger_url, "room:") == []
    assert migrate_schema(ledger_url) == "ok"
    assert await troubles(ledger_url) == []
    with pytest.raises(DBAPIError, match="append-only"), engine.begin() as connection:
        connection.exec_driver_sql("UPDATE events SET actor = 'nobody'")
    engine.dispose()


async def test_a_damaged_snapshot_is_not_used(ledger_url: str, ledger: SqlLedger) -> None:
    """A snapshot that is not as it was kept is as good as none."""
    await fill(ledger)
    assert await ledger.load_snapshot(ROOM, 1) == (3, b'{"title":"Garden"}')
    tamper(ledger_url, "UPDATE snapshots SET seq = 4")
    assert await ledger.load_snapshot(ROOM, 1) is None


@pytest.mark.parametrize(
    ("written", "found"),
    [("", []), (',"period":"day"', []), (',"hour":9', ["lossy"]), (',"level":{"a":1}', ["lossy"])],
)
async def test_what_was_written_out_was_not_lost(
    ledger_url: str, written: str, found: list[str]
) -> None:
    """A default that stands in a body is read; a field that this program does not know is not."""
    amount = BudgetSet(budget=Budget(scope="home", unit="calls", period="day", amount=5))
    async with opened(ledger_url) as ledger:
        (kept,) = await ledger.append("home", [Scribbler().fact(amount)])
    plain = encode_body(amount).decode()
    body = plain.replace(',"amount"', f'{written},"amount"')
    hash = chain_hash(
        GENESIS,
        kept.stream,
        1,
        kept.id,
        epoch_micros(kept.at),
        kept.actor,
        kept.cause,
        body.encode(),
    )
    tamper(
        ledger_url,
        f"UPDATE events SET body = '{body}', hash = '{hash}' WHERE stream = 'home'",
        f"UPDATE streams SET hash = '{hash}' WHERE stream = 'home'",
    )
    assert await troubles(ledger_url) == found


async def test_a_prefix_leaves_others_out(ledger_url: str) -> None:
    """With a prefix, only streams that start so are gone over."""
    async with opened(ledger_url) as ledger:
        await fill(ledger)
    tamper(ledger_url, "UPDATE texts SET text = 'x' WHERE stream = 'room:other'")
    assert await troubles(ledger_url, "room:c") == []
    assert await troubles(ledger_url, "room:o") == ["text", "text"]


async def test_an_erasure_excuses_a_missing_text(ledger_url: str, scribbler: Scribbler) -> None:
    """A missing text is right when an erasure lists it, in any stream; a present one is not."""
    async with opened(ledger_url) as ledger:
        await fill(ledger)
        (heard,) = await ledger.read("room:other", limit=1)
        assert isinstance(heard.body, Heard)
        erased = Erased(refs=(heard.body.text.ref,), by="p1")
        await ledger.append(ROOM, [scribbler.fact(erased)])
    assert await troubles(ledger_url) == ["missing", "view"]
    tamper(ledger_url, f"DELETE FROM texts WHERE ref = '{heard.body.text.ref}'")
    assert await troubles(ledger_url) == []


CUT = (
    "DELETE FROM texts WHERE event IN "  # noqa: ISC004
    "(SELECT id FROM events WHERE stream = 'room:other' AND seq = 2)",
    "DELETE FROM events WHERE stream = 'room:other' AND seq = 2",
    "UPDATE streams SET (seq, hash) = (SELECT seq, hash FROM events WHERE stream = 'room:other') "  # noqa: ISC004
    "WHERE stream = 'room:other'",
)


async def test_anchors_find_what_a_chain_cannot(ledger_url: str) -> None:
    """Only an anchor misses events cut off with their head, or finds a stream written anew."""
    async with opened(ledger_url) as ledger:
        await fill(ledger)
        anchors = (await ledger.verify()).anchors
        assert (await ledger.verify(anchors=anchors)).sound
        anew = {ROOM: (anchors[ROOM][0], "0" * 64)}
        assert [found.trouble for found in (await ledger.verify(anchors=anew)).findings] == [
            "anchor"
        ]
        await ledger.append(ROOM, [Scribbler().heard("later")])
        assert (await ledger.verify(anchors=anchors)).sound
    tamper(ledger_url, *CUT)
    assert await troubles(ledger_url) == []
    assert await troubles(ledger_url, anchors=anchors) == ["anchor"]
    assert await troubles(ledger_url, "room:c", anchors) == []


async def test_many_findings_are_counted(ledger_url: str, ledger: SqlLedger) -> None:
    """After a thousand findings the rest is counted, not listed."""
    scribbler = Scribbler()
    await ledger.append(ROOM, [scribbler.heard("x") for _ in range(chain_verify.MOST_FINDINGS + 5)])
    tamper(ledger_url, "DELETE FROM texts")
    found = await ledger.verify()
    index = 1  # the index of the search is no longer what its lines make it
    assert (len(found.findings), found.more) == (chain_verify.MOST_FINDINGS, 5 + index)


async def test_verifying_while_others_append(ledger_url: str, scribbler: Scribbler) -> None:
    """A verifying goes over one moment of the ledger: appends and erasures meanwhile are no harm."""
    async with opened(ledger_url) as ledger, opened(ledger_url) as other:

        async def talk() -> None:
            for nth in range(60):
                (event,) = await ledger.append(f"room:{nth % 4}", [scribbler.heard(f"line {nth}")])
                if nth % 20 == 19:
                    await ledger.erase(ErasureRequest(events=(event.id,)))

        async def look() -> list[chain_verify.LedgerVerification]:
            found = [await other.verify()]
            while found[-1].events < 63:  # 60 lines and three erasures
                found.append(await other.verify())
            return found

        _, found = await asyncio.gather(talk(), look())
        assert {one.findings for one in found} == {()}
        assert found[-1].forgotten == 3
