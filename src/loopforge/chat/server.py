"""Rooms: what people can do in them, whichever surface they came by.

Hearing and stop do not wait for a lane: a line is in the ledger when `hear` returns, whatever a
mate is doing. Then the room's lane is woken, and room_loop.py does the rest.

Does not know surfaces: a person, some text, and the surface's own id of the line is all it is told.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import TypeVar

from msgspec.structs import replace

from loopforge.chat.reminders.reminder_service import waiting_of
from loopforge.chat.room.daily_quota import Quota
from loopforge.chat.room.guest_rules import GuestRules
from loopforge.chat.room.participants import CAME, came_after
from loopforge.chat.room.permissions import charge_for_lines, may
from loopforge.chat.room.platform_channels import ChannelSpot, room_of
from loopforge.chat.room.platform_cursors import TakenCommands, UnreadSince
from loopforge.chat.room.rights_parsing import inherited_rights
from loopforge.chat.room.room_snapshot import MateCard, RoomSnapshot
from loopforge.chat.room.room_state import RoomState
from loopforge.chat.room.room_store import PREFIX, RoomStore, stream_of
from loopforge.chat.room_loop import HALTING, SCRIBE, STOPPED, why_halted
from loopforge.chat.speaking.greetings import greeting_weights, greets_newcomer
from loopforge.chat.speaking.late_calls import FRESH, calls_of_edit, calls_of_late
from loopforge.chat.speaking.line_sanitizing import (
    file_as_kept,
    line_as_kept,
    name_as_kept,
    title_as_kept,
)
from loopforge.chat.speaking.room_rules import RoomRules
from loopforge.chat.speaking.stop_requests import is_stop
from loopforge.chat.turns.apply_acts import decision_delivery_facts, delivery_facts
from loopforge.core.delivery_states import What
from loopforge.core.events import Body, Event, Fact
from loopforge.core.limits.budget_limits import Charge
from loopforge.core.limits.turn_bounds import TurnBounds
from loopforge.core.mates.mate_file import Mate
from loopforge.core.room_vocabulary import (
    ConversationBegan,
    ConversationEnded,
    EnergySet,
    Heard,
    LineDeleted,
    LineEdited,
    MateJoined,
    PersonJoined,
    PersonLeft,
    PlaceJoined,
    PlaceLeft,
    PlaceRenamed,
    RoomOpened,
    Said,
    Stopped,
    TalkSet,
    Titled,
    Weighed,
)
from loopforge.core.text.erasable_text import Words
from loopforge.core.text.name_labels import SOMEBODY, one_line
from loopforge.errors import BadLine, Unknown
from loopforge.people.identity.account_names import sanitize_display_name
from loopforge.people.identity.person_registry import PersonRegistry
from loopforge.runtime.plugins.setting_checks import SLUG
from loopforge.runtime.ports import Lanes, Ledger, Listening, Signals
from loopforge.runtime.system_clock import Stamp

T = TypeVar("T")
MOVED = "the group became another one"


def _existing_room(state: RoomState) -> RoomState:
    """The same, if there is such a room. Raises Unknown."""
    if state.seq == 0 or state.closed:
        raise Unknown(f"There is no room called {state.name!r}.")
    return state


class Rooms:
    """The rooms of this home."""

    def __init__(
        self,
        ledger: Ledger,
        house: RoomStore,
        lanes: Lanes,
        signals: Signals,
        people: PersonRegistry,
        mates: Mapping[str, Mate],
        stamp: Stamp,
        rules: RoomRules,
        quota: Quota,
        notice: str = "",
    ) -> None:
        """After the house: what it takes in of the ledger is known here when this is told."""
        self._ledger, self.house, self._lanes = ledger, house, lanes
        self._signals, self._people, self._mates = signals, people, mates
        self._stamp, self._rules, self.notice = stamp, rules, notice
        self.behind, self.taken = UnreadSince(ledger, stamp), TakenCommands(ledger, stamp)
        self.quota = quota
        self.is_guest: Callable[[str], bool] = lambda _: False
        ledger.subscribe(self._halt_turns, streams=PREFIX, kinds=HALTING)

    @property
    def bounds(self) -> TurnBounds:
        """The bounds of every turn in this home."""
        return self._rules.bounds

    @property
    def line_limit(self) -> int:
        """Characters that a person's line may have."""
        return self._rules.line_limit

    # ------------------------------------------------------------ starting

    def _halt_turns(self, stream: str, events: Sequence[Event]) -> None:
        """Halt what is to go no further by what happened, once it is in the ledger.

        Here, not where it is heard: whoever waited for that may have gone away meanwhile.
        """
        kinds = {event.kind for event in events}
        if "room.stopped" in kinds:
            self._signals.halt(stream, STOPPED)
            return
        if "room.closed" in kinds:
            self._signals.halt(stream, "the room was deleted")
            return
        if "room.heard" in kinds:
            self._signals.halt(stream, "somebody spoke", SCRIBE)  # its own work can wait
        if state := self.house.known(stream):
            for turn in state.open.values():
                if why := why_halted(state, turn):
                    self._signals.halt(stream, why, turn.id)

    async def names(self) -> list[str]:
        """The slugs of all rooms that are not closed."""
        streams = await self._ledger.heads(PREFIX)
        return [
            stream.removeprefix(PREFIX)
            for stream in streams
            if not (await self.house.state(stream)).closed
        ]

    # ------------------------------------------------------------ entering and looking

    async def enter(
        self, room: str, name: str, surface: str, mates: Sequence[str] = ()
    ) -> RoomSnapshot:
        """Come into a room; it opens if it is new, with these mates or all there are."""
        if not SLUG.fullmatch(room):
            raise BadLine(
                f"{room!r} is no name for a room; use small letters, digits and dashes, "
                "beginning with a letter or digit."
            )
        self._check_mates(mates)
        person = await self._people.meet(surface, name_as_kept(name))
        await self._join_person(room, person.id, person.name, surface, mates)
        return await self.scene(room, person.id)

    def _check_mates(self, mates: Sequence[str]) -> None:
        if unknown := [mate for mate in mates if mate not in self._mates]:
            known = ", ".join(sorted(self._mates)) or "none"
            raise Unknown(f"There is no mate called {unknown[0]!r}. Known here: {known}.")

    async def come_in(self, room: str, person: str, name: str) -> None:
        """Somebody who is known comes in from the web; the room opens if it is new.

        Where nobody has spoken yet, mates that have a greeting say it.
        """
        await self._join_person(room, person, Words(name), "web", ())
        await self._decide_on(room, partial(self._greet_newcomer, person))

    async def _greet_newcomer(self, person: str, state: RoomState) -> None:
        joined = await self._ledger.read(state.stream, kinds=CAME)
        if not greets_newcomer(state, person):
            return
        if weights := greeting_weights(state, self._mates, joined[-1].id):
            bodies = [*self._conversation_boundary(state), Weighed(upto=state.seq, weights=weights)]
            await self._append_facts(state, bodies, "room")
            self._lanes.wake(state.stream)

    async def _join_person(
        self, room: str, person: str, name: Words, surface: str, mates: Sequence[str]
    ) -> None:
        """Somebody comes in, as one person: whom they were here before goes."""

        async def attempt(state: RoomState) -> None:
            selves = [one for one in state.people if self._people.same(one) == person]
            if state.closed or (state.private and not selves):
                raise Unknown(f"There is no room called {room!r} that you could enter.")
            facts: list[Body] = []
            if state.seq == 0:
                facts.append(RoomOpened(name=room, everybody=not mates))
                facts.append(EnergySet(capacity=self._rules.capacity, refill=self._rules.refill))
                facts += [MateJoined(mate=handle) for handle in mates or sorted(self._mates)]
            facts += self._newly_made_mates(state)
            if person not in state.people:
                facts.append(PersonJoined(person=person, name=name, surface=surface))
            facts += [PersonLeft(person=one) for one in selves if one != person]
            facts += inherited_rights(state, person, self._people.same)
            await self._append_facts(state, facts, f"person:{person}")

        await self._decide_on(room, attempt)

    async def open(
        self, person: str, name: str, title: str, mates: Sequence[str], *, guest: bool = False
    ) -> str:
        """Open a private room with these mates and one person in it; its slug.

        Without a title the room finds one by itself. Nothing of a title is in the slug: that names
        the stream, and is still there when every word of the room is forgotten.
        """
        self._check_mates(mates)
        if guest:
            self._rules.guests.open(mates)
        title = title_as_kept(title) if title.strip() else ""
        room = f"room-{self._stamp.dice.bytes(6).hex()}"
        facts: list[Body] = [
            RoomOpened(name=room, private=True, by=person),
            EnergySet(capacity=self._rules.capacity, refill=self._rules.refill),
            PersonJoined(person=person, name=Words(name), surface="web", by=person),
            *(MateJoined(mate=handle) for handle in dict.fromkeys(mates)),
        ]
        if title:
            facts.append(Titled(title=Words(title), by=person))
        actor = f"person:{person}"
        new = [self._stamp.fact(body, actor=actor) for body in facts]
        await self._ledger.append(stream_of(room), new, expect=0)
        return room

    async def bring(
        self, room: str, by: str, person: str, name: str, *, past: bool, after: str = ""
    ) -> None:
        """A person in the room brings another one in; with `past`, to what was said before too.

        With `after`, only who has not come in (and gone again) since that event of any stream.
        """

        async def attempt(state: RoomState) -> None:
            if person in _existing_room(state).people:
                return
            joined = await self._ledger.read(state.stream, kinds=CAME) if after else ()
            if came_after(joined, person, after):
                return
            body = PersonJoined(person=person, name=Words(name), surface="web", by=by, past=past)
            await self._append_facts(state, [body], f"person:{by or person}")

        await self._decide_on(room, attempt)

    async def leave(self, room: str, person: str) -> None:
        """A person goes, and sees no more of the room."""

        async def attempt(state: RoomState) -> None:
            if person in _existing_room(state).people:
                await self._append_facts(state, [PersonLeft(person=person)], f"person:{person}")

        await self._decide_on(room, attempt)

    async def scene(self, room: str, you: str = "") -> RoomSnapshot:
        """The room as it stands."""
        state = await self._state_of(room)
        return RoomSnapshot(
            room=room,
            title=state.title.text or "",
            you=you,
            people=tuple((id, str(person.name)) for id, person in state.people.items()),
            mates=tuple(self.card(handle) for handle in state.mates),
            energy=state.energy.left,
            capacity=state.energy.capacity,
            stopped=state.stopped,
            conversation=state.conversation,
            policy=state.policy("") or "talk",
            notice=self.notice,
            private=state.private,
            opener=state.opener,
            refill=state.energy.refill,
            titled_at=state.titled_at if state.titled_by == "room" else 0,
            former=tuple((id, str(person.name)) for id, person in state.former.items()),
            reserved=tuple(each for m in self._mates.values() for each in (m.handle, m.name)),
            thinking=tuple(turn.mate for turn in state.open.values() if not turn.halted),
            questions=tuple(one.asks for one in state.turns.effects.values() if one.asks),
            asked=state.turns.asked,
            waiting=waiting_of(state),
            newest=state.page.last_of_a_mate,
            hearing=state.turns.hearing,
        )

    def card(self, handle: str) -> MateCard:
        """What people see of a mate, as its file is now; a bare one where there is none."""
        mate = self._mates.get(handle)
        if mate is None:
            return MateCard(handle=handle, name=handle)
        return MateCard(
            handle=handle, name=mate.name, role=mate.role, colour=mate.colour, face=mate.face
        )

    async def _state_of(self, room: str) -> RoomState:
        return _existing_room(await self.house.state(stream_of(room)))

    def listen(self, room: str) -> Listening:
        """Drafts, typing and events of the room from now on; close it when done."""
        return self._signals.listen(stream_of(room))

    async def settled(self, room: str) -> None:
        """Return when nobody in the room has anything left to do."""
        await self._lanes.settled(stream_of(room))

    # ------------------------------------------------------------ places of platforms

    async def join_place(
        self, place: ChannelSpot, mates: Sequence[str], room: str = "", instead: str = ""
    ) -> str:
        """The room that a place of a platform is part of, with these mates in it; its slug.

        A place that is part of none joins `room`, or opens one of its own: in a private place mates
        may speak freely, elsewhere only when called. Coming twice is coming once, but that it may
        bear another name. Where its room was deleted, it opens another. A place `instead` of which
        it is there is part of the room no more: at no moment are both, so that nothing goes to the
        two. Who comes in answers what called it there a moment ago.
        """
        slug, nth, came = room or room_of(place.key), 1, list[str]()
        while not room and (await self.house.state(stream_of(slug))).closed:
            nth += 1
            slug = f"{room_of(place.key)}-{nth}"

        async def attempt(state: RoomState) -> None:
            if state.closed or (room and state.seq == 0):
                raise Unknown(f"There is no room called {slug!r}.")
            bodies: list[Body] = []
            if state.seq == 0:
                bodies.append(RoomOpened(name=slug, private=True))
                bodies.append(EnergySet(capacity=self._rules.capacity, refill=self._rules.refill))
                bodies.append(TalkSet(free=place.kind == "private"))
            known, name = state.places.get(place.key), one_line(place.name, 200)
            if known is None:
                named = Words(name or place.key)
                bodies.append(PlaceJoined(place=place.key, name=named, kind=place.kind))
            elif place.current and name not in ("", str(known.name)):
                bodies.append(PlaceRenamed(place=place.key, name=Words(name)))
            if instead in state.places:
                bodies.append(PlaceLeft(place=instead, why=Words(MOVED)))
            away = (*state.mates, *state.left)
            came[:] = [mate for mate in mates if mate not in away]
            bodies += [MateJoined(mate=mate) for mate in came]
            await self._append_facts(state, bodies, "room")

        async def call_newcomers(state: RoomState) -> None:
            now = self._stamp.clock.now()
            if weights := calls_of_late(state, came, self._mates, now, self._rules):
                await self._append_facts(
                    state, [Weighed(upto=state.weighed, weights=weights)], "room"
                )
                self._lanes.wake(state.stream)

        await self._decide_on(slug, attempt)
        if came:
            await self._decide_on(slug, call_newcomers)
        return slug

    async def leave_place(self, room: str, place: str, why: str, *, lost: bool = False) -> None:
        """A place is part of the room no longer; `lost`: as nothing can be sent there."""

        async def attempt(state: RoomState) -> None:
            if place in _existing_room(state).places:
                left = PlaceLeft(place=place, why=Words(why))
                await self._append_facts(state, [left], "runtime" if lost else "room")

        await self._decide_on(room, attempt)

    async def arrive(self, room: str, person: str, name: str, surface: str) -> None:
        """Somebody is in a place of this room, and therefore in it, from now on."""

        async def attempt(state: RoomState) -> None:
            bodies: list[Body] = []
            if person not in _existing_room(state).people:
                named = Words(sanitize_display_name(name, SOMEBODY))
                bodies.append(PersonJoined(person=person, name=named, surface=surface, past=False))
            bodies += inherited_rights(state, person, self._people.same)
            await self._append_facts(state, bodies, f"person:{person}")

        await self._decide_on(room, attempt)

    # ------------------------------------------------------------ hearing

    async def hear(self, room: str, line: Heard) -> Event:
        """A person said something. In the ledger when this returns; said twice, heard once.

        What was said in one place goes out to the others that are part of the room. Who may not
        stop the room does not stop it by saying so. Raises BadLine, and Unknown.
        """
        text = str(line.text)
        if text.strip() or not line.files:
            text = line_as_kept(text, self._rules.line_limit)
        line = replace(line, guest=self.is_guest(line.person) and not line.owner)
        self._rules.guests.give(line)
        line = replace(
            line,
            text=Words(text),
            files=tuple([file_as_kept(each, self._rules.file_limit) for each in line.files]),
        )
        return await self._decide_on(
            room, lambda state: self._append_heard(_existing_room(state), line)
        )

    async def _append_heard(self, state: RoomState, line: Heard) -> Event:
        stream, seq, person, surface = state.stream, state.seq, line.person, line.surface
        if known := state.heard_before(surface, line.source):
            return await self._ledger.event(known)
        if person not in state.people:
            raise Unknown(f"You are not in the room {state.name!r}; enter it first.")
        if gone_along := inherited_rights(state, person, self._people.same):
            seq = (await self._append_facts(state, gone_along, f"person:{person}"))[-1].seq
        names = {m: here.name if (here := self._mates.get(m)) else m for m in state.mates}
        stop = is_stop(str(line.text), names, called=line.called)
        keeper, owner = line.keeper, line.owner
        charge = Charge(
            stream=stream, person=person, surface=surface, guest=line.guest, owner=owner
        )
        heard = replace(
            line,
            reply_to=line.reply_to if line.reply_to in state.lines else "",
            over=not stop and await self.quota.over(charge),
        )
        stop = stop and not line.bot and may(state, person, "stop", keeper=keeper, owner=owner)
        actor = f"person:{person}"
        before = [*self._newly_made_mates(state), *self._conversation_boundary(state), heard]
        facts = [self._stamp.fact(body, actor=actor) for body in before]
        facts += delivery_facts(
            facts[-1], [each for each in state.places if each != surface], self._stamp
        )
        if stop:
            facts.append(self._stamp.fact(Stopped(person=person, surface=surface), actor=actor))
        events = await self._ledger.append(stream, facts, expect=seq)
        return next(event for event in events if isinstance(event.body, Heard))

    async def edit(
        self, room: str, person: str, line: str, text: str, captions: tuple[int, ...] = ()
    ) -> None:
        """A person changed a line of theirs; elsewhere it is changed too. Raises Unknown.

        One that gave files needs no words. `captions`: of a line that came as several messages, how
        much of the words each has.
        """
        if text.strip() or not getattr((await self._ledger.event(line)).body, "files", ()):
            text = line_as_kept(text, self._rules.line_limit)
        now = (await self._state_of(room)).lines.get(line)
        if now is not None and now.text.text == text:
            return
        by = f"person:{person}"
        changed = LineEdited(line=line, text=Words(text), by=by, captions=captions)
        await self._revise_line(room, line, person, changed, "edit")

    async def delete(self, room: str, person: str, line: str) -> None:
        """A line is no more, on the wish of a person ("": of the platform's keepers).

        Keepers take away what mates said, too. Raises Unknown for one not theirs, or gone.
        """
        by = f"person:{person}" if person else "room"
        await self._revise_line(room, line, person, LineDeleted(line=line, by=by), "deletion")

    async def _revise_line(
        self, room: str, line: str, person: str, body: LineEdited | LineDeleted, what: What
    ) -> None:
        async def attempt(state: RoomState) -> None:
            seq, stream = _existing_room(state).seq, state.stream
            event = await self._ledger.event(line)
            said = event.body
            mine = isinstance(said, Heard) and person in (said.person, "")
            if isinstance(said, Said):
                mine = not person and isinstance(body, LineDeleted)
            gone = await self._ledger.read(stream, after=event.seq, kinds=["room.line_deleted"])
            deleted = any(isinstance(e.body, LineDeleted) and e.body.line == line for e in gone)
            if event.stream != stream or not mine or deleted:
                raise Unknown(f"There is no line {line!r} of yours here.")
            fact = self._stamp.fact(body, actor=f"person:{person}" if person else "room")
            origin = said.surface if isinstance(said, Heard) else ""
            others = [place for place in state.places if place != origin]
            sent = delivery_facts(fact, others, self._stamp, what)
            called = await self._called_by_edit(state, event, body)
            await self._ledger.append(stream, [fact, *sent, *called], expect=seq)
            if called:
                self._lanes.wake(stream)

        await self._decide_on(room, attempt)

    async def _called_by_edit(
        self, state: RoomState, event: Event, body: LineEdited | LineDeleted
    ) -> list[Fact]:
        """The call of mates that a line names only since it was edited; each is called once."""
        now, charge = self._stamp.clock.now(), charge_for_lines(state, [event.id])
        if isinstance(body, LineDeleted) or charge is None or now - event.at >= FRESH:
            return []
        weighed = await self._ledger.read(state.stream, after=event.seq, kinds=["room.weighed"])
        made = (
            each for one in weighed if isinstance(one.body, Weighed) for each in one.body.weights
        )
        before = {w.mate for w in made if w.verdict == "speak" and event.id in (w.line, w.caller)}
        found = calls_of_edit(state, event.id, body.text, before, self._mates, now, self._rules)
        if not found or await self.quota.over(replace(charge, stream=state.stream)):
            return []
        weights = Weighed(upto=state.weighed, weights=found)
        return [self._stamp.fact(weights, actor="room", cause=event.id)]

    def _newly_made_mates(self, state: RoomState) -> list[Body]:
        """Mates that were made since, where a room is for all of them."""
        if not state.everybody:
            return []
        away = (*state.mates, *state.left)
        return [MateJoined(mate=handle) for handle in self._mates if handle not in away]

    def _conversation_boundary(self, state: RoomState) -> list[Body]:
        """What a line begins or ends, before it is heard."""
        ends = self._rules.ends(state)
        if ends is not None and ends <= self._stamp.clock.now():
            over = [ConversationEnded(why="idle")] if state.conversation else []
            return [*over, ConversationBegan(why="idle")]
        if not state.conversation:
            return [ConversationBegan(why="asked" if state.began else "first")]
        return []

    async def stop(self, room: str, person: str) -> None:
        """Halt everything mates do here; they stay still until a person speaks to them again."""
        await self.add(room, person, Stopped(person=person))

    async def add(self, room: str, person: str, *bodies: Body) -> tuple[Event, ...]:
        """Add what a person decided about a room."""
        by = f"person:{person}" if person else "room"
        return await self._decide_on(
            room, lambda state: self._append_facts(_existing_room(state), bodies, by)
        )

    async def answer(
        self, room: str, person: str, decide: Callable[[RoomState], Sequence[Body]], by: str = ""
    ) -> tuple[Event, ...]:
        """Add what a person decides on the room as it stands in that moment; `decide` may raise.

        Its places are sent what the room tells of it; what a question came to, so that it no longer
        asks there; and a line that has other words. `by`: the actor, where it is somebody else.
        """
        actor = by or (f"person:{person}" if person else "room")

        async def attempt(state: RoomState) -> tuple[Event, ...]:
            facts = [self._stamp.fact(body, actor=actor) for body in decide(_existing_room(state))]
            sent = decision_delivery_facts(facts, state.places, self._stamp)
            return await self._ledger.append(state.stream, [*facts, *sent], expect=state.seq)

        return await self._decide_on(room, attempt)

    async def _decide_on(self, room: str, attempt: Callable[[RoomState], Awaitable[T]]) -> T:
        """Decide on the room as it stands; see `Ledger.decide`."""
        stream = stream_of(room)

        async def tried(_: int) -> T:
            return await attempt(await self.house.state(stream))

        return await self._ledger.decide(stream, partial(self.house.head, stream), tried)

    async def _append_facts(
        self, state: RoomState, bodies: Sequence[Body], actor: str
    ) -> tuple[Event, ...]:
        """Add to a room while it stands as it does: nothing was awaited since it was looked at."""
        facts: list[Fact] = [self._stamp.fact(body, actor=actor) for body in bodies]
        return await self._ledger.append(state.stream, facts, expect=state.seq) if facts else ()

    @property
    def surfaces(self) -> tuple[str, ...]:
        """Where every line of every room goes."""
        return self._rules.surfaces

    @property
    def guests(self) -> GuestRules:
        """What guests may use."""
        return self._rules.guests

    @property
    def mates(self) -> Mapping[str, Mate]:
        """The mates of this home, in any room or none."""
        return self._mates

    def same(self, person: str) -> str:
        """The id of the person whom this one became; the same for who is still themselves."""
        return self._people.same(person)

    async def state(self, room: str) -> RoomState:
        """The room's state, to read from."""
        return await self._state_of(room)
