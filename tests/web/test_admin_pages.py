"""The owner's pages: for nobody else, without secrets, and without a word of rooms they are not in."""

import re
from collections.abc import AsyncIterator
from itertools import chain
from pathlib import Path

import httpx
import pytest
from msgspec.structs import replace

from loopforge.chat.room.member_visibility import EVERYTHING
from loopforge.core.room_vocabulary import Told
from loopforge.core.text.erasable_text import Words
from loopforge.models.scripted_model import ScriptedModels
from loopforge.runtime.ports import ModelFacts, Route
from loopforge.settings import settings_rows
from loopforge.web.rendering.live_hub import LiveHub, LiveRenderer, PageListener
from loopforge.web.server.page_templates import template_environment
from loopforge.web.web_app import ADMIN, handlers_of
from tests.web.conftest import Guest, Town, town

KEY = "sk-planted-0123456789"
CAKE = "the cake is in the attic"


def addresses(person: str = "p1", invite: str = "i1") -> list[tuple[str, str]]:
    """Method and address of every page of Admin."""
    return sorted(
        (
            method,
            re.sub(r"{[a-z]+:str}", lambda found: person if "person" in found[0] else invite, path),
        )
        for handler in chain.from_iterable(map(handlers_of, ADMIN))
        for path in handler.paths
        if path.startswith("/admin")
        for method in handler.http_methods
        if method in ("GET", "POST")
    )


async def everything(owner: Guest, person: str) -> dict[str, str]:
    """Every page of the house that can be looked at, as the owner sees it."""
    found = {}
    for method, path in [*addresses(person), ("GET", "/admin/rooms?sizes=true")]:
        if method == "GET":
            answer = await owner.get(path)
            assert answer.status_code == 200, (path, answer.text)
            found[path] = answer.text
    return found


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[Town]:
    """A home with keys of services, and a server whose address holds a password."""
    table = f'[models.own]\nbase_url = "http://bo:{KEY}@127.0.0.1:9/v1"\nid = "x"\n'
    (tmp_path / "loopforge.toml").write_text(table)
    keys = {"OPENROUTER_API_KEY": KEY, "HOUSE_API_KEY": KEY}
    async with town(tmp_path, keys=keys) as made:
        yield made


async def surprise(home: Town, ana: Guest) -> str:
    """A private room of a guest's, in which something was said."""
    room = await home.room(ana, "Planning a surprise", "maya")
    await ana.says(room, CAKE)
    await home.rest(room)
    return room


# ---------------------------------------------------------------- for nobody else


async def test_for_anybody_else_the_house_does_not_exist(site: Town, owner: Guest) -> None:
    """A member gets 404 on every address of it, whatever it does; a stranger has to sign in."""
    ana, nobody = await site.guest("ana", by=owner), await site.stranger()
    before = await site.app.ledger.heads()
    assert len(addresses()) == 38
    for method, path in addresses(ana.person):
        ask = nobody.http.request(method, path, follow_redirects=False)
        if method == "POST":
            assert (await ana.post(path)).status_code == 404, path
            assert (await ask).status_code in (303, 401, 403), path
        else:
            answer = await ana.get(path)
            assert answer.status_code == 404, path
            assert "Nothing here" in answer.text
            assert (await ask).status_code == 401, path
    assert await site.app.ledger.heads() == before
    assert "/admin" not in (await ana.get("/")).text
    assert "/admin" in (await owner.get("/")).text


# ---------------------------------------------------------------- what never shows


async def test_no_key_and_no_token_stands_on_any_page(home: Town) -> None:
    """Keys of services, passwords of addresses, links and sessions' tokens are nowhere."""
    olu = await home.owner()
    ana = await home.guest("ana", by=olu)
    made = await olu.post("/admin/invites", {"room": "", "days": "3"})
    found = re.search(r"/join/([\w-]{16,})", made.text)
    assert found
    link = await home.app.accounts.links.offer()
    tokens = [guest.http.cookies["loopforge"] for guest in (olu, ana)]
    pages = await everything(olu, ana.person)
    for secret in (KEY, found[1], link, *tokens, "argon2"):
        assert [path for path, text in pages.items() if secret in text] == [], secret
    assert "OPENROUTER_API_KEY</code> is set" in pages["/admin/models"]
    assert "HOUSE_API_KEY</code> is set" in pages["/admin/models"]
    assert "http://127.0.0.1:9/v1" in pages["/admin/models"]


