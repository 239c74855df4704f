"""What a turn of a task comes to: its acts as facts, how sure it is now, and who goes on.

    plan and what was seen -> progress (confidence by what can be seen) -> done | asks | stuck
                           -> goes in circles: a nudge -> another model -> at the top: a question

All of it stands in one append with the turn's end, so that a task has either none of it or all.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from loopforge.core.action_plan import Act
from loopforge.core.effect_states import EffectProposed
from loopforge.core.events import Body, Fact
from loopforge.core.limits.budget_limits import budget_spent_notice
from loopforge.core.limits.money_amounts import dollars_from_picos
from loopforge.core.model_trouble import (
    OUTCOMES,
    PASSING,
    UNREACHED,
    Trouble,
    cause_to_report,
    explain_no_answer,
    seconds_asked,
)
from loopforge.core.text.erasable_text import Words, public_words
from loopforge.core.text.spoken_lists import about_in_words, join_as_prose, seconds_in_words
from loopforge.core.turn_events import Answered, Attempt, Verdict, last_attempts
from loopforge.core.work import task_confidence
from loopforge.core.work.command_results import error_of
from loopforge.core.work.model_escalation import (
    EscalationCause,
    EscalationTrace,
    cause_of,
    next_model,
)
from loopforge.core.work.stuck_detection import BROKEN, SeenStep, circle_of, idleness_of
from loopforge.core.work.task_classifier import TaskClass
from loopforge.core.work.task_confidence import signals_of, weigh_signals
from loopforge.core.work.work_roles import role_of
from loopforge.core.work.work_vocabulary import (
    AdmitStuck,
    AskPerson,
    Classify,
    DecidedBy,
    FinishWork,
    GoOn,
    HaltKind,
    LookBack,
    PlanSet,
    SetPlan,
    TaskAsked,
    TaskClassified,
    TaskDelayed,
    TaskEscalated,
    TaskFinished,
    TaskNudged,
    TaskProgressed,
    TaskStopped,
    WorkAct,
)
from loopforge.policies.flows.sequential_flow import SILENT
from loopforge.runtime.system_clock import Stamp
from loopforge.runtime.turn_driver import TurnEnding
from loopforge.runtime.world import TakenTurn, TurnDue
from loopforge.work.learning.trajectory_reading import seen_use
from loopforge.work.model_choice import ModelChoice
from loopforge.work.task_state import TaskState, ToolUse, spent_of, tool_use_argument

NAMED = 20
"""Files that a progress record names."""
TRIED = 6
"""Uses of tools that a question at the top tells of."""
BROKE_OFF = "broke off"
MALFORMED = "the answer made no sense"
UNUSABLE = (
    "Your last answer could not be used: it was empty, broke off because it was too long, or did "
    "not fill in the form. Write what is long in parts."
)
"""What a mate is told of it."""
UNTESTED = "done though tests failed"
SENT_BACK = (
    "You say that it is done, but the tests that you ran last failed (`{}`). Mend that and run "
    "them again. Where they are to fail, or cannot pass here, say once more that it is done, and "
    "why."
)
"""What a mate is told whose tests failed, once: it may know better."""
UNSORTED = TaskClass(
    "operations",
    "general",
    "MEDIUM",
    "sequential-thinking",
    "No model could say what kind of task it is, so it is simply worked on.",
)
TROUBLES = {
    "failed": "No model answered.",
    "timed_out": "The model took too long.",
    "malformed": "Its answer made no sense.",
    "refused": "The model would not answer.",
    BROKE_OFF: "It broke off.",
}
"""What stands in place of what it did in a turn."""
SOON, LONG_WAIT = 30.0, 3600.0
"""Seconds that a model is left alone which is asked too often, or fails as passes by itself, and
does not say for how long, doubled each time; the longest wait without a person."""
DELAYS = 5
"""Times in a row that a task waits for a model by itself."""


@dataclass(kw_only=True)
class _Turn:
    """A turn that is being closed: what it said, and what is to be written of it."""

    state: TaskState
    id: str
    ended: TurnEnding
    heeded: tuple[str, ...]
    troubles: Sequence[Trouble]
    bodies: list[Body] = field(default_factory=list)
    estimate: float = -1
    action: str = ""
    said: str = ""
    unused: str = ""
    admitted: str = ""
    going: bool = False
    failing: str = ""

    @property
    def nth(self) -> int:
        """Its number, from 1."""
        return self.state.turns + 1


class TurnOutcomes:
    """Makes facts of turns that are over."""

    def __init__(self, stamp: Stamp, choice: ModelChoice) -> None:
        self._stamp, self._choice = stamp, choice

    def facts(
        self,
        state: TaskState,
        turn: TakenTurn[TurnDue],
        ended: TurnEnding,
        verdicts: Sequence[Verdict],
        *,
        most: int,
    ) -> list[Fact]:
        """Everything that this turn comes to."""
        acts = _allowed_acts(ended, verdicts)
        shown = {line.id for line in turn.perception.lines} | set(ended.took_in)
        heeded = tuple(line for line in state.pending if line in shown)
        one = _Turn(
            state=state, id=turn.id, ended=ended, heeded=heeded, troubles=tuple(turn.troubles)
        )
        if turn.due.summons == "triage":
            self._conclude_triage(one, acts)
        elif ended.plan is not None or ended.outcome in ("failed", "diverged"):
            self._conclude_work(one, acts, turn, most)
        cause = turn.id
        return [
            self._stamp.fact(body, actor=f"mate:{turn.due.mate.handle}", cause=cause)
            for body in one.bodies
        ]

    # ------------------------------------------------------------ as what it is taken

    def classified(self, found: TaskClass, by: DecidedBy) -> TaskClassified:
        """The fact that a task is taken so."""
        role = role_of(found.role)
        model = self._choice.first(found.type, role)
        if found.tier:
            model = model._replace(tier=found.tier, model=found.model)
        return TaskClassified(
            task_type=found.type,
            role=role.handle,
            complexity=found.complexity,
            flow=found.flow,
            by=by,
            reason=Words(found.reason),
            skipped=found.skipped,
            tier=model.tier,
            model=model.model,
        )

    def _conclude_triage(self, one: _Turn, acts: Sequence[Act]) -> None:
        said = next((act for act in acts if isinstance(act, Classify)), None)
        task = one.state.task
        why = self._choice.unheeded(str(task.text), owner=task.owner)
        if said is not None:
            reason = f"{why} {said.reason}".strip()
            found = TaskClass(said.task_type, said.role, said.complexity, said.flow, reason)
            one.bodies.append(self.classified(found, "model"))
        elif one.ended.outcome != "stopped" and not self._reached_nobody(one):
            found = UNSORTED._replace(reason=f"{why} {UNSORTED.reason}".strip())
            one.bodies.append(self.classified(found, "default"))

    def _reached_nobody(self, one: _Turn) -> bool:
        """Whether nobody answered, so that the task stands still until somebody can."""
        plan = one.ended.plan
        named = str(plan.meta.get("trouble", "")) if plan else ""
        if named not in UNREACHED:
            return False
        note = one.ended.budget
        if note is not None and note.level == "spent":
            self._halt_task(one, "budget", budget_spent_notice(note))
        else:
            cause = cause_to_report(each[1] for each in one.troubles)
            why = explain_no_answer(cause) if cause else OUTCOMES[named]
            if wait := _seconds_until_model(one):
                self._delay_task(one, wait, why)
                return True
            if later := seconds_asked((e.model, e.cause, e.wait) for e in _last_tries(one)):
                why = f"{why}; it is worth another try in {about_in_words(later)}"
            self._halt_task(one, "model", why, one.troubles)
        return True

    def _delay_task(self, one: _Turn, wait: float, why: str) -> None:
        told = f"{why}; it is asked again after {seconds_in_words(wait)}"
        until = self._stamp.clock.now() + timedelta(seconds=wait)
        mend = tuple(dict.fromkeys(one.troubles))
        one.bodies.append(TaskDelayed(turn=one.id, until=until, why=Words(told), mend=mend))

    def _halt_task(
        self, one: _Turn, kind: HaltKind, why: str, troubles: Sequence[Trouble] = ()
    ) -> None:
        mend = tuple(dict.fromkeys(troubles))
        one.bodies.append(TaskStopped(kind=kind, why=Words(why), mend=mend))

    # ------------------------------------------------------------ a turn of work

    def _conclude_work(
        self, one: _Turn, acts: Sequence[Act], turn: TakenTurn[TurnDue], most: int
    ) -> None:
        plan = one.ended.plan
        trouble = str(plan.meta.get("trouble", "")) if plan else BROKE_OFF
        after = list[Body]()
        done = any(isinstance(act, FinishWork) for act in acts)
        one.failing = one.state.failing if done and _is_finished_change(one.state) else ""
        last = one.nth >= most + one.state.since
        for act in acts:
            if (
                isinstance(act, FinishWork)
                and one.failing
                and not last
                and not _was_sent_back(one.state)
            ):
                one.action = "It says that it is done; the tests that it ran last failed."
                one.estimate, one.said = act.estimate, act.result
                one.unused = SENT_BACK.format(one.failing[:120])
            elif isinstance(act, WorkAct):
                after += self._facts_of_act(one, act)
        before, one.bodies = one.bodies, []
        one.bodies = [*before, self._progress_of(one, turn, trouble, most), *after]
        if any(isinstance(body, TaskFinished | TaskAsked) for body in after):
            return
        if self._reached_nobody(one):
            return
        if (
            trouble
            and self._failed_turns_in_row(one) >= BROKEN
            and not self._may_be_bettered(one, trouble)
        ):
            self._halt_task(one, "lost", f"{BROKEN} turns in a row came to nothing")
            return
        self._goes_on(one)

    def _facts_of_act(self, one: _Turn, act: WorkAct) -> list[Body]:
        """What one act comes to; what it says of itself goes into the record of progress."""
        match act:
            case SetPlan(steps=steps):
                one.bodies.append(PlanSet(turn=one.id, steps=tuple(map(Words, steps))))
            case GoOn(did=did, estimate=estimate, unused=unused):
                one.action, one.estimate = f"{did} {unused}".strip(), estimate
                one.going = True
                one.said, one.unused = "" if did == SILENT else did, unused
            case FinishWork(result=result, evidence=evidence, estimate=estimate):
                one.action, one.estimate = "It says that it is done.", estimate
                done = TaskFinished(turn=one.id, result=Words(result), evidence=Words(evidence))
                return [done]
            case AskPerson(question=question):
                one.action = "It asks."
                return [TaskAsked(turn=one.id, question=Words(question))]
            case AdmitStuck(why=why):
                one.action, one.admitted = "It does not get on.", why
            case Classify() | LookBack():
                pass
        return []

    def _progress_of(
        self, one: _Turn, turn: TakenTurn[TurnDue], trouble: str, most: int
    ) -> TaskProgressed:
        state = one.state
        fresh = [seen_use(use) for use in state.fresh]
        known = [
            error for use in state.uses if use not in state.fresh and (error := _use_error(use))
        ]
        signals = signals_of(fresh, known, changes=state.changes_files)
        if trouble == BROKE_OFF:
            signals += weigh_signals(["turn broke off"])
        elif trouble and trouble not in UNREACHED:
            signals += weigh_signals(["answer was malformed"])
        if one.failing:
            signals += weigh_signals([UNTESTED])
        if _circle_notice(one):
            signals += weigh_signals(["in circles"])
        cost, tokens = _spending_in(one.ended)
        last = state.fresh[-1] if state.fresh else None
        used = f" [{last.tool}: {last.outcome}]" if last else ""
        told = UNUSABLE if trouble == "malformed" else one.unused
        chosen, instead = turn.due.mate.model or self._model_at_work(one), one.ended.fallback
        stood = f" [{chosen} did not answer, so {instead} did]" if instead else ""
        return TaskProgressed(
            turn=one.id,
            nth=one.nth,
            most=most + state.since,
            # What it thinks of a result whose tests failed counts for nothing.
            confidence=task_confidence.moved(
                state.confidence, signals, -1 if one.failing else one.estimate
            ),
            model=instead or chosen,
            action=Words(f"{one.action or TROUBLES.get(trouble, trouble)}{used}{stood}"),
            signals=signals,
            estimate=one.estimate,
            files_read=len(state.read),
            files_written=len(state.written),
            cost=dollars_from_picos(state.cost + cost),
            tokens=state.tokens + tokens,
            heeded=one.heeded,
            said=Words(one.said) if one.said else public_words(""),
            told=Words(told) if told else public_words(""),
        )

    def _failed_turns_in_row(self, one: _Turn) -> int:
        """How many turns of this model in a row came to nothing, this one included."""
        count = 1
        for before in reversed(one.state.progress):
            theirs = before.nth <= one.state.model_since
            if theirs or not _came_to_nothing(before):
                break
            count += 1
        return count

    def _may_be_bettered(self, one: _Turn, trouble: str) -> bool:
        """Whether it was answers that came to nothing, and another model may have better ones."""
        return trouble != BROKE_OFF and bool(
            next_model(self._choice.rungs(), self._model_at_work(one))
        )

    def _model_at_work(self, one: _Turn) -> str:
        """The model that is at work."""
        return one.state.model or _answered_by(one.ended) or one.state.model_seen

    # ------------------------------------------------------------ who goes on

    def _goes_on(self, one: _Turn) -> None:
        """Nudge who goes in circles; let another model go on where there is a reason."""
        state = one.state
        if state.running or _asks_people(one):
            return  # what came of this turn is not known yet
        circle = _circle_notice(one)
        if circle and not state.nudged and not one.admitted:
            one.bodies.append(TaskNudged(turn=one.id, what=Words(circle)))
            return
        now = next(body for body in one.bodies if isinstance(body, TaskProgressed))
        cause = cause_of(_trace_of(one, now, circle))
        if cause is not None:
            here = self._model_at_work(one), one.ended.fallback
            one.bodies.append(self.onward(state, one.id, cause, *here))

    def onward(
        self,
        state: TaskState,
        turn: str,
        cause: EscalationCause,
        model: str = "",
        instead: str = "",
    ) -> Body:
        """Another model goes on; at the top of the list, a question to the person.

        `model` is the one that is at work, where the state does not know it yet; `instead` is what
        answered in its place, since it did not.
        """
        rungs = self._choice.rungs()
        now = model or state.model or state.model_seen
        after = next_model(rungs, now)
        if after:
            goes = "goes on" if state.at_work else "is the next to work on it"
            who = f"{instead}, for {now} did not answer" if instead else now or "the first model"
            why = f"{after} {goes} in place of {who}: {cause.why}."
            return TaskEscalated(
                turn=turn, reason=cause.reason, why=Words(why), before=now, after=after
            )
        tried = tuple(
            Words(f"{use.tool} {use.arguments[:160]}: {use.outcome}") for use in state.uses[-TRIED:]
        )
        last = state.uses[-1] if state.uses else None
        seen = _use_error(last).rstrip(".") if last else ""
        error = f" What I saw last: {seen}." if seen else ""
        none = (
            f"{now} did not answer, so {instead} did"
            if instead
            else "there is no better model to ask"
        )
        question = (
            f"I do not get on with this, and {none}: {cause.why}.{error} "
            f"Changed so far: {join_as_prose(tuple(state.written)[-NAMED:]) or 'nothing'}. "
            "What should I do differently, or what do you know of this that I do not?"
        )
        return TaskAsked(turn=turn, question=Words(question), tried=tried, top=True)


def _allowed_acts(ended: TurnEnding, verdicts: Sequence[Verdict]) -> tuple[Act, ...]:
    if ended.plan is None:
        return ()
    return tuple(
        act for act, verdict in zip(ended.plan.acts, verdicts, strict=True) if verdict.allowed
    )


def _is_finished_change(state: TaskState) -> bool:
    """Whether it is a change that is done: a generalist, who may be given anything, made one."""
    known = state.classified
    general = known and (known.flow, known.role) == ("sequential-thinking", "general")
    return state.changes_files or bool(general and state.written)


def _was_sent_back(state: TaskState) -> bool:
    """Whether it was sent back for failing tests, since a person had it go on."""
    since = [one for one in state.progress if one.nth > state.since]
    return any(signal.name == UNTESTED for one in since for signal in one.signals)


def _use_error(use: ToolUse) -> str:
    return error_of(seen_use(use))


def _circle_notice(one: _Turn) -> str:
    """In which circle it goes, as it is told; "" for none."""
    return circle_of(_recent_steps(one.state)) or idleness_of(_idle_turns_in_row(one))


def _idle_turns_in_row(one: _Turn) -> int:
    """How many turns in a row it used no tool and went on, since it was nudged or took over."""
    state = one.state
    if not one.going or state.fresh:
        return 0
    used, count = {use.turn for use in state.uses}, 1
    for before in reversed(state.progress):
        if before.nth <= state.steps_since or before.turn in used or _came_to_nothing(before):
            break
        count += 1
    return count


def _came_to_nothing(turn: TaskProgressed) -> bool:
    names = {signal.name for signal in turn.signals}
    return bool(names & {"turn broke off", "answer was malformed"})


def _recent_steps(state: TaskState) -> list[SeenStep]:
    """What was done since somebody was nudged or took over."""
    return [
        SeenStep.of(f"{use.tool} {tool_use_argument(use, 'command') or use.arguments}", use.value)
        for use in state.uses[state.uses_since :]
    ]


def _answered_by(ended: TurnEnding) -> str:
    """The model that answered last, by what is not in the ledger yet; "" where none did."""
    answered = (fact.body for fact in reversed(ended.facts) if isinstance(fact.body, Answered))
    return next((body.model for body in answered if body.model), "")


def _asks_people(one: _Turn) -> bool:
    """Whether it wants a tool that waits for the yes of a person, by what is not in the ledger."""
    bodies = (fact.body for fact in one.ended.facts)
    return any(isinstance(body, EffectProposed) and body.asks for body in bodies)


def _last_tries(one: _Turn) -> tuple[Attempt, ...]:
    return last_attempts(fact.body for fact in one.ended.facts)


def _seconds_until_model(one: _Turn) -> float:
    """Seconds after which a model may answer that did not, as its service says; 0 for a person."""
    passing = [each for each in _last_tries(one) if each.cause in PASSING]
    waits = [each.wait for each in passing if each.wait]
    wait = min(waits, default=SOON * 2**one.state.delays if passing else 0.0)
    return wait if wait <= LONG_WAIT and one.state.delays < DELAYS else 0.0


def _spending_in(ended: TurnEnding) -> tuple[int, int]:
    """What the facts that are not in the ledger yet tell of cost and tokens."""
    cost = tokens = 0
    for fact in ended.facts:
        if isinstance(fact.body, Answered):
            more, used = spent_of(fact.body)
            cost, tokens = cost + more, tokens + used
    return cost, tokens


def _trace_of(one: _Turn, now: TaskProgressed, circle: str) -> EscalationTrace:
    state = one.state
    past = [*(p for p in state.progress if p.nth > state.model_since), now]
    turns = {p.turn for p in past}
    errors = [e for use in state.uses if use.turn in turns and (e := _use_error(use))]
    errors += [MALFORMED for p in past if any(s.name == "answer was malformed" for s in p.signals)]
    idle = -1
    if state.changes_files:
        idle = 0
        for p in reversed(past):
            if any(signal.name == "files changed" for signal in p.signals):
                break
            idle += 1
    return EscalationTrace(
        confidences=[p.confidence for p in past],
        errors=errors,
        idle=idle,
        admitted=one.admitted,
        circling=circle if state.nudged else "",
        corrections=state.corrections - state.corrected,
    )
