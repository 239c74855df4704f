"""What one message of an MCP server may hold, before it is read, and before the SDK looks at it.

Both is done on the loop of the whole home, and the SDK keeps some five errors for each part that is
none: a line of four megabytes, full of numbers, took gigabytes. Does not know servers.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any

MOST_PARTS = 10_000
"""Values of one message, however deep, but for those that are taken as they are."""
MOST_SIGNS = 400_000
"""Commas and opening brackets, in texts or out of them: so many are read in 0.3 s at most."""
TOO_MANY = f"it wrote a message with more than {MOST_SIGNS:,} commas and brackets"
AS_THEY_ARE = ("structuredContent", "inputSchema", "outputSchema", "_meta")
INTERNAL_ERROR = -32603


def signs_of(written: bytes) -> int:
    """How many parts JSON may have at most."""
    return sum(map(written.count, (b",", b"[", b"{")))


class BoundedMessages:
    """A stream of messages as the SDK reads it; in place of too large an answer stands an error."""

    def __init__(self, messages: Any) -> None:
        self._messages = messages

    @property
    def last_context(self) -> Any:
        """Who sent the last message, where the stream knows that."""
        return getattr(self._messages, "last_context", None)

    async def receive(self) -> Any:
        """The next message."""
        return _bounded(await self._messages.receive())

    async def aclose(self) -> None:
        """Hear no more."""
        await self._messages.aclose()

    def __aiter__(self) -> BoundedMessages:
        return self

    async def __anext__(self) -> Any:
        return _bounded(await self._messages.__anext__())

    async def __aenter__(self) -> BoundedMessages:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()


def _bounded(message: Any) -> Any:
    """The message, or what is read in its place."""
    from mcp.shared.message import SessionMessage
    from mcp.types import ErrorData, JSONRPCError, JSONRPCResponse

    held = getattr(message, "message", None)  # what a transport failed at comes here, too
    if not _too_many([getattr(held, "result", None), getattr(held, "params", None)]):
        return message
    why = f"the message has more than {MOST_PARTS:,} parts"
    if not isinstance(held, JSONRPCResponse):
        return ValueError(why)
    error = ErrorData(code=INTERNAL_ERROR, message=why)
    return SessionMessage(JSONRPCError(jsonrpc="2.0", id=held.id, error=error))


def _too_many(value: object) -> bool:
    left, waiting = MOST_PARTS, [value]
    while waiting:
        match waiting.pop():
            case dict() as fields:
                held = [part for name, part in fields.items() if name not in AS_THEY_ARE]
            case list() as held:
                pass
            case _:
                continue
        left -= len(held)
        if left < 0:
            return True
        waiting += held
    return False
