"""Who is signed in, kept in memory: every request of a browser asks, and hardly any waits for it.

A session is read from its table once, and dropped here when a fact says that it is over, whichever
process ended it. Then whoever asked to hear of it is told, so that open streams are cut.

Does not begin or end sessions; knows no passwords.
"""

import hashlib
import logging
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

from msgspec import Struct

from loopforge.errors import LedgerError
from loopforge.people.accounts.account_book import AccountBook
from loopforge.people.accounts.account_values import Visitor
from loopforge.people.accounts.credential_store import CredentialStore
from loopforge.runtime.ports import Clock

LASTS = timedelta(days=30)
"""So long after somebody signed in their session is over, as is the cookie of their browser."""
NOTED = timedelta(minutes=1)
"""How often at most it is written down that a session is in use."""
LONGEST_TOKEN = 100

log = logging.getLogger(__name__)


def token_digest(token: str) -> str:
    """What is kept of a token. It holds 16 random bytes or more: a plain hash hides it well."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


class _Known(Struct):
    """A session: when it began, when it was last used, and when that was last written down."""

    session: str
    person: str
    since: datetime
    seen: datetime
    written: datetime


class LoginSessions:
    """The sessions that were asked for since this process began."""

    def __init__(
        self,
        vault: CredentialStore,
        book: AccountBook,
        clock: Clock,
        refresh: Callable[[], Awaitable[None]],
    ) -> None:
        self._vault, self._book, self._clock, self._refresh = vault, book, clock, refresh
        self._known: dict[str, _Known] = {}
        self._ends = 0
        self._hearing: list[Callable[[str], None]] = []

    async def visitor(self, token: str) -> Visitor | None:
        """Who comes with this token; None if nobody, or not any more."""
        if not token or len(token) > LONGEST_TOKEN:
            return None
        if self._book.forgotten:
            await self._refresh()
        key = token_digest(token)
        known = self._known.get(key) or await self._read(key)
        if known is None:
            return None
        account = self._book.account(known.person)
        if account is None:
            return None
        now = self._clock.now()
        if now - known.since > LASTS:
            self.over(known.session)
            return None
        known.seen = now
        if now - known.written >= NOTED:
            await self._write(known)
        return Visitor(
            person=known.person,
            name=self._book.name(known.person),
            right=account.right,
            session=known.session,
        )

    def known(self, token: str) -> str:
        """The session of this token, if it is in memory; "" if it is not."""
        known = self._known.get(token_digest(token)) if 0 < len(token) <= LONGEST_TOKEN else None
        return known.session if known else ""

    async def _read(self, key: str) -> _Known | None:
        """From the table; once more if some session ended meanwhile, for it may be this one."""
        ends = -1
        row = None
        while ends != self._ends:
            ends = self._ends
            row = await self._vault.session(key)
            if row is not None and self._book.account(row.person) is None:
                await self._refresh()  # another process may have let them in just now
        if row is None:
            return None
        known = _Known(row.session, row.person, since=row.since, seen=row.seen, written=row.seen)
        return self._known.setdefault(key, known)

    async def _write(self, known: _Known) -> None:
        known.written = known.seen
        try:
            await self._vault.saw(known.session, known.seen, known.seen - LASTS)
        except LedgerError as error:
            log.warning("it could not be written that a session is in use: %s", error)

    def seen(self, session: str, written: datetime) -> datetime:
        """When a session was last used, which is not written down at once."""
        mine = (known.seen for known in self._known.values() if known.session == session)
        return max(mine, default=written)

    # ------------------------------------------------------------ ends

    def hear(self, hear: Callable[[str], None]) -> None:
        """Be told the id of every session that ends."""
        self._hearing.append(hear)

    def over(self, session: str) -> None:
        """A session ended: it lets nobody in any more."""
        self._ends += 1
        self._known = {k: one for k, one in self._known.items() if one.session != session}
        for hear in self._hearing:
            try:
                hear(session)
            except Exception:
                log.exception("somebody who wanted to hear of a session's end failed")

    def left(self, person: str) -> None:
        """A person was forgotten: none of their sessions lets them in."""
        self._ends += 1
        for session in [one.session for one in self._known.values() if one.person == person]:
            self.over(session)
