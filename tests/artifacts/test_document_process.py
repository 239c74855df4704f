"""Reading documents: what they say, honest words where they say nothing, limits for what does harm."""

import asyncio
import io
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from openpyxl import Workbook

from loopforge.artifacts import document_readers
from loopforge.artifacts.artifact_store import Artifacts
from loopforge.artifacts.document_process import BOUNDS, DocumentLimits, FileText, read_document
from loopforge.artifacts.file_intake import FileLimits, ingest_file
from loopforge.core.text.document_kinds import DOCX, PDF, PPTX, XLSX
from loopforge.errors import ArtifactError
from tests import documents
from tests.documents import letter, repacked, table, talk
from tests.sim_clock import SimClock

BEANS = documents.saying("Beans grow in bed one.", "", "Slugs eat them (all of them).")


async def test_what_a_pdf_says_is_read(tmp_path: Path) -> None:
    """A PDF is kept as it came; its text, page by page, is what mates read, and can be forgotten."""
    artifacts = Artifacts(tmp_path, SimClock(datetime(2026, 11, 21, 9, 0, tzinfo=UTC)))
    file = await ingest_file(artifacts, "beds.pdf", BEANS, FileLimits(50_000, 5000))
    assert str(file.text) == (
        "[page 1 of 3]\nBeans grow in bed one.\n"
        "[page 2 of 3: without text]\n"
        "[page 3 of 3]\nSlugs eat them (all of them).\n"
    )
    assert (file.media, file.pages, file.unread) == ("application/pdf", 3, "")
    assert (file.length, file.text.public) == (len(str(file.text)), False)
    assert await artifacts.get(str(file.hash)) == BEANS


async def test_a_file_that_is_out_of_reach_is_not_gone(tmp_path: Path) -> None:
    """Of one that is gone an erasure has nothing to fear; what this one says, nobody can tell."""
    artifacts = Artifacts(tmp_path, SimClock(datetime(2026, 11, 21, 9, 0, tzinfo=UTC)))
    hash, said = await artifacts.put(b"rhubarb"), FileText(artifacts)
    assert said(hash) == "rhubarb"
    path = tmp_path / hash[:2] / hash
    path.unlink()
    assert said(hash) == ""
    path.symlink_to(path)  # which no system opens, whoever asks
    assert said(hash) is None
    with pytest.raises(ArtifactError, match="could not be read: the disk or the store failed"):
        artifacts.read(hash)


@pytest.mark.parametrize(
    ("made", "pages", "unread"),
    [
        (lambda: documents.saying("", "", ""), 3, "scanned"),
        (lambda: documents.locked(BEANS, "bed four"), 0, "protected"),
        (lambda: BEANS[:300], 0, "damaged"),
        (lambda: documents.written([documents.deep()]), 1, "heavy"),
        (documents.bomb, 1, "heavy"),
    ],
    ids=["scanned", "protected", "damaged", "nested", "unfolding"],
)
async def test_why_nothing_can_be_read(
    tmp_path: Path, made: Callable[[], bytes], pages: int, unread: str
) -> None:
    """A PDF that tells nothing is kept, with the reason why, and no text that could be forgotten."""
    artifacts = Artifacts(tmp_path, SimClock(datetime(2026, 11, 21, 9, 0, tzinfo=UTC)))
    file = await ingest_file(artifacts, "beds.pdf", made(), FileLimits(500_000, 5000))
    assert (file.pages, file.unread) == (pages, unread)
    assert (file.text.text, file.text.public, file.length) == ("", True, 0)
    assert await artifacts.has(str(file.hash))


LETTER = """# Rhubarb
Bed two, since spring.
- stalks
- no leaves
bed | weeks
two | 6
It ends here.
"""
TALK = """[slide 1 of 2]
Why it hums
Wind at 9 m/s
span | metres
main | 318
[the speaker's notes] Nobody asked about the wind.
[slide 2 of 2: hidden, without text]
"""
TABLE = """[sheet 1 of 3: beds]
bed | weeks | since
two | 6 | 2026-03-01
three
[sheet 2 of 3: cellar, hidden]
four
[sheet 3 of 3: attic, without text]
"""


@pytest.mark.parametrize(
    ("media", "made", "pages", "told"),
    [
        (DOCX, letter, 0, LETTER),
        (PPTX, talk, 2, TALK),
        (XLSX, table, 3, TABLE),
    ],
    ids=["docx", "pptx", "xlsx"],
)
async def test_what_an_office_document_says_is_read(
    tmp_path: Path, media: str, made: Callable[[], bytes], pages: int, told: str
) -> None:
    """Headings, lists, tables, notes and hidden sheets: what is not seen at once is marked."""
    artifacts = Artifacts(tmp_path, SimClock(datetime(2026, 11, 21, 9, 0, tzinfo=UTC)))
    file = await ingest_file(artifacts, "beds", made(), FileLimits(500_000, 5000))
    assert str(file.text) == told
    assert (file.media, file.pages, file.unread) == (media, pages, "")


