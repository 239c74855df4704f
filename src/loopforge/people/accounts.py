"""Accounts of the web room: who may come in, by which link, name and password, in which browser.

    owner    by a one-time link that this machine makes; the same person as in its terminal
    member   by an invite, with a name and a password of their own

What happened stands in the stream "people", without secrets. Passwords (argon2) and the digests of
tokens stand in tables beside the ledger (see ledger/schema.py). Everything here is a thin door:
links.py and signing.py do the work, desk.py writes it down, presence.py knows who is in.

Does not know rooms, pages or cookies, nor who may invite into which room.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from loopforge.core.events import Event
from loopforge.people.cards import Account, Invite, Session, Visitor
from loopforge.people.registry import Registry
from loopforge.runtime.clock import Stamp

if TYPE_CHECKING:
    from loopforge.ledger.sql import SqlLedger

__all__ = ["Account", "Accounts", "Invite", "Session", "Visitor"]


class Accounts:
    """The accounts of this home. `refresh` once before use; `appended` with every append.

    `by` is the id of the person who decides, or "" for a command on the machine itself.
    """

    def __init__(self, ledger: SqlLedger, people: Registry, stamp: Stamp) -> None:
        from loopforge.people.desk import Desk
        from loopforge.people.links import Links
        from loopforge.people.signing import Signing

        self.desk = self._desk = Desk(ledger, stamp)  # linking.py and pairing.py write there too
        self._links, self._signing = Links(self._desk, people), Signing(self._desk, stamp.clock)

    async def refresh(self) -> None:
        """Read what was added since, and let go the secrets of people who were forgotten."""
        await self._desk.refresh()

    def appended(self, stream: str, events: Sequence[Event]) -> None:
        """Take in what this process appended, if it is about people and comes next."""
        self._desk.appended(stream, events)

    # ------------------------------------------------------------ the owner's link

    def has_owner(self) -> bool:
        """Whether somebody may sign in as owner."""
        return bool(self._desk.book.owner())

    async def owner_link(self) -> str:
        """A fresh one-time token, valid for an hour; earlier ones are void. For any process."""
        return await self._links.offer()

    async def owner_waits(self, token: str) -> bool:
        """Whether this token would let the owner in."""
        return await self._links.waits(token)

    async def enter(self, token: str, name: str, agent: str, seal: str = "") -> tuple[Visitor, str]:
        """Let the owner in by the one-time token, and spend it; with the session's token.

        Who comes first becomes the owner: the person called `name` in this machine's terminal.
        Later the name is no matter. `agent` is what the browser calls itself, `seal` stands at the
        end of the session's token, after a dot. Raises NotLetIn, or BadAccount for the name; then
        the link stays good.
        """
        return await self._links.enter(token, name, agent, seal)

    # ------------------------------------------------------------ invites

    async def invite(
        self, by: str, room: str = "", past: bool = False, days: int = 7
    ) -> tuple[Invite, str]:
        """Invite somebody; with the token of the link. Raises InputError, NotLetIn."""
        return await self._links.invite(by, room, past, days)

    async def invited(self, token: str) -> Invite | None:
        """The invite of this token, if it is still to be taken."""
        return await self._links.invited(token)

    async def take(
        self, token: str, name: str, password: str, agent: str, seal: str = ""
    ) -> tuple[Visitor, str, Invite]:
        """Open an account by an invite, and sign in; with the session's token.

        Raises NotLetIn, or BadAccount for the name or the password; then the invite stays open.
        """
        return await self._links.take(token, name, password, agent, seal)

    async def take_as(self, token: str, visitor: Visitor) -> Invite:
        """Take an invite into a room for somebody who is signed in. Raises NotLetIn, InputError."""
        return await self._links.take_as(token, visitor)

    async def withdraw(self, invite: str, by: str) -> None:
        """Let an open invite be valid no longer; for who wrote it, and the owner."""
        await self._links.withdraw(invite, by)

    async def invites(self) -> list[Invite]:
        """Every invite there was, newest first."""
        return await self._links.every()

    # ------------------------------------------------------------ lost passwords

    async def renewal(self, person: str, by: str) -> str:
        """A one-time token, valid for a day, by which this person sets a new password.

        Earlier ones of theirs are void. Whoever holds it can sign in as them. Raises Unknown.
        """
        return await self._links.renewal(person, by)

    async def renewing(self, token: str) -> str:
        """Whose password this token would set; "" if nobody's."""
        return await self._links.renewing(token)

    async def renew(
        self, token: str, password: str, agent: str, seal: str = ""
    ) -> tuple[Visitor, str]:
        """Set a new password by the token, spend it, and sign in; every other session ends.

        Raises NotLetIn, or BadAccount for the password; then the token stays good.
        """
        return await self._links.renew(token, password, agent, seal)

    # ------------------------------------------------------------ signing in

    async def sign_in(
        self, name: str, password: str, agent: str, seal: str = "", by: str = ""
    ) -> tuple[Visitor, str]:
        """Sign in by name and password; with the session's token. Raises NotLetIn.

        Wrong tries are counted by name and by who tries: `by` names a device or an address.
        """
        return await self._signing.sign_in(name, password, agent, seal, by)

    async def visitor(self, token: str) -> Visitor | None:
        """Who comes with this session's token; None if nobody does, or not any more."""
        return await self._desk.presence.visitor(token)

    def known(self, token: str) -> str:
        """The id of this token's session, if anybody came with it lately; asks no database."""
        return self._desk.presence.known(token)

    async def has_password(self, person: str) -> bool:
        """Whether they can sign in by a password."""
        return bool(await self._desk.vault.password(person))

    async def set_password(self, person: str, old: str, new: str, session: str = "") -> None:
        """A new password in place of the old one; `old` is no matter while there is none.

        Every session of theirs but `session` ends. Raises NotLetIn, BadAccount.
        """
        await self._signing.set_password(person, old, new, session)

    # ------------------------------------------------------------ sessions

    async def sessions(self, person: str) -> list[Session]:
        """Where they are signed in, the browser used last first."""
        return await self._signing.sessions(person)

    async def end(self, session: str, by: str) -> None:
        """End a session; for whose it is, and the owner. One that is over stays over."""
        await self._signing.end(session, by)

    async def end_all(self, person: str, by: str, but: str = "") -> None:
        """End all of a person's sessions but one."""
        await self._signing.end_all(person, by, but)

    def on_end(self, hear: Callable[[str], None]) -> None:
        """Be told the id of every session that ends, in the event loop, whoever ended it."""
        self._desk.presence.hear(hear)

    # ------------------------------------------------------------ accounts

    async def accounts(self) -> list[Account]:
        """Every account there ever was, oldest first."""
        return await self._signing.accounts()

    async def close(self, person: str, by: str) -> None:
        """Close an account, for good; for whose it is, and the owner. Not the last owner's.

        Its password is forgotten, its sessions end, its open invites let nobody in.
        """
        await self._signing.close(person, by)

    # ------------------------------------------------------------ how far people have read

    async def read_upto(self, person: str, stream: str, seq: int) -> None:
        """A person has read a stream so far; never goes back."""
        await self._desk.vault.read_upto(person, stream, seq)

    async def reads(self, person: str) -> dict[str, int]:
        """How far a person has read each stream."""
        return await self._desk.vault.reads(person)
