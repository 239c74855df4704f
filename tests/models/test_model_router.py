"""TieredModels: tries, waits, rests, and the tier's next model; over real HTTP."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from aiohttp import web

from loopforge.errors import Unknown
from loopforge.models.circuit_breaker import SHORTEST
from loopforge.models.model_router import TieredModels
from loopforge.models.model_tiers import TierLimits, Tiers, read_tiers
from loopforge.models.providers.model_spec import ModelSpec, Price, Secret
from loopforge.models.retry_patience import RetryPatience
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.ports import ANEW, ModelReply, Question, Route
from tests.child_process import run_python
from tests.listening import listening
from tests.models.server import Behaviour, Server, serving
from tests.seeded_dice import SeededDice

BUSY = Behaviour(status=429, body='{"error": {"message": "slow down"}}')
BROKEN = Behaviour(status=500, body="boom")
FINE = Behaviour()
DEADLINE = 25.0
FOR_EVER = 10**6


class Brisk:
    """A clock on which waits pass at once and are written down; deadlines never come."""

    def __init__(self) -> None:
        self.waits: list[float] = []
        self.passed = 0.0

    def now(self) -> datetime:
        return datetime(2026, 11, 1, tzinfo=UTC) + timedelta(seconds=self.passed)

    def ticks(self) -> float:
        return self.passed

    async def sleep(self, seconds: float) -> None:
        if seconds >= DEADLINE:
            await asyncio.Event().wait()
        self.waits.append(seconds)
        self.passed += seconds

    async def sleep_until(self, when: datetime) -> None:
        await self.sleep(max(0.0, (when - self.now()).total_seconds()))


def tiers_of(*specs: ModelSpec) -> Tiers:
    """Tiers that all ask these models, in this order."""
    names = tuple(spec.name for spec in specs)
    return Tiers(
        models={spec.name: spec for spec in specs},
        tiers=(names,) * 4,
        served=(1, 2, 3, 4),
        missing={"claude": "ANTHROPIC_API_KEY"},
    )


@asynccontextmanager
async def routed(
    *names: str, patience: RetryPatience | None = None, **more: Any
) -> AsyncIterator[tuple[Server, TieredModels, Brisk]]:
    """A server, and a router whose tiers ask models of these names there."""
    clock = Brisk()
    async with serving() as server:
        specs = [server.spec(name=name, id=name, **more) for name in names or ("a", "b")]
        models = TieredModels(
            tiers_of(*specs),
            clock,
            SeededDice(1),
            patience=patience or RetryPatience(climb=FOR_EVER),
        )
        try:
            yield server, models, clock
        finally:
            await models.close()


async def ask(models: TieredModels, schema: Any = None, **route: Any) -> ModelReply:
    """One question."""
    asked = Question(messages=(("user", "hi"),), schema=schema, route=Route(**route))
    return await models.ask(asked, lambda _: None)


def who(server: Server) -> list[str]:
    """Which models the server was asked for, in order."""
    return [asked.body["model"] for asked in server.asked]


def tried(reply: ModelReply) -> list[tuple[str, str]]:
    """The attempts of a reply."""
    return [(attempt.model, attempt.outcome) for attempt in reply.attempts]


# ---------------------------------------------------------------- tries


async def test_the_first_model_answers() -> None:
    """One attempt, no fallback, and the reply says who answered."""
    async with routed() as (server, models, clock):
        reply = await ask(models)
    assert (reply.outcome, reply.text, reply.model) == ("answered", "Hello, ana!", "a")
    assert (reply.fallback, tried(reply)) == (False, [("a", "answered")])
    assert who(server) == ["a"]
    assert clock.waits == []


@pytest.mark.parametrize("failure", [BUSY, BROKEN], ids=["429", "500"])
async def test_a_failure_is_tried_again_after_a_wait(failure: Behaviour) -> None:
    """After a short wait the same model is asked again; both attempts stand in the reply."""
    async with routed() as (server, models, clock):
        server.does(failure, FINE)
        reply = await ask(models)
    assert tried(reply) == [("a", "failed"), ("a", "answered")]
    assert not reply.fallback
    assert who(server) == ["a", "a"]
    assert len(clock.waits) == 1
    assert 0.75 <= clock.waits[0] <= 1.25


async def test_waits_double() -> None:
    """Each further try waits about twice as long, up to the longest wait."""
    patience = RetryPatience(tries=6, wait=2.0, longest=11.0, climb=FOR_EVER)
    async with routed("a", patience=patience) as (server, models, clock):
        server.does(BROKEN)
        reply = await ask(models)
    assert reply.outcome == "failed"
    assert len(server.asked) == 6
    for wait, middle in zip(clock.waits, (2, 4, 8, 16, 32), strict=True):
        assert min(middle * 0.75, 11) <= wait <= min(middle * 1.25, 11)


async def test_the_next_model_stands_in() -> None:
    """When the tries at one are used up the tier's next is asked, and the reply says so."""
    async with routed() as (server, models, _):
        server.does(BROKEN, BROKEN, FINE)
        reply = await ask(models)
    assert (reply.outcome, reply.model, reply.fallback) == ("answered", "b", True)
    assert tried(reply) == [("a", "failed"), ("a", "failed"), ("b", "answered")]
    assert "boom" in str(reply.attempts[0].detail)
    assert who(server) == ["a", "a", "b"]


