"""What Telegram makes of a text: its length, the entities in it, and its two markups.

Lengths and offsets are in UTF-16 units, as Telegram counts. Markup is read as the documents
describe it, errors are in Telegram's words. It does not cover the old "Markdown" mode, custom
emoji, hashtags, phone numbers and e-mail addresses.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import unescape
from typing import Any

from tests.telegram.records import Body
from tests.telegram.wire import bad

LIMIT, CAPTION = 4096, 1024
"""UTF-16 units of a message's and of a caption's text, after markup is read."""
FOUND = (
    ("url", re.compile(r"\bhttps?://[^\s<>\"]+[^\s<>\".,;:!?)\]]")),
    ("bot_command", re.compile(r"(?<![\w/@])/[A-Za-z0-9_]{1,64}(?:@[A-Za-z0-9_]{3,32})?(?!\w)")),
    ("mention", re.compile(r"(?<![\w/@])@[A-Za-z][A-Za-z0-9_]{3,31}(?!\w)")),
)
TAGS = {
    "b": "bold",
    "strong": "bold",
    "i": "italic",
    "em": "italic",
    "u": "underline",
    "ins": "underline",
    "s": "strikethrough",
    "strike": "strikethrough",
    "del": "strikethrough",
    "tg-spoiler": "spoiler",
    "span": "spoiler",
    "a": "text_link",
    "code": "code",
    "pre": "pre",
    "blockquote": "blockquote",
}
TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9-]*)((?:\s+[^<>]*)?)>|<(\W?)")
NAMED = {"&lt;": "<", "&gt;": ">", "&amp;": "&", "&quot;": '"'}
"""The only named letters that Telegram's HTML knows."""
MARKS = {"*": "bold", "_": "italic", "__": "underline", "~": "strikethrough", "||": "spoiler"}
RESERVED = frozenset("_*[]()~`>#+-=|{}.!")


def units(text: str) -> int:
    """Its length as Telegram counts."""
    return len(text.encode("utf-16-le")) // 2


def read(text: str, mode: str | None, entities: Sequence[Body] | None) -> tuple[str, list[Body]]:
    """The text as it will stand, trimmed, and its entities. Raises Refused (400)."""
    match mode and mode.lower():
        case None | "":
            given = [dict(entity) for entity in entities or ()]
            _check(text, given)
        case "html":
            text, given = _html(text)
        case "markdownv2":
            text, given = _markdown(text)
        case _:
            raise bad("unsupported parse_mode")
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
    return text, sorted(kept, key=lambda e: (e["offset"], -e["length"]))


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


def _broken(reason: str) -> Exception:
    return bad(f"can't parse entities: {reason}")


def _at(text: str, place: int) -> int:
    return len(text[:place].encode())


def _html(text: str) -> tuple[str, list[Body]]:
    out, entities, place = "", [], 0
    opened: list[tuple[str, str, int, int]] = []
    for match in TAG.finditer(text):
        out += _letters(text[place : match.start()])
        place, where = match.end(), _at(text, match.start())
        slash, tag, rest = match[1], (match[2] or "").lower(), match[3] or ""
        if match[4] == "":
            raise _broken(f"Unclosed start tag at byte offset {where}")
        if tag not in TAGS:
            raise _broken(f'Unsupported start tag "{tag}" at byte offset {where}')
        if not slash:
            opened.append((tag, rest, units(out), where))
            continue
        if not opened:
            raise _broken(f"Unexpected end tag at byte offset {where}")
        wanted, rest, start, _ = opened.pop()
        if wanted != tag:
            raise _broken(
                f'Unmatched end tag at byte offset {where}, expected "</{wanted}>", found "</{tag}>"'
            )
        if units(out) > start:
            entities.append(_tagged(tag, rest, start, units(out) - start))
    if opened:
        raise _broken(f'Can\'t find end tag corresponding to start tag "{opened[-1][0]}"')
    marked = [(e["offset"], e["length"]) for e in entities if "language" in e]
    once = [
        e
        for e in entities
        if e != _entity("pre", e["offset"], e["length"]) or (e["offset"], e["length"]) not in marked
    ]
    return out + _letters(text[place:]), once


def _letters(text: str) -> str:
    known = r"&(?:lt|gt|amp|quot|#\d+|#x[0-9a-fA-F]+);"
    return re.sub(known, lambda match: NAMED.get(match[0]) or unescape(match[0]), text)


