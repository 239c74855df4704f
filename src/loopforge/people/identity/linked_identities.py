"""Who is who: which person each account means, folded from the facts of stream "people".

    met        the account means a person, for good, unless ...
    linked     ... it was shown to be one more self of another: it means that one, until ...
    unlinked   ... it does not any more, and means whom it meant at first

A link goes from an account straight to the person it means: who becomes somebody else brings all
their accounts along. Pure: facts in, answers out. Whoever was forgotten is met anew.
"""

from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from loopforge.core.events import Erased, Event
from loopforge.core.people_events import (
    AccountLinked,
    AccountOpened,
    AccountUnlinked,
    PersonMet,
    PersonRenamed,
)
from loopforge.core.schedule.reminder_events import TimeChosen
from loopforge.core.text.erasable_text import Words, set_words_text

HOME = ("terminal", "web")
"""Surfaces of this home itself, where a name is chosen and kept; on others it is shown."""

Key = tuple[str, str]


class Person(Struct, frozen=True, kw_only=True):
    """A known person. `name` may have been forgotten. `bot`: somebody else's program."""

    id: str
    name: Words
    surface: str
    bot: bool = False


class LinkedAccount(Struct, frozen=True, kw_only=True):
    """An account that means a person: that of their beginning, or one that was linked since."""

    surface: str
    account: str
    since: datetime
    linked: bool
    name: str = ""
    """What they were called there when it was a person of its own; "" if it never was."""


class _Tie(Struct, frozen=True):
    """An account, whom it means, and since when."""

    person: str
    surface: str
    account: Words
    at: datetime


def account_key(surface: str, account: str) -> Key:
    """The same for all spellings of one account."""
    return surface, account.casefold()


class LinkedIdentities:
    """The people of this home and their accounts. `seq` is how far it is."""

    def __init__(self) -> None:
        self.seq = 0
        self.forgotten: set[str] = set()
        """People whose name is gone; whoever keeps secrets of theirs takes them out of here."""
        self._people: dict[str, Person] = {}
        self._first: dict[str, _Tie] = {}
        self._met: dict[Key, str] = {}
        self._links: dict[Key, _Tie] = {}
        self._signing: set[str] = set()
        self._times: dict[str, TimeChosen] = {}

    def apply(self, event: Event) -> bool:
        """Take in the next event; False if it was taken in before."""
        if event.seq <= self.seq:
            return False
        self.seq = event.seq
        match event.body:
            case PersonMet() as body:
                self._meet(body, event.at)
            case PersonRenamed(person=person, name=name) if person in self._people:
                self._people[person] = replace(self._people[person], name=name)
            case AccountOpened(person=person):
                self._signing.add(person)
            case AccountLinked(account=account) as body if account.text is not None:
                tie = _Tie(body.person, body.surface, account, event.at)
                self._links[account_key(body.surface, account.text)] = tie
            case AccountUnlinked(account=account) as body if account.text is not None:
                self._links.pop(account_key(body.surface, account.text), None)
            case TimeChosen() as body:
                self._times[body.person] = body
            case Erased(refs=refs):
                self._forget(set(refs))
        return True

    def _meet(self, body: PersonMet, at: datetime) -> None:
        self._people[body.person] = Person(
            id=body.person, name=body.name, surface=body.surface, bot=body.bot
        )
        self._first[body.person] = _Tie(body.person, body.surface, body.account, at)
        if body.account.text is not None:
            self._met[account_key(body.surface, body.account.text)] = body.person
        if body.name.text is None or body.account.text is None:
            self.forgotten.add(body.person)

    def _forget(self, refs: set[str]) -> None:
        for id, person in self._people.items():
            if person.name.ref in refs:
                set_words_text(person.name, None)
                self.forgotten.add(id)
        for id, first in self._first.items():
            if first.account.ref in refs:
                self._met.pop(account_key(first.surface, str(first.account)), None)
                set_words_text(first.account, None)
                self.forgotten.add(id)
        self._links = {k: tie for k, tie in self._links.items() if tie.account.ref not in refs}

    # ------------------------------------------------------------ asking

    def person(self, id: str) -> Person | None:
        """By id, if ever known; not whom they became."""
        return self._people.get(id)

    def who(self, surface: str, account: str) -> Person | None:
        """Whom an account means now."""
        key = account_key(surface, account)
        tie = self._links.get(key)
        linked = self._known(tie.person) if tie is not None else None
        return linked or self._known(self._met.get(key, ""))

    def time(self, id: str) -> TimeChosen | None:
        """The time zone and quiet hours that a person chose, if they did."""
        return self._times.get(id) or self._times.get(self.same(id))

    def name(self, id: str) -> str | None:
        """What a person is called; None for who was never met, or was forgotten."""
        first = self._first.get(id)
        there = first is not None and first.account.text is not None
        return self._people[id].name.text if there else None

    def _known(self, id: str) -> Person | None:
        person = self._people.get(id)
        return person if person is not None and person.name.text is not None else None

    def same(self, id: str) -> str:
        """The person whom this one became; the same id for whoever is still themselves."""
        first = self._first.get(id)
        if first is None or first.account.text is None:
            return id
        known = self.who(first.surface, first.account.text)
        return known.id if known is not None else id

    def persons(self, id: str) -> set[str]:
        """The ids of all persons who are one with this one: its own, and those linked with it."""
        now = self.same(id)
        linked = (key for key, tie in self._links.items() if tie.person == now)
        met = {self._met.get(key, "") for key in linked}
        return {id, now} | {one for one in met if one and self.same(one) == now}

    def first(self, person: str, surface: str, account: str) -> bool:
        """Whether this is the account by which a person was met."""
        return self._met.get(account_key(surface, account)) == person

    def keeps_name(self, person: Person) -> bool:
        """Whether a person has a name of their own, chosen in this home."""
        return person.surface in HOME or person.id in self._signing

    def current(self) -> list[Person]:
        """All that are themselves and not forgotten, in the order in which they were met."""
        everybody = self._people.values()
        return [
            one for one in everybody if one.name.text is not None and self.same(one.id) == one.id
        ]

    def selves(self, person: str) -> list[LinkedAccount]:
        """The accounts that mean a person, that by which they were met first."""
        found = []
        first = self._first.get(person)
        if first is not None and first.account.text is not None and self.same(person) == person:
            found.append(self._self(first, linked=False))
        ties = (tie for tie in self._links.values() if tie.person == person)
        return found + [self._self(tie, linked=True) for tie in ties]

    def _self(self, tie: _Tie, *, linked: bool) -> LinkedAccount:
        account = str(tie.account)
        met = self._people.get(self._met.get(account_key(tie.surface, account), ""))
        return LinkedAccount(
            surface=tie.surface,
            account=account,
            since=tie.at,
            linked=linked,
            name=str(met.name) if met is not None and met.name.text is not None else "",
        )
