"""What a mate says in Markdown, as Telegram takes it: plain text, and entities beside it.

Nothing is left for Telegram to parse, so nothing can fail to parse.

A text is cut before it is rendered: markup that a cut parts is shown as it was written.
So is all of a text that would take long to read.
"""

import re
from functools import cache
from itertools import accumulate

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from msgspec import Struct

from loopforge.core.limits.markdown_bounds import has_costly_markup
from loopforge.io.text.graphemes import utf16_length
from loopforge.io.text.message_split import LEAST, VOID, split
from loopforge.io.text.styled_text import markdown_reader, parse_styled_text
from telegram import MessageEntity

LIMIT = 4096
"""Units of one message."""
_LINKED = re.compile(r"(?:https?|tg)://[^\s]+", re.IGNORECASE)


class EntityText(Struct, frozen=True):
    """A text and its entities, those first that begin first and enclose others."""

    text: str
    entities: tuple[MessageEntity, ...] = ()


def as_entity_text(markdown: str) -> EntityText:
    """The text without markup, and what the markup said. Blank where there is nothing to show."""
    shown = parse_styled_text(markdown, _reader(), _LINKED)
    at = [0, *accumulate(1 + (letter > "\uffff") for letter in shown.text)]
    entities = (
        MessageEntity(
            "text_link" if one.type == "link" else one.type,
            at[one.start],
            at[one.end] - at[one.start],
            one.url or None,
            language=one.language or None,
        )
        for one in shown.spans
    )
    return EntityText(shown.text, tuple(entities))


def split_into_messages(markdown: str, limit: int = LIMIT) -> tuple[EntityText, ...]:
    """The text as messages of at most `limit` units; none of them blank, none for a blank text.

    Raises InputError for a limit under 40.
    """
    cut = split(markdown, limit) if markdown.strip(VOID) else ()
    found: list[EntityText] = []
    for piece in () if has_costly_markup(markdown) else cut:
        found += _fitting(piece.text, limit)
    return tuple(found) or tuple(EntityText(piece.text) for piece in cut)


def _fitting(markdown: str, limit: int) -> list[EntityText]:
    """Rendered in as many parts as it takes: columns are wider than the table they are made of."""
    whole = as_entity_text(markdown)
    if not whole.text:
        return []
    if utf16_length(whole.text) <= limit:
        return [whole]
    half = utf16_length(markdown) // 2
    if half < LEAST:
        return [EntityText(markdown.strip(VOID))]
    return [part for piece in split(markdown, half) for part in _fitting(piece.text, limit)]


@cache
def _reader() -> MarkdownIt:
    made = markdown_reader()
    made.inline.add_terminator_char("|")
    made.inline.ruler.before("emphasis", "spoiler", _spoiler)
    return made


def _spoiler(state: StateInline, silent: bool) -> bool:
    """Read `||words||`, as chats write what is shown only to who asks for it."""
    start, most = state.pos + 2, state.posMax
    end = state.src.find("||", start, most)
    inner = state.src[start:end]
    if not state.src.startswith("||", state.pos) or end < 0 or not inner or inner != inner.strip():
        return False
    if not silent:
        state.push("spoiler_open", "", 1)
        state.pos, state.posMax = start, end
        state.md.inline.tokenize(state)
        state.push("spoiler_close", "", -1)
    state.pos, state.posMax = end + 2, most
    return True
