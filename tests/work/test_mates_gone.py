"""A mate that is gone while it has a task: sent out of the room, or its file taken away."""

from pathlib import Path

import pytest

from loopforge.app import open_aside
from loopforge.chat.room.platform_channels import ChannelSpot
from loopforge.core.work.work_vocabulary import TaskStopped
from loopforge.errors import InputError
from loopforge.runtime.ports import Question
from tests.work.conftest import Step, in_order, says, uses, working
from tests.work.test_task_results import project
from tests.work.test_thread_tasks import commons

__all__ = ["project"]
ENDLESS = uses("work_run", command="sleep 60")
ORDER = "Otto, write a Python server in serve.py"


async def test_a_mate_that_is_sent_out_works_on_no_longer(place: Path) -> None:
    """What it has under way in that room ends; once it is back, /resume lets it go on."""
    async with commons(place, in_order(ENDLESS, says("done", "On 80."))) as room:
        task = await room.gives(ORDER, "effect.running")
        assert await room.does("remove", "otto") == "Otto has left."
        assert (await room.shop.state(task)).stage == "stopped"
        assert "otto was sent out of the room" in (await room.said())[-1]
        with pytest.raises(InputError, match=r"Otto is not here\. /add otto"):
            await room.does("resume")
        await room.does("add", "otto")
        await room.does("resume")
        assert (await room.said())[-1] == "otto: On 80."


async def test_a_mate_that_is_sent_out_is_told_no_answer(place: Path) -> None:
    """Whoever speaks in the room then speaks to those who are there; other mates' tasks go on."""
    async with commons(place, in_order(says("question", "Which port?"))) as room:
        await room.hears(ORDER)
        await room.does("remove", "maya")
        (task,) = await room.tasks()
        assert (await room.shop.state(task)).stage == "waiting"
        await room.does("add", "maya")
        await room.does("remove", "otto")
        await room.hears("no, just answer")
        state = await room.shop.state(task)
        assert (state.stage, state.pending) == ("stopped", {})
        assert (await room.said())[-1].startswith("maya: ")


async def test_a_mate_that_was_sent_out_as_its_home_ended_works_on_no_longer(place: Path) -> None:
    """Its task of that room stands still at the next start."""
    async with commons(place, in_order(ENDLESS)) as room:
        task = await room.gives(ORDER, "task.opened")
    async with open_aside(room.app.settings) as aside:
        await aside.front.commands.act("commons", room.ana, "remove", "otto")
    async with commons(place, in_order()) as room:  # nobody is asked
        await room.rest()
        assert (await room.shop.state(task)).stage == "stopped"


async def test_nobody_else_takes_what_is_for_a_mate_that_is_not_here(place: Path) -> None:
    """Whoever gives it work is told how it comes in; else its name stood in another's task."""
    async with commons(place, in_order()) as room:
        await room.does("remove", "otto")
        with pytest.raises(InputError, match=r"Otto is not here\. /add otto"):
            await room.does("work", "otto: write a Python script b.py")
        assert await room.tasks() == []


async def test_nobody_stands_in_for_a_mate_whose_file_is_gone(place: Path) -> None:
    """The task stands still and says so; with the file back it goes on."""
    async with commons(place, in_order(says("question", "Which port?"))) as room:
        await room.hears(ORDER)
    file = place / "mates" / "otto.md"
    kept = file.read_text()
    file.unlink()
    async with commons(place, in_order()) as room:
        await room.hears("80")
        assert "There is no mate otto any more: bring its file back" in (await room.said())[-1]
    file.write_text(kept)
    async with commons(place, in_order(says("done", "On 80."))) as room:
        await room.does("resume")
        assert (await room.said())[-1] == "otto: On 80."


