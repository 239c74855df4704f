"""What somebody may try by hand: floods, crooked addresses and forms, names that are code."""

import asyncio
import dataclasses
import re
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import httpx
import pytest

from loopforge.host import site_of
from loopforge.web.account.account_pages import inside
from loopforge.web.room.event_stream import MOST
from loopforge.web.server.request_limits import RequestPace, TooFast
from loopforge.web.web_app import make_app
from tests.rooms.conftest import START
from tests.sim_clock import SimClock
from tests.web.conftest import PASSWORD, Guest, Town, town

JSON = {"accept": "application/json"}


@pytest.fixture
async def either(ledger_url: str, tmp_path: Path) -> AsyncIterator[Town]:
    """The home on SQLite, then on PostgreSQL."""
    async with town(tmp_path, database_url=ledger_url) as made:
        yield made


# ---------------------------------------------------------------- floods


def test_a_pace_lets_through_what_it_says() -> None:
    """So much at once, then as it comes back; one person's haste is no other's."""
    clock = SimClock(START)
    pace = RequestPace(clock, 3, 0.5, "Too much.")
    for _ in range(3):
        pace.take("ana")
    with pytest.raises(TooFast, match=r"Too much\. Wait 2 seconds") as refused:
        pace.take("ana")
    assert refused.value.seconds == 2
    pace.take("ben", 3)


async def test_a_room_cannot_be_flooded(site: Town, owner: Guest) -> None:
    """Of hundreds of lines at once a few dozen are heard; the rest is put off, and stop still works."""
    room = await site.room(owner, "Tea")
    ben = await site.guest("ben", room, by=owner)

    async def say(number: int) -> int:
        form, files = {"text": f"line {number}"}, {"n": ("", b"")}
        answer = await ben.post(f"/rooms/{room}/lines", form, files=files, headers=JSON)
        if answer.status_code == 429:
            assert "error" in answer.json()
        return answer.status_code

    statuses: Counter[int] = Counter()
    for start in range(0, 250, 50):
        statuses.update(await asyncio.gather(*(say(n) for n in range(start, start + 50))))
    assert set(statuses) == {200, 429}
    heard = [e for e in await site.events(room) if e.kind == "room.heard"]
    assert 60 <= len(heard) == statuses[200] < 200
    assert (await ben.post(f"/rooms/{room}/stop", headers=JSON)).status_code == 200
    assert (await owner.says(room, "and I?"))["seq"]


async def test_rooms_links_and_codes_are_paced_wherever_they_are_made(
    site: Town, owner: Guest
) -> None:
    """Trying out a mate opens a room, a device gets a link, an account a code: changes, all of them."""
    ben = await site.guest("ben", await site.room(owner, "Tea"), by=owner)

    async def hasty(path: str, times: int) -> Counter[str]:
        answers = await asyncio.gather(*(ben.post(path, headers=JSON) for _ in range(times)))
        return Counter(str(one.json()["error"]) for one in answers if one.status_code == 429)

    await hasty("/you/memory", 70)
    for path in ("/mates/maya/try", "/you/device", "/you/code"):
        told = await hasty(path, 20)
        assert any(each.startswith("You change a great deal at once") for each in told), path


async def test_made_up_cookies_do_not_count_anew(site: Town) -> None:
    """A stranger who makes up a session for each request is still one address."""
    stranger = await site.stranger()
    left = []
    for number in range(3):
        cookies = {"cookie": f"loopforge=made-up-{number:010}-and-long-enough"}
        answer = await stranger.get("/", headers=cookies)
        left.append(int(answer.headers["ratelimit-remaining"]))
    assert left == [left[0], left[0] - 1, left[0] - 2]


