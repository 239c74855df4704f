"""A mate's line that was taken away on its platform, as pages show it."""

from __future__ import annotations

from loopforge.core.room_vocabulary import Said
from tests.web.conftest import Town
from tests.web.test_event_stream import open_page


async def test_a_mates_line_that_was_taken_away_is_so_on_pages(site: Town) -> None:
    """It is told live as people's lines are, and a page loaded later holds no word of it."""
    owner = await site.owner("olu")
    room = await site.room(owner, "Tea", "maya")
    await owner.says(room, "@maya rhubarb?")
    await site.rest(room)
    said = next(e for e in await site.events(room) if isinstance(e.body, Said))
    assert isinstance(said.body, Said)
    async with open_page(owner, room, after=said.seq) as page:
        await site.app.front.rooms.delete(room, "", said.id)
        await page.until("change")
        change = page.data("change")[0]
    assert change["kind"] == "room.line_deleted"
    assert (change["line"], change["told"]) == (said.id, "Deleted where it was said.")
    html = (await owner.get(f"/rooms/{room}")).text
    assert "Deleted where it was said." in html
    assert str(said.body.text) not in html
