"""Markdown: what people and mates wrote, made into HTML that can do no harm.

Two walls. The first, markdown-it, knows no raw HTML, loads no picture (one becomes a link) and
links to nothing but http, https and mailto. The second, nh3, lets through a short list of tags and
attributes, whatever the first one made. No style, no class but those of mentions, tasks and the
colours of code, no script.

The work is bounded: a text that is too long or nests too wildly is shown as it was written. Knows
nothing of rooms; who may be mentioned is given.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import nh3
from linkify_it import LinkifyIt  # type: ignore[import-untyped]
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.linkify import linkify
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup, escape
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.texmath import texmath_plugin

from loopforge.core.limits.markdown_bounds import exceeds_markdown_bounds
from loopforge.web.rendering import code_colours, formula_html
from loopforge.web.rendering.code_colours import CLASSES, highlight_code
from loopforge.web.rendering.formula_html import formula_as_mathml

Names = tuple[tuple[str, str], ...]
"""Who may be mentioned: what stands behind the @, and the class of the span ("" for none)."""

DEEPEST = 12
"""Quotes and lists within each other."""
FORMULAS, TEX = 100, 3_000
"""Formulas in one text, and characters of them that are drawn; about ten a millisecond."""
ENCLOSED = 300
"""Characters between two brackets, or quotation marks, within an address."""
SCHEME = len("https") + 1
"""Characters that tell whether a scheme of ours stands there, and by itself."""
TAGS = frozenset(
    {"p", "br", "hr", "strong", "em", "s", "code", "pre", "blockquote", "ul", "ol", "li"}
    | {"h4", "h5", "a", "span", "table", "thead", "tbody", "tr", "th", "td"}
    | formula_html.TAGS
)
ATTRIBUTES: dict[str, set[str]] = {"*": set(), "a": {"href"}, "ol": {"start"}}
ATTRIBUTES |= formula_html.ATTRIBUTES
SHADES = frozenset({"task", *CLASSES.values()})
SCHEMES = frozenset({"http", "https", "mailto"})

_STRANGE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069"
    "\ud800-\udfff\ufffe\uffff]"
)
"""Control characters, and marks that turn the direction of writing and can make words lie."""
_NESTING = re.compile(r"^[ \t]*(?:(?:>|[-+*]|\d{1,9}[.)])[ \t]*)+", re.MULTILINE)
_MARK = re.compile(r">|[-+*](?=\s)|\d[.)]")
_TEX = re.compile(r"\\[(\[]|\$")
_TASK = re.compile(r"\[([ xX])\] ")
_BEGUN = re.compile("https?://", re.IGNORECASE)
_SAFE = re.compile(r"(?:https?://|mailto:)[^\s\\]+", re.IGNORECASE)


@lru_cache(maxsize=2048)
def render_markdown(text: str, names: Names = (), *, growing: bool = False) -> Markup:
    """The text as HTML. `@name` becomes a span of class "mention" for each of `names`.

    Of one that is still `growing`, and rendered again with each word, code has no colours yet.
    """
    text = _STRANGE.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    if too_wild(text):
        return plain(text)
    env = {"names": names, "tex": TEX, "code": 0 if growing else code_colours.LONGEST}
    html = _MARKDOWN.render(text, env)
    return Markup(_cleaned(html, names))  # noqa: S704 - this is the cleaned text


def plain(text: str) -> Markup:
    """The text as it was written, line breaks kept."""
    lines = escape(_STRANGE.sub("", text)).split("\n")
    return Markup("<p>{}</p>").format(Markup("<br>\n").join(lines))


def forget_all() -> None:
    """Let go of every text that was rendered."""
    render_markdown.cache_clear()


def too_wild(text: str) -> bool:
    """Whether reading this as Markdown would be more work than a line is worth, formulas too."""
    if exceeds_markdown_bounds(text) or len(_TEX.findall(text)) > 2 * FORMULAS:
        return True
    return any(len(_MARK.findall(found[0])) > DEEPEST for found in _NESTING.finditer(text))


def _cleaned(html: str, names: Names) -> str:
    return nh3.clean(
        html,
        tags=set(TAGS),
        clean_content_tags={"script", "style"},
        attributes=ATTRIBUTES,
        allowed_classes={"span": {"mention", *SHADES, *(kind for _, kind in names if kind)}},
        url_schemes=set(SCHEMES),
        link_rel="noopener noreferrer nofollow",
        set_tag_attribute_values={"a": {"target": "_blank"}},
        strip_comments=True,
    )


# ---------------------------------------------------------------- what our Markdown does otherwise


def _linkable(url: str) -> bool:
    return _SAFE.fullmatch(url) is not None


def _amend(state: StateCore) -> None:
    """Pictures become links, headings small ones, @names mentions, and [x] in a list a box."""
    pattern = _pattern(state.env.get("names", ()))
    for nth, token in enumerate(state.tokens):
        if token.type in ("heading_open", "heading_close"):
            token.tag = "h4" if token.tag in ("h1", "h2") else "h5"
        elif token.type == "inline" and token.children:
            token.children = _amended(token.children, pattern)
            if nth > 1 and state.tokens[nth - 2].type == "list_item_open":
                token.children = _task(token.children)


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


def _task(tokens: list[Token]) -> list[Token]:
    """What begins an item of a list, with a box where it is something to do, or done."""
    found = _TASK.match(tokens[0].content) if tokens[0].type == "text" else None
    if found is None:
        return tokens
    tokens[0].content = tokens[0].content[found.end() :]
    return [Token("task", "", 0, content="☐" if found[1] == " " else "☑"), *tokens]


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


def _box(
    _: RendererHTML, tokens: Sequence[Token], at: int, _options: OptionsDict, _env: EnvType
) -> str:
    return f'<span class="task">{tokens[at].content}</span> '


def _fence(
    _: RendererHTML, tokens: Sequence[Token], at: int, _options: OptionsDict, env: EnvType
) -> str:
    code, language = tokens[at].content, (tokens[at].info.split() or [""])[0]
    env["code"] -= len(code)
    shown = escape(code) if env["code"] < 0 else highlight_code(code, language)
    return f"<pre><code>{shown}</code></pre>\n"


def _formula(
    _: RendererHTML, tokens: Sequence[Token], at: int, _options: OptionsDict, env: EnvType
) -> str:
    tex = tokens[at].content
    env["tex"] -= len(tex)
    if env["tex"] < 0:
        return f"<code>{escape(tex)}</code>"
    return str(formula_as_mathml(tex, block=tokens[at].type != "math_inline"))


class _Addresses(LinkifyIt):  # type: ignore[misc]
    """What finds addresses; of brackets within one as far as ENCLOSED.

    One that nothing closes is looked through to the end of the text else, for each of 300
    addresses, and an address that does not begin there is looked for in all that follows.
    """

    def _on_compile(self) -> None:
        path = self.re["src_path"]
        for most, bounded in ((").)*", f").){{0,{ENCLOSED}}}"), (").)+", f").){{1,{ENCLOSED}}}")):
            path = path.replace(most, bounded)
        self.re["src_path"] = path

    def match_at_start(self, text: str) -> Any:
        return super().match_at_start(text) if _BEGUN.match(text) else None


def _link(state: StateInline, silent: bool) -> bool:
    """markdown-it's own rule, which looks for a scheme in all that waits: most waits no longer."""
    if state.src.startswith("://", state.pos) and len(state.pending) > SCHEME and not silent:
        last, state.pending = state.pending[-SCHEME:], state.pending[:-SCHEME]
        state.pushPending()
        state.pending = last
    return linkify(state, silent)


def _made() -> MarkdownIt:
    made = MarkdownIt(
        "commonmark", {"html": False, "linkify": True, "breaks": True, "maxNesting": 20}
    )
    made.enable(["table", "strikethrough", "linkify"])
    made.inline.ruler.at("linkify", _link)
    made.linkify = _Addresses(
        options={"fuzzy_link": False, "fuzzy_email": False, "fuzzy_ip": False}
    )
    for scheme in ("ftp:", "//", "mailto:"):
        made.linkify.add(scheme, None)
    quick: Any = made
    quick.validateLink = _linkable
    made.core.ruler.push("amend", _amend)
    texmath_plugin(made, "brackets")
    dollarmath_plugin(
        made, allow_labels=False, allow_space=False, allow_digits=False, double_inline=True
    )
    for kind in ("math_inline", "math_inline_double", "math_block", "math_block_eqno"):
        made.add_render_rule(kind, _formula)
    made.add_render_rule("mention", _mention)
    made.add_render_rule("task", _box)
    made.add_render_rule("fence", _fence)
    return made


_MARKDOWN = _made()
