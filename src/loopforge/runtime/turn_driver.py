"""The driver of a turn: the one file that performs what a policy asks for.

    perception -> policy -> Ask -> (record Asked, ask the model, record Answered) -> policy -> plan

It records each request before performing it, and each reply before the next thing happens. It
never decides: refusals, time-outs and malformed answers go to the policy as they are. `stop`
closes the generator at once, wherever it waits.

Caller must: append `TurnEnding.facts` (what is recorded and not yet written) together with what the
world makes of the plan, so that a plan and its effects are in the ledger at once or not at all.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Literal, assert_never

from msgspec.structs import replace

from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.events import Body, Fact
from loopforge.core.limits.budget_limits import BudgetNote, Charge
from loopforge.core.limits.turn_bounds import (
    MOST_REQUESTS,
    UNBOUND,
    UNSPENT,
    TurnBounds,
    TurnSpending,
)
from loopforge.core.model_trouble import Delay, Trouble
from loopforge.core.perception import AgentPerception, Line
from loopforge.core.policy import (
    Answer,
    AnswerOutcome,
    Ask,
    Asking,
    Call,
    Policy,
    Result,
)
from loopforge.core.text.erasable_text import Words, public_words, replace_lone_surrogates
from loopforge.core.text.malformed_answer import (
    LenientReading,
    read_lenient_answer,
    read_valid_answer,
)
from loopforge.core.turn_events import Answered, Asked, Planned, Returned
from loopforge.errors import HostTaken, LedgerError, ModelLost
from loopforge.runtime.background_tasks import BackgroundTasks, gather_whole
from loopforge.runtime.draft_stream import DraftStream
from loopforge.runtime.effects.effect_worker import DIED, EffectOutcome, Effects
from loopforge.runtime.exchange_replay import (
    ExchangeReplay,
    ReplayDiverged,
    ReplayErased,
    ReplayOnward,
    ReplaySaid,
    ReplaySame,
)
from loopforge.runtime.mind_containment import (
    THINKING,
    MindFailed,
    MindReturned,
    Parts,
    Replies,
    as_json,
    copy_perception,
    drive,
    mind_failure,
)
from loopforge.runtime.ports import (
    CallPermission,
    Draft,
    EffectPlace,
    Ledger,
    ModelReply,
    Models,
    Question,
    QuestionPicture,
    Route,
    Signals,
    Tools,
)
from loopforge.runtime.system_clock import Stamp
from loopforge.runtime.turn_meter import TurnMeter
from loopforge.runtime.turn_record import Recorder, Texts

THOUGHTS = 8
"""Times that a mind that acts in no room may ask."""
PICTURES = attrgetter("pictures")

TurnOutcome = Literal["planned", "stopped", "diverged", "failed"]


@dataclass(frozen=True)
class TurnPorts:
    """What a turn needs of the world."""

    ledger: Ledger
    models: Models
    tools: Tools
    effects: Effects
    signals: Signals
    stamp: Stamp
    recorder: Recorder
    tasks: BackgroundTasks


@dataclass(frozen=True)
class TurnSeat:
    """Who takes this turn, and where.

    `safe` makes a draft fit to be shown (the egress filter: the whole raw text so far, in and
    out). `news` gives the lines heard since it was last called; `permit` says
    whether a call may run. `asking` gives what people are told of a tool
    that asks first, by its call and the id of its effect. `slow` is told of a model that lets one
    wait, as in draft_stream.py; models that did not answer are added to `troubles`. A line is at
    most `longest` characters long (0: any). It asks at most `most` times, and has no more done by
    tools than `bounds` allow, of which `spent` is gone. `charge` says for whom it is paid, beside
    this mate in this stream. `anew` is the line that it says once more; `whole`: what it says is
    shown when it is said, not as it comes.
    """

    stream: str
    mate: str
    turn: str
    route: Route
    permit: Callable[[Call], CallPermission] = lambda _call: CallPermission()
    safe: Callable[[str], str] = str
    news: Callable[[], tuple[Line, ...]] = tuple
    slow: Callable[[str, str, Delay], None] = lambda _model, _others, _how: None
    asking: Callable[[Call, str], Sequence[Fact]] = lambda _call, _effect: ()
    troubles: list[Trouble] = field(default_factory=list)
    longest: int = 0
    most: int = MOST_REQUESTS
    bounds: TurnBounds = UNBOUND
    spent: TurnSpending = UNSPENT
    charge: Charge | None = None
    anew: str = ""
    whole: bool = False

    @property
    def payer(self) -> Charge:
        """For whom all of it is paid, whole."""
        named = self.charge or Charge()
        return replace(named, stream=self.stream, mate=self.mate, turn=self.turn)


@dataclass
class TurnEnding:
    """How a turn ended. `facts` are recorded but not yet in the ledger.

    `effects`: it asked for a tool, so that it cannot simply be taken anew. `took_in` are ids of
    lines that came in as news and were put before the model in this very turn. `fallback` is the
    model that answered in place of the first choice, if one did; `budget` what one said last, or
    that it was spent.
    """

    outcome: TurnOutcome
    facts: list[Fact]
    plan: AgentActionPlan | None = None
    why: str = ""
    effects: bool = False
    took_in: tuple[str, ...] = ()
    fallback: str = ""
    budget: BudgetNote | None = None


class Turn:
    """One turn of one mind. `opening` are facts to be written before its first request."""

    def __init__(self, ports: TurnPorts, seat: TurnSeat, opening: Sequence[Fact] = ()) -> None:
        self._ports, self._seat = ports, seat
        self._facts = list(opening)
        self._work: asyncio.Task[Any] | None = None
        self._stopped, self._anew = "", False
        self._effects: dict[int, str] = {}
        self._news: dict[str, Line] = {}
        self._taken_in: dict[str, None] = {}
        self._fallback = ""
        self._budget: BudgetNote | None = None
        self._meter = TurnMeter(seat.bounds, seat.spent, ports.stamp.clock)

    def stop(self, why: str, *, anew: bool = False) -> None:
        """Halt: whatever is awaited is cancelled now, and the policy is closed.

        With `anew`, the turn is to be taken anew: its tools go on.
        """
        self._stopped, self._anew = why, anew
        if self._work is not None:
            self._work.cancel()

    async def run(
        self, policy: Policy, perception: AgentPerception, record: Sequence[ReplaySaid] = ()
    ) -> TurnEnding:
        """Drive the policy to its plan, over what is already recorded and then live."""
        self._effects = {nth: said.effect for nth, said in enumerate(record, 1) if said.effect}
        playback = ExchangeReplay(record)

        async def perform(
            _nth: int, parts: Parts
        ) -> Replies | ReplayErased | ReplayDiverged | MindFailed | None:
            self._take_in(parts)
            at = playback.take(parts)
            if isinstance(at, ReplayErased | ReplayDiverged):
                return at
            for reply in at.replies.values() if isinstance(at, ReplayOnward) else at:
                self._note_news(reply.news)
            if not isinstance(at, ReplayOnward):
                return at
            return None if self._stopped else await self._perform(at, parts)

        found = await drive(lambda: policy(copy_perception(perception)), perform, self._seat.most)
        match playback.ended(found) if isinstance(found, MindReturned) else found:
            case ReplaySame(plan, written):
                return self._end_with_plan(plan, written)
            case ReplayErased(nth):
                return self._end_as("diverged", why=f"what request {nth} rested on was forgotten")
            case ReplayDiverged(nth):
                return self._end_as("diverged", why=f"the policy now does otherwise at {nth}")
            case MindFailed(why):
                return self._end_as("failed", why=why)
            case None if self._anew:
                return self._end_as("diverged", why=self._stopped)
            case None:
                self._ports.effects.stop(self._seat.stream, self._stopped, self._seat.turn)
                return self._end_as("stopped", why=self._stopped)
            case never:
                assert_never(never)

    # ------------------------------------------------------------ performing

    async def _perform(self, at: ReplayOnward, parts: Parts) -> Replies | MindFailed | None:
        """The replies to one request's parts, or None when a person said stop."""
        try:
            self._record_requests(at, parts)
        except Exception as error:  # whatever is wrong with what a mind asks
            return mind_failure(error)
        await self._flush()
        self._work = self._ports.tasks.spawn(
            self._perform_all(at, parts), f"turn {self._seat.turn}"
        )
        if self._stopped:
            self._work.cancel()
        try:
            done: Replies = await self._work
        except asyncio.CancelledError:
            if _is_being_cancelled() or not self._stopped:
                self._work.cancel()
                raise
            return None
        except (LedgerError, HostTaken):
            raise
        except Exception as error:  # a model is anybody's code, and was asked what a mind wrote
            return mind_failure(error)
        finally:
            self._work = None
        return done

    async def _perform_all(self, at: ReplayOnward, parts: Parts) -> Replies:
        works = [
            self._perform_one(part, at.nth + place, at.replies.get(place))
            for place, part in enumerate(parts)
        ]
        return await gather_whole(works)

    async def _perform_one(
        self, part: Ask | Call, nth: int, known: Answer | Result | None
    ) -> Answer | Result:
        if known is not None:
            return known
        return await (self._ask(part, nth) if isinstance(part, Ask) else self._await_result(nth))

    def _record_requests(self, at: ReplayOnward, parts: Parts) -> None:
        """Note what is about to be performed. Raises whatever is wrong with what a mind asks."""
        for place, part in enumerate(parts):
            if place in at.asked:
                continue
            if isinstance(part, Ask):
                self._facts.append(self._asked_fact(part, at.nth + place))
            else:
                self._propose_call(part, at.nth + place)

    def _propose_call(self, call: Call, nth: int) -> None:
        """Note that a tool is wanted, and whether it may be used."""
        seat, effects = self._seat, self._ports.effects
        permission = seat.permit(call)
        if bound := self._meter.bound:
            why = f"{call.tool} was not used: {bound}."
            permission = permission._replace(verdict="refused", by="bounds", why=why)
        self._meter.called()
        facts = effects.proposal(
            call, EffectPlace(seat.stream, seat.turn, nth, seat.charge), self._actor, permission
        )
        self._effects[nth] = facts[0].id
        self._facts += facts
        if getattr(facts[0].body, "asks", False):
            self._facts += seat.asking(call, facts[0].id)

    def _asked_fact(self, part: Ask, nth: int) -> Fact:
        """The fact that this question is about to be put."""
        seat = self._seat
        id = self._ports.stamp.id()
        body = Asked(
            turn=seat.turn,
            nth=nth,
            purpose=part.purpose,
            prompt=self._ports.recorder.prompt((seat.stream, seat.mate), id, part),
            schema=public_words(as_json(part.schema) if part.schema else ""),
            aloud=part.aloud,
            field=part.field,
            max_tokens=part.max_tokens,
            tier=part.tier,
        )
        return Fact(
            id=id, at=self._ports.stamp.clock.now(), actor=self._actor, body=body, cause=seat.turn
        )

    async def _ask(self, part: Ask, nth: int) -> Answer:
        clock, tasks = self._ports.stamp.clock, self._ports.tasks
        drafts = DraftStream(part, self._publish_draft, clock, tasks, slow=self._seat.slow)
        texts = self._ports.recorder.texts((self._seat.stream, self._seat.mate), part.messages)
        question = question_of(part, self._seat.route, self._seat.longest, texts, self._seat.payer)
        try:
            reply = await self._ports.models.ask(question, drafts)
        except asyncio.CancelledError:
            drafts.stop()
            if self._stopped:
                self._facts.append(self._fact(self._cut_off(nth, drafts)))
            raise
        drafts.end()
        if reply.fallback and reply.outcome not in ("failed", "timed_out"):
            self._fallback = reply.model
        self._seat.troubles.extend(
            (one.model, one.cause, one.has) if one.has else (one.model, one.cause)
            for one in reply.attempts
            if one.cause
        )
        return self._record_answer(part, nth, reply)

    def _cut_off(self, nth: int, drafts: DraftStream) -> Answered:
        """What came of a question until a person said stop, and about what that took."""
        return Answered(
            turn=self._seat.turn,
            nth=nth,
            outcome="cancelled",
            text=Words("".join(drafts.raw)),
            attempts=drafts.tries,
            usage=drafts.usage,
            charge=self._seat.charge,
        )

    def _record_answer(self, part: Ask, nth: int, reply: ModelReply) -> Answer:
        """Put down what came of a question, and tell the mind."""
        self._meter.asked(*(usage for _, usage in reply.usages))
        if self._budget is None or self._budget.level != "spent":
            self._budget = reply.budget
        news = self._hear_news()
        outcome, reading = read_of(part, reply)
        text, data = replace_lone_surrogates(reply.text), replace_lone_surrogates(reading.data)
        body = Answered(
            turn=self._seat.turn,
            nth=nth,
            outcome=outcome,
            text=Words(reply.text),
            parsed=Words(as_json(data)) if data is not None else public_words(""),
            model=reply.model,
            fallback=reply.fallback,
            attempts=reply.attempts,
            usage=reply.usage,
            first=reply.first,
            took=reply.took,
            heard=news,
            mended=reading.notes,
            cut=reading.cut,
            small=reply.small,
            charge=self._seat.charge,
            budget=reply.budget,
        )
        self._facts.append(self._fact(body))
        model, fallback = reply.model, reply.fallback
        return Answer(
            outcome, text, data, model, fallback, news, cut=reading.cut, small=reply.small
        )

    async def _await_result(self, nth: int) -> Result:
        """What the tool came to, or that it goes on; unknown, if it is of before effects."""
        began = self._ports.stamp.clock.ticks()
        effect = self._effects.get(nth)
        meter, end = self._meter, EffectOutcome("unknown", DIED)
        try:
            if effect:
                end = await self._ports.effects.outcome(effect, meter.seconds)
        except asyncio.CancelledError:
            if self._stopped:
                self._facts.append(
                    self._result_fact(nth, Result("cancelled", self._stopped), began)
                )
            raise
        value = meter.ended(*end)
        result = Result(end.outcome, value, self._hear_news(), meter.left, meter.bound)
        self._facts.append(self._result_fact(nth, result, began, end.cost))
        return result

    def _result_fact(self, nth: int, result: Result, began: float, cost: float = 0.0) -> Fact:
        body = Returned(
            turn=self._seat.turn,
            nth=nth,
            outcome=result.outcome,
            value=Words(result.value),
            took=round((self._ports.stamp.clock.ticks() - began) * 1000),
            heard=result.news,
            cost=cost,
            left=result.left,
            bound=result.bound,
        )
        return self._fact(body)

    # ------------------------------------------------------------ speaking and hearing

    def _publish_draft(self, words: str) -> None:
        if not self._seat.whole and (text := self._seat.safe(words)):
            seat = self._seat
            draft = Draft(turn=seat.turn, mate=seat.mate, text=text, anew=seat.anew)
            self._ports.signals.publish(self._seat.stream, draft)

    def _hear_news(self) -> tuple[Line, ...]:
        news = self._seat.news()
        self._note_news(news)
        return news

    def _note_news(self, news: Sequence[Line]) -> None:
        self._news.update((line.id, line) for line in news if line.id)

    def _take_in(self, requests: Parts) -> None:
        """Note which of the news stand in a prompt: those need no further answer."""
        if not self._news:
            return
        asked = [message for one in requests if isinstance(one, Ask) for message in one.messages]
        parts = [words for message in asked for words in message.parts]
        for id, line in self._news.items():
            if any(words is line.text for words in parts):
                self._taken_in[id] = None

    # ------------------------------------------------------------ recording

    @property
    def _actor(self) -> str:
        return f"mate:{self._seat.mate}"

    def _fact(self, body: Body) -> Fact:
        return self._ports.stamp.fact(body, actor=self._actor, cause=self._seat.turn)

    async def _flush(self) -> None:
        facts, self._facts = self._facts, []
        if facts:
            try:
                await self._ports.ledger.append(self._seat.stream, facts)
            except BaseException:
                self._ports.recorder.forget((self._seat.stream, self._seat.mate))
                raise

    def _end_with_plan(self, plan: AgentActionPlan, written: str) -> TurnEnding:
        body = Planned(
            turn=self._seat.turn,
            intent=plan.intent,
            mode=plan.mode,
            plan=Words(written),
            narrative=Words(plan.narrative),
            rule=Words(plan.rule),
        )
        self._facts.append(self._fact(body))
        return self._end_as("planned", plan=plan)

    def _end_as(
        self, outcome: TurnOutcome, *, plan: AgentActionPlan | None = None, why: str = ""
    ) -> TurnEnding:
        facts, self._facts = self._facts, []
        taken = tuple(self._taken_in)
        effects, budget = bool(self._effects), self._budget
        return TurnEnding(outcome, facts, plan, why, effects, taken, self._fallback, budget)


