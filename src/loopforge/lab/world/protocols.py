"""Protocols: the rules of the city, as data.

Each names what it is there against, so that the world can tell whether it is right *here*, and
carries its two kinds of evidence in words: the sign that the rule looks at, and the cue that can be
noticed besides. A scenario takes protocols by key and may change any line of them; what it writes
is untrusted, and every field is checked and bounded here.
"""

import tomllib
import unicodedata
from functools import cache, lru_cache
from importlib import resources
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Struct

from loopforge.core.factory_vocabulary import Intent
from loopforge.core.text.validation_errors import explain_validation_error
from loopforge.errors import BadScenario
from loopforge.lab.world.noun_articles import is_common_noun

VARS = (
    "heat",
    "wear",
    "hum",
    "fault",
    "leak",
    "drift",
    "crowd",
    "stock",
    "storm",
    "unrest",
    "prowl",
    "slack",
    "bias",
)
"""The quantities of a place, 0 to 1000 each; `bias`, how far its gauges lie, from -500 to 500."""

INDEX = {name: at for at, name in enumerate(VARS)}
KINDS = ("room", "line", "console", "corridor", "bay", "pit", "gate", "street", "office")
LONGEST = 240
"""Characters in any sentence of a scenario."""
QUOTED = 400
"""Characters of an error about it."""
DIGITS = frozenset("0123456789")
SIXTY_FOUR = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
"""Whole numbers that may be quoted in an error; TOML knows larger ones, which have no decimals."""


