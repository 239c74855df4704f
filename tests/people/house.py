"""A house with accounts for tests: a ledger, the registry, the accounts, wired as the app does."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from sqlalchemy.engine import Connection

from loopforge.core.events import Event
from loopforge.ledger.sql_ledger import SqlLedger, open_ledger
from loopforge.people.account_linking import AccountLinking
from loopforge.people.accounts.access_links import AccessLinks
from loopforge.people.accounts.account_decisions import AccountDecisions
from loopforge.people.accounts.account_service import Accounts
from loopforge.people.accounts.account_values import Visitor
from loopforge.people.accounts.sign_in import SignIn
from loopforge.people.identity.person_registry import STREAM, PersonRegistry
from loopforge.people.stranger_pairing import StrangerPairing, Strangers
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.system_clock import Stamp
from tests.ledger.saying import NOON
from tests.seeded_dice import SeededDice
from tests.sim_clock import SimClock
from tests.still import still

T = TypeVar("T")
MOBILE = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0"
SECRET = "quiet otters row home"
STRANGERS = dict.fromkeys(("discord", "telegram"), Strangers(account="[0-9]+"))


class Gate:
    """The same ledger, with a gate at which one deed waits until the test lets it go on.

    `writing` stands before facts and secrets are written, `reading` after something was read.
    """

    def __init__(self, ledger: SqlLedger) -> None:
        self._ledger = ledger
        self.writing, self.reading = asyncio.Event(), asyncio.Event()
        self.reached = asyncio.Event()
        self.writing.set()
        self.reading.set()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ledger, name)

    async def append_with(self, *given: Any, **more: Any) -> tuple[Event, ...]:
        """Waits, then writes."""
        await self._pass(self.writing)
        return await self._ledger.append_with(*given, **more)

    async def look(self, work: Callable[[Connection], T]) -> T:
        """Reads, then waits."""
        result = await self._ledger.look(work)
        await self._pass(self.reading)
        return result

    async def _pass(self, gate: asyncio.Event) -> None:
        if not gate.is_set() and not self.reached.is_set():
            self.reached.set()
            await gate.wait()


@dataclass(frozen=True)
class House:
    """One process of a home."""

    ledger: SqlLedger
    clock: SimClock
    people: PersonRegistry
    accounts: Accounts
    linking: AccountLinking
    pairing: StrangerPairing
    gate: Gate
    ended: list[str]
    """The sessions of whose end this process was told."""

    @property
    def links(self) -> AccessLinks:
        """The links that let in."""
        return self.accounts.links

    @property
    def signing(self) -> SignIn:
        """Signing in and out."""
        return self.accounts.signing

    @property
    def decisions(self) -> AccountDecisions:
        """Where accounts are decided."""
        return self.accounts.decisions

    async def visitor(self, token: str) -> Visitor | None:
        """Who comes with this token."""
        return await self.decisions.presence.visitor(token)

    async def owner(self, name: str = "Ana") -> tuple[Visitor, str]:
        """The owner comes in by a fresh link."""
        return await self.links.enter(await self.links.offer(), name, MOBILE)

    async def member(self, name: str, by: str) -> tuple[Visitor, str]:
        """Somebody comes in by an invite."""
        _, token = await self.links.invite(by)
        visitor, session, _ = await self.links.take(token, name, SECRET, MOBILE)
        return visitor, session

    async def kinds(self) -> list[str]:
        """The kinds of everything in the stream, in short."""
        return [event.kind.removeprefix("people.") for event in await self.ledger.read(STREAM)]

    async def hours(self, hours: float) -> None:
        """Time passes."""
        await self.clock.advance(hours * 3600)


@asynccontextmanager
async def opened(url: str, seed: int = 1) -> AsyncIterator[House]:
    """A process of a home on this database. Processes have different seeds."""
    clock, dice = SimClock(NOON), SeededDice(seed)
    ledger, stamp = await open_ledger(url, clock, dice), Stamp(clock, dice)
    still(clock, ledger)
    people = PersonRegistry(ledger, stamp)
    gate, tasks = Gate(ledger), BackgroundTasks()
    accounts = Accounts(cast("SqlLedger", gate), people, stamp, tasks)
    ended: list[str] = []

    accounts.decisions.presence.hear(ended.append)
    await accounts.decisions.refresh()
    try:
        linking = AccountLinking(accounts.decisions, people, clock)
        pairing = StrangerPairing(accounts.decisions, people, STRANGERS)
        yield House(ledger, clock, people, accounts, linking, pairing, gate, ended)
    finally:
        await tasks.close()
        await ledger.close()


def code_in(words: str | None) -> str:
    """The code that a stranger is shown in these words."""
    found = re.search(r"`loopforge people admit ([A-Z0-9-]+)`", words or "")
    assert found is not None, words
    return found[1]
