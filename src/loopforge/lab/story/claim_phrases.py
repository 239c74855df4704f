"""The phrases of a claim: every way in which a story may say it, out of its facts alone.

`phrases(claim)` is a pure function, and what it gives is all a template story can say, but for
articles before places (noun_articles.py): the teller chooses among these, and the checker wants to
find the sentence among them again. The templates stand in shipped/story_phrases.toml, for people to
read and to change; which of them fit, and what they cannot take from a fact as it stands, is said
here. Facts taken from a run (a rule's text, a consequence, a voice) are quoted as they stand there:
a blank is filled once, and what it is filled with is not looked at again.
"""

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

from msgspec.structs import asdict

from loopforge.core.text.spoken_lists import join_as_prose
from loopforge.lab.inspect.inner_life import ChangeCause
from loopforge.lab.story.claims import (
    EVENING,
    EVER,
    AnyClaim,
    BelievedClaim,
    Bent,
    Brought,
    ClaimLink,
    CountedClaim,
    Did,
    Gap,
    HappenedClaim,
    HeardClaim,
    Made,
    MetClaim,
    Morning,
    Moved,
    Opening,
    Quoted,
    SilentActs,
    TallyClaim,
    Tense,
    Turned,
)
from loopforge.lab.story.number_wording import (
    capitalize_first,
    change_in_words,
    how_often_in_words,
    lower_first,
    number_in_words,
    number_with_noun,
    ordinal,
    was_or_were,
)
from loopforge.lab.world.noun_articles import with_article
from loopforge.lab.world.robot_perception import BAND_OF

BARE, FAR = 4, 3
"""The first phrases of a Did tell no time: what came before them told it. The next ones tell of the
far end of a thread."""

STRONGEST = 3
"""Causes that are told one by one, where there are more than one more."""
SHORTLY = 3
"""Bells that are counted back, not named."""

Case = tuple[tuple[str, ...], dict[str, str | int]]
"""Which templates fit a claim, and what fills them besides its facts."""


def phrases(claim: AnyClaim) -> tuple[str, ...]:
    """Every way to say it. A Did has its BARE ones first."""
    cases, more = _act(claim) or _world(claim) or _counted(claim) or (("any",), {})
    facts: dict[str, Any] = {**asdict(claim), **more}
    if "bell" in facts:
        facts["hour"] = _hour(facts["day"], facts["bell"])
    table = templates()[str(claim.__struct_config__.tag)]
    return tuple(filled(way, facts) for case in cases for way in table[case])


# ---------------------------------------------------------------- templates


@cache
def templates() -> dict[str, Any]:
    """The templates by claim and case, and the tables of words."""
    text = (
        resources.files("loopforge.lab").joinpath("shipped/story_phrases.toml").read_text("utf-8")
    )
    return tomllib.loads(text)


def filled(template: str, facts: Mapping[str, Any]) -> str:
    """A template, its blanks filled once: {fact} or {fact:way}; a large letter asks for one."""

    def blank(found: re.Match[str]) -> str:
        name, way = found[1], found[2]
        value = facts[name[0].lower() + name[1:]]
        said = _put(value, way) if way else str(value)
        return capitalize_first(said) if name[0].isupper() else said

    return re.sub(r"\{(\w+)(?::(\w+))?\}", blank, template)


def _put(value: Any, way: str) -> str:
    """A fact, put in one of the WAYS, by a table of words, or as so many of something."""
    if way in WAYS:
        return WAYS[way](value)
    return _word(way, value) if way in templates()["words"] else number_with_noun(value, way)


def _word(table: str, key: str) -> str:
    """What something is called; what has no name of its own is called by its key."""
    return str(templates()["words"][table].get(key, key.replace("_", " ")))


def _day(day: int) -> str:
    """A day by its number, as a reader counts."""
    return f"day {number_in_words(day + 1)}"


def _clock(bell: int) -> str:
    """Which bell of its day."""
    return f"the {ordinal(bell)} bell"


def _hour(day: int, bell: int) -> str:
    """A bell, or the evening, of a day."""
    return f"{'the evening' if bell == EVENING else _clock(bell)} of {_day(day)}"


