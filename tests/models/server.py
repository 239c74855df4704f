"""Servers on loopback that speak the providers' protocols, well or badly, as a test tells them to.

One server speaks all four: OpenAI's chat completions and responses, Anthropic's messages, Gemini's
streamGenerateContent. What it does with each request is a Behaviour; the last one given stays.
It counts requests, so that a test can prove that nothing was asked twice.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from loopforge.models.providers.model_spec import ModelSpec, Provider, Secret
from tests.listening import listening


@dataclass
class Behaviour:
    """What the server does with one request.

    With a `status` other than 200 it answers with `body`. Else it streams `pieces` and then the
    end that `finish` says; `stall` waits for the `gate` before the piece of that number (for ever,
    unless somebody opens it), `cut` breaks the connection there, `vanish` ends the stream there as
    if all was well but without an end. `raw` goes out in the stream's place, `endless` again and
    again, after it; `wire` in the place of the whole response, its status line included. `calls` are
    tools by name and arguments, as JSON that comes in two pieces.
    """

    pieces: Sequence[str] = ("Hello", ", ", "ana", "!")
    finish: str = "stop"
    status: int = 200
    body: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    stall: int | None = None
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    cut: int | None = None
    vanish: int | None = None
    refusal: str = ""
    calls: Sequence[tuple[str, str]] = ()
    raw: bytes = b""
    endless: bytes = b""
    wire: bytes = b""
    read: int = 100
    cached: int = 0
    stored: int = 0


@dataclass
class Asked:
    """One request as the server got it."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]


class Server:
    """A provider on loopback. `asked` are its requests in order.

    `reached`: a request has come; `left`: a client has closed its connection before the end.
    `waiting`: how many answers are held up for good, or never end.
    """

    def __init__(self) -> None:
        self.script: list[Behaviour] = [Behaviour()]
        self.asked: list[Asked] = []
        self.reached = asyncio.Event()
        self.left = asyncio.Event()
        self.waiting = 0
        self.url = ""

    def does(self, *behaviours: Behaviour) -> None:
        """Do these in order, the last one for ever."""
        self.script = list(behaviours)

    def spec(self, provider: Provider = "openai", **more: Any) -> ModelSpec:
        """A model that is reached here."""
        base = self.url + {"openai": "/v1", "anthropic": "", "google": ""}[provider]
        known: dict[str, Any] = {"name": "m", "id": "m-1", "key": Secret("sk-sesame"), **more}
        return ModelSpec(provider=provider, base_url=base, **known)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Whatever the script says, in the protocol of the path."""
        body = await request.json()
        self.asked.append(Asked(request.path, request.headers, body))
        if wrong := _refused(request.path, body):
            return web.json_response({"error": {"message": wrong, "code": 400}}, status=400)
        behaviour = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        self.reached.set()
        if behaviour.status != 200:
            return web.Response(
                status=behaviour.status,
                text=behaviour.body,
                headers=behaviour.headers,
                content_type="application/json",
            )
        if behaviour.wire:
            assert request.transport is not None
            request.transport.write(behaviour.wire)
            request.transport.close()
            return web.Response()
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        try:
            await self._stream(request, response, behaviour)
        except ConnectionError:
            self.left.set()
        except asyncio.CancelledError:  # the client has gone
            self.left.set()
            raise
        return response

    async def _stream(
        self, request: web.Request, response: web.StreamResponse, behaviour: Behaviour
    ) -> None:
        if behaviour.raw:
            await response.write(behaviour.raw)
        if behaviour.endless:
            with self._held():
                while True:
                    await response.write(behaviour.endless)
                    await asyncio.sleep(0)
        if behaviour.raw:
            return
        for place, event in enumerate(_events(request.path, behaviour)):
            if place == behaviour.stall:
                with self._held():
                    await behaviour.gate.wait()
            if place == behaviour.cut:
                assert request.transport is not None
                request.transport.abort()
                return
            if place == behaviour.vanish:
                return
            await response.write(event)

    @contextmanager
    def _held(self) -> Iterator[None]:
        self.waiting += 1
        try:
            yield
        finally:
            self.waiting -= 1


def _refused(path: str, body: Mapping[str, Any]) -> str:
    """Why a provider takes no such tools; "" where it does."""
    given = [tool.get("function", tool) for tool in body.get("tools", [])]
    pattern, google = r"[a-zA-Z0-9_-]{1,64}", "gemini" in path
    if google:
        pattern = r"[a-zA-Z_][a-zA-Z0-9_.-]{0,63}"
        given = [one for tool in given for one in tool.get("functionDeclarations", [])]
        if given and "gemini-2" in path and "responseJsonSchema" in body["generationConfig"]:
            return "Function calling with a response mime type: 'application/json' is unsupported"
    names = [tool["name"] for tool in given]
    if bad := [name for name in names if not re.fullmatch(pattern, name)]:
        return f"Invalid tool name {bad[0]!r}: expected a pattern {pattern!r}."
    if any(len(tool.get("description", "")) > 1024 for tool in given):
        return "Invalid 'tools[0].function.description': string too long."
    for tool in given:
        schema = tool.get("parameters") or tool.get("input_schema") or {"type": "object"}
        schema = tool.get("parametersJsonSchema", schema)
        top = {"oneOf", "anyOf", "allOf", "enum", "not"} & schema.keys()
        if schema.get("type") != "object" or (top and not google):
            return f"tools.0: schema must have type 'object' and not have {sorted(top)} at the top"
    return "tools: Tool names must be unique." if len(set(names)) < len(names) else ""


def _sse(data: Any, event: str = "") -> bytes:
    head = f"event: {event}\n" if event else ""
    return f"{head}data: {json.dumps(data)}\n\n".encode()


def _events(path: str, behaviour: Behaviour) -> list[bytes]:
    if path.endswith("/chat/completions"):
        return chat(behaviour)
    if path.endswith("/responses"):
        return _responses(behaviour)
    if path.endswith("/messages"):
        return _messages(behaviour)
    return _gemini(behaviour)


def chat(behaviour: Behaviour) -> list[bytes]:
    """The events of OpenAI's chat completions."""

    def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return _sse({**frame, "choices": [choice]})

    frame = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m-1"}
    events = [chunk({"role": "assistant", "content": piece}) for piece in behaviour.pieces]
    if behaviour.refusal:
        events = [chunk({"role": "assistant", "refusal": behaviour.refusal})]
    for nth, (name, arguments) in enumerate(behaviour.calls):
        call = {"index": nth, "id": f"t{nth}", "type": "function"}
        begun = {"name": name, "arguments": arguments[:3]}
        events.append(chunk({"tool_calls": [{**call, "function": begun}]}))
        rest = {"arguments": arguments[3:]}
        events.append(chunk({"tool_calls": [{"index": nth, "function": rest}]}))
    usage = {
        "prompt_tokens": behaviour.read,
        "completion_tokens": len(behaviour.pieces),
        "total_tokens": behaviour.read + len(behaviour.pieces),
        "prompt_tokens_details": {"cached_tokens": behaviour.cached},
    }
    tail = [_sse({**frame, "choices": [], "usage": usage}), b"data: [DONE]\n\n"]
    return [*events, chunk({}, "tool_calls" if behaviour.calls else behaviour.finish), *tail]


