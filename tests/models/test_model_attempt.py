"""One attempt at one model, over real HTTP, in each of the four protocols."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec.structs import replace

from loopforge.models.providers.attempt_outcome import AttemptOutcome
from loopforge.models.providers.known_services import PLACES
from loopforge.models.providers.model_attempt import Provider
from loopforge.models.providers.model_request import turns_of
from loopforge.models.providers.model_spec import ModelSpec, Secret
from loopforge.policies.prompt_building import form_of
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.ports import Clock, Question, Route
from loopforge.runtime.system_clock import SystemClock
from tests.models.server import Behaviour, Server, serving
from tests.sim_clock import SimClock

KINDS: dict[str, dict[str, Any]] = {
    "chat": {"provider": "openai"},
    "responses": {
        "provider": "openai",
        "vendor": "openai",
        "responses": True,
        "id": "gpt-5.1-codex-mini",
    },
    "messages": {"provider": "anthropic", "id": "claude-haiku-4-5"},
    "gemini": {"provider": "google", "id": "gemini-2.5-flash-lite"},
}
MIDDLE = {"chat": 2, "responses": 5, "messages": 4, "gemini": 2}
"""The event at which two pieces of an answer have come."""
every_protocol = pytest.mark.parametrize("kind", KINDS)

SCHEMA = form_of(
    {
        "mode": {"type": "string", "enum": ["context", "guardrail"]},
        "say": {"type": "string", "maxLength": 20},
    }
)
GOOD = '{"mode": "context", "say": "Hello."}'


def question(schema: dict[str, Any] | None = None, **more: Any) -> Question:
    """What a mate may ask."""
    messages = (("system", "You are Maya."), ("user", "ana: hi"), ("user", "What do you say?"))
    return Question(messages=messages, schema=schema, **more)


@asynccontextmanager
async def talking(
    kind: str, *behaviours: Behaviour, clock: Clock | None = None, **more: Any
) -> AsyncIterator[tuple[Server, Provider]]:
    """A server that does these things in order, and a provider that asks it."""
    tasks = BackgroundTasks()
    async with serving() as server:
        server.does(*(behaviours or (Behaviour(),)))
        provider = Provider(server.spec(**{**KINDS[kind], **more}), clock or SystemClock(), tasks)
        try:
            yield server, provider
        finally:
            await provider.close()
            await tasks.close()


async def ask(
    kind: str, behaviour: Behaviour, asked: Question | None = None, **more: Any
) -> AttemptOutcome:
    """What comes of one attempt; the server must have been asked exactly once."""
    async with talking(kind, behaviour, **more) as (server, provider):
        tried = await provider.attempt(asked or question(), lambda _: None)
        assert len(server.asked) == 1
        return tried


# ---------------------------------------------------------------- answers


@every_protocol
async def test_an_answer_streams(kind: str) -> None:
    """Pieces are heard as they come, and tokens are counted as the provider counts them."""
    heard: list[str] = []
    async with talking(kind, Behaviour(read=100, cached=60)) as (_, provider):
        tried = await provider.attempt(question(), heard.append)
    assert (tried.outcome, tried.text) == ("answered", "Hello, ana!")
    assert heard == ["", "Hello", ", ", "ana", "!"]  # first a sign of life
    assert (tried.usage.read, tried.usage.cached, tried.usage.written) == (100, 60, 4)


@every_protocol
@pytest.mark.parametrize("told", [10**30, -5])
@pytest.mark.filterwarnings("ignore:Failed to extract usage")
async def test_a_count_that_can_be_none_is_not_believed(kind: str, told: int) -> None:
    """A provider that miscounts spoils no answer, and no table of what was spent."""
    async with talking(kind, Behaviour(read=told)) as (_, provider):
        tried = await provider.attempt(question(), lambda _: None)
    assert (tried.outcome, tried.text) == ("answered", "Hello, ana!")
    assert 0 <= tried.usage.read <= 10**9


@every_protocol
async def test_an_answer_under_a_schema(kind: str) -> None:
    """The schema goes out in the protocol's own words, and the answer comes back parsed."""
    pieces = (GOOD[:9], GOOD[9:])
    async with talking(kind, Behaviour(pieces=pieces)) as (server, provider):
        tried = await provider.attempt(question(SCHEMA), lambda _: None)
    assert (tried.outcome, tried.text) == ("answered", GOOD)
    assert tried.data == {"mode": "context", "say": "Hello."}
    body = server.asked[0].body
    places = {
        "chat": ("response_format", "json_schema", "schema"),
        "responses": ("text", "format", "schema"),
        "messages": ("output_config", "format", "schema"),
        "gemini": ("generationConfig", "responseJsonSchema"),
    }
    for step in places[kind]:
        body = body[step]
    assert body["properties"]["mode"]["enum"] == ["context", "guardrail"]
    assert list(body["properties"]) == ["mode", "say"]