@dataclass(frozen=True, slots=True)
class MindOutcome:
    """What a mind came to, with every question it asked; `why` where it came to nothing.

    `late`: it did not come back.
    """

    made: object
    asked: tuple[tuple[Ask, ModelReply], ...]
    why: str = ""
    late: bool = False


async def think(
    begin: Callable[[], Asking[Any]],
    models: Models,
    route: Route,
    seconds: float = THINKING,
) -> MindOutcome:
    """Drive a mind that acts in no room: it may ask models, several at once; tools it has none.

    Each time it has so many seconds until it asks or returns.
    For worlds that keep their own record (the Factory's rows). Nothing is asked again here. Raises
    ModelLost.
    """
    asked: list[tuple[Ask, ModelReply]] = []

    async def one(part: Ask | Call) -> Answer | Result:
        if isinstance(part, Call):
            return Result("refused", "There are no tools here.")
        reply = await models.ask(question_of(part, route), lambda _: None)
        asked.append((part, reply))
        return Answer(
            reply.outcome,
            replace_lone_surrogates(reply.text),
            replace_lone_surrogates(reply.data),
            reply.model,
            reply.fallback,
        )

    async def perform(_nth: int, parts: Parts) -> Replies | MindFailed:
        try:
            return await gather_whole([one(part) for part in parts])
        except asyncio.CancelledError as error:
            if _is_being_cancelled():
                raise
            return mind_failure(error)
        except ModelLost:
            raise
        except Exception as error:  # a model is anybody's code, too
            return mind_failure(error)

    found = await drive(begin, perform, THOUGHTS, seconds)
    if isinstance(found, MindReturned):
        return MindOutcome(found.value, tuple(asked))
    return MindOutcome(None, tuple(asked), found.why, found.late)


