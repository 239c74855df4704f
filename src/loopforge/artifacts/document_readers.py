"""Taking the words out of a document: a program that `document_process.py` starts and limits.

    python -I document_readers.py KIND MOST PARTS SECONDS MEMORY WALL < a.pdf > told.json

KIND is pdf, docx, pptx, xlsx or html (`html_reader.py`). MOST bytes of text at most, PARTS (pages,
slides, sheets) at most, SECONDS of a processor, MEMORY bytes of address space, WALL seconds
altogether. It confines itself
before it looks at the first byte, and when half of its time is used it tells what it has until
there. It knows nothing of Loopforge, so that it starts quickly and nothing of a home is in its
memory. Does not cover: pictures of words, what was filled into forms, comments, foot and head
lines, text boxes of a letter, attachments, formulas (their last results are read).
"""

import io
import json
import logging
import resource
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

_AROUND = 80
"""Bytes that the mark at the end may take."""
_LATE = "late"
_STATES = {"": "without text", "heavy": "too much to be read", "damaged": "damaged"}


class ExtractedText(NamedTuple):
    """What it finds: as DocumentReading in `document_process.py`."""

    pages: int
    text: str
    unread: str


class PasswordProtected(Exception):
    """Nobody can open it without its password."""


class LimitReached(BaseException):
    """Half of its time is used: tell what was found until here."""


# ---------------------------------------------------------------- the kinds


class DocumentPart(NamedTuple):
    """A page, slide or sheet: what is said of it in its mark, and how its lines are taken out."""

    aside: str
    lines: Callable[[], Iterable[str]]


Opened = tuple[int, Iterable[DocumentPart]]
"""How many parts a document has (0: it has none, and stands for itself), and these."""


def pdf(data: bytes) -> Opened:
    """The pages of a PDF. Raises PasswordProtected."""
    from pypdf import PdfReader

    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise PasswordProtected
        count = len(reader.pages)
    except NotImplementedError as error:  # a protection that pypdf does not know
        raise PasswordProtected from error

    def page(nth: int) -> Callable[[], Iterable[str]]:
        return lambda: [reader.pages[nth].extract_text()]

    return count, (DocumentPart("", page(nth)) for nth in range(count))


def docx(data: bytes) -> Opened:
    """A letter or report as a whole: paragraphs, headings, lists and tables, in their order.

    As it reads with its changes accepted; also one with macros, and a template.
    """
    from docx.opc.part import PartFactory
    from docx.package import Package
    from docx.parts.document import DocumentPart as Letter

    PartFactory.part_type_for.update(dict.fromkeys(_LETTERS, Letter))
    part: Any = Package.open(io.BytesIO(data)).main_document_part
    styles = {style.style_id: style.name or "" for style in part.document.styles}
    return 0, [DocumentPart("", lambda: _blocks(part.element.body, styles))]


