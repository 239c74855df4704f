"""Signing in and out: by name and password; sessions and whole accounts that end.

Whoever knocks is not told whether the name or the password is wrong, neither in words nor by the
time it takes. Does not know cookies.
"""

from __future__ import annotations

from loopforge.core.events import moment
from loopforge.core.people_events import AccountClosed, SignedOut
from loopforge.errors import InputError, NotLetIn, Unknown
from loopforge.people.accounts.account_decisions import AccountDesk, Decision
from loopforge.people.accounts.account_values import Account, Session, Visitor
from loopforge.people.accounts.credential_store import (
    DEVICE,
    ELSEWHERE,
    emptied,
    over,
    secured,
    together,
    unchanged,
    voided,
)
from loopforge.people.accounts.guess_limit import Guesses
from loopforge.people.accounts.login_queue import FairQueue
from loopforge.people.accounts.login_sessions import UNUSED
from loopforge.people.identity.account_names import folded
from loopforge.people.identity.password_rules import fitting
from loopforge.runtime.ports import Clock

WRONG = (
    "This name and this password do not belong together. Mind capital letters and try again; "
    "for a password that is lost, only the owner of this home can help."
)
ALWAYS = moment(0)


class Signing:
    """Passwords, sessions and the ends of accounts."""

    def __init__(self, desk: AccountDesk, clock: Clock) -> None:
        self._desk, self._guesses, self._queue = desk, Guesses(clock), FairQueue(clock)

    async def sign_in(
        self,
        name: str,
        password: str,
        agent: str,
        seal: str = "",
        place: str = "",
        device: str = "",
    ) -> tuple[Visitor, str]:
        """Sign in by name and password; with the session's token. Raises NotLetIn.

        After wrong tries at a name it waits its turn among them (see login_queue.py): by `place`,
        an address; a `device` that this name signed in with before has a queue of its own.
        """
        desk, wanted = self._desk, folded(name[:200])
        key = f"{wanted}\n{device}"
        await self._queue.turn(key, place)
        await desk.refresh()
        person = desk.book.holder(wanted)
        kept = await desk.vault.password(person)
        right = await desk.passwords.fits(kept, password)
        if not right or desk.book.account(person) is None:
            raise NotLetIn(WRONG)
        self._queue.right(key, place)
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

    async def has_password(self, person: str) -> bool:
        """Whether they can sign in by a password."""
        return bool(await self._desk.vault.password(person))

    async def set_password(self, person: str, old: str, new: str, session: str = "") -> None:
        """A new password in place of the old one; `old` is no matter while there is none.

        Every session of theirs but `session` ends. Raises NotLetIn, BadAccount.
        """
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
        """Where they are signed in, the browser used last first."""
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
        """End a session; for whose it is, and the owner. One that is over stays over."""
        row = await self._desk.vault.session_of(session)
        if row is None:
            return

        async def decide() -> Decision:
            if not self._desk.may(by, row.person):
                raise Unknown("There is no such session of yours.")
            return await self._ending(row.person, by, only=session)

        await self._desk.decide(by, decide)

    async def end_all(self, person: str, by: str, but: str = "") -> None:
        """End all of a person's sessions but one."""

        async def decide() -> Decision:
            if not self._desk.may(by, person):
                raise Unknown("There are no such sessions of yours.")
            return await self._ending(person, by, but=but)

        await self._desk.decide(by, decide)

    async def _ending(self, person: str, by: str, *, only: str = "", but: str = "") -> Decision:
        """The end of a person's sessions: all of them, only one, or all but one."""
        rows = await self._desk.vault.sessions(person, ALWAYS)
        ended = [row.session for row in rows if only in ("", row.session) and row.session != but]
        facts = [SignedOut(person=person, session=one, by=by) for one in ended]
        return facts, together(over(ended), voided([ELSEWHERE + person], DEVICE))

    # ------------------------------------------------------------ accounts

    async def accounts(self) -> list[Account]:
        """Every account there ever was, oldest first."""
        await self._desk.refresh()
        counts = await self._desk.vault.counts(self._desk.now - UNUSED)
        return self._desk.book.accounts(counts)

    async def close(self, person: str, by: str) -> None:
        """Close an account, for good; for whose it is, and the owner. Not the last owner's.

        Its password is forgotten, its sessions end, its open invites let nobody in.
        """
        book = self._desk.book

        async def decide() -> Decision:
            if not self._desk.may(by, person) or book.account(person) is None:
                raise Unknown("There is no such account to close.")
            if book.owners() == [person]:
                raise InputError("This is the only owner, and a home needs one; it stays open.")
            facts, _ = await self._ending(person, by)
            return [*facts, AccountClosed(person=person, by=by)], emptied(person)

        await self._desk.decide(by, decide)
