"""Reading a page of the web, as a tool: its text with its links, part by part.

To ask for an address is to send it: what stands in it reaches whoever keeps that place. So an
address that nobody in the room gave, and that no page or search showed, is put to people first
(`Tool.address`). A page that was read is kept for a while: its next part is of the same page.
"""

from __future__ import annotations

from collections import OrderedDict
from datetime import datetime, timedelta

from loopforge.runtime.ports import Clock, Tool, ToolCall, ToolHome, ToolWork
from loopforge.tools.room_files import found, part
from loopforge.tools.web.lookup_settings import LookupSettings, inside_of

KEPT = 8
KEPT_FOR = timedelta(minutes=15)
"""How many pages are kept, and how long each."""

READ_PAGE = Tool(
    name="read_page",
    summary="Reads a page or PDF of the web, with its links; asks first for one nobody gave.",
    schema={
        "type": "object",
        "properties": {
            "address": {"type": "string", "description": "https://example.org/page"},
            "from": {"type": "integer", "minimum": 0, "description": "read on from here"},
            "find": {"type": "string", "description": "words to look for"},
        },
        "required": ["address"],
        "additionalProperties": False,
    },
    idempotent=True,
    harmless=True,
    address="address",
    finds=True,
    patience=20.0,
    limit=45.0,
)


class ReadPage:
    """Pages of the web, as a plugin."""

    tool = READ_PAGE

    def make(self, home: ToolHome) -> ToolWork:
        """For a home that may name places of its own network."""
        inside = inside_of(home.settings.of("lookup", LookupSettings))
        kept = KeptPages(home.clock)

        async def tell(call: ToolCall) -> str:
            from loopforge.tools.web.network_guard import GuardedNetwork
            from loopforge.tools.web.page_fetch import fetch
            from loopforge.tools.web.page_text import text_of

            address = str(call.arguments["address"]).strip()
            page = kept.get((call.stream, address))
            if page is None:
                came = await fetch(address, GuardedNetwork(inside))
                page = came.url, await text_of(came, home.files.extract)
                kept.put((call.stream, address), page)
            where, text = page
            if wanted := str(call.arguments.get("find") or "").strip():
                return found(where, text, wanted)
            return part(where, text, int(call.arguments.get("from") or 0))

        return tell


class KeptPages:
    """The pages that were read last, by room and address: where each came from, and its text."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._pages: OrderedDict[tuple[str, str], tuple[datetime, tuple[str, str]]] = OrderedDict()

    def get(self, key: tuple[str, str]) -> tuple[str, str] | None:
        """A page that was read a short while ago."""
        at, page = self._pages.get(key, (None, None))
        return page if at is not None and self._clock.now() - at < KEPT_FOR else None

    def put(self, key: tuple[str, str], page: tuple[str, str]) -> None:
        """Keep it; the oldest goes."""
        self._pages.pop(key, None)
        self._pages[key] = self._clock.now(), page
        while len(self._pages) > KEPT:
            self._pages.popitem(last=False)


read_page = ReadPage()
