"""Bodies that are no stream, where one was asked for."""

import json

import pytest

from tests.models.server import Behaviour
from tests.models.test_model_attempt import ask, told
from tests.models.test_native_tools import with_tools


def whole(body: object) -> Behaviour:
    """A body in JSON, under 200, where a stream was asked for."""
    told = json.dumps(body)
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(told)}"
    return Behaviour(wire=f"{head}\r\n\r\n{told}".encode())


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        ({"message": "one a minute", "code": 429}, "busy"),
        ({"message": "one a minute", "code": "402"}, "credit"),
        ({"message": "one a minute", "code": "upstream"}, "broken"),
        ("one a minute", "broken"),
    ],
)
async def test_an_error_under_the_status_of_a_success(error: object, cause: str) -> None:
    """Gateways do that: it is the failure that it tells, and its words stand in the record."""
    tried = await ask("chat", whole({"error": error}))
    assert (tried.outcome, tried.cause) == ("failed", cause)
    assert "one a minute" in tried.detail


async def test_a_server_that_streams_nothing() -> None:
    """An answer that comes whole, as if no stream was asked for, is one, with calls and tokens."""
    use = {"id": "c", "type": "function", "function": {"name": "clock", "arguments": "{}"}}
    message = {"role": "assistant", "content": "Hello, ana!"}
    body = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "usage": told(9, 4)}
    said = {**body, "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    tried = await ask("chat", whole(said))
    assert (tried.outcome, tried.text) == ("answered", "Hello, ana!")
    assert (tried.usage.read, tried.usage.written) == (9, 4)
    calling = {**message, "content": None, "tool_calls": [use, use | {"id": "d"}]}
    said["choices"] = [{"index": 0, "message": calling, "finish_reason": "tool_calls"}]
    tried = await ask("chat", whole(said), with_tools())
    assert tried.data == {"calls": [{"tool": "clock", "arguments": "{}"}] * 2}
