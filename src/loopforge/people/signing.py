"""Signing in and out: by name and password; sessions and whole accounts that end.

Whoever knocks is not told whether the name or the password is wrong, neither in words nor by the
time it takes. Does not know cookies.
"""

from __future__ import annotations

from loopforge.core.events import moment
from loopforge.core.people import AccountClosed, SignedOut
from loopforge.errors import InputError, NotLetIn, Unknown
from loopforge.people.cards import Account, Session, Visitor
from loopforge.people.desk import Decision, Desk
from loopforge.people.names import fitting, folded
from loopforge.people.passwords import Guesses
from loopforge.people.presence import UNUSED
from loopforge.people.vault import emptied, over, secured, together, unchanged
from loopforge.runtime.ports import Clock

WRONG = (
    "This name and this password do not belong together. Mind capital letters and try again; "
    "for a password that is lost, only the owner of this home can help."
)
ALWAYS = moment(0)


class Signing:
    """Passwords, sessions and the ends of accounts."""

    def __init__(self, desk: Desk, clock: Clock) -> None:
        self._desk, self._guesses = desk, Guesses(clock)

    async def sign_in(
        self, name: str, password: str, agent: str, seal: str, by: str
    ) -> tuple[Visitor, str]:
        """See `Accounts.sign_in`."""
        desk, wanted = self._desk, folded(name[:200])
        key = f"{wanted}\n{by}"
        self._guesses.begin(key)
        await desk.refresh()
        person = desk.book.holder(wanted)
        kept = await desk.vault.password(person)
        right = await desk.passwords.fits(kept, password)
        if not right or desk.book.account(person) is None:
            raise NotLetIn(WRONG)
        self._guesses.right(key)
        kept = await self._renewed(person, kept, password)
        start = desk.start(person, agent, "password", seal)

        async def decide() -> Decision:
            if desk.book.account(person) is None:
                raise NotLetIn(WRONG)
            return [start.fact], together(unchanged(person, kept, NotLetIn(WRONG)), start.work)

        await desk.decide(person, decide)
        return desk.visitor(start), start.token

    async def _renewed(self, person: str, kept: str, password: str) -> str:
        """The hash at today's cost, in place of one that was made at another."""
        if not self._desk.passwords.outdated(kept):
            return kept
        fresh = await self._desk.passwords.hash(password)
        await self._desk.vault.rehash(person, kept, fresh)
        return fresh

    async def set_password(self, person: str, old: str, new: str, session: str) -> None:
        """See `Accounts.set_password`."""
        desk, key = self._desk, f"\n{person}"
        await desk.refresh()
        desk.entry(person)
        fitting(new, desk.book.name(person))
        was = await desk.vault.password(person)
        if was:
            self._guesses.begin(key)
            if not await desk.passwords.fits(was, old):
                raise NotLetIn("The old password is another one. Mind capital letters; try again.")
            self._guesses.right(key)
        hash = await desk.passwords.hash(new)
        changed = NotLetIn("The password became another meanwhile. Try again with that one.")

        async def decide() -> Decision:
            desk.entry(person)
            facts, end = await self._ending(person, person, but=session)
            return facts, together(unchanged(person, was, changed), secured(person, hash), end)

        await desk.decide(person, decide)

    # ------------------------------------------------------------ sessions

    async def sessions(self, person: str) -> list[Session]:
        """See `Accounts.sessions`."""
        desk = self._desk
        rows = await desk.vault.sessions(person, desk.now - UNUSED)
        found = [
            Session(
                session=row.session,
                agent=row.agent,
                since=row.since,
                seen=desk.presence.seen(row.session, row.seen),
            )
            for row in rows
        ]
        return sorted(found, key=lambda one: one.seen, reverse=True)

    async def end(self, session: str, by: str) -> None:
        """See `Accounts.end`."""
        row = await self._desk.vault.session_of(session)
        if row is None:
            return

        async def decide() -> Decision:
            if not self._desk.may(by, row.person):
                raise Unknown("There is no such session of yours.")
            return await self._ending(row.person, by, only=session)

        await self._desk.decide(by, decide)

    async def end_all(self, person: str, by: str, but: str) -> None:
        """See `Accounts.end_all`."""

        async def decide() -> Decision:
            if not self._desk.may(by, person):
                raise Unknown("There are no such sessions of yours.")
            return await self._ending(person, by, but=but)

        await self._desk.decide(by, decide)

    async def _ending(self, person: str, by: str, *, only: str = "", but: str = "") -> Decision:
        """The end of a person's sessions: all of them, only one, or all but one."""
        rows = await self._desk.vault.sessions(person, ALWAYS)
        ended = [row.session for row in rows if only in ("", row.session) and row.session != but]
        return [SignedOut(person=person, session=one, by=by) for one in ended], over(ended)

    # ------------------------------------------------------------ accounts

    async def accounts(self) -> list[Account]:
        """See `Accounts.accounts`."""
        await self._desk.refresh()
        counts = await self._desk.vault.counts(self._desk.now - UNUSED)
        return self._desk.book.accounts(counts)

    async def close(self, person: str, by: str) -> None:
        """See `Accounts.close`."""
        book = self._desk.book

        async def decide() -> Decision:
            if not self._desk.may(by, person) or book.account(person) is None:
                raise Unknown("There is no such account to close.")
            if book.owners() == [person]:
                raise InputError("This is the only owner, and a home needs one; it stays open.")
            facts, _ = await self._ending(person, by)
            return [*facts, AccountClosed(person=person, by=by)], emptied(person)

        await self._desk.decide(by, decide)
