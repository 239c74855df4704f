"""A language model that answers by script: deterministic, instant, without a network.

A script is a plain function from a Question to what the model is to answer: a string, a dict (the
fields of an answer under a schema), or a ScriptedAnswer that says more (pieces, waits, refusals,
failures). Under a schema the answer is valid by construction: what the script leaves open is
filled in. Without a script it says a short line to whoever spoke last.

Used by tests, crash tests and benches, and by `provider = "scripted"` in loopforge.toml.
Does not cover cached tokens: it reports none.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from loopforge.core.model_trouble import Cause
from loopforge.core.policy import AnswerOutcome
from loopforge.core.turn_events import Attempt, Usage
from loopforge.models.providers.answer_cost import usage_cost
from loopforge.models.providers.attempt_outcome import AttemptOutcome
from loopforge.models.providers.model_spec import ModelSpec
from loopforge.models.providers.token_estimate import estimate_tokens
from loopforge.runtime.ports import Clock, ModelFacts, ModelReply, Question, Route
from loopforge.runtime.system_clock import SystemClock

SPOKEN = ("say", "text", "line", "answer", "reply", "message", "words")
"""Names of fields that hold what is said, the likeliest first."""


class ScriptedAnswer(Struct, frozen=True, kw_only=True):
    """What the model is to do with one question.

    `data` gives fields of an answer under a schema; the rest is filled in, the spoken field with
    `text`. With an `outcome` other than "answered", `text` is what came, as it is, and `cause` why
    (see core/model_trouble.py); `asks` are the seconds for which it asks to be left alone. It costs
    `cost` US dollars. The answer streams in `pieces`, the first after `wait` seconds, the others
    `pause` seconds apart.
    """

    text: str = ""
    data: Mapping[str, Any] | None = None
    outcome: AnswerOutcome = "answered"
    pieces: int = 1
    wait: float = 0
    pause: float = 0
    model: str = "scripted"
    fallback: bool = False
    cause: Cause = ""
    asks: float = 0.0
    cost: str = "0"


Script = Callable[[Question], ScriptedAnswer | str | Mapping[str, Any]]


def in_character(question: Question) -> str:
    """The default script: one short line that names the last speaker and what they said."""
    speaker, said = last_line(question)
    words = " ".join(said.split()[:6]).rstrip(".,;:!?")
    return f'{speaker or "You"}, you said "{words}", and I heard it.' if words else "I am here."


def last_line(question: Question) -> tuple[str, str]:
    """Who spoke last and what they said, where the prompt has rows such as `name: words`."""
    texts = [text for role, text in question.messages if role != "system"]
    lines = [line for text in texts for line in text.splitlines() if line.strip()]
    for line in reversed(lines):
        if found := re.match(
            r"(?:#\d+ \d\d:\d\d )?(?:\[[^\]]*\]\s*)?([\w .'-]{1,32})(?: \[[^\]]*\])*: (.+)", line
        ):
            return found[1], found[2]
    return "", lines[-1] if lines else ""


class ScriptedModels:
    """The `Models` port, by script. `asked` holds every question, in order.

    With `vision` it is shown pictures, which it passes over. An answer costs at most `most` US
    dollars, as it says beforehand.
    """

    def __init__(
        self,
        script: Script = in_character,
        *,
        clock: Clock | None = None,
        window: int = 8192,
        name: str = "scripted",
        vision: bool = False,
        most: str = "0",
    ) -> None:
        self._script, self._clock, self._most = script, clock or SystemClock(), most
        self.window, self._name, self.vision = window, name, vision
        self.asked: list[Question] = []

    async def ask(self, question: Question, hear: Callable[[str], None]) -> ModelReply:
        """Answer by the script, streaming it in pieces. Cancelling the task stops it."""
        began = self._clock.ticks()
        self.asked.append(question)
        answer = _answer(self._script(question))
        text, data = _written(question, answer)
        if answer.wait:
            await self._clock.sleep(answer.wait)
        first = round((self._clock.ticks() - began) * 1000)
        for nth, piece in enumerate(_pieces(text, answer.pieces)):
            if nth and answer.pause:
                await self._clock.sleep(answer.pause)
            hear(piece)
        took = round((self._clock.ticks() - began) * 1000)
        return ModelReply(
            outcome=answer.outcome,
            text=text,
            data=data,
            model=answer.model,
            fallback=answer.fallback,
            attempts=(
                Attempt(
                    model=answer.model,
                    outcome=answer.outcome,
                    took=took,
                    cause=answer.cause,
                    wait=answer.asks,
                ),
            ),
            usage=Usage(
                read=sum(estimate_tokens(said) for _, said in question.messages),
                written=estimate_tokens(text),
                cost=answer.cost,
            ),
            first=first,
            took=took,
        )

    async def close(self) -> None:
        """Nothing to close."""

    def estimate(self, question: Question, heard: str | None = None) -> Usage:
        """See `PricedModels.estimate`."""
        read = sum(estimate_tokens(said) for _, said in question.messages)
        written = question.max_tokens if heard is None else estimate_tokens(heard)
        return Usage(read=read, written=written, cost=self._most)

    async def count(self, route: Route, texts: Sequence[str]) -> list[int]:  # noqa: ARG002
        """Tokens of each text, estimated."""
        return [estimate_tokens(text) for text in texts]

    def facts(self, route: Route) -> ModelFacts:  # noqa: ARG002
        """What is known of it: the same for every route."""
        return ModelFacts(name=self._name, window=self.window, vision=self.vision)


class ScriptedProvider:
    """The scripted model as one of a tier, by the default script, at its table's price."""

    def __init__(self, spec: ModelSpec, clock: Clock) -> None:
        self._spec, self._models = spec, ScriptedModels(clock=clock)

    async def attempt(
        self,
        question: Question,
        hear: Callable[[str], None],
        within: float | None = None,  # noqa: ARG002
    ) -> AttemptOutcome:
        """Answer once."""
        reply = await self._models.ask(question, hear)
        self._models.asked.clear()
        return AttemptOutcome(
            outcome=reply.outcome,
            text=reply.text,
            data=reply.data,
            usage=replace(reply.usage, cost=usage_cost(self._spec, reply.usage)),
            first=reply.first,
            took=reply.took,
        )

    async def close(self) -> None:
        """Nothing to close."""


