"""Wikipedia, as a tool: articles that fit some words, or one of them whole, part by part.

Any MediaWiki with TextExtracts answers just so. Its plain text has no links and no tables; where
these are wanted, the article's address is told, which `read_page` reads.
"""

from typing import Any

from loopforge.errors import InputError
from loopforge.runtime.ports import Tool, ToolCall, ToolHome, ToolWork, arguments_schema
from loopforge.tools.web.lookup_settings import LookupSettings
from loopforge.tools.web.page_cache import MATERIAL, KeptPages, KeptText

USUAL = 5
LONGEST_INTRO = 300
"""Characters of the beginning of each article that is found."""
OF_ARTICLES = {"action": "query", "format": "json", "formatversion": 2, "explaintext": 1}

WIKIPEDIA = Tool(
    name="wikipedia",
    summary="Finds articles of Wikipedia, or reads the one with this title.",
    schema=arguments_schema(
        [],
        query={"type": "string", "minLength": 1, "maxLength": 300},
        title={"type": "string", "minLength": 1, "maxLength": 300},
        language={"type": "string", "pattern": "^[a-z]{2,12}(-[a-z]{2,12})*$"},
        results={"type": "integer", "minimum": 1, "maximum": 10},
        **{"from": {"type": "integer", "minimum": 0, "description": "read on from here"}},
        find={"type": "string", "description": "words to look for"},
    ),
    idempotent=True,
    harmless=True,
    finds=True,
    patience=15.0,
)


class Wikipedia:
    """Wikipedia, as a plugin."""

    tool = WIKIPEDIA

    def make(self, home: ToolHome) -> ToolWork | None:
        """For a home that did not take its place away."""
        place = home.settings.of("lookup", LookupSettings).wikipedia
        kept = KeptPages(home.clock)
        if not place:
            return None

        async def tell(call: ToolCall) -> str:
            title = str(call.arguments.get("title") or "").strip()
            language = str(call.arguments.get("language") or "en")
            endpoint = place.replace("{language}", language)
            if not title:
                if not call.arguments.get("query"):
                    raise InputError("give a query, to find articles, or the title of one")
                most = int(call.arguments.get("results") or USUAL)
                return await articles(endpoint, str(call.arguments["query"]), most)

            async def read() -> KeptText:
                return await article(endpoint, title)

            return await kept.tell(call, f"{language}:{title}", read)

        return tell


async def articles(endpoint: str, query: str, most: int) -> str:
    """The articles that fit, each with its address and its beginning. Raises InputError."""
    from loopforge.tools.web.http_request import one_row

    given = {"generator": "search", "gsrsearch": query, "gsrlimit": most}
    given |= {"prop": "extracts|info", "inprop": "url", "exintro": 1, "exlimit": most}
    found = sorted(await _pages(endpoint, given), key=_rank)
    told = [
        f"- {one_row(row.get('title'), 200)}: {row.get('fullurl', '')}\n"
        f"  {one_row(row.get('extract'), LONGEST_INTRO)}"
        for row in found
    ]
    return "\n".join([MATERIAL, *told]) if told else "Nothing found."


def _rank(row: dict[str, Any]) -> int:
    """Where an article stands among those that fit."""
    index = row.get("index")
    return index if isinstance(index, int) else 0


async def article(endpoint: str, title: str) -> KeptText:
    """One article, by its title or by another that leads there. Raises InputError."""
    from loopforge.tools.web.page_decoding import strip_invisible

    given = {"titles": title, "redirects": 1, "prop": "extracts|info", "inprop": "url"}
    found = next(iter(await _pages(endpoint, given)), {})
    if not found or found.get("missing") or found.get("invalid"):
        raise InputError(f"there is no article {title!r}; give a query to find the right title")
    text = strip_invisible(str(found.get("extract") or ""))
    if not text:
        raise InputError(f"{found.get('fullurl', title)} has no plain text; read_page may read it")
    return KeptText(str(found.get("fullurl") or title), text)


async def _pages(endpoint: str, given: dict[str, Any]) -> list[dict[str, Any]]:
    from loopforge.tools.web.http_request import asked_json, rows_of

    return rows_of(await asked_json(endpoint, {**OF_ARTICLES, **given}), "query", "pages")


wikipedia = Wikipedia()