async def test_retry_after_is_kept_to() -> None:
    """A provider that says when to come back is asked again exactly then."""
    async with routed() as (server, models, clock):
        server.does(Behaviour(status=429, body="{}", headers={"Retry-After": "7"}), FINE)
        await ask(models)
    assert clock.waits == [7.0]
    assert who(server) == ["a", "a"]


async def test_a_long_retry_after_is_not_waited_for() -> None:
    """Longer than the longest wait, the next model is asked at once, and the first left alone."""
    async with routed() as (server, models, clock):
        server.does(Behaviour(status=429, body="{}", headers={"Retry-After": "90"}), FINE)
        first = await ask(models)
        clock.passed = 89
        second = await ask(models)
        clock.passed = 91
        third = await ask(models)
    assert clock.waits == []
    assert [first.model, second.model, third.model] == ["b", "b", "a"]
    assert [one.wait for one in first.attempts] == [90, 0]


async def test_what_cannot_get_better_is_not_tried_again() -> None:
    """A wrong key or a model that is not there: on to the next, no wait, no second try."""
    for status in (401, 404):
        async with routed() as (server, models, clock):
            server.does(Behaviour(status=status, body="{}"), FINE)
            reply = await ask(models)
        assert tried(reply) == [("a", "failed"), ("b", "answered")]
        assert clock.waits == []


async def test_nobody_answers() -> None:
    """When every model fails the reply is a failure with all attempts, not an exception."""
    async with routed() as (server, models, _):
        server.does(BROKEN)
        reply = await ask(models)
    assert (reply.outcome, reply.text, len(reply.attempts)) == ("failed", "", 4)
    assert reply.model == "b"


async def test_refusals_and_malformed_answers_are_answers() -> None:
    """They go to the policy as they are: one request, no second try, no other model."""
    schema = {"type": "object", "properties": {"say": {"type": "string"}}, "required": ["say"]}
    async with routed() as (server, models, _):
        server.does(Behaviour(refusal="No."), Behaviour(pieces=("not json",)))
        refused = await ask(models)
        malformed = await ask(models, schema=schema)
    assert tried(refused) == [("a", "refused")]
    assert tried(malformed) == [("a", "malformed")]
    assert (refused.text, malformed.text) == ("No.", "not json")
    assert len(server.asked) == 2


UNREAD = Behaviour(pieces=(), finish="MALFORMED_FUNCTION_CALL")


