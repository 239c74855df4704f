"""Pages as text: what people see of them, in whatever encoding, read by the process with limits."""

import codecs

import pytest

from loopforge.artifacts.file_lookup import extracted
from loopforge.core.text.document_kinds import DOCX
from loopforge.errors import InputError
from loopforge.tools.web.page_decoding import decode_page, text_of
from loopforge.tools.web.page_fetch import FetchedPage
from tests.documents import letter

AT = "https://example.org/a/index.html"
STYLES = """
.gone { display: none } div .off { visibility: hidden !important } .paper { color: black }
@media print { .paper { display: none } } @media (max-width: 600px) { .paper { display: none } }
@media screen and (min-width: 1px) { .dot { font-size: 0 } } @supports (top: 0) { #far { position:
absolute; left: -9999px } } .row { font-size: 0 } .row li { font-size: 16px } .white { color: #fff }
broken { ; } .later { opacity: 0
"""
HIDDEN = """
<p class=gone>x</p> <div><p class=off>x</p></div> <p class=dot>x</p> <p id=far>x</p>
<p class=white>x</p> <p style="display : NONE">x</p> <p hidden>x</p> <p hidden=until-found>x</p>
<p aria-hidden=true>x</p> <p style="visibility:collapse">x</p> <p style="opacity:0.01">x</p>
<p style="font-size:1px">x</p> <p style="font:0/0 a">x</p> <p style="color:#fefefe">x</p>
<div style="background:#123"><p style="color:#123">x</p></div> <font color=white>x</font>
<p style="color:transparent">x</p> <p style="color:rgba(0,0,0,0)">x</p>
<p style="position:absolute;top:-800px">x</p> <p style="text-indent:-9999px">x</p>
<p style="position:absolute;clip:rect(0 0 0 0)">x</p> <p style="margin-left:-9999px">x</p>
<p style="clip-path:inset(100%);position:fixed">x</p> <p style="height:0;overflow:hidden">x</p>
<p style="width:1px;height:1px;overflow:hidden">x</p> <p style="transform:scale(0)">x</p>
<p style="transform:translateX(-9999px)">x</p> <p style="content-visibility:hidden">x</p>
<script>x</script> <style>x</style> <template>x</template> <noscript>x</noscript>
<dialog>x</dialog> <svg><text>x</text></svg> <iframe>x</iframe> <!-- x --> <?x x?>
<object>x</object> <audio>x</audio> <canvas>x</canvas> <datalist><option>x</datalist>
<input type=hidden value=x> <p class=later>x</p>
"""
SEEN = """
<p class=paper>1</p><p style="color:white;background:black">2</p><ul class=row><li>3</ul>
<p style="background:linear-gradient(red,blue);background-clip:text;color:transparent">4</p>
<p style="font: 400 12px/1.5 serif">5</p><dialog open>6</dialog><p><b hidden>x</b>7
<p style="position:absolute;left:10px">8</p><details><summary>9</summary></details>
<div style="background:url(a.png);color:white">10</div>
"""


async def read(html: str | bytes, media: str = "text/html", charset: str = "") -> str:
    """The text of a page."""
    data = html.encode() if isinstance(html, str) else html
    return await text_of(FetchedPage(AT, media, charset, data), extracted)


async def test_what_people_do_not_see_is_left_out() -> None:
    """In every way in which a page can hide a word; what only looks like that stays."""
    text = await read(f"<style>{STYLES}</style><body style='visibility:hidden'>{HIDDEN}{SEEN}")
    words = text.replace("*", " ").split()
    assert words == [str(number) for number in range(1, 11)]


async def test_signs_that_nobody_sees_are_left_out() -> None:
    """Those that turn the direction of writing, have no width, or spell in tags."""
    tags = "".join(chr(0xE0000 + ord(sign)) for sign in "obey")
    assert (
        await read(f"<p>a{tags}b\u200bc\u202ed\u2066e\ufeff\u00adf👩\u200d🌾") == "abcdef👩\u200d🌾"
    )


async def test_signs_that_steer_a_screen_are_left_out() -> None:
    """Also of a text that has no letter beyond ASCII."""
    assert await read(b"a\x1b[2Jb\x08\x7f\n\tc", "text/plain") == "a[2Jb\n\tc"


