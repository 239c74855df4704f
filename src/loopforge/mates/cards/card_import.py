"""A character card becomes a mate's file, which its owner reads before it speaks.

A stranger wrote the card: what of it could pass for something else in the file (headings, quoted
examples) is made plain text, macros are filled or cut out, and no tool, model, trigger or bound is
taken from it. Beside the file it is told what was left out.
"""

import hashlib
import re
from typing import NamedTuple

from loopforge.core.mates import lorebook, yaml_reader
from loopforge.core.mates.character_card import CharacterCard, as_json, is_card, read_card
from loopforge.core.mates.header_edit import with_entry, with_trait
from loopforge.core.mates.lorebook import LoreEntry
from loopforge.core.mates.mate_file import (
    FIELDS,
    LONGEST_GREETING,
    RESERVED,
    mate_file_flaws,
    parse_mate,
    slug,
)
from loopforge.core.text.quantity_bands import BANDS
from loopforge.errors import InputError
from loopforge.mates.new_mate import quote_yaml

THE_OTHER = "the person you talk to"
"""Whom a card calls {{user}}; in a room there are several."""
SECTIONS = {
    "personality": "## Personality",
    "scenario": "## Scenario",
    "post_history_instructions": "## Above all",
}
"""Headings in a mate's body for texts of a card."""
MOST_EXAMPLES = 20
OWN_TEXTS, OWN_NUMBERS = ("role", "voice", "colour", "face"), ("temperature", "top_p")
NOBODY_ASKED = "(nobody said anything)"


class ImportedCard(NamedTuple):
    """A mate's file made of a card, and sentences about what could not come along."""

    text: str
    told: tuple[str, ...]


def read_file(data: bytes, source: str, handle: str = "") -> ImportedCard:
    """The mate's file that these bytes are, or that is made of them where they are a card.

    With a `handle` it gets that one. Raises InputError for what can be neither.
    """
    if is_card(data):
        return import_card(data, handle)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{source} is no mate's file and no card: it is no text.") from error
    if handle:
        parse_mate(text, source)
        text = with_entry(text, "handle", f"handle: {handle}\n")
    return ImportedCard(text, ())


def import_card(data: bytes, handle: str = "") -> ImportedCard:
    """The mate's file that a card makes. Raises InputError for what is no card."""
    card = read_card(data)
    name = _name(card.name)
    called = str(card.rest.get("nickname") or "").strip()
    text = f"---\n{_head(card, name, handle)}---\n"
    text += _body(card, _name(called) if called and _nameable(called) else name)
    told, size = list(card.left), yaml_reader.LARGEST - 1000
    lore = [_lore(entry, name) for entry in card.lore]
    kept = as_json(card.rest) if card.rest else ""
    while len((whole := _joined(text, lore, kept)).encode()) > size and lore:
        lore = lore[: len(lore) * 9 // 10]
    if len(lore) < len(card.lore):
        told.append(f"Of {len(card.lore)} pieces of lore {len(lore)} fit into a mate's file.")
    if flaws := mate_file_flaws(whole, "the card"):
        raise InputError(f"This card makes no mate: {flaws[0].problem}.")
    return ImportedCard(_with_own(whole, card), tuple(told))


def _joined(text: str, lore: list[LoreEntry], kept: str) -> str:
    return "\n\n".join(part for part in (text.strip(), lorebook.written(lore, kept)) if part) + "\n"


def _nameable(name: str) -> bool:
    return any(sign.isalnum() for sign in name)


def _name(name: str) -> str:
    plain = " ".join(re.sub(r'[:@`"*\[\]<>\\{}]', " ", name).split())[:40].strip()
    if not _nameable(plain):
        raise InputError("This is no character card: it names nobody.")
    return plain


def _head(card: CharacterCard, name: str, handle: str) -> str:
    made = slug(name)
    if not made or made in RESERVED:
        made = f"mate-{hashlib.sha256(name.encode()).hexdigest()[:6]}"
    handle = handle or (made if made != slug(name) else "")
    rows = [f"name: {quote_yaml(name)}", *([f"handle: {handle}"] if handle else [])]
    greeting = filled(card.first_mes.replace("{person}", "(person)"), name, "{person}")
    if greeting := greeting[:LONGEST_GREETING].strip():
        rows.append(f"greeting: {quote_yaml(greeting)}")
    return "\n".join(rows) + "\n"


def _with_own(text: str, card: CharacterCard) -> str:
    """The file with looks and manner of the mate that became this card, where they are good."""
    for key in OWN_TEXTS:
        value = card.own.get(key)
        if isinstance(value, str) and key in FIELDS:
            text = _if_good(text, with_entry(text, key, f"{key}: {quote_yaml(value)}\n"))
    traits = card.own.get("traits")
    for trait, band in list(traits.items())[:20] if isinstance(traits, dict) else []:
        if band in BANDS:
            text = _if_good(text, with_trait(text, str(trait), band))
    for key in OWN_NUMBERS:
        value = card.own.get(key)
        if isinstance(value, int | float):
            text = _if_good(text, with_entry(text, key, f"{key}: {value}\n"))
    return text


def _if_good(text: str, new: str) -> str:
    return text if mate_file_flaws(new, "the card") else new


# ---------------------------------------------------------------- texts


def _body(card: CharacterCard, name: str) -> str:
    """Who it is: instructions, description, then the rest under headings, then examples."""
    texts = [body_text(card.system_prompt, name), body_text(card.description, name)]
    for key, heading in SECTIONS.items():
        if key == "personality" and card.personality == card.own.get("manner"):
            continue  # voice and traits say it
        if text := body_text(getattr(card, key), name):
            texts.append(f"{heading}\n\n{text}")
    texts = [text for text in texts if text] or [f"You are {name}."]
    return "\n\n".join([*texts, *_examples(card.mes_example, name)])


def body_text(text: str, name: str) -> str:
    """A text of a card as part of a mate's body: no heading and no quote of its own."""
    plain = filled(text, name, THE_OTHER)
    rows = (_unheaded(row) for row in plain.split("\n"))
    unquoted = (re.sub(r"^\s{0,3}>", "»", row).rstrip() for row in rows)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(unquoted)).strip()


