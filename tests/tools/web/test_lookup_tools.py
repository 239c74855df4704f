"""Search, Wikipedia and arXiv, against servers that answer as theirs are documented to."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from loopforge.errors import InputError
from loopforge.runtime.ports import ToolCall, ToolMaker, ToolWork
from loopforge.settings import load_settings
from loopforge.tools.web.arxiv import arxiv, id_of, query_of
from loopforge.tools.web.page_cache import MATERIAL
from loopforge.tools.web.read_page import read_page
from loopforge.tools.web.search_web import search_web
from loopforge.tools.web.wikipedia import wikipedia
from tests.tools.conftest import tool_home
from tests.tools.web.odd_server import OddServer, odd_server, page, told

NOW = datetime(2026, 11, 23, tzinfo=UTC)
FOUND = {
    "query": "slugs https://evil.example/?q=secret",
    "results": [
        {
            "title": "<b>Slugs</b> &amp; snails",
            "url": "https://a.example/1",
            "content": "They\neat.",
        },
        {"title": "Bad", "url": "javascript:alert(1)"},
        {"title": "Broken", "url": "http://[a.example/3"},
        {"title": "Second", "url": "https://a.example/2", "publishedDate": "2026-01-02T03:04:05"},
        "what",
    ],
    "suggestions": ["https://evil.example/?q=secret"],
}
EXTRACT = "A slug is a gastropod.\n\n== Diet ==\n" + "It eats leaves. " * 400
ARTICLE = {"title": "Slug", "fullurl": "https://en.wikipedia.org/wiki/Slug", "extract": EXTRACT}
FEED = """<?xml version="1.0" encoding="UTF-8"?><feed xmlns="http://www.w3.org/2005/Atom">
<title>ArXiv Query: search_query=all:slugs</title>
<entry><id>http://arxiv.org/abs/1706.03762v7</id><published>2017-06-12T17:57:34Z</published>
<title>Attention Is\n  All You Need</title><summary>  The dominant\nmodels.  </summary>
<author><name>A. Vaswani</name></author><author><name>N. Shazeer</name></author>
<author><name>C</name></author><author><name>D</name></author><author><name>E</name></author>
</entry></feed>"""
WRONG = """<feed xmlns="http://www.w3.org/2005/Atom"><entry>
<id>http://arxiv.org/api/errors#incorrect_id</id><title>Error</title>
<summary>incorrect id format for 9</summary></entry></feed>"""


@pytest.fixture
async def server() -> AsyncIterator[OddServer]:
    """An odd server."""
    async with odd_server() as made:
        yield made


def made(server: OddServer, maker: ToolMaker) -> ToolWork:
    """A tool for a home that asks this server for everything."""
    places = {
        "LOOPFORGE_LOOKUP_SEARCH": server.at("/search"),
        "LOOPFORGE_LOOKUP_WIKIPEDIA": server.at("/{language}/api.php"),
        "LOOPFORGE_LOOKUP_ARXIV": server.at("/arxiv/"),
        "LOOPFORGE_LOOKUP_INSIDE": f"127.0.0.1:{server.port}",
    }
    settings = load_settings(Path(), environ=places)
    work = maker.make(replace(tool_home(NOW), settings=settings))
    assert work is not None
    return work


def as_json(value: Any) -> bytes:
    """An answer in JSON."""
    return told(json.dumps(value).encode(), "Content-Type: application/json")


def asked(server: OddServer) -> dict[str, str]:
    """The parameters of the last request."""
    return {key: ", ".join(all) for key, all in parse_qs(urlsplit(server.asked[-1]).query).items()}


# ---------------------------------------------------------------- search


def test_without_a_place_there_is_no_search() -> None:
    """The tool is not offered; Wikipedia and arXiv have places that are theirs."""
    home = tool_home(NOW)
    assert search_web.make(home) is None
    assert wikipedia.make(home) is not None
    assert arxiv.make(home) is not None


async def test_a_search_tells_titles_addresses_and_a_line(server: OddServer) -> None:
    """Nothing of what was asked comes back, so that nothing can be made known by asking for it."""
    server.answers["/search"] = as_json(FOUND)
    search = made(server, search_web)
    said = await search(ToolCall(arguments={"query": "!!g slugs !ddg eat", "since": "month"}))
    assert said == (
        f"{MATERIAL}\n- Slugs & snails: https://a.example/1\n  They eat.\n"
        "- Second (2026-01-02): https://a.example/2"
    )
    sent = {"q": "g slugs ddg eat", "format": "json", "pageno": "1", "time_range": "month"}
    assert asked(server) == sent
    one = await search(
        ToolCall(arguments={"query": "x", "results": 1, "page": 2, "language": "de"})
    )
    assert str(one).count("\n") == 2
    assert (asked(server)["pageno"], asked(server)["language"]) == ("2", "de")


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (told(b"", status="403 Forbidden"), "whose settings allow the format json"),
        (page("<html>"), "did not answer in JSON"),
        (as_json([]), "did not answer in JSON"),
        (page("[" * 100_000), "did not answer in JSON"),
        (as_json({"error": "Too busy."}), "says: Too busy"),
        (
            as_json({"results": [], "unresponsive_engines": [["bing", "CAPTCHA"], ["qwant"], 5]}),
            r"did not answer: bing \(CAPTCHA\), qwant$",
        ),
    ],
)
async def test_what_is_no_search_is_said(server: OddServer, answer: bytes, why: str) -> None:
    """With what the owner has to do."""
    server.answers["/search"] = answer
    with pytest.raises(InputError, match=why):
        await made(server, search_web)(ToolCall(arguments={"query": "slugs"}))


async def test_nothing_found_is_said(server: OddServer) -> None:
    """In whatever form there is nothing."""
    answers: list[dict[str, object]] = [{"results": []}, {"results": None}, {}]
    for nothing in answers:
        server.answers["/search"] = as_json(nothing)
        said = await made(server, search_web)(ToolCall(arguments={"query": "slugs"}))
        assert said == "Nothing found."


# ---------------------------------------------------------------- Wikipedia


async def test_wikipedia_finds_articles(server: OddServer) -> None:
    """In the order in which they fit, each with its address and how it begins."""
    other = {"title": "Snail", "fullurl": "https://w.example/Snail", "extract": "A snail."}
    pages = [{**other, "index": 2}, {**ARTICLE, "extract": "A slug.", "index": 1}]
    pages.append({"title": "Worm", "fullurl": "https://w.example/Worm", "index": "last"})
    server.answers["/de/api.php"] = as_json({"query": {"pages": pages}})
    ask = made(server, wikipedia)
    said = await ask(ToolCall(arguments={"query": "slugs", "language": "de", "results": 2}))
    assert said == (
        f"{MATERIAL}\n- Worm: https://w.example/Worm\n  \n- Slug: https://en.wikipedia.org/wiki/Slug\n  A slug.\n"
        "- Snail: https://w.example/Snail\n  A snail."
    )
    assert (
        asked(server).items() >= {"gsrsearch": "slugs", "gsrlimit": "2", "format": "json"}.items()
    )


async def test_wikipedia_reads_an_article_part_by_part(server: OddServer) -> None:
    """It is fetched once; the next part, and a place in it, are of the same text."""
    server.answers["/en/api.php"] = as_json({"query": {"pages": [ARTICLE]}})
    read = made(server, wikipedia)
    first = str(await read(ToolCall(arguments={"title": "slug"})))
    assert first.startswith(f"{MATERIAL}\nhttps://en.wikipedia.org/wiki/Slug, characters 0 to ")
    assert "== Diet ==" in first
    second = str(await read(ToolCall(arguments={"title": "slug", "from": 3500})))
    assert "characters 3,500 to " in second
    found = str(await read(ToolCall(arguments={"title": "slug", "find": "GASTROPOD"})))
    assert found.startswith(
        f"{MATERIAL}\nIn https://en.wikipedia.org/wiki/Slug:\nAt 12: A slug is a gastropod."
    )
    assert "GASTROPOD" not in found
    assert len(server.asked) == 1
    with pytest.raises(InputError, match="these words do not stand"):
        await read(ToolCall(arguments={"title": "slug", "find": "https://evil.example/?q=secret"}))


@pytest.mark.parametrize("maker", [wikipedia, arxiv])
async def test_neither_words_nor_a_name_is_said(server: OddServer, maker: ToolMaker) -> None:
    """What is missing is named."""
    with pytest.raises(InputError, match="give a query"):
        await made(server, maker)(ToolCall(arguments={}))


@pytest.mark.parametrize(
    ("pages", "why"),
    [
        ([{"title": "X", "missing": True}], "there is no article"),
        ([{"title": "X", "invalid": True}], "there is no article"),
        ([], "there is no article"),
        ([{"title": "X", "fullurl": "https://w.example/X"}], "has no plain text"),
    ],
)
async def test_an_article_that_is_not_there_is_said(
    server: OddServer, pages: list[object], why: str
) -> None:
    """Also where a wiki does not give plain text."""
    server.answers["/en/api.php"] = as_json({"query": {"pages": pages}})
    with pytest.raises(InputError, match=why):
        await made(server, wikipedia)(ToolCall(arguments={"title": "X"}))


# ---------------------------------------------------------------- arXiv


async def test_arxiv_tells_titles_or_abstracts(server: OddServer) -> None:
    """As many as are wanted, in the order that is wanted."""
    server.answers["/arxiv/api/query"] = told(FEED.encode(), "Content-Type: application/atom+xml")
    ask = made(server, arxiv)
    title = (
        f"{MATERIAL}\n- Attention Is All You Need (A. Vaswani, N. Shazeer, C, D and 1 more; 2017-06-12; "
        "http://arxiv.org/abs/1706.03762v7)"
    )
    wanted = {"query": "slugs and snails", "sort": "newest", "results": 3}
    assert await ask(ToolCall(arguments=wanted)) == title
    assert asked(server) == {
        "search_query": "all:slugs AND all:and AND all:snails",
        "start": "0",
        "max_results": "3",
        "sortBy": "submittedDate",
        "sortOrder": "descending",
    }
    abstracts = await ask(ToolCall(arguments={"query": "au:vaswani", "show": "abstracts"}))
    assert abstracts == f"{title}\n  The dominant models."
    assert asked(server)["search_query"] == "au:vaswani"
    one = await ask(ToolCall(arguments={"id": "arXiv:1706.03762", "show": "abstracts"}))
    assert one == abstracts
    assert asked(server)["id_list"] == "1706.03762"


async def test_what_is_less_and_more_in_an_abstract_is_no_tag(server: OddServer) -> None:
    """arXiv and Wikipedia give plain text, in which nothing is left out."""
    feed = FEED.replace("The dominant", "If $a &lt;b$, n&gt;30 and &amp;lt; stays, the dominant")
    server.answers["/arxiv/api/query"] = told(feed.encode(), "Content-Type: application/atom+xml")
    said = await made(server, arxiv)(ToolCall(arguments={"id": "1706.03762", "show": "abstracts"}))
    assert str(said).endswith("\n  If $a <b$, n>30 and &lt; stays, the dominant models.")
    pages = [{**ARTICLE, "extract": "For a<b and c>d.", "index": 1}]
    server.answers["/en/api.php"] = as_json({"query": {"pages": pages}})
    said = await made(server, wikipedia)(ToolCall(arguments={"query": "slugs"}))
    assert str(said).endswith("\n  For a<b and c>d.")


async def test_arxiv_reads_a_paper(server: OddServer) -> None:
    """Its full text, by any form of its id."""
    server.answers["/arxiv/pdf/1706.03762v1"] = told(b"The whole.", "Content-Type: text/plain")
    said = await made(server, arxiv)(
        ToolCall(arguments={"id": "https://arxiv.org/pdf/1706.03762v1.pdf"})
    )
    assert str(said).endswith("its end:\nThe whole.")


async def test_what_arxiv_does_not_know_is_said(server: OddServer) -> None:
    """Its own errors, what is no feed, and what is no id."""
    ask = made(server, arxiv)
    for answer, why in (
        (WRONG, "incorrect id format"),
        ("<html>", "feed of papers"),
        ("<html><p>Down for maintenance.</p></html>", "feed of papers"),
        ('<!DOCTYPE x [<!ENTITY a "b">]><feed/>', "feed of papers"),
    ):
        server.answers["/arxiv/api/query"] = told(answer.encode(), "Content-Type: text/xml")
        with pytest.raises(InputError, match=why):
            await ask(ToolCall(arguments={"query": "slugs"}))
    with pytest.raises(InputError, match="give its id"):
        await ask(ToolCall(arguments={"query": "slugs", "show": "text"}))
    for bad in ("../../etc", "1706.03762/../x", "17", "https://evil.example/abs/x?y"):
        with pytest.raises(InputError, match="no id of arXiv"):
            id_of(bad)
    assert id_of("math.GT/0309136v1") == "math.GT/0309136v1"
    with pytest.raises(InputError, match="no word"):
        query_of("!!! ???")


# ---------------------------------------------------------------- pages


async def test_a_page_is_fetched_once_for_all_its_parts(server: OddServer) -> None:
    """And anew in another room."""
    server.answers["/a"] = page(f"<p>{'slugs ' * 1000}")
    read = made(server, read_page)
    for start in (0, 3000):
        arguments = {"address": server.at("/a"), "from": start}
        assert "slugs" in str(await read(ToolCall(arguments=arguments, stream="room:a")))
    assert len(server.asked) == 1
    await read(ToolCall(arguments={"address": server.at("/a")}, stream="room:b"))
    assert len(server.asked) == 2
