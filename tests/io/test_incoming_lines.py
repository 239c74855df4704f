"""Reception: what two platforms bring into one home, with a scripted model and simulated time."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from loopforge.chat.room.platform_channels import ChannelSpot
from loopforge.core.room_vocabulary import (
    Heard,
    LineDeleted,
    LineEdited,
    PersonReacted,
    PlaceLeft,
    Told,
)
from loopforge.core.text.erasable_text import Words
from loopforge.errors import SendFailed
from loopforge.io.platforms.incoming_lines import IncomingLines, IncomingMessage
from loopforge.io.platforms.line_buttons import Presser
from loopforge.io.platforms.place_allowlist import ServedPlaces
from loopforge.runtime.ports import Outgoing
from tests.door import Door
from tests.rooms.conftest import START, Home, living

KITCHEN = ChannelSpot("discord:10", "#kitchen", "group")
TENT = ChannelSpot("telegram:-20", "The tent", "group")
DM = ChannelSpot("discord:30", "Ada", "private")
ADA = "501"


@dataclass
class Board:
    """A surface that keeps what it is given; a place in `gone` takes nothing any more."""

    name: str
    taken: list[tuple[str, str, str]] = field(default_factory=list)
    gone: set[str] = field(default_factory=set)

    async def send(self, out: Outgoing) -> str:
        """Take it."""
        if out.place in self.gone:
            raise SendFailed("the bot was sent away.", gone=True)
        text = str(getattr(out.event.body, "text", ""))
        self.taken.append((out.place, out.what, text))
        return str(1000 + len(self.taken))

    async def sent(self, out: Outgoing) -> str | None:
        """Nothing was sent that is not known."""


@dataclass
class Town:
    """A home with two platforms."""

    home: Home
    reception: IncomingLines
    boards: dict[str, Board]
    count: int = 0

    async def says(
        self,
        spot: ChannelSpot,
        text: str,
        *,
        at: datetime = START,
        message: str = "",
        **more: object,
    ) -> Heard | None:
        """Somebody says something in a place."""
        self.count += 1
        coming = IncomingMessage(
            spot=spot,
            mates=("maya", "merlin"),
            message=message or str(self.count),
            account=str(more.pop("account", ADA)),
            name="Ada",
            text=text,
            at=at,
            **more,  # type: ignore[arg-type]
        )
        taken = await self.reception.take(coming)
        self.home.room = taken.room or self.home.room
        return taken.heard.body if taken.heard else None  # type: ignore[return-value]

    async def rest(self) -> None:
        """Nobody has anything left to do, and everything is delivered."""
        await self.home.rest()
        await self.home.clock.advance(1)


@pytest.fixture
async def town(tmp_path: Path) -> AsyncIterator[Town]:
    """A home that Discord and Telegram are attached to."""
    async with living(tmp_path) as home:
        boards = {name: Board(name) for name in ("discord", "telegram")}
        for board in boards.values():
            home.app.deliveries.attach(board)
        reception = IncomingLines(
            home.app.front,
            home.app.people,
            home.clock,
            Door(),
            home.app.linking,
            ServedPlaces(),
        )
        yield Town(home, reception, boards)


async def test_a_place_opens_a_room_of_its_own(town: Town) -> None:
    """A channel nobody joined to a room opens one, in which an uncalled line wakes nobody."""
    await town.says(KITCHEN, "what a day")
    await town.home.rest()
    state = await town.home.app.front.rooms.state(town.home.room)
    assert list(state.mates) == ["maya", "merlin"]
    assert [str(entry.text) for entry in state.lines.values()] == ["what a day"]
    assert await town.home.said() == []


async def test_called_in_a_channel(town: Town) -> None:
    """A mate that is named in a channel answers there, and in no other place."""
    await town.says(KITCHEN, "@maya are you there?")
    await town.home.rest()
    assert await town.home.said() == ["maya"]
    sent = town.boards["discord"].taken
    assert [(place, what) for place, what, _ in sent] == [("discord:10", "line")]
    assert town.boards["telegram"].taken == []


async def test_heard_once(town: Town) -> None:
    """A message that a platform brings twice is heard once."""
    await town.says(KITCHEN, "hello", message="77")
    await town.says(KITCHEN, "hello", message="77")
    heard = [e for e in await town.home.events() if isinstance(e.body, Heard)]
    assert len(heard) == 1


async def test_one_room_on_two_platforms(town: Town) -> None:
    """What is said in one place of a room is said in the other, by people and by mates."""
    await town.says(KITCHEN, "I bake")
    await town.reception.sessions.join(TENT, town.home.room, ("maya", "merlin"))
    await town.says(KITCHEN, "maya, what is in the oven?")
    await town.home.rest()
    heard, said = town.boards["telegram"].taken
    assert heard == ("telegram:-20", "line", "maya, what is in the oven?")
    assert said[:2] == ("telegram:-20", "line")
    assert [place for place, *_ in town.boards["discord"].taken] == ["discord:10"]


async def test_too_late(town: Town) -> None:
    """A line that is a week old is heard and not answered."""
    heard = await town.says(KITCHEN, "maya?", at=START - timedelta(days=7))
    await town.home.rest()
    assert heard is not None
    assert heard.late
    assert await town.home.said() == []


async def test_other_bots_give_no_energy(town: Town) -> None:
    """Somebody else's bot is answered as long as the room has energy, and gives none back."""
    for number in range(12):
        await town.says(KITCHEN, f"maya, beep {number}", account="900", bot=True)
        await town.home.rest()
    assert 1 <= len(await town.home.said()) <= 6


