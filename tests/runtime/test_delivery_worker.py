"""Delivery to surfaces that are pushed: in order, tried again, never sent twice blindly."""

from __future__ import annotations

from datetime import timedelta

from loopforge.core.delivery_states import Attempting, Queued, nonce
from loopforge.core.events import Event
from loopforge.core.room_vocabulary import Told
from loopforge.core.text.erasable_text import Words
from loopforge.errors import SendFailed
from loopforge.runtime.delivery_worker import MOST_ATTEMPTS, Deliveries
from loopforge.runtime.ports import Outgoing
from tests.runtime.conftest import STREAM, Stage


class Wall:
    """A surface that keeps what is sent to it, and fails as its script says."""

    name = "wall"

    def __init__(self, *script: str) -> None:
        self.there: dict[str, str] = {}
        self.order: list[str] = []
        self._script = list(script)

    async def send(self, out: Outgoing) -> str:
        """Keep it, unless the script says otherwise ("kept" fails after keeping it)."""
        what = self._script.pop(0) if self._script else ""
        if what in ("", "kept"):
            self.there[out.nonce] = f"m{len(self.there) + 1}"
            assert isinstance(out.event.body, Told)
            self.order.append(str(out.event.body.text))
        if what:
            raise SendFailed(f"it said {what}", final=what == "gone")
        return self.there[out.nonce]

    async def sent(self, out: Outgoing) -> str | None:
        """What it was kept as."""
        return self.there.get(out.nonce)


async def queue(stage: Stage, *texts: str) -> list[Event]:
    """Say things in the room, each queued for the wall."""
    facts = []
    for text in texts:
        told = stage.stamp.fact(Told(text=Words(text)), actor="room")
        body = Queued(surface="wall", of=told.id)
        facts += [told, stage.stamp.fact(body, actor="runtime", cause=told.id)]
    return list(await stage.ledger.append(STREAM, facts))


async def deliver(stage: Stage, wall: Wall, *texts: str) -> list[str]:
    """Deliver these texts, and give the kinds of delivery events that followed."""
    deliveries = Deliveries(stage.ledger, stage.stamp, {"wall": wall})
    await deliveries.start(stage.ledger)
    await queue(stage, *texts)
    await stage.clock.advance(4000)
    await deliveries.close()
    kinds = await stage.kinds()
    return [kind.removeprefix("delivery.") for kind in kinds if kind.startswith("delivery.")]


async def test_things_go_out_in_order_and_are_accepted(stage: Stage) -> None:
    """Each is attempted before it is sent, and accepted with the surface's id."""
    wall = Wall()
    assert await deliver(stage, wall, "one", "two") == [
        "queued",
        "queued",
        *("attempting", "accepted") * 2,
    ]
    assert wall.order == ["one", "two"]


async def test_a_failure_is_tried_again_and_order_is_kept(stage: Stage) -> None:
    """What fails for the moment holds up what comes after it, and then both arrive."""
    wall = Wall("busy", "busy")
    kinds = await deliver(stage, wall, "one", "two")
    assert wall.order == ["one", "two"]
    assert kinds.count("put_off") == 2
    assert kinds.count("accepted") == 2


async def test_what_arrived_though_it_failed_is_not_sent_twice(stage: Stage) -> None:
    """A send that failed after the surface had kept it is found there, and not repeated."""
    wall = Wall("kept")
    assert (await deliver(stage, wall, "one"))[-1] == "accepted"
    assert wall.order == ["one"]


async def test_a_final_failure_is_recorded_and_others_go_on(stage: Stage) -> None:
    """A surface that is gone for one thing does not stop the next."""
    wall = Wall("gone")
    kinds = await deliver(stage, wall, "one", "two")
    assert kinds[-3:] == ["failed", "attempting", "accepted"]
    assert wall.order == ["two"]


async def test_a_word_of_the_room_is_owed_without_end(stage: Stage) -> None:
    """However long a surface is away, what the room itself has to say arrives."""
    wall = Wall(*["busy"] * MOST_ATTEMPTS * 3)
    deliveries = Deliveries(stage.ledger, stage.stamp, {"wall": wall}, patience=timedelta())
    await queue(stage, "one")
    await stage.clock.advance(4000)
    await deliveries.close()
    assert wall.order == ["one"]


async def test_after_a_crash_it_looks_before_it_sends(stage: Stage) -> None:
    """A delivery that was being attempted when the process died is looked for first."""
    _, queued = await queue(stage, "one")
    attempting = Attempting(delivery=queued.id, nth=1)
    await stage.ledger.append(STREAM, [stage.stamp.fact(attempting, actor="runtime")])
    wall = Wall()
    wall.there[nonce(queued.id)] = "m7"
    deliveries = Deliveries(stage.ledger, stage.stamp, {"wall": wall})
    await deliveries.start(stage.ledger)
    await stage.clock.advance(10)
    await deliveries.close()
    assert wall.order == []
    assert (await stage.kinds())[-1] == "delivery.accepted"
    assert await stage.ledger.outbox() == []
