"""The store of credentials beside the ledger: passwords, sessions, links, how far people have read.

Reading goes by the reading threads. What changes together with a fact is given as `Work`, for the
very transaction that writes the fact; what is no fact changes in a transaction of its own.

Knows rows; does not know who may do what.
"""

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import ColumnElement, Executable, Table, func, select, text
from sqlalchemy.engine import Connection

from loopforge.core.events import epoch_micros, from_epoch_micros
from loopforge.ledger.database.table_schema import accounts, invites, reads, sessions
from loopforge.ledger.sql_ledger import SqlLedger

Work = Callable[[Connection], None]
OWNER, INVITE, RENEWAL, DEVICE = "owner", "invite", "renewal", "device"
"""The kinds of link. A renewal is named by the person it is for, one for another device besides by
what it is for: somebody may have both."""
ELSEWHERE = "device:"
"""How the name of a link for another device begins."""
LINKING, PAIRING = "linking", "pairing"
"""The kinds of code. One for linking is named by who offered it, one for pairing by its knock."""


class SessionRow(NamedTuple):
    """A session, by the digest of its token."""

    session: str
    digest: str
    person: str
    agent: str
    since: datetime
    seen: datetime


class LinkRow(NamedTuple):
    """A link, by the digest of its token; `kind` says to what."""

    invite: str
    digest: str
    until: datetime
    kind: str


_SESSIONS = select(
    *(sessions.c[name] for name in ("session", "digest", "person", "agent", "since", "seen"))
)
_READ_UPTO = text(
    "INSERT INTO reads (person, stream, seq) VALUES (:person, :stream, :seq) "
    "ON CONFLICT (person, stream) DO UPDATE SET seq = excluded.seq WHERE excluded.seq > reads.seq"
)
_PASSWORD = text(
    "INSERT INTO accounts (person, password) VALUES (:person, :password) "
    "ON CONFLICT (person) DO UPDATE SET password = excluded.password"
)


class CredentialStore:
    """The tables of one ledger."""

    def __init__(self, ledger: SqlLedger) -> None:
        self._ledger = ledger

    # ------------------------------------------------------------ looking

    async def password(self, person: str) -> str:
        """What is kept of a person's password; "" if they have none."""
        query = select(accounts.c.password).where(accounts.c.person == person)
        return await self._ledger.look(lambda found: found.scalar(query)) or ""

    async def session(self, digest: str) -> SessionRow | None:
        """The session of a token."""
        rows = await self._sessions(sessions.c.digest == digest)
        return rows[0] if rows else None

    async def session_of(self, session: str) -> SessionRow | None:
        """A session by its public id."""
        rows = await self._sessions(sessions.c.session == session)
        return rows[0] if rows else None

    async def sessions(self, person: str, begun: datetime) -> list[SessionRow]:
        """A person's sessions that began since, the one seen last first."""
        alive = sessions.c.since >= epoch_micros(begun)
        return await self._sessions((sessions.c.person == person) & alive)

    async def _sessions(self, where: ColumnElement[bool]) -> list[SessionRow]:
        query = _SESSIONS.where(where).order_by(sessions.c.seen.desc(), sessions.c.session)
        rows = await self._ledger.look(lambda found: found.execute(query).all())
        return [
            SessionRow(
                session, digest, person, agent, from_epoch_micros(since), from_epoch_micros(seen)
            )
            for session, digest, person, agent, since, seen in rows
        ]

    async def counts(self, begun: datetime) -> dict[str, int]:
        """How many sessions that began since each person has."""
        query = (
            select(sessions.c.person, func.count())
            .where(sessions.c.since >= epoch_micros(begun))
            .group_by(sessions.c.person)
        )
        rows = await self._ledger.look(lambda found: found.execute(query).all())
        return {row[0]: row[1] for row in rows}

    async def link(self, digest: str, kind: str) -> LinkRow | None:
        """The link of a token, also when its time is over."""
        query = select(invites).where(invites.c.digest == digest, invites.c.kind == kind)
        row = await self._ledger.look(lambda found: found.execute(query).one_or_none())
        if row is None:
            return None
        return LinkRow(row.invite, row.digest, from_epoch_micros(row.until), row.kind)

    async def untils(self) -> dict[str, datetime]:
        """Until when each invite's link is valid."""
        query = select(invites.c.invite, invites.c.until).where(invites.c.kind == INVITE)
        rows = await self._ledger.look(lambda found: found.execute(query).all())
        return {invite: from_epoch_micros(until) for invite, until in rows}

    async def reads(self, person: str) -> dict[str, int]:
        """How far a person has read each stream."""
        query = select(reads.c.stream, reads.c.seq).where(reads.c.person == person)
        rows = await self._ledger.look(lambda found: found.execute(query).all())
        return {row.stream: row.seq for row in rows}

    # ------------------------------------------------------------ changing

    async def read_upto(self, person: str, stream: str, seq: int) -> None:
        """A person has read so far, if not further already."""
        row = {"person": person, "stream": stream, "seq": seq}
        await self._ledger.change(lambda change: _run(change, _READ_UPTO, row))

    async def saw(self, session: str, now: datetime, longest: datetime) -> None:
        """A session is in use; those that began before `longest` are over, and cleared away."""
        seen = sessions.update().where(sessions.c.session == session)

        def work(change: Connection) -> None:
            change.execute(seen.values(seen=epoch_micros(now)))
            change.execute(sessions.delete().where(sessions.c.since < epoch_micros(longest)))

        await self._ledger.change(work)

    async def offer(self, link: LinkRow) -> None:
        """Keep the owner's link, in place of every earlier one."""

        def work(change: Connection) -> None:
            change.execute(invites.delete().where(invites.c.kind == OWNER))
            insert_link(link)(change)

        await self._ledger.change(work)

    async def code(self, link: LinkRow, now: datetime) -> None:
        """Keep a code, in place of an earlier one of that name."""
        await self._ledger.change(replace_link(link, now))

    async def void(self, link: LinkRow) -> None:
        """Let a link or code be good no longer."""
        await self._ledger.change(void_links([link.invite], link.kind))

    async def rehash(self, person: str, was: str, password: str) -> None:
        """Keep another hash of the same password, if it is still that one."""
        same = (accounts.c.person == person) & (accounts.c.password == was)
        update = accounts.update().where(same).values(password=password)
        await self._ledger.change(lambda change: _run(change, update))

    async def forget(self, people: Collection[str]) -> None:
        """Let go whatever is kept of these people, if anything is."""
        tables = (accounts, sessions, reads)
        there = [select(t.c.person).where(t.c.person.in_(people)).limit(1) for t in tables]
        if await self._ledger.look(lambda found: any(found.scalar(each) for each in there)):
            await self._ledger.change(combine_work(*(_without(each, people) for each in tables)))


