"""People and mates: the facts of who is known to this home, and who may come in.

Streams "people" and "mates". A person's id means nothing outside the ledger; names, accounts and
the texts of mates' files are private words. No secret (a password, a link's or a session's token)
stands in an event, not even as a digest.
"""

from typing import Literal

from msgspec import Struct

from loopforge.core.growth.growth_events import GrowthEvent
from loopforge.core.text.erasable_text import Words, public_words

PEOPLE = "people"
"""The stream in which it stands who is known, and which accounts are one person's."""


class PersonMet(Struct, frozen=True, tag="people.met", kw_only=True, omit_defaults=True):
    """A person became known, by an account on a surface (for a terminal, the name given).

    The account on a platform is the user's id there. `bot`: it is somebody else's program.
    """

    person: str
    name: Words
    surface: str
    account: Words
    bot: bool = False


class PersonRenamed(Struct, frozen=True, tag="people.renamed", kw_only=True):
    """A person of a platform shows another name there, and is called so from now on."""

    person: str
    surface: str
    name: Words


class AccountLinked(Struct, frozen=True, tag="people.linked", kw_only=True, omit_defaults=True):
    """By a one-time code it was shown that this account is one more self of a person.

    `was` is the person whom the account meant before, "" if nobody. What was said under that id
    stays as it stands.
    """

    person: str
    surface: str
    account: Words
    was: str = ""


class AccountUnlinked(Struct, frozen=True, tag="people.unlinked", kw_only=True):
    """An account is no self of this person any more; it means whom it meant at first."""

    person: str
    surface: str
    account: Words


class Knocked(Struct, frozen=True, tag="people.knocked", kw_only=True, omit_defaults=True):
    """A stranger wrote to a mate in private, and was told a pairing code, or that it is closed.

    `knock` names this one knock; its code stands nowhere here. `place` is the private talk in which
    they were told.
    """

    knock: str
    surface: str
    account: Words
    name: Words
    told: Literal["code", "closed"]
    place: Words = public_words("")


class Admitted(Struct, frozen=True, tag="people.admitted", kw_only=True):
    """An account may talk to mates in private from now on; `by` is who decided that."""

    surface: str
    account: Words
    by: str


class AdmissionRefused(Struct, frozen=True, tag="people.refused", kw_only=True):
    """An account may not talk to mates in private, and is not answered; `by` decided that."""

    surface: str
    account: Words
    by: str


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


class PictureSet(Struct, frozen=True, tag="people.picture_set", kw_only=True):
    """A picture stands beside somebody's lines from now on, or none does.

    `of` is "person:" and an id, or "mate:" and a handle; `picture` the hash of its bytes, "" (and
    public) for none. `by` is the person who gave it or took it away.
    """

    of: str
    picture: Words
    by: str


MateEvent = MateWritten | MateGone | GrowthEvent
PeopleEvent = (
    PersonMet
    | PersonRenamed
    | AccountLinked
    | AccountUnlinked
    | Knocked
    | Admitted
    | AdmissionRefused
    | AccountOpened
    | AccountClosed
    | Invited
    | InviteTaken
    | InviteWithdrawn
    | RenewalOffered
    | SignedIn
    | SignedOut
    | PictureSet
)
