"""Signing in and out: by name and password; sessions and whole accounts that end.

Whoever knocks is not told whether the name or the password is wrong, neither in words nor by the
time it takes. Does not know cookies.
"""

from loopforge.core.events import from_epoch_micros
from loopforge.core.people_events import AccountClosed, SignedOut
from loopforge.errors import InputError, NotLetIn, Unknown
from loopforge.people.accounts.account_decisions import AccountDecisions, Decision
from loopforge.people.accounts.account_values import Account, Session, Visitor
from loopforge.people.accounts.credential_store import (
    DEVICE,
    ELSEWHERE,
    combine_work,
    delete_credentials,
    delete_sessions,
    require_same_password,
    store_password,
    void_links,
)
from loopforge.people.accounts.login_sessions import LASTS
from loopforge.people.accounts.login_throttle import FairQueue, GuessLockout
from loopforge.people.identity.account_names import fold_name
from loopforge.people.identity.password_rules import check_new_password
from loopforge.runtime.ports import Clock

WRONG = (
    "This name and this password do not belong together. Mind capital letters and try again; "
    "for a password that is lost, only the owner of this home can help."
)
ALWAYS = from_epoch_micros(0)


class SignIn:
    """Passwords, sessions and the ends of accounts."""

    def __init__(self, decisions: AccountDecisions, clock: Clock) -> None:
        self._decisions, self._guesses, self._queue = (
            decisions,
            GuessLockout(clock),
            FairQueue(clock),
        )

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

        After wrong tries at a name it waits its turn among them (see login_throttle.py): by
        `place`, an address; a `device` that this name signed in with before has a queue of its own.
        """
        decisions, wanted = self._decisions, fold_name(name[:200])
        key = f"{wanted}\n{device}"
        await self._queue.turn(key, place)
        await decisions.refresh()
        person = decisions.book.holder(wanted)
        kept = await decisions.vault.password(person)
        right = await decisions.passwords.fits(kept, password)
        if not right or decisions.book.account(person) is None:
            raise NotLetIn(WRONG)
        self._queue.right(key, place)
        kept = await self._renewed(person, kept, password)
        start = decisions.start(person, agent, "password", seal)

        async def decide() -> Decision:
            if decisions.book.account(person) is None:
                raise NotLetIn(WRONG)
            return [start.fact], combine_work(
                require_same_password(person, kept, NotLetIn(WRONG)), start.work
            )

        await decisions.decide(person, decide)
        return decisions.visitor(start), start.token

    async def _renewed(self, person: str, kept: str, password: str) -> str:
        """The hash at today's cost, in place of one that was made at another."""
        if not self._decisions.passwords.outdated(kept):
            return kept
        fresh = await self._decisions.passwords.hash(password)
        await self._decisions.vault.rehash(person, kept, fresh)
        return fresh

    async def has_password(self, person: str) -> bool:
        """Whether they can sign in by a password."""
        return bool(await self._decisions.vault.password(person))

    async def set_password(self, person: str, old: str, new: str, session: str = "") -> None:
        """A new password in place of the old one; `old` is no matter while there is none.

        Every session of theirs but `session` ends. Raises NotLetIn, BadAccount.
        """
        decisions, key = self._decisions, f"\n{person}"
        await decisions.refresh()
        decisions.entry(person)
        check_new_password(new, decisions.book.name(person))
        was = await decisions.vault.password(person)
        if was:
            self._guesses.begin(key)
            if not await decisions.passwords.fits(was, old):
                raise NotLetIn("The old password is another one. Mind capital letters; try again.")
            self._guesses.right(key)
        hash = await decisions.passwords.hash(new)
        changed = NotLetIn("The password became another meanwhile. Try again with that one.")

        async def decide() -> Decision:
            decisions.entry(person)
            facts, end = await self._ending(person, person, but=session)
            return facts, combine_work(
                require_same_password(person, was, changed), store_password(person, hash), end
            )

        await decisions.decide(person, decide)

    # ------------------------------------------------------------ sessions

    async def sessions(self, person: str) -> list[Session]:
        """Where they are signed in, the browser used last first."""
        decisions = self._decisions
        rows = await decisions.vault.sessions(person, decisions.now - LASTS)
        found = [
            Session(
                session=row.session,
                agent=row.agent,
                since=row.since,
                seen=decisions.presence.seen(row.session, row.seen),
            )
            for row in rows
        ]
        return sorted(found, key=lambda one: one.seen, reverse=True)

    async def end(self, session: str, by: str) -> None:
        """End a session; for whose it is, and the owner. One that is over stays over."""
        row = await self._decisions.vault.session_of(session)
        if row is None:
            return

        async def decide() -> Decision:
            if not self._decisions.may(by, row.person):
                raise Unknown("There is no such session of yours.")
            return await self._ending(row.person, by, only=session)

        await self._decisions.decide(by, decide)

    async def end_all(self, person: str, by: str, but: str = "") -> None:
        """End all of a person's sessions but one."""

        async def decide() -> Decision:
            if not self._decisions.may(by, person):
                raise Unknown("There are no such sessions of yours.")
            return await self._ending(person, by, but=but)

        await self._decisions.decide(by, decide)

    async def _ending(self, person: str, by: str, *, only: str = "", but: str = "") -> Decision:
        """The end of a person's sessions: all of them, only one, or all but one."""
        rows = await self._decisions.vault.sessions(person, ALWAYS)
        ended = [row.session for row in rows if only in ("", row.session) and row.session != but]
        facts = [SignedOut(person=person, session=one, by=by) for one in ended]
        return facts, combine_work(delete_sessions(ended), void_links([ELSEWHERE + person], DEVICE))

    # ------------------------------------------------------------ accounts

    async def accounts(self) -> list[Account]:
        """Every account there ever was, oldest first."""
        await self._decisions.refresh()
        counts = await self._decisions.vault.counts(self._decisions.now - LASTS)
        return self._decisions.book.accounts(counts)

    async def close(self, person: str, by: str) -> None:
        """Close an account, for good; for whose it is, and the owner. Not the last owner's.

        Its password is forgotten, its sessions end, its open invites let nobody in.
        """
        book = self._decisions.book

        async def decide() -> Decision:
            if not self._decisions.may(by, person) or book.account(person) is None:
                raise Unknown("There is no such account to close.")
            if book.owners() == [person]:
                raise InputError("This is the only owner, and a home needs one; it stays open.")
            facts, _ = await self._ending(person, by)
            return [*facts, AccountClosed(person=person, by=by)], delete_credentials(person)

        await self._decisions.decide(by, decide)
