"""The task as a world: what is due there, what a mate is shown, what may happen.

Due is the first of these that there is:

    1. a turn that was broken off is taken up again
    2. where it stands still: its workspace is kept, it is summed up, its thread is let go
    3. as what it is taken: by its words, or a model is asked; no model for a while where that asked
       to be left alone
    4. its thread is taken; where another task holds it, it waits in line
    5. a limit that is met ends it until somebody says go on
    6. of an attempt that is over: its score, a look back, what is kept of that
    7. the mate takes its next turn

Everything it goes by is in the ledger, so that it can be broken off anywhere. How a turn goes is
the same in every world (runtime/world.py); what it comes to is turn_outcome.py's.
"""

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from datetime import datetime
from zoneinfo import ZoneInfo

from msgspec.structs import replace

from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.events import Fact, kind_of
from loopforge.core.limits.budget_limits import Charge
from loopforge.core.limits.turn_bounds import TurnBounds
from loopforge.core.mates.mate_file import Mate
from loopforge.core.perception import AgentPerception, Line
from loopforge.core.policy import Call
from loopforge.core.text.erasable_text import Words, public_words
from loopforge.core.turn_events import Verdict
from loopforge.core.work.task_classifier import TaskClass, breakglass_request, classify_task
from loopforge.core.work.task_lifecycle import turn_limit
from loopforge.core.work.work_roles import WorkRole, peer_of
from loopforge.core.work.work_vocabulary import (
    AskPerson,
    FinishWork,
    GoOn,
    HaltKind,
    LookBack,
    TaskLeased,
    TaskQueued,
    TaskResumed,
    TaskStopped,
    TaskSummarized,
    WorkAct,
    WorkspaceSaved,
)
from loopforge.errors import Conflict
from loopforge.runtime.effects.effect_worker import ENDS
from loopforge.runtime.ports import CallPermission, Route
from loopforge.runtime.turn_driver import TurnEnding, TurnPorts
from loopforge.runtime.world import ERASED, AppliedTurn, OpeningView, TakenTurn, TurnDue, TurnSenses
from loopforge.work.assignment.task_calls import WITHOUT, TaskCalls
from loopforge.work.learning.attempt_learning import FLOW, REFLECT, AttemptLearning
from loopforge.work.learning.insight_book import InsightBook
from loopforge.work.learning.trajectory_reading import TaskBounds
from loopforge.work.model_choice import ModelChoice, TierHistory
from loopforge.work.task_perception import PERSON, opening_view
from loopforge.work.task_state import FORGOTTEN, PREFIX, TaskState
from loopforge.work.task_store import TaskStore
from loopforge.work.task_summary import summary_of
from loopforge.work.thread_lease import ThreadLeases
from loopforge.work.turn_outcome import TurnOutcomes
from loopforge.work.work_place import WorkPlaces
from loopforge.work.work_settings import WorkSettings
from loopforge.work.workspace.workspace_checkpoints import CHECKPOINT_TURNS

STOPPED = "the task was stopped"
DOCSTRINGS = TaskClass(
    "coding",
    "python-coder",
    "MEDIUM",
    "sequential-thinking",
    "A watch over the repository found docstrings missing.",
)
"""As what a task is taken that may change docstrings only."""
SECONDS = 540.0
"""Of one turn, in which tools are used; a lease of its thread is longer."""

Taken = TakenTurn[TurnDue]


