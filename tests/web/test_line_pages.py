"""What people do to single lines in the browser: only what they may see, only to what is theirs."""

import asyncio
import html
import json
import re

from loopforge.core.room_vocabulary import LinePinned
from loopforge.web.room.room_pages import PAGE
from tests.web.conftest import Guest, Town

JSON = {"accept": "application/json"}
CHANGE = re.compile(r'data-change="([^"]*)"')


async def act(by: Guest, room: str, line: str, what: str, **fields: str) -> int:
    """What a request comes to, by its status."""
    answer = await by.post(f"/rooms/{room}/lines/{line}/{what}", fields, headers=JSON)
    return answer.status_code


async def gone(by: Guest, path: str) -> None:
    """Wait until nothing is there any more."""
    while (await by.get(path)).status_code != 404:
        await asyncio.sleep(0.02)


async def test_only_ones_own_lines_are_changed(site: Town) -> None:
    """A line is edited and deleted by whoever said it, read as written by all who may see it."""
    olu = await site.owner()
    room = await site.room(olu, "Bread")
    ben = await site.guest("ben", room, by=olu)
    line = (await olu.says(room, "Rye **it** is"))["id"]
    shown = await ben.get(f"/rooms/{room}/lines/{line}")
    assert shown.json() == {"text": "Rye **it** is"}
    assert await act(ben, room, line, "edit", text="Wheat") == 404
    assert await act(ben, room, line, "delete") == 404
    assert await act(olu, room, line, "edit", text="") == 400
    assert await act(olu, room, line, "edit", text="Spelt") == 200
    assert (await ben.get(f"/rooms/{room}/lines/{line}")).json() == {"text": "Spelt"}
    assert await act(olu, room, line, "delete") == 200
    assert (await ben.get(f"/rooms/{room}/lines/{line}")).status_code == 404
    assert await act(olu, room, line, "edit", text="Again") == 404


async def test_a_line_whose_words_went_with_another_can_be_deleted(site: Town) -> None:
    """What quotes a deleted line is forgotten with it; a file that came with it goes by a delete."""
    olu = await site.owner()
    room = await site.room(olu, "Bread")
    first = (await olu.says(room, "The oven is called Brunhilde and it smokes"))["id"]
    file = [("files", ("plan.txt", b"Sweep the chimney.", "text/plain"))]
    fields = {"text": "The oven is called Brunhilde and it smokes: see the plan"}
    answer = await olu.post(f"/rooms/{room}/lines", fields, files=file, headers=JSON)
    second = answer.json()["id"]
    assert await act(olu, room, first, "delete") == 200
    await gone(olu, f"/rooms/{room}/lines/{second}")
    assert (await olu.get(f"/rooms/{room}/files/{second}/0")).status_code == 200
    assert await act(olu, room, second, "delete") == 200
    await gone(olu, f"/rooms/{room}/files/{second}/0")
    assert await act(olu, room, second, "delete") == 404


async def test_what_was_said_before_one_came_is_nothing_to_act_on(site: Town) -> None:
    """Who came later, or is outside, has no word of a line and puts nothing on it."""
    olu = await site.owner()
    room = await site.room(olu, "Bread")
    line = (await olu.says(room, "Rye"))["id"]
    eve = await site.guest("eve", room, by=olu)
    zed = await site.guest("zed", by=olu)
    for one in (eve, zed):
        assert (await one.get(f"/rooms/{room}/lines/{line}")).status_code == 404
        assert await act(one, room, line, "react", emoji="👍") == 404


async def test_one_emoji_is_put_on_a_line(site: Town) -> None:
    """Any one emoji can be put on a line and taken back; words and several emojis cannot."""
    olu = await site.owner()
    room = await site.room(olu, "Bread")
    line = (await olu.says(room, "Rye"))["id"]
    for emoji in ("👍", "❤️", "👩🏽‍🚒", "🇫🇷", "1️⃣"):
        assert await act(olu, room, line, "react", emoji=emoji) == 200, emoji
    assert await act(olu, room, line, "react", emoji="👍", back="yes") == 200
    for emoji in ("", "ok", "👍👍", "<b>", "1", "👍" + "\u200d👍" * 9):
        assert await act(olu, room, line, "react", emoji=emoji) == 400, emoji