async def test_a_role_whose_file_breaks_amid_the_work_takes_no_other_turn(place: Path) -> None:
    """By the shipped one it would be held to less than by the home's own."""
    roles = place / "roles"
    roles.mkdir()
    file = roles / "python-coder.md"
    sound = "---\nname: Pia\nhandle: python-coder\nrole: coder\nsandbox: {}\n---\nYou code."
    file.write_text(sound.format("{writable: false}"))

    def script(_: Question) -> Step:
        file.write_text(sound.format("{writable: perhaps}"))
        return uses("work_run", command="date > a.txt")

    async with working(place, script) as shop:
        id = await shop.give("Fix app.py in Python")
        state = await shop.state(id)
        assert (state.stage, state.turns) == ("stopped", 1)
        assert state.halted is not None
        assert "python-coder.md" in str(state.halted.why)


async def test_a_watch_whose_mate_is_gone_says_so(place: Path, project: Path) -> None:
    """It gives no task until that is mended, which stood in the log alone."""
    home = place / "home"
    home.mkdir()
    async with commons(home, in_order()) as room:
        name = (await room.shop.tasks.places.repositories.registered.register(project)).name
        await room.app.work.watch.begin(name, "ana", "every day at 9:00", 0.25, mate="otto")
        assert (await room.app.work.watch.shown())[0].trouble == ""
    (home / "mates" / "otto.md").unlink()
    async with commons(home, in_order()) as room:
        (shown,) = await room.app.work.watch.shown()
        assert shown.trouble.startswith("There is no mate otto any more")


async def test_a_task_whose_last_place_is_gone_works_on_no_longer(place: Path) -> None:
    """Nobody could stop it there; while another place of its room stands, it goes on."""
    spots = [ChannelSpot(key=f"x:{n}", name=f"bench {n}", kind="group") for n in (1, 2)]
    async with commons(place, in_order(ENDLESS, says("done", "On 80."))) as room:
        rooms = room.app.front.rooms
        for spot in spots:
            await rooms.join_place(spot, (), "commons")
        task = await room.gives(ORDER, "effect.running", surface="x:1")
        await rooms.leave_place("commons", "x:1", "it was deleted", lost=True)
        assert room.app.work.posts is not None
        await room.app.work.posts.settled()
        assert (await room.shop.state(task)).at_work
        await rooms.leave_place("commons", "x:2", "it was deleted", lost=True)
        await room.shop.until(task, "task.stopped")
        (stopped,) = await room.shop.bodies(task, TaskStopped)
        assert stopped.why.text == "nobody can steer it where it was given: it was deleted"
        await rooms.join_place(spots[0], (), "commons")
        await room.does("resume")
        assert (await room.said())[-1] == "otto: On 80."


async def test_a_task_given_at_home_goes_on_where_the_rooms_last_place_is_gone(place: Path) -> None:
    """Whoever gave it in the browser or a terminal is there still, and steers it."""
    spot = ChannelSpot(key="x:1", name="bench", kind="group")
    async with commons(place, in_order(ENDLESS)) as room:
        await room.app.front.rooms.join_place(spot, (), "commons")
        task = await room.gives(ORDER, "effect.running")
        await room.app.front.rooms.leave_place("commons", spot.key, "it was deleted", lost=True)
        assert room.app.work.posts is not None
        await room.app.work.posts.settled()
        assert (await room.shop.state(task)).at_work
        await room.shop.tasks.stop(task, "ana")


async def test_a_task_whose_place_was_lost_as_its_home_ended_works_on_no_longer(
    place: Path,
) -> None:
    """It stands still at the next start."""
    spot = ChannelSpot(key="x:1", name="bench", kind="group")
    async with commons(place, in_order(ENDLESS)) as room:
        await room.app.front.rooms.join_place(spot, (), "commons")
        task = await room.gives(ORDER, "task.opened", surface=spot.key)
    async with open_aside(room.app.settings) as aside:
        await aside.front.rooms.leave_place("commons", spot.key, "it was deleted", lost=True)
    async with commons(place, in_order()) as room:  # nobody is asked
        await room.rest()
        assert (await room.shop.state(task)).stage == "stopped"
