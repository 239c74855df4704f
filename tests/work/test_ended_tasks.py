"""What is said to somebody who wants something of a task that is over, or stands elsewhere."""

from pathlib import Path

import pytest

from loopforge.app import open_aside
from loopforge.core.work.work_vocabulary import TaskRated
from loopforge.errors import Changed
from loopforge.models.scripted_model import ScriptedAnswer
from tests.held_clock import HeldClock
from tests.work.conftest import in_order, says, working
from tests.work.test_task_results import STEPS, TASK, project

__all__ = ["project"]


async def test_a_thumb_counts_while_nobody_has_decided(place: Path) -> None:
    """Else it would say of what was refused that it was foretold; nor is there one for nothing."""
    async with working(place, in_order(says("question", "Which?"), says("done", "So."))) as shop:
        id = await shop.tasks.open("Write a Python file a.py", "ana")
        with pytest.raises(Changed, match="nothing to rate yet"):
            await shop.tasks.rate(id, "ana", up=True)
        await shop.rest(id)
        await shop.tasks.rate(id, "ana", up=True)
        await shop.tasks.reject(id, "ana")
        before = await shop.tasks.calibration()
        with pytest.raises(Changed, match="This task is rejected; thumbs count until then"):
            await shop.tasks.rate(id, "ana", up=True)
        assert len(await shop.bodies(id, TaskRated)) == 1
        assert await shop.tasks.calibration() == before


async def test_a_commit_is_not_taken_of_a_task_that_has_none(place: Path) -> None:
    """Whoever names one looked at another task."""
    async with working(place, in_order(says("done", "So."))) as shop:
        id = await shop.give("Write a Python file a.py")
        with pytest.raises(Changed, match="works on no repository"):
            await shop.tasks.approve(id, "ana", "0" * 40)
        assert await shop.tasks.approve(id, "ana") == "Approved."


async def test_a_commit_says_the_result_as_people_read_it(place: Path, project: Path) -> None:
    """A file that the mate sends along stands in it by its path, without the marks for sending."""
    done = says("done", "two() gives 2: <<repo/app.py>>")
    async with working(place / "home", in_order(*STEPS[:-1], done)) as shop:
        known = shop.tasks.places.repositories.registered
        id = await shop.give(TASK, repo=(await known.register(project)).name)
        offered = (await shop.state(id)).offered
        assert offered is not None
        assert str(offered.message).startswith("two() gives 2: repo/app.py\n")


async def test_what_is_not_ended_yet_is_not_said_to_want_a_stop(place: Path) -> None:
    """The program died amid a turn, and the task was stopped since: who would forget it runs it."""
    pace = HeldClock()
    answer = ScriptedAnswer(text="It is 4.", wait=1)
    async with working(place, lambda _: answer, pace=pace) as shop:
        id = await shop.tasks.open("what is 2 + 2?", "ana")
        await shop.until(id, "turn.asked")
    async with open_aside(shop.app.settings) as aside:
        with pytest.raises(Changed, match="stop it first"):
            await aside.work.forgetting.forget(id, "ana")
        await aside.work.tasks.stop(id, "ana")
        with pytest.raises(Changed, match=r"not ended yet: .* `loopforge up`"):
            await aside.work.forgetting.forget(id, "ana")
    async with working(place, in_order()) as shop:
        await shop.rest(id)
        assert "Forgotten" in await shop.app.work.forgetting.forget(id, "ana")


async def test_what_is_done_is_not_done_again_by_resume(place: Path) -> None:
    """A command of a task ran once more, where somebody said so as it had just ended."""
    async with working(place, in_order()) as shop:
        id = await shop.give("run echo ran >> times.txt")
        told = await shop.tasks.resume(id, "ana")
        assert told == "It is done: say what is to be done besides, and it goes on with that."
        await shop.rest(id)
        assert shop.file(id, "times.txt").read_text() == "ran\n"
        await shop.tasks.say(id, "ana", "again")
        await shop.rest(id)
        assert shop.file(id, "times.txt").read_text() == "ran\nran\n"