async def test_pinned_lines_are_found_again(site: Town) -> None:
    """A pinned line stands on the page of pins, for those who may see it, until it is taken back."""
    olu = await site.owner()
    room = await site.room(olu, "Bread")
    first, second = [(await olu.says(room, text))["id"] for text in ("Rye", "Spelt")]
    eve = await site.guest("eve", room, by=olu)
    late = (await eve.says(room, "Oats"))["id"]
    for line in (first, second, late):
        assert await act(olu, room, line, "pin") == 200
    assert await act(eve, room, first, "pin", back="yes") == 404
    assert await act(olu, room, second, "pin", back="yes") == 200
    shown = (await olu.get(f"/rooms/{room}/pins")).text
    assert shown.index("Oats") < shown.index("Rye")
    assert "Spelt" not in shown
    theirs = (await eve.get(f"/rooms/{room}/pins")).text
    assert "Oats" in theirs
    assert "Rye" not in theirs
    assert await act(olu, room, first, "delete") == 200
    assert "Rye" not in (await olu.get(f"/rooms/{room}/pins")).text


async def test_rooms_stand_beside_a_room(site: Town) -> None:
    """Beside a room stand the others one is in, with what is new there, and nobody else's.

    One that has no title yet is called by its mates.
    """
    olu = await site.owner()
    other = await site.room(olu, "Cellar plans")
    nameless = await site.room(olu, "", "maya", "merlin")
    room = await site.room(olu, "Bread")
    ben = await site.guest("ben", other, by=olu)
    await site.heard(other, ben, "One", "Two")
    shown = (await olu.get(f"/rooms/{room}/beside")).text
    assert "Cellar plans" in shown
    assert "With Maya and Merlin" in shown
    assert "<title>With Maya and Merlin" in (await olu.get(f"/rooms/{nameless}")).text
    assert 'aria-label="2 unread"' in shown
    assert "Bread" not in (await ben.get(f"/rooms/{other}/beside")).text


async def test_old_lines_keep_what_was_put_on_them(site: Town) -> None:
    """However much is put on lines, a page has its lines; an old one has what stands on it now."""
    olu = await site.owner()
    room = await site.room(olu, "Bread")
    ben = await site.guest("ben", room, by=olu)
    old, other = [(await olu.says(room, text))["id"] for text in ("Rye", "Spelt")]
    await site.heard(room, olu, *[f"Loaf {nth}" for nth in range(PAGE)])
    await site.rest(room)
    react, rooms = site.app.front.react, site.app.front.rooms
    for _ in range(PAGE):
        await react(room, ben.person, old, "🎉")
        await react(room, ben.person, old, "🎉", back=True)
    await react(room, ben.person, old, "👍")
    await react(room, ben.person, other, "👍")
    await react(room, ben.person, other, "👍", back=True)
    for line in (old, other):
        await rooms.add(room, olu.person, LinePinned(person=olu.person, line=line))
    await rooms.edit(room, olu.person, old, "Rye it was")

    page = (await olu.get(f"/rooms/{room}")).text
    assert page.count('<article class="line') == PAGE
    first = re.search(r'data-oldest="(\d+)"', page)
    assert first
    before = (await olu.get(f"/rooms/{room}/before?seq={first[1]}")).text
    assert "Rye it was" in before
    changes = [json.loads(html.unescape(one)) for one in CHANGE.findall(before)]
    stands = [(one["line"], one["kind"], one.get("emoji")) for one in changes]
    assert stands == [
        (old, "room.person_reacted", "👍"),
        (old, "room.line_pinned", None),
        (other, "room.line_pinned", None),
        (old, "room.line_edited", None),
    ]
    assert (await site.app.ledger.verify()).findings == ()
