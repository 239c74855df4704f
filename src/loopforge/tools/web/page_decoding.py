"""A page as text: what came from an address, by its kind and in its encoding.

Pages (HTML), PDFs and office documents are read by the home's own reader, in a process held to
limits; what is plain text is decoded here. What people cannot see on a screen is taken out of all
of it. Does not know where it came from, nor who wants it.
"""

import codecs
import re
from collections.abc import Awaitable, Callable

import webencodings

from loopforge.core.text.document_kinds import DOCUMENTS, HTML, PDF
from loopforge.core.text.name_labels import is_invisible
from loopforge.errors import InputError
from loopforge.runtime.ports import ToolFile
from loopforge.tools.web.page_fetch import FetchedPage

Extract = Callable[[ToolFile], Awaitable[str]]
"""What a document says. Raises InputError where nobody can know."""

PAGES = (HTML, "application/xhtml+xml")
PLAIN = re.compile(
    r"text/.*|message/.*|application/(.*[+.-])?(json|xml|yaml|toml|javascript|rtf|x-tex)"
)
_HTML_BEGINS = re.compile(rb"<(!doctype\s+html|html|head|body)[\s>]", re.IGNORECASE)
_DECLARED = re.compile(
    rb"""<meta[^>]+charset\s*=\s*["']?\s*([\w-]+)|encoding\s*=\s*["']([\w-]+)""", re.IGNORECASE
)
_HEAD = 2048
"""Bytes in which a page may say its encoding."""
_BREAKS = {ord("\n"): None, ord("\t"): None}
_KEPT = frozenset("\n\t\u200c\u200d")
"""Signs that are not seen, and without which others are not as they should be."""


async def text_of(page: FetchedPage, extract: Extract) -> str:
    """What a page says. Raises InputError for what is no text."""
    kind = _kind(page)
    if kind == HTML:
        html = decode_page(page.data, page.charset).encode("utf-8", "replace")
        text = await extract(ToolFile(name=page.url, data=html, media=HTML))
    elif kind in DOCUMENTS:
        if not page.whole:
            raise InputError(
                f"{page.url} is too large to be read ({len(page.data):,} bytes and more)"
            )
        text = await extract(ToolFile(name=page.url, data=page.data, media=kind))
    elif PLAIN.fullmatch(kind):
        text = decode_page(page.data, page.charset)
    else:
        raise InputError(
            f"{page.url} is no page that can be read: it is {kind or 'of no known kind'}"
        )
    return (
        strip_invisible(text)
        if page.whole
        else f"{strip_invisible(text)}\n[the page is longer; cut here]"
    )


def _kind(page: FetchedPage) -> str:
    """What it is: by its first bytes where these are sure, else by what was said of it."""
    if page.data.startswith(b"%PDF-"):
        return PDF
    if page.media in PAGES or (
        page.media in ("", "application/xml") and _HTML_BEGINS.search(page.data[:_HEAD])
    ):
        return HTML
    if not page.media and b"\0" not in page.data:
        return "text/plain"
    return page.media


def decode_page(data: bytes, told: str) -> str:
    """Bytes as text: by their mark, as UTF-8 where they are that, else as they or a header say.

    Where those say nothing else, it is UTF-8 too whose letters are whole for the most part.
    """
    for mark, name in (
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ):
        if data.startswith(mark):
            return data[len(mark) :].decode(name, "replace")
    if not data.isascii():
        try:
            return codecs.getincrementaldecoder("utf-8")().decode(data)  # its end may be cut off
        except UnicodeDecodeError:
            pass
    found = _DECLARED.search(data[:_HEAD])
    said = [told, *((found[1] or found[2]).decode("ascii") for found in [found] if found)]
    for label in said:
        encoding = webencodings.lookup(label) if label else None
        if encoding is not None and encoding.name != "utf-8":
            return str(encoding.codec_info.decode(data, "replace")[0])
    return data.decode(
        "utf-8" if data.isascii() or _mostly_whole(data) else "windows-1252", "replace"
    )


def _mostly_whole(data: bytes) -> bool:
    """Whether more letters beyond ASCII are whole in UTF-8 than are broken."""
    broken = data.decode("utf-8", "replace").count("\ufffd")
    whole = data.decode("utf-8", "ignore")
    return len(whole) - len(whole.encode("ascii", "ignore")) > broken


def strip_invisible(text: str) -> str:
    """The text without signs that leave no trace on a screen, and without spaces at its ends."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    if lines.isascii() and lines.translate(_BREAKS).isprintable():
        return lines.strip()
    return "".join(sign for sign in lines if sign in _KEPT or not is_invisible(sign)).strip()