async def test_a_room_the_owner_is_not_in_keeps_its_words(home: Town) -> None:
    """Neither what is said there, nor its title, nor the whole of its slug shows on any page.

    It is counted all the same, under the end of its slug, and can be asked for by that name.
    """
    olu = await home.owner()
    ana = await home.guest("ana", by=olu)
    room = await surprise(home, ana)
    await home.app.accounts.links.invite(ana.person, room)
    pages = await everything(olu, ana.person)
    told = await olu.get("/admin/ledger", params={"stream": f"room:…{room[-6:]}"})
    pages["filtered"] = told.text
    for hidden in ("surprise", CAKE, "attic", room):
        assert [path for path, text in pages.items() if hidden in text] == [], hidden
    for path in ("/admin/rooms", "/admin/ledger", "/admin/usage", "/admin/invites", "filtered"):
        assert f"…{room[-6:]}" in pages[path], path
    assert f"…{room[-6:]}" in pages[f"/admin/people/{ana.person}/forget"]
    assert "room.heard" in told.text
    assert "[private]" in told.text
    assert "people.met" not in told.text.partition("admin-events")[2]


async def test_whoever_was_brought_in_late_reads_what_came_since(home: Town) -> None:
    """The owner as a member sees the title, and of the ledger's words those since they came."""
    olu = await home.owner()
    ana = await home.guest("ana", by=olu)
    room = await surprise(home, ana)
    await home.app.front.bring(room, ana.person, olu.person, "olu", past=False)
    await ana.says(room, "what came since is no secret")
    await home.rest(room)
    told = (await olu.get("/admin/ledger", params={"stream": f"room:{room}"})).text
    assert "what came since is no secret" in told
    assert CAKE not in told
    assert "Planning a surprise" in (await olu.get("/admin/rooms")).text


# ---------------------------------------------------------------- rooms


def cards(answer: httpx.Response) -> list[str]:
    """The cards of a list, as text."""
    parts = re.findall(r'<li class="card.*?</li>', answer.text, re.DOTALL)
    return [" ".join(re.sub(r"<[^>]+>", " ", part).split()) for part in parts]


async def test_rooms_are_counted(site: Town, owner: Guest) -> None:
    """People, mates and lines of each room; the size only when it is asked for."""
    room = await site.room(owner, "Ovens", "maya", "zuzu")
    await site.guest("ana", room, by=owner)
    await owner.says(room, "Hello, Maya")
    await site.rest(room)
    lines = len(await site.app.ledger.read(f"room:{room}", kinds=["room.heard", "room.said"]))
    assert lines > 1
    card = next(card for card in cards(await owner.get("/admin/rooms")) if "Ovens" in card)
    assert f"People 2 Mates maya, zuzu Lines {lines} Last line" in card
    assert "Takes" not in card
    await site.app.front.commands.act(room, owner.person, "remove", "zuzu")
    card = next(c for c in cards(await owner.get("/admin/rooms?sizes=true")) if "Ovens" in c)
    assert re.search(r"Mates maya Lines \d+ Takes \d+ kB", card)


# ---------------------------------------------------------------- models


async def test_a_model_is_asked_whether_it_is_there(owner: Guest) -> None:
    """By the page's script a fragment comes back, by a plain form the whole page; with a time."""
    page = (await owner.get("/admin/models")).text
    assert "it is a small one" in page
    fragment = await owner.post(
        "/admin/models/check", {"name": "embedded"}, headers={"hx-request": "true"}
    )
    assert re.search(r"<strong>Answered</strong>.*<q>.+</q>", fragment.text)
    assert "<html" not in fragment.text
    whole = await owner.post("/admin/models/check", {"name": "embedded"})
    assert "Answered" in whole.text
    assert "<h1>Models</h1>" in whole.text
    assert (await owner.post("/admin/models/check", {"name": "nobody"})).status_code == 404


