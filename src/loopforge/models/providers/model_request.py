"""What is sent to a model: a Question in the form that pydantic-ai takes, as its provider takes it.

    turns_of        the messages, joined and in the roles that this provider knows
    messages_of     the same as pydantic-ai's
    settings_of     bounds, sampling, thinking
    parameters_of   the form of the answer, and the tools on offer

Pure. Knows nothing of connections (provider_client.py).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec import UNSET

from loopforge.models.providers.model_spec import ModelSpec
from loopforge.models.providers.native_tools import form_of, has_native_tools, tool_definitions
from loopforge.runtime.ports import Question, QuestionPicture

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelRequestPart
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.settings import ModelSettings

JSON_ONLY = """\
Answer with one JSON object and nothing else: no code fence, no words around it. Its JSON schema:
{schema}"""


UNSEEN = "\n[you cannot see this picture]"

Content = tuple[str | QuestionPicture, ...]
"""What a message holds: texts and pictures in their order, a text first."""
_NONE: Mapping[str, bytes] = MappingProxyType({})


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

    schema, tools = form_of(spec, question), tool_definitions(spec, question)
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


def accepts_picture(spec: ModelSpec, media: str) -> bool:
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
        if nth == question.listing and has_native_tools(spec, question):
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
    seen: list[QuestionPicture] = []
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
