"""A mate asks another one: its question is a line of the room, the answer comes back as a result.

    ask_mate -> Said("@otto ...") -> weighed -> Otto's turn -> Said -> the end of the use

The line is what calls the other mate, as any line of a mate does, so energy, depth, stop and
presence bound it as they bound all talk. A question that was put before a crash is found again and
not put twice. Nobody waits within a turn: the asking mate is told the answer in a turn of its own.
Does not know who may use the tool.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from loopforge.chat.room.room_state import RoomState
from loopforge.chat.room.room_store import PREFIX, RoomStore
from loopforge.chat.room.turn_queue import AwaitedEffect, DueTurn, OpenTurn
from loopforge.chat.server import Rooms
from loopforge.chat.turns.apply_acts import delivery_facts
from loopforge.chat.turns.program_calls import UNANSWERED
from loopforge.core.events import Event
from loopforge.core.mates.mate_file import mate_name
from loopforge.core.room_vocabulary import (
    LineDeleted,
    MateLeft,
    Said,
    StoodIn,
    TurnDropped,
    Weighed,
)
from loopforge.core.text.erasable_text import Words
from loopforge.core.text.name_labels import one_line
from loopforge.core.turn_events import Perceived, TurnEnded
from loopforge.errors import InputError
from loopforge.ledger.sql_ledger import SqlLedger
from loopforge.runtime.ports import Tool, ToolCall, arguments_schema
from loopforge.runtime.system_clock import Stamp

ASK_MATE = Tool(
    name="ask_mate",
    summary="Asks another mate of this room, aloud; you are told its answer when it has spoken.",
    schema=arguments_schema(
        ["mate", "question"],
        mate={"type": "string", "description": "its name"},
        question={"type": "string", "minLength": 1, "maxLength": 1000},
    ),
    idempotent=True,
    harmless=True,
    patience=0.0,
    limit=900.0,
)
NARRATIVE = "I asked {name}, since it may know."
LEAST = 2
"""Lines that the room's energy must allow: the question and its answer."""
KINDS = (
    "room.weighed",
    "room.said",
    "room.stood_in",
    "room.turn_dropped",
    "room.mate_left",
    "room.line_deleted",
    "turn.perceived",
    "turn.ended",
)


