"""The client of one model: pydantic-ai's direct model API over the provider's own SDK.

Opens a client that retries nothing by itself and bounds what it reads. Knows nothing of what is
asked (model_request.py), of deadlines, outcomes or other models.

All of it is imported when the first question is asked; that takes a second or two, in a thread.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from loopforge.errors import ModelError
from loopforge.models.providers.model_spec import ModelSpec
from loopforge.models.providers.unstreamed_answer import as_stream
from loopforge.runtime.mind_containment import bounded_text

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.models import Model
    from pydantic_ai.profiles.openai import OpenAIModelProfile

CONNECT_SECONDS = 10
NO_KEY = "none"
"""What is sent to a server that wants no key: the SDKs insist on one."""
MOST_BYTES = 16 * 2**20
"""No answer is longer on the wire; a server that goes on is cut off."""
LONGEST_LINE = 2**20
"""No event is longer; the clients' decoders take ever longer over one that does not end."""
DONE = b"[DONE]"
"""OpenAI's sign that a stream is at its end."""


class OversizedAnswer(Exception):
    """A server sent more than any answer can be."""


@dataclass(frozen=True)
class ProviderClient:
    """An open client. `exact`: the server is given the JSON schema as it is and keeps to it."""

    model: Model
    http: httpx2.AsyncClient
    exact: bool

    async def close(self) -> None:
        """Close its connections."""
        await self.http.aclose()


_responses: ContextVar[list[httpx2.Response]] = ContextVar("responses")


@asynccontextmanager
async def closing_responses() -> AsyncIterator[list[httpx2.Response]]:
    """Whatever responses begin inside are closed at its end, whoever still holds them.

    The SDKs leave that to nested generators, and those to the garbage collector.
    """
    responses: list[httpx2.Response] = []
    token = _responses.set(responses)
    try:
        yield responses
    finally:
        _responses.reset(token)
        for response in responses:
            await response.aclose()


def came_to_its_end(responses: Iterable[httpx2.Response]) -> bool:
    """Whether one of these said by OpenAI's sign that this was all."""
    return any(getattr(one.stream, "last", b"").rstrip().endswith(DONE) for one in responses)


def is_exact(spec: ModelSpec) -> bool:
    """Whether the schema goes out as it is.

    Servers that build a grammar from it (llama.cpp, vLLM) keep to bounds of length too; the big
    services refuse such words, so they are told of them in the descriptions.
    """
    return spec.structured and not spec.vendor and spec.provider in ("openai", "embedded")


def open_wire(spec: ModelSpec) -> ProviderClient:
    """A client for the model. Slow the first time (imports): call it in a thread."""
    import jsonschema  # type: ignore[import-untyped]  # noqa: F401  by schema_check.py, on the loop
    import pydantic_ai.direct  # noqa: F401  likewise by model_attempt.py

    http = http_client(spec.base_url, LONGEST_LINE)
    http.event_hooks["response"].append(_take_unstreamed)
    match spec.provider:
        case "anthropic":
            model = _anthropic(spec, http)
        case "google":
            model = _google(spec, http)
        case "openai" | "embedded":
            model = _openai(spec, http)
        case "scripted":
            raise ModelError("a scripted model has no client")
    return ProviderClient(model=model, http=http, exact=is_exact(spec))