async def test_what_a_key_opens_is_listed(home: Town) -> None:
    """Models that the key opens can be used; others say what they want."""
    olu = await home.owner()
    page = (await olu.get("/admin/models")).text
    assert "it is a small one" not in page
    assert re.search(r"<h3>claude-opus-4.5</h3>\s*<p class=\"hint\">OpenRouter", page)
    assert "Ask it" in page


# ---------------------------------------------------------------- settings and the overview


async def test_every_setting_stands_there_with_its_source(owner: Guest) -> None:
    """Name, value, help; one that was set says where."""
    page = (await owner.get("/admin/settings")).text
    assert [row.name for row in settings_rows() if f"<code>{row.name}</code>" not in page] == []
    assert "from LOOPFORGE_TIMEZONE; default: the machine" in page
    assert "2 settings are changed" in page


async def test_the_overview_has_the_figures_that_matter(site: Town, owner: Guest) -> None:
    """People, invites, rooms; a home with nobody else in it says how to bring somebody in."""
    page = (await owner.get("/admin")).text
    assert "You are alone here" in page
    assert "for trying out" in page
    await site.guest("ana", by=owner)
    await owner.post("/admin/invites", {"room": "", "days": "3"})
    tiles = re.findall(
        r'admin-figure">([^<]+)</span>\s*<span class="admin-what">([^<]+)<',
        (await owner.get("/admin")).text,
    )
    assert ("2", "people may come in") in tiles
    assert ("1", "open invite") in tiles
    assert ("1", "room") in tiles


async def test_every_page_works_on_both_databases(ledger_url: str, tmp_path: Path) -> None:
    """On PostgreSQL as on SQLite each page can be looked at, and rooms are counted alike."""
    async with town(tmp_path, database_url=ledger_url) as there:
        olu = await there.owner()
        ana = await there.guest("ana", by=olu)
        room = await surprise(there, ana)
        pages = await everything(olu, ana.person)
        assert "surprise" not in "".join(pages.values())
        card = next(c for c in cards(await olu.get("/admin/rooms?sizes=true")) if room[-6:] in c)
        assert re.search(r"private, and you are not in it People 1 Mates maya Lines 2 Takes", card)
        told = await olu.get("/admin/ledger", params={"kind": "room.heard", "before": "f" * 32})
        assert "[private]" in told.text


# ---------------------------------------------------------------- what the owner has to mend


async def test_what_to_mend_is_for_the_owner_alone(site: Town) -> None:
    """A notice on models tells the owner what to mend, on the page and live; a guest reads less."""
    olu = await site.owner()
    ana = await site.guest("ana", "commons", by=olu)
    text = "Maya gave no answer (the owner of this home has to mend something)."
    hub = LiveHub(site.app.front, LiveRenderer(site.app.front, template_environment()))
    pages = {
        True: PageListener(olu.person, "s1", EVERYTHING, owner=True),
        False: PageListener(ana.person, "s2", EVERYTHING),
    }
    for listener in pages.values():
        hub.join("commons", listener)
    told = Told(text=Words(text), mend=(("house", "key"),))
    fact = site.app.stamp.fact(told, actor="room")
    await site.app.ledger.append("room:commons", [fact])
    for owner, listener in pages.items():
        live = ""
        while text not in live:
            given = await listener.next(30)
            assert given is not None
            live = given[1].decode()
        assert ("the key for house is refused" in live) is owner
    await hub.close()
    assert "the key for house is refused" in (await olu.get("/rooms/commons")).text
    page = (await ana.get("/rooms/commons")).text
    assert text in page
    assert "refused" not in page


class Embedded(ScriptedModels):
    """The scripted model in the place of the one that comes along."""

    def facts(self, route: Route) -> ModelFacts:
        """It says that it is that one."""
        return replace(super().facts(route), embedded=True, small=True)


async def test_what_model_answers_is_told_the_owner(tmp_path: Path) -> None:
    """With a button to a better one; a guest could do nothing about it, and reads nothing of it."""
    async with town(tmp_path, models=Embedded()) as site:
        olu = await site.owner()
        ana = await site.guest("ana", "commons", by=olu)
        for guest, told in ((olu, True), (ana, False)):
            page = (await guest.get("/rooms/commons")).text
            assert ("a small embedded model" in page) is told
            assert ('href="/admin/first#model"' in page) is told
