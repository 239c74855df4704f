"""Fates: what the ledger tells of a line that called, of what was said to it, and where it went."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from loopforge.chat.service.line_receipts import CalledTurn, Fate, LineDelivery, LineReceipts
from loopforge.core.delivery_states import Accepted, Attempting, Failed, Queued
from loopforge.core.events import Body
from loopforge.core.room_vocabulary import Said, Told
from loopforge.core.text.erasable_text import Words
from loopforge.core.turn_events import LineRun, Perceived, TurnEnded
from loopforge.ledger.sql_ledger import SqlLedger, open_ledger
from loopforge.runtime.system_clock import Stamp
from tests.seeded_dice import SeededDice
from tests.sim_clock import SimClock

HERE, THERE = "discord:1", "discord:2"


class Room:
    """One room in a real ledger."""

    def __init__(self, ledger: SqlLedger, stamp: Stamp) -> None:
        self._ledger, self._stamp = ledger, stamp

    async def add(self, body: Body) -> str:
        """Let it happen; its id."""
        (event,) = await self._ledger.append("room:r", [self._stamp.fact(body, actor="test")])
        return event.id

    async def begin(self) -> str:
        """Maya's turn begins, called by a line; its id."""
        body = Perceived(
            mate="maya",
            policy="talk/1",
            mind="0",
            line="l1",
            summons="mention",
            step=0,
            shown=Words("{}"),
            lines=LineRun(more=()),
        )
        return await self.add(body)

    async def say(self, turn: str, *places: str) -> list[str]:
        """She says something, which is to go to these places; the ids of the deliveries."""
        line = await self.add(Said(turn=turn, mate="maya", text=Words("hello")))
        return [await self.add(Queued(surface=place, of=line)) for place in places]

    async def send(self, delivery: str, *, arrives: bool) -> None:
        """It goes out."""
        await self.add(Attempting(delivery=delivery, nth=1))
        await self.add(
            (Accepted(delivery=delivery, message_id="1")) if arrives else Failed(delivery=delivery)
        )

    async def call(self, turn: str) -> CalledTurn | None:
        """What is known of a turn."""
        return await LineReceipts(self._ledger).call(turn)

    async def sending(self, delivery: str) -> LineDelivery:
        """What is known of a delivery."""
        return await LineReceipts(self._ledger).sending(delivery)


@pytest.fixture
async def room(tmp_path: Path) -> AsyncIterator[Room]:
    """A room where nothing happened yet."""
    clock, dice = SimClock(datetime(2026, 11, 22, tzinfo=UTC)), SeededDice(1)
    ledger = await open_ledger(f"sqlite:///{tmp_path}/ledger.db", clock, dice)
    yield Room(ledger, Stamp(clock, dice))
    await ledger.close()


async def test_each_place_has_a_fate_of_its_own(room: Room) -> None:
    """What a turn said is owed to each place until it arrives there, or is lost there."""
    turn = await room.begin()
    assert await room.call(turn) == CalledTurn(
        "maya", ("l1",), "mention", spoke=False, over=False, fates={}
    )
    here, there = await room.say(turn, HERE, THERE)
    (again,) = await room.say(turn, HERE)
    await room.send(here, arrives=True)
    await room.send(there, arrives=False)
    await room.add(TurnEnded(turn=turn, outcome="done"))
    fates: dict[str, tuple[Fate, ...]] = {HERE: ("arrived", "owed"), THERE: ("lost",)}
    assert await room.call(turn) == CalledTurn(
        "maya", ("l1",), "mention", spoke=True, over=True, fates=fates
    )
    assert await room.sending(again) == LineDelivery(HERE, turn)


async def test_what_others_said_is_no_part_of_a_turn(room: Room) -> None:
    """Another turn's lines, and words of the room, change nothing; what is no turn is none."""
    turn, other = await room.begin(), await room.begin()
    (late,) = await room.say(other, HERE)
    await room.send(late, arrives=True)
    await room.add(TurnEnded(turn=other, outcome="done"))
    word = await room.add(Told(text=Words("It rains.")))
    delivery = await room.add(Queued(surface=HERE, of=word))
    assert await room.call(turn) == CalledTurn(
        "maya", ("l1",), "mention", spoke=False, over=False, fates={}
    )
    assert await room.call(word) is None
    assert await room.sending(delivery) == LineDelivery(HERE, "")
    assert await room.sending(turn) == LineDelivery("", "")
