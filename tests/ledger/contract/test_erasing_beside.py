"""What every ledger promises those who write while something is forgotten."""

import asyncio
import sqlite3
import threading
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Table
from sqlalchemy.engine import Connection

from loopforge.core.events import Body, Event
from loopforge.core.people_events import AccountLinked, PersonMet
from loopforge.core.text.erasable_text import Words
from loopforge.errors import LedgerFull
from loopforge.ledger.database.table_schema import BLANK
from loopforge.ledger.erasure.derived_texts import ForgottenGrounds
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.ledger.erasure.text_removal import REFS, removal_batches
from tests.ledger.contract.test_erase import OTHER, conversation, left, markers
from tests.ledger.saying import ROOM, Scribbler, opened

PATIENCE = 20


class SlowSearch:
    """A view of nothing, which searches until it is let go on."""

    name, version, kinds, holds_texts = "slow search", 1, frozenset[str](), False
    tables: tuple[Table, ...] = ()

    def __init__(self) -> None:
        self.began, self.go_on = threading.Event(), threading.Event()

    def apply(self, connection: Connection, events: Sequence[Event]) -> None:
        """There is nothing."""

    def derived(
        self, connection: Connection, grounds: ForgottenGrounds, *, sole: bool
    ) -> dict[str, set[str]]:
        """Wait."""
        self.began.set()
        assert self.go_on.wait(PATIENCE), "nobody else could write while this was looked for"
        return {}


async def test_who_writes_does_not_wait_for_the_search(ledger_url: str) -> None:
    """What quotes a line is looked for beside; what is said meanwhile, and quotes it, goes too."""
    slow, scribbler = SlowSearch(), Scribbler()
    async with opened(ledger_url, [slow]) as ledger:
        secret, _ = await conversation(ledger, "How nice.")
        erasing = asyncio.ensure_future(ledger.erase(ErasureRequest(events=(secret.id,))))  # noqa: TID251
        assert await asyncio.to_thread(slow.began.wait, PATIENCE)
        await ledger.append(
            ROOM, [scribbler.said("So Ottilie lives there."), scribbler.said("Oh.")]
        )
        await ledger.append(OTHER, [scribbler.said("Ottilie, too.")])
        slow.go_on.set()
        erasure = await erasing
        assert (erasure.named, erasure.quoting, erasure.clean) == (1, 1, True)
        assert "Ottilie" not in str(await left(ledger))
        assert "room.said Oh." in await left(ledger)
        assert await left(ledger, OTHER) == ["room.said Ottilie, too."]
        assert (await ledger.verify()).sound


async def test_a_person_who_says_more_meanwhile_is_forgotten_whole(ledger_url: str) -> None:
    """Lines of theirs that come while a person is looked for go with them."""
    slow, scribbler = SlowSearch(), Scribbler()
    async with opened(ledger_url, [slow]) as ledger:
        await conversation(ledger, "How nice.")
        erasing = asyncio.ensure_future(ledger.erase(ErasureRequest(person="p1")))  # noqa: TID251
        assert await asyncio.to_thread(slow.began.wait, PATIENCE)
        await ledger.append(OTHER, [scribbler.heard("It rains."), scribbler.heard("Yes.", "p2")])
        slow.go_on.set()
        await erasing
        assert await left(ledger, OTHER) == ["room.heard Yes."]


def blank_rows(connection: Connection) -> int:
    """How many rows of texts hold nothing."""
    query = f"SELECT count(*) FROM texts WHERE ref LIKE '{BLANK}%'"
    return int(connection.exec_driver_sql(query).scalar_one())


def test_of_very_much_what_was_named_goes_last() -> None:
    """Whoever was cut off can ask again: what the rest was found by is still there."""
    gone = {"a": [f"a{nth}" for nth in range(REFS)], "b": ["b1", "b2"]}
    some = removal_batches(gone, ["a0", "b1"])
    assert [sum(map(len, part.values())) for part in some] == [REFS, 2]
    assert some[-1] == {"a": ["a0"], "b": ["b1"]}
    assert removal_batches({}, ()) == []


class FullOnce(SlowSearch):
    """A view that lets everything go on, and for which the disk is full at the second erasure."""

    name, kinds = "full once", frozenset({"ledger.erased"})
    erased = 0

    def apply(self, connection: Connection, events: Sequence[Event]) -> None:
        """Fail the second time."""
        self.erased += 1
        if self.erased == 2:
            raise LedgerFull("The disk is full.")

    def derived(
        self, connection: Connection, grounds: ForgottenGrounds, *, sole: bool
    ) -> dict[str, set[str]]:
        """Nothing."""
        return {}


async def test_of_a_person_who_was_forgotten_by_half_every_self_is_found_again(
    ledger_url: str,
) -> None:
    """Asked for again, the lines go too that another account of theirs said."""
    stamp, scribbler = Scribbler().stamp, Scribbler()
    people: list[Body] = [
        PersonMet(person=person, surface="discord", account=Words(account), name=Words(account))
        for person, account in (("p1", "ana"), ("p2", "anna"))
    ]
    people.append(AccountLinked(person="p1", surface="discord", account=Words("anna")))
    async with opened(ledger_url, [FullOnce()]) as ledger:
        await ledger.append("people", [stamp.fact(body, actor="people") for body in people])
        await ledger.append(ROOM, [scribbler.heard(f"{n}!", "p2") for n in range(2 * REFS + 100)])
        with pytest.raises(LedgerFull, match="A part of it is forgotten; ask for the same again"):
            await ledger.erase(ErasureRequest(person="p1"))
        await ledger.erase(ErasureRequest(person="p1"))
        assert (await ledger.verify()).texts == 0


async def test_what_a_view_cannot_take_in_is_told_as_it_is_wherever_it_was_said(
    ledger_url: str,
) -> None:
    """An erasure in two streams for which the disk is full takes nothing away, and can be asked again."""
    scribbler, view = Scribbler(), FullOnce()
    view.erased = 1  # the next is its second
    async with opened(ledger_url, [view]) as ledger:
        for stream in (ROOM, "room:b"):
            await ledger.append(stream, [scribbler.heard("a secret", "p1")])
        with pytest.raises(LedgerFull, match="The disk is full"):
            await ledger.erase(ErasureRequest(person="p1"))
        assert len(await ledger.search(ROOM, "secret")) == 1
        assert await ledger.heads() == {ROOM: 1, "room:b": 1}
        assert len((await ledger.erase(ErasureRequest(person="p1"))).events) == 2


async def test_what_was_cut_off_is_finished_at_the_start(tmp_path: Path) -> None:
    """A file that was not cleaned is written anew when a host starts, once, with what is blank."""
    file = tmp_path / "ledger.db"
    async with opened(f"sqlite:///{file}", patience=0.1) as ledger:
        secret, _ = await conversation(ledger, "How nice.")
        with closing(sqlite3.connect(file)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM events").fetchone()
            assert not (await ledger.erase(ErasureRequest(events=(secret.id,)))).clean
        assert "Ottilie" in markers(tmp_path)
    async with opened(f"sqlite:///{file}") as ledger:
        assert await ledger.look(blank_rows)
        await ledger.write_anew()
        assert "Ottilie" not in markers(tmp_path)
        assert not await ledger.look(blank_rows)
        before = file.stat().st_mtime_ns
        await ledger.write_anew()
        assert file.stat().st_mtime_ns == before
        assert (await ledger.verify()).sound
