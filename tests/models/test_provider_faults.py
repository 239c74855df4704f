"""What keeps a model from answering is told as what it is, whatever words its server has for it."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from loopforge.models.providers.model_attempt import Provider
from loopforge.models.providers.model_spec import ModelSpec, Secret
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.system_clock import SystemClock
from tests.models.server import Behaviour
from tests.models.test_model_attempt import KINDS, ask, piece, question
from tests.models.test_model_router import routed
from tests.models.test_native_tools import with_tools

LIMIT = "Key limit exceeded (total limit). Manage it using https://openrouter.ai/settings/keys"


def told(status: int, message: str, **more: Any) -> Behaviour:
    """An error as OpenAI's protocol has it."""
    return Behaviour(status=status, body=json.dumps({"error": {"message": message, **more}}))


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        (told(403, "Key may not do that"), "key"),
        (told(400, "Incorrect API key provided: xa***. You can obtain one."), "key"),
        (told(403, LIMIT, code=403), "credit"),
        (told(429, "Insufficient balance or no resource package. Please recharge."), "credit"),
        (told(429, "Please check your plan", type="exceeded_current_quota_error"), "credit"),
        (told(429, "You exceeded your current quota, check your plan and billing details"), "busy"),
        (told(403, "Country, region, or territory not supported"), "barred"),
        (told(400, "User location is not supported for the API use."), "barred"),
        (Behaviour(status=403, body="<html>Attention Required! | Cloudflare</html>"), "barred"),
        (Behaviour(status=407, body="<html>Proxy Authentication Required</html>"), "barred"),
    ],
)
async def test_who_has_to_mend_what(said: Behaviour, cause: str) -> None:
    """A key, money, a way that is barred, or patience: each has its own sentence."""
    tried = await ask("chat", said)
    assert (tried.outcome, tried.cause) == ("failed", cause)


@asynccontextmanager
async def answering(line: bytes) -> AsyncIterator[str]:
    """The address of a server that answers whatever it is asked with this one line."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(line)
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        (b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n", "barred"),
        (b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n", "barred"),
        (b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n", "unreachable"),
        (b"", "broken"),
        (b"\x15\x03\x01\x00\x02\x02\x46\r\n\r\n", "garbled"),
    ],
)
async def test_a_proxy_that_lets_nothing_through(
    line: bytes, cause: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of an answer came: so nothing broke in the middle of one."""
    async with answering(line) as address:
        monkeypatch.setenv("HTTPS_PROXY", f"http://{address}")
        spec = ModelSpec(
            name="m",
            provider="openai",
            id="m",
            base_url="https://models.example/v1",
            key=Secret("k"),
        )
        tasks = BackgroundTasks()
        provider = Provider(spec, SystemClock(), tasks)
        tried = await provider.attempt(question(), lambda _: None)
        await provider.close()
        await tasks.close()
    assert (tried.outcome, tried.cause) == ("failed", cause)


@pytest.mark.parametrize(
    "delta", [{"content": ""}, {"reasoning_content": "Hm."}, {"content": "<think>Hm."}]
)
async def test_a_model_that_only_thinks(delta: dict[str, str]) -> None:
    """Its tokens are used up, and there is no word: it gets no room by being asked again."""
    end = piece({}, "length") + b"data: [DONE]\n\n"
    tried = await ask("chat", Behaviour(raw=piece(delta) + end))
    assert (tried.outcome, tried.cause, tried.again) == ("failed", "wordless", False)


@pytest.mark.parametrize("kind", KINDS)
async def test_an_answer_without_a_word(kind: str) -> None:
    """It has come to its end and is empty: the next one mostly is not, and is asked for."""
    tried = await ask(kind, Behaviour(pieces=()))
    assert (tried.outcome, tried.cause, tried.again) == ("failed", "empty", True)


async def test_another_model_answers_for_one_that_says_nothing() -> None:
    """After a second try at it; the record has both."""
    async with routed() as (server, models, _):
        server.does(Behaviour(pieces=()), Behaviour(pieces=()), Behaviour())
        reply = await models.ask(question(), lambda _: None)
    assert (reply.text, reply.model) == ("Hello, ana!", "b")
    assert [each.cause for each in reply.attempts] == ["empty", "empty", ""]


async def test_a_prompt_that_leaves_anthropics_model_no_room() -> None:
    """That is told as a talk that is too long."""
    full = Behaviour(pieces=(), finish="model_context_window_exceeded")
    assert (await ask("messages", full)).cause == "long"


@pytest.mark.parametrize("code", ["tool_use_failed", "json_validate_failed"])
async def test_what_a_service_could_not_read_is_read_here(code: str) -> None:
    """Groq calls the request bad, and tells what its model wrote: that is the answer."""
    written = '<function=clock>{"zone": "UTC"}</function>'
    said = told(400, "Failed to call a function.", code=code, failed_generation=written)
    tried = await ask("chat", said, with_tools())
    assert (tried.outcome, tried.text, tried.again) == ("malformed", written, False)
    empty = told(400, "Failed to call a function.", code=code, failed_generation="")
    assert (await ask("chat", empty, with_tools())).again, "the next one mostly is well"


async def test_a_mark_of_order_before_a_stream() -> None:
    """The first words stand behind it all the same."""
    said = piece({"content": "Hi!"}) + piece({}, "stop")
    tried = await ask("chat", Behaviour(raw=b"\xef\xbb\xbf" + said + b"data: [DONE]\n\n"))
    assert (tried.outcome, tried.text) == ("answered", "Hi!")