def http_client(base_url: str, longest_line: int = MOST_BYTES, **more: Any) -> httpx2.AsyncClient:
    """A client that ends a body which is longer than any answer can be; `more` are its options.

    None is packed: half a megabyte of it might unfold to half a gigabyte.
    """
    import httpx2

    class Bounded(httpx2.AsyncByteStream):
        """A body that ends in OversizedAnswer; no generator: it is closed with its response.

        `last` is what came last of it.
        """

        def __init__(self, inner: httpx2.AsyncByteStream, packed: str) -> None:
            self._inner, self._chunks, self._packed = inner, aiter(inner), packed
            self._all = self._line = 0
            self.last = b""

        def __aiter__(self) -> AsyncIterator[bytes]:
            return self

        async def __anext__(self) -> bytes:
            chunk = await anext(self._chunks)
            if self._packed not in ("", "identity"):
                raise OversizedAnswer(
                    f"the answer is packed ({bounded_text(self._packed)}), which nobody asked"
                )
            if not self._all:
                chunk = chunk.removeprefix(BOM_UTF8)
            self.last = (self.last + chunk)[-len(DONE) - len(b"\r\n\r\n") :]
            self._all += len(chunk)
            ended = chunk.rfind(b"\n") + 1
            self._line = len(chunk) - ended + (0 if ended else self._line)
            if self._all > MOST_BYTES or self._line > longest_line:
                raise OversizedAnswer(f"{self._all} bytes came, and no end")
            return chunk

        async def aclose(self) -> None:
            await self._inner.aclose()
            if isinstance(self._chunks, AsyncGenerator):
                await self._chunks.aclose()

    async def bound(response: httpx2.Response) -> None:
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        packed = response.headers.get("content-encoding", "").strip().lower()
        response.stream = Bounded(response.stream, packed)
        _responses.get([]).append(response)

    here = any(f"://{host}" in base_url for host in ("127.", "localhost", "[::1]"))
    headers = {"accept-encoding": "identity", **more.pop("headers", {})}
    options: dict[str, Any] = {"timeout": httpx2.Timeout(None, connect=CONNECT_SECONDS), **more}
    return httpx2.AsyncClient(
        headers=headers,
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=20),
        event_hooks={"response": [bound]},
        trust_env=not here,
        **options,
    )


async def _take_unstreamed(response: httpx2.Response) -> None:
    """Read a body whole that is no stream, and let it be what it means."""
    import httpx2

    media = response.headers.get("content-type", "")
    if response.status_code != 200 or not media.startswith("application/json"):
        return
    stream = response.stream
    assert isinstance(stream, httpx2.AsyncByteStream)
    body = b"".join([chunk async for chunk in stream])
    await stream.aclose()
    response.status_code, body = as_stream(body)
    response.stream = httpx2.ByteStream(body)


def _openai(spec: ModelSpec, http: httpx2.AsyncClient) -> Model:
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    from loopforge.models.providers.streamed_calls import OpenAIChat

    client = AsyncOpenAI(
        base_url=spec.base_url,
        api_key=spec.key.reveal() or NO_KEY,
        max_retries=0,
        http_client=http,
    )
    if spec.vendor == "openrouter":
        from pydantic_ai.models.openrouter import OpenRouterModel
        from pydantic_ai.providers.openrouter import OpenRouterProvider

        routed = OpenRouterProvider(openai_client=client)
        return OpenRouterModel(spec.id, provider=routed, profile=_profile(spec))
    provider = OpenAIProvider(openai_client=client)
    if spec.responses:
        return OpenAIResponsesModel(spec.id, provider=provider, profile=_profile(spec))
    return OpenAIChat(spec.id, provider=provider, profile=_profile(spec))


def _profile(spec: ModelSpec) -> OpenAIModelProfile:
    """What our own configuration knows better than the list that pydantic-ai carries.

    A stream that ends without a finish reason was cut off. Only OpenAI itself wants
    `max_completion_tokens`; others refuse it or know both. Thoughts in the text are left to
    thought_stripping.py (pydantic-ai finds their tags only where each comes as a piece of its own).
    """
    from pydantic_ai.profiles.openai import OpenAIModelProfile

    profile = OpenAIModelProfile(
        supports_json_schema_output=True,
        openai_chat_streaming_requires_finish_reason=True,
        openai_chat_supports_max_completion_tokens=spec.vendor == "openai",
        thinking_tags=("", ""),
    )
    if is_exact(spec):
        profile["json_schema_transformer"] = None
    return profile


def _anthropic(spec: ModelSpec, http: httpx2.AsyncClient) -> Model:
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.profiles.anthropic import AnthropicModelProfile
    from pydantic_ai.providers.anthropic import AnthropicProvider

    client = AsyncAnthropic(
        base_url=spec.base_url,
        api_key=spec.key.reveal() or NO_KEY,
        max_retries=0,
        http_client=http,
    )
    return AnthropicModel(
        spec.id,
        provider=AnthropicProvider(anthropic_client=client),
        profile=AnthropicModelProfile(supports_json_schema_output=True),
    )


def _google(spec: ModelSpec, http: httpx2.AsyncClient) -> Model:
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.profiles.google import GoogleModelProfile
    from pydantic_ai.providers.google import GoogleProvider

    provider = GoogleProvider(
        api_key=spec.key.reveal() or NO_KEY, base_url=spec.base_url or None, http_client=http
    )
    return GoogleModel(
        spec.id, provider=provider, profile=GoogleModelProfile(supports_json_schema_output=True)
    )
