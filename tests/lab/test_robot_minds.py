"""Minds that ask a model: what they are told, what becomes of their answers, and all at the same time."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.factory_vocabulary import Began
from loopforge.core.perception import AgentPerception
from loopforge.core.policy import Ask, Message, Thinking, ask, call, together
from loopforge.errors import BadScenario
from loopforge.lab.run.robot_minds import Minds, Persona
from loopforge.lab.run.step_loop import DecisionRecord
from loopforge.lab.world.scenario_checks import Scenario
from loopforge.mates.prompt_files import PromptFiles
from loopforge.models.scripted_model import ScriptedAnswer, ScriptedModels
from loopforge.runtime.ports import ModelReply, Question, Route
from tests.lab.city import ROBOTS, acts, city, floor, laws, play, read, rows

PROMPTS = PromptFiles()
GIVEN: dict[str, object] = {
    "intent": "inspect",
    "mode": "guardrail",
    "belief": "high",
    "narrative": "I look into it.",
    "riskiness": 0.25,
}


def minds(models: ScriptedModels, policy: str = "llm", **more: Any) -> Minds:
    """The robots by a model, the Supervisor by itself."""
    return Minds(policy, models=models, prompts=PROMPTS, **more)


# ------------------------------------------------------------ llm


def test_a_models_answer_is_the_plan() -> None:
    """Intent, mode, belief, narrative and risk are the model's; where to and whom are the world's."""
    models = ScriptedModels(lambda _: GIVEN)
    lines = play(read(), minds(models))
    assert laws(lines) == []
    for row in floor(lines):
        assert row.plan["intent"] == "inspect"
        assert row.plan["mode"] == "guardrail"
        assert row.plan["rule"] == row.truth.rule
        assert row.plan["riskiness"] == 0.25
        assert row.outcome.belief == "high"
        assert row.outcome.did == "inspect"
        assert (row.minded.policy, row.minded.outcome) == ("llm/1", "planned")
        assert row.plan["move_to"] in ("", row.shown.context.get("next"))
    assert len(models.asked) == len(floor(lines)) == 12


def test_what_was_asked_and_answered_is_in_the_row_to_the_letter() -> None:
    """Prompt, raw reply, model, tokens: as they went over the wire, in the robot's own row."""
    models = ScriptedModels(lambda q: {**GIVEN, "narrative": f"Asked {len(models.asked)}."})
    told = floor(play(read(), minds(models)))
    questions = [question.messages for question in models.asked]
    for row in told:
        (exchange,) = row.minded.exchange
        assert exchange.prompt in questions
        assert f"You are {row.who}, {row.role}" in exchange.prompt[0][1]
        assert row.shown.local_events[0] in exchange.prompt[0][1]  # type: ignore[operator]
        assert row.plan["narrative"] in exchange.raw
        assert (exchange.outcome, exchange.model, exchange.purpose) == (
            "answered",
            "scripted",
            "act",
        )
        assert exchange.tokens_in > 0 < exchange.tokens_out
    assert len({exchange.prompt for row in told for exchange in row.minded.exchange}) == len(told)


def test_a_robots_voice_and_past_are_in_its_own_prompt_alone() -> None:
    """The backstory of one is told to nobody else."""
    robots = [{"name": n, "role": r, "round": list(stops)} for n, r, stops in ROBOTS]
    robots[0] |= {"backstory": "Once lost a wheel.", "voice": "Hums."}
    for row in floor(play(read(robot=robots), minds(ScriptedModels(lambda _: GIVEN)))):
        prompt = row.minded.exchange[0].prompt[0][1]
        assert ("Hums. Once lost a wheel." in prompt) == (row.who == "Ada")


FAILING: Mapping[str, ScriptedAnswer] = {
    "refused": ScriptedAnswer(outcome="refused", text="I would rather not."),
    "malformed": ScriptedAnswer(outcome="malformed", text='{"intent": "wor'),
    "timed_out": ScriptedAnswer(outcome="timed_out", text="Well,"),
    "failed": ScriptedAnswer(outcome="failed"),
}


