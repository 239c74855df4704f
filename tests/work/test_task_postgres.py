"""A task on a real PostgreSQL: worked on, stopped, resumed, killed, and gone on with."""

import asyncio
from pathlib import Path

import pytest

from loopforge.app import open_aside
from loopforge.settings import load_settings
from loopforge.work.task_state import PREFIX
from loopforge.work.workspace.task_workspace import folder_name
from tests.crash.laborer import LOG, TASK
from tests.crash.test_tasks import ENVIRON, all_done_once, living
from tests.work.conftest import in_order, says, uses, working

pytestmark = pytest.mark.postgres


async def test_a_task_is_stopped_and_goes_on(place: Path, postgres_url: str) -> None:
    """The command ends with the stop; after a new start it goes on from where it stood."""
    (place / "loopforge.toml").write_text(f'database_url = "{postgres_url}"\n')
    first = in_order(
        uses("work_write", path="a.txt", text="kept"), uses("work_run", command="sleep 300")
    )
    async with working(place, first) as shop:
        id = await shop.tasks.open("Fix app.py in Python", "ana")
        await shop.until(id, "effect.running", 2)
        await shop.tasks.stop(id, "ana")
        assert (await shop.rest(id)).stage == "stopped"
    async with working(place, in_order(says("done", "Enough."))) as shop:
        state = await shop.state(id)
        assert [use.outcome for use in state.uses] == ["returned", "cancelled"]
        await shop.tasks.resume(id, "ana")
        assert (await shop.rest(id)).stage == "finished"
        assert shop.file(id, "a.txt").read_text() == "kept"
        assert (await shop.app.ledger.verify()).sound


@pytest.mark.patient
async def test_a_task_goes_on_after_a_kill(place: Path, postgres_url: str) -> None:
    """Its host dies by kill -9 in the middle of a command: each mark stands once in the end."""
    (place / "data").mkdir()
    (place / "loopforge.toml").write_text(f'database_url = "{postgres_url}"\n')
    async with open_aside(load_settings(place, environ=ENVIRON)) as app:
        id = await app.work.tasks.open(TASK, "ana")
    log = place / "workspaces" / folder_name(PREFIX + id) / LOG
    async with living(place):
        while not (log.exists() and len(log.read_text().split()) == 2):
            await asyncio.sleep(0.002)
    async with living(place), open_aside(load_settings(place, environ=ENVIRON)) as app:
        while (await app.work.tasks.store.state(PREFIX + id)).summary is None:
            await app.ledger.follow()
            await asyncio.sleep(0.02)
    await all_done_once(place, id)
