"""What a person may not see of a room reaches them by no way: page, stream, title, mark or answer."""

import pytest

from loopforge.core.events import Fact
from loopforge.core.room_vocabulary import Heard, Marked, Reacted, Titled
from loopforge.core.text.erasable_text import Words
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.ledger_opening import open_ledger_of
from tests.web.conftest import Guest, Town
from tests.web.test_event_stream import open_page

SECRET = "the zeppelin lands at midnight"


async def add(site: Town, room: str, *bodies: Marked | Reacted | Titled) -> None:
    """What mates or the room did."""
    facts: list[Fact] = [site.app.stamp.fact(body, actor="room") for body in bodies]
    await site.app.ledger.append(f"room:{room}", facts)


async def secretive(site: Town) -> tuple[Guest, Guest, str, str]:
    """A room where something was said before the second person came; its slug, that line."""
    owner = await site.owner()
    room = await site.room(owner, "", "maya")
    line = await owner.says(room, SECRET)
    await site.rest(room)
    late = await site.guest("late", room, by=owner)
    return owner, late, room, line["id"]


async def everything(guest: Guest, room: str, line: str) -> str:
    """All that the pages of a room tell somebody."""
    paths = ["", "/before?seq=1000", "/search?words=zeppelin", "/settings", f"/why/{line}"]
    paths += [f"/why/{line}?format={kind}" for kind in ("text", "json")] + [f"/files/{line}/0"]
    answers = [await guest.get(f"/rooms/{room}{path}") for path in paths]
    return "\n".join(answer.text for answer in (*answers, await guest.get("/")))


# ---------------------------------------------------------------- lines, marks and answers


async def test_marks_on_hidden_lines_are_not_told(site: Town) -> None:
    """Neither page nor stream tells a later member of a mark or a reaction on an earlier line."""
    owner, late, room, hidden = await secretive(site)
    open = (await owner.says(room, "good morning"))["id"]
    async with open_page(late, room, after=1) as page, open_page(owner, room, after=1) as other:
        for line in (hidden, open):
            await add(site, room, Reacted(mate="maya", to=line, emoji="🎈", turn=""))
            await owner.post(f"/rooms/{room}/mark", {"line": line, "mark": "keep"})
        await other.until("change", 4)
        await page.until("change", 2)
        assert {told["line"] for told in page.data("change")} == {open}
        assert {told["line"] for told in other.data("change")} == {hidden, open}
    async with open_page(late, room, after=1) as again:
        assert {told["line"] for told in again.data("change")} == {open}
    for path in ("", "/before?seq=1000", "/search?words=zeppelin"):
        assert hidden not in (await late.get(f"/rooms/{room}{path}")).text, path
    assert (
        await late.post(f"/rooms/{room}/mark", {"line": hidden, "mark": "keep"})
    ).status_code == 404


async def test_a_hidden_line_and_one_that_never_was_are_alike(site: Town) -> None:
    """No answer tells whether there was such a line before one came, nor in another room."""
    owner, late, room, hidden = await secretive(site)
    other = (await owner.says(await site.room(owner), "elsewhere"))["id"]
    never = "0" * len(hidden)
    ways = ("why/{}", "why/{}?format=json", "why/{}?format=text", "files/{}/0")
    for way in ways:
        told = {
            (answer.status_code, answer.text.replace(id, "ID"))
            for id in (hidden, other, never)
            if (answer := await late.get(f"/rooms/{room}/{way.format(id)}")) is not None
        }
        assert len(told) == 1, way
        assert next(iter(told))[0] == 404


async def test_a_hidden_line_cannot_be_answered(site: Town) -> None:
    """An answer to a line that its writer may not see answers nothing."""
    owner, late, room, hidden = await secretive(site)
    await late.says(room, "what was that?", reply_to=hidden)
    seen = (await owner.says(room, "this?"))["id"]
    await late.says(room, "yes", reply_to=seen)
    heard = [e.body for e in await site.events(room) if isinstance(e.body, Heard)]
    assert [one.reply_to for one in heard[-3:]] == ["", "", seen]


async def test_an_answer_does_not_name_who_was_gone_before(site: Town, owner: Guest) -> None:
    """A line that answers somebody who left long ago does not tell a newcomer their name."""
    room = await site.room(owner, "Tea")
    ana = await site.guest("Anastasia", room, by=owner)
    asked = await ana.says(room, "is anybody here?")
    await ana.post(f"/rooms/{room}/leave")
    late = await site.guest("late", room, by=owner)
    await owner.says(room, "there was", reply_to=asked["id"])
    shown = (await late.get(f"/rooms/{room}")).text
    assert "answers an earlier line" in shown
    assert "Anastasia" not in shown


