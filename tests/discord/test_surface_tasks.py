"""A task in a channel of Discord: watched in one message, steered, stopped and decided by buttons."""

from pathlib import Path

import pytest
from simcord.components import walk_components

from loopforge.chat.commands.command_request import CommandRequest
from loopforge.core.room_vocabulary import RightsSet
from loopforge.work.threads.task_rights import DECIDERS, MERGER, STOPPERS
from loopforge.work.threads.thread_orders import MOVED
from loopforge.work.threads.thread_posts import PAUSE
from tests.discord.lodging import lodged
from tests.discord.twin import Twin
from tests.discord.words import Line, Place
from tests.rooms.conftest import write_mates
from tests.work.conftest import Step, only, says, uses
from tests.work.test_task_results import STEPS, TASK, project
from tests.work.test_thread_tasks import OTTO

__all__ = ["project"]

pytestmark = [pytest.mark.xdist_group("sandbox"), pytest.mark.timeout(120)]
PUBLIC = "https://mates.example.org"
FREE = RightsSet(who="everyone", rights=("talk", "tools"), tools=("*",))


def labels(line: Line) -> list[str]:
    """What stands on the buttons under a message."""
    return [one["label"] for one in walk_components(line.components) if "label" in one]


def starts(city: Twin, place: Place) -> list[Line]:
    """The messages that tell how tasks go."""
    return [one for one in city.lines(place) if "Starting work." in one.text]


async def test_a_task_lives_in_a_channel(city: Twin, place: Path) -> None:
    """Its one message is edited in place, a line gets a sign, its file arrives; a press ends the next."""
    waiting = "while [ ! -e go ]; do sleep 0.1; done"
    left: list[Step] = [
        uses("work_run", command=waiting),
        *(uses("work_write", path="hello.py", text=f"print({n})\n") for n in range(36, 43)),
        says("done", "Here it is: <<hello.py>>"),
        uses("work_run", command="sleep 300"),
    ]

    otto, plaza, ben = city.bot("Otto"), city.channel("plaza"), city.person("ben")
    eve = city.person("eve")
    write_mates(place, (), otto=OTTO)
    async with lodged(city, place, {otto: "otto"}, only(left), web_address=PUBLIC) as home:
        await home.tell(ben, plaza, "hello")
        room = await home.room(plaza)
        refused = await city.say(ben, plaza, "otto, write a Python script hello.py")
        await city.until(lambda: any(one.text == "Well." for one in city.lines(plaza)))
        assert refused.reactions == {}  # in a crowd tools are for whom the keepers name
        await home.rests(plaza)
        await home.app.rooms.add(room, "", FREE)

        began = home.app.stamp.clock.ticks()
        await city.say(ben, plaza, "otto, write a Python script hello.py that prints 42")
        await city.until(lambda: starts(city, plaza))
        (started,) = starts(city, plaza)
        assert labels(started) == ["Stop"]
        steering = await city.say(ben, plaza, "mind the spaces")
        await city.until(lambda: "👀" in city.line(steering).reactions)
        (task,) = await home.app.work.store.of_thread(f"room:{room}")
        assert f"\n{PUBLIC}/work/{task.id}" in city.line(started).text
        workspace = await home.app.work.tasks.places.workspaces.recovered(task.stream)
        (workspace.place / "go").touch()
        await city.until(lambda: any(one.files == ("hello.py",) for one in city.lines(plaza)))
        await city.until(lambda: "[turn 9 of 20" in city.line(started).text)
        assert city.line(started).text.startswith("Starting work. Taken as coding")
        assert city.lines(plaza)[-1].text == "Here it is: hello.py"
        await city.until(lambda: labels(city.line(started)) == [])
        edits = [one for one in city.deeds("edit", place=plaza) if one.line == started.id]
        took = home.app.stamp.clock.ticks() - began
        assert 1 <= len(edits) <= took / PAUSE + 2  # nine turns; that it is over is told at once
        assert len(starts(city, plaza)) == 1
        assert "Say what you like to steer it" not in city.line(started).text

        await city.say(ben, plaza, "otto, write a Python script that sleeps")
        await city.until(lambda: len(starts(city, plaza)) == 2)
        (_, second) = starts(city, plaza)
        await home.delivered(plaza)
        denied = await city.press(eve, second, "Stop")
        assert (denied.ephemeral, denied.text) == (True, STOPPERS)
        told = await city.press(ben, second, "Stop")
        assert (told.ephemeral, told.text) == (True, "Stopped. `resume` goes on from here.")
        await city.until(lambda: any("Stopped after" in one.text for one in city.lines(plaza)))
        assert "/resume lets it go on" in city.lines(plaza)[-1].text
        await city.until(lambda: labels(city.line(second)) == [])
        assert (await city.press(ben, second, id="do:stop")).text == "It is stopped already."


