"""Kept files: whole or not at all, never damaged, and gone when nobody holds them."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from loopforge.artifacts.artifact_store import YOUNG, Artifacts, hash_of, is_hash
from loopforge.errors import ArtifactError, InputError, Unknown
from tests.sim_clock import SimClock

START = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
HELLO = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"


@pytest.fixture
def clock() -> SimClock:
    """A clock that stands still."""
    return SimClock(START)


@pytest.fixture(params=["folder", "url"])
async def artifacts(
    request: pytest.FixtureRequest, tmp_path: Path, clock: SimClock
) -> AsyncIterator[Artifacts]:
    """An empty store, in a folder and by URL."""
    folder = tmp_path / "artifacts"
    if request.param == "folder":
        yield Artifacts(folder, clock)
    else:
        yield Artifacts("memory:///", clock)


async def nobody() -> frozenset[str]:
    """No event holds anything."""
    return frozenset()


async def test_bytes_come_back_as_they_were(artifacts: Artifacts) -> None:
    """What was put is there under its SHA-256, byte for byte, until it is dropped."""
    for data in (b"hello", b"", bytes(range(256)) * 12):
        hash = await artifacts.put(data)
        assert await artifacts.get(hash) == data
        assert await artifacts.has(hash)
        assert await artifacts.hashes() == [hash]
        await artifacts.drop(hash)
        assert await artifacts.hashes() == []
        with pytest.raises(Unknown):
            await artifacts.get(hash)
    assert await artifacts.put(b"hello") == HELLO


async def test_the_same_twice_is_kept_once(artifacts: Artifacts) -> None:
    """Putting the same bytes at once from many sides leaves one file with them."""
    hashes = await asyncio.gather(*(artifacts.put(b"again") for _ in range(20)))
    assert await artifacts.hashes() == [hashes[0]]
    assert await artifacts.get(hashes[0]) == b"again"


async def test_what_is_not_there_is_unknown(artifacts: Artifacts) -> None:
    """A hash that nothing is kept under raises Unknown; dropping it is quiet."""
    with pytest.raises(Unknown, match="2cf24dba5fb0"):
        await artifacts.get(HELLO)
    assert not await artifacts.has(HELLO)
    await artifacts.drop(HELLO)


@pytest.mark.parametrize("name", ["", "ab", HELLO.upper(), "../" + HELLO, HELLO + "\n", "g" * 64])
async def test_a_name_that_is_no_hash_is_refused(artifacts: Artifacts, name: str) -> None:
    """Only 64 small hex digits name a file, so no name leads out of the folder."""
    assert not is_hash(name)
    for ask in (artifacts.get, artifacts.has, artifacts.drop):
        with pytest.raises(InputError, match="64 hex digits"):
            await ask(name)


async def test_damaged_bytes_are_never_given_out(tmp_path: Path, clock: SimClock) -> None:
    """A file that was changed or cut short on the disk raises; putting it again mends it."""
    artifacts = Artifacts(tmp_path, clock)
    await artifacts.put(b"hello")
    for wrong in (b"hellO", b"hell", b""):
        (tmp_path / HELLO[:2] / HELLO).write_bytes(wrong)
        with pytest.raises(ArtifactError, match="damaged"):
            await artifacts.get(HELLO)
    await artifacts.put(b"hello")
    assert await artifacts.get(HELLO) == b"hello"


async def test_what_nobody_holds_is_swept(artifacts: Artifacts, clock: SimClock) -> None:
    """A sweep drops what no event holds, and nothing else."""
    kept, lost = await artifacts.put(b"kept"), await artifacts.put(b"lost")
    await clock.advance(YOUNG)

    async def held() -> frozenset[str]:
        return frozenset({kept})

    assert await artifacts.sweep(held) == [lost]
    assert await artifacts.hashes() == [kept]


async def test_young_bytes_wait_for_their_event(artifacts: Artifacts, clock: SimClock) -> None:
    """Bytes put a moment ago stay through a sweep; once settled, or old, they do not."""
    first = await artifacts.put(b"first")
    assert await artifacts.sweep(nobody) == []
    artifacts.settle(first)
    assert await artifacts.sweep(nobody) == [first]
    second = await artifacts.put(b"second")
    await clock.advance(YOUNG - 1)
    assert await artifacts.sweep(nobody) == []
    await clock.advance(1)
    assert await artifacts.sweep(nobody) == [second]


async def test_each_putting_is_settled_by_itself(artifacts: Artifacts) -> None:
    """Two people give the same file; when one line came in, the other's bytes still wait."""
    hash = await artifacts.put(b"same")
    await artifacts.put(b"same")
    artifacts.settle(hash)
    assert await artifacts.sweep(nobody) == []
    artifacts.settle(hash)
    assert await artifacts.sweep(nobody) == [hash]


