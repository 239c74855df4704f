"""Documents for tests: PDFs of a few lines of bytes each, letters, talks and tables; good and bad."""

import io
import re
import zipfile
import zlib
from collections.abc import Sequence
from datetime import date
from typing import Any

from docx import Document
from openpyxl import Workbook
from pptx import Presentation
from pptx.util import Cm
from pypdf import PdfReader, PdfWriter

LARGE = 60_000_000
"""Bytes: less than what pypdf by itself refuses."""

_FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"


def written(streams: Sequence[bytes], font: bytes = _FONT) -> bytes:
    """A PDF with one page for each of these contents, given as stream objects."""
    count = len(streams)
    kids = b" ".join(b"%d 0 R" % (4 + 2 * nth) for nth in range(count))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, count),
        font,
    ]
    for nth, stream in enumerate(streams):
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R "
            b"/Resources << /Font << /F1 3 0 R >> >> >>" % (5 + 2 * nth)
        )
        objects.append(stream)
    out, places = bytearray(b"%PDF-1.4\n"), []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n" % (len(objects) + 1, start)
    return bytes(out + b"%%EOF\n")


def plain(content: bytes) -> bytes:
    """A stream object that holds these bytes as they are."""
    return b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content)


def packed(content: bytes, already: int = 0) -> bytes:
    """A stream object that holds these bytes compressed, once more than they are already."""
    content = zlib.compress(content, 9)
    filters = b"/FlateDecode " * (already + 1)
    head = b"<< /Length %d /Filter [%s] >>" % (len(content), filters)
    return b"%s\nstream\n%s\nendstream" % (head, content)


def words(text: str) -> bytes:
    """The contents of a page with one line, or of one without words."""
    line = re.sub(r"([()\\])", r"\\\1", text).encode("ascii")
    return plain(b"BT /F1 12 Tf 72 720 Td (%s) Tj ET" % line if text else b"")


def saying(*pages: str) -> bytes:
    """A PDF whose pages say this, in one line each; "" for a page without words."""
    return written([words(page) for page in pages])


def locked(data: bytes, password: str) -> bytes:
    """The same, opened only by this password ("": by anybody, and changed by nobody)."""
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(data)))
    writer.encrypt(password, "the owner's", algorithm="AES-256")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def bomb() -> bytes:
    """A few kilobytes that unfold to a gigabyte."""
    return written([packed(zeros(1000), already=1)])


def zeros(megabytes: int) -> bytes:
    """So many million zeros, compressed: the first million again and again, which takes no time."""
    deflate = zlib.compressobj(9, wbits=-15)
    million = deflate.compress(bytes(1_000_000)) + deflate.flush(zlib.Z_FULL_FLUSH)
    check = (megabytes * 1_000_000 % 65521 << 16) + 1  # Adler-32 of that many zeros
    return b"\x78\xda" + million * megabytes + deflate.flush() + check.to_bytes(4)


def labour() -> bytes:
    """The few contents of a page that are minutes of work."""
    return packed(b"BT /F1 12 Tf " + b"(a) Tj 0 -1 Td " * 2_000_000 + b"ET")


def deep() -> bytes:
    """The contents of a page with arrays within arrays, deeper than any reader goes."""
    return plain(b"BT " + b"[" * 200_000 + b"]" * 200_000 + b" TJ ET")


# ---------------------------------------------------------------- office documents


def letter(*, empty: bool = False) -> bytes:
    """A letter as Word has it, with a heading, a list and a table; or without a word."""
    document = Document()
    if not empty:
        document.add_heading("Rhubarb", 1)
        document.add_paragraph("Bed two, since spring.")
        for item in ("stalks", "no leaves"):
            document.add_paragraph(item, style="List Bullet")
        _fill(document.add_table(2, 2), [["bed", "weeks"], ["two", "6"]])
        document.add_paragraph("It ends here.")
    return _saved(document)


def talk() -> bytes:
    """A presentation of two slides, the first with notes, the second hidden and empty."""
    show = Presentation()
    first = show.slides.add_slide(show.slide_layouts[1])
    first.shapes.title.text = "Why it hums"
    first.placeholders[1].text = "Wind at 9 m/s"
    table = first.shapes.add_table(2, 2, Cm(1), Cm(1), Cm(9), Cm(3)).table
    _fill(table, [["span", "metres"], ["main", "318"]])
    first.notes_slide.notes_text_frame.text = "Nobody asked about the wind."
    show.slides.add_slide(show.slide_layouts[6]).element.set("show", "0")
    return _saved(show)


def table(rows: int = 1) -> bytes:
    """A spreadsheet of three sheets: beds, a hidden cellar, an empty attic."""
    book = Workbook()
    beds = book.active
    beds.title = "beds"
    beds.append(["bed", "weeks", "since"])
    for _ in range(rows):
        beds.append(["two", 6, date(2026, 3, 1)])
    beds.append(["three"])
    cellar = book.create_sheet("cellar")
    cellar.append(["four"])
    cellar.sheet_state = "hidden"
    book.create_sheet("attic")
    return _saved(book)


def repacked(data: bytes, old: bytes, new: bytes) -> bytes:
    """An office document with these bytes of its parts put in the place of others."""
    out = io.BytesIO()
    parts = zipfile.ZipFile(io.BytesIO(data))
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for name in parts.namelist():
            packed.writestr(name, parts.read(name).replace(old, new, 1))
    return out.getvalue()


def _fill(table: Any, rows: list[list[str]]) -> None:
    for nth, row in enumerate(rows):
        for column, text in enumerate(row):
            table.cell(nth, column).text = text


def _saved(document: Any) -> bytes:
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()