async def test_own_servers_get_the_schema_as_it_is() -> None:
    """A server of one's own is given the bounds of length too, to build its grammar from."""
    async with talking("chat", Behaviour(pieces=(GOOD,))) as (server, provider):
        await provider.attempt(question(SCHEMA), lambda _: None)
    form = server.asked[0].body["response_format"]["json_schema"]
    assert form["schema"] == SCHEMA
    assert form["strict"] is True


async def test_lengths_bind_only_those_who_can_keep_them() -> None:
    """Too long a string is malformed from a server with a grammar, and passes from a service."""
    long = Behaviour(pieces=(json.dumps({"mode": "context", "say": "x" * 30}),))
    assert (await ask("chat", long, question(SCHEMA))).outcome == "malformed"
    assert (await ask("messages", long, question(SCHEMA))).outcome == "answered"


async def test_a_model_without_schemas_is_asked_in_words() -> None:
    """It is told the schema at the prompt's end, and its JSON is found in what it wraps around."""
    wrapped = Behaviour(pieces=("Sure!\n```json\n", GOOD, "\n```\nAnything else?"))
    async with talking("chat", wrapped, structured=False) as (server, provider):
        tried = await provider.attempt(question(SCHEMA), lambda _: None)
    assert tried.data == {"mode": "context", "say": "Hello."}
    assert tried.text.startswith("Sure!")
    body = server.asked[0].body
    assert "response_format" not in body
    assert json.dumps(SCHEMA) in body["messages"][-1]["content"]


async def test_settings_go_out() -> None:
    """Temperature, the bound on tokens and what a model's table adds are in the request."""
    asked = question(max_tokens=50, route=Route(temperature=0.3, top_p=0.8))
    async with talking("chat", extra={"min_p": 0.1}) as (server, provider):
        await provider.attempt(asked, lambda _: None)
    body = server.asked[0].body
    assert (body["temperature"], body["top_p"], body["min_p"]) == (0.3, 0.8, 0.1)
    assert body["max_tokens"] == 50
    assert server.asked[0].headers["authorization"] == "Bearer sk-sesame"


async def test_thinking_has_room_of_its_own() -> None:
    """A model that thinks may write more than the answer, and is left at its own temperature."""
    asked = question(max_tokens=50, route=Route(temperature=0.3))
    async with talking("responses", thinking=1000) as (server, provider):
        await provider.attempt(asked, lambda _: None)
    body = server.asked[0].body
    assert body["max_output_tokens"] == 1050
    assert "temperature" not in body


async def test_thoughts_in_the_text_are_not_heard() -> None:
    """What a server sends between <think> tags is neither said nor part of the JSON."""
    thinking = Behaviour(pieces=("<thi", "nk>They greet me.\n", "</think>\n", GOOD))
    async with talking("chat", thinking) as (_, provider):
        heard: list[str] = []
        tried = await provider.attempt(question(SCHEMA), heard.append)
    assert tried.data == {"mode": "context", "say": "Hello."}
    assert "".join(heard) == tried.text == GOOD


@pytest.mark.parametrize("vendor", ["", "mistral", "openai"])
async def test_only_openai_is_sent_its_own_word_for_max_tokens(vendor: str) -> None:
    """Servers that know only `max_tokens` refuse requests with OpenAI's newer word (Mistral: 422)."""
    async with talking("chat", vendor=vendor) as (server, provider):
        await provider.attempt(question(max_tokens=9), lambda _: None)
    body = server.asked[0].body
    words = ["max_completion_tokens", "max_tokens"]
    assert [body.get(word) for word in words] == ([9, None] if vendor == "openai" else [None, 9])


async def test_mistral_is_spared_what_it_refuses() -> None:
    """Mistral answers 422 to `include_usage`; its place leaves that out of the request."""
    extra = PLACES["mistral"].extra
    async with talking("chat", vendor="mistral", extra=extra) as (server, provider):
        await provider.attempt(question(), lambda _: None)
    assert server.asked[0].body["stream_options"] == {}