async def test_what_was_said_while_away_stays_hidden(site: Town, owner: Guest) -> None:
    """Who left and came back sees both of their stays, and nothing from between."""
    room = await site.room(owner, "Tea")
    ben = await site.guest("ben", room, by=owner)
    await owner.says(room, "first stay")
    await ben.post(f"/rooms/{room}/leave")
    between = await owner.says(room, SECRET)
    _, token = await site.app.accounts.links.invite(owner.person, room)
    assert (await ben.post(f"/join/{token}")).url.path == f"/rooms/{room}"
    await owner.says(room, "second stay")
    shown = await everything(ben, room, between["id"])
    assert "first stay" in shown
    assert "second stay" in shown
    assert SECRET not in shown
    async with open_page(ben, room, after=1) as page:
        assert "second stay" in page.html()
        assert SECRET not in page.html()


# ---------------------------------------------------------------- titles and addresses


async def test_a_title_made_of_hidden_lines_is_hidden(site: Town) -> None:
    """The room's own title is for those who heard what it is made of; one that is given, for all."""
    owner, late, room, line = await secretive(site)
    await add(site, room, Titled(title=Words("Zeppelin at midnight"), by="room"))
    later = await site.guest("later", room, by=owner)
    for guest, sees in ((owner, True), (late, True), (later, False)):
        assert ("Zeppelin" in await everything(guest, room, line)) == sees, guest.name
        async with open_page(guest, room, after=1) as page:
            scenes = [data for name, _, data in page.given if name == "scene"]
            assert ("Zeppelin" in "".join(scenes)) == sees, guest.name
    _, token = await site.app.accounts.links.invite(owner.person, room)
    assert "Zeppelin" not in (await (await site.stranger()).get(f"/join/{token}")).text
    async with open_page(later, room, after=1) as page:
        await owner.post(f"/rooms/{room}/stop")
        await page.until("scene", 2)
        assert all("Zeppelin" not in data for _, _, data in page.given)
        await owner.post(f"/rooms/{room}/settings", {"act": "title", "title": "Airships"})
        await page.until("scene", 3)
        assert "Airships" in page.given[-1][2]
    assert "Airships" in (await later.get("/")).text


async def test_a_title_is_not_in_the_rooms_address(site: Town, owner: Guest) -> None:
    """A slug outlives everything that is forgotten, so nothing of a title stands in it."""
    room = await site.room(owner, "Leaving Ana")
    assert "ana" not in room
    await owner.post(f"/rooms/{room}/delete", {"sure": "yes"})
    ledger = "".join([line async for line in site.app.ledger.export()]).lower()
    assert "leaving" not in ledger


# ---------------------------------------------------------------- forgetting under open pages


@pytest.mark.parametrize("wish", ["line", "person"])
async def test_what_is_forgotten_goes_from_open_pages(site: Town, wish: str, owner: Guest) -> None:
    """Open pages are told to load anew, and then no page, search or record holds the words."""
    room = await site.room(owner, "Tea", "maya")
    ben = await site.guest("Benedikta", room, by=owner)
    line = await ben.says(room, f"@maya {SECRET}")
    await site.rest(room)
    assert SECRET in await everything(owner, room, line["id"])
    async with open_page(owner, room, after=1) as page:
        before = (await site.events(room))[-1].seq
        forget = (
            ErasureRequest(events=(line["id"],))
            if wish == "line"
            else ErasureRequest(person=ben.person)
        )
        await site.app.ledger.erase(forget)
        await page.until("change")
        (told,) = [one for one in page.data("change") if one["kind"] == "ledger.erased"]
        assert told["seq"] > before
    shown = await everything(owner, room, line["id"])
    assert SECRET not in shown
    assert "midnight" not in shown
    assert ("Benedikta" in shown) == (wish == "line")
    assert int(head(shown)) >= told["seq"]
    async with open_page(owner, room, after=1) as again:
        assert SECRET not in again.html()
        kinds = [one["kind"] for one in again.data("change")]
        assert kinds.count("ledger.erased") == 1, "a page that was away is told as well"


def head(html: str) -> str:
    """Up to which event a page knows its room."""
    return html.partition('data-head="')[2].partition('"')[0]


async def test_what_another_process_forgets_is_not_shown_either(site: Town, owner: Guest) -> None:
    """Lines that were rendered before are rendered anew after an erasure from outside."""
    room = await site.room(owner, "Tea")
    ben = await site.guest("Benedikta", room, by=owner)
    await owner.says(room, "hello")
    assert "Benedikta came in" in (await owner.get(f"/rooms/{room}")).text
    async with open_ledger_of(site.app.settings) as other:
        await other.erase(ErasureRequest(person=ben.person))
    await site.app.ledger.follow()
    assert "Benedikta" not in (await owner.get(f"/rooms/{room}")).text
