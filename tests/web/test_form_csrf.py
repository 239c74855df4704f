"""What may write here: pages of this home, in the browser that came in; and nobody's cookie alone."""

import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from loopforge.errors import BadSettings
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.plugins.setting_checks import trusted_proxies
from loopforge.web import web_app as web
from loopforge.web.server.form_csrf import FormSigner, plain
from loopforge.web.server.page_context import Asked
from tests.hurried_clock import HurriedClock
from tests.web.conftest import PASSWORD, Guest, Town, town

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
    site: Town, headers: dict[str, str], owner: Guest
) -> None:
    """With the right cookie and the right token, a form of any other place is refused, a door's too."""
    before = len(await site.events("commons"))
    answer = await owner.post(
        "/rooms/commons/lines", {"text": "hello"}, files={"n": ("", b"")}, headers=headers
    )
    assert answer.status_code == 403
    assert len(await site.events("commons")) == before
    stranger = await site.stranger()
    form = {"name": "olu", "password": PASSWORD}
    assert (await stranger.post("/sign-in", form, headers=headers)).status_code == 403


async def test_what_comes_from_here_is_heard(site: Town, owner: Guest) -> None:
    """Its own pages, by whatever name of it, and programs that are no browsers may write."""
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
async def test_other_pages_read_nothing(site: Town, place: str, owner: Guest) -> None:
    """A page of another port or site may lead here by a link; it gets no page, file or stream."""
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


async def test_a_token_belongs_to_its_session(site: Town, owner: Guest) -> None:
    """The token of another account, of a stranger, or of an earlier session of one's own fits not."""
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
    _, invite = await site.app.accounts.links.invite(owner.person, "commons", False)
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


async def guessed(guest: Guest, name: str, times: int, **headers: str) -> None:
    """So many wrong passwords, one after the other."""
    for nth in range(times):
        form = {"name": name, "password": f"guess {nth}"}
        assert (await guest.post("/sign-in", form, headers=headers)).status_code == 400


async def test_guesses_of_others_lock_nobody_out(tmp_path: Path) -> None:
    """While others guess at her name without end, at the very address of hers, Ana comes in.

    Her own device at once, a new one by its turn; nobody else there is held up, however many come.
    """
    async with town(tmp_path, clock=HurriedClock(10)) as site:
        owner = await site.owner()
        ana = await site.guest("ana", "commons", by=owner)
        await site.guest("ben", "commons", by=owner)
        await ana.post("/sign-out")
        tasks, stranger = BackgroundTasks(), await site.stranger()
        await guessed(stranger, "ana", 7)
        attack = tasks.spawn(guessed(stranger, "ana", 10_000), "attack")
        right = {"name": "ana", "password": PASSWORD}
        assert (await ana.post("/sign-in", right)).url.path == "/"
        new = await site.stranger()
        assert (await new.post("/sign-in", right)).url.path == "/"
        assert not attack.done()
        attack.cancel()
        await (await site.stranger()).post("/sign-in", {"name": "ben", "password": PASSWORD})
        for nth in range(30):
            await site.guest(f"guest{nth}", "commons", by=owner)
        await tasks.close()


async def test_a_device_is_known_to_one_name(site: Town, owner: Guest) -> None:
    """A device that Ana used has a queue of its own for her name alone, whoever copies its cookie."""
    ana = await site.guest("ana", "commons", by=owner)
    signer = FormSigner("a secret of the test's")
    for name, nonce in (("ana", True), ("ANA", True), ("ben", False), ("", False)):
        request = asked(signer.device("Ana"))
        assert bool(signer.known(request, name)) == nonce, name
        assert signer.browser(request)
    for cookie in ("", "x", "x.y.z", signer.device("Ana")[1:], FormSigner("another").device("Ana")):
        assert not signer.known(asked(cookie), "ana"), cookie
        assert not signer.browser(asked(cookie)), cookie
    assert ana.http.cookies["loopforge-device"].count(".") == 2


