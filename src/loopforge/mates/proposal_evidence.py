"""What proposals of traits rest on: a view, by which their words go with what they rest on.

Why a mate asks to be changed is said in its own words about what people said. So it is forgotten
with a line that it rests on, and with a person whose line that is or whose name stands in it.
That it was asked, by whom and for how much stays.
"""

from collections.abc import Collection, Sequence

from sqlalchemy import Column, Index, PrimaryKeyConstraint, Table, select
from sqlalchemy.engine import Connection

from loopforge.core.events import Event
from loopforge.core.growth.growth_events import TraitProposed
from loopforge.core.text.erasable_text import Words
from loopforge.ledger.database.table_schema import Name, metadata
from loopforge.ledger.erasure.derived_texts import ForgottenGrounds
from loopforge.ledger.erasure.quote_matching import ForgottenText, QuoteMatcher, StreamText
from loopforge.ledger.storage.event_reading import read_events
from loopforge.mates.version_history import STREAM

KIND = "mates.trait_proposed"
request_grounds = Table(
    "request_grounds",
    metadata,
    Column("request", Name, nullable=False),
    Column("line", Name, nullable=False),
    PrimaryKeyConstraint("request", "line", name="request_grounds_place"),
    Index("request_grounds_line", "line"),
)


class RequestGrounds:
    """Folds proposals into one row for each line that each rests on."""

    name = "request grounds"
    version = 1
    kinds = frozenset({KIND})
    tables = (request_grounds,)
    holds_texts = False

    def apply(self, connection: Connection, events: Sequence[Event]) -> None:
        """Take in proposals."""
        rows = [
            {"request": event.id, "line": line}
            for event in events
            if isinstance(event.body, TraitProposed)
            for line in dict.fromkeys(event.body.lines)
        ]
        if rows:
            connection.execute(request_grounds.insert(), rows)

    def derived(
        self, connection: Connection, grounds: ForgottenGrounds, *, sole: bool
    ) -> dict[str, set[str]]:
        """See `DerivedTexts`."""
        rows = [(row.request, row.line) for row in connection.execute(select(request_grounds))]
        gone = {request for request, line in rows if line in grounds.events}
        if sole:
            gone -= {request for request, line in rows if line not in grounds.events}
        asked = _asked(connection) if gone or grounds.names else {}
        sieve = QuoteMatcher(ForgottenText(name, 0, name=True) for name in grounds.names)
        gone |= {id for id, words in asked.items() if _holds(sieve, words)}
        refs = {words.ref for id in gone for words in asked[id] if not words.public}
        return {STREAM: refs} if refs else {}


def _asked(connection: Connection) -> dict[str, tuple[Words, Words]]:
    """The words of every proposal. They are few: at most five of a mate wait at a time."""
    found = {}
    for event in read_events(connection, STREAM, kinds=[KIND]):
        if isinstance(event.body, TraitProposed):
            found[event.id] = (event.body.trait, event.body.why)
    return found


def _holds(sieve: QuoteMatcher, words: Collection[Words]) -> bool:
    return any(each.text and sieve.holds(StreamText(each.ref, 1, each.text)) for each in words)
