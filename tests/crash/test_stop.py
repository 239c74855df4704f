"""A stop outlives the process: after kill -9 and a restart mates stay still until a person speaks."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from loopforge.core.events import Event
from loopforge.core.room_vocabulary import Heard, Said, Stopped
from loopforge.core.turn_events import TurnEnded
from loopforge.ledger_opening import open_ledger_of
from loopforge.settings import load_settings
from tests.crash.child import Options
from tests.crash.drill import furnish
from tests.crash.host import PATIENCE, hosting
from tests.crash.terminal import Terminal, drafting, said, sitting

pytestmark = pytest.mark.crash


async def quiet(terminal: Terminal) -> None:
    """Until nobody has anything left to do, and all of it is on the screen."""
    async with asyncio.timeout(PATIENCE):
        await terminal.link.settled()
        await terminal.link.shown()


async def events_of(home: Path) -> list[Event]:
    """What the ledger holds of the room."""
    async with open_ledger_of(load_settings(home, environ={})) as ledger:
        assert (await ledger.verify()).sound
        return await ledger.read("room:commons")


def told(events: list[Event]) -> list[str]:
    """What people and mates said, and stops."""
    lines = []
    for event in events:
        match event.body:
            case Heard(text=text):
                lines.append(f"ana: {text}")
            case Said(mate=mate):
                lines.append(mate)
            case Stopped():
                lines.append("(stop)")
            case _:
                pass
    return lines


async def by_line(terminal: Terminal) -> None:
    """Say stop."""
    terminal.say("stop")
    await terminal.link.taken()


async def by_command(terminal: Terminal) -> None:
    """Give the command."""
    await terminal.link.act("stop")


@pytest.mark.patient
@pytest.mark.parametrize("stop", [by_line, by_command])
@pytest.mark.parametrize("when", ["before", "while it streams"])
async def test_a_stop_is_durable(
    tmp_path: Path, stop: Callable[[Terminal], Awaitable[None]], when: str
) -> None:
    """Stopped, killed, begun anew: nothing is taken up or answered; a person's next line is."""
    home = tmp_path / "home"
    furnish(home)
    slow = Options(home=str(home), wait=0.2, pause=600)
    async with sitting(home, "ana") as ana:
        async with hosting(slow) as host:
            assert await host.ready()
            draft = ana.sees(drafting)
            ana.say("@maya [k1] and @merlin, tell me everything")
            if when != "before":
                await draft
            await stop(ana)
            await host.kill()
        async with hosting(Options(home=str(home))) as host:
            assert await host.ready()
            await quiet(ana)
            assert not any(isinstance(event.body, Said) for event in ana.shown)
            answer = ana.sees(said)
            ana.say("@merlin [k2] and now?")
            async with asyncio.timeout(PATIENCE):
                await answer
            await quiet(ana)
    events = await events_of(home)
    assert told(events)[0] == "ana: @maya [k1] and @merlin, tell me everything"
    assert told(events)[-3:] == ["(stop)", "ana: @merlin [k2] and now?", "merlin"]
    ended = [e.body.outcome for e in events if isinstance(e.body, TurnEnded)]
    assert ended.count("stopped") <= 1
    assert when == "before" or "stopped" in ended
    assert ended[-1] == "done"


@pytest.mark.parametrize("point", ["append.committed room.stopped", "append.commit room.stopped"])
async def test_a_host_killed_while_it_stops(tmp_path: Path, point: str) -> None:
    """Killed in the very append of a stop: the terminal says it again, and it holds, once."""
    home = tmp_path / "home"
    furnish(home)
    slow = Options(home=str(home), wait=0.2, pause=600)
    async with sitting(home, "ana") as ana:
        async with hosting(slow) as host:
            assert await host.ready()
            draft = ana.sees(drafting)
            ana.say("@maya [k1] tell me everything")
            await draft
            await host.arm(point)
            ana.say("please stop")
            assert await host.dies()
            assert host.died == point
        async with hosting(Options(home=str(home), wait=600)) as host:  # it does not answer before
            assert await host.ready()
            await quiet(ana)
    events = await events_of(home)
    assert told(events) == ["ana: @maya [k1] tell me everything", "ana: please stop", "(stop)"]
    ended = [e.body.outcome for e in events if isinstance(e.body, TurnEnded)]
    assert ended == ["stopped"]
