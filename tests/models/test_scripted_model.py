"""The scripted model: answers by script, valid under a schema, streamed as told."""

import asyncio
import json
import math
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopforge.models.providers.schema_check import schema_violation
from loopforge.models.scripted_model import ScriptedAnswer, ScriptedModels, fill
from loopforge.policies.prompt_building import form_of
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.ports import Question, Route
from tests.sim_clock import SimClock

SCHEMA = form_of(
    {
        "mode": {"type": "string", "enum": ["context", "guardrail"]},
        "narrative": {"type": "string", "maxLength": 120},
        "speak": {"type": "boolean"},
        "say": {"type": "string", "maxLength": 300},
    }
)


def question(text: str = "ana: hello everybody", schema: dict[str, Any] | None = None) -> Question:
    """A question as a mate's policy asks it."""
    return Question(messages=(("system", "You are Maya."), ("user", text)), schema=schema)


async def test_default_names_the_last_speaker() -> None:
    """Without a script the answer is a line that names who spoke last and what they said."""
    heard: list[str] = []
    reply = await ScriptedModels().ask(question("ben: hi\nana: where is the tea?"), heard.append)
    assert reply.outcome == "answered"
    assert reply.text == "".join(heard) == 'ana, you said "where is the tea", and I heard it.'
    assert reply.data is None
    assert [attempt.outcome for attempt in reply.attempts] == ["answered"]


async def test_same_question_same_answer() -> None:
    """Two models asked the same question give byte-identical replies on a simulated clock."""
    clock = SimClock(datetime(2026, 11, 1, tzinfo=UTC))
    one = await ScriptedModels(clock=clock).ask(question(schema=SCHEMA), lambda _: None)
    other = await ScriptedModels(clock=clock).ask(question(schema=SCHEMA), lambda _: None)
    assert one == other


async def test_schema_is_filled_around_the_script() -> None:
    """Fields the script gives stand as given; the others are made up and fit the schema."""
    models = ScriptedModels(lambda _: {"speak": False, "mode": "guardrail"})
    reply = await models.ask(question(schema=SCHEMA), lambda _: None)
    assert reply.data is not None
    assert (reply.data["speak"], reply.data["mode"]) == (False, "guardrail")
    assert json.loads(reply.text) == reply.data
    assert schema_violation(SCHEMA, reply.data) == ""


async def test_text_goes_into_the_spoken_field() -> None:
    """A script that gives only words has them in the field that is said aloud."""
    models = ScriptedModels(lambda _: "Good morning.")
    reply = await models.ask(question(schema=SCHEMA), lambda _: None)
    assert reply.data is not None
    assert reply.data["say"] == "Good morning."
    assert reply.data["narrative"] == "I answer ana."


async def test_pieces_come_at_their_moments() -> None:
    """The first piece comes after `wait`, the others `pause` apart, on the clock that was given."""
    clock = SimClock(datetime(2026, 11, 1, tzinfo=UTC))
    answer = ScriptedAnswer(text="abcdef", pieces=3, wait=2, pause=1)
    heard: list[str] = []
    models = ScriptedModels(lambda _: answer, clock=clock)
    asking = BackgroundTasks().spawn(models.ask(question(), heard.append), "asking")
    await clock.advance(1.5)
    assert heard == []
    await clock.advance(0.5)
    assert heard == ["ab"]
    await clock.advance(2)
    assert heard == ["ab", "cd", "ef"]
    reply = await asking
    assert (reply.first, reply.took) == (2000, 4000)


@pytest.mark.parametrize("outcome", ["refused", "malformed", "timed_out", "failed"])
async def test_other_outcomes_keep_the_text_as_it_came(outcome: Any) -> None:
    """A scripted refusal, failure, time-out or malformed answer has its raw text and no data."""
    models = ScriptedModels(lambda _: ScriptedAnswer(outcome=outcome, text='{"mode":'))
    reply = await models.ask(question(schema=SCHEMA), lambda _: None)
    assert (reply.outcome, reply.text, reply.data) == (outcome, '{"mode":', None)


async def test_a_stall_ends_with_the_task() -> None:
    """A model told to wait for ever says nothing, and is gone when its task is cancelled."""
    clock = SimClock(datetime(2026, 11, 1, tzinfo=UTC))
    stalled = ScriptedModels(lambda _: ScriptedAnswer(text="x", wait=1e9), clock=clock)
    heard: list[str] = []
    asking = BackgroundTasks().spawn(stalled.ask(question(), heard.append), "asking")
    await clock.advance(3600)
    assert not asking.done()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert heard == []


async def test_it_remembers_what_it_was_asked() -> None:
    """`asked` holds the questions in order, and `count` gives one number per text."""
    models = ScriptedModels()
    for text in ("ana: one", "ana: two"):
        await models.ask(question(text), lambda _: None)
    assert [each.messages[1][1] for each in models.asked] == ["ana: one", "ana: two"]
    assert await models.count(Route(), ["", "four", "x" * 35]) == [0, math.ceil(4 / 3.5), 10]


leaf = st.one_of(
    st.builds(lambda most: {"type": "string", "maxLength": most}, st.integers(0, 40)),
    st.builds(lambda least: {"type": "string", "minLength": least}, st.integers(0, 40)),
    st.builds(lambda values: {"enum": values}, st.lists(st.text(max_size=5), min_size=1)),
    st.builds(lambda least: {"type": "integer", "minimum": least}, st.integers(-5, 5)),
    st.sampled_from([{"type": "boolean"}, {"type": "number"}, {"type": "null"}, {"const": 3}]),
)
names = st.sampled_from(["say", "mode", "narrative", "title", "rule", "speak", "steps"])


parts = st.recursive(
    leaf,
    lambda inner: st.one_of(
        st.builds(form_of, st.dictionaries(names, inner, max_size=3)),
        st.builds(
            lambda items, least: {"type": "array", "items": items, "minItems": least},
            inner,
            st.integers(0, 2),
        ),
    ),
    max_leaves=6,
)


@given(st.dictionaries(names, parts), st.text(max_size=60))
def test_filled_answers_fit_their_schema(properties: dict[str, Any], said: str) -> None:
    """Whatever the schema, what the script leaves open is filled in so that the whole fits."""
    schema = form_of(properties)
    assert schema_violation(schema, fill(schema, said, {})) == ""
