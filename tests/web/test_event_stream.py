"""The stream of a room: complete, once, in order, whatever breaks."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import httpx
import pytest

from loopforge.models.scripted_model import ScriptedAnswer, ScriptedModels
from loopforge.runtime.ports import Question
from loopforge.web.room import event_stream
from tests.held_clock import HeldClock
from tests.web.conftest import PASSWORD, Guest, Town, town


@dataclass
class Page:
    """What one open page was given."""

    last: str = ""
    given: list[tuple[str, str, str]] = field(default_factory=list)

    def seqs(self) -> list[int]:
        """The ids of everything that had one."""
        return [int(id) for _, id, _ in self.given if id]

    def data(self, event: str) -> list[Any]:
        """What came by this name."""
        return [json.loads(data) for name, _, data in self.given if name == event]

    def html(self) -> str:
        """All lines."""
        return "\n".join(data for name, _, data in self.given if name == "line")

    async def read(self, answer: httpx.Response) -> None:
        """Take in events until the stream ends."""
        name, id, data = "", "", list[str]()
        async for line in answer.aiter_lines():
            if not line:
                if name:
                    self.given.append((name, id, "\n".join(data)))
                    self.last = id or self.last
                name, id, data = "", "", []
                continue
            key, _, value = line.partition(": ")
            if key == "event":
                name = value
            elif key == "id":
                id = value
            elif key == "data":
                data.append(value)

    async def until(self, event: str, count: int = 1) -> None:
        """Wait for so many events of a name."""
        async with asyncio.timeout(60):
            while sum(name == event for name, _, _ in self.given) < count:
                await asyncio.sleep(0.01)


P = TypeVar("P", bound=Page)


@asynccontextmanager
async def open_page(
    guest: Guest, room: str, *, after: int = 0, last: str = ""
) -> AsyncIterator[Page]:
    """A page that listens until the block ends; with `last`, one whose stream broke there."""
    path = f"/rooms/{room}/stream?after={after}"
    async with listening(Page(last), guest, path, "scene") as page:
        yield page


@asynccontextmanager
async def listening(page: P, guest: Guest, path: str, first: str) -> AsyncIterator[P]:
    """A page that listens there until the block ends; `first` is the name of what comes first."""
    headers = {"last-event-id": page.last} if page.last else {}
    async with guest.http.stream("GET", path, headers=headers, timeout=None) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream"), answer
        reading = asyncio.ensure_future(page.read(answer))  # noqa: TID251
        try:
            await page.until(first)
            yield page
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)


async def test_a_broken_stream_goes_on_where_it_was(site: Town, owner: Guest) -> None:
    """What was said while a page was cut off is given once when it comes again, in order."""
    room = await site.room(owner)
    seqs: list[int] = []
    last = ""
    for round in range(4):
        async with open_page(owner, room, last=last) as page:
            await owner.says(room, f"seen live {round}")
            while f"seen live {round}" not in page.html():
                await asyncio.sleep(0.01)
        seqs += page.seqs()
        last = page.last
        await owner.says(room, f"said meanwhile {round}")
    async with open_page(owner, room, last=last) as page:
        while "said meanwhile 3" not in page.html():
            await asyncio.sleep(0.01)
    seqs += page.seqs()
    shown = await site.app.front.history(room, limit=500)
    assert seqs == [event.seq for event in shown if seqs[0] <= event.seq <= seqs[-1]]
    assert sum(e.kind == "room.heard" for e in shown) == 8


async def test_a_page_is_told_who_is_at_it_and_sees_drafts_grow(tmp_path: Path) -> None:
    """A typing sign, growing drafts, the line itself, and the end of the sign, in that order."""
    words = "The bridge hums because the wind is bored, and so am I, a little."

    def slow(question: Question) -> ScriptedAnswer:
        return ScriptedAnswer(text=words, pieces=16, pause=1)

    pace = HeldClock()
    async with town(tmp_path, models=ScriptedModels(slow, clock=pace)) as site:
        owner = await site.owner()
        room = await site.room(owner, "Bridge", "maya")
        async with open_page(owner, room) as page:
            await owner.says(room, "@maya why does it hum?")
            pace.let_go(4)
            await page.until("draft")
            async with open_page(owner, room, after=page.seqs()[-1]) as late:
                assert [told["mate"] for told in late.data("thinking")] == ["maya"]
            pace.let_go(2)
            await page.until("draft", len(page.data("draft")) + 1)
            pace.let_go()
            await page.until("rested")
        names = [name for name, _, _ in page.given]
        assert names.index("thinking") < names.index("draft")
        drafts = [told["html"] for told in page.data("draft")]
        assert len(drafts) >= 2
        assert all(len(one) <= len(other) for one, other in pairwise(drafts))
        last = max(n for n, name in enumerate(names) if name == "draft")
        said = max(n for n, (name, _, data) in enumerate(page.given) if "data-mate" in data)
        assert last < said < names.index("rested")
        assert {told["turn"] for told in page.data("draft")} == {
            told["turn"] for told in page.data("thinking")
        }


async def test_a_page_from_after_a_backup_is_told_so(site: Town, owner: Guest) -> None:
    """Who saw lines that the room does not have any more is told at once, and is to begin anew."""
    room = await site.talk(owner, "Tea", "@maya hello")
    head = (await site.events(room))[-1].seq
    async with open_page(owner, room, after=head) as page:
        assert page.data("gone") == []
    path = f"/rooms/{room}/stream?after={head + 1}"
    async with listening(Page(), owner, path, "gone") as page:
        assert page.data("gone") == [{"why": event_stream.REWOUND}]


async def test_a_later_member_hears_nothing_of_before(site: Town, owner: Guest) -> None:
    """The stream of somebody who came later begins with their coming, whatever they ask for."""
    room = await site.talk(owner, "Tea", "@maya the password is swordfish")
    ben = await site.guest("ben", room, by=owner)
    async with open_page(ben, room, last="1") as page:
        await owner.says(room, "hello ben")
        while "hello ben" not in page.html():
            await asyncio.sleep(0.01)
    assert "swordfish" not in page.html()
    cat = await site.guest("cat", room, by=owner, past=True)
    async with open_page(cat, room) as page:
        pass
    assert "swordfish" in page.html()


async def test_who_leaves_hears_no_more(site: Town, owner: Guest) -> None:
    """The stream of somebody who leaves ends with a last word, and says nothing that follows."""
    room = await site.room(owner)
    ben = await site.guest("ben", room, by=owner)
    async with open_page(ben, room) as page:
        await ben.post(f"/rooms/{room}/leave")
        await page.until("gone")
        await owner.says(room, "now that he is gone")
    assert "now that" not in page.html()


async def test_a_silent_stream_gives_signs_of_life(
    site: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While nothing happens comments go out, again and again, and what happens then is given."""
    monkeypatch.setattr(event_stream, "PATIENCE", 0.02)
    owner = await site.owner()
    room = await site.room(owner)
    signs = 0
    async with asyncio.timeout(60), owner.http.stream("GET", f"/rooms/{room}/stream") as answer:
        async for line in answer.aiter_lines():
            if line == ": alive":
                signs += 1
                if signs == 3:
                    await site.heard(room, owner, "here I am")
            if "here I am" in line:
                break
    assert signs >= 3


