"""What mates keep, for the people whom it concerns: seen with its evidence, corrected, forgotten.

    concerned   whom an item is about; where it is about nobody, who told it
    seen        by whom all its lines were seen, who told or worded it, for whom the work was done
                that taught it, and at the machine itself;
                who is concerned by words of a room where they were not is told that there are such
    reworded    by who alone is concerned (others would speak for others); and at the machine
    let go      by everybody who is concerned, seen or not; what concerns nobody, by the owner

Dropping, locking and correcting can be taken back; forgetting cannot. Whatever is changed, the
audit of what was made of it follows at once. Does not know commands, pages, nor the words for this.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import select
from sqlalchemy.engine import Connection

from loopforge.chat.room.member_visibility import MemberSight, sights_by_stream, sights_of
from loopforge.chat.room.room_store import PREFIX as ROOM
from loopforge.chat.room.room_store import RoomStore
from loopforge.core.events import Event
from loopforge.core.memory.memory_vocabulary import (
    EVERYWHERE,
    MACHINE,
    PREFIX,
    KeepingSet,
    MemoryCorrected,
    MemoryDropped,
    MemoryInvalidated,
    MemoryKept,
    MemoryLocked,
    MemoryRestored,
    MemoryShared,
    MemoryUnlocked,
)
from loopforge.core.room_vocabulary import Heard, LineEdited, Said
from loopforge.errors import InputError, Unknown
from loopforge.ledger.erasure.text_erasure import Erasure
from loopforge.ledger.storage.revised_lines import apply_revisions, events_by_id
from loopforge.ledger.table_access import ReadableLedger
from loopforge.memory.beliefs.belief_audit import AuditFigures, BeliefAudit, BeliefDoubt
from loopforge.memory.memory_store import MemoryStore
from loopforge.memory.memory_view import memories, memory_shares
from loopforge.runtime.ports import Clock
from loopforge.runtime.ports.memory_port import KeptItem

NOBODY = "somebody who was forgotten"
NOT_YOURS = "Only whom it concerns may do that."
UNDOABLE = tuple(
    f"memory.{kind}"
    for kind in ("corrected", "invalidated", "dropped", "restored", "locked", "unlocked", "shared")
)


class MemoryReader(Struct, frozen=True):
    """Who looks at memories: a person, or with "" somebody at the machine itself."""

    person: str
    owner: bool = False


class EvidenceShown(Struct, frozen=True, kw_only=True):
    """A line that an item rests on, as it stands now; `address` is where the browser shows it."""

    at: datetime
    who: str
    room: str
    text: str
    address: str


class Belief(Struct, frozen=True, kw_only=True):
    """An item of a mate as somebody may see it.

    `seen`: its words may be shown. `mine`: it concerns them. `rewords`, `lets_go`: they may do so.
    `hidden` is of how many of its lines they may not see; `doubt` is why it is flagged, if it is;
    `shared` are the rooms (streams), or EVERYWHERE, where they let it be used; `others`: it is
    about others, too.
    """

    item: KeptItem
    seen: bool
    mine: bool
    rewords: bool
    lets_go: bool
    evidence: tuple[EvidenceShown, ...] = ()
    hidden: int = 0
    doubt: str = ""
    shared: tuple[str, ...] = ()
    others: bool = False

    @property
    def text(self) -> str:
        """What it says, as far as that may be shown."""
        return str(self.item.text) if self.seen else "[from a room where you were not]"


class MemoryService:
    """What people do with what mates keep. `same` says who somebody is by now."""

    def __init__(
        self,
        ledger: ReadableLedger,
        store: MemoryStore,
        audit: BeliefAudit,
        house: RoomStore,
        clock: Clock,
        same: Callable[[str], str],
    ) -> None:
        self._ledger, self._store, self._audit = ledger, store, audit
        self._house, self._clock, self._same = house, clock, same

    # ------------------------------------------------------------ looking

    async def mates(self) -> list[str]:
        """The handles of all who keep something, or did."""
        query = select(memories.c.mate).distinct().order_by(memories.c.mate)
        return await self._ledger.look(lambda found: list(found.execute(query).scalars()))

    async def figures(self, mate: str) -> AuditFigures:
        """How it stands with what a mate keeps."""
        return await self._audit.figures(mate, self._clock.now())

    async def beliefs(
        self, reader: MemoryReader, mate: str = "", *, all: bool = False
    ) -> list[Belief]:
        """What concerns somebody, by mate, the newest first; with `all`, what else they may see."""
        found = []
        for handle in [mate] if mate else await self.mates():
            found += await self._of_mate(reader, handle, all=all)
        return found

    async def _of_mate(self, reader: MemoryReader, mate: str, *, all: bool) -> list[Belief]:
        items = await self._store.items(mate)
        known = {reader.person, *(one for item in items for one in (item.told_by, *item.about))}
        selves = [one for one in known if one and reader.person in (one, self._same(one))]
        look = partial(_looked_up, items=items, person=reader.person, selves=selves)
        lines, seen, shares = await self._ledger.look(look)
        doubts = await self._audit.doubts(mate)
        beliefs = []
        for item in reversed(items):
            belief = self._belief_of(reader, item, lines, seen, doubts.get(item.id))
            if belief.mine or (all and (belief.seen or not reader.person)):
                evidence = [
                    await self._shown_evidence(line) for line in _visible_lines(item, lines, seen)
                ]
                shared = tuple(shares.get(item.id, ()))
                beliefs.append(replace(belief, evidence=tuple(evidence), shared=shared))
        return beliefs

    def _belief_of(
        self,
        reader: MemoryReader,
        item: KeptItem,
        lines: dict[str, Event],
        seen: dict[str, MemberSight] | None,
        doubt: BeliefDoubt | None,
    ) -> Belief:
        concerned = {self._same(one) for one in item.about or (item.told_by,) if one}
        machine, mine = not reader.person, reader.person in concerned
        there = _visible_lines(item, lines, seen)
        known = all_seen(item, seen)
        theirs = self._same(item.worded_by or item.told_by) == reader.person
        own = machine or (theirs and (known or not item.evidence or bool(item.worded_by)))
        worked = mine and item.layer == "insight"  # the mate's own words on work for them
        shown = (
            own or worked or (item.travels and not item.worded_by) or (known and not item.worded_by)
        )
        nobody = not concerned and reader.owner and shown
        flagged = item.state == "invalidated" or (item.state == "held" and doubt is not None)
        return Belief(
            item=item,
            seen=shown,
            mine=mine,
            rewords=machine or nobody or (shown and concerned == {reader.person}),
            lets_go=machine or nobody or mine or (known and item.layer == "word"),
            hidden=len(_rooms_lines(item, lines)) - len(there),
            doubt=(doubt.why if doubt else "somebody doubts it") if flagged else "",
            others=bool(concerned - {reader.person}),
        )

    async def _shown_evidence(self, line: Event) -> EvidenceShown:
        body, room = line.body, line.stream.removeprefix(ROOM)
        state = await self._house.state(line.stream)
        who, text = NOBODY, ""
        if isinstance(body, Said):
            who, text = body.mate, str(body.text)
        elif isinstance(body, Heard):
            known = state.people.get(body.person) or state.former.get(body.person)
            who, text = str(known.name) if known else NOBODY, str(body.text)
        address = f"/rooms/{room}?at={line.seq}#l-{line.seq}"
        return EvidenceShown(at=line.at, who=who, room=room, text=text, address=address)

    async def find(self, reader: MemoryReader, mate: str, number: int) -> Belief:
        """What a mate keeps under this number. Raises Unknown, also where it may not be seen."""
        found = await self._of_mate(reader, mate, all=True)
        for belief in found:
            if belief.item.seq == number:
                return belief
        raise Unknown(f"{mate} keeps nothing under the number {number} that you may see.")

    async def keeps(self, person: str) -> bool:
        """Whether something is kept of somebody, as far as they said."""
        scope = f"person:{person}"
        return (await self._store.keeping([scope])).get(scope, True)

    async def set_keeping(self, person: str, kept: Literal["on", "off", "default"]) -> None:
        """Somebody says whether something is kept of them."""
        await self._store.set_keeping(KeepingSet(scope=f"person:{person}", kept=kept, by=person))

    # ------------------------------------------------------------ changing

    async def correct(self, reader: MemoryReader, belief: Belief, text: str) -> None:
        """Have it say something else. Raises InputError."""
        self._check_may_change(belief.rewords, belief)
        await self._store.correct(belief.item.id, " ".join(text.split()), by=_actor_of(reader))
        if belief.item.state == "invalidated":
            await self._store.restore(belief.item.id, by=_actor_of(reader))
        await self._audit.settle(belief.item.mate)

    async def lock(self, reader: MemoryReader, belief: Belief, *, on: bool = True) -> None:
        """Say that it stands, or take that back. Raises InputError."""
        self._check_may_change(belief.rewords, belief)
        await self._store.lock(belief.item.id, by=_actor_of(reader), on=on)
        await self._audit.settle(belief.item.mate)

    async def drop(self, reader: MemoryReader, belief: Belief) -> None:
        """Have it let go; it can come back. Raises InputError."""
        self._check_may_change(belief.lets_go, belief)
        if belief.item.state == "dropped":
            raise InputError("It is let go already.")
        await self._store.drop(belief.item.id, "on a person's wish", by=_actor_of(reader))
        await self._audit.settle(belief.item.mate)

    async def restore(self, reader: MemoryReader, belief: Belief) -> None:
        """Have it hold again, whatever its lines became; what replaced it is let go."""
        self._check_may_change(belief.lets_go and belief.seen, belief)
        item = belief.item
        if item.state == "held" and not belief.doubt:
            raise InputError("It holds already.")
        await self._store.restore(item.id, by=_actor_of(reader))
        if item.state == "superseded" and item.replaced:
            new = await self._store.item(item.replaced)
            if new.state == "held":
                why = "the value before it holds again"
                await self._store.drop(new.id, why, by=_actor_of(reader), because=item.id)
        await self._audit.settle(item.mate)

    async def forget(self, reader: MemoryReader, belief: Belief) -> Erasure:
        """Forget it for good, with what was made of it. Raises InputError."""
        self._check_may_change(belief.lets_go, belief)
        return await self._store.forget(
            belief.item.id, by=_actor_of(reader), why="on a person's wish"
        )

    async def share(
        self, reader: MemoryReader, belief: Belief, to: str, *, on: bool = True
    ) -> None:
        """Let it be used in a room (its stream) or EVERYWHERE, or no longer. Raises InputError."""
        self._check_may_change(belief.mine and belief.seen, belief)
        item = belief.item
        if to != EVERYWHERE and on:
            found = await self._ledger.look(partial(sights_by_stream, person=reader.person))
            if to not in found or not found[to].here:
                raise Unknown("You are in no such room.")
        for one in item.about or (item.told_by,):
            if self._same(one) == reader.person:
                await self._store.share(item.id, to, by=one, on=on)

    def _check_may_change(self, may: bool, belief: Belief) -> None:
        if belief.item.state == "forgotten":
            raise Unknown("That was forgotten; nothing of it is left to be changed.")
        if not may:
            others = " It is about others, too; you may have it let go." if belief.lets_go else ""
            raise InputError(NOT_YOURS + others)

    # ------------------------------------------------------------ undoing

    async def undo(self, reader: MemoryReader, mate: str = "") -> str:
        """Take back the last change by this reader that was not taken back yet; what it was.

        Raises InputError where there is none.
        """
        mates = [mate] if mate else await self.mates()
        changes = [
            event
            for each in mates
            for event in await self._ledger.read(PREFIX + each, kinds=UNDOABLE)
            if event.actor == f"person:{_actor_of(reader)}"
        ]
        known, back = {event.id for event in changes}, set[str]()
        for event in sorted(changes, key=lambda one: one.id, reverse=True):
            if event.cause in known:
                back.add(event.cause)
            elif event.id not in back and await self._taken_back(reader, event):
                await self._audit.settle(event.stream.removeprefix(PREFIX))
                return event.kind.removeprefix("memory.")
        raise InputError("You changed nothing that could be taken back.")

    async def _taken_back(self, reader: MemoryReader, event: Event) -> bool:
        """Whether a change could be taken back: what is forgotten stays so."""
        store, by, body = self._store, _actor_of(reader), event.body
        item = await store.item(str(getattr(body, "item", "")))
        if item.state == "forgotten":
            return False
        match body:
            case MemoryCorrected():
                before = await self._wording_before(event, item.id)
                if before is None:
                    return False
                text, back_to = before
                await store.correct(item.id, text, by=by, cause=event.id, back_to=back_to)
            case MemoryDropped() | MemoryInvalidated():
                await store.restore(item.id, by=by, because=event.id)
            case MemoryRestored():
                await store.drop(item.id, "taken back", by=by, because=event.id)
            case MemoryLocked():
                await store.lock(item.id, by=by, on=False, cause=event.id)
            case MemoryUnlocked():
                await store.lock(item.id, by=by, cause=event.id)
            case MemoryShared(to=to, on=on, by=whose):
                await store.share(item.id, to, by=whose, on=not on, cause=event.id)
            case _:
                return False
        return True

    async def _wording_before(self, event: Event, item: str) -> tuple[str, str] | None:
        """What an item said before a correction, and the event of that; None if it is forgotten."""
        kinds = ("memory.kept", "memory.corrected")
        told = await self._ledger.read(event.stream, before=event.seq, kinds=kinds)
        for one in reversed(told):
            if one.id == item or getattr(one.body, "item", "") == item:
                assert isinstance(one.body, MemoryKept | MemoryCorrected)
                first = getattr(one.body, "back_to", "") or one.id
                return None if one.body.text.text is None else (one.body.text.text, first)
        return None


# ---------------------------------------------------------------- who sees what


def _actor_of(reader: MemoryReader) -> str:
    return reader.person or MACHINE


def all_seen(item: KeptItem, seen: dict[str, MemberSight] | None) -> bool:
    """Whether somebody saw every line that an item rests on; of no line, that is not said."""
    if seen is None:
        return True
    return bool(item.evidence) and all(
        line.stream in seen and seen[line.stream].sees(line.seq) for line in item.evidence
    )


def _rooms_lines(item: KeptItem, lines: dict[str, Event]) -> list[Event]:
    """The lines that an item rests on, without edits of lines."""
    found = [lines[one.line] for one in item.evidence if one.line in lines]
    return [line for line in found if not isinstance(line.body, LineEdited)]


def _visible_lines(
    item: KeptItem, lines: dict[str, Event], seen: dict[str, MemberSight] | None
) -> Sequence[Event]:
    """The lines that an item rests on and somebody may see, as they stand now."""
    found = []
    for line in _rooms_lines(item, lines):
        sight = seen.get(line.stream) if seen is not None else None
        if seen is None or (sight is not None and sight.sees(line.seq) and sight.follows(line)):
            found.append(line)
    return found


def _looked_up(
    connection: Connection, items: Sequence[KeptItem], person: str, selves: Sequence[str]
) -> tuple[dict[str, Event], dict[str, MemberSight] | None, dict[str, list[str]]]:
    """The lines that items rest on, what somebody saw of rooms, where they share which items.

    `selves` are the ids by which they were there.
    """
    ids = {line.line for item in items for line in item.evidence}
    found = apply_revisions(connection, events_by_id(connection, ids))
    lines = {event.id: event for event in found if event.stream.startswith(ROOM)}
    query = select(memory_shares).where(memory_shares.c.item.in_([item.id for item in items]))
    shares: dict[str, list[str]] = {}
    for row in connection.execute(query):
        if not person or row.person == person:
            shares.setdefault(row.item, []).append(row.target)
    if not person:
        return lines, None, shares
    seen: dict[str, MemberSight] = {}
    for each in sights_of(connection, selves).values():
        for stream, one in each.items():
            seen[stream] = MemberSight((*seen[stream].stays, *one.stays)) if stream in seen else one
    return lines, seen, shares
