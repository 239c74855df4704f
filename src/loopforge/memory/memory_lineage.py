"""Memory when one mate becomes two, and two become one; and memory changes taken back.

    fork    the new mate keeps what the other does: items of its own, resting on the very same lines
    merge   what the other keeps besides is taken; where both say otherwise, a person decides

An item that was taken along has the text of the other by reference: the words stand in the
ledger once, so that what is forgotten is forgotten in both. It names the mate that heard it
(`learned_by`), by whose presence it may be used; what somebody corrected stays their word. What
rests on lines that were changed since is not taken along, nor what is not to be kept of somebody.
Does not know who may.
"""

from collections.abc import Mapping, Sequence
from functools import partial

from loopforge.core.events import Body, Event
from loopforge.core.growth.growth_events import MergeTake
from loopforge.core.memory.memory_vocabulary import (
    PREFIX,
    MemoryCorrected,
    MemoryDropped,
    MemoryInvalidated,
    MemoryKept,
    MemoryLocked,
    MemoryRestored,
    MemorySuperseded,
)
from loopforge.core.text.erasable_text import Words
from loopforge.core.text.topics import fold_case
from loopforge.errors import InputError
from loopforge.ledger.sql_ledger import SqlLedger
from loopforge.memory.memory_store import MemoryStore
from loopforge.memory.memory_view import fallen_items
from loopforge.runtime.ports.memory_port import KeptItem, MemoryDifference
from loopforge.runtime.system_clock import Stamp

TAKEN = ("held", "superseded")
"""What is taken along; what was let go or doubted is not brought back by a fork."""


