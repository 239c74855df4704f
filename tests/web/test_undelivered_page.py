"""What was owed: shown to the room's people and the owner, and sent again, once, by a press."""

import re
from contextlib import closing

from loopforge.chat.room.platform_channels import ChannelSpot
from loopforge.errors import SendFailed
from loopforge.runtime.ports import Outgoing
from tests.web.conftest import Town, words


class Wall:
    """A platform that takes nothing while `why` is given."""

    name = "wall"

    def __init__(self) -> None:
        self.why, self.posts = "The wall is wet.", list[str]()

    async def send(self, out: Outgoing) -> str:
        """Take it, or not."""
        if self.why:
            raise SendFailed(self.why, final=True)
        self.posts.append(str(getattr(out.event.body, "text", "")))
        return f"w{len(self.posts)}"

    async def sent(self, out: Outgoing) -> str | None:
        """Nothing is ever found."""
        return None


async def ended(site: Town, room: str, count: int) -> None:
    """Until so many deliveries have come to an end."""
    kinds = ["delivery.failed", "delivery.accepted"]
    with closing(site.app.front.rooms.listen(room)) as news:
        while len(await site.app.ledger.read(f"room:{room}", kinds=kinds)) < count:
            await anext(news)


async def test_what_failed_is_shown_and_sent_again(site: Town) -> None:
    """A line that a platform refused stands on the page with why, and goes out once by a press."""
    wall = Wall()
    site.app.deliveries.attach(wall)
    olu = await site.owner()
    room = await site.room(olu, "Bread")
    ben = await site.guest("ben", room, by=olu)
    eve = await site.guest("eve", by=olu)
    await site.app.front.rooms.join_place(
        ChannelSpot("wall:1", "the north wall", "group"), [], room
    )
    await site.heard(room, ben, "Rye it is")
    await ended(site, room, 2)  # the line, and that it could not be sent

    shown = words(await ben.get(f"/rooms/{room}/owed"))
    assert "A line of ben for the north wall on Wall" in shown
    assert "The wall is wet." in shown
    assert "Rye" not in shown
    assert (await eve.get(f"/rooms/{room}/owed")).status_code == 404
    assert (await ben.get("/admin/owed")).status_code == 404
    overview = words(await olu.get("/admin"))
    assert "1 thing that mates or people said did not arrive" in overview

    found = re.search(r'name="delivery" value="([^"]+)"', (await olu.get("/admin/owed")).text)
    assert found
    wall.why = ""
    for path in ("/admin/owed", f"/rooms/{room}/owed", "/admin/owed"):
        answer = await olu.post(path, {"delivery": found[1]})
    assert answer.status_code == 404  # it is owed no longer
    await ended(site, room, 3)
    assert wall.posts == ["Rye it is"]
    assert "Nothing is owed" in words(await olu.get("/admin/owed"))


async def test_of_a_room_one_is_not_in_no_name_is_shown(site: Town) -> None:
    """The owner sees that something is owed to a room that is not theirs, and not whose it was."""
    site.app.deliveries.attach(Wall())
    olu = await site.owner()
    ben = await site.guest("ben", by=olu)
    room = await site.room(ben, "Secret plums")
    await site.app.front.rooms.join_place(
        ChannelSpot("wall:1", "the north wall", "group"), [], room
    )
    await site.heard(room, ben, "Plums")
    await ended(site, room, 1)
    shown = words(await olu.get("/admin/owed"))
    assert "The wall is wet." in shown
    assert not [name for name in ("ben", "plums", "north") if name in shown.lower()]
