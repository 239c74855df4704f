"""Lore: what a mate knows, and is reminded of when somebody speaks of it.

At the end of a mate's file, below its character:

    ## Lore

    ### tower, keep + door, key
    The tower has no door. Its key lies in the well.

    ### *
    It is always winter here.

A heading holds the keys: words of which one has to be said, and behind a + further ones, of which
one has to stand in the same line. `*` is known always; `(off)` before the keys puts an entry by.
Words are compared by their stems (text/topics.py); a key is no pattern and nothing in lore is run.
Below it, or alone, `## Card` keeps what a character card holds for which a mate has no place: JSON
in a fence, which no model is shown (character_card.py).
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec import Struct

from loopforge.core.text.topics import (
    TextTopics,
    fold_case,
    is_unspaced_script,
    text_topics,
    topic_stems,
)

ALWAYS, OFF = "*", "(off)"
MOST_KEYS, LONGEST_KEY = 40, 80
NEAR = 4
"""Newest lines that are looked through for keys."""
_SECTION = re.compile(r"#{1,6}[ \t]*(lore|card)[ \t]*", re.IGNORECASE)
_ENTRY = re.compile(r"###[ \t]+(?=\S)(.*)|###[ \t]*")


class LoreEntry(Struct, frozen=True, kw_only=True):
    """A piece of knowledge. It is called to mind by one of `keys`, and one of `also` if any."""

    keys: tuple[str, ...]
    text: str
    also: tuple[str, ...] = ()
    off: bool = False

    @property
    def always(self) -> bool:
        """Whether it is known whatever is said."""
        return self.keys == (ALWAYS,)


class LoreFlaw(NamedTuple):
    """What is wrong with an entry, and in which of the given lines, counted from 0."""

    line: int
    problem: str


class BodyParts(NamedTuple):
    """The text under a front matter: its character, its lore, its card's JSON; what is wrong."""

    character: str
    lore: tuple[LoreEntry, ...]
    card: str
    flaws: tuple[LoreFlaw, ...]


def split(body: str) -> tuple[str, str]:
    """The character, and all that stands from the heading of lore or of a card on, as written."""
    lines = body.split("\n")
    at = next((n for n, line in enumerate(lines) if _SECTION.fullmatch(line.rstrip())), len(lines))
    return "\n".join(lines[:at]).strip(), "\n".join(lines[at:]).strip()


def parts(body: str) -> BodyParts:
    """Take the text under a front matter apart."""
    character, rest = split(body)
    if not rest:
        return BodyParts(character, (), "", ())
    begin = body.index(rest)
    first = body.count("\n", 0, begin)
    entries, flaws = list[LoreEntry](), list[LoreFlaw]()
    card = list[str]()
    section, head, at, text = "", "", 0, list[str]()

    def close() -> None:
        if section == "lore" and (head or any(text)):
            _close(head, at, text, entries, flaws)

    for n, line in enumerate(rest.split("\n"), first):
        if found := _SECTION.fullmatch(line.rstrip()):
            close()
            section, head, at, text = found[1].lower(), "", n, []
        elif section == "card":
            card.append(line)
        elif found := _ENTRY.fullmatch(line.rstrip()):
            close()
            head, at, text = found[1] or " ", n, []
        else:
            text.append(line.rstrip())
    close()
    fenced = re.fullmatch(r"\s*```(?:json)?\n(.*)\n```\s*", "\n".join(card), re.DOTALL)
    return BodyParts(character, tuple(entries), fenced[1] if fenced else "", tuple(flaws))


def _close(
    head: str, at: int, text: list[str], entries: list[LoreEntry], flaws: list[LoreFlaw]
) -> None:
    said = "\n".join(text).strip()
    bare = head.strip().removeprefix(OFF)
    keys, also = (_keys(part) for part in (bare.partition("+")[::2]))
    if not keys:
        flaws.append(LoreFlaw(at, "lore needs words that call it to mind, such as ### tower, keep"))
    elif not said:
        flaws.append(LoreFlaw(at, "nothing stands under this lore; write below it what is known"))
    elif len(keys) + len(also) > MOST_KEYS or max(map(len, (*keys, *also))) > LONGEST_KEY:
        flaws.append(LoreFlaw(at, f"lore has {MOST_KEYS} words or names at most, and short ones"))
    else:
        entries.append(LoreEntry(keys=keys, also=also, text=said, off=head.startswith(OFF)))


def _keys(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(key for part in text.split(",") if (key := " ".join(part.split()))))


def written(lore: Iterable[LoreEntry], card: str = "") -> str:
    """Lore and a card's JSON as they stand in a file; `parts` gives them back."""
    rows = list[str]()
    for entry in lore:
        also = f" + {', '.join(entry.also)}" if entry.also else ""
        off = f"{OFF} " if entry.off else ""
        rows.append(f"### {off}{', '.join(entry.keys)}{also}\n{entry.text}")
    shown = ["## Lore", *rows] if rows else []
    return "\n\n".join([*shown, *([f"## Card\n\n```json\n{card}\n```"] if card else [])])


# ---------------------------------------------------------------- what comes to mind


def triggered_lore(lore: Sequence[LoreEntry], said: Sequence[str], most: int) -> list[LoreEntry]:
    """The entries of which the newest lines speak, in at most so many bytes; `said`: oldest first.

    What the newest line speaks of comes first, and then as the file has it. One that is too long
    for what is left gives way to the next.
    """
    open_ = [entry for entry in lore if not entry.off and not entry.always]
    found = list[LoreEntry]()
    for line in reversed(said[-NEAR:]):
        about = text_topics(line)
        for entry in open_:
            size = len(entry.text.encode("utf-8", "replace"))
            if entry not in found and size <= most and _called(entry, about):
                most -= size
                found.append(entry)
    return found


def _called(entry: LoreEntry, about: TextTopics) -> bool:
    return any(_spoken_of(key, about) for key in entry.keys) and (
        not entry.also or any(_spoken_of(key, about) for key in entry.also)
    )


def _spoken_of(key: str, about: TextTopics) -> bool:
    """Whether all words of a key are said; of a key of common or very short words, just so."""
    if any(map(is_unspaced_script, key)):
        return fold_case(key) in about.plain
    if stems := topic_stems(key):
        return stems <= about.stems
    return re.search(rf"(?<!\w){re.escape(fold_case(key))}(?!\w)", about.plain) is not None
