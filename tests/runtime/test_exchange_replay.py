"""Replay: the recorded exchange, fed to the policy again."""

from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.events import Event
from loopforge.core.perception import AgentPerception
from loopforge.core.policy import Thinking, ask, call
from loopforge.core.room_vocabulary import Say
from loopforge.core.text.erasable_text import Words
from loopforge.core.turn_events import Called, Perceived
from loopforge.policies.talk import talk
from loopforge.runtime.exchange_replay import (
    ReplayDiverged,
    ReplayErased,
    ReplayOnward,
    ReplaySame,
    exchange_of,
    replay_exchange,
)
from loopforge.runtime.ports import Route, ToolCall
from loopforge.runtime.turn_driver import Turn, TurnEnding, TurnSeat
from loopforge.runtime.turn_record import perception_of
from tests.playbook import PROMPTS
from tests.runtime.conftest import STREAM, Stage

TALK = talk(PROMPTS)


async def a_turn(
    stage: Stage, seen: AgentPerception, policy: object = TALK, **seat: object
) -> list[Event]:
    """Run a turn to its plan, write it all, and read it back."""
    ended = await stage.turn(seen, **seat).run(policy, seen)  # type: ignore[arg-type]
    await stage.ledger.append(STREAM, ended.facts)
    return await stage.events()


async def taken_up(
    stage: Stage, seen: AgentPerception, events: list[Event], policy: object = TALK
) -> TurnEnding:
    """The turn of which these events are written, as the next process goes on with it."""
    record = await exchange_of(stage.ledger, events)
    seat = TurnSeat(STREAM, "maya", events[0].id, Route())
    return await Turn(stage.ports, seat).run(policy, seen, record)  # type: ignore[arg-type]


async def test_the_same_policy_makes_the_same_plan(stage: Stage, seen: AgentPerception) -> None:
    """A recorded turn replayed with its own policy gives the very plan, and asks no model."""
    events = await a_turn(stage, seen)
    asked = len(stage.models.asked)
    perception = await perception_of(stage.ledger, events[0])
    assert perception == seen, "what was shown is read back"
    found = await replay_exchange(TALK, perception, await exchange_of(stage.ledger, events))
    assert isinstance(found, ReplaySame)
    assert len(stage.models.asked) == asked


async def test_another_policy_diverges_where_it_does(stage: Stage, seen: AgentPerception) -> None:
    """The first request that differs is named, with both texts."""
    events = await a_turn(stage, seen)
    other = talk(PROMPTS | {"account-small": "why on earth?"})
    found = await replay_exchange(other, seen, await exchange_of(stage.ledger, events))
    assert isinstance(found, ReplayDiverged)
    assert found.nth == 2
    assert "<account-small>" in found.recorded
    assert "why on earth?" in found.now


async def test_a_turn_goes_on_where_it_died(stage: Stage, seen: AgentPerception) -> None:
    """Cut anywhere between two appends, a turn is taken up and comes to the same plan."""
    whole = await a_turn(stage, seen)
    plans = [(await taken_up(stage, seen, whole[:cut])).plan for cut in range(1, len(whole))]
    assert plans[0] is not None
    assert all(plan == plans[0] for plan in plans)


async def test_a_question_in_flight_is_asked_again_and_not_recorded_twice(
    stage: Stage, seen: AgentPerception
) -> None:
    """An Asked without an answer is put to the model once more, under the same number."""
    whole = await a_turn(stage, seen)
    before = len(stage.models.asked)
    ended = await taken_up(stage, seen, whole[:2])
    assert len(stage.models.asked) == before + 2
    assert ended.outcome == "planned"
    asked = [e for e in (await stage.events())[len(whole) :] if e.kind == "turn.asked"]
    assert len(asked) == 1, "only the second question is new"


def _switch(_seen: AgentPerception) -> Thinking:
    result = yield from call("lamp", {"to": "red"})
    yield from ask("what now?")
    return AgentActionPlan(intent="talk", mode="context", acts=(Say(text=result.outcome),))


async def test_a_tool_that_ended_before_its_turn_was_told_is_not_used_again(
    stage: Stage, seen: AgentPerception
) -> None:
    """What it gave stands in the ledger, and the mind is told that."""
    whole = await a_turn(stage, seen, _switch, granted=frozenset({"lamp"}))
    ended = await taken_up(stage, seen, whole[:3], _switch)
    assert ended.plan is not None
    assert ended.plan.acts == (Say(text="returned"),)
    assert ended.effects
    _, state = await stage.tools.call("lamp", ToolCall(arguments={"to": "off"}))
    assert "switched 2 times" in state.text, "once in the first turn, once just now"


async def test_a_call_of_before_there_were_effects_is_unknown(
    stage: Stage, seen: AgentPerception
) -> None:
    """Of one that an earlier program had under way nobody knows what came of it."""
    called = Called(turn="t", nth=1, tool="lamp", arguments=Words('{"to":"red"}'))
    events = await stage.ledger.append(STREAM, [stage.stamp.fact(called, actor="mate:maya")])
    ended = await taken_up(stage, seen, list(events), _switch)
    assert ended.plan is not None
    assert ended.plan.acts == (Say(text="unknown"),)


async def test_a_record_with_forgotten_words_says_so(stage: Stage, seen: AgentPerception) -> None:
    """Replay of a turn whose words were erased says that they are gone, and compares nothing."""
    events = await a_turn(stage, seen)
    body = events[0].body
    assert isinstance(body, Perceived)
    exchange = await exchange_of(stage.ledger, events)
    erased = [type(said)(said.request, said.reply, erased=True) for said in exchange]
    assert await replay_exchange(TALK, seen, erased) == ReplayErased(1)


async def test_a_record_that_ends_early_waits(stage: Stage, seen: AgentPerception) -> None:
    """With an empty record the policy stands at its first request."""
    found = await replay_exchange(TALK, seen, ())
    assert isinstance(found, ReplayOnward)
    assert found.nth == 1
