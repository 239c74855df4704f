"""The driver of a turn: it performs what a policy asks, and records each step before it happens."""

import asyncio
from collections.abc import Callable

import pytest

from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.perception import AgentPerception
from loopforge.core.policy import (
    All,
    Answer,
    AnswerOutcome,
    Ask,
    Call,
    Message,
    Policy,
    Result,
    Thinking,
    as_policy,
    ask,
    call,
    together,
)
from loopforge.core.room_vocabulary import Say
from loopforge.core.turn_events import Answered
from loopforge.models.scripted_model import ScriptedAnswer, ScriptedModels
from loopforge.policies.chain import chain
from loopforge.policies.stub import stub
from loopforge.policies.talk import talk
from loopforge.runtime.exchange_replay import exchange_of
from loopforge.runtime.ports import Draft, ModelReply, Question, Route, ToolCall
from loopforge.runtime.turn_driver import Turn, TurnEnding, think
from tests.playbook import PROMPTS, heard, shown
from tests.runtime.conftest import STREAM, Stage

TALK = talk(PROMPTS)


def plan_of(text: str) -> AgentActionPlan:
    """A plan to say this."""
    return AgentActionPlan(intent="talk", mode="context", acts=(Say(text=text),))


async def test_each_step_is_recorded_before_it_happens(stage: Stage, seen: AgentPerception) -> None:
    """When the model is asked, what was shown and what is asked stand in the ledger already."""
    seen_by_model: list[list[str]] = []

    class Watching(type(stage.models)):  # type: ignore[misc]
        async def ask(self, question, hear):  # type: ignore[no-untyped-def]
            seen_by_model.append(await stage.kinds())
            return await super().ask(question, hear)

    stage.models = Watching(clock=stage.clock)
    ended = await stage.turn(seen).run(TALK, seen)
    assert seen_by_model == [["perceived", "asked"], ["perceived", "asked", "answered", "asked"]]
    assert ended.outcome == "planned"
    kinds = [type(fact.body).__name__ for fact in ended.facts]
    assert kinds == ["Answered", "Planned"], "the rest is for the world to append with its acts"


async def test_drafts_are_in_the_air_and_not_in_the_ledger(
    stage: Stage, seen: AgentPerception
) -> None:
    """What is said aloud is heard as it grows; a draft is not Said."""
    stage.script(lambda question: ScriptedAnswer(text="one two three", pieces=3, pause=1))
    running = stage.tasks.spawn(stage.turn(seen).run(TALK, seen), "turn")
    heard_drafts = []
    for _ in range(3):
        what = await asyncio.wait_for(anext(stage.ear), 60)
        await stage.clock.advance(1)
        assert isinstance(what, Draft)
        heard_drafts.append(what.text)
    await stage.clock.until(running)
    assert heard_drafts[-1] == "one two three"
    assert all("one two three".startswith(draft) for draft in heard_drafts)
    assert "said" not in " ".join(await stage.kinds())


@pytest.mark.parametrize("outcome", ["refused", "malformed", "timed_out", "failed"])
async def test_what_goes_wrong_is_an_outcome_and_asked_once(
    stage: Stage, seen: AgentPerception, outcome: AnswerOutcome
) -> None:
    """A refusal, a malformed answer, a time-out reach the policy as they are, and the ledger."""
    stage.script(lambda question: ScriptedAnswer(text="hm", outcome=outcome))
    ended = await stage.turn(seen).run(TALK, seen)
    assert ended.plan is not None
    assert ended.plan.meta == {"trouble": outcome}
    assert len(stage.models.asked) == 1
    answers = [fact.body for fact in ended.facts if isinstance(fact.body, Answered)]
    assert [(answer.outcome, str(answer.text)) for answer in answers] == [(outcome, "hm")]


async def asking(
    stage: Stage, turn: Turn, policy: Policy, seen: AgentPerception
) -> asyncio.Task[TurnEnding]:
    """A turn whose model was asked, and has not answered yet."""
    running = stage.tasks.spawn(turn.run(policy, seen), "turn")
    while not stage.models.asked:
        await asyncio.sleep(0)
    return running