class Protocol(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One rule. See shipped/protocols.toml for what each field says.

    `roles` and `at` are its scope ("*" for all). It is right here while `guards` stands at or above
    `turns` ("high") or below it ("low"). It `forbids` intents or `demands` them, never both;
    `instead` is how one keeps to it, `remedy` what one would do otherwise. It `speaks` always,
    only when its sign does, or where no other rule does. Kept to where it is wrong, `harm` grows
    and `miss` may happen; broken where it is right, `bite` may. `grew` and `eased` end what is said
    of an act after which there was more of `harm`, or less; "" says nothing of it.
    """

    key: str
    title: str
    text: str
    roles: tuple[str, ...]
    at: tuple[str, ...]
    guards: str
    right: Literal["high", "low"]
    turns: SIXTY_FOUR
    instead: Intent
    remedy: Intent
    speaks: Literal["always", "sign", "otherwise"]
    harm: str
    miss: str
    bite: str
    sign: tuple[str, str, str]
    cue: tuple[str, str, str]
    kept_good: str
    kept_bad: str
    broke_good: str
    broke_bad: str
    forbids: tuple[Intent, ...] = ()
    demands: tuple[Intent, ...] = ()
    serves: Literal["safety", "output"] = "safety"
    grew: str = ""
    eased: str = ""

    def keeps(self, intent: str) -> bool:
        """Whether doing this keeps to the rule."""
        return intent in self.demands if self.demands else intent not in self.forbids

    def case(self, value: int) -> int:
        """How strongly this much of what it guards against speaks for the rule, 0 to 1000."""
        leaning = value - self.turns if self.right == "high" else self.turns - 1 - value
        return 0 if leaning < -500 else 1000 if leaning > 500 else 500 + leaning

    def covers(self, role: str, kind: str) -> bool:
        """Whether it is in force for this role at this kind of place."""
        return self.binds(role) and (kind in self.at or "*" in self.at)

    def binds(self, role: str) -> bool:
        """Whether it is in force for this role anywhere."""
        named = role in self.roles or ("*" in self.roles and role != "supervisor")
        return named and bool(self.at)


def parse_protocol(key: str, fields: dict[str, Any]) -> Protocol:
    """Read one protocol from a table. Raises BadScenario, naming it and the field."""
    try:
        made = msgspec.convert({**fields, "key": key}, Protocol)
    except (msgspec.ValidationError, RecursionError) as error:
        raise BadScenario(
            printable_excerpt(
                f"Protocol {key[:60]!r}: {explain_validation_error(error, Protocol)}."
            )
        ) from error
    problem = _problem(made)
    if problem:
        raise BadScenario(printable_excerpt(f"Protocol {key[:60]!r}: {problem}"))
    return made


def _problem(made: Protocol) -> str:
    if not made.key.replace("_", "").isalpha() or not made.key.isascii() or len(made.key) > 40:
        return "its key is 1 to 40 letters of a to z and underscores."
    if made.guards not in (*VARS, "battery"):
        return f"`guards` is {made.guards!r}; it is one of {', '.join(VARS)}, battery."
    if made.harm not in VARS:
        return f"`harm` is {made.harm!r}; it is one of {', '.join(VARS)}."
    if not 1 <= made.turns <= 999:
        return f"`turns` is {made.turns}; it lies between 1 and 999."
    if bool(made.forbids) == bool(made.demands):
        return "it either `forbids` intents or `demands` them: give one of the two."
    if not made.keeps(made.instead):
        return f"`instead` is {made.instead!r}, which the protocol itself forbids."
    if made.keeps(made.remedy):
        return f"`remedy` is {made.remedy!r}, which would keep to the rule; name what breaks it."
    unknown = [kind for kind in made.at if kind not in (*KINDS, "*")]
    if unknown:
        return f"`at` names {unknown[0]!r}; places are {', '.join(KINDS)}, or * for all."
    shown = (*made.sign, *made.cue, made.text, *made.roles)
    if has_digits("".join(shown)):
        return "write numbers in words in `text`, `sign` and `cue`; minds are shown no digits."
    sentences = [made.kept_good, made.kept_bad, made.broke_good, made.broke_bad]
    sentences += [each for each in (made.grew, made.eased) if each]
    return sentence_problem((*shown, made.title, made.miss, made.bite, *sentences))


def has_digits(text: str) -> bool:
    """Whether any sign in it is a number of any script, however it is drawn."""
    if text.isascii():
        return not DIGITS.isdisjoint(text)
    return any(unicodedata.category(sign)[0] == "N" for sign in text)


def printable_excerpt(text: str) -> str:
    """What a stranger wrote, in an error: one short line of signs that can be printed."""
    fit = "".join(sign if sign.isprintable() else "\ufffd" for sign in text[:QUOTED])
    return fit if len(text) <= QUOTED else f"{fit}…"


def sentence_problem(texts: tuple[str, ...]) -> str:
    """What is wrong with these sentences of a scenario, or ""."""
    for text in texts:
        if not text.strip():
            return "a sentence is empty; say something, or leave the line out."
        if len(text) > LONGEST:
            return f"{text[:40]!r}... has {len(text)} characters; {LONGEST} is the most."
        if not text.isprintable():
            return f"{text[:40]!r} holds characters that cannot be printed; take them out."
    return ""


@cache
def shipped_protocols() -> dict[str, Protocol]:
    """The protocols that ship with the Factory, by key."""
    text = resources.files("loopforge.lab").joinpath("shipped/protocols.toml").read_text("utf-8")
    return {key: parse_protocol(key, fields) for key, fields in tomllib.loads(text).items()}


def consequence_sentence(rule: Protocol, *, kept: bool, good: bool, harmed: int) -> str:
    """What the log says of an act; `harmed` is by how much it changed what the rule's harm is."""
    if kept:
        said = rule.kept_good if good else rule.kept_bad
    else:
        said = rule.broke_good if good else rule.broke_bad
    more = rule.grew if harmed > 0 else rule.eased if harmed < 0 else ""
    return ended(said, more) if more else said


@lru_cache(maxsize=1024)
def ended(sentence: str, more: str) -> str:
    """A sentence that goes on."""
    return f"{sentence.removesuffix('.')}, and {more}."


@lru_cache(maxsize=4096)
def fill_sentence(sentence: str, place: str, who: str = "") -> str:
    """A protocol's sentence with its blanks filled; nothing else in it is looked at.

    `{the place}` is the place with its article, where it is called by a common noun; `{The place}`
    is that where a sentence begins.
    """
    named = f"the {place}" if is_common_noun(place) else place
    opens = named[:1].upper() + named[1:]
    filled = sentence.replace("{the place}", named).replace("{The place}", opens)
    return filled.replace("{place}", place).replace("{who}", who)
