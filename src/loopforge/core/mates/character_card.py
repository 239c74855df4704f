"""Character cards, as SillyTavern and others write them: versions 1 to 3, as JSON or in a PNG.

    V1  {"name", "description", "personality", "scenario", "first_mes", "mes_example"}
    V2  {"spec": "chara_card_v2", "data": {V1's, and system_prompt, character_book, tags, ...}}
    V3  {"spec": "chara_card_v3", "data": {V2's, and nickname, group_only_greetings, ...}}

In a PNG the JSON stands in base64 in a tEXt chunk, "ccv3" or "chara". A card is a stranger's: what
has another type than it should counts as not there, everything has a limit, nothing in it is run
(patterns of a lorebook are put by, macros are cut out), and signs nobody sees are taken out. What
no field here holds goes on as `rest`, so that a card comes out as it came in. Not read: CHARX,
pictures and sounds of a card.
"""

import base64
import binascii
import json
import re
from typing import Any

from msgspec import Struct

from loopforge.core.mates import lorebook, png_text
from loopforge.core.mates.lorebook import LoreEntry
from loopforge.core.mates.yaml_reader import STRANGE
from loopforge.errors import InputError

LARGEST, LARGEST_JSON = 20_000_000, 4_000_000
"""Bytes of a file with its picture, and of the JSON in it."""
LONGEST, LONGEST_LORE, MOST_LORE = 40_000, 6_000, 500
"""Characters of a text and of a piece of lore, and how many pieces."""
LARGEST_REST = 48_000
CHUNKS = ("ccv3", "chara")
TEXTS = (
    "description",
    "personality",
    "scenario",
    "first_mes",
    "mes_example",
    "system_prompt",
    "post_history_instructions",
)
OWN = "loopforge"
"""The key of `extensions` under which what only a mate has goes along."""
_TAKEN = {"name", "character_book", "assets", *TEXTS}


class CharacterCard(Struct, frozen=True, kw_only=True):
    """A card. `own` is what a mate wrote into it of itself; `left` says what was left out."""

    name: str
    description: str = ""
    personality: str = ""
    scenario: str = ""
    first_mes: str = ""
    mes_example: str = ""
    system_prompt: str = ""
    post_history_instructions: str = ""
    lore: tuple[LoreEntry, ...] = ()
    own: dict[str, Any] = {}
    rest: dict[str, Any] = {}
    left: tuple[str, ...] = ()


def is_card(data: bytes) -> bool:
    """Whether this looks like a card rather than a mate's own file."""
    return data.startswith(png_text.SIGNATURE) or data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"{"


def read_card(data: bytes) -> CharacterCard:
    """The card in a file. Raises InputError, which says what is wrong with it."""
    if len(data) > LARGEST:
        raise InputError(f"This card is too large: {LARGEST // 1_000_000} MB are the most.")
    written = _from_png(data) if data.startswith(png_text.SIGNATURE) else data
    if len(written) > LARGEST_JSON:
        raise InputError(f"This card's text is too long: {LARGEST_JSON // 1_000_000} MB at most.")
    try:
        found = json.loads(written.decode("utf-8-sig"), parse_constant=lambda _: None)
    except (ValueError, RecursionError) as error:
        raise InputError("This is no character card: its text is no JSON that can be read.") from (
            error
        )
    fields = found.get("data") if isinstance(found, dict) and "spec" in found else found
    if not isinstance(fields, dict) or not isinstance(fields.get("name"), str):
        raise InputError("This is no character card: it names nobody.")
    return _card(fields)


def _from_png(data: bytes) -> bytes:
    texts = png_text.texts(data)
    written = next((texts[name] for name in CHUNKS if name in texts), None)
    if written is None:
        raise InputError(
            "There is no character in this picture. Pictures that were sent through a chat or "
            "saved anew have lost it; take the file that was downloaded as a card."
        )
    try:
        return base64.b64decode(b"".join(written.split()), validate=True)
    except binascii.Error as error:
        raise InputError("The character in this picture is damaged: it is no base64.") from error


