"""Strangers who write to a mate in private: who is answered, and how the owner lets them in.

    open       whoever writes is welcome
    pairing    a stranger is shown a code, at most once a day, and is not answered until the owner
               admits it (default)
    allowlist  a stranger is told once that this home is closed

Whatever the surface's policy: an admitted account stays admitted and a refused one is not answered,
until the owner decides otherwise. Whoever is known to be of this home is admitted without being
asked about: who may sign in to the web room, who talks in its terminal, and every account linked to
one of these or to an admitted one.

Knows no platform: it says what is to be told, and the surface tells it. What stands here stands in
the ledger, but for codes, of which a digest is kept beside it; so any process may ask and decide.
"""

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Literal, NamedTuple

from loopforge.core.people_events import AdmissionRefused, Admitted, Knocked
from loopforge.core.text.erasable_text import Words, public_words
from loopforge.errors import InputError, NotLetIn, Unknown
from loopforge.people.accounts.account_decisions import AccountDecisions, Decision
from loopforge.people.accounts.credential_store import (
    PAIRING,
    combine_work,
    no_work,
    replace_link,
    void_links,
)
from loopforge.people.identity.access_requests import Stranger, Verdict
from loopforge.people.identity.account_names import fold_name, sanitize_display_name
from loopforge.people.identity.person_registry import Person, PersonRegistry

Policy = Literal["open", "pairing", "allowlist"]


class Strangers(NamedTuple):
    """Of a surface: what strangers meet who write in private, and how an account is written.

    `account` is a regular expression of an account's id there.
    """

    policy: Policy = "pairing"
    account: str = r"\S+"


DAY = timedelta(days=1)
"""How long a code is good, and how long a stranger is told nothing more."""
LISTED = timedelta(days=30)
"""How long somebody who knocked stands in the owner's list."""
CROWD = 50
"""Strangers of one surface who may be shown a code within a day; more are not answered."""

TO_STRANGER = (
    "I do not know you yet. Ask the owner of this home to let you in: they enter the code {code} "
    "in the web room (Admin, People), or `loopforge people admit {code}` on its machine. "
    "The code is good for a day. I tell you once you are let in."
)
CLOSED = "This home is for people its owner has let in. Ask the owner, then write again."
LET_IN = "The owner of this home has let you in. Write to me, and I answer."
NO_CODE = (
    "Nobody who waits to be let in has this code or name: it was mistyped, decided on already, or "
    "its day is over. "
    "`loopforge people knocks` lists who waits; SURFACE:ACCOUNT names one without a code."
)
OWNERS = "Who may come in is for the owner of this home to say."


Knock = str | None
"""What to do with somebody who writes: None: answer them; else show these words alone, if any."""


