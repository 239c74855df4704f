"""Reading a page of the web, as a tool: its text with its links, part by part.

To ask for an address is to send it: what stands in it reaches whoever keeps that place. So an
address that nobody in the room gave, and that no page or search showed, is put to people first
(`Tool.address`). A page that was read is kept for a while: its next part is of the same page.
"""

from loopforge.runtime.ports import Tool, ToolCall, ToolHome, ToolWork, arguments_schema
from loopforge.tools.web.lookup_settings import LookupSettings, inside_of
from loopforge.tools.web.page_cache import KeptPages, KeptText

READ_PAGE = Tool(
    name="read_page",
    summary="Reads a page or PDF of the web, with its links; asks first for one nobody gave.",
    schema=arguments_schema(
        ["address"],
        address={"type": "string", "description": "https://example.org/page"},
        **{"from": {"type": "integer", "minimum": 0, "description": "read on from here"}},
        find={"type": "string", "description": "words to look for"},
    ),
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
            from loopforge.tools.web.page_decoding import text_of
            from loopforge.tools.web.page_fetch import fetch_page

            address = str(call.arguments["address"]).strip()

            async def read() -> KeptText:
                page = await fetch_page(address, GuardedNetwork(inside))
                return KeptText(page.url, await text_of(page, home.files.extract))

            return await kept.tell(call, address, read)

        return tell


read_page = ReadPage()
