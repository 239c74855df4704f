"""Every route, walked by those who should not get in."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from litestar import Litestar
from litestar.handlers import HTTPRouteHandler

from loopforge.host import site_of
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.web import web_app as web
from loopforge.web.web_app import make_app
from tests.web.conftest import Guest, Town, town, words

PUBLIC = {
    ("GET", "/alive"),
    ("GET", "/favicon.ico"),
    ("GET", "/look.css"),
    ("GET", "/metrics"),
    ("GET", "/ready"),
    ("GET", "/sign-in"),
    ("POST", "/sign-in"),
    ("GET", "/enter/{token}"),
    ("POST", "/enter/{token}"),
    ("GET", "/join/{token}"),
    ("POST", "/join/{token}"),
    ("GET", "/renew/{token}"),
    ("POST", "/renew/{token}"),
    ("GET", "/device/{token}"),
    ("POST", "/device/{token}"),
    ("GET", "/static/{file_path}"),
}
"""What somebody may ask for who is not signed in."""

Route = tuple[str, str]


def routes(app: Litestar) -> Iterator[Route]:
    """Every route: its method and its path, with {names}."""
    for route in app.routes:
        for handler in getattr(route, "route_handlers", ()):
            if isinstance(handler, HTTPRouteHandler):
                path = re.sub(r"\{(\w+):\w+\}", r"{\1}", route.path_format or route.path)
                for method in handler.http_methods - {"OPTIONS", "HEAD"}:
                    yield str(method), re.sub(r"\{(\w+):\w+\}", r"{\1}", path)


@pytest.fixture
def every(site: Town) -> list[Route]:
    """All routes of the site."""
    app = make_app(site_of(site.app, site.address), "x" * 32, frozenset({"127.0.0.1"}))
    return sorted(set(routes(app)))


def filled(path: str, room: str, event: str) -> str:
    """The path with real values in place of names."""
    values = {"room": room, "event": event, "nth": "0", "handle": "maya", "token": "nothing"}
    values |= {"session": "none", "person": "none", "invite": "none", "hash": "0" * 16}
    values |= {"file_path": "style.css", "file": "maya.md", "name": "embedded", "number": "1"}
    path = re.sub(r"\{(\w+)\}", lambda found: values.get(found[1], "none"), path)
    return f"{path}?seq=9" if path.endswith("/before") else path


async def ask(guest: Guest, route: Route, room: str, event: str) -> int:
    """The status of an answer; redirects are not followed, and streams not read."""
    method, path = route
    path = filled(path, room, event)
    if method == "GET":
        async with guest.http.stream("GET", path, follow_redirects=False) as answer:
            return answer.status_code
    files = {"files": ("a.txt", b"hello")} if path.endswith("/lines") else None
    form = {"text": "hello", "seq": "1", "line": event, "mark": "keep", "sure": "yes"}
    answer = await guest.post(path, form, files=files, follow_redirects=False)
    return answer.status_code


async def test_a_stranger_gets_nowhere(site: Town, every: list[Route], owner: Guest) -> None:
    """Without a session every route but the public ones is closed: 401, or on to the sign-in page."""
    event = (await owner_room(site, owner))[1]
    stranger = await site.stranger()
    assert len(every) > 40
    open_routes = set()
    for route in every:
        status = await ask(stranger, route, "commons", event)
        if status not in (401, 303):
            open_routes.add(route)
    assert {route for route in open_routes if route not in PUBLIC} == set()


async def test_the_icon_is_where_browsers_look_for_it(site: Town) -> None:
    """What reads no page, and asks for /favicon.ico, is led to the icon."""
    icon = await (await site.stranger()).get("/favicon.ico")
    assert icon.headers["content-type"].startswith("image/svg+xml")


async def owner_room(site: Town, owner: Guest) -> tuple[str, str]:
    """A private room in which a line was said and answered; its slug and the answer's event."""
    room = await site.talk(owner, "Secrets", "@maya the password is swordfish")
    said = [event for event in await site.events(room) if event.kind == "room.said"]
    return room, said[-1].id


