"""The ledger as lines of JSON, for people and other programs.

One line for each event, stream by stream, in order:

    {"stream": ..., "seq": 1, "id": ..., "kind": ..., "at": RFC 3339, "actor": ..., "cause": ...,
     "body": with private texts in plain (a forgotten one is "[forgotten]"),
     "stored": the body as it is stored and hashed, with refs in place of private texts,
     "hash": ...}

So whoever has the file can check the chain (`core.events.chain_hash`) without the database. A line
made without texts has refs in its body, too.
"""

import json
import re
from collections.abc import Collection, Set
from typing import Any

import msgspec

from loopforge.core.events import Event, encode_body
from loopforge.core.text.erasable_text import FORGOTTEN, Words, encode_plain

_REF = re.compile("(?<=#)[0-9a-f]{64}")
"""As Words are stored."""


def as_json_line(event: Event, *, texts: bool = True) -> str:
    """One event as a line of JSON, without the line's end; with private `texts`, or without."""
    body = msgspec.to_builtins(event.body, enc_hook=encode_plain if texts else _untold)
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
        "stored": encode_body(event.body).decode(),
        "hash": event.hash,
    }
    return json.dumps(fields, ensure_ascii=False) if _sound(fields) else json.dumps(fields)


def _untold(value: object) -> str:
    """A text if it is public, else what stands for it."""
    if isinstance(value, Words) and not value.public:
        return f"#{value.ref}"
    return str(encode_plain(value))


def redact_json_line(line: str, refs: Set[str]) -> str:
    """A line without the texts of these refs, which it may have held."""
    told = {f"#{ref}" for ref in _REF.findall(line) if ref in refs}
    if not told:
        return line
    fields = json.loads(line)
    fields["body"] = _without(fields["body"], json.loads(fields["stored"]), told)
    return json.dumps(fields, ensure_ascii=False) if _sound(fields) else json.dumps(fields)


def _without(said: Any, stored: Any, told: Collection[str]) -> Any:
    """What a body says, with nothing where its stored form has one of these."""
    match said, stored:
        case str(), str() if stored in told and said != stored:
            return FORGOTTEN
        case dict(), dict():
            return {key: _without(each, stored.get(key), told) for key, each in said.items()}
        case list(), list():
            pairs = zip(said, stored, strict=True)
            return [_without(each, under, told) for each, under in pairs]
        case _:
            return said


def _sound(fields: object) -> bool:
    """Whether everything can be written as UTF-8 (a half surrogate pair must be escaped)."""
    try:
        msgspec.json.encode(fields)
    except UnicodeEncodeError:
        return False
    return True
