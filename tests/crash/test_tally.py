"""The count can fail: each kind of trouble, planted into a real home, is found and named."""

import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from loopforge.core.delivery_states import Accepted, Queued
from loopforge.core.events import AnyBody, Event
from loopforge.core.room_vocabulary import Heard, Said
from loopforge.core.text.erasable_text import Words
from loopforge.core.turn_events import TurnEnded
from loopforge.ledger_opening import open_ledger_of
from loopforge.runtime.system_clock import Stamp, SystemClock
from loopforge.settings import load_settings
from tests.crash.child import Options, script_of
from tests.crash.drill import furnish
from tests.crash.tally import Finder, Line, Record, Tally, by_mark, by_turn, count, read
from tests.rooms.conftest import living
from tests.seeded_dice import SeededDice

LINES = [
    Line("t:1", "ana", "@maya [k1] hello", "[k1]", "maya"),
    Line("t:2", "ana", "@merlin [k2] hello", "[k2]", "merlin"),
]


@dataclass
class Scene:
    """A home in which two lines were said and answered, and what its terminal showed."""

    home: Path
    shown: list[Event]
    posts: list[dict[str, Any]]

    async def record(self, lines: Sequence[Line] = LINES, *, repeats: bool = False) -> Record:
        """All there is to count."""
        shown = {"ana": self.shown}
        return await read(self.home, lines, shown, self.posts, repeats=repeats)

    async def tally(self, lines: Sequence[Line] = LINES, find: Finder = by_mark) -> Tally:
        """The count."""
        return count(await self.record(lines), find)

    async def plant(self, *bodies: AnyBody) -> None:
        """Write facts into the ledger that nobody caused."""
        stamp = Stamp(SystemClock(), SeededDice(99))
        async with open_ledger_of(load_settings(self.home, environ={})) as ledger:
            facts = [
                stamp.fact(body, actor="runtime")  # type: ignore[arg-type]
                for body in bodies
            ]
            await ledger.append("room:commons", facts)

    async def event(self, kind: type, nth: int = 0) -> Event:
        """An event of the room by the type of its body."""
        return [e for e in (await self.record()).events if isinstance(e.body, kind)][nth]


@pytest.fixture
async def scene(tmp_path: Path) -> Scene:
    """A room after a quiet talk; everything was shown, posted and accepted."""
    furnish(tmp_path)
    async with living(tmp_path, script_of(Options(home="", wait=0, pause=0))) as home:
        for line in LINES:
            await home.hears("ana", line.text, source=line.source)
        last = (await home.events())[-1]
        await home.app.front.seen("commons", home.people["ana"], last.seq)
        shown = [e for e in await home.events() if isinstance(e.body, Heard | Said)]
    posts = [
        {"delivery": e.id, "of": e.id, "text": str(e.body.text)}
        for e in shown
        if isinstance(e.body, Said)
    ]
    return Scene(tmp_path, shown, posts)


@pytest.mark.parametrize("find", [by_mark, by_turn])
async def test_a_quiet_talk_counts_as_sound(scene: Scene, find: Finder) -> None:
    """Two lines, two answers, nothing lost, nothing doubled, by either way of matching."""
    tally = await scene.tally(find=find)
    assert tally == Tally(lines=2, wanting=2, answers=2, lost=0, duplicated=0, troubles=())
    assert tally.sound


async def doubled_reply(scene: Scene) -> None:
    """The same turn speaks again, in the same words."""
    await scene.plant((await scene.event(Said)).body)


async def second_answer(scene: Scene) -> None:
    """A line is answered by another turn, in other words."""
    body = (await scene.event(Said)).body
    assert isinstance(body, Said)
    await scene.plant(replace(body, turn="another", text=Words("[k1] once more")))


async def doubled_line(scene: Scene) -> None:
    """A person's line is in the ledger twice."""
    await scene.plant((await scene.event(Heard)).body)


async def strange_line(scene: Scene) -> None:
    """The ledger holds a line of a source that never said it."""
    body = (await scene.event(Heard)).body
    assert isinstance(body, Heard)
    await scene.plant(replace(body, source="t:9", text=Words("I was never said")))


async def shown_twice(scene: Scene) -> None:
    """The terminal shows one reply twice."""
    scene.shown.append(scene.shown[-1])


async def same_words_shown(scene: Scene) -> None:
    """The terminal shows the words of a reply again, as another event."""
    scene.shown.append(replace(scene.shown[-1], id="another"))


async def never_shown(scene: Scene) -> None:
    """A reply is not on the screen, though later lines are."""
    del scene.shown[1]


async def posted_twice(scene: Scene) -> None:
    """The board holds one post twice."""
    scene.posts.append(scene.posts[0])


async def never_accepted(scene: Scene) -> None:
    """A delivery is left open."""
    await scene.plant(Queued(surface="terminal", of=(await scene.event(Said)).id))