async def test_bytes_whose_line_comes_in_during_a_sweep_stay(artifacts: Artifacts) -> None:
    """The event is written after the sweep has asked who holds what: the bytes stay."""
    hash = await artifacts.put(b"just now")

    async def held() -> frozenset[str]:
        artifacts.settle(hash)  # its line is in the ledger a moment after this answer was made
        return frozenset()

    assert await artifacts.sweep(held) == []
    assert await artifacts.has(hash)


async def test_nothing_is_put_between_the_asking_and_the_dropping(artifacts: Artifacts) -> None:
    """The same bytes given anew while their old file is swept are there afterwards."""
    hash = await artifacts.put(b"twice")
    artifacts.settle(hash)
    putting: list[asyncio.Task[str]] = []

    async def held() -> frozenset[str]:
        putting.append(asyncio.ensure_future(artifacts.put(b"twice")))  # noqa: TID251
        while not (putting[0].done() or artifacts._still._waiters):
            await asyncio.sleep(0)
        return frozenset()

    await artifacts.sweep(held)
    await putting[0]
    assert await artifacts.get(hash) == b"twice"


async def test_what_a_crash_left_half_written_is_no_file(tmp_path: Path, clock: SimClock) -> None:
    """A file written aside by a process that died is not listed, and the next sweep deletes it."""
    artifacts = Artifacts(tmp_path, clock)
    await artifacts.put(b"hello")
    half, other = tmp_path / "2c" / f"{HELLO}#1", tmp_path / "notes.txt"
    half.write_bytes(b"hel")
    other.write_bytes(b"not ours")
    assert await artifacts.hashes() == [HELLO]
    await artifacts.sweep(nobody)
    assert not half.exists()
    assert other.exists()


async def test_a_folder_that_cannot_be_used_is_told(tmp_path: Path, clock: SimClock) -> None:
    """Where a file stands in place of the folder, the error says where and what to do.

    The words of the disk or the store are not for rooms, nor is where the home lies.
    """
    (tmp_path / "artifacts").write_text("in the way")
    artifacts = Artifacts(tmp_path / "artifacts", clock)
    for work in (artifacts.put(b"x"), artifacts.get(HELLO), artifacts.hashes()):
        match = r"artifacts could not be (written|read): the disk or the store failed\. The home's"
        with pytest.raises(ArtifactError, match=match) as told:
            await work
        assert str(tmp_path) not in str(told.value)
    assert artifacts.young() == frozenset()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 kB in memory."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(tmp_path)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root may mount a small file system here")
    yield tmp_path
    subprocess.run(["umount", "-l", str(tmp_path)], check=True)


def files(folder: Path) -> list[str]:
    """The names of all files in a folder and below."""
    return [path.name for path in folder.glob("**/*") if path.is_file()]


async def test_a_full_disk_is_told_and_leaves_nothing(small_disk: Path, clock: SimClock) -> None:
    """On a full disk nothing half-written stays, the error says so, and reading goes on."""
    artifacts = Artifacts(small_disk, clock)
    small, large = b"s" * 1000, b"l" * 200_000
    await artifacts.put(small)
    with pytest.raises(ArtifactError, match=r"the disk is full\. Make room"):
        await artifacts.put(large)
    assert not await artifacts.has(hash_of(large))
    assert files(small_disk) == [hash_of(small)]
    assert await artifacts.get(hash_of(small)) == small


PUTTING = """
import asyncio, sys
from pathlib import Path
from loopforge.artifacts.artifact_store import Artifacts
from loopforge.runtime.system_clock import SystemClock

async def put() -> None:
    artifacts = Artifacts(Path(sys.argv[1]), SystemClock())
    for number in range(100):
        await artifacts.put(b"%d " % number * 20_000)
        print(number, flush=True)

asyncio.run(put())
"""


@pytest.mark.patient
async def test_two_processes_share_a_folder(tmp_path: Path, clock: SimClock) -> None:
    """While one process writes, another sweeps again and again; nothing that is held is lost."""
    line = (sys.executable, "-c", PUTTING, str(tmp_path))
    pipe = subprocess.PIPE
    writing = await asyncio.create_subprocess_exec(*line, stdout=pipe, stderr=pipe)
    assert writing.stdout is not None
    artifacts = Artifacts(tmp_path, clock)

    async def held() -> list[str]:
        return await artifacts.hashes()

    while await writing.stdout.readline():
        for _ in range(20):
            await artifacts.sweep(held)
    _, wrong = await writing.communicate()
    assert wrong == b""
    assert await artifacts.hashes() == sorted(hash_of(b"%d " % n * 20_000) for n in range(100))