@pytest.mark.parametrize("who", ["never a member", "a former member"])
async def test_who_is_not_in_a_room_does_not_find_it(
    site: Town, every: list[Route], who: str, owner: Guest
) -> None:
    """Each route of a room says to others what it says of a room that never was; nothing leaks."""
    room, event = await owner_room(site, owner)
    other = await site.guest("ben", room if who == "a former member" else "", by=owner, past=True)
    if who == "a former member":
        assert (await other.get(f"/rooms/{room}")).status_code == 200
        await other.post(f"/rooms/{room}/leave")
    before = await site.events(room)
    inside = [route for route in every if "{room}" in route[1]]
    assert len(inside) > 15
    for route in inside:
        assert await ask(other, route, room, event) == 404, route
        method, path = route
        if method == "GET":
            answer = await other.get(filled(path, room, event))
            nowhere = await other.get(filled(path, "no-such-room", event))
            assert "swordfish" not in answer.text
            assert answer.text.replace(room, "") == nowhere.text.replace("no-such-room", ""), route
    assert room not in (await other.get("/")).text
    assert await site.events(room) == before


async def test_the_owner_reads_no_room_they_are_not_in(
    site: Town, every: list[Route], owner: Guest
) -> None:
    """Not even the owner's pages show what is said in a room the owner is not a member of."""
    ben = await site.guest("ben", by=owner)
    room, event = await owner_room(site, ben)
    for method, path in every:
        if method != "GET" or path.endswith("/stream"):
            continue
        answer = await owner.get(filled(path, room, event))
        assert "swordfish" not in answer.text, path
        if "{room}" in path:
            assert answer.status_code == 404, path


async def test_what_is_not_there_is_told_of_rooms_where_it_may_be_one(owner: Guest) -> None:
    """An invite is spoken of where a room was asked for, not for a mate, a run or a page."""
    for path, advised in (("/rooms/none", True), ("/mates/none", False), ("/lab/none", False)):
        answer = await owner.get(path)
        assert (answer.status_code, "ask them for an invite" in answer.text) == (404, advised)


async def test_every_answer_is_guarded(site: Town, every: list[Route], owner: Guest) -> None:
    """Each page and each error carries a strict policy, and none asks for inline script or style."""
    room, event = await owner_room(site, owner)
    for method, path in [*every, ("GET", "/nowhere")]:
        if method != "GET" or path.endswith("/stream"):
            continue
        answer = await owner.get(filled(path, room, event))
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy, path
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        if "text/html" in answer.headers.get("content-type", ""):
            assert not re.search(r"<script(?![^>]*\bsrc=)", answer.text), path
            assert not re.search(r"<[^>]+\s(style|on\w+)\s*=", answer.text), path
            assert not re.search(r"(src|href)=\"(https?:)?//", answer.text), path


async def test_it_answers_to_its_own_name_alone(site: Town) -> None:
    """A page of another name that points here (DNS rebinding) is refused."""
    stranger = await site.stranger()
    answer = await stranger.get("/sign-in", headers={"host": "evil.example:80"})
    assert answer.status_code == 421
    assert "LOOPFORGE_WEB_ADDRESS" in answer.text


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1", 200),
        ("LocalHost:8000", 200),
        ("[::1]", 200),
        ("[::1]:8000", 200),
        ("[::2]", 421),
        ("::1", 421),
        ("[::1", 421),
        ("", 421),
    ],
)
async def test_its_name_is_read_with_a_port_or_without(site: Town, host: str, status: int) -> None:
    """An address in brackets is known with a port and without; what is no host is refused."""
    stranger = await site.stranger()
    assert (await stranger.get("/sign-in", headers={"host": host})).status_code == status


