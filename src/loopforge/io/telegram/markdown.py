"""What a mate says in Markdown, as Telegram takes it: plain text, and entities beside it.

Nothing is left for Telegram to parse, so nothing can fail to parse. What it has no entity for is
written with letters: bullets, numbers, rules, tables as columns in a block of code. Blank lines
stay as many as they were. A text that would take long to read as Markdown stays as it is.

A text is cut before it is rendered: markup that a cut parts is shown as it was written.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from msgspec import Struct

from loopforge.io.columns import grid, rows, wild
from loopforge.io.graphemes import measure
from loopforge.io.split import LEAST, VOID, split
from loopforge.io.telegram.entities import Entity

LIMIT = 4096
"""Units of one message."""
RULE = "─" * 12
BULLET = "• "
INDENT = "  "
_DEEPEST = 60
"""Levels of blocks; what nests deeper is dropped by the parser, so it is not given to it."""

_STYLES = {"strong": "bold", "em": "italic", "s": "strikethrough", "spoiler": "spoiler"}
_UNCODED = ("text_link", "spoiler")
"""Markup in which Telegram allows no code."""
_LINKED = re.compile(r"(?:https?|tg)://[^\s]+", re.IGNORECASE)
_LANGUAGE = re.compile(r"[\w+#.-]+")
_LEAVES = ("paragraph_open", "heading_open", "fence", "code_block", "hr", "table_open")


class Rendered(Struct, frozen=True):
    """A text and its entities, those first that begin first and enclose others."""

    text: str
    entities: tuple[Entity, ...] = ()


def rendered(markdown: str) -> Rendered:
    """The text without markup, and what the markup said. Blank where there is nothing to show."""
    if wild(markdown):
        return Rendered(markdown.strip(VOID))
    tokens = _reader().parse(markdown)
    if any(token.level > _DEEPEST - 10 for token in tokens):
        return Rendered(markdown.strip(VOID))
    writer = _Writer()
    for at, token in enumerate(tokens):
        writer.block(token, tokens, at)
    return writer.done()


def pieces(markdown: str, limit: int = LIMIT) -> tuple[Rendered, ...]:
    """The text as messages of at most `limit` units; none of them blank, none for a blank text.

    Raises InputError for a limit under 40.
    """
    found: list[Rendered] = []
    for piece in split(markdown, limit) if markdown.strip(VOID) else ():
        found += _fitting(piece.text, limit)
    if not found and markdown.strip(VOID):
        return tuple(Rendered(piece.text) for piece in split(markdown, limit))
    return tuple(found)


def _fitting(markdown: str, limit: int) -> list[Rendered]:
    """Rendered in as many parts as it takes: columns are wider than the table they are made of."""
    whole = rendered(markdown)
    if not whole.text:
        return []
    if measure(whole.text) <= limit:
        return [whole]
    half = measure(markdown) // 2
    if half < LEAST:
        return [Rendered(markdown.strip(VOID))]
    return [part for piece in split(markdown, half) for part in _fitting(piece.text, limit)]


@cache
def _reader() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": False, "maxNesting": _DEEPEST})
    made.disable("reference")  # it would take lines like "[1]: ..." out of the text
    made.inline.add_terminator_char("|")
    made.inline.ruler.before("emphasis", "spoiler", _spoiler)
    return made.enable(["table", "strikethrough"])


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


class _Open:
    """Markup that has begun. `start` is None until something is written in it."""

    def __init__(self, type: str, url: str = "") -> None:
        self.type, self.url = type, url
        self.start: int | None = None


class _Writer:
    """Text and entities as they are written, token by token."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._at = 0
        self._entities: list[Entity] = []
        self._open: list[_Open] = []
        self._lists: list[int | None] = []
        self._bullet = ""
        self._breaks = 0
        self._line = 0
        self._skipped = False

    def done(self) -> Rendered:
        """What was written, without blank space around it."""
        text = "".join(self._parts)
        shown = text.strip(VOID)
        lead = measure(text[: len(text) - len(text.lstrip(VOID))])
        last = measure(shown)
        kept = []
        for one in self._entities:
            start, end = max(0, one.offset - lead), min(last, one.end - lead)
            if start < end:
                kept.append(Entity(one.type, start, end - start, one.url, one.language))
        order = {"blockquote": 0, "text_link": 1}
        kept.sort(key=lambda one: (one.offset, -one.length, order.get(one.type, 2)))
        return Rendered(shown, tuple(kept))

    # ------------------------------------------------------------ blocks

    def block(self, token: Token, tokens: Sequence[Token], at: int) -> None:
        """Write one token of the text's blocks."""
        if self._skipped:  # a table was written at once
            self._skipped = token.type != "table_close"
            return
        if token.type in _LEAVES and token.map:
            if not self._bullet:
                self._breaks = max(1, 1 + token.map[0] - self._line)
            self._line = token.map[1]
        match token.type:
            case "bullet_list_open" | "ordered_list_open":
                self._flush()
                numbered = token.type == "ordered_list_open"
                self._lists.append(int(token.attrs.get("start", 1)) if numbered else None)
            case "bullet_list_close" | "ordered_list_close":
                self._lists.pop()
            case "list_item_open":
                self._item(token)
            case "list_item_close":
                self._flush()
            case "heading_open":
                self._begin("bold")
            case "blockquote_open":
                self._begin("blockquote")
            case "heading_close" | "blockquote_close":
                self._end()
            case "hr":
                self._write(RULE)
            case "fence" | "code_block":
                self._pre(token.content.rstrip("\n"), token.info)
            case "table_open":
                self._pre(grid(rows(tokens, at)), "")
                self._skipped = True
            case "inline":
                for child in token.children or ():
                    self._inline(child)

    def _item(self, token: Token) -> None:
        if token.map and self._parts:
            self._breaks = max(1, 1 + token.map[0] - self._line)
        if token.map:
            self._line = token.map[0]
        number = self._lists[-1]
        self._bullet = BULLET if number is None else f"{number}{token.markup} "
        self._lists[-1] = None if number is None else number + 1

    def _pre(self, words: str, info: str) -> None:
        language = _LANGUAGE.match(info.strip())
        if words.strip(VOID):
            self._set_off("pre", words, language[0] if language else "")

    # ------------------------------------------------------------ lines

    def _inline(self, token: Token) -> None:
        """Write one token of a line."""
        kind, _, side = token.type.rpartition("_")
        match token.type:
            case "softbreak" | "hardbreak":
                self._breaks = 1
            case "code_inline":
                if token.content.strip(VOID):
                    self._set_off("code", token.content)
                else:
                    self._write(token.content)
            case "link_open":
                self._begin("text_link", str(token.attrs.get("href", "")))
            case "link_close":
                self._link()
            case "image":
                source = str(token.attrs.get("src", ""))
                self._begin("text_link", source)
                self._write(token.content or source)
                self._link()
            case _ if kind in _STYLES and side == "open":
                self._begin(_STYLES[kind])
            case _ if kind in _STYLES:
                self._end()
            case _:
                self._write(token.content)

    def _link(self) -> None:
        """End a link; an address that Telegram would not open is written beside the words."""
        mark = self._open[-1]
        if mark.start is None:
            self._write(mark.url)
        if mark.type and not _LINKED.fullmatch(mark.url):
            mark.type = ""
            if not self._parts[-1:] or not mark.url.endswith(self._parts[-1]):
                self._write(f" ({mark.url})" if mark.url else "")
        self._end()

    # ------------------------------------------------------------ text and entities

    def _begin(self, type: str, url: str = "") -> None:
        """Begin markup; within its own kind it says nothing new."""
        again = any(mark.type == type for mark in self._open)
        self._open.append(_Open("" if again else type, url))

    def _end(self) -> None:
        mark = self._open.pop()
        self._emit(mark)

    def _emit(self, mark: _Open) -> None:
        if mark.type and mark.start is not None and mark.start < self._at:
            url = mark.url if mark.type == "text_link" else ""
            self._entities.append(Entity(mark.type, mark.start, self._at - mark.start, url))

    def _set_off(self, type: str, words: str, language: str = "") -> None:
        """Write code, in which no other markup may hold and which no style may enclose."""
        if any(mark.type in _UNCODED for mark in self._open):
            return self._write(words)
        styles = [mark for mark in self._open if mark.type in _STYLES.values()]
        for mark in styles:
            self._emit(mark)
            mark.start = None
        self._flush()
        start = self._at
        self._write(words)
        self._entities.append(Entity(type, start, self._at - start, language=language))
        for mark in styles:
            mark.start = None
        return None

    def _write(self, words: str) -> None:
        if not words:
            return
        self._flush()
        for mark in self._open:
            if mark.start is None:
                mark.start = self._at
        self._append(words)

    def _flush(self) -> None:
        """Write what stands between what was written and what comes: breaks, indents, a bullet."""
        depth = len(self._lists) - (1 if self._bullet else 0)
        if self._breaks or self._bullet:
            breaks = "\n" * self._breaks if self._parts else ""
            self._append(breaks + INDENT * max(0, depth) + self._bullet)
        self._breaks, self._bullet = 0, ""

    def _append(self, words: str) -> None:
        self._parts.append(words)
        self._at += measure(words)