class MateQuestions:
    """Puts questions of mates to mates; `wake` has a room looked at, in which a line was said."""

    def __init__(
        self,
        rooms: Rooms,
        house: RoomStore,
        ledger: SqlLedger,
        stamp: Stamp,
        wake: Callable[[str], object],
    ) -> None:
        self._rooms, self._house, self._ledger = rooms, house, ledger
        self._stamp, self._wake = stamp, wake

    async def ask(self, call: ToolCall) -> str:
        """Put the question, and give the answer. Raises InputError where there is nobody to ask."""
        # before the past is read, so that nothing falls between
        ear = self._rooms.listen(call.stream.removeprefix(PREFIX))
        try:
            line = await self._put(call)
            self._wake(call.stream)
            assert isinstance(line.body, Said)
            wait = AwaitedAnswer(line, self._called(call, await self._house.state(call.stream)))
            told = await self._ledger.read(call.stream, after=line.seq, kinds=KINDS)
            answers = [answer for event in told if (answer := wait.hear(event))]
            if answers and await self._is_last(answers[0], call, wait):
                return self._worded(answers[0])
            async for heard in ear:
                answer = wait.hear(heard) if isinstance(heard, Event) else None
                if answer and await self._is_last(answer, call, wait):
                    return self._worded(answer)
        finally:
            ear.close()
        raise InputError("the room was closed before anybody answered")

    async def _is_last(self, answer: MateAnswer, call: ToolCall, wait: AwaitedAnswer) -> bool:
        """Whether nothing more is to come: not where a silent mate, or who stands in, goes on.

        It may wait for a tool, or its turn is taken anew. Waiting for people, or for a mate that it
        asked itself, is no going on: two that ask each other would wait for ever.
        """
        if answer.said:
            return True
        state = await self._house.state(call.stream)
        by = state.stand_ins.get(wait.mate)
        mates = {wait.mate, by.mate if by else wait.mate}
        uses = state.turns.effects.values()
        coming: list[DueTurn | OpenTurn | AwaitedEffect] = [*state.due, *state.open.values()]
        coming += [one for one in uses if one.tool != ASK_MATE.name and not one.asks]
        return not any(one.mate in mates and wait.line.id in one.lines for one in coming)

    async def _put(self, call: ToolCall) -> Event:
        """The line that asks: the one that was said before a crash, else a new one."""

        async def attempt(_: int) -> Event:
            state = await self._house.state(call.stream)
            said = await self._ledger.read(call.stream, kinds=["room.said"], limit=50, newest=True)
            if known := next((event for event in said if event.cause == call.id), None):
                return known
            used = state.turns.effects.get(call.id)
            if used is None or not used.lines:  # it would be asked for nobody
                raise InputError(UNANSWERED)
            other = self._called(call, state)
            if state.energy.left < LEAST:
                raise InputError("the mates here are out of energy until a person speaks")
            text = f"@{other} {one_line(str(call.arguments['question']), 1000)}"
            narrative = Words(NARRATIVE.format(name=self._name(other)))
            body = Said(
                turn=call.turn,
                mate=call.mate,
                text=Words(text),
                mode="context",
                narrative=narrative,
            )
            fact = self._stamp.fact(body, actor=f"mate:{call.mate}", cause=call.id)
            out = delivery_facts(fact, (*self._rooms.surfaces, *state.places), self._stamp)
            return (await self._ledger.append(state.stream, [fact, *out], expect=state.seq))[0]

        return await self._ledger.decide(
            call.stream, partial(self._house.head, call.stream), attempt
        )

    def _called(self, call: ToolCall, state: RoomState) -> str:
        """The handle of the mate that is asked. Raises InputError for one that is not here."""
        wanted = str(call.arguments.get("mate", "")).strip().lstrip("@").casefold()
        others = [mate for mate in state.mates if mate != call.mate]
        for mate in others:
            if wanted in (mate, self._name(mate).casefold()):
                return mate
        here = ", ".join(map(self._name, others)) or "nobody but you"
        raise InputError(f"there is no other mate {wanted!r} in this room; here is {here}")

    def _name(self, handle: str) -> str:
        return mate_name(self._rooms.mates, handle)

    def _worded(self, answer: MateAnswer) -> str:
        name = self._name(answer.mate)
        return f"{name}: {answer.text}" if answer.said else f"{name} did not answer: {answer.text}."


@dataclass(frozen=True)
class MateAnswer:
    """What came of a question: what the mate said, or why it said nothing."""

    mate: str
    text: str
    said: bool = False


@dataclass
class AwaitedAnswer:
    """The answer to a line, looked for in what happens after it, event by event."""

    line: Event
    mate: str
    weighed: bool = False
    turns: set[str] = field(default_factory=set)
    said: dict[str, str] = field(default_factory=dict)

    def hear(self, event: Event) -> MateAnswer | None:
        """Take an event in; the answer, once it is known."""
        match event.body:
            case Weighed(upto=upto, weights=weights) if upto >= self.line.seq and not self.weighed:
                self.weighed = True
                called = any(w.mate == self.mate and w.verdict != "pass" for w in weights)
                return None if called else MateAnswer(self.mate, "it was not called by it")
            case StoodIn(mate=mate, by=by) if self.weighed and mate == self.mate:
                self.mate = by
            case TurnDropped(mate=mate, why=why) if self.weighed and mate == self.mate:
                return MateAnswer(self.mate, why)
            case MateLeft(mate=mate) if mate == self.mate:
                return MateAnswer(self.mate, "it was sent out of the room")
            case LineDeleted(line=line) if line == self.line.id:
                return MateAnswer(self.mate, "the question was deleted")
            case Perceived(mate=mate) if self.weighed and mate == self.mate:
                self.turns.add(event.id)
            case Said(turn=turn, mate=mate, text=text) if mate == self.mate:
                if turn in self.turns:
                    return MateAnswer(mate, str(text), said=True)
                self.said[turn] = str(text)
            case TurnEnded(turn=turn) if turn in self.turns:
                return MateAnswer(self.mate, "it said nothing")
            case TurnEnded(turn=turn, took_in=lines) if self.line.id in lines:
                if said := self.said.get(turn):
                    return MateAnswer(self.mate, said, said=True)
        return None