def _unheaded(row: str) -> str:
    """A heading as words in bold; any other row as it is."""
    heading = re.match(r"\s{0,3}#{1,6}\s+", row)
    if heading is None:
        return row
    return f"**{row[heading.end() :].rstrip('#').rstrip()}**"


def _lore(entry: LoreEntry, name: str) -> LoreEntry:
    keys, also = (
        tuple(filled(key, name, "") or key for key in k) for k in (entry.keys, entry.also)
    )
    return LoreEntry(keys=keys, also=also, off=entry.off, text=body_text(entry.text, name) or "…")


def _examples(text: str, name: str) -> list[str]:
    """Examples as a mate's file has them: what somebody says, quoted, and its answer below."""
    found: list[str] = []
    for block in re.split(r"<START>", text, flags=re.IGNORECASE):
        said: list[str] = []
        turns = re.split(
            r"^[^\S\n]*(\{\{user\}\}|<USER>|\{\{char\}\}|<BOT>)\s*:", block, flags=_LINES
        )
        for who, words in zip(turns[1::2], turns[2::2], strict=True):
            plain = " ".join(filled(_unaddressed(words), name, "you").split()).lstrip("> ")
            if "user" in who.lower():
                said.append(plain)
            elif plain:
                found.append(f"> {' '.join(said) or NOBODY_ASKED}\n{plain}")
                said = []
    return found[:MOST_EXAMPLES]


_LINES = re.IGNORECASE | re.MULTILINE


def _unaddressed(text: str) -> str:
    return re.sub(r",\s*\{\{user\}\}(?=[\s.!?,~…\"*]|$)", "", text, flags=re.IGNORECASE)


def filled(text: str, name: str, other: str) -> str:
    """A text with its macros filled: who it is and whom it talks to; of choices the first.

    What is worked out elsewhere (dice, variables, comments) is cut out.
    """
    text = re.sub(r"\{\{char\}\}|<BOT>|<CHAR>", lambda _: name, text, flags=re.IGNORECASE)
    text = re.sub(r"\{\{user\}\}|<USER>", lambda _: other, text, flags=re.IGNORECASE)
    text = re.sub(
        r"\{\{(?:random|pick):{1,2}+([^{}:,]*+)[^{}]*+\}\}", r"\1", text, flags=re.IGNORECASE
    )
    return re.sub(r"\{\{[^{}]{0,400}\}\}", "", text)
