"""What every ledger promises of exporting."""

import asyncio
import json
from pathlib import Path

import pytest

from loopforge.core.events import GENESIS, chain_hash, epoch_micros
from loopforge.core.room_vocabulary import Heard
from loopforge.errors import InputError
from loopforge.ledger import row_dump
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.ledger.sql_ledger import SqlLedger
from loopforge.ledger.storage import event_reading
from tests.ledger.saying import NOON, ROOM, Scribbler, opened


async def exported(ledger: SqlLedger, prefix: str = "") -> list[dict[str, object]]:
    """The lines, decoded."""
    lines = [line async for line in ledger.export(prefix)]
    assert all(line.endswith("\n") and line.count("\n") == 1 for line in lines)
    return [json.loads(line) for line in lines]


async def test_every_event_is_a_line(ledger: SqlLedger, scribbler: Scribbler) -> None:
    """Events come stream by stream, in order, with their texts, refs and hashes."""
    (event,) = await ledger.append("room:b", [scribbler.heard("ünï\ncode \x00", source="s1")])
    await ledger.append("room:a", [scribbler.said("one"), scribbler.said("two")])
    lines = await exported(ledger)
    assert [(line["stream"], line["seq"]) for line in lines] == [
        ("room:a", 1),
        ("room:a", 2),
        ("room:b", 1),
    ]
    assert isinstance(event.body, Heard)
    assert lines[2] == {
        "stream": "room:b",
        "seq": 1,
        "id": event.id,
        "kind": "room.heard",
        "at": NOON.isoformat(timespec="microseconds"),
        "actor": "person:p1",
        "cause": "",
        "body": {"person": "p1", "text": "ünï\ncode \x00", "source": "s1"},
        "stored": f'{{"type":"room.heard","person":"p1","text":"#{event.body.text.ref}","source":"s1"}}',
        "hash": event.hash,
    }
    assert [line["stream"] for line in await exported(ledger, "room:b")] == ["room:b"]


async def test_the_chain_can_be_checked_from_the_export(ledger: SqlLedger) -> None:
    """Whoever has the lines can derive every hash, across pages, also after an erasure."""
    scribbler, many = Scribbler(), event_reading.PAGE + 10
    events = await ledger.append(ROOM, [scribbler.heard(f"{nth}!") for nth in range(many)])
    await ledger.erase(ErasureRequest(events=(events[3].id,), exactly=True))
    previous, at = GENESIS, str(epoch_micros(NOON))
    lines = await exported(ledger)
    assert len(lines) == many + 1
    for nth, line in enumerate(lines, 1):
        envelope = [str(line[name]) for name in ("id", "actor", "cause", "stored", "hash")]
        id, actor, cause, stored, hash = envelope
        previous = chain_hash(previous, ROOM, nth, id, int(at), actor, cause, stored.encode())
        assert previous == hash
    assert lines[3]["body"] == {"person": "p1", "text": "[forgotten]"}


async def test_odd_texts_are_exported(ledger: SqlLedger) -> None:
    """A text with half a surrogate pair is written with an escape, and reads back the same."""
    await ledger.append(ROOM, [Scribbler().heard("half \ud83d")])
    (line,) = await exported(ledger)
    assert line["body"] == {"person": "p1", "text": "half \ud83d"}
    with pytest.raises(InputError, match="jsonl"):
        [line async for line in ledger.export(format="xml")]


async def test_of_two_that_fill_a_ledger_at_once_one_is_told(
    ledger_url: str, tmp_path: Path, scribbler: Scribbler
) -> None:
    """Two programs restore into one empty database: the later one reads that it is none."""
    rows: list[bytes] = []
    async with opened(f"sqlite:///{tmp_path / 'full.db'}") as full:
        await full.append(ROOM, [scribbler.heard(f"line {nth}") for nth in range(2000)])
        await full.look(lambda found: row_dump.dump_rows(found, rows.append))
    async with opened(ledger_url) as one, opened(ledger_url) as other:
        told = await asyncio.gather(one.load(rows), other.load(rows), return_exceptions=True)
        (late,) = [each for each in told if isinstance(each, Exception)]
        assert isinstance(late, InputError)
        assert str(late).startswith("There is a ledger already")
        assert len(await one.read(ROOM)) == 2000
        assert (await one.verify()).sound