async def test_stop_halts_at_once_and_keeps_what_came(stage: Stage, seen: AgentPerception) -> None:
    """Stop cancels the model's answer where it is; what it had said so far is in the record."""
    stage.script(lambda question: ScriptedAnswer(text="I was about to say", pieces=4, pause=60))
    turn = stage.turn(seen)
    running = stage.tasks.spawn(turn.run(TALK, seen), "turn")
    await anext(stage.ear)
    await stage.clock.advance(90)
    turn.stop("a person said stop")
    ended = await running
    assert (ended.outcome, ended.why) == ("stopped", "a person said stop")
    (cut,) = [fact.body for fact in ended.facts if isinstance(fact.body, Answered)]
    assert cut.outcome == "cancelled"
    assert str(cut.text).startswith("I was ab")


async def test_a_stop_hides_no_end_of_the_program(stage: Stage, seen: AgentPerception) -> None:
    """Stopped and cancelled in one moment, a turn ends as cancelled: whoever drives it ends, too."""
    stage.script(lambda question: ScriptedAnswer(text="slow", wait=60))
    turn = stage.turn(seen)
    running = await asking(stage, turn, TALK, seen)
    turn.stop("a person said stop")
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


async def test_stop_before_the_first_request_asks_nothing(
    stage: Stage, seen: AgentPerception
) -> None:
    """A turn stopped before it began to ask asks nothing."""
    turn = stage.turn(seen)
    turn.stop("a person said stop")
    assert (await turn.run(TALK, seen)).outcome == "stopped"
    assert stage.models.asked == []


async def test_tools_are_called_as_granted(stage: Stage, seen: AgentPerception) -> None:
    """A granted tool runs; one that is not is refused, and both are recorded."""

    def policy(_seen: AgentPerception) -> Thinking:
        results = []
        for tool in ("lamp", "lamp2", "fuse"):
            result = yield from call(tool, {"to": "red"})
            results.append(f"{result.outcome}: {result.value}")
        return plan_of(" | ".join(results))

    ended = await stage.turn(seen, granted=frozenset({"lamp", "fuse"})).run(policy, seen)
    assert ended.plan is not None
    said = ended.plan.acts[0]
    assert isinstance(said, Say)
    assert said.text == (
        "returned: The lamp is red; switched 1 times. | refused: There is no tool 'lamp2' that "
        "you may use. Nearest are: lamp. | failed: fuse failed: it blew"
    )
    assert ended.effects


async def test_several_at_once(stage: Stage, seen: AgentPerception) -> None:
    """All asks and calls at the same time, and gives the replies in the order of the requests."""

    def policy(_seen: AgentPerception) -> Thinking:
        one = Ask((Message("user", ("one",)),))
        two = Ask((Message("user", ("two",)),))
        first, second, third = yield from together(one, Call("lamp"), two)
        assert isinstance(first, Answer)
        assert isinstance(second, Result)
        assert isinstance(third, Answer)
        return plan_of(f"{first.text} {second.outcome} {third.text}")

    stage.script(lambda question: ScriptedAnswer(text=question.messages[0][1].upper(), wait=5))
    turn = stage.turn(seen, granted=frozenset({"lamp"}))
    running = stage.tasks.spawn(turn.run(policy, seen), "turn")
    ended = await stage.clock.until(running)
    assert ended.plan is not None
    assert ended.plan.acts == (Say(text="ONE returned TWO"),)
    begun = ["perceived", "asked", "effect.proposed", "effect.approved", "asked"]
    assert await stage.kinds() == [*begun, "effect.running", "effect.returned"]


async def test_a_plain_function_is_driven_like_any_policy(
    stage: Stage, seen: AgentPerception
) -> None:
    """A function from perception to plan asks nothing and still has its whole record."""
    ended = await stage.turn(seen).run(as_policy(stub), seen)
    assert ended.plan is not None
    assert [type(fact.body).__name__ for fact in ended.facts] == ["Perceived", "Planned"]


async def test_news_come_with_the_reply_and_are_recorded(
    stage: Stage, seen: AgentPerception
) -> None:
    """What was heard meanwhile is given with the next reply, put to the model, and on record."""
    late = heard("bo", "and about slugs?", "late")
    news = iter([(late,), (), (), ()])
    turn = stage.turn(seen, news=lambda: next(news))
    ended = await turn.run(chain(PROMPTS), seen)
    assert ended.took_in == ("late",), "chain put it before the model in its next question"
    answered = [e.body for e in await stage.events() if isinstance(e.body, Answered)]
    assert [line.id for line in answered[0].heard] == ["late"]
    assert "bo: and about slugs?" in [text for _, text in stage.models.asked[1].messages]


