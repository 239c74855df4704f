"""What is due of an attempt that is over: its score, a look back on it, and what is kept of that.

    over -> AttemptScored (by the record alone) -> a turn of the planner's model -> TaskReflected
         -> TaskLearned

A look back is made of work that plans and acts, where it did not simply succeed: where there is
something to learn. It is none where money, a missing model or a person ended the work, since
nobody is to be asked then. A small model is not asked to look back.
"""

import dataclasses
from collections.abc import Callable
from datetime import datetime

from msgspec import structs

from loopforge.core.events import Fact
from loopforge.core.mates.mate_file import Mate
from loopforge.core.model_trouble import OUTCOMES
from loopforge.core.perception import AgentPerception, Line
from loopforge.core.text.erasable_text import Words, public_words
from loopforge.core.work.attempt_trace import ReflectionMade
from loopforge.core.work.reflection_rules import LOOKED_BACK_BELOW, flag_of
from loopforge.core.work.task_score import TrajectoryScores, score_trajectory
from loopforge.core.work.work_vocabulary import (
    AttemptScored,
    LearningArm,
    LookBack,
    ReflectionClaim,
    TaskLearned,
    TaskReflected,
)
from loopforge.runtime.ports import Route
from loopforge.runtime.turn_driver import TurnEnding, TurnPorts
from loopforge.runtime.world import OpeningView, TakenTurn, TurnDue
from loopforge.work.learning.insight_book import InsightBook
from loopforge.work.learning.trajectory_reading import (
    TaskBounds,
    attempts_of,
    trajectory_of,
    turns_of,
)
from loopforge.work.model_choice import ModelChoice
from loopforge.work.task_perception import PERSON, truncate_middle
from loopforge.work.task_state import TaskState
from loopforge.work.work_settings import WorkSettings

REFLECT = "reflect"
"""How a turn is called that looks back."""
FLOW = "reflexion"
ARMS: tuple[LearningArm, ...] = ("on", "off", "shuffled")
LONGEST = 1500
"""Characters of a result that is shown to who looks back."""
REJECTED = "A person did not take the result."


