"""What may write here: pages of this home, in the browser that came in; and nobody's cookie alone."""

from __future__ import annotations

import re

import httpx
import pytest

from loopforge.web.forms import Signer, plain
from loopforge.web.look import alone, reach_of
from tests.web.conftest import PASSWORD, Guest, Town

ELSEWHERE: list[dict[str, str]] = [
    {"origin": "http://evil.example"},
    {"origin": "http://127.0.0.1:9"},
    {"origin": "https://127.0.0.1"},
    {"origin": "null"},
    {"origin": "null", "sec-fetch-site": "cross-site"},
    {"origin": "http://evil.example", "sec-fetch-site": "cross-site"},
    {"origin": "http://evil.example", "sec-fetch-site": "same-origin"},
    {"sec-fetch-site": "same-site"},
    {"sec-fetch-site": "same-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"},
    {"sec-fetch-site": "anything"},
]


@pytest.mark.parametrize("headers", ELSEWHERE, ids=str)
async def test_what_comes_from_elsewhere_changes_nothing(
    site: Town, headers: dict[str, str]
) -> None:
    """With the right cookie and the right token, a form of any other place is refused, a door's too."""
    owner = await site.owner()
    before = len(await site.events("commons"))
    answer = await owner.post(
        "/rooms/commons/lines", {"text": "hello"}, files={"n": ("", b"")}, headers=headers
    )
    assert answer.status_code == 403
    assert len(await site.events("commons")) == before
    stranger = await site.stranger()
    form = {"name": "olu", "password": PASSWORD}
    assert (await stranger.post("/sign-in", form, headers=headers)).status_code == 403


async def test_what_comes_from_here_is_heard(site: Town) -> None:
    """Its own pages, by whatever name of it, and programs that are no browsers may write."""
    owner = await site.owner()
    for headers in (
        {},
        {"origin": site.address},
        {"origin": site.address, "sec-fetch-site": "same-origin"},
        {"origin": "null", "sec-fetch-site": "same-origin"},
        {"sec-fetch-site": "none"},
    ):
        answer = await owner.post(
            "/rooms/commons/lines", {"text": "hello"}, files={"n": ("", b"")}, headers=headers
        )
        assert answer.status_code == 200, headers


