"""The real rooms behind the real socket, with a scripted model: the whole way but the model."""

import contextlib
import io
import os
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

from loopforge.app import App, open_app
from loopforge.chat.room.room_store import stream_of
from loopforge.core.room_vocabulary import Heard, Said
from loopforge.core.text.erasable_text import Words
from loopforge.home import make_home
from loopforge.host_lock import lock_home
from loopforge.io.socket.socket_address import SocketAddress
from loopforge.io.socket.socket_client import SocketLink
from loopforge.io.socket.wire_protocol import Hello
from loopforge.io.terminal.plain_mode import run_plain
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.models.scripted_model import Script, ScriptedAnswer, ScriptedModels, in_character
from loopforge.runtime.ports import Clock, Question
from loopforge.runtime.system_clock import SystemClock
from loopforge.setting_defaults import Settings
from loopforge.settings import load_settings
from tests.held_clock import HeldClock
from tests.io.test_socket_client import CLIENTS, watching
from tests.io.test_terminal_app import Seat, seated


class Home:
    """A home on disk, and the app that runs it now, if this process does."""

    def __init__(self, path: Path, script: Script, clock: Clock | None = None) -> None:
        self.path, self.script, self.clock = path, script, clock
        self.app: App | None = None

    def settings(self) -> Settings:
        """Its settings, with little waiting."""
        make_home(self.path)
        return replace(load_settings(self.path, environ={}), debounce_seconds=0.02, model_tries=1)

    @contextlib.asynccontextmanager
    async def hosted(self) -> AsyncIterator[App]:
        """Take the lock and run it."""
        with lock_home(self.path):
            models = ScriptedModels(self.script, clock=self.clock)
            async with open_app(self.settings(), models=models) as app:
                self.app = app
                yield app

    def link(self, name: str, **person: object) -> SocketLink:
        """Somebody's link into it."""

        @contextlib.asynccontextmanager
        async def become_host() -> AsyncIterator[object]:
            async with self.hosted() as app:
                yield app.front

        who = {"client": f"r{next(CLIENTS)}", "room": "commons", "name": name, "tail": 50, **person}
        data = self.settings().data
        return SocketLink(SocketAddress(data), become_host, Hello(**who), SystemClock())  # type: ignore[arg-type]

    async def types(self, name: str, text: str, **person: object) -> tuple[int, str, str]:
        """A pipe into it; exit code, standard output, standard error."""
        reading, writing = os.pipe()
        os.write(writing, text.encode())
        os.close(writing)
        out, err = io.StringIO(), io.StringIO()
        made = self.link(name, tail=0, **person)
        code = await run_plain(made, reading, out, err)
        os.close(reading)
        return code, out.getvalue(), err.getvalue()


async def test_what_was_printed_is_delivered(tmp_path: Path) -> None:
    """A line that was shown is accepted in the ledger before the pipe ends."""
    home = Home(tmp_path, in_character)
    await home.types("ana", "@maya hi\n")
    async with home.hosted() as app:
        events = await app.ledger.read(stream_of("commons"))
        said = [event for event in events if isinstance(event.body, Said)]
        kinds = [event.kind for event in events]
        assert said
        assert kinds.count("delivery.accepted") == len(said)
        assert str(events[kinds.index("delivery.accepted")].body)


async def test_a_model_that_refuses_is_no_failure_of_the_pipe(tmp_path: Path) -> None:
    """What the model did not do is told on standard error in plain words; the exit code is 0."""

    def refuses(question: Question) -> ScriptedAnswer:
        return ScriptedAnswer(outcome="failed", cause="broken")

    code, out, err = await Home(tmp_path, refuses).types("ana", "@maya hi\n")
    assert (code, out) == (0, "")
    assert "Maya" in err, err
    assert "Traceback" not in err


async def test_every_command_is_answered_by_the_room(tmp_path: Path) -> None:
    """Commands of the table that go to the room are known there, and say what they did."""
    text = """@maya good morning
/title The sea
/energy 9
/energy
/policy
/policy stub
/triggers maya mention
/keep
/spent
/search morning
/why
/new
/end
/stop
"""
    home = Home(tmp_path, in_character)
    await home.types("ana", "@maya good morning\n")
    code, out, err = await home.types("ana", text)
    assert code == 0, err
    assert "ana: @maya good morning" in out
    assert "What it was shown" in out
    assert "[The room is called The sea.]" in err
    assert "of 9 lines are left" in err
    assert "[Stopped. Mates stay still until somebody speaks to them again.]" in err


