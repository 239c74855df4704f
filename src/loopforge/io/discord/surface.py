"""The Discord surface: accounts kept connected, what people do there heard, what is said shown.

Each account has one client, which is made anew whenever it ends (discord.py's own connection ends
on a payload that it does not understand, and on a first connection that fails); no account is
disturbed by another. Satisfies runtime.ports.Surface. Does not know settings, nor who made it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from loopforge.artifacts.store import Artifacts
from loopforge.chat.front import Front
from loopforge.chat.house import PREFIX as ROOM
from loopforge.io.discord.backlog import Backlog
from loopforge.io.discord.client import Client
from loopforge.io.discord.crowd import Crowd, Seat
from loopforge.io.discord.drafts import Drafts
from loopforge.io.discord.files import Files
from loopforge.io.discord.hooks import Connector, Hooks
from loopforge.io.discord.inward import Inward
from loopforge.io.discord.options import Options, State
from loopforge.io.discord.outward import Outward
from loopforge.io.discord.pace import Pace
from loopforge.io.discord.slash import Slash
from loopforge.io.discord.stage import Stage
from loopforge.io.discord.threads import Threads
from loopforge.io.discord.troubles import failed, refused, scrub
from loopforge.io.discord.voices import Voices
from loopforge.io.reception import Reception
from loopforge.io.tokens import Account
from loopforge.io.watching import Watch
from loopforge.runtime.ports import Clock, Dice, Outgoing
from loopforge.runtime.tasks import Tasks

__all__ = ["Account", "Discord", "Options", "State"]
log = logging.getLogger(__name__)
AGAIN = 8.0
"""Seconds between two typing signs; one is shown for ten."""
WELL = 600.0
"""Seconds connected after which an account has not failed in a row any more."""


class Discord:
    """Our accounts on Discord. `connector` makes the connections of one client, for tests."""

    name = "discord"

    def __init__(
        self,
        accounts: Sequence[Account],
        reception: Reception,
        front: Front,
        artifacts: Artifacts,
        clock: Clock,
        dice: Dice,
        options: Options | None = None,
        connector: Connector | None = None,
    ) -> None:
        options = options or Options()
        self._clock, self._dice, self._options = clock, dice, options
        self._connector = connector
        self._crowd = Crowd(accounts, front.mates)
        self._hooks = Hooks(self._crowd, connector)
        self._paces = [Pace() for _ in accounts]
        files, sessions = Files(artifacts, clock, options), reception.sessions
        voices = Voices(self._crowd, self._hooks)
        self._drafts = Drafts(voices, self._hooks, front)
        stage = Stage(self._crowd, self._drafts, sessions)
        self._watch = Watch(
            front, stage, clock, again=AGAIN, streams=options.stream, marks=options.marks
        )
        self._outward = Outward(
            self._crowd, voices, sessions, front, self._hooks, files, self._drafts
        )
        self._threads = Threads(self._crowd, reception, front, clock, options)
        backlog = Backlog(sessions, front.behind)
        self._inward = Inward(
            self._crowd, reception, self._hooks, files, clock, options, self, self._threads, backlog
        )
        self._slash = Slash(self._crowd, reception, self._threads, self._inward.thread)
        self._tasks = Tasks()
        self._over = asyncio.Event()
        # What is worth knowing is said here; discord.py logs requests with everything in them.
        logging.getLogger("discord").setLevel(logging.CRITICAL)

    async def run(self) -> None:
        """Keep every account connected until `close`."""
        for index in range(len(self._crowd.accounts)):
            self._tasks.spawn(self._keep(index), f"Discord account {index}")
        await self._over.wait()

    async def close(self) -> None:
        """Leave Discord."""
        self._crowd.leave()
        await self._tasks.close()
        await self._inward.close()
        await self._slash.close()
        await self._threads.close()
        await self._watch.close()
        await self._hooks.close()
        self._over.set()

    def states(self) -> list[State]:
        """How each account stands, in their order."""
        return self._crowd.states()

    @property
    def turns(self) -> list[int]:
        """How many calls of each account, by itself or by its webhooks, took their turn."""
        return [pace.turns for pace in self._paces]

    async def send(self, out: Outgoing) -> str:
        """Send it; the ids of its messages. Raises SendFailed."""
        try:
            return await self._outward.send(out)
        except Exception as error:
            raise failed(error, "that place") from None

    async def sent(self, out: Outgoing) -> str | None:
        """Whether all of it is there already. Raises SendFailed."""
        try:
            return await self._outward.sent(out)
        except Exception as error:
            raise failed(error, "that place") from None

    # ------------------------------------------------------------ what was heard concerns

    def arrived(self, client: Client) -> None:
        """An account is connected: people may command."""
        self._slash.offer(client)

    def attend(self, room: str) -> None:
        """Something is heard in this room: show there what is going on."""
        self._watch.room(room)

    def drafting(self, message: int) -> bool:
        """Whether this message shows what a mate is saying just now."""
        return self._drafts.shows(message)

    async def tidy(self, seat: Seat, room: str) -> None:
        """Take away what the last process left behind in a place."""
        await self._drafts.tidy(seat, f"{ROOM}{room}")

    # ------------------------------------------------------------ one account

    async def _keep(self, index: int) -> None:
        """Connect, and again whenever that ends, later and later."""
        failures, told = 0, ""
        while True:
            began = self._clock.ticks()
            try:
                await self._connect(index)
                why, lasting = "the connection ended", ""
            except Exception as error:
                secrets = [account.token for account in self._crowd.accounts]
                lasting = refused(error)
                why = lasting or scrub(f"{type(error).__name__}: {error}", secrets)[:300]
            self._crowd.stands(index, "refused" if lasting else "waiting", why)
            if self._clock.ticks() - began > WELL:
                failures, told = 0, ""
            mates = ", ".join(self._crowd.accounts[index].mates)
            if why != told:
                log.warning("the Discord account of %s is not connected: %s", mates, why)
            told = why
            await self._clock.sleep(self._pause(failures, bool(lasting)))
            failures += 1

    def _pause(self, failures: int, lasting: bool) -> float:
        pauses = self._options.pauses
        pause = self._options.refused if lasting else pauses[min(failures, len(pauses) - 1)]
        return pause * (1 + self._dice.bytes(1)[0] / 1024)

    async def _connect(self, index: int) -> None:
        """One client, from its first call to its end."""
        connector = self._connector() if self._connector is not None else None
        account = self._crowd.accounts[index]
        trace = self._paces[index].trace()
        client = Client(account, self._inward, self._options, connector, trace)
        self._crowd.place(index, client)
        self._slash.equip(client)
        try:
            async with client:
                await client.start(account.token)
        finally:
            self._inward.forget(client)