class AttemptLearning:
    """Learns from attempts at tasks."""

    def __init__(
        self,
        ports: TurnPorts,
        choice: ModelChoice,
        settings: Callable[[], WorkSettings],
        book: InsightBook,
    ) -> None:
        self._ports, self._choice, self._settings, self.book = ports, choice, settings, book

    def planner(self, mate: Mate) -> Mate:
        """The mate as it looks back: by the planner's model."""
        chosen = self._choice.planner()
        return structs.replace(mate, tier=chosen.tier, model=chosen.model)

    # ------------------------------------------------------------ its score

    async def score(self, state: TaskState, mate: Mate, bounds: TaskBounds) -> AttemptScored:
        """The score of the attempt that is over, by the record as it is now."""
        trace = state.attempts
        courses = attempts_of(await self._ports.ledger.read(state.stream))
        earlier = [course for nth, course in courses.items() if nth < trace.nth]
        if any(trajectory_of(course, bounds).changed for course in earlier):
            bounds = bounds._replace(changes=False)
        found = score_trajectory(trajectory_of(courses[trace.nth], bounds))
        return AttemptScored(
            attempt=trace.nth,
            mate=mate.handle,
            **found._asdict(),
            since=trace.since,
            upto=state.turns,
            used=trace.used,
            arm=self.arm(state),
            reflects=trace.news and self._reflects(state, found),
        )

    def arm(self, state: TaskState) -> LearningArm:
        """What a task is given of what earlier ones taught."""
        match self._settings().learning:
            case "split":
                return ARMS[int(state.id.replace("-", "")[-8:], 16) % len(ARMS)]
            case "shuffled":
                return "shuffled"
            case "on":
                return "on"
            case _:
                return "off"

    def _reflects(self, state: TaskState, found: TrajectoryScores) -> bool:
        """Whether there is something to look back on, and somebody who could."""
        known = state.classified
        if known is None or known.flow != "sequential-thinking":
            return False
        if not self._settings().reflects:
            return False
        chosen = self._choice.planner()
        route = Route(tier=chosen.tier, model=chosen.model)
        if self._ports.models.facts(route).small:
            return False
        return known.complexity != "SIMPLE" or found.completion < LOOKED_BACK_BELOW

    # ------------------------------------------------------------ what was learned before

    async def with_insights(self, state: TaskState, mate: Mate, view: OpeningView) -> OpeningView:
        """The same view of a task, with what earlier attempts taught, in the arm of this task."""
        lines, notes = await self.book.given(state, mate.handle, self.arm(state))
        seen = view.perception
        seen = structs.replace(seen, local_events=(*lines, *seen.local_events))
        return dataclasses.replace(view, perception=seen, recalled=tuple(notes))

    async def kept(self, state: TaskState, made: ReflectionMade) -> TaskLearned:
        """What is kept of a look back, by the mate whose attempt it was."""
        score = state.attempts.scores.get(made.body.attempt)
        return await self.book.kept(state, score.mate if score else state.task.mate, made)

    # ------------------------------------------------------------ looking back

    def view(self, state: TaskState, mate: Mate, now: datetime) -> OpeningView:
        """What is shown to who looks back: the task, its attempt turn by turn, its score."""
        trace = state.attempts
        lines = [
            Line(kind="heard", who=public_words(PERSON), text=entry.text, id=entry.id)
            for entry in state.entries
            if entry.kind == "heard"
        ]
        for one in state.progress:
            if not trace.since < one.nth <= state.turns:
                continue
            seen = ", ".join(signal.name for signal in one.signals) or "nothing happened"
            lines.append(Line(kind="mine", text=one.action, number=one.nth))
            lines += _results(state, one.nth)
            lines.append(Line(kind="told", text=public_words(seen), number=one.nth))
        lines.append(Line(kind="told", text=public_words(_told(trace.score))))
        if state.halted is not None and state.stage == "stopped":
            lines.append(Line(kind="told", text=state.halted.why))
        if state.finished is not None:
            lines.append(Line(kind="mine", text=state.finished.result, number=state.turns))
        if state.asked is not None:
            lines.append(Line(kind="mine", text=state.asked.question, number=state.turns))
        if state.stage == "rejected":
            lines.append(Line(kind="told", text=public_words(REJECTED)))
            if state.refused.text != "":
                lines.append(Line(kind="heard", who=public_words(PERSON), text=state.refused))
        seen_by = AgentPerception(
            step=state.turns,
            name=mate.name,
            role=mate.role,
            location=state.thread,
            local_events=tuple(lines),
            context={
                "handle": mate.handle,
                "model": "full",
                "attempt": str(trace.nth),
                "now": now.strftime("%A %d %B %Y, %H:%M"),
            },
        )
        return OpeningView(perception=seen_by, upto=state.seq)

    def reflected(
        self, state: TaskState, turn: TakenTurn[TurnDue], ended: TurnEnding
    ) -> list[Fact]:
        """What a look back comes to: nothing where it diverged, and is had again."""
        if ended.outcome == "diverged":
            return []
        acts = ended.plan.acts if ended.plan is not None else ()
        said = next((act for act in acts if isinstance(act, LookBack)), None)
        claims = _checked(state, said) if said is not None else ()
        insight = next((one.text for one in claims if one.part == "insight"), public_words(""))
        body = TaskReflected(
            turn=turn.id,
            text=insight,
            attempt=state.attempts.nth,
            claims=claims,
            trouble="" if claims else _trouble(ended),
        )
        actor = f"mate:{turn.due.mate.handle}"
        return [self._ports.stamp.fact(body, actor=actor, cause=turn.id)]


def _checked(state: TaskState, said: LookBack) -> tuple[ReflectionClaim, ...]:
    """The sentences, each with what contradicts it."""
    record = turns_of([one for one in state.progress if one.nth > state.attempts.since], state.uses)
    return tuple(
        ReflectionClaim(
            part=one.part,
            text=Words(one.text),
            turns=one.turns,
            flag=flag_of(one.part, one.text, one.turns, record),
        )
        for one in said.claims
    )


def _trouble(ended: TurnEnding) -> str:
    """Why there is nothing, in words."""
    if ended.outcome == "stopped":
        return ended.why
    named = str(ended.plan.meta.get("trouble", "")) if ended.plan is not None else ended.outcome
    return OUTCOMES.get(named, "the answer could not be used")


def _results(state: TaskState, nth: int) -> list[Line]:
    """What tools gave in a turn."""
    return [
        Line(
            kind="result",
            who=public_words(entry.who if entry.outcome == "returned" else f"{entry.who}, failed"),
            text=_result(entry.arguments, entry.text),
            id=entry.id,
            number=nth,
        )
        for entry in state.entries
        if entry.kind == "result" and entry.turn == nth
    ]


def _result(arguments: Words, text: Words) -> Words:
    if text.text is None:
        return text
    return Words(
        f"(for {truncate_middle(str(arguments), 300)})\n{truncate_middle(text.text, LONGEST)}"
    )


def _told(score: AttemptScored | None) -> str:
    """The score in words."""
    if score is None:
        return "There is no score."
    why = "; ".join(f"{one.name} ({one.points:+g} {one.score})" for one in score.reasons)
    return (
        f"The score of this attempt: {score.together:.0f} of 100 (completion "
        f"{score.completion:.0f}, quality {score.quality:.0f}, efficiency {score.efficiency:.0f}): "
        f"{why or 'nothing more is known'}."
    )