class MemoryLineage:
    """What becomes of memory when mates are forked and merged; see `MateMemory`."""

    def __init__(self, ledger: SqlLedger, store: MemoryStore, stamp: Stamp) -> None:
        self._ledger, self._store, self._stamp = ledger, store, stamp

    # ------------------------------------------------------------ forks

    async def head(self, mate: str) -> int:
        """The number of the last event in a mate's memory; 0: it keeps nothing."""
        return (await self._ledger.heads(PREFIX + mate)).get(PREFIX + mate, 0)

    async def copy(self, source: str, mate: str, *, cause: str, actor: str, until: str = "") -> int:
        """Let `mate` keep what `source` does, or did after the event `until`; how many items."""
        every = await self._store.items(source)
        items, worded = _as_of(await self._standing(source), every, until), _worded_by(every)
        bodies: list[Body] = []
        ids: dict[str, str] = {}
        facts = []
        for one in items:
            fact = self._stamp.fact(_copied(one, source), actor=actor, cause=cause)
            ids[one.id] = fact.id
            facts.append(fact)
            bodies += _still_theirs(fact.id, one, worded)
            if one.locked and one.state == "held":
                bodies.append(MemoryLocked(item=fact.id, by=actor.removeprefix("person:")))
        for one in items:
            if one.replaced in ids and one.until is not None:
                old, new = ids[one.id], ids[one.replaced]
                bodies.append(MemorySuperseded(item=old, new=new, when=one.until))
        facts += [self._stamp.fact(body, actor=actor, cause=cause) for body in bodies]
        if facts:
            await self._ledger.append(PREFIX + mate, facts)
        return len(items)

    async def _standing(self, mate: str) -> list[KeptItem]:
        """Items that may be taken along, the first kept first."""
        items = [
            one
            for one in await self._store.items(mate)
            if one.state in TAKEN and one.text.text is not None
        ]
        gone = await self._ledger.look(partial(fallen_items, mate=mate))
        scopes = {f"person:{one}" for item in items for one in (*item.about, item.told_by) if one}
        scopes |= {line.stream for item in items for line in item.evidence}
        off = {scope for scope, on in (await self._store.keeping(scopes)).items() if not on}
        return [one for one in items if one.id not in gone and not _scopes(one) & off]

    # ------------------------------------------------------------ merges

    async def differences(self, a: str, b: str) -> list[MemoryDifference]:
        """What `b` keeps that `a` does not, and what they keep differently."""
        mine, other = await self._store.items(a), await self._standing(b)
        origins = {**await self._wordings(a), **await self._wordings(b)}
        found = (_difference(one, mine, origins) for one in other if one.state == "held")
        return [one for one in found if one is not None]

    async def _wordings(self, mate: str) -> dict[str, set[str]]:
        """The refs of all wordings that each item of a mate ever had."""
        refs: dict[str, set[str]] = {}
        kinds = ("memory.kept", "memory.corrected")
        for event in await self._ledger.read(PREFIX + mate, kinds=kinds):
            if isinstance(event.body, MemoryKept):
                refs[event.id] = {event.body.text.ref}
            elif isinstance(event.body, MemoryCorrected) and event.body.item in refs:
                refs[event.body.item].add(event.body.text.ref)
        return refs

    async def take(
        self,
        mate: str,
        source: str,
        differences: Sequence[MemoryDifference],
        takes: Mapping[str, MergeTake],
        *,
        cause: str,
        actor: str,
    ) -> int:
        """Take what was found and decided into a mate's memory; how many items changed."""
        worded = _worded_by(await self._store.items(source))
        bodies: list[Body] = []
        facts = []
        for one in differences:
            take = takes.get(one.about, "a" if one.conflict else "b")
            if take == "a":
                continue
            kin = one.kin
            if kin is not None and take == "b" and _one_line_of_descent(kin, one.item):
                if kin.state != "held":
                    bodies.append(MemoryRestored(item=kin.id, by=actor, because=cause))
                by = worded.get(one.item.id) or actor.removeprefix("person:")
                bodies.append(MemoryCorrected(item=kin.id, text=one.item.text, by=by))
                continue
            fact = self._stamp.fact(_copied(one.item, source), actor=actor, cause=cause)
            facts.append(fact)
            bodies += _still_theirs(fact.id, one.item, worded)
            if kin is not None and take == "b":
                when = one.item.since or fact.at
                bodies.append(MemorySuperseded(item=kin.id, new=fact.id, when=when))
        facts += [self._stamp.fact(body, actor=actor, cause=cause) for body in bodies]
        if facts:
            await self._ledger.append(PREFIX + mate, facts)
        return len(facts)

    # ------------------------------------------------------------ taking back

    async def take_back(self, mate: str, events: Sequence[Event], *, cause: str, by: str) -> int:
        """Undo what events did to items of a mate, by events of their own; how many were undone.

        Raises InputError where a wording that would come back was forgotten.
        """
        done = 0
        for event in reversed([one for one in events if one.stream == PREFIX + mate]):
            done += await self._undo(event, cause, by)
        return done

    async def _undo(self, event: Event, cause: str, by: str) -> bool:
        match event.body:
            case MemoryKept():
                if (await self._store.item(event.id)).state in TAKEN:
                    await self._store.drop(event.id, "undone", by=by, because=cause)
                    return True
            case MemorySuperseded(item=item) | MemoryInvalidated(item=item):
                await self._store.restore(item, by=by, because=cause)
                return True
            case MemoryDropped(item=item):
                await self._store.restore(item, by=by, because=cause)
                return True
            case MemoryRestored(item=item):
                await self._store.drop(item, "undone", by=by, because=cause)
                return True
            case MemoryCorrected(item=item):
                text, said = await self._before(event, item)
                await self._store.correct(item, text, by=by, cause=cause, back_to=said)
                return True
        return False

    async def _before(self, event: Event, item: str) -> tuple[str, str]:
        """What an item said before a correction, and the event of that."""
        kinds = ("memory.kept", "memory.corrected")
        told = await self._ledger.read(event.stream, before=event.seq, kinds=kinds)
        mine = [each for each in told if item in (each.id, getattr(each.body, "item", ""))]
        words: Words | None = getattr(mine[-1].body, "text", None) if mine else None
        if words is None or words.text is None:
            raise InputError("What this memory said before was forgotten; it cannot come back.")
        return words.text, getattr(mine[-1].body, "back_to", "") or mine[-1].id


