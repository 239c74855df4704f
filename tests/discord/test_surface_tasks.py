"""A task in a channel of Discord: given, watched in one message, steered, stopped, and its result."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from loopforge.core.room_vocabulary import RightsSet
from loopforge.runtime.ports import Question
from loopforge.tools.sandbox.workspace_files import WorkspaceFiles
from tests.discord.lodging import lodged
from tests.discord.twin import Twin
from tests.rooms.conftest import write_mates
from tests.work.conftest import Step, says, uses
from tests.work.test_thread_tasks import OTTO

pytestmark = [pytest.mark.anyio, pytest.mark.xdist_group("sandbox"), pytest.mark.timeout(120)]
FREE = RightsSet(who="everyone", rights=("talk", "stop", "tools"), tools=("*",))


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder for a home that programs can come to which do not run as root."""
    made = Path(tempfile.mkdtemp(prefix="work-"))
    made.chmod(0o755)
    yield made
    WorkspaceFiles(made).remove()


async def test_a_task_lives_in_a_channel(city: Twin, place: Path) -> None:
    """Its one message is edited in place, a line gets a sign, its file arrives; stop ends the next."""
    waiting = "while [ ! -e go ]; do sleep 0.1; done"
    left: list[Step] = [
        uses("work_run", command=waiting),
        uses("work_write", path="hello.py", text="print(42)\n"),
        says("done", "Here it is: <<hello.py>>"),
        uses("work_run", command="sleep 300"),
    ]

    def script(asked: Question) -> Step:
        if asked.schema is None or "state" not in asked.schema.get("properties", {}):
            return {"say": "Well."} if asked.schema else "So it was."
        return left.pop(0)

    otto, plaza, ben = city.bot("Otto"), city.channel("plaza"), city.person("ben")
    write_mates(place, (), otto=OTTO)
    async with lodged(city, place, {otto: "otto"}, script) as home:
        await home.tell(ben, plaza, "hello")
        room = await home.room(plaza)
        refused = await city.say(ben, plaza, "otto, write a Python script hello.py")
        await city.until(lambda: any(one.text == "Well." for one in city.lines(plaza)))
        assert refused.reactions == {}  # in a crowd tools are for whom the keepers name
        await home.settled(plaza)
        await home.delivered(plaza)
        await home.app.rooms.add(room, "", FREE)

        await city.say(ben, plaza, "otto, write a Python script hello.py that prints 42")
        await city.until(lambda: any("Starting work." in one.text for one in city.lines(plaza)))
        (started,) = [one for one in city.lines(plaza) if "Starting work." in one.text]
        steering = await city.say(ben, plaza, "mind the spaces")
        await city.until(lambda: "👀" in city.line(steering).reactions)
        (task,) = await home.app.work.store.of_thread(f"room:{room}")
        workspace = await home.app.work.desk.places.workspaces.recovered(task.stream)
        (workspace.place / "go").touch()
        await city.until(lambda: any(one.files == ("hello.py",) for one in city.lines(plaza)))
        await city.until(lambda: "[turn 3 of 20" in city.line(started).text)
        assert city.line(started).text.startswith("Starting work. Taken as coding")
        assert city.lines(plaza)[-1].text == "Here it is: hello.py"

        await city.say(ben, plaza, "otto, write a Python script that sleeps")
        await city.until(lambda: len([1 for o in city.lines(plaza) if "Starting" in o.text]) == 2)
        await city.say(ben, plaza, "stop")
        await city.until(lambda: any("Stopped after" in one.text for one in city.lines(plaza)))
        assert "/resume lets it go on" in city.lines(plaza)[-1].text
