"""Markup: a line's text as a terminal shows it, with the Markdown that models like to write.

Code and quotes stand behind a bar, tables in columns; an address is written beside its link's
words; @names have their colours. Text is made harmless first, and what Markdown would turn into
something harmful again is shown as it was written.
"""

import re
from collections.abc import Iterator

from textual.content import Content, Span

from loopforge.io.terminal.typed_lines import safe_for_terminal
from loopforge.io.text.styled_text import StyledText, StyleSpan, markdown_reader, parse_styled_text

CODE = "$code on $code-ground"
_STYLES = {"bold": "bold", "italic": "italic", "strikethrough": "strike"} | {
    "code": CODE,
    "pre": "$code",
}
_BARS = {"blockquote": ("▎", "$quiet"), "pre": ("▏", "$code 60%")}
_FOUND = re.compile(r"(?P<link>https?://[^\s<>()\]]+)|(?<![\w@.])@(?P<name>[\w-]+)")
_READER = markdown_reader()


def render_prose(text: str, names: dict[str, str] | None = None) -> Content:
    """The text as Content. `names` are colours of handles, for @names."""
    harmless = safe_for_terminal(text).strip("\n")
    shown = parse_styled_text(harmless, _READER)
    if (
        safe_for_terminal(shown.text) != shown.text
    ):  # written as numbers: marks that turn the direction
        shown = StyledText(harmless)
    spans = [
        Span(one.start, one.end, _STYLES[one.type]) for one in shown.spans if one.type in _STYLES
    ]
    whole = Content(shown.text, [*spans, *_found(shown, names or {})])
    lines, at = [], 0
    for line in whole.split("\n", allow_blank=True):
        end = at + len(line)
        bars = [_BARS[one.type] for one in shown.spans if one.type in _BARS and _on(one, at, end)]
        lines.append(Content.assemble(*bars, line) if bars else line)
        at = end + 1
    return Content("\n").join(lines)


def _on(span: StyleSpan, at: int, end: int) -> bool:
    """Whether a style reaches into the line from `at` to `end`."""
    return span.start <= end and at < span.end


def _found(shown: StyledText, names: dict[str, str]) -> Iterator[Span]:
    """Bare addresses and @names, but for those in code."""
    code = [one for one in shown.spans if one.type in ("code", "pre")]
    for found in _FOUND.finditer(shown.text):
        colour = names.get((found["name"] or "").casefold())
        style = "underline" if found["link"] else colour and f"bold {colour}"
        if style and not any(_on(one, *found.span()) for one in code):
            yield Span(*found.span(), style)
