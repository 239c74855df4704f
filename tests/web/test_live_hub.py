"""The hub: one room for many pages, and nothing that breaks in it makes a page deaf."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from loopforge.chat.room.member_visibility import EVERYTHING
from loopforge.chat.room.room_snapshot import RoomSnapshot
from loopforge.core.events import Event
from loopforge.core.room_vocabulary import Heard
from loopforge.errors import Unreachable
from loopforge.web.rendering.live_hub import LiveHub, LiveRenderer, PageListener
from loopforge.web.server.page_templates import template_environment
from tests.web.conftest import Guest, Town


class Odd(LiveRenderer):
    """Everything as it is; whatever says "odd" cannot be shown: a mistake as templates have one."""

    async def line(self, event: Event, scene: RoomSnapshot, owner: bool) -> str:
        """A line as it was said."""
        return self.words(str(event.body.text), scene) if isinstance(event.body, Heard) else ""

    def scene(self, scene: RoomSnapshot) -> str:
        """A scene by its title."""
        return self.words(scene.title, scene)

    def words(self, text: str, _: RoomSnapshot) -> str:
        """The words themselves."""
        if "odd" in text:
            raise ZeroDivisionError(text)
        return f"shown: {text}"


@asynccontextmanager
async def listening(site: Town, room: str) -> AsyncIterator[PageListener]:
    """A page that listens in a room whose odd things cannot be shown."""
    hub = LiveHub(site.app.front, Odd(site.app.front, template_environment()))
    listener = PageListener("p1", "s1", EVERYTHING)
    hub.join(room, listener)
    try:
        yield listener
    finally:
        await hub.close()


async def until(listener: PageListener, what: str) -> str:
    """Everything it was given until this came."""
    given = ""
    async with asyncio.timeout(120):
        while what not in given:
            if (found := await listener.next(1)) is not None:
                given += found[1].decode()
    return given


async def test_a_line_that_cannot_be_shown_is_passed_over(
    site: Town, caplog: pytest.LogCaptureFixture, owner: Guest
) -> None:
    """Whatever goes wrong with one line stands in the log, and the next line is given."""
    room = await site.room(owner)
    async with listening(site, room) as listener:
        await site.heard(room, owner, "an odd one", "a plain one")
        given = await until(listener, "shown: a plain one")
    assert "an odd one" not in given
    assert f"something could not be shown in {room}" in caplog.text


async def test_a_scene_that_cannot_be_shown_is_passed_over(
    site: Town, caplog: pytest.LogCaptureFixture, owner: Guest
) -> None:
    """Whatever goes wrong with the side panel stands in the log, and the next scene is given."""
    room = await site.room(owner, "Tea")
    async with listening(site, room) as listener:
        await site.app.front.commands.act(room, owner.person, "title", "An odd room")
        async with asyncio.timeout(120):
            while f"the scene could not be shown in {room}" not in caplog.text:
                await asyncio.sleep(0.01)
        await site.app.front.commands.act(room, owner.person, "title", "A plain room")
        await until(listener, "shown: A plain room")


async def test_nobody_joins_once_all_are_let_go(site: Town) -> None:
    """A browser comes back at once: what listened for it would have been closed by nobody."""
    hub = LiveHub(site.app.front, Odd(site.app.front, template_environment()))
    await hub.close()
    with pytest.raises(Unreachable, match="stopping"):
        hub.join("commons", PageListener("p1", "s1", EVERYTHING))
    assert not hub.here("commons")
