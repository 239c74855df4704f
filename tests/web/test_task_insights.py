"""What a task was given of earlier ones, as its pages tell it."""

from pathlib import Path

import pytest

from loopforge.work.task_state import PREFIX
from tests.web.conftest import town, words
from tests.web.test_task_pages import given
from tests.work.conftest import in_order
from tests.work.test_attempt_learning import reflecting

pytestmark = [pytest.mark.xdist_group("sandbox"), pytest.mark.timeout(180)]
TASK = "Fix app.py in Python"
INSIGHT = "Look at the files before you change one."


async def test_why_names_the_insight_and_the_task_that_taught_it(place: Path) -> None:
    """So does the task's page, with its score; who gave it finds it among what is kept of them."""
    home = place / "home"
    home.mkdir()
    async with town(home, reflecting(in_order())) as site:
        owner = await site.owner()
        first, second = await given(site, owner, TASK), await given(site, owner, TASK)
        turn = (await site.app.work.store.state(PREFIX + second)).progress[0].turn
        why = words(await owner.get(f"/work/{second}/why/{turn}"))
        assert "remembered" in why
        assert f"the task {first[-8:]}: {INSIGHT}" in why
        page = words(await owner.get(f"/work/{first}"))
        assert "Attempt 1:" in page
        assert f"To remember: {INSIGHT} [turn 1]" in page
        kept = words(await owner.get("/you/memory"))
        assert INSIGHT in kept
