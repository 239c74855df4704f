"""chronicle: every version a mate ran on is in the ledger, once, with who wrote it."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from loopforge.core.events import Event, Fact
from loopforge.core.people_events import MateGone, MateWritten
from loopforge.core.text.erasable_text import FORGOTTEN
from loopforge.errors import BadMate, Changed, InputError, Unknown
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.ledger.sql_ledger import SqlLedger, open_ledger
from loopforge.mates.mate_roster import MateRoster
from loopforge.mates.retired_mates import FOLDER
from loopforge.mates.version_history import (
    STREAM,
    VersionHistory,
    normalize_line_endings,
    version_hash,
)
from loopforge.runtime.system_clock import Stamp, SystemClock, SystemDice

TEXT = "---\nname: {name}\n---\nYou are {name}, the {what}.\n"


def told(name: str = "Ada", what: str = "first") -> str:
    """A mate's file."""
    return TEXT.format(name=name, what=what)


class House:
    """A folder of mates and a database, which may be opened by several processes."""

    def __init__(self, path: Path) -> None:
        self.folder, self.url = path / "mates", f"sqlite:///{path / 'ledger.db'}"
        self.folder.mkdir()

    def put(self, text: str, file: str = "ada.md") -> None:
        """Change a file on disk."""
        (self.folder / file).write_text(text)

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[tuple[VersionHistory, SqlLedger]]:
        """One process: its ledger, its roster and its chronicle."""
        clock, dice = SystemClock(), SystemDice()
        ledger = await open_ledger(self.url, clock, dice)
        try:
            yield VersionHistory(ledger, MateRoster(self.folder), Stamp(clock, dice)), ledger
        finally:
            await ledger.close()


@pytest.fixture
def house(tmp_path: Path) -> House:
    """A house with Ada in it."""
    house = House(tmp_path)
    house.put(told())
    return house


async def facts(ledger: SqlLedger) -> list[tuple[str, str]]:
    """Every fact of the stream: the mate, and what its file says or "gone"."""
    bodies = [event.body for event in await ledger.read(STREAM)]
    return [
        (body.mate, str(body.text) if isinstance(body, MateWritten) else "gone")
        for body in bodies
        if isinstance(body, MateWritten | MateGone)
    ]


async def test_who_is_there_is_written_once(house: House) -> None:
    """The first look appends everybody; looking again, or in a new process, appends nothing."""
    house.put(told("Bob"), "bob.md")
    async with house.opened() as (chronicle, ledger):
        for _ in range(3):
            await chronicle.look()
        assert await facts(ledger) == [("ada", told()), ("bob", told("Bob"))]
        (version,) = await chronicle.versions("ada")
        assert version.hash == MateRoster(house.folder).get("ada").hash == version_hash(told())
        assert version.by == ""
    async with house.opened() as (chronicle, ledger):
        await chronicle.look()
        assert len(await facts(ledger)) == 2


async def test_edits_on_disk_while_running(house: House) -> None:
    """Each version that ran is appended in its order, also if two came between two looks."""
    async with house.opened() as (chronicle, ledger):
        await chronicle.look()
        house.put(told(what="second"))
        chronicle._roster.mates()
        house.put(told(what="third one"))
        await chronicle.look()
        texts = [text for _, text in await facts(ledger)]
        assert texts == [told(), told(what="second"), told(what="third one")]
        newest, *_ = await chronicle.versions("ada")
        assert await chronicle.version("ada", newest.hash) == told(what="third one")


async def test_edits_while_nobody_ran(house: House) -> None:
    """What was changed, added or taken away while nothing ran is noticed at the next start."""
    house.put(told("Bob"), "bob.md")
    async with house.opened() as (chronicle, _):
        await chronicle.look()
    house.put(told(what="changed"))
    house.put(told("Cyd"), "cyd.md")
    (house.folder / "bob.md").unlink()
    async with house.opened() as (chronicle, ledger):
        await chronicle.look()
        await chronicle.look()
        assert (await facts(ledger))[2:] == [
            ("ada", told(what="changed")),
            ("cyd", told("Cyd")),
            ("bob", "gone"),
        ]


async def test_a_file_that_broke_while_nobody_ran_is_waited_for(house: House) -> None:
    """A broken file is no version and its mate is not gone; once the file is away, it is."""
    async with house.opened() as (chronicle, _):
        await chronicle.look()
    house.put("no mate")
    async with house.opened() as (chronicle, ledger):
        await chronicle.look()
        assert await facts(ledger) == [("ada", told())]
        (house.folder / "ada.md").unlink()
        await chronicle.look()
        await chronicle.look()
        assert await facts(ledger) == [("ada", told()), ("ada", "gone")]


