"""One attempt at one model: asked once, streamed, and whatever happens is an outcome.

    answered    text came (under a schema: an object that fits it)
    refused     the model or its provider would not
    malformed   something else came than was asked for, or it was cut off under a schema, or a
                use of a tool that its provider cannot read
    timed_out   nothing in time, or not everything; what came is kept
    failed      no answer could be had; what came before the break is kept

Never tries twice, and nothing beneath does (see provider_client.py). Knows nothing of tiers and
waiting.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from loopforge.core.context_window import PICTURE_TOKENS
from loopforge.core.text.streamed_answer import SpokenWords
from loopforge.core.text.thought_stripping import ThoughtFilter
from loopforge.core.turn_events import Usage
from loopforge.errors import LoopforgeError
from loopforge.models.providers.answer_cost import usage_cost
from loopforge.models.providers.attempt_outcome import AttemptOutcome
from loopforge.models.providers.cumulative_text import CumulativeText
from loopforge.models.providers.model_request import (
    accepts_picture,
    messages_of,
    parameters_of,
    settings_of,
)
from loopforge.models.providers.model_spec import ModelSpec
from loopforge.models.providers.native_tools import CALLS, calls_of, form_of, has_native_tools
from loopforge.models.providers.provider_client import (
    ProviderClient,
    came_to_its_end,
    closing_responses,
    open_wire,
)
from loopforge.models.providers.provider_faults import fault_of
from loopforge.models.providers.schema_check import parse_json_answer, schema_violation
from loopforge.models.providers.token_estimate import estimate_tokens, whole_tokens
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.installation.library_loading import load_in_thread
from loopforge.runtime.ports import Clock, Pictures, Question

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse, ModelResponseStreamEvent
    from pydantic_ai.models import StreamedResponse

CUT_OFF = "cut off at max_tokens"
UNREADABLE = ("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL")
"""How Google ends an answer whose use of a tool it could not read; the next one mostly is well."""
MOST_PARTS = 500
"""Uses of tools, thoughts and texts of one answer: putting them together takes their square."""
LONGEST_TOKEN = 48
"""Characters; a text longer than this times its `max_tokens` comes from a model that never ends."""


class EndlessAnswer(Exception):
    """The model writes and writes."""


class AnswerCut(Exception):
    """The words are longer than a line may be: nobody would hear the rest."""


@dataclass
class StreamedText:
    """What has come so far of one attempt; `ended`: its server said that this was all."""

    began: float
    spoken: SpokenWords
    text: str = ""
    first: float | None = None
    last: float = 0.0
    ended: bool = False
    stream: StreamedResponse | None = None
    response: ModelResponse | None = None

    @property
    def finished(self) -> bool:
        """Whether it was told why the answer ends; only how many tokens it had may follow."""
        return self.stream is not None and self.stream.finish_reason is not None


class Provider:
    """A model that is reached over the network."""

    def __init__(
        self,
        spec: ModelSpec,
        clock: Clock,
        tasks: BackgroundTasks,
        pictures: Pictures | None = None,
    ) -> None:
        self.spec, self._clock, self._tasks = spec, clock, tasks
        self._pictures = pictures
        self._wire: ProviderClient | None = None
        self._opening = asyncio.Lock()

    async def close(self) -> None:
        """Close its connections."""
        if self._wire is not None:
            await self._wire.close()
            self._wire = None

    async def ready(self) -> ProviderClient:
        """The client; opening it the first time takes a second or two of imports, in a thread."""
        async with self._opening:
            if self._wire is None:
                self._wire = await load_in_thread(open_wire, self.spec)
            return self._wire

    async def prepare(self) -> None:
        """Open the client before anybody waits for it; what is wrong with it is told when asked."""
        with suppress(Exception):
            await self.ready()

    async def attempt(
        self, question: Question, hear: Callable[[str], None], within: float | None = None
    ) -> AttemptOutcome:
        """Ask once. Cancelling closes the connection at once.

        `within` so many seconds the first word must come, if that is less than its own limit.
        A server that does not take tools is shown them in the prompt, and one that does not take
        the form of the answer is asked for it there, from now on; that costs no try. One that goes
        on to speak of tools where none were offered meant something else.
        """
        least = self.spec.first_token_seconds
        least = least if within is None else min(within, least)
        tried = await self._attempt_once(question, hear, least)
        offered = has_native_tools(self.spec, question)
        if tried.toolless and offered and not tried.text:
            self.spec = replace(self.spec, tools=False)
            tried = await self._attempt_once(question, hear, least)
        if tried.formless and question.schema is not None and self.spec.structured:
            self.spec = replace(self.spec, structured=False)
            tried = await self._attempt_once(question, hear, least)
        if tried.toolless and offered:
            self.spec = replace(self.spec, tools=True)
        return tried

    async def _attempt_once(
        self, question: Question, hear: Callable[[str], None], within: float
    ) -> AttemptOutcome:
        try:
            wire = await self.ready()
        except Exception as error:
            return AttemptOutcome(
                outcome="failed", detail=f"no client could be made: {error}", lasting=True
            )
        heard = StreamedText(self._clock.ticks(), SpokenWords(question.schema, question.field))
        reading = self._tasks.spawn(self._read_stream(wire, question, hear, heard), "model answer")
        watching = self._tasks.spawn(self._end_when_late(heard, reading, within), "model deadline")
        try:
            await asyncio.wait({reading})
        finally:
            watching.cancel()
            reading.cancel()
            await asyncio.gather(watching, reading, return_exceptions=True)
        fault = None if reading.cancelled() else reading.result()
        if reading.cancelled() and not heard.finished:
            fault = self._late_outcome(heard)
        return self._outcome_of(question, heard, fault, exact=wire.exact)

    # ------------------------------------------------------------ reading

    async def _end_when_late(
        self, heard: StreamedText, reading: asyncio.Task[AttemptOutcome | None], within: float
    ) -> None:
        """End the reading when its time is up."""
        await self._clock.sleep(min(within, self.spec.total_seconds))
        while heard.first is not None and (left := self._seconds_left(heard)) > 0:
            await self._clock.sleep(min(left, self.spec.first_token_seconds))
        reading.cancel()

    def _seconds_left(self, heard: StreamedText) -> float:
        """Seconds until the whole must be there, or more of it where there are words."""
        ends = heard.began + self.spec.total_seconds
        if heard.text or heard.finished:
            ends = min(ends, heard.last + self.spec.first_token_seconds)
        return ends - self._clock.ticks()

    def _late_outcome(self, heard: StreamedText) -> AttemptOutcome:
        if heard.first is None:
            return AttemptOutcome("timed_out", "no word came in time", cause="silent")
        if self._clock.ticks() < heard.began + self.spec.total_seconds:
            return AttemptOutcome("timed_out", "no more came in time", cause="stalled")
        return AttemptOutcome(
            "timed_out", "the answer did not end in time", ours=True, cause="endless"
        )

    async def _read_stream(
        self,
        wire: ProviderClient,
        question: Question,
        hear: Callable[[str], None],
        heard: StreamedText,
    ) -> AttemptOutcome | None:
        """Read the stream to its end; what ended it early, if anything did."""
        from pydantic_ai.direct import model_request_stream

        most = LONGEST_TOKEN * (question.max_tokens + self.spec.thinking) + 2000
        pictures = await self._shown_pictures(question)
        try:
            async with (
                closing_responses() as responses,
                model_request_stream(
                    wire.model,
                    messages_of(self.spec, question, pictures),
                    model_settings=settings_of(self.spec, question),
                    model_request_parameters=parameters_of(self.spec, question),
                ) as stream,
            ):
                try:
                    await self._follow_stream(stream, hear, heard, most, question.longest)
                finally:
                    heard.ended = came_to_its_end(responses)
        except EndlessAnswer as error:
            return AttemptOutcome("malformed", str(error))
        except AnswerCut as error:
            return AttemptOutcome("answered", str(error))
        except Exception as error:
            fault = fault_of(error, begun=_has_begun(heard))
            return None if heard.ended and fault.cause == "cut" else fault
        return None

    async def _shown_pictures(self, question: Question) -> dict[str, bytes]:
        """The bytes of the pictures that this model can be shown, by hash."""
        shown: dict[str, bytes] = {}
        if self._pictures is None:
            return shown
        for one in question.pictures:
            if accepts_picture(self.spec, one.media) and one.hash not in shown:
                with suppress(LoopforgeError):  # gone or damaged: the model is told so
                    shown[one.hash] = await self._pictures.get(one.hash)
        return shown

    async def _follow_stream(
        self,
        stream: StreamedResponse,
        hear: Callable[[str], None],
        heard: StreamedText,
        most: int,
        longest: int,
    ) -> None:
        thoughts, pieces, length, parts = ThoughtFilter(), CumulativeText(), 0, 0
        heard.stream = stream

        def say(piece: str) -> None:
            if piece:
                heard.text += piece
                heard.spoken.feed(piece)
                hear(piece)

        try:
            async for event in stream:
                heard.last = self._clock.ticks()
                if heard.first is None:
                    heard.first = heard.last
                    hear("")
                piece = pieces.feed(_text_of(event))
                say(thoughts.feed(piece))
                length += len(piece) or _argument_characters(event)
                if 0 < longest < heard.spoken.length:
                    raise AnswerCut(f"cut off: more than {longest} characters to be said")
                parts += event.event_kind == "part_start"
                if parts > MOST_PARTS:
                    raise EndlessAnswer(f"more than {MOST_PARTS} parts came, and no end")
                if length > most:
                    raise EndlessAnswer(f"more than {most} characters came, and no end")
            say(thoughts.feed(pieces.rest()) + thoughts.rest())
        finally:
            heard.response = stream.get()

    # ------------------------------------------------------------ judging

    def _outcome_of(
        self, question: Question, heard: StreamedText, fault: AttemptOutcome | None, *, exact: bool
    ) -> AttemptOutcome:
        now = self._clock.ticks()
        data: dict[str, Any] | None = None
        early = fault is not None
        if fault is None:
            fault, data = self._judge_answer(question, heard, exact=exact)
        refusal = _refusal_words(heard) if fault.outcome == "refused" else ""
        broken = fault.outcome == "failed" or (fault.outcome == "refused" and bool(heard.text))
        return replace(
            fault,
            text=heard.text or fault.text or refusal,
            data=data,
            usage=self._usage_of(question, heard, early=early),
            first=_milliseconds_since(heard.first or now, heard.began),
            took=_milliseconds_since(now, heard.began),
            cut=early or broken or fault.detail == CUT_OFF,
            shown=question.aloud and bool(heard.spoken.words),
        )

    def _judge_answer(
        self, question: Question, heard: StreamedText, *, exact: bool
    ) -> tuple[AttemptOutcome, dict[str, Any] | None]:
        """What a stream that came to its end amounts to."""
        finish = heard.response.finish_reason if heard.response else None
        if finish == "content_filter":
            return AttemptOutcome(
                "refused", _refusal_words(heard) or "stopped by the provider's filter"
            ), None
        if (reason := str(_provider_details(heard).get("finish_reason"))) in UNREADABLE:
            told = f"its provider could not read how it wanted a tool used ({reason})"
            return AttemptOutcome("malformed", told, again=True, wait=0.0), None
        if "error" in (finish, _provider_details(heard).get("finish_reason")):
            told = f"the model broke off: {_provider_details(heard)}"
            return AttemptOutcome("failed", told, cause="broken"), None
        reasonless = finish is None and "finish_reason" not in _provider_details(heard)
        if reasonless and not (heard.ended and _has_begun(heard)):
            if _has_begun(heard):
                told = "the stream ended before the answer did"
                return AttemptOutcome("failed", told, again=True, cause="cut"), None
            return AttemptOutcome(
                "failed", "the stream ended, and held no answer", cause="garbled"
            ), None
        if calls := calls_of(heard.response, question):
            if finish == "length":
                return AttemptOutcome("malformed", CUT_OFF), None
            return AttemptOutcome("answered", ""), {**_data_beside_calls(heard.text), CALLS: calls}
        if not heard.text.strip() and not _has_calls(heard):
            return _without_a_word(finish, reason), None
        if question.schema is None:
            if heard.text.strip():
                cut = CUT_OFF if finish == "length" else ""
                return AttemptOutcome("answered", cut), None
            return AttemptOutcome(
                "malformed", f"no text came, the stream ended with {finish!r}"
            ), None
        form = form_of(self.spec, question)
        assert form is not None
        if finish == "length":
            return AttemptOutcome("malformed", CUT_OFF), None
        try:
            # What has a field of words is read by who drives the turn, whatever is odd about it.
            lenient = not (self.spec.structured and question.field)
            data = parse_json_answer(heard.text, lenient=lenient)
        except ValueError as error:
            return AttemptOutcome("malformed", f"not JSON: {error}"), None
        if wrong := schema_violation(form, data, lengths=exact):
            return AttemptOutcome("malformed", wrong), None
        without: dict[str, Any] = {} if form is question.schema else {CALLS: []}
        return AttemptOutcome("answered", ""), data | without

    def _usage_of(self, question: Question, heard: StreamedText, *, early: bool) -> Usage:
        """Tokens as the provider counts them; where it does not, or was cut off, what came."""
        used = heard.response.usage if heard.response else None
        if used is None or not (used.input_tokens or used.output_tokens):
            if not _has_begun(heard):
                return Usage()
            read = sum(estimate_tokens(text) for _, text in question.messages)
            read += PICTURE_TOKENS * len(question.pictures) * self.spec.vision
            counted = Usage(read=read, written=estimate_tokens(_all_that_came(heard)))
            return replace(counted, cost=usage_cost(self.spec, counted))
        counts = (used.input_tokens, used.cache_read_tokens, used.output_tokens)
        read, cached, written = map(whole_tokens, counts)
        if early:  # Anthropic's first count is of one token
            written = max(written, estimate_tokens(_all_that_came(heard)))
        counted = Usage(read=read, cached=cached, written=written)
        spent = usage_cost(self.spec, counted, stored=whole_tokens(used.cache_write_tokens))
        return replace(counted, cost=spent)


def _has_begun(heard: StreamedText) -> bool:
    """Whether anything of an answer came: words, a thought, or a use of a tool."""
    return heard.response is not None and bool(heard.response.parts)


def _has_calls(heard: StreamedText) -> bool:
    """Whether it wanted tools used, offered or not."""
    parts = heard.response.parts if heard.response else ()
    return any(part.part_kind == "tool-call" for part in parts)


def _without_a_word(finish: str | None, reason: str) -> AttemptOutcome:
    """What an answer is that came to its end and says nothing."""
    if "context_window" in reason:  # Anthropic's
        return AttemptOutcome("failed", f"no word came ({reason})", ours=True, cause="long")
    if finish == "length":
        told = "it used up its tokens and wrote no word"
        return AttemptOutcome("failed", told, ours=True, cause="wordless")
    told = f"no text came, the stream ended with {finish!r}"
    return AttemptOutcome("failed", told, again=True, ours=True, cause="empty")


def _all_that_came(heard: StreamedText) -> str:
    """All that came of an answer: its words, its thoughts, the arguments of its calls."""
    parts = heard.response.parts if heard.response else ()
    return "".join(
        str(getattr(part, "content", "") or getattr(part, "args", "") or "") for part in parts
    )


def _milliseconds_since(now: float, began: float) -> int:
    return round((now - began) * 1000)


def _text_of(event: ModelResponseStreamEvent) -> str:
    """The text an event adds; "" for thinking, tool calls and the like."""
    from pydantic_ai.messages import PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta

    match event:
        case PartStartEvent(part=TextPart(content=text)):
            return text
        case PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
            return text
    return ""


def _argument_characters(event: ModelResponseStreamEvent) -> int:
    """How many characters of a call's arguments an event adds."""
    from pydantic_ai.messages import PartDeltaEvent, ToolCallPartDelta

    match event:
        case PartDeltaEvent(delta=ToolCallPartDelta(args_delta=str(written))):
            return len(written)
    return 0


def _data_beside_calls(text: str) -> dict[str, Any]:
    """What was written beside calls, as far as it is of the form that was asked for."""
    with suppress(ValueError):
        written = parse_json_answer(text, lenient=True)
        return written if isinstance(written, dict) else {}
    return {}


def _provider_details(heard: StreamedText) -> dict[str, Any]:
    return (heard.response.provider_details if heard.response else None) or {}


def _refusal_words(heard: StreamedText) -> str:
    """The words of a refusal, where the provider gives any."""
    told = _provider_details(heard).get("refusal")
    return told if isinstance(told, str) else ""
