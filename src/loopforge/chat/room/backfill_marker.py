"""Behind: since when a platform is not read to its end, as it stands in the ledger.

Does not know why, nor how it is read.
"""

from __future__ import annotations

from loopforge.core.platform_events import CaughtUp, FellBehind
from loopforge.runtime.ports import Ledger
from loopforge.runtime.system_clock import Stamp


class Behind:
    """The marks of platforms. Methods raise LedgerError."""

    def __init__(self, ledger: Ledger, stamp: Stamp) -> None:
        self._ledger, self._stamp = ledger, stamp

    async def since(self, platform: str) -> int:
        """The number of a message after which not all was read; 0 if all was."""
        found = await self._ledger.read(_stream(platform), limit=1, newest=True)
        body = found[0].body if found else None
        return int(body.since) if isinstance(body, FellBehind) else 0

    async def note(self, platform: str, since: int) -> None:
        """Not all is read that was said after this message; with 0: it is."""
        body = FellBehind(since=str(since)) if since else CaughtUp()
        fact = self._stamp.fact(body, actor="runtime")
        await self._ledger.append(_stream(platform), [fact])


def _stream(platform: str) -> str:
    return f"platform:{platform}"