@pytest.mark.parametrize(
    ("media", "made", "unread"),
    [
        pytest.param(
            DOCX,
            lambda: repacked(letter(), b"Bed two", bytes(600_000_000)),
            "heavy",
            marks=pytest.mark.patient,
        ),
        (DOCX, lambda: letter()[:20_000], "damaged"),
        (DOCX, lambda: letter(empty=True), "scanned"),
        (PPTX, lambda: repacked(talk(), b"<p:cSld", b"<p:nothing"), "damaged"),
        (XLSX, lambda: repacked(table(), b"<row", b"<row r='-4'"), "damaged"),
    ],
    ids=["unfolding", "cut off", "empty", "torn", "wrong"],
)
async def test_an_office_document_that_cannot_be_read(
    media: str, made: Callable[[], bytes], unread: str
) -> None:
    """Those that unfold to a gigabyte, were cut off, hold nothing: each is told for what it is."""
    assert (await read_document(media, made(), 5000)).unread == unread


async def test_nothing_of_the_machine_gets_into_a_letter(tmp_path: Path) -> None:
    """An entity that names a file, or unfolds to others, stands for nothing."""
    (tmp_path / "secret").write_text("rhubarb")
    kinds = f"""<!DOCTYPE x [<!ENTITY e SYSTEM "file://{tmp_path}/secret">"""
    kinds += """<!ENTITY a "AAAAAAAAAA"><!ENTITY b "&a;&a;&a;&a;">]>"""
    data = repacked(letter(), b"<w:document", kinds.encode() + b"<w:document")
    data = repacked(data, b"Bed two", b"Bed two &e; &b;")
    read = await read_document(DOCX, data, 5000)
    assert "rhubarb" not in read.text
    assert "AAAA" not in read.text


PARAGRAPH = b"<w:t>Bed two, since spring.</w:t></w:r></w:p>"
CHANGED = b"""<w:t>Bed </w:t></w:r><w:del><w:r><w:delText>one</w:delText></w:r></w:del>
<w:moveFrom><w:r><w:t>nine</w:t></w:r></w:moveFrom><w:ins><w:r><w:t>two, since spring.</w:t></w:r></w:ins></w:p>"""
FRAMED = b"<w:sdt><w:sdtContent><w:p><w:r>%s</w:sdtContent></w:sdt>" % PARAGRAPH
IN_CELL = b"<w:tbl><w:tr><w:tc><w:p><w:r><w:t>two</w:t></w:r></w:p></w:tc></w:tr></w:tbl>"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (PARAGRAPH, CHANGED),
        (b"<w:p><w:r>" + PARAGRAPH, FRAMED),
        (b"<w:p><w:r><w:t>two</w:t></w:r></w:p>", IN_CELL),
        (b"wordprocessingml.document.main+xml", b"wordprocessingml.template.main+xml"),
        (
            b"vnd.openxmlformats-officedocument.wordprocessingml.document.main",
            b"vnd.ms-word.document.macroEnabled.main",
        ),
    ],
    ids=["changed", "framed", "table in a table", "template", "macros"],
)
async def test_a_letter_that_was_made_otherwise(old: bytes, new: bytes) -> None:
    """Changes that wait to be accepted, fields to fill in, tables in tables, macros: words are words."""
    data = repacked(letter(), old, new)
    assert data != repacked(letter(), b"", b""), "what is to be changed is in it"
    assert (await read_document(DOCX, data, 5000)).text == LETTER


async def test_a_show_of_slides_is_a_presentation() -> None:
    """One that is saved to be shown, not edited, says the same."""
    data = repacked(talk(), b"presentation.main+xml", b"slideshow.main+xml")
    assert (await read_document(PPTX, data, 5000)).text == TALK


async def test_a_cell_far_away_is_read() -> None:
    """A million empty rows of sixteen thousand cells are no work."""
    book = Workbook()
    book.active["A1"], book.active["XFD1048576"] = "near", "far"
    held = io.BytesIO()
    book.save(held)
    read = await read_document(XLSX, held.getvalue(), 80_000)
    assert read.text.replace(" | ", "") == "[sheet 1 of 1: Sheet]\nnear\nfar\n"