@pytest.mark.parametrize("policy", ["llm", "chain", "mate:ada"])
@pytest.mark.parametrize("outcome", sorted(FAILING))
def test_no_answer_is_an_outcome_and_is_not_asked_again(outcome: str, policy: str) -> None:
    """The robot stands still, the row says what came and what became of it, once."""
    answer = FAILING[outcome]
    models = ScriptedModels(lambda _: answer)
    personas = {"ada": Persona("You are Ada.")}
    lines = play(read(), minds(models, policy, personas=personas))
    assert laws(lines) == []
    told = floor(lines)
    assert len(models.asked) == len(told)
    for row in told:
        assert row.minded.outcome == outcome
        assert [(each.outcome, each.raw) for each in row.minded.exchange] == [
            (outcome, answer.text)
        ]
        assert row.verdict == "contained"
        assert row.notes == (f"no answer: {outcome}",)
        assert row.outcome.square.startswith("none+")
        assert row.outcome.did == "idle"
        assert row.plan["move_to"] == ""


def test_an_answer_that_is_no_plan_is_malformed() -> None:
    """A model that was constrained and yet gave nonsense is on record as malformed."""
    models = ScriptedModels(lambda _: {**GIVEN, "riskiness": 7})
    for row in floor(play(read(), minds(models))):
        assert (row.minded.outcome, row.verdict) == ("malformed", "contained")
        assert row.minded.exchange[0].outcome == "answered"


def test_a_fallback_model_is_on_record() -> None:
    """Which model answered, and that it was not the first choice."""
    models = ScriptedModels(lambda _: ScriptedAnswer(data=GIVEN, model="second", fallback=True))
    for row in floor(play(read(), minds(models))):
        (exchange,) = row.minded.exchange
        assert (exchange.model, exchange.fallback) == ("second", True)
        assert row.minded.outcome == "planned"


# ------------------------------------------------------------ chain, mates, a mind of one's own


def test_a_chain_plans_criticizes_and_then_answers() -> None:
    """Three questions a decision, each with what came before, and all three in the row."""
    said = {"plan": "I would look.", "critique": "It may be hot."}

    def script(question: Question) -> Mapping[str, object] | str:
        if question.schema is not None:
            return GIVEN
        return said["plan" if len(question.messages) == 2 else "critique"]

    lines = play(read(), minds(ScriptedModels(script), "chain"))
    for row in floor(lines):
        plan, critique, act = row.minded.exchange
        assert [each.purpose for each in (plan, critique, act)] == ["plan", "critique", "act"]
        assert [role for role, _ in act.prompt] == [
            "system", "user", "assistant", "user", "assistant", "user",
        ]  # fmt: skip
        assert [text for role, text in act.prompt if role == "assistant"] == list(said.values())
        assert critique.prompt == act.prompt[:4]
        assert row.minded.policy == "chain/1"
        assert row.outcome.did == "inspect"


def test_a_chain_that_breaks_stops_there() -> None:
    """A critique that is refused ends the thought: nothing is asked after it."""

    def script(question: Question) -> ScriptedAnswer:
        broken = len(question.messages) == 4
        return ScriptedAnswer(text="No.", outcome="refused" if broken else "answered")

    models = ScriptedModels(script)
    told = floor(play(read(), minds(models, "chain")))
    assert len(models.asked) == 2 * len(told)
    assert {row.minded.outcome for row in told} == {"refused"}


def test_a_mate_is_drilled_in_its_own_character_over_its_own_route() -> None:
    """Its prompt stands in place of the robot's past, and its models are asked."""
    models = ScriptedModels(lambda _: GIVEN)
    personas = {"iris": Persona("You are Iris, a harbour pilot.", Route(tier=3), "abc")}
    made = minds(models, named={"Ada": "mate:iris"}, personas=personas)
    lines = play(read(), made)
    mine = [row for row in floor(lines) if row.who == "Ada"]
    assert {row.minded.policy for row in mine} == {"mate:iris/abc"}
    for row in floor(lines):
        pilot = "harbour pilot" in row.minded.exchange[0].prompt[0][1]
        assert pilot == (row.who == "Ada")
    tiers = [question.route.tier for question in models.asked]
    assert tiers.count(3) == len(mine)
    first = rows(lines)[0]
    assert isinstance(first, Began)
    assert first.policies["Ada"] == "mate:iris/abc"
    assert first.policies["Bo"] == "llm/1"