async def test_the_terminal_over_the_real_rooms(tmp_path: Path) -> None:
    """A line is answered live, with a draft; /why shows the real flight record; stop is seen."""

    def slowly(question: Question) -> ScriptedAnswer:
        return ScriptedAnswer(text="The sea breathes twice a day, I think.", pieces=8, pause=1)

    clock = HeldClock()
    home = Home(tmp_path, slowly, clock)
    async with seated(home.link("ana")) as ana:
        await ana.sees("Maya", "Merlin", "Zuzu")
        await ana.types("@merlin what does the sea do?", "enter")
        await ana.sees("Merlin is typing…", "▌")
        clock.let_go()
        await ana.sees("The sea breathes twice a day, I think.", "🦉 Merlin")
        await ana.types("/why", "enter")
        await ana.sees("Why? Merlin: The sea breathes", "── Why it spoke ──", "mention")
        await ana.pilot.press("escape")
        await ana.types("stop", "enter")
        await ana.sees("■ stopped")


async def test_a_host_a_terminal_and_a_pipe_share_a_room(tmp_path: Path) -> None:
    """What one says the others see live, whatever they are; the host leaving ends nothing."""
    home = Home(tmp_path, in_character)
    async with contextlib.AsyncExitStack() as first:
        await first.enter_async_context(watching(home.link("ana")))
        async with seated(home.link("ben"), (60, 24)) as ben:
            code, out, _ = await home.types("cem", "@zuzu hello from a pipe\n")
            assert (code, "zuzu: cem, you said" in out) == (0, True)
            await ben.sees("cem", "@zuzu hello from a pipe", "Zuzu")
            await first.aclose()
            await ben.types("@maya still here?", "enter")
            await ben.sees("@maya still here?", "🔬 Maya")


async def loses(seat: Seat, text: str) -> None:
    """Wait until a text stands on a screen no more."""
    await seat.until(lambda: text not in seat.screen())


async def test_what_is_forgotten_leaves_a_screen_that_shows_it(tmp_path: Path) -> None:
    """A line that is forgotten is gone from an open terminal, and from one that was away then."""
    home = Home(tmp_path, in_character)
    async with seated(home.link("ana")) as ana:
        await ana.types("/talk called", "enter")
        await ana.sees("only when")
        await ana.types("my secret is a cellar", "enter")
        await ana.types("and my sea is blue", "enter")
        await ana.sees("my secret is a cellar", "and my sea is blue")
        assert home.app is not None
        lines = await home.app.ledger.read(stream_of("commons"), kinds=["room.heard"])
        async with seated(home.link("ben")) as ben:
            await ben.sees("my secret is a cellar")
            await home.app.ledger.erase(ErasureRequest(events=(lines[0].id,)))
            for one in (ana, ben):
                await loses(one, "cellar")
                await one.sees("[forgotten]", "and my sea is blue")
            ben.app._link._writer.transport.abort()  # type: ignore[union-attr]
            await home.app.ledger.erase(ErasureRequest(events=(lines[1].id,)))
            await loses(ben, "sea is blue")
            await ben.types("and now?", "enter")
            await ben.sees("and now?")


async def test_a_line_that_is_changed_is_changed_where_it_is_quoted(tmp_path: Path) -> None:
    """Who answers a line quotes it as it stands: edited, and then deleted."""
    home = Home(tmp_path, in_character)
    async with seated(home.link("ana")) as ana:
        assert home.app is not None
        front = home.app.front
        ben = (await front.rooms.enter("commons", "ben", "web")).you
        await front.commands.act("commons", ben, "talk", "called", owner=True)
        first = await front.rooms.hear(
            "commons", Heard(person=ben, text=Words("my loaf is flat"), surface="web")
        )
        await ana.types("wait", "enter")
        await ana.sees("wait")
        answer = Heard(person=ben, text=Words("so?"), surface="web", reply_to=first.id)
        await front.rooms.hear("commons", answer)
        await ana.sees("↳ ben: my loaf is flat")
        await front.rooms.edit("commons", ben, first.id, "my loaf is round")
        await ana.sees("↳ ben: my loaf is round")
        await front.rooms.delete("commons", ben, first.id)
        await ana.sees("↳ ben: (deleted by ben)")
