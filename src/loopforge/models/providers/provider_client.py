"""The client of one model: pydantic-ai's direct model API over the provider's own SDK.

Opens a client that retries nothing by itself, bounds what it reads, and puts a Question into the
form pydantic-ai takes. Knows nothing of deadlines, outcomes or other models.

All of it is imported when the first question is asked; that takes a second or two, in a thread.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec import UNSET

from loopforge.errors import ModelError
from loopforge.models.providers.model_spec import ModelSpec
from loopforge.models.providers.native_tools import definitions, form_of, native
from loopforge.runtime.ports import Pictured, Question

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.messages import ModelMessage, ModelRequestPart
    from pydantic_ai.models import Model, ModelRequestParameters
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.settings import ModelSettings

CONNECT_SECONDS = 10
MOST_BYTES = 16 * 2**20
"""No answer is longer on the wire; a server that goes on is cut off."""
LONGEST_LINE = 2**20
"""No event is longer; the clients' decoders take ever longer over one that does not end."""

JSON_ONLY = """\
Answer with one JSON object and nothing else: no code fence, no words around it. Its JSON schema:
{schema}"""


UNSEEN = "\n[you cannot see this picture]"

Content = tuple[str | Pictured, ...]
"""What a message holds: texts and pictures in their order, a text first."""
_NONE: Mapping[str, bytes] = MappingProxyType({})


class TooMuch(Exception):
    """A server sent more than any answer can be."""


@dataclass(frozen=True)
class Wire:
    """An open client. `exact`: the server is given the JSON schema as it is and keeps to it."""

    model: Model
    http: httpx2.AsyncClient
    exact: bool

    async def close(self) -> None:
        """Close its connections."""
        await self.http.aclose()


_responses: ContextVar[list[httpx2.Response]] = ContextVar("responses")


@asynccontextmanager
async def hanging_up() -> AsyncIterator[None]:
    """Whatever responses begin inside are closed at its end, whoever still holds them.

    The SDKs leave that to nested generators, and those to the garbage collector.
    """
    responses: list[httpx2.Response] = []
    token = _responses.set(responses)
    try:
        yield
    finally:
        _responses.reset(token)
        for response in responses:
            await response.aclose()


def is_exact(spec: ModelSpec) -> bool:
    """Whether the schema goes out as it is.

    Servers that build a grammar from it (llama.cpp, vLLM) keep to bounds of length too; the big
    services refuse such words, so they are told of them in the descriptions.
    """
    return spec.structured and not spec.vendor and spec.provider in ("openai", "embedded")


def open_wire(spec: ModelSpec) -> Wire:
    """A client for the model. Slow the first time (imports): call it in a thread."""
    import jsonschema  # type: ignore[import-untyped]  # noqa: F401  by schema_check.py, on the loop
    import pydantic_ai.direct  # noqa: F401  likewise by model_attempt.py

    http = http_client(spec)
    match spec.provider:
        case "anthropic":
            model = _anthropic(spec, http)
        case "google":
            model = _google(spec, http)
        case "openai" | "embedded":
            model = _openai(spec, http)
        case "scripted":
            raise ModelError("a scripted model has no client")
    return Wire(model=model, http=http, exact=is_exact(spec))


def http_client(spec: ModelSpec) -> httpx2.AsyncClient:
    """A client that ends a body which is longer than any answer can be."""
    import httpx2

    class Bounded(httpx2.AsyncByteStream):
        """A body that ends in TooMuch. No generator: it is closed with the response, not later."""

        def __init__(self, inner: httpx2.AsyncByteStream) -> None:
            self._inner, self._chunks = inner, aiter(inner)
            self._all = self._line = 0

        def __aiter__(self) -> AsyncIterator[bytes]:
            return self

        async def __anext__(self) -> bytes:
            chunk = await anext(self._chunks)
            self._all += len(chunk)
            ended = chunk.rfind(b"\n") + 1
            self._line = len(chunk) - ended + (0 if ended else self._line)
            if self._all > MOST_BYTES or self._line > LONGEST_LINE:
                raise TooMuch(f"{self._all} bytes came, and no end")
            return chunk

        async def aclose(self) -> None:
            await self._inner.aclose()
            if isinstance(self._chunks, AsyncGenerator):
                await self._chunks.aclose()

    async def bound(response: httpx2.Response) -> None:
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = Bounded(response.stream)
        _responses.get([]).append(response)

    here = any(f"://{host}" in spec.base_url for host in ("127.", "localhost", "[::1]"))
    return httpx2.AsyncClient(
        timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS),
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=20),
        event_hooks={"response": [bound]},
        trust_env=not here,
    )