async def test_going_and_coming_back(house: House) -> None:
    """A mate that goes is told as gone; the same text again is a new version of its own."""
    async with house.opened() as (chronicle, _):
        await chronicle.look()
        (house.folder / "ada.md").unlink()
        await chronicle.look()
        house.put(told())
        await chronicle.look()
        first = version_hash(told())
        assert [one.hash for one in await chronicle.history("ada")] == [first, "", first]
        assert [one.seq for one in await chronicle.versions("ada")] == [3, 1]


async def test_writing_names_the_author(house: House) -> None:
    """What is written here has its author; a change on disk noticed by the same look has none."""
    async with house.opened() as (chronicle, ledger):
        await chronicle.look()
        house.put(told("Bob"), "bob.md")
        mate = await chronicle.write("ada", told(what="second").replace("\n", "\r\n"), "p1")
        assert (house.folder / "ada.md").read_text() == told(what="second")
        assert mate.hash == version_hash(told(what="second"))
        assert [one.by for one in await chronicle.versions("ada")] == ["p1", ""]
        assert [one.by for one in await chronicle.versions("bob")] == [""]
        assert {event.actor for event in await ledger.read(STREAM)} == {"runtime", "person:p1"}


async def test_a_broken_text_is_not_written(house: House) -> None:
    """A text that is no mate, or another mate, changes nothing and says which line is wrong."""
    async with house.opened() as (chronicle, ledger):
        await chronicle.look()
        with pytest.raises(BadMate) as bad:
            await chronicle.write("ada", "---\nname: Ada\ntier: 9\n---\nx\n", "p1")
        assert bad.value.line == 3
        with pytest.raises(BadMate, match="mind the handle"):
            await chronicle.write("ada", told("Bob"), "p1")
        await chronicle.look()
        assert (house.folder / "ada.md").read_text() == told()
        assert len(await facts(ledger)) == 1


async def test_a_lost_update_is_refused(house: House) -> None:
    """Whoever opened an older text is told so; nothing that they did not see is written over."""
    async with house.opened() as (chronicle, _):
        base = version_hash(chronicle.text("ada.md"))
        house.put(told(what="other hand"))
        with pytest.raises(Changed, match="after you opened it"):
            await chronicle.write("ada", told(what="mine"), "p1", base=base)
        assert chronicle.text("ada.md") == told(what="other hand")
        base = version_hash(chronicle.text("ada.md"))
        await chronicle.write("ada", told(what="mine"), "p1", base=base)
        assert chronicle.text("ada.md") == told(what="mine")


async def test_two_at_once_do_not_lose_one(house: House) -> None:
    """Of two who save on top of the same text, one is written and the other is told."""
    async with house.opened() as (chronicle, ledger):
        await chronicle.look()
        base = version_hash(told())
        texts = [told(what="left hand"), told(what="right hand")]
        done = await asyncio.gather(
            *(chronicle.write("ada", text, "p1", base=base) for text in texts),
            return_exceptions=True,
        )
        assert [type(one).__name__ for one in done] == ["Mate", "Changed"]
        assert (await facts(ledger))[1:] == [("ada", texts[0])]


async def test_a_broken_file_is_mended_in_its_place(house: House) -> None:
    """A file whose name is not its handle is written where it stands, if the handle is free."""
    house.put("no mate", "odd name.md")
    async with house.opened() as (chronicle, _):
        await chronicle.write("bob", told("Bob"), "p1", file="odd name.md")
        assert chronicle._roster.path("bob").name == "odd name.md"
        with pytest.raises(BadMate, match=r"belongs to odd name\.md already"):
            await chronicle.write("bob", told("Bob"), "p1", file="bob.md")
        for name in ("../out.md", "x.txt", "README.md"):
            with pytest.raises(BadMate, match="no name of a mate's file"):
                await chronicle.write("cyd", told("Cyd"), "p1", file=name)


async def test_a_new_mate(house: House) -> None:
    """A new mate's file is named by its handle, and its handle must be free."""
    async with house.opened() as (chronicle, _):
        mate = await chronicle.new(told("Dr. Bob"), "p1")
        assert (house.folder / "dr-bob.md").read_text() == told("Dr. Bob")
        assert [one.by for one in await chronicle.versions(mate.handle)] == ["p1"]
        house.put("no mate", "cyd.md")
        for name in ("Ada", "Cyd"):
            with pytest.raises(InputError, match="is taken"):
                await chronicle.new(told(name, "second"), "p1")
        assert (house.folder / "cyd.md").read_text() == "no mate"


