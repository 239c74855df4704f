"""Watching rooms for a platform: typing signs, drafts as they grow, marks on lines.

    Thinking            --> the stage shows that somebody is typing, until Rested
    Draft ... Draft     --> the stage shows the draft, at a pace that platforms bear
    Withdrawn           --> the draft is taken away
    Perceived, Ended    --> the line that called the turn is marked (see emoji_reactions.py)

What is shown here is no record: a draft is not Said, and what goes wrong with it is passed over,
but that one which is to go is tried for some hours.
Knows rooms and places; does not know how a platform shows anything (that is the Stage's).
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from loopforge.chat.room.visible_lines import SPOKEN
from loopforge.chat.rooms_api import RoomsApi
from loopforge.chat.turns.fallback_mate import UNABLE
from loopforge.core.delivery_states import Accepted, Failed, PutOff, Uncertain
from loopforge.core.events import Event
from loopforge.core.perception import Line
from loopforge.core.room_vocabulary import (
    PlaceJoined,
    PlaceLeft,
    RoomClosed,
    Said,
    Told,
    TurnDropped,
)
from loopforge.core.turn_events import Perceived, TurnEnded
from loopforge.errors import LoopforgeError, SendFailed
from loopforge.io.platforms.draft_throttle import EditThrottle
from loopforge.io.platforms.emoji_reactions import StatusMarker, StatusReactions
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.ports import (
    Clock,
    Draft,
    Listening,
    Rested,
    Signal,
    Thinking,
    ToolProgress,
    Withdrawn,
)

log = logging.getLogger(__name__)


LOOK = 0.3
"""Seconds after which it is looked again whether a draft is due and nothing else is owed."""
PAUSES = (1.0, 5.0, 30.0, 120.0, 600.0, 3600.0)
"""Seconds before a draft that could not be taken away is tried again."""
LEAVING = 2.0
"""Seconds that a platform is given to say where a draft stands, before the home ends."""


class LiveSpeech(NamedTuple):
    """What a mate is saying in one turn, in one place of a room.

    `answers` is the line to which it will be a reply; "" if to none, or if that is not known.
    """

    room: str
    place: str
    turn: str
    mate: str
    answers: str = ""


class LiveUpdates(StatusMarker, Protocol):
    """How a platform shows what is in the air. What raises here is logged and passed over."""

    async def typing(self, place: str, mate: str) -> None:
        """Show that this mate is at it, for some seconds."""

    async def draft(self, speech: LiveSpeech, text: str) -> float:
        """Show a draft, or more of it; nothing where it is over or was said.

        Seconds to be patient before the next, if it was not taken; else 0.
        """

    async def withdraw(self, speech: LiveSpeech) -> None:
        """Take the draft of a turn away, if one stands that no line is to take the place of.

        Raises SendFailed where that is to be tried again.
        """


class _Drawing:
    """A draft that grows in one place."""

    def __init__(self) -> None:
        self.pace, self.more = EditThrottle(), asyncio.Event()
        self.task: asyncio.Task[None] | None = None

    def offer(self, text: str, now: float) -> None:
        """There is more of it."""
        self.pace.offer(text, now)
        self.more.set()


class _Turn:
    """One turn in the air of a room; `answers` is None until it is known, see Speech."""

    def __init__(self, mate: str) -> None:
        self.mate, self.spoke, self.withdrawn = mate, False, False
        self.answers: str | None = None
        self.typing: dict[str, asyncio.Task[None]] = {}
        self.drawings: dict[str, _Drawing] = {}

    def still(self, place: str = "") -> None:
        """No more of its drafts is shown, in this place or anywhere."""
        for each, drawing in self.drawings.items():
            if drawing.task is not None and place in ("", each):
                drawing.task.cancel()

    def rest(self, place: str = "") -> None:
        """Nobody is seen typing for it any more, in this place or anywhere."""
        for each, task in self.typing.items():
            if place in ("", each):
                task.cancel()


class RoomWatch:
    """Watches every room it is told of. `again` is after how many seconds a typing sign fades."""

    def __init__(
        self,
        front: RoomsApi,
        stage: LiveUpdates,
        clock: Clock,
        *,
        again: float,
        streams: bool = True,
        marks: bool = True,
    ) -> None:
        self._front, self._stage, self._clock = front, stage, clock
        self._again, self._streams = again, streams
        self._marks = StatusReactions(stage, front.receipts) if marks else None
        self._ears: dict[str, Listening] = {}
        self._closed = False
        self._tasks, self._shows = BackgroundTasks(), BackgroundTasks()

    def room(self, room: str) -> None:
        """Watch a room from now on; twice is once, and once this is closed it is nothing."""
        if room not in self._ears and not self._closed:
            self._ears[room] = self._front.rooms.listen(room)
            self._tasks.spawn(self._watch_room(room, self._ears[room]), f"watch {room}")

    async def close(self) -> None:
        """Watch nothing any more. A draft that is just being posted may come to stand before."""
        self._closed = True
        for ear in self._ears.values():
            ear.close()
        await self._tasks.close()
        await self._shows.finish(LEAVING)
        if self._marks is not None:
            await self._marks.close()

    async def _watch_room(self, room: str, ear: Listening) -> None:
        turns: dict[str, _Turn] = {}
        places: list[str] | None = None  # where nothing happens, nothing is read
        async for what in ear:
            try:
                if places is None:
                    places = await self._own_places(room)
                if isinstance(what, Event):
                    if isinstance(what.body, (PlaceJoined, PlaceLeft, RoomClosed)):
                        places = await self._own_places(room)
                    self._take_event(room, what, turns, places)
                    if self._marks is not None:
                        await _mark_of(self._marks, what, places)
                elif (
                    what.turn in turns or what.mate in self._front.rooms.mates
                ):  # not the room itself
                    self._take_signal(room, what, places, turns)
            except Exception as error:
                log.warning("a sign on %s was left out: %s", self._stage.name, type(error).__name__)

    async def _own_places(self, room: str) -> list[str]:
        with contextlib.suppress(Exception):
            state = await self._front.rooms.state(room)
            return [place for place in state.places if self._is_mine(place)]
        return []

    def _is_mine(self, place: str) -> bool:
        return place.startswith(f"{self._stage.name}:")

    def _leave_place(self, room: str, place: str, turns: Mapping[str, _Turn]) -> None:
        """What is being said will not be said in this place any more: its drafts go."""
        for id, turn in turns.items():
            turn.still(place)
            turn.rest(place)
            self._tasks.spawn(
                self._withdraw_safely(LiveSpeech(room, place, id, turn.mate)), "a draft"
            )

    # ------------------------------------------------------------ breaths

    def _take_signal(
        self, room: str, what: Signal, places: Sequence[str], turns: dict[str, _Turn]
    ) -> None:
        if isinstance(what, ToolProgress):  # its turn may be over; a sign of typing is all there is
            return
        turn = turns.setdefault(what.turn, _Turn(what.mate))
        match what:
            case Thinking():
                for place in places:
                    if place not in turn.typing:
                        work = self._keep_typing(place, turn.mate)
                        turn.typing[place] = self._tasks.spawn(work, "typing")
            case Draft(anew=line) if line:
                pass  # the line is edited when it is said
            case Draft(text=text):
                if self._streams and not (turn.spoke or turn.withdrawn):
                    for place in places:
                        self._offer_draft(LiveSpeech(room, place, what.turn, what.mate), turn, text)
            case Withdrawn():
                self._end_draft(room, what.turn, turn, places)
            case Rested():
                turn.rest()
                turn.still()
                turns.pop(what.turn, None)

    def _offer_draft(self, speech: LiveSpeech, turn: _Turn, text: str) -> None:
        """There is more of a draft in a place."""
        drawing = turn.drawings.get(speech.place)
        if drawing is None:
            drawing = turn.drawings[speech.place] = _Drawing()
            drawing.task = self._tasks.spawn(self._draw_draft(speech, turn, drawing), "drafts")
        drawing.offer(text, self._clock.ticks())

    def _end_draft(self, room: str, id: str, turn: _Turn, places: Iterable[str]) -> None:
        """Nothing was said after all; a draft may also stand in a place that has left."""
        if not turn.withdrawn:
            turn.withdrawn = True
            turn.still()
            for place in {**dict.fromkeys(places), **turn.drawings}:
                self._tasks.spawn(
                    self._withdraw_safely(LiveSpeech(room, place, id, turn.mate)), "a draft"
                )

    async def _withdraw_safely(self, speech: LiveSpeech) -> None:
        await self._safely(self._withdraw_draft(speech))

    async def _withdraw_draft(self, speech: LiveSpeech) -> None:
        """Take a draft away; what never succeeds is left to the next start."""
        for pause in PAUSES:
            try:
                await self._stage.withdraw(speech)
            except SendFailed as failure:
                await self._clock.sleep(max(pause, failure.after))
            else:
                return

    async def _keep_typing(self, place: str, mate: str) -> None:
        while True:
            await self._safely(self._stage.typing(place, mate))
            await self._clock.sleep(self._again)

    async def _draw_draft(self, speech: LiveSpeech, turn: _Turn, drawing: _Drawing) -> None:
        """Show it as it grows, until this is cancelled."""
        pace, stands = drawing.pace, False
        while True:
            drawing.more.clear()
            due = pace.due()
            if due is None:
                await drawing.more.wait()
                continue
            if (left := due - self._clock.ticks()) > 0:
                await self._clock.sleep(min(left, LOOK))  # with more words it is due sooner
                continue
            if not stands and await self._is_owed(speech.place):
                pace.wait(LOOK, self._clock.ticks())
                continue
            if turn.answers is None:  # it began before this room was watched
                turn.answers = await self._answered_by_turn(speech)
            text = pace.take(self._clock.ticks())
            if text is None:
                continue
            speech = speech._replace(answers=turn.answers)
            # Shown to its end also when the turn is over meanwhile, so that its id is known.
            showing = self._shows.spawn(self._show_draft(speech, text), "a draft")
            wait = await asyncio.shield(showing)
            stands = stands or not wait
            if wait:
                pace.put_off(wait, self._clock.ticks())

    async def _answered_by_turn(self, speech: LiveSpeech) -> str:
        """See Speech: of a turn of which it was not heard that it began."""
        with contextlib.suppress(Exception):
            state = await self._front.rooms.state(speech.room)
            lines = [e.id for e in state.lines.values() if e.kind in SPOKEN and e.id < speech.turn]
            if (turn := state.open.get(speech.turn)) and lines and lines[-1] != turn.line:
                return turn.line
        return ""

    async def _is_owed(self, place: str) -> bool:
        """Whether a line is still on its way there: what is said after it must stand after it."""
        try:
            return bool(await self._front.channels.owed(place))
        except LoopforgeError:
            return True

    async def _show_draft(self, speech: LiveSpeech, text: str) -> float:
        try:
            return await self._stage.draft(speech, text)
        except Exception as error:
            log.debug("a draft was not shown in %s: %s", speech.place, type(error).__name__)
            return 0.0

    # ------------------------------------------------------------ events

    def _take_event(
        self, room: str, event: Event, turns: dict[str, _Turn], places: Sequence[str]
    ) -> None:
        match event.body:
            case Perceived(mate=mate) if mate in self._front.rooms.mates:
                turns.setdefault(event.id, _Turn(mate)).answers = _answered_line(event.body)
            case PlaceLeft(place=place) if self._is_mine(place):
                self._leave_place(room, place, turns)
            case Said(turn=id, mate=mate) if id:
                turn = turns.setdefault(id, _Turn(mate))
                turn.spoke = True
                turn.still()
            case TurnEnded(turn=id) if id not in turns:  # begun before this was watched, and silent
                mate = event.actor.partition(":")[2]
                for place in places:
                    self._tasks.spawn(
                        self._withdraw_safely(LiveSpeech(room, place, id, mate)), "a draft"
                    )

    async def _safely(self, shown: Awaitable[object]) -> None:
        try:
            await shown
        except Exception as error:
            log.debug("not shown on %s: %s", self._stage.name, type(error).__name__)


def _answered_line(seen: Perceived) -> str:
    """The line that minds reply to: the one that called, when others have come after it."""
    newest = next((each for each in reversed(seen.lines.more) if isinstance(each, Line)), None)
    return seen.line if newest is not None and newest.id != seen.line else ""


async def _mark_of(marks: StatusReactions, event: Event, places: Sequence[str]) -> None:
    """What an event says of the marks that lines bear."""
    match event.body:
        case Perceived(mate=mate, line=line, summons=summons, also=also):
            marks.began(places, mate, (line, *also), summons)
        case PutOff(delivery=delivery):
            await marks.put_off(delivery)
        case Accepted(delivery=delivery):
            await marks.delivered(delivery, arrived=True)
        case Failed(delivery=delivery) | Uncertain(delivery=delivery):
            await marks.delivered(delivery, arrived=False)
        case TurnEnded(turn=turn, outcome=outcome):
            await marks.ended(places, turn, failed=outcome in ("failed", "diverged"))
        case TurnDropped(mate=mate, line=line, why=why) if why == UNABLE:
            marks.refused(places, mate, line)
        case Told():
            await marks.troubled(places, event.cause)
