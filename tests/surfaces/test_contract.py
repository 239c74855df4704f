"""The contract of surfaces: what holds on each that is installed, a stranger's like our own."""

import asyncio
import dataclasses
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from loopforge.app import App, open_app
from loopforge.core.delivery_states import Accepted, Attempting, Failed
from loopforge.core.events import Event
from loopforge.core.room_vocabulary import Said
from loopforge.host import run_surfaces
from loopforge.io.platforms.bot_tokens import BotTokens
from loopforge.io.platforms.surface_options import SurfaceOptions
from loopforge.models.scripted_model import Script, ScriptedModels
from loopforge.runtime.system_clock import SystemDice
from loopforge.settings import load_settings
from tests.rooms.conftest import write_mates
from tests.surfaces.subjects import SUBJECTS, Subject
from tests.telegram.homes import counting

pytestmark = pytest.mark.xdist_group("telegram")
EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "lines"


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example, installed by pip from its own folder, away from everything else."""
    target = tmp_path_factory.mktemp("installed")
    quietly = ["-q", "--no-deps", "--no-build-isolation", "--disable-pip-version-check"]
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        *quietly,
        "--target",
        str(target),
        str(EXAMPLE),
    ]
    subprocess.run(command, check=True, capture_output=True)
    return target


@pytest.fixture(params=SUBJECTS)
async def subject(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Subject]:
    """A platform, with the surface for it installed."""
    if request.param == "lines":
        monkeypatch.syspath_prepend(str(request.getfixturevalue("installed")))
    async with SUBJECTS[request.param]() as there:
        yield there


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    yield
    for name in ("loopforge_lines", "lines_surface"):
        sys.modules.pop(name, None)


@asynccontextmanager
async def living(path: Path, subject: Subject, script: Script | None = None) -> AsyncIterator[App]:
    """A home that is on that platform until the block ends."""
    if not (path / "mates").exists():
        write_mates(path, ["maya"])
    (path / "data").mkdir(exist_ok=True)
    settings = load_settings(path, environ={"LOOPFORGE_TIMEZONE": "UTC"})
    settings = dataclasses.replace(settings, **{"debounce_seconds": 0.05, **subject.settings})
    clock, dice = subject.clock, SystemDice()
    models = ScriptedModels(script or counting(), clock=clock)
    tokens = BotTokens(settings.data, subject.tokens)
    async with (
        open_app(settings, models=models, clock=clock, dice=dice, follow=0) as app,
        run_surfaces(
            app,
            tokens,
            subject.surfaces(settings),
            manners=SurfaceOptions(streams=False, marks=False),
        ),
    ):
        yield app


async def events(app: App, kind: type) -> list[Event]:
    """What happened of this kind in the only room."""
    rooms = await app.rooms.names()
    found = [event for room in rooms for event in await app.ledger.read(f"room:{room}")]
    return [event for event in found if isinstance(event.body, kind)]


async def until(app: App, kind: type, count: int = 1) -> list[Event]:
    """Wait until something happened so often."""
    while len(found := await events(app, kind)) < count:
        await app.stamp.clock.sleep(0.02)
    return found


async def test_what_a_mate_says_arrives_and_is_known(subject: Subject, tmp_path: Path) -> None:
    """It is shown once, and the ledger knows which of the platform's messages it is."""
    async with living(tmp_path, subject) as app:
        await subject.say("hello there")
        (accepted,) = await until(app, Accepted)
        assert await subject.heard() == ["This is answer 1."]
        (said,) = await events(app, Said)
        ((place, room),) = (await app.front.channels.all(subject.name)).items()
        assert isinstance(accepted.body, Accepted)
        assert await app.front.channels.line(place, accepted.body.message_id) == said.id
        assert await app.rooms.names() == [room]


@pytest.mark.sample(3)
@pytest.mark.parametrize("trouble", ["lose", "drop"])
async def test_what_may_have_arrived_is_looked_for_first(
    subject: Subject, tmp_path: Path, trouble: str
) -> None:
    """Whether a message was lost, or only that it arrived: it is there once, the next after it."""
    async with living(tmp_path, subject) as app:
        await getattr(subject, trouble)()
        await subject.say("hello there")
        await until(app, Accepted)
        await subject.say("and now?")
        await until(app, Accepted, 2)
        assert await subject.heard() == ["This is answer 1.", "This is answer 2."]


async def test_a_refusal_is_told(subject: Subject, tmp_path: Path) -> None:
    """What a platform refuses for good is not shown, and stands in the ledger as failed, with why."""
    async with living(tmp_path, subject) as app:
        await subject.refuse()
        await subject.say("hello there")
        (failed,) = await until(app, Failed)
        assert isinstance(failed.body, Failed)
        assert str(failed.body.why)
        assert "This is answer 1." not in await subject.heard()


async def test_a_long_line_comes_in_pieces(subject: Subject, tmp_path: Path) -> None:
    """One that is longer than a message comes in several, each of them known, with every word."""
    words = " ".join(f"word{n}" for n in range(620))
    async with living(tmp_path, subject, lambda _: words) as app:
        await subject.say("count, please")
        (accepted,) = await until(app, Accepted)
        assert isinstance(accepted.body, Accepted)
        (said,), (place,) = await events(app, Said), await app.front.channels.all(subject.name)
        posts = await app.front.channels.posts(place, said.id)
        assert posts == accepted.body.message_id.split()
        assert len(posts) == len(await subject.heard()) > 1
        assert " ".join(await subject.heard()) == words


async def test_a_home_that_ends_while_it_sends(subject: Subject, tmp_path: Path) -> None:
    """What a home was sending when it ended is sent when it begins again, once."""
    async with living(tmp_path, subject) as app:
        await subject.lose()
        await subject.say("hello there")
        await until(app, Attempting)
    async with living(tmp_path, subject) as app:
        await until(app, Accepted)
        assert await subject.heard() == ["This is answer 1."]


async def test_who_calls_as_a_surface_closes(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever calls the example while it closes is hung up on, in whichever turn of the loop."""
    monkeypatch.syspath_prepend(str(installed))
    loop, calls = asyncio.get_running_loop(), list[socket.socket]()
    async with SUBJECTS["lines"]() as subject:

        async def call() -> None:
            with suppress(ConnectionRefusedError):
                while True:
                    calls.append(socket.create_connection(("127.0.0.1", subject.port)))
                    calls[-1].setblocking(False)
                    await asyncio.sleep(0)

        async with living(tmp_path, subject) as app:
            await subject.say("hello there")
            await until(app, Accepted)
            calling = asyncio.create_task(call())  # noqa: TID251 - people, not a part of the home
            await asyncio.sleep(0)
        await calling
    for each in calls:
        with each, suppress(ConnectionResetError):
            async with asyncio.timeout(60):
                assert await loop.sock_recv(each, 1) == b""


async def test_a_line_said_as_the_home_ends(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is said to the example while its ledger closes is not heard, and the caller hung up on."""
    monkeypatch.syspath_prepend(str(installed))
    faults: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, what: faults.append(what))
    async with SUBJECTS["lines"]() as subject, living(tmp_path, subject) as app:
        await subject.say("hello there")
        await until(app, Accepted)
        await app.ledger.close()
        reader, writer = await asyncio.open_connection("127.0.0.1", subject.port)
        writer.write(b'{"hello": "Bo", "key": "only Bo knows it"}\n{"say": "me too", "id": 1}\n')
        async with asyncio.timeout(60):
            assert await reader.read() == b""
        writer.close()
    assert faults == []
