"""Two programs on one database: a line is heard once, and a person joins once, whoever writes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from loopforge.app import App, open_aside
from loopforge.core.people_events import PersonMet
from loopforge.core.room_vocabulary import (
    Heard,
    MemoryAsked,
    PersonJoined,
    PersonLeft,
    RoomOpened,
    Told,
)
from loopforge.core.text.erasable_text import Words
from loopforge.errors import Unknown
from tests.rooms.conftest import living

TIMES = 12


@asynccontextmanager
async def two(path: Path, url: str) -> AsyncIterator[tuple[App, App]]:
    """Two programs of one home; neither wakes a mate, neither follows the other by itself."""
    async with (
        living(path, seed=1, wake=False, database_url=url) as one,
        living(path, seed=2, wake=False, database_url=url) as other,
    ):
        yield one.app, other.app


async def test_a_room_opens_once_and_a_person_joins_once(ledger_url: str, tmp_path: Path) -> None:
    """Who comes in by both at once is there once, in a room that was opened once."""
    async with two(tmp_path, ledger_url) as apps:
        for nth in range(TIMES):
            scenes = await asyncio.gather(
                *(app.rooms.enter(f"room-{nth}", "ana", "terminal") for app in apps * 2)
            )
            assert len({scene.you for scene in scenes}) == 1
            bodies = [event.body for event in await apps[0].ledger.read(f"room:room-{nth}")]
            assert sum(isinstance(body, PersonJoined) for body in bodies) == 1
            assert sum(isinstance(body, RoomOpened) for body in bodies) == 1
        met = [event.body for event in await apps[0].ledger.read("people")]
        assert sum(isinstance(body, PersonMet) for body in met) == 1


async def test_a_line_is_heard_once(ledger_url: str, tmp_path: Path) -> None:
    """The same line of the same source, by both at once, is one line; both are told which."""
    async with two(tmp_path, ledger_url) as apps:
        you = (await apps[0].rooms.enter("commons", "ana", "terminal")).you
        assert (await apps[1].rooms.enter("commons", "ana", "terminal")).you == you

        async def hears(app: App, nth: int) -> str:
            line = await app.rooms.hear(
                "commons",
                Heard(person=you, text=Words(f"line {nth}"), surface="discord:1", source=f"{nth}"),
            )
            return line.id

        for nth in range(TIMES):
            ids = await asyncio.gather(*(hears(app, nth) for app in apps for _ in range(2)))
            assert len(set(ids)) == 1
        crowd = await asyncio.gather(
            *(hears(app, nth) for nth in range(TIMES, 2 * TIMES) for app in apps)
        )
        assert len(set(crowd)) == TIMES
        events = await apps[0].ledger.read("room:commons")
        said = [str(event.body.text) for event in events if isinstance(event.body, Heard)]
        assert sorted(said) == sorted(f"line {nth}" for nth in range(2 * TIMES))


async def test_who_left_by_the_other_is_gone(ledger_url: str, tmp_path: Path) -> None:
    """Nothing is heard of somebody who left by the other program a moment ago."""
    async with two(tmp_path, ledger_url) as (one, other):
        you = (await one.rooms.enter("commons", "ana", "terminal")).you
        await other.rooms.hear(
            "commons", Heard(person=you, text=Words("hello"), surface="terminal")
        )
        for app in (one, other):
            await asyncio.gather(*(each.rooms.leave("commons", you) for each in (one, other)))
            with pytest.raises(Unknown, match="not in the room"):
                await app.rooms.hear(
                    "commons", Heard(person=you, text=Words("am I here?"), surface="terminal")
                )
            await asyncio.gather(
                *(each.rooms.enter("commons", "ana", "terminal") for each in (one, other))
            )
        bodies = [event.body for event in await one.ledger.read("room:commons")]
        assert sum(isinstance(body, PersonLeft) for body in bodies) == 2
        assert sum(isinstance(body, PersonJoined) for body in bodies) == 3


def told_by(app: App) -> list[tuple[str, int, str]]:
    """What a program's subscribers are told from now on: stream, place in it, kind."""
    told: list[tuple[str, int, str]] = []
    app.ledger.subscribe(lambda stream, new: told.extend((stream, e.seq, e.kind) for e in new))
    return told


async def test_what_the_other_did_is_told_like_ones_own(ledger_url: str, tmp_path: Path) -> None:
    """Names, versions of mates, deleted lines, closed rooms: known to both, whoever did it."""
    async with two(tmp_path, ledger_url) as (one, other):
        ana = await one.people.meet("telegram", "7", "Ana")
        you = (await one.rooms.enter("commons", "Bo", "terminal")).you
        said = await one.rooms.hear(
            "commons",
            Heard(
                person=you, text=Words("the key is under the pot"), surface="discord:1", source="1"
            ),
        )
        before = await other.rooms.state("commons")
        await other.ledger.follow()
        await other.people.refresh()
        assert str(before.lines[said.id].text) == "the key is under the pot"
        told = told_by(one), told_by(other)
        await one.people.meet("telegram", "7", "Anna")
        await one.chronicle.write("maya", "---\nname: Maya\n---\nYou are Maya.\n")
        await one.front.rooms.delete("commons", you, said.id)
        await one.forgetting.finish("room:commons")
        await other.ledger.follow()
        for app in (one, other):
            person = app.people.person(ana.id)
            assert person is not None
            assert str(person.name) == "Anna"
            assert app.chronicle._told["maya"]
            assert "pot" not in " ".join(map(str, (await app.rooms.state("commons")).words()))
        await one.front.closing.close_room("commons", you)
        await other.ledger.follow()
        assert sorted(told[0]) == sorted(told[1])
        assert {"room.line_deleted", "ledger.erased", "room.closed"} < {
            kind for *_, kind in told[1]
        }
        for app in (one, other):
            assert await app.rooms.names() == []


async def test_what_came_of_a_wish_is_told_once(ledger_url: str, tmp_path: Path) -> None:
    """Both find a wish that was not carried out: the room says one line for it."""
    async with two(tmp_path, ledger_url) as apps:
        for nth in range(TIMES):
            room = f"room-{nth}"
            you = (await apps[0].rooms.enter(room, "ana", "terminal", ("maya",))).you
            body = MemoryAsked(
                want="forget", text=Words("quinces"), mates=("maya",), person=you, lines=()
            )
            fact = apps[0].stamp.fact(body, actor=f"person:{you}")
            await apps[0].ledger.append(f"room:{room}", [fact])
        await asyncio.gather(*(app.wishes.resume() for app in apps))
        for nth in range(TIMES):
            every = [event.body for event in await apps[0].ledger.read(f"room:room-{nth}")]
            assert sum(isinstance(body, Told) for body in every) == 1


async def test_a_command_beside_the_host_takes_no_turns(tmp_path: Path) -> None:
    """What it sees happen is the host's to answer: it asks no model, and tells of no trouble."""
    async with living(tmp_path) as home, open_aside(home.app.settings) as aside:
        await home.enter("ana")
        await home.says("ana", "maya, what is up?")
        await aside.ledger.follow()
        await aside.lanes.settled("room:commons")
        await home.rest()
        assert (await home.kinds("turn.")).count("turn.ended") == 1
        assert (await home.said(), await home.told()) == (["maya"], [])
