"""Reading PDFs: what they say, honest words where they say nothing, limits for what does harm."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from loopforge.artifacts import pdf_child
from loopforge.artifacts.artifact_store import Artifacts
from loopforge.artifacts.file_intake import FileLimits, receive
from loopforge.artifacts.pdf_extract import BOUNDS, Bounds, read_pdf
from loopforge.runtime.system_clock import SimClock
from tests import pdfs

BEANS = pdfs.saying("Beans grow in bed one.", "", "Slugs eat them (all of them).")


async def test_what_a_pdf_says_is_read(tmp_path: Path) -> None:
    """A PDF is kept as it came; its text, page by page, is what mates read, and can be forgotten."""
    artifacts = Artifacts(tmp_path, SimClock(datetime(2026, 11, 21, 9, 0, tzinfo=UTC)))
    file = await receive(artifacts, "beds.pdf", BEANS, FileLimits(50_000, 5000))
    assert str(file.text) == (
        "[page 1 of 3]\nBeans grow in bed one.\n"
        "[page 2 of 3: without text]\n"
        "[page 3 of 3]\nSlugs eat them (all of them).\n"
    )
    assert (file.media, file.pages, file.unread) == ("application/pdf", 3, "")
    assert (file.length, file.text.public) == (len(str(file.text)), False)
    assert await artifacts.get(str(file.hash)) == BEANS


@pytest.mark.parametrize(
    ("made", "pages", "unread"),
    [
        (lambda: pdfs.saying("", "", ""), 3, "scanned"),
        (lambda: pdfs.locked(BEANS, "bed four"), 0, "protected"),
        (lambda: BEANS[:300], 0, "damaged"),
        (lambda: pdfs.written([pdfs.deep()]), 1, "heavy"),
        (pdfs.bomb, 1, "heavy"),
    ],
    ids=["scanned", "protected", "damaged", "nested", "unfolding"],
)
async def test_why_nothing_can_be_read(
    tmp_path: Path, made: Callable[[], bytes], pages: int, unread: str
) -> None:
    """A PDF that tells nothing is kept, with the reason why, and no text that could be forgotten."""
    artifacts = Artifacts(tmp_path, SimClock(datetime(2026, 11, 21, 9, 0, tzinfo=UTC)))
    file = await receive(artifacts, "beds.pdf", made(), FileLimits(500_000, 5000))
    assert (file.pages, file.unread) == (pages, unread)
    assert (file.text.text, file.text.public, file.length) == ("", True, 0)
    assert await artifacts.has(str(file.hash))


async def test_a_page_that_cannot_be_read_is_named() -> None:
    """One page that is too much hides no other one, and is not told to be empty."""
    data = pdfs.written([pdfs.deep(), pdfs.words("Beans grow.")])
    told = "[page 1 of 2: too much to be read]\n[page 2 of 2]\nBeans grow.\n"
    assert (await read_pdf(data, 5000)).text == told


async def test_one_that_anybody_may_open_is_read() -> None:
    """Protected against being changed is not protected against being read."""
    assert "Beans grow" in (await read_pdf(pdfs.locked(BEANS, ""), 5000)).text


@pytest.mark.parametrize(
    ("most", "bounds", "said"),
    [
        (5000, Bounds(pages=2), "[page 2 of 3: without text]\n\n[cut here, at page 2 of 3]"),
        (100, BOUNDS, "[page 1 of 3]\nBeans \n[cut here, at page 1 of 3]"),
        (50, BOUNDS, ""),
    ],
    ids=["pages", "bytes", "nothing fits"],
)
async def test_a_long_one_is_cut(most: int, bounds: Bounds, said: str) -> None:
    """Beyond the pages or the bytes that may be read there is a mark that says where it was cut."""
    reading = await read_pdf(BEANS, most, bounds)
    assert reading.text.endswith(said) if said else not reading.text
    assert len(reading.text.encode()) <= most
    assert (reading.pages, reading.unread) == (3, "")


async def test_time_of_the_processor_is_limited() -> None:
    """Once half of its seconds of a processor are used, it ends with the pages that it has, and says so."""
    data = pdfs.written([pdfs.words("Beans grow."), pdfs.labour()])
    reading = await read_pdf(data, 5000, Bounds(seconds=4, wall=200.0))
    assert reading.text == "[page 1 of 2]\nBeans grow.\n\n[cut here, at page 1 of 2]"


async def test_memory_is_limited() -> None:
    """A page that can be read, but not in this memory, is not read."""
    data = pdfs.written([pdfs.packed(bytes(pdfs.LARGE))])
    assert (await read_pdf(data, 5000)).unread == "scanned"
    assert (await read_pdf(data, 5000, Bounds(memory=140_000_000))).unread == "heavy"


async def test_it_hurries_by_itself() -> None:
    """Once half of all its time is over it says what it has, whatever it waits for."""
    program = str(Path(pdf_child.__file__))
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", program, "5000", "200", "10", str(BOUNDS.memory), "0.1"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    assert b'"heavy"' in await process.stdout.read()
    assert await process.wait() == 0


async def test_who_takes_too_long_is_killed() -> None:
    """When time is over, nobody waits for the process, which is killed by then."""
    assert (await read_pdf(BEANS, 5000, Bounds(wall=0.001))).unread == "heavy"


async def test_the_home_itself_never_parses_one() -> None:
    """What took in a PDF has not loaded pypdf."""
    code = (
        "import asyncio, sys; from loopforge.artifacts.file_intake import read_pdf\n"
        "text = asyncio.run(read_pdf(sys.stdin.buffer.read(), 5000)).text\n"
        "print('Beans' in text, 'pypdf' in sys.modules)"
    )
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", code), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert (await process.communicate(BEANS))[0] == b"True False\n"
