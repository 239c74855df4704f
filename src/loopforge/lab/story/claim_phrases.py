"""The phrases of a claim: every way in which a story may say it, out of its facts alone.

`phrases(claim)` is a pure function, and what it gives is all a template story can say, but for
articles before places (number_wording.py): the teller chooses among these, and the checker wants to
find the sentence among them again. The templates stand in shipped/phrases.toml; here their blanks
are filled. Facts taken from a run (a rule's text, a consequence, a voice) are quoted as they stand
there, and nothing in them is looked at again.
"""

from __future__ import annotations

import re
from typing import assert_never

from msgspec.structs import asdict

from loopforge.lab.story.claims import (
    EVENING,
    EVER,
    AnyClaim,
    BelievedClaim,
    Bent,
    BrokeOff,
    ClaimCause,
    ClaimLink,
    CountedClaim,
    Crossed,
    Did,
    Forked,
    Gap,
    HappenedClaim,
    HeardClaim,
    Hinge,
    Made,
    MetClaim,
    Morning,
    Moved,
    Opening,
    Quoted,
    Ranked,
    SilentClaim,
    Struck,
    Swung,
    TallyClaim,
    Tense,
    Tensest,
    Turned,
    Unseen,
)
from loopforge.lab.story.number_wording import (
    an,
    cap,
    listed,
    lowered,
    number,
    ordinal,
    plural,
    signed,
    times,
)
from loopforge.lab.story.phrase_templates import (
    Fields,
    clock,
    day_of,
    filled,
    hour_of,
    templates,
    what_of,
    word,
)
from loopforge.lab.world.robot_perception import BAND_OF

BARE, FAR = 2, 3
"""The first phrases of a Did tell no time: what came before them told it. The next ones tell of the
far end of a thread."""

SHORTLY = 3
"""Bells that are counted back, not named."""


def phrases(claim: AnyClaim) -> tuple[str, ...]:
    """Every way to say it. A Did has its BARE ones first."""
    kind = str(claim.__struct_config__.tag)
    cases, fields = _case(claim)
    ways = [way for case in cases for way in templates()[kind][case]]
    facts = {**asdict(claim), **fields}
    return tuple(filled(way, facts) for way in ways)


Case = tuple[tuple[str, ...], Fields]


def _case(claim: AnyClaim) -> Case:
    """Which templates fit a claim, and what fills them besides its facts as they stand."""
    match claim:
        case Opening() | Morning() | Forked() | Made() | Tense() | Tensest() | BrokeOff():
            return _frame(claim)
        case Did() | MetClaim() | Unseen() | Turned() | SilentClaim():
            return _act(claim)
        case Gap() | HeardClaim() | Bent():
            return _seen(claim)
        case HappenedClaim() | Struck():
            return _world(claim)
        case BelievedClaim() | Quoted():
            return _evening(claim)
        case TallyClaim() | CountedClaim() | Ranked() | Swung():
            return _counted(claim)
        case Moved() | Hinge() | Crossed():
            return _inner(claim)
        case _:
            assert_never(claim)


def _frame(
    claim: Opening | Morning | Forked | Made | Tense | Tensest | BrokeOff,
) -> Case:
    match claim:
        case Opening():
            return ("led",) if claim.overseer else ("alone",), {
                "robots": plural(claim.robots, "robot"),
                "places": plural(claim.places, "place"),
                "bells": plural(claim.bells, "bell"),
                "runs": word("runs", claim.style),
                "shown": word("shown", claim.perception),
            }
        case Morning():
            return _morning(claim)
        case Forked(day, bell, changed):
            return ("any",), {"hour": hour_of(day, bell), "changed": listed(changed)}
        case Made(_, output, quota):
            case_ = "short" if output < quota else "over" if output > quota else "met"
            return (case_,), {
                "pieces": plural(output, "piece"),
                "output": number(output),
                "quota": number(quota),
                "difference": number(abs(quota - output)),
            }
        case Tense():
            rose = claim.last - claim.first
            way = (
                "climbed" if rose >= 60 else "sank" if rose <= -60 else "ended near where it began"
            )
            return ("any",), {
                "way": way,
                "peak_bell": clock(claim.peak_bell),
            }
        case Tensest():
            return ("any",), {"day": day_of(claim.day), "calmest": day_of(claim.calmest)}
        case BrokeOff(_, day, bell):
            return ("any",), {"hour": hour_of(day, bell)}