def test_a_mind_of_ones_own_may_ask_several_at_once_but_has_no_tools() -> None:
    """Its questions are in its row; a tool is refused in words, and nothing ran."""
    told: list[str] = []

    def asks(seen: AgentPerception) -> Thinking:
        one, two = yield from together(
            Ask((Message("user", ("one",)),)), Ask((Message("user", ("two",)),))
        )
        result = yield from call("shell", {"command": "id"})
        last = yield from ask("three")
        told.append(f"{result.outcome}: {result.value}")
        return plan(f"{one.text} {two.text} {last.text}")  # type: ignore[union-attr]

    models = ScriptedModels(lambda q: q.messages[-1][1].upper())
    lines = play(read(), minds(models, "asks", own={"asks": asks}))
    for row in floor(lines):
        assert row.plan["narrative"] == "ONE TWO THREE"
        assert [each.raw for each in row.minded.exchange] == ["ONE", "TWO", "THREE"]
    assert set(told) == {"refused: There are no tools here."}


def plan(narrative: str) -> AgentActionPlan:
    """A plan that waits."""
    return AgentActionPlan(intent="idle", mode="context", narrative=narrative)


def test_the_supervisor_may_be_a_model_too() -> None:
    """It decides as the robots do; saying nothing of a message, it is silent."""
    models = ScriptedModels(lambda _: GIVEN)
    lines = play(read(days=2), minds(models, "stub", supervisor="llm"))
    assert laws(lines) == []
    assert len(models.asked) == 8
    assert {row.voice.meant for row in acts(lines)} == {"silence"}


def test_a_recorded_model_is_not_asked_again() -> None:
    """Played from its record the run has the same bytes, and no model hears of it."""
    models = ScriptedModels(lambda q: {**GIVEN, "narrative": f"Asked {len(models.asked)}."})
    scenario = read(days=2)
    made = minds(models, reflects="llm")
    lines = play(scenario, made)
    asked = len(models.asked)
    assert play(scenario, made, DecisionRecord.of(rows(lines))) == lines
    assert len(models.asked) == asked
    assert not made.deterministic()
    assert Minds().deterministic()


def test_who_looks_back_is_who_decided() -> None:
    """A mate reflects as itself, by its own models; the others as the scenario has them."""
    models = ScriptedModels(lambda _: GIVEN)
    personas = {"iris": Persona("You are Iris, a harbour pilot.", Route(tier=3), "abc")}
    robots = [{"name": n, "role": r, "round": list(stops)} for n, r, stops in ROBOTS]
    robots[1]["backstory"] = "Once a tram."
    made = minds(models, named={"Ada": "mate:iris"}, personas=personas, reflects="llm")
    play(read(robot=robots), made)
    told = {
        who: one
        for one in models.asked
        for who in ("Ada", "Bo")
        if f"You are {who}," in str(one.messages) and "The day is over" in str(one.messages)
    }
    assert "harbour pilot" in str(told["Ada"].messages)
    assert "Once a tram." in str(told["Bo"].messages)
    assert (told["Ada"].route.tier, told["Bo"].route.tier) == (3, made.route.tier)


# ------------------------------------------------------------ at the same time


class Waiting(ScriptedModels):
    """A model that answers nobody before it was asked by all."""

    def __init__(self, count: int) -> None:
        super().__init__(lambda _: GIVEN)
        self._count, self._waiting, self._all = count, 0, asyncio.Event()
        self.most = 0

    async def ask(self, question: Question, hear: Callable[[str], None]) -> ModelReply:
        """Wait for the others."""
        self._waiting += 1
        self.most = max(self.most, self._waiting)
        if self._waiting == self._count:
            self._all.set()
        for _ in range(1000):
            if self._all.is_set():
                break
            await asyncio.sleep(0)
        reply = await super().ask(question, hear)
        self._waiting -= 1
        if not self._waiting:
            self._all.clear()
        return reply