async def test_a_reply_calls_its_mate(town: Town) -> None:
    """A reply to a mate's message is addressed to that mate."""
    await town.says(KITCHEN, "merlin, hello")
    await town.home.rest()
    await town.says(KITCHEN, "and then?", reply_to="1001")
    await town.home.rest()
    assert await town.home.said() == ["merlin", "merlin"]


async def test_a_quoted_line_is_its_askers(town: Town) -> None:
    """Of somebody else's line whoever brings it up is the speaker, with no rights of its author."""
    parts = town.home.app.front, town.home.app.people, town.home.clock
    ben, bot = [await town.home.app.people.meet("discord", who, "x") for who in ("502", "900")]
    door = Door(trusts=lambda person: person != bot.id, owns=lambda person: person != bot.id)
    town.reception = IncomingLines(*parts, door, town.home.app.linking, ServedPlaces())
    heard = await town.says(KITCHEN, "Ben had said: hi", quotes="502")
    assert heard is not None
    assert (heard.person != ben.id, heard.owner, heard.untrusted) == (True, False, False)
    heard = await town.says(KITCHEN, "Beep had said: hi", quotes="900")
    assert heard is not None
    assert (heard.owner, heard.untrusted) == (False, True)


async def test_edits_deletions_reactions(town: Town) -> None:
    """What people change, delete and react to on a platform is in the ledger, once."""
    await town.says(KITCHEN, "one", message="5")
    await town.reception.edited("discord:10", "5", ADA, "two")
    await town.reception.edited("discord:10", "5", ADA, "two")
    await town.reception.reacted("discord:10", "5", Presser(account=ADA, name="Ada"), "🥖")
    state = await town.home.app.front.rooms.state(town.home.room)
    assert [str(entry.text) for entry in state.lines.values()] == ["two"]
    await town.reception.deleted("discord:10", "5")
    found = [type(event.body) for event in await town.home.events()]
    assert found.count(LineEdited) == 1
    assert found.count(PersonReacted) == 1
    assert found.count(LineDeleted) == 1
    assert not (await town.home.app.front.rooms.state(town.home.room)).lines


async def test_a_stop_sign_stops(town: Town) -> None:
    """A stop sign put on a message stops the room, durably."""
    await town.says(KITCHEN, "one", message="5")
    told = await town.reception.reacted("discord:10", "5", Presser(account=ADA, name="Ada"), "🛑")
    assert told.startswith("Stopped.")
    assert (await town.home.app.front.rooms.state(town.home.room)).stopped


async def test_a_stop_sign_that_stops_nothing(town: Town) -> None:
    """Who may not stop a room is told so once an hour, however often they put the sign there."""
    await town.says(KITCHEN, "one", message="5")
    await town.home.does("", "rights", "everyone talk")
    ada = Presser(account=ADA, name="Ada")
    told = [await town.reception.reacted("discord:10", "5", ada, "🛑") for _ in range(3)]
    assert [bool(each) for each in told] == [True, False, False]
    assert not (await town.home.app.front.rooms.state(town.home.room)).stopped
    await town.home.clock.advance(3600)
    assert await town.reception.reacted("discord:10", "5", ada, "🛑") == told[0]


