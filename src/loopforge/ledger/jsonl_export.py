"""The ledger as lines of JSON, for people and other programs.

One line for each event, stream by stream, in order:

    {"stream": ..., "seq": 1, "id": ..., "kind": ..., "at": RFC 3339, "actor": ..., "cause": ...,
     "body": with private texts in plain (a forgotten one is "[forgotten]"),
     "stored": the body as it is stored and hashed, with refs in place of private texts,
     "hash": ...}

So whoever has the file can check the chain (`core.events.chained`) without the database.
"""

from __future__ import annotations

import json

import msgspec

from loopforge.core.events import Event, encode
from loopforge.core.text.erasable_text import encode_plain


def line(event: Event) -> str:
    """One event as a line of JSON, without the line's end."""
    body = msgspec.to_builtins(event.body, enc_hook=encode_plain)
    body.pop("type", None)
    fields = {
        "stream": event.stream,
        "seq": event.seq,
        "id": event.id,
        "kind": event.kind,
        "at": event.at.isoformat(timespec="microseconds"),
        "actor": event.actor,
        "cause": event.cause,
        "body": body,
        "stored": encode(event.body).decode(),
        "hash": event.hash,
    }
    return json.dumps(fields, ensure_ascii=False) if _sound(fields) else json.dumps(fields)


def _sound(fields: object) -> bool:
    """Whether everything can be written as UTF-8 (a half surrogate pair must be escaped)."""
    try:
        msgspec.json.encode(fields)
    except UnicodeEncodeError:
        return False
    return True