async def test_retiring_and_bringing_back(house: House) -> None:
    """A retired mate is gone in the history, by whom; brought back, it is written again."""
    async with house.opened() as (chronicle, _):
        await chronicle.look()
        assert await chronicle.retire("ada.md", "p1") == "ada.md"
        assert (house.folder / FOLDER / "ada.md").is_file()
        await chronicle.bring_back("ada.md", "p2")
        told_ = [(bool(one.hash), one.by) for one in await chronicle.history("ada")]
        assert told_ == [(True, "p2"), (False, "p1"), (True, "")]


async def test_two_processes_append_each_change_once(house: House) -> None:
    """Two processes that see the same files at the same time write each version once."""
    async with house.opened() as (one, ledger), house.opened() as (other, _):
        for round in range(5):
            house.put(told(what=f"round {round}"))
            await asyncio.gather(one.look(), other.look())
        assert [text for _, text in await facts(ledger)] == [
            told(what=f"round {round}") for round in range(5)
        ]
        assert await one.versions("ada") == await other.versions("ada")


class Watched:
    """A ledger that counts what it is asked, and lets somebody in before the first append."""

    def __init__(self, ledger: SqlLedger, first: Callable[[], Awaitable[None]]) -> None:
        self.event, self.heads, self.decide = ledger.event, ledger.heads, ledger.decide
        self.subscribe, self.told = ledger.subscribe, ledger.told
        self.ledger, self.first, self.asked = ledger, first, Counter[str]()

    async def read(self, stream: str, **which: Any) -> list[Event]:
        """Read, counted."""
        self.asked["read"] += 1
        return await self.ledger.read(stream, **which)

    async def append(
        self, stream: str, facts: Sequence[Fact], *, expect: int | None = None
    ) -> tuple[Event, ...]:
        """Append, counted, after whoever comes first."""
        self.asked["append"] += 1
        if self.asked["append"] == 1:
            await self.first()
        return await self.ledger.append(stream, facts, expect=expect)


async def test_a_conflict_is_looked_at_again(house: House) -> None:
    """What another process appended between our reading and our appending is taken in first.

    A look without news, which the second one is, asks the ledger for nothing at all.
    """
    house.put(told("Bob"), "bob.md")
    async with house.opened() as (_, ledger), house.opened() as (other, _):

        async def meanwhile() -> None:
            """Another process writes the same two, and one of them anew."""
            await other.look()
            house.put(told("Bob", "second"), "bob.md")
            await other.look()

        watched = Watched(ledger, meanwhile)
        chronicle = VersionHistory(
            watched, MateRoster(house.folder), Stamp(SystemClock(), SystemDice())
        )
        await chronicle.look()
        await chronicle.look()
        assert watched.asked == {"read": 3, "append": 1}
        assert await facts(ledger) == [
            ("ada", told()),
            ("bob", told("Bob")),
            ("bob", told("Bob", "second")),
        ]


async def test_what_is_forgotten_says_so(house: House) -> None:
    """The text of an erased version is "[forgotten]"; the version itself stands."""
    async with house.opened() as (chronicle, ledger):
        await chronicle.look()
        (event,) = await ledger.read(STREAM)
        await ledger.erase(ErasureRequest(events=(event.id,), by="p1"))
        (version,) = await chronicle.versions("ada")
        assert await chronicle.version("ada", version.hash) == FORGOTTEN
        await chronicle.write("ada", told(what="next"), "p1")
        assert len(await chronicle.versions("ada")) == 2
        assert (await ledger.verify()).sound


async def test_what_nobody_wrote_is_unknown(house: House) -> None:
    """An unknown hash or mate is an error with its name."""
    async with house.opened() as (chronicle, _):
        await chronicle.look()
        with pytest.raises(Unknown, match="0000"):
            await chronicle.version("ada", "0000")
        with pytest.raises(Unknown, match="nobody"):
            await chronicle.version("nobody", version_hash(told()))
        assert await chronicle.versions("nobody") == []


async def test_events_of_this_process_are_taken_in_at_once(house: House) -> None:
    """What another chronicle of the same process appended is told at once."""
    async with house.opened() as (chronicle, ledger):
        twin = VersionHistory(ledger, MateRoster(house.folder), chronicle._stamp)
        await chronicle.look()
        assert twin._seq == 1


def test_lines_end_as_files_have_them() -> None:
    """What a browser sends is written with plain line ends, the last one too."""
    assert normalize_line_endings("a\r\nb\rc") == "a\nb\nc\n"
    assert normalize_line_endings("a\n") == "a\n"
    assert version_hash(None) == ""