def _value(key: str) -> str:
    """The name of something inner: "traits.obedience", "bonds.trust:Name"."""
    part, _, what = key.partition(".")
    if part == "bonds":
        kind, _, other = what.partition(":")
        return f"{_word('bond', kind)} {other}"
    return _word("inner", what)


def _struck(what: str) -> str:
    """What bad luck struck: quantities by their names on the floor."""
    return re.sub(r"(^| and )(\w+)(?= at )", lambda m: m[1] + _word("quantity", m[2]), what)


WAYS: dict[str, Callable[[Any], str]] = {
    "an": with_article,
    "clock": _clock,
    "day": _day,
    "listed": join_as_prose,
    "number": number_in_words,
    "ordinal": ordinal,
    "signed": change_in_words,
    "struck": _struck,
    "times": how_often_in_words,
    "value": _value,
    "were": was_or_were,
}
"""How a template may ask for a fact to be put."""


# ---------------------------------------------------------------- which fit, and with what besides


def _act(claim: AnyClaim) -> Case | None:
    """Claims of one row: an act, what was seen and heard before it, what was made of it."""
    match claim:
        case Did():
            case_ = ("kept" if claim.kept else "broke") + ("_good" if claim.good else "_bad")
            return ("bare", "far", "timed", case_), {
                "verdict": "right" if claim.kept == claim.good else "wrong",
                "obeyed": "kept" if claim.kept else "broken",
                "told_on": lower_first(claim.consequence, (claim.who, claim.at)),
            }
        case MetClaim():
            return (claim.did,), {}
        case Turned():
            return (("kept" if claim.kept else "broke") + ("_first" if claim.ever else ""),), {}
        case Gap():
            return ("widest" if claim.widest else "read",), {}
        case HeardClaim(text=""):
            return ("wordless",), {}
        case HeardClaim():
            plainly = "harder" if claim.harder else "plainly"
            return ("twisted" if claim.meant != claim.heard else plainly,), {}
        case Bent():
            return ("reworded" if claim.edit == "coarsened" else claim.edit,), {}
        case BelievedClaim():
            right = claim.good == claim.truly
            case_ = "misjudged" if not right else "rightly" if claim.good else "laid"
            return (case_,), {"well": "well" if claim.good else "badly"}
        case Quoted():
            case_ = claim.source if claim.source in ("reason", "resolve") else "back"
            return (case_,), {"voice": f" ({claim.voice})" if claim.voice else ""}
        case _:
            return None


def _world(claim: AnyClaim) -> Case | None:
    """Claims of a day as it began and ended, and of what went wrong in it."""
    match claim:
        case Opening():
            them = "it" if claim.robots == 1 else "them"
            return ("led" if claim.overseer else "alone",), {"them": them}
        case Morning():
            before, dose = claim.pressure_before, f"{number_in_words(claim.pressure)} in ten"
            way = "up" if claim.pressure > before else "down"
            moved = f"{way} from {number_in_words(before)} to {dose}"
            return ("first" if before < 0 else "later",), {
                "again": " again" if claim.quota_before == claim.quota else "",
                "moved": moved if before != claim.pressure else f"{dose} still",
                "pressed": f"a pressure of {dose}" if claim.pressure else "no pressure at all",
            }
        case Made():
            more = claim.output - claim.quota
            beyond = "over" if claim.quota else "unasked"
            return ("short" if more < 0 else beyond if more else "met",), {"difference": abs(more)}
        case Tense():
            rose = claim.last - claim.first
            ended = "sank" if rose <= -60 else "ended near where it began"
            case_ = "sank" if claim.peak_bell == 1 else "between"
            case_ = "flat" if claim.first == claim.peak == claim.last else case_
            if claim.peak_bell > 1 and claim.peak == claim.last:
                case_ = "rose"
            return (case_,), {"way": "climbed" if rose >= 60 else ended}
        case HappenedClaim():
            broke = templates()["words"]["broke"].get(claim.kind, "")
            case_ = ("ended" if claim.who else "alone") + ("_with_thread" if claim.links else "")
            if claim.longest:
                case_ = "longest" if claim.depth <= len(claim.links) else "longest_cut"
            return (case_,), {
                "broke": f"{claim.at} {broke}"
                if broke
                else f"came {with_article(claim.kind)} at {claim.at}",
                "thread": _thread(claim),
            }
        case _:
            return None