def _openai(spec: ModelSpec, http: httpx2.AsyncClient) -> Model:
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    from loopforge.models.providers.openai_chat import OpenAIChat

    client = AsyncOpenAI(
        base_url=spec.base_url,
        api_key=spec.key.reveal() or "none",  # the SDK insists on one
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
        base_url=spec.base_url, api_key=spec.key.reveal(), max_retries=0, http_client=http
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
        api_key=spec.key.reveal(), base_url=spec.base_url or None, http_client=http
    )
    return GoogleModel(
        spec.id, provider=provider, profile=GoogleModelProfile(supports_json_schema_output=True)
    )


# ---------------------------------------------------------------- what is sent


def settings_of(spec: ModelSpec, question: Question) -> ModelSettings:
    """Bounds and sampling of one request. A model that thinks keeps its own temperature."""
    from pydantic_ai.settings import ModelSettings

    settings = ModelSettings(max_tokens=question.max_tokens + spec.thinking)
    if spec.thinking:
        settings["thinking"] = "low"
    else:
        if question.route.temperature is not None:
            settings["temperature"] = question.route.temperature
        if question.route.top_p is not UNSET:
            settings["top_p"] = question.route.top_p
    extra = dict(spec.extra)
    if counted := spec.provider in ("openai", "embedded") and not spec.responses:
        extra = {"stream_options": {"include_usage": True}, **extra}
    if _goes_as_it_is(spec, question):
        turns = turns_of(spec, question)
        extra["messages"] = [{"role": role, "content": _text_of(what)} for role, what in turns]
    if extra:
        settings["extra_body"] = extra
    if counted:  # usage told more than once is all of it each time; servers are not asked for that
        return {**settings, "openai_continuous_usage_stats": True}  # type: ignore[typeddict-unknown-key]
    if spec.provider == "anthropic":
        return {**settings, "anthropic_cache_instructions": True}  # type: ignore[typeddict-unknown-key]
    return settings


def parameters_of(spec: ModelSpec, question: Question) -> ModelRequestParameters:
    """The form of the answer, and the tools it may call."""
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition

    schema, tools = form_of(spec, question), definitions(spec, question)
    if schema is None or not spec.structured:
        return ModelRequestParameters(function_tools=tools)
    form = OutputObjectDefinition(json_schema=schema, name="answer", strict=True)
    return ModelRequestParameters(
        function_tools=tools,
        output_mode="native",
        output_object=form,
        allow_text_output=bool(tools),  # else it would have to call one
    )


def _goes_as_it_is(spec: ModelSpec, question: Question) -> bool:
    """Whether the prompt goes into the body of chat completions as it is made here.

    The clients walk every message several times: 400 take twelve times as long as ten. What stands
    in `extra_body` is laid over the body that they make.
    """
    return spec.provider in ("openai", "embedded") and not (spec.responses or question.pictures)


