"""Markdown as plain text with its styles beside it, for surfaces that draw no HTML.

One parse and one writer for them: what a style looks like, and what an address becomes, is the
surface's own. Bullets, numbers, rules and tables are written with letters. Blank lines stay as many
as they were. A text that would take long to read as Markdown stays as it is.
"""

import re
from collections.abc import Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token
from msgspec import Struct

from loopforge.core.limits.markdown_bounds import exceeds_markdown_bounds
from loopforge.io.text.markdown_tables import align_columns, table_rows
from loopforge.io.text.message_split import VOID

RULE = "─" * 12
BULLET = "• "
INDENT = "  "
_DEEPEST = 60
"""Levels of blocks; what nests deeper is dropped by the parser, so it is not given to it."""

_STYLES = {"strong": "bold", "em": "italic", "s": "strikethrough", "spoiler": "spoiler"}
_UNCODED = ("link", "spoiler")
"""Markup in which no code is set off: some platforms allow none there."""
_LANGUAGE = re.compile(r"[\w+#.-]+")
_LEAVES = ("paragraph_open", "heading_open", "fence", "code_block", "hr", "table_open")


class StyleSpan(Struct, frozen=True):
    """A style from one character to another, the end excluded.

    `type` is bold, italic, strikethrough, spoiler, code, pre, blockquote or link; `url` belongs to
    a link, `language` to pre.
    """

    type: str
    start: int
    end: int
    url: str = ""
    language: str = ""


class StyledText(Struct, frozen=True):
    """A text and its styles, those first that begin first and enclose others."""

    text: str
    spans: tuple[StyleSpan, ...] = ()


def markdown_reader() -> MarkdownIt:
    """What reads Markdown; a surface may add to it."""
    made = MarkdownIt("commonmark", {"html": False, "maxNesting": _DEEPEST})
    made.disable("reference")  # it would take lines like "[1]: ..." out of the text
    return made.enable(["table", "strikethrough"])


def parse_styled_text(
    markdown: str, by: MarkdownIt, opens: re.Pattern[str] | None = None
) -> StyledText:
    """The text without markup, and what the markup said. Blank where there is nothing to show.

    An address that `opens` does not match is written beside the words of its link.
    """
    if exceeds_markdown_bounds(markdown):
        return StyledText(markdown.strip(VOID))
    tokens = by.parse(markdown)
    if any(token.level > _DEEPEST - 10 for token in tokens):
        return StyledText(markdown.strip(VOID))
    writer = _Writer(opens)
    for at, token in enumerate(tokens):
        writer.block(token, tokens, at)
    return writer.done()


class _Open:
    """Markup that has begun. `start` is None until something is written in it."""

    def __init__(self, type: str, url: str = "") -> None:
        self.type, self.url = type, url
        self.start: int | None = None


class _Writer:
    """Text and styles as they are written, token by token."""

    def __init__(self, opens: re.Pattern[str] | None) -> None:
        self._opens = opens
        self._parts: list[str] = []
        self._at = 0
        self._spans: list[StyleSpan] = []
        self._open: list[_Open] = []
        self._lists: list[int | None] = []
        self._bullet = ""
        self._breaks = 0
        self._line = 0
        self._skipped = False

    def done(self) -> StyledText:
        """What was written, without blank space around it."""
        text = "".join(self._parts)
        shown = text.strip(VOID)
        lead = len(text) - len(text.lstrip(VOID))
        kept = []
        for one in self._spans:
            start, end = max(0, one.start - lead), min(len(shown), one.end - lead)
            if start < end:
                kept.append(StyleSpan(one.type, start, end, one.url, one.language))
        order = {"blockquote": 0, "link": 1}
        kept.sort(key=lambda one: (one.start, -one.end, order.get(one.type, 2)))
        return StyledText(shown, tuple(kept))

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
                self._pre(align_columns(table_rows(tokens, at)), "")
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
                self._begin("link", str(token.attrs.get("href", "")))
            case "link_close":
                self._link()
            case "image":
                source = str(token.attrs.get("src", ""))
                self._begin("link", source)
                self._write(token.content or source)
                self._link()
            case _ if kind in _STYLES and side == "open":
                self._begin(_STYLES[kind])
            case _ if kind in _STYLES:
                self._end()
            case _:
                self._write(token.content)

    def _link(self) -> None:
        """End a link; an address that platforms would not open is written beside the words."""
        mark = self._open[-1]
        if mark.start is None:
            self._write(mark.url)
        if mark.type and not (self._opens and self._opens.fullmatch(mark.url)):
            mark.type = ""
            if not self._parts[-1:] or not mark.url.endswith(self._parts[-1]):
                self._write(f" ({mark.url})" if mark.url else "")
        self._end()

    # ------------------------------------------------------------ text and styles

    def _begin(self, type: str, url: str = "") -> None:
        """Begin markup; within its own kind it says nothing new."""
        again = any(mark.type == type for mark in self._open)
        self._open.append(_Open("" if again else type, url))

    def _end(self) -> None:
        mark = self._open.pop()
        self._emit(mark)

    def _emit(self, mark: _Open) -> None:
        if mark.type and mark.start is not None and mark.start < self._at:
            url = mark.url if mark.type == "link" else ""
            self._spans.append(StyleSpan(mark.type, mark.start, self._at, url))

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
        self._spans.append(StyleSpan(type, start, self._at, language=language))
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
        self._at += len(words)