def _responses(behaviour: Behaviour) -> list[bytes]:
    text = "".join(behaviour.pieces)
    part = {"type": "output_text", "text": text, "annotations": []}
    item = {"id": "i1", "type": "message", "role": "assistant", "status": "in_progress"}
    usage = {
        "input_tokens": behaviour.read,
        "input_tokens_details": {"cached_tokens": behaviour.cached},
        "output_tokens": len(behaviour.pieces),
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": behaviour.read + len(behaviour.pieces),
    }
    whole: dict[str, Any] = {
        "id": "r1",
        "object": "response",
        "created_at": 1,
        "model": "m-1",
        "output": [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "status": "in_progress",
    }
    done = {**item, "status": "completed", "content": [part]}
    place = {"item_id": "i1", "output_index": 0, "content_index": 0}
    said: list[dict[str, Any]] = [
        {"type": "response.output_text.delta", **place, "delta": piece, "logprobs": []}
        for piece in behaviour.pieces
    ]
    if behaviour.refusal:
        said = [{"type": "response.refusal.delta", **place, "delta": behaviour.refusal}]
        done["content"] = [{"type": "refusal", "refusal": behaviour.refusal}]
    for nth, (name, arguments) in enumerate(behaviour.calls, 1):
        call = {"id": f"f{nth}", "type": "function_call", "call_id": f"t{nth}", "name": name}
        call |= {"arguments": "", "status": "in_progress"}
        begun, ended = (
            {"type": f"response.output_item.{how}", "output_index": nth}
            for how in ("added", "done")
        )
        said.append(begun | {"item": call})
        piece = {"type": "response.function_call_arguments.delta", "output_index": nth}
        said += [
            piece | {"item_id": f"f{nth}", "delta": part} for part in (arguments[:3], arguments[3:])
        ]
        said.append(ended | {"item": call | {"arguments": arguments, "status": "completed"}})
    if behaviour.finish == "length":
        ended = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
        last = "response.incomplete"
    else:
        ended, last = {"status": "completed"}, "response.completed"
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": whole},
        {"type": "response.output_item.added", "output_index": 0, "item": {**item, "content": []}},
        {"type": "response.content_part.added", **place, "part": {**part, "text": ""}},
        *said,
        {"type": "response.output_item.done", "output_index": 0, "item": done},
        {"type": last, "response": {**whole, **ended, "output": [done], "usage": usage}},
    ]
    return [
        _sse({**event, "sequence_number": number}, event["type"])
        for number, event in enumerate(events)
    ]


