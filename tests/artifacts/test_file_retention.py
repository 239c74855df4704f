"""Which kept files the ledger holds, on both databases, and what is swept when it forgets."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from loopforge.artifacts.artifact_store import YOUNG, Artifacts, hash_of
from loopforge.artifacts.file_retention import (
    FileSweeper,
    KeptFiles,
    delete_unreferenced_files,
    referenced_hashes,
)
from loopforge.core.events import Event
from loopforge.core.room_vocabulary import File
from loopforge.core.text.erasable_text import Words, public_words
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.ledger.sql_ledger import SqlLedger
from loopforge.runtime.background_tasks import BackgroundTasks
from tests.ledger.saying import NOON, ROOM, Scribbler, opened
from tests.sim_clock import SimClock
from tests.still import still

scribbler = Scribbler()


class House:
    """A ledger, a store, and the keeper between them."""

    def __init__(self, ledger: SqlLedger, folder: Path) -> None:
        self.clock, self.tasks, self.ledger = SimClock(NOON), BackgroundTasks(), ledger
        still(self.clock, ledger)
        self.artifacts = Artifacts(folder, self.clock)
        self.keeper = FileSweeper(ledger, self.artifacts, self.tasks, self.clock)
        self.keeper.follow()

    async def give(self, *contents: bytes, room: str = ROOM) -> Event:
        """Somebody says a line with these files."""
        files = [
            File(
                name=Words("a.png"),
                size=len(data),
                text=public_words(""),
                hash=Words(await self.artifacts.put(data)),
                media="image/png",
            )
            for data in contents
        ]
        (event,) = await self.ledger.append(room, [scribbler.heard("look", files=tuple(files))])
        return event

    async def rest(self) -> None:
        """Wait until the keeper has nothing left to do at once."""
        await asyncio.sleep(0)
        await asyncio.gather(*(task for task in self.tasks._running if "later" not in str(task)))


@pytest.fixture
async def home(ledger_url: str, tmp_path: Path) -> AsyncIterator[House]:
    """A house with an empty ledger."""
    async with opened(ledger_url, [KeptFiles()]) as ledger:
        made = House(ledger, tmp_path)
        try:
            yield made
        finally:
            await made.tasks.close()


async def contents(artifacts: Artifacts) -> Sequence[bytes]:
    """Everything that is kept."""
    return sorted([await artifacts.get(hash) for hash in await artifacts.hashes()])


async def test_the_view_says_what_is_held(home: House) -> None:
    """Each file that came with a line is held, in whatever room; also when the view is rebuilt."""
    await home.give(b"one", b"two", b"one")
    await home.give(b"one", room="room:b")
    one, two = hash_of(b"one"), hash_of(b"two")
    assert await home.ledger.look(referenced_hashes) == {one, two}
    assert await home.ledger.rebuild() >= 2
    assert await home.ledger.look(referenced_hashes) == {one, two}
    assert (await home.ledger.verify()).sound


async def test_an_erased_line_takes_its_files_along(home: House) -> None:
    """When a line is forgotten its files are deleted, but not those that another line holds."""
    line = await home.give(b"hers alone", b"shared")
    await home.give(b"shared", b"others", room="room:b")
    await home.ledger.erase(ErasureRequest(events=(line.id,), exactly=True))
    await home.rest()
    assert await contents(home.artifacts) == [b"others", b"shared"]
    assert (await home.ledger.verify()).sound


def holds(folder: Path, hash: str) -> bool:
    """Whether a file of the database there holds it."""
    return any(hash.encode() in path.read_bytes() for path in folder.glob("ledger.db*"))


@pytest.mark.parametrize("ledger_url", ["sqlite"], indirect=True)
async def test_the_hash_itself_is_forgotten(home: House, tmp_path: Path) -> None:
    """After an erasure not even the hash of the bytes stands in a file of the database."""
    line = await home.give(b"rhubarb")
    (hash,) = await home.artifacts.hashes()
    assert holds(tmp_path, hash)
    await home.ledger.erase(ErasureRequest(events=(line.id,), exactly=True))
    assert not holds(tmp_path, hash)


async def test_bytes_without_a_line_are_swept_at_the_start(home: House, tmp_path: Path) -> None:
    """What was put by a process that died before its line was heard is gone after a start."""
    await home.give(b"heard")
    await Artifacts(tmp_path, home.clock).put(b"never heard")
    home.keeper.soon()
    await home.rest()
    assert await contents(home.artifacts) == [b"heard"]


async def test_what_was_young_is_looked_at_again(home: House) -> None:
    """Bytes whose line never came are gone some minutes after the sweep that spared them."""
    await home.artifacts.put(b"never heard")
    home.keeper.soon()
    await home.rest()
    assert await contents(home.artifacts) == [b"never heard"]
    await home.clock.advance(YOUNG)
    await home.rest()
    assert await contents(home.artifacts) == []


async def test_a_refused_line_lets_its_bytes_go(home: House) -> None:
    """Settled bytes that no event holds go with the next sweep, without waiting."""
    home.artifacts.settle(await home.artifacts.put(b"refused"))
    home.keeper.soon()
    await home.rest()
    assert await contents(home.artifacts) == []


async def test_what_another_process_erased_is_swept(
    home: House, ledger_url: str, tmp_path: Path
) -> None:
    """An erasure by a command is noticed by the running keeper; other changes sweep nothing."""
    line = await home.give(b"hers")
    await Artifacts(tmp_path, home.clock).put(b"never heard")
    async with opened(ledger_url, [KeptFiles()]) as other:
        await home.ledger.follow()
        await home.rest()
        assert len(await home.artifacts.hashes()) == 2
        await other.erase(ErasureRequest(events=(line.id,), exactly=True))
        await home.ledger.follow()
    await home.rest()
    assert await contents(home.artifacts) == []


async def test_a_sweep_by_hand_says_what_went(home: House, tmp_path: Path) -> None:
    """`sweep` returns the hashes of what it dropped."""
    await home.give(b"held")
    lost = await Artifacts(tmp_path, home.clock).put(b"lost")
    assert await delete_unreferenced_files(home.ledger, home.artifacts) == [lost]
    assert await delete_unreferenced_files(home.ledger, home.artifacts) == []
