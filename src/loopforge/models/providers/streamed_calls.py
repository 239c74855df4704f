"""OpenAI's chat form as servers speak it that number all uses of tools in an answer alike.

Google's and some gateways give each use an id of its own and one index; put together by the index,
they were one use of a tool that nobody offered. Imported where the client is made: it takes long.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pydantic_ai.models.openai import OpenAIChatModel, OpenAIStreamedResponse

if TYPE_CHECKING:
    from openai.types.chat.chat_completion_chunk import Choice, ChoiceDeltaToolCall
    from pydantic_ai.messages import ModelResponseStreamEvent


@dataclass
class NumberedCalls(OpenAIStreamedResponse):
    """A streamed answer in which each use of a tool has a number."""

    _last: dict[int, tuple[str | None, int]] = field(default_factory=dict, init=False)
    """By the index that the server gave: the id that it gave last, and the number in its place."""

    def _map_tool_call_delta(self, choice: Choice) -> Iterable[ModelResponseStreamEvent]:
        for call in choice.delta.tool_calls or ():
            if call.index is not None:  # some leave it out: then each name begins a use
                call.index = self._number(call)
        return super()._map_tool_call_delta(choice)

    def _number(self, call: ChoiceDeltaToolCall) -> int:
        """Its own where a name comes with another id; vLLM gave each piece of one use an id."""
        id, number = self._last.get(call.index, (None, call.index))
        if call.function and call.function.name:
            if id and call.id and call.id != id:
                number = min(0, *(used for _, used in self._last.values())) - 1
            self._last[call.index] = (call.id or id, number)
        return number


class OpenAIChat(OpenAIChatModel):
    """A model behind OpenAI's chat form, whoever serves it."""

    @property
    def _streamed_response_cls(self) -> type[OpenAIStreamedResponse]:
        return NumberedCalls
