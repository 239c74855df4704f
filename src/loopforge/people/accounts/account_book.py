"""The book of accounts and invites, folded from the facts of stream "people".

Pure: facts in, answers out. A person whose name was forgotten has no account any more, whatever
else stands in the ledger. Knows no secrets, no sessions and no database.
"""

from datetime import datetime
from typing import NamedTuple

from msgspec import Struct

from loopforge.core.events import Event
from loopforge.core.people_events import (
    AccountClosed,
    AccountOpened,
    Invited,
    InviteTaken,
    InviteWithdrawn,
)
from loopforge.core.text.erasable_text import FORGOTTEN
from loopforge.people.accounts.account_values import Account, InviteState, Right
from loopforge.people.identity.access_requests import AccessRequests
from loopforge.people.identity.account_names import fold_name
from loopforge.people.identity.linked_identities import LinkedIdentities


class AccountEntry(Struct, kw_only=True):
    """An account as it was opened, and whether it was closed since."""

    person: str
    right: Right
    since: datetime
    closed: bool = False


class InviteRecord(NamedTuple):
    """An invite: what it said, when, and what became of it."""

    said: Invited
    at: datetime
    person: str = ""
    withdrawn: bool = False


class AccountBook:
    """Who has an account; which invites there are. What people are called, `selves` say."""

    def __init__(self, selves: LinkedIdentities) -> None:
        self._selves = selves
        self.forgotten = selves.forgotten
        self._entries: dict[str, AccountEntry] = {}
        self._passes: dict[str, InviteRecord] = {}
        self.knocks = AccessRequests()

    def apply(self, event: Event) -> None:
        """Take in the next event."""
        self.knocks.apply(event)
        match event.body:
            case AccountOpened(person=person, right=right):
                self._entries[person] = AccountEntry(person=person, right=right, since=event.at)
            case AccountClosed(person=person) if person in self._entries:
                self._entries[person].closed = True
            case Invited() as said:
                self._passes[said.invite] = InviteRecord(said, event.at)
            case InviteTaken(invite=invite, person=person) if invite in self._passes:
                self._passes[invite] = self._passes[invite]._replace(person=person)
            case InviteWithdrawn(invite=invite) if invite in self._passes:
                self._passes[invite] = self._passes[invite]._replace(withdrawn=True)

    # ------------------------------------------------------------ accounts

    def name(self, person: str) -> str:
        """What they are called."""
        return self._selves.name(person) or FORGOTTEN

    def account(self, person: str) -> AccountEntry | None:
        """The account of somebody who may sign in."""
        entry = self._entries.get(person)
        open = entry is not None and not entry.closed and self._selves.name(person) is not None
        return entry if open else None

    def guest(self, person: str) -> bool:
        """Whether an invite let them in, whatever became of their account."""
        entry = self._entries.get(person)
        return entry is not None and entry.right != "owner"

    def owner(self) -> str:
        """Whose home this is; "" while it is nobody's."""
        return next(iter(self.owners()), "")

    @property
    def owner_name(self) -> str:
        """What the owner is called; "" while the home is nobody's."""
        owner = self.owner()
        return self.name(owner) if owner else ""

    def owners(self) -> list[str]:
        """Everybody who may sign in as owner."""
        return [p for p, entry in self._entries.items() if entry.right == "owner" and self._open(p)]

    def _open(self, person: str) -> bool:
        return self.account(person) is not None

    def holder(self, name: str) -> str:
        """Whose account has or had this name; "" if nobody's.

        A closed account keeps its name: whoever came next would be taken for the one who left.
        """
        wanted = fold_name(name)
        for person in self._entries:
            held = self._selves.name(person)
            if held is not None and fold_name(held) == wanted:
                return person
        return ""

    def accounts(self, sessions: dict[str, int]) -> list[Account]:
        """Every account there ever was, oldest first, with how many sessions each has."""
        return [
            Account(
                person=person,
                name=self.name(person),
                right=entry.right,
                since=entry.since,
                closed=not self._open(person),
                sessions=sessions.get(person, 0),
            )
            for person, entry in self._entries.items()
        ]

    # ------------------------------------------------------------ invites

    def invite(self, invite: str) -> InviteRecord | None:
        """By id, if there is one."""
        return self._passes.get(invite)

    def invites(self) -> list[InviteRecord]:
        """All of them, newest first."""
        return list(reversed(self._passes.values()))

    def state(self, invite: InviteRecord, until: datetime, now: datetime) -> InviteState:
        """What became of an invite. Who may not come in may not invite either."""
        if invite.person:
            return "taken"
        if invite.withdrawn or not self._open(invite.said.by):
            return "withdrawn"
        return "open" if now < until else "expired"
