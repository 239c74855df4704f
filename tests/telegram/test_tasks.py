"""A task in a private chat of Telegram: one message that is edited, a sign, a question, a result."""

from pathlib import Path

import pytest

from loopforge.work.threads.thread_posts import PAUSE
from tests.rooms.conftest import write_mates
from tests.telegram.city import City
from tests.telegram.homes import on_telegram
from tests.work.conftest import Step, only, says, uses
from tests.work.test_thread_tasks import OTTO

pytestmark = [pytest.mark.xdist_group("sandbox"), pytest.mark.timeout(120)]


async def test_a_task_lives_in_a_chat(place: Path, city: City) -> None:
    """One message tells how it goes; a line answers its question; a file comes; a press stops."""
    left: list[Step] = [
        *(uses("work_write", path="hello.py", text=f"print({n})\n") for n in range(36, 43)),
        says("question", "Which number?"),
        says("done", "Here it is: <<hello.py>>"),
        uses("work_run", command="sleep 300"),
    ]

    otto, ana = await city.bot("Otto", "otto_bot"), await city.person("Ana", "ana")
    chat = await city.private(ana, otto)
    write_mates(place, (), otto=OTTO)
    async with on_telegram(place, otto, city.base, script=only(left)) as home:
        await home.app.pairing.admit(f"telegram:{ana.id}", "")
        began = home.app.stamp.clock.ticks()
        await city.say(ana, chat, "write a Python script hello.py that prints 42")
        started, question = await city.heard(chat, by=otto, count=2)
        assert started.text.startswith("Starting work. Taken as coding")
        assert question.text.startswith("Which number?")
        answer = await city.say(ana, chat, "42")

        async def ended() -> bool:
            lines = {line.key: line for line in await city.lines(chat)}
            told = "[turn 9 of 28" in lines[started.key].text
            return told and any(line.paper for line in lines.values())

        assert await city.until(ended)
        lines = {line.key: line for line in await city.lines(chat)}
        assert "👀" in str(lines[answer.key].reactions)
        edits = await city.calls("editMessageText", otto)
        took = home.app.stamp.clock.ticks() - began
        assert 1 <= len(edits) <= took / PAUSE + 3  # that it asks, and is over, is told at once

        await city.say(ana, chat, "write a Python script that sleeps")
        *_, second = await city.heard(chat, by=otto, count=5)
        assert second.text.startswith("Starting work.")
        assert await city.press(ana, second, "Stop") == "Stopped. `resume` goes on from here."

        async def stopped() -> bool:
            lines = {line.key: line for line in await city.lines(chat)}
            told = any("Stopped after" in line.text for line in lines.values())
            return told and not (lines[second.key].markup or {}).get("inline_keyboard")

        assert await city.until(stopped)

        # A command that answers a line is for the task of that line, whichever is the newest.
        (result,) = [one for one in await city.lines(chat) if one.text.startswith("Here it is")]
        await city.say(ana, chat, "/approve", reply_to=result)

        async def approved() -> bool:
            tasks = await home.app.work.tasks.tasks()
            return [one.stage for one in tasks] == ["stopped", "approved"]

        assert await city.until(approved)
