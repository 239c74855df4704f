"""OpenAI's chat form as servers speak it that number all uses of tools in an answer alike.

Google's and some gateways give each use an id of its own, or none, and one index; put together by
the index, they were one use of a tool that nobody offered. So were those of servers that say the
name with every piece. Imported where the client is made: it takes long.
"""

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field

from openai.types.chat.chat_completion_chunk import Choice, ChoiceDeltaToolCall
from pydantic_ai.messages import ModelResponseStreamEvent
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIStreamedResponse


@dataclass
class _BegunUse:
    """A use that the pieces of one index belong to: its number, and what came of it so far."""

    number: int
    id: str = ""
    name: str = ""
    written: str = ""

    @property
    def whole(self) -> bool:
        """Whether its arguments are all there."""
        with suppress(ValueError, RecursionError):
            json.loads(self.written)
            return True
        return False


@dataclass
class NumberedCalls(OpenAIStreamedResponse):
    """A streamed answer in which each use of a tool has a number, and says its name once."""

    _last: dict[int, _BegunUse] = field(default_factory=dict, init=False)
    """By the index that the server gave."""

    def _map_tool_call_delta(self, choice: Choice) -> Iterable[ModelResponseStreamEvent]:
        for call in choice.delta.tool_calls or ():
            if call.function and not call.function.name:
                call.function.name = None  # some say "", which is a name to pydantic-ai
            if call.index is not None:  # some leave it out: then each name begins a use
                self._number(call)
        return super()._map_tool_call_delta(choice)

    def _number(self, call: ChoiceDeltaToolCall) -> None:
        use = self._last.get(call.index) or _BegunUse(call.index)
        id, told = call.id or "", call.function
        if told is not None and told.name and use.name:
            if id and (id, told.name, told.arguments) == (use.id, use.name, use.written):
                told.arguments = None  # all of it once more
            # By its id, and of servers that give none, or always one, where the last one is whole;
            # vLLM gave each piece of one use an id.
            elif (id and use.id and id != use.id) or use.whole:
                use = _BegunUse(min(0, *(each.number for each in self._last.values())) - 1)
            told.name = None if told.name == use.name else told.name
        self._last[call.index] = use
        use.id = id or use.id
        if told is not None:
            use.name += told.name or ""
            use.written += told.arguments if isinstance(told.arguments, str) else ""
        call.index = use.number


class OpenAIChat(OpenAIChatModel):
    """A model behind OpenAI's chat form, whoever serves it."""

    @property
    def _streamed_response_cls(self) -> type[OpenAIStreamedResponse]:
        return NumberedCalls
