"""Whose words are names and accounts: what an erasure of a person must find of all their selves.

A person may have several accounts (people.linked), and each may stand in facts that others wrote:
a knock, an owner's decision. This reads who is one with whom from the stream "people" once, as it
stands now; what was unlinked since is somebody else's again.

Whoever wants all that there is of a person, to forget it or to give it to them, asks here.
Knows rows; forgets nothing itself. The fold that surfaces use stands in
people/identity/linked_identities.py.
"""

from collections.abc import Iterable, Iterator, Sequence

from sqlalchemy.engine import Connection

from loopforge.core.events import Event
from loopforge.core.people_events import (
    AccountLinked,
    AccountUnlinked,
    AdmissionRefused,
    Admitted,
    Knocked,
    PersonMet,
    PersonRenamed,
)
from loopforge.core.room_vocabulary import PersonJoined
from loopforge.core.text.erasable_text import Words
from loopforge.ledger.storage.row_codec import (
    COLUMNS,
    event_of,
    fill_words,
    in_list_sql,
    list_parameter,
    sql_placeholder,
)

NAMES = (
    "people.met",
    "people.renamed",
    "people.linked",
    "people.unlinked",
    "people.knocked",
    "people.admitted",
    "people.refused",
    "room.person_joined",
)
"""Kinds whose words are names and accounts."""

Key = tuple[str, str]


class PersonIdentities:
    """Every name and account that stands in the ledger, and whose it is."""

    def __init__(self, connection: Connection) -> None:
        self._events: list[tuple[Event, list[Words]]] = []
        self._first: dict[str, Key] = {}
        self._links: dict[Key, str] = {}
        for row in _rows(connection, NAMES):
            self._events.append(event_of(row))
        fill_words(connection, (one for _, words in self._events for one in words))
        for event, _ in self._events:
            self._fold(event)

    def _fold(self, event: Event) -> None:
        match event.body:
            case PersonMet(person=person, surface=surface, account=account):
                if account.text is not None:
                    self._first[person] = _key(surface, account)
            case AccountLinked(person=person, surface=surface, account=account):
                if account.text is not None:
                    self._links[_key(surface, account)] = person
            case AccountUnlinked(surface=surface, account=account):
                self._links.pop(_key(surface, account), None)

    def selves(self, person: str) -> set[str]:
        """The ids that this person was known by, theirs first of all; nobody's are none."""
        became = {id for id, key in self._first.items() if self._links.get(key) == person}
        return {person} | became if person else became

    def words(self, people: set[str]) -> Iterator[tuple[Event, list[Words]]]:
        """The facts that name these people or one of their accounts, with their words."""
        keys = {key for id, key in self._first.items() if id in people}
        keys |= {key for key, whose in self._links.items() if whose in people}
        for event, words in self._events:
            person, key = _subject(event)
            if person in people or key in keys:
                yield event, words

    def others(self, people: set[str], named: set[str] | frozenset[str]) -> set[str]:
        """The names and accounts of all but these people, and but those who are named by one."""
        mine = {id(words) for _, words in self.words(people)}
        refs: dict[str | Key, set[str]] = {}
        for event, words in self._events:
            if id(words) not in mine:
                person, key = _subject(event)
                refs.setdefault(person or key, set()).update(one.ref for one in words)
        return set[str]().union(*(each for each in refs.values() if each.isdisjoint(named)))


def event_ids_of_people(connection: Connection, people: Iterable[str]) -> list[str]:
    """The ids of all events of these people, in order; of a hundred thousand, some 8 MB."""
    actors = [f"person:{one}" for one in people]
    query = f"SELECT id FROM events WHERE actor {in_list_sql(connection)} ORDER BY id"  # noqa: S608
    return list(connection.exec_driver_sql(query, (list_parameter(connection, actors),)).scalars())


def _subject(event: Event) -> tuple[str, Key]:
    """Whom a fact names, by id or by account; "" for what it does not say."""
    match event.body:
        case PersonJoined(person=person) | PersonRenamed(person=person):
            return person, ("", "")
        case PersonMet() as body:
            return body.person, _key(body.surface, body.account)
        case AccountLinked() | AccountUnlinked() as body:
            return body.person, _key(body.surface, body.account)
        case Knocked() | Admitted() | AdmissionRefused() as body:
            return "", _key(body.surface, body.account)
        case _:
            return "", ("", "")


def _key(surface: str, account: Words) -> Key:
    """One account, however it is spelled; of a forgotten one, what is left."""
    if account.text is None:
        return surface, "#" + account.ref
    return surface, account.text.casefold()


def _rows(connection: Connection, kinds: Sequence[str]) -> list[Sequence[object]]:
    """By stream and kind, one at a time: an index has them so."""
    query = (
        f"SELECT {COLUMNS} FROM events WHERE stream IN (SELECT stream FROM streams) "  # noqa: S608
        f"AND kind = {sql_placeholder(connection)}"
    )
    found = (connection.exec_driver_sql(query, (kind,)) for kind in kinds)
    return sorted((row for rows in found for row in rows), key=lambda row: (row[0], row[1]))
