"""arXiv, as a tool: papers that fit some words, their titles or abstracts, or one paper whole."""

import re
from typing import NamedTuple
from xml.etree.ElementTree import Element, ParseError, fromstring

from loopforge.errors import InputError
from loopforge.runtime.ports import Tool, ToolCall, ToolHome, ToolWork, arguments_schema
from loopforge.tools.web.lookup_settings import LookupSettings
from loopforge.tools.web.page_cache import MATERIAL, KeptPages, KeptText

USUAL = 5
ATOM = "{http://www.w3.org/2005/Atom}"
ID = re.compile(r"(\d{4}\.\d{4,5}|[a-z-]+(\.[A-Z]{2})?/\d{7})(v\d+)?")
FIELDS = re.compile(r"\b(ti|au|abs|co|jr|cat|all):")
"""What an experienced person writes: it is passed on as it is."""
NAMED = 4
"""Authors that are named; the others are counted."""

ARXIV = Tool(
    name="arxiv",
    summary="Finds papers on arXiv (titles or abstracts), or reads the one with this id.",
    schema=arguments_schema(
        [],
        query={"type": "string", "minLength": 1, "maxLength": 300},
        id={"type": "string", "maxLength": 60, "description": "such as 1706.03762"},
        show={"enum": ["titles", "abstracts", "text"]},
        results={"type": "integer", "minimum": 1, "maximum": 20},
        sort={"enum": ["relevance", "newest"]},
        **{"from": {"type": "integer", "minimum": 0, "description": "read on from here"}},
        find={"type": "string", "description": "words to look for"},
    ),
    idempotent=True,
    harmless=True,
    finds=True,
    patience=20.0,
    limit=60.0,
)


class ArxivPaper(NamedTuple):
    """A paper, as arXiv describes it; `day` is that of its first version."""

    address: str
    title: str
    authors: tuple[str, ...]
    day: str
    abstract: str

    def row(self, *, abstract: bool) -> str:
        """It in a line, or with its abstract in two."""
        more = len(self.authors) - NAMED
        names = ", ".join(self.authors[:NAMED]) + (f" and {more} more" if more > 0 else "")
        said = f"- {self.title} ({names}; {self.day}; {self.address})"
        return f"{said}\n  {self.abstract}" if abstract else said


class Arxiv:
    """arXiv, as a plugin."""

    tool = ARXIV

    def make(self, home: ToolHome) -> ToolWork | None:
        """For a home that did not take its place away."""
        place = home.settings.of("lookup", LookupSettings).arxiv
        kept = KeptPages(home.clock)
        if not place:
            return None

        async def tell(call: ToolCall) -> str:
            wanted = call.arguments
            id = id_of(str(wanted.get("id") or ""))
            if id and wanted.get("show", "text") == "text":

                async def read() -> KeptText:
                    from loopforge.tools.web.http_request import request_endpoint
                    from loopforge.tools.web.page_decoding import text_of

                    page = await request_endpoint(f"{place}/pdf/{id}")
                    return KeptText(page.url, await text_of(page, home.files.extract))

                return await kept.tell(call, id, read)
            if wanted.get("show") == "text":
                raise InputError("text is shown of one paper; give its id")
            if not id and not wanted.get("query"):
                raise InputError("give a query, to find papers, or the id of one")
            rows = await papers(place, id, wanted)
            abstracts = wanted.get("show") == "abstracts" or bool(id)
            told = [each.row(abstract=abstracts) for each in rows]
            return "\n".join([MATERIAL, *told]) if told else "Nothing found."

        return tell


def id_of(text: str) -> str:
    """The id of a paper in what somebody calls it by; "" for none. Raises InputError."""
    bare = re.sub(r"^(https?://[^/]+/(abs|pdf)/|arxiv:)", "", text.strip(), flags=re.IGNORECASE)
    bare = bare.removesuffix(".pdf")
    if bare and not ID.fullmatch(bare):
        raise InputError(f"{text[:60]!r} is no id of arXiv, such as 1706.03762")
    return bare


async def papers(place: str, id: str, wanted: dict[str, object]) -> list[ArxivPaper]:
    """The papers that fit, or the one with this id. Raises InputError."""
    from loopforge.tools.web.http_request import request_endpoint

    given: dict[str, object] = {"max_results": wanted.get("results") or USUAL, "start": 0}
    if id:
        given["id_list"] = id
    else:
        newest = wanted.get("sort") == "newest"
        given["search_query"] = query_of(str(wanted["query"]))
        given |= {"sortBy": "submittedDate" if newest else "relevance", "sortOrder": "descending"}
    page = await request_endpoint(f"{place}/api/query", given)
    return read_feed(page.data)


def query_of(words: str) -> str:
    """Words as arXiv asks for them: all of them, anywhere."""
    if FIELDS.search(words):
        return words
    plain = re.findall(r"[\w.+'-]+", words)
    if not plain:
        raise InputError("there is no word in the query")
    return " AND ".join(f"all:{word}" for word in plain)


def read_feed(data: bytes) -> list[ArxivPaper]:
    """The papers of an Atom feed. Raises InputError."""
    from loopforge.tools.web.page_decoding import decode_page

    text = decode_page(data, "")
    try:
        if "<!DOCTYPE" in text or "<!ENTITY" in text:
            raise ParseError("it declares what a feed has no need of")
        feed = fromstring(text)  # noqa: S314 - without declarations there is nothing to expand
        if feed.tag != f"{ATOM}feed":
            raise ParseError("it is something else")
    except ParseError as error:
        raise InputError("arXiv did not answer with a feed of papers") from error
    found = []
    for entry in feed.iter(f"{ATOM}entry"):
        where = _said(entry, "id")
        if "/api/errors" in where:
            raise InputError(f"arXiv says: {_said(entry, 'summary')[:200]}")
        names = (_said(author, "name") for author in entry.iter(f"{ATOM}author"))
        day, abstract = _said(entry, "published")[:10], _said(entry, "summary")
        found.append(ArxivPaper(where, _said(entry, "title"), tuple(names), day, abstract))
    return found


def _said(element: Element, tag: str) -> str:
    from loopforge.tools.web.http_request import one_row

    return one_row(element.findtext(f"{ATOM}{tag}"), 3000)


arxiv = Arxiv()