def _as_of(standing: Sequence[KeptItem], every: Sequence[KeptItem], until: str) -> list[KeptItem]:
    """Items that were there after an event; of superseded ones those whose successor comes along.

    What was superseded later held then. Ids are ordered by time.
    """
    there = [one for one in standing if not until or one.id <= until]
    ids = {one.id for one in there}
    later = {one.id for one in every if until and one.id > until}
    return [one for one in there if not one.replaced or one.replaced in ids | later]


def _copied(item: KeptItem, source: str) -> MemoryKept:
    """An item as another mate keeps it: the same words by reference, the same lines."""
    ended = item.until if item.state == "held" else None
    learned = item.learned_by or source
    return item.anew(made_by="fork", rests_on=(), until=ended, learned_by=learned)


def _worded_by(every: Sequence[KeptItem]) -> dict[str, str]:
    """Whose word items are who corrected them, or what they were made of: one is enough."""
    found = {one.id: one.worded_by for one in every if one.worded_by}
    more = True
    while more:
        before = len(found)
        for one in every:
            if one.id not in found and (whose := [found[x] for x in one.rests_on if x in found]):
                found[one.id] = whose[0]
        more = len(found) > before
    return found


def _still_theirs(copy: str, item: KeptItem, worded: Mapping[str, str]) -> list[Body]:
    """What keeps the word of whoever corrected an item theirs: others did not hear it."""
    by = worded.get(item.id)
    return [MemoryCorrected(item=copy, text=item.text, by=by)] if by else []


def _scopes(item: KeptItem) -> set[str]:
    people = {f"person:{one}" for one in (*item.about, item.told_by) if one}
    return people | {line.stream for line in item.evidence}


def _plain(words: Words) -> str:
    return fold_case(" ".join(str(words).split()))


def _difference(
    one: KeptItem, mine: Sequence[KeptItem], origins: Mapping[str, set[str]]
) -> MemoryDifference | None:
    """What an item of another mate is beside `mine`; None for what is no news to this one.

    `origins` are the refs of all wordings that each item ever had: where those of two meet, the
    two were one. What this mate let go, or replaced, is no news, nor what it has corrected since.
    """
    held = [each for each in mine if each.state == "held"]
    if any(_alike(one, known) for known in held):
        return None
    kin = next((each for each in mine if origins[each.id] & origins[one.id]), None)
    kin = kin or next((each for each in held if _same_matter(each, one)), None)
    if kin is None:
        return MemoryDifference(about=_name(one), item=one)
    if kin.state in ("forgotten", "superseded"):
        return None
    if kin.state == "held" and kin.text.ref in origins[one.id]:
        return MemoryDifference(about=_name(one), item=one, kin=kin)
    if kin.state == "held" and one.text.ref in origins[kin.id]:
        return None
    return MemoryDifference(about=_name(one), item=one, kin=kin, conflict=True)


def _alike(one: KeptItem, other: KeptItem) -> bool:
    same = one.layer == other.layer and set(one.about) == set(other.about)
    return same and _plain(one.text) == _plain(other.text)


def _same_matter(one: KeptItem, other: KeptItem) -> bool:
    """Whether two items that differ speak of one thing: a subject, or what one talk came to."""
    if one.layer != other.layer or set(one.about) != set(other.about):
        return False
    subject = _plain(one.subject)
    if subject or str(other.subject):
        return subject == _plain(other.subject)
    lines = {line.line for line in one.evidence}
    return one.layer == "core" and bool(lines) and lines == {x.line for x in other.evidence}


def _one_line_of_descent(one: KeptItem, other: KeptItem) -> bool:
    """Whether two are one item that went on in two mates: it rests on the same, of the same."""
    return (
        one.evidence == other.evidence
        and one.told_by == other.told_by
        and _plain(one.subject) == _plain(other.subject)
        and "fork" in (one.made_by, other.made_by)
    )


def _name(item: KeptItem) -> str:
    """What a difference is called where it is decided; no word of it, as that stays on record."""
    return f"memory.{item.id[-8:]}"
