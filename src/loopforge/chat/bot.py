"""The room as a world: what its mates are shown, what of their plans may happen, what that makes.

What is due is room_loop.py's, and how a turn goes is the same in every world (runtime/world.py).
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice

from loopforge.artifacts.file_intake import plain_name
from loopforge.chat.reminders.reminder_service import own_waking, reminders_left, waking_told
from loopforge.chat.reminders.reminder_tools import REMIND
from loopforge.chat.room.participants import namesake_labels
from loopforge.chat.room.permissions import (
    answered_people,
    call_permission,
    charge_for_lines,
    origin_of_person,
    relay_depth,
)
from loopforge.chat.room.room_state import RoomState
from loopforge.chat.room.room_store import PREFIX
from loopforge.chat.room.turn_queue import CALLED, TITLE, TRANSCRIPT
from loopforge.chat.room_loop import SCRIBE, STOPPED, RoomLoop, RoomTurn
from loopforge.chat.speaking.room_rules import RoomRules
from loopforge.chat.turns import room_titles
from loopforge.chat.turns.apply_acts import (
    EGRESS,
    ActsOutcome,
    carry_out,
    delivery_facts,
    mark_filtered_verdicts,
    refuse_hidden_secrets,
    reword_line,
    safe_plan,
    spoken_here,
)
from loopforge.chat.turns.attached_files import resolve_attachments
from loopforge.chat.turns.build_perception import PerceptionBuilder, own_tools
from loopforge.chat.turns.fallback_mate import FallbackMate, room_notice
from loopforge.chat.turns.memory_evidence import grounds_of
from loopforge.chat.turns.tool_questions import KEPT_IN, LEAK, AskingMate, ToolQuestions, leak_of
from loopforge.chat.turns.voice_notes import add_transcript, transcript_failure_notice
from loopforge.core import act_guard
from loopforge.core.act_guard import RECENT_LINES, Rights
from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.context_window import as_lines, mark_namesakes
from loopforge.core.events import Fact
from loopforge.core.limits.budget_limits import BudgetNote, budget_spent_notice
from loopforge.core.limits.turn_bounds import strictest_bounds
from loopforge.core.mates.mate_file import Mate
from loopforge.core.model_trouble import (
    OUTCOMES,
    UNREACHED,
    Delay,
    Trouble,
    advice_for,
    cause_to_report,
    explain_no_answer,
    seconds_asked,
)
from loopforge.core.perception import Line
from loopforge.core.policy import Call
from loopforge.core.room_vocabulary import ConversationBegan, Noted, Said, Schedule
from loopforge.core.schedule.reminder_events import ReminderSet
from loopforge.core.text.erasable_text import Words
from loopforge.core.turn_events import Verdict, last_attempts
from loopforge.runtime.draft_stream import KEPT_DRAFT
from loopforge.runtime.effects.effect_worker import ENDS
from loopforge.runtime.ports import CallPermission, RoomFiles, ToolCall
from loopforge.runtime.turn_driver import TurnEnding, TurnPorts
from loopforge.runtime.world import OVERTAKEN, AppliedTurn, OpeningView, TakenTurn, TurnSenses

LOST = "{name} meant to send the file {file}, but {why}."
BROKEN = "My last turn broke off half way; what I did then may or may not have happened."
TROUBLE = OUTCOMES | {"silence": "nothing was said in it that the model made out"}

Taken = TakenTurn[RoomTurn]


class Bot:
    """Rooms, as a `World`. `mates` are those of this home by handle, as they are on file now."""

    prefix = PREFIX
    waking: Collection[str] = (
        "room.heard",
        "room.answer_wanted",
        "room.unprompted_set",
        "room.stopped",
        "room.closed",
        "room.line_deleted",
        "reminder.set",
        "reminder.moved",
        "reminder.cancelled",
        *ENDS,
    )

    def __init__(
        self,
        ports: TurnPorts,
        conduct: RoomLoop,
        viewer: PerceptionBuilder,
        mates: Mapping[str, Mate],
        rules: RoomRules,
        relief: FallbackMate,
        files: RoomFiles,
        questions: ToolQuestions,
    ) -> None:
        self._files = files
        self._ports, self._viewer, self._mates = ports, viewer, mates
        self._rules, self._relief = rules, relief
        self._questions = questions
        self.fold, self.due = conduct.fold, conduct.due

    # ------------------------------------------------------------ what a mate is shown

    async def perceive(self, state: RoomState, due: RoomTurn) -> OpeningView:
        """See `World.perceive`."""
        entries, upto = state.recent(12) if due.mate.handle == SCRIBE else None, state.seq
        if due.summons == TRANSCRIPT:
            entries = [state.lines[due.line]]
        view = await self._viewer.view(state, due.mate, due.called, entries)
        before = []
        if view.purged is not None:
            before = [self._ports.stamp.fact(view.purged, actor="room", cause=due.line)]
        return OpeningView(
            perception=view.perception,
            edits=view.edits,
            tokens=view.tokens,
            before=before,
            upto=upto,
            recalled=view.recalled,
            also=due.called.also,
        )

    def senses(self, state: RoomState, turn: Taken) -> TurnSenses:
        """See `World.senses`."""
        lines, known, mate = turn.due.called.lines, self._ports.tools.known, turn.due.mate.handle
        own = frozenset(own_tools(turn.due.mate, known()))

        def permit(call: Call) -> CallPermission:
            permission = call_permission(state, mate, own, lines, call, known())
            if permission.verdict == "refused" or not self._leak_in_call(state, turn, call):
                return permission
            return permission._replace(verdict="refused", by=EGRESS, why=KEPT_IN)

        charge = turn.due.called.by or charge_for_lines(state, turn.due.called.lines)
        if mate == SCRIBE:
            return TurnSenses(permit=permit, charge=charge)
        senses = TurnSenses(
            news=self._news_since_look(state, mate),
            permit=permit,
            asking=self._asker_of_people(state, turn),
            bounds=strictest_bounds(turn.due.mate.bounds, state.bounds, self._rules.bounds),
            depth=1 + turn.due.step + relay_depth(state, lines),
            charge=charge,
            pace=0 if state.unpaced else turn.due.mate.pace,
        )
        return (
            replace(senses, slow=self._delay_notifier(state, turn)) if turn.due.awaited else senses
        )

    def _asker_of_people(self, state: RoomState, turn: Taken) -> Callable[[Call, str], list[Fact]]:
        """Ask the people of the room whether it may use a tool, with exactly what is to run."""
        asks = AskingMate(state, turn.due.mate, turn.due.called.lines)
        return lambda call, effect: self._questions.facts(asks, call, effect)

    def _news_since_look(self, state: RoomState, mate: str) -> Callable[[], tuple[Line, ...]]:
        """What was heard in the room since the last look."""
        seen = state.seq

        def news() -> tuple[Line, ...]:
            nonlocal seen
            fresh = [entry for entry in state.page.since(seen) if entry.who != mate]
            seen = state.seq
            if not fresh:
                return ()
            named = {handle: one.name for handle, one in self._mates.items()}
            which = namesake_labels(state.former | state.people, named)
            called = {handle: Words(name, public=True) for handle, name in named.items()}
            return mark_namesakes(as_lines(fresh, mate, called, self._rules.zone), fresh, which)

        return news

    def _delay_notifier(self, state: RoomState, turn: Taken) -> Callable[[str, str, Delay], None]:
        """Have the room told when a mate that was called lets it wait, and who is asked next."""
        stream, name = state.stream, turn.due.mate.name

        def slow(model: str, others: str, how: Delay) -> None:
            then = f"{others} is asked next" if others else "nobody can stand in"
            does = {
                "slow": f"does not answer yet; {then}",
                "busy": f"is too busy just now and is asked again; {then}",
                "thinking": "has begun, and there is no word to show yet",
                "stalled": "has stopped in the middle of its answer",
            }
            text = f"{name} is taking long: {model} {does[how]}."
            if facts := self._notice_once(state, turn, text, [(model, how)]):
                work = self._ports.ledger.append(stream, facts)
                self._ports.tasks.spawn(work, f"notice in {stream}")

        return slow

    # ------------------------------------------------------------ what may happen

    async def judge(
        self, state: RoomState, turn: Taken, plan: AgentActionPlan
    ) -> tuple[AgentActionPlan, tuple[Verdict, ...]]:
        """See `World.judge`."""
        title = ""
        if turn.due.summons == TITLE:
            recent = [entry.text.text for entry in state.recent(12)]
            mates = (self._mates[mate].name for mate in state.mates if mate in self._mates)
            names = [*state.mates, *mates, *(str(one.name) for one in state.people.values())]
            title = room_titles.fallback([text for text in recent if text is not None], names)
        lines, spoken = turn.due.called.lines, spoken_here(state)
        call = ToolCall(
            arguments={},
            stream=state.stream,
            turn=turn.id,
            mate=turn.due.mate.handle,
            people=answered_people(state, lines),
            present=tuple(state.people),
        )
        most = self._rules.file_limit
        turn.attached.update(
            await resolve_attachments(self._files, call, plan, turn.egress, spoken, most)
        )
        plan, taken = safe_plan(plan, turn.egress, title)
        verdicts = mark_filtered_verdicts(
            act_guard.judge(plan, self._rights_of(state, turn, plan)), taken
        )
        return plan, refuse_hidden_secrets(plan, verdicts, turn.egress, spoken)

    def _leak_in_call(self, state: RoomState, turn: Taken, call: Call) -> str:
        """How a call would tell a secret of this home."""
        return leak_of(state, turn.egress, call)

    def _wakings_left(self, state: RoomState, turn: Taken, plan: AgentActionPlan) -> int:
        """How often it may have itself woken later, where it wants to: as it may use `remind`."""
        if not any(isinstance(act, Schedule) for act in plan.acts):
            return 0
        lines, known, mate = turn.due.called.lines, self._ports.tools.known(), turn.due.mate
        people = answered_people(state, lines)
        own = frozenset(own_tools(mate, known))
        call = Call(REMIND.name)
        granted = call_permission(state, mate.handle, own, lines, call, known).verdict == "runs"
        return reminders_left(state, people[-1], self._rules.reminders) if people and granted else 0

    def _rights_of(self, state: RoomState, turn: Taken, plan: AgentActionPlan) -> Rights:
        handle = turn.due.mate.handle
        latest = reversed(state.lines.values())
        own = [*islice((e for e in latest if e.kind == "said" and e.who == handle), RECENT_LINES)]
        if turn.due.summons in CALLED and not turn.due.anew:  # "Yes." twice answers two questions
            calls = (e for line in turn.due.called.lines if (e := state.lines.get(line)))
            asked = max((e.seq for e in calls if e.kind == "heard" and not e.bot), default=0)
            own = [each for each in own if each.seq > asked]
        return Rights(
            energy=max(state.energy.left, bool(turn.due.anew)),
            steps=self._rules.steps - 1 - turn.due.step,
            stopped=state.stopped,
            max_say=self._rules.say_limit,
            max_file=self._rules.file_limit,
            lines=frozenset(state.lines),
            memory=handle != SCRIBE,
            wakings=self._wakings_left(state, turn, plan),
            now=self._ports.stamp.clock.now(),
            may_title=turn.due.summons == TITLE and state.titled_by in ("", "room"),
            may_transcribe=turn.due.summons == TRANSCRIPT,
            may_say=handle != SCRIBE,
            recent=tuple(str(entry.text) for entry in reversed(own)),
            anew=bool(turn.due.anew),
        )

    # ------------------------------------------------------------ what it comes to

    def apply(
        self, state: RoomState, turn: Taken, ended: TurnEnding, verdicts: Sequence[Verdict]
    ) -> AppliedTurn:
        """See `World.apply`."""
        plan, handle = ended.plan, turn.due.mate.handle
        if plan is None:
            noted = Noted(turn=turn.id, mate=handle, text=Words(BROKEN))
            fact = self._ports.stamp.fact(noted, actor=f"mate:{handle}", cause=turn.id)
            trouble = "its policy failed" if ended.outcome == "failed" else ""
            broken = ended.outcome == "diverged" and ended.effects and ended.why != OVERTAKEN
            unpaid = partial(self._budget_notice, state, turn, ended.budget)
            if ended.why == STOPPED and (kept := self._keep_cut_line(state, turn)):
                return AppliedTurn(facts=kept, after=unpaid)
            return AppliedTurn(
                facts=[fact] if broken else (),
                after=lambda: [*unpaid(), *self._turn_notices(state, turn, "", trouble)],
                withdrawn=ended.why or ended.outcome,
            )
        done = self._carry_out_plan(state, turn, plan, verdicts)
        refused = next((v.why for v in verdicts if v.act == "say" and not v.allowed), "")
        named = str(plan.meta.get("trouble", ""))
        cause = cause_to_report(each[1] for each in turn.troubles) if named in UNREACHED else ""
        unanswered = explain_no_answer(cause) if cause else TROUBLE.get(named, "")

        def after() -> list[Fact]:
            unpaid = any(each[1] == "budget" for each in turn.troubles)
            reached = done.spoke or done.again or named not in UNREACHED or unpaid
            relief = self._fallback_facts(state, turn, reached=reached)
            if unpaid:
                return [*relief, *self._budget_notice(state, turn, ended.budget)]
            whole = done.spoke and turn.due.summons != TRANSCRIPT  # of several notes one may fail
            if whole or done.again or (relief and not reached):
                trouble = ""
            else:
                trouble = unanswered if named or turn.egress.leaks else refused
            fallback = ended.fallback if done.spoke else ""
            wait = _seconds_until_model(ended)
            return [*relief, *self._turn_notices(state, turn, fallback, trouble, wait)]

        gone = "" if done.spoke else refused or unanswered or "it decided to say nothing"
        facts = [*done.facts, *self._waking_notices(state, turn, done.facts)]
        if done.spoke and not state.conversation:  # it speaks up after a long silence
            facts = [self._ports.stamp.fact(ConversationBegan(why="idle"), actor="room"), *facts]
        return AppliedTurn(facts=facts, after=after, withdrawn=gone)

    def _carry_out_plan(
        self, state: RoomState, turn: Taken, plan: AgentActionPlan, verdicts: Sequence[Verdict]
    ) -> ActsOutcome:
        """The facts of what it may do."""
        handle, stamp = turn.due.mate.handle, self._ports.stamp
        if turn.due.summons == TRANSCRIPT:
            return add_transcript(state, plan, verdicts, stamp, turn.id, turn.due.line)
        if line := turn.due.anew:
            return reword_line(plan, verdicts, stamp, turn.id, handle, line, state.places)
        lines = turn.due.called.lines
        person = "".join(answered_people(state, lines)[-1:])
        return carry_out(
            plan,
            verdicts,
            stamp=stamp,
            turn=turn.id,
            mate=handle,
            surfaces=(*self._rules.surfaces, *state.places),
            attached=turn.attached,
            waking=partial(
                own_waking,
                state,
                stamp.clock.now(),
                mate=handle,
                person=person,
                origin=origin_of_person(state, lines, person),
                zone=self._rules.zone.key,
            ),
            grounds=partial(grounds_of, state, handle, turn.perception, turn.due.called.lines),
        )

    def _keep_cut_line(self, state: RoomState, turn: Taken) -> list[Fact]:
        """What it had said when a person stopped it, where that is a sentence or so.

        People have read it. Less than that is not worth keeping, nor is what a secret stands in;
        and what was recalled for others than those who are here by now is not theirs.
        """
        text, _ = turn.egress.finish(turn.egress.shown)
        if turn.due.anew:
            return []
        if (begun := state.open.get(turn.id)) is not None and begun.overtaken:
            return []
        if len(text) < KEPT_DRAFT or turn.egress.leak([text], spoken_here(state)):
            return []
        handle, stamp = turn.due.mate.handle, self._ports.stamp
        said = Said(turn=turn.id, mate=handle, text=Words(f"{text} …"), cut=True)
        fact = stamp.fact(said, actor=f"mate:{handle}", cause=turn.id)
        return [fact, *delivery_facts(fact, (*self._rules.surfaces, *state.places), stamp)]

    def _fallback_facts(self, state: RoomState, turn: Taken, *, reached: bool) -> list[Fact]:
        """What goes with the end of this turn, by whether a model answered."""
        mate, due = turn.due.mate, turn.due.called
        if mate.handle == SCRIBE:
            return []
        troubles = () if reached else tuple(turn.troubles)
        return self._relief.after(state, mate, due, reached=reached, troubles=troubles)

    def _budget_notice(self, state: RoomState, turn: Taken, note: BudgetNote | None) -> list[Fact]:
        """The room says, once, that a budget is spent and until when; the owner what to do."""
        if note is None or not note.told:
            return []
        return self._notice_once(state, turn, budget_spent_notice(note), [(note.budget, "budget")])

    def _turn_notices(
        self, state: RoomState, turn: Taken, fallback: str, trouble: str, wait: float = 0.0
    ) -> list[Fact]:
        """What people should know: another model answered, nobody could, a secret was kept in.

        `wait`: the seconds after which one may.
        """
        name, facts = turn.due.mate.name, list[Fact]()
        if ways := turn.egress.leaks:
            how = [(way, "secret") for way in ways]
            facts += self._notice_once(state, turn, LEAK.format(name=name), how)
        if turn.due.summons == TRANSCRIPT and trouble:
            text = transcript_failure_notice(state, turn.due.line, trouble.rstrip("."))
            return [*facts, *(self._notice_once(state, turn, text, turn.troubles) if text else [])]
        if turn.due.mate.handle == SCRIBE:
            return []
        for file, why in turn.attached.items():
            if isinstance(why, str):
                lost = LOST.format(name=name, file=plain_name(file), why=why)
                facts += self._notice_once(state, turn, lost, [])
        if fallback:
            text = f"{name}'s usual model is not answering, so {fallback} answers in its place."
            facts += self._notice_once(state, turn, text, turn.troubles)
        if trouble and turn.due.awaited:
            why = trouble.rstrip(".")
            text = f"{name} gave no answer ({why}). {advice_for(why, wait)}".rstrip()
            if turn.due.anew:
                text = f"{name} found no other words ({why})."
            facts += self._notice_once(state, turn, text, turn.troubles, anew=True)
        return facts

    def _waking_notices(self, state: RoomState, turn: Taken, facts: Sequence[Fact]) -> list[Fact]:
        """What people should know of what it has set itself."""
        name, now = turn.due.mate.name, self._ports.stamp.clock.now()
        told = [waking_told(name, e.body, now) for e in facts if isinstance(e.body, ReminderSet)]
        return [fact for text in told for fact in self._notice_once(state, turn, text, [])]

    def _notice_once(
        self,
        state: RoomState,
        turn: Taken,
        text: str,
        troubles: Sequence[Trouble],
        *,
        anew: bool = False,
    ) -> list[Fact]:
        """Say it in the room, unless it was said lately; with what the owner alone is told.

        `anew`: to a person who calls again it is said again.
        """
        known = [entry for entry in state.lines.values() if entry.kind == "told"]
        called = state.lines.get(turn.due.line)
        if anew and called is not None and called.kind == "heard":
            known = [entry for entry in known if entry.seq > called.seq]
        if text in {str(entry.text) for entry in known[-8:]}:
            return []
        told = room_notice(text, troubles)
        fact = self._ports.stamp.fact(told, actor="room", cause=turn.id)
        return [fact, *delivery_facts(fact, state.places, self._ports.stamp)]


def _seconds_until_model(ended: TurnEnding) -> float:
    """Seconds for which the models that did not answer asked to be left alone; 0 for none."""
    tries = last_attempts(fact.body for fact in ended.facts)
    return seconds_asked((each.model, each.cause, each.wait) for each in tries)
