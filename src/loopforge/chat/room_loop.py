"""The conduct of a room: what its lane does when it is woken, in this order, until nothing is left.

    1. a turn that was broken off (by a crash) is taken up again
    2. new lines are gathered for a moment and weighed: who has cause to speak?
    3. the mates that have take their turns, one after the other, each seeing every line so far
    4. a title is found when one is due
    5. a conversation ends in which nothing was said for long; until then a timer is set

Everything it acts on is in the ledger, so that it can be broken off anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from loopforge.chat.bot import SCRIBE, After, Bot, Concluded, News, RunningTurns
from loopforge.chat.room.participants import namesakes
from loopforge.chat.room.permissions import heeded
from loopforge.chat.room.room_state import Due, OpenTurn, RoomState
from loopforge.chat.room.room_store import House
from loopforge.chat.speaking import triggers
from loopforge.chat.speaking.room_rules import Rules
from loopforge.chat.turns import room_titles
from loopforge.chat.turns.apply_acts import queued
from loopforge.chat.turns.fallback_mate import UNABLE, Relief, notice
from loopforge.chat.turns.turn_trace import THOUGHT
from loopforge.core.act_guard import Rights
from loopforge.core.context_window import ContextEntry, as_lines, told_apart
from loopforge.core.events import Event, Fact
from loopforge.core.mates.mate_file import Mate
from loopforge.core.model_trouble import MEND, Delay, Trouble
from loopforge.core.perception import Line
from loopforge.core.room_vocabulary import ConversationEnded, Weighed
from loopforge.core.text.erasable_text import Words
from loopforge.errors import LedgerError
from loopforge.runtime.ports import Ledger, Timers
from loopforge.runtime.turn_driver import Ports, TurnEnding

RECENT = 6
"""A mate may not say word for word what it said among its last so many lines."""
GONE = "what it was to answer was deleted"
SPENT = "the room has no energy left; a line of a person gives some back"


class Conduct:
    """Runs rooms. `mates` are those of this home by handle, as they are on file now."""

    def __init__(
        self,
        ports: Ports,
        house: House,
        bot: Bot,
        mates: Mapping[str, Mate],
        rules: Rules,
        relief: Relief,
        timers: Timers,
    ) -> None:
        self._ports, self._house, self._bot, self._timers = ports, house, bot, timers
        self._mates, self._rules, self._relief = mates, rules, relief

    @property
    def _ledger(self) -> Ledger:
        return self._ports.ledger

    async def conduct(self, stream: str) -> None:
        """Do everything that is due in this room."""
        while True:
            state = await self._house.state(stream)
            if state.closed:
                break
            if state.open:
                await self._take_up(stream, state, next(iter(state.open.values())))
            elif state.pending():
                await self._weigh(stream, state)
            elif state.due:
                await self._take_turn(stream, state, state.due[0])
            elif not state.stopped and room_titles.due(state):
                await self._entitle(stream, state)
            elif not await self._end(stream, state):
                break
        await self._house.save(stream)

    async def _end(self, stream: str, state: RoomState) -> bool:
        """End a conversation in which nothing was said for long; else come back when it is time."""
        ends = self._rules.ends(state)
        if not state.conversation or ends is None:
            return False
        if ends > self._ports.stamp.clock.now():
            self._timers.at(stream, ends)
            return False

        async def attempt(seq: int) -> None:
            if state.conversation and self._rules.ends(state) == ends:  # nobody spoke meanwhile
                fact = self._ports.stamp.fact(ConversationEnded(why="idle"), actor="room")
                await self._ledger.append(stream, [fact], expect=seq)

        await self._ledger.decide(stream, partial(self._house.head, stream), attempt)
        return True

    # ------------------------------------------------------------ weighing

    async def _weigh(self, stream: str, state: RoomState) -> None:
        """Wait for the rest of what somebody is saying, then weigh it all."""
        await self._gather(state)
        pending = state.pending()
        if not pending:
            return
        mates = self._relief.listeners(state)
        now = self._ports.stamp.clock.now()
        weights = [
            weight
            for batch in triggers.batches(entry for entry in pending if heeded(state, entry))
            for weight in triggers.weigh(state, batch, mates, now, self._rules.thresholds)
        ]
        weighed = Weighed(upto=pending[-1].seq, weights=tuple(weights))
        fact = self._ports.stamp.fact(weighed, actor="room", cause=pending[-1].id)
        await self._ledger.append(stream, [fact])

    async def _gather(self, state: RoomState) -> None:
        clock = self._ports.stamp.clock
        waited = 0.0
        while (pending := state.pending()) and pending[-1].kind == "heard":
            since = (clock.now() - pending[-1].at).total_seconds()
            left = min(self._rules.debounce - since, self._rules.patience - waited)
            if left <= 0:
                return
            await clock.sleep(left)
            waited += left

    # ------------------------------------------------------------ turns

    async def _take_turn(self, stream: str, state: RoomState, due: Due) -> None:
        mate, why = self._mates.get(due.mate), self._hindrance(state, due)
        if mate is None or why:
            relief = [] if why else self._relief.hand_over(state, due)
            if not relief:
                lament = self._relief.lament(state, due) if not why else []
                if why == SPENT:
                    lament = self._relief.spent(state, due, mate)
                relief = [self._bot.dropped(due, why or UNABLE), *lament]
            await self._ledger.append(stream, relief)
            return
        policy = state.policy(mate.handle) or mate.policy or "talk"
        running = await self._bot.begin(
            stream, state, mate, due, policy, self._news(state, mate.handle)
        )
        await self._run(stream, state, running)

    async def _run(self, stream: str, state: RoomState, running: RunningTurns) -> None:
        names = running.id, running.mate.handle
        over = self._ports.signals.on_halt(stream, running.turn.stop, *names)
        if state.closed:
            running.turn.stop("the room was deleted")  # while the turn was being prepared
        self._watch(stream, state, running)
        try:
            ended = await self._bot.run(running)
            rights = self._rights(state, running)
            after = self._after(state, running)
            done = await self._bot.conclude(running, ended, rights, state.places, after)
        except LedgerError:
            self._ports.recorder.forget((stream, running.mate.handle))
            raise
        finally:
            over()
        await self._tell(stream, state, running, ended, done)

    def _after(self, state: RoomState, running: RunningTurns) -> After:
        """What goes with the end of this turn, by whether a model answered."""

        def after(reached: bool) -> list[Fact]:
            if running.mate.handle == SCRIBE:
                return []
            troubles = () if reached else tuple(running.turn.troubles)
            return self._relief.after(
                state, running.mate, running.due, reached=reached, troubles=troubles
            )

        return after

    def _hindrance(self, state: RoomState, due: Due) -> str:
        if state.stopped:
            return "a person said stop"
        if due.step >= self._rules.steps:
            return f"it has taken {due.step} steps in a row"
        if state.energy.left < 1:
            return SPENT
        return ""

    def _news(self, state: RoomState, mate: str) -> News:
        """What was heard in the room since the last look."""
        seen = state.seq

        def news() -> tuple[Line, ...]:
            nonlocal seen
            fresh = [entry for entry in state.page.since(seen) if entry.who != mate]
            seen = state.seq
            named = {handle: one.name for handle, one in self._mates.items()}
            which = namesakes(state.former | state.people, named)
            return told_apart(as_lines(fresh, mate, self._names(), self._rules.zone), fresh, which)

        return news

    def _names(self) -> dict[str, Words]:
        return {handle: Words(mate.name, public=True) for handle, mate in self._mates.items()}

    def _rights(self, state: RoomState, running: RunningTurns) -> Rights:
        handle = running.mate.handle
        own = [e for e in state.lines.values() if e.kind == "said" and e.who == handle]
        return Rights(
            energy=state.energy.left,
            steps=self._rules.steps - 1 - running.due.step,
            stopped=state.stopped,
            max_say=self._rules.say_limit,
            max_file=self._rules.file_limit,
            lines=frozenset(state.lines),
            may_title=handle == SCRIBE,
            may_say=handle != SCRIBE,
            recent=tuple(str(entry.text) for entry in own[-RECENT:]),
        )

    # ------------------------------------------------------------ after a crash

    async def _take_up(self, stream: str, state: RoomState, turn: OpenTurn) -> None:
        events = await self._events_of(stream, turn.id)
        mate = self._mates.get(turn.mate) or (self._scribe() if turn.mate == SCRIBE else None)
        due = turn.due or Due(mate=turn.mate, lines=(turn.line,), summons=turn.summons)
        why = ("a person said stop" if state.stopped else GONE) if turn.halted else ""
        running = None
        if mate is not None and not why:
            news = self._news(state, mate.handle)
            running = await self._bot.take_up(state, mate, due, events, news)
        if running is None:
            await self._bot.abandon(turn, stream, why or "what it rested on is gone")
            return
        await self._run(stream, state, running)

    async def _events_of(self, stream: str, turn: str) -> list[Event]:
        """A turn's events, from its Perceived on."""
        began = await self._ledger.event(turn)
        after = await self._ledger.read(stream, after=began.seq, kinds=THOUGHT)
        return [began, *(event for event in after if getattr(event.body, "turn", "") == turn)]

    # ------------------------------------------------------------ titles

    def _scribe(self) -> Mate:
        """The room itself, as far as it thinks."""
        return Mate(name="the room", handle=SCRIBE, role="scribe", prompt="", hash="0" * 16)

    async def _entitle(self, stream: str, state: RoomState) -> None:
        scribe = self._scribe()
        recent: list[ContextEntry] = state.recent(12)
        due = Due(mate=SCRIBE, lines=(recent[-1].id,), summons="title")
        running = await self._bot.begin(stream, state, scribe, due, "title", tuple, recent)
        texts = [str(entry.text) for entry in recent if entry.text.text is not None]
        running.title = room_titles.fallback(texts)
        await self._run(stream, state, running)

    # ------------------------------------------------------------ telling people

    async def _tell(
        self,
        stream: str,
        state: RoomState,
        running: RunningTurns,
        ended: TurnEnding,
        done: Concluded,
    ) -> None:
        """Say plainly what people should know: another model answered, or nobody could."""
        for text in _notices(running, ended, done):
            await self._notice(stream, state, running, text, tuple(running.turn.troubles))

    async def _notice(
        self,
        stream: str,
        state: RoomState,
        running: RunningTurns,
        text: str,
        troubles: Sequence[Trouble] = (),
    ) -> None:
        """Say it in the room, unless it was said lately; with what the owner alone is told."""
        known = [entry for entry in state.lines.values() if entry.kind == "told"]
        if text in {str(entry.text) for entry in known[-8:]}:
            return
        told = notice(text, troubles)
        fact = self._ports.stamp.fact(told, actor="room", cause=running.id)
        await self._ledger.append(stream, [fact, *queued(fact, state.places, self._ports.stamp)])

    def _watch(self, stream: str, state: RoomState, running: RunningTurns) -> None:
        """Have the room told when a mate that was called lets it wait, and who is asked next."""
        name = running.mate.name

        def slow(model: str, others: str, how: Delay) -> None:
            then = f"{others} is asked next" if others else "nobody can stand in"
            does = {
                "slow": f"does not say a word yet; {then}",
                "thinking": "has begun, and there is no word to show yet",
                "stalled": "has stopped in the middle of its answer",
            }
            text = f"{name} is taking long: {model} {does[how]}."
            work = self._notice(stream, state, running, text, [(model, how)])
            self._ports.tasks.spawn(work, f"notice in {stream}")

        if _called(running):
            running.turn.slow = slow


def _called(running: RunningTurns) -> bool:
    """Whether people wait for this mate's answer."""
    called = running.due.verdict == "speak" and running.due.step == 0
    return called and running.mate.handle != SCRIBE


def _notices(running: RunningTurns, ended: TurnEnding, done: Concluded) -> list[str]:
    name, notices = running.mate.name, []
    if running.mate.handle == SCRIBE:
        return []
    if ended.fallback and done.spoke:
        notices.append(
            f"{name}'s usual model is not answering, so {ended.fallback} answers in its place."
        )
    if done.trouble and _called(running):
        why = done.trouble.rstrip(".")
        again = "" if why == MEND else " Say it again to try once more."
        notices.append(f"{name} gave no answer ({why}).{again}")
    return notices