class StrangerPairing:
    """The door for private talk; `strangers` by surface may be set at any time."""

    def __init__(
        self,
        decisions: AccountDecisions,
        people: PersonRegistry,
        strangers: Mapping[str, Strangers],
    ) -> None:
        self._decisions, self._people, self.strangers = decisions, people, dict(strangers)

    # ------------------------------------------------------------ at the door

    async def knock(self, surface: str, account: str, name: str, place: str = "") -> Knock:
        """Somebody writes in private. `name` is what the platform shows of them, `place` where."""
        await self._decisions.refresh()
        policy = self.strangers.get(surface, Strangers()).policy
        verdict = self._verdict(surface, account)
        if verdict == "admitted" or (policy == "open" and verdict is None):
            return None
        if verdict == "refused":
            return ""
        told: Literal["code", "closed"] = "code" if policy == "pairing" else "closed"
        return await self._told(surface, account, sanitize_display_name(name, account), told, place)

    async def _told(
        self, surface: str, account: str, name: str, told: Literal["code", "closed"], place: str
    ) -> Knock:
        decisions = self._decisions
        id = decisions.id("k")
        code, link = decisions.code(PAIRING, id, DAY)
        fact = Knocked(
            knock=id,
            surface=surface,
            account=Words(account),
            name=Words(name),
            told=told,
            place=Words(place) if place else public_words(""),
        )
        wrote = False

        async def decide() -> Decision:
            nonlocal wrote
            wrote = not self._knows(surface, account, told)
            if not wrote:
                return [], no_work
            last = decisions.book.knocks.last(surface, account)
            void = void_links([last.knock] if last else [], PAIRING)
            return [fact], combine_work(
                void, replace_link(link, decisions.now) if told == "code" else no_work
            )

        if not self._knows(surface, account, told):
            await decisions.decide("", decide)
        if not wrote:
            return ""
        return TO_STRANGER.format(code=code) if told == "code" else CLOSED

    def _knows(self, surface: str, account: str, told: str) -> bool:
        """Whether nothing more is to be said to this stranger, or there is a crowd."""
        knocks, now = self._decisions.book.knocks, self._decisions.now
        last = knocks.last(surface, account)
        if last is not None and last.told == told and (told == "closed" or now - last.at < DAY):
            return True
        lately = (one for one in knocks.undecided(now, DAY) if one.surface == surface)
        return sum(1 for _ in lately) >= CROWD

    def _verdict(self, surface: str, account: str) -> Verdict | None:
        """What holds for an account: what was decided, or that it is a person's of this home."""
        person = self._people.who(surface, account)
        if person is not None and self._of_home(person):
            return "admitted"
        return self._decisions.book.knocks.verdict(surface, account)

    def _of_home(self, person: Person, but: tuple[str, str] = ("", "")) -> bool:
        """Whether they are let in: by an account, at the terminal, or any self but that one."""
        decided = self._decisions.book.knocks.verdict
        return self._decisions.book.account(person.id) is not None or any(
            one.surface == "terminal" or decided(one.surface, one.account) == "admitted"
            for one in self._people.selves(person.id)
            if (one.surface, one.account) != but
        )

    def trusts(self, person: str) -> bool:
        """Whether somebody is of this home or was let in; as far as is read."""
        known = self._people.person(self._people.same(person))
        return known is not None and self._of_home(known)

    def owns(self, person: str) -> bool:
        """Whether this home is theirs; as far as is read."""
        entry = self._decisions.book.account(self._people.same(person))
        return entry is not None and entry.right == "owner"

    def admitted(self, surface: str) -> list[Stranger]:
        """Who knocked there and was let in since; as far as is read."""
        return self._decisions.book.knocks.admitted(surface)

    # ------------------------------------------------------------ the owner decides

    async def waiting(self) -> list[Stranger]:
        """Who knocked lately and was neither admitted nor refused, the latest first."""
        await self._decisions.refresh()
        found = self._decisions.book.knocks.undecided(self._decisions.now, LISTED)
        return [one for one in found if self._verdict(one.surface, one.account) is None]

    async def admit(self, which: str, by: str) -> Stranger:
        """Let an account talk in private: by its code, SURFACE:ACCOUNT, or by a name.

        `by` is a person's id, or "" for a command on this machine. Raises Unknown for a code that
        is not good, InputError for what is no account, NotLetIn for who is not the owner.
        """
        return await self._decide(which, by, "admitted")

    async def refuse(self, which: str, by: str) -> Stranger:
        """Answer an account no more in private, also one that was admitted; as `admit`.

        Raises InputError for an account of somebody who is let in by another of theirs.
        """
        return await self._decide(which, by, "refused")

    async def _decide(self, which: str, by: str, verdict: Verdict) -> Stranger:
        decisions = self._decisions
        decided: list[Stranger] = []

        async def decide() -> Decision:
            decider = self._people.same(by) if by else ""
            if not decisions.may(decider, ""):
                raise NotLetIn(OWNERS)
            stranger = await self._stranger(which)
            decided[:] = [stranger]
            surface, account = stranger.surface, stranger.account
            void = void_links([stranger.knock], PAIRING)
            if decisions.book.knocks.verdict(surface, account) == verdict:
                return [], void
            if verdict == "admitted":
                return [Admitted(surface=surface, account=Words(account), by=decider)], void
            self._refusable(surface, account)
            return [AdmissionRefused(surface=surface, account=Words(account), by=decider)], void

        await decisions.decide(by, decide)
        return decided[0]

    def _refusable(self, surface: str, account: str) -> None:
        """Raise InputError where a person is let in by more than this very account."""
        person = self._people.who(surface, account)
        if person is not None and self._of_home(person, but=(surface, account)):
            raise InputError(
                f"This account is {person.name}'s, who is let in by another of theirs too. Unlink "
                "it (`loopforge people unlink`), close their account, or refuse the other first."
            )

    async def _stranger(self, which: str) -> Stranger:
        """Who is meant by a code, SURFACE:ACCOUNT, or a name. Raises Unknown, InputError."""
        knocks = self._decisions.book.knocks
        surface, colon, account = (part.strip() for part in which.partition(":"))
        if not colon:
            row = await self._decisions.coded(which, PAIRING)
            found = knocks.of(row.invite) if row is not None else None
            return found or await self._called(which)
        surface = surface.casefold()
        there = self.strangers.get(surface)
        if there is None or not re.fullmatch(there.account, account):
            surfaces = " or ".join(self.strangers)
            raise InputError(
                f"{which!r} is no account of a platform. Write {surfaces}, a colon and the user's "
                f"id there, such as {[*self.strangers, 'platform'][0]}:123456789; or the code."
            )
        known = self._people.who(surface, account)
        name = str(known.name) if known is not None else ""
        return knocks.last(surface, account) or Stranger(
            knock="",
            surface=surface,
            account=account,
            name=name,
            at=self._decisions.now,
            told="closed",
        )

    async def _called(self, name: str) -> Stranger:
        """The one who waits and is called so. Raises Unknown, InputError for several."""
        wanted = fold_name(name)
        found = [one for one in await self.waiting() if fold_name(one.name) == wanted]
        if not found:
            raise Unknown(NO_CODE)
        if len(found) > 1:
            accounts = ", ".join(f"{one.surface}:{one.account}" for one in found)
            raise InputError(
                f"Several who wait to be let in are called {name!r}; choose one: {accounts}."
            )
        return found[0]