def _is_being_cancelled() -> bool:
    """Whether the task that runs here is itself to end, as all do with the program."""
    return bool((task := asyncio.current_task()) and task.cancelling())


def read_of(part: Ask, reply: ModelReply) -> tuple[AnswerOutcome, LenientReading]:
    """What a model's answer says; where one field of a form matters, however it was written.

    An answer that was called malformed and has what was asked for is one; the attempt keeps its
    name.
    """
    if part.schema is None or not part.field:
        return reply.outcome, LenientReading(data=reply.data, cut=reply.cut)
    if reply.data is not None and reply.outcome == "answered":
        reading = read_valid_answer(reply.data, part.schema, part.field)
        alone = part.tools and reply.data.get(
            "calls"
        )  # words and account come with the last answer
        return reply.outcome, replace(reading, notes=()) if alone else reading
    broken = reply.cut or reply.outcome in ("timed_out", "failed")
    reading = read_lenient_answer(reply.text, part.schema, part.field, cut=broken)
    if reply.outcome not in ("answered", "malformed"):
        return reply.outcome, reading
    long = reply.outcome == "answered"  # it was read no further than a line may be long
    good = reading.data is not None and (long or not reading.cut)
    return "answered" if good else "malformed", reading


def question_of(
    part: Ask,
    route: Route,
    longest: int = 0,
    texts: Texts = (),
    charge: Charge = Charge(),  # noqa: B008  frozen
) -> Question:
    """The question as models are given it: texts, and pictures by hash. A forgotten one is gone."""
    pictured = any(map(PICTURES, part.messages))
    return Question(
        messages=texts or tuple((message.role, message.text) for message in part.messages),
        schema=part.schema,
        max_tokens=part.max_tokens,
        route=replace(route, tier=part.tier, model="") if part.tier else route,
        field=part.field if part.schema is not None else "",
        aloud=part.aloud,
        longest=longest if part.aloud else 0,
        pictures=tuple(
            QuestionPicture(message=nth, hash=one.hash.text, media=one.media)
            for nth, message in enumerate(part.messages if pictured else ())
            for one in message.pictures
            if one.hash.text
        ),
        fits=part.fits,
        tools=part.tools,
        listing=part.listing,
        exact=part.exact,
        charge=charge,
    )