def _tagged(tag: str, rest: str, start: int, length: int) -> Body:
    kind = TAGS[tag]
    if tag == "a" and (match := re.search(r"href\s*=\s*[\"']?([^\"'\s>]+)", rest)):
        return _entity(kind, start, length, url=_letters(match[1]))
    if tag == "code" and (match := re.search(r"class\s*=\s*[\"']?language-([\w+-]+)", rest)):
        return _entity("pre", start, length, language=match[1])
    if tag == "blockquote" and "expandable" in rest:
        kind = "expandable_blockquote"
    return _entity(kind, start, length)


def _markdown(text: str) -> tuple[str, list[Body]]:
    return _Markdown(text).read()


class _Markdown:
    """MarkdownV2, one letter after the other; `open` are the marks that wait for their end."""

    def __init__(self, text: str) -> None:
        self.text, self.place = text, 0
        self.out, self.entities = "", list[Body]()
        self.open: list[tuple[str, int, int]] = []

    def read(self) -> tuple[str, list[Body]]:
        while self.place < len(self.text):
            self._step()
        if self.open:
            mark, _, where = self.open[-1]
            name = {"[": "TextUrl"}.get(mark) or MARKS[mark].title()
            raise _broken(f"Can't find end of {name} entity at byte offset {where}")
        return self.out, self.entities

    def _step(self) -> None:
        letter, rest = self.text[self.place], self.text[self.place :]
        if letter == "\r":
            self.place += 1  # Telegram drops it; it may stand between two marks
        elif letter == "\\" and rest[1:2] and ord(rest[1]) < 127:
            self.out += rest[1]
            self.place += 2
        elif letter == "`":
            self._code("```" if rest.startswith("```") else "`")
        elif letter == ">" and (not self.out or self.out.endswith("\n")):
            self._quoted()
        elif letter in "*_~|" and not (letter == "|" and not rest.startswith("||")):
            self._mark(letter * 2 if rest.startswith(("__", "||")) else letter)
        elif letter == "[":
            self.open.append(("[", units(self.out), _at(self.text, self.place)))
            self.place += 1
        elif letter == "]" and self.open and self.open[-1][0] == "[":
            self._link()
        elif letter in RESERVED:
            raise _broken(
                f"Character '{letter}' is reserved and must be escaped with the preceding '\\'"
            )
        else:
            self.out += letter
            self.place += 1

    def _mark(self, mark: str) -> None:
        if self.open and self.open[-1][0] == mark:
            _, start, _ = self.open.pop()
            if units(self.out) > start:
                self.entities.append(_entity(MARKS[mark], start, units(self.out) - start))
        else:
            self.open.append((mark, units(self.out), _at(self.text, self.place)))
        self.place += len(mark)

    def _code(self, fence: str) -> None:
        inside = re.compile(rf"(?s){fence}((?:\\.|(?!{fence})[^\\])*){fence}")
        match = inside.match(self.text, self.place)
        if match is None:
            name = "Pre" if len(fence) > 1 else "Code"
            where = _at(self.text, self.place)
            raise _broken(f"Can't find end of {name} entity at byte offset {where}")
        inner, more = match[1], {}
        if len(fence) > 1:
            head, line, body = inner.partition("\n")
            if line:
                inner, more = body, {"language": head} if head else {}
        inner = re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", inner)
        kind = "pre" if len(fence) > 1 else "code"
        if inner:
            self.entities.append(_entity(kind, units(self.out), units(inner), **more))
        self.out += inner
        self.place = match.end()

    def _link(self) -> None:
        match = re.compile(r"\]\(((?:\\.|[^)\\])*)\)").match(self.text, self.place)
        _, start, where = self.open.pop()
        if match is None:
            raise _broken(f"Can't find end of a URL at byte offset {where}")
        length = units(self.out) - start
        if length:
            url = re.sub(r"\\(.)", r"\1", match[1])
            self.entities.append(_entity("text_link", start, length, url=url))
        self.place = match.end()

    def _quoted(self) -> None:
        """A line that begins with ">"; those that follow belong to it."""
        self.place += 1
        start = units(self.out)
        end = self.text.find("\n", self.place)
        end = len(self.text) if end < 0 else end
        while self.place < end:
            self._step()
        length = units(self.out) - start
        last = next((e for e in self.entities if e["type"] == "blockquote"), None)
        if last is not None and last["offset"] + last["length"] == start - 1:
            last["length"] += length + 1
        elif length:
            self.entities.insert(0, _entity("blockquote", start, length))
