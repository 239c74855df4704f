"""/ready: a home says whether it can serve, to whoever watches over it."""

import asyncio
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import pytest

from loopforge.core.room_vocabulary import Titled
from loopforge.core.text.erasable_text import Words
from loopforge.errors import LedgerFull, LedgerRewound
from tests.ledger.test_database_faults import end_sessions, let_read_only
from tests.web.conftest import Guest, Town, town, words


async def test_a_home_is_ready_as_long_as_its_ledger_answers(site: Town) -> None:
    """200 to anybody while it can serve; 503 when the ledger is out of reach; alive all the while."""
    stranger = await site.stranger()
    answer = await stranger.get("/ready")
    assert (answer.status_code, answer.json()) == (200, {"status": "ready"})
    ledger = site.app.ledger
    await ledger.change(lambda found: found.exec_driver_sql("ALTER TABLE events RENAME TO away"))
    try:
        answer = await stranger.get("/ready")
        assert (answer.status_code, answer.json()) == (503, {"status": "no ledger"})
        assert (await stranger.get("/alive")).status_code == 200
    finally:
        await ledger.change(
            lambda found: found.exec_driver_sql("ALTER TABLE away RENAME TO events")
        )


@pytest.mark.parametrize("path", ["/alive", "/ready", "/sign-in", "/static/style.css", "/nowhere"])
async def test_monitors_may_ask_for_the_head_alone(site: Town, path: str) -> None:
    """HEAD is answered as GET is, on every page, without its body (RFC 9110)."""
    stranger = await site.stranger()
    whole, head = await stranger.get(path), await stranger.http.head(path)
    assert (head.status_code, head.content) == (whole.status_code, b"")
    assert head.headers["content-length"] == whole.headers["content-length"]


@pytest.mark.postgres
async def test_a_home_that_may_only_read_is_not_ready(postgres_url: str, tmp_path: Path) -> None:
    """As on a standby: 503 and why, before anything was written in vain; ready again by itself."""
    async with town(tmp_path, database_url=postgres_url) as there:
        stranger = await there.stranger()
        for only, said in (("on", (503, "read-only")), ("off", (200, "ready"))):
            let_read_only(postgres_url, only)
            end_sessions(postgres_url)
            answer = await stranger.get("/ready")
            assert (answer.status_code, answer.json()["status"]) == said


@pytest.mark.sqlite
async def test_a_home_whose_ledger_was_put_back_is_not_ready(site: Town) -> None:
    """503 and that it is at an earlier time: what the home has in memory is of another ledger."""
    stranger, ledger = await site.stranger(), site.app.ledger
    with closing(sqlite3.connect(site.app.settings.data / "loopforge.db")) as other:
        for name in other.execute(
            "SELECT name FROM sqlite_master WHERE type = 'trigger'"
        ).fetchall():
            other.execute(f"DROP TRIGGER {name[0]}")
        stream, seq = other.execute("SELECT stream, seq FROM streams ORDER BY seq DESC").fetchone()
        other.execute("DELETE FROM events WHERE (stream, seq) = (?, ?)", (stream, seq))
        other.execute("UPDATE streams SET seq = seq - 1 WHERE stream = ?", (stream,))
        other.commit()
    with suppress(LedgerRewound):
        await ledger.follow()
    answer = await stranger.get("/ready")
    assert (answer.status_code, answer.json()) == (503, {"status": "rewound"})


@pytest.mark.sqlite
async def test_a_full_disk_is_not_ready_until_it_takes_something(site: Town, owner: Guest) -> None:
    """What could not be written is remembered, and tried once more by whoever asks; all is gone."""
    stranger, ledger = await site.stranger(), site.app.ledger

    def limit(pages: int) -> None:
        with ledger._store.writer.connect() as connection:
            connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")

    await asyncio.to_thread(limit, 1)
    with pytest.raises(LedgerFull):
        await site.app.rooms.add("commons", owner.person, Titled(title=Words("y" * 90_000), by=""))
    full = words(await owner.post("/work", {"task": "z" * 20_000}))
    assert "is full; nothing was written" in full
    assert "What you sent now may not be kept: go back, and send it again" in full
    for _ in range(2):
        answer = await stranger.get("/ready")
        assert (answer.status_code, answer.json()) == (503, {"status": "disk full"})
    await asyncio.to_thread(limit, 1_000_000)
    assert (await stranger.get("/ready")).json() == {"status": "ready"}
    assert (await ledger.verify()).findings == ()


async def test_where_the_ledger_lies_is_told_to_the_owner_alone(site: Town, owner: Guest) -> None:
    """A guest reads that the home is in trouble, and neither its folder nor the database's words."""
    guest = await site.guest("ana", "commons", by=owner)
    ledger = site.app.ledger
    await ledger.change(lambda found: found.exec_driver_sql("ALTER TABLE events RENAME TO away"))
    try:
        for who, told in ((owner, True), (guest, False)):
            answer = await who.get("/rooms/commons")
            assert answer.status_code == 503
            assert ("did not do what was asked" in answer.text) == told
            assert ("Its owner finds in data/logs" in answer.text) != told
    finally:
        await ledger.change(
            lambda found: found.exec_driver_sql("ALTER TABLE away RENAME TO events")
        )