async def never_posted(scene: Scene) -> None:
    """A delivery to the board was accepted, and nothing is there."""
    stamp = Stamp(SystemClock(), SeededDice(99))
    async with open_ledger_of(load_settings(scene.home, environ={})) as ledger:
        queued = stamp.fact(Queued(surface="board", of="nothing"), actor="runtime")
        taken = stamp.fact(Accepted(delivery=queued.id, message_id="post"), actor="runtime")
        await ledger.append("room:commons", [queued, taken])


async def broken_chain(scene: Scene) -> None:
    """Somebody changes a letter of the file, behind the ledger's back."""
    with closing(sqlite3.connect(scene.home / "data" / "loopforge.db")) as file:
        triggers = file.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for (name,) in triggers:
            file.execute(f"DROP TRIGGER {name}")
        file.execute("UPDATE events SET actor = 'person:x' WHERE kind = 'room.heard'")
        file.commit()


PLANTED: dict[Callable[[Scene], Awaitable[None]], str] = {
    doubled_reply: "duplicated: turn",
    second_answer: "is answered 2 times",
    doubled_line: "2 times in the ledger",
    strange_line: "which nobody said",
    shown_twice: "2 times on ana's screen",
    same_words_shown: "2 times on ana's screen",
    never_shown: "1 lines are not on it",
    posted_twice: "2 times on the board",
    never_accepted: "was accepted 0 times",
    never_posted: "is not on the board",
    broken_chain: "the chain is broken",
}


@pytest.mark.parametrize("plant", PLANTED, ids=lambda plant: plant.__name__)
async def test_a_planted_trouble_is_found(
    scene: Scene, plant: Callable[[Scene], Awaitable[None]]
) -> None:
    """One trouble, put into a sound home, makes the count unsound and is named."""
    await plant(scene)
    tally = await scene.tally()
    assert not tally.sound
    assert any(PLANTED[plant] in trouble for trouble in tally.troubles), tally.troubles


async def test_a_planted_loss_is_found(scene: Scene) -> None:
    """A line that was said and is not in the ledger is lost; it has no answer either."""
    said = [*LINES, Line("t:3", "ana", "@maya [k3] anybody?", "[k3]", "maya")]
    tally = await scene.tally(said)
    assert tally.lost == 2
    assert "lost: '@maya [k3] anybody?' is not in the ledger" in tally.troubles


@pytest.mark.parametrize("find", [by_mark, by_turn])
async def test_a_planted_unanswered_line_is_found(scene: Scene, find: Finder) -> None:
    """A line that is in the ledger and has no answer is unanswered."""
    body = Heard(person="p", text=Words("@maya [k3] anybody?"), surface="terminal", source="t:3")
    await scene.plant(body)
    said = [*LINES, Line("t:3", "ana", "@maya [k3] anybody?", "[k3]", "maya")]
    tally = await scene.tally(said, find)
    assert tally.lost == 1
    assert "unanswered: '@maya [k3] anybody?'" in tally.troubles


async def test_an_answer_by_another_mate_is_found(scene: Scene) -> None:
    """A line to merlin that maya answers is not answered."""
    said = [LINES[0], Line("t:2", "ana", "@merlin [k2] hello", "[k2]", "maya")]
    tally = await scene.tally(said)
    assert tally.lost == 1
    assert any(trouble.startswith("answered by another") for trouble in tally.troubles)


async def test_lines_in_another_order_are_found(scene: Scene) -> None:
    """What a person said first must stand first."""
    tally = await scene.tally(LINES[::-1])
    assert any(trouble.startswith("misplaced: ana's lines") for trouble in tally.troubles)


async def test_a_real_model_may_repeat_itself(scene: Scene) -> None:
    """Where mates may say the same words again, the turn tells doubles apart from repetition."""
    body = (await scene.event(Said)).body
    assert isinstance(body, Said)
    await scene.plant(replace(body, turn="another"))
    record = await scene.record(repeats=True)
    record.shown = {}
    assert count(record, by_turn).sound
    await scene.plant(body)
    assert not count(await scene.record(repeats=True), by_turn).sound


async def test_a_refused_answer_is_no_further_one(tmp_path: Path) -> None:
    """A mate that says the same again to another is refused: none is counted as lost or twice there."""
    furnish(tmp_path)
    async with living(tmp_path, lambda question: "I am a teapot, @merlin and @maya.") as home:
        await home.hears("ana", LINES[0].text, source=LINES[0].source)
        assert await home.said() == ["maya", "merlin"]
        assert [one.outcome for one in await home.bodies(TurnEnded)] == ["done"] * 3
    tally = count(await read(tmp_path, LINES[:1]), by_turn)
    assert (tally.answers, tally.lost, tally.duplicated) == (1, 0, 0)
