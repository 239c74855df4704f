"""Traits that change: a mate asks to be changed in one, the owner of the home says yes or no.

    propose -> TraitProposed -> decide -> TraitDecided (yes) and the file, written with the trait
                                       -> TraitDecided (no)

Nothing a mate says changes what it is: a proposal is a sentence that waits. Why it asks is in words
that came from a talk, so the proposal cites the lines it rests on, and whoever may not see those
may not read it either. Does not know who may decide.

Why a mate asks is forgotten with a line that it rests on, and with a person whose line that is or
whose name stands in it (`RequestGrounds`, a view). That it was asked, by whom and for how much
stays.
"""

import re
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import get_args

from msgspec import Struct
from sqlalchemy import Index, PrimaryKeyConstraint, Table, select
from sqlalchemy.engine import Connection

from loopforge.core.events import Event
from loopforge.core.growth.growth_events import TraitDecided, TraitProposed
from loopforge.core.mates.header_edit import with_trait
from loopforge.core.text.erasable_text import FORGOTTEN, Words
from loopforge.core.text.name_labels import one_line
from loopforge.core.text.quantity_bands import Band
from loopforge.errors import InputError, Unknown
from loopforge.ledger.database.table_schema import metadata, name_columns
from loopforge.ledger.erasure.derived_texts import ForgottenGrounds
from loopforge.ledger.erasure.quote_matching import ForgottenText, QuoteMatcher, StreamText
from loopforge.ledger.storage.event_reading import read_events
from loopforge.mates.mate_roster import MateRoster
from loopforge.mates.retired_mates import find_running_mate
from loopforge.mates.version_history import STREAM, VersionHistory, version_hash
from loopforge.runtime.ports import Ledger
from loopforge.runtime.system_clock import Stamp

OPEN = 5
"""Proposals of one mate that may wait at a time."""
LONGEST = 300
"""Characters of why."""
_TRAIT = re.compile(r"[^\W\d_][\w' -]{0,38}[^\W_]")


class TraitRequest(Struct, frozen=True, kw_only=True):
    """A proposal that nobody has decided yet. Its words are private, and "[forgotten]" if gone."""

    id: str
    mate: str
    at: datetime
    trait: str
    before: Band | None
    after: Band
    why: str
    lines: tuple[str, ...]


class TraitProposals:
    """What mates ask to be changed in, and what is said to that."""

    def __init__(
        self, ledger: Ledger, chronicle: VersionHistory, roster: MateRoster, stamp: Stamp
    ) -> None:
        self._ledger, self._chronicle, self._roster = ledger, chronicle, roster
        self._stamp = stamp

    async def propose(
        self, handle: str, trait: str, after: str, why: str, lines: Sequence[str] = ()
    ) -> str:
        """A mate asks; the proposal's id. Raises Unknown, InputError where it makes no sense."""
        mate = find_running_mate(self._roster, handle)
        trait, why = " ".join(trait.split()).lower(), one_line(why, LONGEST)
        if not _TRAIT.fullmatch(trait):
            raise InputError("Name the trait in a word or two, such as patience.")
        band = next((one for one in get_args(Band) if one == after), None)
        if band is None:
            raise InputError(f"Say how much of it: {', '.join(get_args(Band))}.")
        if not why:
            raise InputError("Say why, in a sentence.")
        before = mate.traits.get(trait)
        if before == band:
            raise InputError(f"You have {trait} {band} already.")
        body = TraitProposed(
            mate=handle,
            trait=Words(trait),
            before=before,
            after=band,
            why=Words(why),
            lines=tuple(lines),
        )
        return await self._ledger.decide(STREAM, self._head, lambda seq: self._put(body, seq))

    async def _head(self, seq: int) -> int:
        return max(seq, (await self._ledger.heads(STREAM)).get(STREAM, 0))

    async def _put(self, body: TraitProposed, seq: int) -> str:
        waiting = [one for one in await self.open(body.mate) if one.mate == body.mate]
        if any(one.trait == str(body.trait) for one in waiting):
            raise InputError(f"That you be changed in {body.trait} is asked for already.")
        if len(waiting) >= OPEN:
            raise InputError(f"{OPEN} proposals wait already; let them be decided first.")
        fact = self._stamp.fact(body, actor=f"mate:{body.mate}")
        (event,) = await self._ledger.append(STREAM, [fact], expect=seq)
        return event.id

    async def open(self, handle: str = "") -> list[TraitRequest]:
        """What waits to be decided, of one mate or of all, the oldest first."""
        kinds = ("mates.trait_proposed", "mates.trait_decided")
        events = await self._ledger.read(STREAM, kinds=kinds)
        decided = {e.body.proposal for e in events if isinstance(e.body, TraitDecided)}
        told = [_request(event) for event in events if event.id not in decided]
        return [one for one in told if one is not None and handle in ("", one.mate)]

    async def decide(self, id: str, *, approved: bool, by: str = "") -> TraitRequest:
        """Say yes or no to a proposal, named by its id or the end of it.

        Raises Unknown; InputError where the mate is another by now than when it asked.
        """
        found = [one for one in await self.open() if id and one.id.endswith(id)]
        if len(found) != 1:
            raise Unknown(f"No proposal {id!r} waits to be decided.")
        (one,) = found
        if not approved:
            told = TraitDecided(mate=one.mate, proposal=one.id, approved=False, by=by)
            await self._chronicle.tell(told, by)
            return one
        await self._write(one, by)
        return one

    async def _write(self, one: TraitRequest, by: str) -> None:
        """Put the trait into the mate's file."""
        if one.trait == FORGOTTEN:
            raise InputError("What this asks for was forgotten; say no.")
        mate = find_running_mate(self._roster, one.mate)
        now = mate.traits.get(one.trait)
        if now != one.before:
            has = f"has {one.trait} {now}" if now else f"has no {one.trait}"
            raise InputError(f"{mate.name} {has} by now, so this does not fit any more; say no.")
        path = self._roster.path(one.mate)
        text = self._chronicle.text(path.name) or ""
        await self._chronicle.look()
        await self._chronicle.write(
            one.mate,
            with_trait(text, one.trait, one.after),
            by,
            file=path.name,
            base=version_hash(text),
            growth=lambda own: TraitDecided(
                mate=one.mate, proposal=one.id, approved=True, hash=own, by=by
            ),
        )


def _request(event: Event) -> TraitRequest | None:
    body = event.body
    if not isinstance(body, TraitProposed):
        return None
    return TraitRequest(
        id=event.id,
        mate=body.mate,
        at=event.at,
        trait=str(body.trait),
        before=body.before,
        after=body.after,
        why=str(body.why),
        lines=body.lines,
    )


# ---------------------------------------------------------------- proposal evidence


KIND = "mates.trait_proposed"
request_grounds = Table(
    "request_grounds",
    metadata,
    *name_columns("request", "line"),
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