# ---------------------------------------------------------------- together with facts


def combine_work(*works: Work) -> Work:
    """All of them, in this order."""

    def all(change: Connection) -> None:
        for work in works:
            work(change)

    return all


def no_work(change: Connection) -> None:
    """Facts that need no secret."""


def insert_link(link: LinkRow) -> Work:
    """Keep a link."""
    row = {**link._asdict(), "until": epoch_micros(link.until)}
    return lambda change: _run(change, invites.insert(), row)


def redeem_link(digest: str, refusal: Exception, kind: str = OWNER) -> Work:
    """Spend a link that is for once; raises the refusal if somebody did already."""

    def work(change: Connection) -> None:
        gone = invites.delete().where(invites.c.digest == digest, invites.c.kind == kind)
        if change.execute(gone).rowcount != 1:
            raise refusal

    return work


def replace_link(link: LinkRow, now: datetime) -> Work:
    """Keep a link or code in place of an earlier one of that name; those that are over go."""
    late = invites.delete().where(invites.c.kind == link.kind, invites.c.until <= epoch_micros(now))
    return combine_work(
        lambda change: _run(change, late), void_links([link.invite], link.kind), insert_link(link)
    )


def void_links(names: Collection[str], kind: str) -> Work:
    """Let the links or codes of these names be good no longer."""
    gone = invites.delete().where(invites.c.invite.in_(names), invites.c.kind == kind)
    return lambda change: _run(change, gone)


def insert_session(row: SessionRow) -> Work:
    """Keep a new session."""
    values = {**row._asdict(), "since": epoch_micros(row.since), "seen": epoch_micros(row.seen)}
    return lambda change: _run(change, sessions.insert(), values)


def delete_sessions(ended: Collection[str]) -> Work:
    """Let sessions go."""
    return lambda change: _run(change, sessions.delete().where(sessions.c.session.in_(ended)))


def store_password(person: str, password: str) -> Work:
    """Keep a person's password, in place of another; no link to a new one is good any longer."""
    row = {"person": person, "password": password}
    return combine_work(
        lambda change: _run(change, _PASSWORD, row),
        void_links([person], RENEWAL),
        void_links([ELSEWHERE + person], DEVICE),
    )


def require_same_password(person: str, password: str, refusal: Exception) -> Work:
    """Raise the refusal if the password kept is not this one any more."""
    query = select(accounts.c.password).where(accounts.c.person == person)

    def work(change: Connection) -> None:
        if (change.scalar(query) or "") != password:
            raise refusal

    return work


def delete_credentials(person: str) -> Work:
    """Let a person's password, the link to a new one, and sessions go."""
    tables = (_without(accounts, [person]), _without(sessions, [person]))
    return combine_work(*tables, void_links([person], RENEWAL))


def _without(table: Table, people: Collection[str]) -> Work:
    return lambda change: _run(change, table.delete().where(table.c.person.in_(people)))


def _run(
    change: Connection, statement: Executable, row: Mapping[str, object] | None = None
) -> None:
    change.execute(statement, row)
