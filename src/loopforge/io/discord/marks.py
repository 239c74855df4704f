"""Marks on a line that called a mate: seen, answered, or failed.

    👀 its turn has begun  -->  ✅ it answered, ❌ the turn failed, or nothing: it kept still

Marks are signs and no facts: they are not noted, and one that Discord does not take is left out.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from loopforge.io.discord.crowd import Crowd, Seat
from loopforge.io.discord.threads import carrier
from loopforge.io.discord.troubles import scrub
from loopforge.io.session import Sessions
from loopforge.runtime.tasks import Tasks

log = logging.getLogger(__name__)
SEEN, DONE, FAILED = "👀", "✅", "❌"
REMEMBERED = 50
"""Turns that said nothing, of which a trouble may still be told."""
CALLS = ("mention", "reply", "name")
"""How a line calls a mate so that it bears a mark."""


class Marks:
    """The marks of turns that run."""

    def __init__(self, crowd: Crowd, sessions: Sessions) -> None:
        self._crowd, self._sessions = crowd, sessions
        self._steps: dict[str, asyncio.Queue[str]] = {}
        self._quiet: dict[str, asyncio.Queue[str]] = {}
        self._tasks = Tasks()

    async def close(self) -> None:
        """Mark nothing any more."""
        await self._tasks.close()

    def began(self, places: Sequence[str], turn: str, mate: str, line: str, summons: str) -> None:
        """A turn began that this line called."""
        if summons in CALLS and places:
            steps = self._steps[turn] = asyncio.Queue()
            self._tasks.spawn(self._mark(places, mate, line, steps), f"marks of {turn}")

    def answered(self, turn: str) -> None:
        """The mate said something in it."""
        if (steps := self._steps.pop(turn, None)) is not None:
            steps.put_nowait(DONE)

    def ended(self, turn: str, *, failed: bool) -> None:
        """It is over, and nothing was said; whether that is a trouble may be told later."""
        if (steps := self._steps.pop(turn, None)) is not None:
            steps.put_nowait(FAILED if failed else "")
            self._quiet[turn] = steps
            while len(self._quiet) > REMEMBERED:
                self._quiet.pop(next(iter(self._quiet))).put_nowait("")

    def troubled(self, turn: str) -> None:
        """People were told of a trouble of this turn."""
        if (steps := self._quiet.pop(turn, None)) is not None:
            steps.put_nowait(FAILED)

    async def _mark(
        self, places: Sequence[str], mate: str, line: str, steps: asyncio.Queue[str]
    ) -> None:
        found = [
            (await self._crowd.seat(place, mate), int(posts[0]))
            for place in places
            if (posts := await self._sessions.posts(place, line))
        ]
        await self._all(found, SEEN, "")
        first = await steps.get()
        await self._all(found, first, SEEN)
        if not first:
            await self._all(found, await steps.get(), "")

    async def _all(self, found: Sequence[tuple[Seat, int]], new: str, old: str) -> None:
        for seat, id in found:
            message = carrier(seat.channel, id).get_partial_message(id)
            me = seat.client.user
            try:
                if new:
                    await message.add_reaction(new)
                if old and me is not None:
                    await message.remove_reaction(old, me)
            except Exception as error:
                log.debug("a mark was left out: %s", scrub(error))