async def test_streams_that_come_at_once_are_counted_too(site: Town, owner: Guest) -> None:
    """Of twice as many at one moment just as many are let in; when they go, others may come."""
    host, _, port = site.address.removeprefix("http://").partition(":")
    ask = (
        f"GET /rooms/commons/stream HTTP/1.1\r\nHost: {host}:{port}\r\n"
        f"Cookie: loopforge={owner.http.cookies['loopforge']}\r\n\r\n"
    )

    async def open_one() -> tuple[bytes, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(ask.encode())
        return (await reader.readline()).split()[1], writer

    found = await asyncio.gather(*(open_one() for _ in range(2 * MOST)))
    assert Counter(status for status, _ in found) == {b"200": MOST, b"429": MOST}
    for _, writer in found:
        writer.close()
    status = b""
    while status != b"200":  # until the home has noticed that they went
        status, writer = await open_one()
        writer.close()


# ---------------------------------------------------------------- forms and bodies


async def send(site: Town, head: str) -> bytes:
    """The status of the answer to a request whose body never comes."""
    host, _, port = site.address.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(head.replace("HOST", f"{host}:{port}").encode())
    async with asyncio.timeout(60):
        status = (await reader.readline()).split()[1]
    writer.close()
    return status


async def test_nothing_is_read_behind_a_body_that_says_two_lengths(site: Town) -> None:
    """What a proxy takes for a body must be no second request here: the connection is closed."""
    host, _, port = site.address.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(
        f"POST /sign-in HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Length: 6\r\n"
        "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        f"GET /alive HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n".encode()
    )
    async with asyncio.timeout(60):
        answer = await reader.read()
    writer.close()
    assert answer.count(b"HTTP/1.1 ") == 1
    assert b'"alive"' not in answer


async def test_strangers_are_turned_away_before_their_body_is_read(site: Town) -> None:
    """A large form of somebody who is not signed in is refused at its head; so is a large name."""
    stranger = await site.stranger()
    await stranger.get("/sign-in")
    token, door = await stranger.token(), stranger.http.cookies["loopforge-door"]
    head = (
        "POST {} HTTP/1.1\r\nHost: HOST\r\nAccept: application/json\r\n"
        f"Cookie: loopforge-door={door}\r\n{{}}"
        "Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 9000000\r\n\r\n"
    )
    for extra in ("", f"x-csrftoken: {token}\r\n"):
        assert await send(site, head.format("/rooms/commons/lines", extra)) == b"401"
        assert await send(site, head.format("/sign-in", extra)) == b"413"


async def test_no_form_is_read_where_files_of_any_size_come(site: Town, owner: Guest) -> None:
    """A model's file goes with its token in the head: a form without end is refused at once."""
    guest = await site.guest("ana", by=owner)
    session = guest.http.cookies["loopforge"]
    head = (
        "POST /admin/models/files/upload HTTP/1.1\r\nHost: HOST\r\nAccept: application/json\r\n"
        f"Cookie: loopforge={session}\r\nContent-Type: application/x-www-form-urlencoded\r\n"
        "Content-Length: 900000000\r\n\r\n"
    )
    assert await send(site, head) == b"403"


async def test_what_is_too_much_together_is_refused_early(tmp_path: Path) -> None:
    """Files beyond the limit of a line are refused by their announced size, and none is kept."""
    async with town(tmp_path, upload_limit_bytes=400_000) as site:
        owner = await site.owner()
        room = await site.room(owner)
        files = [("files", (f"{n}.txt", b"x" * 390_000)) for n in range(8)]
        for headers in (JSON, {}):
            answer = await owner.post(f"/rooms/{room}/lines", files=files, headers=headers)
            assert answer.status_code == 413
            assert "too large" in answer.text
        assert await site.app.artifacts.hashes() == []


async def test_files_of_a_refused_line_are_let_go(site: Town, owner: Guest) -> None:
    """When the line is refused, or was heard before, the bytes are swept and not kept for ever."""
    room = await site.room(owner)

    async def give(text: str, data: bytes, source: str = "") -> int:
        answer = await owner.post(
            f"/rooms/{room}/lines",
            {"text": text, "source": source},
            files=[("files", ("a.txt", data))],
            headers=JSON,
        )
        return answer.status_code

    assert await give("x" * 9000, b"of a line that is too long") == 400
    assert await give("once", b"kept", "one") == 200
    assert await give("once", b"kept", "one") == 200
    assert await give("once", b"other bytes, same source", "one") == 200
    assert site.app.artifacts.young() == frozenset()
    await site.app.keeper.sweep()
    (left,) = await site.app.artifacts.hashes()
    assert await site.app.artifacts.get(left) == b"kept"


CROOKED = (
    "\0",
    "é" * 70,
    "\udc80",
    "'; DROP TABLE events; --",
    "../../x",
    "\r\nSet-Cookie: a=b",
    "",
)


async def test_crooked_forms_and_addresses_break_nothing(either: Town) -> None:
    """Whatever stands in an address, a field or a token, no answer is a broken one."""
    owner = await either.owner()
    room = await either.room(owner, "Tea", "maya")
    line = (await owner.says(room, "hello"))["id"]
    addresses = ["/rooms/%00", f"/rooms/{room}/why/%00", f"/rooms/{room}/files/%00/0", "/join/%00"]
    addresses += [
        f"/rooms/{room}/search?words=%00",
        "/admin/ledger?stream=%00&kind=%00",
        "/mates/%00",
    ]
    addresses += ["/admin/people/%00/close", "/rooms/%ff", "/rooms/..%2f..", "/static/..%2fapp.py"]
    addresses += [f"/rooms/{room}/stream?after=99999999999999999999", f"/rooms/{room}?at=-1"]
    addresses += [f"/rooms/{room}/files/{line}/99999999999999999999", f"/rooms/{'x' * 3000}"]
    for path in addresses:
        assert (await owner.get(path)).status_code in (200, 400, 404), path
    forms = {
        f"/rooms/{room}/mark": ("line", "mark"),
        f"/rooms/{room}/settings": ("act", "mate", "title", "capacity", "policy"),
        f"/rooms/{room}/seen": ("seq",),
        f"/rooms/{room}/invite": ("past",),
        "/rooms": ("title", "mates"),
        "/sign-in": ("name", "password", "next"),
        "/admin/invites": ("room", "days"),
        "/you/password": ("old", "new"),
        "/mates/retired": ("file",),
    }
    for path, names in forms.items():
        for value in CROOKED:
            form = {name: value.encode("utf-8", "surrogatepass") for name in names}
            status = (await owner.post(path, form)).status_code
            assert status < 500, (path, value, status)
    for value in CROOKED:
        form = {
            name: value.encode("utf-8", "surrogatepass") for name in ("text", "reply_to", "source")
        }
        answer = await owner.post(f"/rooms/{room}/lines", form, files={"n": ("", b"")})
        assert answer.status_code < 500, value
        token = {"_csrf_token": value.encode("utf-8", "surrogatepass")}
        assert (await owner.http.post(f"/rooms/{room}/stop", data=token)).status_code == 403


# ---------------------------------------------------------------- headers, redirects, cookies


async def test_links_tell_no_other_page_of_themselves(site: Town, owner: Guest) -> None:
    """One-time links are no referrer, nothing here is for search engines, and nothing is kept."""
    for path in ("/enter/x", "/join/x", "/renew/x", "/device/x", "/sign-in?next=/join/x"):
        answer = await (await site.stranger()).get(path)
        assert answer.headers.get_list("referrer-policy") == ["strict-origin"]
    for path in ("/", "/rooms/commons", "/nowhere", "/alive", "/static/style.css"):
        answer = await owner.get(path)
        assert "noindex" in answer.headers["x-robots-tag"]
        assert answer.headers["x-frame-options"] == "DENY"
    assert (await owner.get("/rooms/commons")).headers["cache-control"] == "no-store"


async def test_cookies_are_kept_from_scripts(tmp_path: Path) -> None:
    """The session's cookie is HttpOnly and SameSite, and Secure where the address is https."""
    async with town(tmp_path) as site:
        for address, secure in ((site.address, False), ("https://127.0.0.1", True)):
            made = dataclasses.replace(site_of(site.app, site.address), address=address)
            app = make_app(made, "x" * 32, frozenset({"127.0.0.1"}))
            transport = httpx.ASGITransport(app=cast("Any", app))
            async with httpx.AsyncClient(transport=transport, base_url="https://127.0.0.1") as http:
                token = await site.app.accounts.links.offer()
                shown = await http.get("/sign-in")
                assert ("secure" in shown.headers["set-cookie"].lower()) == secure
                assert "httponly" in shown.headers["set-cookie"].lower()
                proof = re.search(r'name="csrf-token" content="(\w+)"', shown.text)
                assert proof is not None
                answer = await http.post(
                    f"/enter/{token}",
                    data={"name": "olu"},
                    headers={"x-csrftoken": proof[1]},
                )
            given = [one.lower() for one in answer.headers.get_list("set-cookie")]
            assert [one.split("=")[0] for one in given] == ["loopforge", "loopforge-device"]
            for cookie in given:
                assert "httponly" in cookie
                assert "samesite=lax" in cookie
                assert ("secure" in cookie) == secure


@pytest.mark.parametrize(
    "to",
    [
        "//evil.example",
        "/\\evil.example",
        "https://evil.example",
        "javascript:alert(1)",
        "/a\r\nb",
        "",
        "/\t/evil.example",
        "/" + "x" * 400,
    ],
)
def test_nobody_is_sent_elsewhere(to: str) -> None:
    """What is asked for after signing in is a path of this site, or it is the beginning."""
    assert inside(to) == "/"


async def test_names_and_files_that_are_code_are_text(site: Town, owner: Guest) -> None:
    """A name, a title or a file's name never opens a tag or a header, wherever it is shown."""
    code = "<img src=x onerror=alert(1)>\"'&"
    room = await site.room(owner, code, "maya")
    _, token = await site.app.accounts.links.invite(owner.person, room, True)
    ben = await site.stranger("ben")
    refused = await ben.post(f"/join/{token}", {"name": code, "password": PASSWORD})
    assert refused.status_code == 400
    await ben.post(f"/join/{token}", {"name": "ben", "password": PASSWORD})
    name = 'x\r\nSet-Cookie: a=b"; <svg onload=1>.svg'
    svg = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"
    for data in (
        svg,
        b"<!doctype html><script>alert(1)</script>",
        b"GIF89a<script>alert(1)</script>",
    ):
        await owner.post(
            f"/rooms/{room}/lines", {"text": code}, files=[("files", (name, data, "image/svg+xml"))]
        )
    pages = [f"/rooms/{room}", f"/rooms/{room}/settings", "/", "/admin/rooms", "/admin/ledger"]
    pages += [f"/rooms/{room}/search?words=alert", f"/rooms/{room}/delete"]
    for path in pages:
        assert not re.search(r"<(img src=x|svg onload|script>)", (await owner.get(path)).text), path
    for event in await site.events(room):
        if event.kind != "room.heard":
            continue
        answer = await ben.get(f"/rooms/{room}/files/{event.id}/0")
        assert "svg" not in answer.headers["content-type"]
        assert "html" not in answer.headers["content-type"]
        assert "a" not in answer.cookies
        assert "sandbox" in answer.headers["content-security-policy"]
        assert answer.headers["cache-control"] == "no-store"


async def test_a_stranger_is_not_told_who_lives_here(site: Town) -> None:
    """The stylesheet of the mates' colours names nobody to those who are not signed in."""
    stranger: Guest = await site.stranger()
    assert (await stranger.get("/look.css")).text == ""
    assert ".mate-maya" in (await (await site.owner()).get("/look.css")).text