async def test_a_session_that_was_ended_is_nobody(site: Town, owner: Guest) -> None:
    """A revoked session gets nowhere from the next request on, and its open stream ends."""
    async with owner.http.stream("GET", "/rooms/commons/stream") as stream:
        lines = stream.aiter_lines()
        async for line in lines:
            if line == "event: hello":
                break
        visitor = await site.app.accounts.decisions.presence.visitor(
            owner.http.cookies["loopforge"]
        )
        assert visitor is not None
        await site.app.accounts.signing.end(visitor.session, owner.person)
        rest = [line async for line in lines]
    assert "event: gone" in rest
    assert (await owner.get("/rooms/commons", follow_redirects=False)).status_code in (401, 303)


async def test_too_many_tries_are_put_off(tmp_path: Path) -> None:
    """Passwords cannot be tried out by the dozen: most are told that nobody looked at them."""
    async with town(tmp_path) as site:
        await site.owner()
        stranger, tasks, told = (
            await site.stranger(),
            BackgroundTasks(),
            asyncio.Queue[httpx.Response](),
        )
        await stranger.token()

        async def guess(nth: int) -> None:
            form = {"name": "olu", "password": f"guess {nth}"}
            told.put_nowait(await stranger.post("/sign-in", form))

        for nth in range(40):
            tasks.spawn(guess(nth), "guess")
        found = [await told.get() for _ in range(30)]
        await tasks.close()
    assert {one.status_code for one in found} == {400}
    assert sum("it was not your turn yet" in one.text for one in found) >= 10


async def test_who_watches_over_the_home_is_not_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever asked for more pages than fit a minute is put off, and still told that it is alive."""
    monkeypatch.setattr(web, "PER_MINUTE", 20)
    async with town(tmp_path) as site:
        stranger = await site.stranger()
        alive = [(await stranger.get("/alive")).status_code for _ in range(40)]
        pages = [(await stranger.get("/sign-in")).status_code for _ in range(25)]
        alive += [(await stranger.get("/alive")).status_code for _ in range(10)]
    assert set(alive) == {200}
    assert pages[0] == 200
    assert pages[-1] == 429


@pytest.mark.parametrize(
    "path", ["/mates/stop", "/mates/stop/versions/stop", "/lab/run/robots/stop"]
)
async def test_no_page_is_free_for_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """Stops of rooms and runs keep a pace of their own; what else is called so counts like all."""
    monkeypatch.setattr(web, "PER_MINUTE", 20)
    async with town(tmp_path) as site:
        stranger = await site.stranger()
        pages = [(await stranger.get(path)).status_code for _ in range(25)]
        stops = (await stranger.post("/rooms/lobby/stop", {})).status_code
    assert pages[-1] == 429
    assert stops != 429


async def test_a_form_of_somebody_signed_out_is_answered_by_a_page(
    site: Town, owner: Guest
) -> None:
    """It says that nothing was kept and where to sign in; who is in is shown a spent link's way on."""
    spent = f"/enter/{await site.app.accounts.links.offer()}"
    await (await site.stranger()).post(spent, {"name": "olu"})
    assert "signed in here as olu" in words(await owner.get(spent))
    await owner.post("/sign-out")
    late = await owner.post("/rooms", {"title": "Tea"}, headers={"accept": "text/html"})
    assert late.status_code == 401
    assert "what you sent was not kept" in words(late)
    assert 'href="/sign-in"' in late.text


async def test_a_form_that_did_not_work_leads_back_to_its_page(site: Town, owner: Guest) -> None:
    """Not to the list of rooms alone; and to no page of another site."""
    form = {"act": "budget", "budget": "two bananas"}
    page = "/rooms/commons/settings"
    for whence, leads in ((site.address, True), ("http://elsewhere.example", False)):
        told = await owner.post(page, form, headers={"referer": f"{whence}{page}#budget"})
        assert told.status_code == 400
        assert (f'href="{page}">Back to the form' in told.text) == leads
