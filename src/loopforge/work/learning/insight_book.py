"""The insights of mates: what looks back left, which of it a task is given, what people do with it.

    TaskReflected -> checked (no secret, no person, nobody's words) -> an item in the mate's memory
    a task begins -> its thread's last looks back, and the best insights that may be used there

An insight is an item of memory (layer "insight") that rests on the look back, and is about whoever
gave the task: they see it, correct it, lock it, let it go like all else. It may be used

    in its thread   by whoever works there
    elsewhere       for the same person, where neither place is a room others read
    by whom it was given on: the same, for the mate it was given to

Decided here and nowhere else. Does not know what is asked of models.

Whether that helps `compare_learning_arms` tells: scores of attempts by what their tasks had.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from typing import NamedTuple

from loopforge.core.events import Event
from loopforge.core.memory.memory_vocabulary import EvidenceLine, Layer, MemoryKept
from loopforge.core.perception import Line
from loopforge.core.statistics.rate_statistics import mean_value
from loopforge.core.text.erasable_text import Words, public_words
from loopforge.core.turn_events import Recollection
from loopforge.core.work.attempt_trace import ReflectionMade
from loopforge.core.work.insight_rules import (
    MOST,
    InsightWorth,
    insight_objection,
    rank_insights,
    worth_of,
)
from loopforge.core.work.work_vocabulary import AttemptScored, LearningArm, TaskLearned
from loopforge.errors import InputError
from loopforge.memory.memory_store import MemoryStore
from loopforge.runtime.ports import Ledger
from loopforge.runtime.ports.memory_port import KeptItem
from loopforge.work.task_state import PREFIX, TaskState
from loopforge.work.task_store import TaskStore, skip_unreadable_task

LAYER: Layer = "insight"
ROOM = "room:"
REFLECTIONS = 5
"""Looks back that a task is given."""
TOLD = ("cause", "change")
"""Parts of a look back that the next task is told."""
NOWHERE = "nothing is kept of whoever gave the task, or of its room"
Names = Callable[[], Awaitable[Collection[str]]]


class InsightShown(NamedTuple):
    """An insight as it stands, and what it was worth so far."""

    item: KeptItem
    worth: InsightWorth

    @property
    def task(self) -> str:
        """The task that taught it; "" where that is not known."""
        streams = [line.stream for line in self.item.evidence if line.stream.startswith(PREFIX)]
        return streams[0].removeprefix(PREFIX) if streams else ""


class InsightBook:
    """The insights of a home. `names` are those of people who are known here."""

    def __init__(self, ledger: Ledger, memory: MemoryStore, store: TaskStore, names: Names) -> None:
        self._ledger, self._memory, self._store, self._names = ledger, memory, store, names
        self._scores: dict[tuple[str, int], Event] = {}
        self._read, self._reading = False, asyncio.Lock()
        ledger.subscribe(self._scored, streams=PREFIX, kinds=["task.scored"])

    # ------------------------------------------------------------ what is known of attempts

    def _scored(self, _stream: str, events: Sequence[Event]) -> None:
        for event in events:
            if isinstance(event.body, AttemptScored):
                key = event.stream, event.body.attempt
                known = self._scores.get(key)
                if known is None or known.seq < event.seq:
                    self._scores[key] = event

    async def attempts(self) -> list[AttemptScored]:
        """The attempts of all tasks as they were scored last."""
        async with self._reading:
            if not self._read:
                for stream in await self._store.streams():
                    with skip_unreadable_task():
                        self._scored(stream, await self._ledger.read(stream, kinds=["task.scored"]))
                self._read = True
        bodies = (event.body for event in self._scores.values())
        return [body for body in bodies if isinstance(body, AttemptScored)]

    async def insights(self, mate: str) -> list[InsightShown]:
        """What a mate learned, whatever became of it; the best first."""
        items = {one.id: one for one in await self._memory.items(mate, layers=(LAYER,))}
        own = [one for one in await self.attempts() if one.mate == mate]
        best = rank_insights(worth_of(id, own) for id in items)
        return [InsightShown(items[one.insight], one) for one in best]

    # ------------------------------------------------------------ given to a task

    async def given(
        self, state: TaskState, mate: str, arm: LearningArm
    ) -> tuple[list[Line], list[Recollection]]:
        """What a task is given of what was learned, as lines, and what is noted of it."""
        if arm == "off":
            return [], []
        found = await self._chosen(state, mate, arm)
        lines = await self._looks_back(state, mate) if arm == "on" else []
        notes = []
        for one in found:
            lines.append(_line(one.task, one.item.text, one.item.id, f"{one.item.at:%d %B %Y}"))
            parts = (("uses", float(one.worth.uses)), ("lift", one.worth.lift))
            notes.append(Recollection(of=one.item.id, score=one.worth.worth, parts=parts))
        return lines, notes

    async def _chosen(self, state: TaskState, mate: str, arm: LearningArm) -> list[InsightShown]:
        """The insights that a task is given: those of its thread first, then the best.

        For all turns of an attempt they are the same, as far as they still hold.
        """
        trace = state.attempts
        if trace.begun and not trace.over:
            used = await self._memory.items(ids=trace.used) if trace.used else []
            own = await self.attempts()
            found = [InsightShown(one, worth_of(one.id, own)) for one in used]
            found.sort(key=lambda one: trace.used.index(one.item.id))
            return [one for one in found if _usable(one.item, state)]
        found = [one for one in await self.insights(mate) if _usable(one.item, state)]
        own_first = sorted(found, key=lambda one: one.item.room != state.thread)
        if arm == "on":
            return own_first[:MOST]
        others = [one for one in found if one.item.room != state.thread]
        if len(others) == len(found):  # its thread taught nothing: what it would not be given
            everybody = await self._memory.items(layers=(LAYER,))
            foreign = [one for one in everybody if one.mate != mate and _usable(one, state)]
            others = [*found[MOST:], *(InsightShown(one, InsightWorth(one.id)) for one in foreign)]
        return _drawn(others, state)[:MOST]

    async def _looks_back(self, state: TaskState, mate: str) -> list[Line]:
        """The last looks back of this thread by this mate: causes, and what to do otherwise."""
        made: list[tuple[TaskState, ReflectionMade]] = []
        for task in await self._store.of_thread(state.thread):
            for one in task.attempts.reflections:
                score = task.attempts.scores.get(one.body.attempt)
                if score is not None and score.mate == mate and one.body.claims:
                    made.append((task, one))
        lines = []
        for task, one in sorted(made, key=lambda pair: pair[1].id)[-REFLECTIONS:]:
            for claim in one.body.claims:
                if claim.part in TOLD and not claim.flag and claim.text.text:
                    what = f"a look back on attempt {one.body.attempt}"
                    lines.append(_line(task.id, claim.text, one.id, "", what))
        return lines

    # ------------------------------------------------------------ kept

    async def kept(self, state: TaskState, mate: str, made: ReflectionMade) -> TaskLearned:
        """Keep the insight of a look back, if it is one that may be kept."""
        claims = [one for one in made.body.claims if one.part == "insight" and one.text.text]
        learned = TaskLearned(mate=mate, reflection=made.id)
        if not claims:
            return TaskLearned(mate=mate, reflection=made.id, left="it found no insight")
        (claim, *_), text = claims, str(claims[0].text)
        said = [str(entry.text) for entry in state.entries if entry.kind == "heard"]
        seen = [use.value for use in state.uses]
        left = f"the record says otherwise: {claim.flag}" if claim.flag else ""
        left = left or insight_objection(text, await self._names(), said, seen)
        if not left:
            item = MemoryKept(
                layer=LAYER,
                text=Words(text),
                made_by="mate",
                evidence=(EvidenceLine(state.stream, made.seq, made.id),),
                about=(state.task.person,),
                room=state.thread,
                trusted=False,
            )
            ids = await self._memory.keep(mate, [item], actor=f"mate:{mate}", cause=made.id)
            learned = TaskLearned(mate=mate, reflection=made.id, insights=tuple(ids))
            left = "" if ids else NOWHERE
        return learned if not left else TaskLearned(mate=mate, reflection=made.id, left=left)

    async def give(self, item: KeptItem, mate: str, by: str) -> str:
        """Give an insight to another mate, as it says now; its id there. Raises InputError."""
        if item.layer != LAYER or item.state != "held" or not item.text.text:
            raise InputError("Only an insight that holds can be given to another mate.")
        if mate == item.mate:
            raise InputError("It is an insight of that mate already.")
        copy = MemoryKept(
            layer=LAYER,
            text=Words(item.text.text),
            made_by="person",
            rests_on=(item.id,),
            about=item.about,
            room=item.room,
            trusted=item.trusted,
            learned_by=item.learned_by or item.mate,
        )
        ids = await self._memory.keep(mate, [copy], actor=f"person:{by}", cause=item.id)
        if not ids:
            raise InputError(f"It was not given: {NOWHERE}.")
        return ids[0]


def _usable(item: KeptItem, state: TaskState) -> bool:
    """Whether an insight may be used for a task."""
    if item.state != "held" or not item.text.text or not item.evidence:
        return False
    if any(not line.stream.startswith(PREFIX) for line in item.evidence):
        return False
    if item.room == state.thread:
        return True
    apart = not item.room.startswith(ROOM) and not state.thread.startswith(ROOM)
    return apart and set(item.about) == {state.task.person}


def _drawn(found: Sequence[InsightShown], state: TaskState) -> list[InsightShown]:
    """In an order that is drawn by the task's id: not by what they were worth."""
    rest = sorted(found, key=lambda one: one.item.id)
    start = int(state.id.replace("-", "")[-8:], 16) % len(rest) if rest else 0
    return [*rest[start:], *rest[:start]]


def _line(task: str, text: Words, id: str, at: str, which: str = "an insight") -> Line:
    """A row of what a mate remembers: what it is, from when, from which task."""
    who = public_words(f"the task {task[-8:]}")
    return Line(kind="recalled", who=who, text=text, id=id, at=at, which=which)


# ---------------------------------------------------------------- arm comparison


ORDER: tuple[LearningArm, ...] = ("on", "off", "shuffled")


class ArmScore(NamedTuple):
    """The attempts of one arm: how many, their mean score with its interval of 95 %."""

    arm: LearningArm
    attempts: int
    mean: float
    low: float
    high: float


def compare_learning_arms(attempts: Iterable[AttemptScored]) -> list[ArmScore]:
    """The arms of which there are attempts."""
    scores: dict[LearningArm, list[float]] = {}
    for one in attempts:
        if one.attempt == 1:
            scores.setdefault(one.arm, []).append(one.together)
    found = []
    for arm in ORDER:
        if values := scores.get(arm):
            mean = mean_value(values)
            found.append(ArmScore(arm, mean.n, mean.estimate, mean.low, mean.high))
    return found
