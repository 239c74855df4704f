"""People and mates: the facts of who is known to this home, and who may come in.

Streams "people" and "mates". A person's id means nothing outside the ledger; names, accounts and
the texts of mates' files are private words. No secret (a password, a link's or a session's token)
stands in an event, not even as a digest.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from loopforge.core.words import Words


class PersonMet(Struct, frozen=True, tag="people.met", kw_only=True):
    """A person became known, by an account on a surface (for a terminal, the name given)."""

    person: str
    name: Words
    surface: str
    account: Words


class AccountOpened(Struct, frozen=True, tag="people.account_opened", kw_only=True):
    """A person may sign in to the web room from now on; `right` says what they may do there."""

    person: str
    right: Literal["owner", "member"]


class AccountClosed(Struct, frozen=True, tag="people.account_closed", kw_only=True):
    """A person may sign in no longer; `by` is who decided that."""

    person: str
    by: str


class Invited(Struct, frozen=True, tag="people.invited", kw_only=True, omit_defaults=True):
    """Somebody may come in by a link: as a person new here, into `room` if one is named.

    `past`: they may see what was said there before. The link's secret stands nowhere in the ledger.
    """

    invite: str
    by: str
    room: str = ""
    past: bool = False


class InviteTaken(Struct, frozen=True, tag="people.invite_taken", kw_only=True):
    """A person came in by an invite, which is spent now."""

    invite: str
    person: str


class InviteWithdrawn(Struct, frozen=True, tag="people.invite_withdrawn", kw_only=True):
    """An invite that nobody took is valid no longer."""

    invite: str
    by: str


class RenewalOffered(Struct, frozen=True, tag="people.renewal_offered", kw_only=True):
    """A person may set a new password by a link that `by` was given; it stands nowhere here."""

    person: str
    by: str


class SignedIn(Struct, frozen=True, tag="people.signed_in", kw_only=True):
    """A person began a session in a browser; `how`: by a link, an invite or a password."""

    person: str
    session: str
    how: Literal["link", "invite", "password"]


class SignedOut(Struct, frozen=True, tag="people.signed_out", kw_only=True):
    """A session is over: they left it, or `by` somebody it was ended."""

    person: str
    session: str
    by: str


class MateWritten(Struct, frozen=True, tag="mates.written", kw_only=True, omit_defaults=True):
    """A mate's file has this text from now on; `hash` is what flight records name it by.

    `by` is the person who wrote it in the browser, "" where the file was changed on disk.
    """

    mate: str
    hash: str
    text: Words
    by: str = ""


class MateGone(Struct, frozen=True, tag="mates.gone", kw_only=True):
    """A mate's file holds it no longer."""

    mate: str


PeopleEvent = (
    PersonMet
    | AccountOpened
    | AccountClosed
    | Invited
    | InviteTaken
    | InviteWithdrawn
    | RenewalOffered
    | SignedIn
    | SignedOut
    | MateWritten
    | MateGone
)
