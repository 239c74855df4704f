"""Who is known to this home: the person behind an account of a surface.

Facts live in the stream "people". In a terminal the account is the name given with `--as`, in the
web room the name of the account; on a platform the user's id there, while the name is what the
platform shows, and follows it. Which accounts are one person's says linked_identities.py. Does not
know rooms, nor how somebody proves who they are (see account_linking.py).
"""

from collections.abc import Callable, Sequence

from loopforge.core.events import Event
from loopforge.core.people_events import PEOPLE, PersonMet, PersonRenamed
from loopforge.core.schedule.reminder_events import TimeChosen
from loopforge.core.text.erasable_text import Words
from loopforge.core.text.name_labels import row_name
from loopforge.people.identity.account_names import sanitize_display_name
from loopforge.people.identity.linked_identities import (
    HOME,
    LinkedAccount,
    LinkedIdentities,
    Person,
)
from loopforge.runtime.ports import Ledger
from loopforge.runtime.system_clock import Stamp

__all__ = ["HOME", "STREAM", "LinkedAccount", "Person", "PersonRegistry"]

STREAM = PEOPLE


class PersonRegistry(LinkedIdentities):
    """The people of this home, as the ledger has them; it is followed."""

    def __init__(self, ledger: Ledger, stamp: Stamp) -> None:
        super().__init__()
        self._ledger, self._stamp = ledger, stamp
        self._hearing: list[Callable[[Event], None]] = []
        ledger.subscribe(self._follow, streams=STREAM)

    def hear(self, hear: Callable[[Event], None]) -> None:
        """Be told every fact of this stream once, in order, after it was taken in here."""
        assert self.seq == 0, "facts were read before somebody wanted to hear of them"
        self._hearing.append(hear)

    async def refresh(self) -> None:
        """Read what was added since."""
        for event in await self._ledger.read(STREAM, after=self.seq):
            self.take(event)

    def _follow(self, _stream: str, events: Sequence[Event]) -> None:
        for event in events:
            if event.seq == self.seq + 1:
                self.take(event)

    def take(self, event: Event) -> None:
        """Take in the next fact; one that was taken in before is passed over."""
        if self.apply(event):
            for hear in self._hearing:
                hear(event)

    # ------------------------------------------------------------ meeting

    async def meet(
        self, surface: str, account: str, name: str = "", *, bot: bool = False
    ) -> Person:
        """The person behind an account; becomes known here if not known yet.

        `name` is what the surface shows. For the account of a platform by which somebody was met,
        their name follows it, unless they have one of their own in this home.
        """

        async def attempt(seq: int) -> Person:
            known = self.who(surface, account)
            if known is None:
                return await self._introduce(surface, account, name or account, bot, seq)
            return await self._renamed(known, surface, account, name, seq)

        return await self._ledger.decide(STREAM, self.head, attempt)

    async def head(self, _: int) -> int:
        """How far the stream is, after a look at it."""
        await self.refresh()
        return self.seq

    async def _introduce(
        self, surface: str, account: str, name: str, bot: bool, seq: int
    ) -> Person:
        """Somebody new. Raises Conflict where the stream moved on meanwhile."""
        id = "p" + self._stamp.id()[-12:]
        name = row_name(name) if surface in HOME else sanitize_display_name(name, row_name(account))
        body = PersonMet(
            person=id, name=Words(name), surface=surface, account=Words(account), bot=bot
        )
        return await self._append(id, body, seq)

    async def _renamed(
        self, known: Person, surface: str, account: str, name: str, seq: int
    ) -> Person:
        """The same person, under the name they show now. Raises Conflict."""
        new = sanitize_display_name(name, "")
        follows = self.first(known.id, surface, account) and not self.keeps_name(known)
        if not follows or not new or new == known.name.text:
            return known
        body = PersonRenamed(person=known.id, surface=surface, name=Words(new))
        return await self._append(known.id, body, seq)

    async def _append(self, person: str, body: PersonMet | PersonRenamed, seq: int) -> Person:
        fact = self._stamp.fact(body, actor=f"person:{person}")
        for event in await self._ledger.append(STREAM, [fact], expect=seq):
            self.take(event)
        found = self.person(person)
        assert found is not None
        return found

    async def choose_time(
        self, person: str, *, zone: str | None = None, quiet: str | None = None
    ) -> None:
        """Write down in which time zone a person lives, or when reminders are to wait."""

        async def attempt(seq: int) -> None:
            known = self.time(person)
            body = TimeChosen(
                person=person,
                zone=zone if zone is not None else known.zone if known else "",
                quiet=quiet if quiet is not None else known.quiet if known else "",
            )
            fact = self._stamp.fact(body, actor=f"person:{person}")
            for event in await self._ledger.append(STREAM, [fact], expect=seq):
                self.take(event)

        await self._ledger.decide(STREAM, self.head, attempt)

    # ------------------------------------------------------------ asking

    async def named(self, name: str) -> list[Person]:
        """Everybody of that name; who became somebody else is not counted beside that one."""
        await self.refresh()
        wanted = name.casefold()
        everybody = self.current()
        return [one for one in everybody if str(one.name).casefold() == wanted]

    async def everybody(self) -> list[Person]:
        """All who are not forgotten, in the order in which they were met."""
        await self.refresh()
        return self.current()
