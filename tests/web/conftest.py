"""A home whose web room is open, on a real port, with a scripted model; and people who come in."""

import asyncio
import dataclasses
import html
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from loopforge.app import App, open_app
from loopforge.core.events import Event
from loopforge.core.room_vocabulary import Heard
from loopforge.core.text.erasable_text import Words
from loopforge.host import serve_web_room
from loopforge.models.scripted_model import Script, ScriptedModels, in_character
from loopforge.runtime.ports import Clock, Models
from loopforge.runtime.system_clock import SystemClock, SystemDice
from loopforge.settings import load_settings
from tests.rooms.conftest import write_mates

PASSWORD = "correct horse battery"
CLOCK = SystemClock()


def words(answer: httpx.Response) -> str:
    """What a page says, without its marks."""
    text = re.sub(r"<(script|style|svg|symbol).*?</\1>", " ", answer.text, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())


@dataclass
class Guest:
    """Somebody with a browser: `http` holds their cookies."""

    name: str
    http: httpx.AsyncClient
    person: str = ""
    tokens: dict[str, str] = field(default_factory=dict)

    async def get(self, path: str, **more: Any) -> httpx.Response:
        """Ask for a page."""
        return await self.http.get(path, **more)

    async def post(
        self, path: str, data: dict[str, Any] | None = None, **more: Any
    ) -> httpx.Response:
        """Send a form, with its token."""
        headers = {"x-csrftoken": await self.token(), **more.pop("headers", {})}
        return await self.http.post(path, data=data or {}, headers=headers, **more)

    async def token(self) -> str:
        """The token of this session's forms, as pages carry it."""
        session = self.http.cookies.get("loopforge") or ""
        if session not in self.tokens:
            shown = (await self.http.get("/sign-in")).text
            found = re.search(r'name="csrf-token" content="(\w+)"', shown)
            self.tokens = {session: found[1] if found else ""}
        return self.tokens[session]

    async def says(self, room: str, text: str, **more: Any) -> dict[str, Any]:
        """Say a line, as the page's script does."""
        answer = await self.post(
            f"/rooms/{room}/lines",
            {"text": text, **more},
            files={"none": ("", b"")},
            headers={"accept": "application/json"},
        )
        answer.raise_for_status()
        told: dict[str, Any] = answer.json()
        return told


@dataclass
class Town:
    """A running home with its web room."""

    path: Path
    app: App
    address: str
    stack: AsyncExitStack
    guests: dict[str, Guest] = field(default_factory=dict)

    async def stranger(self, name: str = "") -> Guest:
        """Somebody who is not signed in."""
        http = httpx.AsyncClient(base_url=self.address, follow_redirects=True, timeout=60)
        return Guest(name, await self.stack.enter_async_context(http))

    async def owner(self, name: str = "olu") -> Guest:
        """The owner, signed in by a one-time link."""
        guest = await self.stranger(name)
        token = await self.app.accounts.links.offer()
        answer = await guest.post(f"/enter/{token}", {"name": name})
        assert answer.status_code == 200, answer.text
        return await self._known(guest)

    async def guest(self, name: str, room: str = "", *, by: Guest, past: bool = False) -> Guest:
        """A person who came in by an invite, into this room if one is named."""
        guest = await self.stranger(name)
        _, token = await self.app.accounts.links.invite(by.person, room, past)
        answer = await guest.post(f"/join/{token}", {"name": name, "password": PASSWORD})
        assert answer.status_code == 200, answer.text
        return await self._known(guest)

    async def _known(self, guest: Guest) -> Guest:
        token = guest.http.cookies.get("loopforge") or ""
        visitor = await self.app.accounts.decisions.presence.visitor(token)
        assert visitor is not None
        guest.person = visitor.person
        self.guests[guest.name] = guest
        return guest

    async def room(self, by: Guest, title: str = "", *mates: str) -> str:
        """A private room of somebody's."""
        data = {"title": title, "mates": list(mates)}
        answer = await by.post("/rooms", data)
        found = re.search(r"/rooms/([a-z0-9-]+)", str(answer.url))
        assert found, answer.text
        return found[1]

    async def heard(self, room: str, by: Guest, *texts: str) -> None:
        """Lines that somebody said, as quickly as they can be written down."""
        for text in texts:
            await self.app.front.rooms.hear(
                room, Heard(person=by.person, text=Words(text), surface="web")
            )

    async def talk(self, by: Guest, title: str, text: str) -> str:
        """A room of somebody and maya, in which a line was said and answered; its slug."""
        room = await self.room(by, title, "maya")
        await by.says(room, text)
        await self.rest(room)
        return room

    async def rest(self, room: str) -> None:
        """Until nobody in the room has anything left to do."""
        await self.app.front.rooms.settled(room)

    async def events(self, room: str) -> list[Event]:
        """Everything that happened in a room."""
        return await self.app.ledger.read(f"room:{room}")


@asynccontextmanager
async def town(
    path: Path,
    script: Script = in_character,
    *,
    models: Models | None = None,
    environ: Mapping[str, str] = {},
    clock: Clock = CLOCK,
    **changes: Any,
) -> AsyncIterator[Town]:
    """A home whose web room is open until the block ends. `changes` are settings."""
    if not (path / "mates").exists():
        write_mates(path)
    (path / "data").mkdir(exist_ok=True)
    known = {"LOOPFORGE_TIMEZONE": "UTC", "LOOPFORGE_WEB_PORT": "0", **environ}
    settings = load_settings(path, environ=known)
    settings = dataclasses.replace(
        settings, **{"debounce_seconds": 0.02, "person": "olu", **changes}
    )
    models = models or ScriptedModels(script, clock=clock)
    async with AsyncExitStack() as stack:
        app = await stack.enter_async_context(
            open_app(settings, models=models, clock=clock, dice=SystemDice(), follow=0)
        )
        address = await stack.enter_async_context(serve_web_room(app))
        await reachable(address)
        yield Town(path, app, address, await stack.enter_async_context(AsyncExitStack()))


async def reachable(address: str) -> None:
    """Until the server answers."""
    async with httpx.AsyncClient() as http:
        while True:
            try:
                (await http.get(f"{address}/alive")).raise_for_status()
            except httpx.HTTPError:
                await asyncio.sleep(0.05)
            else:
                return


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Town]:
    """A home with maya, merlin and zuzu, whose web room is open."""
    async with town(tmp_path) as made:
        yield made


@pytest.fixture
async def owner(site: Town) -> Guest:
    """The owner of that home, signed in."""
    return await site.owner()