async def test_anthropic_is_told_what_to_cache() -> None:
    """What opens the prompt and what precedes its last message are marked for caching."""
    async with talking("messages", Behaviour(read=100, cached=10, stored=50)) as (server, provider):
        tried = await provider.attempt(question(), lambda _: None)
    body = server.asked[0].body
    assert "cache_control" in body["system"][0]
    assert ["cache_control" in part for part in body["messages"][0]["content"]] == [True, False]
    assert (tried.usage.read, tried.usage.cached) == (100, 10)


async def test_cost_counts_what_was_cached() -> None:
    """The cost comes from the price, with cached and stored tokens at theirs."""
    from loopforge.models.providers.model_spec import Price

    price = Price(read=1, cached=0.1, stored=1.25, written=5)
    stored = Behaviour(read=1000, cached=500, stored=200)
    tried = await ask("messages", stored, price=price)
    assert tried.usage.cost == "0.00062"  # 300 * 1 + 500 * 0.1 + 200 * 1.25 + 4 * 5, per million


def piece(delta: dict[str, Any], finish: str | None = None, **more: Any) -> bytes:
    """One event of a stream of chat completions."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    frame = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return f"data: {json.dumps({**frame, 'choices': [choice], **more})}\n\n".encode()


def told(read: int, written: int) -> dict[str, int]:
    """Usage, as chat completions tell it."""
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


async def test_usage_that_is_told_with_every_piece_is_counted_once() -> None:
    """Some servers tell with each piece what was used so far, or twice what was used in all."""
    pieces = [piece({"content": word}, usage=told(100, n)) for n, word in enumerate("Hi!", 1)]
    end = piece({}, "stop", usage=told(100, 4)) + piece({}, choices=[], usage=told(100, 4))
    async with talking("chat", Behaviour(raw=b"".join(pieces) + end)) as (server, provider):
        tried = await provider.attempt(question(), lambda _: None)
    assert (tried.text, tried.usage.read, tried.usage.written) == ("Hi!", 100, 4)
    assert server.asked[0].body["stream_options"] == {"include_usage": True}


@pytest.mark.parametrize(
    "delta",
    [
        {"reasoning_content": "Hm. " * 50},
        {
            "tool_calls": [
                {"index": 0, "id": "t", "function": {"name": "x", "arguments": "1" * 200}}
            ]
        },
    ],
)
@pytest.mark.parametrize("end", [b"", piece({}, "stop")])
async def test_what_is_no_word_is_paid_too(delta: dict[str, Any], end: bytes) -> None:
    """Where a server counts no tokens, thoughts and uses of tools are estimated like words."""
    tried = await ask("chat", Behaviour(raw=piece(delta) + end))
    assert tried.usage.read > 0
    assert 50 <= tried.usage.written <= 60


async def test_what_anthropic_had_not_counted_yet_is_estimated() -> None:
    """Its first count is of one token; of a stream that breaks later, all that came is paid."""
    tried = await ask("messages", Behaviour(pieces=("word " * 400,), cut=3))
    assert (tried.cause, tried.usage.read) == ("cut", 100)
    assert 500 < tried.usage.written < 600


async def test_a_finish_by_error_is_a_failure() -> None:
    """An answer whose server says that it broke off is none, whatever words came before."""
    tried = await ask("chat", Behaviour(finish="error"))
    assert (tried.outcome, tried.cause) == ("failed", "broken")


# ---------------------------------------------------------------- refused, malformed


@every_protocol
async def test_a_refusal_is_an_outcome(kind: str) -> None:
    """A provider that will not answer gives "refused", with its words where it has any."""
    finish = {"messages": "refusal", "gemini": "SAFETY"}.get(kind, "content_filter")
    if kind in ("chat", "responses"):
        tried = await ask(kind, Behaviour(refusal="I would rather not."))
        assert (tried.outcome, tried.text, tried.cut) == ("refused", "I would rather not.", False)
    if kind != "responses":
        filtered = await ask(kind, Behaviour(pieces=("Well, ",), finish=finish))
        assert (filtered.outcome, filtered.text, filtered.cut) == ("refused", "Well, ", True)


async def test_a_blocked_prompt_is_refused() -> None:
    """So does one that will not even read the prompt: Gemini's feedback, OpenAI's error code."""
    blocked = await ask("gemini", Behaviour(refusal="blocked"))
    body = json.dumps({"error": {"message": "no", "code": "content_filter"}})
    rejected = await ask("chat", Behaviour(status=400, body=body))
    assert (blocked.outcome, rejected.outcome) == ("refused", "refused")
    assert not rejected.again


@pytest.mark.parametrize(
    "words",
    [
        "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing.",
        "Budget has been exceeded! Current cost: 10.2, Max budget: 10.0",
        "Insufficient Balance",
        "Billing hard limit has been reached",
    ],
)
async def test_what_nobody_pays_for_is_told_as_such(words: str) -> None:
    """A service behind a gateway says so in words; it is not the question that was wrong."""
    tried = await ask("chat", Behaviour(status=400, body=json.dumps({"error": {"message": words}})))
    assert (tried.cause, tried.lasting) == ("credit", True)


async def test_a_server_that_does_not_keep_to_a_schema() -> None:
    """A form without words to be said is read in a fence, too: nobody else reads it."""
    wrapped = Behaviour(pieces=("```json\n", GOOD, "\n```"))
    tried = await ask("chat", wrapped, question(SCHEMA))
    assert (tried.outcome, tried.data) == ("answered", {"mode": "context", "say": "Hello."})
    spoken = await ask("chat", wrapped, replace(question(SCHEMA), field="say"))
    assert (spoken.outcome, spoken.data) == ("malformed", None)


@every_protocol
async def test_a_tool_call_nobody_offered(kind: str) -> None:
    """With text beside it the text is the answer; alone it is malformed; neither crashes."""
    beside = await ask(kind, Behaviour(calls=(("search", "{}"),)))
    assert (beside.outcome, beside.text) == ("answered", "Hello, ana!")
    alone = await ask(kind, Behaviour(pieces=(), calls=(("search", "{}"),)))
    assert (alone.outcome, alone.text, alone.again) == ("malformed", "", False)


@every_protocol
@pytest.mark.parametrize(
    ("pieces", "finish", "why"),
    [
        (('{"mode": "context", ',), "stop", "not JSON"),
        (("I would say hello.",), "stop", "not JSON"),
        (('{"mode": "both", "say": "x"}',), "stop", "mode"),
        (('{"say": "x"}',), "stop", "it lacks mode"),
        ((GOOD[:20],), "length", "cut off"),
    ],
)
async def test_malformed(kind: str, pieces: tuple[str, ...], finish: str, why: str) -> None:
    """Under a schema, an answer that does not fit is malformed; its raw text is kept."""
    tried = await ask(kind, Behaviour(pieces=pieces, finish=finish), question(SCHEMA))
    assert (tried.outcome, tried.text, tried.data) == ("malformed", "".join(pieces), None)
    assert why in tried.detail


async def test_plain_text_may_be_cut_off() -> None:
    """Without a schema, an answer that reached its bound is an answer; the record says so."""
    tried = await ask("chat", Behaviour(finish="length"))
    assert (tried.outcome, tried.detail) == ("answered", "cut off at max_tokens")


@every_protocol
async def test_text_that_never_ends(kind: str) -> None:
    """A model that writes far beyond its bound is stopped, and the connection closed."""
    endless = Behaviour(pieces=("and so on " * 50,) * 1000)
    async with talking(kind, endless) as (_, provider):
        tried = await provider.attempt(question(max_tokens=100), lambda _: None)
    assert tried.outcome == "malformed"
    assert 6800 < len(tried.text) < 7500


async def test_uses_that_never_end() -> None:
    """Of a line with very many uses of tools some hundreds are put together, and no more."""
    calls = [("clock", "{}")] * 700
    async with talking("chat", Behaviour(calls=calls)) as (_, provider):
        tried = await provider.attempt(question(), lambda _: None)
    assert (tried.outcome, tried.detail) == ("malformed", "more than 500 parts came, and no end")


@every_protocol
async def test_bytes_that_never_end(kind: str) -> None:
    """A server that sends one line without end is cut off before it fills the memory."""
    async with talking(kind, Behaviour(endless=b"x" * 65536)) as (server, provider):
        tried = await provider.attempt(question(), lambda _: None)
        await server.left.wait()
    assert tried.outcome == "failed"
    assert "and no end" in tried.detail


@every_protocol
async def test_a_packed_answer_is_not_unfolded(kind: str) -> None:
    """None was asked for: half a megabyte of it is half a gigabyte of one line."""
    body = gzip.compress(b"data: " + b"x" * 2**20)
    head = f"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {len(body)}\r\n"
    wire = f"{head}content-encoding: gzip\r\n\r\n".encode() + body
    async with talking(kind, Behaviour(wire=wire)) as (server, provider):
        tried = await provider.attempt(question(), lambda _: None)
    assert server.asked[0].headers["accept-encoding"] == "identity"
    assert tried.outcome == "failed"
    assert "the answer is packed (gzip), which nobody asked" in tried.detail


# ---------------------------------------------------------------- failures


@every_protocol
@pytest.mark.parametrize(
    ("status", "again", "lasting", "ours"),
    [
        (429, True, False, False),
        (500, True, False, False),
        (503, True, False, False),
        (529, True, False, False),
        (400, False, False, True),
        (401, False, True, False),
        (404, False, True, False),
        (413, False, False, True),
    ],
)
async def test_errors_are_asked_once(
    kind: str, status: int, again: bool, lasting: bool, ours: bool
) -> None:
    """None is retried inside the client, and each says whether that helps; overloaded is busy."""
    body = json.dumps(
        {"error": {"message": "no", "type": "overloaded_error" if status == 529 else "no"}}
    )
    tried = await ask(kind, Behaviour(status=status, body=body))
    assert tried.outcome == "failed"
    assert (tried.again, tried.lasting, tried.ours) == (again, lasting, ours)
    assert str(status) in tried.detail
    assert (tried.cause == "busy") == (status in (429, 529))


@every_protocol
async def test_retry_after_is_read(kind: str) -> None:
    """How long a provider asks to be left alone is handed on; without a word it is None."""
    asked = await ask(kind, Behaviour(status=429, body="{}", headers={"Retry-After": "7"}))
    silent = await ask(kind, Behaviour(status=429, body="{}"))
    assert (asked.wait, silent.wait) == (7.0, None)


@every_protocol
async def test_a_cut_keeps_what_came(kind: str) -> None:
    """A connection that breaks in mid-answer fails as cut; the text so far is kept and priced."""
    for broken in (Behaviour(cut=MIDDLE[kind]), Behaviour(vanish=MIDDLE[kind])):
        tried = await ask(kind, broken)
        assert (tried.outcome, tried.text) == ("failed", "Hello, ")
        assert (tried.cause, tried.again) == ("cut", True)
        assert tried.usage.written > 0
        assert tried.cut


@every_protocol
@pytest.mark.parametrize(
    "raw",
    [
        b"<html><body>Bad gateway</body></html>",
        b'data: {"choices": [\n\n',
        b"data: [1, 2, 3]\n\n",
        b'data: {"choices": "x", "candidates": 3}\n\n',
        bytes(range(256)) * 4,
        b"\n",
    ],
)
async def test_garbage_is_a_failure(kind: str, raw: bytes) -> None:
    """What is not the protocol fails with an outcome, never with an exception."""
    tried = await ask(kind, Behaviour(raw=raw))
    assert (tried.outcome, tried.text) == ("failed", "")
    assert tried.detail


@every_protocol
async def test_nobody_there(kind: str) -> None:
    """A connection refused fails, and trying again may help."""
    async with talking(kind) as (server, provider):
        spec = server.spec(**KINDS[kind])
    gone = Provider(spec, SystemClock(), BackgroundTasks())
    tried = await gone.attempt(question(), lambda _: None)
    await gone.close()
    assert (tried.outcome, tried.again) == ("failed", True)
    assert provider.spec == spec


async def test_an_error_inside_the_stream() -> None:
    """An error object in a stream that began well is a failure of its kind."""
    error = {"error": {"message": "busy", "code": "overloaded", "type": "overloaded_error"}}
    tried = await ask("chat", Behaviour(raw=b"data: " + json.dumps(error).encode() + b"\n\n"))
    assert (tried.outcome, tried.again) == ("failed", True)


# ---------------------------------------------------------------- time, and being stopped


@pytest.mark.parametrize(
    ("cause", "words", "limits"),
    [
        ("silent", [], {"first_token_seconds": 30.0}),
        ("endless", ["", "Hello", ", "], {"total_seconds": 30.0}),
        ("stalled", ["", "Hello", ", "], {"total_seconds": 180.0, "first_token_seconds": 30.0}),
    ],
)
@every_protocol
async def test_a_stall(kind: str, cause: str, words: list[str], limits: dict[str, float]) -> None:
    """When no word, or no more, comes in its time, what came is kept; it is not tried again."""
    clock = SimClock(datetime(2026, 11, 1, tzinfo=UTC))
    tasks = BackgroundTasks()
    heard = asyncio.Queue[str]()
    stalled = Behaviour(stall=MIDDLE[kind] if words else 0)
    async with talking(kind, stalled, clock=clock, **limits) as (server, provider):
        await provider.ready()
        asking = tasks.spawn(provider.attempt(question(), heard.put_nowait), "asking")
        await server.reached.wait()
        assert [await heard.get() for _ in words] == words
        await clock.advance(29)
        assert not asking.done()
        await clock.advance(2)
        tried = await asking
        await server.left.wait()
    assert (tried.outcome, tried.text, tried.again) == ("timed_out", "".join(words), False)
    assert (tried.cause, len(server.asked)) == (cause, 1)


@every_protocol
async def test_cancelling_closes_the_connection(kind: str) -> None:
    """When the asking task is cancelled, the server sees its connection close."""
    tasks = BackgroundTasks()
    heard = asyncio.Queue[str]()
    async with talking(kind, Behaviour(stall=MIDDLE[kind])) as (server, provider):
        asking = tasks.spawn(provider.attempt(question(), heard.put_nowait), "asking")
        await heard.get()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await server.left.wait()
        server.does(Behaviour())
        again = await provider.attempt(question(), lambda _: None)
    assert again.outcome == "answered"


async def test_a_client_that_cannot_be_made() -> None:
    """A model whose client cannot be made fails with an outcome (here: a name without a maker)."""
    async with talking("chat", vendor="openrouter", id="no-maker") as (_, provider):
        tried = await provider.attempt(question(), lambda _: None)
    assert (tried.outcome, tried.lasting) == ("failed", True)


# ---------------------------------------------------------------- the prompt on the wire

MIXED = (
    ("system", "You are Maya."),
    ("assistant", "Yes?"),
    ("user", "ana: hi"),
    ("user", "ben: ho"),
    ("system", "It is noon."),
)


def turns(*messages: tuple[str, str], **more: Any) -> list[tuple[str, object]]:
    """The turns of a prompt, a mixed one unless it is given, as this model gets them."""
    spec = ModelSpec(**{"name": "m", "provider": "openai", "id": "m", **more})
    made = turns_of(spec, Question(messages=messages or MIXED))
    return [(role, text) for role, (text,) in made]


def test_the_embedded_model_takes_prompts_as_they_are() -> None:
    """Nothing of a prompt is changed for the embedded model."""
    assert turns(provider="embedded") == list(MIXED)


def test_services_get_one_system_message_first() -> None:
    """Elsewhere later system messages are the user's, and the user opens the talk."""
    assert turns(provider="anthropic") == [
        ("system", "You are Maya."),
        ("user", "[the talk goes on]"),
        ("assistant", "Yes?"),
        ("user", "ana: hi"),
        ("user", "ben: ho"),
        ("user", "It is noon."),
    ]


def test_openai_takes_system_messages_wherever_they_stand() -> None:
    """What the house asks at the end of a prompt is the system's there, not the user's."""
    assert turns(vendor="openai")[-2:] == [("user", "ana: hi\nben: ho"), ("system", "It is noon.")]


def test_roles_take_turns() -> None:
    """In OpenAI's protocol, messages of one role in a row are joined, line by line."""
    assert turns()[-1] == ("user", "ana: hi\nben: ho\nIt is noon.")
    assert [role for role, _ in turns()] == ["system", "user", "assistant", "user"]


def test_a_lone_system_message_gets_company() -> None:
    """A prompt of nothing but a system message is given a user to answer."""
    assert turns(("system", "Greet."), provider="anthropic")[-1] == ("user", "Go on.")


@every_protocol
async def test_a_server_that_wants_no_key_is_asked_without_one(kind: str) -> None:
    """As docs/adding-models.md has it, whichever protocol it speaks."""
    outcome = await ask(kind, Behaviour(), key=Secret(""))
    assert (outcome.outcome, outcome.text) == ("answered", "Hello, ana!")
