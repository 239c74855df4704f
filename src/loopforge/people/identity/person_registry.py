"""Who is known to this home: the person behind an account of a surface.

Facts live in the stream "people". In a terminal the account is the name given with `--as`, in the
web room the name of the account; on a platform the user's id there, while the name is what the
platform shows, and follows it. Which accounts are one person's says linked_selves.py. Does not know
rooms, nor how somebody proves who they are (see account_linking.py).
"""

from __future__ import annotations

from collections.abc import Sequence

from loopforge.core.events import Event
from loopforge.core.people_events import PersonMet, PersonRenamed
from loopforge.core.text.erasable_text import Words
from loopforge.core.text.name_labels import row_name
from loopforge.people.identity.account_names import shown
from loopforge.people.identity.linked_selves import HOME, Person, Self, Selves
from loopforge.runtime.ports import Ledger
from loopforge.runtime.system_clock import Stamp

__all__ = ["HOME", "STREAM", "Person", "Registry", "Self"]

STREAM = "people"


class Registry:
    """The people of this home, folded from the ledger."""

    def __init__(self, ledger: Ledger, stamp: Stamp) -> None:
        self._ledger, self._stamp = ledger, stamp
        self._selves = Selves()
        ledger.subscribe(self._follow, streams=STREAM)

    async def refresh(self) -> None:
        """Read what was added since."""
        for event in await self._ledger.read(STREAM, after=self._selves.seq):
            self._selves.apply(event)

    def _follow(self, _stream: str, events: Sequence[Event]) -> None:
        for event in events:
            if event.seq == self._selves.seq + 1:
                self._selves.apply(event)

    # ------------------------------------------------------------ meeting

    async def meet(
        self, surface: str, account: str, name: str = "", *, bot: bool = False
    ) -> Person:
        """The person behind an account; becomes known here if not known yet.

        `name` is what the surface shows. For the account of a platform by which somebody was met,
        their name follows it, unless they have one of their own in this home.
        """

        async def attempt(seq: int) -> Person:
            known = self._selves.who(surface, account)
            if known is None:
                return await self._introduce(surface, account, name or account, bot, seq)
            return await self._renamed(known, surface, account, name, seq)

        return await self._ledger.decide(STREAM, self._head, attempt)

    async def _head(self, _: int) -> int:
        await self.refresh()
        return self._selves.seq

    async def _introduce(
        self, surface: str, account: str, name: str, bot: bool, seq: int
    ) -> Person:
        """Somebody new. Raises Conflict where the stream moved on meanwhile."""
        id = "p" + self._stamp.id()[-12:]
        name = row_name(name) if surface in HOME else shown(name, row_name(account))
        body = PersonMet(
            person=id, name=Words(name), surface=surface, account=Words(account), bot=bot
        )
        return await self._append(id, body, seq)

    async def _renamed(
        self, known: Person, surface: str, account: str, name: str, seq: int
    ) -> Person:
        """The same person, under the name they show now. Raises Conflict."""
        new = shown(name, "")
        follows = self._selves.first(known.id, surface, account) and not self._selves.named(known)
        if not follows or not new or new == known.name.text:
            return known
        body = PersonRenamed(person=known.id, surface=surface, name=Words(new))
        return await self._append(known.id, body, seq)

    async def _append(self, person: str, body: PersonMet | PersonRenamed, seq: int) -> Person:
        fact = self._stamp.fact(body, actor=f"person:{person}")
        for event in await self._ledger.append(STREAM, [fact], expect=seq):
            self._selves.apply(event)
        found = self._selves.person(person)
        assert found is not None
        return found

    # ------------------------------------------------------------ asking

    async def named(self, name: str) -> list[Person]:
        """Everybody of that name; who became somebody else is not counted beside that one."""
        await self.refresh()
        wanted = name.casefold()
        everybody = self._selves.everybody()
        return [one for one in everybody if str(one.name).casefold() == wanted]

    async def everybody(self) -> list[Person]:
        """All who are not forgotten, in the order in which they were met."""
        await self.refresh()
        return self._selves.everybody()

    def person(self, id: str) -> Person | None:
        """By id, if known: as they were under this id (see `same`)."""
        return self._selves.person(id)

    def same(self, id: str) -> str:
        """The id of the person whom this one became; the same for who is still themselves."""
        return self._selves.same(id)

    def who(self, surface: str, account: str) -> Person | None:
        """Whom an account means, as far as is read; meets nobody."""
        return self._selves.who(surface, account)

    def selves(self, person: str) -> list[Self]:
        """The accounts that mean a person, that by which they were met first."""
        return self._selves.of(person)