def _morning(claim: Morning) -> Case:
    before, dose = claim.pressure_before, f"{number(claim.pressure)} in ten"
    way = "up" if claim.pressure > before else "down"
    moved = f"{way} from {number(before)} to {dose}"
    return ("first" if before < 0 else "later",), {
        "wanted": plural(claim.quota, "piece"),
        "again": " again" if claim.quota_before == claim.quota else "",
        "dose": dose,
        "moved": moved if before != claim.pressure else f"{dose} still",
    }


def _act(claim: Did | MetClaim | Unseen | Turned | SilentClaim) -> Case:
    match claim:
        case Did():
            told = claim.consequence
            case_ = ("kept" if claim.kept else "broke") + ("_good" if claim.good else "_bad")
            return ("bare", "far", "timed", case_), {
                "bell": clock(claim.bell),
                "ordinal": ordinal(claim.bell),
                "verdict": "right" if claim.kept == claim.good else "wrong",
                "obeyed": "kept" if claim.kept else "broken",
                "told": cap(told),
                "told_on": lowered(told, (claim.who, claim.at)),
            }
        case MetClaim():
            return (claim.did,), {}
        case Unseen():
            return ("any",), {}
        case Turned():
            case_ = ("kept" if claim.kept else "broke") + ("_first" if claim.ever else "")
            return (case_,), {
                "bell": clock(claim.bell),
                "acts": plural(claim.after, "act"),
                "times": times(claim.after),
            }
        case SilentClaim(bell=bell, outcome=outcome):
            silence = word("silence", outcome)
            return ("any",), {"silence": silence, "bell": clock(bell), "ordinal": ordinal(bell)}


def _seen(claim: Gap | HeardClaim | Bent) -> Case:
    match claim:
        case Gap():
            return ("widest" if claim.widest else "read",), {
                "hour": hour_of(claim.day, claim.bell),
                "sign": cap(claim.sign),
                "truth": cap(claim.truth),
            }
        case HeardClaim():
            twisted = "twisted" if claim.meant != claim.heard else ""
            return (
                twisted or ("harder" if claim.harder else "plainly") if claim.text else "wordless",
            ), {
                "meant": word("message", claim.meant),
                "heard": word("message", claim.heard),
            }
        case Bent():
            case_ = "reworded" if claim.edit == "coarsened" else claim.edit
            return (case_,), {
                "true": cap(claim.true),
                "shown": cap(claim.shown),
                "by": word("by", claim.by),
            }


def _world(claim: HappenedClaim | Struck) -> Case:
    match claim:
        case Struck(_, bell, what):
            return ("any",), {"bell": clock(bell), "what": _quantity(what)}
        case HappenedClaim():
            case_ = "ended" if claim.who else "alone"
            broke = templates()["words"]["broke"].get(claim.kind, "")
            if claim.links:
                case_ += "_with_thread"
            return ("longest" if claim.longest else case_,), {
                "hour": hour_of(claim.day, claim.bell),
                "bell": clock(claim.bell),
                "a_kind": an(claim.kind),
                "broke": f"{claim.at} {broke}" if broke else f"came {an(claim.kind)} at {claim.at}",
                "thread": "; behind that, ".join(_link(link, claim) for link in claim.links),
            }


