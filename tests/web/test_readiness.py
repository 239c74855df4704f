"""/ready: a home says whether it can serve, to whoever watches over it."""

from __future__ import annotations

import pytest

from tests.web.conftest import Guest, Town

pytestmark = pytest.mark.anyio


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
