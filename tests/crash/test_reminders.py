"""Reminders of a home whose host is killed with -9 while they ring: each rings once."""

import asyncio
from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest

from loopforge.core.events import Body, Event
from loopforge.core.room_vocabulary import (
    ConversationBegan,
    Heard,
    MateJoined,
    PersonJoined,
    RoomOpened,
    Told,
)
from loopforge.core.schedule.reminder_events import ReminderFired, ReminderPassed, ReminderSet
from loopforge.core.text.erasable_text import Words
from loopforge.ledger_opening import open_ledger_of
from loopforge.runtime.system_clock import Stamp, SystemClock, SystemDice
from loopforge.settings import load_settings
from tests.crash.child import Options
from tests.crash.drill import Rolls, furnish
from tests.crash.host import PATIENCE, hosting

HERE, DEN = "room:commons", "room:den"
POINTS = [
    f"append.{stage} {kind}"
    for stage in ("events", "commit", "committed")
    for kind in ("reminder.fired", "reminder.passed", "room.told")
]


async def add(home: Path, stream: str, *bodies: Body) -> None:
    """Put facts into a home that nobody hosts."""
    stamp = Stamp(SystemClock(), SystemDice())
    async with open_ledger_of(load_settings(home, environ={})) as ledger:
        await ledger.append(stream, [stamp.fact(body, actor="room") for body in bodies])


async def events_of(home: Path, stream: str) -> list[Event]:
    """What stands in a room."""
    async with open_ledger_of(load_settings(home, environ={})) as ledger:
        return await ledger.read(stream)


def reminder(number: int, whom: str) -> ReminderSet:
    """One that was due a while ago."""
    return ReminderSet(
        number=number,
        what=Words(f"tea [r{number}]"),
        said=Words("in two hours"),
        person="p-ana",
        due=SystemClock().now() - timedelta(minutes=5),
        zone="UTC",
        whom=whom,
        mate="maya",
    )


@pytest.mark.crash
async def test_each_rings_once(tmp_path: Path, seed: int, pytestconfig: pytest.Config) -> None:
    """In the room where it was set, or in the one where the person is alone with the mate."""
    home, kills, rolls = tmp_path / "home", int(pytestconfig.getoption("kills")), Rolls(seed)
    furnish(home)
    ana = PersonJoined(person="p-ana", name=Words("Ana"), surface="terminal")
    ben = PersonJoined(person="p-ben", name=Words("Ben"), surface="terminal")
    began = ConversationBegan(why="first")
    heard = Heard(person="p-ana", text=Words("hm"), surface="terminal")
    await add(home, DEN, RoomOpened(name="den"), ana, MateJoined(mate="maya"), began, heard)
    count = 4 * kills + 8
    wanted = [reminder(1 + nth, ("room", "me")[nth % 2]) for nth in range(count)]
    opened = (RoomOpened(name="commons"), ana, ben, MateJoined(mate="maya"), began)
    await add(home, HERE, *opened, *wanted)

    died = Counter[str]()
    while died.total() < kills:
        point = rolls.choice(POINTS)
        options = Options(home=str(home), point=point, after=1 + rolls.below(2))
        async with hosting(options) as host:
            await host.ready()
            assert await host.dies(PATIENCE), f"it never came to {point}"
            died[host.died] += 1
    async with hosting(Options(home=str(home))) as host, asyncio.timeout(PATIENCE):
        await host.ready()
        while len(passed := await events_of(home, HERE)) and not over(passed, count):
            await asyncio.sleep(0.3)

    here, den = await events_of(home, HERE), await events_of(home, DEN)
    rang = Counter(event.body.reminder for event in here if isinstance(event.body, ReminderFired))
    assert set(rang.values()) == {1}
    assert len(rang) == count
    for events, odd in ((here, 0), (den, 1)):
        told = [str(event.body.text) for event in events if isinstance(event.body, Told)]
        marks = Counter(text.partition("[r")[2].partition("]")[0] for text in told)
        assert marks == {str(one.number): 1 for one in wanted if (one.number + 1) % 2 == odd}
    assert died.total() >= kills
    assert len(died) > 1 or kills < 10


def over(events: list[Event], count: int) -> bool:
    """Whether all of them rang, and those that went to another room are there."""
    fired = [event.body for event in events if isinstance(event.body, ReminderFired)]
    passed = [event for event in events if isinstance(event.body, ReminderPassed)]
    return len(fired) == count and len(passed) == sum(bool(one.to) for one in fired)
