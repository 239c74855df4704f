"""A mate as a character card: for other programs, and to come back as it was.

What a card has fields for goes there; voice, traits, colour and the like go under its `extensions`.
Tools, models and bounds stay here: they are this home's. What a card that came in held besides is
in the mate's file (`## Card`) and goes out again. Not in it: what a mate remembers.
"""

import base64
import json
import re
from typing import Any, Literal

from loopforge.core.mates import png_text
from loopforge.core.mates.character_card import OWN, as_json
from loopforge.core.mates.lorebook import LoreEntry
from loopforge.core.mates.mate_file import Mate, parse_dialogue, without_small_talk
from loopforge.mates.cards.avatar_image import draw_avatar
from loopforge.mates.cards.card_import import (
    NOBODY_ASKED,
    OWN_NUMBERS,
    OWN_TEXTS,
    SECTIONS,
    THE_OTHER,
)

CardForm = Literal["png", "v1", "v2", "v3"]
V1 = ("name", "description", "personality", "scenario", "first_mes", "mes_example")


def export_card(mate: Mate, form: CardForm, portrait: bytes = b"") -> bytes:
    """The card as JSON of a version; or the mate's portrait (a PNG; b"": drawn) with it inside."""
    if form == "png":
        return _png(mate, portrait or draw_avatar(mate.handle, mate.colour))
    plain = json.dumps(_card(mate, int(form[1:])), ensure_ascii=False, indent=2)
    return f"{plain}\n".encode("utf-8", "replace")


def _png(mate: Mate, portrait: bytes) -> bytes:
    """With the card as version 2 for older programs, and as 3."""
    texts = {
        keyword: base64.b64encode(as_json(_card(mate, version)).encode("utf-8", "replace"))
        for keyword, version in (("chara", 2), ("ccv3", 3))
    }
    return png_text.with_texts(portrait, texts)


def _card(mate: Mate, version: int) -> dict[str, Any]:
    data = _fields(mate)
    if version == 1:
        return {key: data[key] for key in V1}
    if version == 2:
        return {"spec": "chara_card_v2", "spec_version": "2.0", "data": data}
    more = {"group_only_greetings": [], **data}
    return {"spec": "chara_card_v3", "spec_version": "3.0", "data": more}


def _fields(mate: Mate) -> dict[str, Any]:
    try:
        kept = json.loads(mate.card or "{}")
    except (ValueError, RecursionError):  # somebody wrote it by hand
        kept = {}
    kept = kept if isinstance(kept, dict) else {}
    texts = _texts(mate)
    extensions = kept.get("extensions")
    return {
        "name": mate.name,
        "description": "",
        "personality": _manner(mate),
        "scenario": "",
        "first_mes": mate.greeting.replace("{person}", "{{user}}"),
        "mes_example": _examples(mate),
        "creator_notes": "",
        "system_prompt": "",
        "post_history_instructions": "",
        "alternate_greetings": [],
        "tags": [],
        "creator": "",
        "character_version": "",
        **kept,
        **texts,
        "extensions": {**(extensions if isinstance(extensions, dict) else {}), OWN: _own(mate)},
        **({"character_book": _book(mate.lore)} if mate.lore else {}),
    }


def _own(mate: Mate) -> dict[str, Any]:
    """What only mates have, of looks and manner."""
    held = {key: getattr(mate, key) for key in (*OWN_TEXTS, *OWN_NUMBERS)}
    own = {key: value for key, value in held.items() if value not in ("", None)}
    traits = {"traits": dict(mate.traits)} if mate.traits else {}
    return {**own, **traits, "manner": _manner(mate)}


def _manner(mate: Mate) -> str:
    """How it is, in words, for a program that knows nothing of voices and traits."""
    traits = ", ".join(f"{trait} {band}" for trait, band in mate.traits.items())
    return ". ".join(part for part in (mate.role, mate.voice, traits) if part)


def _texts(mate: Mate) -> dict[str, str]:
    """The texts of its character, by the field of a card that each belongs to."""
    character = parse_dialogue(without_small_talk(mate.prompt)).character
    headings = "|".join(map(re.escape, SECTIONS.values()))
    parts = re.split(rf"^({headings})[ \t]*$", character, flags=re.MULTILINE)
    field_of = {heading: key for key, heading in SECTIONS.items()}
    texts = {"description": parts[0]}
    texts |= {field_of[head]: text for head, text in zip(parts[1::2], parts[2::2], strict=True)}
    return {key: text.strip().replace(THE_OTHER, "{{user}}") for key, text in texts.items()}


def _examples(mate: Mate) -> str:
    rows = []
    for said, answer in parse_dialogue(without_small_talk(mate.prompt)).examples:
        asked = "" if said == NOBODY_ASKED else f"{{{{user}}}}: {said}\n"
        rows.append(f"<START>\n{asked}{{{{char}}}}: {answer}")
    return "\n".join(rows)


def _book(lore: tuple[LoreEntry, ...]) -> dict[str, Any]:
    return {"name": "", "extensions": {}, "entries": [_entry(n, one) for n, one in enumerate(lore)]}


def _entry(number: int, entry: LoreEntry) -> dict[str, Any]:
    return {
        "keys": [] if entry.always else list(entry.keys),
        "secondary_keys": list(entry.also),
        "selective": bool(entry.also),
        "constant": entry.always,
        "content": entry.text.replace(THE_OTHER, "{{user}}"),
        "enabled": not entry.off,
        "insertion_order": number,
        "case_sensitive": False,
        "use_regex": False,
        "extensions": {},
        "id": number,
    }
