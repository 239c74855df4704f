"""Traces for OpenTelemetry, made of what the ledger says happened, and posted as OTLP in JSON.

    a turn is a trace:  invoke_agent MATE  from TurnEnded, as long as that says it took
                          chat MODEL       from each Answered
                          execute_tool T   from each use of a tool, from its proposal to its end

So nothing is measured twice, nothing else in the house knows of traces, and one that is sent again
is the same one (its ids are made of the ledger's). No texts go there. The start of a use of a tool
that was under way when the home was restarted is not known here: that use is not shown.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from loopforge.core.effect_states import EffectEnd, EffectProposed, EffectReturned
from loopforge.core.events import Event, epoch_micros
from loopforge.core.limits.bounded_mapping import BoundedMapping
from loopforge.core.turn_events import Answered, TurnEnded
from loopforge.errors import BadSettings
from loopforge.runtime.plugins.setting_checks import web_setting
from loopforge.runtime.plugins.setting_declarations import setting
from loopforge.sinks import genai_conventions as names
from loopforge.sinks.http_post import HttpPost
from loopforge.sinks.sink_plugin import OutletChoice, SinkPlugin

KEPT = 10_000
"""Uses of tools under way of which the start is remembered."""
KINDS = (
    "turn.answered, turn.ended, effect.proposed, effect.returned, effect.failed, effect.denied, "
    "effect.unknown, effect.stopped, effect.expired"
)


@dataclass(frozen=True, kw_only=True)
class TraceSettings(OutletChoice):
    """What can be set of it."""

    streams: str = setting("task:, room:", "Of which streams there are traces.")
    kinds: str = setting(KINDS, "From which kinds of event they are made.")
    texts: bool = setting(False, "Cannot be true: traces hold no texts.")
    endpoint: str = setting(
        "",
        "A collector of OpenTelemetry to which traces go by OTLP over HTTP, such as "
        "http://127.0.0.1:4318.",
        shown="none",
        clean=web_setting("traces_endpoint", "such as http://127.0.0.1:4318"),
    )


class TraceOutlet:
    """The outlet."""

    most = 100

    def __init__(self, endpoint: str) -> None:
        self._address = HttpPost(endpoint.rstrip("/") + "/v1/traces")
        self._begun: BoundedMapping[str, tuple[datetime, EffectProposed]] = BoundedMapping(KEPT)

    async def send(self, events: Sequence[Event]) -> None:
        """Post the spans that these end."""
        spans = [span for event in events if (span := self._span(event)) is not None]
        if spans:
            service = _attributes({names.SERVICE: "loopforge"})
            scope = {"scope": {"name": "loopforge"}, "spans": spans}
            whole = {
                "resourceSpans": [{"resource": {"attributes": service}, "scopeSpans": [scope]}]
            }
            headers = {"content-type": "application/json"}
            await self._address.send(json.dumps(whole).encode(), headers)
        for event in events:  # only now: what was not taken comes again
            if isinstance(event.body, EffectEnd):
                self._begun.pop(event.body.effect, None)

    async def close(self) -> None:
        """Let the connections go."""
        await self._address.close()

    def _span(self, event: Event) -> dict[str, Any] | None:
        agent = event.actor.removeprefix("mate:") if event.actor.startswith("mate:") else ""
        about: dict[str, str | int] = {names.CONVERSATION: event.stream, names.AGENT_NAME: agent}
        body, more, wrong = event.body, dict[str, str | int](), ""
        match body:
            case EffectProposed():
                self._begun[event.id] = (event.at, body)
                return None
            case TurnEnded(turn=turn, outcome=outcome, took=took):
                wrong = "" if outcome == "done" else outcome
                more = {names.OPERATION: names.INVOKE_AGENT, names.ERROR_TYPE: wrong}
                named = f"{names.INVOKE_AGENT} {agent}".strip()
                made = _made(event, turn, _id(turn), took)
                return {**made, **_told(named, names.INTERNAL, about | more)}
            case Answered(turn=turn, model=model, usage=usage, outcome=outcome, took=took):
                more = {
                    names.OPERATION: names.CHAT,
                    names.MODEL: model,
                    names.INPUT_TOKENS: usage.read,
                    names.OUTPUT_TOKENS: usage.written,
                    names.CACHED_TOKENS: usage.cached,
                    names.ERROR_TYPE: "" if outcome == "answered" else outcome,
                }
                made = _made(event, turn, _id(event.id), took) | {"parentSpanId": _id(turn)}
                named = f"{names.CHAT} {model}".strip()
                return {**made, **_told(named, names.CLIENT, about | more)}
            case _ if isinstance(body, EffectEnd) and body.effect in self._begun:
                begun, use = self._begun[body.effect]
                took = (epoch_micros(event.at) - epoch_micros(begun)) // 1000
                wrong = "" if isinstance(body, EffectReturned) else event.kind.partition(".")[2]
                more = {
                    names.OPERATION: names.EXECUTE_TOOL,
                    names.TOOL_NAME: use.tool,
                    names.TOOL_CALL: body.effect,
                    names.ERROR_TYPE: wrong,
                }
                made = _made(event, use.turn, _id(body.effect), took)
                made |= {"parentSpanId": _id(use.turn)}
                named = f"{names.EXECUTE_TOOL} {use.tool}"
                return {**made, **_told(named, names.INTERNAL, about | more)}
            case _:
                return None


def _made(event: Event, turn: str, id: str, took: int) -> dict[str, Any]:
    """Which span it is, and when; `took` in milliseconds."""
    end = epoch_micros(event.at)
    return {
        "traceId": _digest(turn)[:32],
        "spanId": id,
        "startTimeUnixNano": str((end - took * 1000) * 1000),
        "endTimeUnixNano": str(end * 1000),
    }


def _told(name: str, kind: int, attributes: Mapping[str, str | int]) -> dict[str, Any]:
    status = {"code": names.FAILED} if attributes.get(names.ERROR_TYPE) else {}
    found = _attributes({key: value for key, value in attributes.items() if value != ""})
    return {"name": name, "kind": kind, "attributes": found, "status": status}


def _attributes(values: Mapping[str, str | int]) -> list[dict[str, Any]]:
    """As OTLP writes them; whole numbers are texts there."""
    return [
        {
            "key": key,
            "value": {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value},
        }
        for key, value in values.items()
    ]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _id(text: str) -> str:
    return _digest(f"span {text}")[:16]


def make(options: TraceSettings, _: Path) -> TraceOutlet | None:
    """The outlet, if there is a collector."""
    if options.endpoint and options.texts:
        raise BadSettings("`traces_texts` cannot be true: traces hold no texts. Take it out.")
    return TraceOutlet(options.endpoint) if options.endpoint else None


SINK = SinkPlugin(title="OpenTelemetry traces", settings=TraceSettings, make=make, forgets=True)
