"""A task whose record cannot be read: the home goes on without it."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from loopforge.ledger.erasure.text_erasure import ErasureRequest
from tests.work.conftest import in_order, says, working


@pytest.mark.sqlite
@pytest.mark.parametrize("kind", ["task.opened", "task.classified"])
async def test_one_that_cannot_be_read_is_left_out(
    place: Path, caplog: pytest.LogCaptureFixture, kind: str
) -> None:
    """The home starts, the other tasks are there, new ones are worked on, and the log says why."""
    words = [says("done", f"Haiku {nth}.") for nth in range(3)]
    async with working(place, in_order(*words[:2])) as home:
        lost, kept = await home.give("Write a haiku"), await home.give("Write another haiku")
    with closing(sqlite3.connect(place / "data" / "loopforge.db")) as plain:
        plain.execute("DROP TRIGGER events_unchanged")
        spoilt = (
            'UPDATE events SET body = \'{"type":"task.unheard"}\' WHERE kind = ? AND stream = ?'
        )
        assert plain.execute(spoilt, (kind, f"task:{lost}")).rowcount == 1
        plain.commit()
    async with working(place, in_order(words[2])) as home:
        new = await home.give("Write a third haiku")
        assert [state.id for state in await home.tasks.tasks()] == [new, kept]
        await home.app.ledger.erase(ErasureRequest(stream=f"task:{kept}"))
        assert await home.app.work.forgetting.sweep() in ([f"task:{kept}"], [])
        assert f"task:{kept}" in home.app.work.forgetting._gone
    assert f"of task:{lost}" in caplog.text
