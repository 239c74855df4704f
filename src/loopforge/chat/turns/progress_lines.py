"""Words that mates say in a room of what they do elsewhere: said once, edited in place.

    cause (an event of any stream) -> Said, in the room and all its places
    the same line again -> LineEdited, unless an edit before it has not arrived there yet
    what they are of is forgotten -> LineDeleted

Does not know what the words are about. Who may read them is whoever is in the room.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from functools import partial
from typing import TypeVar

from loopforge.chat.room.permissions import grant_in_room
from loopforge.chat.room.room_state import RoomState
from loopforge.chat.room.room_store import RoomStore
from loopforge.chat.turns.apply_acts import delivery_facts
from loopforge.core.delivery_states import Accepted, Queued
from loopforge.core.events import Body, Event
from loopforge.core.room_vocabulary import File, Heard, LineDeleted, LineEdited, Reacted, Said
from loopforge.core.text.erasable_text import Words
from loopforge.runtime.delivery_worker import Deliveries
from loopforge.runtime.ports import Ledger, RoomOrder
from loopforge.runtime.system_clock import Stamp

T = TypeVar("T")
LATEST = 500
"""Lines and signs of mates that are looked at in one go for one that has this cause already."""


class ProgressLines:
    """See `RoomVoice`."""

    def __init__(
        self,
        ledger: Ledger,
        house: RoomStore,
        surfaces: Sequence[str],
        deliveries: Deliveries,
        stamp: Stamp,
    ) -> None:
        self._ledger, self._house, self._surfaces = ledger, house, surfaces
        self._deliveries, self._stamp = deliveries, stamp

    async def say(
        self, stream: str, mate: str, text: str | Words, *, cause: str, files: Sequence[File] = ()
    ) -> str:
        """See `RoomVoice.say`."""
        said = Words(text) if isinstance(text, str) else text
        body = Said(turn=cause, mate=mate, text=said, files=tuple(files))

        async def attempt(state: RoomState) -> str:
            if state.closed or state.seq == 0:
                return ""
            if known := await self._known(stream, "room.said", cause):
                return known.id
            fact = self._stamp.fact(body, actor=f"mate:{mate}", cause=cause)
            to = (*self._surfaces, *state.places)
            facts = [fact, *delivery_facts(fact, to, self._stamp)]
            await self._ledger.append(stream, facts, expect=state.seq)
            return fact.id

        return await self._decide(stream, attempt)

    async def edit(self, stream: str, mate: str, line: str, text: str) -> bool:
        """See `RoomVoice.edit`."""
        if self._deliveries.going(stream):
            return False
        body = LineEdited(line=line, text=Words(text), by=f"mate:{mate}")

        async def attempt(state: RoomState) -> None:
            if state.closed or await self._says(state, line) == text:
                return
            if await self._gone(stream, line):
                return
            fact = self._stamp.fact(body, actor=f"mate:{mate}", cause=line)
            facts = [fact, *delivery_facts(fact, state.places, self._stamp, "edit")]
            await self._ledger.append(stream, facts, expect=state.seq)

        await self._decide(stream, attempt)
        return True

    async def spoken(self, stream: str, causes: Collection[str]) -> Mapping[str, Sequence[str]]:
        """See `RoomVoice.spoken`."""
        edits, found = dict[str, list[str]](), dict[str, list[str]]()
        kinds, before, first = ["room.said", "room.line_edited"], None, min(causes, default="")
        while causes:
            last = await self._ledger.read(
                stream, kinds=kinds, before=before, limit=LATEST, newest=True
            )
            for event in last:
                if isinstance(event.body, LineEdited):
                    edits.setdefault(event.body.line, []).append(event.id)
                elif event.cause in causes:
                    found[event.id] = []
            if len(last) < LATEST or last[0].id < first:
                break
            before = last[0].seq
        return {line: edits.get(line, []) for line in found}

    async def delete(self, stream: str, line: str, person: str) -> None:
        """See `RoomVoice.delete`."""
        who = f"person:{person}"

        async def attempt(state: RoomState) -> None:
            if state.closed or await self._gone(stream, line):
                return
            fact = self._stamp.fact(LineDeleted(line=line, by=who), actor=who)
            facts = [fact, *delivery_facts(fact, state.places, self._stamp, "deletion")]
            await self._ledger.append(stream, facts, expect=state.seq)

        await self._decide(stream, attempt)

    async def _gone(self, stream: str, line: str) -> bool:
        """Whether a line was deleted."""
        gone = await self._ledger.read(stream, kinds=["room.line_deleted"])
        return any(getattr(event.body, "line", "") == line for event in gone)

    async def _says(self, state: RoomState, line: str) -> str | None:
        """What a line says by now."""
        if (now := state.lines.get(line)) is not None:
            return now.text.text
        edits = await self._ledger.read(
            state.stream, kinds=["room.line_edited"], limit=LATEST, newest=True
        )
        found = [one.body for one in edits if isinstance(one.body, LineEdited)]
        said = next((body for body in reversed(found) if body.line == line), None)
        body = said or (await self._ledger.event(line)).body
        return body.text.text if isinstance(body, LineEdited | Said) else None

    async def react(self, stream: str, mate: str, line: str, emoji: str, *, cause: str) -> None:
        """See `RoomVoice.react`."""
        body: Body = Reacted(turn=cause, mate=mate, to=line, emoji=emoji)

        async def attempt(state: RoomState) -> None:
            if state.closed or await self._known(stream, "room.reacted", cause):
                return
            fact = self._stamp.fact(body, actor=f"mate:{mate}", cause=cause)
            to = (*self._surfaces, *state.places)
            facts = [fact, *delivery_facts(fact, to, self._stamp, "reaction")]
            await self._ledger.append(stream, facts, expect=state.seq)

        await self._decide(stream, attempt)

    async def called(self, stream: str, person: str) -> str:
        """See `RoomVoice.called`."""
        state = await self._house.state(stream)
        found = state.people.get(person) or state.former.get(person)
        return str(found.name) if found is not None else "The owner of this home"

    async def granted(self, stream: str, person: str, line: str) -> Collection[str]:
        """See `RoomVoice.granted`."""
        state = await self._house.state(stream)
        said = (await self._ledger.event(line)).body if line else None
        keeper = isinstance(said, Heard) and said.keeper
        grant = grant_in_room(state, person, keeper=keeper)
        return grant.tools if "tools" in grant.rights else ()

    async def reached(self, order: RoomOrder, cause: str) -> bool:
        """See `RoomVoice.reached`. A page shows what the room holds; a place what has arrived."""
        said = await self._known(order.stream, "room.said", cause)
        if said is None:
            return False
        before = (await self._ledger.event(order.line)).seq if order.line else None
        if before is not None and said.seq > before:
            return False
        sent = await self._ledger.read(
            order.stream, after=said.seq, kinds=["delivery.queued"], before=before
        )
        name = order.surface.partition(":")[0] + ":"
        there = {
            event.id
            for event in sent
            if isinstance(event.body, Queued)
            and event.body.of == said.id
            and (event.body.surface == order.surface or event.body.surface.startswith(name))
        }
        if ":" not in order.surface and not there:
            return True
        took = await self._ledger.read(
            order.stream, after=said.seq, kinds=["delivery.accepted"], before=before
        )
        return any(isinstance(e.body, Accepted) and e.body.delivery in there for e in took)

    async def _known(self, stream: str, kind: str, cause: str) -> Event | None:
        """What was said or done for this cause already; not before it, by the order of ids."""
        before = None
        while True:
            last = await self._ledger.read(
                stream, kinds=[kind], before=before, limit=LATEST, newest=True
            )
            found = next((event for event in last if event.cause == cause), None)
            if found is not None or len(last) < LATEST or last[0].id < cause:
                return found
            before = last[0].seq

    async def _decide(self, stream: str, attempt: Callable[[RoomState], Awaitable[T]]) -> T:
        async def tried(_: int) -> T:
            return await attempt(await self._house.state(stream))

        return await self._ledger.decide(stream, partial(self._house.head, stream), tried)