async def test_a_use_of_a_tool_that_its_provider_cannot_read_is_tried_once_more() -> None:
    """Both tries are on record; then it is malformed, and says why; no other model is asked."""
    patience = RetryPatience(climb=FOR_EVER, tries=5)
    async with routed(patience=patience, provider="google") as (server, models, clock):
        server.does(UNREAD, FINE)
        well = await ask(models)
        server.does(UNREAD)
        amiss = await ask(models)
        server.does(Behaviour(pieces=("Hello",), finish="MALFORMED_FUNCTION_CALL"))
        asked = Question(messages=(("user", "hi"),), aloud=True)
        aloud = await models.ask(asked, lambda _: None)
    assert (well.outcome, well.text) == ("answered", "Hello, ana!")
    assert tried(well) == [("a", "malformed"), ("a", "answered")]
    assert amiss.outcome == "malformed"
    assert tried(amiss) == [("a", "malformed")] * 2
    assert "could not read how it wanted a tool used" in str(amiss.attempts[1].detail)
    assert tried(aloud) == [("a", "malformed")], "what people saw is not taken back"
    assert clock.waits.count(0.0) == 2
    assert len(server.asked) == 5


async def test_once_words_were_heard_nobody_starts_over() -> None:
    """An answer that breaks off in the middle is handed on as it is, with what came of it."""
    async with routed() as (server, models, _):
        server.does(Behaviour(cut=2), FINE)
        heard: list[str] = []
        asked = Question(messages=(("user", "hi"),), aloud=True)
        reply = await models.ask(asked, heard.append)
    assert (reply.outcome, reply.text, reply.model) == ("failed", "Hello, ", "a")
    assert heard == ["", "Hello", ", "]
    assert reply.cut
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "pieces",
    [
        ('{"mode": "context", ', '"narrative": "I greet', "."),
        ("<think>She greets", " me, so", "."),
        ('{"speak": true', ', "sa', "."),
    ],
    ids=["another field", "thoughts", "before its words"],
)
async def test_an_answer_that_broke_before_anything_was_shown_begins_anew(
    pieces: tuple[str, ...],
) -> None:
    """It is tried again and handed on, and what came of it counts no more."""
    form = {
        "type": "object",
        "properties": {"speak": {"type": "boolean"}, "say": {"type": "string"}},
        "required": ["speak", "say"],
    }
    whole = Behaviour(pieces=('{"speak": true, "say": "Hi."}',))
    async with routed() as (server, models, _):
        broken = Behaviour(pieces=pieces, cut=2)
        server.does(broken, broken, whole)
        heard: list[str] = []
        asked = Question(
            messages=(("user", "hi"),), schema=form, field="say", aloud=True, longest=100
        )
        reply = await models.ask(asked, heard.append)
    assert (reply.outcome, reply.data, reply.model) == (
        "answered",
        {"speak": True, "say": "Hi."},
        "b",
    )
    assert who(server) == ["a", "a", "b"]
    anew = len(heard) - heard[::-1].index(ANEW) if ANEW in heard else 0
    assert "".join(heard[anew:]) == whole.pieces[0]


async def test_keys_are_in_no_record() -> None:
    """A provider that repeats the key in its error does not bring it into the ledger."""
    leak = json.dumps({"error": {"message": "no such key: sk-sesame"}})
    async with routed() as (server, models, _):
        server.does(Behaviour(status=401, body=leak))
        reply = await ask(models)
    for attempt in reply.attempts:
        assert "no such key: [key]" in str(attempt.detail)
        assert "sesame" not in str(attempt.detail)
        assert not attempt.detail.public


