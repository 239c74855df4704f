"""Decisions at the door: where everything about accounts is decided and written down.

A decision is made on the stream "people" as it stands, and its facts and secrets are written in one
transaction that only succeeds while the stream still stands there; else it is made anew. So two
processes never let two people in by one link, nor two under one name.

Knows the book, the vault and who is present; does not know what there is to decide.
"""

import logging
from base64 import urlsafe_b64encode
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from loopforge.core.events import Body, Erased, Event
from loopforge.core.people_events import SignedIn, SignedOut
from loopforge.errors import BadAccount, LedgerError, NotLetIn
from loopforge.ledger.sql_ledger import SqlLedger
from loopforge.people.accounts import typed_codes
from loopforge.people.accounts.account_book import AccountBook, AccountEntry
from loopforge.people.accounts.account_values import Visitor
from loopforge.people.accounts.credential_store import (
    CredentialStore,
    LinkRow,
    SessionRow,
    Work,
    insert_session,
)
from loopforge.people.accounts.login_sessions import LoginSessions, token_digest
from loopforge.people.accounts.password_hashing import Passwords
from loopforge.people.identity.person_registry import STREAM, PersonRegistry
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.system_clock import Stamp

LONGEST = 60

_PROGRAMS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("CriOS/", "Chrome"),
    ("Chromium/", "Chromium"),
    ("Safari/", "Safari"),
)
"""What tells a browser, the one that says most first: many call themselves by several names."""
_SYSTEMS = (
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("CrOS", "ChromeOS"),
    ("Mac OS X", "Mac"),
    ("Linux", "Linux"),
)


def browser_name(agent: str) -> str:
    """Such as "Firefox on Linux"; what is not known, as it came, cut short."""
    program = next((name for sign, name in _PROGRAMS if sign in agent), "")
    system = next((name for sign, name in _SYSTEMS if sign in agent), "")
    if program and system:
        return f"{program} on {system}"
    plain = "".join(sign if sign.isprintable() else " " for sign in agent)
    return program or " ".join(plain.split())[:LONGEST].strip() or "a browser"


log = logging.getLogger(__name__)

Decision = tuple[Sequence[Body], Work]


class SessionStart(NamedTuple):
    """A session about to begin: its token, for the browser alone; the fact; the row."""

    token: str
    fact: SignedIn
    work: Work


class AccountDecisions:
    """The book, the vault and the presence of one ledger, and the deciding."""

    def __init__(
        self, ledger: SqlLedger, people: PersonRegistry, stamp: Stamp, tasks: BackgroundTasks
    ) -> None:
        self._ledger, self._people, self._stamp, self._tasks = ledger, people, stamp, tasks
        self.book, self.vault = AccountBook(people), CredentialStore(ledger)
        self.presence = LoginSessions(self.vault, self.book, stamp.clock, self.refresh)
        self.passwords = Passwords(stamp.dice)
        people.hear(self._hear)

    # ------------------------------------------------------------ following the ledger

    async def refresh(self) -> None:
        """Read what was added since, and let go the secrets of people who were forgotten."""
        await self._people.refresh()
        await self._let_go()

    async def _let_go(self) -> None:
        if gone := frozenset(self.book.forgotten):
            try:
                await self.vault.forget(gone)
            except LedgerError as error:
                log.warning("secrets of forgotten people are still to be let go: %s", error)
            else:
                self.book.forgotten -= gone

    def _hear(self, event: Event) -> None:
        self.book.apply(event)
        match event.body:
            case SignedOut(session=session):
                self.presence.over(session)
            case Erased():
                for person in self.book.forgotten:
                    self.presence.left(person)
                if self.book.forgotten:
                    self._tasks.spawn(self._let_go(), "secrets of forgotten people")

    # ------------------------------------------------------------ deciding

    @property
    def now(self) -> datetime:
        """The time."""
        return self._stamp.clock.now()

    async def decide(self, by: str, decide: Callable[[], Awaitable[Decision]]) -> None:
        """Write the facts and secrets that are decided on. Whatever `decide` raises is raised."""
        actor = f"person:{by}" if by else "runtime"

        async def attempt(seq: int) -> None:
            bodies, work = await decide()
            facts = [self._stamp.fact(body, actor=actor) for body in bodies]
            for event in await self._ledger.append_with(STREAM, facts, work, expect=seq):
                self._people.take(event)

        await self._ledger.decide(STREAM, self._people.head, attempt)

    def entry(self, person: str) -> AccountEntry:
        """The account of somebody who may sign in. Raises NotLetIn."""
        entry = self.book.account(person)
        if entry is None:
            raise NotLetIn("There is no account of yours any more. Ask the owner for an invite.")
        return entry

    def may(self, by: str, person: str) -> bool:
        """Whether `by` may decide what is this person's: themselves, the owner, or the machine."""
        account = self.book.account(by)
        return not by or (account is not None and (by == person or account.right == "owner"))

    def free(self, name: str) -> str:
        """The name, if nobody has it. Raises BadAccount."""
        if self.book.holder(name):
            raise BadAccount(f"Somebody here is called {name} already. Take another name.")
        return name

    # ------------------------------------------------------------ beginning

    def start(
        self, person: str, agent: str, how: Literal["link", "invite", "password"], seal: str
    ) -> SessionStart:
        """A session that begins once its fact and its row are written."""
        id, token, now = self.id("s"), self._token(), self.now
        token = f"{token}.{seal}" if seal else token
        row = SessionRow(id, token_digest(token), person, browser_name(agent), now, now)
        return SessionStart(
            token, SignedIn(person=person, session=id, how=how), insert_session(row)
        )

    def visitor(self, start: SessionStart) -> Visitor:
        """Who signed in."""
        person = start.fact.person
        return Visitor(
            person=person,
            name=self.book.name(person),
            right=self.entry(person).right,
            session=start.fact.session,
        )

    def link(self, kind: str, valid: timedelta) -> tuple[str, LinkRow]:
        """A token, and the row of its link."""
        token = self._token(16)  # a link with it fits on one line of a terminal
        return token, LinkRow(self.id("i"), token_digest(token), self.now + valid, kind)

    def code(self, kind: str, name: str, valid: timedelta) -> tuple[str, LinkRow]:
        """A code for people to type, and its row under that name."""
        code = typed_codes.code(self._stamp.dice)
        return code, LinkRow(name, typed_codes.code_digest(code), self.now + valid, kind)

    async def coded(self, code: str, kind: str) -> LinkRow | None:
        """The row of a code that somebody typed, if it is good."""
        key = typed_codes.code_digest(code)
        row = await self.vault.link(key, kind) if key else None
        return row if row is not None and self.now < row.until else None

    def id(self, letter: str) -> str:
        """A new id of that kind."""
        return letter + self._stamp.id()[-12:]

    def _token(self, size: int = 32) -> str:
        return urlsafe_b64encode(self._stamp.dice.bytes(size)).decode().rstrip("=")