def _answer(given: ScriptedAnswer | str | Mapping[str, Any]) -> ScriptedAnswer:
    if isinstance(given, ScriptedAnswer):
        return given
    return ScriptedAnswer(text=given) if isinstance(given, str) else ScriptedAnswer(data=given)


def _written(question: Question, answer: ScriptedAnswer) -> tuple[str, dict[str, Any] | None]:
    """The raw text as the model would write it, and what is parsed of it."""
    if question.schema is None or answer.outcome != "answered":
        return answer.text, None
    said = answer.text or in_character(question)
    data = fill(question.schema, said, answer.data or {}, last_line(question)[0])
    return json.dumps(data, ensure_ascii=False), data


def _pieces(text: str, count: int) -> Iterator[str]:
    size = max(1, -(-len(text) // max(count, 1)))
    return (text[at : at + size] for at in range(0, len(text), size))


# ---------------------------------------------------------------- answers under a schema


def fill(
    schema: Mapping[str, Any], said: str, given: Mapping[str, Any], speaker: str = ""
) -> dict[str, Any]:
    """An object that fits the schema: `given` fields as they are, the others made up.

    The spoken field becomes `said`; an enum its first value; a boolean true; a number its minimum.
    By itself it takes no note, uses no tool and wants no further step. `tool` and `arguments` are
    short for one call.
    """
    fields: Mapping[str, Any] = schema.get("properties", {})
    spoken = next((name for name in SPOKEN if name in fields), "")
    texts = {
        spoken: said,
        "note": "",
        "tool": "",
        "arguments": "{}",
        "narrative": f"I answer {speaker or 'the room'}.",
        "title": " ".join(said.split()[:5]) or "A talk",
    }
    made = {name: _value(part, texts.get(name, "")) for name, part in fields.items()}
    if "calls" in fields and given.get("tool"):
        made["calls"] = [{"tool": given["tool"], "arguments": given.get("arguments", "{}")}]
    if made.get("again") is True:
        made["again"] = False
    return {name: given.get(name, value) for name, value in made.items()}


def _value(schema: Mapping[str, Any], text: str) -> Any:
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type", "string")
    match kind if isinstance(kind, str) else kind[0]:
        case "object":
            return fill(schema, text, {})
        case "array":
            return [_value(schema.get("items", {}), text)] * schema.get("minItems", 0)
        case "boolean":
            return True
        case "integer" | "number":
            return schema.get("minimum", 0)
        case "null":
            return None
        case _:
            text = text[: schema.get("maxLength", len(text))]
            return text.ljust(schema.get("minLength", 0), ".")