def _counted(claim: AnyClaim) -> Case | None:
    """Claims of what was counted, and of what moved in somebody."""
    match claim:
        case TallyClaim():
            case_ = "some" if claim.kept and claim.broke else "kept" if claim.kept else "broke"
            case_ += "_one" if claim.wrong == 1 else ""
            evening = "evenings" if claim.day == EVER else "evening"
            return (case_ if claim.wrong else "none",), {"evening": evening}
        case CountedClaim(what, day):
            case_ = str(what)
            if claim.silent:
                case_ = "silent" if claim.silent < claim.of else "mute"
            elif what == "wrong" and claim.of == 1:
                case_ = "once_wrong" if claim.count else "once_right"
            elif what == "wrong" and not claim.count:
                case_ = "never_wrong"
            span = "in all" if day == EVER else f"on {_day(day)}"
            return (case_,), {"span": span, "knew": _knew(claim.count, claim.known)}
        case SilentActs():
            return ("all" if claim.count == claim.of else "some",), {}
        case Brought():
            return ("some" if claim.count > 1 else "one" if claim.count else "none",), {}
        case Moved():
            low, high = BAND_OF[claim.before], BAND_OF[claim.after]
            return ("any",), {
                "verb": "rose" if claim.after > claim.before else "fell",
                "bands": f"{low} still" if low == high else f"{low} to {high}",
                "span": "all these days" if claim.day == EVER else _day(claim.day),
                "account": _account(claim.causes, "cause"),
                "retold": _account(claim.causes, "retold"),
            }
        case _:
            return None


def _knew(wrong: int, known: int) -> str:
    """Of how many acts that were wrong somebody knew that they were."""
    if wrong == 1:
        return "knew it" if known else "still did not know"
    return "knew it each time" if known == wrong else f"knew of {number_in_words(known)}"


def _thread(claim: HappenedClaim) -> str:
    """The links, each dated from the one before it: a reader counts back from there."""
    effects: tuple[HappenedClaim | ClaimLink, ...] = (claim, *claim.links)
    told = (_link(link, of, claim.day) for link, of in zip(claim.links, effects, strict=False))
    return "; behind that, ".join(told)


def _link(link: ClaimLink, of: HappenedClaim | ClaimLink, today: int) -> str:
    """One link, behind what it led to, in an account of something of `today`."""
    back = of.bell - link.bell if link.day == of.day else SHORTLY + 1
    if not back:
        when = "in that same bell"
    elif back <= SHORTLY:
        when = f"{number_with_noun(back, 'bell')} before"
    elif link.day == today:
        when = f"at {_clock(link.bell)}"
    else:
        when = f"at {_hour(link.day, link.bell)}"
    way = {"r": "act", "f": "fault"}.get(link.ref[0], "brought" if link.who else "incident")
    what = _struck(link.what) if way == "fault" else link.what
    if way == "act":
        what = lower_first(what.rstrip("."), (link.who, link.at))
    fields = {"who": link.who, "what": what, "at": link.at, "when": when}
    return filled(templates()["link"][way], fields)


def _account(causes: Sequence[ChangeCause], table: str) -> str:
    """What moved something: the STRONGEST causes, and the sum of the others where it is one."""
    few = causes if len(causes) <= STRONGEST + 1 else causes[:STRONGEST]
    told = [
        f"{change_in_words(each.delta)} for {_cause(each, table)}"
        for each in few
        if each.delta or len(causes) == 1
    ]
    if rest := sum(each.delta for each in causes[len(few) :]):
        told.append(f"{change_in_words(rest)} for all else")
    return join_as_prose(told)


def _cause(cause: ChangeCause, table: str) -> str:
    """What moved something, by a table of words, and how often where it was more than once."""
    often = f" ({how_often_in_words(cause.times)})" if cause.times > 1 else ""
    evening = templates()["words"]["evening"].get(cause.rule, "")
    if evening:
        return f"{'evenings' if often else 'an evening'} {evening}{often}"
    words = templates()["words"][table]
    return (words.get(cause.rule) or _word("cause", cause.rule)) + often
