"""Who is known to this home: a person's id by surface and account.

Facts live in the stream "people". In a terminal the account is the name given with `--as`; other
surfaces bring their own. Does not know rooms.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from msgspec import Struct

from loopforge.core.events import Erased, Event
from loopforge.core.people import PersonMet
from loopforge.core.words import Words
from loopforge.errors import Conflict, LedgerBusy
from loopforge.runtime.clock import Stamp
from loopforge.runtime.ports import Ledger

STREAM = "people"
LONGEST_NAME = 40
TRIES = 20
"""How often a meeting is tried anew because somebody else was met meanwhile."""


class Person(Struct, frozen=True, kw_only=True):
    """A known person. `name` may have been forgotten."""

    id: str
    name: Words
    surface: str


class Registry:
    """The people of this home, folded from the ledger."""

    def __init__(self, ledger: Ledger, stamp: Stamp) -> None:
        self._ledger, self._stamp = ledger, stamp
        self._by_account: dict[tuple[str, str], Person] = {}
        self._by_id: dict[str, Person] = {}
        self._seq = 0
        self._meeting = asyncio.Lock()

    async def refresh(self) -> None:
        """Read what was added since."""
        for event in await self._ledger.read(STREAM, after=self._seq):
            self._apply(event)

    def appended(self, stream: str, events: Sequence[Event]) -> None:
        """Take in what this process appended, if it is about people and comes next."""
        for event in events:
            if stream == STREAM and event.seq == self._seq + 1:
                self._apply(event)

    def _apply(self, event: Event) -> None:
        if event.seq <= self._seq:
            return
        self._seq = event.seq
        if isinstance(event.body, Erased):
            self._forget(set(event.body.refs))
        if isinstance(event.body, PersonMet):
            body = event.body
            person = Person(id=body.person, name=body.name, surface=body.surface)
            self._by_id[person.id] = person
            if body.account.text is not None:
                self._by_account[body.surface, body.account.text.casefold()] = person

    def _forget(self, refs: set[str]) -> None:
        """Forget names and accounts; whoever comes with such an account is somebody new."""
        for person in self._by_id.values():
            if person.name.ref in refs:
                person.name.text = None
        self._by_account = {
            account: person
            for account, person in self._by_account.items()
            if person.name.text is not None
        }

    async def meet(self, surface: str, account: str, name: str = "") -> Person:
        """The person behind an account; becomes known here if not known yet."""
        async with self._meeting:  # two terminals of one person may come in at once
            for _ in range(TRIES):
                await self.refresh()
                known = self._by_account.get((surface, account.casefold()))
                if known is not None:
                    return known
                try:
                    return await self._introduce(surface, account, name or account)
                except Conflict:
                    continue  # another process met somebody, perhaps this very person
        raise LedgerBusy("Too many people come in at once; nobody new was let in. Try again.")

    async def _introduce(self, surface: str, account: str, name: str) -> Person:
        """Somebody new. Raises Conflict where the stream moved on meanwhile."""
        id = "p" + self._stamp.id()[-12:]
        body = PersonMet(
            person=id,
            name=Words(name[:LONGEST_NAME]),
            surface=surface,
            account=Words(account),
        )
        fact = self._stamp.fact(body, actor=f"person:{id}")
        for event in await self._ledger.append(STREAM, [fact], expect=self._seq):
            self._apply(event)
        return self._by_id[id]

    async def named(self, name: str) -> list[Person]:
        """Everybody of that name."""
        await self.refresh()
        wanted = name.casefold()
        return [one for one in self._by_id.values() if str(one.name).casefold() == wanted]

    def person(self, id: str) -> Person | None:
        """By id, if known."""
        return self._by_id.get(id)