async def test_a_key_that_was_changed_meanwhile_is_in_no_record_either() -> None:
    """Who is asked by a key as another one is set may repeat the one before."""
    models = TieredModels(tiers_of(), Brisk(), SeededDice(1))

    def configured(url: str, key: str) -> Tiers:
        spec = ModelSpec(name="a", provider="openai", id="a", base_url=f"{url}/v1", key=Secret(key))
        return tiers_of(spec)

    async def refuse(_: web.Request) -> web.Response:
        models.become(lambda _: configured(url, "sk-newer"), RetryPatience())
        return web.json_response({"error": {"message": "no such key: sk-sesame"}}, status=401)

    app = web.Application()
    app.router.add_post("/{path:.*}", refuse)
    async with listening(app) as url:
        models.become(lambda _: configured(url, "sk-sesame"), RetryPatience())
        reply = await ask(models)
        await models.close()
    assert "no such key: [key]" in str(reply.attempts[0].detail)


# ---------------------------------------------------------------- settings that change


def configured(server: Server, **more: Any) -> Callable[[object], Tiers]:
    """What a home reads: one model that is reached at the server."""
    return lambda _: tiers_of(server.spec(name="a", id="a", **more))


async def test_what_is_configured_otherwise_holds_from_the_next_question_on() -> None:
    """Another price and other words of the request count at once, also under the same name."""
    async with routed("a", price=Price(read=1, written=1)) as (server, models, _):
        before = await ask(models)
        dearer = configured(server, price=Price(read=3, written=3), extra={"top_k": 3})
        models.become(dearer, RetryPatience())
        after = await ask(models)
    assert float(after.usage.cost) == pytest.approx(3 * float(before.usage.cost))
    assert [asked.body.get("top_k") for asked in server.asked] == [None, 3]


async def test_what_was_asked_before_is_answered_as_it_was_asked() -> None:
    """A question under way keeps its client; that one is closed once it has answered."""
    held = Behaviour(stall=1)
    async with routed("a") as (server, models, _), BackgroundTasks() as tasks:
        server.does(held, FINE)
        first = tasks.spawn(ask(models), "first")
        await server.reached.wait()
        models.become(configured(server, extra={"top_k": 3}), RetryPatience(climb=FOR_EVER))
        second = await ask(models)
        held.gate.set()
        assert [second.text, (await first).text] == ["Hello, ana!"] * 2
        (left,) = models._pool._opened
        assert left.spec.extra == {"top_k": 3}


async def test_fewer_places_hold_from_the_next_question_on() -> None:
    """A model whose `slots` are set to one is asked one question at a time."""
    held = Behaviour(stall=0)
    async with routed("a", slots=2) as (server, models, _), BackgroundTasks() as tasks:
        await ask(models)
        models.become(configured(server, slots=1), RetryPatience(climb=FOR_EVER))
        server.does(held)
        server.asked.clear()
        asking = [tasks.spawn(ask(models), "ask") for _ in range(3)]
        while not server.asked:
            server.reached.clear()
            await server.reached.wait()
        async with httpx.AsyncClient() as http:  # who asks later is heard
            await http.get(server.url)
        assert len(server.asked) == 1
        held.gate.set()
        assert [(await one).outcome for one in asking] == ["answered"] * 3


# ---------------------------------------------------------------- rests


async def test_a_failed_model_rests() -> None:
    """The next question does not pay for it again; after its rest one question tries it."""
    async with routed() as (server, models, clock):
        server.does(BROKEN, BROKEN, FINE)
        await ask(models)
        clock.passed += SHORTEST / 2
        meanwhile = await ask(models)
        clock.passed += SHORTEST
        after = await ask(models)
    assert tried(meanwhile) == [("a", "resting"), ("b", "answered")]
    assert meanwhile.fallback
    assert tried(after) == [("a", "answered")]
    assert who(server) == ["a", "a", "b", "b", "a"]


async def test_when_all_rest_one_is_asked_all_the_same() -> None:
    """If every model is at rest, the one that wakes first is asked: it may be well again."""
    async with routed("a", patience=RetryPatience(tries=1, climb=FOR_EVER)) as (server, models, _):
        server.does(BROKEN, FINE)
        await ask(models)
        reply = await ask(models)
    assert tried(reply) == [("a", "resting"), ("a", "answered")]
    assert not reply.fallback


