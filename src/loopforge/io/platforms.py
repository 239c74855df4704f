"""Platforms: Discord and Telegram beside the rooms of a running home, each on its own.

For each platform that mates are connected to there is one surface, begun with the home and ended
with it. One that fails says so in its state and is tried again; it never disturbs another. The
libraries of a platform are loaded when the first mate is connected to it.

Does not know how a platform works.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import timedelta
from typing import Protocol

from msgspec import Struct

from loopforge.artifacts.receive import Limits
from loopforge.artifacts.store import Artifacts
from loopforge.chat.front import Front
from loopforge.io.reception import Reception
from loopforge.io.scrub import scrub_logs
from loopforge.io.tokens import Account, Platform, Tokens
from loopforge.people.pairing import Closed, Code, Pairing, Silent, Welcome
from loopforge.people.registry import Registry
from loopforge.runtime.delivery import Deliveries
from loopforge.runtime.ports import Clock, Dice, Surface
from loopforge.runtime.tasks import Tasks

log = logging.getLogger(__name__)
PAUSES = (2.0, 10.0, 60.0)


class Running(Surface, Protocol):
    """A surface that is run."""

    async def run(self) -> None:
        """Be there until cancelled."""
        ...

    async def close(self) -> None:
        """Be there no longer."""
        ...

    def states(self) -> Mapping[str, str]:
        """How it stands with each account, in plain words, by its mates."""
        ...


class Parts(Struct, frozen=True, kw_only=True):
    """What platforms need of a running home."""

    front: Front
    people: Registry
    pairing: Pairing
    artifacts: Artifacts
    deliveries: Deliveries
    clock: Clock
    dice: Dice


class Manners(Struct, frozen=True, kw_only=True):
    """How mates behave on platforms; `servers` are other addresses than a platform's own."""

    streams: bool = True
    marks: bool = True
    patience: timedelta = timedelta(hours=12)
    limits: Limits = Limits(5_000_000, 200_000)
    servers: Mapping[str, str] = {}


class Platforms:
    """The surfaces of one home."""

    def __init__(self, parts: Parts, tokens: Tokens, manners: Manners) -> None:
        self._parts, self._tokens, self._manners = parts, tokens, manners
        self._surfaces: dict[str, Running] = {}
        self._tasks = Tasks()
        self._troubles: dict[str, str] = {}

    async def open(self) -> None:
        """Begin with every platform that mates are connected to."""
        scrub_logs(self._tokens.secrets())
        accounts: dict[Platform, list[Account]] = {}
        for account in self._tokens.accounts():
            accounts.setdefault(account.platform, []).append(account)
        for platform, mine in accounts.items():
            self._tasks.spawn(self._run(platform, mine), f"platform {platform}")

    async def close(self) -> None:
        """End; what was not sent yet stays in the ledger."""
        for name, surface in list(self._surfaces.items()):
            self._parts.deliveries.detach(name)
            await surface.close()
        await self._tasks.close()

    def states(self) -> dict[str, dict[str, str]]:
        """How it stands: by platform, then by the mates of an account."""
        found = {name: dict(surface.states()) for name, surface in self._surfaces.items()}
        for name, trouble in self._troubles.items():
            found.setdefault(name, {})["*"] = trouble
        return found

    async def _run(self, platform: Platform, accounts: list[Account]) -> None:
        failures = 0
        while True:  # a surface runs until this task is cancelled
            try:
                surface = self._made(platform, accounts)
                self._surfaces[platform] = surface
                self._troubles.pop(platform, None)
                self._parts.deliveries.attach(surface)
                await surface.run()
            except Exception as error:
                self._troubles[platform] = f"it failed ({type(error).__name__}) and is begun anew"
                log.exception("%s failed, and is begun anew", platform)
                self._parts.deliveries.detach(platform)
                if failed := self._surfaces.pop(platform, None):
                    await failed.close()
                await self._parts.clock.sleep(PAUSES[min(failures, len(PAUSES) - 1)])
                failures += 1

    def _made(self, platform: Platform, accounts: list[Account]) -> Running:
        parts, manners = self._parts, self._manners
        reception = Reception(
            parts.front,
            parts.people,
            parts.clock,
            self._knock,
            parts.pairing.trusts,
            manners.patience,
        )
        base = manners.servers.get(platform, "")
        match platform:
            case "telegram":
                from loopforge.io.telegram.surface import Options, Telegram

                options = Options(
                    streams=manners.streams, marks=manners.marks, limits=manners.limits, base=base
                )
                return Telegram(
                    accounts, reception, parts.front, parts.artifacts, parts.clock, options
                )
            case "discord":
                raise NotImplementedError

    async def _knock(self, platform: str, account: str, name: str) -> str | None:
        match await self._parts.pairing.knock(platform, account, name):
            case Welcome():
                return None
            case Code(words=words) | Closed(words=words):
                return words
            case Silent():
                return ""
