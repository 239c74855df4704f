"""What the twin makes of texts, judged by aiogram, which writes what the twin must read."""

from __future__ import annotations

import pytest
from aiogram.types import MessageEntity
from aiogram.utils.text_decorations import html_decoration, markdown_decoration
from hypothesis import given
from hypothesis import strategies as st

from tests.telegram import text
from tests.telegram.records import Body
from tests.telegram.wire import Refused

KINDS = ("bold", "italic", "underline", "strikethrough", "spoiler", "code", "pre", "text_link")
WORDS = st.text("ab &<>\"'_*[]()~`>#+-=|{}.!\\é🙂", min_size=1, max_size=6)


@st.composite
def marked(draw: st.DrawFn, *without: str) -> tuple[str, list[Body]]:
    """A text, and entities in it of which no two cross."""
    words, entities = "", list[Body]()
    chosen = st.sets(st.sampled_from([kind for kind in KINDS if kind not in without]), max_size=2)
    for piece, kinds in draw(st.lists(st.tuples(WORDS, chosen), min_size=1, max_size=5)):
        alone = [kind for kind in KINDS if kind in kinds and kind in ("code", "pre", "text_link")]
        for kind in alone[:1] or [kind for kind in KINDS if kind in kinds]:
            more = {"url": "https://e.org/a_b?c=d"} if kind == "text_link" else {}
            place = {"offset": text.units(words), "length": text.units(piece)}
            entities.append({"type": kind, **place, **more})
        words += piece + draw(st.sampled_from(["", "\n", " x "]))
    return words, entities


def ordered(entities: list[Body]) -> list[Body]:
    """In one order, whichever way they were found."""
    return sorted(entities, key=lambda e: (e["offset"], -e["length"], e["type"]))


@given(marked())
def test_html_is_read_as_it_was_written(case: tuple[str, list[Body]]) -> None:
    """What aiogram writes as HTML is read back as the same text and entities."""
    words, entities = case
    written = html_decoration.unparse(words, [MessageEntity(**entity) for entity in entities])
    _same(written, "HTML", words, entities)


@given(marked("pre"))
def test_markdown_is_read_as_it_was_written(case: tuple[str, list[Body]]) -> None:
    """What aiogram writes as MarkdownV2 is read back as the same text and entities.

    Not "pre", to which aiogram adds a line's end.
    """
    words, entities = case
    written = markdown_decoration.unparse(words, [MessageEntity(**entity) for entity in entities])
    _same(written, "MarkdownV2", words, entities)


def _same(written: str, mode: str, words: str, entities: list[Body]) -> None:
    wanted, trimmed = text.read(words, None, entities)
    read, found = text.read(written, mode, None)
    assert read == wanted
    assert ordered(found) == ordered(trimmed)


@pytest.mark.parametrize(
    ("words", "mode", "error"),
    [
        ("a < b", "HTML", 'Unsupported start tag "" at byte offset 2'),
        ("é<b", "HTML", "Unclosed start tag at byte offset 2"),
        ("</b>", "HTML", "Unexpected end tag at byte offset 0"),
        ("<b><i>x</b></i>", "HTML", 'expected "</i>", found "</b>"'),
        ("<b>x", "HTML", 'Can\'t find end tag corresponding to start tag "b"'),
        ("```x", "MarkdownV2", "Can't find end of Pre entity at byte offset 0"),
        ("`x", "MarkdownV2", "Can't find end of Code entity at byte offset 0"),
        ("é||x", "MarkdownV2", "Can't find end of Spoiler entity at byte offset 2"),
        ("[x] y", "MarkdownV2", "Can't find end of a URL at byte offset 0"),
        ("1 - 2", "MarkdownV2", "Character '-' is reserved and must be escaped"),
        ("x", "Markup", "unsupported parse_mode"),
    ],
)
def test_broken_markup(words: str, mode: str, error: str) -> None:
    """Each way to break markup is refused with 400, in Telegram's words."""
    with pytest.raises(Refused) as caught:
        text.read(words, mode, None)
    assert caught.value.code == 400
    assert error in caught.value.description


@pytest.mark.parametrize(
    ("offset", "length", "error"),
    [
        (-1, 2, "incorrect offset"),
        (0, 4, "ends after the end of the text"),
        (0, 1, "ends in a middle of a UTF-16 symbol"),
    ],
)
def test_broken_entities(offset: int, length: int, error: str) -> None:
    """Entities lie within the text and cut no symbol in two."""
    entity = {"type": "bold", "offset": offset, "length": length}
    with pytest.raises(Refused, match="Bad Request") as caught:
        text.read("🙂!", None, [entity])
    assert error in caught.value.description


def test_what_is_found_in_a_text() -> None:
    """Links, commands and mentions are found, in UTF-16 units; an address of mail is none."""
    words = "🙂 /why@aria_bot @ana_l see https://e.org/x_y, a@bcde 1/2"
    found = [
        (entity["type"], entity["offset"], entity["length"]) for entity in text.detected(words)
    ]
    assert found == [("bot_command", 3, 13), ("mention", 17, 6), ("url", 28, 17)]


def test_quotes() -> None:
    """Lines that begin with ">" are one quotation; the text is trimmed, entities with it."""
    read, entities = text.read(">one\n>*two*\nthree", "MarkdownV2", None)
    assert read == "one\ntwo\nthree"
    assert ordered(entities) == [
        {"type": "blockquote", "offset": 0, "length": 7},
        {"type": "bold", "offset": 4, "length": 3},
    ]
    read, entities = text.read("<blockquote>one</blockquote>", "HTML", None)
    assert entities == [{"type": "blockquote", "offset": 0, "length": 3}]
    code = '<pre><code class="language-python">x</code></pre>'
    read, entities = text.read(code, "HTML", None)
    assert entities == [{"type": "pre", "offset": 0, "length": 1, "language": "python"}]
    assert text.read(" \n *x* ", "MarkdownV2", None) == (
        "x",
        [{"type": "bold", "offset": 0, "length": 1}],
    )