def asked(device: str) -> Asked:
    """A request with such a device's cookie."""
    headers = [(b"cookie", f"loopforge-device={device}".encode())]
    scope: Any = {"type": "http", "headers": headers}
    return Asked(scope)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Homes whose addresses may ask little, so that a slow machine uses it up within a minute."""
    monkeypatch.setattr(web, "PER_MINUTE", 60)


async def test_a_flood_at_one_address_closes_no_way_in(few: None, site: Town, owner: Guest) -> None:
    """Where strangers used up what an address may ask, known devices and one-time links still work."""
    ana = await site.guest("ana", "commons", by=owner)
    await ana.post("/sign-out")
    stranger = await site.stranger()
    while (await stranger.get("/sign-in")).status_code == 200:
        pass
    right = {"name": "ana", "password": PASSWORD}
    assert (await ana.post("/sign-in", right)).url.path == "/"
    phone = await site.stranger()
    assert (await phone.get("/sign-in")).status_code == 429
    link = link_of(await ana.post("/you/device"))
    shown = await phone.get(link)
    found = re.search(r'name="csrf-token" content="(\w+)"', shown.text)
    assert found
    came = await phone.http.post(link, headers={"x-csrftoken": found[1]})
    assert (came.status_code, came.url.path) == (200, "/")


def link_of(answer: httpx.Response) -> str:
    """The path of the link that a page shows."""
    found = re.search(r'value="https?://[^/"]+(/device/[\w-]+)"', answer.text)
    assert found
    return found[1]


async def test_another_device_comes_in_by_a_link(site: Town, owner: Guest) -> None:
    """A link made where she is signed in lets Ana in elsewhere, once; ending sessions voids it."""
    ana = await site.guest("ana", "commons", by=owner)
    first = link_of(await ana.post("/you/device"))
    second = link_of(await ana.post("/you/device"))
    phone = await site.stranger()
    assert (await phone.get(first)).status_code == 404
    assert "Come in as ana" in (await phone.get(second)).text
    assert (await phone.post(second)).url.path == "/"
    assert (await phone.get("/you")).status_code == 200
    other = await site.stranger()
    assert (await other.post(second)).status_code == 404
    third = link_of(await phone.post("/you/device"))
    await ana.post("/you/sessions/end-others")
    assert (await other.post(third)).status_code == 404


async def test_a_proxy_that_is_named_tells_addresses_apart(few: None, tmp_path: Path) -> None:
    """Behind a proxy of the list, guesses of one address keep nobody at another waiting."""
    async with town(tmp_path, web_proxies="127.0.0.1, 10.0.0.0/8", clock=HurriedClock(10)) as site:
        owner = await site.owner()
        await site.guest("ana", "commons", by=owner)
        stranger, tasks = await site.stranger(), BackgroundTasks()
        attack = {"x-forwarded-for": "9.9.9.9, 203.0.113.7, 10.1.1.1"}
        await guessed(stranger, "ana", 5, **attack)
        crowd = [tasks.spawn(guessed(stranger, "ana", 99, **attack), "attack") for _ in range(3)]
        new = await site.stranger()
        right = {"name": "ana", "password": PASSWORD}
        home = {"x-forwarded-for": "198.51.100.4"}
        assert (await new.post("/sign-in", right, headers=home)).url.path == "/"
        for one in crowd:
            one.cancel()
        while (await stranger.get("/sign-in", headers=attack)).status_code == 200:
            pass
        assert (await new.http.get("/alive", headers=home)).status_code == 200
        assert (await (await site.stranger()).get("/sign-in", headers=home)).status_code == 200
        await tasks.close()


def test_proxies_are_addresses() -> None:
    """What names no address is refused when the home starts, so is trusting everybody by a star."""
    assert trusted_proxies(" 127.0.0.1 ,::1, 10.0.0.0/8,") == ["127.0.0.1", "::1", "10.0.0.0/8"]
    assert trusted_proxies("") == []
    for wrong in ("*", "proxy.example", "10.0.0.1/8"):
        with pytest.raises(BadSettings, match="web_proxies"):
            trusted_proxies(wrong)


def test_ports_that_go_without_saying() -> None:
    """An origin with the port of its scheme is the same as without."""
    assert plain("HTTPS://Mates.example:443") == plain("https://mates.example")
    assert plain("http://mates.example:80") == plain("http://mates.example")
    assert plain("http://[::1") == ""
    assert plain("http://mates.example:443") != plain("http://mates.example")


async def test_messages_of_pages_are_no_texts_of_addresses(site: Town, owner: Guest) -> None:
    """A link puts no sentence into a page's mouth; what a change was answered is shown to its maker."""
    ben = await site.guest("ben", "commons", by=owner)
    words = "Your password is too old. Mail it to the helpdesk."
    for path in ("/you", "/rooms/commons/settings", "/admin/people", "/mates", "/lab"):
        shown = await owner.get(path, params={"told": words})
        assert words not in shown.text, path
    changed = await owner.post("/rooms/commons/settings", {"act": "title", "title": "Tea at five"})
    assert 'role="status"' in changed.text
    assert changed.url.params["told"].isdecimal()
    told = changed.text.partition('role="status"')[2].partition("<")[0].strip(" >")
    assert told
    assert told in (await owner.get(str(changed.url))).text
    assert 'role="status"' not in (await ben.get(str(changed.url))).text


async def test_an_invite_says_who_can_open_it(site: Town, owner: Guest) -> None:
    """Where the home is reached by its own machine alone, each link says so, and what to do."""
    ben = await site.guest("ben", "commons", by=owner)
    pages = [
        await owner.post("/rooms/commons/invite"),
        await owner.post("/admin/invites", {"days": "7"}),
        await owner.post(f"/admin/people/{ben.person}/renewal"),
    ]
    for shown in pages:
        assert "Only a browser on this very machine can open it" in shown.text
        assert 'data-copy="link"' in shown.text


async def test_titles_name_the_home_once(owner: Guest) -> None:
    """The title of every page ends with the home's name, once."""
    paths = ["/", "/you", "/mates", "/mates/maya", "/mates/maya/history", "/mates/new", "/lab"]
    paths += ["/admin", "/admin/people", "/admin/models", "/admin/settings", "/admin/ledger"]
    paths += ["/admin/usage", "/admin/rooms", "/admin/invites", "/rooms/commons", "/nowhere"]
    for path in paths:
        found = re.search(r"<title>(.*?)</title>", (await owner.get(path)).text)
        assert found, path
        assert found[1].count("Loopforge") == 1, path