async def test_a_bad_question_is_no_fault_of_the_model() -> None:
    """A request that was rejected as such goes on to the next model, but nobody rests for it."""
    async with routed() as (server, models, _):
        server.does(Behaviour(status=400, body="{}"), FINE)
        await ask(models)
        reply = await ask(models)
    assert tried(reply) == [("a", "answered")]
    assert who(server) == ["a", "b", "a"]


async def test_only_one_question_tries_a_model_that_wakes() -> None:
    """While one question tries it, others pass it over; a cancelled trial leaves it to the next."""
    tasks = BackgroundTasks()
    async with routed(patience=RetryPatience(tries=1, climb=FOR_EVER)) as (server, models, clock):
        server.does(BROKEN, FINE)
        await ask(models)
        clock.passed += SHORTEST + 1
        server.reached.clear()
        server.does(Behaviour(stall=0), FINE)
        trial = tasks.spawn(ask(models), "trial")
        await server.reached.wait()
        other = await ask(models)
        trial.cancel()
        with pytest.raises(asyncio.CancelledError):
            await trial
        later = await ask(models)
    assert tried(other) == [("a", "resting"), ("b", "answered")]
    assert tried(later) == [("a", "answered")]


# ---------------------------------------------------------------- limits and names


async def test_slots_bound_questions_at_once() -> None:
    """A model is asked no more than its slots at a time; the others wait their turn."""
    tasks = BackgroundTasks()
    held = Behaviour(stall=0)
    async with routed("a", slots=2) as (server, models, _):
        server.does(held)
        asking = [tasks.spawn(ask(models), "ask") for _ in range(5)]
        while len(server.asked) < 2:
            server.reached.clear()
            await server.reached.wait()
        async with httpx.AsyncClient() as http:  # who asks later is heard
            await http.get(server.url)
        assert len(server.asked) == 2
        held.gate.set()
        replies = await asyncio.gather(*asking)
    assert [reply.outcome for reply in replies] == ["answered"] * 5


async def test_a_named_model_is_asked_first() -> None:
    """A route may name a model; that it answers is no fallback, that another does is one."""
    async with routed(patience=RetryPatience(tries=1, climb=FOR_EVER)) as (server, models, _):
        named = await ask(models, model="b")
        server.does(BROKEN, FINE)
        stand_in = await ask(models, model="b")
    assert (named.model, named.fallback) == ("b", False)
    assert (stand_in.model, stand_in.fallback) == ("a", True)


async def test_a_named_model_that_cannot_be_used() -> None:
    """The tier answers for it, and the record says what the model would need."""
    async with routed() as (_, models, _):
        reply = await ask(models, model="claude")
    assert tried(reply) == [("claude", "missing"), ("a", "answered")]
    assert str(reply.attempts[0].detail) == "claude needs ANTHROPIC_API_KEY"
    assert reply.fallback


async def test_without_any_model() -> None:
    """With no model at all a question fails plainly, and the facts say there is none."""
    tiers = read_tiers({}, {}, {}, TierLimits(embedded=False))
    models = TieredModels(tiers, Brisk(), SeededDice(1))
    reply = await ask(models)
    assert (reply.outcome, reply.model, reply.attempts) == ("failed", "", ())
    assert models.facts(Route()).name == "no model"
    assert await models.count(Route(), ["x" * 35]) == [10]
    await models.close()


async def test_the_scripted_model_in_a_tier() -> None:
    """`scripted` in a tier of loopforge.toml answers without any network."""
    tiers = read_tiers({}, {"1": ["scripted"]}, {})
    models = TieredModels(tiers, Brisk(), SeededDice(1))
    asked = Question(messages=(("user", "ana: what is new?"),))
    reply = await models.ask(asked, lambda _: None)
    await models.close()
    assert reply.text == 'ana, you said "what is new", and I heard it.'
    assert (reply.model, reply.fallback) == ("scripted", False)