@pytest.mark.parametrize("place", ["same-site", "cross-site"])
async def test_other_pages_read_nothing(site: Town, place: str) -> None:
    """A page of another port or site may lead here by a link; it gets no page, file or stream."""
    owner = await site.owner()
    for path in ("/rooms/commons", "/rooms/commons/stream", "/static/room.js", "/"):
        for mode, kind in (
            ("no-cors", "image"),
            ("cors", "empty"),
            ("navigate", "iframe"),
            ("no-cors", "script"),
        ):
            headers = {"sec-fetch-site": place, "sec-fetch-mode": mode, "sec-fetch-dest": kind}
            assert (await owner.get(path, headers=headers)).status_code == 403, (path, mode)
    headers = {"sec-fetch-site": place, "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    assert (await owner.get("/rooms/commons", headers=headers)).status_code == 200
    assert (await owner.get("/rooms/commons", headers={"origin": "null"})).status_code == 403


async def test_a_token_belongs_to_its_session(site: Town) -> None:
    """The token of another account, of a stranger, or of an earlier session of one's own fits not."""
    owner = await site.owner()
    ben = await site.guest("ben", "commons", by=owner)
    stranger = await site.stranger()
    first = await ben.token()
    ben.http.cookies.delete("loopforge")
    await ben.post("/sign-in", {"name": "ben", "password": PASSWORD})
    assert first != await ben.token()
    for token in (await owner.token(), await stranger.token(), first, "", "x", "é", "." * 64):
        answer = await ben.http.post("/rooms/commons/stop", data={"_csrf_token": token})
        assert answer.status_code == 403, token
    assert "csrftoken" not in ben.http.cookies


async def with_key(site: Town, key: str) -> Guest:
    """Ben, who came in by a browser that keeps this key."""
    owner = await site.owner()
    guest = await site.stranger("ben")
    _, invite = await site.app.accounts.invite(owner.person, "commons", False)
    headers = {"x-csrftoken": f"{await guest.token()}.{key}"}
    form = {"name": "ben", "password": PASSWORD}
    assert (await guest.http.post(f"/join/{invite}", data=form, headers=headers)).is_success
    return guest


async def test_a_copied_cookie_alone_writes_nothing(site: Town) -> None:
    """Who has a session's cookie, and the token that its pages show, still lacks the browser's key."""
    ben = await with_key(site, "a key of Ben's browser")
    token = await ben.token()
    async with httpx.AsyncClient(base_url=site.address, cookies=dict(ben.http.cookies)) as thief:
        shown = (await thief.get("/rooms/commons")).text
        assert f'content="{token}"' in shown
        cookie = ben.http.cookies["loopforge"]
        for proof in (token, f"{token}.", f"{token}.guess", f"{token}.{cookie.partition('.')[2]}"):
            for form in ({"_csrf_token": proof}, {}):
                headers = {"origin": site.address, **({} if form else {"x-csrftoken": proof})}
                answer = await thief.post("/rooms/commons/stop", data=form, headers=headers)
                assert answer.status_code == 403, proof
        assert "Sign out" in answer.text
        for other in (cookie.partition(".")[0], f"{cookie.partition('.')[0]}.x"):
            async with httpx.AsyncClient(
                base_url=site.address, cookies={"loopforge": other}
            ) as bare:
                assert (await bare.get("/rooms/commons")).status_code == 401
    headers = {"x-csrftoken": f"{token}.a key of Ben's browser"}
    assert (await ben.http.post("/rooms/commons/stop", headers=headers)).status_code == 200
    assert (await ben.post("/sign-out")).url.path == "/sign-in"  # who lost the key can still go


async def test_guesses_of_others_lock_nobody_out(site: Town) -> None:
    """After a hundred wrong passwords at one address, a device that knows her lets Ana in at once.

    Nor is anybody else at that address held up, however many come in.
    """
    owner = await site.owner()
    ana = await site.guest("ana", "commons", by=owner)
    await site.guest("ben", "commons", by=owner)
    await ana.post("/sign-out")
    stranger = await site.stranger()
    for nth in range(100):
        guess = {"name": "ana", "password": f"guess {nth}"}
        assert (await stranger.post("/sign-in", guess)).status_code == 400
    right = {"name": "ana", "password": PASSWORD}
    assert "Wait" in (await stranger.post("/sign-in", right)).text
    assert (await ana.post("/sign-in", right)).url.path == "/"
    await (await site.stranger()).post("/sign-in", {"name": "ben", "password": PASSWORD})
    for nth in range(30):
        await site.guest(f"guest{nth}", "commons", by=owner)


async def test_a_device_is_known_to_one_name(site: Town) -> None:
    """A device that Ana used is tried apart for her name alone, and is locked for itself."""
    owner = await site.owner()
    ana = await site.guest("ana", "commons", by=owner)
    await site.guest("ben", "commons", by=owner)
    await ana.post("/sign-out")
    stranger = await site.stranger()
    for nth in range(6):
        await stranger.post("/sign-in", {"name": "ben", "password": f"guess {nth}"})
    assert "Wait" in (await ana.post("/sign-in", {"name": "ben", "password": PASSWORD})).text
    for nth in range(5):
        await ana.post("/sign-in", {"name": "ana", "password": f"guess {nth}"})
    assert "Wait" in (await ana.post("/sign-in", {"name": "ana", "password": PASSWORD})).text
    assert (await stranger.post("/sign-in", {"name": "ana", "password": PASSWORD})).is_success
    forged = re.sub(r".$", "~", ana.http.cookies["loopforge-device"])
    assert not forged.endswith(Signer("").device("ana")[-8:])


def test_ports_that_go_without_saying() -> None:
    """An origin with the port of its scheme is the same as without."""
    assert plain("HTTPS://Mates.example:443") == plain("https://mates.example")
    assert plain("http://mates.example:80") == plain("http://mates.example")
    assert plain("http://[::1") == ""
    assert plain("http://mates.example:443") != plain("http://mates.example")


async def test_messages_of_pages_are_no_texts_of_addresses(site: Town) -> None:
    """A link puts no sentence into a page's mouth; what a change was answered is shown to its maker."""
    owner = await site.owner()
    ben = await site.guest("ben", "commons", by=owner)
    words = "Your password is too old. Mail it to the helpdesk."
    for path in ("/you", "/rooms/commons/settings", "/house/people", "/mates", "/lab"):
        shown = await owner.get(path, params={"told": words})
        assert words not in shown.text, path
    changed = await owner.post("/rooms/commons/settings", {"act": "title", "title": "Tea at five"})
    assert 'role="status"' in changed.text
    assert changed.url.params["told"].isdecimal()
    told = changed.text.partition('role="status"')[2].partition("<")[0].strip(" >")
    assert told
    assert told in (await owner.get(str(changed.url))).text
    assert 'role="status"' not in (await ben.get(str(changed.url))).text


async def test_an_invite_says_who_can_open_it(site: Town) -> None:
    """Where the home is reached by its own machine alone, each link says so, and what to do."""
    owner = await site.owner()
    ben = await site.guest("ben", "commons", by=owner)
    pages = [
        await owner.post("/rooms/commons/invite"),
        await owner.post("/house/invites", {"days": "7"}),
        await owner.post(f"/house/people/{ben.person}/renewal"),
    ]
    for shown in pages:
        assert "Only a browser on this very machine can open it" in shown.text
        assert 'data-copy="link"' in shown.text
    assert reach_of("https://mates.example.org").startswith("Whoever can reach mates.example.org")
    assert [alone(f"http://{host}:1") for host in ("localhost", "[::1]", "a.localhost")] == [
        True
    ] * 3
    assert not alone("http://192.168.1.5:8321")


async def test_titles_name_the_home_once(site: Town) -> None:
    """The title of every page ends with the home's name, once."""
    owner = await site.owner()
    paths = ["/", "/you", "/mates", "/mates/maya", "/mates/maya/history", "/mates/new", "/lab"]
    paths += ["/house", "/house/people", "/house/models", "/house/settings", "/house/ledger"]
    paths += ["/house/usage", "/house/rooms", "/house/invites", "/rooms/commons", "/nowhere"]
    for path in paths:
        found = re.search(r"<title>(.*?)</title>", (await owner.get(path)).text)
        assert found, path
        assert found[1].count("Loopforge") == 1, path
