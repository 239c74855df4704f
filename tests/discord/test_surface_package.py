"""A real package from PyPI with a bug, mended in a channel of Discord: from the command to main."""

from pathlib import Path

import pytest

from loopforge.core.room_vocabulary import RightsSet
from tests.discord.lodging import lodged
from tests.discord.twin import Twin
from tests.discord.words import Line
from tests.rooms.conftest import write_mates
from tests.work.conftest import only
from tests.work.real_package import ALL, BUG, PACKAGE, TASK, TEST, WHOLE, mending, planted
from tests.work.test_task_results import git
from tests.work.test_thread_tasks import OTTO

pytestmark = [pytest.mark.xdist_group("sandbox"), pytest.mark.timeout(180)]
FREE = RightsSet(who="everyone", rights=("talk", "tools"), tools=("*",))


@pytest.mark.patient  # a quick neighbour without Discord is tests/work/test_task_package.py
async def test_a_real_package_is_mended_in_a_channel(city: Twin, place: Path) -> None:
    """Given by a slash command, red, mended, all tests green, its branch, a press, and merged."""
    left = mending(ALL)

    folder, home_of = planted(place), place / "home"
    home_of.mkdir()
    write_mates(home_of, (), otto=OTTO)
    otto, plaza, ana = city.bot("Otto"), city.channel("plaza"), city.person("ana")
    owners = set[str]()
    async with lodged(city, home_of, {otto: "otto"}, only(left), owns=owners.__contains__) as home:
        await city.until(lambda: otto.commands.get(None))
        await home.tell(ana, plaza, "good morning")
        room, known = await home.room(plaza), home.app.people.who("discord", str(ana.id))
        assert known is not None
        owners.add(known.id)
        await home.app.rooms.add(room, "", FREE)
        registered = home.app.work.tasks.places.repositories.registered
        repo = (await registered.register(folder)).name
        answer = await city.slash(ana, plaza, otto, "work", {"what": f"repo:{repo} {TASK}"})
        await city.until(lambda: answer.text)
        assert answer.text == "Otto takes it up."

        def offers() -> list[Line]:
            return [one for one in city.lines(plaza) if "/approve merges exactly" in one.text]

        await city.until(offers)
        (offer,) = offers()
        await home.delivered(plaza)
        (task,) = await home.app.work.store.of_thread(f"room:{room}")
        ran = [use.value for use in task.uses if use.tool == "work_run"]
        assert ["FAILED (failures=1)" in value for value in ran] == [True, False]
        assert "[exit code 0" in ran[-1]
        assert "\nOK" in ran[-1]
        assert task.offered is not None
        assert git(folder, "rev-parse", str(task.offered.branch))
        assert BUG in (folder / PACKAGE / "cursor.py").read_text()
        told = await city.press(ana, offer, "Approve")
        assert told.text.startswith("Merged as ")
        assert git(folder, "rev-parse", "main") == task.offered.commit
        assert git(folder, "branch", "--list") == "* main"
        assert WHOLE in (folder / PACKAGE / "cursor.py").read_text()
        assert TEST in (folder / PACKAGE / "tests" / "smoke.py").read_text()
        assert ALL in git(folder, "log", "-1", "--format=%B")
