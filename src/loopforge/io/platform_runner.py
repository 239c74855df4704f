"""Platforms: the surfaces that are installed, beside the rooms of a running home, each on its own.

A surface that mates are on by bots runs while there are accounts for it, any other one as long as
the home does. One that fails says so in its state and is tried again; it never disturbs another.
The libraries of a platform are loaded when the first mate is connected to it. Accounts that are
connected or disconnected while the home runs are taken up: the surface of that platform ends, once
what it is sending is sent, and begins with the accounts there are now; others go on.

Does not know how a platform works, nor which there are.
"""

import asyncio
import logging
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from loopforge.chat.room.platform_channels import ChannelSpot
from loopforge.errors import BadSettings, LedgerError, LoopforgeError, SendFailed
from loopforge.io.platforms.bot_tokens import EVERYBODY, BotAccount, BotTokens
from loopforge.io.platforms.incoming_lines import IncomingLines
from loopforge.io.platforms.place_allowlist import ServedPlaces
from loopforge.io.platforms.secret_scrubbing import scrub_logs
from loopforge.io.platforms.surface_options import SurfaceOptions
from loopforge.io.platforms.surface_plugin import HomeParts, RunningSurface, SurfaceParts, Surfaces
from loopforge.io.session import Sessions
from loopforge.people.stranger_pairing import LET_IN
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.installation.library_loading import import_modules
from loopforge.runtime.ports import Outgoing

log = logging.getLogger(__name__)
PAUSES = (2.0, 10.0, 60.0)
LOOK = 2.0
"""Seconds between two looks at which accounts there are, and which rooms were joined."""
FAREWELL, CLOSING = 3.0, 10.0
"""Seconds that a surface has to finish what it is sending when it ends, and then to close."""
BEGINS = "it is being connected"
PENDING = (BEGINS, "not connected yet")
"""States of which nobody is told: they are about to be others."""
FILE = "accounts"
"""Stands for the file of accounts among the platforms, when that cannot be read."""


class AttachedSurface:
    """A surface as deliveries have it, which knows whether it is sending anything.

    What it raises where nobody tries again is said once, and harms nobody else.
    """

    def __init__(self, surface: RunningSurface, amiss: Callable[[], str] = str) -> None:
        """`amiss` is what is wrong there with all of its accounts, "" for nothing."""
        self.name, self.run, self._amiss = surface.name, surface.run, amiss
        self._surface, self._sending, self._leaving = surface, 0, False
        self._told = set[str]()
        self._idle = asyncio.Event()
        self._idle.set()

    async def send(self, out: Outgoing) -> str:
        """Send it; once it leaves, nothing. Raises SendFailed."""
        with self._at_it():
            return await self._surface.send(out)

    async def sent(self, out: Outgoing) -> str | None:
        """Whether it is there already. Raises SendFailed, also once it leaves."""
        with self._at_it():
            return await self._surface.sent(out)

    @contextmanager
    def _at_it(self) -> Iterator[None]:
        if self._leaving:
            raise SendFailed("it is just being closed", unsent=True)
        self._sending += 1
        self._idle.clear()
        try:
            yield
        except SystemExit as error:
            raise SendFailed(f"{self.name} wanted to end the program ({error}).") from error
        finally:
            self._sending -= 1
            if not self._sending:
                self._idle.set()

    async def end(self) -> None:
        """Close it, once what it is sending is sent; what takes too long is found again later."""
        try:
            async with asyncio.timeout(FAREWELL):
                await self._idle.wait()
        except TimeoutError:
            log.info("%s was still sending when it ended", self.name)
        self._leaving = True
        try:
            async with asyncio.timeout(CLOSING):
                await self._surface.close()
        except (Exception, SystemExit) as error:
            self._log_failure("close", error)

    def attend(self, room: str) -> None:
        """Have it show what is going on in a room."""
        try:
            self._surface.attend(room)
        except (Exception, SystemExit) as error:
            self._log_failure("show what is going on in rooms", error)

    def states(self) -> dict[str, str]:
        """How it stands with its accounts, or that it cannot say so."""
        try:
            states, amiss = dict(self._surface.states()), self._amiss()
            there = {who: state for who, state in states.items() if state.startswith("connected")}
            return states | {who: f"{state}; {amiss}" for who, state in there.items() if amiss}
        except (Exception, SystemExit) as error:
            self._log_failure("say how it stands", error)
            return {EVERYBODY: f"it cannot say how it stands ({type(error).__name__})"}

    def _log_failure(self, what: str, error: BaseException) -> None:
        if what not in self._told:
            self._told.add(what)
            log.warning("%s cannot %s", self.name, what, exc_info=error)