def test_what_was_read_until_time_is_over_is_told() -> None:
    """A letter of which there was no time to read all says what its first lines say."""

    def lines() -> Iterator[str]:
        yield "Beans grow."
        raise document_readers.LimitReached

    part = document_readers.DocumentPart("", lines)
    read = document_readers._read([part], (0, ""), 5000, 9, (MemoryError,))
    assert read == (0, "Beans grow.\n\n[cut here]", "")


async def test_a_long_table_is_cut_after_the_rows_that_fit() -> None:
    """A hundred thousand rows: those that fit are read, and a mark says that there are more."""
    read = await read_document(XLSX, table(rows=20_000), 500)
    assert read.text.startswith("[sheet 1 of 3: beds]\nbed | weeks | since\ntwo | 6")
    assert read.text.endswith("[cut here, at sheet 1 of 3]")
    assert len(read.text) <= 500


async def test_a_page_that_cannot_be_read_is_named() -> None:
    """One page that is too much hides no other one, and is not told to be empty."""
    data = documents.written([documents.deep(), documents.words("Beans grow.")])
    told = "[page 1 of 2: too much to be read]\n[page 2 of 2]\nBeans grow.\n"
    assert (await read_document(PDF, data, 5000)).text == told


async def test_one_that_anybody_may_open_is_read() -> None:
    """Protected against being changed is not protected against being read."""
    assert "Beans grow" in (await read_document(PDF, documents.locked(BEANS, ""), 5000)).text


@pytest.mark.parametrize(
    ("most", "bounds", "said"),
    [
        (
            5000,
            DocumentLimits(pages=2),
            "[page 2 of 3: without text]\n\n[cut here, at page 2 of 3]",
        ),
        (100, BOUNDS, "[page 1 of 3]\nBeans \n[cut here, at page 1 of 3]"),
        (50, BOUNDS, ""),
    ],
    ids=["pages", "bytes", "nothing fits"],
)
async def test_a_long_one_is_cut(most: int, bounds: DocumentLimits, said: str) -> None:
    """Beyond the pages or the bytes that may be read there is a mark that says where it was cut."""
    reading = await read_document(PDF, BEANS, most, bounds)
    assert reading.text.endswith(said) if said else not reading.text
    assert len(reading.text.encode()) <= most
    assert (reading.pages, reading.unread) == (3, "")


async def test_time_of_the_processor_is_limited() -> None:
    """Once half of its seconds of a processor are used, it ends with the pages that it has, and says so."""
    data = documents.written([documents.words("Beans grow."), documents.labour()])
    reading = await read_document(PDF, data, 5000, DocumentLimits(seconds=4, wall=200.0))
    assert reading.text == "[page 1 of 2]\nBeans grow.\n\n[cut here, at page 1 of 2]"


async def test_memory_is_limited() -> None:
    """A page that can be read, but not in this memory, is not read."""
    data = documents.written([documents.packed(bytes(documents.LARGE))])
    assert (await read_document(PDF, data, 5000)).unread == "scanned"
    assert (
        await read_document(PDF, data, 5000, DocumentLimits(memory=140_000_000))
    ).unread == "heavy"


async def test_it_hurries_by_itself() -> None:
    """Once half of all its time is over it says what it has, whatever it waits for."""
    program = str(Path(document_readers.__file__))
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", program, "pdf", "5000", "200", "10", str(BOUNDS.memory), "0.1"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    assert b'"heavy"' in await process.stdout.read()
    assert await process.wait() == 0


WITHIN_A_CLASS = """
import sys
from loopforge.artifacts import document_readers

class Part:
    def __set_name__(self, owner, name):
        raise document_readers.LimitReached

document_readers.import_module = lambda _: type("Library", (), {"part": Part()})
sys.argv = ["", "pdf", "5000", "200", "10", "1000000000", "60"]
document_readers.main()
"""


async def test_a_signal_within_a_class_is_one_too() -> None:
    """The clock's signal may come where Python makes another error of it: that says heavy, too."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", WITHIN_A_CLASS),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    assert b'"heavy"' in await process.stdout.read()
    assert await process.wait() == 0


async def test_who_takes_too_long_is_killed() -> None:
    """When time is over, nobody waits for the process, which is killed by then."""
    assert (await read_document(PDF, BEANS, 5000, DocumentLimits(wall=0.001))).unread == "heavy"


async def test_the_home_itself_never_parses_one() -> None:
    """What took in a PDF has not loaded pypdf."""
    code = (
        "import asyncio, sys; from loopforge.artifacts.file_intake import read_document\n"
        "text = asyncio.run(read_document('application/pdf', sys.stdin.buffer.read(), 5000)).text\n"
        "print('Beans' in text, 'pypdf' in sys.modules)"
    )
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", code), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert (await process.communicate(BEANS))[0] == b"True False\n"
