"""Tools in each provider's own form, over real HTTP: offered, called, refused."""

import json
from collections.abc import Sequence

import pytest

from loopforge.core.perception import ToolOffer
from loopforge.policies.prompt_building import form_of
from loopforge.runtime.ports import Question
from tests.models.server import Behaviour
from tests.models.test_model_attempt import KINDS, ask, talking

FORM = form_of(
    {
        "say": {"type": "string"},
        "calls": {
            "type": "array",
            "items": form_of({"tool": {"type": "string"}, "arguments": {"type": "string"}}),
        },
    }
)
ZONE = {"type": "object", "properties": {"zone": {"type": "string"}}}
OFFERED = (
    ToolOffer(name="clock", summary="Tells the time.", schema=ZONE),
    ToolOffer(name="maps/find a way", summary="Finds a way."),
    ToolOffer(name="maps find a way", summary="Finds another."),
    ToolOffer(name="3d", summary="Draws. " * 200, schema={"anyOf": [ZONE, {"required": ["x"]}]}),
)
CALLED = (("clock", '{"zone": "Asia/Tokyo"}'), ("maps_find_a_way_2", "{}"))


def with_tools(*tools: ToolOffer) -> Question:
    """What a mate asks that has tools, with the list of them for models that know none."""
    messages = (
        ("system", "You are Maya."),
        ("system", "Your tools: clock"),
        ("user", "ana: what time is it?"),
    )
    return Question(messages=messages, schema=FORM, tools=tools or OFFERED, listing=1)


TOOLED = {**KINDS, "gemini": {"provider": "google", "id": "gemini-3-flash-preview"}}


@pytest.mark.parametrize("kind", TOOLED)
@pytest.mark.parametrize(
    ("beside", "words"),
    [((), {}), (('{"say": ', '"Let me look."}'), {"say": "Let me look."}), (("I look.",), {})],
    ids=["alone", "beside", "prose"],
)
async def test_tools_are_offered_in_the_providers_own_form(
    kind: str, beside: Sequence[str], words: dict[str, str]
) -> None:
    """Names as all of them take them; several calls come back, and what was written beside."""
    more = TOOLED[kind]
    async with talking(kind, Behaviour(pieces=beside, calls=CALLED), **more) as (server, provider):
        tried = await provider.attempt(with_tools(), lambda _: None)
    assert (tried.outcome, tried.detail) == ("answered", "")
    assert tried.text == "".join(beside)
    assert tried.data == words | {
        "calls": [
            {"tool": "clock", "arguments": '{"zone": "Asia/Tokyo"}'},
            {"tool": "maps find a way", "arguments": "{}"},
        ]
    }
    sent = json.dumps(server.asked[0].body)
    assert len(server.asked) == 1
    assert '"maps_find_a_way_2"' in sent
    assert '"_3d"' in sent
    assert "Your tools: clock" not in sent
    assert '"calls"' not in sent