def _card(fields: dict[str, Any]) -> CharacterCard:
    left: list[str] = []
    texts = {key: _text(fields.get(key), key, left) for key in TEXTS}
    extensions = fields.get("extensions")
    own = extensions.get(OWN) if isinstance(extensions, dict) else None
    lore = _lore(fields.get("character_book"), left)
    if fields.get("assets"):
        left.append("Its pictures and sounds are left out: a mate has none.")
    return CharacterCard(
        name=clean(fields["name"]).strip(),
        lore=lore,
        own=own if isinstance(own, dict) else {},
        rest=_rest(fields, left),
        left=tuple(left),
        **texts,
    )


def clean(text: str) -> str:
    """A text without signs that nobody sees, and with plain line ends."""
    return STRANGE.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def _text(value: object, key: str, left: list[str]) -> str:
    found = clean(value).strip() if isinstance(value, str) else ""
    if len(found) > LONGEST:
        left.append(f"Its {key} has {len(found):,} characters; the first {LONGEST:,} are kept.")
    return found[:LONGEST]


def _rest(fields: dict[str, Any], left: list[str]) -> dict[str, Any]:
    rest = {key: value for key, value in fields.items() if key not in _TAKEN and value}
    extensions = rest.get("extensions")
    if isinstance(extensions, dict):
        rest["extensions"] = {key: value for key, value in extensions.items() if key != OWN}
    for key in ("extensions", *sorted(rest)):
        if len(as_json(rest)) <= LARGEST_REST:
            break
        if rest.pop(key, None):
            left.append(f"Its {clean(key)[:40]} is left out: there is too much of it.")
    return {key: value for key, value in rest.items() if value}


def as_json(value: object) -> str:
    """JSON in one line that holds no sign nobody sees."""
    plain = json.dumps(value, ensure_ascii=False)
    return STRANGE.sub(lambda sign: f"\\u{ord(sign[0]):04x}", plain)


# ---------------------------------------------------------------- its lorebook


def _lore(book: object, left: list[str]) -> tuple[LoreEntry, ...]:
    entries = book.get("entries") if isinstance(book, dict) else None
    if isinstance(entries, dict):  # as a book of its own is written
        entries = list(entries.values())
    if not isinstance(entries, list):
        return ()
    given = [entry for entry in entries if isinstance(entry, dict)]
    given.sort(key=_order)
    if len(given) > MOST_LORE:
        left.append(f"Of {len(given)} pieces of lore the first {MOST_LORE} are kept.")
    found = [_entry(entry) for entry in given[:MOST_LORE]]
    if patterns := sum(entry.get("use_regex") is True for entry in given[:MOST_LORE]):
        left.append(
            f"Lore that is called by patterns is kept and put by ({patterns}): give it words."
        )
    if unusable := found.count(None):
        left.append(f"Lore without words that call it, or without text, is left out ({unusable}).")
    return tuple(entry for entry in found if entry)


def _order(entry: dict[str, Any]) -> float:
    order = entry.get("insertion_order")
    return float(order) if isinstance(order, int | float) and abs(order) < 1e9 else 0.0


def _entry(entry: dict[str, Any]) -> LoreEntry | None:
    text = entry.get("content")
    text = _entry_text(text) if isinstance(text, str) else ""
    keys = _keys(entry.get("keys"))
    also = _keys(entry.get("secondary_keys")) if entry.get("selective") else ()
    if entry.get("constant") is True:
        keys, also = (lorebook.ALWAYS,), ()
    if not keys or not text:
        return None
    off = entry.get("enabled") is False or entry.get("use_regex") is True
    return LoreEntry(keys=keys, also=also, text=text, off=off)


def _entry_text(text: str) -> str:
    """Without the orders to other programs (`@@depth 4`) that may stand at its head."""
    rows = clean(text).strip().split("\n")
    while rows and (rows[0].startswith("@@") or not rows[0].strip()):
        rows = rows[1:]
    return "\n".join(row.rstrip() for row in rows)[:LONGEST_LORE].strip()


def _keys(value: object) -> tuple[str, ...]:
    """Words that call an entry; what means something else in a heading is a space in them."""
    given = value if isinstance(value, list) else []
    most = lorebook.MOST_KEYS // 2
    words = (re.sub(r"[,+#*]|\(off\)", " ", clean(key)) for key in given if isinstance(key, str))
    plain = (" ".join(word.split())[: lorebook.LONGEST_KEY] for word in words)
    return tuple(dict.fromkeys(word.strip() for word in plain if word.strip()))[:most]
