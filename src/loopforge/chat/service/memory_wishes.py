"""Wishes of memory are carried out: what people and mates asked to be kept, or let go of.

    room.memory_asked -> the mates' own streams, with that as the cause -> a quiet line of the room

Whoever asked in words is told by the room what came of it, in one line; what a mate does by itself
stands in its flight record. Done once for each wish, also after a crash. A person may forget for
good what concerns them alone; all else is only let go of, and can be brought back. What was said
after a wish to forget is not let go of, nor what was brought back since.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial

from loopforge.chat.remembering.note_checks import mentioned_people
from loopforge.chat.remembering.remembered_rooms import is_remembered, newest_since
from loopforge.chat.room.room_store import PREFIX as ROOMS
from loopforge.chat.room.room_store import RoomStore
from loopforge.chat.service.memory_notice import MemoryNotice
from loopforge.chat.turns.apply_acts import delivery_facts
from loopforge.core.effect_states import EffectReturned
from loopforge.core.events import Event
from loopforge.core.mates.mate_file import Mate, mate_name
from loopforge.core.memory.evidence_overlap import stems_of, supporting_lines
from loopforge.core.memory.memory_vocabulary import PREFIX, EvidenceLine, Layer, MemoryKept
from loopforge.core.room_vocabulary import Heard, MemoryAsked, Said, Told
from loopforge.core.text.erasable_text import Words, public_words
from loopforge.core.text.spoken_lists import join_as_prose
from loopforge.errors import LedgerError, LoopforgeError
from loopforge.ledger.storage.revised_lines import apply_revisions, events_by_id
from loopforge.ledger.table_access import ReadableLedger
from loopforge.memory.memory_settings import KeptWhat
from loopforge.memory.memory_store import MemoryStore
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.ports import ItemRecall
from loopforge.runtime.ports.memory_port import KeptItem, RecallQuery
from loopforge.runtime.system_clock import Stamp

log = logging.getLogger(__name__)
KIND = "room.memory_asked"
AFTER = timedelta(hours=1)
"""A wish that was not carried out for so long, since nothing ran, is not carried out any more."""
LATEST = 20
"""Wishes of a room that are looked at after a start."""
SAME = 0.6
"""The share of words of a wish to forget that an item must hold."""
NOTHING_KEPT = (
    "Nothing was kept: this room, or somebody whom it is about or whose name stands in it, is not "
    "remembered."
)
STAYS = " What was said stays in the room until its line is deleted."
KNEW_NOTHING = "{who} kept nothing of the kind." + STAYS
LET_GO = "{who} forgot it." + STAYS


class MemoryWishes:
    """Carries them out, in the order in which they came."""

    def __init__(
        self,
        ledger: ReadableLedger,
        house: RoomStore,
        store: MemoryStore,
        recall: ItemRecall,
        mates: Mapping[str, Mate],
        stamp: Stamp,
        tasks: BackgroundTasks,
        keep: Callable[[], KeptWhat],
    ) -> None:
        self._keeping = keep
        self._ledger, self._house, self._store, self._recall = ledger, house, store, recall
        self._mates, self._stamp, self._tasks = mates, stamp, tasks
        self._turns = asyncio.Lock()

    def start(self, notice: MemoryNotice) -> None:
        """Follow the rooms from now on, and what is kept of them."""
        notice.start()
        self._ledger.subscribe(self._follow, streams=ROOMS, kinds=[KIND])

    async def resume(self) -> None:
        """Carry out what was left when the program ended."""
        since = self._stamp.clock.now() - AFTER
        for stream, _ in await self._ledger.look(
            lambda tables: newest_since(tables, since, [KIND])
        ):
            left = await self._ledger.read(stream, kinds=[KIND], limit=LATEST, newest=True)
            await self._each([event for event in left if event.at > since])

    def _follow(self, _stream: str, events: Sequence[Event]) -> None:
        each = partial(self._each, events)
        self._tasks.insist(each, "what is to be remembered", self._stamp.clock)

    async def _each(self, events: Sequence[Event]) -> None:
        async with self._turns:
            for event in events:
                await self._carry_out(event)

    async def _carry_out(self, event: Event) -> None:
        asked = event.body
        if not isinstance(asked, MemoryAsked) or asked.text.text is None:
            return
        if not asked.turn and await self._is_told(event):
            return
        try:
            if asked.want == "keep":
                done = [mate for mate in asked.mates if await self._keep(mate, event, asked)]
                told = f"{self._named(done)} will remember that." if done else NOTHING_KEPT
            else:
                done = [mate for mate in asked.mates if await self._let_go(mate, event, asked)]
                told = (LET_GO if done else KNEW_NOTHING).format(
                    who=self._named(done or asked.mates)
                )
            if not asked.turn:
                await self._tell(event, told)
        except LedgerError:
            raise
        except LoopforgeError as error:
            log.warning("A wish of memory in %s was not carried out. %s", event.stream, error)

    def _named(self, mates: Sequence[str]) -> str:
        return join_as_prose([mate_name(self._mates, one) for one in mates])

    async def _tell(self, event: Event, text: str) -> None:
        """Say it in the room, once, whichever host does: the last thing that is done for a wish."""

        async def attempt(seq: int) -> None:
            if await self._is_told(event):
                return
            state = await self._house.state(event.stream)
            told = self._stamp.fact(Told(text=public_words(text)), actor="room", cause=event.id)
            facts = [told, *delivery_facts(told, state.places, self._stamp)]
            await self._ledger.append(event.stream, facts, expect=seq)

        head = partial(self._house.head, event.stream)
        await self._ledger.decide(event.stream, head, attempt)

    async def _is_told(self, event: Event) -> bool:
        later = await self._ledger.read(event.stream, after=event.seq, kinds=["room.told"])
        return any(one.cause == event.id for one in later)

    # ------------------------------------------------------------ keeping

    async def _keep(self, mate: str, event: Event, asked: MemoryAsked) -> bool:
        remembered = await self._ledger.look(lambda tables: is_remembered(tables, event.stream))
        if not remembered or self._keeping() == "nothing":
            return False
        done = await self._ledger.read(PREFIX + mate, kinds=["memory.kept"])
        if any(one.cause == event.id for one in done):
            return True
        told = await self._told_by_tools(asked)
        items, lines = await self._grounds((*asked.rests_on, *told))
        named = mentioned_people(str(asked.text), await self._house.state(event.stream))
        layer: Layer = "instruction" if asked.standing else "note" if asked.turn else "fact"
        item = MemoryKept(
            layer=layer,
            text=Words(asked.text.text),
            made_by="mate" if asked.turn else "person",
            evidence=(*asked.lines, *lines),
            rests_on=items,
            about=tuple(dict.fromkeys(filter(None, (asked.person, *named)))),
            told_by=asked.person,
            subject=Words(asked.subject) if asked.subject else public_words(""),
            room=event.stream,
            trusted=asked.trusted,
        )
        actor = f"mate:{mate}" if asked.turn else f"person:{asked.person}"
        return bool(await self._store.keep(mate, [item], actor=actor, cause=event.id))

    async def _grounds(
        self, ids: Sequence[str]
    ) -> tuple[tuple[str, ...], tuple[EvidenceLine, ...]]:
        """What was remembered: which of these are items, and which lines, of whatever room."""
        items = [one for one in ids if await self._store.known(one)]
        events = [await self._ledger.event(one) for one in ids if one not in items]
        return tuple(items), tuple(EvidenceLine(e.stream, e.seq, e.id) for e in events)

    async def _told_by_tools(self, asked: MemoryAsked) -> list[str]:
        """What was told by results that it rests on, as far as it shares a word of weight."""
        ids = list[str]()
        for line in asked.lines:
            body = (await self._ledger.event(line.line)).body
            ids += body.tells if isinstance(body, EffectReturned) else ()
        items = {one.id: str(one.text) for one in await self._store.items(ids=ids)} if ids else {}
        lines = await self._ledger.look(
            lambda tables: apply_revisions(tables, events_by_id(tables, set(ids) - items.keys()))
        )
        spoken = {e.id: str(e.body.text) for e in lines if isinstance(e.body, Heard | Said)}
        texts = items | spoken
        near = supporting_lines(str(asked.text), [stems_of(text) for text in texts.values()])
        return [id for place, id in enumerate(texts) if place in near]

    # ------------------------------------------------------------ letting go

    async def _let_go(self, mate: str, event: Event, asked: MemoryAsked) -> bool:
        """Let go of what fits, of that which may be used there; a person's own for good."""
        state = await self._house.state(event.stream)
        query = RecallQuery(
            text=str(asked.text),
            stream=event.stream,
            present=tuple(dict.fromkeys((*state.people, *filter(None, [asked.person])))),
            mate=mate,
            everywhere=True,
        )
        wanted = stems_of(str(asked.text))
        names = stems_of(" ".join(str(each.name) for each in state.people.values()))
        said = event.id if asked.turn else max((e.line for e in asked.lines), default=event.id)
        dropped = await self._ledger.read(PREFIX + mate, kinds=["memory.dropped"])
        gone = {getattr(one.body, "item", "") for one in dropped if one.cause == event.id}
        found = [
            one
            for one in await self._recall.usable(query)
            if one.id not in gone and _before(one, said) and _fits(one, wanted, names)
        ]
        begun = [one for one in await self._store.items(ids=gone) if one.state == "dropped"]
        for item in (*begun, *found):
            own = {item.told_by, *item.about} - {""} == {asked.person}
            if not asked.turn and own:
                await self._store.forget(
                    item.id, by=asked.person, why="they said so", because=event.id
                )
            elif not item.locked and item.id not in gone:
                by = f"mate:{mate}" if asked.turn else asked.person
                await self._store.drop(item.id, "it was said so", by=by, because=event.id)
        return bool(gone or found)


def _before(item: KeptItem, wish: str) -> bool:
    """Whether an item rests on what was there before a wish; ids are in the order of time."""
    return max((line.line for line in item.evidence), default=item.id) <= wish


def _fits(item: KeptItem, wanted: frozenset[str], names: frozenset[str]) -> bool:
    """Whether an item says what is to be forgotten, and not something else in a word's place."""
    held = stems_of(str(item.text))
    if not wanted or len(wanted & held) / len(wanted) < SAME:
        return False
    return wanted <= held or held <= wanted | names
