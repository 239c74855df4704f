"""Taking in a file: what is kept, what mates read, what is refused."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopforge.artifacts.artifact_store import READING, YOUNG, Artifacts
from loopforge.artifacts.file_intake import (
    LONGEST_NAME,
    NAME_BYTES,
    FileLimits,
    ingest_file,
    plain_name,
)
from loopforge.errors import BadLine, TooLarge
from loopforge.runtime.background_tasks import BackgroundTasks
from tests import documents
from tests.sim_clock import SimClock

LIMITS = FileLimits(size=5000, text=100)
PNG = b"\x89PNG\r\n\x1a\n" + b"\x00" * 50


@pytest.fixture
def artifacts(tmp_path: Path) -> Artifacts:
    """An empty store."""
    return Artifacts(tmp_path, SimClock(datetime(2026, 11, 21, 9, 0, tzinfo=UTC)))


async def test_a_text_is_kept_and_read(artifacts: Artifacts) -> None:
    """A text's bytes are kept as they came; mates read its text; its hash can be forgotten."""
    data = "\ufeffbed one: beans\r\n".encode()
    file = await ingest_file(artifacts, "beds.txt", data, LIMITS)
    assert (str(file.name), file.size, file.media) == ("beds.txt", len(data), "text/plain")
    assert str(file.text) == "bed one: beans\r\n"
    assert await artifacts.get(str(file.hash)) == data
    assert not any(words.public for words in (file.name, file.text, file.hash))


async def test_a_picture_is_kept_and_not_read(artifacts: Artifacts) -> None:
    """What is no text has none; its type comes from its bytes, whatever its name says."""
    file = await ingest_file(artifacts, "notes.txt", PNG, LIMITS)
    assert (file.media, file.text.text, file.text.public) == ("image/png", "", True)
    assert await artifacts.get(str(file.hash)) == PNG


async def test_a_long_text_is_kept_and_not_read(artifacts: Artifacts) -> None:
    """A text beyond what mates may be given is kept whole, and they read nothing of it."""
    file = await ingest_file(artifacts, "long.txt", b"x" * 101, LIMITS)
    assert (file.media, file.text.text) == ("text/plain", "")
    assert await artifacts.has(str(file.hash))


@pytest.mark.parametrize(
    ("data", "error", "why"),
    [
        (b"", BadLine, "is empty"),
        (b" \n", BadLine, "is empty"),
        (b"x" * 5001, TooLarge, "5,001 bytes of at"),
    ],
)
async def test_what_cannot_be_taken_is_refused(
    artifacts: Artifacts, data: bytes, error: type[BadLine], why: str
) -> None:
    """Nothing, and too much, are refused with the file's name, and nothing is kept."""
    with pytest.raises(BadLine, match=rf"a\.txt .*{why}") as refused:
        await ingest_file(artifacts, "a.txt", data, LIMITS)
    assert refused.type is error
    assert await artifacts.hashes() == []


@pytest.mark.parametrize(
    ("given_name", "shown"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\ana\\beds.txt", "beds.txt"),
        ("a\x00b\u202etxt.exe", "abtxt.exe"),
        ("", "file"),
        ("...", "file"),
        ("\xa0", "file"),
        ("two\nlines.txt", "twolines.txt"),
        ("x" * 300 + ".txt", "x" * (LONGEST_NAME - 4) + ".txt"),
        ("x" * 300, "x" * LONGEST_NAME),
        ("文" * 100 + ".pdf", "文" * 65 + ".pdf"),
    ],
)
def test_names_are_made_plain(given_name: str, shown: str) -> None:
    """Folders and hidden signs are left out, and a long name keeps its ending."""
    assert plain_name(given_name) == shown


async def test_what_waits_to_be_read_is_not_swept_away(tmp_path: Path) -> None:
    """A document that comes after many others is there for its line, however long that took."""
    clock = SimClock(datetime(2026, 11, 21, 9, 0, tzinfo=UTC))
    artifacts = Artifacts(tmp_path, clock)
    async with BackgroundTasks() as tasks:
        for _ in range(READING):
            await artifacts.reading.acquire()
        data = documents.saying("Beans grow.")
        coming = tasks.spawn(ingest_file(artifacts, "a.pdf", data, LIMITS), "a file comes in")
        while not artifacts.reading._waiters:
            await asyncio.sleep(0.01)
        await clock.advance(YOUNG + 1)
        assert await artifacts.sweep(_nothing) == []
        artifacts.reading.release()
        assert await artifacts.get(str((await coming).hash)) == data


async def _nothing() -> frozenset[str]:
    return frozenset()


@given(name=st.text(max_size=300))
def test_any_name_becomes_one_that_can_be_shown(name: str) -> None:
    """Whatever somebody calls a file, its name is printable, of one line, and not too long."""
    shown = plain_name(name)
    assert shown.isprintable()
    assert 0 < len(shown) <= LONGEST_NAME
    assert len(shown.encode()) <= NAME_BYTES
    assert "/" not in shown