async def test_a_task_stands_still_whose_thread_is_deleted(city: Twin, place: Path) -> None:
    """At once, with nothing sent there; the channel that the thread was in is as it was."""
    otto, plaza, ben = city.bot("Otto"), city.channel("plaza"), city.person("ben")
    thread = await city.thread(ben, plaza, "the script")
    write_mates(place, (), otto=OTTO)
    script = only([uses("work_run", command="sleep 300")])
    async with lodged(city, place, {otto: "otto"}, script) as home:
        await home.tell(ben, plaza, "hello")
        await home.tell(ben, thread, "hello")
        room = await home.room(thread)
        await home.app.rooms.add(room, "", FREE)
        await city.say(ben, thread, "otto, write a Python script hello.py")
        await city.until(lambda: starts(city, thread))
        await home.delivered(thread)
        (task,) = await home.app.work.store.of_thread(f"room:{room}")
        assert task.at_work
        await city.delete_channel(thread)
        await home.parted(room)
        async for _ in home.looks("the task stands still"):
            if (await home.app.work.store.state(task.stream)).stage == "stopped":
                break
        assert await home.heard(plaza) == ["hello"]
        assert await home.room(thread) == ""


@pytest.mark.patient
async def test_a_commit_is_decided_on_under_its_message(
    city: Twin, place: Path, project: Path
) -> None:
    """Of a webhook, too: by the owner alone, and not under what was offered before."""
    left = [*STEPS, uses("work_write", path="repo/note.txt", text="So.\n"), says("done", "And so.")]

    town, plaza, ben, ana = (
        city.bot("Town"),
        city.channel("plaza"),
        *map(city.person, ("ben", "ana")),
    )
    home_of = place / "home"
    home_of.mkdir()
    write_mates(home_of, ("maya",), otto=OTTO)
    owners = set[str]()
    bots = {town: ("otto", "maya")}
    async with lodged(city, home_of, bots, only(left), owns=owners.__contains__) as home:
        await home.tell(ben, plaza, "hello")
        await city.say(ana, plaza, "good morning")
        await home.hears(plaza, "hello", "good morning")
        room, known = await home.room(plaza), home.app.people.who("discord", str(ana.id))
        assert known is not None
        owners.add(known.id)
        await home.app.rooms.add(room, "", FREE)
        repositories = home.app.work.tasks.places.repositories.registered
        repo = (await repositories.register(project)).name
        words = f"otto: repo:{repo} {TASK}"
        asked = CommandRequest(
            room=room, person=known.id, argument=words, owner=True, surface="discord"
        )
        await home.app.front.commands.carry_out("work", asked)

        def offers() -> list[Line]:
            return [one for one in city.lines(plaza) if "/approve merges exactly" in one.text]

        await city.until(offers)
        (first,) = offers()
        await home.delivered(plaza)
        assert labels(first) == ["Approve", "Reject"]
        assert first.webhook is not None
        await city.say(ana, plaza, "and a note", reply_to=first)
        await city.until(lambda: offers() and offers()[0].id != first.id)
        (second,) = offers()
        await home.delivered(plaza)
        assert labels(city.line(first)) == []
        assert "waits for no answer any more" in city.line(first).text
        for who, line, verb, why in (
            (ben, second, "approve", MERGER),
            (ben, second, "reject", DECIDERS),
            (ana, first, "approve", MOVED),
            (ana, first, "reject", MOVED),
        ):
            told = await city.press(who, line, id=f"do:{verb}")
            assert (told.ephemeral, told.text) == (True, why), verb
        assert "return 3" in (project / "app.py").read_text()
        assert (await city.press(ana, second, "Approve")).text.startswith("Merged as ")
        assert (project / "note.txt").read_text() == "So.\n"
        await city.until(lambda: labels(city.line(second)) == [])