async def test_a_bots_stop_sign_stops_nothing(town: Town) -> None:
    """A stop sign that a bot puts on a message is kept, and stops nothing, as its lines do not."""
    await town.says(KITCHEN, "one", message="5")
    beep = Presser(account="900", name="Beep", bot=True)
    assert await town.reception.reacted("discord:10", "5", beep, "🛑") == ""
    assert not (await town.home.app.front.rooms.state(town.home.room)).stopped
    assert len(await town.home.bodies(PersonReacted)) == 1


async def test_a_stranger_reacts_to_a_room_before(town: Town) -> None:
    """An emoji on a line of a room that its place was parted from lets nobody into that room."""
    await town.says(KITCHEN, "one", message="5")
    before, rooms = town.home.room, town.home.app.front.rooms
    await town.says(TENT, "two")
    await town.reception.sessions.join(KITCHEN, town.home.room, ("maya",))
    eve = Presser(account="777", name="Eve", keeper=True)
    town.home.room, now = before, town.home.room
    assert await town.reception.reacted("discord:10", "5", eve, "🥖") == ""
    assert [str(each.name) for each in (await rooms.state(before)).people.values()] == ["Ada"]
    assert await town.home.bodies(PersonReacted) == []
    await town.reception.reacted("discord:10", "5", Presser(account=ADA, name="Ada"), "🥖")
    assert len(await town.home.bodies(PersonReacted)) == 1
    assert (await town.reception.reacted("discord:10", "5", eve, "🛑")).startswith("Stopped.")
    assert [(await rooms.state(each)).stopped for each in (before, now)] == [False, True]


async def test_a_thumb_on_a_question_of_a_room_before(town: Town) -> None:
    """A question of a room that its place was parted from is not answered by a thumb there."""
    await town.says(KITCHEN, "one")
    await town.home.app.front.rooms.answer(
        town.home.room, "", lambda _: [Told(text=Words("May Maya?"), asks=3)]
    )
    await town.rest()
    ada = Presser(account=ADA, name="Ada", keeper=True)
    assert await town.reception.reacted("discord:10", "1001", ada, "👍") != ""
    await town.says(TENT, "two")
    await town.reception.sessions.join(KITCHEN, town.home.room, ("maya",))
    assert await town.reception.reacted("discord:10", "1001", ada, "👍") == ""


async def test_a_place_that_is_gone(town: Town) -> None:
    """Where the bot was sent away, the place leaves the room, people are told, others go on."""
    await town.says(KITCHEN, "I bake")
    await town.reception.sessions.join(TENT, town.home.room, ("maya",))
    town.boards["telegram"].gone.add("telegram:-20")
    await town.says(KITCHEN, "maya, what is in the oven?")
    await town.rest()
    bodies = [event.body for event in await town.home.events()]
    assert any(isinstance(body, PlaceLeft) and body.place == "telegram:-20" for body in bodies)
    told = [str(body.text) for body in bodies if isinstance(body, Told)]
    assert told[0] == "What Ada said did not reach The tent: the bot was sent away."
    assert ("discord:10", "line") in [each[:2] for each in town.boards["discord"].taken]


async def test_strangers_in_private(town: Town) -> None:
    """Nothing of a stranger's private line is heard; they are shown a notice instead."""

    async def closed(_platform: str, _account: str, _name: str, _place: str) -> str | None:
        return "Ask the owner."

    home = town.home
    parts = home.app.front, home.app.people, home.clock
    door = Door(closed, lambda _: False)
    reception = IncomingLines(*parts, door, home.app.linking, ServedPlaces())
    coming = IncomingMessage(
        spot=DM, mates=("maya",), message="1", account=ADA, name="Ada", text="hi", at=START
    )
    taken = await reception.take(coming)
    assert (taken.heard, taken.notice) == (None, "Ask the owner.")
    assert await reception.sessions.known(DM.key) == ""


async def test_a_place_whose_room_was_deleted(town: Town) -> None:
    """Where the room of a place was deleted, the next line there opens another."""
    await town.says(KITCHEN, "one")
    await town.rest()
    first = town.home.room
    await town.home.app.front.closing.close_room(first, "")
    assert await town.says(KITCHEN, "two") is not None
    assert town.home.room not in ("", first)


async def test_what_we_said_is_not_heard(town: Town) -> None:
    """A message of ours that a platform brings as somebody else's is passed over."""
    await town.says(KITCHEN, "@maya are you there?")
    await town.rest()
    assert town.boards["discord"].taken
    assert await town.says(KITCHEN, "maya, is that you?", message="1001", bot=True) is None
    assert await town.home.said() == ["maya"]
