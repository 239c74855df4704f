"""A body that is no stream though one was asked for: an error under 200, or a whole answer.

    body --as_stream--> (status, body), as a client reads them that waits for a stream

Gateways do the one, and the simplest servers the other; the SDKs read no word of either. Pure.
Knows OpenAI's chat form alone; whatever else it is stays as it came.
"""

import json
from contextlib import suppress
from typing import Any

FAILED = 500
"""The status of an error that tells none."""


def as_stream(body: bytes) -> tuple[int, bytes]:
    """The status that a body under 200 means, and the body, as one event where it is an answer."""
    with suppress(ValueError, RecursionError):
        told = json.loads(body)
        if isinstance(told, dict) and told.get("error"):
            return _status_of(told["error"]), body
        if isinstance(told, dict) and isinstance(choices := told.get("choices"), list):
            event = {**told, "choices": [_as_delta(one) for one in choices]}
            return 200, b"data: " + json.dumps(event).encode() + b"\n\ndata: [DONE]\n\n"
    return 200, body


def _status_of(error: Any) -> int:
    code = str(error.get("code") or error.get("status")) if isinstance(error, dict) else ""
    known = code.isascii() and code.isdecimal() and len(code) == 3
    return int(code) if known and 400 <= int(code) < 600 else FAILED


def _as_delta(choice: Any) -> Any:
    if not isinstance(choice, dict) or not isinstance(message := choice.get("message"), dict):
        return choice
    calls = message.get("tool_calls")
    if isinstance(calls, list):
        numbered = [one | {"index": nth} for nth, one in enumerate(calls) if isinstance(one, dict)]
        message = {**message, "tool_calls": numbered}
    return {"index": 0, **choice, "delta": message}