class Platforms:
    """The surfaces of one home. `tell` takes a line whenever it stands otherwise with an account.

    An account that nobody can talk by is told of like one that is refused: its token is another
    one's too, or there is no mate of that name.
    """

    def __init__(
        self,
        parts: HomeParts,
        tokens: BotTokens,
        surfaces: Surfaces,
        manners: SurfaceOptions,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._parts, self._tokens, self._manners = parts, tokens, manners
        self._there, self._tell = surfaces, tell
        self._told: dict[tuple[str, str], str] = {}
        self._passed: list[tuple[BotAccount, str]] = []
        self._sessions = Sessions(parts.front)
        self._accounts: dict[str, list[BotAccount]] = {}
        self._running: dict[str, BackgroundTasks] = {}
        self._surfaces: dict[str, AttachedSurface] = {}
        self._troubles: dict[str, str] = {}
        self._tasks = BackgroundTasks()
        self._changing = asyncio.Lock()
        self._written = 0

    async def open(self, later: float = 0.0) -> None:
        """Begin with every platform that mates are connected to, `later` seconds from now."""
        self._tasks.spawn(self._keep_running(later), "platforms")

    async def close(self) -> None:
        """End; what was not sent yet stays in the ledger."""
        async with self._changing:  # what begins or ends just now does so to its end
            await self._tasks.close()
            await asyncio.gather(
                *(self._end_platform(platform) for platform in list(self._running))
            )

    def states(self) -> dict[str, dict[str, str]]:
        """How it stands: by platform, then by the mates of an account."""
        found: dict[str, dict[str, str]] = {
            platform: {", ".join(each.mates): BEGINS for each in accounts}
            for platform, accounts in self._accounts.items()
            if accounts
        }
        for name, surface in self._surfaces.items():
            found[name] = surface.states()
        for name, trouble in self._troubles.items():
            found[name] = {EVERYBODY: trouble}
        for account, why in self._accounts_amiss():
            found.setdefault(account.platform, {})[", ".join(account.mates)] = why
        return found

    def title(self, platform: str) -> str:
        """What people call it."""
        there = self._there.get(platform)
        return there.plugin.title if there is not None else platform.capitalize()

    def _accounts_amiss(self) -> list[tuple[BotAccount, str]]:
        """The accounts that nobody can talk by, whatever the platform says of them, and why."""
        known = self._parts.front.rooms.mates
        there = [account for each in self._accounts.values() for account in each]
        return [*self._passed, *((a, why) for a in there if (why := a.amiss(known)))]

    def _announce_accounts(self) -> None:
        """Say how it stands with each account, once it is known, and when it becomes another."""
        told, self._told = self._told, {}
        for platform, accounts in self.states().items():
            for mates, state in accounts.items():
                before = told.get((platform, mates), "")
                if now := before if state in PENDING else state:
                    self._told[platform, mates] = now
                if now != before:
                    who = "all mates" if mates == EVERYBODY else mates
                    line = f"{self.title(platform)} ({who}): {now}"
                    level = logging.INFO if now.startswith("connected") else logging.WARNING
                    log.log(level, "%s", line)
                    self._tell(line)

    # ------------------------------------------------------------ which there are

    async def _keep_running(self, later: float) -> None:
        """Begin, and take up whatever accounts come and go, for as long as the home runs."""
        await self._parts.stamp.clock.sleep(later)
        while True:
            async with self._changing:
                await self._look_for_accounts()
            await self._attend_rooms()
            self._announce_accounts()
            await self._parts.stamp.clock.sleep(LOOK)

    async def _look_for_accounts(self) -> None:
        """Take up which accounts there are now; platforms whose accounts are the same go on.

        But one that was refused is begun anew when the file is written: somebody mended something.
        """
        before, self._written = self._written, self._tokens.written()
        again = self._written != before
        try:
            found = self._tokens.weighed()
        except BadSettings as error:
            self._troubles[FILE] = str(error)
            return
        self._troubles.pop(FILE, None)
        found = [
            (account, why or self._unserved_notice(account.platform)) for account, why in found
        ]
        self._passed = [(account, why) for account, why in found if why]
        accounts: dict[str, list[BotAccount]] = {
            name: [] for name, each in self._there.items() if each.plugin.bots is None
        }
        for account, why in found:
            if not why:
                accounts.setdefault(account.platform, []).append(account)
        changed = [
            platform
            for platform in {**self._accounts, **accounts}
            if accounts.get(platform) != self._accounts.get(platform)
            or (again and self._is_stuck(platform))
        ]
        if changed:
            scrub_logs([account.token for account, _ in found])
        self._accounts = accounts
        await asyncio.gather(*(self._begin_platform(platform) for platform in changed))

    async def _attend_rooms(self) -> None:
        """Let each surface show what is going on in rooms that a place of its became part of."""
        for name, surface in list(self._surfaces.items()):
            try:
                rooms = await self._sessions.channels.all(name)
            except LedgerError as error:
                log.warning("joined rooms of %s are looked for again: %s", name, error)
                continue
            for room in set(rooms.values()):
                surface.attend(room)
            await self._greet_admitted(name, rooms)

    async def _greet_admitted(self, platform: str, rooms: Container[str]) -> None:
        """Who was let in since they knocked is told so, by the room of their private talk."""
        for one in self._parts.pairing.admitted(platform):
            if one.place in rooms:
                continue
            try:
                await self._sessions.greet(ChannelSpot(one.place, one.name, "private"), LET_IN)
            except LoopforgeError as error:
                log.warning("somebody who was let in is not told yet: %s", error)

    def _unserved_notice(self, platform: str) -> str:
        there = self._there.get(platform)
        known = there is not None and there.plugin.bots is not None
        return "" if known else f"no surface called {platform} with bots is installed"

    def _is_stuck(self, platform: str) -> bool:
        """Whether an account is not connected, so that it is worth another try."""
        surface = self._surfaces.get(platform)
        states = surface.states().values() if surface is not None else ()
        return any(state not in PENDING and not state.startswith("connected") for state in states)

    async def _begin_platform(self, platform: str) -> None:
        """Run a platform with the accounts there are now, or not at all."""
        await self._end_platform(platform)
        if (accounts := self._accounts.get(platform)) is not None:
            tasks = self._running[platform] = BackgroundTasks()
            tasks.spawn(self._run_platform(platform, accounts), f"platform {platform}")

    async def _end_platform(self, platform: str) -> None:
        if running := self._running.pop(platform, None):
            await running.close()
        self._troubles.pop(platform, None)

    # ------------------------------------------------------------ one of them

    async def _run_platform(self, platform: str, accounts: Sequence[BotAccount]) -> None:
        """Be on a platform; after a failure again, with growing pauses."""
        failures = 0
        while True:  # until this task is cancelled
            try:
                if not await self._be_on_platform(platform, accounts):
                    return
                self._troubles[platform] = "it ended and is begun anew"
            except LoopforgeError as error:
                self._troubles[platform] = f"{error} It is tried again."
                log.warning("%s is begun anew: %s", platform, error)
            except (Exception, SystemExit) as error:
                self._troubles[platform] = f"it failed ({type(error).__name__}) and is begun anew"
                log.exception("%s failed, and is begun anew", platform)
            await self._parts.stamp.clock.sleep(PAUSES[min(failures, len(PAUSES) - 1)])
            failures += 1

    async def _be_on_platform(self, platform: str, accounts: Sequence[BotAccount]) -> bool:
        """Be on a platform until that ends; False where nobody wants to be."""
        await import_modules(*self._there[platform].plugin.loads)
        surface = self._make_surface(platform, accounts)
        if surface is None:
            return False
        self._surfaces[platform] = surface
        self._troubles.pop(platform, None)
        self._parts.deliveries.attach(surface)
        try:
            await surface.run()
        finally:
            self._parts.deliveries.detach(platform)
            self._surfaces.pop(platform, None)
            await surface.end()
        return True

    def _make_surface(
        self, platform: str, accounts: Sequence[BotAccount]
    ) -> AttachedSurface | None:
        parts, manners, there = self._parts, self._manners, self._there[platform]
        reception = IncomingLines(
            parts.front,
            parts.people,
            parts.stamp.clock,
            parts.pairing,
            parts.linking,
            ServedPlaces(there.grounds),
            manners.patience,
        )
        made = there.plugin.make(
            SurfaceParts(
                reception=reception,
                front=parts.front,
                artifacts=parts.artifacts,
                portraits=parts.portraits,
                clock=parts.stamp.clock,
                dice=parts.stamp.dice,
                manners=manners,
                options=there.options,
                accounts=accounts,
            )
        )
        amiss = partial(reception.time.amiss, self.title(platform))
        return AttachedSurface(made, amiss) if made is not None else None
