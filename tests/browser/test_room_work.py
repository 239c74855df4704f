"""A task in the web room: given by a line, watched in one message, stopped, gone on with, taken."""

import re
from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.browser.people import Crowd, owner_of
from tests.web.conftest import town
from tests.work.conftest import in_order, says, uses
from tests.work.test_thread_tasks import OTTO

pytestmark = pytest.mark.xdist_group("sandbox")


async def test_a_task_lives_in_the_web_room(place: Path, crowd: Crowd) -> None:
    """Its message changes in place; stop, /resume and /approve do what they say; a file is there."""
    home = place / "home"
    (home / "mates").mkdir(parents=True)
    (home / "mates" / "otto.md").write_text(OTTO)
    script = in_order(
        uses("work_write", path="hello.py", text="print(42)\n"),
        uses("work_run", command="sleep 300"),
        says("done", "Here it is: <<hello.py>>"),
    )
    async with town(home, script) as site, crowd:
        olu = await owner_of(site, crowd)
        await olu.says("Otto, write a Python script hello.py that prints 42")
        started = (await olu.hears("Otto")).first
        await expect(started).to_contain_text("Starting work. Taken as coding, MEDIUM")
        await expect(started).to_contain_text("[turn 1 of 20, confidence")
        await olu.says("stop")
        stopped = (await olu.hears("Otto", 2)).last
        await expect(stopped).to_contain_text("Files changed: hello.py.")
        await olu.says("/resume")
        done = (await olu.hears("Otto", 4)).last
        await expect(done).to_contain_text("Here it is: hello.py")
        await expect(done.get_by_role("link", name=re.compile("hello.py"))).to_be_visible()
        await expect(started).to_contain_text("[turn 2 of 21")
        await olu.says("/approve")
        await olu.hears("Otto", 5)
        await olu.turns_phone()
        assert await olu.sideways() == []