async def test_news_of_before_a_crash_are_taken_in_all_the_same(
    stage: Stage, seen: AgentPerception
) -> None:
    """A turn that goes on over its record says too which lines need no further answer."""
    late = heard("bo", "and about slugs?", "late")
    news = iter([(late,), (), (), ()])
    begun = stage.turn(seen, news=lambda: next(news))
    await begun.run(chain(PROMPTS), seen)
    record = await exchange_of(stage.ledger, await stage.events())
    for known in range(1, len(record) + 1):
        ended = await stage.turn(seen).run(chain(PROMPTS), seen, record[:known])
        assert ended.took_in == ("late",), known


@pytest.mark.parametrize("error", [SystemExit(3), asyncio.CancelledError(), RuntimeError("no")])
async def test_a_mind_that_will_not_be_closed_is_stopped_all_the_same(
    stage: Stage, seen: AgentPerception, error: BaseException
) -> None:
    """Stop ends a turn also where its mind raises when it is let go."""

    def policy(_seen: AgentPerception) -> Thinking:
        try:
            yield from ask("hm")
        except GeneratorExit:
            raise error from None
        return plan_of("hm")

    stage.script(lambda question: ScriptedAnswer(text="slow", wait=60))
    turn = stage.turn(seen)
    running = await asking(stage, turn, policy, seen)
    turn.stop("a person said stop")
    ended = await running
    assert (ended.outcome, ended.why) == ("stopped", "a person said stop")


async def test_a_failed_append_leaves_no_dangling_base(stage: Stage, seen: AgentPerception) -> None:
    """After an append that failed, the next record is whole again, resting on nothing unwritten."""
    turn = stage.turn(seen)
    await stage.ledger.close()
    with pytest.raises(Exception, match=r".+"):
        await turn.run(TALK, seen)
    run = stage.recorder.lines((STREAM, "maya"), "next", shown(heard("ana", "x")).local_events)
    assert run.base == ""


async def test_calls_are_recorded_before_they_run(stage: Stage, seen: AgentPerception) -> None:
    """A tool in use can be seen in the ledger, and its end with what it gave."""
    kinds: list[list[str]] = []

    async def spying(_: ToolCall) -> str:
        kinds.append(await stage.kinds())
        return "done"

    stage.tools.add(stage.tools.known()[0], spying)

    def policy(_seen: AgentPerception) -> Thinking:
        result = yield from call("lamp")
        yield from ask("and now?")
        return plan_of(result.value)

    await stage.turn(seen, granted=frozenset({"lamp"})).run(policy, seen)
    effect = ["effect.proposed", "effect.approved", "effect.running"]
    assert kinds == [["perceived", *effect]]
    assert (await stage.kinds())[4:] == ["effect.returned", "returned", "asked"]


async def test_a_model_that_raises_ends_the_turn_alone(stage: Stage, seen: AgentPerception) -> None:
    """The turn fails and says of what; what was asked beside it is over, too, when it does."""
    answered: list[str] = []

    class Broken:
        async def ask(self, question: Question, _drafts: object) -> ModelReply:
            if "first" in question.messages[-1][1]:
                raise ZeroDivisionError("no model")
            await stage.clock.sleep(1)
            answered.append("second")
            return ModelReply(outcome="answered", text="yes")

    def mind(_seen: AgentPerception) -> Thinking:
        yield All((Ask((Message("user", ("first",)),)), Ask((Message("user", ("second",)),))))
        raise AssertionError

    stage.models = Broken()  # type: ignore[assignment]
    running = stage.tasks.spawn(stage.turn(seen).run(mind, seen), "turn")
    await stage.clock.until(running)
    ended = running.result()
    assert ended.outcome == "failed"
    assert ended.why.startswith("the policy failed: ZeroDivisionError('no model')")
    assert answered == ["second"]


async def test_a_mind_of_the_factory_that_asks_two_is_told_of_when_both_are_over() -> None:
    """One of them raises: the other was asked, and paid for, and stands in its outcome."""

    class Odd(ScriptedModels):
        """Models of which one is broken, and the other slow."""

        async def ask(self, question: Question, hear: Callable[[str], None]) -> ModelReply:
            """Raise for one."""
            if question.messages[0][1] == "one":
                raise RuntimeError("broken")
            for _ in range(20):
                await asyncio.sleep(0)
            return await super().ask(question, hear)

    def mind() -> Thinking:
        yield from together(*(Ask((Message("user", (text,)),)) for text in ("one", "two")))
        return plan_of("never")

    outcome = await think(mind, Odd(lambda _: "here"), Route())
    assert "broken" in outcome.why
    assert [part.messages[0].text for part, _ in outcome.asked] == ["two"]