def crowd(count: int) -> Scenario:
    """The small city with this many robots."""
    names = [f"Unit {a}{b}" for a in "abcdefgh" for b in "abcdefgh"][:count]
    stops = ["mill", "lane", "yard", "dock"]
    robots = [
        {"name": name, "role": "guard", "round": [stops[nth % 4], stops[(nth + 1) % 4]]}
        for nth, name in enumerate(names)
    ]
    return read(robot=robots, steps_per_day=3)


def test_fifty_robots_are_asked_at_the_same_time() -> None:
    """A model that waits until all fifty have asked is not waited for in vain, at any step."""
    models = Waiting(50)
    lines = play(crowd(50), minds(models))
    assert models.most == 50
    assert len(models.asked) == 150
    assert laws(lines) == []


def test_the_order_of_answers_is_no_matter() -> None:
    """Whoever answers first, the bytes are the same."""

    class Shuffled(ScriptedModels):
        """Lets later questions be answered first."""

        def __init__(self, turns: int) -> None:
            super().__init__(lambda q: {**GIVEN, "narrative": q.messages[0][1][8:16]})
            self._turns = turns

        async def ask(self, question: Question, hear: Callable[[str], None]) -> ModelReply:
            """Give way to the others some times."""
            self._turns = (self._turns * 7 + 3) % 11
            for _ in range(self._turns):
                await asyncio.sleep(0)
            return await super().ask(question, hear)

    one, other = (play(crowd(12), minds(Shuffled(turns))) for turns in (1, 5))
    assert one == other


# ------------------------------------------------------------ names


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (Minds("root"), "no policy 'root'"),
        (Minds("llm"), "needs a model"),
        (Minds("stub", supervisor="chain"), "needs a model"),
        (Minds("stub", reflects="llm"), "needs a model"),
        (Minds("stub", reflects="dice"), "template or llm"),
        (Minds("mate:zed"), "no mate 'zed'"),
        (Minds("stub", named={"Ada": "x"}), "no policy 'x'"),
    ],
)
def test_a_mind_that_is_not_there_is_said_before_the_run(made: Minds, says: str) -> None:
    """Unknown names, and policies that need a model where none is."""
    with pytest.raises(BadScenario, match=says):
        made.check()


def test_a_policy_that_asks_without_a_model_is_told_so() -> None:
    """One given as a function may be run without models; asking then fails in its row."""

    def asks(seen: AgentPerception) -> Thinking:
        yield from ask("Anybody?")
        return plan("Nobody.")

    for row in floor(play(read(), Minds("asks", own={"asks": asks}))):
        assert row.verdict == "contained"
        assert row.minded.outcome == "failed"
        assert "no models" in row.minded.why


def test_a_refusal_that_a_mind_plays_down_is_on_record_all_the_same() -> None:
    """A plan that came after a refused question is acted upon, and its row says refused."""

    def shrugs(seen: AgentPerception) -> Thinking:
        yield from ask("May I?")
        return plan("I do it anyway.")

    models = ScriptedModels(lambda _: FAILING["refused"])
    for row in floor(play(read(), minds(models, "shrugs", own={"shrugs": shrugs}))):
        assert (row.verdict, row.minded.outcome) == ("allowed", "refused")


def test_single_robots_may_have_minds_of_their_own() -> None:
    """`named` wins over the policy of the run, for the Supervisor too."""
    made = Minds("stub", named={"Bo": "guardrail", "Overseer Dee": "context"})
    policies = {row.who: row.minded.policy for row in acts(play(read(**city()), made))}
    assert policies == {
        "Ada": "stub/1",
        "Bo": "guardrail/1",
        "Cy": "stub/1",
        "Overseer Dee": "context/1",
    }