def calls_in_chat(*deltas: tuple[int | None, str, str, str]) -> bytes:
    """A stream of OpenAI's chat form with pieces of calls: index, id, name and arguments of each."""
    frame = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m-1"}

    def chunk(delta: dict[str, object], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return f"data: {json.dumps({**frame, 'choices': [choice]})}\n\n".encode()

    def call(index: int | None, id: str, name: str, arguments: str) -> dict[str, object]:
        told = {"name": name} if name else {}
        named = {"id": id, "type": "function"} if id else {}
        counted = {} if index is None else {"index": index}
        return {**counted, **named, "function": {**told, "arguments": arguments}}

    pieces = [chunk({"tool_calls": [call(*delta)]}) for delta in deltas]
    return b"".join([*pieces, chunk({}, "tool_calls"), b"data: [DONE]\n\n"])


@pytest.mark.parametrize(
    "deltas",
    [
        [(0, "a", "clock", '{"zone": "Asia/Tokyo"}'), (0, "b", "clock", '{"zone": "UTC"}')],
        [
            (0, "a", "clock", '{"zone": "Asia'),
            (0, "", "", '/Tokyo"}'),
            (0, "b", "clock", '{"zone"'),
            (0, "", "", ': "UTC"}'),
        ],
        [
            (0, "a", "clock", '{"zone": "Asia'),
            (0, "x", "", '/Tokyo"}'),
            (1, "b", "clock", '{"zone"'),
            (1, "y", "", ': "UTC"}'),
        ],
        [
            (None, "a", "clock", '{"zone": "Asia/Tokyo"}'),
            (None, "b", "clock", '{"zone": "UTC"}'),
        ],
        [
            (0, "", "clock", '{"zone": "Asia'),
            (0, "a", "", '/Tokyo"}'),
            (1, "b", "clock", '{"zone"'),
            (1, "b", "", ': "UTC"}'),
        ],
        [(0, "a", "clock", '{"zone": "Asia/Tokyo"}'), (0, "a", "clock", '{"zone": "UTC"}')],
        [(0, "", "clock", '{"zone": "Asia/Tokyo"}'), (0, "", "clock", '{"zone": "UTC"}')],
        [
            (0, "a", "clock", '{"zone": "Asia'),
            (0, "a", "clock", '/Tokyo"}'),
            (0, "", "clock", '{"zone"'),
            (0, "", "clock", ': "UTC"}'),
        ],
        [
            (0, "a", "clock", '{"zone": "Asia/Tokyo"}'),
            (0, "a", "clock", '{"zone": "Asia/Tokyo"}'),
            (1, "b", "clo", ""),
            (1, "b", "ck", '{"zone": "UTC"}'),
        ],
    ],
    ids=[
        "whole, one index",
        "in pieces, one index",
        "each piece an id",
        "no index",
        "an id that comes late",
        "one id for all",
        "no ids, one index",
        "each piece its name",
        "all of it twice, and a name in pieces",
    ],
)
async def test_several_uses_of_tools_stay_apart(
    deltas: list[tuple[int | None, str, str, str]],
) -> None:
    """However a server counts them: Google's gives all of them one index, old ones of vLLM many ids."""
    async with talking("chat", Behaviour(raw=calls_in_chat(*deltas)), **TOOLED["chat"]) as (_, it):
        tried = await it.attempt(with_tools(), lambda _: None)
    assert tried.data == {
        "calls": [
            {"tool": "clock", "arguments": '{"zone": "Asia/Tokyo"}'},
            {"tool": "clock", "arguments": '{"zone": "UTC"}'},
        ]
    }


@pytest.mark.parametrize("kind", TOOLED)
async def test_who_is_offered_tools_may_simply_answer(kind: str) -> None:
    """Nothing makes a model call one."""
    async with talking(kind, Behaviour(pieces=('{"say": "Nine."}',)), **TOOLED[kind]) as (_, it):
        tried = await it.attempt(with_tools(), lambda _: None)
    assert (tried.outcome, tried.data) == ("answered", {"say": "Nine.", "calls": []})


REFUSALS = {
    "some": (400, "this model has no tool calling"),
    "llama.cpp": (500, "tools param requires --jinja flag"),
    "openrouter": (404, "No endpoints found that support tool use."),
    "gemini": (0, ""),
}


@pytest.mark.parametrize("kind", REFUSALS)
async def test_who_takes_no_tools_is_shown_them_in_the_prompt(kind: str) -> None:
    """It is asked in its own form once, and never again; the calls are in the answer's."""
    answer = {"say": "", "calls": [{"tool": "clock", "arguments": "{}"}]}
    good = Behaviour(pieces=(json.dumps(answer),))
    status, words = REFUSALS[kind]
    refusing = Behaviour(status=status, body=json.dumps({"error": {"message": words}}))
    script = (refusing, good) if status else (good,)
    async with talking("chat" if status else kind, *script) as (server, provider):
        for _ in range(2):
            tried = await provider.attempt(with_tools(), lambda _: None)
            assert (tried.outcome, tried.data) == ("answered", answer)
    sent = [json.dumps(one.body) for one in server.asked]
    tooled = [text for text in sent if "Tells the time." in text]
    assert len(sent) - len(tooled) == 2
    assert "Your tools: clock" in sent[-1]


async def test_who_speaks_of_tools_without_any_meant_something_else() -> None:
    """A model whose name holds the word is not there today; tomorrow it is offered tools again."""
    gone = Behaviour(status=404, body='{"error": {"message": "the model tool-7b is not found"}}')
    back = Behaviour(pieces=(), calls=(("clock", "{}"),))
    async with talking("chat", gone, gone, back) as (server, provider):
        first = await provider.attempt(with_tools(), lambda _: None)
        then = await provider.attempt(with_tools(), lambda _: None)
    assert (first.outcome, first.cause, first.lasting) == ("failed", "unknown", True)
    assert then.data == {"calls": [{"tool": "clock", "arguments": "{}"}]}
    assert ["tools" in one.body for one in server.asked] == [True, False, True]


async def test_where_tools_are_found_the_form_has_calls_too() -> None:
    """No provider lets a model call what is not on the list."""
    finder = ToolOffer(name="find_tools", summary="Finds more.")
    written = {"say": "", "calls": [{"tool": "hidden", "arguments": "{}"}]}
    async with talking("chat", Behaviour(pieces=(json.dumps(written),))) as (server, provider):
        tried = await provider.attempt(with_tools(finder), lambda _: None)
    assert tried.data == written
    assert '"calls"' in json.dumps(server.asked[0].body["response_format"])


@pytest.mark.parametrize("kind", ["chat", "messages"])
async def test_broken_arguments_come_as_they_were_written(kind: str) -> None:
    """Whoever uses the tool says what is wrong with them."""
    tried = await ask(kind, Behaviour(calls=(("clock", '{"zone": '),)), with_tools())
    assert tried.data is not None
    assert tried.data["calls"] == [{"tool": "clock", "arguments": '{"zone": '}]