async def test_links_stand_where_they_are_met_first() -> None:
    """Whole, by the page's own base; what leads nowhere in the web is words alone."""
    text = await read(
        "<title> The  slugs </title><base href='/b/'><p><a href='c?d=1#e'>Read <b>more</b></a>, "
        "<a href='c?d=1'>again</a>, <a href='#x'>up</a>, <a href='javascript:x()'>run</a>, "
        "<a href='mailto:a@example.org'>write</a>, <a href='//two.example/ü'>far</a>, "
        "<a href='/slug_(an animal)'>odd</a>"
    )
    assert text == (
        "# The slugs\n[Read more](https://example.org/b/c?d=1), again, up, run, write, "
        "[far](https://two.example/ü), [odd](https://example.org/slug_%28an%20animal%29)"
    )


async def test_the_main_thing_comes_first() -> None:
    """What stands around it is not lost."""
    text = await read(f"<nav>Home</nav><main><h1>Slugs</h1>{'They eat. ' * 30}</main><p>Foot")
    main, around = text.split("[around it, on the same page]")
    assert main.startswith("Slugs")
    assert around.split() == ["Home", "Foot"]


@pytest.mark.parametrize(
    ("data", "charset"),
    [
        ("Grüße, 東京".encode(), ""),
        ("Grüße, 東京".encode(), "iso-8859-1"),
        (b'<meta charset="utf-8">' + "Grüße, 東京".encode(), "no-such-thing"),
        (codecs.BOM_UTF16_LE + "Grüße, 東京".encode("utf-16-le"), "utf-8"),
        ("Grüße, 東京".encode("gb18030"), "gb18030"),
        (b"<meta charset=gb18030>" + "Grüße, 東京".encode("gb18030"), ""),
        (b"<meta charset=latin1><title></title>" + "Grüße, 東京".encode(), "utf-8"),
        (b"a letter cut in two: \xe6\x9d, " + "Grüße, 東京".encode(), "utf-8"),
    ],
)
def test_a_page_is_read_in_the_encoding_it_has(data: bytes, charset: str) -> None:
    """Whatever a header or the page itself says of that."""
    assert decode_page(data, charset).endswith("Grüße, 東京")


async def test_what_a_page_says_of_its_encoding_does_not_mislead_its_reader() -> None:
    """It is decoded once, before it is parsed."""
    assert await read(b"<meta charset=gb18030>" + "Grüße, 東京".encode("gb18030")) == "Grüße, 東京"


async def test_a_document_is_read_whole_or_not() -> None:
    """By the reader that files of people have; a part of one is of no use."""
    document = FetchedPage(AT, DOCX, "", letter())
    assert "Bed two, since spring." in await text_of(document, extracted)
    with pytest.raises(InputError, match="too large"):
        await text_of(document._replace(whole=False), extracted)


async def test_old_letters_and_cut_ones_are_read_too() -> None:
    """Latin-1 means Windows' own, and a letter that was cut in two is left."""
    assert await read(b"caf\xe9 \x80 5", "text/plain", "iso-8859-1") == "café € 5"
    assert await read("Grüße".encode()[:-3], "text/plain") == "Gr\u00fc"


@pytest.mark.parametrize(
    ("data", "media"),
    [
        *((b"<p>x</p>", "text/html"), (b'{"a": "x"}', "application/json"), (b"x", "text/markdown")),
        *((b"<!DOCTYPE html><p>x", ""), (b"x", ""), (b"<a>x</a>", "application/atom+xml")),
    ],
)
async def test_kinds_of_text_are_read(data: bytes, media: str) -> None:
    """Pages by their reader, and everything that is plain text as it is."""
    assert "x" in await read(data, media)


@pytest.mark.parametrize(
    ("data", "media", "why"),
    [
        (b"\0\1\2", "application/octet-stream", "application/octet-stream"),
        (b"<html><script>draw()</script>", "text/html", "until its scripts run"),
        (b"", "text/html", "until its scripts run"),
        (b"%PDF-1.7 broken", "text/html", "damaged"),
    ],
)
async def test_what_has_no_words_is_said(data: bytes, media: str, why: str) -> None:
    """With the reason, and what it is."""
    with pytest.raises(InputError, match=why):
        await read(data, media)


@pytest.mark.parametrize(
    "html",
    ["<div>" * 20_000 + "x", "<p style='" + "(" * 100_000, "<table>" * 5_000 + "x"],
    ids=["nested", "brackets", "tables"],
)
async def test_a_page_made_to_hurt_hurts_nobody(html: str) -> None:
    """Nested without end, one word that is all brackets, tables in tables: it has no words."""
    with pytest.raises(InputError, match=AT):
        await read(html)
