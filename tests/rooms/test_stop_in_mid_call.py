"""Stop ends everything that runs or waits for a turn: programs, threads, questions."""

import asyncio
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from loopforge.core.effect_states import EffectProposed
from loopforge.core.turn_events import TurnEnded
from loopforge.errors import Unknown
from loopforge.runtime.ports import Question, Tool, ToolCall, ToolHome, ToolWork
from loopforge.tools.sandbox.bubblewrap import Sandbox, make_workspace
from loopforge.tools.sandbox.confined_process import run_confined
from loopforge.tools.sandbox.sandbox_limits import SandboxLimits
from tests.rooms.conftest import Home, living, write_mates
from tests.tools.sandbox.drills import alive

pytestmark = [pytest.mark.xdist_group("sandbox"), pytest.mark.timeout(60)]
NAMES = ("program", "thread", "careful")
MATE = "---\nname: Maya\nrole: mate\ntools: [program, thread, careful]\n---\nYou are Maya.\n"
MARKER = "47.8153"
LOOPS = (
    f"trap '' TERM INT HUP; (trap '' TERM; setsid sleep {MARKER} &); : > there; "
    f"while :; do sleep {MARKER}; done"
)
"""Ignores being asked to end, and leaves another behind in a session of its own."""


class Program:
    """A confined program that ignores TERM; `place` is where it runs."""

    tool = Tool(name="program", summary="Loops.", reads=True, patience=900, limit=900)
    place = Path()

    def make(self, _: ToolHome) -> ToolWork:
        """A home's."""

        async def run(_: ToolCall) -> str:
            sandbox = Sandbox(make_workspace(self.place), limits=SandboxLimits(seconds=600))
            return str(await run_confined(sandbox, ("bash", "-c", LOOPS)))

        return run


class Thread:
    """It sleeps in a thread, which nobody can end; `done` lets it go on."""

    tool = Tool(name="thread", summary="Sleeps.", reads=True, patience=900, limit=900)
    begun, done = threading.Event(), threading.Event()

    def make(self, _: ToolHome) -> ToolWork:
        """A home's."""

        async def sleep(_: ToolCall) -> str:
            def wait() -> str:
                self.begun.set()
                self.done.wait(60)
                return "slept well"

            with_it = ThreadPoolExecutor(1)
            return await asyncio.get_running_loop().run_in_executor(with_it, wait)

        return sleep


class Careful:
    """It asks first; `used` counts."""

    tool = Tool(name="careful", summary="Waits for a yes.", reads=True, asks=True)
    used = 0

    def make(self, _: ToolHome) -> ToolWork:
        """A home's."""

        async def use(_: ToolCall) -> str:
            self.used += 1
            return "done"

        return use


program, thread, careful = Program(), Thread(), Careful()


@pytest.fixture
def place(place: Path) -> Iterator[Path]:
    """The folder, where these tools stand."""
    program.place = place / "workspace"
    about = place / "plugins" / "stubborn-1.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: stubborn\nVersion: 1\n")
    rows = "".join(f"{name} = {__name__}:{name}\n" for name in NAMES)
    (about / "entry_points.txt").write_text(f"[loopforge.tools]\n{rows}")
    sys.path.insert(0, str(about.parent))
    yield place
    sys.path.remove(str(about.parent))
    thread.done.set()


def eager(question: Question) -> dict[str, object]:
    """Wants all three at once, and says what it is told of them."""
    told = [text for _, text in question.messages if text.startswith("[result of")]
    if told or "go" not in str(question.messages):
        return {"say": "; ".join(told) or "Yes?"}
    return {"say": "", "calls": [{"tool": name, "arguments": "{}"} for name in NAMES]}


async def busy(home: Home) -> None:
    """Until all three are under way: two run, one waits for a yes."""
    while not ((program.place / "there").exists() and alive(MARKER) and thread.begun.is_set()):
        await home.clock.advance(0.1)
        await asyncio.sleep(0.02)
    assert [body.asks for body in await home.bodies(EffectProposed)] == [False, False, True]


async def test_stop_ends_what_runs_and_what_waits(place: Path) -> None:
    """Within a second, with every process; nothing comes of it later, not by a late yes either."""
    write_mates(place / "home", (), maya=MATE)
    async with living(place / "home", eager) as home:
        await home.says("ana", "@maya go")
        await busy(home)
        began = home.clock.ticks()
        await home.acts("ana", "stop")
        assert home.clock.ticks() - began < 1
        assert [body.outcome for body in await home.bodies(TurnEnded)] == ["stopped"]
        assert (await home.kinds("effect."))[-3:] == ["effect.stopped"] * 3
        while alive(MARKER):  # they were killed; the machine has yet to bury them
            await asyncio.sleep(0.01)
        with pytest.raises(Unknown, match="No question is open here"):
            await home.does("ana", "approve", "1")
        thread.done.set()
        await home.passes(3600)
        assert (careful.used, await home.said()) == (0, [])
        await home.hears("ana", "@maya and now?")
        assert "a person said stop" in (await home.lines())[-1]
