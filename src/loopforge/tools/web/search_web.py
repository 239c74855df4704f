"""Searching the web, as a tool: a SearXNG, or what answers as it does, where the owner set one."""

import re
from typing import Any

from loopforge.errors import InputError
from loopforge.runtime.mind_containment import bounded_text
from loopforge.runtime.plugins.setting_checks import web_parts
from loopforge.runtime.ports import Tool, ToolCall, ToolHome, ToolWork, arguments_schema
from loopforge.tools.web.lookup_settings import LookupSettings
from loopforge.tools.web.page_cache import MATERIAL

USUAL = 8
_BANGS = re.compile(r"(^|\s)[!:]+(?=\S)")
"""By these a SearXNG leads on to other places; a query is words."""
LONGEST_TITLE, LONGEST_TEXT = 120, 240
"""Characters of a result's title, and of what is said of it."""

SEARCH_WEB = Tool(
    name="search_web",
    summary="Searches the web: titles, addresses and a line of each result.",
    schema=arguments_schema(
        ["query"],
        query={"type": "string", "minLength": 1, "maxLength": 400},
        results={"type": "integer", "minimum": 1, "maximum": 10},
        page={"type": "integer", "minimum": 1, "maximum": 20},
        since={"enum": ["day", "month", "year"]},
        language={"type": "string", "description": "such as de"},
    ),
    idempotent=True,
    harmless=True,
    finds=True,
    patience=15.0,
)


class SearchWeb:
    """A search, as a plugin."""

    tool = SEARCH_WEB

    def make(self, home: ToolHome) -> ToolWork | None:
        """For a home that has set where to search."""
        endpoint = home.settings.of("lookup", LookupSettings).search
        if not endpoint:
            return None

        async def tell(call: ToolCall) -> str:
            from loopforge.tools.web.http_request import asked_json, rows_of

            wanted = call.arguments
            query = _BANGS.sub(r"\1", str(wanted["query"]))
            given: dict[str, object] = {"q": query, "format": "json"}
            given["pageno"] = wanted.get("page") or 1
            given |= {"time_range": wanted["since"]} if wanted.get("since") else {}
            given |= {"language": wanted["language"]} if wanted.get("language") else {}
            try:
                told = await asked_json(endpoint, given)
            except InputError as error:
                raise InputError(
                    f"{error}. (It has to be a SearXNG whose settings allow the format json)"
                ) from error
            rows = [row for row in rows_of(told, "results") if _leads(row.get("url"))]
            if not rows and (silent := _silent(told)):
                raise InputError(f"these search engines did not answer: {silent}")
            shown = [_row(row) for row in rows[: wanted.get("results") or USUAL]]
            return "\n".join([MATERIAL, *shown]) if shown else "Nothing found."

        return tell


def _silent(told: dict[str, Any]) -> str:
    """Which engines did not answer the SearXNG, and why; "" for none."""
    listed = told.get("unresponsive_engines")
    named = (
        [row for row in listed if isinstance(row, list) and row] if isinstance(listed, list) else []
    )
    rows = [[bounded_text(each) for each in row[:2]] for row in named]
    return ", ".join(f"{name} ({', '.join(why)})" if why else name for name, *why in rows)


def _leads(url: object) -> bool:
    """Whether it is an address that can be read."""
    return isinstance(url, str) and web_parts(url) is not None


def _row(row: dict[str, object]) -> str:
    from loopforge.tools.web.http_request import one_row, strip_html_tags

    title = one_row(strip_html_tags(row.get("title")), LONGEST_TITLE)
    day = one_row(row.get("publishedDate"), 40)[:10]
    said = one_row(strip_html_tags(row.get("content")), LONGEST_TEXT)
    return f"- {title}{f' ({day})' if day else ''}: {row['url']}" + (f"\n  {said}" if said else "")


search_web = SearchWeb()
