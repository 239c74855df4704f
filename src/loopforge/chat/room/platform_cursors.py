"""How far a platform is read: since when not to its end, and which commands it brought.

A platform that tells again what was not acknowledged brings a command twice where the program ended
in between. So each is written down before it is carried out, and after it was answered.

Does not know why, nor how a platform is read, nor what a command does.
"""

from functools import partial
from typing import Literal

from loopforge.core.home_events import CaughtUp, CommandTaken, FellBehind
from loopforge.runtime.ports import Ledger
from loopforge.runtime.system_clock import Stamp

LATEST = 500
"""Marks of commands that are looked at: a bot is told a hundred updates again at most."""
KIND = "platform.command_taken"
UNKNOWN = (
    "The program ended while it did this. Look whether it is done, and ask again if it is not."
)
"""What is told of a command that was begun, of which nobody knows whether it happened."""

Before = Literal["", "begun", "over"]


class UnreadSince:
    """Since when platforms are not read to their end. Methods raise LedgerError."""

    def __init__(self, ledger: Ledger, stamp: Stamp) -> None:
        self._ledger, self._stamp = ledger, stamp

    async def since(self, platform: str) -> int:
        """The number of a message after which not all was read; 0 if all was."""
        kinds = ["platform.fell_behind", "platform.caught_up"]
        found = await self._ledger.read(_stream(platform), kinds=kinds, limit=1, newest=True)
        body = found[0].body if found else None
        return int(body.since) if isinstance(body, FellBehind) else 0

    async def note(self, platform: str, since: int) -> None:
        """Not all is read that was said after this message; with 0: it is."""
        body = FellBehind(since=str(since)) if since else CaughtUp()
        fact = self._stamp.fact(body, actor="runtime")
        await self._ledger.append(_stream(platform), [fact])


class TakenCommands:
    """The commands of platforms, by the message that brought each. Methods raise LedgerError."""

    def __init__(self, ledger: Ledger, stamp: Stamp) -> None:
        self._ledger, self._stamp = ledger, stamp
        self._failed: set[tuple[str, str]] = set()

    async def begin(self, platform: str, message: str) -> Before:
        """Write down that a command is about to be carried out; or say how far it was before."""
        stream = _stream(platform)

        async def attempt(seq: int) -> Before:
            found = await self._ledger.read(stream, kinds=[KIND], limit=LATEST, newest=True)
            marks = [one.body for one in found if isinstance(one.body, CommandTaken)]
            mine = [one for one in marks if one.message == message]
            if any(one.over for one in mine):
                return "over"
            if mine and (platform, message) not in self._failed:
                return "begun"
            await self._note(platform, CommandTaken(message=message), seq)
            return ""

        return await self._ledger.decide(stream, partial(self._ledger.told, stream), attempt)

    async def over(self, platform: str, message: str) -> None:
        """It was carried out, and answered."""
        self._failed.discard((platform, message))
        await self._note(platform, CommandTaken(message=message, over=True))

    def failed(self, platform: str, message: str) -> None:
        """The ledger could not take what it came to: it may be tried again."""
        self._failed.add((platform, message))

    async def _note(self, platform: str, body: CommandTaken, seq: int | None = None) -> None:
        fact = self._stamp.fact(body, actor="runtime")
        await self._ledger.append(_stream(platform), [fact], expect=seq)


def _stream(platform: str) -> str:
    return f"platform:{platform}"
