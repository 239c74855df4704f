"""Markdown: what people and mates wrote, made into HTML that can do no harm.

Two walls. The first, markdown-it, knows no raw HTML, loads no picture (one becomes a link) and
links to nothing but http, https and mailto. The second, nh3, lets through a short list of tags and
attributes, whatever the first one made. No style, no class but that of a mention, no script.

The work is bounded: a text that is too long or nests too wildly is shown as it was written. Knows
nothing of rooms; who may be mentioned is given.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import nh3
from linkify_it import LinkifyIt  # type: ignore[import-untyped]
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup, escape

Names = tuple[tuple[str, str], ...]
"""Who may be mentioned: what stands behind the @, and the class of the span ("" for none)."""

LONGEST = 20_000
"""Characters that are read as Markdown; a longer text is shown as it is."""
WILDEST = 1_500
"""Opening brackets, the dearest mark to read: about 12 microseconds each, if hostile."""
DEEPEST = 12
"""Quotes and lists within each other."""
TAGS = frozenset(
    {"p", "br", "hr", "strong", "em", "s", "code", "pre", "blockquote", "ul", "ol", "li"}
    | {"h4", "h5", "a", "span", "table", "thead", "tbody", "tr", "th", "td"}
)
ATTRIBUTES: dict[str, set[str]] = {"*": set(), "a": {"href"}, "ol": {"start"}}
SCHEMES = frozenset({"http", "https", "mailto"})

_STRANGE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069"
    "\ud800-\udfff\ufffe\uffff]"
)
"""Control characters, and marks that turn the direction of writing and can make words lie."""
_NESTING = re.compile(r"^[ \t]*(?:(?:>|[-+*]|\d{1,9}[.)])[ \t]*)+", re.MULTILINE)
_MARK = re.compile(r">|[-+*](?=\s)|\d[.)]")
_SAFE = re.compile(r"(?:https?://|mailto:)[^\s\\]+", re.IGNORECASE)


@lru_cache(maxsize=2048)
def render(text: str, names: Names = ()) -> Markup:
    """The text as HTML. `@name` becomes a span of class "mention" for each of `names`."""
    text = _STRANGE.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    if wild(text):
        return plain(text)
    html = _MARKDOWN.render(text, {"names": names})
    return Markup(_cleaned(html, names))  # noqa: S704 - this is the cleaned text


def plain(text: str) -> Markup:
    """The text as it was written, line breaks kept."""
    lines = escape(_STRANGE.sub("", text)).split("\n")
    return Markup("<p>{}</p>").format(Markup("<br>\n").join(lines))


def forget_all() -> None:
    """Let go of every text that was rendered."""
    render.cache_clear()


def wild(text: str) -> bool:
    """Whether reading this as Markdown would be more work than a line is worth."""
    if len(text) > LONGEST or text.count("[") > WILDEST:
        return True
    return any(len(_MARK.findall(found[0])) > DEEPEST for found in _NESTING.finditer(text))


def _cleaned(html: str, names: Names) -> str:
    return nh3.clean(
        html,
        tags=set(TAGS),
        clean_content_tags={"script", "style"},
        attributes=ATTRIBUTES,
        allowed_classes={"span": {"mention", *(kind for _, kind in names if kind)}},
        url_schemes=set(SCHEMES),
        link_rel="noopener noreferrer nofollow",
        set_tag_attribute_values={"a": {"target": "_blank"}},
        strip_comments=True,
    )


# ---------------------------------------------------------------- what our Markdown does otherwise


def _linkable(url: str) -> bool:
    return _SAFE.fullmatch(url) is not None


def _amend(state: StateCore) -> None:
    """Pictures become links, headings small ones, @names mentions."""
    pattern = _pattern(state.env.get("names", ()))
    for token in state.tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = "h4" if token.tag in ("h1", "h2") else "h5"
        elif token.type == "inline" and token.children:
            token.children = _amended(token.children, pattern)


def _amended(tokens: Sequence[Token], pattern: re.Pattern[str] | None) -> list[Token]:
    amended: list[Token] = []
    links = 0
    for token in tokens:
        links += token.nesting if token.type in ("link_open", "link_close") else 0
        if token.type == "image":
            amended += _picture(token, linked=links > 0)
        elif token.type == "text" and pattern is not None and not links:
            amended += _mentions(token, pattern)
        else:
            amended.append(token)
    return amended


def _picture(token: Token, *, linked: bool) -> list[Token]:
    source = str(token.attrs.get("src", ""))
    words = Token("text", "", 0, content=token.content or source)
    if linked or not _linkable(source):
        return [words]
    return [Token("link_open", "a", 1, attrs={"href": source}), words, Token("link_close", "a", -1)]


def _mentions(token: Token, pattern: re.Pattern[str]) -> list[Token]:
    parts = pattern.split(token.content)  # words, name, words, name, ..., words
    tokens = []
    for n, part in enumerate(parts):
        if part:
            kind = "mention" if n % 2 else "text"
            tokens.append(Token(kind, "", 0, content=part))
    return tokens


@lru_cache(maxsize=64)
def _pattern(names: Names) -> re.Pattern[str] | None:
    """What finds a mention; the longest of several names that fit."""
    if not names:
        return None
    known = sorted({name for name, _ in names if name}, key=len, reverse=True)
    return re.compile(rf"(?<![\w@./-])@({'|'.join(map(re.escape, known))})(?!\w)", re.IGNORECASE)


def _mention(
    _: RendererHTML, tokens: Sequence[Token], at: int, _options: OptionsDict, env: EnvType
) -> str:
    name = tokens[at].content
    kinds = [kind for known, kind in env.get("names", ()) if known.casefold() == name.casefold()]
    return (
        f'<span class="{escape(" ".join(["mention", *kinds[:1]]).strip())}">@{escape(name)}</span>'
    )


def _made() -> MarkdownIt:
    made = MarkdownIt(
        "commonmark", {"html": False, "linkify": True, "breaks": True, "maxNesting": 20}
    )
    made.enable(["table", "strikethrough", "linkify"])
    made.linkify = LinkifyIt(options={"fuzzy_link": False, "fuzzy_email": False, "fuzzy_ip": False})
    for scheme in ("ftp:", "//", "mailto:"):
        made.linkify.add(scheme, None)
    quick: Any = made
    quick.validateLink = _linkable
    made.core.ruler.push("amend", _amend)
    made.add_render_rule("mention", _mention)
    return made


_MARKDOWN = _made()