def _link(link: ClaimLink, claim: HappenedClaim) -> str:
    if link.day != claim.day:
        when = f"at {hour_of(link.day, link.bell)}"
    elif link.bell == claim.bell:
        when = "in that same bell"
    elif claim.bell - link.bell <= SHORTLY:
        when = f"{plural(claim.bell - link.bell, 'bell')} before"
    else:
        when = f"at {clock(link.bell)}"
    way = {"r": "act", "f": "fault"}.get(link.ref[0], "brought" if link.who else "incident")
    what = _quantity(link.what) if way == "fault" else link.what
    if way == "act":
        what = lowered(what.rstrip("."), (link.who, link.at))
    fields = {"who": link.who, "what": what, "at": link.at, "when": when}
    return filled(templates()["link"][way], fields)


def _quantity(what: str) -> str:
    """What bad luck struck: quantities by their names on the floor."""
    return re.sub(r"(^| and )(\w+)(?= at )", lambda m: m[1] + word("quantity", m[2]), what)


def _evening(claim: BelievedClaim | Quoted) -> Case:
    match claim:
        case BelievedClaim():
            right = claim.good == claim.truly
            case_ = "misjudged" if not right else "rightly" if claim.good else "laid"
            return (case_,), {
                "well": "well" if claim.good else "badly",
                "fault": word("fault", claim.fault),
                "whose": word("whose", claim.fault),
            }
        case Quoted():
            case_ = claim.source if claim.source in ("reason", "resolve") else "back"
            return (case_,), {
                "day": day_of(claim.day),
                "voice": f" ({claim.voice})" if claim.voice else "",
            }


def _counted(claim: TallyClaim | CountedClaim | Ranked | Swung) -> Case:
    match claim:
        case TallyClaim():
            case_ = "some" if claim.kept and claim.broke else "kept" if claim.kept else "broke"
            return (case_ if claim.wrong else "none",), {
                "acts": number(claim.acts),
                "wrong": number(claim.wrong),
                "kept": number(claim.kept),
                "broke": number(claim.broke),
                "times_kept": times(claim.kept),
                "times_broke": times(claim.broke),
                "passed": number(claim.passed),
                "incidents": plural(claim.incidents, "incident"),
                "evening": "evenings" if claim.day == EVER else "evening",
            }
        case CountedClaim(what, day, _, count, of):
            return (what,), {
                "span": "in all" if day == EVER else f"on {day_of(day)}",
                "count": number(count),
                "times": times(count),
                "times_of": times(of),
                "acts": plural(of, "act"),
            }
        case Swung():
            return ("any",), {
                "obedient": day_of(claim.obedient),
                "kept": number(claim.kept),
                "few": number(claim.few),
                "other": day_of(claim.other),
                "broke": number(claim.broke),
                "fewer": number(claim.fewer),
            }
        case Ranked():
            return ("any",), {
                "least": f"{number(claim.best_wrong)} of {number(claim.best_acts)}",
                "most": f"{number(claim.worst_wrong)} of {number(claim.worst_acts)}",
            }


def _inner(claim: Moved | Hinge | Crossed) -> Case:
    match claim:
        case Moved():
            return _moved(claim)
        case Hinge():
            told = f"“{claim.told}”" if claim.bell == EVENING else cap(claim.told)
            hour = hour_of(claim.day, claim.bell)
            return ("any",), {"hour": hour, "delta": signed(claim.delta), "told": told}
        case Crossed():
            return ("any",), {
                "name": what_of(claim.what),
            }


def _cause(cause: ClaimCause) -> str:
    """What moved something, and how often where it was more than once."""
    often = f" ({times(cause.times)})" if cause.times > 1 else ""
    evening = templates()["words"]["evening"].get(cause.rule, "")
    if evening:
        return f"{'evenings' if often else 'an evening'} {evening}{often}"
    return word("cause", cause.rule) + often


def _moved(claim: Moved) -> Case:
    low, high = BAND_OF[claim.before], BAND_OF[claim.after]
    account = [f"{signed(each.delta)} for {_cause(each)}" for each in claim.causes]
    return ("any",), {
        "name": what_of(claim.what),
        "verb": "rose" if claim.after > claim.before else "fell",
        "bands": f"{low} still" if low == high else f"{low} to {high}",
        "span": "all these days" if claim.day == EVER else day_of(claim.day),
        "account": listed(account),
    }
