"""A mailbox: what waits for one terminal that may be slow."""

from __future__ import annotations

from datetime import UTC, datetime

from loopforge.chat.room.room_snapshot import Scene
from loopforge.core.events import Event
from loopforge.core.room_vocabulary import Heard, Noted
from loopforge.core.text.erasable_text import Words
from loopforge.io.socket.send_queue import Mailbox
from loopforge.io.socket.wire_protocol import CommandDone, FromHost, RoomHappened, RoomSight
from loopforge.runtime.ports import Draft, Rested, Thinking, Withdrawn


def heard(seq: int) -> Event:
    """A line."""
    return Event(
        stream="commons",
        seq=seq,
        id=f"e{seq}",
        at=datetime(2026, 10, 8, tzinfo=UTC),
        actor="person:p",
        cause="",
        body=Heard(person="p", text=Words("hi")),
    )


def box(events: int = 4, replies: int = 3) -> Mailbox:
    """A small mailbox that is not behind."""
    made = Mailbox(events, replies)
    made.behind = False
    return made


def everything(mailbox: Mailbox) -> list[FromHost]:
    """What can be popped now."""
    popped = []
    while (frame := mailbox.pop()) is not None:
        popped.append(frame)
    return popped


THINKING = Thinking(turn="t", mate="maya")
RESTED = Rested(turn="t", mate="maya")
WITHDRAWN = Withdrawn(turn="t", mate="maya", why="no")


def draft(text: str) -> Draft:
    """A draft of turn t."""
    return Draft(turn="t", mate="maya", text=text)


def test_a_newer_draft_takes_the_place_of_an_older_one() -> None:
    """Of many drafts of one turn only the newest waits, where the first one stood."""
    mailbox = box()
    for what in (THINKING, draft("a"), heard(1), draft("a b"), draft("a b c")):
        mailbox.hear(what)
    one, two, three = everything(mailbox)
    assert (one, two) == (THINKING, draft("a b c"))
    assert isinstance(three, RoomHappened)


def test_a_draft_after_a_withdrawn_one_is_another() -> None:
    """A draft that was taken back is not overwritten by the next one of the same turn."""
    mailbox = box()
    for what in (THINKING, draft("bad"), WITHDRAWN, draft("good")):
        mailbox.hear(what)
    assert everything(mailbox) == [THINKING, draft("bad"), WITHDRAWN, draft("good")]


def test_too_many_events_are_let_go_and_must_be_read_again() -> None:
    """An overfull mailbox falls behind; it keeps replies and breaths, and no event after that."""
    mailbox = box(events=4)
    mailbox.reply(CommandDone(n=1))
    mailbox.hear(THINKING)
    for seq in range(1, 10):
        mailbox.hear(heard(seq))
    assert mailbox.behind
    assert everything(mailbox) == [CommandDone(n=1), THINKING]
    mailbox.behind = False
    mailbox.hear(heard(10))
    assert [
        frame.event.seq for frame in everything(mailbox) if isinstance(frame, RoomHappened)
    ] == [10]


def test_a_turn_that_came_and_went_unseen_leaves_nothing() -> None:
    """A terminal that stalls through a thousand turns has none of their breaths waiting."""
    mailbox = box()
    for nth in range(1000):
        mailbox.hear(Thinking(turn=str(nth), mate="maya"))
        mailbox.hear(Draft(turn=str(nth), mate="maya", text="x"))
        mailbox.hear(Rested(turn=str(nth), mate="maya"))
    assert everything(mailbox) == []


def test_what_was_taken_back_is_told_however_quickly_it_went() -> None:
    """A turn that came, spoke, was taken back and went unseen is sent whole."""
    mailbox = box()
    for what in (THINKING, draft("bad"), WITHDRAWN, RESTED):
        mailbox.hear(what)
    assert everything(mailbox) == [THINKING, draft("bad"), WITHDRAWN, RESTED]


def test_a_turn_the_terminal_knows_of_is_ended() -> None:
    """Where Thinking was sent already, Rested is sent too."""
    mailbox = box()
    mailbox.hear(THINKING)
    assert mailbox.pop() == THINKING
    mailbox.hear(draft("x"))
    mailbox.hear(RESTED)
    assert everything(mailbox) == [draft("x"), RESTED]


def test_only_the_newest_sight_waits() -> None:
    """Of many looks at the room the last one is sent."""
    mailbox = box()
    for energy in range(5):
        mailbox.see(RoomSight(scene=Scene(room="commons", energy=energy)))
    (sight,) = everything(mailbox)
    assert isinstance(sight, RoomSight)
    assert sight.scene.energy == 4


def test_what_people_may_not_see_does_not_wait() -> None:
    """A mate's note to itself never enters a mailbox."""
    mailbox = box()
    event = heard(1)
    noted = Noted(turn="t", mate="maya", text=Words("hm"))
    mailbox.hear(
        Event(
            stream="commons",
            seq=1,
            id="e",
            at=event.at,
            actor="mate:maya",
            cause="",
            body=noted,
        )
    )
    assert everything(mailbox) == []


async def test_who_asks_too_much_waits_until_answers_are_taken() -> None:
    """`slack` lets nobody pass while too many replies wait."""
    import anyio

    mailbox = box(replies=3)
    passed = []

    async def asking() -> None:
        await mailbox.slack()
        passed.append(True)

    for n in range(3):
        mailbox.reply(CommandDone(n=n))
    async with anyio.create_task_group() as group:
        group.start_soon(asking)
        for _ in range(5):
            await anyio.lowlevel.checkpoint()
        assert not passed
        mailbox.pop()
    assert passed


async def test_waiting_ends_when_something_comes() -> None:
    """`wait` returns at once when there is something, or when the mailbox is behind."""
    import anyio

    mailbox = box()
    async with anyio.create_task_group() as group:
        group.start_soon(mailbox.wait)
        await anyio.lowlevel.checkpoint()
        mailbox.hear(heard(1))
    await mailbox.wait()
    everything(mailbox)
    async with anyio.create_task_group() as group:
        group.start_soon(mailbox.wait)
        await anyio.lowlevel.checkpoint()
        mailbox.fall_behind()