def _messages(behaviour: Behaviour) -> list[bytes]:
    stop = {"stop": "end_turn", "length": "max_tokens"}.get(behaviour.finish, behaviour.finish)
    usage = {
        "input_tokens": behaviour.read - behaviour.cached - behaviour.stored,
        "cache_read_input_tokens": behaviour.cached,
        "cache_creation_input_tokens": behaviour.stored,
        "output_tokens": 1,
    }
    message: dict[str, Any] = {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "model": "m-1",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    block: dict[str, Any] = {"type": "text", "text": ""}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": block},
        *(
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "text_delta", "text": piece},
            }
            for piece in behaviour.pieces
        ),
        {"type": "content_block_stop", "index": 0},
    ]
    for nth, (name, arguments) in enumerate(behaviour.calls, 1):
        call = {"type": "tool_use", "id": f"t{nth}", "name": name, "input": {}}
        pieces = [
            {"type": "input_json_delta", "partial_json": part}
            for part in (arguments[:3], arguments[3:])
        ]
        events += [
            {"type": "content_block_start", "index": nth, "content_block": call},
            *({"type": "content_block_delta", "index": nth, "delta": each} for each in pieces),
            {"type": "content_block_stop", "index": nth},
        ]
        stop = "tool_use"
    events += [
        {
            "type": "message_delta",
            "delta": {"stop_reason": stop, "stop_sequence": None},
            "usage": {"output_tokens": len(behaviour.pieces)},
        },
        {"type": "message_stop"},
    ]
    return [_sse(event, event["type"]) for event in events]


def _gemini(behaviour: Behaviour) -> list[bytes]:
    def chunk(parts: list[dict[str, Any]], finish: str | None = None) -> bytes:
        candidate: dict[str, Any] = {"index": 0, "content": {"role": "model", "parts": parts}}
        if finish:
            candidate["finishReason"] = finish
        return _sse({"candidates": [candidate], "modelVersion": "m-1", "usageMetadata": usage})

    usage = {
        "promptTokenCount": behaviour.read,
        "cachedContentTokenCount": behaviour.cached,
        "candidatesTokenCount": len(behaviour.pieces),
        "totalTokenCount": behaviour.read + len(behaviour.pieces),
    }
    finish = {"stop": "STOP", "length": "MAX_TOKENS"}.get(behaviour.finish, behaviour.finish)
    events = [chunk([{"text": piece}]) for piece in behaviour.pieces]
    if behaviour.refusal:
        blocked = {"blockReason": "SAFETY", "blockReasonMessage": behaviour.refusal}
        return [_sse({"promptFeedback": blocked, "usageMetadata": usage, "modelVersion": "m-1"})]
    for name, arguments in behaviour.calls:
        call = {"name": name, "args": json.loads(arguments)}
        events.append(chunk([{"functionCall": call}]))
    return [*events, chunk([{"text": ""}], finish)]


async def _tokenize(request: web.Request) -> web.Response:
    """As llama.cpp answers it: one token for each word."""
    body = await request.json()
    return web.json_response({"tokens": list(range(len(body["content"].split())))})


@asynccontextmanager
async def serving(*, tokenizer: bool = False) -> AsyncIterator[Server]:
    """A server on a free port of loopback, until the block ends."""
    server = Server()
    app = web.Application(client_max_size=2**24)
    if tokenizer:
        app.router.add_post("/tokenize", _tokenize)
    app.router.add_post("/{path:.*}", server.answer)
    async with listening(app) as server.url:
        yield server
