"""A mate: one Markdown file. Its front matter says who it is, its body is its system prompt.

    ---
    name: Maya
    role: field scientist of failures
    traits: {curiosity: very high}
    ---
    You are Maya. You study how things fail.

    > My bread did not rise.
    My guess is dead yeast. How warm was the water?

Lines quoted with > in the body, each with the answer under it, are examples of how the mate talks:
part of the prompt for every model. A small one learns more from them than from any description: it
is shown those that are like what was just said. Examples for small models alone stand under a
heading `## Small talk`. What it knows and is reminded of when it is spoken of stands at the end,
under `## Lore` (lorebook.py). Every flaw of a file is a sentence with its line. Does not read files
(mates/mate_roster.py).
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import lru_cache
from math import isfinite
from typing import Any, NamedTuple

import yaml
from msgspec import Struct

from loopforge.core.limits import turn_bounds
from loopforge.core.limits.turn_bounds import TurnBounds
from loopforge.core.mates import lorebook, sandbox_profile, unprompted_times, yaml_reader
from loopforge.core.mates import mate_colours as colour
from loopforge.core.mates.lorebook import LoreEntry
from loopforge.core.mates.sandbox_profile import SandboxProfile
from loopforge.core.mates.unprompted_times import UnpromptedTimes
from loopforge.core.mates.yaml_reader import FrontMatterField, FrontMatterFlaw
from loopforge.core.text.name_labels import one_line, truncate_text
from loopforge.core.text.quantity_bands import BANDS, Band
from loopforge.core.text.topics import normal_form
from loopforge.errors import BadMate

TRIGGERS = ("mention", "reply", "name", "conversation")
POLICIES = ("talk", "chain", "stub")
RESERVED = ("all", "everyone", "everybody", "mates", "here", "room", "runtime", "you", "me")
"""Handles that mean something else in a room."""

_HANDLE = re.compile(r"[a-z0-9](?:[a-z0-9_-]{0,30}[a-z0-9])?")
_BASE = "[\u00a9\u00ae\u203c-\u3299\U0001f000-\U0001faff]"
_PART = f"{_BASE}[\ufe0e\ufe0f\u20e3\U0001f3fb-\U0001f3ff]*[\U000e0020-\U000e007f]*"
_EMOJI = re.compile(
    f"(?:[0-9#*]\ufe0f?\u20e3|[\U0001f1e6-\U0001f1ff]{{2}}|{_PART}(?:\u200d{_PART})*)"
)


class Mate(Struct, frozen=True, kw_only=True):
    """A character. `hash` is the first 16 hex digits of its file's SHA-256.

    `prompt` is the file's body up to its `lore`, behind which may stand what a character card
    holds besides, as JSON (`card`).

    `colour` is "#rrggbb". A mate asks for one `model` by name, or for a `tier` (1 to 4).
    `triggers` are what may call it; `interests` are words that wake its attention. `greeting` is
    what it says to whoever is the first in a room, with their name for "{person}". `bounds` are
    those of its turns, beside the room's and the home's; `sandbox` is how what it runs is confined.
    `unprompted` says when it speaks up by itself, where a room lets it; `pace` how many characters
    a second it types, so that its line comes after as long (0: at once, and word by word).
    """

    name: str
    handle: str
    prompt: str
    hash: str
    role: str = ""
    voice: str = ""
    colour: str = "#808080"
    face: str = "?"
    traits: dict[str, Band] = {}
    model: str = ""
    tier: int = 1
    temperature: float | None = None
    top_p: float | None = None
    tools: tuple[str, ...] = ()
    triggers: tuple[str, ...] = TRIGGERS
    interests: tuple[str, ...] = ()
    policy: str = ""
    greeting: str = ""
    unprompted: UnpromptedTimes = UnpromptedTimes()
    pace: float = 0
    bounds: TurnBounds = TurnBounds()
    sandbox: SandboxProfile = SandboxProfile()
    lore: tuple[LoreEntry, ...] = ()
    card: str = ""


def parse_mate(text: str | bytes, source: str) -> Mate:
    """The mate in this file. Raises BadMate for the first thing that is wrong with it."""
    mate, flaws = _read_mate(text)
    if flaws:
        raise BadMate(source, *flaws[0])
    assert mate is not None
    return mate


def mate_file_flaws(text: str | bytes, source: str) -> list[BadMate]:
    """Everything that is wrong with this file, by line; nothing if it is a mate."""
    return [BadMate(source, *flaw) for flaw in _read_mate(text)[1]]


@lru_cache(maxsize=64)
def _read_mate(text: str | bytes) -> tuple[Mate | None, tuple[FrontMatterFlaw, ...]]:
    """The mate, or all flaws; both are asked for one after the other, and YAML is slow to read."""
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    page = yaml_reader.read(text)
    flaws = list(page.flaws)
    if not page.fields and flaws:
        return None, tuple(flaws)
    values = dict(_read_fields(page.fields, flaws))
    body = lorebook.parts(page.body)
    flaws += _missing_fields(page, body.character, values)
    rows = re.split(b"\r\n|\r|\n", data)
    first = next((n for n in range(page.body_line - 1, len(rows)) if rows[n].strip()), 0)
    flaws += [FrontMatterFlaw(first + 1 + line, said) for line, said in body.flaws]
    if flaws:
        last = len(rows)
        kept = (FrontMatterFlaw(max(1, min(line, last)), said) for line, said in flaws)
        return None, tuple(sorted(kept))
    values.setdefault("colour", colour.default_colour(values["handle"]))
    values.setdefault("face", _first_letter(values["name"]))
    digest = hashlib.sha256(data).hexdigest()[:16]
    return Mate(prompt=body.character, lore=body.lore, card=body.card, hash=digest, **values), ()


def _missing_fields(
    page: yaml_reader.FrontMatterFile, character: str, values: dict[str, Any]
) -> Iterator[FrontMatterFlaw]:
    """What the file as a whole lacks; fills in the handle."""
    if "name" not in page.fields:
        yield FrontMatterFlaw(
            1, "`name` is missing; add a line such as `name: Maya` to the front matter"
        )
    elif "name" in values and "handle" not in page.fields:
        handle = slug(values["name"])
        if _HANDLE.fullmatch(handle) and handle not in RESERVED:
            values["handle"] = handle
        else:
            line = page.fields["name"].line
            yield FrontMatterFlaw(
                line, "no handle can be made of this name; add one, such as `handle: maya`"
            )
    if "model" in page.fields and "tier" in page.fields:
        yield FrontMatterFlaw(
            page.fields["tier"].line, "`model` and `tier` exclude each other; keep one"
        )
    if not character:
        yield FrontMatterFlaw(
            page.body_line, "the body is empty; under the front matter, say who this is"
        )
    elif not parse_dialogue(character).character:
        yield FrontMatterFlaw(
            page.body_line, "the body holds only examples; begin it by saying who this is"
        )


def slug(name: str) -> str:
    """A handle made of a name: "Dr. Émile Zed" becomes "dr-emile-zed"."""
    plain = normal_form(name, "NFKD").encode("ascii", "ignore").decode().lower()
    return re.sub("[^a-z0-9]+", "-", plain).strip("-")[:32].strip("-")


def find_mate(said: str, mates: Iterable[Mate]) -> Mate | None:
    """Whom people mean by a handle or a name, in capitals or not; handles come before names."""
    folded = said.casefold()
    meant = [each for each in mates if folded in (each.handle, each.name.casefold())]
    return min(meant, key=lambda each: each.handle != folded, default=None)


def mate_name(mates: Mapping[str, Mate], handle: str) -> str:
    """What a mate is called; by its handle where it is there no more."""
    return mates[handle].name if handle in mates else handle


def _first_letter(name: str) -> str:
    return next((sign.upper()[:1] for sign in name if sign.isalnum()), "?")


# ---------------------------------------------------------------- the fields of the front matter


class _Wrong(Exception):
    """A value cannot be used; says what to write instead."""

    def __init__(self, problem: str, node: yaml.Node | None = None) -> None:
        super().__init__(problem)
        self.node = node


def _read_fields(
    fields: dict[str, FrontMatterField], flaws: list[FrontMatterFlaw]
) -> Iterator[tuple[str, Any]]:
    for field in fields.values():
        read = FIELDS.get(field.key)
        if read is None:
            flaws.append(FrontMatterFlaw(field.line, _unknown_key_notice(field.key)))
            continue
        try:
            yield field.key, read(field.node)
        except _Wrong as wrong:
            line = yaml_reader.line_of(wrong.node) if wrong.node is not None else field.line
            flaws.append(FrontMatterFlaw(line, f"`{field.key}` {wrong}"))


def _unknown_key_notice(key: str) -> str:
    shown = truncate_text(key, 40)
    if key.lower() in FIELDS:
        return f"`{shown}` is written small here: `{key.lower()}`"
    near = get_close_matches(key.lower()[:80], [*FIELDS, *_MISTAKEN], 1, 0.7)
    if near:
        return f"`{shown}` is no key of a mate; did you mean `{_MISTAKEN.get(near[0], near[0])}`?"
    return f"`{shown}` is no key of a mate; the keys are {', '.join(FIELDS)}"


_MISTAKEN = {
    "color": "colour",
    "emoji": "face",
    "avatar": "face",
    "persona": "role",
    "id": "handle",
}


LONGEST_GREETING = 4000


def _text_reader(longest: int, *, rows: bool = False) -> Callable[[yaml.Node], str]:
    """Reads a text of one line; or with `rows` of several, which stay apart."""

    def read(node: yaml.Node) -> str:
        if yaml_reader.kind(node) == "null":
            raise _Wrong("is empty; a value that begins with # needs quotes around it")
        found = yaml_reader.word(node)
        if found is None:
            raise _Wrong("is a text; write it in one line")
        lines = found.split("\n") if rows else [found]
        found = "\n".join(" ".join(line.split()) for line in lines).strip()
        if not found:
            raise _Wrong("is empty; write something or leave the line out")
        if len(found) > longest:
            raise _Wrong(f"has {len(found)} characters; {longest} are the most")
        return found

    return read


def _read_name(node: yaml.Node) -> str:
    name = _text_reader(40)(node)
    if not any(sign.isalnum() for sign in name) or set(name) & set(':@`"*[]<>\\'):
        raise _Wrong('is what people call it; letters, without : @ ` " * [ ] < > or \\')
    if one_line(name, 40) != name:
        raise _Wrong("holds characters that nobody can see, or that turn the line; type it by hand")
    return name


def _read_handle(node: yaml.Node) -> str:
    handle = _text_reader(80)(node)
    if handle in RESERVED:
        raise _Wrong(f"cannot be {handle}, which means something else in a room; take another")
    if not _HANDLE.fullmatch(handle):
        raise _Wrong(
            f"is small letters, digits and dashes, 32 at most; such as {_better_handle(handle)}"
        )
    return handle


def _better_handle(handle: str) -> str:
    made = slug(handle)
    return made if made and made not in RESERVED else "maya"


def _read_colour(node: yaml.Node) -> str:
    written = _text_reader(40)(node)
    found = colour.colour_code(written)
    if found is None:
        near = get_close_matches(written.lower(), colour.css_colour_codes(), 1)
        hint = f"; did you mean {near[0]}?" if near else ', such as teal or "#2a9d8f"'
        raise _Wrong(f"is a CSS colour{hint}")
    return found


def _read_face(node: yaml.Node) -> str:
    face = _text_reader(40)(node)
    if not _EMOJI.fullmatch(face) and not (len(face) <= 2 and face.isalnum()):
        raise _Wrong("is one emoji, or one or two letters")
    return face


def _read_tier(node: yaml.Node) -> int:
    tier = yaml_reader.number(node)
    if not isinstance(tier, int) or not 1 <= tier <= 4:
        raise _Wrong("is a whole number from 1 (small and cheap) to 4 (the best)")
    return tier


def _read_temperature(node: yaml.Node) -> float:
    heat = yaml_reader.number(node)
    if heat is None or not isfinite(heat) or not 0 <= heat <= 2:
        raise _Wrong("is a number from 0 (always the same) to 2 (wild)")
    return float(heat)


def _top_p(node: yaml.Node) -> float:
    share = yaml_reader.number(node)
    if share is None or not isfinite(share) or not 0 < share <= 1:
        raise _Wrong("is a share from just above 0 (the likeliest words alone) to 1 (all of them)")
    return float(share)


def _words_reader(example: str) -> Callable[[yaml.Node], tuple[str, ...]]:
    def read(node: yaml.Node) -> tuple[str, ...]:
        if not isinstance(node, yaml.SequenceNode) or yaml_reader.kind(node) != "seq":
            raise _Wrong(f"is a list, such as {example}")
        if len(node.value) > 60:
            raise _Wrong(f"has {len(node.value)} entries; 60 are the most")
        found: dict[str, None] = {}
        for item in node.value:
            try:
                found[_text_reader(60)(item)] = None
            except _Wrong as wrong:
                raise _Wrong(f"holds an entry that {wrong}", item) from None
        return tuple(found)

    return read


def _read_triggers(node: yaml.Node) -> tuple[str, ...]:
    found = _words_reader("[mention, reply, name]")(node)
    for item in node.value:
        if (written := yaml_reader.word(item)) not in TRIGGERS:
            raise _Wrong(f"may hold {_one_of(str(written), TRIGGERS)}", item)
    return tuple(trigger for trigger in TRIGGERS if trigger in found)


def _read_policy(node: yaml.Node) -> str:
    policy = _text_reader(40)(node)
    if policy not in POLICIES:
        raise _Wrong(f"is {_one_of(policy, POLICIES)}")
    return policy


def _read_traits(node: yaml.Node) -> dict[str, Band]:
    if not isinstance(node, yaml.MappingNode) or yaml_reader.kind(node) != "map":
        raise _Wrong("says how much of each it has, such as {curiosity: very high}")
    if len(node.value) > 20:
        raise _Wrong(f"has {len(node.value)} entries; 20 are the most")
    traits: dict[str, Band] = {}
    for key, value in node.value:
        trait, written = yaml_reader.word(key), yaml_reader.word(value)
        if trait is None or not trait.strip() or len(trait) > 40:
            raise _Wrong("names each trait in a word or two", key)
        if trait in traits:
            raise _Wrong(f"names {trait} twice", key)
        band = next((band for band in BANDS if band == written), None)
        if band is None:
            raise _Wrong(f"says of each {_one_of(written or '', BANDS)}", value)
        traits[trait] = band
    return traits


def _read_limits(
    node: yaml.Node, meaning: str, flaw_of: Callable[[str, object], str]
) -> dict[str, Any]:
    """Limits by their names: numbers, and yes or no."""
    if not isinstance(node, yaml.MappingNode) or yaml_reader.kind(node) != "map":
        raise _Wrong(f"says {meaning}")
    found: dict[str, Any] = {}
    for key, value in node.value:
        name = yaml_reader.word(key) or ""
        if name in found:
            raise _Wrong(f"names {name} twice", key)
        is_truth = yaml_reader.kind(value) == "bool"
        held = yaml_reader.truth(value) if is_truth else yaml_reader.number(value)
        if flaw := flaw_of(name, held):
            raise _Wrong(f"is not as it should be: {flaw}", key)
        found[name] = held
    return found


def _read_bounds(node: yaml.Node) -> TurnBounds:
    meaning = "how much one turn may take, such as {calls: 4, seconds: 30}"
    return TurnBounds(**_read_limits(node, meaning, turn_bounds.flaw_of))


def _read_sandbox(node: yaml.Node) -> SandboxProfile:
    meaning = "how what it runs is confined, such as {seconds: 60, memory: 256, writable: no}"
    return SandboxProfile(**_read_limits(node, meaning, sandbox_profile.flaw_of))


def _read_unprompted(node: yaml.Node) -> UnpromptedTimes:
    times = unprompted_times.read(_text_reader(120)(node))
    if times is None:
        raise _Wrong(f"says when it speaks up by itself, {unprompted_times.FORM}")
    return times


def _read_pace(node: yaml.Node) -> float:
    pace = yaml_reader.number(node)
    if pace is None or not isfinite(pace) or not (pace == 0 or 2 <= pace <= 200):
        raise _Wrong("is how many characters a second it types, from 2 to 200, or 0 for at once")
    return float(pace)


def _one_of(written: str, known: tuple[str, ...]) -> str:
    """The choices, and which of them was perhaps meant."""
    near = get_close_matches(written.lower()[:80], known, 1)
    hint = f"; did you mean {near[0]}?" if near else ""
    return f"{', '.join(known[:-1])} or {known[-1]}{hint}"


FIELDS: dict[str, Callable[[yaml.Node], Any]] = {
    "name": _read_name,
    "handle": _read_handle,
    "role": _text_reader(120),
    "voice": _text_reader(240),
    "colour": _read_colour,
    "face": _read_face,
    "traits": _read_traits,
    "model": _text_reader(120),
    "tier": _read_tier,
    "temperature": _read_temperature,
    "top_p": _top_p,
    "tools": _words_reader("[clock]"),
    "triggers": _read_triggers,
    "interests": _words_reader("[bread, bridges]"),
    "policy": _read_policy,
    "greeting": _text_reader(LONGEST_GREETING, rows=True),
    "unprompted": _read_unprompted,
    "pace": _read_pace,
    "bounds": _read_bounds,
    "sandbox": _read_sandbox,
}
"""What may stand in the front matter, and how it is read."""


# ---------------------------------------------------------------- examples in the body


KEPT = 256
"""Bodies of mates' files that are remembered taken apart: each turn reads its mate's."""


class Dialogue(NamedTuple):
    """A prompt taken apart: who this is, and (somebody says, it answers) pairs."""

    character: str
    examples: tuple[tuple[str, str], ...]


_SMALL_TALK = re.compile(r"^#{1,6}[ \t]*small talk[ \t]*$", re.IGNORECASE | re.MULTILINE)


def without_small_talk(prompt: str) -> str:
    """The prompt as a capable model reads it: without the examples under `## Small talk`."""
    parts = _SMALL_TALK.split(prompt, maxsplit=1)
    if len(parts) == 1:
        return prompt
    return "\n\n".join(
        part for part in (parts[0].strip(), _taken_apart(parts[1]).character) if part
    )


def parse_dialogue(prompt: str) -> Dialogue:
    """Take the examples out of a prompt: a paragraph of > lines, and the answer under it.

    An answer ends at the next empty line or the next >. A quote without an answer is no example.
    Quoted lines stay lines: they may be those of several people.
    """
    return _taken_apart(_SMALL_TALK.sub("", prompt, count=1))


@lru_cache(KEPT)
def _taken_apart(prompt: str) -> Dialogue:
    character: list[str] = []
    examples: list[tuple[str, str]] = []
    for block in re.split(r"\n\s*\n", prompt):
        rest = block.strip("\n")
        while found := re.match(
            r"((?:[ ]{0,3}>.*(?:\n|$))+)((?:(?![ ]{0,3}>).*\S.*(?:\n|$))+)", rest
        ):
            said = "\n".join(line.strip().lstrip(">").strip() for line in found[1].splitlines())
            examples.append((said.strip(), " ".join(found[2].split())))
            rest = rest[found.end() :]
        if rest.strip():
            character.append(rest.rstrip())
    return Dialogue("\n\n".join(character).strip(), tuple(examples))