_LETTERS = (
    "application/vnd.ms-word.document.macroEnabled.main+xml",
    "application/vnd.ms-word.template.macroEnabledTemplate.main+xml",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.template.main+xml",
)
_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_SIGNS = {"t": "", "tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_UNSAID = {"pPr", "rPr", "del", "moveFrom", "drawing", "pict", "object"}
"""What holds none of a letter's words: how it looks, what was taken out, and pictures."""


def _nearest(element: Any, *names: str) -> Iterator[Any]:
    """The elements of these names in another one, but those in one another, in their order."""
    for child in element.iterchildren("*"):
        name = child.tag.removeprefix(_WORD)
        if name in names:
            yield child
        elif name not in _UNSAID:
            yield from _nearest(child, *names)


def _blocks(body: Any, styles: dict[str, str]) -> Iterator[str]:
    for block in _nearest(body, "p", "tbl"):
        if block.tag == f"{_WORD}tbl":
            for row in _nearest(block, "tr"):
                yield _row(
                    " ".join(map(_words, cell.iter(f"{_WORD}p"))) for cell in _nearest(row, "tc")
                )
            continue
        style, text = styles.get(block.style or "", ""), _words(block)
        if style.startswith("Heading ") and style[8:].isdigit():
            yield f"{'#' * int(style[8:])} {text}"
        else:
            yield f"- {text}" if style.startswith("List") else text


def _words(paragraph: Any) -> str:
    found = _nearest(paragraph, *_SIGNS)
    return "".join(one.text or _SIGNS[one.tag.removeprefix(_WORD)] for one in found)


def pptx(data: bytes) -> Opened:
    """The slides of a presentation, each with its speaker's notes, which are marked."""
    from pptx.package import Package

    slides = Package.open(io.BytesIO(data)).presentation_part.presentation.slides

    def slide(one: Any) -> DocumentPart:
        hidden = one.element.get("show") in ("0", "false")
        return DocumentPart("hidden" if hidden else "", lambda: _said(one.shapes, one))

    return len(slides), map(slide, slides)


def _said(shapes: Any, slide: Any = None) -> Iterator[str]:
    for shape in shapes:
        if hasattr(shape, "shapes"):
            yield from _said(shape.shapes)
        elif shape.has_text_frame and shape.text_frame.text.strip():
            yield shape.text_frame.text
        elif getattr(shape, "has_table", False):
            yield from (_row(cell.text for cell in row.cells) for row in shape.table.rows)
    if slide is not None and slide.has_notes_slide and slide.notes_slide.notes_text_frame:
        notes = slide.notes_slide.notes_text_frame.text.strip()
        yield f"[the speaker's notes] {notes}" if notes else ""


def xlsx(data: bytes) -> Opened:
    """The sheets of a spreadsheet, each row a line; a sheet that people do not see is marked."""
    from openpyxl import load_workbook

    sheets = load_workbook(io.BytesIO(data), read_only=True, data_only=True).worksheets

    def sheet(one: Any) -> DocumentPart:
        one.reset_dimensions()  # else each row has as many cells as the widest one of them says
        hidden = ", hidden" if one.sheet_state != "visible" else ""
        return DocumentPart(one.title + hidden, lambda: filter(None, map(_row, one.values)))

    return len(sheets), map(sheet, sheets)


def _row(cells: Iterable[Any]) -> str:
    """The cells of a table's row, as a line; "" where all of them are empty."""
    words = ("" if cell is None else " ".join(str(cell).split()) for cell in cells)
    told = [text.removesuffix(" 00:00:00") for text in words]  # of a day, its midnight
    while told and not told[-1]:
        told.pop()
    return " | ".join(told)


def html(data: bytes) -> Opened:
    """A page of the web as people see it; its address stands in the first line."""
    child = spec_from_file_location("html_reader", Path(__file__).with_name("html_reader.py"))
    assert child is not None
    assert child.loader is not None
    reader = module_from_spec(child)
    child.loader.exec_module(reader)
    return 0, [DocumentPart("", lambda: reader.lines_of(data))]


KINDS: dict[str, tuple[Callable[[bytes], Opened], str, str]] = {
    "pdf": (pdf, "page", "pypdf"),
    "docx": (docx, "", "docx"),
    "pptx": (pptx, "slide", "pptx"),
    "xlsx": (xlsx, "sheet", "openpyxl"),
    "html": (html, "", "inscriptis"),
}
"""How each is opened, what its parts are called, and the library that reads it."""


# ---------------------------------------------------------------- within limits


def confine(what: int, limit: int, soft: int | None = None) -> None:
    """Set a limit for this process, or a lower one that it has already."""
    _, hard = resource.getrlimit(what)
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(what, (limit if soft is None else min(soft, limit), limit))


def hurry(_number: int, _frame: object) -> NoReturn:
    """The first signal of a clock: of the processor's, the next one kills; else who waits does."""
    unhurried()
    raise LimitReached


def unhurried() -> None:
    """From now on it may use the other half."""
    signal.signal(signal.SIGXCPU, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_IGN)


def look(kind: str, data: bytes, most: int, parts: int) -> ExtractedText:
    """Read a document: at most so many bytes of text, of so many parts."""
    from pypdf.errors import LimitReachedError

    heavy = (MemoryError, RecursionError, LimitReachedError)
    opened, unit, _ = KINDS[kind]
    try:
        count, found = opened(data)
    except heavy:
        return ExtractedText(0, "", "heavy")
    except PasswordProtected:
        return ExtractedText(0, "", "protected")
    except Exception:  # whatever somebody made of the bytes
        return ExtractedText(0, "", "damaged")
    return _read(found, (count, unit), most, parts, heavy)


def _read(
    found: Iterable[DocumentPart],
    whole: tuple[int, str],
    most: int,
    parts: int,
    heavy: tuple[type[Exception], ...],
) -> ExtractedText:
    """The text of its parts, one after the other, as far as limits go."""
    count, unit = whole
    told: list[str] = []
    left, last, words, trouble, late = most - _AROUND, 0, False, "", False
    if left < 0:
        return ExtractedText(count, "", "")
    try:
        for part in found:
            if last == parts or left < 0:
                break
            state, text = _taken(part, left, heavy)
            if state == _LATE and not text:
                raise LimitReached
            last += 1
            trouble, words = trouble or state, words or bool(text)
            asides = [part.aside] if part.aside else []
            asides += [] if text else [_STATES[state]]
            said = f": {', '.join(asides)}" if asides else ""
            mark = f"[{unit} {last} of {count}{said}]\n" if unit else ""
            raw = f"{mark}{text}".encode("utf-8", "replace")
            told.append(raw[:left].decode("utf-8", "ignore"))
            left -= len(raw)
            if late := state == _LATE:
                break
    except LimitReached:
        trouble = "heavy"
    if not words:
        empty = "scanned" if count or not unit else "damaged"
        return ExtractedText(count, "", trouble or empty)
    if late or left < 0 or last < count:
        told.append(f"\n[cut here{f', at {unit} {last} of {count}' if unit else ''}]")
    return ExtractedText(count, "".join(told), "")


def _taken(part: DocumentPart, most: int, heavy: tuple[type[Exception], ...]) -> tuple[str, str]:
    """What is wrong with a part, and its text with a line's end, if there are words in it.

    Lines are taken until there are more than `most` characters, or the time is over (_LATE).
    """
    lines: list[str] = []
    state = ""
    try:
        for line in part.lines():
            lines.append(line)
            most -= len(line) + 1
            if most < 0:
                break
    except LimitReached:
        state = _LATE
    except heavy:
        return "heavy", ""
    except Exception:
        return "damaged", ""
    text = "\n".join(lines).strip()
    return state, f"{text}\n" if any(map(str.isalnum, text)) else ""


def main() -> None:
    """Read what comes in, say what it holds."""
    kind, (most, parts, seconds, memory) = sys.argv[1], map(int, sys.argv[2:6])
    signal.signal(signal.SIGXCPU, hurry)
    signal.signal(signal.SIGALRM, hurry)
    confine(resource.RLIMIT_CORE, 0)
    confine(resource.RLIMIT_CPU, seconds, (seconds + 1) // 2)
    confine(resource.RLIMIT_AS, memory)
    logging.disable()
    try:
        signal.setitimer(signal.ITIMER_REAL, float(sys.argv[6]) / 2)
        for library in ("pypdf", KINDS[kind][2]):  # before files are out of bounds: compiled once
            import_module(library)
        confine(resource.RLIMIT_FSIZE, 0)
        told = look(kind, sys.stdin.buffer.read(), most, parts)
        unhurried()
    except (MemoryError, LimitReached):
        told = ExtractedText(0, "", "heavy")
    except RuntimeError as error:
        if not isinstance(error.__cause__, LimitReached):
            raise
        told = ExtractedText(0, "", "heavy")  # the signal came while Python named a class's parts
    sys.stdout.buffer.write(json.dumps(told._asdict()).encode())


if __name__ == "__main__":
    main()
