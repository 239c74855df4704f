"""Markdown for Telegram, both ways: what people wrote there as Markdown, and what mates say there.

Telegram has plain text and, beside it, entities; `as_readable_markdown` writes them into the text,
`as_entity_text` does the reverse, so that nothing is left for Telegram to parse. What Telegram
marks of itself, like links and hashtags, stays as it was written. Offsets and lengths are UTF-16
code units; two entities are apart or one lies within the other.

A text is cut before it is rendered: markup that a cut parts, but spoilers, is shown as it was
written, and so is all of a text that would take long to read. Does not know who is in the room.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import accumulate

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from msgspec import Struct

from loopforge.core.limits.markdown_bounds import has_costly_markup
from loopforge.core.text.name_labels import one_line
from loopforge.io.text.graphemes import utf16_length
from loopforge.io.text.message_split import LEAST, VOID, split
from loopforge.io.text.spoilers import BARS, cover_lines, cover_parts
from loopforge.io.text.styled_text import markdown_reader, parse_styled_text
from telegram import MessageEntity


class EntitySpan(Struct, frozen=True):
    """An entity by indices into the text, end excluded."""

    start: int
    end: int
    entity: MessageEntity


def nested_entity_spans(text: str, entities: Iterable[MessageEntity]) -> list[EntitySpan]:
    """The entities as spans, those that enclose others first.

    What reaches beyond the text is cut off, what reaches out of another ends with it, and what is
    empty then is left out, so that any list is one of nested spans.
    """
    indices = _indices(text)
    last = len(indices) - 1
    found: list[EntitySpan] = []
    open_: list[EntitySpan] = []
    for entity in sorted(entities, key=_order):
        start = indices[min(max(entity.offset, 0), last)]
        end = indices[min(max(entity.offset + entity.length, 0), last)]
        while open_ and open_[-1].end <= start:
            open_.pop()
        end = min([end, *(span.end for span in open_[-1:])])
        if start < end:
            open_.append(EntitySpan(start, end, entity))
            found.append(open_[-1])
    return found


def _order(entity: MessageEntity) -> tuple[int, int, int]:
    """Quotes enclose all else; code encloses nothing."""
    rank = {"blockquote": 0, "expandable_blockquote": 0, "pre": 2, "code": 2}.get(entity.type, 1)
    return (entity.offset, -entity.length, rank)


def _indices(text: str) -> list[int]:
    """For each unit the index of its character; a last one for the end."""
    indices = []
    for at, letter in enumerate(text):
        indices += [at] * utf16_length(letter)
    return [*indices, len(text)]


_AROUND = {"bold": "**", "italic": "*", "underline": "__", "strikethrough": "~~", "spoiler": "||"}
_QUOTES = ("blockquote", "expandable_blockquote")
LONGEST = 130
"""Characters of a first and a last name together."""


def as_readable_markdown(text: str, entities: Iterable[MessageEntity] = ()) -> str:
    """A message as Markdown. Entities that are no nested spans are read as the nearest that are."""
    return _read(text, 0, len(text), nested_entity_spans(text, entities))


def _read(text: str, start: int, end: int, inner: Sequence[EntitySpan]) -> str:
    """The text between two indices, with the spans within it written in."""
    out, at, n = "", start, 0
    while n < len(inner):
        span = inner[n]
        m = n + 1
        while m < len(inner) and inner[m].start < span.end:
            m += 1
        out += text[at : span.start]
        words = _written(text, span, inner[n + 1 : m])
        if span.entity.type in (*_QUOTES, "pre"):
            out = _block(out, words, more=span.end < end and text[span.end] != "\n")
        else:
            out += words
        at, n = span.end, m
    return out + text[at:end]


def _block(out: str, words: str, *, more: bool) -> str:
    """A block on lines of its own."""
    before = "\n" if out and not out.endswith("\n") else ""
    return out + before + words + ("\n" if more else "")


def _written(text: str, span: EntitySpan, inner: Sequence[EntitySpan]) -> str:
    """One span as Markdown."""
    entity = span.entity
    plain = text[span.start : span.end]
    match entity.type:
        case "code":
            return _code(plain)
        case "pre":
            return _pre(plain, entity.language or "")
        case "text_mention":
            name = one_line(entity.user.full_name or "", LONGEST) if entity.user else ""
            return "@" + (name or plain.removeprefix("@"))
    words = _read(text, span.start, span.end, inner)
    if entity.type in _QUOTES:
        return "\n".join(f"> {line}".rstrip() for line in words.strip("\n").splitlines())
    if entity.type == "text_link" and entity.url:
        return f"[{words}]({entity.url})"
    return _around(words, _AROUND.get(entity.type, ""))


def _around(words: str, mark: str) -> str:
    """Marks close to the words: Markdown knows no bold that begins or ends with a space."""
    core = words.strip()
    if not core or not mark:
        return words
    lead = len(words) - len(words.lstrip())
    return f"{words[:lead]}{mark}{core}{mark}{words[lead + len(core) :]}"


def _code(words: str) -> str:
    mark = "`" * (1 + max((len(run) for run in re.findall("`+", words)), default=0))
    pad = " " if words.startswith("`") or words.endswith("`") else ""
    return f"{mark}{pad}{words}{pad}{mark}"


def _pre(words: str, language: str) -> str:
    longest = max((len(run) for run in re.findall("`+", words)), default=0)
    mark = "`" * max(3, longest + 1)
    end = "" if words.endswith("\n") else "\n"
    return f"{mark}{' '.join(language.split())}\n{words}{end}{mark}"


# ---------------------------------------------------------------- what mates say

LIMIT = 4096
"""Units of one message."""
MOST_ENTITIES = 80
"""Entities of one message: of more than a hundred, addresses and names that Telegram finds itself
among them, it drops the rest without a word, spoilers too."""
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
    markdown = cover_lines(markdown)
    room = limit - 2 * len(BARS) if BARS in markdown and limit > LEAST + 2 * len(BARS) else limit
    cut = [piece.text for piece in split(markdown, room)] if markdown.strip(VOID) else []
    found: list[EntityText] = []
    for part in () if has_costly_markup(markdown) else cover_parts(cut):
        found += _fitting(part, limit)
    return tuple(found) or tuple(map(EntityText, cut))


def _fitting(markdown: str, limit: int) -> list[EntityText]:
    """Rendered in as many parts as it takes.

    Columns are wider than the table that they are made of, and there may be too many entities.
    """
    whole = as_entity_text(markdown)
    if not whole.text:
        return []
    if utf16_length(whole.text) <= limit and len(whole.entities) <= MOST_ENTITIES:
        return [whole]
    half = utf16_length(markdown) // 2
    if half < LEAST:
        return [EntityText(markdown.strip(VOID))]
    pieces = cover_parts([piece.text for piece in split(markdown, half)])
    return [part for piece in pieces for part in _fitting(piece, limit)]


@cache
def _reader() -> MarkdownIt:
    made = markdown_reader()
    made.inline.add_terminator_char("|")
    made.inline.ruler.before("emphasis", "spoiler", _spoiler)
    return made


def _spoiler(state: StateInline, silent: bool) -> bool:
    """Read `||words||`, as chats write what is shown only to who asks for it."""
    start, most = state.pos + len(BARS), state.posMax
    end = state.src.find(BARS, start, most)
    inner = state.src[start:end]
    if not state.src.startswith(BARS, state.pos) or end < 0 or not inner or inner[0].isspace():
        return False
    if not silent:
        state.push("spoiler_open", "", 1)
        state.pos, state.posMax = start, end
        state.md.inline.tokenize(state)
        state.push("spoiler_close", "", -1)
    state.pos, state.posMax = end + len(BARS), most
    return True