class TaskWorld:
    """Tasks, as a `World`. Only where a home is `hosted` is anything due: commands look on."""

    prefix = PREFIX
    waking: Collection[str] = (
        "task.opened",
        "task.classified",
        "task.steered",
        "task.stopped",
        "task.resumed",
        "task.rated",
        "task.undone",
        "task.approved",
        "task.rejected",
        "ledger.erased",
        *ENDS,
    )

    def __init__(
        self,
        ports: TurnPorts,
        store: TaskStore,
        leases: ThreadLeases,
        places: WorkPlaces,
        calls: TaskCalls,
        choice: ModelChoice,
        settings: Callable[[], WorkSettings],
        zone: Callable[[], ZoneInfo],
        book: InsightBook,
    ) -> None:
        self._ports, self._leases, self._places = ports, leases, places
        self.calls, self._choice, self._settings, self._zone = calls, choice, settings, zone
        self.outcomes = TurnOutcomes(ports.stamp, choice)
        self.tiers = TierHistory(store, choice, settings)
        self.learning = AttemptLearning(ports, choice, settings, book)
        self.fold = store.state
        self.hosted = False

    # ------------------------------------------------------------ what is due

    async def due(self, state: TaskState) -> TurnDue | Sequence[Fact] | datetime | None:
        """See `World.due`."""
        if not self.hosted or state.opened is None:
            return None
        if state.open:
            return await self._resume_turn(state)
        if state.forgotten:
            if state.at_work or state.stage == "waiting":
                return [self._fact_of(TaskStopped(kind="lost", why=Words(FORGOTTEN)), state)]
            await self._leases.release(state.thread, state.id, state.fence)
            return None
        if not state.at_work:
            rest = await self._rest_unless_spoken_to(state)
            return await self._learn_from_task(state) if rest is None else rest
        if state.running:
            return None  # its end wakes the task
        if state.delayed is not None and state.delayed > self._ports.stamp.clock.now():
            return state.delayed
        if state.classified is None:  # nor need it be new: it may have been stopped before
            return self._triage_task(state)
        if not self._holds_thread(state) or state.stage != "working":
            return await self._take_lease(state)
        if not await self._leases.renew(state.thread):
            return await self._take_lease(state)
        if halt := self._flaw(state) or self._met_limit(state) or await self._ready(state):
            return halt
        if chosen := await self.tiers.first(state):
            return [self._fact_of(chosen, state)]
        if state.turns - self._kept_at(state) >= CHECKPOINT_TURNS:
            return await self._save_workspace(state)
        if learned := await self._learn_from_task(state):
            return learned
        return (
            self._next_turn(state) if state.at_work else None
        )  # who stopped it meanwhile wakes it

    def _fact_of(self, body: object, state: TaskState, cause: str = "") -> Fact:
        assert state.opened is not None
        return self._ports.stamp.fact(  # of this world's union alone
            body,  # type: ignore[arg-type]
            actor="runtime",
            cause=cause or state.opened.id,
        )

    async def _resume_turn(self, state: TaskState) -> TurnDue | Sequence[Fact]:
        """A turn that was broken off; before it the thread, if it is free: its time counts anew."""
        if state.stage == "working" and not (state.forgotten or self._holds_thread(state)):
            leased = await self._take_lease(state)
            if not isinstance(leased, datetime):
                return leased
        return self._broken_off_turn(state)

    def _holds_thread(self, state: TaskState) -> bool:
        """Whether this process holds its thread for it."""
        return self._leases.mine(state.thread, state.id, state.fence)

    def _broken_off_turn(self, state: TaskState) -> TurnDue:
        """A turn that was broken off."""
        mate = self.calls.mate(state)
        if state.open_summons == REFLECT:
            mate = self.learning.planner(mate)
        halted = not state.at_work and state.open_summons != REFLECT
        over = STOPPED if halted else "" if mate.handle == state.open_mate else ERASED
        return self._turn_due(state, mate, "", state.open_summons, open=state.open, over=over)

    async def _rest_unless_spoken_to(self, state: TaskState) -> Sequence[Fact] | None:
        """It stands still; but for whoever spoke while it came to its end, or to its question."""
        if state.stage in ("finished", "waiting") and (late := state.unheard) is not None:
            return [self._fact_of(TaskResumed(by=late.person), state)]
        if not state.saved:
            return await self._save_workspace(state)
        if not state.summarized:
            return [self._fact_of(TaskSummarized(text=Words(summary_of(state))), state)]
        if state.stage == "finished" and state.offered is None and state.task.repo:
            return await self._offer_result(state)
        if self._sent_back(state):
            return [self._fact_of(TaskResumed(by=""), state)]
        await self._leases.release(state.thread, state.id, state.fence)
        return None

    async def _offer_result(self, state: TaskState) -> Sequence[Fact]:
        """Show its result, unless something happened meanwhile: it is forgotten, or goes on."""
        seq = state.seq
        facts = await self._places.offer(state)
        with suppress(Conflict):  # then it is looked at anew
            await self._ports.ledger.append(state.stream, facts, expect=seq)
        return ()

    def _sent_back(self, state: TaskState) -> bool:
        """Whether it goes on once more, told why its result is not offered: nobody waits for it."""
        refused = state.offered is not None and not state.offered.commit
        return bool(state.task.only) and state.stage == "finished" and refused and not state.retried

    async def _learn_from_task(self, state: TaskState) -> TurnDue | list[Fact] | None:
        """What is still to be learned of what there was."""
        trace, mate = state.attempts, self.calls.mate(state)
        if trace.unscored:
            bounds = TaskBounds(
                self.turns_of(state), self.calls.budget_of(state), state.changes_files
            )
            return [self._fact_of(await self.learning.score(state, mate, bounds), state)]
        if trace.unreflected:
            return self._turn_due(state, self.learning.planner(mate), FLOW, REFLECT)
        if (made := trace.unkept) is not None:
            return [self._fact_of(await self.learning.kept(state, made), state, made.id)]
        return None

    def _kept_at(self, state: TaskState) -> int:
        """After which turn it was kept last; where turns may change it, before the first, too."""
        if state.checkpoint is not None:
            return state.checkpoint.nth
        return -CHECKPOINT_TURNS if state.classified and state.classified.flow not in WITHOUT else 0

    async def _save_workspace(self, state: TaskState) -> list[Fact]:
        checkpoint, why = await self._places.save(state)
        body = WorkspaceSaved(nth=state.turns, checkpoint=checkpoint, why=why)
        return [*self._places.put_back(state), self._fact_of(body, state)]

    async def _ready(self, state: TaskState) -> list[Fact]:
        """That its workspace cannot be used, or was gone and is back; else nothing."""
        if why := await self._places.ready(state):
            return [*self._places.put_back(state), *self._lost(state, why)]
        return self._places.put_back(state)

    async def _take_lease(self, state: TaskState) -> Sequence[Fact] | datetime:
        held = await self._leases.take(state.thread, state.id)
        if held.task == state.id:
            if found := self._flaw(state) or await self._ready(state):
                return found
            return [self._fact_of(TaskLeased(fence=held.fence), state)]
        if state.stage != "queued" or state.behind != held.task:
            return [self._fact_of(TaskQueued(behind=held.task), state)]
        assert held.until is not None
        return held.until

    def _flaw(self, state: TaskState) -> list[Fact]:
        """That nobody can do it, as files of the home stand now; else nothing."""
        why = self.calls.flaw(state)
        return self._lost(state, why) if why else []

    def _lost(self, state: TaskState, why: str) -> list[Fact]:
        """That it stands still for this, which is told within a sentence."""
        body = TaskStopped(kind="lost", why=Words(why.removesuffix(".")))
        return [self._fact_of(body, state)]

    def _met_limit(self, state: TaskState) -> list[Fact]:
        """The limit that is met, if one is."""
        now, most = self._settings(), self.turns_of(state)
        taken = state.turns - state.since
        seconds = state.worked_seconds(self._ports.stamp.clock.now()) - state.seconds_before
        budget = self.calls.budget_of(state)
        found: list[tuple[bool, HaltKind, str]] = [
            (taken >= most, "turns", f"it took its {most} turns"),
            (seconds >= now.minutes * 60, "time", f"it worked for {now.minutes} minutes"),
            (
                state.tokens - state.tokens_before >= now.tokens,
                "tokens",
                f"it took {now.tokens:,} tokens",
            ),
            (
                bool(budget) and float(state.dollars) >= budget,
                "money",
                f"its ${budget:g} are spent",
            ),
        ]
        for met, kind, why in found:
            if met:
                return [self._fact_of(TaskStopped(kind=kind, why=Words(why)), state)]
        return []

    def names_nothing_else(self, text: str) -> bool:
        """Whether a task is the name of a model or tier that is here, and nothing behind it."""
        to, rest = breakglass_request(f"{text} .")
        return rest == "." and self._choice.past(to) is not None

    def only_owner(self, tool: str) -> bool:
        """Whether the owner alone may allow a use of a tool."""
        return any(one.owner for one in self._ports.tools.known() if one.name == tool)

    def turns_of(self, state: TaskState) -> int:
        """How many turns it may take at a time."""
        return turn_limit(state.classified)

    # ------------------------------------------------------------ as what it is taken

    def _triage_task(self, state: TaskState) -> TurnDue | list[Fact]:
        found = DOCSTRINGS if state.task.only else None
        found = found or self._breakglass_class(state) or classify_task(str(state.task.text))
        if found is not None:
            if found.flow != "breakglass":
                why = self._choice.unheeded(str(state.task.text), owner=state.task.owner)
                found = found._replace(reason=f"{why} {found.reason}".strip())
            return [self._fact_of(self.outcomes.classified(found, "rules"), state)]
        mate, chosen = self.calls.mate(state), self._choice.planner()
        mate = replace(mate, tier=chosen.tier, model=chosen.model)
        return self._turn_due(state, mate, "triage", "triage")

    def _breakglass_class(self, state: TaskState) -> TaskClass | None:
        """Straight to the model that a person names who may."""
        to, rest = breakglass_request(str(state.task.text))
        chosen = self._choice.past(to) if rest else None
        if chosen is None or not state.task.owner:
            return None
        return TaskClass(
            "question",
            "general",
            "SIMPLE",
            "breakglass",
            f"It is put straight to {to}, as the owner of this home said.",
            ("classification", "planning", "tools", "reflection"),
            chosen.tier,
            chosen.model,
        )

    # ------------------------------------------------------------ turns

    def _next_turn(self, state: TaskState) -> TurnDue:
        assert state.classified is not None
        return self._turn_due(state, self.calls.mate(state), state.classified.flow, "task")

    def _turn_due(
        self,
        state: TaskState,
        mate: Mate,
        policy: str,
        summons: str,
        *,
        open: str = "",
        over: str = "",
    ) -> TurnDue:
        assert state.opened is not None
        line = next(reversed(state.pending), state.opened.id)
        return TurnDue(
            mate=mate,
            policy=policy,
            line=line,
            summons=summons,
            step=state.turns,
            open=open,
            over=over,
            halted=bool(over) and not state.at_work,
        )

    async def perceive(self, state: TaskState, due: TurnDue) -> OpeningView:
        """See `World.perceive`."""
        if due.summons == REFLECT:
            return self.learning.view(state, due.mate, self._ports.stamp.clock.now())
        flow = state.classified.flow if state.classified else "triage"
        offers = flow == "sequential-thinking"
        route = Route(tier=due.mate.tier, model=due.mate.model)
        facts = self._ports.models.facts(route)
        view = opening_view(
            state,
            due.mate,
            await self.calls.shown_to(state, due.mate, facts.window) if offers else (),
            facts,
            self._ports.stamp.clock.now().astimezone(self._zone()),
            turns=self.turns_of(state),
            branches=self._settings().branches,
        )
        if not offers:
            return view
        if (role := state.role).second:
            seen = self._with_peer(state, role, view.perception)
            view = OpeningView(perception=seen, edits=view.edits, upto=view.upto)
        if facts.small:
            return view
        return await self.learning.with_insights(state, due.mate, view)

    def _with_peer(
        self, state: TaskState, role: WorkRole, seen: AgentPerception
    ) -> AgentPerception:
        """The same view, with who is asked for a second opinion: always the same one of a task."""
        peer = peer_of(role, int(state.id.replace("-", "")[-8:], 16))
        mate, model = self.calls.roles.role(peer.handle), self._choice.role(peer)
        more = {"peer": peer.title, "peer_character": mate.prompt, "peer_tier": str(model.tier)}
        return replace(seen, context={**seen.context, **more})

    def senses(self, state: TaskState, turn: Taken) -> TurnSenses:
        """See `World.senses`."""
        tools = self.calls.offered_to(state, turn.due.mate)

        def permit(call: Call) -> CallPermission:
            return self.calls.judged(state, tools, call, turn.egress)

        budget = self.calls.budget_of(state)
        money = max(0.0, budget - float(state.dollars)) if budget else None
        task = state.task
        return TurnSenses(
            news=tuple if turn.due.summons == REFLECT else self._news_since_look(state),
            permit=permit,
            bounds=TurnBounds(seconds=SECONDS, money=money),
            charge=Charge(person=task.person, surface=task.surface, owner=task.owner),
        )

    def _news_since_look(self, state: TaskState) -> Callable[[], tuple[Line, ...]]:
        """What people said during the turn, since the last look."""
        told = set(state.pending)

        def news() -> tuple[Line, ...]:
            fresh = {id: body for id, body in state.pending.items() if id not in told}
            told.update(fresh)
            return tuple(
                Line(kind="heard", who=public_words(PERSON), text=body.text, id=id)
                for id, body in fresh.items()
            )

        return news

    # ------------------------------------------------------------ what it comes to

    async def judge(
        self,
        state: TaskState,  # noqa: ARG002
        turn: Taken,
        plan: AgentActionPlan,
    ) -> tuple[AgentActionPlan, tuple[Verdict, ...]]:
        """See `World.judge`."""
        safe = turn.egress.finish
        acts, verdicts = [], list[Verdict]()
        for act in plan.acts:
            match act:
                case FinishWork(result=said):
                    act = replace(act, result=safe(said)[0])
                case AskPerson(question=said):
                    act = replace(act, question=safe(said)[0])
                case GoOn(did=said, unused=unused):
                    act = replace(act, did=safe(said)[0], unused=safe(unused)[0])
                case LookBack(claims=claims):
                    clean = tuple(replace(one, text=safe(one.text)[0]) for one in claims)
                    act = replace(act, claims=clean)
            acts.append(act)
            fine = isinstance(act, WorkAct)
            why = "" if fine else "That cannot be done in a task."
            rule = "" if fine else "elsewhere"
            verdicts.append(Verdict(act=kind_of(act), allowed=fine, rule=rule, why=why))
        return replace(plan, acts=tuple(acts)), tuple(verdicts)

    def apply(
        self, state: TaskState, turn: Taken, ended: TurnEnding, verdicts: Sequence[Verdict]
    ) -> AppliedTurn:
        """See `World.apply`."""
        if turn.due.summons == REFLECT:
            facts = self.learning.reflected(state, turn, ended)
        else:
            most = self.turns_of(state)
            facts = self.outcomes.facts(state, turn, ended, verdicts, most=most)
        return AppliedTurn(facts=facts, withdrawn=ended.why if ended.plan is None else "")