async def test_a_line_sent_twice_is_heard_once(site: Town, owner: Guest) -> None:
    """A browser that does not know whether its line arrived sends it again; it is one line."""
    room = await site.room(owner)
    first = await owner.says(room, "hello?", source="one")
    second = await owner.says(room, "hello?", source="one")
    assert first == second
    assert [e.kind for e in await site.events(room)].count("room.heard") == 1


async def test_streams_of_a_session_and_of_a_person_are_bounded(
    site: Town, owner: Guest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A session has 100 streams, a person 200 whatever their sessions; one that ends makes room.

    Here it is a tenth of that.
    """
    assert (event_stream.MOST, event_stream.OF_ONE) == (100, 200)
    monkeypatch.setattr(event_stream, "MOST", 10)
    monkeypatch.setattr(event_stream, "OF_ONE", 20)
    room = await site.room(owner)
    one = await site.guest("ben", room, by=owner)
    two, three = await again(site, "ben"), await again(site, "ben")
    async with AsyncExitStack() as others:
        async with AsyncExitStack() as first:
            assert await opened(first, one, room, event_stream.MOST) == {200}
            assert await opened(first, one, room, 1) == {429}
            assert await opened(others, two, room, event_stream.OF_ONE - event_stream.MOST) == {200}
            assert await opened(others, three, room, 1) == {429}
            assert await opened(others, owner, room, 1) == {200}
        async with asyncio.timeout(60):
            while await opened(others, three, room, 1) != {200}:
                await asyncio.sleep(0.05)


async def again(site: Town, name: str) -> Guest:
    """The same person, come in at another device."""
    device = await site.stranger(name)
    answer = await device.post("/sign-in", {"name": name, "password": PASSWORD})
    assert answer.status_code == 200, answer.text
    return device


async def opened(stack: AsyncExitStack, guest: Guest, room: str, count: int) -> set[int]:
    """Open streams that stay open as long as the block; what they were answered with."""
    found = set[int]()
    http = httpx.AsyncClient(
        base_url=guest.http.base_url,
        cookies=guest.http.cookies,
        limits=httpx.Limits(max_connections=None),
        timeout=60,
    )
    await stack.enter_async_context(http)
    for _ in range(count):
        path = f"/rooms/{room}/stream"
        found.add((await stack.enter_async_context(http.stream("GET", path))).status_code)
    return found