def messages_of(
    spec: ModelSpec, question: Question, pictures: Mapping[str, bytes] = _NONE
) -> list[ModelMessage]:
    """The prompt as pydantic-ai takes it; what precedes its last message is marked for caching.

    `pictures` are the bytes of those that the model is shown, by hash.
    """
    from pydantic_ai.messages import (
        BinaryContent,
        CachePoint,
        ModelRequest,
        ModelResponse,
        SystemPromptPart,
        TextPart,
        UserContent,
        UserPromptPart,
    )

    if _goes_as_it_is(spec, question):
        return [ModelRequest.user_text_prompt("")]
    turns = turns_of(spec, question, pictures)
    before = [place for place, (role, _) in enumerate(turns[:-1]) if role == "user"]
    kept = before[-1] if before and spec.provider == "anthropic" else -1
    built: list[ModelMessage] = []
    parts: list[ModelRequestPart] = []
    for place, (role, content) in enumerate(turns):
        text = _text_of(content)
        if role == "assistant":
            if parts:
                built.append(ModelRequest(parts=parts))
            built.append(ModelResponse(parts=[TextPart(content=text)]))
            parts = []
        elif role == "system":
            parts.append(SystemPromptPart(content=text))
        elif len(content) == 1 and place != kept:
            parts.append(UserPromptPart(content=text))
        else:
            told: list[UserContent] = [
                each
                if isinstance(each, str)
                else BinaryContent(pictures[each.hash], media_type=each.media)
                for each in content
            ]
            parts.append(UserPromptPart(content=[*told, *([CachePoint()] * (place == kept))]))
    if parts:
        built.append(ModelRequest(parts=parts))
    return built


def takes(spec: ModelSpec, media: str) -> bool:
    """Whether a model can be shown pictures of this type."""
    return spec.vision and not (spec.provider == "google" and media == "image/gif")


def turns_of(
    spec: ModelSpec, question: Question, pictures: Mapping[str, bytes] = _NONE
) -> list[tuple[str, Content]]:
    """The prompt's messages as (role, content), as this provider can take them.

    The embedded model takes them as they are, OpenAI itself takes system messages anywhere. For
    others only what opens a prompt may be one, so later ones go as the user's; and a prompt never
    begins with the model's own words.
    Chat templates of open models may want user and assistant in turn, wherever they are served: so
    messages of one role are joined by a line break (Anthropic and Google take them as parts of
    one). A model without schemas is told the schema at the end. Of a picture that it cannot be
    shown it is told that it cannot see it.
    """
    turns: list[tuple[str, Content]] = []
    for nth, (role, text) in enumerate(question.messages):
        if nth == question.listing and native(spec, question):
            continue
        opening = all(known == "system" for known, _ in turns)
        if role == "system" and not opening and not _system_anywhere(spec):
            role = "user"
        if spec.provider != "embedded" and role == "assistant" and opening:
            turns.append(("user", ("[the talk goes on]",)))
        turns.append((role, _with_pictures(nth, text, question, pictures)))
    if (form := form_of(spec, question)) is not None and not spec.structured:
        schema = json.dumps(form, ensure_ascii=False)
        turns.append(("user", (JSON_ONLY.format(schema=schema),)))
    if all(role == "system" for role, _ in turns):
        turns.append(("user", ("Go on.",)))  # no provider answers a system message alone
    return _joined(turns) if spec.provider == "openai" else turns


def _system_anywhere(spec: ModelSpec) -> bool:
    """Whether system messages may stand behind others, by what the provider says of itself."""
    return spec.provider == "embedded" or spec.vendor == "openai"


def _with_pictures(nth: int, text: str, question: Question, shown: Mapping[str, bytes]) -> Content:
    """The text of one message, with its pictures behind it."""
    seen: list[Pictured] = []
    for one in question.pictures:
        if one.message == nth and one.hash in shown:
            seen.append(one)
        elif one.message == nth:
            text += UNSEEN
    return (text, *seen)


def _joined(turns: list[tuple[str, Content]]) -> list[tuple[str, Content]]:
    joined: list[tuple[str, Content]] = []
    for role, content in turns:
        if joined and joined[-1][0] == role:
            joined[-1] = (role, _beside(joined[-1][1], content))
        else:
            joined.append((role, content))
    return joined


def _beside(one: Content, other: Content) -> Content:
    *before, last = one
    first, *after = other
    if isinstance(last, str):
        return (*before, f"{last}\n{first}", *after)
    return (*one, *other)


def _text_of(content: Content) -> str:
    return "".join(part for part in content if isinstance(part, str))
