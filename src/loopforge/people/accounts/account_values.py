"""What surfaces are shown of accounts: visitors, sessions, invites. Values, without any secret."""

from datetime import datetime
from typing import Literal

from msgspec import Struct

Right = Literal["owner", "member"]
Inviters = Literal["members", "owner", "nobody"]
"""Who may invite: everybody with an account, the owner alone, or nobody."""
InviteState = Literal["open", "held", "taken", "withdrawn", "expired"]
"""An invite is held while who made it may not invite."""


class Visitor(Struct, frozen=True, kw_only=True):
    """Somebody who is signed in. `session` is the session's public id, not its token."""

    person: str
    name: str
    right: Right
    session: str

    @property
    def guest(self) -> bool:
        """Whether they are not the owner of the home."""
        return self.right != "owner"


class Session(Struct, frozen=True, kw_only=True):
    """One browser in which somebody is signed in; `agent` says in short which."""

    session: str
    agent: str
    since: datetime
    seen: datetime


class Invite(Struct, frozen=True, kw_only=True):
    """A link by which somebody may come in, to `room` if one is named.

    `by` is the id of who invites, `person` of who took it ("" while nobody has). With `past` they
    may see what was said in the room before.
    """

    invite: str
    by: str
    room: str
    past: bool
    at: datetime
    until: datetime
    state: InviteState
    person: str = ""


class Account(Struct, frozen=True, kw_only=True):
    """A person who may sign in, or could until it was `closed`; `sessions` are those open now."""

    person: str
    name: str
    right: Right
    since: datetime
    closed: bool
    sessions: int
