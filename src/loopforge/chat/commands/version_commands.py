"""Commands about a mate's last line: say it anew, let another version stand, go on from it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from loopforge.chat.commands.command_request import CommandRequest
from loopforge.chat.commands.line_versions import LineVersions, Wish
from loopforge.errors import InputError


class VersionCommands:
    """Carries them out."""

    def __init__(self, versions: LineVersions) -> None:
        self._versions = versions

    @property
    def table(self) -> dict[str, Callable[[CommandRequest], Awaitable[str]]]:
        """What does each command."""
        return {"again": self.again, "more": self.more}

    async def again(self, asked: CommandRequest) -> str:
        """Say it anew; with a number, let that version stand."""
        if not asked.argument:
            await self._want(asked, "again")
            return "Its last line is said anew; what stood there stays a version of it."
        if not asked.argument.isdecimal() or len(asked.argument) > 5:
            raise InputError("Say which version is to stand, such as /again 1.")
        nth = int(asked.argument)
        await self._versions.choose(
            asked.room, asked.person, nth, owner=asked.owner, keeper=asked.keeper
        )
        return f"Version {nth} stands there now."

    async def more(self, asked: CommandRequest) -> str:
        """Go on from it."""
        await self._want(asked, "more")
        return "It goes on."

    async def _want(self, asked: CommandRequest, how: Wish) -> None:
        if asked.untrusted:
            raise InputError("Who is not known here does not have lines said anew.")
        await self._versions.want(
            asked.room,
            asked.person,
            how,
            surface=asked.surface,
            owner=asked.owner,
            keeper=asked.keeper,
            guest=asked.guest,
        )
