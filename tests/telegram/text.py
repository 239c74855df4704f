"""What Telegram makes of a text: its length, and the entities in it.

Lengths and offsets are in UTF-16 units, as Telegram counts; errors are in Telegram's words. It does
not cover markup (mates send entities), custom emoji, hashtags, phone numbers and e-mail addresses.
"""

import re
from collections.abc import Sequence
from typing import Any

from tests.telegram.records import Body
from tests.telegram.wire import bad

LIMIT, CAPTION = 4096, 1024
"""UTF-16 units of a message's and of a caption's text, after markup is read."""
MOST = 100
"""Entities of a message; what more there would be is dropped without a word."""
FOUND = (
    ("url", re.compile(r"\bhttps?://[^\s<>\"]+[^\s<>\".,;:!?)\]]")),
    ("bot_command", re.compile(r"(?<![\w/@])/[A-Za-z0-9_]{1,64}(?:@[A-Za-z0-9_]{3,32})?(?!\w)")),
    ("mention", re.compile(r"(?<![\w/@])@[A-Za-z][A-Za-z0-9_]{3,31}(?!\w)")),
)


def units(text: str) -> int:
    """Its length as Telegram counts."""
    return len(text.encode("utf-16-le")) // 2


def read(text: str, mode: str | None, entities: Sequence[Body] | None) -> tuple[str, list[Body]]:
    """The text as it will stand, trimmed, and its entities. Raises Refused (400)."""
    if mode:
        raise bad("unsupported parse_mode")
    given = [dict(entity) for entity in entities or ()]
    _check(text, given)
    return _trimmed(text, given)


def _trimmed(text: str, entities: list[Body]) -> tuple[str, list[Body]]:
    start = units(text) - units(text.lstrip())
    text = text.strip()
    end = units(text)
    kept = []
    for entity in entities:
        first = max(0, entity["offset"] - start)
        last = min(end, entity["offset"] - start + entity["length"])
        if last > first:
            kept.append({**entity, "offset": first, "length": last - first})
    kept += [e for e in detected(text) if not any(_overlap(e, other) for other in kept)]
    return text, sorted(kept, key=lambda e: (e["offset"], -e["length"]))[:MOST]


def detected(text: str) -> list[Body]:
    """The links, commands and mentions that Telegram sees in a text by itself."""
    found: list[Body] = []
    for kind, pattern in FOUND:
        for match in pattern.finditer(text):
            entity = _entity(kind, units(text[: match.start()]), units(match[0]))
            if not any(_overlap(entity, other) for other in found):
                found.append(entity)
    return sorted(found, key=lambda e: int(e["offset"]))


def _entity(kind: str, offset: int, length: int, **more: Any) -> Body:
    return {"type": kind, "offset": offset, "length": length, **more}


def _overlap(one: Body, two: Body) -> bool:
    return bool(
        one["offset"] < two["offset"] + two["length"]
        and two["offset"] < one["offset"] + one["length"]
    )


def _check(text: str, entities: Sequence[Body]) -> None:
    """Entities that were given must lie within the text, and not cut a symbol in two."""
    edges, place = {0}, 0
    for letter in text:
        place += units(letter)
        edges.add(place)
    for entity in entities:
        start, end = entity["offset"], entity["offset"] + entity["length"]
        if start < 0:
            raise bad("receive an entity with incorrect offset")
        where = f"entity beginning at UTF-16 offset {start}"
        if end > place:
            raise bad(f"{where} ends after the end of the text at byte offset {len(text.encode())}")
        if not {start, end} <= edges:
            raise bad(f"{where} ends in a middle of a UTF-16 symbol")