async def test_facts_are_those_of_the_first_choice() -> None:
    """Name, window and tools are the first model's."""
    async with routed("a", window=1234, tools=False, vendor="openrouter") as (_, models, _):
        facts = models.facts(Route(tier=3))
    assert (facts.name, facts.window, facts.tools, facts.embedded) == ("a", 1234, False, False)


def test_importing_loads_nothing_heavy() -> None:
    """No provider's library is imported before the first question."""
    heavy = "pydantic_ai openai anthropic google httpx httpx2 xllamacpp genai_prices jsonschema"
    code = (
        "import sys, loopforge.models.model_router, loopforge.models.model_tape\n"
        f"print([name for name in {heavy.split()} if name in sys.modules])"
    )
    done = run_python("-c", code, check=True)
    assert done.stdout.strip() == "[]"


# ---------------------------------------------------------------- one model and nobody else


async def insisted(models: TieredModels, name: str = "a") -> ModelReply:
    """One question to one model."""
    return await models.sound(name, Question(messages=(("user", "hi"),)), patient=True)


async def test_a_limit_is_waited_out_where_nobody_may_stand_in() -> None:
    """Refused for asking too often seven times, the same model is asked an eighth, when it said."""
    later = Behaviour(status=429, body=BUSY.body, headers={"retry-after": "7"})
    async with routed() as (server, models, clock):
        server.does(*[later] * 7, FINE)
        reply = await insisted(models)
    assert (reply.outcome, reply.model, reply.fallback) == ("answered", "a", False)
    assert who(server) == ["a"] * 8
    assert clock.waits == [7.0] * 7


async def test_a_limit_is_not_waited_out_for_ever() -> None:
    """After ten minutes of waiting it is a failure, and still nobody else was asked."""
    async with routed() as (server, models, clock):
        server.does(BUSY)
        reply = await insisted(models)
    assert reply.outcome == "failed"
    assert set(who(server)) == {"a"}
    assert 600 <= sum(clock.waits) <= 610


async def test_a_limit_that_is_said_to_last_is_not_waited_for() -> None:
    """Told to come back in an hour, it has failed at once: ten minutes would be waited in vain."""
    hour = Behaviour(status=429, body=BUSY.body, headers={"retry-after": "3600"})
    async with routed() as (server, models, clock):
        server.does(hour)
        reply = await insisted(models)
    assert (reply.outcome, tried(reply)) == ("failed", [("a", "failed")])
    assert clock.waits == []


async def test_a_broken_model_is_tried_as_often_as_ever_and_nobody_stands_in() -> None:
    """What is no limit is tried twice, as in a room; then it has failed."""
    async with routed() as (server, models, clock):
        server.does(BROKEN)
        reply = await insisted(models)
    assert (reply.outcome, tried(reply)) == ("failed", [("a", "failed")] * 2)
    assert who(server) == ["a", "a"]
    assert len(clock.waits) == 1


async def test_a_model_that_is_not_there_is_not_replaced() -> None:
    """Nobody is asked in its stead."""
    async with routed() as (server, models, _):
        with pytest.raises(Unknown, match="there is no model 'gone'"):
            await insisted(models, "gone")
    assert server.asked == []


async def test_an_answer_that_never_ends_is_closed_where_a_line_may_be_no_longer() -> None:
    """Once more has come than may be said the stream is closed, and what came is the answer."""
    form = {"type": "object", "properties": {"say": {"type": "string"}}, "required": ["say"]}
    async with routed() as (server, models, _):
        server.does(Behaviour(pieces=('{"say": "', *["word "] * 40), stall=30))
        asked = Question(
            messages=(("user", "hi"),), schema=form, field="say", aloud=True, longest=50
        )
        reply = await models.ask(asked, lambda _: None)
        assert (reply.outcome, reply.cut, reply.model) == ("answered", True, "a")
        assert reply.text == '{"say": "' + "word " * 11
        await server.left.wait()
    assert len(server.asked) == 1
