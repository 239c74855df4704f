"""Accounts of the web room: who may come in, by which link, name and password, in which browser.

    owner    by a one-time link that this machine makes; the same person as in its terminal
    member   by an invite, with a name and a password of their own

What happened stands in the stream "people", without secrets. Passwords (argon2) and the digests of
tokens stand in tables beside the ledger (see ledger/database/table_schema.py).

Does not know rooms, pages or cookies, nor who may invite into which room.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from loopforge.people.identity.person_registry import PersonRegistry
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.system_clock import Stamp

if TYPE_CHECKING:
    from loopforge.ledger.sql_ledger import SqlLedger


class Accounts:
    """The parts, made for one ledger. `decisions.refresh` once before use.

    `by` is the id of the person who decides, or "" for a command on the machine itself.
    """

    def __init__(
        self, ledger: SqlLedger, people: PersonRegistry, stamp: Stamp, tasks: BackgroundTasks
    ) -> None:
        from loopforge.people.accounts.access_links import AccessLinks
        from loopforge.people.accounts.account_decisions import AccountDecisions
        from loopforge.people.accounts.avatar_records import AvatarRecords
        from loopforge.people.accounts.sign_in import SignIn

        self._people, self.pictures = people, AvatarRecords(ledger, people, stamp)
        self.decisions = AccountDecisions(ledger, people, stamp, tasks)
        self.links, self.signing = (
            AccessLinks(self.decisions, people),
            SignIn(self.decisions, stamp.clock),
        )

    def is_guest(self, person: str) -> bool:
        """Whether an invite let this person in, whichever of their selves is named."""
        return self.decisions.book.guest(self._people.same(person))
