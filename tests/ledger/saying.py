"""Facts for tests of the ledger, and a ledger to put them in."""

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

from sqlalchemy.engine import Connection

from loopforge.core.events import Body, Event, Fact
from loopforge.core.room_vocabulary import Heard, Noted, Said
from loopforge.core.text.erasable_text import Words
from loopforge.ledger.sql_ledger import SqlLedger, open_ledger
from loopforge.ledger.storage.folded_views import FoldedView
from loopforge.runtime.system_clock import Stamp, SystemDice
from tests.seeded_dice import SeededDice
from tests.sim_clock import SimClock

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
ROOM = "room:commons"


class Scribbler:
    """Makes facts, with a clock that stands still and ids that go on."""

    def __init__(self, seed: int | None = None) -> None:
        self.stamp = Stamp(SimClock(NOON), SystemDice() if seed is None else SeededDice(seed))

    def fact(self, body: Body, actor: str = "runtime", cause: str = "") -> Fact:
        """A fact."""
        return self.stamp.fact(body, actor=actor, cause=cause)

    def heard(self, text: str | Words, person: str = "p1", **more: Any) -> Fact:
        """A person's line."""
        words = text if isinstance(text, Words) else Words(text)
        return self.fact(Heard(person=person, text=words, **more), f"person:{person}")

    def said(self, text: str, turn: str = "t1", mate: str = "maya") -> Fact:
        """A mate's line."""
        return self.fact(Said(turn=turn, mate=mate, text=Words(text)), f"mate:{mate}")

    def noted(self, text: str, mate: str = "maya") -> Fact:
        """A mate's note to itself."""
        return self.fact(Noted(turn="t1", mate=mate, text=Words(text)), f"mate:{mate}")


@asynccontextmanager
async def opened(
    url: str, views: Sequence[FoldedView] = (), **more: Any
) -> AsyncIterator[SqlLedger]:
    """A ledger, closed at the end."""
    ledger = await open_ledger(url, SimClock(NOON), SystemDice(), views, **more)
    try:
        yield ledger
    finally:
        await ledger.close()


def text_of(event: Event) -> str | None:
    """What was heard, said or noted in an event."""
    assert isinstance(event.body, Heard | Said | Noted)
    return event.body.text.text


async def at_once(ledger: SqlLedger, *asked: Awaitable[object]) -> list[object]:
    """What comes of these, the errors too: none is begun before all have been asked for."""
    begun, go = threading.Event(), threading.Event()

    def hold_up(_: Connection) -> None:
        begun.set()
        go.wait()

    async def let_go() -> None:
        go.set()

    held_up = asyncio.gather(ledger.change(hold_up))
    await asyncio.to_thread(begun.wait)
    found = await asyncio.gather(*asked, let_go(), return_exceptions=True)
    await held_up
    return found[:-1]
